//! Tests watched packets. The sum of their latencies must equal that of the run, in every network and for any number of blocks. Watching
//! must not change results.

use crate::common::*;
use weft_engine::classes::Queueing;
use weft_engine::outcome::{Journey, Outcome};
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::spec::{Execution, Fault, InputSpeedup, Part, Rate, Watched};
use weft_engine::{Spec, imply};

/// A spec in which all packets of a small window are watched.
fn small(topology: &str, routing: &str, flits: u32, load: f64) -> Spec {
    watched(spec(topology, routing), flits, load)
}

fn watched(mut spec: Spec, flits: u32, load: f64) -> Spec {
    packets(&mut spec, flits, VirtualCutThrough, 16);
    phases(&mut spec, 100, 150);
    spec.set_load(load);
    spec.watched = Watched::First(100_000);
    spec
}

/// Checks that the hops, latencies and counts of the journeys equal the sums of the run, and that each journey is consistent.
fn check(out: &Outcome, spec: &Spec, what: &str) {
    let lives: Vec<_> = out.journeys.iter().map(|j| j.life.as_ref().expect("made")).collect();
    assert!(lives.iter().all(|life| life.measured), "{what}");
    let done: Vec<_> = lives.iter().filter(|life| life.delivered_cycle.is_some()).collect();
    let sums = &out.sums;
    assert_eq!(done.len() as u64, sums.packets, "{what}: packets");
    let latency = |life: &&&weft_engine::journey::Life| life.latency.as_ref().expect("delivered").total_cycles;
    assert_eq!(done.iter().map(latency).sum::<u64>(), sums.latency, "{what}: latency");
    let network = |life: &&&weft_engine::journey::Life| {
        let latency = life.latency.as_ref().expect("delivered");
        latency.total_cycles - latency.source_cycles
    };
    assert_eq!(done.iter().map(network).sum::<u64>(), sums.network_latency, "{what}: network latency");
    assert_eq!(done.iter().map(|life| life.routers.len() as u64 - 1).sum::<u64>(), sums.hops, "{what}: hops");
    for life in &done {
        let l = life.latency.as_ref().expect("delivered");
        let parts = l.source_cycles + l.routers_cycles + l.wires_cycles + l.tail_cycles + l.ejection_cycles;
        assert_eq!(parts, l.total_cycles, "{what}: {life:?}");
        assert!(l.tail_cycles + 1 >= u64::from(life.flits), "{what}");
        for (k, visit) in life.routers.iter().enumerate() {
            let exit = visit.exit.as_ref().expect("it went on");
            let front = visit.front_cycle.expect("it was the first");
            assert!(visit.arrived_cycle <= front && front <= exit.vc_cycle, "{what}: {visit:?}");
            assert!(exit.vc_cycle <= exit.head_crossed_cycle && exit.head_crossed_cycle <= exit.head_left_cycle);
            // the switch passes one flit per step, and the link passes flits at its rate
            let class = spec.graph.class_names().iter().position(|name| *name == exit.link).expect("a class");
            let rate = spec.links[class].rate;
            let cycles = u64::from(life.flits - 1) * u64::from(rate.cycles()) / u64::from(rate.flits());
            let steps = u64::from(life.flits - 1) / u64::from(spec.router.speedup);
            assert!(exit.tail_crossed_cycle >= Some(exit.head_crossed_cycle + steps), "{what}: {visit:?}");
            assert!(exit.tail_left_cycle >= Some(exit.head_left_cycle + cycles), "{what}: {visit:?}");
            let choice = visit.choices.last().expect("a hop was chosen");
            assert_eq!((choice.port, choice.cycle <= exit.head_crossed_cycle), (exit.port, true), "{what}: {visit:?}");
            // the spans of the reasons do not overlap, and their sum is at most the number of cycles that the head waited. In the cycle in
            // which the head comes to the front of its queue, it cannot request an output yet, so this cycle has no reason
            let waited: u64 = visit.waits.iter().map(|wait| wait.to_cycle - wait.from_cycle).sum();
            let waiting = exit.head_left_cycle - visit.arrived_cycle - spec.router.delay;
            assert!(waited + (front - visit.arrived_cycle) + exit.link_wait_cycles <= waiting, "{what}: {visit:?}");
            let apart = |w: &[weft_engine::watch::Wait]| w[0].to_cycle <= w[1].from_cycle;
            assert!(visit.waits.windows(2).all(apart), "{what}: {visit:?}");
            let open = |w: &weft_engine::watch::Wait| exit.vc_cycle < w.from_cycle || w.to_cycle <= exit.vc_cycle;
            assert!(visit.waits.iter().all(open), "a VC was found while it was waited for, {what}: {visit:?}");
            assert!(
                visit.waits.iter().all(|w| w.from_cycle < w.to_cycle && w.from_cycle >= front),
                "{what}: {visit:?}"
            );
            if let Some(next) = life.routers.get(k + 1) {
                assert_eq!((exit.next_router, exit.head_arrives_cycle), (Some(next.router), next.arrived_cycle));
                assert_eq!(exit.vc, next.vc, "{what}");
            }
        }
    }
}

