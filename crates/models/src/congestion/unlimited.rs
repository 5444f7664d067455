//! No congestion control: routers mark no packets, and every source sends as fast as it can.
//!
//! # Source
//! None. This is a network without congestion control.
//! # Parameters
//! None.
//! # Guarantees
//! Routers mark no packet, and receivers send no notification.
//! # Not modelled
//! Nothing is omitted.
//! # Validation
//! `engine/tests/determinism.rs` tests this model, because every scenario without `congestion_control` uses it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::congestion::{CongestionModel, Control, LineSite};
use weft_units::Refusal;

/// No congestion control: routers mark no packets, and every source sends as fast as it can.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Unlimited {}

impl CongestionModel for Unlimited {
    fn build(&self, _site: &LineSite) -> Result<Option<Arc<dyn Control>>, Refusal> {
        Ok(None)
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}
