//! Tests of the summary and the table of channels, for an outcome of a run that the test writes by hand.

use hdrhistogram::Histogram;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::json;
use weft_engine::outcome::{
    Batch, Bursts, Cause, ChannelCount, Decisions, Doubt, Ending, Fullest, JobOutcome, Measured, PacketName,
    PacketSums, PhaseOutcome, Progress, Queue, Saturation, Stall, Waiting,
};
use weft_engine::power::LinkState;
use weft_engine::recording::{Column, Table};
use weft_engine::spec::{Execution, Rate};
use weft_engine::{Outcome, Spec};
use weft_scenario::{Finished, Point, expand};
use weft_units::fj_text;

/// A network of two routers with one terminal each. Flits have 10 bits. Prices: on = 2 fJ per cycle and 10 fJ per flit; off = 0.
const FILE: &str = "\
name: by hand
flit: 10b
topology: {hyperx: {widths: [2], terminals_per_router: 1}}
routing: dimension_order
traffic: {pattern: uniform, load: 0.5}
power:
  policy: {idle_timeout: {idle: 10cycles, transition: 5cycles}}
  prices:
    on: {static: 2uW, per_bit: 1fJ/bit}
    draining: {static: 2uW, per_bit: 0fJ/bit}
    waking: {static: 2uW, per_bit: 0fJ/bit}
    off: {static: 0W, per_bit: 0fJ/bit}
measure: {window: 100cycles}
";

fn point() -> Point {
    expand("hand.yaml", FILE, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0)
}

fn channel(from: Option<u32>, to: Option<u32>, class: u8, off: u64, flits: u64) -> ChannelCount {
    let (cycles, flits) = ([100 - off, 0, 0, off, 0, 0, 0].into(), [flits, 0, 0, 0, 0, 0, 0].into());
    ChannelCount { from, from_port: 1, to, to_port: 1, class, cycles, flits, transitions: u64::from(off > 0) }
}

/// Sums over packets of one flit that cross one link between routers.
fn sums(packets: u64, latency: u64) -> PacketSums {
    PacketSums {
        packets,
        flits: packets,
        latency,
        network_latency: latency,
        hops: packets,
        minimal: packets,
        kept_back: 0,
    }
}

/// The only job of the run.
fn job(latency: Histogram<u64>) -> JobOutcome {
    JobOutcome {
        name: "all".into(),
        terminals: 2,
        offered_flits: 100,
        injected_flits: 90,
        accepted_flits: 80,
        missing_packets: 1,
        dropped_packets: 0,
        packets: Measured { sums: sums(4, 120), batches: vec![sums(2, 40), sums(2, 80)], latency },
        latencies: Vec::new(),
        progress: Progress::Endless,
        figures: Vec::new(),
        usages: None,
        batch: Some(Batch { delivered: 4, packets: 4, dropped: 0, completed: Some(77) }),
    }
}

fn outcome(ending: Ending) -> Outcome {
    let mut latency = Histogram::new(3).expect("a histogram");
    for value in [20, 20, 30, 50] {
        latency.record(value).expect("recorded");
    }
    Outcome {
        saturated: if ending == Ending::Saturated { Saturation::Yes } else { Saturation::No },
        ending,
        cycles: 150,
        warmup: 0,
        window: 100,
        decisions: Decisions::default(),
        terminals: 2,
        offered_flits: 100,
        injected_flits: 90,
        accepted_flits: 80,
        backlog_packets: 10,
        waiting_packets: 0,
        fullest: None,
        sums: sums(4, 120),
        missing_packets: 1,
        dropped_packets: 0,
        dropped_flits: 0,
        serial_cycles: 0,
        batches: vec![sums(2, 40), sums(2, 80), sums(0, 0)],
        network_latency: latency.clone(),
        latency: latency.clone(),
        hop_counts: vec![0, 4],
        longest_path: 1,
        asleep: Vec::new(),
        channels: vec![
            channel(None, Some(0), 0, 0, 40),
            channel(Some(0), None, 0, 0, 40),
            channel(Some(0), Some(1), 1, 25, 40),
            channel(Some(1), Some(0), 1, 100, 0),
        ],
        classes: Vec::new(),
        jobs: vec![job(latency)],
        recorded: vec![
            ("link_states", Table::bounded([("channel", Column::Counts(vec![2, 2]))], false)),
            ("control_packets", Table::bounded([("kind", Column::Texts(vec!["ack".into()]))], true)),
            ("transient", every_kind_of_cell()),
        ],
        control: None,
        congestion: None,
        set_aside: None,
        journeys: Vec::new(),
        flit_hops: 160,
        phases: Vec::new(),
        faults: None,
    }
}

