//! Tests failures of links and routers under every registered routing and policy, in networks with very small buffers. The tests check that
//! every packet is delivered or counted as discarded, and that all credits return. They also check that accounts are complete, broken links
//! are off, and blocks do not change results.

use super::*;
use std::collections::BTreeSet;
use weft_engine::Simulation;
use weft_engine::power::LinkState;
use weft_engine::routing::LinkKnowledge;
use weft_engine::spec::FlowControl::VirtualCutThrough;
use weft_engine::spec::{Fault, FaultTimes, Part};
use weft_engine::{Outcome, power::PolicyConfig};

/// Three faults: of a link that works again, of a link that does not, and of a router that works again. `turn` selects the places.
fn faults_of(spec: &Spec, turn: usize) -> Vec<Fault> {
    // uses managed links, because some policies replace no other links
    let managed = spec.graph.links().filter(|link| spec.managed[usize::from(link.class)]);
    let links: Vec<[u32; 2]> = managed.map(|link| link.ends.map(|(router, _)| router)).collect();
    let routers = spec.graph.routers();
    let router = Fault { what: Part::Router(turn as u32 % routers), at: 600, until: Some(900) };
    let link = |k: usize, at, until| {
        let ends = *links.get(k % links.len().max(1))?;
        Some(Fault { what: Part::Link(ends), at, until })
    };
    let faults = [link(turn, 200, Some(800)), link(3 * turn + 1, 400, None), Some(router)];
    let mut spec = spec.clone();
    spec.faults.clear();
    // faults that a scenario must not contain are left out, such as a link that fails twice at the same time
    for fault in faults.into_iter().flatten() {
        spec.faults.push(fault);
        if spec.check_faults().is_err() {
            spec.faults.pop();
        }
    }
    spec.faults
}

/// Whether the fault breaks the link between the two routers `from` and `to`.
fn breaks(fault: &Fault, from: u32, to: u32) -> bool {
    match fault.what {
        Part::Link(ends) | Part::LinkOfClass(ends, _) => ends == [from, to] || ends == [to, from],
        Part::Member(_) => false,
        Part::Router(router) => router == from || router == to,
    }
}

/// Number of cycles of the window in which a fault breaks the link between two routers.
fn broken_cycles(spec: &Spec, from: u32, to: u32, window: u64) -> u64 {
    let mut spans: Vec<(u64, u64)> = spec.faults.iter().filter(|fault| breaks(fault, from, to)).map(span).collect();
    spans.sort_unstable();
    let (mut cycles, mut end) = (0, 0);
    for (at, until) in spans {
        let (at, until) = (at.clamp(end, window), until.clamp(end, window));
        cycles += until - at;
        end = until;
    }
    cycles
}

/// First cycle of a fault, and the first cycle after the fault.
fn span(fault: &Fault) -> (u64, u64) {
    (fault.at, fault.until.unwrap_or(u64::MAX))
}

/// Runs a spec with faults until all faults are over and the network is empty. Checks that all created packets are delivered or discarded.
fn check_run(spec: &Spec, what: &str) -> Outcome {
    let mut whole = spec.clone();
    phases(&mut whole, 0, 1_000_000);
    let mut sim = Simulation::new(&whole, ONE).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    sim.advance(1200);
    sim.stop_sources();
    drain(&mut sim, 60_000, what);
    check_rest(&mut sim, spec, what);
    phases(&mut whole, 0, sim.now());
    let out = sim.run(&whole, &());
    assert_eq!(out.missing_packets, 0, "{what}");
    assert_eq!(out.sums.flits + out.dropped_flits, out.offered_flits, "{what}");
    let created = out.jobs[0].offered_flits / u64::from(spec.traffic.longest());
    assert_eq!(out.sums.packets + out.dropped_packets, created, "{what}");
    check_accounts(spec, &run(spec), what);
    out
}

/// Checks a network that is empty. No channel may stay in a state before off (`shadow`, `draining`) forever. Links may still go off and on
/// in turn, but each of these changes must end.
fn check_rest(sim: &mut Simulation, spec: &Spec, what: &str) {
    let mut closing: Option<BTreeSet<(u32, u32)>> = None;
    // the policies of the examples have short epochs, so thousands of cycles are many epochs
    for _ in 0..20 {
        sim.advance(sim.now() + 997);
        let states = sim.link_states().into_iter();
        let now = states.filter(|state| matches!(state.3, LinkState::Draining | LinkState::Shadow));
        let now: BTreeSet<(u32, u32)> = now.map(|(from, port, ..)| (from, port)).collect();
        let still = closing.map_or_else(|| now.clone(), |closing| &closing & &now);
        let is_over = still.is_empty();
        closing = Some(still);
        if is_over {
            break;
        }
    }
    let closing = closing.expect("states");
    assert!(closing.is_empty(), "{what}: routers and ports of channels that never go off: {closing:?}");
    sim.assert_empty();
    // only if the policy manages all links, because for other links it counts only the flits that arrive
    if spec.managed[1..].iter().all(|&managed| managed) {
        sim.assert_meters();
    }
}

