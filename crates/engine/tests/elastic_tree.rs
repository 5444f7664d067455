//! Tests of the elastic tree: the links that stay on at least power, the levels when the load changes, and dark links, which carry nothing.

use crate::common::*;
use weft_engine::outcome::{Ending, Outcome};
use weft_engine::power::{LinkState, PerMode};
use weft_engine::spec::Execution;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::{Implied, Spec, check, imply};

const ASCENTS: [&str; 4] = [UP_DOWN, D_MOD_K, D_MOD_K_HIGH, UP_DOWN_ADAPTIVE];
/// The epoch is longer than these tests, so the levels stay in their states of cycle 0.
const LEAST: &str = r#"{"elastic_tree": {"epoch": "1s"}}"#;
const FULL: &str = r#"{"elastic_tree": {"epoch": "1s", "initial": "all_on"}}"#;
const QUICK: &str = r#"{"elastic_tree": {"epoch": "100ns", "wake": "40ns"}}"#;

fn under(topology: &str, routing: &str, policy_json: &str) -> Spec {
    let mut spec = spec(topology, routing);
    policy(&mut spec, policy_json);
    spec
}

/// For each link class, the number of channels between routers that were on during the whole window, and the number of all channels.
fn always_on_of(out: &Outcome) -> Vec<[usize; 2]> {
    let between = || out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some());
    let count = |class: u8, most: bool| {
        let on = |cycles: &PerMode| most || cycles[LinkState::On] == out.window;
        between().filter(|c| c.class == class && on(&c.cycles)).count()
    };
    (1..=between().map(|c| c.class).max().unwrap_or(0)).map(|class| [count(class, false), count(class, true)]).collect()
}

/// Mean share of the channels between routers that were not off.
fn awake(out: &Outcome) -> f64 {
    let between = out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some());
    let (dark, all) = between.fold((0, 0), |(dark, all), c| (dark + c.cycles[LinkState::Off], all + out.window));
    1.0 - dark as f64 / all as f64
}

// ---- least power ----------------------------------------------------------------------------------------------------

#[test]
fn at_least_power_a_spanning_tree_of_the_leaves_is_on() {
    // 4 pods: each of 8 edge routers, and each of 4 aggregation routers in use, has 1 of 2 up links on. In total 12 links are on for 13
    // routers.
    // The 3-ary 3-tree: each of 9 leaves, and each of the 3 routers in use above them, has 1 of 3 up links on. In total 12 links are on for
    // 13 routers.
    for (topology, on) in [(FAT_TREE, [[8, 16], [4, 16]]), (TREE, [[9, 27], [3, 27]])] {
        for routing in ASCENTS {
            let mut spec = under(topology, routing, LEAST);
            phases(&mut spec, 0, 500);
            spec.set_load(0.02);
            let out = run(&spec);
            // times two, because a link consists of two channels
            assert_eq!(always_on_of(&out), on.map(|on| on.map(|links| 2 * links)), "{topology}");
        }
    }
}