/// A table of two rows that has a column of every type.
fn every_kind_of_cell() -> Table {
    Table::whole([
        ("counts", Column::Counts(vec![1, u64::MAX])),
        ("maybe_counts", Column::MaybeCounts(vec![None, Some(7)])),
        ("maybe_numbers", Column::MaybeNumbers(vec![Some(3), None])),
        ("floats", Column::Floats(vec![0.5, -2.0])),
        ("texts", Column::Texts(vec!["dim0".into(), "".into()])),
    ])
}

fn finished(ending: Ending) -> Finished {
    let point = point();
    Finished::new(&point, &point.spec().expect("sound"), &outcome(ending)).expect("priced")
}

/// The last warning in the results of an outcome, as one line, and the value of `saturated`.
fn doubt(outcome: &Outcome) -> (String, Option<bool>) {
    let point = point();
    let summary = Finished::new(&point, &point.spec().expect("sound"), outcome).expect("priced").summary;
    let warning = summary["warnings"].as_array().and_then(|all| all.last()).expect("a warning");
    let text = ["path", "what", "help"].map(|key| warning[key].as_str().expect("text")).join("; ");
    (text, summary["saturated"].as_bool())
}

#[test]
fn what_bursts_leave_open_is_a_warning_with_its_remedy() {
    let open =
        |chance, gap| Saturation::Unknown(Doubt::Bursts(Bursts { cycles: 50, chance, gap, limit: 0.03 + chance }));
    // a variation of 40 % falls to 20 % in a window 4 times as long. The proposed window is 1 % longer, because some of its flits arrive
    // after it
    let whole = Outcome { saturated: open(0.4, 0.0), ..outcome(Ending::Drained) };
    let (text, saturated) = doubt(&whole);
    assert_eq!(saturated, None);
    assert!(text.starts_with("measure.window; in the second half of the window (50 cycles"), "{text}");
    assert!(text.contains("bursts alone may change the load by 40.0 %"), "{text}");
    assert!(text.contains("write `measure.window: 404cycles` or more"), "{text}");
    let (text, _) = doubt(&Outcome { saturated: open(0.1, 0.052), ..outcome(Ending::Drained) });
    let what = "accepted 5.2 % less than the offered load. A difference of up to 13.0 % is tolerated";
    assert!(text.contains(what), "{text}");
    // a variation of 10 % falls to 2 % in a window 25 times as long. This is enough to judge every difference in load
    assert!(text.contains("write `measure.window: 2525cycles` or more"), "{text}");
    let phase = PhaseOutcome {
        start: 70,
        from: 70,
        to: 90,
        load: 0.1,
        offered_flits: None,
        accepted_flits: 0,
        saturated: Some(whole.saturated),
        packets: whole.jobs[0].packets.clone(),
        waiting_packets: 0,
        classes: Vec::new(),
        asleep: Vec::new(),
    };
    let (text, _) = doubt(&Outcome { phases: vec![phase], ..whole });
    assert!(text.starts_with("traffic.phases; in the second half of the phase that begins in cycle 70"), "{text}");
    assert!(text.contains("at least 4.0 times as long"), "{text}");
}

