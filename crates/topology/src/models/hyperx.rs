//! HyperX: routers on a grid, in which a link joins every two routers of a row (in any dimension).
//!
//! # Source
//! J. H. Ahn et al., "HyperX: Topology, Routing, and Packaging of Efficient Large-Scale Networks", SC'09. With one terminal per router and
//! equal widths, a HyperX is a Hamming graph. A "flattened butterfly" has the same wiring (J. Kim, W. J. Dally, D. Abts, ISCA'07).
//!
//! # Parameters
//! `widths` \[routers per dimension\], `terminals_per_router` \[terminals\], `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! Routers are numbered as in [`Grid`](crate::Grid); dimension 0 changes fastest. The ports to terminals come first, then the ports of each
//! dimension in turn, as in [`Line::Complete`], then the ports of the other links of trunks. Terminal id = router * terminals_per_router +
//! port. The degree is the sum of (width - 1) * trunk width over the dimensions. The diameter is the number of dimensions with width > 1.
//!
//! # Not modelled
//! Different numbers of terminals per router.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts, degrees, wiring and numbering, and compares diameter and mean distance with a search.
//! `topology/tests/conformance.rs` also compares the mean distance of 6x6 and the links of 10x10 with the literature.
//! `topology/tests/structure.rs` compares the bisection with all cuts. Other simulators: the rows `ff8x8c8_L1` of
//! `tests/data/golden/booksim.csv`, `Hamming[8,8]x8` of `tests/data/golden/caminos.csv`.

use super::TopologyModel;
use super::grid::RouterGrid;
use crate::{Graph, GraphBuilder, Line, Peer, Port, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Routers on a grid; a link joins every two routers of a row.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperX {
    /// Number of routers in each dimension: 1 to 8 dimensions of 1 to 255 routers.
    pub widths: Vec<u32>,
    /// Number of terminals on each router, 1 or more.
    pub terminals_per_router: u32,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for HyperX {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        build("hyperx", &self.widths, self.terminals_per_router, &self.trunk_width, path)
    }

    fn examples() -> Vec<Self> {
        let new = |widths: &[u32], terminals_per_router, trunk_width| Self {
            widths: widths.to_vec(),
            terminals_per_router,
            trunk_width,
        };
        let single = [(&[1][..], 1), (&[4, 3], 2), (&[8, 8], 8), (&[3, 1, 4], 2), (&[2; 8], 1)];
        let single = single.map(|(widths, terminals)| new(widths, terminals, TrunkWidth::default()));
        // in one dimension the links are trunks, in the other they are not
        let mixed = TrunkWidth::ByClass([("dim1".to_owned(), 3)].into());
        single.into_iter().chain([new(&[3, 3], 2, mixed)]).collect()
    }
}

/// Builds a HyperX, or refuses it at `path`.
pub(crate) fn build(
    topology: &'static str,
    widths: &[u32],
    terminals: u32,
    trunk_width: &TrunkWidth,
    path: &str,
) -> Result<Graph, Refusal> {
    let grid = RouterGrid::new(widths, terminals, 1, |width| width - 1, path)?;
    let mut builder = GraphBuilder::new(topology, grid.class_names());
    for router in 0..grid.routers() {
        builder.router(grid.terminal_ports(router).chain(row_ports(&grid, router)));
    }
    builder.trunks(trunk_width);
    builder.build(grid.structure(Line::Complete), path)
}

/// The ports of a router that lead to the other routers of its rows, dimension by dimension.
fn row_ports(grid: &RouterGrid, router: u32) -> impl Iterator<Item = Port> {
    let mut base = grid.terminals;
    grid.axes(router).flat_map(move |(d, width, own, stride)| {
        let first = base;
        base += width - 1;
        (0..width).filter(move |&c| c != own).map(move |c| {
            // Neither router has a port to its own coordinate, so higher coordinates have port numbers that are lower by 1.
            let port = first + if own < c { own } else { own - 1 };
            let far = router - own * stride + c * stride;
            Port { peer: Peer::Router { router: far, port: port as u16 }, class: 1 + d as u8 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(widths: &[u32], terminals_per_router: u32) -> Result<Graph, Refusal> {
        let trunk_width = TrunkWidth::default();
        HyperX { widths: widths.to_vec(), terminals_per_router, trunk_width }.build("topology")
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal = build(&[200, 200], 120).unwrap_err();
        assert_eq!(
            refusal.what,
            "120 terminals + 199 + 199 links gives 518 ports per router; a router has at most 512"
        );
        assert_eq!(build(&[], 1).unwrap_err().path, "topology.widths");
        assert_eq!(build(&[1; 9], 1).unwrap_err().path, "topology.widths");
        assert_eq!(build(&[4, 0], 1).unwrap_err().what, "dimension 1 has width 0, not 1 to 255");
        assert_eq!(build(&[256], 1).unwrap_err().what, "dimension 0 has width 256, not 1 to 255");
        assert_eq!(build(&[4], 0).unwrap_err().path, "topology.terminals_per_router");
        // A network of 16^8 routers is refused because of its computed size, before its memory is allocated.
        assert!(build(&[16; 8], 1).unwrap_err().what.contains("4294967296 routers of 121 ports"));
    }

    #[test]
    fn a_dimension_of_width_one_costs_no_port() {
        let graph = build(&[1, 3, 1], 2).unwrap();
        assert_eq!((graph.routers(), graph.radix()), (3, 2 + 2));
        assert_eq!(graph.class_names(), ["terminal", "dim0", "dim1", "dim2"]);
    }
}