/// Checks that each broken link is off after it has carried its remaining flits, and that it then carries no flit.
fn check_accounts(spec: &Spec, out: &Outcome, what: &str) {
    for c in &out.channels {
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{what}: {c:?}");
        assert_eq!(c.flits[LinkState::Off] + c.flits[LinkState::Waking], 0, "{what}: {c:?}");
        let (Some(from), Some(to)) = (c.from, c.to) else { continue };
        // a policy that replaces failed links ignores links that it does not manage, such as those of a ring
        let replaces = spec.policy.knowledge_of_links() == LinkKnowledge::Subnetworks;
        if replaces && !spec.managed[usize::from(c.class)] {
            continue;
        }
        // packets that hold a VC, and flits on the link, still cross it; this takes at most a few round trips through buffers of one packet
        let broken = broken_cycles(spec, from, to, out.window);
        let off = c.cycles[LinkState::Off];
        assert!(off + 400 >= broken, "{what}: broken for {broken} cycles, off for {off}: {c:?}");
        if spec.policy == PolicyConfig::default() {
            assert!(off <= broken, "{what}: broken for {broken} cycles, off for {off}: {c:?}");
            assert_eq!(c.transitions, 0, "{what}: a fault is no transition of the policy");
        }
    }
}

/// Prepares an example for faults: packets of 1 or 5 flits, and buffers with space for one packet. Returns `None` if faults are refused.
/// The message must then name the missing property of the policy or the routing.
fn example(mut spec: Spec, turn: usize, what: &str) -> Option<Spec> {
    packets(&mut spec, [1, 5][turn % 2], VirtualCutThrough, 1);
    spec.set_load(0.1);
    phases(&mut spec, 0, 1200);
    spec.faults = faults_of(&spec, turn);
    if spec.faults.is_empty() {
        spec.faults = vec![Fault { what: Part::Router(0), at: 600, until: Some(900) }];
        let refusal = spec.check_faults().expect_err(what);
        let reasons = ["does not replace links that fail", "to replace failed links"];
        assert!(reasons.iter().any(|reason| refusal.what.contains(reason)), "{what}: {refusal}");
        return None;
    }
    // short times, so that several tables are used within the run
    spec.fault_times = FaultTimes { patience: 40, rebuild_delay: 90 };
    // the dependency check examines the tables of every network state; this takes long, so the test calls it rarely
    let refused = |spec: &Spec| weft_engine::check(spec).map_or_else(|refusal| refusal.what, |()| String::new());
    let too_long = "after some links have failed";
    let mut why = refused(&spec);
    if why.contains(too_long) {
        spec.links.iter_mut().for_each(|link| link.vcs = 8); // paths become longer
        why = refused(&spec);
    }
    // some routings need more VCs than the network of these tests can have, so they are left out
    let is_left_out = why.starts_with("after the fault or repair in cycle") || why.contains(too_long);
    assert!(is_left_out || why.is_empty(), "{what}: {why}");
    mark_checked(&mut spec);
    (!is_left_out).then_some(spec)
}

/// Whether to compare runs in blocks. `make test` compares one example of each model, and a quarter of the others.
fn is_in_blocks(turn: usize) -> bool {
    in_turn(turn / 2, &[true, false, false, false]).any(|&compares| compares)
}

#[test]
fn under_every_routing_what_fails_takes_nothing_with_it_that_is_not_counted() {
    let (mut run, mut in_blocks) = (0, BTreeSet::new());
    let pairs = half_of_pairs(0);
    for &(turn, pair) in &pairs {
        let what = format!("{pair}");
        let Some(spec) = example(pair.spec(), turn, &what) else { continue };
        assert!(check_run(&spec, &what).sums.packets > 0, "{what}");
        if in_blocks.insert(pair.routing.name()) || is_in_blocks(turn) {
            check_blocks(&spec, &what);
        }
        run += 1;
    }
    assert!(pairs.is_empty() || 4 * run > 3 * pairs.len(), "{run} of {} pairs run with faults", pairs.len());
}

/// Because of a fault, a first leg becomes longer. The longer leg ends on VC classes in which second legs began before the fault.
#[test]
fn legs_that_grow_longer_do_not_wait_for_each_other_in_a_circle() {
    let pair = Pair { topology: topology(TORUS), routing: routing(r#"{"valiant_over": {}}"#) };
    let mut longer = 0;
    for turn in 0..16 {
        let what = format!("{pair}, turn {turn}");
        let spec = example(pair.spec(), turn, &what).expect("faults are taken");
        longer += u32::from(spec.links[1].vcs == 8);
        check_run(&spec, &what);
    }
    assert!(longer > 0, "no path grows longer");
}

#[test]
fn under_every_policy_what_fails_takes_nothing_with_it_that_is_not_counted() {
    let (mut run, mut refused, mut in_blocks) = (Vec::new(), Vec::new(), BTreeSet::new());
    for (turn, e) in in_their_turns(&POLICIES) {
        // `make test` runs half of the examples, and at least one of each policy
        if !in_turn(turn / 4, &[true, false]).any(|&runs| runs) && run.contains(&e.policy.name()) {
            continue;
        }
        let mut spec = e.pair.spec();
        (spec.policy, spec.managed) = (e.policy.clone(), e.managed.clone());
        let what = format!("{e}");
        let Some(spec) = example(spec, turn, &what) else {
            refused.push(e.policy.name());
            continue;
        };
        check_run(&spec, &what);
        if in_blocks.insert(e.policy.name()) || is_in_blocks(turn) {
            check_blocks(&spec, &what);
        }
        run.push(e.policy.name());
    }
    assert!(run.len() > refused.len() || !all_are_tested());
    run.extend(refused);
    assert_complete(PolicyConfig::NAMES, &run);
}
