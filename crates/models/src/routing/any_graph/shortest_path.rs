//! Shortest paths on any graph. The VC class is the hop index.
//!
//! # Source
//! K. D. Gunther, "Prevention of deadlocks in packet-switched data transport systems", IEEE Trans. Commun. 1981 (VC classes by hop). The
//! routing "Shortest" of CAMINOS, with the next VC at each hop, works in the same way.
//! # Parameters
//! `choice`: rule that selects one of the next hops on shortest paths. `random` draws a hop for each packet at each router; `first` takes
//! the lowest port. `weight`: definition of the length of a path. It is the number of its `links`, the sum of their `latency` \[cycles\],
//! or the sum of their `cost`, which the link class determines.
//! # Guarantees
//! Paths are minimal on every connected graph. The number of VC classes is the length of the longest of all shortest paths between
//! terminals \[links\], and at least 1. The class rises with each hop. Therefore the dependencies between channels have no cycle. The
//! routing table has one byte (the distance) for each pair of a router and a destination router. If routers have up to 64 ports, a second
//! table has eight bytes per pair: a mask of the ports that begin a shortest path. The second table is omitted if it would need more than
//! 16 MiB. With the weight `latency` or `cost`, the first table has four bytes per pair instead of one, and there is no second table. The
//! first table takes at most 1 GiB. With these weights, packets take the paths with the smallest sum, which can have more links than other
//! paths. Faults: the tables at the start avoid every link and router that is broken from the start. When the time
//! `fault_model.rebuild_delay` has passed after a later fault, all routers have tables for the remaining network. Until then, heads at a
//! broken link wait. Packets to routers that have no path any more are discarded. A packet is also discarded if its path becomes longer
//! than the number of VC classes.
//! # Not modelled
//! Choices that depend on congestion; a separate weight for each link; delays of routers in the sum of latencies.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/paths.rs` checks that `random` takes all shortest paths that a search finds.
//! `engine/tests/bounds.rs` checks that throughput reaches the theoretical bounds of rings and butterflies. No test compares this routing
//! with another simulator.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_graph::{self, Among, hop_classes};
use crate::routing::weighted::{Paths, Weight};
use crate::routing::{AnyRouting, Classes, Example, Hop, Proof, Routing, RoutingModel, Step, below, draw};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// Shortest paths on any graph. The VC class is the hop index.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShortestPath {
    /// Rule that selects one of the next hops on shortest paths.
    #[serde(default)]
    pub choice: Among,
    /// Definition of the length of a path.
    #[serde(default)]
    pub weight: Weight,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    paths: Paths,
    config: ShortestPath,
}

impl RoutingModel for ShortestPath {
    type Routing = Runtime;
    on_graph::routes_any_graph!();
    const CAN_BE_A_LEG: bool = true;

    fn table_bytes(&self, graph: &Graph) -> u64 {
        self.weight.table_bytes(graph)
    }

    fn rebuilds(&self) -> bool {
        true
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let paths = Paths::of(graph, &self.weight, "shortest_path")?;
        Ok(Runtime { classes: hop_classes(graph, paths.longest(), "shortest_path")?, paths, config: self.clone() })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").bound_by_tornado_on_a_ring().bound_by_tornado_on_a_grid().bound_by_one_neighbor(),
            Example::of(r#"{"choice": "first"}"#).bound_by_tornado_on_a_ring(),
            Example::of(r#"{"weight": {"latency": {}}}"#).bound_by_tornado_on_a_ring(),
        ]
    }
}

impl Routing for Runtime {
    on_graph::knows_numbers!();

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let class = packet.lane;
        packet.lane += 1;
        let number = |count| match self.config.choice {
            Among::First => 0,
            Among::Random => below(draw(seed, packet, 0x3d + u64::from(class)), count),
        };
        let port = self.paths.pick(at as u32, packet.dest as u32, number)?;
        Some(Hop { port, class })
    }

    /// The possible next hops of a packet: one for each port that begins a shortest path, or the hop to the terminal at the destination.
    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let (class, after) = (packet.lane, Packet { lane: packet.lane + 1, ..*packet });
        let most = if self.config.choice == Among::First { 1 } else { usize::MAX };
        let ports = self.paths.ports(at as u32, packet.dest as u32).into_iter().take(most);
        ports.map(|port| Step { hop: Hop { port, class }, after, cost: None }).collect()
    }

    fn rebuild(&self, left: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        Ok(Box::new(self.config.build(left)?))
    }

    fn forget_hop(&self, packet: &mut Packet) {
        packet.lane -= 1;
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    fn draws_hops(&self) -> bool {
        self.config.choice == Among::Random
    }
}
