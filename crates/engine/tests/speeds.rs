//! Tests links with rates other than one flit per cycle, and output buffers with a limit.

use crate::common::*;
use crate::conservation::check_drains;
use crate::theory::{APART, check_t0, t0};
use weft_engine::power::LinkState;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};
use weft_engine::spec::{Execution, LoadPhase, Rate};
use weft_engine::{Outcome, Spec, imply, memory};

fn rate(flits: u128, cycles: u128) -> Rate {
    Rate::new(flits, cycles, "links.default.bandwidth").expect("a rate")
}

/// Sets the rates of the link classes, in the order of the classes.
fn rates(spec: &mut Spec, rates: &[(u128, u128)]) {
    for (link, &(flits, cycles)) in spec.links.iter_mut().zip(rates.iter().cycle()) {
        link.rate = rate(flits, cycles);
    }
}

/// A network of two routers with 4 terminals each, and one link between the routers.
const PAIR: &str = r#"{"full_mesh": {"routers": 2, "terminals_per_router": 4}}"#;
/// A pattern in which terminals send to the terminals of the next router.
const NEXT_ROUTER: &str = r#"{"neighbor": {}}"#;

/// Number of flits that each channel between routers has carried.
fn between_routers(out: &Outcome) -> Vec<u64> {
    let channels = out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some());
    channels.map(|c| c.flits.iter().sum()).collect()
}

#[test]
fn at_half_rate_a_packet_takes_as_long_as_one_of_twice_the_flits() {
    for (k, pair) in half_of_pairs(0) {
        for &flits in in_turn(k / 2, &[1, 5]) {
            let mut spec = pair.spec();
            packets(&mut spec, flits, VirtualCutThrough, 32);
            router(&mut spec, [(1, 0, 2), (2, 1, 1)][k % 2]);
            rates(&mut spec, &[(1, 2)]);
            mark_checked(&mut spec); // by `stall.rs` and `conservation.rs`
            check_t0(spec, k as u32 % 8, |spec, hops| t0(spec, hops) + u64::from(flits));
        }
    }
}

#[test]
fn one_slow_link_on_the_path_makes_a_packet_as_long_as_over_slow_links_only() {
    for flits in [1, 2, 7] {
        let mut spec = spec(PAIR, DOR);
        pattern(&mut spec, NEXT_ROUTER);
        packets(&mut spec, flits, VirtualCutThrough, 32);
        rates(&mut spec, &[(1, 1), (1, 4)]);
        check_t0(spec, 0, |spec, hops| t0(spec, hops) + 3 * u64::from(flits));
    }
}

#[test]
fn the_implied_latency_over_mixed_rates_is_that_of_every_single_path() {
    let mixes: [&[(u128, u128)]; 4] =
        [&[(1, 2), (1, 3)], &[(1, 1), (2, 3), (1, 4)], &[(2, 3)], &[(3, 5), (1, 1), (2, 1)]];
    let paths = [(HYPERX, DOR, TORNADO), (TORUS, DOR, NEIGHBOR), (DRAGONFLY, DF_MINIMAL, ADVERSE_SAME)];
    for (network, routing, to) in paths {
        for mix in mixes {
            let mut spec = spec(network, routing);
            pattern(&mut spec, to);
            packets(&mut spec, 3, VirtualCutThrough, 32);
            rates(&mut spec, mix);
            for sender in [0, 5] {
                alone(&mut spec, sender, APART);
                let implied = imply(&spec).unwrap().zero_load_latency.unwrap();
                let sums = run(&spec).sums;
                assert_eq!(sums.latency as f64, implied * sums.packets as f64, "{routing} {mix:?} from {sender}");
            }
        }
    }
}

const ADVERSE_SAME: &str = r#"{"group_shift": {"shift": 2, "local": "same"}}"#;

#[test]
fn a_full_link_carries_exactly_its_rate() {
    // windows of whole periods; during a window the two channels between the routers are never idle
    for ((flits, cycles), window) in
        [((2, 3), 3000), ((1, 2), 3000), ((1, 7), 3500), ((999, 1000), 3000), ((3, 2), 3000)]
    {
        let mut spec = spec(PAIR, DOR);
        pattern(&mut spec, NEXT_ROUTER);
        rates(&mut spec, &[(1, 1), (flits, cycles)]);
        router(&mut spec, (1, 0, 3));
        spec.set_load(0.9);
        phases(&mut spec, 2000, window);
        let carried = (u128::from(window) * flits / cycles) as u64;
        assert_eq!(between_routers(&run(&spec)), [carried, carried], "{flits} flits in {cycles} cycles");
    }
}

