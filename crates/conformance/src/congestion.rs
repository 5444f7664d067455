//! The conformance suite of congestion controls. Probabilities and rates must keep their bounds, notifications must not raise a rate, and
//! every rate limit must end at some time. No run may stall, even with the smallest buffers at full load. Each sent notification must be
//! received, or discarded by a failed router. If no packet is marked, the results must be the same as without a control. The number of
//! blocks and checkpoints must not change results.

use super::members::{PAIRS, Pair, as_written, in_their_turns};
use super::{Execution, ONE, assert_same, check_blocks, in_turn, packets, phases, rounds, run};
use std::collections::BTreeMap;
use weft_api::congestion::{Control, LineSite};
use weft_api::state::rate::Rate;
use weft_engine::classes::{MAX_QUEUES, Queueing};
use weft_engine::congestion::CongestionConfig;
use weft_engine::outcome::{Congestion, Outcome};
use weft_engine::spec::FlowControl::{self, VirtualCutThrough, Wormhole};
use weft_engine::spec::{Fault, Part};
use weft_engine::{Simulation, Spec};
use weft_traffic::{PatternConfig, mix};

/// Test conditions: flits per packet, flow control, and flits per buffer.
const PACKETS: [(u32, FlowControl, u32); 3] = [(1, VirtualCutThrough, 1), (5, VirtualCutThrough, 5), (5, Wormhole, 1)];

/// Number of networks on which each configuration runs; `make test-all` uses more.
const NETWORKS: usize = 3;

/// Runs the conformance suite on all configurations of one congestion control. The configurations are made for cycles
/// of 1 ns and flits of 128 bits.
///
/// # Panics
/// Panics if the control does not conform; the message names the fault.
pub fn check(controls: &[CongestionConfig]) {
    let (mut works, mut notified) = (false, 0);
    for control in controls {
        let written = as_written(control);
        let site = LineSite { cycle_fs: 1_000_000, flit_bits: 128, line: Rate::ONE, most_queued: 1 << 20 };
        let built = control.model().build(&site).unwrap_or_else(|refusal| panic!("{written}: {refusal}"));
        works |= built.is_some();
        built.iter().for_each(|built| check_rules(&**built, &written));
        for (turn, (pair, spec)) in specs_of(control).iter().enumerate() {
            let what = format!("{written}, {pair}");
            check_changes_nothing(spec, &what);
            for &(flits, flow_control, buffer) in in_turn(turn, &PACKETS) {
                let mut spec = spec.clone();
                packets(&mut spec, flits, flow_control, buffer);
                spec.set_load(1.0);
                grow_until_it_marks(&mut spec);
                let what = format!("{what}, {flits} flits");
                notified += check_rest(&spec, &what);
                check_faults(&spec, &what);
                phases(&mut spec, 100, 400);
                check_blocks(&spec, &what);
            }
        }
    }
    assert!(!works || notified > 0, "{}: no source received a notification in any network", as_written(&controls));
}

/// Checks that the probability of a mark does not fall when the queue grows, and is between 0 and 1. The function also checks that rates
/// are above 0, and at most the rate of the terminal's link. A notification must not raise the rate. Without further notifications, the
/// rate limit must end.
fn check_rules(control: &dyn Control, what: &str) {
    let chances: Vec<f64> = (0..32).map(|k| control.marks((1u32 << k) - 1)).chain([control.marks(u32::MAX)]).collect();
    assert!(chances.iter().all(|chance| (0.0..=1.0).contains(chance)), "{what}: wrong probabilities: {chances:?}");
    assert!(chances.is_sorted() && chances[32] > 0.0, "{what}: probabilities fall with longer queues: {chances:?}");
    let mut now = 1000;
    let mut flow = control.begin(now);
    assert!((control.rate(&flow, now) - 1.0).abs() < 1e-9, "{what}: the rate of a new flow is already limited");
    for step in 0..3000 {
        let drawn = mix(step, 7, 1);
        now += drawn % 5000;
        let before = control.rate(&flow, now);
        if drawn >> 32 & 3 == 0 {
            control.notified(&mut flow, now);
            let after = control.rate(&flow, now);
            assert!(after <= before + 1e-12, "{what}: a notification raises the rate from {before} to {after}");
        } else if let Some(gap) = control.sends(&mut flow, now, 4) {
            assert!((4.0..1e9).contains(&gap), "{what}: the gap after a packet of 4 flits is {gap} cycles");
        } else {
            let rate = control.rate(&flow, now);
            assert!(rate > 0.99, "{what}: the limit ends at a rate of {rate}, below 1");
            flow = control.begin(now);
        }
        let rate = control.rate(&flow, now);
        assert!(rate > 0.0 && rate <= 1.0 + 1e-12, "{what}: a rate must be above 0 and at most 1, not {rate}");
    }
    let ends = (0..100_000u64).any(|k| control.sends(&mut flow, now + k * 1_000_000, 4).is_none());
    assert!(ends, "{what}: the limit of a flow never ends after its last notification");
}

