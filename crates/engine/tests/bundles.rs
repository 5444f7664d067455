//! Tests of bundles: the cycles in which all channels of a set were off, for any division into blocks.

use crate::common::*;
use weft_engine::power::LinkState;
use weft_engine::spec::{ChannelEnds, Execution, channel_ends};
use weft_engine::{Outcome, Spec};

/// For each router, the channels that leave it and the channels that lead to it.
fn routers(spec: &Spec) -> Vec<Vec<u32>> {
    let ends = channel_ends(&spec.graph);
    let touches = |channel: &ChannelEnds, router| channel.from == Some(router) || channel.to == Some(router);
    let of = |router| (0..).zip(&ends).filter(|(_, ends)| touches(ends, router)).map(|(row, _)| row).collect();
    (0..spec.graph.routers()).map(of).collect()
}

#[test]
fn the_ends_of_channels_are_those_of_the_results() {
    for topology in [DRAGONFLY_WIDE, TREE, SINGLE] {
        let routing = if topology == SINGLE { MINIMAL } else { SHORTEST };
        let mut spec = spec(topology, routing);
        phases(&mut spec, 0, 10);
        let ends: Vec<_> = run_as(&spec, Execution::new(1, 3))
            .channels
            .iter()
            .map(|count| ChannelEnds { from: count.from, to: count.to, class: count.class })
            .collect();
        assert_eq!(channel_ends(&spec.graph), ends, "{topology}");
    }
}

#[test]
fn the_spines_of_an_idle_tree_sleep_from_the_cycle_in_which_their_links_are_off() {
    let mut spec = spec(TREE, UP_DOWN);
    policy(&mut spec, IDLE_TIMEOUT);
    spec.set_load(0.0);
    phases(&mut spec, 20, 1000);
    spec.bundles = routers(&spec);
    // one bundle of all channels, and one empty bundle
    let all = 0..channel_ends(&spec.graph).len() as u32;
    spec.bundles.extend([all.collect(), Vec::new()]);
    for (threads, blocks) in [(1, 1), (1, 4), (2, 27)] {
        let out = run_as(&spec, Execution::new(threads, blocks));
        // a link goes off when it has been idle for 40 cycles and in transition for 25, so it is off from cycle 65 to the end of the
        // window, 1020; the 9 leaves have terminals, whose links stay on
        let expected = [vec![0; 9], vec![1020 - 65; 18], vec![0, 0]].concat();
        assert_eq!(out.asleep, expected, "{blocks} blocks");
    }
}

/// For each bundle, the cycles of the window in which all its channels were off, computed from the recorded spans cycle by cycle.
fn by_spans(out: &Outcome, bundles: &[Vec<u32>]) -> Vec<u64> {
    let (start, end) = (out.warmup as usize, (out.warmup + out.window) as usize);
    let mut off = vec![vec![false; end - start]; out.channels.len()];
    for span in link_states(out).spans.iter().filter(|span| span.state == LinkState::Off) {
        let inside = (span.from as usize).clamp(start, end)..(span.to as usize).clamp(start, end);
        off[span.channel as usize][inside.start - start..inside.end - start].fill(true);
    }
    let asleep = |rows: &Vec<u32>| (0..end - start).filter(|&t| rows.iter().all(|&row| off[row as usize][t])).count();
    bundles.iter().map(|rows| asleep(rows) as u64).collect()
}

#[test]
fn a_bundle_sleeps_as_long_as_the_spans_of_its_links_say_in_any_number_of_blocks() {
    let mut spec = spec(TREE, UP_DOWN);
    policy(&mut spec, IDLE_TIMEOUT);
    spec.set_load(0.004);
    phases(&mut spec, 300, 3000);
    record_link_states(&mut spec, 100_000);
    let plain = run(&spec);
    spec.bundles = routers(&spec);
    spec.bundles.extend((0..channel_ends(&spec.graph).len() as u32).map(|row| vec![row]));
    // bundles of unrelated channels, which overlap
    spec.bundles.extend((0..20).map(|k| vec![30 + k, 60 + 2 * k, 100 + k]));
    let out = run(&spec);
    assert_same(&plain, &Outcome { asleep: Vec::new(), ..out.clone() }, "bundles change nothing");
    assert_eq!(out.asleep, by_spans(&out, &spec.bundles));
    let spines = &out.asleep[9..27];
    assert!(spines.iter().any(|&cycles| 0 < cycles && cycles < 3000), "some spine wakes and sleeps: {spines:?}");
    for (count, &asleep) in out.channels.iter().zip(&out.asleep[27..]) {
        assert_eq!(asleep, count.cycles[LinkState::Off]);
    }
    for (threads, blocks) in [(1, 2), (2, 5), (2, 27)] {
        let other = run_as(&spec, Execution::new(threads, blocks));
        assert_same(&out, &other, &format!("{blocks} blocks"));
    }
}

#[test]
fn the_sleep_of_phases_adds_up_to_that_of_the_window() {
    let mut spec = spec(TREE, UP_DOWN);
    policy(&mut spec, IDLE_TIMEOUT);
    spec.set_load(0.004);
    let mut later = spec.traffic.jobs[0].phases[0].clone();
    later.from = 1000;
    spec.traffic.jobs[0].phases.push(later);
    phases(&mut spec, 300, 2000);
    spec.bundles = routers(&spec);
    let out = run(&spec);
    let sums: Vec<u64> = (0..27).map(|b| out.phases.iter().map(|phase| phase.asleep[b]).sum()).collect();
    assert_eq!((out.phases.len(), sums), (2, out.asleep.clone()));
    assert!(out.phases.iter().all(|phase| phase.asleep.iter().any(|&cycles| cycles > 0)));
}
