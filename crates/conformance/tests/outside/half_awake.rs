//! A power policy that is in no registry of Weft, as in an outside crate: it never switches a link.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::examples::written;
use weft_api::policy::{Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_topology::Graph;
use weft_units::{Cycles, Refusal};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HalfAwake {}

impl HalfAwake {
    pub const OFFERS: Offers = Offers::ALWAYS_ON;
}

impl PolicyModel for HalfAwake {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On])
    }

    fn build(&self, _: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(self.clone()))
    }

    fn settling_period(&self, _: &Graph, _: &Modes, _: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(None)
    }

    fn examples() -> Vec<Self> {
        written(&["{}"])
    }
}

impl Policy for HalfAwake {}