/// Specs that use the control in networks of different kinds. In these specs half of the packets go to one terminal,
/// which causes congestion.
fn specs_of(control: &CongestionConfig) -> Vec<(&'static Pair, Spec)> {
    let mut found: BTreeMap<&str, (u64, &Pair, Spec)> = BTreeMap::new();
    for (turn, pair) in in_their_turns(&PAIRS) {
        let order = as_written(control).bytes().fold(turn as u64, |hash, byte| mix(hash, byte.into(), 0));
        let first = found.get(pair.topology.name()).is_none_or(|&(least, ..)| order < least);
        if first {
            let mut spec = pair.spec();
            let hot: PatternConfig =
                serde_json::from_str(r#"{"hot_spot": {"targets": [0], "share": 0.5}}"#).expect("a pattern");
            spec.set_pattern(&hot).unwrap_or_else(|refusal| panic!("{pair}: {refusal}"));
            spec.congestion = control.clone();
            let interface = &mut spec.interface;
            (interface.queueing, interface.queues, interface.depth) = (Queueing::PerDestination, MAX_QUEUES - 1, 4);
            found.insert(pair.topology.name(), (order, pair, spec));
        }
    }
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by_key(|&(order, ..)| order);
    found.truncate(NETWORKS * rounds(1) as usize);
    found.into_iter().map(|(_, pair, spec)| (pair, spec)).collect()
}

/// Doubles the buffers until queues can become long enough for marks.
fn grow_until_it_marks(spec: &mut Spec) {
    while let Err(refusal) = weft_engine::check(spec) {
        let most = spec.links.iter().map(|link| link.buffer).max().unwrap_or(0);
        assert!(refusal.path.starts_with("congestion_control") && most < 1 << 16, "{refusal}");
        spec.links.iter_mut().for_each(|link| link.buffer *= 2);
    }
}

/// Checks that no packet is marked at a low load, and that the results are then the same as without a control, to the last bit. Controls
/// that mark packets even at this load are skipped.
fn check_changes_nothing(spec: &Spec, what: &str) {
    let mut with = spec.clone();
    with.set_load(0.02);
    phases(&mut with, 100, 400);
    grow_until_it_marks(&mut with);
    let out = run(&with);
    if out.congestion.as_ref().is_some_and(|congestion| congestion.counts.marked > 0) {
        return;
    }
    let without = Spec { congestion: CongestionConfig::default(), ..with };
    assert_same(&Outcome { congestion: None, ..out }, &run(&without), what);
}

/// Checks that all packets and notifications arrive after the sources have stopped. Returns the number of notifications sent.
fn check_rest(spec: &Spec, what: &str) -> u64 {
    let out = weft_engine::run_to_rest(spec, ONE, 1500, 4_000_000);
    let out = out.unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits), "{what}");
    assert_eq!((out.injected_flits, out.accepted_flits), (out.offered_flits, out.offered_flits), "{what}");
    let Some(Congestion { counts, limited }) = &out.congestion else { return 0 };
    assert_eq!((counts.sent, counts.notices, counts.lost), (counts.received, counts.sent, 0), "{what}");
    let flits = u64::from(spec.traffic.longest());
    // a packet with h hops (links) crosses h + 1 routers
    let crossed: u64 = (1..).zip(&out.hop_counts).map(|(routers, packets)| routers * packets * flits).sum();
    assert_eq!(out.flit_hops, crossed + counts.notice_hops, "{what}");
    assert!(limited.iter().all(|flow| flow.rate > 0.0 && flow.rate <= 1.0), "{what}: rate outside 0 to 1: {limited:?}");
    assert!(limited.is_sorted_by_key(|flow| (flow.src, flow.dst)), "{what}: the flows are not in order: {limited:?}");
    counts.sent
}

/// Runs the spec with a link and a router that fail and later return. Every packet and every notification must arrive or be counted as
/// discarded. The check skips routings that do not support faults.
fn check_faults(spec: &Spec, what: &str) {
    let mut spec = spec.clone();
    let ends = spec.graph.links().next().map(|link| link.ends.map(|(router, _)| router));
    let link = ends.map(|ends| Fault { what: Part::Link(ends), at: 300, until: Some(700) });
    let router = Fault { what: Part::Router(spec.graph.routers() - 1), at: 800, until: Some(1200) };
    spec.faults = link.into_iter().chain([router]).collect();
    if weft_engine::check(&spec).is_err() {
        return;
    }
    phases(&mut spec, 0, 10_000_000);
    let mut sim = Simulation::new(&spec, Execution::new(1, 2)).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    sim.advance(1500);
    sim.stop_sources();
    assert_eq!(sim.empty_within(4_000_000), 0, "{what}: packets are still in the network after the sources stopped");
    phases(&mut spec, 0, sim.now());
    let out = sim.run(&spec, &());
    assert_eq!(out.sums.flits + out.dropped_flits, out.offered_flits, "{what}");
    let Some(Congestion { counts, .. }) = &out.congestion else { return };
    assert_eq!(counts.sent, counts.received + counts.lost, "{what}: marks neither received nor lost: {counts:?}");
}
