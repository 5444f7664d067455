"""Tests ``weft import booksim``: its output, messages and refusals."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import weft
from weft.cli import main
from weft.errors import PeerError, WeftError, WriteError
from weft_peers.booksim import anynet, bands, matrix, models, wiring
from weft_peers.booksim.convert import convert
from weft_peers.booksim.keys import FLOATS, INTS, KEYS
from weft_peers.booksim.pipeline import aborts, head_delays

if TYPE_CHECKING:
    from collections.abc import Callable

PEER = Path(__file__).parent / "data" / "booksim"
CONFIGS = sorted(file.name for file in PEER.glob("*.cfg"))


def imported(file: str, *settings: str) -> dict[str, Any]:
    """Import a configuration, and return its scenario as a dict."""
    found: dict[str, Any] = yaml.safe_load(convert([str(PEER / file), *settings], "x").scenario.text)
    return found


def refused(file: str, *settings: str) -> str:
    """Import a configuration that is refused, and return the error."""
    with pytest.raises(PeerError) as error:
        convert([str(PEER / file), *settings], "x")
    return error.value.text


@pytest.mark.parametrize("file", CONFIGS)
def test_every_configuration_is_written_and_runs(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "deep" / f"{Path(file).stem}.yaml"
    assert main(["import", "booksim", str(PEER / file), "--out", str(out)]) == 0
    output = capsys.readouterr().out
    assert f"wrote {out}" in output
    assert output.endswith(f"next: weft run {out}\n")
    sweep = weft.load(
        out, overrides={"measure.warmup": "10cycles", "measure.window": "20cycles", "measure.drain_limit": "1cycle"}
    )
    results = sweep.run(out=tmp_path / "results")
    zero_load = sweep.points[0].imply()["zero_load_latency_cycles"]
    assert f"zero-load latency {zero_load:.2f} cycles" in output
    assert results.frame["accepted_load"][0] >= 0


def test_comments_name_the_keys_and_their_lines(tmp_path: Path) -> None:
    file = tmp_path / "ring"
    file.write_text(
        "topology = torus;\nk = 6;\nn = 1;\nrouting_function = dim_order;\nrouting_delay = 0;\n", encoding="utf-8"
    )
    lines = convert([str(file), "num_vcs=4"], "ring").scenario.text.split("\n")
    place = lines.index("topology: {torus: {widths: [6], terminals_per_router: 1}}")
    assert lines[place - 1] == "# topology = torus (line 1), k = 6 (line 2), n = 1 (line 3)"
    place = lines.index("  default: {latency: 2cycles, vcs: 4, buffer: 8flits}")
    assert "num_vcs = 4 (command line), vc_buf_size = 8 (default), use_noc_latency = 1 (default)" in lines[place - 1]


def _other_value(key: str) -> str:
    if key in INTS:
        return str(INTS[key] + 1)
    return str(FLOATS[key] / 2 + 0.125) if key in FLOATS else "other"


@pytest.mark.parametrize("key", sorted(KEYS))
def test_no_key_is_lost(key: str, tmp_path: Path) -> None:
    """Each key with another value than its default appears in the scenario's comments, the notes, or the error."""
    file = tmp_path / "mesh"
    lines = ["topology = mesh;", "k = 4;", "n = 1;", "routing_function = dor;", "routing_delay = 0;"]
    value = "2" if key in ("k", "n") else _other_value(key)
    text = "\n".join([*(line for line in lines if not line.startswith(f"{key} ")), f"{key} = {value};"])
    file.write_text(text, encoding="utf-8")
    try:
        found = convert([str(file)], "mesh")
    except WeftError as error:
        words, notes = error.text, []
    else:
        words, notes = " ".join(found.scenario.text.replace("#", " ").split()), found.notes
    assert f"{key} = {value}" in words or any(note.key == f"{key} = {value}" for note in notes)


def test_pipelines_take_as_long_as_measured() -> None:
    """The measured cycles are the latency over one BookSim2 router at load 0.002, minus two links and delivery."""
    measured = {
        1.0: {(0, 1, 1, 1): 3, (0, 1, 1, 2): 4, (1, 1, 1, 1): 4, (2, 1, 1, 1): 5, (2, 2, 1, 1): 6, (2, 2, 2, 1): 7},
        2.0: {(0, 1, 1, 1): 2, (0, 1, 1, 2): 3, (1, 1, 1, 1): 2, (1, 2, 1, 1): 3, (1, 2, 2, 1): 3, (2, 2, 2, 2): 5},
        3.0: {(0, 1, 1, 1): 1, (1, 1, 1, 1): 2, (1, 2, 1, 1): 2, (1, 2, 2, 1): 3, (2, 2, 2, 1): 4, (2, 2, 2, 2): 5},
        1.5: {(0, 1, 1, 1): 2, (1, 1, 1, 1): 3, (2, 1, 1, 1): 4},
        1.7: {(0, 1, 1, 1): 2, (0, 1, 1, 2): 3},
    }
    for speedup, delays in measured.items():
        for stages, delay in delays.items():
            assert head_delays(stages, speedup) == {delay}, (speedup, stages)
            assert not aborts(*stages[:3], speedup)
    assert head_delays((1, 1, 1, 1), 1.7) == {2, 3}, "measured: 2.56 on average"
    assert aborts(0, 2, 1, 1.0)
    assert aborts(0, 1, 2, 2.0)
    assert aborts(1, 2, 1, 1.5)


