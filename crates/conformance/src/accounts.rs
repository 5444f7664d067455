//! Checks for results of every run: no packet is lost, and the accounts of the channels are complete.

use weft_engine::power::LinkState;
use weft_engine::{Outcome, Spec};

/// Checks the result of a run, whether or not the run has drained.
pub fn check_account(spec: &Spec, out: &Outcome) {
    let what = format!("{:?} {:?}", spec.routing, spec.policy);
    let states = spec.states().expect("modes of the run");
    for c in &out.channels {
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{what}: {c:?}");
        assert_eq!(c.cycles.len(), spec.modes.count(), "{what}: {c:?}");
        for state in spec.modes.all().filter(|s| !states.contains(s)) {
            let (cycles, name) = (c.cycles[state], spec.modes.name(state));
            let declared = "a state that `states` of the policy does not declare";
            assert_eq!(cycles, 0, "{what}: a channel is {name} for {cycles} cycles, {declared}: {c:?}");
        }
        let dark: u64 = spec.modes.all().filter(|&s| !spec.modes.carries(s)).map(|state| c.flits[state]).sum();
        assert_eq!(dark, 0, "{what}: a dark channel carries flits: {c:?}");
        if !spec.managed[c.class as usize] || states.len() == 1 {
            assert_eq!((c.cycles[LinkState::On], c.transitions), (out.window, 0), "{what}: {c:?}");
        }
    }
    let injected: u64 = out.channels.iter().filter(|c| c.from.is_none()).flat_map(|c| c.flits.iter()).sum();
    assert_eq!(injected, out.injected_flits, "{what}");
    // no terminal can receive more than one flit per cycle
    assert!(out.accepted_flits <= out.window * u64::from(out.terminals), "{what}");
    if spec.phases.warmup == 0 {
        assert!(out.accepted_flits <= out.injected_flits && out.injected_flits <= out.offered_flits, "{what}");
    }
    assert_eq!(out.batches.iter().map(|b| b.packets).sum::<u64>(), out.sums.packets, "{what}");
    assert_eq!(out.sums.flits + out.missing_packets * u64::from(spec.traffic.longest()), out.offered_flits, "{what}");
}

/// Checks that all flits of every offered packet have arrived, and that each hop is counted once. `out`: the result of a run that ended
/// when the network was empty.
pub fn check_all_arrived(spec: &Spec, out: &Outcome) {
    let what = format!("{:?} {:?} {:?}", spec.routing, spec.router, spec.traffic.longest());
    let flits = u64::from(spec.traffic.longest());
    assert_eq!(out.missing_packets, 0, "{what}");
    assert!(out.sums.packets > 0, "{what}");
    assert_eq!((out.sums.flits, out.sums.packets * flits), (out.offered_flits, out.offered_flits), "{what}");
    assert_eq!((out.injected_flits, out.accepted_flits), (out.offered_flits, out.offered_flits), "{what}");
    // a packet with h hops (links) crosses h + 1 routers
    let crossed: u64 = (1..).zip(&out.hop_counts).map(|(routers, packets)| routers * packets * flits).sum();
    assert_eq!(out.flit_hops, crossed, "{what}");
    assert_eq!(out.latency.len(), out.sums.packets, "{what}");
    let hops: u64 = (0..).zip(&out.hop_counts).map(|(hops, packets)| hops * packets).sum();
    assert_eq!(out.sums.hops, hops, "{what}");
}
