//! Links that fail and return under TCEP: nothing is lost or stranded, and what is broken stays dark.

mod common;
use common::*;
use rand_pcg::rand_core::Rng;
use weft_engine::faults::Fault;
use weft_engine::outcome::{ControlKind, LinkStates};
use weft_engine::power::LinkState;
use weft_engine::spec::Execution;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::{Outcome, Simulation, Spec};
use weft_traffic::stream;

/// Short links and epochs, so that many transitions fit into a short run.
const QUICK: &str = r#""activation_epoch": "120ns", "deactivation_epoch": "480ns", "wake": "50ns""#;

/// `routers` routers of 2 terminals that are all neighbours, under TCEP.
fn row(routers: u32, keys: &str) -> Spec {
    let topology = format!(r#"{{"hyperx": {{"widths": [{routers}], "terminals_per_router": 2}}}}"#);
    let mut spec = spec(&topology, PAL_HISTORY);
    policy(&mut spec, &format!(r#"{{"tcep": {{{QUICK}, {keys}}}}}"#));
    for link in &mut spec.links[1..] {
        (link.latency, link.credit_latency) = (3, 3);
    }
    spec.records.link_states = Some(1 << 20);
    spec
}

fn fault(a: u32, b: u32, at: u64, until: Option<u64>) -> Fault {
    Fault { link: [a, b], at, until }
}

/// Cycles of the run in which the channel from router `a` to router `b` is in `state`, as spans.
fn spans(out: &Outcome, (a, b): (u32, u32), state: LinkState) -> Vec<(u64, u64)> {
    let number = out.channels.iter().position(|c| (c.from, c.to) == (Some(a), Some(b))).expect("a link") as u32;
    let LinkStates { spans, complete, .. } = out.link_states.as_ref().expect("recorded");
    assert!(complete);
    spans.iter().filter(|s| s.channel == number && s.state == state).map(|s| (s.from, s.to)).collect()
}

/// Whether the channel is in `state` in cycle `at`.
fn is_in(out: &Outcome, link: (u32, u32), state: LinkState, at: u64) -> bool {
    spans(out, link, state).iter().any(|&(from, to)| (from..to).contains(&at))
}

/// All delivered, and nothing was sent where nothing can be.
fn check(spec: &Spec, out: &Outcome) {
    assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits));
    for c in &out.channels {
        let dark = c.flits[LinkState::Off as usize] + c.flits[LinkState::Waking as usize];
        assert_eq!(dark, 0, "{c:?}");
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window);
    }
    for f in &spec.faults {
        let [a, b] = f.link;
        let broken = f.at..f.until.unwrap_or(out.cycles).min(out.cycles);
        for link in [(a, b), (b, a)] {
            for state in [LinkState::On, LinkState::Shadow, LinkState::Waking] {
                for (from, to) in spans(out, link, state) {
                    assert!(to <= broken.start || from >= broken.end, "{link:?} {state:?} {from}..{to}: {f:?}");
                }
            }
        }
    }
}

/// Runs in 1, 2 and 4 blocks, with the same result.
fn run_in_blocks(spec: &Spec) -> Outcome {
    let out = run(spec);
    assert_drained(&out);
    for (threads, blocks) in [(1, 2), (2, 4)] {
        let other = run_as(spec, Execution { threads, blocks });
        assert_same(&out, &other, &format!("{blocks} blocks"));
        assert_eq!(out.control, other.control);
    }
    out
}

