//! An allocator that is in no registry of Weft, as in an outside crate: iSLIP under another name, with a parameter for
//! its rounds.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::allocation::{Allocator, AllocatorModel};
use weft_api::base::bits::Bits;
use weft_api::switch::Ports;
use weft_api::switch_step::SwitchStep;
use weft_engine::allocation::islip::Islip;

/// Matches in rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InRounds {
    /// Rounds of matching in each allocation step.
    pub rounds: u8,
}

impl AllocatorModel for InRounds {
    fn iterations(&self) -> u8 {
        self.rounds
    }

    fn examples() -> Vec<Self> {
        vec![Self { rounds: 2 }]
    }
}

// SAFETY: `Islip` makes all moves, and it gives the guarantees of the trait.
unsafe impl Allocator for InRounds {
    #[inline(always)]
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize {
        // SAFETY: the caller guarantees that `outputs` are ports of the router.
        unsafe { Islip { iterations: self.rounds }.allocate(ports, outputs) }
    }
}
