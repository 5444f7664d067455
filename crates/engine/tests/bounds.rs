//! The worst case of every routing: its channel-load bound, derived by hand, is what `imply` says, is never exceeded and
//! is reached within 3 %.
//!
//! Offered is 1.2 of the bound or more. So that the bound of the channels shows, and not the limit of a router, buffers
//! are deep and the switch has speedup 3: with one FIFO per class and speedup 1, packets wait behind others that want
//! another output (head-of-line blocking), which takes up to 41 % off (`theory.rs`).

mod common;
use common::*;
use weft_engine::{Spec, imply};

/// Accepted load beyond the bound; flits that are in buffers behind the full channel when the window begins arrive in it,
/// too, at most half a percent of it.
fn beyond(spec: &mut Spec, pattern_json: &str, bound: f64) -> f64 {
    pattern(spec, pattern_json);
    queues(spec, 8, 64);
    router(spec, (1, 0, 3));
    spec.set_load((1.3 * bound).min(1.0));
    phases(spec, 3000, 6000);
    let accepted = accepted(&run(spec));
    assert!(accepted <= 1.005 * bound, "accepted {accepted}, bound {bound}");
    accepted / bound
}

/// Oblivious: `imply` knows the bound, and it is reached.
#[track_caller]
fn check(topology: &str, routing: &str, pattern_json: &str, bound: f64) {
    let mut spec = spec(topology, routing);
    let share = beyond(&mut spec, pattern_json, bound);
    let implied = imply(&spec).unwrap().channel_load_bound.unwrap();
    assert!((implied - bound).abs() < 1e-9, "{topology} {routing}: implied {implied}, derived {bound}");
    assert!(share >= 0.97, "{topology} {routing}: {share} of {bound}");
}

/// Adaptive: `imply` knows the bound of the minimal paths, which detours go beyond; no routing goes beyond `bound`. A
/// choice by queues gets a `share` of it.
#[track_caller]
fn check_adaptive(topology: &str, routing: &str, pattern_json: &str, bound: f64, share: f64) {
    let mut spec = spec(topology, routing);
    let got = beyond(&mut spec, pattern_json, bound);
    let minimal = imply(&spec).unwrap().channel_load_bound.unwrap();
    assert!(got >= share && got * bound > 1.3 * minimal, "{topology} {routing}: {got} of {bound}, minimal {minimal}");
}

const RING_8: &str = r#"{"torus": {"widths": [8], "terminals_per_router": 1}}"#;
const ROW_OF_4: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
const MESH_OF_6: &str = r#"{"full_mesh": {"routers": 6, "terminals_per_router": 4}}"#;
const TREE_4: &str = r#"{"k_ary_n_tree": {"k": 4, "n": 3}}"#;
const BIT_COMPLEMENT: &str = r#"{"bit_complement": {}}"#;
const BIT_REVERSE: &str = r#"{"bit_reverse": {}}"#;

#[test]
fn tornado_on_a_ring() {
    // every packet goes ceil(8 / 2) - 1 = 3 links up: each channel up carries 3
    for routing in [DOR, ENTRY, SHORTEST, SHORTEST_FIRST, ECMP] {
        check(RING_8, routing, TORNADO, 1.0 / 3.0);
    }
}

#[test]
fn tornado_on_a_hyperx() {
    // the 4 terminals of a router share a link in each dimension, whatever the order
    for routing in [DOR, MINIMAL, SHORTEST] {
        check(ROW_OF_4, routing, TORNADO, 1.0 / 4.0);
    }
}

#[test]
fn one_neighbour_on_a_full_mesh() {
    for routing in [DOR, SHORTEST, ECMP] {
        check(MESH_OF_6, routing, NEIGHBOR, 1.0 / 4.0);
    }
}

#[test]
fn group_shift_on_a_dragonfly() {
    // the a p = 8 terminals of a group share one global link; a path of two global links would be no shorter
    check(DRAGONFLY, DF_MINIMAL, ADVERSE, 1.0 / 8.0);
}

#[test]
fn valiant_needs_two_uniform_legs() {
    // each leg is uniform over 16 routers: 4 terminals * 4 / 16 = 1 flit per channel and leg
    check(ROW_OF_4, VALIANT, TORNADO, 1.0 / 2.0);
    check(ROW_OF_4, VALIANT, BIT_COMPLEMENT, 1.0 / 2.0);
}

#[test]
fn digit_reversal_defeats_the_lowest_digit_first() {
    // The lowest digit of the destination is the highest of the source, equal on a leaf: its 4 terminals share a link.
    check(TREE_4, D_MOD_K, BIT_REVERSE, 1.0 / 4.0);
    check(TREE_4, D_MOD_K, BIT_COMPLEMENT, 1.0);
}

#[test]
fn equal_high_digits_defeat_the_highest_digit_first() {
    // the highest digit of the destination is that of the source, complemented: equal on a leaf
    check(TREE_4, D_MOD_K_HIGH, BIT_COMPLEMENT, 1.0 / 4.0);
}

#[test]
fn random_ascent_fills_a_tree() {
    check(TREE_4, UP_DOWN, BIT_COMPLEMENT, 1.0);
}

#[test]
fn adaptive_ascent_fills_a_tree() {
    check(TREE_4, UP_DOWN_ADAPTIVE, BIT_COMPLEMENT, 1.0);
}

#[test]
fn detours_on_a_complete_line() {
    // k = 6 routers of t = 4 terminals that all send to one neighbour: its link carries m <= 1, the other k - 2 links of a
    // router carry first and second hops of d detours, so 2 d <= k - 2: m + d <= k / 2 = 3 flits of 4 terminals
    for routing in [UGAL, UGAL_P, DAL] {
        check_adaptive(MESH_OF_6, routing, NEIGHBOR, 3.0 / 4.0, 0.5);
    }
}

#[test]
fn detours_on_a_dragonfly() {
    // A group has a h = 8 global links; minimal packets (m <= 1) take one, detours two: m + 2 d <= 8, m + d <= 4.5 of 8
    for routing in [DF_UGAL, DF_UGAL_G] {
        check_adaptive(DRAGONFLY, routing, ADVERSE, 4.5 / 8.0, 0.5);
    }
}