def test_delays_speedups_and_credits() -> None:
    router = imported("mesh88.cfg", "routing_delay=2", "st_final_delay=3", "credit_delay=0")["router"]
    assert (router["delay"], router["speedup"], router["credit_delay"]) == ("7cycles", 1, "1cycle")
    router = imported("mesh88.cfg", "internal_speedup=1.7")["router"]
    assert (router["delay"], router["speedup"]) == ("2cycles", 2)
    assert "2 or 3 cycles" in refused("mesh88.cfg", "internal_speedup=1.7", "routing_delay=1")
    assert "failed assertion" in refused("mesh88.cfg", "vc_alloc_delay=2")


def notes_of(file: str, *settings: str) -> dict[str, str]:
    """Return the approximations of an import: text of the note by BookSim2 key."""
    found = convert([str(PEER / file), *settings], "x").notes
    return {note.key.partition(" = ")[0]: note.text for note in found if note.kind == "approximated"}


@pytest.mark.parametrize(
    ("settings", "turn"),
    [
        (["routing_delay=0"], 0),
        (["routing_delay=1"], 1),
        (["routing_delay=3"], 3),
        (["routing_delay=1", "internal_speedup=1.5"], 1),
        (["routing_delay=1", "internal_speedup=2.0"], 0),
        (["routing_delay=3", "internal_speedup=2.0"], 2),
        (["routing_delay=1", "input_speedup=2"], 1),
    ],
)
def test_a_head_behind_another_packet_waits_for_its_route(settings: list[str], turn: int) -> None:
    cycles = "1cycle" if turn == 1 else f"{turn}cycles"
    assert imported("mesh88.cfg", *settings)["router"]["routing_delay"] == cycles


def test_what_routing_does_otherwise_is_reported() -> None:
    assert "routing_delay" not in notes_of("mesh88.cfg", "routing_delay=1")
    assert "route heads in batches" in notes_of("mesh88.cfg", "routing_delay=2")["routing_delay"]
    assert "an internal step" in notes_of("mesh88.cfg", "routing_delay=1", "internal_speedup=2.0")["routing_delay"]
    assert (
        "credits return 1cycle earlier" in notes_of("mesh88.cfg", "routing_delay=1", "packet_size=6")["routing_delay"]
    )


def test_credits_of_long_packets_are_earlier_by_the_routing_of_their_heads() -> None:
    """BookSim2's credit_delay is 2. A credit takes at least one cycle more than the latency of its link."""

    def credits(*settings: str) -> str:
        return str(imported("mesh88.cfg", "wait_for_tail_credit=0", *settings)["router"]["credit_delay"])

    assert credits("routing_delay=1") == "3cycles"
    assert credits("packet_size=6") == "3cycles"
    assert credits("packet_size=6", "routing_delay=1") == "2cycles"
    assert credits("packet_size=6", "routing_delay=9") == "0cycles"
    replies = [f"{kind}_reply_size=4" for kind in ("read", "write")]
    assert credits("routing_delay=1", "use_read_write=1", *replies) == "2cycles"


def test_speculation_takes_the_vc_and_the_switch_in_one_step() -> None:
    assert imported("mesh88.cfg")["router"]["vc_realloc"] == 1
    router = imported("mesh88.cfg", "speculative=1")["router"]
    assert (router["vc_realloc"], router["delay"]) == (0, "2cycles")


def test_every_hop_on_tree4_has_all_vcs_of_its_own() -> None:
    words = ("topology=tree4", "k=4", "n=3", "routing_function=nca")
    links = imported("torus88.cfg", *words, "num_vcs=3")["links"]
    assert (links["default"]["vcs"], links["terminal"]["vcs"]) == (12, 3)
    links = imported("torus88.cfg", *words, "num_vcs=8")["links"]
    assert (links["default"]["vcs"], links["terminal"]["vcs"]) == (16, 8)


def test_a_vc_that_waits_for_its_tail_credit_holds_one_packet() -> None:
    """With `wait_for_tail_credit`, a VC gets room for one packet, and a packet enters only an empty buffer."""
    waits = imported("mesh88.cfg", "packet_size=6")
    assert waits["links"]["default"]["buffer"] == "6flits"
    assert waits["router"]["flow_control"] == "virtual_cut_through"
    worms = imported("mesh88.cfg", "packet_size=20")
    assert worms["links"]["default"]["buffer"] == "8flits"
    assert worms["router"]["flow_control"] == "wormhole"


def test_loads_are_flits_whatever_the_rate_is() -> None:
    assert imported("mesh88_lat.cfg")["traffic"]["load"] == pytest.approx(0.005 * 20)
    assert imported("dragonfly.cfg")["traffic"]["load"] == pytest.approx(0.8)
    assert imported("mesh88_lat.cfg", "injection_rate=0.5")["traffic"]["load"] == 1.0
    assert "0 to 1 packets" in refused("mesh88.cfg", "injection_rate=1.5")
    assert "no packets are sent" in refused("mesh88.cfg", "injection_rate=0.0")


def test_bursts_keep_their_length_and_their_peak() -> None:
    """With alpha 0.05 and beta 0.1, bursts last 10 cycles and take a third of the time.

    The rate in a burst (peak) is therefore three times the load.
    """
    on = imported("mesh88.cfg", "injection_process=on_off({0.05,0.1})", "injection_rate=0.1")["traffic"]["injection"]
    assert on == {"on_off": {"mean_on": "10cycles", "peak": pytest.approx(0.3)}}
    words = ("injection_process=on_off", "burst_alpha=0.05", "burst_beta=-1.0", "burst_r1=0.4", "injection_rate=0.1")
    # a negative beta means that it follows from the other values: 0.05 * (0.4 - 0.1) / 0.1 = 0.15, so bursts last 6.67
    # cycles
    on = imported("mesh88.cfg", *words)["traffic"]["injection"]
    assert on == {"on_off": {"mean_on": "7cycles", "peak": pytest.approx(0.4)}}
    assert "needs two of" in refused("mesh88.cfg", "injection_process=on_off", "burst_r1=0.4")
    assert "can't give" in refused("mesh88.cfg", "injection_process=on_off({0.01,0.5})", "injection_rate=0.1")
    assert "a burst has at most 1" in refused("mesh88.cfg", "injection_process=on_off({0.05,0.1})", "packet_size=4")


