"""Lists the keys of BookSim2's configurations, with types and defaults (`booksim_config.cpp`, commit 28f4329)."""

from __future__ import annotations

INTS = {
    "subnets": 1, "k": 8, "n": 2, "c": 1, "use_noc_latency": 1, "x": 8, "y": 8, "xr": 1, "yr": 1,
    "link_failures": 0, "fail_seed": 0, "in_ports": 5, "out_ports": 5,
    "output_delay": 0, "credit_delay": 0, "output_buffer_size": -1, "noq": 0,
    "speculative": 0, "spec_check_elig": 1, "spec_check_cred": 1, "spec_mask_by_reqs": 0,
    "num_vcs": 16, "vc_buf_size": 8, "buf_size": -1,
    "private_bufs": -1, "private_buf_size": 1, "private_buf_start_vc": -1, "private_buf_end_vc": -1,
    "max_held_slots": -1, "feedback_aging_scale": 1, "feedback_offset": 0,
    "wait_for_tail_credit": 0, "vc_busy_when_full": 0, "vc_prioritize_empty": 0, "vc_priority_donation": 0,
    "vc_shuffle_requests": 0, "hold_switch_for_packet": 0, "input_speedup": 1, "output_speedup": 1,
    "routing_delay": 1, "vc_alloc_delay": 1, "sw_alloc_delay": 1, "st_prepare_delay": 0, "st_final_delay": 1,
    "vct": 0, "alloc_iters": 1,
    "classes": 1, "class_priority": 0, "perm_seed": 0, "injection_rate_uses_flits": 0,
    "packet_size": 1, "packet_size_rate": 1,
    "batch_size": 1000, "batch_count": 1, "max_outstanding_requests": 0,
    "use_read_write": 0,
    "read_request_begin_vc": 0, "read_request_end_vc": 5, "write_request_begin_vc": 2, "write_request_end_vc": 7,
    "read_reply_begin_vc": 8, "read_reply_end_vc": 13, "write_reply_begin_vc": 10, "write_reply_end_vc": 15,
    "read_request_subnet": 0, "read_reply_subnet": 0, "write_request_subnet": 0, "write_reply_subnet": 0,
    "read_request_size": 1, "write_request_size": 1, "read_reply_size": 1, "write_reply_size": 1,
    "warmup_periods": 3, "sample_period": 1000, "max_samples": 10, "measure_stats": 1, "pair_stats": 0,
    "sim_count": 1, "include_queuing": 1, "seed": 0, "print_activity": 0, "print_csv_results": 0,
    "deadlock_warn_timeout": 256, "viewer_trace": 0, "sim_power": 0, "channel_width": 128, "channel_sweep": 0,
}  # fmt: skip

FLOATS = {
    "internal_speedup": 1.0, "injection_rate": 0.1, "burst_alpha": 0.5, "burst_beta": 0.5, "burst_r1": -1.0,
    "write_fraction": 0.5, "latency_thres": 500.0, "warmup_thres": 0.05, "acc_warmup_thres": 0.05,
    "stopping_thres": 0.05, "acc_stopping_thres": 0.05,
}  # fmt: skip

# Keys that accept strings. A key that is also in `INTS` or `FLOATS` accepts a string instead of the number: a list with
# a value for each class, or the word `time`.
TEXTS = {
    "channel_file": "", "topology": "torus", "routing_function": "none", "fail_seed": "", "router": "iq",
    "spec_sw_allocator": "prio", "buffer_policy": "private",
    "private_buf_size": "", "private_buf_start_vc": "", "private_buf_end_vc": "",
    "vc_allocator": "islip", "sw_allocator": "islip", "arb_type": "round_robin",
    "traffic": "uniform", "class_priority": "", "perm_seed": "", "injection_rate": "", "packet_size": "",
    "packet_size_rate": "", "injection_process": "bernoulli", "priority": "none",
    "use_read_write": "", "write_fraction": "",
    "read_request_size": "", "write_request_size": "", "read_reply_size": "", "write_reply_size": "",
    "sim_type": "latency", "measure_stats": "", "latency_thres": "", "warmup_thres": "", "acc_warmup_thres": "",
    "stopping_thres": "", "acc_stopping_thres": "", "seed": "",
    "watch_file": "", "watch_flits": "", "watch_packets": "", "watch_transactions": "", "watch_out": "",
    "stats_out": "", "sent_packets_out": "", "power_output_file": "pwr_tmp", "tech_file": "", "network_file": "",
    # BookSim2 has these keys only in builds with TRACK_FLOWS or TRACK_CREDITS
    "injected_flits_out": "", "received_flits_out": "", "stored_flits_out": "", "sent_flits_out": "",
    "outstanding_credits_out": "", "ejected_flits_out": "", "active_packets_out": "", "used_credits_out": "",
    "free_credits_out": "", "max_credits_out": "",
}  # fmt: skip

