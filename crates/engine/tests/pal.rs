//! Tests that PAL equals `ugal_p` while all links are on. Also tests other routings that use the states of links in subnetworks. On fixed
//! sets of links, they must take the paths that theory gives.

use crate::common::*;
use weft_engine::power::LinkState;
use weft_engine::{Outcome, Spec};
use weft_topology::Peer;

#[test]
fn with_all_links_on_it_is_ugal_p_to_the_last_bit() {
    let traffic = [(UNIFORM_SELF, 0.4), (TORNADO, 0.3), (TORNADO, 0.9)];
    for (turn, sensor) in ["used_credits", "history_window", "output_queue"].into_iter().enumerate() {
        for &(pattern_json, load) in in_turn(turn, &traffic) {
            let [pal, ugal_p] = ["pal", "ugal_p"].map(|name| {
                let mut spec = butterfly(&format!(r#"{{"{name}": {{"sensor": "{sensor}"}}}}"#));
                pattern(&mut spec, pattern_json);
                spec.set_load(load);
                phases(&mut spec, 250, 500);
                run(&spec)
            });
            assert_same(&pal, &ugal_p, &format!("{sensor} {pattern_json} {load}"));
        }
    }
}

/// The links between routers, as pairs of routers with the lower number first.
fn links(spec: &Spec) -> Vec<(u32, u32)> {
    let graph = &spec.graph;
    let of = |r: u32| {
        graph.ports(r).iter().filter_map(move |port| match port.peer {
            Peer::Router { router, .. } if router > r && spec.managed[usize::from(port.class)] => Some((r, router)),
            _ => None,
        })
    };
    (0..graph.routers()).flat_map(of).collect()
}

fn channels_on(out: &Outcome) -> usize {
    let managed = out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some() && c.class > 0);
    managed.filter(|c| c.cycles[LinkState::On] == out.window).count()
}

/// Checks that no flit leaves on a channel that is off, and that the channel is off in its account for the whole window.
fn check_dark(out: &Outcome) {
    for c in &out.channels {
        let off = c.cycles[LinkState::Off];
        assert!(off == 0 || (off == out.window && c.flits.iter().sum::<u64>() == 0 && c.transitions == 0), "{c:?}");
    }
}

#[test]
fn least_power_is_a_quarter_of_the_links_and_37_75_cycles() {
    let mut spec = butterfly(PAL);
    policy(&mut spec, ROOT);
    spec.set_load(0.001);
    phases(&mut spec, 500, 60_000);
    let out = run(&spec);
    assert_drained(&out);
    check_dark(&out);
    assert_eq!((channels_on(&out), links(&spec).len()), (2 * 112, 448));
    // in a dimension of 8, a packet to another coordinate takes 1 hop if one of the two ends is the hub (14 of 56 ordered pairs). Otherwise
    // it takes 2 hops
    let per_dimension: f64 = 448.0 / 511.0 * (14.0 + 2.0 * 42.0) / 56.0;
    let hops = 2.0 * per_dimension;
    assert!((hops - 2.0 * 448.0 / 511.0 - 1.3125 * 512.0 / 511.0).abs() < 1e-12, "1.3125 with self included");
    let mean = |sum: u64| sum as f64 / out.sums.packets as f64;
    assert!((mean(out.sums.hops) - hops).abs() < 0.02, "{} {hops}", mean(out.sums.hops));
    // queues are nearly always empty at this load
    let t0 = 11.0 * hops + 4.0;
    assert_eq!(format!("{t0:.2}"), "37.75");
    assert!(mean(out.sums.latency) > t0 - 0.15 && mean(out.sums.latency) < t0 + 0.5, "{}", mean(out.sums.latency));
}

/// Number of hops of a packet between two routers in an idle network. The function `on` returns whether the link between two coordinates is
/// on.
fn hops_between(coords: [Vec<u32>; 2], on: impl Fn(&[u32], usize, u32) -> bool) -> u64 {
    let [mut at, to] = coords;
    let mut hops = 0;
    for d in 0..at.len() {
        if at[d] != to[d] {
            hops += if on(&at, d, to[d]) { 1 } else { 2 };
            at[d] = to[d];
        }
    }
    hops
}

#[test]
fn every_pair_is_reached_over_the_links_that_are_on() {
    (0..3).for_each(|hub| check_links_that_are_on(PAL, hub, |k, _| k % 3 == 0));
}

/// If the same links are on in all lines of a dimension, the order of dimensions has no effect.
#[test]
fn in_any_order_of_dimensions_every_pair_is_reached_over_the_links_that_are_on() {
    let routings = [
        DAL,
        r#"{"minimal_adaptive": {}}"#,
        r#"{"minimal_adaptive": {"leave_escape": false}}"#,
        r#"{"hyperx_ofar": {}}"#,
    ];
    for (turn, routing) in routings.into_iter().enumerate() {
        in_turn(turn, &[0, 1]).for_each(|&hub| check_links_that_are_on(routing, hub, |_, [a, b]| (a + b) % 3 == 0));
    }
}

/// On 5 x 3 routers, the stars around the hub are on, and further links that `also` selects. `also` gets the index of a link, and the
/// coordinates of its ends in their dimension.
fn check_links_that_are_on(routing_json: &str, hub: u32, also: impl Fn(usize, [u32; 2]) -> bool) {
    let widths = [5u32, 3];
    let topology_json = r#"{"hyperx": {"widths": [5, 3], "terminals_per_router": 1}}"#;
    let coords = |r: u32| vec![r % widths[0], r / widths[0]];
    let mut spec = spec(topology_json, routing_json);
    let is_star = |&(a, b): &(u32, u32)| {
        let (a, b) = (coords(a), coords(b));
        (0..2).any(|d| a[d] != b[d] && (a[d] == hub || b[d] == hub))
    };
    let (star, others): (Vec<_>, Vec<_>) = links(&spec).into_iter().partition(is_star);
    let in_line = |a: u32, b: u32| {
        let (a, b) = (coords(a), coords(b));
        let d = usize::from(a[0] == b[0]);
        [a[d], b[d]]
    };
    let others = others.into_iter().enumerate().filter(|&(k, (a, b))| also(k, in_line(a, b)));
    let on: Vec<(u32, u32)> = star.into_iter().chain(others.map(|(_, link)| link)).collect();
    let pairs: Vec<String> = on.iter().map(|(a, b)| format!("[{a}, {b}]")).collect();
    policy(&mut spec, &format!(r#"{{"static": {{"on": {{"links": [{}]}}, "hub": {hub}}}}}"#, pairs.join(", ")));
    let router = |c: &[u32]| c[0] + c[1] * widths[0];
    let is_on = |at: &[u32], d: usize, to: u32| {
        let mut far = at.to_vec();
        far[d] = to;
        let (a, b) = (router(at), router(&far));
        on.contains(&(a.min(b), a.max(b)))
    };
    weft_engine::check(&spec).expect("a network that can run");
    mark_checked(&mut spec);
    for sender in 0..15 {
        let mut spec = spec.clone();
        alone(&mut spec, sender, 100);
        for to in (0..15).filter(|&to| to != sender) {
            pattern(&mut spec, &format!(r#"{{"hot_spot": {{"targets": [{to}]}}}}"#));
            let out = run(&spec);
            assert_drained(&out);
            check_dark(&out);
            assert_eq!(channels_on(&out), 2 * on.len());
            // checks every packet, not only the mean
            let hops = hops_between([coords(sender), coords(to)], is_on);
            let taken: Vec<u64> = (0u64..).zip(&out.hop_counts).filter(|(_, n)| **n > 0).map(|(h, _)| h).collect();
            assert_eq!(taken, [hops], "hub {hub}: from {sender} to {to}");
            assert_eq!(out.hop_counts[hops as usize], out.sums.packets);
            assert!(out.sums.packets > 20);
            assert_eq!(out.sums.latency, (hops * 11 + 4) * out.sums.packets);
        }
    }
}

#[test]
fn a_dragonfly_switches_links_inside_its_groups() {
    let mut spec = spec(DRAGONFLY, PAL);
    policy(&mut spec, ROOT);
    spec.managed[2] = false;
    spec.set_load(0.05);
    phases(&mut spec, 500, 5000);
    let out = run(&spec);
    assert_drained(&out);
    check_dark(&out);
    let on =
        |class: u8| out.channels.iter().filter(|c| c.class == class && c.cycles[LinkState::On] == out.window).count();
    // 9 groups of 4 routers: a star of 3 links in each group, and 2 global links per router
    assert_eq!((on(1), on(2)), (2 * 9 * 3, 9 * 4 * 2));
    assert!(out.hop_counts.len() <= 6, "local legs of at most 2 hops: {:?}", out.hop_counts);
}

#[test]
fn least_power_of_other_routings_is_implied_too() {
    for routing_json in [DAL, r#"{"minimal_adaptive": {}}"#, r#"{"hyperx_ofar": {}}"#] {
        let mut spec = butterfly(routing_json);
        for policy_json in [ROOT, r#"{"tcep": {}}"#] {
            policy(&mut spec, policy_json);
            let (implied, hops) = (weft_engine::imply(&spec).unwrap(), 3.0625 * 512.0 / 511.0);
            assert!((implied.mean_hops.unwrap() - hops).abs() < 1e-9, "{routing_json} {policy_json}: {implied:?}");
        }
    }
}

#[test]
fn least_power_is_implied_before_the_run() {
    let mut spec = butterfly(PAL);
    let bound = weft_engine::imply(&spec).unwrap().channel_load_bound;
    for (policy_json, full) in [(ROOT, false), (r#"{"tcep": {}}"#, true)] {
        policy(&mut spec, policy_json);
        let implied = weft_engine::imply(&spec).unwrap();
        let hops = 3.0625 * 512.0 / 511.0;
        assert!((implied.mean_hops.unwrap() - hops).abs() < 1e-9, "{implied:?}");
        assert!((implied.zero_load_latency.unwrap() - (11.0 * hops + 4.0)).abs() < 1e-9);
        // TCEP can have all links on when the network is full. Under the static policy only the star stays on, and a link of the hub
        // carries the flits of 1 and of 6 other routers
        assert_eq!(implied.channel_load_bound == bound, full, "{implied:?} {bound:?}");
    }
}
