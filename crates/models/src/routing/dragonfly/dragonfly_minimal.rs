//! Dragonfly minimal: paths of at most a local, a global and a local link. The VC class is the number of global links that the packet has
//! crossed.
//!
//! # Source
//! Kim et al., ISCA 2008. Paths are hierarchical: they never have two global links, even if a shortest path of the graph has two.
//! # Parameters
//! None.
//! # Guarantees
//! Paths have at most 3 hops. Local links have 2 VC classes, and global links have 1.
//! # Not modelled
//! Nothing is omitted.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/bounds.rs` checks that the accepted load is limited by the single global link between two groups.
//! The rows `min` of `tests/data/golden/booksim.csv` compare this routing with BookSim2, and all agree within the tolerances that the rows
//! state. The rows `min` of `tests/data/golden/caminos.csv` compare it with CAMINOS, and the rows `MIN` of `tests/data/golden/fogsim.csv`
//! with FOGSim. For uniform traffic at loads from 0.5 on, the latency is lower in Weft than in CAMINOS (see
//! `docs/reference/benchmarks.md`).

use crate::routing::bounds::{DRAGONFLY, NEXT_GROUP, NEXT_ROUTER};
use crate::routing::on_dragonfly::{Groups, group, in_groups};
use crate::routing::{Accepts, Draws, Example, Hop, Needs, Proof, Routing, RoutingModel, Step};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// Dragonfly minimal: paths of at most a local, a global and a local link. The VC class is the number of global links that the packet has
/// crossed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyMinimal {}

#[derive(Debug, Clone)]
pub struct Runtime {
    groups: Groups,
}

impl RoutingModel for DragonflyMinimal {
    type Routing = Runtime;
    const ROUTES: &'static str = "groups of routers that are all neighbours, with global links between groups";
    const CAN_BE_A_LEG: bool = true;

    fn fits(graph: &Graph) -> bool {
        Groups::of(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        Ok(Runtime { groups: Groups::of(graph).expect("a graph that fits") })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}")
                // the 8 terminals of a group share one global link to the next group, because no path has two global links
                .bound(DRAGONFLY, NEXT_GROUP, Accepts::UpTo(1.0 / 8.0))
                // the 2 terminals of a router share the local link to the next router
                .bound(DRAGONFLY, NEXT_ROUTER, Accepts::UpTo(1.0 / 2.0)),
        ]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.groups.vc_classes(2, 1), ..Needs::default() }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        in_groups(graph)
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        Some(self.groups.classed_hop(at, packet.dest, 0, packet, seed))
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::OneLeg { by_line: false }
    }

    fn rank(&self, _at: u64, hop: Hop) -> u32 {
        self.groups.rank(hop)
    }

    fn draws(&self) -> Draws {
        self.groups.draws()
    }

    fn draws_between(&self, from: u64, to: u64) -> bool {
        group(from) != group(to)
    }
}
