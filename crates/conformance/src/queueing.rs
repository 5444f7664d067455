//! The conformance suite of queueing schemes, on networks that they support and with compatible routings. No run may stall, even with the
//! smallest buffers at full load. A scheme with one queue must not change results. Packets must use exactly the lanes (the scheme's queues)
//! that the check before a run lists. On a fixed path, no packet may overtake another packet of its flow. The number of blocks and
//! checkpoints must not change results.

use super::lane_notes::LaneNotes;
use super::members::{PAIRS, Pair, as_written, in_their_turns};
use super::routing::check_drains;
use super::{ONE, assert_same, check_blocks, in_turn, packets, phases, rounds, run};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_api::queueing::Crossing;
use weft_api::recording::{Asked, Column, Table};
use weft_engine::classes::Queueing;
use weft_engine::queueing::QueueingConfig;
use weft_engine::spec::FlowControl::{self, VirtualCutThrough, Wormhole};
use weft_engine::{LaneCounts, Spec};
use weft_topology::Peer;
use weft_traffic::mix;

/// Test conditions: flits per packet, flow control, and flits per buffer.
const PACKETS: [(u32, FlowControl, u32); 3] = [(1, VirtualCutThrough, 1), (5, VirtualCutThrough, 5), (5, Wormhole, 1)];

/// Number of pairs (network, routing) on which each configuration runs; `make test-all` uses more.
const PAIRS_OF_SCHEME: usize = 4;

/// Runs the conformance suite on one queueing scheme.
///
/// # Panics
/// Panics if the scheme does not conform; the message names the fault.
pub fn check(scheme: &QueueingConfig) {
    let specs = specs_of(scheme);
    let written = as_written(scheme);
    assert!(!specs.is_empty(), "{written} is compatible with no routing on a small network: check `fits`");
    for (turn, (pair, spec)) in specs.iter().enumerate() {
        let what = format!("{written}, {pair}");
        check_sources(spec, &what);
        let lanes = weft_engine::lanes(spec).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        let undivided =
            |lanes: &LaneCounts| lanes.from_terminals == 1 && lanes.by_class.iter().flatten().all(|&l| l == 1);
        if undivided(&lanes) && lanes.ideal.is_none() {
            check_changes_nothing(spec, &what);
        }
        check_lanes(spec, &lanes, &what);
        for &(flits, flow_control, buffer) in in_turn(turn, &PACKETS) {
            let mut spec = spec.clone();
            packets(&mut spec, flits, flow_control, buffer);
            spec.set_load(1.0);
            let ideal = has_ideal_queues(&spec);
            if flow_control == Wormhole && ideal {
                continue; // the pair is refused
            }
            if turn.is_multiple_of(2) && !scheme.is_usual() && !scheme.model().sets_aside() && !ideal {
                spec.interface.queueing = Queueing::PerLane;
            }
            check_drains(&spec, 500, &format!("{what}, {flits} flits"));
            phases(&mut spec, 100, 200);
            check_blocks(&spec, &format!("{what}, {flits} flits"));
        }
    }
}

/// Specs with the scheme on networks of different kinds, with routings that fix the path of a flow and with other routings. In each spec,
/// links have one VC per lane that packets can reach. The function skips pairs that Weft refuses: the lanes need too many VCs on a link, or
/// the routing is incompatible with the scheme.
fn specs_of(scheme: &QueueingConfig) -> Vec<(&'static Pair, Spec)> {
    let mut found: BTreeMap<(&str, bool), (&Pair, Spec)> = BTreeMap::new();
    let mut pairs: Vec<(usize, &Pair)> = in_their_turns(&PAIRS).collect();
    pairs.sort_by_key(|(turn, pair)| {
        // each scheme tries the pairs in a different order
        let scheme: usize = as_written(scheme).bytes().map(usize::from).sum();
        (turn.wrapping_mul(2 * scheme + 1), pair.to_string())
    });
    for (_, pair) in pairs {
        let mut spec = pair.spec();
        let kind = (pair.topology.name(), decides_ahead(&spec));
        // checks of all pairs take ten seconds, so only `make test-all` checks more than one pair per kind
        if !scheme.model().fits(&spec.graph) || found.contains_key(&kind) && rounds(1) == 1 {
            continue;
        }
        spec.links.iter_mut().for_each(|link| link.vcs = 16);
        spec.queueing = scheme.clone();
        if scheme.model().sets_aside() || has_ideal_queues(&spec) {
            // each lane gets one VC, and network interfaces have a queue for each destination
            (spec.interface.queueing, spec.interface.queues) = (Queueing::PerDestination, 16);
            spec.interface.depth = 64;
            fit_vcs(&mut spec);
        }
        let own = format!("queueing.{}", scheme.name());
        match weft_engine::check(&spec) {
            Ok(()) => {}
            Err(refusal) if refusal.path == own || refusal.path.ends_with(".vcs") => continue,
            Err(refusal) => panic!("{own} on {pair}: {refusal}"),
        }
        fit_vcs(&mut spec);
        if weft_engine::check(&spec).is_ok() {
            found.entry(kind).or_insert((pair, spec));
        }
    }
    // keep only some pairs, because all would take too long
    let hash = |(pair, _): &(&Pair, Spec)| {
        format!("{} {pair}", as_written(scheme)).bytes().fold(0u64, |hash, byte| mix(hash, byte.into(), 0))
    };
    let mut found: Vec<_> = found.into_values().collect();
    found.sort_by_key(hash);
    found.truncate(PAIRS_OF_SCHEME * rounds(1) as usize);
    found
}

