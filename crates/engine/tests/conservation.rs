//! Nothing is lost and nothing is made up: packets, flits, credits, and the cycles and flits of the energy account.

use crate::integration::common::*;
use weft_engine::age::Priority;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::spec::FlowControl::{self, VirtualCutThrough, Wormhole};
use weft_engine::{ForPorts, Outcome, Simulation, Spec, Widths};

const PRIORITIES: [Priority; 4] = [Priority::RoundRobin, Priority::Age, Priority::NetworkAge, Priority::Transit];
const ROUTERS: [(u64, u8, u8); 4] = [(1, 0, 2), (1, 1, 1), (0, 0, 1), (2, 1, 2)];

// ---- what is injected is delivered ----------------------------------------------------------------------------------

/// Stops the sources at `stop`, lets the network drain, and compares what was measured (all packets: no warm-up, and a
/// window beyond the end) with what must have been.
pub fn check_drains<const W: usize, const V: usize>(spec: &mut Spec, stop: u64)
where
    Widths: ForPorts<V>,
{
    phases(spec, 0, 1_000_000);
    let what = format!("{:?} {:?} {:?}", spec.routing, spec.router, spec.traffic.longest());
    let mut sim = Simulation::<W, V>::new(spec, ONE).expect("a network");
    sim.advance(stop);
    sim.stop_sources();
    drain(&mut sim, 300_000, &what);
    phases(spec, 0, sim.now());
    let out = sim.run(spec, &());
    let flits = u64::from(spec.traffic.longest());
    assert_eq!(out.missing_packets, 0, "{what}");
    assert!(out.sums.packets > 0, "{what}");
    assert_eq!((out.sums.flits, out.sums.packets * flits), (out.offered_flits, out.offered_flits), "{what}");
    assert_eq!((out.injected_flits, out.accepted_flits), (out.offered_flits, out.offered_flits), "{what}");
    // a packet of h hops crosses h + 1 routers
    let crossed: u64 = (1..).zip(&out.hop_counts).map(|(routers, packets)| routers * packets * flits).sum();
    assert_eq!(out.flit_hops, crossed, "{what}");
    assert_eq!(out.latency.len(), out.sums.packets, "{what}");
    let hops: u64 = (0..).zip(&out.hop_counts).map(|(hops, packets)| hops * packets).sum();
    assert_eq!(out.sums.hops, hops, "{what}");
}

/// Every pair, below saturation or far above, the other choices in turn.
fn check_all_drain(flits: u32, flow_control: FlowControl, buffer: u32) {
    let allocators = AllocatorConfig::examples();
    for (k, pair) in in_their_turns(&PAIRS) {
        for &(j, load) in in_turn(k + flits as usize, &[(0, 0.1), (1, 1.0)]) {
            let mut spec = pair.spec();
            packets(&mut spec, flits, flow_control, buffer);
            router(&mut spec, ROUTERS[(k + j) % ROUTERS.len()]);
            spec.router.routing_delay = (k as u64 % 3).min(spec.router.delay);
            let may_hold = spec.router.vc_realloc == 0 && flow_control == VirtualCutThrough;
            spec.router.hold_switch = may_hold && k % 3 > 0;
            spec.router.allocator = allocators[k % allocators.len()].clone();
            if spec.router.vc_realloc == 0 {
                spec.router.priority = PRIORITIES[(k / 3 + j) % PRIORITIES.len()];
            }
            fitting_policy(&mut spec, (k / 2 + j) % 2 == 1);
            spec.set_load(load);
            check_drains::<1, 8>(&mut spec, 1000);
        }
    }
}

#[test]
fn one_flit_packets_are_all_delivered() {
    check_all_drain(1, VirtualCutThrough, 2);
}

#[test]
fn packets_of_5_flits_that_cut_through_are_all_delivered() {
    check_all_drain(5, VirtualCutThrough, 6);
}

#[test]
fn packets_of_5_flits_that_worm_are_all_delivered() {
    check_all_drain(5, Wormhole, 2);
}

#[test]
fn packets_of_40_flits_that_worm_are_all_delivered() {
    check_all_drain(40, Wormhole, 8);
}

#[test]
fn an_overloaded_butterfly_drains() {
    for (routing, pattern_json) in [(VALIANT, TORNADO), (UGAL_P, TORNADO), (DOR, UNIFORM_SELF)] {
        let mut spec = butterfly(routing);
        pattern(&mut spec, pattern_json);
        spec.set_load(1.0);
        check_drains::<1, 8>(&mut spec, 2000);
    }
}

