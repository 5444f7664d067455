//! Valiant on any graph: packets go over a random intermediate router. Each of the two legs is a path of another routing.
//!
//! # Source
//! Valiant, SIAM J. Computing 1982. The use of another minimal routing for the legs is as in M. Jeon et al., "FleX", IEEE Access 10 (2022).
//! # Parameters
//! `minimal`: the routing of both legs (default: `shortest_path`). The hops of this routing must depend only on the present router and the
//! destination router.
//! # Guarantees
//! The intermediate is drawn from all routers with terminals, including the source router and the destination router. The second leg has
//! separate VC classes, as many as the first leg. The dependencies between channels have no cycle if those of the legs' routing have none.
//! Faults: the routing of the legs handles them. In addition, a packet is discarded if its intermediate cannot be reached any more. If a
//! fault has made the first leg longer, the second leg begins with a higher VC class.
//! # Not modelled
//! Nothing is omitted.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/bounds.rs` checks that throughput reaches the theoretical bound of two legs of uniform traffic.
//! `engine/tests/paths.rs` checks that packets take the paths of `valiant` on grids whose rows and columns are complete graphs. No test
//! compares this routing with another simulator.

use super::shortest_path::ShortestPath;
use crate::routing::bounds::{DRAGONFLY, FLEX, SHORT_PATHS};
use crate::routing::on_graph;
use crate::routing::two_legs::TwoLegs;
use crate::routing::{
    Accepts, AnyRouting, AroundFaults, Draws, Example, Hop, Needs, Outcomes, Proof, Routing, RoutingConfig,
    RoutingModel, Step,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::coordinates;
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// Valiant on any graph: packets go over a random intermediate router. Each of the two legs is a path of another routing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValiantOver {
    /// The routing of both legs. Its hops must depend only on the present router and the destination router.
    #[serde(default = "shortest_paths")]
    pub minimal: Box<RoutingConfig>,
}

/// The default routing of the legs: shortest paths, which exist on every graph.
pub(super) fn shortest_paths() -> Box<RoutingConfig> {
    Box::new(RoutingConfig::ShortestPath(ShortestPath::default()))
}

#[derive(Debug, Clone)]
pub struct Runtime {
    legs: TwoLegs,
}

impl RoutingModel for ValiantOver {
    type Routing = Runtime;
    on_graph::routes_any_graph!();

    fn table_bytes(&self, graph: &Graph) -> u64 {
        self.minimal.table_bytes(graph)
    }

    fn rebuilds(&self) -> bool {
        self.minimal.rebuilds()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        Ok(Runtime { legs: TwoLegs::of(graph, &self.minimal, "valiant_over", "minimal")? })
    }

    fn examples() -> Vec<Example<Self>> {
        const HYPERX: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
        const TORUS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 2}}"#;
        // Each leg ends at one of 16 routers with equal probability, and a channel leads to 4 of them. The 4 terminals of its router send 4
        // flits per cycle at load 1. Therefore the channel carries 4 * 4 / 16 = 1 flit per cycle for each leg
        let two_uniform_legs = Accepts::UpTo(1.0 / 2.0);
        vec![
            Example::of("{}").only_on(&SHORT_PATHS).bound(HYPERX, r#"{"tornado": {}}"#, two_uniform_legs),
            Example::of(r#"{"minimal": {"dimension_order": {}}}"#).only_on(&[HYPERX, TORUS]).bound(
                HYPERX,
                r#"{"bit_complement": {}}"#,
                two_uniform_legs,
            ),
            Example::of(r#"{"minimal": {"dragonfly_minimal": {}}}"#).only_on(&[DRAGONFLY]),
            Example::of(r#"{"minimal": {"flex_minimal": {}}}"#).only_on(&[FLEX]),
        ]
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.legs.classes.clone(), draws_path: true, ..Needs::default() }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        coordinates::numbers(graph)
    }

    fn inject(&self, packet: &mut Packet, seed: u64) {
        let mid = self.legs.draw_mid(packet, seed);
        self.legs.detour(packet, mid);
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        self.legs.hop(at, packet, seed)
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.legs.steps(at, packet, seed)
    }

    fn steps_around(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.legs.steps_around(at, packet, seed)
    }

    fn around_faults(&self) -> AroundFaults {
        self.legs.leg().around_faults()
    }

    fn rebuild(&self, left: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        Ok(Box::new(Self { legs: self.legs.rebuilt(left)? }))
    }

    fn forget_hop(&self, packet: &mut Packet) {
        self.legs.forget_hop(packet);
    }

    fn proof(&self) -> Proof<'_> {
        self.legs.proof()
    }

    fn rank(&self, at: u64, hop: Hop) -> u32 {
        self.legs.rank(at, hop)
    }

    fn draws(&self) -> Draws {
        self.legs.leg().draws()
    }

    fn draws_hops(&self) -> bool {
        self.legs.leg().draws_hops()
    }

    /// The packet after each possible outcome of the draw, which is an intermediate.
    fn detours(&self, _at: u64, packet: Packet) -> Outcomes<'_> {
        let mids = &self.legs.mids;
        Outcomes::new(mids.len(), move |k| {
            let mut detour = packet;
            self.legs.detour(&mut detour, mids[k].into());
            detour
        })
    }

    fn intermediate(&self, packet: &Packet) -> Option<u64> {
        TwoLegs::over(packet)
    }
}
