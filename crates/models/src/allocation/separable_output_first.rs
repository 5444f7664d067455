//! A separable allocator that matches outputs first: each output chooses one input, then each input chooses one output. The round-robin
//! pointers move past every choice.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks" (2004), section 19.3; BookSim2's
//! allocator of the same name.
//! # Parameters
//! `iterations`: rounds of matching per allocation step \[count\].
//! # Guarantees
//! In an iteration every free output and every free input is matched at most once. An input takes part for an output only if one of its VCs
//! has a flit for that output, and the output VC has a credit. Arbiters choose round robin, or by the age of packets.
//! # Not modelled
//! Wavefront and maximum-size allocators, and speculation. If VC allocation is a separate stage, it always uses one iteration of iSLIP,
//! whichever switch allocator the scenario chooses.
//! # Validation
//! `conformance/src/allocator.rs` checks that no packet is lost. No test compares this allocator with another simulator.

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

// SAFETY: `output_first` returns the number of moves that it entered, and matches no input or output twice.
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