def test_phases_batches_and_repeated_runs() -> None:
    assert imported("mesh88.cfg")["measure"] == {"warmup": "3000cycles", "window": "3000cycles"}
    assert imported("mesh88.cfg", "warmup_periods=0")["measure"]["warmup"] == "auto"
    assert "no samples to measure" in refused("mesh88.cfg", "max_samples=3")
    batch = imported("cmesh.cfg", "sim_type=batch", "batch_count=3", "seed=7")
    assert batch["traffic"]["batch"] == {"per_terminal": 2000}
    assert batch["measure"] == {"warmup": "0cycles", "stop": "complete"}
    assert batch["sweep"] == {"seed": [7, 8, 9]}
    assert "load" not in batch["traffic"]


def test_requests_are_answered() -> None:
    words = (
        "use_read_write=1",
        "read_request_size=2",
        "write_request_size=2",
        "read_reply_size=5",
        "write_reply_size=5",
    )
    traffic = imported("mesh88.cfg", *words, "injection_rate=0.02")["traffic"]
    # a reply leaves one cycle after its request has arrived
    assert (traffic["packet"], traffic["reply"]["packet"], traffic["reply"]["turnaround"]) == (
        "2flits",
        "5flits",
        "1cycle",
    )
    assert traffic["load"] == pytest.approx(0.04)
    mixed = imported("mesh88.cfg", "use_read_write=1", "read_request_size=2", "write_fraction=0.25")["traffic"][
        "packet"
    ]
    assert mixed == {"mix": [{"size": "2flits", "weight": 0.75}, {"size": "1flit", "weight": 0.25}]}
    text = refused("mesh88.cfg", "use_read_write=1", "read_reply_size=2")
    assert "all replies have one length" in text
    assert "not among the 8 VCs" in refused("mesh88_lat.cfg", "use_read_write=1")


def test_replies_take_a_cycle_longer_as_in_booksim() -> None:
    """In a 4x4 mesh, requests take 19.5 cycles on average without contention, and replies 20.5.

    The mean over all packets is 20.0 cycles.

    BookSim2 (28f4329, seed 3, 20,000 cycles per sample) measured 20.01 at a rate of 0.005.
    """
    words = ("k=4", "n=2", "num_vcs=16", "routing_delay=1", "credit_delay=0", "packet_size=1", "wait_for_tail_credit=0")
    plain, answered = (
        convert([str(PEER / "mesh88.cfg"), *words, "use_read_write=" + answers], "x").zero_load for answers in "01"
    )
    assert plain is not None
    assert answered == pytest.approx(plain + 0.5)


def test_packets_of_several_sizes_have_their_weights() -> None:
    """BookSim2 draws the size of each packet by weight. A short list of weights is extended with its last number."""

    def traffic(*settings: str) -> dict[str, Any]:
        found: dict[str, Any] = imported("mesh88.cfg", *settings)["traffic"]
        return found

    mix = {"mix": [{"size": "1flit", "weight": 1}, {"size": "5flits", "weight": 1}]}
    assert traffic("packet_size={{1,5}}", "injection_rate=0.1")["packet"] == mix
    # packets have (1 + 5) / 2 = 3 flits on average
    assert traffic("packet_size={{1,5}}", "injection_rate=0.1")["load"] == pytest.approx(0.3)
    flits = traffic("packet_size={{1,5}}", "injection_rate=0.1", "injection_rate_uses_flits=1")
    assert flits["load"] == pytest.approx(0.1)
    weighed = traffic("packet_size={{1,2,9}}", "packet_size_rate={{3,1}}")["packet"]["mix"]
    assert [(part["size"], part["weight"]) for part in weighed] == [("1flit", 3), ("2flits", 1), ("9flits", 1)]
    assert traffic("packet_size={{1,2}}", "packet_size_rate={{0,2}}")["packet"] == "2flits"
    assert traffic("packet_size={{4,4}}")["packet"] == "4flits"
    assert traffic("packet_size={{1,5},{9}}")["packet"] == mix, "there is one class, which has the first list"
    assert "weights must be 0 or more" in refused("mesh88.cfg", "packet_size={{1,5}}", "packet_size_rate={{0,0}}")
    assert "weights must be 0 or more" in refused("mesh88.cfg", "packet_size={{1,5}}", "packet_size_rate=-1")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (["router=chaos"], "only the input-queued router"),
        (["noq=1"], "does not divide VCs"),
        (["buffer_policy=shared"], "its own buffer"),
        (["routing_function=romm"], "takes the same paths"),
        (["link_failures=2"], "name links in the scenario: faults: [{link: [0, 1], at: 0cycles}]"),
        (["topology=fattree", "routing_function=nca", "link_failures=2"], "no link failures for this topology"),
        (["priority=hop_count"], "no such priority"),
        (["num_vcs=17"], "at most 16 VCs"),
        (["traffic=hotspot"], "draws the hot spot"),
        (["traffic=bitcomp", "k=5"], "a power of two"),
        (["topology=dragonflynew", "routing_function=ugal", "k=2", "n=1", "num_vcs=4"], "only with 3 VCs"),
        (["topology=fly", "routing_function=dest_tag", "k=4"], "each terminal has one router"),
        (["topology=flatfly", "routing_function=ran_min", "c=4"], "xr = yr and xr * yr = c"),
        (["topology=flatfly", "routing_function=ran_min", "k=4", "y=4"], "needs x = y"),
        (
            ["topology=flatfly", "routing_function=ran_min", "k=5", "c=4", "xr=2", "yr=2"],
            "rows of 8 routers do not divide",
        ),
        (["topology=anynet", "routing_function=min"], "needs a file"),
    ],
)
def test_what_can_not_be_expressed_is_refused_with_a_remedy(settings: list[str], words: str) -> None:
    text = refused("mesh88.cfg", *settings)
    assert words in text
    assert "= help: " in text


