//! UGAL-L on any graph: the source router chooses between a minimal path of another routing and a path over one random router.
//!
//! # Source
//! Singh, PhD thesis, Stanford 2005: a packet takes the minimal path if q_min H_min <= q_nm H_nm + T ("nm": the path over the random
//! router). The use of the topology's own minimal routing is as in M. Jeon et al., "FleX", IEEE Access 10 (2022).
//! # Parameters
//! `minimal`: the routing that determines the minimal path and both legs of the other path, as for `valiant_over`. `threshold`: T
//! \[flits\]. `sensor`: definition of q, the queue of the first output of a path. H is the number of links on the path, if each leg takes a
//! shortest path.
//! # Guarantees
//! VC classes are those of `valiant_over`, and packets on the minimal path use the classes of the second leg. If the intermediate is the
//! source router or the destination router, the path is minimal. The routing table has one byte (the distance) for each pair of a router
//! and a destination router, at most 1 GiB.
//! # Not modelled
//! Knowledge of the queues of other routers (UGAL-G).
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/bounds.rs` checks that the accepted load is at least half of the theoretical bound with detours.
//! `engine/tests/paths.rs` checks that the routing compares the same paths as `ugal` on grids whose rows and columns are complete graphs.
//! No test compares this routing with another simulator.

use super::valiant_over::shortest_paths;
use crate::routing::bounds::SharedBounds;
use crate::routing::bounds::{DRAGONFLY, FLEX, SHORT_PATHS};
use crate::routing::on_graph::{self, Distances};
use crate::routing::two_legs::TwoLegs;
use crate::routing::{
    Cost, Decides, Draws, Example, Hop, Needs, Proof, Routing, RoutingConfig, RoutingModel, Sensor, Step, View,
    threshold, weigh,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::coordinates;
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Flits, Refusal};

/// UGAL-L on any graph: the source router chooses between a minimal path of another routing and a path over one random router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UgalOver {
    /// The routing that determines the minimal path and both legs of a detour. Its hops must depend only on the present router and the
    /// destination router.
    #[serde(default = "shortest_paths")]
    pub minimal: Box<RoutingConfig>,
    /// Bias T towards the minimal path.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
}

/// The default threshold is our choice: a queue that is two flits longer on the minimal path does not justify a detour.
fn two() -> Flits {
    Flits(2)
}

/// The default sensor does not count flits in flight as a queue. With `used_credits`, packets would leave minimal paths even if no flit
/// waits on these paths.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

#[derive(Debug, Clone)]
pub struct Runtime {
    legs: TwoLegs,
    distances: Distances,
    threshold: i32,
    sensor: Sensor,
}

impl RoutingModel for UgalOver {
    type Routing = Runtime;
    on_graph::routes_any_graph!();

    fn table_bytes(&self, graph: &Graph) -> u64 {
        self.minimal.table_bytes(graph) + on_graph::table_bytes(graph, 1)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        Ok(Runtime {
            legs: TwoLegs::of(graph, &self.minimal, "ugal_over", "minimal")?,
            distances: Distances::of(graph, "ugal_over")?,
            threshold: threshold(self.threshold, "ugal_over")?,
            sensor: self.sensor,
        })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").only_on(&SHORT_PATHS).bound_with_detours_around_one_neighbor(),
            Example::of(r#"{"minimal": {"dragonfly_minimal": {}}}"#).only_on(&[DRAGONFLY]),
            Example::of(r#"{"minimal": {"flex_minimal": {}}, "threshold": "0flits", "sensor": "output_queue"}"#)
                .only_on(&[FLEX]),
        ]
    }
}

impl Runtime {
    /// True if the packet must still choose its path from the queues of this router.
    #[inline(always)]
    fn asks(at: u64, packet: &Packet) -> bool {
        packet.phase == 0 && packet.flags & DETOUR == 0 && at != packet.dest
    }

    /// The state of the packet on its minimal path.
    fn minimal(packet: &Packet) -> Packet {
        Packet { phase: 1, target: packet.dest, ..*packet }
    }

    #[inline(always)]
    fn distance(&self, from: u64, to: u64) -> u32 {
        self.distances.links(from as u32, to as u32).into()
    }

    /// Length of the path from router `at` over `mid` to `dest` \[links\].
    #[inline(always)]
    fn links_over(&self, at: u64, mid: u64, dest: u64) -> u32 {
        self.distance(at, mid) + self.distance(mid, dest)
    }

    /// The possible first hops of the packet, if it has chosen its path. The path has `hops` links.
    fn ways(&self, at: u64, packet: &Packet, hops: u32, bias: i32, seed: u64) -> Vec<Step> {
        let mut ways = self.legs.steps(at, packet, seed);
        ways.iter_mut().for_each(|way| way.cost = Some(Cost { at, port: way.hop.port, hops, bias }));
        ways
    }

    fn minimal_ways(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.ways(at, &Self::minimal(packet), self.distance(at, packet.dest), 0, seed)
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs {
            classes: self.legs.classes.clone(),
            decides: Decides::AtHead,
            sensor: Some(self.sensor),
            ..Needs::default()
        }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        coordinates::numbers(graph)
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if Self::asks(at, packet) {
            return None;
        }
        if packet.phase == 0 && packet.flags & DETOUR == 0 {
            *packet = Self::minimal(packet);
        }
        self.legs.hop(at, packet, seed)
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let (mid, mut detour) = (self.legs.draw_mid(packet, seed), *packet);
        *packet = Self::minimal(packet);
        let minimal = self.legs.hop(at, packet, seed);
        if mid != at && mid != packet.dest {
            self.legs.detour(&mut detour, mid);
            if let (Some(m), Some(n)) = (minimal, self.legs.hop(at, &mut detour, seed)) {
                let (near, far) = (self.distance(at, packet.dest), self.links_over(at, mid, packet.dest));
                if weigh(here, at, m, near, 0) > weigh(here, at, n, far, self.threshold) {
                    *packet = detour;
                    return n;
                }
            }
        }
        minimal.unwrap_or(Hop::to_terminal(packet))
    }

    /// The possible first hops of the packet: those of the minimal path, and those of the paths over each intermediate.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !Self::asks(at, packet) {
            let after = if packet.flags & DETOUR == 0 { Self::minimal(packet) } else { *packet };
            return self.legs.steps(at, &after, seed);
        }
        let drawn = self.legs.mids.iter().map(|&mid| u64::from(mid)).filter(|&mid| mid != at && mid != packet.dest);
        let detours = drawn.flat_map(|mid| {
            let mut detour = *packet;
            self.legs.detour(&mut detour, mid);
            self.ways(at, &detour, self.links_over(at, mid, packet.dest), self.threshold, seed)
        });
        self.minimal_ways(at, packet, seed).into_iter().chain(detours).collect()
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if Self::asks(at, packet) { self.minimal_ways(at, packet, seed) } else { self.steps(at, packet, seed) }
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        self.legs.proof()
    }

    fn rank(&self, at: u64, hop: Hop) -> u32 {
        self.legs.rank(at, hop)
    }

    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        let flags = if phase == 0 { DETOUR } else { 0 };
        Packet { target, dest: target, seq: draw, phase, flags, ..Packet::default() }
    }

    fn draws(&self) -> Draws {
        self.legs.leg().draws()
    }

    fn draws_hops(&self) -> bool {
        self.legs.leg().draws_hops()
    }

    /// True if the routing of the legs draws hops at random. Then all minimal hops have the same cost, and the draw decides among them.
    fn draws_ties(&self) -> bool {
        self.draws_hops()
    }

    fn own_rule(&self) -> Option<&'static str> {
        Some("the minimal path, unless it costs more than a path over a randomly drawn router")
    }

    fn intermediate(&self, packet: &Packet) -> Option<u64> {
        TwoLegs::over(packet)
    }
}
