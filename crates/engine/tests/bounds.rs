//! Tests the bounds of the accepted load that routings declare in their examples, usually for their worst case. Each bound is derived by
//! hand. Each bound must equal the result of `imply`. Runs must never exceed it, and must reach it to within 3 %.
//!
//! A load just below the bound is accepted completely. Above the bound, the mean accepted load stays below the bound, if all terminals have
//! the same traffic. The remaining distance to the bound depends on the router and is not tested. On a ring, for example, packets that
//! enter the ring delay packets that pass. In these tests, buffers are deep and the switch has speedup 3, so that only channels limit the
//! load, not the routers. With one FIFO per class and speedup 1, packets would wait behind packets to another output (head-of-line
//! blocking), which reduces the load by up to 41 % (`theory.rs`).

use crate::common::*;
use std::collections::BTreeSet;
use weft_engine::examples::{Accepts, Bound, Example};
use weft_engine::routing::RoutingConfig;
use weft_engine::{Implied, Sampled, Spec, imply};
use weft_topology::TopologyConfig;
use weft_traffic::PatternConfig;

/// Accepted and offered load [flits/terminal/cycle] of a run at load `load`.
fn at(spec: &mut Spec, load: f64) -> (f64, f64) {
    spec.set_load(load.min(1.0));
    let out = run(spec);
    (accepted(&out), out.offered_flits as f64 / (out.window * u64::from(out.terminals)) as f64)
}

fn ample(mut spec: Spec, pattern: &PatternConfig) -> Spec {
    spec.set_pattern(pattern).expect("a pattern for this network");
    queues(&mut spec, 8, 64);
    router(&mut spec, (1, 0, 3));
    phases(&mut spec, 2000, rounds(3000));
    spec
}

/// Accepted load for an offered load far above the bound, as a share of the bound. Flits that wait before the full channel when the window
/// begins also arrive in the window. These flits are at most half a percent.
fn beyond(spec: &mut Spec, bound: f64) -> f64 {
    let (accepted, _) = at(spec, 1.3 * bound);
    assert!(accepted <= 1.005 * bound, "accepted {accepted}, bound {bound}");
    accepted / bound
}

/// For oblivious routings: checks that `imply` returns the bound.
#[track_caller]
fn implies(spec: &Spec, bound: f64) {
    let implied = imply(spec).unwrap().channel_load_bound.unwrap();
    assert!((implied - bound).abs() < 1e-9, "{:?}: implied {implied}, derived {bound}", spec.routing);
}

/// Checks that at 98.5 % of the bound the network accepts all load except 1.5 %.
#[track_caller]
fn reaches(spec: &mut Spec, bound: f64) {
    let (accepted, offered) = at(spec, 0.985 * bound);
    assert!(accepted >= 0.985 * offered, "{:?}: accepted {accepted} of {offered}, bound {bound}", spec.routing);
}

/// For adaptive routings: `imply` returns the bound of the minimal paths. With detours, the load can exceed this bound. Checks that no run
/// exceeds `bound`. Also checks that a choice by queues reaches at least half of `bound`.
#[track_caller]
fn takes_detours(spec: &mut Spec, bound: f64) {
    let got = beyond(spec, bound);
    let minimal = imply(spec).unwrap().channel_load_bound.unwrap();
    assert!(got >= 0.5 && got * bound > 1.3 * minimal, "{:?}: {got} of {bound}, minimal {minimal}", spec.routing);
}

#[test]
fn every_routing_gets_through_what_its_examples_say() {
    let examples = RoutingConfig::examples();
    let mut names = BTreeSet::new();
    for (turn, example) in examples.iter().enumerate() {
        // `make test` runs a bound of the first example of each routing, and a bound of every second other example
        let is_first = !example.bounds.is_empty() && names.insert(example.config.name());
        let is_run = is_first || in_turn(turn / 2, &[true, false]).any(|&runs| runs);
        let ran: Vec<&Bound> = if is_run { in_turn(turn, &example.bounds).collect() } else { Vec::new() };
        // no analysis checks the bounds of detours, so these always run
        let runs = |bound: &Bound| {
            matches!(bound.accepts, Accepts::WithDetours(_)) || ran.iter().any(|other| std::ptr::eq(*other, bound))
        };
        for bound in &example.bounds {
            let pair = Pair { topology: bound.topology.clone(), routing: example.config.clone() };
            let mut spec = ample(pair.spec(), &bound.pattern);
            if let Accepts::UpTo(load) | Accepts::AtLeast(load) = bound.accepts {
                implies(&spec, load);
                mark_checked(&mut spec);
            }
            if !runs(bound) {
                continue;
            }
            match bound.accepts {
                Accepts::UpTo(load) => {
                    for &above in in_turn(turn, &[false, true]) {
                        if above { _ = beyond(&mut spec, load) } else { reaches(&mut spec, load) }
                    }
                }
                Accepts::AtLeast(load) => reaches(&mut spec, load),
                Accepts::WithDetours(load) => takes_detours(&mut spec, load),
            }
        }
    }
}

