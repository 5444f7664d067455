//! Separable, output first: each output chooses one input, then each input chooses one output. Pointers move past every choice.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), section 19.3; BookSim2's
//! allocator of the same name.
//! # Parameters
//! `iterations`: rounds of matching per allocation step \[count\].
//! # Guarantees
//! In an iteration every free output and every free input is matched at most once. Only requests that can be served now count: a
//! flit waits, and its VC has a credit. Arbiters are round robin, or by age.
//! # Not modelled
//! Wavefront and maximum-size allocators; speculation. VC allocation in a separate stage is always one iteration of iSLIP, whatever
//! the switch allocator.
//! # Validation
//! `conformance/src/allocator.rs`: nothing is lost. No comparison with another simulator.

use super::output_first::{Pointers, output_first};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::allocation::{Allocator, AllocatorModel};
use weft_api::base::bits::Bits;
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;

/// Each output chooses one input, then each input chooses one output. Pointers move past every choice.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SeparableOutputFirst {
    /// Rounds of matching per allocation step; at least 1.
    #[serde(default = "super::one")]
    pub iterations: u8,
}

impl AllocatorModel for SeparableOutputFirst {
    fn iterations(&self) -> u8 {
        self.iterations
    }

    fn examples() -> Vec<Self> {
        vec![Self { iterations: 2 }]
    }
}

// SAFETY: `output_first` counts its moves, and leaves out matched inputs and outputs.
unsafe impl Allocator for SeparableOutputFirst {
    #[inline(always)]
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize {
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        unsafe { output_first(ports, outputs, Pointers::PastAll, self.iterations) }
    }
}
