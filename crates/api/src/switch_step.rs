//! Allocation steps: which flits may cross the switch in a step of a router, and how arbiters decide. The loop and the allocators are
//! compiled for each.

use std::fmt::Debug;
use std::marker::PhantomData;

/// An allocation step of a router.
pub trait SwitchStep: Debug + Send + Sync + 'static {
    /// Heads may cross, and take a VC as they do.
    const HEADS: bool;
    /// Flits may cross whose packets hold a VC.
    const FLITS: bool;
    /// The oldest packet wins wherever there is a choice, or heads enter rings that keep a bubble.
    const BY_AGE: bool;
}

/// How the arbiters of a run decide.
pub trait Arbiters: Debug + Send + Sync + 'static {
    const BY_AGE: bool;
}

/// Round robin.
#[derive(Debug)]
pub struct InTurn;

/// By age. (With round robin arbiters and rings that keep a bubble all packets have age 0, and ties go round robin.)
#[derive(Debug)]
pub struct ByAge;

impl Arbiters for InTurn {
    const BY_AGE: bool = false;
}

impl Arbiters for ByAge {
    const BY_AGE: bool = true;
}

/// Only heads may cross: all packets have one flit, so that none keeps a VC.
#[derive(Debug)]
pub struct HeadsCross<A>(PhantomData<A>);

/// Only flits may cross whose packets hold a VC: no head waits for one, or heads get theirs in a stage of its own.
#[derive(Debug)]
pub struct FlitsCross<A>(PhantomData<A>);

/// Both may cross.
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
