//! Tests of SLaC: the stages of a HyperX, the paths of packets while stages go on and off, and dark links, which carry nothing.

use crate::common::*;
use weft_engine::explain;
use weft_engine::outcome::{Ending, Outcome};
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::spec::Execution;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::{Spec, check, imply};

/// The policy SLaC with its default parameters.
const STAGES: &str = r#"{"slac": {}}"#;
/// A HyperX in which the 24 terminals of a row share the 4 links of each of its routers.
const OVERSUBSCRIBED: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 6}}"#;
const WIDE: &str = r#"{"hyperx": {"widths": [5, 3], "terminals_per_router": 2}}"#;
const HIGH: &str = r#"{"hyperx": {"widths": [3, 6], "terminals_per_router": 2}}"#;
const VIAS: [&str; 4] = ["by_destination", "lowest", "newest", "random"];

fn via(name: &str) -> String {
    format!(r#"{{"slac": {{"via": "{name}"}}}}"#)
}

/// Number of columns and of rows of the routers.
fn widths(spec: &Spec) -> (u32, u32) {
    let widths = spec.graph.structure().widths().expect("a grid");
    (widths[0], widths[1])
}

/// Index of the stage to which the link between two routers belongs. The index is the lower of the two rows; the first stage has index 0.
fn stage(spec: &Spec, a: u32, b: u32) -> usize {
    let columns = widths(spec).0;
    (a / columns).min(b / columns) as usize
}

// ---- the state of least power ---------------------------------------------------------------------------------------

#[test]
fn the_least_power_state_of_the_butterfly_has_84_of_448_links() {
    let mut spec = butterfly(SLAC);
    policy(&mut spec, STAGES);
    spec.set_load(0.0);
    phases(&mut spec, 0, 1000);
    let out = run(&spec);
    let mut on = vec![0; 8];
    for c in out.channels.iter().filter(|c| c.class > 0) {
        let stage = stage(&spec, c.from.unwrap(), c.to.unwrap());
        let state = if stage == 0 { LinkState::On } else { LinkState::Off };
        assert_eq!((c.cycles[state], c.transitions), (1000, 0), "{c:?}");
        on[stage] += 1;
    }
    // a row has 8 * 7 / 2 = 28 links inside, and 8 links to each higher row; a link consists of two channels
    let expected: Vec<u32> = (1..=8).map(|s| 2 * (28 + 8 * (8 - s))).collect();
    assert_eq!(on, expected);
    assert_eq!(expected, [84, 76, 68, 60, 52, 44, 36, 28].map(|links| 2 * links));
}

#[test]
fn the_mean_over_the_pairs_of_the_butterfly_at_least_power_is_32_63() {
    // Over the 64 x 64 pairs of routers, paths have 3,472 more hops than without the policy. The additional hops are 1 for 8 columns of 7 *
    // 6 pairs of dark routers, 2 for 7 rows of 8 * 7 pairs, and 1 for 8 * 7 pairs of columns and 7 * 6 pairs of dark rows. If the source
    // also counts as a destination, the mean rises by 0.848.
    let more = f64::from(8 * 7 * 6 + 2 * 7 * 8 * 7 + 8 * 7 * 7 * 6) / 4096.0;
    assert_eq!(format!("{more:.3}"), "0.848");
    let mut with_self = butterfly(SLAC);
    policy(&mut with_self, STAGES);
    pattern(&mut with_self, UNIFORM_SELF);
    assert!((imply(&with_self).unwrap().mean_hops.unwrap() - 2.0 * 7.0 / 8.0 - more).abs() < 1e-9);
    for name in VIAS {
        let mut spec = butterfly(&via(name));
        policy(&mut spec, STAGES);
        let implied = imply(&spec).unwrap();
        let hops = (1.75 + more) * 512.0 / 511.0;
        assert!((implied.mean_hops.unwrap() - hops).abs() < 1e-9, "{name}");
        // h + 1 routers of 1 cycle, h links of 10 cycles, two terminal links of 1 cycle, and 1 cycle for ejection
        assert!((implied.zero_load_latency.unwrap() - (11.0 * hops + 4.0)).abs() < 1e-9, "{name}");
        assert_eq!(format!("{:.2}", implied.zero_load_latency.unwrap()), "32.63", "{name}");
    }
}

/// Number of hops between two routers if only the first row of routers is on.
fn hops_at_least_power(spec: &Spec, from: u32, to: u32) -> u64 {
    let columns = widths(spec).0;
    let (same_column, same_row) = (from % columns == to % columns, from / columns == to / columns);
    let direct = u64::from(!same_column) + u64::from(!same_row);
    match from >= columns && to >= columns && from != to {
        true if same_row => 3,
        true => direct + 1,
        false => direct,
    }
}

#[test]
fn every_pair_of_routers_has_its_latency_to_the_cycle_at_least_power() {
    let mut base = spec(WIDE, SLAC);
    policy(&mut base, STAGES);
    packets(&mut base, 5, VirtualCutThrough, 32);
    let routers = base.graph.routers();
    for (from, to) in (0..routers).flat_map(|from| (0..routers).map(move |to| (from, to))) {
        let mut spec = base.clone();
        // the pattern uses terminal 2 r, which is at router r
        pattern(&mut spec, &format!(r#"{{"hot_spot": {{"targets": [{}]}}}}"#, 2 * to));
        alone(&mut spec, 2 * from + 1, 100);
        let out = run(&spec);
        assert_drained(&out);
        let hops = hops_at_least_power(&spec, from, to);
        assert_eq!(out.sums.hops, hops * out.sums.packets, "{from} to {to}");
        assert_eq!(out.sums.latency, (11 * hops + 4 + 4) * out.sums.packets, "{from} to {to}");
        let explained = explain(&spec, 2 * from + 1, 2 * to).unwrap();
        assert!(explained.paths.iter().all(|path| path.hops.len() as u64 == hops), "{from} to {to}");
        assert!(out.channels.iter().all(|c| c.transitions == 0));
    }
}

// ---- all stages -----------------------------------------------------------------------------------------------------

#[test]
fn with_all_stages_on_the_bound_of_tornado_and_bit_reverse_is_an_eighth() {
    // The 8 terminals of a router share the link along its row. For tornado traffic this follows from the definition. Bit reverse of 9 bits
    // sends from terminal t (bits 0 to 2) of router (x, y) (bits 3 to 5 and 6 to 8) to column reverse(x) and row reverse(t). The path of
    // bit-reverse traffic also uses the link along the row.
    for name in [TORNADO, r#"{"bit_reverse": {}}"#] {
        for (routing, policy_json) in [(SLAC, STAGES), (SLAC, ALWAYS_ON), (DOR, ALWAYS_ON)] {
            let mut spec = butterfly(routing);
            policy(&mut spec, policy_json);
            pattern(&mut spec, name);
            let bound = imply(&spec).unwrap().channel_load_bound.unwrap();
            assert!((bound - 0.125).abs() < 1e-12, "{name} {routing} {policy_json}: {bound}");
        }
    }
}

#[test]
fn under_always_on_it_is_dimension_order_to_the_last_bit() {
    for (topology, load) in [(WIDE, 0.3), (HIGH, 1.0), (OVERSUBSCRIBED, 0.6)] {
        for name in VIAS {
            let (mut slac, mut order) = (spec(topology, &via(name)), spec(topology, DOR));
            for spec in [&mut slac, &mut order] {
                packets(spec, 4, VirtualCutThrough, 16);
                spec.set_load(load);
                phases(spec, 200, 800);
            }
            assert_same(&run(&slac), &run(&order), topology);
            let terminals = slac.graph.terminals();
            for (from, to) in (0..terminals).map(|from| (from, (7 * from + 3) % terminals)) {
                assert_eq!(explain(&slac, from, to).unwrap().paths, explain(&order, from, to).unwrap().paths);
            }
        }
    }
}

// ---- stages over time -----------------------------------------------------------------------------------------------

/// The states of every stage over time. Checks that all channels of a stage are in the same state.
fn history(spec: &Spec, out: &Outcome) -> Vec<Vec<Span>> {
    let states = link_states(out);
    assert!(states.complete);
    let mut stages: Vec<Option<Vec<Span>>> = vec![None; widths(spec).1 as usize];
    for (channel, count) in (0..).zip(&out.channels).filter(|(_, count)| count.class > 0) {
        let own = states.spans.iter().filter(|span| span.channel == channel);
        let own: Vec<Span> = own.map(|span| Span { channel: 0, ..*span }).collect();
        let stage = &mut stages[stage(spec, count.from.unwrap(), count.to.unwrap())];
        assert_eq!(stage.get_or_insert_with(|| own.clone()), &own, "channel {channel}");
    }
    stages.into_iter().map(|spans| spans.expect("a stage has links")).collect()
}

/// The policy's times (averaging, wake per link) [cycles].
fn times(spec: &Spec) -> (u64, u64) {
    let PolicyConfig::Slac(policy) = &spec.policy else { panic!("another policy") };
    let cycles = |time: &weft_units::Time| time.cycles(spec.cycle_fs, "").unwrap();
    (cycles(&policy.averaging), cycles(&policy.wake_per_link))
}

/// Checks the history of the stages: stage 1 is always on. The other stages change one at a time, at the ends of averaging windows. The
/// stage that came on last goes off first. Returns how often a stage came on.
fn check_history(spec: &Spec, out: &Outcome) -> usize {
    use LinkState::{Draining, Off, On, Waking};
    let ((columns, rows), (averaging, wake)) = (widths(spec), times(spec));
    let stages = history(spec, out);
    assert!(stages[0].iter().all(|span| span.state == On));
    let mut changes: Vec<(u64, usize, LinkState, u64)> = Vec::new();
    for (stage, spans) in stages.iter().enumerate().skip(1) {
        assert_eq!((spans[0].from, spans[0].state, spans[spans.len() - 1].to), (0, Off, out.cycles));
        for pair in spans.windows(2) {
            let legal = [(Off, Waking), (Waking, On), (On, Draining), (Draining, Off)];
            assert!(legal.contains(&(pair[0].state, pair[1].state)) && pair[0].to == pair[1].from, "{pair:?}");
        }
        let links = u64::from(columns * (columns - 1) / 2 + columns * (rows - 1 - stage as u32));
        for span in spans.iter().filter(|span| [Waking, Draining].contains(&span.state)) {
            assert!(span.from.is_multiple_of(averaging), "{span:?}");
            if span.to < out.cycles {
                assert!(span.state == Draining || span.to - span.from == wake * links, "stage {stage}: {span:?}");
                assert!(span.state == Waking || span.to.is_multiple_of(averaging), "stage {stage}: {span:?}");
            }
            changes.push((span.from, stage, span.state, span.to));
        }
    }
    changes.sort_unstable();
    let mut top = 0;
    let mut free_from = 0;
    for &(from, stage, state, to) in &changes {
        assert!(from >= free_from, "stage {stage} changes at {from}, but not before {free_from}");
        free_from = to + averaging;
        let (expected, after) = if state == Waking { (top + 1, top + 1) } else { (top, top - 1) };
        assert_eq!(stage, expected, "{state:?} at {from}");
        top = after;
    }
    changes.iter().filter(|change| change.2 == Waking).count()
}

/// Checks that a dark link carries nothing, and that all its cycles are in its account.
fn check_account(out: &Outcome) {
    for c in &out.channels {
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{c:?}");
        let dark = [LinkState::Shadow, LinkState::Off, LinkState::Waking].map(|state| c.flits[state]);
        assert_eq!(dark, [0; 3], "{c:?}");
    }
}

#[test]
fn the_stages_of_the_butterfly_warm_one_after_the_other_100_cycles_per_link() {
    let mut spec = butterfly(SLAC);
    policy(&mut spec, r#"{"slac": {"wake_per_link": "4ns"}}"#);
    record_link_states(&mut spec, 10_000);
    spec.set_load(1.0);
    phases(&mut spec, 0, 3000);
    let out = run(&spec);
    check_account(&out);
    check_history(&spec, &out);
    // each further stage has 8 links fewer, each of which wakes for 4 cycles; the second stage has 76 links
    let stages = history(&spec, &out);
    let warming = |spans: &Vec<Span>| spans.iter().find(|s| s.state == LinkState::Waking).map(|s| s.to - s.from);
    let times: Vec<u64> = stages[1..].iter().map_while(warming).collect();
    assert!(times.len() >= 4, "{times:?}");
    assert_eq!(times[..4], [76, 68, 60, 52].map(|links| 4 * links));
    // the default parameters
    let defaults: PolicyConfig = serde_json::from_str(STAGES).unwrap();
    let written: PolicyConfig = serde_json::from_str(
        r#"{"slac":
            {"low": 0.25, "high": 0.75, "wake_per_link": "100cycles", "averaging": "100cycles", "release": "never"}}"#,
    )
    .unwrap();
    assert_eq!(defaults, written);
    // one window until a router requests the stage, the wake time of 76 links, and one more window
    let settles = defaults.settling_period(&spec.graph, &spec.modes, spec.cycle_fs).unwrap();
    assert_eq!(settles, Some(100 + 76 * 100 + 100));
}

#[test]
fn nothing_is_lost_while_the_load_goes_up_and_down() {
    let mut woken = 0;
    for (k, (topology, name)) in [OVERSUBSCRIBED, WIDE, HIGH, OVERSUBSCRIBED].into_iter().zip(VIAS).enumerate() {
        for (j, (flits, flow)) in
            [(1, VirtualCutThrough), (5, VirtualCutThrough), (9, Wormhole)].into_iter().enumerate()
        {
            let seed = 3 * k as u64 + j as u64;
            let mut spec = spec(topology, &via(name));
            packets(&mut spec, flits, flow, 8);
            policy(&mut spec, QUICK_STAGES);
            if !seed.is_multiple_of(2) {
                // times such that waking does not end at the end of a window
                policy(
                    &mut spec,
                    r#"{"slac":
                        {"low": 0.1, "high": 0.2, "wake_per_link": "3ns", "averaging": "17ns", "release": "below_low"}}"#,
                );
            }
            if j == 1 {
                spec.traffic.jobs[0].workload = request_reply(2, None);
            }
            record_link_states(&mut spec, 1_000_000);
            load_steps(&mut spec, seed, 12_000);
            let out = run(&spec);
            let what = format!("{topology} {name} {flits} flits");
            assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
            assert_eq!(out.accepted_flits, out.offered_flits, "{what}");
            check_account(&out);
            woken += check_history(&spec, &out);
            // the load has ended, so all stages except the first are off
            let last = history(&spec, &out).into_iter().map(|spans| spans[spans.len() - 1].state);
            assert!(last.skip(1).all(|state| state == LinkState::Off), "{what}");
        }
    }
    assert!(woken > 60, "{woken}");
}

#[test]
fn stages_that_are_never_released_outlast_their_load() {
    let mut spec = spec(OVERSUBSCRIBED, SLAC);
    packets(&mut spec, 4, VirtualCutThrough, 8);
    policy(&mut spec, r#"{"slac": {"low": 0.05, "high": 0.1, "wake_per_link": "2ns", "averaging": "30ns"}}"#);
    record_link_states(&mut spec, 100_000);
    load_steps(&mut spec, 3, 12_000);
    let out = run(&spec);
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0));
    check_account(&out);
    assert!(check_history(&spec, &out) > 0);
    // the load has ended by then
    let stages = history(&spec, &out);
    for spans in &stages[1..] {
        let states: Vec<LinkState> = spans.iter().map(|span| span.state).collect();
        assert!([LinkState::Off, LinkState::Waking, LinkState::On].starts_with(&states), "{states:?}");
    }
    assert!(stages[1..].iter().any(|spans| spans[spans.len() - 1].state == LinkState::On));
}

#[test]
fn at_a_carried_load_stages_are_kept_or_go_on_and_off_for_ever_as_the_reading_says() {
    // The first stage alone carries 1 / 24 of a flit per terminal across a row of 4 routers with 6 terminals each. All four stages together
    // carry much more, with nearly empty buffers.
    let transitions = |release: &str| {
        let mut spec = spec(OVERSUBSCRIBED, SLAC);
        let stages = format!(r#"{{"slac": {{"wake_per_link": "2ns", "averaging": "50ns", "release": "{release}"}}}}"#);
        policy(&mut spec, &stages);
        spec.set_load(0.35);
        phases(&mut spec, 20_000, 20_000);
        let out = run(&spec);
        (out.channels.iter().map(|c| c.transitions).sum::<u64>(), out.ending)
    };
    assert_eq!(transitions("never"), (0, Ending::Drained));
    let (switched, _) = transitions("below_low");
    assert!(switched > 100, "{switched}");
}

#[test]
fn blocks_and_threads_change_nothing_while_stages_change() {
    for (case, (name, load)) in [("by_destination", 1.0), ("random", 1.0), ("newest", 0.0)].into_iter().enumerate() {
        let mut spec = spec(OVERSUBSCRIBED, &via(name));
        packets(&mut spec, 4, VirtualCutThrough, 8);
        policy(&mut spec, QUICK_STAGES);
        record_link_states(&mut spec, 100_000);
        if load > 0.0 {
            phases(&mut spec, 300, 2000);
            spec.set_load(load);
        } else {
            load_steps(&mut spec, 5, 500);
        }
        let alone = run(&spec);
        assert!(check_history(&spec, &alone) > 0);
        for &(threads, blocks) in in_turn(case, &[(1, 2), (2, 4), (1, 16), (2, 2)]) {
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_same(&alone, &other, &format!("{name}, {threads} threads, {blocks} blocks"));
            assert_eq!(link_states(&alone), link_states(&other));
        }
    }
}

#[test]
fn tiny_buffers_never_stall_while_stages_change() {
    for name in VIAS {
        for (flits, flow) in [(1, VirtualCutThrough), (6, VirtualCutThrough), (6, Wormhole)] {
            let mut spec = spec(HIGH, &via(name));
            packets(&mut spec, flits, flow, 1);
            policy(
                &mut spec,
                r#"{"slac":
                    {"low": 0.3, "high": 0.4, "wake_per_link": "1ns", "averaging": "40ns", "release": "below_low"}}"#,
            );
            spec.links.iter_mut().for_each(|link| (link.vcs, link.latency, link.credit_latency) = (1, 1, 1));
            spec.set_load(1.0);
            phases(&mut spec, 1000, 9000);
            spec.phases.stall_limit = 1000;
            let out = run(&spec);
            assert_eq!(out.ending, Ending::Saturated, "{name} {flits} {flow:?}");
            check_account(&out);
        }
    }
}

// ---- refusals -------------------------------------------------------------------------------------------------------

#[track_caller]
fn refused(spec: &Spec, path: &str, what: &str, help: &str) {
    let refusal = check(spec).expect_err(what);
    assert_eq!(refusal.path, path, "{refusal}");
    assert!(refusal.what.contains(what) && refusal.help.contains(help), "{refusal}");
}

#[test]
fn what_does_not_go_together_is_refused_with_the_choices() {
    let with = |topology: &str, routing: &str, policy_json: &str| {
        let mut spec = spec(topology, routing);
        policy(&mut spec, policy_json);
        spec
    };
    let cube = r#"{"hyperx": {"widths": [3, 3, 3], "terminals_per_router": 1}}"#;
    refused(&with(cube, UGAL_P, STAGES), "power.policy.slac", "a grid of 3 dimensions", "another policy");
    refused(
        &with(TORUS, DOR, STAGES),
        "power.policy.slac",
        "rows and columns of routers that are all neighbours",
        "hyperx",
    );
    refused(&with(cube, SLAC, ALWAYS_ON), "routing.slac", "grids of two dimensions", "choose");
    let blind = with(HYPERX, UGAL_P, STAGES);
    refused(&blind, "power.policy.slac", "ugal_p does not read link states", "routing: slac");
    refused(&with(HYPERX, SLAC, IDLE_TIMEOUT), "routing.slac", "idle_timeout switches", "slac or always_on");
    let mut partly = with(HYPERX, SLAC, STAGES);
    partly.managed[2] = false;
    refused(&partly, "power.manages", "leaves out", "leave manages out");
}

#[test]
fn thresholds_and_times_without_sense_are_refused() {
    for (json, path, what) in [
        (r#"{"low": 0.0}"#, "low", "0 is not a share"),
        (r#"{"high": 1.5}"#, "high", "1.5 is not a share"),
        (r#"{"high": -0.5}"#, "high", "-0.5 is not a share"),
        (r#"{"low": 0.5, "high": 0.5}"#, "high", "0.5 is not above low, 0.5"),
        (r#"{"low": 0.9}"#, "high", "0.75 is not above low, 0.9"),
        (r#"{"wake_per_link": "0cycles"}"#, "wake_per_link", "0 cycles"),
        (r#"{"averaging": "0cycles"}"#, "averaging", "0 cycles"),
    ] {
        let mut spec = spec(HYPERX, SLAC);
        policy(&mut spec, &format!(r#"{{"slac": {json}}}"#));
        refused(&spec, &format!("power.policy.slac.{path}"), what, "write");
    }
    let mut highest = spec(HYPERX, SLAC);
    policy(&mut highest, r#"{"slac": {"high": 1.0}}"#);
    check(&highest).unwrap();
}