#[test]
fn a_link_that_fails_under_load_is_dark_until_it_is_wanted_again() {
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
            // what holds a VC then and what is on the wire needs a buffer and two links at most
            assert!(is_in(&out, link, LinkState::Off, 1000 + 16 + 2 * 8), "{:?}", spans(&out, link, LinkState::Off));
        }
        let control = out.control.expect("agents").packets;
        // both ends tell 5 others of the fault, and of the return
        assert_eq!(control[ControlKind::Fault as usize], 2 * 2 * 5);
        assert_eq!(control[ControlKind::Hub as usize], 0);
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
        // member 1 is the lowest with whole links; of its links to 2, 3 and 4 one wakes in two epochs, or in four where a
        // request is refused
        for c in [0, 2, 3, 4] {
            assert!(
                is_in(&out, (1, c), LinkState::On, 2000 + 3 * 4 * 120),
                "{c}: {:?}",
                spans(&out, (1, c), LinkState::On)
            );
            assert!(is_in(&out, (1, c), LinkState::On, out.window - 1), "{c}");
        }
        assert_eq!(out.control.expect("agents").packets[ControlKind::Hub as usize], 4);
        // the old star is no longer kept
        assert!(is_in(&out, (0, 4), LinkState::Off, 19_000));
    }
}

#[test]
fn a_star_without_a_whole_member_still_reaches_all() {
    // every member lacks a link for ever
    let mut spec = row(4, r#""initial": "root""#);
    spec.set_load(0.1);
    phases(&mut spec, 0, 20_000);
    spec.faults = vec![fault(0, 1, 1500, None), fault(2, 3, 1700, None)];
    check(&spec, &run_in_blocks(&spec));
}

/// Faults of random links at random times, none of the same link at the same time.
fn random_faults(routers: u32, draw: &mut impl FnMut(u32) -> u32) -> Vec<Fault> {
    let mut faults: Vec<Fault> = Vec::new();
    for _ in 0..1 + draw(2 * routers) {
        let a = draw(routers);
        let b = (a + 1 + draw(routers - 1)) % routers;
        let at = u64::from(1 + draw(4000));
        let new = fault(a, b, at, Some(at + 1 + u64::from(draw(3000))));
        let meets = |old: &Fault| {
            let same = old.link == [a, b] || old.link == [b, a];
            same && old.at <= new.until.unwrap_or(0) && new.at <= old.until.unwrap_or(0)
        };
        if !faults.iter().any(meets) {
            faults.push(new);
        }
    }
    faults
}

#[test]
fn nothing_is_lost_or_stranded_whatever_fails() {
    for round in 0..60 {
        let mut random = stream(7, round, 1);
        let mut draw = |below: u32| random.next_u32() % below;
        let routers = 4 + draw(5);
        let initial = ["root", "all_on"][draw(2) as usize];
        let tables = ["broadcast", "delayed"][draw(2) as usize];
        let phase = ["together", "random"][draw(2) as usize];
        let keys = format!(r#""initial": "{initial}", "tables": "{tables}", "phase": "{phase}""#);
        let mut spec = row(routers, &keys);
        let (flits, flow) = [(1, VirtualCutThrough), (5, VirtualCutThrough), (5, Wormhole)][draw(3) as usize];
        packets(&mut spec, flits, flow, 8);
        pattern(&mut spec, [UNIFORM_SELF, TORNADO][draw(2) as usize]);
        spec.set_load([0.02, 0.2, 0.5, 0.9][draw(4) as usize]);
        spec.seed = u64::from(round);
        spec.faults = random_faults(routers, &mut draw);
        phases(&mut spec, 0, 1_000_000);
        let what = format!("round {round}: {routers} routers, {flits} flits, {keys}, {:?}", spec.faults);
        let mut sim = Simulation::<1, 8>::new(&spec, ONE).expect("a network");
        sim.advance(7000);
        sim.stop_sources();
        drain(&mut sim, 200_000, &what);
        phases(&mut spec, 0, sim.now());
        check(&spec, &sim.run(&spec, &()));
    }
}

#[test]
fn faults_that_never_come_change_nothing() {
    let mut spec = row(6, r#""initial": "root""#);
    spec.set_load(0.3);
    phases(&mut spec, 0, 5000);
    let without = run(&spec);
    spec.faults = vec![fault(0, 1, 1 << 40, None)];
    assert_same(&without, &run(&spec), "a fault behind the end");
}