#[test]
fn paths_at_least_power_are_as_long_as_ever() {
    for (topology, routing) in [FAT_TREE, TREE].into_iter().flat_map(|topology| ASCENTS.map(|r| (topology, r))) {
        let (least, all) = (under(topology, routing, LEAST), under(topology, routing, ALWAYS_ON));
        let [least_implied, all_implied] = [&least, &all].map(|spec| imply(spec).unwrap());
        let says = |implied: &Implied| {
            // the bounds are equal too, because at high load all links can be on
            [implied.zero_load_latency, implied.mean_hops, implied.channel_load_bound].map(Option::unwrap)
        };
        for (least, all) in says(&least_implied).into_iter().zip(says(&all_implied)) {
            assert!((least - all).abs() < 1e-9, "{topology} {routing}: {least} and {all}");
        }
        // a packet that meets no other takes the path of the idle network, in exactly the computed number of cycles
        let latency = |mut spec: Spec| {
            pattern(&mut spec, r#"{"hot_spot": {"targets": [1]}}"#);
            let last = spec.graph.terminals() - 1;
            alone(&mut spec, last, 100);
            let out = run(&spec);
            assert_drained(&out);
            (out.sums.latency, out.sums.hops, out.sums.packets)
        };
        assert_eq!(latency(least), latency(all), "{topology} {routing}");
    }
}

#[test]
fn the_spanning_tree_carries_what_its_busiest_link_does() {
    // each of 4 pods of 4 terminals has one link to the cores; 12 of 15 destinations are in other pods, so 4 * 12/15 of the load of a
    // terminal fills the link at 5/16.
    let bound = 5.0 / 16.0;
    for routing in ASCENTS {
        for (load, least) in [(0.95 * bound, 0.94 * bound), (1.6 * bound, 0.9 * bound)] {
            let mut spec = under(FAT_TREE, routing, LEAST);
            queues(&mut spec, 8, 64);
            router(&mut spec, (1, 0, 3));
            phases(&mut spec, 2000, 6000);
            spec.set_load(load);
            let got = accepted(&run(&spec));
            assert!(got <= 1.005 * load.min(bound) && got >= least * 0.98, "{routing} {load}: {got}");
        }
    }
}

#[test]
fn with_all_links_on_it_is_always_on_to_the_last_bit() {
    for (topology, routing) in [FAT_TREE, TREE].into_iter().flat_map(|topology| ASCENTS.map(|r| (topology, r))) {
        let [elastic, always] = [FULL, ALWAYS_ON].map(|policy_json| {
            let mut spec = under(topology, routing, policy_json);
            packets(&mut spec, 4, VirtualCutThrough, 16);
            spec.set_load(0.7);
            phases(&mut spec, 200, 800);
            run(&spec)
        });
        assert_same(&elastic, &always, &format!("{topology} {routing}"));
    }
}

// ---- when the load changes ------------------------------------------------------------------------------------------

/// A run whose load rises to `load` after a quiet time. The window begins after the levels have had time to adapt.
fn settled(topology: &str, routing: &str, policy_json: &str, load: f64) -> Outcome {
    let mut spec = under(topology, routing, policy_json);
    queues(&mut spec, 4, 32);
    router(&mut spec, (1, 0, 2));
    let first = spec.traffic.jobs[0].phases[0].clone();
    let at = |from: u64, load: f64| {
        let load = vec![load; first.load.len()];
        weft_engine::spec::LoadPhase { from, load, ..first.clone() }
    };
    spec.traffic.jobs[0].phases = vec![at(0, 0.01), at(2000, load)];
    phases(&mut spec, 12_000, 6000);
    let out = run(&spec);
    check_account(&spec, &out);
    out
}

#[test]
fn levels_grow_with_the_load_and_carry_what_all_links_carry() {
    const ELASTIC: &str = r#"{"elastic_tree": {"epoch": "400ns", "wake": "200ns"}}"#;
    let topologies_of = |(case, routing)| in_turn(case, &[FAT_TREE, TREE]).map(move |topology| (topology, routing));
    for (topology, routing) in ASCENTS.into_iter().enumerate().flat_map(topologies_of) {
        let mut last = 0.0;
        for load in [0.02, 0.2, 0.8] {
            let [elastic, always] =
                [ELASTIC, ALWAYS_ON].map(|policy_json| settled(topology, routing, policy_json, load));
            let what = format!("{topology} {routing} at {load}");
            let share = accepted(&elastic) / accepted(&always);
            assert!((share - 1.0).abs() < 0.03, "{what}: {share} of what all links carry");
            let (awake, ideal) = (awake(&elastic), busy(&elastic));
            assert!(awake >= ideal && awake >= last - 0.02, "{what}: {awake} awake, {last} before, {ideal} busy");
            last = awake;
            let least = always_on_of(&elastic).iter().map(|[on, _]| on).sum::<usize>();
            match load {
                0.02 => assert_eq!(least, 24, "{what}: the spanning tree"),
                0.8 => assert!(awake > 0.8, "{what}: {awake}"),
                _ => assert!(awake < 0.8, "{what}: {awake}"),
            }
        }
    }
}

/// Share of the cycles in which the channels between routers carried a flit. No policy can keep a smaller share on.
fn busy(out: &Outcome) -> f64 {
    let between = || out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some());
    between().flat_map(|c| &c.flits).sum::<u64>() as f64 / (out.window * between().count() as u64) as f64
}

#[test]
fn nothing_is_lost_while_levels_grow_and_shrink() {
    let mut woken = 0;
    for (seed, routing) in (0..).zip(ASCENTS) {
        for (topology, flits, flow) in
            [(TREE, 1, VirtualCutThrough), (FAT_TREE, 5, VirtualCutThrough), (TREE, 9, Wormhole)]
        {
            let mut spec = under(topology, routing, QUICK);
            packets(&mut spec, flits, flow, 8);
            if flits == 5 {
                spec.traffic.jobs[0].workload = request_reply(2, None);
            }
            record_link_states(&mut spec, 1_000_000);
            load_steps(&mut spec, seed, 12_000);
            let out = run(&spec);
            let what = format!("{topology} {routing} {flits} flits");
            assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0), "{what}");
            assert_eq!(out.accepted_flits, out.offered_flits, "{what}");
            check_account(&spec, &out);
            woken += check_spans(&out, &what);
        }
    }
    assert!(woken > 200, "{woken}");
}

