//! LASH: shortest paths on any graph, divided into layers. Each layer is a VC class in which the paths form no cycle of dependencies.
//!
//! # Source
//! T. Skeie, O. Lysne, I. Theiss, "Layered shortest path (LASH) routing in irregular system area networks", IPDPS 2002. Paths are spread
//! over links as in T. Hoefler, T. Schneider, A. Lumsdaine, "Optimized routing for large-scale InfiniBand networks", Hot Interconnects
//! 2009. There, the paths to one destination after the other take the links that are on the fewest paths so far.
//! # Parameters
//! `weight`: definition of the length of a path. It is the number of its `links`, the sum of their `latency` \[cycles\], or the sum of
//! their `cost`, which the link class determines. `layers`: largest number of layers, 1 to 16.
//! # Guarantees
//! All packets between two routers take the same shortest path. Weft chooses the paths to one destination after the other. If several paths
//! are equally short, a router takes the path whose first link is on the fewest paths to earlier destinations. Then Weft puts the paths
//! into layers, the longest path first. Each path goes into the first layer in which it closes no cycle of dependencies. After that, paths
//! move to the layers with fewer paths, if they close no cycle there. A packet stays in its layer. Therefore the dependencies between
//! channels have no cycle. The number of VC classes is the number of layers that contain paths. Weft refuses a network that needs more than
//! `layers` layers. Large tori need many layers: 5 for 10x10 routers, 7 for 16x16 routers, and more than 8 for 24x24 routers. The routing
//! table has at most six bytes for each pair of a router and a destination router, and in total at most 1 GiB. Faults: a packet whose head
//! meets a broken link is discarded, because a path has no alternative hop. Saturation loads were measured to within 0.03, under uniform
//! traffic of 4-flit packets with 12 VCs of 16 flits per link. A ring of 16 routers saturates at 0.40 with LASH (2 layers), and at 0.45
//! with `shortest_path` (8 VC classes). A random graph of 32 routers with 4 links each saturates at 0.81 with LASH (3 layers), and at 0.97
//! with `shortest_path` (4 VC classes). LASH balances the load less well than `shortest_path`, because it has only one path per pair of
//! routers.
//! # Not modelled
//! Several paths between two routers; choices that depend on congestion; new tables after a fault (packets on old and on new paths could
//! block each other).
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/deadlock_free.rs` checks that dependencies have no cycle on 200 random graphs with at most 8
//! layers. The graphs include rings, trees, stars and wide-area networks. A test in this file checks the layers of tori.
//! `engine/tests/bounds.rs` checks that throughput reaches the theoretical bounds of a full mesh and a butterfly. No test compares this
//! routing with another simulator.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_graph::{self, Wiring};
use crate::routing::weighted::{Paths, Weight};
use crate::routing::{
    Classes, Example, Hop, MAX_CLASSES, Proof, Routing, RoutingModel, Step, same_classes, with_few_classes,
};
use layers::Layers;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::sync::Arc;
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

mod layers;

/// LASH: shortest paths on any graph, divided into layers. Each layer is a VC class in which the paths form no cycle of dependencies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lash {
    /// Definition of the length of a path.
    #[serde(default)]
    pub weight: Weight,
    /// Largest number of layers, 1 to 16. Each layer is a VC class.
    #[serde(default = "eight")]
    pub layers: u8,
}

fn eight() -> u8 {
    8
}

/// The tables of the routing. In a packet's state, `dim` is 0 at the source router and 1 after the first hop, and `lane` is the packet's
/// layer.
#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    wiring: Wiring,
    /// For each router and destination (index: [`Wiring::place`]): the port of the next hop. [`NONE`] at the destination, or without a
    /// path.
    ports: Arc<[u16]>,
    /// For each router with terminals and each destination (index as for `ports`): the layer of the path.
    layers: Arc<[u8]>,
}

const NONE: u16 = u16::MAX;

impl RoutingModel for Lash {
    type Routing = Runtime;
    on_graph::routes_any_graph!();

    const FEW_CLASSES: bool = true;

    fn table_bytes(&self, graph: &Graph) -> u64 {
        on_graph::table_bytes(graph, 2) + self.weight.table_bytes(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        if !(1..=MAX_CLASSES).contains(&self.layers) {
            let what = format!("{} layers are out of range", self.layers);
            return Err(Refusal::new("routing.lash.layers", what, format!("write 1 to {MAX_CLASSES}")));
        }
        let paths = Paths::of(graph, &self.weight, "lash")?;
        let wiring = paths.wiring().clone();
        let ports = spread(&paths);
        let (layers, used) =
            in_layers(&paths, &ports, self.layers).ok_or_else(|| self.too_few_layers(graph, &paths, &ports))?;
        let classes = same_classes(graph, used);
        Ok(Runtime { classes, wiring, ports: ports.into(), layers: layers.into() })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_by_one_neighbor(),
            Example::of(r#"{"weight": {"latency": {}}, "layers": 16}"#).bound_by_one_neighbor(),
        ]
    }
}

impl Lash {
    fn too_few_layers(&self, graph: &Graph, paths: &Paths, ports: &[u16]) -> Refusal {
        let what = format!("with {} layers, the shortest paths of this graph form dependency cycles", self.layers);
        let other = with_few_classes(graph, "lash");
        let help = match in_layers(paths, ports, MAX_CLASSES) {
            Some((_, layers)) => format!("write {layers} layers, with at least {layers} VCs on every link; or {other}"),
            None => other,
        };
        Refusal::new("routing.lash.layers", what, help)
    }
}

/// Chooses a shortest path for every router and destination, and returns the ports with which these paths begin. Of all ports that begin a
/// shortest path, a router takes the one that is on the fewest paths to earlier destinations.
fn spread(paths: &Paths) -> Vec<u16> {
    let wiring = paths.wiring();
    let routers = wiring.routers();
    let mut ports = vec![NONE; (wiring.destinations * routers) as usize];
    let mut carried = vec![0u64; wiring.flat(routers - 1, 0) + wiring.peers(routers - 1).len()];
    for dest in wiring.hosts() {
        let mut far: Vec<u32> = (0..routers).filter(|&router| router != dest).collect();
        far.sort_by_key(|&router| Reverse(paths.length(router, dest)));
        let mut from: Vec<u64> = (0..routers).map(|router| u64::from(wiring.row(router).is_some())).collect();
        // from the farthest router to the nearest, so that all paths through a router are known when its port is chosen
        for router in far {
            let least = paths.ports(router, dest).into_iter().min_by_key(|&port| carried[wiring.flat(router, port)]);
            let Some((port, peer)) = least.and_then(|port| Some((port, wiring.peer(router, port)?))) else { continue };
            ports[wiring.place(router, dest)] = port;
            carried[wiring.flat(router, port)] += from[router as usize];
            from[peer as usize] += from[router as usize];
        }
    }
    ports
}

/// Assigns the path between each pair of routers with terminals to a layer. Also returns the number of layers. `None` if more than `most`
/// layers would be needed.
fn in_layers(paths: &Paths, ports: &[u16], most: u8) -> Option<(Vec<u8>, u8)> {
    let wiring = paths.wiring();
    let mut pairs: Vec<(u32, u32)> =
        wiring.hosts().flat_map(|dest| wiring.hosts().map(move |from| (from, dest))).collect();
    pairs.retain(|&(from, dest)| from != dest && ports[wiring.place(from, dest)] != NONE);
    // the sort is stable, so paths of equal length stay sorted by destination; paths to one destination share links
    pairs.sort_by_cached_key(|&(from, dest)| Reverse(channels(wiring, ports, from, dest).count()));
    let mut all = Layers::new(wiring.flat(wiring.routers() - 1, 0) + wiring.peers(wiring.routers() - 1).len());
    let mut layers = vec![0; ports.len()];
    for &(from, dest) in &pairs {
        let path: Vec<u32> = channels(wiring, ports, from, dest).collect();
        let layer = all.first_fit(&path, most)?;
        layers[wiring.place(from, dest)] = layer;
    }
    for &(from, dest) in &pairs {
        let layer = &mut layers[wiring.place(from, dest)];
        let path: Vec<u32> = channels(wiring, ports, from, dest).collect();
        *layer = all.moved(&path, *layer);
    }
    Some((layers, all.count().max(1)))
}

/// The channels of the path from router `from` to `dest`. All links of a trunk count as one channel, because a packet can take any link of
/// the trunk.
fn channels<'a>(wiring: &'a Wiring, ports: &'a [u16], from: u32, dest: u32) -> impl Iterator<Item = u32> + 'a {
    let mut at = from;
    std::iter::from_fn(move || {
        let peer = wiring.peer(at, *ports.get(wiring.place(at, dest)).filter(|&&port| port != NONE)?)?;
        let first = wiring.peers(at).iter().position(|&other| other == Some(peer))?;
        let channel = wiring.flat(at, first as u16) as u32;
        at = peer;
        Some(channel)
    })
}

impl Runtime {
    /// The hop at `router` toward `dest` in layer (VC class) `class`, and the router to which this hop leads.
    fn step(&self, router: u32, dest: u32, class: u8) -> Option<(Hop, u32)> {
        let port = self.ports[self.wiring.place(router, dest)];
        let peer = if port == NONE { None } else { self.wiring.peer(router, port) };
        peer.map(|peer| (Hop { port, class }, peer))
    }

    /// Calls `turn` for every two successive hops of a packet, with (router, its hop, the hop of the next router).
    fn every_turn(&self, turn: &mut dyn FnMut(u32, Hop, Hop)) {
        for (dest, from) in self.wiring.hosts().flat_map(|dest| self.wiring.hosts().map(move |from| (dest, from))) {
            let (class, mut at) = (self.layers[self.wiring.place(from, dest)], from);
            while let Some((hop, next)) = self.step(at, dest, class) {
                if let Some((onward, _)) = self.step(next, dest, class) {
                    turn(at, hop, onward);
                }
                at = next;
            }
        }
    }
}

impl Routing for Runtime {
    on_graph::knows_numbers!();

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let place = self.wiring.place(at as u32, packet.dest as u32);
        let port = self.ports[place];
        if port == NONE {
            return None;
        }
        if packet.dim == 0 {
            packet.lane = self.layers[place];
        }
        packet.dim = 1;
        Some(Hop { port, class: packet.lane })
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::Turns(Box::new(|turn| self.every_turn(turn)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::TopologyConfig;

    /// Checks the numbers of layers that the header of this file states. The numbers can change if paths are sorted or chosen differently.
    #[test]
    fn tori_need_as_many_layers_as_the_header_states() {
        for (width, layers) in [(10, 5), (16, 7)] {
            let torus = format!(r#"{{"torus": {{"widths": [{width}, {width}], "terminals_per_router": 1}}}}"#);
            let graph = serde_json::from_str::<TopologyConfig>(&torus).unwrap().build("topology").unwrap();
            let lash = Lash { weight: Weight::default(), layers: eight() };
            assert_eq!(lash.build(&graph).unwrap().classes[1], layers, "{width}x{width}");
        }
    }
}