#[test]
fn the_summary_is_the_arithmetic_of_the_outcome() {
    let s = finished(Ending::Saturated).summary;
    assert_eq!((s["ending"].as_str(), s["saturated"].as_bool()), (Some("saturated"), Some(true)));
    assert_eq!(s["offered_load"], 0.5);
    assert_eq!(s["accepted_load"], 0.4);
    assert_eq!(s["packet_latency_mean_cycles"], 30.0);
    // Two batches have the means 20 and 40. Their variance is s^2 = 200, so the standard error is sqrt(200 / 2) = 10. Student's t for one
    // degree of freedom is 12.706.
    assert!((s["packet_latency_ci95_cycles"].as_f64().expect("a number") - 127.06).abs() < 1e-9);
    assert_eq!(s["packet_latency_p50_cycles"], 20);
    assert_eq!((&s["packet_latency_min_cycles"], &s["packet_latency_p90_cycles"]), (&20.into(), &50.into()));
    assert_eq!(s["packet_latency_max_cycles"], 50);
    assert_eq!(s["latency_histogram"], json!([[20, 2], [30, 1], [50, 1]]));
    assert_eq!(s["hops_mean"], 1.0);
    assert_eq!((&s["missing_packets"], &s["dropped_packets"]), (&1.into(), &0.into()));
    // Static energy: (100 + 100 + 75 + 0) * 2 fJ; dynamic energy: 120 * 10 fJ.
    assert_eq!(s["energy_static_fj"], "550");
    assert_eq!(s["energy_dynamic_fj"], "1200");
    assert_eq!(s["energy_total_fj"], "1750");
    // Always-on: all four channels for 100 cycles at 2 fJ per cycle. Ideal: one cycle at 2 fJ for each flit. The flits cost the same in
    // both cases.
    assert_eq!(s["energy_always_on_fj"], (4 * 100 * 2 + 1200).to_string());
    assert_eq!(s["energy_ideal_fj"], (120 * 2 + 1200).to_string());
    // The channels between routers are on for 75 of 2 * 100 cycles, and carry 40 flits.
    let fj = |key: &str| (s[key].as_f64().expect("a number") * 1e15).round();
    assert_eq!(fj("energy_network_j"), 75.0 * 2.0 + 400.0);
    assert_eq!(fj("energy_network_always_on_j"), 200.0 * 2.0 + 400.0);
    assert_eq!((fj("energy_network_ideal_j"), fj("energy_managed_ideal_j")), (40.0 * 2.0 + 400.0, 480.0));
    assert_eq!(fj("energy_managed_always_on_j"), 800.0);
    // A cycle is 1 ns, so the mean power is 1750 fJ in 100 ns.
    assert_eq!((s["cycle_seconds"].as_f64(), s["window_seconds"].as_f64()), (Some(1e-9), Some(1e-7)));
    let near = |key: &str, value: f64| {
        let number = s[key].as_f64().expect("a number");
        assert!((number / value - 1.0).abs() < 1e-12, "{key}: {number}");
    };
    near("power_mean_w", 1750e-15 / 1e-7);
    near("power_network_ideal_mean_w", 480e-15 / 1e-7);
    near("power_managed_always_on_mean_w", 800e-15 / 1e-7);
    near("energy_always_on_per_bit_pj", 2.0 / 800.0);
    near("energy_network_ideal_per_bit_pj", 0.48 / 800.0);
    assert_eq!(s["accepted_bits"], 800);
    assert_eq!((&s["link_states_complete"], &s["control_packets_complete"]), (&false.into(), &true.into()));
    // 80 flits of 10 bits were delivered, so the energy per bit is 1750 fJ / 800 b.
    assert!((s["energy_per_bit_pj"].as_f64().expect("a number") - 1.75 / 800.0).abs() < 1e-15);
    assert_eq!(s["links_on_share"], 0.375);
    assert_eq!(s["links_off_share"], 0.625);
    assert_eq!((&s["links_on_mean"], &s["power_settled"]), (&0.375.into(), &serde_json::Value::Null));
    assert_eq!(s["link_transitions"], 2);
    assert_eq!(s["link_classes"][1]["utilisation_max"], 0.4);
    // Only one terminal has an injection channel in the outcome written by hand; this channel carries 40 flits in 100 cycles.
    assert_eq!((s["source_fairness_jain"].as_f64(), s["source_load_min"].as_f64()), (Some(1.0), Some(0.4)));
    assert_eq!((s["completion_cycles"].as_u64(), s["warmup_settled"].as_bool()), (Some(77), None));
    let job = &s["jobs"][0];
    assert_eq!((job["job"].as_str(), job["accepted_load"].as_f64()), (Some("all"), Some(0.4)));
    assert_eq!((job["packet_latency_mean_cycles"].as_f64(), job["completion_cycles"].as_u64()), (Some(30.0), Some(77)));
    assert!(job.get("round_trip_mean_cycles").is_none(), "no replies");
}

