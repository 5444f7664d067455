//! Short random runs (rounds) in which links and routers fail at random. The rounds cover every routing on every small network that the
//! routing supports. Each round has another power policy, load, packet length and link rates. The checks: no packet is blocked forever,
//! every lost packet is counted, and the flits, credits and cycles of the accounts add up. The test has 60 rounds, or 6,000 with
//! WEFT_TEST_ROUNDS=100.

use super::*;
use std::collections::BTreeMap;
use std::sync::LazyLock;
use weft_engine::examples::small_networks;
use weft_engine::outcome::Ending;
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::spec::{Execution, Fault, FaultTimes, LoadPhase, Part, Rate};
use weft_engine::{Outcome, Simulation};
use weft_units::Refusal;

/// Every example of every routing, each on all networks that the routing supports.
static ALL: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let small = small_networks();
    let mut pairs = Vec::new();
    for example in RoutingConfig::examples() {
        let routing = example.config;
        let networks = example.networks.unwrap_or_else(|| {
            small.iter().filter(|(_, graph)| routing.fits(graph)).map(|(topology, _)| topology.clone()).collect()
        });
        pairs.extend(networks.into_iter().map(|topology| Pair { topology, routing: routing.clone() }));
    }
    pairs
});

/// The last cycle in which terminals create packets and parts fail.
const BUSY: u64 = 1000;
/// Lengths of windows in which all packets are delivered or dropped. The first is usually enough; the second is for packets over a few slow
/// links.
const WINDOWS: [u64; 2] = [4000, 400_000];

/// Chooses a power policy at random among the policies that are compatible with the routing under faults. If there is none, links are
/// always on. Returns the reason if faults are refused under all policies.
fn policy_at_random(spec: &mut Spec, draw: &mut Draw) -> Result<(), Refusal> {
    let mut all = PolicyConfig::examples();
    all.push(PolicyConfig::default());
    let turn = draw.below(all.len());
    all.rotate_left(turn);
    let whole = spec.managed.clone();
    let mut refused = None;
    for policy in all {
        let is_on = policy == PolicyConfig::default();
        spec.policy = policy;
        spec.managed.clone_from(&whole);
        if !is_on && !manage_what_can_be(spec) {
            continue;
        }
        spec.faults = vec![Fault { what: Part::Router(0), at: 1, until: Some(2) }];
        let check = spec.check_faults();
        spec.faults.clear();
        match check {
            Ok(()) => return Ok(()),
            Err(refusal) => refused = Some(refusal),
        }
    }
    Err(refused.expect("a policy"))
}

/// Makes each link or router fail once in `mtbf` cycles on average, for `mttr` cycles on average; a few fail forever. Faults that a
/// scenario must not contain are left out.
fn fail(spec: &mut Spec, draw: &mut Draw) {
    let mut links: Vec<Part> = spec.graph.links().map(|link| Part::Link(link.ends.map(|(router, _)| router))).collect();
    links.dedup();
    let routers: Vec<Part> = (0..spec.graph.routers()).map(Part::Router).collect();
    let parts = match draw.below(3) {
        0 => links,
        1 => routers,
        _ => links.into_iter().chain(routers).collect(),
    };
    // gives between one and about eight faults
    let mtbf = BUSY as f64 * parts.len() as f64 / draw.of(&[1.0, 3.0, 8.0]);
    let mttr = draw.of(&[3.0, 60.0, 400.0]);
    for what in parts {
        let mut at = draw.gap(mtbf);
        while at < BUSY {
            let until = (draw.below(8) > 0).then(|| at + draw.gap(mttr));
            spec.faults.push(Fault { what, at, until });
            if spec.check_faults().is_err() {
                spec.faults.pop();
            }
            let Some(until) = until else { break };
            at = until + draw.gap(mtbf);
        }
    }
    if spec.faults.is_empty() {
        spec.faults.push(Fault { what: Part::Router(0), at: 300, until: Some(500) });
    }
}

/// The spec of a round, or the reason why its faults are refused.
fn spec_of(round: u64) -> (String, Result<Spec, Refusal>) {
    let pair = &ALL[(round * 7919) as usize % ALL.len()];
    let mut draw = Draw::new(13, round, 1);
    let mut spec = pair.spec();
    let flow = draw.of(&[VirtualCutThrough, VirtualCutThrough, Wormhole]);
    let (flits, buffer) = (draw.of(&[1, 2, 5]), draw.of(&[1, 4, 16]));
    packets(&mut spec, flits, flow, buffer);
    spec.set_load(draw.of(&[0.02, 0.1, 0.3, 0.9]));
    phases(&mut spec, 0, WINDOWS[0]);
    spec.seed = round;
    if draw.below(4) == 0 {
        let rate = |flits, cycles| Rate::new(flits, cycles, "links").expect("a rate");
        spec.links.iter_mut().for_each(|link| link.rate = draw.of(&[rate(1, 1), rate(1, 2), rate(2, 3)]));
    }
    spec.fault_times = FaultTimes { patience: draw.of(&[0, 40, 400]), rebuild_delay: draw.of(&[0, 30, 300]) };
    let mut checked = policy_at_random(&mut spec, &mut draw);
    if checked.is_ok() {
        fail(&mut spec, &mut draw);
        checked = weft_engine::check(&spec);
    }
    if checked.as_ref().is_err_and(|refusal| refusal.what.contains("after some links have failed")) {
        spec.links.iter_mut().for_each(|link| link.vcs = 8); // paths become longer
        checked = weft_engine::check(&spec);
    }
    let what = format!("round {round}: {pair}, {}, {:?}", as_written(&spec.policy), spec.faults);
    mark_checked(&mut spec);
    (what, checked.map(|()| spec))
}

