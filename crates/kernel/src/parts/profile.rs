//! Which shortcuts there are, and which of them a run has, as data. `shortcuts/profile.rs` decides it.

/// The list of shortcuts, in the order in which they are settled: kind, name, and the type below `shortcuts/`.
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
        /// A shortcut, by name.
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

/// A set of shortcuts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Set(u8);

impl Set {
    pub const NONE: Self = Self(0);
    pub const ALL: Self = Self(((1u32 << Kind::ALL.len()) - 1) as u8);

    /// The shortcuts for which `take` returns true, without those whose required shortcut is missing.
    pub fn of(take: impl Fn(Kind) -> bool) -> Self {
        let taken = |kind: Kind| take(kind) && kind.needs().is_none_or(&take);
        let those = Kind::ALL.iter().filter(|&&kind| taken(kind));
        Self(those.fold(0, |set, &kind| set | 1 << kind as u8))
    }

    #[inline(always)]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u8 & 1 != 0
    }

    /// All shortcuts except this one and those that need it.
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

/// The work for a packet that becomes the head of its VC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HeadPath {
    /// It requests the hop of its route key, or the hop that its routing names now.
    Key,
    /// It requests the hop of its route key, and a stream that leaves by the same output ends (`shortcuts/streams.rs`).
    AmongStreams,
    /// If its key names no hop, the loop will compare its candidates.
    Candidates,
    /// If its key names no hop, the loop calls the routing in every step. If the key names a trunk, the loop looks for
    /// the best member.
    Asked,
    /// More work: its age is noted, it is watched, it waits first, or links or routers fail.
    Slow,
}

/// The variants of receiving the flits of a cycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrival {
    /// They join their queues, and wait there for the allocator. (Body flits may bypass it.)
    Waits,
    /// Heads may bypass the allocator as well, if they have a route.
    MayBypass,
    /// Heads may bypass the allocator, even if they have to choose an output first.
    MayChooseAndBypass,
    /// Some flits come in runs, which streams take. Heads may bypass the allocator, or not.
    AmongStreams,
}

/// The shortcuts of a run, or of one of its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Profile {
    pub(crate) set: Set,
    /// VC class by whose credits the loop compares the candidates of heads that choose in every step; `None` if it
    /// calls the routing in every step.
    pub compares_credits_of: Option<u8>,
}

impl Profile {
    /// The plain loop.
    pub const PLAIN: Self = Self { set: Set::NONE, compares_credits_of: None };

    #[inline(always)]
    pub const fn has(self, kind: Kind) -> bool {
        self.set.has(kind)
    }

    pub fn set(self) -> Set {
        self.set
    }

    /// The shortcuts that are also in `set`.
    #[must_use]
    pub fn among(self, set: Set) -> Self {
        let set = self.set.and(set);
        Self { set, compares_credits_of: self.compares_credits_of.filter(|_| set.has(Kind::Candidates)) }
    }

    /// The same with records prefetched, whatever the size of the network (for tests).
    #[must_use]
    pub fn prefetching(self) -> Self {
        Self { set: Set::of(|kind| kind == Kind::Prefetch || self.has(kind)), ..self }
    }

    /// The way in which the loop receives the flits of a cycle. `heads_try`: heads try to bypass the allocator at present; `choose`: they choose
    /// in every step.
    #[inline(always)]
    pub fn arrival(self, heads_try: bool, choose: bool) -> Arrival {
        match (self.has(Kind::Streams), heads_try, choose) {
            (true, _, _) => Arrival::AmongStreams,
            (false, true, true) => Arrival::MayChooseAndBypass,
            (false, true, false) => Arrival::MayBypass,
            (false, false, _) => Arrival::Waits,
        }
    }

    /// The treatment of heads in the loop. `slow`, `choose`: as in [`Facts`].
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