#[test]
fn queues_settle_if_the_run_is_longer_than_they_remember() {
    // A packet of one flit over one hop takes 2 routers of 1 cycle, links of 1 + 10 + 1 cycles, and ejection of 1 cycle. In the outcome
    // written by hand, 80 flits are accepted and 40 flits cross each kind of channel. The mean time on links is therefore
    // ((40 + 40) * 1 + 40 * 10) / 80 = 6 cycles.
    let empty = 2.0 + 6.0 + 1.0;
    let mut point = point();
    point.scenario.traffic.batch = None;
    let spec = point.spec().expect("sound");
    let summary_after = |before: u64, network: u64, warmup: u64, transitions: u64| {
        let mut outcome = outcome(Ending::Drained);
        outcome.channels.iter_mut().for_each(|channel| channel.transitions = transitions);
        outcome.sums.latency = 4 * (before + network);
        outcome.sums.network_latency = 4 * network;
        outcome.warmup = warmup;
        Finished::new(&point, &spec, &outcome).expect("priced").summary
    };
    let summary_of = |before, network, warmup| summary_after(before, network, warmup, 0);
    let s = summary_of(0, 29, 300);
    assert_eq!(s["queueing_mean_cycles"], 29.0 - empty);
    // 20 cycles in the queues of two routers are 10 cycles in each queue. For packets of one flit the memory of a queue is then 4 * 10^2
    // cycles
    assert_eq!((&s["queue_memory_cycles"], &s["queues_settled"]), (&400.0.into(), &true.into()), "400 cycles were run");
    assert_eq!(summary_of(0, 29, 299)["queues_settled"], false);
    // the run was long enough for this wait, but latencies still grow: the means of the batches are 10, 20, ... 100 cycles
    let mut growing = outcome(Ending::Drained);
    let batch = |k: u64| PacketSums { packets: 10, latency: 100 * k, ..PacketSums::default() };
    (growing.warmup, growing.batches) = (1000, (1..=10).map(batch).collect());
    let s = Finished::new(&point, &spec, &growing).expect("priced").summary;
    assert_eq!(s["queues_settled"], false);
    assert_eq!(s["latency_growth_share"], 80.0 / 30.0 - 1.0);
    assert!(summary_of(0, 29, 300)["latency_growth_share"].is_null());
    // before injection a packet waits in only one queue
    assert_eq!(summary_of(100, 9, 0)["queue_memory_cycles"], 40_000.0);
    assert_eq!(summary_of(0, 9, 0)["queue_memory_cycles"], 0.0);
    // if links were switched, a packet can have waited for two transitions of 5 cycles each
    assert_eq!(summary_after(100, 9, 0, 1)["queue_memory_cycles"], 4.0 * 90.0 * 90.0);
    assert_eq!(summary_after(5, 9, 0, 1)["queue_memory_cycles"], 0.0);
    let saturated = Finished::new(&point, &spec, &outcome(Ending::Saturated)).expect("priced").summary;
    assert!(saturated["queues_settled"].is_null() && saturated["queueing_mean_cycles"].is_number());
}

#[test]
fn a_load_is_below_the_bound_of_its_paths_by_more_than_chance() {
    let point = point();
    let spec = point.spec().expect("sound");
    let bound_of = |warmup: u64, share: f64| {
        let fullest = Some(Fullest { share, rate: 0.5, buffers: Vec::new() });
        let outcome = Outcome { fullest, warmup, ..outcome(Ending::Drained) };
        let s = Finished::new(&point, &spec, &outcome).expect("priced").summary;
        (s["path_bound_load"].as_f64(), s["below_path_bound"].as_bool())
    };
    // The offered load is 0.5, and the fullest channel is used at 0.8, so it would be full at 0.5 / 0.8. The variance of packets of one
    // flit is 1 flit^2/cycle. So the 50 flits of the channel in 100 cycles have a standard deviation of sqrt(50), which is 14 %
    assert_eq!(bound_of(0, 0.8), (Some(0.625), Some(true)));
    assert_eq!(bound_of(0, 0.87).1, Some(false), "1 - (1 / 50)^(1/2) = 0.8586");
    assert_eq!(bound_of(900, 0.87).1, Some(true), "1 - (1 / 500)^(1/2) = 0.9553");
    assert_eq!(bound_of(1_000_000, 1.0).1, Some(false), "no time is long enough at the capacity itself");
    let s = Finished::new(&point, &spec, &outcome(Ending::Drained)).expect("priced").summary;
    assert!(["path_bound_load", "path_bound_share", "below_path_bound"].iter().all(|key| s[*key].is_null()));
}

