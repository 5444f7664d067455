//! Every channel stays on for ever.
//!
//! # Source
//! The baseline of every power study.
//! # Parameters
//! None.
//! # Guarantees
//! Every channel is in state `on` for the whole window; no transition.
//! # Not modelled
//! Nothing.
//! # Validation
//! `engine/tests/conservation.rs`: the account of every channel closes, in one state. `scenario/tests/finished.rs`:
//! sums of energy close exactly.

use crate::models::power::LinkState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub const STATES: &[LinkState] = &[LinkState::On];

/// Every channel stays on for ever.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AlwaysOn {}
