//! Kinds of allocation steps. The kind determines which flits may cross the switch in a step of a router, and how arbiters choose. The
//! compiler makes one copy of the allocators, and of the code of the loop that calls them, for each kind of step.

use std::fmt::Debug;
use std::marker::PhantomData;

/// A kind of allocation step of a router.
pub trait SwitchStep: Debug + Send + Sync + 'static {
    /// Whether heads without a VC may cross; they take a VC when they cross.
    const HEADS: bool;
    /// Whether flits whose packets already hold a VC may cross.
    const FLITS: bool;
    /// Whether arbiters choose by age, or heads enter rings that keep a bubble. The same compiled code serves both cases.
    const BY_AGE: bool;
}

/// The rule by which the arbiters of a run choose.
pub trait Arbiters: Debug + Send + Sync + 'static {
    const BY_AGE: bool;
}

/// Arbiters choose in round-robin order.
#[derive(Debug)]
pub struct InTurn;

/// Arbiters choose by age. (This type is also used for round-robin arbiters if rings keep a bubble: all packets then have age 0, and ties
/// are decided in round-robin order.)
#[derive(Debug)]
pub struct ByAge;

impl Arbiters for InTurn {
    const BY_AGE: bool = false;
}

impl Arbiters for ByAge {
    const BY_AGE: bool = true;
}

/// A step in which only heads may cross: all packets have one flit, so no packet keeps a VC.
#[derive(Debug)]
pub struct HeadsCross<A>(PhantomData<A>);

/// A step in which only flits with a VC may cross: no head waits for a VC, or heads get VCs in a separate stage.
#[derive(Debug)]
pub struct FlitsCross<A>(PhantomData<A>);

/// A step in which heads, and flits of packets that hold a VC, may cross.
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
