//! Up*/down on a k-ary n-tree: random links up to a nearest common ancestor, then the only way down.
//!
//! # Source
//! F. Petrini, M. Vanneschi, "k-ary n-trees", IPPS'97; BookSim's `nca` on `fattree`. Oblivious: BookSim draws a link at
//! each hop up, here all are drawn when the packet is made, which is the same distribution.
//! # Parameters
//! None.
//! # Guarantees
//! Minimal. One VC class: a packet that went down never goes up again, so every dependency leads from a link up to a
//! link of the level above or to a link down, or from a link down to one of the level below; acyclic.
//! # Not modelled
//! Choice of the link up by congestion (BookSim's `anca`) or by destination (D-mod-k).

use super::{Classes, Hop, below, draw, wrong_shape};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::{Graph, Shape};
use weft_units::Refusal;

/// Up*/down on a k-ary n-tree: random links up to a nearest common ancestor, then the only way down.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpDown {}

#[derive(Debug, Clone)]
pub struct Runtime {
    k: u32,
    n: u32,
}

impl UpDown {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let &Shape::KAryNTree { k, n } = graph.shape() else {
            return Err(wrong_shape("up_down", "k-ary n-trees", graph.shape()));
        };
        Ok((Runtime { k, n }, vec![1; graph.class_names().len()]))
    }
}

/// Coordinates: digit i of the position in byte i, the level in byte 7.
const LEVEL: u32 = 56;
const DIGITS: u64 = (1 << LEVEL) - 1;

/// Coordinates of router `router` of a k-ary n-tree.
pub fn coordinates(router: u32, k: u32, n: u32) -> u64 {
    let width = k.pow(n - 1);
    u64::from(router / width) << LEVEL | digits(router % width, k)
}

/// The digits of a position (or of any number), one per byte.
fn digits(mut number: u32, k: u32) -> u64 {
    let (mut packed, mut shift) = (0, 0);
    while number > 0 {
        packed |= u64::from(number % k) << shift;
        number /= k;
        shift += 8;
    }
    packed
}

fn digit(packed: u64, i: u32) -> u8 {
    (packed >> (8 * i)) as u8
}

/// Level of the nearest common ancestors of two leaves: one above their highest different digit.
fn meeting_level(a: u64, b: u64) -> u32 {
    (u64::BITS - ((a ^ b) & DIGITS).leading_zeros()).div_ceil(8)
}

impl Runtime {
    /// Draws the links up of all levels: byte i of `target` is the link from level i to level i + 1.
    pub(super) fn source(&self, seed: u64, packet: &mut Packet) {
        let link = |i| u64::from(below(draw(seed, packet, 0xa7 + u64::from(i)), self.k)) << (8 * i);
        packet.target = (0..self.n - 1).map(link).sum();
    }

