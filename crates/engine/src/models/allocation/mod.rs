//! Switch allocators: who crosses the switch in an allocation step.

mod separable;
mod three_stage;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// All are separable with round-robin arbiters; an iteration matches inputs and outputs that are still free.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AllocatorConfig {
    /// Outputs grant, inputs accept; pointers move only past an accepted grant of the first iteration (McKeown 1999).
    Islip(Iterations),
    /// Inputs choose one of their requests, outputs choose one input; pointers move past every winner.
    SeparableInputFirst(Iterations),
    /// Outputs choose one input, inputs choose one output; pointers move past every choice.
    SeparableOutputFirst(Iterations),
    /// Heads choose an output, inputs choose one of their VCs, outputs choose one input, once; pointers move past every
    /// winner (BlueGene/L, Adiga et al. 2005).
    ThreeStage(ThreeStage),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ThreeStage {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Iterations {
    /// Rounds of matching per allocation step, at least 1.
    #[serde(default = "one")]
    pub iterations: u8,
}

impl AllocatorConfig {
    /// Rounds of matching per allocation step.
    pub fn iterations(&self) -> u8 {
        match self {
            Self::Islip(n) | Self::SeparableInputFirst(n) | Self::SeparableOutputFirst(n) => n.iterations,
            Self::ThreeStage(_) => 1,
        }
    }
}

fn one() -> u8 {
    1
}