/// Whether the scheme has a queue per destination in addition to the VCs.
fn has_ideal_queues(spec: &Spec) -> bool {
    spec.queueing.model().ideal_queues(&spec.graph).is_some()
}

/// Sets the number of VCs so that every lane has one VC.
fn fit_vcs(spec: &mut Spec) {
    let Ok(lanes) = weft_engine::lanes(spec) else { return };
    for (link, counts) in spec.links.iter_mut().zip(&lanes.by_class) {
        link.vcs = counts.iter().sum();
    }
    spec.links[0].vcs = spec.links[0].vcs.max(lanes.from_terminals);
}

/// Whether the routing sends all packets of a flow on the same path.
fn decides_ahead(spec: &Spec) -> bool {
    let routing = spec.routing.build(&spec.graph).expect("it fits");
    let needs = routing.needs();
    let draws = needs.draws_path || routing.draws_hops() || routing.draws() != weft_api::walk::Draws::default();
    needs.decides == weft_api::routing::Decides::Ahead && !draws
}

/// Checks the answer of `looks_at_sources`: if it is false, packets of all sources must have the same lane on a
/// channel.
fn check_sources(spec: &Spec, what: &str) {
    let graph = &spec.graph;
    let scheme = spec.queueing.model().build(graph).expect("it fits");
    if scheme.looks_at_sources() {
        return;
    }
    for router in 0..graph.routers() {
        let hosted = (0..graph.terminals()).filter(|&terminal| graph.terminal_at(terminal).0 == router);
        let here: Vec<u32> = hosted.collect();
        for (port, at) in (0u16..).zip(graph.ports(router)) {
            let (from, to, sources) = match at.peer {
                Peer::Router { router: to, .. } => (Some((router, port)), to, (0..graph.terminals()).collect()),
                Peer::Terminal(_) => (None, router, here.clone()),
                Peer::Unused => continue,
            };
            for dst in 0..graph.terminals() {
                for onward in [0, port] {
                    let mut lanes = sources.iter().map(|&src| scheme.lane(&Crossing { src, dst, from, to, onward }));
                    let first = lanes.next();
                    assert!(lanes.all(|lane| Some(lane) == first), "{what}: the lane depends on the source");
                }
            }
        }
    }
}

/// Checks that results with the scheme are the same as without it, to the last bit.
fn check_changes_nothing(spec: &Spec, what: &str) {
    for vcs in [spec.links[0].vcs.max(4), 6] {
        let mut with = spec.clone();
        with.links.iter_mut().for_each(|link| link.vcs = vcs.max(link.vcs));
        with.set_load(0.4);
        phases(&mut with, 100, 400);
        with.interface.queueing = Queueing::PerLane;
        let mut without = with.clone();
        (without.queueing, without.interface.queueing) = (QueueingConfig::default(), Queueing::One);
        assert_same(&run(&with), &run(&without), what);
    }
}

/// Sends packets between all terminals and checks two properties of the lanes. First, the packets together use every lane of the list
/// `lanes`. Second, on a fixed path no packet overtakes another packet of its flow.
fn check_lanes(spec: &Spec, lanes: &LaneCounts, what: &str) {
    if !decides_ahead(spec) {
        return;
    }
    let mut spec = spec.clone();
    let dynamic = spec.queueing.model().sets_aside();
    if dynamic {
        // congest the network, so that routers set queues aside
        spec.set_load(1.0);
    } else if lanes.ideal.is_some() {
        // load the network, so that packets overtake packets for other destinations
        spec.set_load(0.8);
    } else {
        spec.set_load(0.4);
        spec.interface.queueing = Queueing::PerLane;
    }
    phases(&mut spec, 0, 6000);
    spec.recordings = vec![Asked { name: "lane_notes", model: Arc::new(LaneNotes {}) }];
    let out = weft_engine::run(&spec, ONE, &()).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    let notes = &out.recorded[0].1;
    let overtaken: u64 = counts(notes, "overtaken").iter().sum();
    // with trunks, heads choose among the links of a trunk, so a flow has several paths
    assert!(overtaken == 0 || spec.graph.has_trunks(), "{what}: packets overtook other packets of their flow");
    let is_ideal = lanes.ideal.is_some();
    let mut used = vec![0u64; spec.links.len()];
    for (class, vcs) in counts(notes, "class").into_iter().zip(counts(notes, "vcs")) {
        used[class as usize] |= vcs;
    }
    for (link, counts) in lanes.by_class.iter().enumerate().skip(1) {
        let class = &spec.graph.class_names()[link];
        let mut first = 0;
        for &lanes in counts {
            let (all, used) = ((1u64 << lanes) - 1, used[link] >> first);
            // a VC class that no packet reaches also has one lane
            let fits = used & all == all || lanes == 1 || dynamic || is_ideal;
            assert!(fits, "{what}: not all {lanes} lanes from VC {first} on {class} links are used: {used:b}");
            first += lanes;
        }
        assert_eq!(used[link] >> first, 0, "{what}: packets use VCs above the lanes on {class} links");
    }
}

fn counts(table: &Table, name: &str) -> Vec<u64> {
    match table.column(name) {
        Some(Column::Counts(cells)) => cells.clone(),
        _ => panic!("{name} is not a column of counts"),
    }
}
