//! An allocator that the rest of Weft does not know: iSLIP with two iterations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::allocation::{Allocator, AllocatorModel};
use weft_api::base::bits::Bits;
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;
use weft_models::allocation::islip::Islip;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TwoRounds {}

impl AllocatorModel for TwoRounds {
    fn iterations(&self) -> u8 {
        2
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

// SAFETY: `Islip::allocate`, which does all the work, meets the conditions of the trait.
unsafe impl Allocator for TwoRounds {
    #[inline(always)]
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize {
        // SAFETY: the caller guarantees the conditions of `allocate`.
        unsafe { Islip { iterations: 2 }.allocate(ports, outputs) }
    }
}
