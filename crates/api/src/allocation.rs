//! Needs and promises of a switch allocator.

use super::switch::Ports;
use super::switch_step::SwitchStep;
use crate::base::bits::Bits;
use std::any::Any;
use std::fmt::Debug;

/// The configuration of a switch allocator, and the allocator itself.
///
/// # Safety
/// The loop carries out the moves without a check. `allocate` returns the number of moves that it has entered in this
/// call, from move 0 on without a gap. It enters each input and each output once at most. It changes the records of
/// `Ports` only by calls of its functions, except round-robin pointers (`rr_in`, `rr_out`, `rr_vc`), `grants` and
/// `offers`.
pub unsafe trait Allocator: Debug + Clone + Send + Sync + 'static {
    /// Matches inputs to `outputs` and enters each winner as a move. Each output has a head that may get a VC, or a
    /// flit that may cross the switch ([`Ports::enter`], [`Ports::cross_from`]). Each input and each output is matched
    /// once at most. Uncontended flits have crossed before (`kernel/src/shortcuts/uncontended.rs`). So an allocator
    /// must match such a pair in its first iteration. The round-robin pointers of input, output and VC then move past
    /// it (`take_turns` there). Returns the number of moves. `S`: the heads and flits that may cross in this step. The
    /// functions of `Ports` observe it, so an allocator seldom needs it. The function should be inlined, so that the
    /// ports need not be laid out in memory. The loop calls the compiled function once per step.
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

/// Compiles an allocator from outside of Weft for the loop, as `kernel::face::widths::compiler` makes it. This crate
/// does not know the loop, and the loop does not know the type of the allocator, so both types are hidden.
#[derive(Debug, Clone, Copy)]
pub struct Compiler(pub fn(allocator: &dyn Any, how: &dyn Any) -> Box<dyn Any>);

/// A visitor of an allocator, compiled for each type of allocator.
pub trait UseAllocator {
    type Output;
    fn take(self, allocator: impl Allocator) -> Self::Output;
    /// The same with an allocator from outside, of the type for which `compiler` is.
    fn take_outside(self, allocator: &dyn Any, compiler: Compiler) -> Self::Output;
}
