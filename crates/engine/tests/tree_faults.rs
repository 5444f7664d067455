//! Tests links and routers of a tree that fail under the elastic tree policy. The tests check that other links replace the failed links. No
//! deliverable packet may be lost after these links are on, and no link may stay between on and off.

use crate::common::*;
use weft_engine::outcome::{Ending, Outcome};
use weft_engine::power::LinkState;
use weft_engine::spec::Execution;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::spec::{Fault, LoadPhase, Part};
use weft_engine::{Spec, check};

const ASCENTS: [&str; 4] = [UP_DOWN, D_MOD_K, D_MOD_K_HIGH, UP_DOWN_ADAPTIVE];
const QUICK: &str = r#"{"elastic_tree": {"epoch": "100ns", "wake": "40ns"}}"#;
const FAILS: u64 = 500;

// In FAT_TREE, routers 0 to 7 are edge routers, 8 to 15 the aggregation routers of the same pods, and 16 to 19 cores. At least power, the
// links from the edge routers to the even aggregation routers are on, and the links from these to core 16.
const EDGE: Part = Part::Router(0);
const AGGREGATION: Part = Part::Router(8);
const CORE: Part = Part::Router(16);
const EDGE_LINK: Part = Part::Link([0, 8]);
const CORE_LINK: Part = Part::Link([8, 16]);

fn fat_tree(routing: &str, policy_json: &str, faults: &[Fault]) -> Spec {
    let mut spec = spec(FAT_TREE, routing);
    policy(&mut spec, policy_json);
    packets(&mut spec, 4, VirtualCutThrough, 16);
    spec.faults = faults.to_vec();
    record_link_states(&mut spec, 1 << 20);
    check(&spec).unwrap();
    spec
}

fn broken(what: Part, until: Option<u64>) -> Fault {
    Fault { what, at: FAILS, until }
}

/// Runs the spec at a constant load. Packets count from cycle 2,000 on. Cycle 2,000 is some epochs after the fault.
fn steadily(mut spec: Spec, load: f64) -> Outcome {
    phases(&mut spec, 2000, 20_000);
    spec.set_load(load);
    let out = run(&spec);
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0));
    check_account(&out);
    out
}

/// Checks that every created packet was delivered or dropped, and that no flit was sent over a dead link.
fn check_account(out: &Outcome) {
    assert_eq!(out.sums.flits + out.dropped_flits, out.offered_flits);
    for c in &out.channels {
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{c:?}");
        assert_eq!(c.flits[LinkState::Off] + c.flits[LinkState::Waking], 0, "{c:?}");
    }
}

/// Share of the packets that the run dropped.
fn lost(out: &Outcome) -> f64 {
    out.dropped_packets as f64 / (out.dropped_packets + out.sums.packets) as f64
}

/// The links that are on in the last cycle, as pairs of routers. Also checks that no link is in a transition then.
fn links_in_the_end(out: &Outcome) -> Vec<(u32, u32)> {
    let Spans { spans, complete } = link_states(out);
    assert!(complete);
    let mut on = Vec::new();
    for (number, c) in (0..).zip(&out.channels) {
        let (Some(from), Some(to)) = (c.from, c.to) else { continue };
        match spans.iter().rfind(|span| span.channel == number).expect("a channel that has a state").state {
            LinkState::On if from < to => on.push((from, to)),
            LinkState::On | LinkState::Off => {}
            state => panic!("{from}-{to} is {state:?} in the end"),
        }
    }
    on
}

/// The links of a spanning tree over aggregation router `aggregation` (0 or 1) of each pod and core `core`.
fn tree_over(aggregation: u32, core: u32) -> Vec<(u32, u32)> {
    let down = (0..8).map(|edge| (edge, 8 + edge / 2 * 2 + aggregation));
    down.chain((0..4).map(|pod| (8 + 2 * pod + aggregation, core))).collect()
}

#[test]
fn another_link_or_router_takes_the_place_of_one_that_fails() {
    // a failed core is replaced by the other core of the same aggregation routers; links and aggregation routers are replaced by the other
    // half of the tree
    for (what, tree) in [
        (CORE, tree_over(0, 17)),
        (CORE_LINK, tree_over(0, 17)),
        (EDGE_LINK, tree_over(1, 18)),
        (AGGREGATION, tree_over(1, 18)),
    ] {
        for routing in ASCENTS {
            let elastic = steadily(fat_tree(routing, QUICK, &[broken(what, None)]), 0.02);
            assert_eq!(elastic.dropped_packets, 0, "{what:?} {routing}: all are delivered from cycle 2,000 on");
            let mut on = links_in_the_end(&elastic);
            let mut expected = tree.clone();
            on.sort_unstable();
            expected.sort_unstable();
            assert_eq!(on, expected, "{what:?} {routing}");
        }
    }
}

#[test]
fn at_every_load_at_least_the_share_of_always_on_is_delivered_after_the_fault() {
    let loads = [[(UP_DOWN, 0.02), (UP_DOWN_ADAPTIVE, 0.5)], [(UP_DOWN, 0.3), (UP_DOWN_ADAPTIVE, 0.02)]];
    for (case, what) in [CORE, CORE_LINK, EDGE_LINK, AGGREGATION].into_iter().enumerate() {
        for &(routing, load) in in_turn(case, &loads).flatten() {
            let [elastic, always] =
                [QUICK, ALWAYS_ON].map(|policy| steadily(fat_tree(routing, policy, &[broken(what, None)]), load));
            let shares = [&elastic, &always].map(lost);
            // while the number of links changes, packets that chose a link before a fault on their path was known are lost; this case has
            // no such packets
            assert!(shares[0] <= shares[1], "{what:?} {routing} at {load}: {shares:?} lost");
            let share = accepted(&elastic) / accepted(&always);
            assert!(share > 0.98, "{what:?} {routing} at {load}: accepts {share} of what all links carry");
        }
    }
}

