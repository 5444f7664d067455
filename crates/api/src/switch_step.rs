//! Allocation steps: the flits that may cross the switch in a step of a router, and the rule of the arbiters. The loop and the allocators
//! are compiled separately for each kind of step.

use std::fmt::Debug;
use std::marker::PhantomData;

/// A kind of allocation step of a router.
pub trait SwitchStep: Debug + Send + Sync + 'static {
    /// Whether heads may cross; a head takes a VC when it crosses.
    const HEADS: bool;
    /// Whether flits may cross whose packets already hold a VC.
    const FLITS: bool;
    /// Whether the oldest packet wins at every choice, or heads enter rings that keep a bubble.
    const BY_AGE: bool;
}

/// The rule by which the arbiters of a run decide.
pub trait Arbiters: Debug + Send + Sync + 'static {
    const BY_AGE: bool;
}

/// Arbiters decide round robin.
#[derive(Debug)]
pub struct InTurn;

/// Arbiters decide by age. (If arbiters decide round robin and rings keep a bubble, all packets have age 0, and ties are decided round
/// robin.)
#[derive(Debug)]
pub struct ByAge;

impl Arbiters for InTurn {
    const BY_AGE: bool = false;
}

impl Arbiters for ByAge {
    const BY_AGE: bool = true;
}

/// Only heads may cross: all packets have one flit, so no packet keeps a VC.
#[derive(Debug)]
pub struct HeadsCross<A>(PhantomData<A>);

/// Only flits whose packets hold a VC may cross: no head waits for a VC, or heads get VCs in a separate stage.
#[derive(Debug)]
pub struct FlitsCross<A>(PhantomData<A>);

/// Heads and flits of packets with a VC may cross.
#[derive(Debug)]
pub struct BothCross<A>(PhantomData<A>);

impl<A: Arbiters> SwitchStep for HeadsCross<A> {
    const HEADS: bool = true;
    const FLITS: bool = false;
    const BY_AGE: bool = A::BY_AGE;
}

impl<A: Arbiters> SwitchStep for FlitsCross<A> {
    const HEADS: bool = false;
    const FLITS: bool = true;
    const BY_AGE: bool = A::BY_AGE;
}

impl<A: Arbiters> SwitchStep for BothCross<A> {
    const HEADS: bool = true;
    const FLITS: bool = true;
    const BY_AGE: bool = A::BY_AGE;
}
