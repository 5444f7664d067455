//! Full mesh: a link joins every two routers.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), chapter 1; a HyperX of one
//! dimension (J. H. Ahn et al., SC'09), so every routing for a HyperX also works on a full mesh.
//!
//! # Parameters
//! `routers` \[routers\], `terminals_per_router` \[terminals\], `trunk_width` \[links, by link class\].
//!
//! # Guarantees
//! Routers and ports are numbered as in a `hyperx` of one dimension. The degree is (routers - 1) * trunk width. The diameter is 1.
//!
//! # Not modelled
//! Different numbers of terminals per router.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks the laws of a HyperX of one dimension, and compares diameter and mean distance with a search.
//! `topology/tests/structure.rs` compares the bisection with all cuts. `engine/tests/bounds.rs` checks that the channel-load bound under
//! `neighbor` is reached. No other simulator was compared.

use super::{TopologyModel, hyperx};
use crate::graph::check_positive;
use crate::{Graph, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// A link joins every two routers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FullMesh {
    /// Number of routers, 1 to 255.
    pub routers: u32,
    /// Number of terminals on each router, 1 or more.
    pub terminals_per_router: u32,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for FullMesh {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let Self { routers, terminals_per_router, .. } = *self;
        check_positive(&[("routers", routers)], path)?;
        if routers > 255 {
            let what = format!("{routers} routers are too many: Weft stores their numbers in a byte, up to 255");
            return Err(Refusal::new(format!("{path}.routers"), what, "use at most 255 routers, or a hyperx"));
        }
        hyperx::build("full_mesh", &[routers], terminals_per_router, &self.trunk_width, path)
    }

    fn examples() -> Vec<Self> {
        let new = |(routers, terminals_per_router, trunk_width)| Self {
            routers,
            terminals_per_router,
            trunk_width: TrunkWidth::Same(trunk_width),
        };
        [(1, 3, 1), (2, 1, 1), (5, 2, 1), (64, 64, 1), (128, 1, 1), (4, 3, 2)].map(new).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_with_the_arithmetic() {
        let refusal = |routers, terminals_per_router| {
            let trunk_width = TrunkWidth::default();
            FullMesh { routers, terminals_per_router, trunk_width }
                .build("topology")
                .expect_err("too large or too small")
        };
        assert_eq!(refusal(0, 1).path, "topology.routers");
        assert_eq!(refusal(256, 1).what, "256 routers are too many: Weft stores their numbers in a byte, up to 255");
        let largest = FullMesh { routers: 255, terminals_per_router: 1, trunk_width: TrunkWidth::default() };
        assert_eq!(largest.build("topology").expect("the remedy").radix(), 255);
        assert_eq!(refusal(4, 0).path, "topology.terminals_per_router");
        let wide = "313 terminals + 200 links gives 513 ports per router; a router has at most 512";
        assert_eq!(refusal(201, 313).what, wide);
    }
}