KEYS = {**INTS, **FLOATS, **TEXTS}.keys()

_OUTPUT = "Weft stores all numbers of a run; the output is chosen when the results are read"
_WATCH = "to watch a packet, name it with weft run --watch"
_CONVERGENCE = "the window has a fixed length; measure.stop: {confidence: ...} ends it at a given confidence interval"
_VC_RANGES = "it divides VCs between requests and replies, which exist only with use_read_write"
_SHARED = "it is only for shared buffers, but buffer_policy is private"
_SPECULATION = "it is only for speculative switch allocation, but speculative is 0"

# Keys without effect, each with the reason: BookSim2 never reads the key, or not with some values of other keys.
IDLE = {
    "alloc_iters": "BookSim2 does not pass it to its allocators; iterations are part of a name such as `islip(4)`",
    "arb_type": (
        "BookSim2 does not pass it to its allocators; arbiters are part of a name such as "
        "`separable_input_first(matrix)`"
    ),
    "channel_file": "BookSim2 reads it nowhere",
    "in_ports": "BookSim2 reads it nowhere",
    "out_ports": "BookSim2 reads it nowhere",
    "output_delay": "BookSim2 reads it nowhere",
    "vct": "it is only for the event router, but router is iq",
    "fail_seed": "it is only for link_failures, which is 0",
    "batch_size": "it belongs to sim_type = batch",
    "batch_count": "it belongs to sim_type = batch",
    "max_outstanding_requests": "it belongs to sim_type = batch",
    "injection_rate": "sources of a batch send as fast as they can",
    "injection_process": "sources of a batch send as fast as they can",
    "injection_rate_uses_flits": "sources of a batch send as fast as they can",
    "burst_alpha": "it belongs to injection_process = on_off",
    "burst_beta": "it belongs to injection_process = on_off",
    "burst_r1": "it belongs to injection_process = on_off",
    "class_priority": "it is only for priority = class",
    "packet_size": "with use_read_write the sizes of requests and replies are used instead",
    "packet_size_rate": "it weights packet sizes, but packet_size is one number",
    "write_fraction": "it belongs to use_read_write",
    "perm_seed": "it is only for traffic = randperm",
    "network_file": "it is only for topology = anynet",
    "vc_priority_donation": "it is only for a priority between packets, but priority is none",
    "output_buffer_size": "with internal_speedup 1.0 no flit waits after the switch",
    "spec_sw_allocator": _SPECULATION,
    "spec_check_elig": _SPECULATION,
    "spec_check_cred": _SPECULATION,
    "spec_mask_by_reqs": _SPECULATION,
    **dict.fromkeys(
        ("private_bufs", "private_buf_size", "private_buf_start_vc", "private_buf_end_vc", "max_held_slots"), _SHARED
    ),
    **dict.fromkeys(("feedback_aging_scale", "feedback_offset"), _SHARED),
    **dict.fromkeys((key for key in INTS if key.startswith(("read_re", "write_re"))), _VC_RANGES),
    **dict.fromkeys(
        ("read_request_size", "write_request_size", "read_reply_size", "write_reply_size"),
        "it belongs to use_read_write",
    ),
    **dict.fromkeys((key for key in INTS if key.endswith("_subnet")), "there is one subnet"),
    **dict.fromkeys(("watch_file", "watch_flits", "watch_packets", "watch_transactions", "watch_out"), _WATCH),
    **dict.fromkeys((key for key in TEXTS if key.endswith("_out") and key != "watch_out"), _OUTPUT),
    **dict.fromkeys(("print_activity", "print_csv_results", "viewer_trace", "pair_stats"), _OUTPUT),
    **dict.fromkeys(
        ("stopping_thres", "acc_stopping_thres", "warmup_thres", "acc_warmup_thres", "max_samples"), _CONVERGENCE
    ),
    "latency_thres": "no mean latency ends a run; a point is saturated if it accepts less than the offered load",
    "deadlock_warn_timeout": "in Weft a stalled network ends the run after measure.stall_limit",
    "power_output_file": "power is billed link by link in every run: see power in the scenario",
    "tech_file": "power is billed link by link in every run: see power in the scenario",
    "channel_sweep": "power is billed link by link in every run: see power in the scenario",
}
