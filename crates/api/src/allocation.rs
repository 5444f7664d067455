//! Switch allocators: the interface that the cycle loop calls, and the guarantees that an allocator must give.

use super::switch::Ports;
use super::switch_step::SwitchStep;
use crate::base::bits::Bits;
use std::any::Any;
use std::fmt::Debug;

/// A switch allocator. The type with its configuration is also the allocator itself.
///
/// # Safety
/// The cycle loop executes the moves (pairs of an input and an output) without checking them. `allocate` must return the number of moves
/// that it has entered in this call. An allocator must number its moves from 0, without a gap. Each call of `allocate` may enter each input
/// and each output at most once. An allocator may change the records of `Ports` only through functions of `Ports`. However, an allocator
/// may change the round-robin pointers (`rr_in`, `rr_out`, `rr_vc`), `grants` and `offers` directly.
pub unsafe trait Allocator: Debug + Clone + Send + Sync + 'static {
    /// Matches inputs with `outputs` in one allocation step, and enters each matched pair as a move. Each of `outputs` has a head that may
    /// get a VC, or a flit that may cross the switch ([`Ports::enter`], [`Ports::cross_from`]). Each input and each output can be in at
    /// most one pair. A shortcut lets uncontended flits cross before this call (`kernel/src/shortcuts/uncontended.rs`). For equal results
    /// without the shortcut, an allocator must match an uncontended pair in its first iteration. After such a match, the round-robin
    /// pointers of the input, the output and the VC must point past the pair (`take_turns` in that file). The method returns the number of
    /// moves. `S`: selects whether heads, flits that hold a VC, or both may cross in this step. The functions of `Ports` apply this
    /// selection, so an allocator seldom uses `S` itself. Mark implementations for inlining, so that the compiler can keep the ports in
    /// registers. The cycle loop calls the compiled function once per allocation step.
    ///
    /// # Safety
    /// All members of `outputs` are ports of this router.
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize;
}

/// The part of an allocator's configuration that code outside the allocator reads.
pub trait AllocatorModel {
    /// Rounds of matching in each allocation step.
    fn iterations(&self) -> u8 {
        1
    }

    /// Configurations that behave differently. Tests of the allocators run all examples.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// A function that compiles the cycle loop for an allocator from a crate outside Weft. `kernel::face::widths::compiler` makes a `Compiler`.
/// `weft-api` does not know the types of the cycle loop, and the loop does not know the type of the allocator. The types of the cycle loop
/// and of the allocator are therefore hidden behind `Any`.
#[derive(Debug, Clone, Copy)]
pub struct Compiler(pub fn(allocator: &dyn Any, how: &dyn Any) -> Box<dyn Any>);

/// Code that is generic over the type of the allocator, such as the code that compiles the cycle loop for an allocator. The compiler makes
/// one copy of this code for each type of allocator.
pub trait UseAllocator {
    type Output;
    fn take(self, allocator: impl Allocator) -> Self::Output;
    /// Does the work of `take` for an allocator from a crate outside Weft, whose type is hidden. `compiler` is the [`Compiler`] for this
    /// type.
    fn take_outside(self, allocator: &dyn Any, compiler: Compiler) -> Self::Output;
}