@pytest.mark.parametrize(
    ("name", "key", "settings"),
    [
        ("min_adapt on mesh", "routing_function", ["routing_function=min_adapt"]),
        ("min_adapt on torus", "routing_function", ["topology=torus", "routing_function=min_adapt"]),
        ("nca on tree4", "routing_function", ["topology=tree4", "routing_function=nca", "k=4", "n=3"]),
        ("anca on fattree", "routing_function", ["topology=fattree", "routing_function=anca", "k=4", "n=3"]),
        ("num_vcs", "num_vcs", ["topology=torus", "routing_function=dim_order", "num_vcs=5"]),
        ("vc_busy_when_full", "vc_busy_when_full", ["vc_busy_when_full=1"]),
        ("hold_switch_for_packet", "hold_switch_for_packet", ["hold_switch_for_packet=1", "packet_size=4"]),
        ("age", "priority", ["priority=age"]),
        ("routing_delay of 2", "routing_delay", ["routing_delay=2"]),
        ("internal_speedup", "internal_speedup", ["internal_speedup=1.5"]),
        ("credits", "routing_delay", ["routing_delay=1", "packet_size=4"]),
        ("speculative", "speculative", ["speculative=1"]),
        ("sw_allocator", "sw_allocator", ["sw_allocator=select"]),
        ("vc_allocator", "vc_allocator", ["vc_allocator=select"]),
    ],
)
def test_an_approximation_carries_its_measured_band(name: str, key: str, settings: list[str]) -> None:
    words = ("wait_for_tail_credit=0", "packet_size=1", "k=8", "num_vcs=4")
    assert bands.sentence(name) in notes_of("mesh88.cfg", *words, *settings)[key]


def test_the_bands_are_those_of_the_engine(tmp_path: Path) -> None:
    """Weft still gives the listed latencies of two bands: a mesh that equals BookSim2's, and min_adapt that differs."""
    text = "topology = mesh; k = 8; n = 2; num_vcs = 4; vc_buf_size = 8; vc_busy_when_full = 1;"
    file = tmp_path / "mesh.cfg"
    for name, settings, (rate, there, here) in [
        ("vc_busy_when_full", ["routing_function=dor"], bands.BANDS["vc_busy_when_full"].points[0]),
        ("min_adapt on mesh", ["routing_function=min_adapt", "traffic=transpose"], (0.1, 71.4, 34.24)),
    ]:
        assert (rate, there, here) in bands.BANDS[name].points
        file.write_text(f"{text} injection_rate = {rate};", encoding="utf-8")
        convert([str(file), *settings], "x").save(tmp_path / name / "x.yaml")
        phases = {"measure.warmup": "2000cycles", "measure.window": "5000cycles"}
        frame = weft.load(tmp_path / name / "x.yaml", overrides=phases).run(out=tmp_path / name / "results").frame
        assert frame["packet_latency_mean_cycles"][0] == pytest.approx(here, rel=0.01)


def test_a_list_has_the_routers_of_each_dimension() -> None:
    """Forks of BookSim2 accept a list such as `k = {4,4}`. BookSim2 accepts only one number."""
    assert imported("mesh88.cfg", "k={4,4}")["topology"] == {"mesh": {"widths": [4, 4], "terminals_per_router": 1}}
    assert imported("mesh88.cfg", "k={4,2,3}", "n=3")["topology"]["mesh"]["widths"] == [4, 2, 3]
    assert "only a fork accepts lists" in notes_of("mesh88.cfg", "k={4,4}")["k"]
    assert "needs 2 numbers" in refused("mesh88.cfg", "k={4,4,4}")
    assert "this key needs one number" in refused("mesh88.cfg", "k={4,2}", "traffic=tornado")


def test_several_subnets_are_planes_with_a_share_of_the_load_each() -> None:
    found = convert([str(PEER / "mesh88.cfg"), "subnets=2", "injection_rate=0.1"], "x")
    scenario = imported("mesh88.cfg", "subnets=2", "injection_rate=0.1")
    alone = imported("mesh88.cfg", "injection_rate=0.05")
    assert scenario["topology"] == {"planes": {"count": 2, "of": alone["topology"]}}
    assert scenario["traffic"]["load"] == pytest.approx(alone["traffic"]["load"])
    notes = {note.key: note for note in found.notes}
    assert notes["subnets = 2"].kind == "approximated"
    assert "BookSim2 draws the subnet of each packet" in notes["subnets = 2"].text
    # each plane is a copy of the whole network, so an uncontended packet has the same latency as with one subnet
    one = convert([str(PEER / "mesh88.cfg"), "injection_rate=0.05"], "x")
    assert found.zero_load == pytest.approx(one.zero_load, rel=1e-9)


def test_subnets_for_kinds_of_packets_are_refused_and_one_of_them_can_be_imported() -> None:
    text = refused("mesh88.cfg", "subnets=2", "use_read_write=1", "num_vcs=16")
    assert "to use one network for requests and replies, write subnets = 1;" in text
    text = refused("mesh88.cfg", "subnets=2", "sim_type=batch", "injection_rate=0.1")
    assert "write subnets = 1; and injection_rate = 0.05;" in text
    assert imported("mesh88.cfg", "subnets=1", "injection_rate=0.05")["traffic"]["load"] == pytest.approx(0.05)


