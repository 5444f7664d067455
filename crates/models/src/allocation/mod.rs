//! Switch allocators decide which flits cross the switch in an allocation step. Each allocator is one file, and one line here.

weft_units::registry! {
    /// Every switch allocator. All have arbiters that are round robin or choose by age. An iteration matches inputs and outputs
    /// that are still free.
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
    /// Rounds of matching per allocation step.
    pub fn iterations(&self) -> u8 {
        self.model().iterations()
    }
}

fn one() -> u8 {
    1
}
