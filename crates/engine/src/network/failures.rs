//! Faults as a spec states them: the part that fails, the first cycle of the fault, and the cycle in which the part works again. The file
//! `faults.rs` contains the rules for faults and describes their consequences.

use weft_api::agents::{Breakage, Cause};
use weft_kernel::parts::faults::Event;
use weft_topology::Graph;
use weft_units::Cycles;

/// A part of the network that fails, and the time during which it is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub what: Part,
    /// First cycle in which the part is broken.
    pub at: Cycles,
    /// First cycle in which the part works again; `None` if it stays broken.
    pub until: Option<Cycles>,
}

/// A part that can fail: all links between two routers, only those of one link class, one of several parallel links, or a router with all
/// its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Link([u32; 2]),
    LinkOfClass([u32; 2], u8),
    Member(Member),
    Router(u32),
}

/// One of several parallel links between two routers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    pub ends: [u32; 2],
    /// Link class of the link that fails; `None`: a link of any class.
    pub class: Option<u8>,
    /// Index of the link in its trunk.
    pub number: u16,
}

/// The sending end of a channel between two routers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OwnEnd {
    pub from: u32,
    pub to: u32,
    pub class: u8,
    /// Index of the link in its trunk.
    pub member: u16,
}

impl Part {
    /// The key that selects this kind of part in a scenario.
    pub(super) fn key(self) -> &'static str {
        match self {
            Self::Link(_) | Self::LinkOfClass(..) => "link",
            Self::Member(_) => "member",
            Self::Router(_) => "router",
        }
    }

    pub fn routers(self) -> Vec<u32> {
        match self {
            Self::Link(ends) | Self::LinkOfClass(ends, _) | Self::Member(Member { ends, .. }) => ends.to_vec(),
            Self::Router(router) => vec![router],
        }
    }

    /// The routers of a link, and its class if only links of one class fail.
    pub(super) fn link(self) -> Option<([u32; 2], Option<u8>)> {
        match self {
            Self::Link(ends) => Some((ends, None)),
            Self::LinkOfClass(ends, class) => Some((ends, Some(class))),
            Self::Member(Member { ends, class, .. }) => Some((ends, class)),
            Self::Router(_) => None,
        }
    }

    /// The index of the parallel link that fails; `None` if the fault does not select a single link.
    pub(super) fn member(self) -> Option<u16> {
        match self {
            Self::Member(Member { number, .. }) => Some(number),
            Self::Link(_) | Self::LinkOfClass(..) | Self::Router(_) => None,
        }
    }

    /// The part in words, with the names of the routers, for messages.
    pub(super) fn in_words(self, graph: &Graph) -> String {
        let name = |router| graph.router_name(router);
        match self {
            Self::Link([a, b]) => format!("the link between routers {} and {}", name(a), name(b)),
            Self::LinkOfClass([a, b], _) => format!("one of the links between routers {} and {}", name(a), name(b)),
            Self::Member(Member { ends: [a, b], number, .. }) => {
                format!("member {number} of the links between routers {} and {}", name(a), name(b))
            }
            Self::Router(router) => format!("router {}", name(router)),
        }
    }

    /// Whether the two parts share a router or a link.
    pub fn overlaps(self, other: Self) -> bool {
        match (self.link(), other.link()) {
            (Some((ends, of)), Some(([a, b], class))) => {
                let same_link = (ends == [a, b] || ends == [b, a]) && (of.is_none() || class.is_none() || of == class);
                same_link && self.member().zip(other.member()).is_none_or(|(own, other)| own == other)
            }
            (None, None) | (Some(_), None) | (None, Some(_)) => self == other,
        }
    }
}

impl Fault {
    /// Whether the part is broken from the start to the end of the run.
    pub fn is_always(&self) -> bool {
        self.at <= FIRST && self.until.is_none()
    }

    /// Whether the two faults are active in a common cycle, or one begins in the cycle in which the other has ended.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let ends = |fault: &Self| fault.until.unwrap_or(Cycles::MAX);
        self.at <= ends(other) && other.at <= ends(self)
    }

    pub(super) fn is_of(&self, part: Part) -> bool {
        self.what.overlaps(part)
    }

    /// The events (failure, repair) that this fault causes at the sending end of a channel between two routers.
    pub(crate) fn events(&self, channel: u32, end: OwnEnd) -> impl Iterator<Item = Event> + use<> {
        let OwnEnd { from, to, class, member } = end;
        let cause = match self.what {
            Part::Router(router) if router == from => Some(Cause::OwnRouter),
            Part::Router(router) if router == to => Some(Cause::FarRouter),
            Part::Router(_) => None,
            Part::Member(of) => (of.number == member && self.names(from, to, class)).then_some(Cause::Link),
            Part::Link(_) | Part::LinkOfClass(..) => self.names(from, to, class).then_some(Cause::Link),
        };
        let (at, until) = (self.at, self.until);
        cause.into_iter().flat_map(move |cause| {
            let event = move |at, breaks| Event { at, what: Breakage { channel, breaks, cause } };
            std::iter::once(event(at, true)).chain(until.map(|at| event(at, false)))
        })
    }

    /// Whether the fault is active in this cycle.
    pub(crate) fn is_on(&self, cycle: Cycles) -> bool {
        self.at <= cycle && self.until.is_none_or(|until| cycle < until)
    }

    /// Whether the fault breaks at least one link of this class between two routers.
    pub(crate) fn names(&self, a: u32, b: u32, class: u8) -> bool {
        match self.what {
            Part::Link(_) | Part::LinkOfClass(..) | Part::Member(_) => self.is_of(Part::LinkOfClass([a, b], class)),
            Part::Router(router) => router == a || router == b,
        }
    }

    /// Whether the fault breaks all links of this class between two routers, so that no packet can use such a link.
    pub(crate) fn breaks(&self, a: u32, b: u32, class: u8) -> bool {
        self.what.member().is_none() && self.names(a, b, class)
    }

    pub(crate) fn is_of_router(&self) -> bool {
        matches!(self.what, Part::Router(_))
    }
}

/// Times within which routers react to faults, in networks whose routing handles faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FaultTimes {
    /// For heads that choose in every step, the longest time that a head waits after it has lost its escape. After this time the packet of
    /// the head is discarded.
    pub patience: Cycles,
    /// Time from a fault until all routers have new tables, for routings with tables. The first tables of a run already exclude all parts
    /// that are broken from the start.
    pub rebuild_delay: Cycles,
}

impl Default for FaultTimes {
    /// The default times are 1 us and 10 us, for cycles of 1 ns.
    fn default() -> Self {
        Self { patience: 1000, rebuild_delay: 10_000 }
    }
}

/// The first cycle in which a link can carry a flit. A part that fails in this cycle counts as broken from the start.
pub(crate) const FIRST: Cycles = 1;
