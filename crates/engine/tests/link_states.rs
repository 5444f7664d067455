//! Tests the recorded states of links over time. The sums of the spans must agree with the account of the window. If the table is full, the
//! spans of all channels must end at the same cycle. The spans must be the same for any number of blocks.

use crate::common::*;
use weft_engine::Spec;
use weft_engine::power::{LinkState, PerMode};
use weft_engine::spec::Execution;

const ROUTER_SLEEP: &str = r#"{"router_sleep": {}}"#;

/// A network of 4 x 3 routers that is mostly idle, with 2 * (12 * (3 + 2) / 2) = 60 managed channels.
fn sleepy(most: usize) -> Spec {
    let mut spec = spec(HYPERX, UGAL);
    phases(&mut spec, 300, 1500);
    spec.set_load(0.05);
    policy(&mut spec, IDLE_TIMEOUT);
    record_link_states(&mut spec, most);
    spec
}

#[test]
fn spans_abut_cover_the_run_and_close_with_the_account() {
    let out = run(&sleepy(100_000));
    let Spans { spans, complete } = link_states(&out);
    assert!(complete);
    let managed: Vec<_> = (0..).zip(&out.channels).filter(|(_, c)| c.from.is_some() && c.to.is_some()).collect();
    assert_eq!(managed.len(), 60);
    let (start, end) = (out.warmup, out.warmup + out.window);
    for (channel, count) in managed {
        let own: Vec<_> = spans.iter().filter(|span| span.channel == channel).collect();
        assert_eq!((own[0].from, own[0].state, own[own.len() - 1].to), (0, LinkState::On, out.cycles));
        assert!(own.windows(2).all(|pair| pair[0].to == pair[1].from && pair[0].from < pair[0].to));
        let mut cycles = PerMode::zeros(count.cycles.len());
        for span in own {
            cycles[span.state] += span.to.min(end).saturating_sub(span.from.max(start));
        }
        assert_eq!(cycles, count.cycles, "channel {channel}");
    }
    assert!(spans.iter().all(|span| out.channels[span.channel as usize].class > 0), "terminal links are not managed");
}

#[test]
fn a_router_sleeps_while_all_channels_that_it_sends_on_are_off() {
    let mut spec = sleepy(100_000);
    spec.set_load(0.01);
    record(&mut spec, ROUTER_SLEEP);
    let out = run(&spec);
    let (start, end) = (out.warmup as usize, (out.warmup + out.window) as usize);
    let asleep = counts_in(table(&out, "router_sleep"), "asleep_cycles");
    let spans = link_states(&out).spans;
    assert_eq!(asleep.len(), 12);
    for (router, &asleep) in (0..).zip(&asleep) {
        // number of channels that are not off, by cycle of the window
        let mut lit = vec![0; end - start];
        for span in spans.iter().filter(|span| span.state != LinkState::Off) {
            if out.channels[span.channel as usize].from == Some(router) {
                let inside = (span.from as usize).clamp(start, end)..(span.to as usize).clamp(start, end);
                lit[inside.start - start..inside.end - start].iter_mut().for_each(|count| *count += 1);
            }
        }
        assert_eq!(asleep, lit.iter().filter(|&&count| count == 0).count() as u64, "router {router}");
    }
    assert!(asleep.iter().any(|&cycles| cycles > 0));
    for blocks in [3, 12] {
        let other = run_as(&spec, Execution::new(1, blocks));
        assert_eq!(table(&other, "router_sleep"), table(&out, "router_sleep"));
    }
}

/// The cycles, and the shares of the window, in which the routers of an idle network are asleep.
fn sleep_of_an_idle_network(policy_json: &str) -> (Vec<u64>, Vec<f64>) {
    let mut spec = spec(HYPERX, UGAL);
    phases(&mut spec, 300, 1500);
    spec.set_load(0.0);
    policy(&mut spec, policy_json);
    record(&mut spec, ROUTER_SLEEP);
    let out = run(&spec);
    let table = table(&out, "router_sleep");
    assert_eq!(counts_in(table, "router"), (0..12).collect::<Vec<_>>());
    // each router has links to 3 + 2 neighbours
    assert_eq!(counts_in(table, "managed_channels"), [5; 12]);
    (counts_in(table, "asleep_cycles"), floats_in(table, "asleep_share").to_vec())
}

#[test]
fn the_routers_of_an_idle_network_sleep_all_the_window_or_never() {
    // links are idle for 40 cycles and off 25 cycles later, which is long before the window
    assert_eq!(sleep_of_an_idle_network(IDLE_TIMEOUT), (vec![1500; 12], vec![1.0; 12]));
    assert_eq!(sleep_of_an_idle_network(ALWAYS_ON), (vec![0; 12], vec![0.0; 12]));
}

#[test]
fn a_router_without_managed_channels_does_not_sleep() {
    let mut spec = spec(SINGLE, DOR);
    record(&mut spec, ROUTER_SLEEP);
    let out = run(&spec);
    let table = table(&out, "router_sleep");
    assert_eq!((counts_in(table, "managed_channels"), counts_in(table, "asleep_cycles")), (vec![0], vec![0]));
}

#[test]
fn recording_and_its_bound_depend_on_nothing_else() {
    let mut off = sleepy(100);
    off.recordings.clear();
    let plain = run(&off);
    assert!(plain.recorded.is_empty());
    let all = run(&sleepy(100_000));
    let total = link_states(&all).spans.len();
    for most in [60, 61, total / 2, total - 1, total, total + 1] {
        let spec = sleepy(most);
        let alone = run(&spec);
        assert_same(&plain, &alone, "recording changes nothing");
        for (threads, blocks) in [(1, 3), (2, 12)] {
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_eq!(link_states(&alone), link_states(&other), "{blocks} blocks, {most} spans");
        }
        check_prefix(&link_states(&all), &link_states(&alone), most);
    }
}

/// Checks that the recording `cut`, whose table was full at some cycle, equals the part of `all` before this cycle.
fn check_prefix(all: &Spans, cut: &Spans, most: usize) {
    let end = cut.spans.iter().map(|span| span.to).max().expect("spans");
    let before = all.spans.iter().filter(|span| span.from < end);
    let expected: Vec<_> = before.map(|span| Span { to: span.to.min(end), ..*span }).collect();
    assert_eq!(cut.spans, expected);
    assert!(cut.spans.len() <= most);
    if cut.complete {
        assert_eq!(cut, all);
    }
}

#[test]
fn links_that_never_sleep_have_one_span_each() {
    let mut spec = sleepy(60);
    policy(&mut spec, ALWAYS_ON);
    let out = run(&spec);
    let whole = |span: &Span| (span.from, span.to, span.state) == (0, out.cycles, LinkState::On);
    let Spans { spans, complete } = link_states(&out);
    assert!(complete && spans.len() == 60 && spans.iter().all(whole));
}