#[test]
fn the_lives_of_all_packets_add_up_in_every_network() {
    for (turn, pair) in half_of_pairs(0) {
        for &flits in in_turn(turn, &[1, 5]) {
            let mut spec = watched(pair.spec(), flits, 0.4);
            spec.allow_dependency_cycle = true;
            let out = run(&spec);
            assert!(!out.journeys.is_empty());
            check(&out, &spec, &format!("{pair}, {flits} flits"));
        }
    }
}

#[test]
fn watching_changes_nothing_and_tells_the_same_in_any_blocks() {
    let mut cases = vec![
        small(HYPERX, UGAL, 5, 0.6),
        small(DRAGONFLY, DF_UGAL, 1, 0.5),
        small(TORUS, ADAPTIVE, 5, 0.6),
        small(TRUNKS, DOR, 1, 0.8),
        small(HYPERX, UGAL_P, 4, 0.1),
        small(TORUS, DOR, 8, 0.5),
    ];
    policy(&mut cases[4], IDLE_TIMEOUT);
    packets(&mut cases[5], 8, Wormhole, 3);
    router(&mut cases[5], (2, 1, 1));
    for spec in cases {
        let mut plain = spec.clone();
        plain.watched = Watched::Nobody;
        let (alone, blind) = (run(&spec), run(&plain));
        assert_same(&blind, &alone, "watching");
        check(&alone, &spec, spec.routing.name());
        assert!(blind.journeys.is_empty());
        let few = Spec { watched: Watched::First(7), ..spec.clone() };
        let seven = run(&few).journeys;
        assert_eq!(seven, alone.journeys[..7]);
        let names = seven.iter().map(|j| (j.terminal, j.seq)).rev().collect();
        let named = Spec { watched: Watched::Packets(names), ..spec.clone() };
        assert!(run(&named).journeys.iter().eq(seven.iter().rev()));
        for (threads, blocks) in [(1, 3), (2, spec.graph.routers() as usize)] {
            let how = Execution::new(threads, blocks);
            assert_eq!(run_as(&spec, how).journeys, alone.journeys, "{} in {blocks} blocks", spec.routing.name());
            assert_eq!(run_as(&few, how).journeys, seven);
        }
    }
}

/// If the policy leaves faults to the routing, a routing that reads link states takes a failed link as on.
#[test]
fn watching_changes_nothing_for_routings_that_go_by_links() {
    let with = |json: &str, faults: Vec<Fault>| {
        let mut spec = small(HYPERX, PAL, 4, 0.2);
        phases(&mut spec, 100, 1500);
        policy(&mut spec, json);
        spec.faults = faults;
        spec
    };
    let link = Fault { what: Part::Link([0, 1]), at: 300, until: Some(900) };
    let tcep = r#"{"tcep": {"activation_epoch": "200ns", "deactivation_epoch": "800ns", "wake": "50ns"}}"#;
    for spec in [with(ALWAYS_ON, vec![link]), with(tcep, vec![link])] {
        let plain = Spec { watched: Watched::Nobody, ..spec.clone() };
        assert_same(&run(&plain), &run(&spec), spec.policy.name());
    }
}