/// Checks that each channel passes through its states in order, and that the tree has least power at the end. Returns how often channels
/// woke.
fn check_spans(out: &Outcome, what: &str) -> usize {
    use LinkState::{Draining, Off, On, Waking};
    let Spans { spans, complete } = link_states(out);
    assert!(complete);
    let mut on = 0;
    let channels = (0..).zip(&out.channels).filter(|(_, count)| count.class > 0);
    for (channel, _) in channels {
        let own: Vec<_> = spans.iter().filter(|span| span.channel == channel).collect();
        for pair in own.windows(2) {
            // a draining link is used again immediately if its level gets more load
            let legal = [(Off, Waking), (Waking, On), (On, Draining), (Draining, Off), (Draining, On)];
            assert!(legal.contains(&(pair[0].state, pair[1].state)), "{what}: {pair:?}");
            let woken = pair[0].state == Waking && pair[1].to < out.cycles;
            assert!(!woken || pair[0].to - pair[0].from == 40, "{what}: {pair:?}");
        }
        on += usize::from(own[own.len() - 1].state == On);
    }
    assert_eq!(on, 24, "{what}: the spanning tree in the end");
    spans.iter().filter(|span| span.state == Waking).count()
}

#[test]
fn blocks_and_threads_change_nothing_while_levels_change() {
    for (routing, load) in [(UP_DOWN, 0.0), (D_MOD_K, 0.6), (UP_DOWN_ADAPTIVE, 0.0)] {
        let mut spec = under(FAT_TREE, routing, QUICK);
        packets(&mut spec, 4, VirtualCutThrough, 8);
        record_link_states(&mut spec, 100_000);
        if load > 0.0 {
            phases(&mut spec, 0, 2000);
            spec.set_load(load);
        } else {
            load_steps(&mut spec, 5, 500);
        }
        let alone = run(&spec);
        assert!(alone.channels.iter().any(|c| c.transitions > 0));
        for (threads, blocks) in [(1, 2), (2, 4)] {
            let other = run_as(&spec, Execution::new(threads, blocks));
            assert_same(&alone, &other, &format!("{routing}, {threads} threads, {blocks} blocks"));
            assert_eq!(link_states(&alone), link_states(&other));
        }
    }
}

