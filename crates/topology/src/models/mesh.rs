//! Mesh: routers on a grid, in which links join each router to the next and the previous one in every dimension. The ends of a line are not
//! joined.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), chapter 5 (k-ary n-meshes).
//!
//! # Parameters
//! `widths` \[routers per dimension\], `terminals_per_router` \[terminals\], `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! Routers and ports are numbered as in a `torus`, but with [`Line::Row`]. The port of an edge router that would lead out of the grid
//! exists as [`Peer::Unused`](crate::Peer::Unused). The diameter is the sum of (width - 1).
//!
//! # Not modelled
//! Express links; terminals on edge ports.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts, wiring and numbering, and compares diameter and mean distance with a search.
//! `topology/tests/structure.rs` compares the bisection with all cuts. BookSim2: the rows `mesh8x8` of
//! `tests/data/golden/booksim.csv`.

use super::{TopologyModel, torus};
use crate::{Graph, Line, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Routers on a grid with lines in every dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Number of routers in each dimension: 1 to 8 dimensions of 2 to 255 routers.
    pub widths: Vec<u32>,
    /// Number of terminals on each router, 1 or more.
    pub terminals_per_router: u32,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for Mesh {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        torus::build("mesh", &self.widths, self.terminals_per_router, (Line::Row, &self.trunk_width), path)
    }

    fn examples() -> Vec<Self> {
        let new = |widths: &[u32], terminals_per_router, trunk_width| Self {
            widths: widths.to_vec(),
            terminals_per_router,
            trunk_width: TrunkWidth::Same(trunk_width),
        };
        vec![new(&[2], 1, 1), new(&[4, 3], 2, 1), new(&[7, 3], 2, 1), new(&[2, 5, 4], 1, 1), new(&[3, 3], 2, 2)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Peer;

    #[test]
    fn only_edge_ports_are_unused() {
        let graph = Mesh { widths: vec![3, 2], terminals_per_router: 1, trunk_width: TrunkWidth::default() }
            .build("topology")
            .unwrap();
        let unused: Vec<_> = (0..6)
            .map(|router| {
                let ports = graph.ports(router).iter().zip(0..);
                ports.filter(|(port, _)| port.peer == Peer::Unused).map(|(_, number)| number).collect::<Vec<u32>>()
            })
            .collect();
        // Port 0 leads to the terminal. Ports 1 and 2 lead up and down in dimension 0, and ports 3 and 4 in dimension 1. Routers 0, 1, 2
        // have y = 0.
        assert_eq!(unused, [vec![2, 4], vec![4], vec![1, 4], vec![2, 3], vec![3], vec![1, 3]]);
    }
}
