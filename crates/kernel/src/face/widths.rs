//! The pairs of widths for which the cycle loop is compiled: `W` is the number of words in a mask of ports, and `V` the number of VCs of a
//! port. No other file lists these pairs.

use super::OfWidths;
use crate::net::Net;
use crate::switch_allocation::{Compiled, SwitchAllocator};
use std::any::Any;
use std::sync::Arc;
use weft_api::allocation::{Allocator, Compiler, UseAllocator};
use weft_api::base::bits::Bits;
use weft_api::state::{InputUnit, OutputUnit, Router};
use weft_api::switch_step::{Arbiters, BothCross, ByAge, FlitsCross, HeadsCross, InTurn};

/// The block types of each width, for tests that access their fields.
pub type NarrowBlock = OfWidths<1, 8>;

/// Upper limits for the number of ports of a router and of VCs of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// At most 64 ports with 8 VCs each.
    Narrow,
    /// At most 128 ports with 16 VCs each.
    Wide,
    /// At most 512 ports with 16 VCs each.
    Widest,
}

/// An allocator, compiled for the widths of the blocks that use it.
#[derive(Debug, Clone)]
pub enum AnyAllocator {
    Narrow(Arc<dyn SwitchAllocator<1, 8>>),
    Wide(Arc<dyn SwitchAllocator<2, 16>>),
    Widest(Arc<dyn SwitchAllocator<8, 16>>),
}

/// Compiles the allocator of a run for each width. There are several variants of the code. Three properties of the run select one: whether
/// all packets have one flit, whether arbiters decide by age, and whether rings keep a bubble.
#[derive(Debug, Clone, Copy)]
pub struct Compile {
    width: Width,
    single: bool,
    by_age: bool,
}

/// Sizes of the records that depend on the width [bytes].
#[derive(Debug, Clone, Copy)]
pub struct Sizes {
    pub input: usize,
    pub output: usize,
    pub router: usize,
    /// Size of a mask of ports.
    pub mask: usize,
}

impl Width {
    /// The smallest width for routers with at most `ports` ports and `vcs` VCs per port.
    pub fn of(ports: u32, vcs: u8) -> Self {
        match ports {
            ..=64 if vcs <= 8 => Self::Narrow,
            ..=128 => Self::Wide,
            _ => Self::Widest,
        }
    }

    /// Number of VCs for which a port's records have space.
    pub fn vcs(self) -> usize {
        match self {
            Self::Narrow => 8,
            Self::Wide | Self::Widest => 16,
        }
    }

    pub fn sizes(self) -> Sizes {
        match self {
            Self::Narrow => Sizes::of::<1, 8>(),
            Self::Wide => Sizes::of::<2, 16>(),
            Self::Widest => Sizes::of::<8, 16>(),
        }
    }
}

impl Sizes {
    fn of<const W: usize, const V: usize>() -> Self {
        Self {
            input: size_of::<InputUnit<V>>(),
            output: size_of::<OutputUnit<V>>(),
            router: size_of::<Router<W>>(),
            mask: size_of::<Bits<W>>(),
        }
    }
}

impl Compile {
    pub fn of(net: &Net, width: Width) -> Self {
        Self { width, single: net.single, by_age: net.router.by_age || net.router.rings }
    }

    fn compiled<const W: usize, const V: usize>(self, allocator: impl Allocator) -> Arc<dyn SwitchAllocator<W, V>> {
        if self.by_age {
            self.compiled_for::<ByAge, W, V>(allocator)
        } else {
            self.compiled_for::<InTurn, W, V>(allocator)
        }
    }

    fn compiled_for<A: Arbiters, const W: usize, const V: usize>(
        self,
        allocator: impl Allocator,
    ) -> Arc<dyn SwitchAllocator<W, V>> {
        if self.single {
            Arc::new(Compiled::<_, HeadsCross<A>, FlitsCross<A>>::new(allocator))
        } else {
            Arc::new(Compiled::<_, BothCross<A>, FlitsCross<A>>::new(allocator))
        }
    }
}

impl UseAllocator for Compile {
    type Output = AnyAllocator;

    fn take(self, allocator: impl Allocator) -> AnyAllocator {
        match self.width {
            Width::Narrow => AnyAllocator::Narrow(self.compiled(allocator)),
            Width::Wide => AnyAllocator::Wide(self.compiled(allocator)),
            Width::Widest => AnyAllocator::Widest(self.compiled(allocator)),
        }
    }

    fn take_outside(self, allocator: &dyn Any, Compiler(compile): Compiler) -> AnyAllocator {
        *compile(allocator, &self).downcast().expect("a compiler that `compiler` returned")
    }
}

/// The compiler for an allocator `A` that is not part of Weft. The registry line of the allocator declares it (`declares compiler::<A>()`).
pub const fn compiler<A: Allocator>() -> Compiler {
    Compiler(|allocator, how| {
        let allocator: &A = allocator.downcast_ref().expect("`declares compiler::<A>()` with the allocator as `A`");
        let how: &Compile = how.downcast_ref().expect("the loop passes a `Compile`");
        Box::new(how.take(allocator.clone()))
    })
}