#[test]
fn routers_of_more_than_64_ports_and_8_vcs_deliver_all() {
    let wide = r#"{"hyperx": {"widths": [34], "terminals_per_router": 35}}"#;
    for (topology, routing, flits) in [(r#"{"single_router": {"terminals": 128}}"#, DOR, 1), (wide, UGAL_P, 5)] {
        for allocator in AllocatorConfig::examples() {
            let mut spec = spec(topology, routing);
            packets(&mut spec, flits, VirtualCutThrough, 8);
            spec.links.iter_mut().for_each(|link| link.vcs = 16);
            spec.router.allocator = allocator;
            spec.set_load(1.0);
            check_drains::<2, 16>(&mut spec, 300);
        }
    }
}

// ---- the account of the channels ------------------------------------------------------------------------------------

/// What holds in every run, drained or not.
pub fn check_account(spec: &Spec, out: &Outcome) {
    let what = format!("{:?} {:?}", spec.routing, spec.policy);
    let states = spec.policy.states();
    for c in &out.channels {
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{what}: {c:?}");
        for state in LinkState::ALL.into_iter().filter(|s| !states.contains(s)) {
            assert_eq!(c.cycles[state as usize], 0, "{what}: {c:?}");
        }
        let dark = [LinkState::Off, LinkState::Waking].map(|state| c.flits[state as usize]);
        assert_eq!(dark, [0, 0], "{what}: a dark channel carries nothing: {c:?}");
        if !spec.managed[c.class as usize] || states.len() == 1 {
            assert_eq!((c.cycles[0], c.transitions), (out.window, 0), "{what}: {c:?}");
        }
    }
    let injected: u64 = out.channels.iter().filter(|c| c.from.is_none()).flat_map(|c| &c.flits).sum();
    assert_eq!(injected, out.injected_flits, "{what}");
    // no terminal takes more than a flit per cycle
    assert!(out.accepted_flits <= out.window * u64::from(out.terminals), "{what}");
    if spec.phases.warmup == 0 {
        assert!(out.accepted_flits <= out.injected_flits && out.injected_flits <= out.offered_flits, "{what}");
    }
    assert_eq!(out.batches.iter().map(|b| b.packets).sum::<u64>(), out.sums.packets, "{what}");
    assert_eq!(out.sums.flits + out.missing_packets * u64::from(spec.traffic.longest()), out.offered_flits, "{what}");
}

/// Channels on their way to off carry nothing, but by stages and by plans, where they drain.
fn check_only_those_that_are_on_carry(spec: &Spec, out: &Outcome) {
    let drain = matches!(spec.policy, PolicyConfig::Slac(_) | PolicyConfig::FewestLinks(_));
    for c in &out.channels {
        let draining = if drain { 0 } else { c.flits[LinkState::Draining as usize] };
        assert_eq!(c.flits[LinkState::Shadow as usize] + draining, 0, "{:?} {:?}: {c:?}", spec.routing, spec.policy);
    }
}

#[test]
fn the_account_of_every_channel_closes() {
    for (turn, pair) in in_their_turns(&PAIRS) {
        for &(switched, load, warmup) in in_turn(turn, &[(false, 0.2, 0), (true, 0.02, 700), (true, 1.0, 0)]) {
            let mut spec = pair.spec();
            packets(&mut spec, 5, VirtualCutThrough, 32);
            fitting_policy(&mut spec, switched);
            spec.set_load(load);
            phases(&mut spec, warmup, 1500);
            let out = run(&spec);
            check_account(&spec, &out);
            check_only_those_that_are_on_carry(&spec, &out);
        }
    }
}

/// One terminal sends, the window holds all its packets from creation to delivery: every flit is on as many channels
/// between routers as it has hops, and on one channel from and one to a terminal.
fn check_flits_per_hop(mut spec: Spec, sender: u32) {
    packets(&mut spec, 5, VirtualCutThrough, 32);
    alone(&mut spec, sender, 800);
    let out = run(&spec);
    assert_drained(&out);
    let flits = |kind: fn(bool, bool) -> bool| -> u64 {
        let channels = out.channels.iter().filter(|c| kind(c.from.is_some(), c.to.is_some()));
        channels.map(|c| c.flits[0]).sum()
    };
    assert_eq!(flits(|from, to| from && to), out.sums.hops * 5);
    assert_eq!(flits(|from, _| !from), out.sums.flits);
    assert_eq!(flits(|_, to| !to), out.sums.flits);
    assert_eq!((out.injected_flits, out.accepted_flits), (out.sums.flits, out.sums.flits));
    check_account(&spec, &out);
    check_only_those_that_are_on_carry(&spec, &out);
}

#[test]
fn channels_carry_each_flit_once_per_hop() {
    for (turn, pair) in in_their_turns(&PAIRS) {
        for &switched in in_turn(turn, &[false, true]) {
            let mut spec = pair.spec();
            fitting_policy(&mut spec, switched);
            check_flits_per_hop(spec, 3);
        }
    }
}

#[test]
fn an_idle_network_goes_to_sleep_and_nothing_else() {
    // idle 40 cycles, on the way down 25, then off for the rest of the window; terminals stay on unless they are managed
    for terminals_sleep in [false, true] {
        let mut spec = spec(HYPERX, DOR);
        policy(&mut spec, IDLE_TIMEOUT);
        spec.managed[0] = terminals_sleep;
        spec.set_load(0.0);
        phases(&mut spec, 0, 1000);
        let out = run(&spec);
        for c in &out.channels {
            let sleeps = c.class > 0 || terminals_sleep;
            let expected = if sleeps { [40, 0, 25, 1000 - 65, 0, 0, 0] } else { [1000, 0, 0, 0, 0, 0, 0] };
            assert_eq!(c.cycles, expected, "{c:?}");
            assert_eq!(c.transitions, if sleeps { 2 } else { 0 });
        }
        assert_eq!(out.flit_hops, 0);
    }
}
