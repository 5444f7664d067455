//! Tests of plans with failed links: some by hand, and one with random faults in which the plan must join all leaves that can be joined.

use super::*;
use rand_pcg::rand_core::Rng;
use weft_api::links_up::above;
use weft_traffic::stream;

/// A tree like `fat_tree` with k = 4: 4 pods of 2 leaves, and 2 upward links on each of 2 levels.
fn small() -> Tree {
    Tree { radix: 2, levels: 2, leaves: (0..4).flat_map(|pod| [pod << 8, pod << 8 | 1]).collect() }
}

fn failed(links: &[(u64, u32)]) -> Failed {
    let mut failed = Failed::new();
    links.iter().for_each(|&(lower, up)| *failed.entry(lower).or_default() |= 1 << up);
    failed
}

/// The router of level 1 in pod `pod` to which upward link `up` of each leaf of this pod leads.
fn aggregation(pod: u64, up: u64) -> u64 {
    1 << LEVEL | pod << 8 | up
}

fn used(widths: [u32; 2], links: &[(u64, u32)]) -> Vec<Vec<Ups>> {
    let widths = Widths::equal(2, widths[0]).with(1, widths[1]);
    Plan::around(&small(), widths, &failed(links)).links.used
}

#[test]
fn without_faults_the_first_links_up_are_used() {
    assert_eq!(used([1, 1], &[]), [vec![1], vec![1, 0]]);
    assert_eq!(used([2, 1], &[]), [vec![3], vec![1, 1]]);
}

#[test]
fn a_core_that_is_dead_is_replaced_by_the_next_one_of_the_same_routers() {
    let core: Vec<_> = (0..4).map(|pod| (aggregation(pod, 0), 0)).collect();
    assert_eq!(used([1, 1], &core), [vec![1], vec![2, 0]]);
    assert_eq!(used([2, 1], &core), [vec![3], vec![2, 1]]);
    assert_eq!(used([2, 2], &core), [vec![3], vec![3, 3]], "the width counts, and packets avoid what has failed");
}

#[test]
fn a_broken_link_of_a_leaf_moves_the_tree_to_the_other_one() {
    assert_eq!(used([1, 1], &[(0x0200, 0)]), [vec![2], vec![0, 1]]);
    // the first router above the leaves of pod 2 has failed: all its links, down and up, count as failed
    let dead = [(0x0200, 0), (0x0201, 0), (aggregation(2, 0), 0), (aggregation(2, 0), 1)];
    assert_eq!(used([1, 1], &dead), [vec![2], vec![0, 1]]);
}

#[test]
fn a_dead_leaf_changes_nothing() {
    assert_eq!(used([1, 1], &[(0x0301, 0), (0x0301, 1)]), [vec![1], vec![1, 0]]);
}

#[test]
fn where_no_tree_is_whole_others_join_the_leaves_that_it_does_not() {
    // Upward link 0 of a leaf in pod 2 and upward link 1 of a leaf in pod 3 have failed. The leaf in pod 2 is reached over link 1, and the
    // leaf in pod 3 over link 0
    assert_eq!(used([1, 1], &[(0x0200, 0), (0x0300, 1)]), [vec![3], vec![1, 1]]);
    // no choice joins the two leaves of pod 2 with each other; each of them still reaches all other leaves
    assert_eq!(used([1, 1], &[(0x0200, 0), (0x0201, 1)]), [vec![3], vec![1, 1]]);
    // pod 1 reaches no core, but the leaves of pod 1 reach each other
    let cut_off = [(aggregation(1, 0), 0), (aggregation(1, 0), 1), (aggregation(1, 1), 0), (aggregation(1, 1), 1)];
    assert_eq!(used([1, 1], &cut_off), [vec![1], vec![1, 0]]);
}

/// True if a path from one leaf to another uses only links that are in use and work.
fn joined(links: &LinksUp, from: u64, to: u64) -> bool {
    let mut at = vec![from];
    loop {
        let Some(here) = at.pop() else { return false };
        if weft_api::coordinates::is_above(here, to) {
            return true;
        }
        let level = (here >> LEVEL) as usize;
        let chosen = (1u64 << (8 * level)) - 1;
        let opposite = (level as u64) << LEVEL | here & chosen | to & !chosen;
        let broken = [here, opposite].map(|lower| links.broken.get(&lower).copied().unwrap_or(0));
        let open = links.used[level][choices_below(here, level, links.radix)] & !broken[0] & !broken[1];
        at.extend(numbers_of(open).map(|up| above(here, up)));
    }
}

#[test]
fn all_leaves_that_can_be_joined_are_and_packets_are_led_there() {
    let mut rng = stream(13, 1, 1);
    let mut below = |n: usize| rng.next_u32() as usize % n;
    for round in 0..200 {
        let (radix, levels, top) = [(2, 2, 4), (3, 2, 3), (2, 3, 2), (2, 1, 3)][round % 4];
        let digits = |number: u64| {
            (0..levels).fold((0, number), |(coords, left), level| {
                let base = if level + 1 == levels { top } else { u64::from(radix) };
                (coords | (left % base) << (8 * level), left / base)
            })
        };
        let leaves: Vec<u64> =
            (0..top * u64::from(radix).pow(levels as u32 - 1)).map(|number| digits(number).0).collect();
        let tree = Tree { radix, levels, leaves };
        let mut failed = Failed::new();
        for _ in 0..below(8) {
            // the router at the lower end of a random failed link: a leaf, or a router above it
            let mut lower = tree.leaves[below(tree.leaves.len())];
            for _ in 0..below(levels) {
                lower = above(lower, below(radix as usize) as u32);
            }
            *failed.entry(lower).or_default() |= 1 << below(radix as usize);
        }
        let widths = (0..levels).fold(Widths(0), |widths, l| widths.with(l, 1 + below(radix as usize) as u32));
        let mut links = Plan::around(&tree, widths, &failed).links;
        links.broken = failed.clone();
        let mut all = Plan::plain(&tree, Widths::equal(levels, radix)).links;
        all.broken = failed;
        for (&from, &to) in tree.leaves.iter().flat_map(|from| tree.leaves.iter().map(move |to| (from, to))) {
            let expected = joined(&all, from, to);
            assert_eq!(joined(&links, from, to), expected, "{round}: {from:x} to {to:x} of {links:?}");
            // on the way up, a packet never arrives at a router without a further link in use
            let mut at = from;
            while expected && !weft_api::coordinates::is_above(at, to) {
                let choices: Vec<u32> = numbers_of(links.choices(at, to)).collect();
                at = above(at, choices[below(choices.len())]);
                assert!(joined(&links, at, to), "{round}: {from:x} to {to:x} at {at:x}");
            }
        }
    }
}
