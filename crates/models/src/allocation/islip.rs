//! iSLIP: outputs grant, inputs accept; pointers move only past an accepted grant of the first iteration.
//!
//! # Source
//! N. McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM ToN 7(2), 1999.
//! # Parameters
//! iterations: rounds of matching per allocation step \[count\].
//! # Guarantees
//! In an iteration every free output and every free input is matched at most once, with requests that can be served now
//! (a flit, a VC and a credit). Arbiters are round robin, or by age.
//! # Not modelled
//! Wavefront and maximum-size allocators; speculation. VC allocation in a stage of its own is always one iteration of
//! iSLIP, whatever the switch allocator.
//! # Validation
//! `engine/tests/theory.rs`: it has the head-of-line limit of Hluchyj and Karol. `conformance/src/allocator.rs`: nothing
//! is lost. BookSim2: all rows of `tests/data/golden/booksim.csv`, but for two of `separable_input_first` and those for
//! information.

use super::output_first::{Pointers, output_first};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::allocation::{Allocator, AllocatorModel};
use weft_api::base::bits::Bits;
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;

/// Outputs grant, inputs accept; pointers move only past an accepted grant of the first iteration (McKeown 1999).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Islip {
    /// Rounds of matching per allocation step, at least 1.
    #[serde(default = "super::one")]
    pub iterations: u8,
}

impl AllocatorModel for Islip {
    fn iterations(&self) -> u8 {
        self.iterations
    }

    fn examples() -> Vec<Self> {
        vec![Self { iterations: 2 }]
    }
}

// SAFETY: `output_first` counts its moves, and leaves out matched inputs and outputs.
unsafe impl Allocator for Islip {
    #[inline(always)]
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize {
        // SAFETY: the caller says so.
        unsafe { output_first(ports, outputs, Pointers::PastAccepted, self.iterations) }
    }
}
