//! FleX minimal: shortest paths through layers that are joined crosswise; the VC class is the hop index.
//!
//! # Source
//! M. Jeon et al., "FleX: A Flex Interconnected HPC System with Stochastic Load Balancing Scheme", IEEE Access 10 (2022),
//! algorithm 1, whose loop has to run while the packet is not at its destination (it prints "while it is").
//! # Parameters
//! paths: `balanced`, at each router any hop that begins a shortest path, all equally likely; `printed`, those that
//! algorithm 1 names: over the layer below where source and destination are in one layer, y before x, and x alone where
//! both x and y are right.
//! # Guarantees
//! Minimal; as many VC classes as links on the longest shortest path; the class rises with each hop, so dependencies are
//! acyclic. Of two or three layers `balanced` makes all shortest paths equally likely; of more, all hops at each router.
//! `printed` needs three layers of at least 3 x 3 routers. On 6 x 6 x 3 routers of 10 terminals uniform traffic (with
//! packets to oneself) can reach 27 / 31 = 0.871 flits per terminal and cycle under `printed`, and under `balanced`
//! 108 / 97 = 1.113, more than a terminal sends. No tables.
//! # Not modelled
//! A choice by congestion. The detours that the paper proposes where the link between two neighbours has failed.
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `engine/tests/conservation.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! The tests of this file: `balanced` lists the hops of `shortest_path`, `printed` those of the algorithm.
//! `engine/tests/bounds.rs`: the bounds of both under uniform traffic are reached. No rows of a peer.

use crate::api::coordinates;
use crate::models::routing::{
    Accepts, Classes, Example, Hop, Needs, Proof, Routing, RoutingModel, Step, below, draw, same_classes,
};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_topology::{CrossedLayers, Crossing, Graph, Offset};
use weft_units::Refusal;

/// Shortest paths through layers that are joined crosswise; the VC class is the hop index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlexMinimal {
    /// Which of the shortest paths.
    #[serde(default)]
    pub paths: Paths,
}

/// Which of the shortest paths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Paths {
    /// Any: at each router, all hops that begin one are equally likely.
    #[default]
    Balanced,
    /// Those of algorithm 1 of the paper.
    Printed,
}

/// Most VCs of a link, and so most classes.
const MAX_CLASSES: u32 = 16;

/// Most kinds of first hops: up or down, along x or y, to the coordinate of the destination or to another one.
const MAX_KINDS: usize = 8;

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    layers: u32,
    /// Coordinates with x in byte 0, y in byte 1 and the layer in byte 2 say how routers lie to each other. By layer
    /// further up * 4 + whether y differs * 2 + whether x does: the hops that a packet may take.
    first_hops: Arc<[FirstHops]>,
}

/// The hops to routers that lie alike.
#[derive(Debug, Clone, Copy, Default)]
struct FirstHops {
    kinds: [Kind; MAX_KINDS],
    /// Routers to which they lead.
    count: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Kind {
    /// The port to coordinate 0 of the axis, for a router whose own coordinate is above.
    first_port: u8,
    /// Bits of the axis in the coordinates.
    shift: u8,
    /// To the coordinate of the destination; else to any other.
    arrives: bool,
    /// Routers to which it leads; 0 behind the last kind.
    count: u32,
}

impl RoutingModel for FlexMinimal {
    type Routing = Runtime;
    const ROUTES: &'static str = "layers of routers in a ring, joined crosswise";

    fn fits(graph: &Graph) -> bool {
        graph.structure().crossed.is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let crossed = graph.structure().crossed.as_ref().expect("a graph that fits");
        let [x, y, layers] = crossed.widths;
        if self.paths == Paths::Printed && (x.min(y) < 3 || layers != 3) {
            let what =
                format!("algorithm 1 of FleX is for 3 layers of at least 3 x 3 routers, not for {x} x {y} x {layers}");
            return Err(Refusal::new("routing.flex_minimal.paths", what, "write balanced"));
        }
        let longest = graph.diameter();
        if longest > MAX_CLASSES {
            let what = format!(
                "paths of up to {longest} links need {longest} VC classes, and a link has at most {MAX_CLASSES} VCs"
            );
            return Err(Refusal::new("routing.flex_minimal", what, "take fewer layers"));
        }
        let first_hops = (0..4 * layers).map(|kind| {
            let offset = Offset { differs: [kind & 1 == 1, kind & 2 == 2], layers: kind / 4 };
            let exists = (0..2).all(|axis| !offset.differs[axis] || crossed.widths[axis] > 1);
            if exists { FirstHops::of(crossed, offset, self.paths) } else { FirstHops::default() }
        });
        Ok(Runtime { classes: same_classes(graph, longest as u8), layers, first_hops: first_hops.collect() })
    }

    fn examples() -> Vec<Example<Self>> {
        const SMALL: &str = r#"{"flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 8}}"#;
        const UNIFORM: &str = r#"{"uniform": {"include_self": true}}"#;
        vec![
            // Every router sends 8 / 27 flits to each. Hops up along x, by destination, of one router: in the same layer 2
            // to the 2 along x (of 2 each, one is up) and 2 to the 4 that differ in both (a quarter of 2 each); in the layer
            // above 2 to the 2 along x; in the layer below 1 to the router at the same place (half of 2) and 4 to the 4 that
            // differ in both (half of 2 each). These 11 hops share 2 channels.
            Example::of("{}").bound(SMALL, UNIFORM, Accepts::UpTo(27.0 / (8.0 * 5.5))),
            // The same 2 to the 2 along x, and the 2 in the layer above; all 4 to the 4 that differ in both in the same layer,
            // which go down along y first; below 2 to the router at the same place, which go along x, and 4 as before: 14.
            Example::of(r#"{"paths": "printed"}"#).only_on(&[SMALL]).bound(
                SMALL,
                UNIFORM,
                Accepts::UpTo(27.0 / (8.0 * 7.0)),
            ),
        ]
    }
}

impl FirstHops {
    fn of(crossed: &CrossedLayers, offset: Offset, paths: Paths) -> Self {
        let mut hops = crossed.first_hops(offset);
        if paths == Paths::Printed {
            hops.retain(|hop| is_printed(hop, offset));
        }
        let mut first = Self { count: hops.iter().map(|hop| hop.count).sum(), ..Self::default() };
        for (kind, hop) in first.kinds.iter_mut().zip(&hops) {
            *kind = Kind {
                first_port: crossed.first_port_of(hop.up, hop.axis) as u8,
                shift: 8 * hop.axis as u8,
                arrives: hop.arrives,
                count: hop.count,
            };
        }
        first
    }

    /// The port number `number` (below `count`) of a router at `at` to `dest`.
    #[inline(always)]
    fn port(&self, at: u64, dest: u64, mut number: u32) -> u8 {
        let mut kinds = self.kinds.iter();
        let kind = kinds.find(|kind| {
            let is_it = number < kind.count;
            number -= if is_it { 0 } else { kind.count };
            is_it
        });
        let kind = kind.expect("a number below the count");
        let (own, to) = ((at >> kind.shift) as u8, (dest >> kind.shift) as u8);
        let skipped = to - u8::from(to > own);
        let place = match kind.arrives {
            true => skipped,
            // ports leave the own coordinate out; the one of the destination is left out, too
            false => number as u8 + u8::from(own != to && number as u8 >= skipped),
        };
        kind.first_port + place
    }
}

/// Whether algorithm 1 takes this hop of a shortest path of three layers.
fn is_printed(hop: &Crossing, offset: Offset) -> bool {
    match (offset.layers == 0, offset.differs) {
        // the direct link
        (false, [true, false] | [false, true]) => true,
        // over the third layer, along x to any other router
        (false, [false, false]) => hop.axis == 0,
        // over the third layer, first along y
        (false, [true, true]) => hop.axis == 1,
        // over the layer below, along the axis that differs
        (true, [true, false] | [false, true]) => !hop.up,
        // over the layer below, first along y
        (true, [true, true]) => !hop.up && hop.axis == 1,
        (true, [false, false]) => unreachable!("a packet at its destination goes nowhere"),
    }
}

impl Runtime {
    /// The hops that a packet at `at` (not at its destination) may take.
    #[inline(always)]
    fn first_hops(&self, at: u64, dest: u64) -> &FirstHops {
        let differ = at ^ dest;
        let (own, to) = ((at >> 16) as u32, (dest >> 16) as u32);
        let up = if to >= own { to - own } else { to + self.layers - own };
        let differs = u32::from(differ & 0xff != 0) | u32::from(differ & 0xff00 != 0) << 1;
        &self.first_hops[(4 * up + differs) as usize]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), ..Needs::default() }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        coordinates::in_crossed_layers(graph).expect("a graph that fits")
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let class = packet.lane;
        packet.lane += 1;
        let hops = self.first_hops(at, packet.dest);
        let number = match hops.count {
            1 => 0,
            count => below(draw(seed, packet, 0xf1e + u64::from(class)), count),
        };
        Some(Hop { port: hops.port(at, packet.dest, number), class })
    }

    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let (class, after) = (packet.lane, Packet { lane: packet.lane + 1, ..*packet });
        let hops = self.first_hops(at, packet.dest);
        let ports = (0..hops.count).map(|number| hops.port(at, packet.dest, number));
        ports.map(|port| Step { hop: Hop { port, class }, after, cost: None }).collect()
    }

    fn can_be_a_leg(&self) -> bool {
        true
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    fn draws_hops(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::{Peer, TopologyConfig};

    fn graph(widths: &str, layers: u32) -> Graph {
        let text = format!(r#"{{"flex": {{"widths": {widths}, "layers": {layers}, "terminals_per_router": 1}}}}"#);
        serde_json::from_str::<TopologyConfig>(&text).expect("a topology").build("topology").expect("a graph")
    }

    /// The routers to which a packet may hop, ascending.
    fn hops(routing: &Runtime, graph: &Graph, coords: &[u64], from: u32, to: u32) -> Vec<u32> {
        let packet = Packet { dest: coords[to as usize], ..Packet::default() };
        let steps = routing.steps(coords[from as usize], &packet, 1);
        let far = |step: &Step| match graph.ports(from)[usize::from(step.hop.port)].peer {
            Peer::Router { router, .. } => router,
            Peer::Terminal(_) | Peer::Unused => panic!("port {} leads to no router", step.hop.port),
        };
        let mut hops: Vec<u32> = steps.iter().map(far).collect();
        hops.sort_unstable();
        hops
    }

    #[test]
    fn balanced_lists_every_hop_that_begins_a_shortest_path() {
        for (widths, layers) in
            [("[3, 3]", 3), ("[4, 3]", 2), ("[3, 4]", 4), ("[2, 2]", 5), ("[4, 1]", 6), ("[5, 2]", 7)]
        {
            let graph = graph(widths, layers);
            let routing = FlexMinimal::default().build(&graph).unwrap();
            let coords = routing.coordinates(&graph);
            for to in 0..graph.routers() {
                let distances = graph.distances_from(to);
                for from in (0..graph.routers()).filter(|&from| from != to) {
                    let is_nearer = |&far: &u32| distances[far as usize] < distances[from as usize];
                    let peers = graph.ports(from).iter().filter_map(|port| match port.peer {
                        Peer::Router { router, .. } => Some(router),
                        Peer::Terminal(_) | Peer::Unused => None,
                    });
                    let mut expected: Vec<u32> = peers.filter(is_nearer).collect();
                    expected.sort_unstable();
                    assert_eq!(
                        hops(&routing, &graph, &coords, from, to),
                        expected,
                        "{widths} x {layers}: {from} to {to}"
                    );
                }
            }
        }
    }

    #[test]
    fn printed_takes_the_hops_of_algorithm_1() {
        // 4 x 3 x 3: router = x + 4 y + 12 z
        let graph = graph("[4, 3]", 3);
        let routing = FlexMinimal { paths: Paths::Printed }.build(&graph).unwrap();
        let coords = routing.coordinates(&graph);
        let router = |[x, y, z]: [u32; 3]| x + 4 * y + 12 * z;
        let from = [1, 1, 0];
        let cases: [([u32; 3], &[[u32; 3]]); 8] = [
            // in the same layer: over the one below (layer 2), along x, along y, or along y first
            ([3, 1, 0], &[[0, 1, 2], [2, 1, 2]]),
            ([1, 2, 0], &[[1, 0, 2]]),
            ([3, 2, 0], &[[1, 2, 2]]),
            // at the same place in another layer: along x into the third one
            ([1, 1, 1], &[[0, 1, 2], [2, 1, 2], [3, 1, 2]]),
            ([1, 1, 2], &[[0, 1, 1], [2, 1, 1], [3, 1, 1]]),
            // neighbours
            ([3, 1, 1], &[[3, 1, 1]]),
            // along y into the third layer
            ([3, 2, 1], &[[1, 2, 2]]),
            ([3, 2, 2], &[[1, 2, 1]]),
        ];
        for (to, expected) in cases {
            let expected: Vec<u32> = expected.iter().map(|&far| router(far)).collect();
            assert_eq!(hops(&routing, &graph, &coords, router(from), router(to)), expected, "to {to:?}");
        }
    }

    #[test]
    fn printed_is_refused_where_the_algorithm_does_not_lead_on() {
        for (widths, layers) in [("[3, 3]", 4), ("[3, 2]", 3)] {
            let refusal = FlexMinimal { paths: Paths::Printed }.build(&graph(widths, layers)).unwrap_err();
            assert_eq!(
                (refusal.path.as_str(), refusal.help.as_str()),
                ("routing.flex_minimal.paths", "write balanced")
            );
        }
        let far = FlexMinimal::default().build(&graph("[3, 1]", 40)).unwrap_err();
        assert!(far.what.starts_with("paths of up to 20 links need 20 VC classes"), "{}", far.what);
    }
}
