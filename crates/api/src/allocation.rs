//! The needs of a switch allocator, and its guarantees.

use super::switch::Ports;
use super::switch_step::SwitchStep;
use crate::base::bits::Bits;
use std::any::Any;
use std::fmt::Debug;

/// The configuration of a switch allocator, and the allocator itself.
///
/// # Safety
/// The loop carries out the moves without checking them. `allocate` returns the number of moves that it has entered in this call. Moves of
/// an allocator are numbered from 0, without a gap. Each call enters each input and each output at most once. An allocator changes the
/// records of `Ports` only through functions of `Ports`. Exceptions are the round-robin pointers (`rr_in`, `rr_out`, `rr_vc`), `grants` and
/// `offers`.
pub unsafe trait Allocator: Debug + Clone + Send + Sync + 'static {
    /// Matches inputs to `outputs`, and enters each matched pair as a move. Each output has a head that may get a VC, or a flit that may
    /// cross the switch ([`Ports::enter`], [`Ports::cross_from`]). Each input and each output is matched at most once. Uncontended flits
    /// have already crossed (`kernel/src/shortcuts/uncontended.rs`). Therefore an allocator must match an uncontended pair in its first
    /// iteration. The round-robin pointers of the input, the output and the VC must then move past the pair (`take_turns` in that file).
    /// Returns the number of moves. `S`: selects the heads and flits that may cross in this step. The functions of `Ports` apply this
    /// selection, so an allocator seldom needs it. Implementations should be inlined, so that the compiler need not store the ports in
    /// memory. The loop calls the compiled function once per step.
    ///
    /// # Safety
    /// `outputs` are ports of the router.
    unsafe fn allocate<const W: usize, const V: usize, S: SwitchStep>(
        &self,
        ports: &mut Ports<'_, W, V, S>,
        outputs: Bits<W>,
    ) -> usize;
}

/// The part of an allocator's configuration that code outside the allocator reads.
pub trait AllocatorModel {
    /// Rounds of matching per allocation step.
    fn iterations(&self) -> u8 {
        1
    }

    /// Configurations that behave differently. Tests run all examples.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// Compiles an allocator from a crate outside Weft for the loop. `kernel::face::widths::compiler` makes a `Compiler`. This crate does not
/// know the types of the loop, and the loop does not know the type of the allocator. The types of the loop and of the allocator are
/// therefore hidden behind `Any`.
#[derive(Debug, Clone, Copy)]
pub struct Compiler(pub fn(allocator: &dyn Any, how: &dyn Any) -> Box<dyn Any>);

/// A visitor of an allocator. The code of a visitor is compiled once for each type of allocator.
pub trait UseAllocator {
    type Output;
    fn take(self, allocator: impl Allocator) -> Self::Output;
    /// Visits an allocator from outside Weft; `compiler` belongs to the type of this allocator.
    fn take_outside(self, allocator: &dyn Any, compiler: Compiler) -> Self::Output;
}