#[test]
fn time_on_slow_links_is_no_queue() {
    // each packet is alone on its path, so its latency is that without queues. Packets have 4 flits, and cross at most 2 or 3 links
    // between routers
    let cases: [&[(&str, &str)]; 5] = [
        &[("links.default.bandwidth", "0.25flits/cycle")],
        &[("links.terminal.bandwidth", "0.5flits/cycle")],
        &[("links.default.bandwidth", "2/3flits/cycle"), ("links.terminal.bandwidth", "1/2flits/cycle")],
        &[("power.policy", "{rate_ladder: {epoch: 100cycles, transition: 10cycles, up: 0.9, down: 0.8}}")],
        &[("links.default.bandwidth", "1flit/cycle")],
    ];
    for sets in cases {
        let text = "topology: {torus: {widths: [6], terminals_per_router: 1}}\nrouting: dimension_order\n\
                    links: {default: {latency: 4cycles, vcs: 2, buffer: 64flits}}\n\
                    traffic: {pattern: uniform, packet: 4flits, load: 0.002}\n\
                    measure: {warmup: 2000cycles, window: 60000cycles}\n";
        let sets: Vec<_> = sets.iter().map(|&(path, to)| (path.to_owned(), to.to_owned())).collect();
        let point = expand("slow.yaml", text, &sets).unwrap_or_else(|error| panic!("{error}")).remove(0);
        let how = Execution::new(1, 1);
        let summary = point.run(how, &()).unwrap_or_else(|error| panic!("{error}")).summary;
        assert!(summary["queueing_mean_cycles"].as_f64().is_some_and(|wait| wait < 0.5), "{sets:?}: {summary}");
        assert_eq!(summary["queues_settled"], true, "{sets:?}");
    }
}

#[test]
fn queues_at_slow_links_are_reported_beside_the_time_that_these_take() {
    let file = FILE.replace("    off:", "    half: {static: 2uW, per_bit: 1fJ/bit}\n    off:");
    let mut point = expand("hand.yaml", &file, &[]).unwrap_or_else(|error| panic!("{error}")).remove(0);
    point.scenario.traffic.batch = None;
    let mut spec = point.spec().expect("sound");
    // 4 packets of 3 flits take 29 cycles each; the heads of 80 / 3 packets took 80 cycles on slow links, 3 cycles each
    let summary_of = |spec: &Spec, state: LinkState| {
        let mut outcome = outcome(Ending::Drained);
        (outcome.sums.latency, outcome.sums.network_latency, outcome.sums.flits) = (4 * 29, 4 * 29, 4 * 3);
        outcome.serial_cycles = 80;
        outcome.channels.iter_mut().for_each(|channel| channel.transitions = 0);
        outcome.channels.iter_mut().filter(|c| c.class == 1).for_each(|c| {
            c.flits[state] =
                std::mem::take(&mut c.flits[LinkState::On]) + c.flits[state] * u64::from(state != LinkState::On);
        });
        Finished::new(&point, spec, &outcome).expect("priced").summary
    };
    let within = 29.0 - (2.0 + 6.0 + 1.0) - 3.0; // as above, without the time of the heads on slow links
    // Half of the flits cross links between routers, which need 4 cycles for a flit, and all flits cross terminal links. Fast links do not
    // shorten this time, but they shorten the memory of a queue at them
    for (class, rate, each, fastest) in [(1, (1, 4), 2.5, 1.0), (0, (1, 4), 4.0, 1.0), (1, (2, 1), 1.0, 2.0)] {
        spec.links.iter_mut().for_each(|link| link.rate = Rate::ONE);
        spec.links[class].rate = Rate::new(rate.0, rate.1, "links").expect("a rate");
        let s = summary_of(&spec, LinkState::On);
        let queue: f64 = within - 2.0 * each;
        assert_eq!(s["queueing_mean_cycles"], queue);
        assert_eq!(s["queue_memory_cycles"], f64::ceil(4.0 * fastest * (queue / 2.0).powi(2)), "{rate:?}");
    }
    // in the mode `half`, a link needs twice the time for a flit
    spec.links[1].rate = Rate::ONE;
    assert_eq!(summary_of(&spec, spec.modes.find("half").expect("a mode"))["queueing_mean_cycles"], within - 2.0 * 1.5);
}