/// The topology with `width` parallel links instead of each link; `None` if the topology has no trunks.
fn widened(topology: &TopologyConfig, width: u32) -> Option<TopologyConfig> {
    let mut json = serde_json::to_value(topology).expect("a configuration");
    let keys = json.as_object_mut()?.values_mut().next()?.as_object_mut()?;
    keys.insert("trunk_width".to_owned(), width.into());
    serde_json::from_value(json).ok()
}

#[test]
fn trunks_of_two_carry_twice_as_much_and_change_no_latency() {
    let (mut last, mut refused, mut done) = ("", Vec::new(), 0);
    for Example { config, bounds, .. } in RoutingConfig::examples() {
        let Some(bound) = bounds.first().filter(|_| config.name() != last) else { continue };
        last = config.name();
        let Some(wide) = widened(&bound.topology, 2) else { continue };
        if !config.fits(&wide.build("topology").expect("a graph")) {
            refused.push(config.name());
            continue;
        }
        let spec_of = |topology: &TopologyConfig| {
            ample(Pair { topology: topology.clone(), routing: config.clone() }.spec(), &bound.pattern)
        };
        let [narrow, mut wide] = [&bound.topology, &wide].map(spec_of);
        let [one, two] = [&narrow, &wide].map(|spec| imply(spec).expect("a legal pair"));
        assert_eq!((one.mean_hops, one.zero_load_latency), (two.mean_hops, two.zero_load_latency), "{config:?}");
        let [one, two] = [one, two].map(|implied| implied.channel_load_bound.expect("packets"));
        // two links double the bound, but a terminal sends and receives at most one flit per cycle
        assert!((two - (2.0 * one).min(1.0)).abs() < 1e-9, "{config:?}: {two}, with single links {one}");
        if let Accepts::UpTo(_) | Accepts::AtLeast(_) = bound.accepts {
            phases(&mut wide, 2000, 3000);
            reaches(&mut wide, two);
        }
        done += 1;
    }
    // Three routings refuse trunks. The link-state tables of `pal` have one link for each pair of routers. Under `hyperx_ofar` and
    // `dragonfly_ofar`, a head compares single links when it chooses its output.
    assert_eq!(refused, ["pal", "hyperx_ofar", "dragonfly_ofar"]);
    assert!(done > 8, "{done} routings");
}