/// A spec in which only terminal 0 sends, and the journeys of two packets that meet no other packet.
fn lonely(topology: &str, routing: &str, flits: u32, stages: (u64, u8, u8)) -> (Spec, Vec<Journey>) {
    let mut spec = spec(topology, routing);
    packets(&mut spec, flits, VirtualCutThrough, 16);
    router(&mut spec, stages);
    alone(&mut spec, 0, 200);
    spec.watched = Watched::Packets(vec![(0, 0), (0, 3)]);
    let journeys = run(&spec).journeys;
    (spec, journeys)
}

#[test]
fn a_packet_alone_waits_nowhere_and_takes_its_zero_load_latency() {
    let networks = [(HYPERX, DOR), (DRAGONFLY, DF_MINIMAL), (TORUS, ADAPTIVE), (TREE, UP_DOWN)];
    for (topology, routing) in networks {
        // with the last setting of the stages, a head crosses the switch one cycle after it gets its VC
        for (flits, stages) in [(1, (1, 0, 1)), (6, (1, 0, 1)), (6, (2, 1, 2)), (1, (3, 1, 1)), (6, (3, 1, 1))] {
            let (spec, journeys) = lonely(topology, routing, flits, stages);
            assert!(imply(&spec).is_ok());
            for life in journeys.iter().map(|j| j.life.as_ref().expect("made")) {
                let latency = life.latency.as_ref().expect("delivered");
                assert_eq!((latency.source_cycles, latency.waiting_cycles), (0, 0));
                assert!(life.routers.iter().all(|visit| visit.waits.is_empty()));
                assert_eq!(latency.tail_cycles, u64::from(flits) - 1);
                let routers = life.routers.len() as u64;
                let wires: u64 = life
                    .routers
                    .iter()
                    .filter_map(|v| v.exit.as_ref())
                    .map(|exit| {
                        spec.links[spec.graph.class_names().iter().position(|n| *n == exit.link).expect("a class")]
                            .latency
                    })
                    .sum();
                let t0 = routers * spec.router.delay
                    + wires
                    + spec.links[0].latency
                    + spec.router.ejection_delay
                    + u64::from(flits)
                    - 1;
                assert_eq!(latency.total_cycles, t0);
            }
        }
    }
}

