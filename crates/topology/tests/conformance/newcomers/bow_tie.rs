//! A topology that only tests use: two triangles that share the router with the last id.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::{Graph, GraphBuilder, Groups, Peer, Port, Structure, TopologyModel};
use weft_units::Refusal;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct BowTie {
    /// True if the view of groups is correct: it declares the shared router to be a separate group. False if the view is wrong: it declares
    /// all routers to be one complete group.
    pub truthful: bool,
}

impl TopologyModel for BowTie {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let mut builder = GraphBuilder::new("bow_tie", ["side"]);
        let side = |router, port| Port { peer: Peer::Router { router, port }, class: 1 };
        for router in 0..4 {
            let terminal = Port { peer: Peer::Terminal(router), class: 0 };
            builder.router([terminal, side(router ^ 1, 1), side(4, router as u16)]);
        }
        builder.router((0..4).map(|router| side(router, 2)));
        let places = vec![(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)];
        let apart = Groups { count: 3, places, complete: None, global: None };
        let complete = Some(weft_topology::CompleteGroups { first_port: 1, class: 1 });
        let together = Groups { complete, ..Groups::in_a_row(1, 5) };
        builder.build(Structure::of_groups(if self.truthful { apart } else { together }), path)
    }

    fn examples() -> Vec<Self> {
        vec![Self { truthful: true }]
    }
}