#[test]
fn each_class_has_trunks_of_its_own_width() {
    // a group of 8 terminals sends all its flits over one link to the next group, and at most 3/4 of them over a single local link
    let bound = |widths: &str| {
        let sizes = r#""routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2"#;
        let mut spec = spec(&format!(r#"{{"dragonfly": {{{sizes}, "trunk_width": {widths}}}}}"#), DF_MINIMAL);
        pattern(&mut spec, ADVERSE);
        imply(&spec).expect("a legal pair").channel_load_bound.expect("packets")
    };
    let [none, local, global, both] =
        ["1", r#"{"local": 4}"#, r#"{"global": 3}"#, r#"{"local": 4, "global": 8}"#].map(bound);
    assert_eq!((none, local, both), (1.0 / 8.0, 1.0 / 8.0, 1.0));
    // three global links carry three times the flits, unless the local links limit the load
    assert!(global > none && global <= 3.0 / 8.0, "{global}");
}

#[test]
fn every_routing_has_an_example_with_a_bound() {
    for name in RoutingConfig::NAMES {
        let has = |example: &Example<RoutingConfig>| example.config.name() == *name && !example.bounds.is_empty();
        assert!(
            RoutingConfig::examples().iter().any(has),
            "add a `bound`, with its derivation, to an example of {name}"
        );
    }
}

#[test]
fn cuts_bound_what_choosing_can_do() {
    let bound = |topology: &str| {
        let mut spec = spec(topology, ADAPTIVE);
        pattern(&mut spec, UNIFORM_SELF);
        imply(&spec).unwrap().channel_load_bound.unwrap()
    };
    // the 2 * 2 * 4 terminals on one side of the middle send half of their flits over the 4 links that cross it
    let mesh = bound(r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 2}}"#);
    assert!((mesh - 4.0 / 8.0).abs() < 1e-9, "{mesh}");
    // with 2 terminals at each of 8 routers, a link carries the flits of 1 + 2 + 3 pairs at distance 1, 2, 3 and half of 4 pairs at
    // distance 4
    let ring = bound(r#"{"torus": {"widths": [8], "terminals_per_router": 2}}"#);
    assert!((ring - 8.0 / (2.0 * 8.0)).abs() < 1e-9, "{ring}");
    // this routing gives a packet one path, so the number of links in a trunk does not matter
    let trunks = bound(r#"{"torus": {"widths": [8], "terminals_per_router": 2, "trunk_width": 2}}"#);
    assert!((trunks - 1.0).abs() < 1e-9, "{trunks}");
}

#[test]
fn digit_reversal_defeats_half_of_the_leaves() {
    // On half of all leaves (middle digit 00 or 11) one packet stays on the leaf, so a link carries the flits of the 3 others. At load 0.3
    // these leaves accept all flits. The other leaves accept a load of 1/4.
    let tree = spec(r#"{"k_ary_n_tree": {"k": 4, "n": 3}}"#, D_MOD_K);
    let pattern = serde_json::from_str(r#"{"bit_reverse": {}}"#).expect("a pattern");
    let (accepted, _) = at(&mut ample(tree, &pattern), 0.3);
    assert!((accepted / ((0.3 + 0.25) / 2.0) - 1.0).abs() < 0.02, "{accepted}");
}

#[test]
fn what_routers_post_too_late_finds_no_detours() {
    // In the first 50,000 cycles no router receives data about the queues of other routers. In a group, only the router with a link to the
    // next group knows its queue for this link. The 3 other routers assume that the link is idle.
    let pattern = serde_json::from_str(ADVERSE).expect("a pattern");
    let accepted = |delay: u32| {
        let posted = format!(r#"{{"posted": {{"every": "10cycles", "delay": "{delay}cycles"}}}}"#);
        let routing = format!(r#"{{"dragonfly_ugal": {{"queues": {posted}, "sensor": "used_credits"}}}}"#);
        at(&mut ample(spec(DRAGONFLY, &routing), &pattern), 4.5 / 8.0).0
    };
    // the minimal paths of a group's 8 terminals share one link, which carries 1 flit per cycle
    let (soon, never) = (accepted(10), accepted(50_000));
    assert!(soon > 2.0 * never && never > 0.9 / 8.0, "{soon} soon, {never} never");
}

const ADAPTIVE_ASCENT: &str = r#"{"up_down": {"ascent": "adaptive"}}"#;

/// The predictions of `imply`, and the predictions from a sample with their errors, for a routing on a network.
fn sampled(topology: &str, routing: &str) -> (Implied, Sampled) {
    let implied = imply(&spec(topology, routing)).expect("a legal pair");
    let sampled = implied.sampled.expect("more paths than are followed");
    (implied, sampled)
}

#[test]
fn too_many_paths_are_sampled_with_an_error() {
    // Each leg of a Valiant path crosses each dimension of width 2 with probability 1/2. Each of the 256 x 8 channels therefore carries 2 *
    // 256 * 8 / 2 / (256 * 8) = 1 flit per cycle.
    let (cube, error) =
        sampled(r#"{"hyperx": {"widths": [2, 2, 2, 2, 2, 2, 2, 2], "terminals_per_router": 1}}"#, VALIANT);
    let (hops, bound) = (cube.mean_hops.unwrap(), cube.channel_load_bound.unwrap());
    assert!((hops - 8.0).abs() < 4.0 * error.mean_hops_error.max(1e-3) && error.mean_hops_error < 0.08, "{cube:?}");
    assert!(error.channel_load_bound.0 <= bound && bound <= error.channel_load_bound.1, "{cube:?}");
    assert!(error.channel_load_bound.1 >= 0.99 && error.channel_load_bound.0 > 0.8, "{cube:?}");
}

#[test]
fn all_paths_of_an_adaptive_ascent_are_followed() {
    // 1,020 of the 1,023 other terminals are on other leaves. The 4 up links of a leaf share the traffic that its terminals send to them.
    // Packets whose destination is below another router of level l - 1 go up from level l - 1 to l and down again. All packets do so,
    // except those to 4^l of 1,024 terminals.
    let implied = imply(&spec(r#"{"k_ary_n_tree": {"k": 4, "n": 5}}"#, ADAPTIVE_ASCENT)).unwrap();
    let hops: f64 = (1..5).map(|level| 2.0 * (1024.0 - f64::powi(4.0, level)) / 1023.0).sum();
    assert!((implied.mean_hops.unwrap() - hops).abs() < 1e-9, "{hops} {implied:?}");
    assert!((implied.channel_load_bound.unwrap() - 1.0).abs() < 1e-9 && implied.sampled.is_none(), "{implied:?}");
}

#[test]
fn a_sample_of_a_dragonfly_agrees_with_theory() {
    const DRAGONFLY: &str = r#"{"dragonfly": {"routers_per_group": 10, "terminals_per_router": 5,
        "global_links_per_router": 5}}"#;
    let (large, error) = sampled(DRAGONFLY, r#"{"dragonfly_valiant": {}}"#);
    // Each of 51 groups has 50 terminals and 50 global links. Terminals send 50 / 51 of their flits to other groups, and each of these
    // flits crosses two global links.
    let expected = 51.0 / 100.0;
    let (low, high) = error.channel_load_bound;
    assert!(low <= expected * 1.001 && high >= expected * 0.999 && high - low < 0.6 * expected, "{large:?}");
    assert!(error.mean_hops_error < 0.02 && error.zero_load_latency_error < 1.0, "{large:?}");
}

#[test]
fn without_packets_there_is_nothing_to_bound() {
    let mut spec = spec(r#"{"k_ary_n_tree": {"k": 2, "n": 2}}"#, r#"{"up_down": {}}"#);
    spec.set_load(0.0);
    let implied = imply(&spec).unwrap();
    assert_eq!((implied.channel_load_bound, implied.mean_hops, implied.sampled), (None, None, None));
}
