//! Converts results to lists of numbers, and compares results.

use weft_engine::Outcome;
use weft_engine::power::{LinkState, PerMode};

/// All numbers of a result except those of its channels, as integers.
pub fn packet_numbers(out: &Outcome) -> Vec<u64> {
    let mut n = vec![out.cycles, out.window, out.terminals.into(), out.offered_flits, out.injected_flits];
    n.extend([out.accepted_flits, out.backlog_packets, out.missing_packets, out.flit_hops]);
    for s in std::iter::once(&out.sums).chain(&out.batches) {
        n.extend([s.packets, s.flits, s.latency, s.network_latency, s.hops, s.minimal]);
    }
    for histogram in [&out.latency, &out.network_latency] {
        n.extend(histogram.iter_recorded().flat_map(|bin| [bin.value_iterated_to(), bin.count_at_value()]));
    }
    n.extend(&out.hop_counts);
    n
}

/// All numbers of a result, as integers.
pub fn numbers(out: &Outcome) -> Vec<u64> {
    let mut n = packet_numbers(out);
    for c in &out.channels {
        let end = |at: Option<u32>, port: u32| [at.map_or(u64::MAX, u64::from), u64::from(port)];
        n.extend(end(c.from, c.from_port).into_iter().chain(end(c.to, c.to_port)));
        n.extend([u64::from(c.class), c.transitions]);
        n.extend(of_states(&c.cycles).chain(of_states(&c.flits)));
    }
    n.extend(&out.asleep);
    n
}

/// Values by link state: of all roles (states that every run has), and of named modes that some channel used. A digest of these values
/// therefore does not change with the number of modes.
fn of_states(values: &PerMode) -> impl Iterator<Item = u64> {
    let is_role = |state: LinkState| LinkState::ROLES.contains(&state);
    values.by_state().filter(move |&(state, n)| n > 0 || is_role(state)).map(|(_, n)| n)
}

/// Checks that two results have the same numbers, bit for bit.
#[track_caller]
pub fn assert_same(a: &Outcome, b: &Outcome, what: &str) {
    assert_eq!(a.ending, b.ending, "{what}");
    assert!(a.sums == b.sums, "{what}: the sums of the two runs differ: {:?} and {:?}", a.sums, b.sums);
    assert!(numbers(a) == numbers(b), "{what}: the sums of the two runs are the same, but other numbers differ");
    assert_eq!(a.congestion, b.congestion, "{what}");
    assert_eq!(a.set_aside, b.set_aside, "{what}");
}
