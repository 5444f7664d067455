//! Torus: routers on a grid, in which links join each router to the next and the previous one in every dimension. The ends of a line are
//! also joined.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), chapter 5 (k-ary n-cubes).
//!
//! # Parameters
//! `widths` \[routers per dimension\], `terminals_per_router` \[terminals\], `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! Routers are numbered as in [`Grid`](crate::Grid); dimension 0 changes fastest. The ports to terminals come first, then the port up and
//! the port down of each dimension ([`Line::Ring`]), then the other links of trunks. Terminal id = router * terminals_per_router + port.
//! Each router has two trunks per dimension, also in a dimension of width 2. In a dimension of width 2 both trunks join the same two
//! routers. The number of links between these routers is then twice the width of a trunk. The diameter is the sum of floor(width / 2).
//!
//! # Not modelled
//! Twisted or express links.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts, wiring, trunks and numbering, and compares diameter and mean distance with a search.
//! `topology/tests/structure.rs` compares the bisection with all cuts. BookSim2: the rows `torus8x8` of
//! `tests/data/golden/booksim.csv` (one link between neighbours).

use super::TopologyModel;
use super::grid::RouterGrid;
use crate::{Graph, GraphBuilder, Line, Peer, Port, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Routers on a grid with rings in every dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Number of routers in each dimension: 1 to 8 dimensions of 2 to 255 routers.
    pub widths: Vec<u32>,
    /// Number of terminals on each router, 1 or more.
    pub terminals_per_router: u32,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for Torus {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        build("torus", &self.widths, self.terminals_per_router, (Line::Ring, &self.trunk_width), path)
    }

    fn examples() -> Vec<Self> {
        let new = |widths: &[u32], terminals_per_router, trunk_width| Self {
            widths: widths.to_vec(),
            terminals_per_router,
            trunk_width: TrunkWidth::Same(trunk_width),
        };
        let single = [new(&[2], 1, 1), new(&[5, 3], 2, 1), new(&[8, 8], 1, 1), new(&[5, 2, 4], 3, 1)];
        single.into_iter().chain([new(&[2], 5, 3), new(&[4, 3], 3, 2), new(&[4, 3, 2], 2, 4)]).collect()
    }
}

/// Builds a torus (rings) or a mesh (rows). A mesh leaves the ports at its edges unused, so torus and mesh have the same port numbers.
pub(crate) fn build(
    topology: &'static str,
    widths: &[u32],
    terminals: u32,
    (line, trunk_width): (Line, &TrunkWidth),
    path: &str,
) -> Result<Graph, Refusal> {
    let grid = RouterGrid::new(widths, terminals, 2, |_| 2, path)?;
    let mut builder = GraphBuilder::new(topology, grid.class_names());
    for router in 0..grid.routers() {
        builder.router(grid.terminal_ports(router).chain(neighbour_ports(&grid, line == Line::Ring, router)));
    }
    builder.trunks(trunk_width);
    builder.build(grid.structure(line), path)
}

/// For each dimension, the port up (+1), and then the port down (-1). Each link joins a port up to a port down.
fn neighbour_ports(grid: &RouterGrid, wrap: bool, router: u32) -> impl Iterator<Item = Port> {
    let terminals = grid.terminals;
    grid.axes(router).flat_map(move |(d, width, own, stride)| {
        let up = terminals + 2 * d as u32;
        let port = move |edge: bool, coordinate: u32, far_port: u32| {
            let far = router - own * stride + coordinate * stride;
            let peer = match edge && !wrap {
                true => Peer::Unused,
                false => Peer::Router { router: far, port: far_port as u16 },
            };
            Port { peer, class: 1 + d as u8 }
        };
        let (last, first) = (own == width - 1, own == 0);
        let (above, below) = (if last { 0 } else { own + 1 }, if first { width - 1 } else { own - 1 });
        [port(last, above, up + 1), port(first, below, up)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn width_two_has_two_parallel_links() {
        let graph = Torus { widths: vec![2], terminals_per_router: 1, trunk_width: TrunkWidth::default() }
            .build("topology")
            .unwrap();
        let to = |router, port| Peer::Router { router, port };
        let peers = |router| graph.ports(router).iter().map(|port| port.peer).collect::<Vec<_>>();
        // In a ring of two routers, the port up of each (port 1) leads to the port down of the other (port 2), on two separate links.
        assert_eq!(peers(0), [Peer::Terminal(0), to(1, 2), to(1, 1)]);
        assert_eq!(peers(1), [Peer::Terminal(1), to(0, 2), to(0, 1)]);
        assert_eq!(graph.links().count(), 2);
    }

    #[test]
    fn refuses_width_one() {
        let refusal = Torus { widths: vec![4, 1], terminals_per_router: 1, trunk_width: TrunkWidth::default() }
            .build("topology")
            .unwrap_err();
        assert_eq!(
            (refusal.path.as_str(), refusal.what.as_str()),
            ("topology.widths", "dimension 1 has width 1, not 2 to 255")
        );
    }
}
