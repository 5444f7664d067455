//! Switch allocators decide which flits cross the switch in an allocation step. Each allocator is one file, and has one line in this file.

weft_units::registry! {
    /// Every switch allocator. Arbiters of allocators choose round robin or by the age of packets. Each iteration matches inputs and
    /// outputs that earlier iterations of the same step left free.
    pub enum AllocatorConfig as AllocatorModel, with examples, given to UseAllocator by Compiler, open to AddedAllocator:
    "islip" => islip::Islip,
    "separable_input_first" => separable_input_first::SeparableInputFirst,
    "separable_output_first" => separable_output_first::SeparableOutputFirst,
    "three_stage" => three_stage::ThreeStage,
}

mod output_first;

use weft_api::allocation::{AllocatorModel, Compiler, UseAllocator};

impl Default for AllocatorConfig {
    fn default() -> Self {
        Self::Islip(islip::Islip { iterations: one() })
    }
}

impl AllocatorConfig {
    /// Rounds of matching per allocation step, as the scenario sets them.
    pub fn iterations(&self) -> u8 {
        self.model().iterations()
    }
}

fn one() -> u8 {
    1
}