def test_a_butterfly_says_that_terminals_have_two_attachments() -> None:
    text = refused("mesh88.cfg", "topology=fly", "routing_function=dest_tag", "k=4", "n=3")
    assert "such terminals have two attachments" in text


def test_packets_of_a_simulated_gpu_are_refused_once() -> None:
    words = ("sim_type=gpgpusim", "traffic=gpgpusim", "injection_process=gpgpu_injector")
    text = refused("mesh88.cfg", *words)
    assert text.count("a GPU that GPGPU-Sim simulates") == 1
    assert "write sim_type = latency; traffic = uniform; injection_process = bernoulli;" in text
    assert imported("mesh88.cfg", "sim_type=latency", "traffic=uniform", "injection_process=bernoulli")


def test_failing_links_have_no_effect_where_booksim_has_no_code_for_them() -> None:
    words = ("topology=flatfly", "routing_function=ran_min", "k=4", "x=4", "y=4", "link_failures=2")
    notes = {note.key: note for note in convert([str(PEER / "mesh88.cfg"), *words], "x").notes}
    assert notes["link_failures = 2"].kind == "no effect"
    assert "`faults`" in notes["link_failures = 2"].text


def test_the_remedy_for_failing_links_works(tmp_path: Path) -> None:
    convert([str(PEER / "mesh88.cfg"), "link_failures=0"], "x").save(tmp_path / "x.yaml")
    failing = weft.load(tmp_path / "x.yaml", overrides={"faults": "[{link: [0, 1], at: 0cycles}]"})
    assert failing.points[0].imply()


def test_all_that_is_missing_is_reported_at_once() -> None:
    text = refused("mesh88.cfg", "noq=1", "subnets=2", "sim_type=batch", "priority=hop_count")
    assert all(key in text for key in ("noq = 1", "subnets = 2", "priority = hop_count"))


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "mesh.yaml"
    command = ["import", "booksim", str(PEER / "mesh88.cfg"), "--out", str(out)]
    assert main(command) == 0
    assert main(command) == 0, "the same text again is no loss"
    out.write_text("mine", encoding="utf-8")
    assert main(command) == 2
    assert out.read_text(encoding="utf-8") == "mine"
    assert "choose another --out" in capsys.readouterr().err


def test_a_command_without_a_file_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", "booksim", "k=8"]) == 2
    assert "no file is given" in capsys.readouterr().err


# The next tests are about networks that the import writes to files. They compare paths and link lengths with the
# definitions.


def steps(network: wiring.Wiring, following: Callable[[int, int], int], at: int, to: int) -> list[int]:
    """Return the latencies of all links on a path."""
    found = []
    while at != to:
        after = following(at, to)
        found.append(network.links[min(at, after), max(at, after)])
        at = after
    return found


