//! Tests links and routers that fail and work again under TCEP. Only packets that a dead router holds or should receive may be lost, no
//! packet may be blocked forever, and broken links must stay dark.

use crate::common::*;
use rand_pcg::rand_core::Rng;
use weft_engine::outcome::Ending;
use weft_engine::power::LinkState;
use weft_engine::spec::Execution;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::spec::{Fault, Part};
use weft_engine::{Outcome, Simulation, Spec};
use weft_topology::{Peer, Port};
use weft_traffic::stream;

/// A row of `routers` routers under TCEP. All routers are neighbours, and each has 2 terminals.
fn row(routers: u32, keys: &str) -> Spec {
    quick(&format!(r#"{{"hyperx": {{"widths": [{routers}], "terminals_per_router": 2}}}}"#), 120, keys)
}

/// A network with short links and epochs of `epoch` cycles, so that many transitions fit into a short run.
fn quick(network: &str, epoch: u64, keys: &str) -> Spec {
    let mut spec = spec(network, PAL_HISTORY);
    let epochs = format!(r#""activation_epoch": "{epoch}ns", "deactivation_epoch": "{}ns", "wake": "50ns""#, 4 * epoch);
    policy(&mut spec, &format!(r#"{{"tcep": {{{epochs}, {keys}}}}}"#));
    for link in &mut spec.links[1..] {
        (link.latency, link.credit_latency) = (3, 3);
    }
    if spec.graph.structure().groups.is_some() {
        spec.managed[2] = false; // these are the links between groups
    }
    record_link_states(&mut spec, 1 << 20);
    record_control_packets(&mut spec, 1 << 20);
    spec
}

fn fault(a: u32, b: u32, at: u64, until: Option<u64>) -> Fault {
    Fault { what: Part::Link([a, b]), at, until }
}

fn dead(router: u32, at: u64, until: Option<u64>) -> Fault {
    Fault { what: Part::Router(router), at, until }
}

/// The spans in which the channel from router `a` to router `b` is in state `state`.
fn spans(out: &Outcome, (a, b): (u32, u32), state: LinkState) -> Vec<(u64, u64)> {
    let number = out.channels.iter().position(|c| (c.from, c.to) == (Some(a), Some(b))).expect("a link") as u32;
    let Spans { spans, complete } = link_states(out);
    assert!(complete);
    spans.iter().filter(|s| s.channel == number && s.state == state).map(|s| (s.from, s.to)).collect()
}

/// Whether the channel is in state `state` in cycle `at`.
fn is_in(out: &Outcome, link: (u32, u32), state: LinkState, at: u64) -> bool {
    spans(out, link, state).iter().any(|&(from, to)| (from..to).contains(&at))
}

/// Checks that all packets are delivered or, if routers fail, discarded, and that no dark channel has sent anything.
fn check(spec: &Spec, out: &Outcome) {
    assert_eq!((out.missing_packets, out.sums.flits + out.dropped_flits), (0, out.offered_flits));
    assert_eq!(out.sums.packets + out.dropped_packets, out.jobs[0].offered_flits / u64::from(spec.traffic.longest()));
    if spec.faults.iter().all(|fault| matches!(fault.what, Part::Link(_))) {
        assert_eq!(out.dropped_packets, 0);
    }
    for c in &out.channels {
        let dark = c.flits[LinkState::Off] + c.flits[LinkState::Waking];
        assert_eq!(dark, 0, "{c:?}");
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window);
    }
    for f in &spec.faults {
        let broken = f.at..f.until.unwrap_or(out.cycles).min(out.cycles);
        for [a, b] in managed_links(spec).into_iter().filter(|&ends| breaks(f.what, ends)) {
            for link in [(a, b), (b, a)] {
                for state in [LinkState::On, LinkState::Shadow, LinkState::Waking] {
                    for (from, to) in spans(out, link, state) {
                        assert!(to <= broken.start || from >= broken.end, "{link:?} {state:?} {from}..{to}: {f:?}");
                    }
                }
            }
        }
    }
}

fn breaks(what: Part, [a, b]: [u32; 2]) -> bool {
    match what {
        Part::Link(ends) | Part::LinkOfClass(ends, _) => ends == [a, b] || ends == [b, a],
        Part::Member(_) => false,
        Part::Router(router) => router == a || router == b,
    }
}

/// Runs the spec in 1, 2 and 4 blocks, and checks that the results are the same.
fn run_in_blocks(spec: &Spec) -> Outcome {
    let out = run(spec);
    assert_eq!(out.ending, Ending::Drained);
    for (threads, blocks) in [(1, 2), (2, 4)] {
        let other = run_as(spec, Execution::new(threads, blocks));
        assert_same(&out, &other, &format!("{blocks} blocks"));
        assert_eq!((out.dropped_packets, out.dropped_flits), (other.dropped_packets, other.dropped_flits));
        assert_eq!(out.control, other.control);
        assert!(control_packets(&out).1);
        assert!(control_packets(&out) == control_packets(&other), "{blocks} blocks send other control packets");
    }
    out
}

#[test]
fn a_link_that_fails_under_load_is_dark_until_it_returns() {
    for flits in [1, 5] {
        let mut spec = row(6, r#""initial": "all_on", "deactivate": false"#);
        packets(&mut spec, flits, VirtualCutThrough, 16);
        spec.set_load(0.6);
        phases(&mut spec, 0, 6000);
        spec.faults = vec![fault(2, 4, 1000, Some(3000))];
        let out = run_in_blocks(&spec);
        check(&spec, &out);
        for link in [(2, 4), (4, 2)] {
            assert_eq!(spans(&out, link, LinkState::On)[0], (0, 1000));
            // packets that hold a VC, and flits on the link, need at most the time for one buffer and two links
            assert!(is_in(&out, link, LinkState::Off, 1000 + 16 + 2 * 8), "{:?}", spans(&out, link, LinkState::Off));
            // links are never switched off here, so the link is requested immediately, accepted within an epoch, and on after the next
            // epoch at the latest
            assert!(is_in(&out, link, LinkState::On, 3000 + 2 * 120 + 50), "{:?}", spans(&out, link, LinkState::On));
        }
        let control = out.control.as_ref().expect("agents");
        // both ends inform 5 other members of the fault, and later of its end
        assert_eq!(control.of("fault"), 2 * 2 * 5);
        assert_eq!(control.of("hub"), 0);
    }
}

#[test]
fn another_member_becomes_the_hub_when_the_star_is_cut() {
    for flits in [1, 5] {
        let mut spec = row(5, r#""initial": "root""#);
        packets(&mut spec, flits, VirtualCutThrough, 16);
        spec.set_load(0.05);
        phases(&mut spec, 0, 20_000);
        spec.faults = vec![fault(0, 3, 2000, Some(12_000))];
        let out = run_in_blocks(&spec);
        check(&spec, &out);
        // among the members with working links, member 1 has the lowest number. Its links to 2, 3 and 4 wake within two epochs each, or
        // within four if a request is refused
        for c in [0, 2, 3, 4] {
            assert!(
                is_in(&out, (1, c), LinkState::On, 2000 + 3 * 4 * 120),
                "{c}: {:?}",
                spans(&out, (1, c), LinkState::On)
            );
            assert!(is_in(&out, (1, c), LinkState::On, out.window - 1), "{c}");
        }
        assert_eq!(out.control.as_ref().expect("agents").of("hub"), 4);
        // the links of the old star may go off again
        assert!(is_in(&out, (0, 4), LinkState::Off, 19_000));
    }
}

#[test]
fn a_star_without_a_whole_member_still_reaches_all() {
    // every member has a link that is broken forever
    let mut spec = row(4, r#""initial": "root""#);
    spec.set_load(0.1);
    phases(&mut spec, 0, 20_000);
    spec.faults = vec![fault(0, 1, 1500, None), fault(2, 3, 1700, None)];
    check(&spec, &run_in_blocks(&spec));
}

/// The links between routers of the same subnetwork, as pairs of routers.
fn managed_links(spec: &Spec) -> Vec<[u32; 2]> {
    let ports = |a| spec.graph.ports(a).iter().map(move |port| (a, port));
    let far = |(a, port): (u32, &Port)| match port.peer {
        Peer::Router { router: b, .. } if a < b && spec.managed[usize::from(port.class)] => Some([a, b]),
        _ => None,
    };
    (0..spec.graph.routers()).flat_map(ports).filter_map(far).collect()
}

/// Makes random links fail at random times, and a few of them forever. If `routers` is true, some routers also fail. Faults that a scenario
/// must not contain are left out. In small networks most links fail.
fn fail_at_random(spec: &mut Spec, routers: bool, draw: &mut impl FnMut(u32) -> u32) {
    let links = managed_links(spec);
    for _ in 0..1 + draw(links.len().min(16) as u32) {
        let at = u64::from(1 + draw(4000));
        let until = at + 1 + u64::from(draw(3000));
        let link = links[draw(links.len() as u32) as usize];
        let of_router = routers && draw(3) == 0;
        let what = if of_router { Part::Router(draw(spec.graph.routers())) } else { Part::Link(link) };
        let until = (draw(6) > 0).then_some(until);
        spec.faults.push(Fault { what, at, until });
        if spec.check_faults().is_err() {
            spec.faults.pop();
        }
    }
}

/// A random small network whose subnetworks have up to 8 routers. It is one row, a grid, or groups. In a grid, all subnetworks of a router
/// share its one transition per epoch.
fn random_network(draw: &mut impl FnMut(u32) -> u32) -> (String, u32) {
    let routers = 2 + draw(7);
    let network = match draw(4) {
        0 => format!(r#"{{"hyperx": {{"widths": [{routers}], "terminals_per_router": 2}}}}"#),
        1 => format!(r#"{{"hyperx": {{"widths": [{routers}, 3], "terminals_per_router": 1}}}}"#),
        2 => format!(r#"{{"hyperx": {{"widths": [3, 2, {routers}], "terminals_per_router": 1}}}}"#),
        _ => format!(
            r#"{{"dragonfly": {{"groups": 3, "routers_per_group": {routers}, "terminals_per_router": 1,
            "global_links_per_router": 1}}}}"#
        ),
    };
    (network, routers)
}

fn one_of<T: Copy>(draw: &mut impl FnMut(u32) -> u32, all: &[T]) -> T {
    all[draw(all.len() as u32) as usize]
}

/// A random small network with random keys, traffic and load, but without faults.
fn random_spec(round: u64, draw: &mut impl FnMut(u32) -> u32) -> (Spec, String) {
    let (network, routers) = random_network(draw);
    let initial = one_of(draw, &["root", "all_on"]);
    let tables = one_of(draw, &["broadcast", "delayed"]);
    let phase = one_of(draw, &["together", "random"]);
    let keys = format!(r#""initial": "{initial}", "tables": "{tables}", "phase": "{phase}""#);
    // the shortest time for a request over the hub and its answer, with 1-cycle routers, or a longer time
    let least = 4 * (2 * (3 + 1) + 3 + 2 * u64::from(routers.max(3)));
    let mut spec = quick(&network, least * u64::from(1 + draw(2)), &keys);
    let (flits, flow) = one_of(draw, &[(1, VirtualCutThrough), (5, VirtualCutThrough), (5, Wormhole)]);
    packets(&mut spec, flits, flow, 8);
    let shifts = if network.contains("dragonfly") { ADVERSE } else { TORNADO };
    pattern(&mut spec, one_of(draw, &[UNIFORM_SELF, shifts]));
    spec.set_load(one_of(draw, &[0.02, 0.2, 0.5, 0.9]));
    spec.seed = round;
    phases(&mut spec, 0, 1_000_000);
    (spec, format!("round {round}: {network}, {flits} flits, {keys}"))
}

/// Runs with random faults until all faults are over, and then until the network is empty; checks the results.
fn survives(round: u64, routers: bool) {
    let mut random = stream(7, round, 1);
    let mut draw = |below: u32| random.next_u32() % below;
    let (mut spec, what) = random_spec(round, &mut draw);
    fail_at_random(&mut spec, routers, &mut draw);
    let what = format!("{what}, {:?}", spec.faults);
    strands_nothing(spec, &what);
}

/// Checks that every packet created in 7,000 cycles is delivered or discarded.
fn strands_nothing(mut spec: Spec, what: &str) {
    phases(&mut spec, 0, 1_000_000);
    let mut sim = Simulation::new(&spec, ONE).expect(what);
    sim.advance(7000);
    sim.stop_sources();
    drain(&mut sim, 200_000, what);
    phases(&mut spec, 0, sim.now());
    check(&spec, &sim.run(&spec, &()));
}

#[test]
fn small_rows_strand_nothing_where_faults_meet() {
    let ever = None;
    let to_3 = |k: u32| fault(k, 3, 1000 + u64::from(k), ever);
    let cases = [
        // the broken link still drains while packets that it has carried wait for it
        (3, vec![fault(2, 0, 445, Some(811)), fault(0, 1, 511, Some(536))]),
        // no link connects the two routers, but each of them receives the states of the other's other links
        (3, vec![fault(0, 1, 1000, ever), fault(0, 2, 1000, Some(1500))]),
        (3, vec![fault(0, 1, 1000, ever), fault(0, 2, 1400, Some(1500))]),
        (4, vec![fault(0, 1, 1000, ever), fault(0, 2, 1000, Some(1500)), fault(0, 3, 1000, Some(1500))]),
        (4, vec![fault(0, 1, 1000, ever), dead(2, 900, Some(2500)), dead(3, 900, Some(2500))]),
        // the router that fails already has broken links
        (2, vec![fault(0, 1, 1000, ever), dead(1, 1500, ever)]),
        (2, vec![fault(0, 1, 1000, Some(9000)), dead(1, 1500, ever)]),
        (3, vec![fault(0, 1, 1000, Some(3000)), dead(1, 1500, Some(2000))]),
        (4, vec![to_3(0), to_3(1), to_3(2), dead(3, 1500, ever)]),
    ];
    for (routers, faults) in cases {
        for seed in 0..rounds(12) {
            let mut spec = row(routers, r#""initial": "root""#);
            let keys = r#""activation_epoch": "300ns", "deactivation_epoch": "600ns", "wake": "40ns""#;
            policy(&mut spec, &format!(r#"{{"tcep": {{{keys}}}}}"#));
            for link in &mut spec.links[1..] {
                (link.latency, link.credit_latency) = (4, 4);
            }
            packets(&mut spec, 1, VirtualCutThrough, 16);
            spec.set_load([0.01, 0.05, 0.3][seed as usize % 3]);
            spec.seed = seed;
            spec.faults.clone_from(&faults);
            spec.check_faults().expect("a scenario may say so");
            strands_nothing(spec, &format!("{routers} routers, seed {seed}, {faults:?}"));
        }
    }
}

#[test]
fn nothing_is_lost_or_stranded_whatever_links_fail() {
    (0..rounds(25)).for_each(|round| survives(round, false));
}

#[test]
fn what_dead_routers_discard_is_all_that_is_lost() {
    (0..rounds(25)).for_each(|round| survives(round, true));
}

#[test]
fn heads_that_turn_away_from_a_fault_are_metered_once() {
    let mut spec = row(6, r#""initial": "all_on", "deactivate": false"#);
    packets(&mut spec, 1, VirtualCutThrough, 16);
    pattern(&mut spec, TORNADO);
    spec.set_load(0.9);
    phases(&mut spec, 0, 1_000_000);
    // links that packets use for detours fail, with different ends, also at the hub
    let cut = |(k, &(a, b)): (usize, &(u32, u32))| fault(a, b, 500 + 70 * k as u64, Some(3000));
    spec.faults = [(1, 2), (1, 4), (3, 5), (0, 2), (2, 5), (0, 4)].iter().enumerate().map(cut).collect();
    let mut sim = Simulation::new(&spec, ONE).expect("a network");
    sim.advance(4000);
    sim.stop_sources();
    drain(&mut sim, 100_000, "cuts");
    // until the last link of a star has come on
    sim.advance(sim.now() + 3000);
    assert!(sim.assert_meters() > 1000);
}

/// Share of uniform traffic in a grid (routed in the first dimension first) that starts, ends or turns at router `dead`.
fn share_at([columns, rows]: [u32; 2], dead: u32) -> f64 {
    let routers = columns * rows;
    let pairs = (0..routers).flat_map(|from| (0..routers).map(move |to| (from, to)));
    let meets = |&(from, to): &(u32, u32)| [from, to, from / columns * columns + to % columns].contains(&dead);
    pairs.filter(meets).count() as f64 / f64::from(routers * routers)
}

#[test]
fn a_dead_router_takes_no_packets_but_those_whose_way_leads_to_it() {
    for (widths, flits) in [([6, 1], 1), ([6, 1], 5), ([4, 3], 1)] {
        let [columns, rows] = widths;
        let network = format!(r#"{{"hyperx": {{"widths": [{columns}, {rows}], "terminals_per_router": 2}}}}"#);
        let mut spec = quick(&network, 120, r#""initial": "all_on", "deactivate": false"#);
        packets(&mut spec, flits, VirtualCutThrough, 16);
        pattern(&mut spec, UNIFORM_SELF);
        spec.set_load(0.3);
        phases(&mut spec, 0, 12_000);
        spec.faults = vec![dead(2, 1000, Some(11_000))];
        let out = run_in_blocks(&spec);
        check(&spec, &out);
        let created = 0.3 * f64::from(2 * columns * rows) * 10_000.0 / f64::from(flits);
        let expected = created * share_at(widths, 2);
        let off = (out.dropped_packets as f64 - expected) / expected.sqrt();
        // the tolerance is four standard deviations, and the packets that the router held when it failed: a few for each VC of its inputs
        let most = 4.0 + 100.0 / expected.sqrt();
        assert!((-4.0..most).contains(&off), "{} of {expected} in {widths:?}", out.dropped_packets);
    }
}

#[test]
fn routers_fail_alike_on_any_number_of_blocks() {
    for network in [HYPERX, DRAGONFLY] {
        let mut spec = quick(network, 120, r#""initial": "root""#);
        packets(&mut spec, 5, VirtualCutThrough, 16);
        spec.set_load(0.2);
        phases(&mut spec, 0, 8000);
        // these routers fail: the hub of a row and of a column, a neighbour of this hub, and a router elsewhere
        spec.faults = vec![dead(0, 1000, Some(5000)), dead(1, 2500, Some(3000)), dead(10, 3000, None)];
        let out = run_in_blocks(&spec);
        check(&spec, &out);
        assert!(out.dropped_packets > 100);
    }
}

#[test]
fn another_router_becomes_the_hub_when_that_one_fails() {
    for (flits, until) in [(1, Some(12_000)), (5, Some(12_000)), (1, None)] {
        let mut spec = row(5, r#""initial": "root""#);
        packets(&mut spec, flits, VirtualCutThrough, 16);
        spec.set_load(0.05);
        phases(&mut spec, 0, 20_000);
        spec.faults = vec![dead(0, 2000, until)];
        let out = run_in_blocks(&spec);
        check(&spec, &out);
        assert!(out.dropped_packets > 0);
        // among the remaining members, member 1 has the lowest number; every two epochs (or four) one of its links to 2, 3 and 4 wakes
        for c in [2, 3, 4] {
            let on = spans(&out, (1, c), LinkState::On);
            assert!(is_in(&out, (1, c), LinkState::On, 2000 + 3 * 4 * 120), "{c}: {on:?}");
            assert!(is_in(&out, (1, c), LinkState::On, out.window - 1), "{c}: {on:?}");
        }
        // when the old hub works again, its link to the new hub belongs to the star; the links of the old star may go off
        assert_eq!(is_in(&out, (1, 0), LinkState::On, 13_000), until.is_some());
        assert!(is_in(&out, (0, 4), LinkState::Off, 19_000));
    }
}

#[test]
fn a_router_that_returns_knows_what_it_has_missed() {
    let mut spec = row(6, r#""initial": "all_on""#);
    spec.set_load(0.05);
    phases(&mut spec, 0, 1_000_000);
    // while router 4 is dead, some links go off and other links break
    spec.faults = vec![dead(4, 300, Some(9000)), fault(2, 3, 5000, Some(7000))];
    let mut sim = Simulation::new(&spec, ONE).expect("a network");
    sim.advance(9000);
    sim.stop_sources();
    sim.advance(20_000);
    drain(&mut sim, 1000, "a dead router");
    sim.assert_tables();
}

#[test]
fn a_router_that_returns_is_in_step_with_the_others() {
    let mut asked = 0;
    for load in [0.05, 0.2, 0.4, 0.6] {
        let mut spec = row(8, r#""initial": "all_on""#);
        pattern(&mut spec, TORNADO);
        spec.set_load(load);
        phases(&mut spec, 0, 40_000);
        // the router is dead at the end of an epoch
        spec.faults = vec![dead(5, 500, Some(700))];
        let out = run(&spec);
        check(&spec, &out);
        let (packets, complete) = control_packets(&out);
        assert!(complete);
        for p in packets.iter().filter(|p| p.kind == "deactivate") {
            assert!(p.cycle.is_multiple_of(4 * 120), "{p:?}");
            asked += u32::from(p.from == 5 && p.cycle > 700);
        }
    }
    assert!(asked > 0);
}

/// A spec of `routing` on `network` with links that are always on. Packets of one flit go between all pairs at a low load.
fn always_on(network: &str, routing: &str, faults: &[Fault]) -> Spec {
    let mut spec = spec(network, routing);
    pattern(&mut spec, UNIFORM_SELF);
    spec.set_load(0.05);
    phases(&mut spec, 0, 12_000);
    spec.faults = faults.to_vec();
    spec
}

/// Checks that every created packet is delivered or discarded. Returns the share of packets that the run discarded.
fn share_lost(spec: &Spec) -> f64 {
    let out = run(spec);
    assert_same(&out, &run_as(spec, Execution::new(1, 3)), "3 blocks");
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0));
    assert_eq!(out.sums.packets + out.dropped_packets, out.jobs[0].offered_flits);
    out.dropped_packets as f64 / out.jobs[0].offered_flits as f64
}

const MESH_OF_4: &str = r#"{"mesh": {"widths": [4], "terminals_per_router": 2}}"#;
const RING_OF_6: &str = r#"{"torus": {"widths": [6], "terminals_per_router": 2}}"#;

#[test]
fn a_routing_without_a_choice_loses_what_the_link_would_carry() {
    // packets between the two halves of a row are lost: 2 * 2 * 2 of 16 pairs of routers, in 10,000 of 12,000 cycles
    let spec = always_on(MESH_OF_4, r#"{"dimension_order": {}}"#, &[fault(1, 2, 2000, None)]);
    let expected: f64 = 0.5 * 10.0 / 12.0;
    let packets: f64 = 0.05 * 8.0 * 12_000.0;
    let sigma = (expected * (1.0 - expected) / packets).sqrt();
    assert!((share_lost(&spec) - expected).abs() < 4.0 * sigma, "{} of {expected}", share_lost(&spec));
    // when the link works again, it carries these packets again
    let mut spec = spec;
    spec.faults[0].until = Some(7000);
    let expected = 0.5 * 5.0 / 12.0;
    assert!((share_lost(&spec) - expected).abs() < 4.0 * sigma, "{} of {expected}", share_lost(&spec));
}

#[test]
fn a_routing_that_rebuilds_loses_nothing_where_a_path_is_left() {
    for routing in [r#"{"shortest_path": {}}"#, r#"{"ecmp": {}}"#] {
        let mut spec = always_on(RING_OF_6, routing, &[fault(1, 2, 2000, None)]);
        // the longest path has 3 links on the ring, and 5 links when a link of the ring is broken
        let refusal = weft_engine::check(&{
            let mut few = spec.clone();
            few.links.iter_mut().for_each(|link| link.vcs = 4);
            few
        });
        let refusal = refusal.expect_err("5 classes in 4 VCs");
        assert!(refusal.what.contains("3 without faults; after some links have failed, paths need 5"), "{refusal}");
        spec.fault_times.rebuild_delay = 300;
        // When the tables change, packets in flight on their second or a later hop can run out of VC classes. Only a few of 7,200 packets
        // do.
        assert!(share_lost(&spec) < 0.003, "{routing}: {}", share_lost(&spec));
        // heads at the broken link wait for the new tables, so some packets take longer by the whole delay
        let out = run(&spec);
        assert!((300..400).contains(&out.latency.max()), "{routing}: {}", out.latency.max());
        // packets to and from the failed router are lost: 2 * 5 + 1 of 36 pairs, in 10,000 of 12,000 cycles
        spec.faults = vec![dead(3, 2000, None)];
        let expected = 11.0 / 36.0 * 10.0 / 12.0;
        assert!((share_lost(&spec) - expected).abs() < 0.02, "{routing}: {} of {expected}", share_lost(&spec));
    }
}

/// The delay until new tables take effect is longer than the run. If the first tables included the broken link, packets would wait forever.
#[test]
fn the_first_tables_know_what_is_broken_from_the_start() {
    for routing in [r#"{"shortest_path": {}}"#, r#"{"ecmp": {}}"#] {
        let mut spec = always_on(RING_OF_6, routing, &[fault(1, 2, 1, None)]);
        spec.fault_times.rebuild_delay = 1 << 40;
        assert_eq!(share_lost(&spec), 0.0, "{routing}");
        let rebuilds = weft_engine::rebuilds(&spec).unwrap();
        assert_eq!((rebuilds.last_change, rebuilds.last_tables), (1, 0));
        assert_eq!(weft_engine::unproven(&spec), Ok(None), "one state of the network, which is checked");
        // without the broken link, the ring is a row of 6 routers; the longest path on the whole ring has 3 links
        assert_eq!(run(&spec).hop_counts.iter().rposition(|&packets| packets > 0), Some(5), "{routing}");
        // if the link fails one cycle later, the first tables still use it
        spec.faults = vec![fault(1, 2, 2, None)];
        let rebuilds = weft_engine::rebuilds(&spec).unwrap();
        assert_eq!((rebuilds.last_change, rebuilds.last_tables), (2, 2 + (1 << 40)));
    }
}

#[test]
fn a_routing_that_chooses_takes_another_hop_where_there_is_one() {
    const GRID: &str = r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#;
    let cut = [fault(5, 6, 2000, None)];
    let fixed = share_lost(&always_on(GRID, r#"{"dimension_order": {}}"#, &cut));
    let adaptive = share_lost(&always_on(GRID, r#"{"minimal_adaptive": {}}"#, &cut));
    // In dimension order, 2 * 2 * 2 * 4 of 256 pairs use the link between columns 1 and 2 of row 1. An adaptive packet is lost only if it
    // reaches row 1 before it crosses from column 1 to column 2. The loss is certain only for the 2 * 2 * 2 pairs within row 1.
    let during = 10.0 / 12.0;
    assert!((fixed - 32.0 / 256.0 * during).abs() < 0.01, "{fixed}");
    assert!(adaptive < 0.8 * fixed && adaptive > 0.8 * 8.0 / 256.0 * during, "{adaptive} of {fixed}");
    // if one of the two up links of a leaf fails, the other link carries all packets
    let tree = r#"{"k_ary_n_tree": {"k": 2, "n": 2}}"#;
    let up = |ascent: &str| {
        always_on(tree, &format!(r#"{{"up_down": {{"ascent": "{ascent}"}}}}"#), &[fault(0, 2, 2000, None)])
    };
    let (drawn, chosen) = (share_lost(&up("random")), share_lost(&up("adaptive")));
    assert!(chosen < 0.75 * drawn, "{chosen} and {drawn}");
}

/// A FleX network with 3 x 3 x 3 routers; the router at (x, y, z) has the number x + 3 y + 9 z.
const FLEX: &str = r#"{"flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 1}}"#;

#[test]
fn flex_goes_round_a_broken_link_over_the_third_layer() {
    // the link from router (0, 0, 0) to router (1, 0, 1) fails
    let cut = [fault(0, 10, 2000, None)];
    // A router sends to 8 neighbours directly, and over two links to 18 others. The first and the second hops of these longer paths share
    // its 8 channels. A packet whose first hop would be the broken link has another shortest path. Each of the link's two channels loses
    // the packets without another path: packets from one end to the other, and packets on their second hop.
    let expected = 2.0 * (1.0 + 18.0 / 8.0) / 729.0 * 10.0 / 12.0;
    let without = share_lost(&always_on(FLEX, r#"{"flex_minimal": {}}"#, &cut));
    let sigma: f64 = (expected / (0.05 * 27.0 * 12_000.0_f64)).sqrt();
    assert!((without - expected).abs() < 4.0 * sigma, "{without} of {expected}");
    for paths in ["balanced", "printed"] {
        let routing = format!(r#"{{"flex_minimal": {{"paths": "{paths}", "detours": 1}}}}"#);
        let mut spec = always_on(FLEX, &routing, &cut);
        assert_eq!(share_lost(&spec), 0.0, "{paths}");
        let out = run(&spec);
        // the two neighbours are then two links apart; other pairs are three links apart if their packets meet the broken link on their
        // second hop
        assert!(out.hop_counts[3] > 0 && out.hop_counts[4..].iter().all(|&more| more == 0), "{:?}", out.hop_counts);
        assert!(out.latency.max() < 60, "{paths}: nobody waits: {}", out.latency.max());
        // all up links of a router fail; a dead router loses only the packets that it sends and receives
        spec.faults = [10, 11, 12, 15].map(|up| fault(0, up, 2000, None)).to_vec();
        assert_eq!(share_lost(&spec), 0.0, "{paths}");
        spec.faults = vec![dead(13, 2000, None)];
        let lost = 53.0 / 729.0 * 10.0 / 12.0;
        assert!((share_lost(&spec) - lost).abs() < 0.01, "{paths}: {} of {lost}", share_lost(&spec));
    }
}

#[test]
fn flex_of_other_layers_goes_round_a_broken_link_in_two_links_more() {
    // the link from router (0, 0, 0) to router (1, 0, 1) fails
    for (width, layers, far) in [(4, 2, 17), (4, 4, 17), (4, 5, 17)] {
        let flex =
            format!(r#"{{"flex": {{"widths": [{width}, {width}], "layers": {layers}, "terminals_per_router": 1}}}}"#);
        let mut spec = always_on(&flex, r#"{"flex_minimal": {"detours": 2}}"#, &[fault(0, far, 2000, None)]);
        queues(&mut spec, 8, 32);
        assert_eq!(share_lost(&spec), 0.0, "{layers} layers");
    }
}

#[test]
fn flex_with_detours_for_each_of_several_broken_links_loses_nothing() {
    // router 0 keeps the first 5 of its 8 links, and router (2, 1, 1), which is not its neighbour, keeps 6 links
    let mut spec = always_on(FLEX, r#"{"flex_minimal": {"detours": 3}}"#, &[]);
    let of = |router: u32| -> Vec<u32> {
        let ports = spec.graph.ports(router).iter();
        ports.filter_map(|port| if let Peer::Router { router, .. } = port.peer { Some(router) } else { None }).collect()
    };
    let cut = |router, left| of(router).into_iter().skip(left).map(move |far| fault(router, far, 2000, None));
    spec.faults = cut(0, 5).chain(cut(14, 6)).collect();
    assert_eq!(share_lost(&spec), 0.0);
}

#[test]
fn faults_that_never_come_change_nothing() {
    let mut spec = row(6, r#""initial": "root""#);
    spec.set_load(0.3);
    phases(&mut spec, 0, 5000);
    let without = run(&spec);
    for fault in [fault(0, 1, 1 << 40, None), dead(3, 1 << 40, None)] {
        spec.faults = vec![fault];
        assert_same(&without, &run(&spec), "a fault behind the end");
    }
}
