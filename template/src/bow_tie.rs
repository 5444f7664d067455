//! Bow tie: triangles that share a router.
//!
//! # Source
//! An example.
//! # Parameters
//! triangles: number of triangles, 1 to 100.
//! # Guarantees
//! Two routers of each triangle have one terminal each. The shared router, which has the highest number, has none.
//! # Not modelled
//! Links of several classes.
//! # Validation
//! `tests/conformance.rs`: the laws of every topology. There are no results of another simulator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::{Graph, GraphBuilder, Groups, Peer, Port, Structure, TopologyModel};
use weft_units::Refusal;

/// Triangles that share a router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BowTie {
    /// Number of triangles, 1 to 100.
    pub triangles: u32,
}

impl TopologyModel for BowTie {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        if !(1..=100).contains(&self.triangles) {
            let what = format!("{} triangles are not possible", self.triangles);
            return Err(Refusal::new(format!("{path}.triangles"), what, "write 1 to 100"));
        }
        let (hub, mut builder) = (2 * self.triangles, GraphBuilder::new("bow_tie", ["side"]));
        let side = |router, port| Port { peer: Peer::Router { router, port }, class: 1 };
        for router in 0..hub {
            let terminal = Port { peer: Peer::Terminal(router), class: 0 };
            builder.router([terminal, side(router ^ 1, 1), side(hub, router as u16)]);
        }
        builder.router((0..hub).map(|router| side(router, 2)));
        let mut places: Vec<(u32, u32)> = (0..hub).map(|router| (router / 2, router % 2)).collect();
        places.push((self.triangles, 0));
        let groups = Groups { count: self.triangles + 1, places, complete: None, global: None };
        builder.build(Structure::of_groups(groups), path)
    }

    fn examples() -> Vec<Self> {
        [2, 5].map(|triangles| Self { triangles }).into()
    }
}