#[test]
fn the_lives_of_packets_add_up_over_slow_links() {
    // slow links: only that of the terminal, only those between routers, or both; or the policy slows the links down
    for (terminal, others) in [((1, 3), (1, 1)), ((1, 1), (1, 3)), ((2, 3), (2, 5)), ((1, 4), (3, 2))] {
        for (topology, routing) in [(HYPERX, DOR), (TORUS, ADAPTIVE), (DRAGONFLY, DF_MINIMAL)] {
            for (flits, load) in [(1, 0.2), (5, 0.2)] {
                let mut spec = small(topology, routing, flits, load);
                spec.router.speedup = 2;
                let rate = |(flits, cycles)| Rate::new(flits, cycles, "links").expect("a rate");
                spec.links.iter_mut().for_each(|link| link.rate = rate(others));
                spec.links[0].rate = rate(terminal);
                let out = run(&spec);
                assert!(!out.journeys.is_empty());
                check(&out, &spec, &format!("{topology} {terminal:?} {others:?} {flits}"));
                for blocks in [3, spec.graph.routers() as usize] {
                    let journeys = run_as(&spec, Execution::new(1, blocks)).journeys;
                    let other = journeys.iter().zip(&out.journeys).find(|(a, b)| a != b);
                    assert!(other.is_none(), "{topology} {terminal:?} {others:?} {flits} {blocks}: {other:?}");
                }
            }
        }
    }
    let mut spec = small(TORUS, DOR, 5, 0.1);
    policy(&mut spec, r#"{"rate_ladder": {"epoch": "60ns", "transition": "10ns"}}"#);
    check(&run(&spec), &spec, "rate_ladder");
}

#[test]
fn a_packet_alone_waits_nowhere_on_slow_links() {
    for (terminal, others, flits) in [(4, 1, 1), (4, 1, 6), (1, 4, 6), (2, 3, 6)] {
        let mut spec = spec(TORUS, DOR);
        packets(&mut spec, flits, VirtualCutThrough, 16);
        spec.links.iter_mut().for_each(|link| link.rate = Rate::new(1, others, "links").expect("a rate"));
        spec.links[0].rate = Rate::new(1, terminal, "links").expect("a rate");
        alone(&mut spec, 0, 400);
        spec.watched = Watched::Packets(vec![(0, 0), (0, 3)]);
        for life in run(&spec).journeys.iter().map(|j| j.life.as_ref().expect("made")) {
            let latency = life.latency.as_ref().expect("delivered");
            assert_eq!((latency.source_cycles, latency.waiting_cycles), (0, 0), "{life:?}");
            let first = life.routers[0].arrived_cycle - life.injected_cycle.expect("injected");
            assert_eq!(first, spec.links[0].latency + terminal as u64 - 1);
            let exits: Vec<_> = life.routers.iter().filter_map(|visit| visit.exit.as_ref()).collect();
            let rest: u64 = exits.iter().map(|exit| exit.link_serial_cycles).sum();
            let slowest = terminal.max(others);
            assert!(exits.iter().all(|exit| exit.link_wait_cycles == 0));
            // these cycles pass on the later links, and on the link of the destination terminal if it follows faster links
            assert_eq!(rest, terminal.abs_diff(others) as u64, "{life:?}");
            assert_eq!(latency.tail_cycles, u64::from(flits - 1) * slowest as u64, "{life:?}");
        }
    }
}

#[test]
fn adaptive_choices_are_explained_by_what_was_compared() {
    for (topology, routing) in
        [(HYPERX, UGAL), (HYPERX, UGAL_P), (DRAGONFLY, DF_UGAL_G), (TREE, UP_DOWN_ADAPTIVE), (HYPERX, DAL)]
    {
        let spec = small(topology, routing, 1, 0.7);
        let (mut compared, mut detours) = (0, 0);
        for visit in run(&spec).journeys.iter().flat_map(|j| &j.life.as_ref().expect("made").routers) {
            for choice in visit.choices.iter().filter(|c| c.candidates.len() > 1) {
                let costs: Option<Vec<i32>> = choice.candidates.iter().map(|c| c.cost_flits).collect();
                let Some(costs) = costs else { continue };
                let chosen = choice.chosen.expect("one of them");
                assert_eq!(Some(&costs[chosen]), costs.iter().min(), "{routing}: {choice:?}");
                for c in &choice.candidates {
                    let cost =
                        c.queue_flits.expect("read") * c.hops.expect("known") as i32 + c.bias_flits.expect("known");
                    assert_eq!(Some(cost), c.cost_flits);
                }
                compared += 1;
                detours += u32::from(chosen > 0);
            }
        }
        assert!(compared > 100 && detours > 0, "{routing}: {compared} decisions, {detours} against the first");
    }
}

#[test]
fn what_a_head_waits_for_is_reported() {
    use weft_engine::watch::Reason::*;
    let reasons = |spec: &Spec| {
        let journeys = run(spec).journeys;
        let visits = journeys.into_iter().filter_map(|j| j.life).flat_map(|life| life.routers);
        visits.flat_map(|visit| visit.waits).map(|wait| wait.reason).collect::<Vec<_>>()
    };
    // many terminals send to one terminal, so inputs compete for an output that rarely lacks credits for a VC
    let mut crowded = small(SINGLE, DOR, 4, 0.5);
    pattern(&mut crowded, r#"{"hot_spot": {"targets": [0]}}"#);
    let seen = reasons(&crowded);
    assert!(seen.contains(&LostSwitch) && !seen.contains(&LinkAsleep));
    let mut sleepy = small(HYPERX, DOR, 1, 0.02);
    policy(&mut sleepy, IDLE_TIMEOUT);
    assert!(reasons(&sleepy).contains(&LinkAsleep));
    let mut narrow = small(HYPERX, DOR, 8, 0.9);
    packets(&mut narrow, 8, VirtualCutThrough, 8);
    queues(&mut narrow, 1, 8);
    let seen = reasons(&narrow);
    assert!(seen.contains(&VcHeld) && seen.contains(&NoCredit), "{seen:?}");
}

#[test]
fn packets_that_are_not_there_are_named() {
    let mut spec = small(HYPERX, DOR, 1, 0.1);
    spec.watched = Watched::Packets(vec![(0, 1_000_000)]);
    let journeys = run(&spec).journeys;
    assert_eq!((journeys[0].life.as_ref(), journeys[0].made < 100), (None, true));
    spec.watched = Watched::Packets(vec![(24, 0)]);
    let refusal = weft_engine::run(&spec, ONE, &()).expect_err("24 terminals");
    assert_eq!(refusal.path, "watch");
    assert!(refusal.what.contains("no terminal 24: the network has 24 terminals"), "{}", refusal.what);
}

#[test]
fn the_last_wait_of_a_stuck_packet_ends_with_the_run() {
    // on a ring without dateline, every packet goes two hops up, and all channels become full
    let mut spec = spec(r#"{"torus": {"widths": [5], "terminals_per_router": 2}}"#, NO_DATELINE);
    spec.allow_dependency_cycle = true;
    pattern(&mut spec, TORNADO);
    queues(&mut spec, 1, 1);
    spec.set_load(1.0);
    phases(&mut spec, 0, 50_000);
    spec.phases.stall_limit = 2000;
    spec.watched = Watched::First(100_000);
    let out = run(&spec);
    assert!(matches!(out.ending, weft_engine::outcome::Ending::Stalled(_)), "{:?}", out.ending);
    let lives = out.journeys.iter().map(|j| j.life.as_ref().expect("made"));
    let stuck: Vec<_> = lives
        .filter_map(|life| life.routers.last().filter(|visit| visit.exit.is_none() && visit.front_cycle.is_some()))
        .collect();
    assert!(!stuck.is_empty());
    for visit in stuck {
        let last = visit.waits.last().expect("it waits");
        assert_eq!(last.to_cycle, out.cycles, "{visit:?}");
    }
}

#[test]
fn all_members_of_a_trunk_are_reported() {
    let mut spec = small(TRUNKS, ADAPTIVE, 1, 0.8);
    spec.allow_dependency_cycle = true;
    let ports = spec.graph.ports(0);
    let trunk_of = |port: u32| {
        let to = |port: u32| match ports[port as usize].peer {
            weft_topology::Peer::Router { router, .. } => Some(router),
            _ => None,
        };
        (0..ports.len() as u32).filter(|&other| to(port).is_some() && to(other) == to(port)).collect::<Vec<_>>()
    };
    let mut seen = 0;
    for choice in
        run(&spec).journeys.iter().flat_map(|j| &j.life.as_ref().expect("made").routers).flat_map(|v| &v.choices)
    {
        let candidates: Vec<u32> = choice.candidates.iter().map(|c| c.port).collect();
        for member in candidates.iter().flat_map(|&port| trunk_of(port)) {
            assert!(candidates.contains(&member), "port {member}: {choice:?}");
            seen += 1;
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn a_decision_without_a_detour_is_not_reported_as_a_comparison() {
    let spec = small(HYPERX, UGAL, 1, 0.7);
    let journeys = run(&spec).journeys;
    let choices = journeys.iter().flat_map(|j| &j.life.as_ref().expect("made").routers).flat_map(|v| &v.choices);
    let (mut compared, mut plain) = (0, 0);
    for choice in choices {
        assert!(choice.chosen.is_some(), "{choice:?}");
        let costs = choice.candidates.iter().filter(|c| c.cost_flits.is_some()).count();
        assert_eq!(choice.rule.contains("unless its cost"), costs > 0, "{choice:?}");
        if choice.rule.starts_with("no detour was drawn") {
            assert_eq!((choice.candidates.len(), choice.chosen, costs), (1, Some(0), 0), "{choice:?}");
            plain += 1;
        }
        compared += usize::from(costs > 0);
    }
    assert!(compared > 100 && plain > 10, "{compared} comparisons, {plain} without");
}

/// Checks that the journeys of watched packets are the same for any number of blocks, and in the plain loop.
fn check_journeys(spec: &Spec, what: &str) -> Vec<Journey> {
    let one = run_as(spec, ONE.plain()).journeys;
    for blocks in [1, 3, 6] {
        let other = run_as(spec, Execution::new(1, blocks)).journeys;
        assert!(one == other, "{what}: other journeys in {blocks} blocks");
    }
    one
}

/// In several blocks, a packet can get the record number of an older packet. The head of the older packet has left for another block, but
/// its tail is still at the same terminal.
#[test]
fn packets_in_queues_of_terminals_are_told_apart_in_several_blocks() {
    let mut spec = spec(HYPERX, DOR);
    packets(&mut spec, 20, VirtualCutThrough, 40);
    spec.set_load(0.6);
    phases(&mut spec, 100, 600);
    (spec.interface.queueing, spec.interface.queues) = (Queueing::PerDestination, 8);
    spec.watched = Watched::First(60);
    assert!(check_journeys(&spec, "queues per destination").len() == 60);
}

/// A head that waits until a slow link has taken the flit of another VC requests the output again. The journey must record such a head only
/// once.
#[test]
fn a_head_that_asks_once_more_is_noted_once() {
    let mut spec = spec(DRAGONFLY, r#"{"dragonfly_valiant": {}}"#);
    packets(&mut spec, 8, VirtualCutThrough, 16);
    spec.set_load(0.3);
    phases(&mut spec, 100, 600);
    spec.router.input_speedup = InputSpeedup::Vcs;
    spec.links.iter_mut().for_each(|link| link.rate = Rate::new(1, 2, "links").expect("a rate"));
    spec.watched = Watched::First(60);
    let journeys = check_journeys(&spec, "slow links");
    assert_eq!(journeys.len(), 60);
    for journey in journeys {
        let life = journey.life.expect("it was created");
        let crossed = life.routers.iter().filter_map(|visit| visit.exit.as_ref());
        let tails: Vec<_> = crossed.map(|exit| exit.tail_crossed_cycle.expect("a tail")).collect();
        assert!(tails.is_sorted(), "packet {} of terminal {}: {tails:?}", journey.seq, journey.terminal);
    }
}

/// A routing that computes hops ahead makes no choice at a head. Heads without a hop make no choice either. They have no hop because no
/// path leads to a router that has failed.
#[test]
fn packets_are_watched_where_a_router_has_failed() {
    for rebuild_delay in [0, 30] {
        let mut spec = spec(r#"{"polarfly": {"q": 2, "terminals_per_router": 2}}"#, SHORTEST);
        packets(&mut spec, 12, VirtualCutThrough, 24);
        spec.set_load(0.6);
        phases(&mut spec, 100, 600);
        spec.faults = vec![Fault { what: Part::Router(2), at: 170, until: None }];
        spec.fault_times.rebuild_delay = rebuild_delay;
        spec.watched = Watched::First(100_000);
        check_journeys(&spec, "a router that has failed");
    }
}
