//! Tests against theory: zero-load latencies, channel-load bounds and other limits, each with its derivation.

use crate::common::*;
use weft_engine::spec::FlowControl::{self, VirtualCutThrough, Wormhole};
use weft_engine::{Spec, imply};

// ---- zero-load latency ----------------------------------------------------------------------------------------------

/// A time longer than any packet of these tests needs: 10 hops of 10 + 3 cycles, 40 flits, and the return of the credits.
pub const APART: u64 = 300;

/// Zero-load latency: T0 = routers * delay + links + ejection + flits - 1, with hops + 1 routers, and equal links between routers.
pub fn t0(spec: &Spec, hops: u64) -> u64 {
    let wire = spec.links.get(1).map_or(0, |l| l.latency) * hops + 2 * spec.links[0].latency;
    (hops + 1) * spec.router.delay + wire + spec.router.ejection_delay + u64::from(spec.traffic.longest()) - 1
}

/// Lets only terminal `sender` send, and checks that every packet takes exactly the T0 of its number of hops. Returns the numbers of
/// hops that occurred in the run.
pub fn check_t0(spec: Spec, sender: u32, t0: impl Fn(&Spec, u64) -> u64) -> Vec<u64> {
    check_t0_after(0, spec, sender, t0)
}

/// Checks T0 like `check_t0`, if every packet also waits `wait` cycles at its source. The waiting cycles are a part of T0.
pub fn check_t0_after(wait: u64, mut spec: Spec, sender: u32, t0: impl Fn(&Spec, u64) -> u64) -> Vec<u64> {
    alone(&mut spec, sender, APART);
    let out = run(&spec);
    assert_drained(&out);
    assert_eq!(out.sums.packets, creations(&spec, sender).len() as u64);
    let what = format!("{:?} {:?} {} flits", spec.routing, spec.router, spec.traffic.longest());
    let mut total = 0;
    for (hops, &packets) in (0..).zip(&out.hop_counts) {
        let expected = t0(&spec, hops);
        total += packets * expected;
        // the histogram is exact below 2,048 cycles, so this checks every single packet
        assert!(out.latency.count_at(expected) >= packets, "{what}: {packets} packets of {hops} hops, T0 {expected}");
    }
    let in_network = total - out.sums.packets * wait;
    assert_eq!((out.sums.latency, out.sums.network_latency), (total, in_network), "{what}");
    out.hop_counts
}

#[test]
fn the_512_node_butterfly_has_t0_of_11_h_plus_4() {
    // h + 1 routers of 1 cycle, h links of 10 cycles, two terminal links of 1 cycle, ejection 1 cycle: 11 h + 4.
    for sender in [0, 77, 511] {
        let hops = check_t0(butterfly(DOR), sender, |_, h| 11 * h + 4);
        assert_eq!(hops.len(), 3, "packets of 0 (rarely), 1 and 2 hops: {hops:?}");
    }
}

#[test]
fn the_mean_over_the_pairs_of_the_butterfly_is_23_29() {
    // Of the 511 other terminals, 7/8 * 512 = 448 are in another column, and equally many in another row: mean h = 2 * 448 / 511.
    let mean_hops = 2.0 * 448.0 / 511.0;
    let implied = imply(&butterfly(DOR)).unwrap();
    let latency = implied.zero_load_latency.unwrap();
    assert!((implied.mean_hops.unwrap() - mean_hops).abs() < 1e-9);
    assert!((latency - (11.0 * mean_hops + 4.0)).abs() < 1e-9);
    assert_eq!(format!("{latency:.2}"), "23.29");
}

