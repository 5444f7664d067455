//! The power state of a channel, and the account of the cycles and flits in each state.

use crate::base::kept::{Kept, Reader, Unreadable, Value, Writer};
use smallvec::SmallVec;
use std::ops::{Deref, Index, IndexMut};

/// Generates [`LinkState`] with the states that exist in every run (roles), each with its name in scenarios and columns.
macro_rules! roles {
    ($($(#[$doc:meta])* $role:ident = $number:literal, $name:literal;)+) => {
        /// Power state of a channel, which is one direction of a link. The state is either a role, which exists in every run, or a mode
        /// from the run's table of modes ([`Modes`](super::Modes)).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Value)]
        pub enum LinkState {
            $($(#[$doc])* $role,)+
            /// The mode with this index in the run's table of modes.
            Named(u8),
        }

        impl LinkState {
            /// All roles in the order of their numbers.
            pub const ROLES: [Self; [$($number),+].len()] = [$(Self::$role),+];
            /// The names of all roles in scenarios and columns.
            pub const ROLE_NAMES: [&'static str; Self::ROLES.len()] = [$($name),+];

            /// Index of this state in the run's table of modes.
            #[inline(always)]
            pub const fn number(self) -> u8 {
                match self {
                    $(Self::$role => $number,)+
                    Self::Named(number) => number,
                }
            }

            /// The state with this number (the records of ports store states as numbers).
            #[inline(always)]
            pub const fn of(number: u8) -> Self {
                match number {
                    $($number => Self::$role,)+
                    number => Self::Named(number),
                }
            }
        }
    };
}

roles! {
    /// The channel carries traffic.
    On = 0, "on";
    /// The channel is logically off, but physically ready to carry flits.
    Shadow = 1, "shadow";
    /// The channel is about to go off or to a lower rate, and no new packet may take it.
    Draining = 2, "draining";
    Off = 3, "off";
    /// The channel is about to go on or to another rate, and carries nothing yet.
    Waking = 4, "waking";
}

/// Number of counts that are stored without allocation: the number of modes of a run whose scenario defines no modes.
const INLINE: usize = 7;

/// A count for each mode of a run, in the order of the modes' numbers. The list has one count per entry of the run's
/// table of modes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PerMode(SmallVec<[u64; INLINE]>);

impl PerMode {
    /// Counts of zero for a run with `modes` modes.
    pub fn zeros(modes: usize) -> Self {
        Self(SmallVec::from_elem(0, modes))
    }

    /// Extends the list to `modes` counts. A sum over no accounts has an empty list.
    #[must_use]
    pub fn for_all(mut self, modes: usize) -> Self {
        self.0.resize(modes.max(self.len()), 0);
        self
    }

    /// Allocated memory [bytes] of counts for `modes` modes, without the size of the type itself.
    pub fn heap_bytes(modes: usize) -> usize {
        if modes > INLINE { modes * size_of::<u64>() } else { 0 }
    }

    /// Each mode with its count.
    pub fn by_state(&self) -> impl Iterator<Item = (LinkState, u64)> + '_ {
        (0..).map(LinkState::of).zip(self.iter().copied())
    }

    fn add(&mut self, other: &Self) {
        // an empty sum takes the length of the first account that is added
        self.0.resize(self.len().max(other.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(sum, own)| *sum += own);
    }

    fn remove(&mut self, earlier: &Self) {
        self.0.iter_mut().zip(&earlier.0).for_each(|(sum, own)| *sum -= own);
    }
}

impl Deref for PerMode {
    type Target = [u64];

    fn deref(&self) -> &[u64] {
        &self.0
    }
}

impl Index<LinkState> for PerMode {
    type Output = u64;

    /// A list without this entry (a sum over no accounts) has the count 0.
    fn index(&self, state: LinkState) -> &u64 {
        self.0.get(usize::from(state.number())).unwrap_or(&0)
    }
}

impl IndexMut<LinkState> for PerMode {
    fn index_mut(&mut self, state: LinkState) -> &mut u64 {
        &mut self.0[usize::from(state.number())]
    }
}

impl IntoIterator for PerMode {
    type Item = u64;
    type IntoIter = smallvec::IntoIter<[u64; INLINE]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a PerMode {
    type Item = &'a u64;
    type IntoIter = std::slice::Iter<'a, u64>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<const N: usize> PartialEq<[u64; N]> for PerMode {
    fn eq(&self, other: &[u64; N]) -> bool {
        **self == other[..]
    }
}

impl<const N: usize> From<[u64; N]> for PerMode {
    fn from(counts: [u64; N]) -> Self {
        Self(counts.as_slice().into())
    }
}

impl FromIterator<u64> for PerMode {
    fn from_iter<I: IntoIterator<Item = u64>>(counts: I) -> Self {
        Self(counts.into_iter().collect())
    }
}

impl Kept for PerMode {
    fn keep(&self, to: &mut Writer) {
        self.0.len().keep(to);
        self.iter().for_each(|count| count.keep(to));
    }

    fn restore(&mut self, from: &mut Reader<'_>) -> Result<(), Unreadable> {
        *self = Value::read(from)?;
        Ok(())
    }
}

impl Value for PerMode {
    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        Vec::read(from).map(|counts| Self(counts.into()))
    }
}

/// The account of one channel over the window: its cycles and flits in each mode.
#[derive(Debug, Clone, Default, PartialEq, Eq, Value)]
pub struct Account {
    /// First cycle that the account does not include yet.
    since: u64,
    /// Number of the channel's flits that the account includes: the low 32 bits.
    counted: u32,
    pub cycles: PerMode,
    pub flits: PerMode,
    pub transitions: u64,
}

impl Account {
    /// An empty account for a run with `modes` modes.
    pub fn new(modes: usize) -> Self {
        Self { cycles: PerMode::zeros(modes), flits: PerMode::zeros(modes), ..Self::default() }
    }

    /// Starts the account at cycle `now`. `flits`: number of flits that the channel has sent before, low 32 bits.
    pub fn begin(&mut self, now: u64, flits: u32) {
        (self.since, self.counted, self.transitions) = (now, flits, 0);
        self.cycles.0.fill(0);
        self.flits.0.fill(0);
    }

    /// Adds the flits that the channel has sent since the last call. The channel was in state `present` for all these
    /// flits.
    pub fn count(&mut self, present: LinkState, flits: u32) {
        self.flits[present] += u64::from(flits.wrapping_sub(self.counted));
        self.counted = flits;
    }

    /// Adds the cycles and flits since the last call to state `present`, up to cycle `now`.
    pub fn settle(&mut self, present: LinkState, flits: u32, now: u64) {
        self.cycles[present] += now - self.since;
        self.since = now;
        self.count(present, flits);
    }

    /// Adds the account of another channel to this one.
    pub fn add(&mut self, other: &Self) {
        self.cycles.add(&other.cycles);
        self.flits.add(&other.flits);
        self.transitions += other.transitions;
    }

    /// Subtracts an earlier reading of the same account.
    pub fn remove(&mut self, earlier: &Self) {
        self.cycles.remove(&earlier.cycles);
        self.flits.remove(&earlier.flits);
        self.transitions -= earlier.transitions;
    }

    /// Number of counted cycles in which the channel was off, up to cycle `now`.
    pub fn off_cycles(&self, present: LinkState, now: u64) -> u64 {
        let off = LinkState::Off;
        self.cycles[off] + if present == off { now - self.since } else { 0 }
    }
}