#[test]
fn a_link_draws_power_in_every_state_but_off() {
    let (point, mut outcome) = (point(), outcome(Ending::Drained));
    let spec = point.spec().expect("sound");
    outcome.channels[2].cycles = [50, 0, 10, 25, 15, 0, 0].into();
    outcome.decisions = Decisions { settled: Some(true), power_settled: Some(false), confident: None };
    let s = Finished::new(&point, &spec, &outcome).expect("priced").summary;
    // two managed channels for 100 cycles each: one channel is off for 25 cycles, and the other is always off
    assert_eq!((&s["links_on_mean"], &s["links_on_share"]), (&0.375.into(), &0.25.into()));
    assert_eq!((&s["warmup_settled"], &s["power_settled"]), (&true.into(), &false.into()));
    outcome.channels.truncate(2);
    let s = Finished::new(&point, &spec, &outcome).expect("priced").summary;
    assert!(s["links_on_mean"].is_null(), "only terminal links are left, which nobody manages");
}

#[test]
fn bits_beyond_64_bits_are_rounded_and_do_not_wrap() {
    let mut point = point();
    let spec = point.spec().expect("sound");
    // the size of a flit is changed only after the prices were computed, because prices of such flits would also be too large
    point.scenario.flit.0 = 9_000_000_000_000_000_000;
    let s = Finished::new(&point, &spec, &outcome(Ending::Drained)).expect("priced").summary;
    let flits = outcome(Ending::Drained).accepted_flits as f64;
    assert_eq!(s["accepted_bits"].as_f64(), Some(flits * 9e18));
}

#[test]
fn the_account_closes_exactly() {
    let finished = finished(Ending::Drained);
    let rows: u128 = finished.channels.rows.iter().map(|row| row.energy.total_yj()).sum();
    assert_eq!(finished.summary["energy_total_fj"], fj_text(rows));
}

#[test]
fn a_state_without_a_price_is_refused_even_after_the_run() {
    let mut outcome = outcome(Ending::Drained);
    outcome.channels[2].cycles = [50, 50, 0, 0, 0, 0, 0].into();
    let point = point();
    let refusal = Finished::new(&point, &point.spec().expect("sound"), &outcome).expect_err("shadow has no price");
    assert_eq!(refusal.path, "power.prices");
}

#[test]
fn a_stall_is_reported_in_words() {
    let at = Queue { router: 4, port: 2, vc: 1 };
    let to = Queue { router: 5, ..at };
    let packet = Some(PacketName { seq: 7, src: 3, dst: 9 });
    let waiting = Waiting { packet, at, cause: Cause::NoRoom { port: 6, to } };
    let closed = Waiting { packet: None, at: to, cause: Cause::Closed { port: 3, to: 8 } };
    let stall = Stall { cycle: 77, packets: 3, wait_for: vec![waiting, closed], halted: Vec::new() };
    let finished = finished(Ending::Stalled(stall));
    let words = "stalled at cycle 77: 3 packets can never move again\n\
        packet 7 of terminal 3 to terminal 9 in router 4 port 2 VC 1 waits for room behind its link 4 -> 5 (output 6) in \
        router 5 port 2 VC 1\n\
        a packet in router 5 port 2 VC 1 whose head is in a later router waits for its link 5 -> 8 (output 3), which the power \
        policy has closed";
    assert_eq!(finished.stalled.as_deref(), Some(words));
    assert_eq!(finished.summary["ending"], "stalled");
    let waits = &finished.summary["stall_wait_for"];
    assert_eq!((&waits[0]["waits_for"]["router"], &waits[0]["reason"]), (&json!(5), &json!("no_room")));
    assert_eq!(
        (&waits[1]["waits_for"], &waits[1]["reason"], &waits[1]["output"]),
        (&json!(null), &json!("closed"), &json!(3))
    );
}

