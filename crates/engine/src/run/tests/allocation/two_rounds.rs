//! An allocator that nothing in Weft knows: another one, always with two iterations.

use crate::api::allocation::{Allocator, AllocatorModel};
use crate::api::switch::Ports;
use crate::base::bits::Bits;
use crate::models::allocation::islip::Islip;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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

impl Allocator for TwoRounds {
    #[inline(always)]
    fn allocate<const W: usize, const V: usize, const HEADS: bool, const SINGLE: bool, const AGE: bool>(
        &self,
        ports: &mut Ports<'_, W, V, AGE>,
        outputs: Bits<W>,
    ) -> usize {
        Islip { iterations: 2 }.allocate::<W, V, HEADS, SINGLE, AGE>(ports, outputs)
    }
}
