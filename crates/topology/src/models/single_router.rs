//! A single router with all terminals: the smallest network, for studies of one switch.
//!
//! # Source
//! None; BookSim's `single` network (`iq_router` alone).
//!
//! # Parameters
//! `terminals` \[terminals\].
//!
//! # Guarantees
//! Terminal t is on port t. The network has no links between routers.
//!
//! # Not modelled
//! Terminals on more than one router.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts and numbering. `engine/tests/theory.rs` compares a switch of 8 terminals with the
//! head-of-line limit of Hluchyj and Karol (IEEE JSAC 1988). BookSim2: the rows `xbar8_uniform` of
//! `tests/data/golden/booksim.csv`.

use super::TopologyModel;
use crate::graph::{check_positive, check_size};
use crate::{Graph, GraphBuilder, Peer, Port, Structure};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// A single router with all terminals.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SingleRouter {
    /// Number of terminals, 1 to 512. Each terminal has one port of the router.
    pub terminals: u32,
}

impl TopologyModel for SingleRouter {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let terminals = self.terminals;
        check_positive(&[("terminals", terminals)], path)?;
        check_size(1, terminals.into(), &format!("{terminals} terminals"), &format!("{path}.terminals"))?;
        let mut builder = GraphBuilder::new::<String>("single_router", []);
        builder.router((0..terminals).map(|terminal| Port { peer: Peer::Terminal(terminal), class: 0 }));
        builder.build(Structure::of_grid(Vec::new()), path)
    }

    fn examples() -> Vec<Self> {
        [1, 8, 128].map(|terminals| Self { terminals }).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refuses_no_terminal_and_more_terminals_than_ports() {
        let refusal = |terminals| SingleRouter { terminals }.build("topology").unwrap_err();
        assert_eq!(refusal(0).path, "topology.terminals");
        assert_eq!(refusal(513).path, "topology.terminals");
        assert!(SingleRouter { terminals: 512 }.build("topology").is_ok());
    }
}