#[test]
fn tiny_buffers_never_stall_while_levels_change() {
    for (routing, topology) in ASCENTS.into_iter().zip([TREE, FAT_TREE, TREE, FAT_TREE]) {
        for (flits, flow) in [(1, VirtualCutThrough), (6, VirtualCutThrough), (6, Wormhole)] {
            let mut spec =
                under(topology, routing, r#"{"elastic_tree": {"epoch": "70ns", "low": 0.3, "wake": "30ns"}}"#);
            packets(&mut spec, flits, flow, 1);
            spec.links.iter_mut().for_each(|link| (link.vcs, link.latency, link.credit_latency) = (1, 1, 1));
            spec.set_load(1.0);
            phases(&mut spec, 1000, rounds(4000));
            spec.phases.stall_limit = 1000;
            let out = run(&spec);
            assert_eq!(out.ending, Ending::Saturated, "{routing} {flits} {flow:?}");
            check_account(&spec, &out);
        }
    }
}

/// A link with few credits carries less traffic than its bandwidth. The policy must compute its utilisation from the traffic that it can
/// carry.
#[test]
fn levels_grow_where_buffers_are_the_limit() {
    for policy_json in [QUICK, ALWAYS_ON].map(|p| (p, accepted_in_small_buffers(p))).windows(2) {
        let [(_, elastic), (_, always)] = policy_json else { panic!("two policies") };
        assert!((elastic / always - 1.0).abs() < 0.03, "{elastic} of {always}");
    }
}

fn accepted_in_small_buffers(policy_json: &str) -> f64 {
    let mut spec = under(FAT_TREE, UP_DOWN, policy_json);
    // the credit round trip takes more than 20 cycles, but the buffer holds only 8 flits
    queues(&mut spec, 4, 2);
    spec.set_load(0.25);
    phases(&mut spec, 6000, 4000);
    accepted(&run(&spec))
}

// ---- refusals -------------------------------------------------------------------------------------------------------

#[track_caller]
fn refused(spec: &Spec, path: &str, what: &str, help: &str) {
    let refusal = check(spec).expect_err(what);
    assert_eq!(refusal.path, path, "{refusal}");
    assert!(refusal.what.contains(what) && refusal.help.contains(help), "{refusal}");
}

/// The remedy names three properties of a tree. A tree with these properties is accepted.
#[test]
fn a_tree_of_unequal_routers_is_refused_with_its_numbers_and_a_remedy_that_works() {
    let tree = |keys: &str| under(&format!(r#"{{"fat_tree": {{{keys}}}}}"#), UP_DOWN, LEAST);
    let help =
        "an even number of ports per router, without oversubscription and with all its terminals, or another policy";
    for (keys, numbers, mended) in [
        (
            r#""radix": 6, "levels": 2, "oversubscription": [2]"#,
            "level 0 a router has 4 downward and 2 upward links",
            "6",
        ),
        (r#""radix": 6, "oversubscription": [1, 2]"#, "level 1 a router has 4 downward and 2 upward links", "6"),
        // a router with an odd number of ports has more upward than downward links
        (r#""radix": 7, "levels": 2"#, "level 0 a router has 3 downward and 4 upward links", "8"),
        // with half of its terminals left out, this tree has trunks of two links
        (r#""radix": 8, "levels": 2, "terminals": 16"#, "level 0 a router has 4 downward and 2 upward links", "8"),
    ] {
        refused(&tree(keys), "power.policy.elastic_tree", numbers, help);
        for levels in ["2", "3"] {
            check(&tree(&format!(r#""radix": {mended}, "levels": {levels}"#))).unwrap();
        }
    }
    check(&tree(r#""k": 4, "trunk_width": 2"#)).expect("trunks of a tree with equal routers");
}

#[test]
fn what_does_not_go_together_is_refused_with_the_choices() {
    let leaf = r#"{"k_ary_n_tree": {"k": 4, "n": 1}}"#;
    for (topology, routing) in [(HYPERX, DOR), (DRAGONFLY_PLUS, SHORTEST), (leaf, UP_DOWN)] {
        let help = "choose another policy, or such a tree: k_ary_n_tree, fat_tree";
        refused(
            &under(topology, routing, LEAST),
            "power.policy.elastic_tree",
            "a fat tree with two or more levels, but this network is no such tree",
            help,
        );
    }
    let blind = under(TREE, SHORTEST, LEAST);
    refused(
        &blind,
        "power.policy.elastic_tree",
        "shortest_path does not read link states",
        "set routing: up_down, or set",
    );
    // up_down must also accept policies under which packets wait for links, and links that stay on
    for fitting in [IDLE_TIMEOUT, ALWAYS_ON, LEAST] {
        check(&under(TREE, UP_DOWN, fitting)).unwrap();
    }
    let mut none = under(TREE, UP_DOWN, LEAST);
    none.managed.fill(false);
    refused(&none, "power.manages", "no link to switch", "name a link class");
}

#[test]
fn a_tree_with_more_links_up_than_a_word_has_bits_is_refused() {
    let of = |k: u32| under(&format!(r#"{{"k_ary_n_tree": {{"k": {k}, "n": 2}}}}"#), UP_DOWN, LEAST);
    let what = "129 upward links per router, but Weft stores their states in 128 bits";
    refused(&of(129), "power.policy.elastic_tree", what, "routers with at most 128 upward links");
    check(&of(128)).expect("a tree of as many as the message says");
}

#[test]
fn a_level_that_is_not_managed_keeps_all_its_links() {
    for (managed, on) in [([false, true, false], [[8, 16], [16, 16]]), ([false, false, true], [[16, 16], [8, 16]])] {
        let mut spec = under(FAT_TREE, UP_DOWN, LEAST);
        spec.managed = managed.to_vec();
        phases(&mut spec, 0, 500);
        spec.set_load(0.02);
        assert_eq!(always_on_of(&run(&spec)), on.map(|on| on.map(|links| 2 * links)), "{managed:?}");
    }
}

#[test]
fn thresholds_and_times_without_sense_are_refused() {
    for (json, path, what) in [
        (r#"{"low": 0.0}"#, "low", "0 is not a share"),
        (r#"{"high": 1.5}"#, "high", "1.5 is not a share"),
        (r#"{"low": 0.5, "high": 0.5}"#, "high", "0.5 is not above low, 0.5"),
        (r#"{"low": 0.9}"#, "high", "0.75 is not above low, 0.9"),
        (r#"{"epoch": "0cycles"}"#, "epoch", "0 cycles"),
        (r#"{"wake": "0cycles"}"#, "wake", "0 cycles"),
    ] {
        let spec = under(TREE, UP_DOWN, &format!(r#"{{"elastic_tree": {json}}}"#));
        refused(&spec, &format!("power.policy.elastic_tree.{path}"), what, "write");
    }
}