#[test]
fn a_dead_edge_router_takes_the_packets_of_its_terminals_and_no_others() {
    for routing in ASCENTS {
        let [elastic, always] =
            [QUICK, ALWAYS_ON].map(|policy| steadily(fat_tree(routing, policy, &[broken(EDGE, None)]), 0.1));
        assert!(elastic.dropped_packets > 0);
        let counts = |out: &Outcome| (out.dropped_packets, out.sums.packets);
        assert_eq!(counts(&elastic), counts(&always), "{routing}");
    }
}

#[test]
fn where_no_tree_is_whole_several_together_join_all_that_can_be_joined() {
    // edge router 0 can be reached only over the odd aggregation routers, and edge router 4 only over the even ones, so no path connects
    // these two
    let faults = [broken(EDGE_LINK, None), broken(Part::Link([4, 13]), None)];
    for routing in ASCENTS {
        let out = steadily(fat_tree(routing, QUICK, &faults), 0.1);
        // 2 * 2 * 2 of the 16 * 15 pairs of terminals have no path
        let (share, packets) = (8.0 / 240.0, (out.sums.packets + out.dropped_packets) as f64);
        let sigma = (share * (1.0 - share) / packets).sqrt();
        assert!((lost(&out) - share).abs() < 4.0 * sigma, "{routing}: {} of {packets} lost, not {share}", lost(&out));
    }
}

#[test]
fn after_a_fault_that_returns_no_link_stays_between_on_and_off_and_the_first_tree_is_used_again() {
    let mut dropped = 0;
    for what in [EDGE, AGGREGATION, CORE, EDGE_LINK, CORE_LINK] {
        for (routing, flow, flits) in
            [(UP_DOWN, VirtualCutThrough, 4), (UP_DOWN_ADAPTIVE, VirtualCutThrough, 1), (D_MOD_K, Wormhole, 9)]
        {
            let mut spec = fat_tree(routing, QUICK, &[broken(what, Some(900))]);
            packets(&mut spec, flits, flow, 8);
            let first = spec.traffic.jobs[0].phases[0].clone();
            let at = |from: u64, load: f64| LoadPhase { from, load: vec![load; first.load.len()], ..first.clone() };
            spec.traffic.jobs[0].phases = vec![at(0, 0.4), at(1200, 0.02)];
            phases(&mut spec, 0, 10_000);
            let out = run(&spec);
            let what = format!("{what:?} {routing}");
            assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
            dropped += out.dropped_packets;
            let mut on = links_in_the_end(&out);
            on.sort_unstable();
            assert_eq!(on, tree_over(0, 16), "{what}");
        }
    }
    assert!(dropped > 100, "{dropped}: faults meet packets");
}

/// Faults of all kinds at overlapping times, for a run whose load goes up and down.
fn many_faults() -> Vec<Fault> {
    let fault = |what, at, until| Fault { what, at, until };
    vec![
        fault(EDGE_LINK, 300, Some(1100)),
        fault(CORE, 500, Some(2500)),
        fault(Part::Router(11), 520, Some(900)),
        fault(Part::Link([4, 13]), 560, None),
        fault(Part::Router(6), 1700, Some(1900)),
        fault(Part::Link([12, 17]), 2100, Some(2101)),
        fault(Part::Router(18), 2300, Some(4000)),
    ]
}

#[test]
fn blocks_and_threads_change_nothing_while_links_are_replaced() {
    for (seed, routing) in (0..).zip(ASCENTS) {
        let mut spec = fat_tree(routing, QUICK, &many_faults());
        load_steps(&mut spec, seed, 3000);
        let alone = run(&spec);
        assert!(alone.dropped_packets > 0 && alone.sums.packets > 1000);
        for (threads, blocks) in [(1, 3), (2, 4)] {
            let other = run_as(&spec, Execution::new(threads, blocks));
            let what = format!("{routing}, {threads} threads, {blocks} blocks");
            assert_same(&alone, &other, &what);
            assert_eq!(alone.dropped_packets, other.dropped_packets, "{what}");
            assert_eq!(link_states(&alone), link_states(&other), "{what}");
        }
    }
}

#[test]
fn deep_trees_in_tiny_buffers_lose_nothing_that_is_not_counted() {
    for (seed, topology) in (0..).zip([TREE, r#"{"k_ary_n_tree": {"k": 2, "n": 4}}"#, FAT_TREE]) {
        for routing in ASCENTS {
            let mut spec = spec(topology, routing);
            policy(&mut spec, r#"{"elastic_tree": {"epoch": "70ns", "low": 0.3, "wake": "30ns"}}"#);
            packets(&mut spec, 6, VirtualCutThrough, 1);
            spec.links.iter_mut().for_each(|link| (link.vcs, link.latency, link.credit_latency) = (1, 1, 1));
            let links: Vec<_> = spec.graph.links().map(|link| link.ends.map(|(router, _)| router)).collect();
            let part = |k: usize| match k % 3 {
                0 => Part::Router((7 * k) as u32 % spec.graph.routers()),
                _ => Part::Link(links[11 * k % links.len()]),
            };
            spec.faults = (1..8).map(|k| Fault { what: part(k), at: 150 * k as u64, until: Some(1800) }).collect();
            load_steps(&mut spec, seed, 12_000);
            record_link_states(&mut spec, 1 << 20);
            let what = format!("{topology} {routing}");
            let out = run(&spec);
            assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
            check_account(&out);
            links_in_the_end(&out);
        }
    }
}