def test_a_flattened_butterfly_on_the_floor() -> None:
    """4x4 routers with 2x2 terminals form rows of eight terminals.

    The latency of a link is twice its distance in routers.
    """
    network = wiring.flatfly(4, 2, 4, 4, noc=True)
    assert len(network.links) == 16 * 6 // 2
    assert network.terminals[:10] == [0, 0, 1, 1, 2, 2, 3, 3, 0, 0]
    following = wiring.dimension_order(4)
    for at in range(16):
        for to in range(16):
            across = [2 * abs(at % 4 - to % 4), 2 * abs(at // 4 - to // 4)]
            assert steps(network, following, at, to) == [length for length in across if length]
    assert wiring.terminal_latencies(4) == {1}
    assert wiring.terminal_latencies(9) == {1}
    assert wiring.terminal_latencies(16) == {1, 2, 3}


def test_express_links_shorten_far_ways_along_the_edges() -> None:
    network = wiring.cmesh(8, noc=True)
    assert len(network.links) == 2 * 8 * 7 + 4 * 4
    assert network.terminals[:18] == [place // 2 for place in range(16)] + [0, 0]
    plain, express = wiring.mesh_order(8, express=False), wiring.mesh_order(8, express=True)
    assert steps(network, plain, 0, 7) == [2] * 7
    # from (0, 0) to (7, 0): the distance is more than 3, so the path takes the express link of 8 cycles to (4, 0), then
    # three links of 2 cycles
    assert steps(network, express, 0, 7) == [8, 2, 2, 2]
    assert steps(network, express, 63, 56) == [8, 2, 2, 2]
    assert steps(network, express, 7 * 8, 0) == [8, 2, 2, 2]
    assert steps(network, express, 8, 15) == [2] * 7, "there are none inside"


def test_trees() -> None:
    quad = wiring.qtree()
    assert steps(quad, wiring.down_or_up, 5, 8) == [1, 1], "siblings meet at their parent"
    assert steps(quad, wiring.down_or_up, 5, 20) == [1] * 4
    tree = wiring.tree4()
    degree = Counter(end for link in tree.links for end in link)
    assert [degree[router] for router in (0, 4, 12)] == [8, 8, 2]


def test_anynet_takes_the_ways_of_least_latency() -> None:
    network = anynet.read((PEER / "network.anynet").read_text(), "network")
    assert network.links == {(0, 1): 3, (0, 2): 1, (1, 3): 2, (2, 3): 1, (3, 4): 1}
    following = anynet.shortest(network, "network")
    # the path from 0 to 3 takes 2 cycles over router 2, and 5 cycles over router 1
    assert (following(0, 3), following(0, 4), following(1, 2)) == (2, 2, 3)


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("router 0 node 0 5", "f:1", "reads it as the latency of a link"),
        ("router 0 node 0\nrouter 1 node 0", "f:2", "connected to router 0 and to router 1"),
        ("router 0 node 1", "f", "there is no node 0"),
        ("router 1 node 0", "f", "there is no router 0"),
        ("node 0 node 1", "f:1", "connect nodes only to routers"),
        ("switch 0", "f:1", "neither `router N` nor `node N`"),
        ("router 0 router 0", "f:1", "connected to itself"),
        ("", "f", "there is no router 0"),
    ],
)
def test_network_files_that_booksim_refuses_or_misreads(text: str, place: str, words: str) -> None:
    with pytest.raises(PeerError) as error:
        anynet.read(text, "f")
    assert error.value.path == place
    assert words in error.value.what + error.value.help


def test_a_latency_of_one_direction_gives_the_other_1_cycle_and_credits_those_of_their_flits() -> None:
    network = anynet.read("router 0 node 0 router 1 15\nrouter 1 node 1", "f")
    assert (network.links, network.back) == ({(0, 1): 15}, {(0, 1): 1})
    assert network.graph() == "router 0 node 0 router 1 15\nrouter 1 node 1 router 0 1\n"
    # a credit for a flit on the channel of 15 cycles takes 15 cycles, although the credit's own channel takes 1 cycle,
    # and vice versa; the keys are the latencies of the credit's channels
    assert network.credit_latencies() == {15: {1}, 1: {15}}
    other = anynet.read("router 1 node 1 router 0 15\nrouter 0 node 0", "f")
    assert (other.links, other.back) == ({(0, 1): 1}, {(0, 1): 15})
    assert anynet.read("router 0 node 0 router 1 5\nrouter 1 node 1 router 0 5", "f").credit_latencies() == {}
    # the path from 0 to 2 takes 4 cycles over router 1, and 9 cycles directly; the direct path back takes 1 cycle
    ring = anynet.read("router 0 node 0 router 1 2 router 2 9\nrouter 1 router 2 2\nrouter 2 node 1", "f")
    following = anynet.shortest(ring, "f")
    assert (following(0, 2), following(2, 0)) == (1, 0)


def test_an_import_of_a_latency_of_one_direction_sets_the_latency_of_its_credits(tmp_path: Path) -> None:
    def links(text: str) -> tuple[dict[str, Any], str]:
        (tmp_path / "way.anynet").write_text(text)
        words = ["topology=anynet", "routing_function=min", f"network_file={tmp_path / 'way.anynet'}"]
        text = convert(words, "x").scenario.text
        return yaml.safe_load(text)["links"], text

    found, _ = links("router 0 node 0 router 1 15\nrouter 1 node 1\n")
    assert found["latency15"] == {"credit_latency": "1cycle"}
    assert found["latency1"] == {"credit_latency": "15cycles"}
    # channels of 1 cycle carry credits for channels of 15 and of 7 cycles, but a link class has only one credit latency
    found, text = links("router 0 node 0 router 1 15 router 2 7\nrouter 1 node 1\nrouter 2 node 2\n")
    assert "latency1" not in found
    assert found["latency15"] == found["latency7"] == {"credit_latency": "1cycle"}
    assert "channels of 1 cycles have opposite channels of 7, 15 cycles" in " ".join(text.replace("#", " ").split())


def test_a_router_that_can_not_be_reached_is_named() -> None:
    apart = anynet.read("router 0 node 0\nrouter 1 node 1", "f")
    with pytest.raises(PeerError, match="router 1 can't be reached from router 0"):
        anynet.shortest(apart, "f")


# The next tests are about patterns that the import writes to files. They compare the weights with the definitions.


def shares(text: str, source: int, terminals: int = 64) -> dict[int, float]:
    pattern = models.read_pattern(text, lambda key: {"k": 8, "n": 2, "xr": 1, "perm_seed": 0}[key])
    weights = matrix.destinations(pattern, source, terminals)
    return {destination: weight / sum(weights.values()) for destination, weight in weights.items()}


def test_destinations() -> None:
    assert shares("diagonal", 63) == {0: pytest.approx(1 / 3), 63: pytest.approx(2 / 3)}
    assert shares("asymmetric", 40) == {8: 0.5, 40: 0.5}
    assert shares("background({{0,1}})", 5) == {place: pytest.approx(1 / 62) for place in range(2, 64)}
    assert shares("badperm_yarc", 17) == {8 * place + 2: 1 / 8 for place in range(8)}
    assert shares("bad_dragon({2,1})", 63, 72) == dict.fromkeys(range(64, 72), 1 / 8)
    assert shares("bad_dragon({2,1})", 71, 72) == dict.fromkeys(range(8), 1 / 8)
    assert shares("hotspot({{5,60},{3,1}})", 0) == {5: 0.75, 60: 0.25}
    taper = shares("taper64", 0)
    assert taper[9] == pytest.approx(1 / 128 + 1 / 18)
    assert taper[55] == pytest.approx(1 / 128 + 1 / 18), "around the corner"
    assert taper[2] == pytest.approx(1 / 128)
    assert shares("tornado", 0) == {27: 1.0}, "three further in both digits"
    assert shares("tornado({4,3,1})", 63) == {0: 1.0}, "one further in all three digits"
    assert shares("neighbor", 63) == {0: 1.0}
    assert [next(iter(shares(name, 1))) for name in ("bitcomp", "bitrev", "shuffle", "transpose")] == [62, 32, 2, 8]


def test_models_send_where_the_matrix_says() -> None:
    """Depending on the network, the import converts some patterns to a pattern of Weft, or to a matrix.

    Both forms must send the same traffic.
    """
    for text in (
        "bitcomp",
        "bitrev",
        "shuffle",
        "transpose",
        "tornado({8,2,1})",
        "neighbor({8,2,1})",
        "tornado({4,2,1})",
    ):
        scenario = imported("mesh88.cfg", f"traffic={text}")
        assert "matrix" not in scenario["traffic"]["pattern"]
        pattern = models.read_pattern(text, lambda _: 0)
        routers = [next(iter(matrix.destinations(pattern, source, 64))) for source in range(64)]
        hops = [abs(a % 8 - b % 8) + abs(a // 8 - b // 8) for a, b in enumerate(routers)]
        point = weft.Scenario.from_dict(scenario).points()[0]
        assert point.imply()["mean_hops"] == pytest.approx(sum(hops) / 64), text


def test_terminals_are_renumbered_where_booksim_numbers_them_by_rows() -> None:
    found = convert([str(PEER / "flatfly.cfg"), "use_noc_latency=0", "traffic=bitcomp"], "x")
    rows = found.scenario.files["x-traffic.csv"].decode().split()
    homes = wiring.homes(16, 4, 4)
    order = sorted(range(64), key=lambda terminal: (homes[terminal], terminal))
    assert order[:5] == [0, 1, 8, 9, 2]
    for place, row in enumerate(rows):
        assert order[row.split(",").index("1")] == 63 - order[place]


def notes(file: str, *settings: str) -> dict[str, str]:
    """Import a configuration, and return the texts of all its notes, by key with value."""
    return {note.key: note.text for note in convert([str(PEER / file), *settings], "x").notes}


def test_a_zero_load_latency_of_too_many_paths_is_reported_with_its_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "large.yaml"
    assert main(["import", "booksim", str(PEER / "torus88.cfg"), "k=12", "n=3", "--out", str(out)]) == 0
    facts = weft.load(out).points[0].imply()
    assert facts["sampled"] is not None, "else this tests nothing"
    assert f"zero-load latency {facts['zero_load_latency_cycles']:.2f} +- " in capsys.readouterr().out


def test_runs_of_batches_are_points_each() -> None:
    """BookSim2 runs 3 simulations of 2 batches each. The import makes a point for each of the 3 x 2 batches."""
    batch = imported("cmesh.cfg", "sim_type=batch", "sim_count=3", "batch_count=2", "seed=5")
    assert batch["sweep"] == {"seed": list(range(5, 5 + 3 * 2))}
    assert "write batch_count = 33; or less" in refused(
        "cmesh.cfg", "sim_type=batch", "sim_count=30", "batch_count=400"
    )


def test_what_measures_nothing_is_refused() -> None:
    assert "measures nothing" in refused("mesh88.cfg", "measure_stats=0")
    assert "measures nothing" in refused("mesh88.cfg", "classes=2", "measure_stats={0,0}")


def test_a_list_and_a_number_of_one_key_are_reported(tmp_path: Path) -> None:
    """If a key has a list and also a number, BookSim2 ignores the number. The import does the same, with a note."""
    file = tmp_path / "ring"
    file.write_text("topology = torus;\nk = 4;\nn = 1;\nrouting_function = dim_order;\npacket_size = {2};\n")
    found = convert([str(file), "packet_size=5"], "x")
    assert yaml.safe_load(found.scenario.text)["traffic"]["packet"] == "2flits"
    by_name = {note.key: note.text for note in found.notes}
    assert "packet_size = {2} counts" in by_name["packet_size = 5 (command line)"]
    found = convert([str(file), "packet_size={,}", "packet_size=5"], "x")
    assert yaml.safe_load(found.scenario.text)["traffic"]["packet"] == "5flits"
    by_name = {note.key: note.text for note in found.notes}
    assert "packet_size = 5 counts" in by_name["packet_size = {,} (command line)"]
    assert not any("counts" in text for text in notes("torus88.cfg", "injection_rate=0.01").values())


def test_comments_and_remedies_have_single_semicolons() -> None:
    words = ("classes=2", "packet_size=1", "traffic={uniform,transpose}", "injection_rate={0.1,0.05}")
    text = convert([str(PEER / "mesh88.cfg"), *words], "x").scenario.text
    assert ";;" not in text
    assert "; ;" not in text
    assert ";;" not in refused("mesh88.cfg", "noq=1", "subnets=2", "sim_type=batch")


GRID = ["k=4", "n=2", "routing_delay=0", "c=1", "xr=1", "yr=1", "x=4", "y=4", "use_noc_latency=0"]
HALVED = [("torus", "dim_order", 2), ("torus", "dim_order_bal", 2), ("mesh", "valiant", 2), ("torus", "valiant", 4)]


@pytest.mark.parametrize(("topology", "function", "parts"), [*HALVED, ("flatfly", "ugal", 2), ("mesh", "dor", 1)])
def test_vcs_that_do_not_divide_evenly_are_reported(topology: str, function: str, parts: int) -> None:
    for vcs in range(4, 9):
        words = [*GRID, f"topology={topology}", f"routing_function={function}", f"num_vcs={vcs}"]
        shown = notes("torus88.cfg", *words).get(f"num_vcs = {vcs}", "")
        assert (f"into {parts} equal parts" in shown) == (vcs % parts > 0), (vcs, shown)


@pytest.mark.parametrize("noc", [0, 1])
def test_each_routing_named_for_one_that_there_is_not_is_accepted(noc: int) -> None:
    words = [*GRID, "topology=flatfly", "num_vcs=8", f"use_noc_latency={noc}"]
    text = refused("torus88.cfg", *words, "routing_function=ugal_xyyx")
    remedy = text.partition("help: ")[2]
    functions = re.findall(r"\b(ran_min|ugal)\b", remedy)
    assert functions == ["ran_min", "ugal"]
    assert remedy.endswith(" or ugal; with use_noc_latency = 0;" if noc else " or ugal;")
    for function, more in zip(functions, ([], ["use_noc_latency=0"] if noc else []), strict=True):
        assert convert([str(PEER / "torus88.cfg"), *words, f"routing_function={function}", *more], "x").scenario.text


@pytest.mark.parametrize(
    ("setting", "words", "remedy"),
    [
        (
            "sw_allocator=islip(0)",
            "sw_allocator = islip(0): with 0 iterations the allocator grants nothing",
            "change sw_allocator: ",
        ),
        ("sample_period=1", "3 samples are 3 cycles", "write sample_period = 4; or more"),
        ("credit_delay=2147483647", "credit_delay = 2147483647: 2147483648 cycles", "change credit_delay: "),
        ("vc_buf_size=2147483647", "vc_buf_size = 2147483647: ", "change vc_buf_size: in links.terminal.buffer"),
        ("packet_size=2147483647", "packet_size = 2147483647: ", "change packet_size: "),
        ("injection_process=on_off", "bursts of 2 cycles at 0.3 packets/cycle have 0.6", "write on_off("),
        ("k=300", "k = 300: ", "change k: in topology.torus.widths"),
    ],
)
def test_what_the_engine_refuses_is_reported_of_the_key_behind_it(setting: str, words: str, remedy: str) -> None:
    text = refused("torus88.cfg", setting)
    assert words in text
    assert remedy in text
    assert text.startswith("error: command line: "), "the place is that of the key"


@pytest.mark.parametrize(
    ("rate", "burst"),
    [
        *((rate, []) for rate in (0.01, 0.07, 0.15, 0.249)),
        (0.15, ["burst_beta=-1.0", "burst_r1=0.334"]),
        *((rate, ["burst_alpha=-1.0", "burst_r1=0.3"]) for rate in (0.01, 0.07, 0.15, 0.249)),
    ],
)
def test_the_remedy_for_short_bursts_is_one(rate: float, burst: list[str]) -> None:
    words = [*burst, f"injection_rate={rate}"]
    remedy = refused("torus88.cfg", "injection_process=on_off", *words).split("write ")[1].split(" for ")[0]
    traffic = imported("torus88.cfg", f"injection_process={remedy}", f"injection_rate={rate}")["traffic"]
    on = traffic["injection"]["on_off"]
    assert traffic["load"] == rate
    peak = next((float(word.partition("=")[2]) for word in burst if "r1" in word), rate * 2)
    assert on["peak"] == pytest.approx(peak, rel=1e-4)
    assert int(on["mean_on"].removesuffix("cycles").removesuffix("cycle")) * on["peak"] >= 1


@pytest.mark.parametrize(
    "words",
    [
        ["booksim", "{file}", "--out", "{out}", "k=4", "num_vcs=4"],
        ["booksim", "--out", "{out}", "{file}", "k=4", "num_vcs=4"],
        ["--out", "{out}", "booksim", "{file}", "k=4", "num_vcs=4"],
        ["booksim", "{file}", "k=4", "--out={out}", "num_vcs=4"],
        ["booksim", "{file}", "k=4", "num_vcs=4", "--out", "{out}"],
    ],
)
def test_settings_may_stand_anywhere(words: list[str], tmp_path: Path) -> None:
    out = tmp_path / "ring.yaml"
    assert main(["import", *(word.format(file=PEER / "torus88.cfg", out=out) for word in words)]) == 0
    found = yaml.safe_load(out.read_text())
    assert found["topology"]["torus"]["widths"] == [4, 4]
    assert found["links"]["default"]["vcs"] == 4


def test_an_unknown_option_and_an_unknown_simulator_are_errors(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["booksim", "torus88", "--oot", "x"], ["gem5", "torus88"], ["booksim"], []):
        with pytest.raises(SystemExit) as stopped:
            main(["import", *words])
        assert stopped.value.code == 2
        assert "error: " in capsys.readouterr().err


def test_a_place_that_can_not_be_written_is_an_error_with_a_remedy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("", encoding="utf-8")
    for out in (blocked / "x.yaml", Path("/proc/x.yaml"), tmp_path / ("x" * 300 + ".yaml"), tmp_path):
        assert main(["import", "booksim", str(PEER / "torus88.cfg"), "--out", str(out)]) == 2
        errors = capsys.readouterr().err
        assert errors.startswith(f"error: {out}")
        assert "  = help: " in errors
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_all_files_are_written_or_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The import writes a scenario and two files next to it. If the disk is full at the third file, no file remains."""
    found = convert([str(PEER / "anynet.cfg")], "net")
    assert len(found.scenario.files) == 2
    plain, written = Path.write_bytes, []

    def write(path: Path, content: bytes) -> int:
        written.append(path)
        if len(written) == 3:
            plain(path, content[:5])
            raise OSError(28, "No space left on device")
        return plain(path, content)

    monkeypatch.setattr(Path, "write_bytes", write)
    with pytest.raises(WriteError, match="the disk is full"):
        found.save(tmp_path / "net.yaml")
    assert not list(tmp_path.iterdir())
    assert sorted(found.save(tmp_path / "net.yaml")) == sorted(tmp_path.iterdir())


def test_packets_of_several_flits_at_internal_speedup_are_reported() -> None:
    for speedup, flits, shown in (("2.0", 4, True), ("1.5", 4, True), ("2.0", 1, False), ("1.0", 4, False)):
        found = convert([str(PEER / "mesh88.cfg"), f"internal_speedup={speedup}", f"packet_size={flits}"], "x").notes
        texts = [note.text for note in found if note.key == f"internal_speedup = {speedup}"]
        assert any("percent longer under load" in text for text in texts) == shown, (speedup, flits)
