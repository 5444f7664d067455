//! The list of all shortcuts, and the data type for the set of shortcuts that a run uses. `shortcuts/profile.rs` chooses the set.

/// The list of shortcuts, each with its kind, its name, and its type in `shortcuts/`. In this order, the work that shortcuts have skipped
/// is added to the records of a block.
macro_rules! each_shortcut {
    ($write:ident) => {
        $write! {
            Uncontended = "uncontended": uncontended::Uncontended,
            Streams = "streams": streams::OfBodyFlits,
            Steady = "steady": steady::SteadyFlows,
            Candidates = "candidates": candidates::Candidates,
            Prefetch = "prefetch": prefetch::Prefetch,
            Idle = "idle": idle::IdleTime,
        }
    };
}
pub(crate) use each_shortcut;

macro_rules! kinds {
    ($($kind:ident = $name:literal: $module:ident::$shortcut:ident,)+) => {
        /// Identifies a shortcut.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($kind,)+ }

        impl Kind {
            pub const ALL: &[Self] = &[$(Self::$kind,)+];

            pub fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)+ }
            }
        }
    };
}

each_shortcut!(kinds);

/// A set of shortcuts, with one bit for each shortcut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set(u8);

impl Set {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(((1u32 << Kind::ALL.len()) - 1) as u8);

    /// The set of shortcuts for which `take` returns true. A shortcut is omitted if the shortcut that it requires is missing.
    pub fn of(take: impl Fn(Kind) -> bool) -> Self {
        let taken = |kind: Kind| take(kind) && kind.needs().is_none_or(&take);
        let those = Kind::ALL.iter().filter(|&&kind| taken(kind));
        Self(those.fold(0, |set, &kind| set | 1 << kind as u8))
    }

    #[inline(always)]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u8 & 1 != 0
    }

    /// The set without this shortcut, and without the shortcuts that require it.
    #[must_use]
    pub fn without(self, kind: Kind) -> Self {
        Self::of(|other| other != kind && self.has(other))
    }

    /// The shortcuts that are in both sets.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self::of(|kind| self.has(kind) && other.has(kind))
    }
}

/// The variants of the work that the cycle loop does when a packet becomes the head of its VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadPath {
    /// The head requests the hop of its route key, or the hop that its routing returns at this time.
    Key,
    /// The head requests the hop of its route key. A stream that uses the same output ends (`shortcuts/streams.rs`).
    AmongStreams,
    /// If the route key names no hop, the cycle loop compares the candidates of the head.
    Candidates,
    /// If the route key names no hop, the cycle loop calls the routing in every step. If the key names a hop over a trunk, the cycle loop
    /// selects the best member link.
    Asked,
    /// More work is necessary: the age of the head must be recorded, the head is watched or must wait first, or links or routers fail.
    Slow,
}

/// The variants of the function that receives the flits which arrive in a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// Flits join their queues, and wait there for the allocator. (Body flits may bypass the allocator.)
    Waits,
    /// The same, but heads with a route may also bypass the allocator.
    MayBypass,
    /// Heads may bypass the allocator, even if they must choose an output first.
    MayChooseAndBypass,
    /// Some flits arrive in runs. Streams forward these flits without work for each flit. Heads may also bypass the allocator while they
    /// try to (`BypassTrial`).
    AmongStreams,
}

/// The shortcuts that a run, or one block of it, uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub(crate) set: Set,
    /// The VC class whose credits the cycle loop compares for heads that choose in every step; `None` if the cycle loop calls the routing
    /// in every step instead.
    pub compares_credits_of: Option<u8>,
}

impl Profile {
    /// The profile of the plain loop, without shortcuts.
    pub const PLAIN: Self = Self { set: Set::NONE, compares_credits_of: None };

    #[inline(always)]
    pub const fn has(self, kind: Kind) -> bool {
        self.set.has(kind)
    }

    pub fn set(self) -> Set {
        self.set
    }

    /// The profile with only those shortcuts that are also in `set`.
    #[must_use]
    pub fn among(self, set: Set) -> Self {
        let set = self.set.and(set);
        Self { set, compares_credits_of: self.compares_credits_of.filter(|_| set.has(Kind::Candidates)) }
    }

    /// The profile with prefetching added, for any size of the network (for tests).
    #[must_use]
    pub fn prefetching(self) -> Self {
        Self { set: Set::of(|kind| kind == Kind::Prefetch || self.has(kind)), ..self }
    }

    /// The variant of the function that receives the flits of a cycle. `heads_try`: whether heads try to bypass the allocator at present.
    /// `choose`: whether heads choose in every step.
    #[inline(always)]
    pub fn arrival(self, heads_try: bool, choose: bool) -> Arrival {
        match (self.has(Kind::Streams), heads_try, choose) {
            (true, _, _) => Arrival::AmongStreams,
            (false, true, true) => Arrival::MayChooseAndBypass,
            (false, true, false) => Arrival::MayBypass,
            (false, false, _) => Arrival::Waits,
        }
    }

    /// The variant of the work that the cycle loop does for a new head. `slow`, `choose`: as in [`Facts`].
    pub fn heads(self, slow: bool, choose: bool) -> HeadPath {
        match (slow, choose, self.compares_credits_of) {
            (true, ..) => HeadPath::Slow,
            (false, true, Some(_)) => HeadPath::Candidates,
            (false, true, None) => HeadPath::Asked,
            (false, false, _) if self.has(Kind::Streams) => HeadPath::AmongStreams,
            (false, false, _) => HeadPath::Key,
        }
    }
}
