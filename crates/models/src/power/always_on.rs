//! Every channel is always on.
//!
//! # Source
//! The usual baseline of studies of power policies.
//! # Parameters
//! None.
//! # Guarantees
//! Every channel is in state `on` for the whole window. No channel changes its state.
//! # Not modelled
//! Nothing is omitted.
//! # Validation
//! `engine/tests/conservation.rs` checks that the cycles of each channel, over all its states, add up to the window.
//! `scenario/tests/finished.rs` checks that the energies of all accounts add up to the total exactly.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::policy::{Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_topology::Graph;
use weft_units::{Cycles, Refusal};

/// Every channel is always on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlwaysOn {}

impl AlwaysOn {
    pub(crate) const OFFERS: Offers = Offers::ALWAYS_ON;
}

impl PolicyModel for AlwaysOn {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On])
    }

    fn settling_period(&self, _: &Graph, _: &Modes, _: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(None)
    }

    fn build(&self, _: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(self.clone()))
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

impl Policy for AlwaysOn {}