    #[inline(always)]
    pub(super) fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        let level = (at >> LEVEL) as u32;
        // Links below a router change the digits below its level, so the others say which leaves are under it.
        let is_above = ((at ^ packet.dest) & DIGITS) >> (8 * level) == 0;
        let port = match level.checked_sub(1) {
            _ if !is_above => self.k as u8 + digit(packet.target, level),
            None => packet.dst_port,
            Some(below) => digit(packet.dest, below),
        };
        Some(Hop { port, class: 0 })
    }

    /// Most paths between two leaves.
    pub(super) fn most_paths(&self) -> u64 {
        u64::from(self.k).pow(self.n - 1)
    }

    /// The packet over every nearest common ancestor.
    pub(super) fn detours(&self, at: u64, packet: Packet) -> impl Iterator<Item = Packet> + use<> {
        let k = self.k;
        let ancestors = k.pow(meeting_level(at, packet.dest));
        (0..ancestors).map(move |ancestor| Packet { target: digits(ancestor, k), ..packet })
    }

    /// Packets, with the leaves they start from, that together take every turn that any packet can take; all leaves in
    /// pairs over all ancestors would be k^(3n-3) walks, these are (n-1) k^(n+1).
    ///
    /// A turn at router R is from a link up to a link up, from up to down, or from down to down. For each router A above
    /// the leaves, each of its children c and each grandchild j there, one packet goes from below (c, j) over A to below
    /// (c', j), where c' = c + max(j, 1) mod k is never c. Every pair of different children of A is there, so is every
    /// turn up-down at A. The packets enter c from every j, so there is every turn from j up at c to A; and they
    /// leave by every (c', j), as j runs over 0..k for each c', so there is every turn from A down at c' to j.
    pub(crate) fn every_turn(&self) -> impl Iterator<Item = (u32, Packet)> + use<> {
        let (k, n) = (self.k, self.n);
        let ancestors = (1..n).flat_map(move |level| (0..k.pow(n - 1)).map(move |position| (level, position)));
        ancestors.flat_map(move |(level, position)| {
            let child = k.pow(level - 1);
            let here = position / (child * k) * (child * k);
            let below = move |c: u32, j: u32| here + c * child + j * (child / k);
            (0..k * k).map(move |choice| {
                let (c, j) = (choice / k, choice % k);
                let dest = digits(below((c + j.max(1)) % k, j), k);
                (below(c, j), Packet { dest, target: digits(position, k), ..Packet::default() })
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::{AnyRouting, RoutingConfig};
    use crate::spec::Execution;
    use crate::{Spec, imply};
    use std::collections::BTreeSet;
    use weft_topology::{Peer, TopologyConfig, hyperx::HyperX, k_ary_n_tree::KAryNTree};

    fn spec(k: u32, n: u32) -> Spec {
        let topology = TopologyConfig::KAryNTree(KAryNTree { k, n });
        Spec::new(&topology, RoutingConfig::UpDown(UpDown {})).unwrap()
    }

    fn pattern(spec: &mut Spec, json: &str) -> Result<(), Refusal> {
        spec.set_pattern(&serde_json::from_str(json).unwrap())
    }

    /// Walks a packet and adds its turns, as (channel, next channel), to `turns`; returns where it is delivered.
    fn walk(graph: &Graph, runtime: &Runtime, from: u32, mut packet: Packet, turns: &mut BTreeSet<[u32; 2]>) -> u32 {
        let Shape::KAryNTree { k, n } = *graph.shape() else { panic!("no tree") };
        let (mut at, mut last) = (from, None);
        loop {
            let hop = runtime.next(coordinates(at, k, n), &mut packet, 1).unwrap();
            let Peer::Router { router, .. } = graph.ports(at)[hop.port as usize].peer else { return at };
            let channel = graph.port_base(at) + u32::from(hop.port);
            turns.extend(last.map(|last| [last, channel]));
            (last, at) = (Some(channel), router);
        }
    }

    #[test]
    fn a_few_packets_take_every_turn() {
        for (k, n) in [(2, 1), (2, 2), (2, 5), (3, 3), (4, 3), (5, 2)] {
            let graph = spec(k, n).graph;
            let runtime = Runtime { k, n };
            let (mut few, mut all) = (BTreeSet::new(), BTreeSet::new());
            for (from, packet) in runtime.every_turn() {
                let to = walk(&graph, &runtime, from, packet, &mut few);
                assert_eq!(coordinates(to, k, n), packet.dest);
            }
            let leaves = k.pow(n - 1);
            for (from, to) in (0..leaves).flat_map(|from| (0..leaves).map(move |to| (from, to))) {
                let packet = Packet { dest: coordinates(to, k, n), ..Packet::default() };
                for packet in runtime.detours(coordinates(from, k, n), packet) {
                    assert_eq!(walk(&graph, &runtime, from, packet, &mut all), to);
                }
            }
            assert!(few == all, "{k}-ary {n}-tree: {} turns of {}", few.len(), all.len());
        }
    }

    #[test]
    fn every_link_up_is_drawn_equally_often() {
        let runtime = Runtime { k: 4, n: 3 };
        let mut drawn = [[0; 4]; 2];
        for seq in 0..4000 {
            let mut packet = Packet { src: seq % 7, seq, ..Packet::default() };
            runtime.source(1, &mut packet);
            (0..2).for_each(|level| drawn[level as usize][usize::from(digit(packet.target, level))] += 1);
        }
        // Of 4,000 draws a quarter each, 5 sigma = 5 sqrt(4000 * 1/4 * 3/4) = 137.
        assert!(drawn.iter().flatten().all(|count| (1000i32 - count).abs() < 137), "{drawn:?}");
    }

    #[test]
    fn implies_the_means_of_uniform_traffic() {
        // 4-ary 3-tree: of 64 targets, itself included, 4 are on the same leaf, 12 are 2 and 48 are 4 links away; a
        // packet over a top crosses 2 links of each level. 10, 20 and 1 cycles of wire, 1 of router, 1 of ejection.
        let mut spec = spec(4, 3);
        pattern(&mut spec, r#"{"uniform": {"include_self": true}}"#).unwrap();
        (spec.links[1].latency, spec.links[2].latency) = (10, 20);
        let implied = imply(&spec).unwrap();
        let (two, four) = (12.0 / 64.0, 48.0 / 64.0);
        let (hops, wire) = (2.0 * two + 4.0 * four, 20.0 * two + 60.0 * four);
        assert!((implied.mean_hops.unwrap() - hops).abs() < 1e-9);
        assert!((implied.zero_load_latency.unwrap() - (hops + 1.0 + wire + 2.0 + 1.0)).abs() < 1e-9);
        assert_eq!(implied.vc_classes, [1, 1, 1]);
    }

    #[test]
    fn implies_that_a_permutation_fills_no_link() {
        // The k terminals of a leaf share its k links up equally, and so on above: 1 flit per cycle and channel at most.
        let mut spec = spec(4, 3);
        pattern(&mut spec, r#"{"bit_complement": {}}"#).unwrap();
        assert_eq!(imply(&spec).unwrap().channel_load_bound, Some(1.0));
    }

    #[test]
    fn lone_packets_take_the_implied_latency() {
        // Bit complement changes every digit: 4 links, 2 of each level, and 5 routers.
        let mut spec = spec(4, 3);
        pattern(&mut spec, r#"{"bit_complement": {}}"#).unwrap();
        (spec.links[1].latency, spec.links[2].latency) = (10, 20);
        spec.set_load(0.0);
        spec.set_load_of(5, 0.01);
        let sums = crate::run(&spec, Execution { threads: 1, blocks: 1 }, &()).unwrap().sums;
        let expected = imply(&spec).unwrap().zero_load_latency.unwrap();
        assert_eq!(expected, (5 + 60 + 2 + 1) as f64);
        assert!(sums.packets > 20 && sums.hops == 4 * sums.packets);
        assert_eq!(sums.latency as f64, expected * sums.packets as f64);
    }

    #[test]
    fn other_shapes_and_patterns_of_other_shapes_are_refused() {
        let hyperx = TopologyConfig::HyperX(HyperX { widths: vec![4], terminals_per_router: 1 });
        let graph = hyperx.build("topology").unwrap();
        let refusal = AnyRouting::build(&RoutingConfig::UpDown(UpDown {}), &graph).unwrap_err();
        assert_eq!(refusal.what, "up_down routes k-ary n-trees, but the topology is hyperx");
        let mut spec = spec(4, 3);
        for refused in [r#"{"tornado": {}}"#, r#"{"neighbor": {}}"#, r#"{"group_shift": {"shift": 1}}"#] {
            assert!(pattern(&mut spec, refused).is_err(), "{refused}");
        }
        pattern(&mut spec, r#"{"tornado": {"by": {"digits": {"radix": 4, "digits": 3}}}}"#).unwrap();
    }
}