/// Checks that each flit that entered a router left it or was dropped there. Also checks that the cycles of a channel in its states sum to
/// all cycles.
fn check_accounts(out: &Outcome, routers: u32, what: &str) {
    let mut balance = vec![0i64; routers as usize];
    for c in &out.channels {
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{what}: {c:?}");
        assert_eq!(c.flits[LinkState::Off] + c.flits[LinkState::Waking], 0, "{what}: {c:?}");
        let flits = c.flits.iter().sum::<u64>() as i64;
        c.from.into_iter().for_each(|from| balance[from as usize] -= flits);
        c.to.into_iter().for_each(|to| balance[to as usize] += flits);
    }
    // only without control packets, because control packets start and end in routers
    if out.control.is_none() {
        assert!(balance.iter().all(|&flits| flits >= 0), "{what}: {balance:?}");
        assert_eq!(balance.iter().sum::<i64>() as u64, out.dropped_flits, "{what}: {balance:?}");
    }
}

/// Checks that the network becomes empty after the sources have stopped, and that all credits have returned.
fn check_drain(spec: &Spec, what: &str) {
    let mut whole = spec.clone();
    phases(&mut whole, 0, 1_000_000);
    let mut sim = Simulation::new(&whole, ONE).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
    sim.advance(BUSY);
    sim.stop_sources();
    drain(&mut sim, 100_000, what);
}

/// Number of packets that were delivered or dropped in the window.
fn arrived(out: &Outcome) -> u64 {
    let spans = out.faults.as_ref().expect("faults").spans.iter();
    spans.map(|span| span.arrived.packets + span.arrived.dropped).sum()
}

/// Runs and checks one round. The window covers the whole run, and no terminal sends after some time.
fn check_round(mut spec: Spec, what: &str) {
    check_drain(&spec, what);
    let job = &mut spec.traffic.jobs[0];
    let quiet = LoadPhase { from: BUSY, load: vec![0.0; job.terminals.len()], ..job.phases[0].clone() };
    job.phases.push(quiet);
    let mut out = run(&spec);
    if out.ending != Ending::Drained || arrived(&out) != out.sums.packets + out.dropped_packets {
        phases(&mut spec, 0, WINDOWS[1]); // some packets still waited at their sources, or arrived in the drain
        out = run(&spec);
    }
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
    let created = out.jobs[0].offered_flits / u64::from(spec.traffic.longest());
    assert_eq!(out.sums.flits + out.dropped_flits, out.offered_flits, "{what}");
    assert_eq!(out.sums.packets + out.dropped_packets, created, "{what}");
    assert_eq!(arrived(&out), out.sums.packets + out.dropped_packets, "{what}: by spans");
    check_accounts(&out, spec.graph.routers(), what);
    if spec.seed.is_multiple_of(4) {
        // two threads only in some rounds, because threads are costly if little happens between two exchanges of mail
        let threads = if spec.seed.is_multiple_of(32) { 2 } else { 1 };
        let many = run_as(&spec, Execution::new(threads, 3));
        assert_same(&out, &many, what);
        assert_eq!((out.dropped_packets, &out.faults), (many.dropped_packets, &many.faults), "{what}");
        assert_eq!(out.control, many.control, "{what}");
    }
}

#[test]
fn random_faults_strand_nothing_and_lose_nothing_uncounted() {
    let (mut run, mut refused) = (0, BTreeMap::<String, u64>::new());
    let all = rounds(60);
    for round in 0..all {
        let (what, spec) = spec_of(round);
        match spec {
            Ok(spec) => {
                check_round(spec, &what);
                run += 1;
            }
            Err(refusal) => *refused.entry(reason(&refusal, &what).to_owned()).or_default() += 1,
        }
    }
    println!("{run} of {all} rounds run, the others are refused: {refused:?}");
    assert!(4 * run > 3 * all, "{run} of {all} rounds run, the others are refused: {refused:?}");
}

/// The reason why faults were refused. Fails if it is not one of the permitted reasons.
fn reason(refusal: &Refusal, what: &str) -> &'static str {
    let known = [
        "does not replace links that fail",
        "after the fault or repair in cycle",
        "could wait forever",
        "after some links have failed",
    ];
    known.into_iter().find(|words| refusal.what.contains(words)).unwrap_or_else(|| panic!("{what}: {refusal}"))
}