#[test]
fn a_slow_terminal_link_bounds_what_a_terminal_sends_and_receives() {
    let mut spec = spec(SINGLE, DOR_ANY);
    rates(&mut spec, &[(2, 5)]);
    pattern(&mut spec, r#"{"random_permutation": {}}"#);
    phases(&mut spec, 1000, 5000);
    spec.set_load(0.9);
    let out = run(&spec);
    assert_eq!((out.injected_flits, out.accepted_flits), (8 * 2000, 8 * 2000));
    assert_eq!(imply(&spec).unwrap().channel_load_bound, Some(0.4));
}

/// A routing that works on every network.
const DOR_ANY: &str = SHORTEST;

#[test]
fn the_channel_load_bound_is_a_share_of_the_rate() {
    for (network, routing) in
        [(HYPERX, DOR), (HYPERX, ADAPTIVE), (TORUS, DOR), (DRAGONFLY, DF_MINIMAL), (TREE, UP_DOWN)]
    {
        let mut spec = spec(network, routing);
        let before = imply(&spec).unwrap();
        rates(&mut spec, &[(1, 2)]);
        let after = imply(&spec).unwrap();
        let half = before.channel_load_bound.map(|bound| bound / 2.0);
        assert_eq!(after.channel_load_bound, half, "{network}");
        let longer = after.zero_load_latency.unwrap() - before.zero_load_latency.unwrap();
        assert!((longer - 1.0).abs() < 1e-9, "{network}: {longer}");
    }
}

#[test]
fn the_memory_estimate_counts_the_time_on_slow_links() {
    // 32 flits take 7 * 32 additional cycles over links that take 8 cycles for each flit
    let mut spec = spec(TORUS, DOR);
    packets(&mut spec, 32, VirtualCutThrough, 64);
    let before = memory(&spec, ONE).in_flight;
    let mut later = spec.clone();
    later.router.ejection_delay += 7 * 32;
    rates(&mut spec, &[(1, 1), (1, 8)]);
    let slow = memory(&spec, ONE).in_flight;
    assert!(slow > 2 * before, "{slow} bytes, {before} at full rate");
    assert_eq!(slow, memory(&later, ONE).in_flight);
    rates(&mut spec, &[(1, 1)]);
    policy(&mut spec, r#"{"rate_ladder": {"epoch": "1us", "transition": "100ns"}}"#);
    later.router.ejection_delay -= 4 * 32;
    assert_eq!(memory(&spec, ONE).in_flight, memory(&later, ONE).in_flight, "at a quarter of the rate");
}

#[test]
fn few_flits_wait_for_a_slow_link() {
    // 4 terminals offer 8 times the capacity of the link. At most 2 flits wait for the link and one is on it. Therefore most credits stay
    // free. The input buffers of the router become full, but the buffer at the far end does not.
    let mut slow = spec(PAIR, DOR);
    pattern(&mut slow, NEXT_ROUTER);
    rates(&mut slow, &[(1, 1), (1, 8)]);
    (slow.links[1].latency, slow.links[1].credit_latency) = (8, 8);
    slow.set_load(0.25);
    phases(&mut slow, 0, 4000);
    let out = run(&slow);
    assert!(between_routers(&out).iter().all(|&flits| (495..=503).contains(&flits)), "{:?}", between_routers(&out));
    let mut small = slow.clone();
    // one flit is on the link, 2 wait for it, 2 are in flight, and equally many credits are returning
    small.links[1].vcs = 1;
    small.links[1].buffer = 6;
    assert!(between_routers(&run(&small)).iter().all(|&flits| (495..=503).contains(&flits)));
}

#[test]
fn flits_and_credits_are_conserved_over_mixed_rates() {
    let mixes: [&[(u128, u128)]; 3] = [&[(1, 1), (1, 3)], &[(2, 3), (3, 2), (5, 7)], &[(1, 2), (1, 1)]];
    for (k, pair) in half_of_pairs(1) {
        let mut spec = pair.spec();
        packets(&mut spec, [1, 4][k % 2], VirtualCutThrough, 8);
        rates(&mut spec, mixes[k % 3]);
        spec.router.output_buffer = [None, Some(0), Some(1)][k / 2 % 3];
        if k % 5 == 0 {
            router(&mut spec, (1, 1, 2));
        }
        spec.set_load(0.7);
        phases(&mut spec, 0, 600);
        fitting_policy(&mut spec, k % 4 == 0);
        mark_checked(&mut spec); // by `stall.rs` and `conservation.rs`
        check_drains(&mut spec, 600);
    }
}

#[test]
fn mixed_rates_give_the_same_bits_in_any_division() {
    for (network, routing) in
        [(HYPERX, UGAL_P_HISTORY), (DRAGONFLY, DF_UGAL), (TORUS, ADAPTIVE), (TREE, UP_DOWN_ADAPTIVE)]
    {
        let mut spec = spec(network, routing);
        rates(&mut spec, &[(2, 3), (1, 3), (3, 2)]);
        spec.set_load(0.3);
        phases(&mut spec, 200, 1000);
        let alone = run(&spec);
        let routers = spec.graph.routers() as usize;
        for (threads, blocks) in [(2, 3), (2, routers)] {
            assert_same(&alone, &run_as(&spec, Execution::new(threads, blocks)), network);
        }
    }
}

// ---- lower rates ----------------------------------------------------------------------------------------------------

/// Share of the window in which channels between routers are in state `state`: the smallest and the largest share of a channel.
fn share(out: &Outcome, state: LinkState) -> (f64, f64) {
    let between = out.channels.iter().filter(|c| c.from.is_some() && c.to.is_some());
    let shares = between.map(|c| c.cycles[state] as f64 / out.window as f64);
    shares.fold((1.0, 0.0), |(least, most), share| (least.min(share), most.max(share)))
}

#[test]
fn at_a_constant_load_the_ladder_comes_to_rest_where_its_thresholds_say() {
    // 4 terminals share the link, so it carries 4 times the load of a terminal. Below 0.25 the link changes to half of its rate, and below
    // 0.125 to a quarter.
    for (carried, state) in [(0.4, LinkState::On), (0.19, HALF), (0.08, QUARTER)] {
        let mut spec = spec(PAIR, DOR);
        pattern(&mut spec, NEXT_ROUTER);
        policy(&mut spec, r#"{"rate_ladder": {"epoch": "1us", "transition": "100ns"}}"#);
        spec.set_load(carried / 4.0);
        phases(&mut spec, 5000, 10_000);
        let out = run(&spec);
        assert_eq!(share(&out, state), (1.0, 1.0), "{carried}");
        assert_drained(&out);
    }
}

#[test]
fn the_ladder_goes_up_when_its_rate_is_too_little_and_carries_the_load() {
    // the idle warm-up leaves the channels at the slowest rate; from there they change up to the full rate
    let mut spec = spec(PAIR, DOR);
    pattern(&mut spec, NEXT_ROUTER);
    policy(&mut spec, r#"{"rate_ladder": {"epoch": "1us", "transition": "100ns"}}"#);
    spec.set_load(0.0);
    let idle = spec.traffic.jobs[0].phases[0].clone();
    let busy = LoadPhase { from: 5000, load: vec![0.2; 8], ..idle };
    spec.traffic.jobs[0].phases.push(busy);
    phases(&mut spec, 10_000, 5000);
    let out = run(&spec);
    assert_eq!(share(&out, LinkState::On), (1.0, 1.0));
    phases(&mut spec, 4000, 1000);
    assert_eq!(share(&run(&spec), QUARTER), (1.0, 1.0));
}

#[test]
fn a_channel_that_idles_at_a_lower_rate_carries_its_first_packets_at_that_rate() {
    let mut spec = spec(PAIR, DOR);
    pattern(&mut spec, NEXT_ROUTER);
    policy(&mut spec, r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns", "to": "quarter"}}"#);
    packets(&mut spec, 3, VirtualCutThrough, 32);
    // two packets are never in the network at the same time, so each packet finds the channel at a quarter of its rate: one flit every 4
    // cycles
    check_t0(spec.clone(), 0, |spec, hops| t0(spec, hops) + 9);
    spec.set_load(0.0);
    phases(&mut spec, 0, 1000);
    let idle = run(&spec);
    let between = idle.channels.iter().filter(|c| c.from.is_some() && c.to.is_some());
    for c in between {
        assert_eq!((c.cycles[LinkState::On], c.cycles[QUARTER], c.transitions), (40, 960, 1));
    }
}

#[test]
fn several_slowed_links_take_no_longer_for_a_flit_than_one() {
    // a packet of 3 flits without other traffic takes equally long over links slowed to a quarter and over links of rate 1/4
    for (network, routing) in [(TORUS, DOR), (HYPERX, DOR), (DRAGONFLY, DF_MINIMAL)] {
        let mut spec = spec(network, routing);
        pattern(&mut spec, r#"{"uniform": {}}"#);
        policy(&mut spec, r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns", "to": "quarter"}}"#);
        packets(&mut spec, 3, VirtualCutThrough, 32);
        alone(&mut spec, 0, APART);
        let (mut slow, mut always) = (spec.clone(), spec.clone());
        for (k, link) in slow.links.iter_mut().enumerate().skip(1) {
            assert!(spec.managed[k]);
            link.rate = rate(1, 4);
        }
        policy(&mut slow, r#"{"always_on": {}}"#);
        policy(&mut always, r#"{"always_on": {}}"#);
        let (slowed, slow, always) = (run(&spec), run(&slow), run(&always));
        assert_eq!(slowed.sums, slow.sums, "{network}");
        // a packet to the router of its source crosses no slowed link
        let far = slowed.sums.packets - slowed.hop_counts[0];
        assert!(far > 0 && slowed.sums.hops > far, "{network}: several links");
        assert_eq!(slowed.sums.latency - always.sums.latency, 9 * far, "{network}");
        for blocks in [2, spec.graph.routers() as usize] {
            assert_same(&slowed, &run_as(&spec, Execution::new(1, blocks)), network);
        }
    }
}

#[test]
fn changing_rates_give_the_same_bits_in_any_division() {
    for (network, routing) in [(HYPERX, DOR), (TORUS, ADAPTIVE), (TREE, UP_DOWN_ADAPTIVE)] {
        let mut spec = spec(network, routing);
        policy(&mut spec, r#"{"rate_ladder": {"epoch": "150ns", "transition": "20ns"}}"#);
        packets(&mut spec, 3, VirtualCutThrough, 32);
        spec.set_load(0.15);
        phases(&mut spec, 200, 1500);
        let alone = run(&spec);
        assert!(alone.channels.iter().map(|c| c.transitions).sum::<u64>() > 50, "{network}");
        for (threads, blocks) in [(2, 3), (2, spec.graph.routers() as usize)] {
            assert_same(&alone, &run_as(&spec, Execution::new(threads, blocks)), network);
        }
    }
}

#[test]
fn thresholds_of_the_ladder_without_sense_are_refused() {
    let cases = [
        (r#"{"rate_ladder": {"up": 0.3, "down": 0.5}}"#, "down", "0.5 is above up, 0.3"),
        (r#"{"rate_ladder": {"up": 1.5}}"#, "up", "1.5 is not a share"),
        (r#"{"rate_ladder": {"epoch": "1us", "transition": "1us"}}"#, "epoch", "a single change takes 1us"),
    ];
    for (json, key, what) in cases {
        let mut spec = spec(PAIR, DOR);
        policy(&mut spec, json);
        let refusal = weft_engine::check(&spec).expect_err(json);
        assert_eq!(refusal.path, format!("power.policy.rate_ladder.{key}"));
        assert!(refusal.what.contains(what), "{refusal}");
    }
}

#[test]
fn worms_in_tiny_buffers_do_not_wait_for_ever_for_links_that_want_to_change_their_rate() {
    for seed in [0, 3, 7] {
        let mut spec = spec(r#"{"torus": {"widths": [5, 3], "terminals_per_router": 2}}"#, VALIANT);
        packets(&mut spec, 5, Wormhole, 1);
        policy(
            &mut spec,
            r#"{"rate_ladder": {"epoch": "100ns", "transition": "5ns", "up": 0.4, "down": 0.2, "slowest": "half"}}"#,
        );
        rates(&mut spec, &[(2, 3), (1, 2)]);
        spec.set_load(0.9);
        spec.seed = seed;
        check_drains(&mut spec, 1000);
        // this also counts packets that wait at their sources
        let job = &mut spec.traffic.jobs[0];
        let quiet = LoadPhase { from: 1000, load: vec![0.0; job.terminals.len()], ..job.phases[0].clone() };
        job.phases.push(quiet);
        phases(&mut spec, 0, 400_000);
        let out = run(&spec);
        assert_eq!(out.missing_packets, 0, "seed {seed}: {:?}", out.ending);
    }
}