/// Reads the rows of a Parquet file.
fn rows(name: &str, bytes: Vec<u8>) -> Vec<Row> {
    let file = std::env::temp_dir().join(format!("weft-{name}-{}.parquet", std::process::id()));
    std::fs::write(&file, bytes).expect("a temporary file");
    let reader = SerializedFileReader::new(std::fs::File::open(&file).expect("opened")).expect("Parquet");
    let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row")).collect();
    std::fs::remove_file(&file).expect("removed");
    rows
}

fn cell(rows: &[Row], row: usize, column: &str) -> Field {
    let mut columns = rows[row].get_column_iter();
    columns.find(|(name, _)| *name == column).map(|(_, field)| field.clone()).expect("the column")
}

#[test]
fn tables_of_recordings_read_back() {
    let base = std::env::temp_dir().join(format!("weft-recorded-{}", std::process::id()));
    finished(Ending::Drained).save(&base).expect("saved");
    let rows = rows("transient", std::fs::read(base.join("transient.parquet")).expect("a table"));
    std::fs::remove_dir_all(&base).expect("removed");
    let row = |row: usize| -> Vec<Field> { rows[row].get_column_iter().map(|(_, field)| field.clone()).collect() };
    let text = |word: &str| Field::Str(word.to_owned());
    assert_eq!(row(0), [Field::Long(1), Field::Null, Field::Int(3), Field::Double(0.5), text("dim0")]);
    // a count above the largest integer of Parquet becomes this largest integer
    assert_eq!(row(1), [Field::Long(i64::MAX), Field::Long(7), Field::Null, Field::Double(-2.0), text("")]);
    assert_eq!(cell(&rows, 1, "maybe_counts"), Field::Long(7));
}

#[test]
fn the_table_reads_back() {
    let mut bytes = Vec::new();
    finished(Ending::Drained).channels.write(&mut bytes).expect("written");
    let rows = rows("channels", bytes);
    let cell = |row: usize, column: &str| cell(&rows, row, column);
    assert_eq!(rows.len(), 4);
    assert_eq!(cell(0, "link_class"), Field::Str("terminal".to_owned()));
    assert_eq!((cell(0, "from_router"), cell(0, "from_port")), (Field::Null, Field::Null));
    assert_eq!((cell(0, "terminal"), cell(0, "to_router")), (Field::Int(1), Field::Int(0)));
    assert_eq!((cell(2, "link_class"), cell(2, "terminal")), (Field::Str("dim0".to_owned()), Field::Null));
    assert_eq!((cell(2, "cycles_on"), cell(2, "cycles_off")), (Field::Long(75), Field::Long(25)));
    assert_eq!((cell(2, "flits_on"), cell(2, "utilisation")), (Field::Long(40), Field::Double(0.4)));
    let energy = |column: &str| match cell(2, column) {
        Field::Decimal(energy) => fj_text(energy.data().iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte))),
        other => panic!("{other:?} is no decimal number"),
    };
    assert_eq!([energy("energy_static_fj"), energy("energy_fj")], ["150", "550"]);
}

#[test]
fn a_folder_is_complete_or_absent_and_never_rewritten() {
    let base = std::env::temp_dir().join(format!("weft-save-{}", std::process::id()));
    let folder = base.join("results").join(point().hash);
    finished(Ending::Drained).save(&folder).expect("saved");
    let names = |of: &std::path::Path| {
        let entries = std::fs::read_dir(of).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<_> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(
        names(&folder),
        [
            "channels.parquet",
            "control_packets.parquet",
            "link_states.parquet",
            "scenario.yaml",
            "summary.json",
            "transient.parquet"
        ]
    );
    assert_eq!(names(&base.join("results")), [point().hash]);
    let saved = std::fs::read_to_string(folder.join("scenario.yaml")).expect("a scenario");
    assert_eq!(expand("scenario.yaml", &saved, &[]).expect("sound")[0].hash, point().hash);
    std::fs::write(folder.join("channels.parquet"), b"kept").expect("written");
    finished(Ending::Saturated).save(&folder).expect("left alone");
    assert_eq!(std::fs::read(folder.join("channels.parquet")).expect("read"), b"kept");
    // the temporary folder of a killed run is not a result, and does not affect other runs
    let unfinished = base.join("results").join("unfinished");
    std::fs::create_dir_all(&unfinished).expect("made");
    finished(Ending::Drained).save(&unfinished).expect("an empty folder is taken over");
    std::fs::remove_dir_all(&base).expect("removed");
}
