//! Tests of conservation: packets, flits, credits, and the cycles and flits of the energy account are neither lost nor created from
//! nothing.

use crate::common::*;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::spec::Execution;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::{Outcome, Simulation, Spec};

// ---- all injected packets are delivered -----------------------------------------------------------------------------

/// Stops the sources in cycle `stop`, waits until the network is empty, and compares the measured values with the correct values.
pub fn check_drains(spec: &mut Spec, stop: u64) {
    phases(spec, 0, 1_000_000);
    let sim = Simulation::new(spec, ONE).expect("a network");
    check_all_arrived(spec, &sim.run_to_rest(spec, stop, 300_000).expect("an empty network"));
}

#[test]
fn an_overloaded_butterfly_drains() {
    for (routing, pattern_json) in [(VALIANT, TORNADO), (UGAL_P, TORNADO), (DOR, UNIFORM_SELF)] {
        let mut spec = butterfly(routing);
        pattern(&mut spec, pattern_json);
        spec.set_load(1.0);
        check_drains(&mut spec, 800);
    }
}

/// In this test, heads of long packets are in other blocks while terminals still inject the bodies. The drain must end in the same cycle
/// for any number of blocks.
#[test]
fn a_drain_ends_in_the_same_cycle_in_any_number_of_blocks() {
    let mut spec = spec(HYPERX, DOR);
    packets(&mut spec, 40, Wormhole, 1);
    spec.set_load(0.05);
    phases(&mut spec, 250, 600);
    for seed in 1..4 {
        spec.seed = seed;
        check_blocks(&spec, &format!("seed {seed}"));
        assert_same(&run(&spec), &run_as(&spec, Execution::new(1, 12)), &format!("seed {seed}, 12 blocks"));
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
            check_drains(&mut spec, 300);
        }
    }
}

// ---- the account of the channels ------------------------------------------------------------------------------------

/// Checks that channels that are about to go off carry nothing. Exceptions are policies with stages and policies with plans, under which
/// such channels still drain.
fn check_only_those_that_are_on_carry(spec: &Spec, out: &Outcome) {
    let drain = matches!(spec.policy, PolicyConfig::Slac(_) | PolicyConfig::FewestLinks(_) | PolicyConfig::Trunk(_));
    for c in &out.channels {
        let draining = if drain { 0 } else { c.flits[LinkState::Draining] };
        assert_eq!(c.flits[LinkState::Shadow] + draining, 0, "{:?} {:?}: {c:?}", spec.routing, spec.policy);
    }
}

#[test]
fn the_account_of_every_channel_closes() {
    for (turn, pair) in half_of_pairs(0) {
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

/// Runs a spec in which only one terminal sends. The window contains all packets of this terminal from creation to delivery. Checks that
/// each flit uses one channel between routers for each of its hops, one channel from a terminal, and one to a terminal.
fn check_flits_per_hop(mut spec: Spec, sender: u32) {
    packets(&mut spec, 5, VirtualCutThrough, 32);
    alone(&mut spec, sender, 300);
    let out = run(&spec);
    assert_drained(&out);
    let flits = |kind: fn(bool, bool) -> bool| -> u64 {
        let channels = out.channels.iter().filter(|c| kind(c.from.is_some(), c.to.is_some()));
        channels.map(|c| c.flits[LinkState::On]).sum()
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
    for (turn, pair) in half_of_pairs(1) {
        for &switched in in_turn(turn, &[false, true]) {
            let mut spec = pair.spec();
            fitting_policy(&mut spec, switched);
            mark_checked(&mut spec);
            check_flits_per_hop(spec, 3);
        }
    }
}

#[test]
fn an_idle_network_goes_to_sleep_and_nothing_else() {
    // links are idle for 40 cycles, in transition for 25, then off for the rest of the window; links of terminals stay on unless the policy
    // manages them
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
