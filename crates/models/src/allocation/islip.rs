//! iSLIP: each free output grants one input, and each input accepts one grant. The round-robin pointers move only past grants that are
//! accepted in the first iteration.
//!
//! # Source
//! N. McKeown, "The iSLIP Scheduling Algorithm for Input-Queued Switches", IEEE/ACM ToN 7(2), 1999.
//! # Parameters
//! `iterations`: rounds of matching per allocation step \[count\].
//! # Guarantees
//! In an iteration every free output and every free input is matched at most once. An input takes part for an output only if one of its VCs
//! has a flit for that output, and the output VC has a credit. Arbiters choose round robin, or by the age of packets.
//! # Not modelled
//! Wavefront and maximum-size allocators, and speculation. If VC allocation is a separate stage, it always uses one iteration of iSLIP,
//! whichever switch allocator the scenario chooses.
//! # Validation
//! `engine/tests/theory.rs` checks that throughput with iSLIP equals the limit that Hluchyj and Karol derive for head-of-line blocking.
//! `conformance/src/allocator.rs` checks that no packet is lost. All rows of `tests/data/golden/booksim.csv` compare this allocator with
//! BookSim2, except two rows that use `separable_input_first`, and the rows that are only for information.

use super::output_first::{Pointers, output_first};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::allocation::{Allocator, AllocatorModel};
use weft_api::base::bits::Bits;
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;

/// Each free output grants one input, and each input accepts one grant. Pointers move only past a grant that is accepted in the
/// first iteration (McKeown 1999).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Islip {
    /// Rounds of matching per allocation step; at least 1.
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

// SAFETY: `output_first` returns the number of moves that it entered, and matches no input or output twice.
unsafe impl Allocator for Islip {
    #[inline(always)]
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize {
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        unsafe { output_first(ports, outputs, Pointers::PastAccepted, self.iterations) }
    }
}