#[test]
fn a_packet_wakes_its_injection_link_then_each_next_one_and_that_of_its_terminal() {
    const TRANSITION: u64 = 25;
    // all links are off when the packet is created, so it wakes h links between routers and the links of both terminals
    for (topology, length) in [(HYPERX, 1), (HYPERX, 5), (TORUS, 1), (TRUNKS, 3)] {
        for (terminals, between_routers) in [(true, true), (true, false)] {
            let mut spec = spec(topology, DOR);
            packets(&mut spec, length, VirtualCutThrough, 32);
            policy(&mut spec, IDLE_TIMEOUT);
            spec.managed.fill(between_routers);
            spec.managed[0] = terminals;
            // the links are on at the start, in cycle 0
            while alone_from(&mut spec, 3) < APART {
                spec.seed += 1;
            }
            let woken = |hops: u64| 2 + if between_routers { hops } else { 0 };
            let hops = check_t0_after(TRANSITION, spec, 3, |spec, h| t0(spec, h) + woken(h) * TRANSITION);
            assert!(hops[1..].iter().sum::<u64>() > 10, "{hops:?}");
        }
    }
}

#[test]
fn a_packet_wakes_both_ends_of_each_link() {
    const TRANSITION: u64 = 25;
    for (topology, length, credit_latency) in [(HYPERX, 1, 10), (HYPERX, 5, 3), (TORUS, 1, 40), (TRUNKS, 3, 1)] {
        let mut spec = spec(topology, DOR);
        packets(&mut spec, length, VirtualCutThrough, 32);
        policy(&mut spec, r#"{"neighbour_sleep": {"idle": "40ns", "transition": "25ns"}}"#);
        spec.links.iter_mut().for_each(|link| link.credit_latency = credit_latency);
        while alone_from(&mut spec, 3) < APART {
            spec.seed += 1;
        }
        // both ends are off: the message reaches the other end, this end wakes, and its answer returns
        let message = credit_latency + spec.router.credit_delay;
        let wait = message + TRANSITION + message;
        let hops = check_t0(spec, 3, |spec, h| t0(spec, h) + h * wait);
        assert!(hops[1..].iter().sum::<u64>() > 10, "{hops:?}");
    }
}

/// The cycle in which `terminal` creates its first packet, if it sends alone.
fn alone_from(spec: &mut Spec, terminal: u32) -> u64 {
    alone(spec, terminal, APART);
    creations(spec, terminal)[0]
}

/// Settings (delay, vc_realloc, speedup) of the router. Separate steps for VC and switch allocation need a whole cycle at speedup 1.
const ROUTERS: [(u64, u8, u8); 9] =
    [(0, 0, 1), (0, 0, 2), (0, 1, 2), (1, 0, 1), (1, 1, 1), (1, 0, 2), (2, 1, 1), (2, 1, 2), (3, 0, 2)];

/// Runs pairs of topology and routing, each with one of the router settings. Neighbouring pairs, and packets of another length, have
/// different settings. `make test` runs half `half` of the pairs; `make test-all` runs all pairs, each with four settings. `buffer`: for
/// wormhole flow control, a size smaller than a packet, but larger than the credit loop (10 + 3 + 11 cycles).
fn check_pairs(half: usize, flits: u32, flow_control: FlowControl, buffer: u32) {
    for (k, pair) in half_of_pairs(half) {
        for &variant in in_turn(k + (flits + buffer) as usize, &ROUTERS) {
            let mut spec = pair.spec();
            packets(&mut spec, flits, flow_control, buffer);
            router(&mut spec, variant);
            spec.router.hold_switch = variant.1 == 0 && flow_control == VirtualCutThrough && k % 2 > 0;
            mark_checked(&mut spec); // by `stall.rs` and `conservation.rs`
            check_t0(spec, k as u32 % 8, t0);
        }
    }
}

#[test]
fn zero_load_latency_of_pairs_with_one_flit() {
    check_pairs(0, 1, VirtualCutThrough, 32);
}

#[test]
fn zero_load_latency_of_pairs_with_5_flits() {
    check_pairs(1, 5, VirtualCutThrough, 32);
}

#[test]
fn zero_load_latency_of_pairs_with_40_flits_that_cut_through() {
    check_pairs(0, 40, VirtualCutThrough, 40);
}

#[test]
fn zero_load_latency_of_pairs_with_40_flits_that_stream() {
    check_pairs(1, 40, Wormhole, 26);
}

#[test]
fn zero_load_latency_in_routers_of_more_than_64_ports_and_8_vcs() {
    // the router has 70 terminals and 20 links, so the last terminals and the links are in the second word of its port masks
    for routing in [DOR, UGAL_P] {
        let mut spec = spec(r#"{"hyperx": {"widths": [11, 11], "terminals_per_router": 70}}"#, routing);
        spec.links.iter_mut().for_each(|link| link.vcs = 16);
        check_t0(spec, 69, t0);
    }
}

#[test]
fn local_and_global_links_of_a_dragonfly_count_apart() {
    // To another group, one hop is a global link (30 cycles), and the other hops are local (7 cycles): T0 = 2 (h + 1) + 30 + 7 (h - 1) + 3.
    for sender in [0, 13, 71] {
        let mut spec = spec(DRAGONFLY, DF_MINIMAL);
        pattern(&mut spec, ADVERSE);
        router(&mut spec, (2, 1, 1));
        (spec.links[1].latency, spec.links[2].latency) = (7, 30);
        let hops = check_t0(spec, sender, |_, h| 2 * (h + 1) + 30 + 7 * h.saturating_sub(1) + 3);
        assert_eq!(hops[0], 0);
    }
}

/// Checks `imply` for a permutation with a single sender. The network then has only one path, and `imply` must return its length.
fn check_implied(mut spec: Spec, pattern_json: &str) {
    pattern(&mut spec, pattern_json);
    (1..spec.links.len()).for_each(|class| spec.links[class].latency = 5 + 8 * class as u64);
    packets(&mut spec, 3, VirtualCutThrough, 32);
    let step = if all_cases() { 1 } else { 3 };
    for sender in (0..spec.graph.terminals()).step_by(step) {
        alone(&mut spec, sender, APART);
        let implied = imply(&spec).unwrap().zero_load_latency.unwrap();
        let sums = run(&spec).sums;
        assert_eq!(sums.latency as f64, implied * sums.packets as f64, "{:?} from {sender}", spec.routing);
    }
}

#[test]
fn the_implied_latency_is_that_of_every_single_path() {
    check_implied(spec(HYPERX, DOR), TORNADO);
    check_implied(spec(HYPERX, MINIMAL), TORNADO);
    check_implied(spec(HYPERX, UGAL_P), NEIGHBOR);
    check_implied(spec(TORUS, DOR), NEIGHBOR);
    check_implied(spec(MESH, UGAL), NEIGHBOR);
    check_implied(spec(DRAGONFLY, DF_MINIMAL), r#"{"group_shift": {"shift": 2, "local": "same"}}"#);
    check_implied(spec(DRAGONFLY, DF_UGAL), r#"{"group_shift": {"shift": 5, "local": "same"}}"#);
    check_implied(spec(DRAGONFLY_PLUS, ECMP), r#"{"group_shift": {"shift": 4, "local": "same"}}"#);
}

// ---- channel-load bounds --------------------------------------------------------------------------------------------

/// Checks that at a load above `bound`, where the busiest channels are full, the accepted load is between `share` times `bound` and
/// `bound`. `window`: cycles of the window.
fn check_bound(mut spec: Spec, pattern_json: &str, load: f64, bound: f64, (share, window): (f64, u64)) {
    pattern(&mut spec, pattern_json);
    spec.set_load(load);
    phases(&mut spec, 2000, window);
    let implied = imply(&spec).unwrap().channel_load_bound.unwrap();
    assert!((implied - bound).abs() < 1e-9, "implied {implied}, derived {bound}");
    let accepted = accepted(&run(&spec));
    assert!(accepted <= bound && accepted >= share * bound, "accepted {accepted}, bound {bound}");
}

#[test]
fn minimal_under_tornado_on_the_butterfly_saturates_at_an_eighth() {
    // Tornado shifts routers by 3 in both dimensions, so the 8 terminals of a router share one link in each dimension.
    check_bound(butterfly(DOR), TORNADO, 0.3, 1.0 / 8.0, (0.99, 4000));
}

#[test]
fn dragonfly_minimal_under_adversarial_traffic_saturates_at_one_link_per_group() {
    // The a p = 8 terminals of a group share the single link to the next group.
    check_bound(spec(DRAGONFLY, DF_MINIMAL), ADVERSE, 0.3, 1.0 / 8.0, (0.99, 4000));
}

/// The dragonfly of the OFAR paper: 73 groups of 12 routers with 6 terminals and 6 global links each, in the palm-tree arrangement.
const H6: &str = r#"{"dragonfly": {"routers_per_group": 12, "terminals_per_router": 6, "global_links_per_router": 6}}"#;

#[test]
fn the_mean_path_of_the_dragonfly_of_5256_terminals_is_2_81_links() {
    // 5 other terminals are at the same router. 66 are in the same group, 1 link away. 5,184 are in other groups, over a global link and,
    // with probability 11/12 each, a local link before and after it.
    let mean = (66.0 + 5184.0 * (1.0 + 2.0 * 11.0 / 12.0)) / 5255.0;
    let implied = imply(&spec(H6, DF_MINIMAL)).unwrap();
    let hops = implied.mean_hops.unwrap();
    assert!(implied.sampled.is_none() && (hops - mean).abs() < 1e-9, "{hops}, derived {mean}");
    assert_eq!(format!("{hops:.2}"), "2.81");
}

/// The bound that `imply` returns for group-shifted traffic at h = 6, and the possible error of the bound.
fn shifted(routing: &str, shift: u32) -> (f64, f64) {
    let mut spec = spec(H6, routing);
    pattern(&mut spec, &format!(r#"{{"group_shift": {{"shift": {shift}}}}}"#));
    let implied = imply(&spec).unwrap();
    let bound = implied.channel_load_bound.unwrap();
    let error = implied.sampled.map_or(1e-9, |sampled| sampled.channel_load_bound.1 - sampled.channel_load_bound.0);
    (bound, error)
}

#[test]
fn group_shifts_hold_minimal_and_valiant_to_the_bounds_of_the_paper() {
    // the 72 terminals of group i share the single link to group i + N
    for shift in [1, 6] {
        let (bound, error) = shifted(DF_MINIMAL, shift);
        assert!((bound - 1.0 / 72.0).abs() <= error && error < 1e-6, "shift {shift}: {bound} +- {error}");
    }
    // Traffic is spread over 71 other groups, so each link carries 72/71 of a group's load out and 72/71 in. For N = 1 global links carry
    // twice that. In the intermediate group a packet arrives at port k and leaves at port k + N. A local link from one router of the palm
    // tree to the next therefore serves N such pairs of ports, each with 72/71. The first and the last local hops add half of 72/71 each.
    let shifts: &[u32] = if all_cases() { &[1, 2, 3, 4, 5, 6] } else { &[1, 3, 6] };
    for &shift in shifts {
        let derived = 71.0 / (72.0 * f64::from(shift + 1));
        let (bound, error) = shifted(DF_VALIANT, shift);
        assert!(
            (bound - derived).abs() <= error && error < 0.05 * derived,
            "shift {shift}: {bound} +- {error}, {derived}"
        );
    }
}

#[test]
fn valiant_under_tornado_saturates_near_one_half() {
    // Each of the two legs is uniform over all 64 routers, so a channel carries 8 terminals * 1/8 = 1 flit per cycle in each leg.
    check_bound(butterfly(VALIANT), TORNADO, 0.5, 1.0 / 2.0, (0.95, 2000));
    check_bound(butterfly(VALIANT), UNIFORM_SELF, 0.6, 1.0 / 2.0, (0.9, 2000));
}

#[test]
fn uniform_traffic_fills_the_butterfly() {
    // 8 terminals send 64 of 511 packets to each other column, which is 512 / 511 per channel.
    let mut spec = butterfly(DOR);
    spec.set_load(1.0);
    phases(&mut spec, 1500, 1500);
    assert!((imply(&spec).unwrap().channel_load_bound.unwrap() - 511.0 / 512.0).abs() < 1e-9);
    let accepted = accepted(&run(&spec));
    assert!((0.9..=511.0 / 512.0).contains(&accepted), "accepted {accepted}");
}

// ---- one switch -----------------------------------------------------------------------------------------------------

/// A switch of 8 x 8 with one FIFO per input, always full, with uniform traffic that includes the source.
fn check_head_of_line_limit(vc_realloc: u8, expected: f64) {
    let mut spec = spec(SINGLE, DOR);
    pattern(&mut spec, UNIFORM_SELF);
    queues(&mut spec, 1, 16);
    router(&mut spec, (1, vc_realloc, 1));
    spec.set_load(1.0);
    phases(&mut spec, 1000, 60_000);
    let accepted = accepted(&run(&spec));
    assert!((accepted / expected - 1.0).abs() < 0.01, "accepted {accepted}, expected {expected}");
}

#[test]
fn a_single_fifo_switch_has_the_head_of_line_limit() {
    // Hluchyj and Karol, IEEE JSAC 1988, table I: 0.6184 for N = 8 (2 - sqrt(2) = 0.586 as N grows without limit).
    check_head_of_line_limit(0, 0.6184);
}

#[test]
fn taking_a_vc_first_halves_the_head_of_line_limit() {
    // With one VC and a separate VC allocation step every packet occupies its output for two cycles.
    check_head_of_line_limit(1, 0.6184 / 2.0);
}

/// In this test each terminal sends to a different terminal, through one VC. A packet takes as many cycles to leave as it has flits. The
/// next head then waits for the time of its route, and one more cycle if there is a VC stage.
fn check_turn_round(flits: u32, vc_realloc: u8, routing_delay: u64) {
    let mut spec = spec(SINGLE, DOR);
    pattern(&mut spec, r#"{"bit_complement": {}}"#);
    packets(&mut spec, flits, VirtualCutThrough, 16);
    queues(&mut spec, 1, 16);
    router(&mut spec, (3, vc_realloc, 1));
    spec.router.routing_delay = routing_delay;
    check_t0(spec.clone(), 2, t0);
    spec.set_load(1.0);
    phases(&mut spec, 1000, 12_000);
    let cycles = f64::from(flits) + f64::from(vc_realloc) + routing_delay as f64;
    let (accepted, expected) = (accepted(&run(&spec)), f64::from(flits) / cycles);
    assert!((accepted - expected).abs() < 1e-3, "{:?}: accepted {accepted}, expected {expected}", spec.router);
}

#[test]
fn a_head_behind_another_packet_waits_for_its_route() {
    for (flits, vc_realloc, routing_delay) in
        [(1, 0, 0), (1, 0, 1), (1, 0, 3), (1, 1, 0), (1, 1, 1), (1, 1, 2), (4, 0, 2), (4, 1, 1)]
    {
        check_turn_round(flits, vc_realloc, routing_delay);
    }
}

#[test]
fn the_wait_for_a_route_is_part_of_the_delay() {
    let mut spec = spec(SINGLE, DOR);
    router(&mut spec, (2, 0, 1));
    spec.router.routing_delay = 3;
    let refusal = weft_engine::check(&spec).unwrap_err();
    assert_eq!(refusal.path, "router.routing_delay");
    assert!(refusal.what.contains("3 cycles") && refusal.what.contains("2 cycles"), "{refusal}");
}

// ---- adaptive routing -----------------------------------------------------------------------------------------------

/// In an idle network few packets take detours. Under tornado traffic, the accepted load is far above the minimal bound of 1/8. With UGAL
/// and 2 hops, a packet takes a detour only if its minimal output has had 2 flits within a credit round trip of 22 cycles. For other paths,
/// 3 or more flits are needed. At load 0.01 this number of flits has a Poisson distribution of mean 0.22, so 2 % of the packets take a
/// detour.
fn check_adaptive(routing: &str) {
    let mut spec = butterfly(routing);
    phases(&mut spec, 1000, 2000);
    spec.set_load(0.01);
    let sums = run(&spec).sums;
    assert!(sums.minimal as f64 >= 0.95 * sums.packets as f64, "{routing}: {} of {}", sums.minimal, sums.packets);
    pattern(&mut spec, TORNADO);
    spec.set_load(0.3);
    let accepted = accepted(&run(&spec));
    assert!(accepted > 2.0 / 8.0, "{routing}: {accepted}");
}

#[test]
fn ugal_is_minimal_when_idle_and_beats_minimal_under_tornado() {
    check_adaptive(UGAL);
    check_adaptive(UGAL_P);
}
