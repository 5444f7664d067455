//! The power state of a channel, and the account of the time that it spends in each.

use crate::base::kept::Value;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Writes the states, each with its name in scenarios and columns.
macro_rules! states {
    ($($(#[$doc:meta])* $state:ident = $name:literal,)+) => {
        /// Power state of a channel (one direction of a link).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema, Value)]
        #[repr(u8)]
        pub enum LinkState {
            $($(#[$doc])* #[serde(rename = $name)] $state,)+
        }

        impl LinkState {
            pub const COUNT: usize = [$($name),+].len();
            /// In the order of their numbers.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$state),+];

            /// The name in scenarios and columns.
            pub fn name(self) -> &'static str {
                match self { $(Self::$state => $name,)+ }
            }
        }
    };
}

states! {
    /// Carries traffic.
    On = "on",
    /// Logically off, physically ready.
    Shadow = "shadow",
    /// On the way to off; no new packet may take it.
    Draining = "draining",
    Off = "off",
    /// On the way to on, or to another rate; carries nothing yet.
    Waking = "waking",
    /// Carries traffic at half its bandwidth: at half the rate, or over half the lanes.
    Half = "half",
    /// Carries traffic at a quarter of its bandwidth.
    Quarter = "quarter",
}

impl LinkState {
    /// The channel carries one flit in the time in which it carries so many at its full bandwidth.
    pub fn slowdown(self) -> u32 {
        match self {
            Self::On | Self::Shadow | Self::Draining | Self::Off | Self::Waking => 1,
            Self::Half => 2,
            Self::Quarter => 4,
        }
    }

    /// The state that a port holds as this number.
    #[inline(always)]
    pub fn of(number: u8) -> Self {
        Self::ALL[usize::from(number)]
    }
}

/// Time and flits of one channel per state, over the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Account {
    /// Start of the present state, or of the window if later.
    since: u64,
    /// Flits of the channel that are counted already, the low 32 bits.
    counted: u32,
    pub cycles: [u64; LinkState::COUNT],
    pub flits: [u64; LinkState::COUNT],
    pub transitions: u64,
}

impl Account {
    /// An account that begins at cycle `now`. `flits`: what the channel has sent so far, the low 32 bits.
    pub fn begin(now: u64, flits: u32) -> Self {
        Self { since: now, counted: flits, ..Self::default() }
    }

    /// Adds the flits that were sent since the last call, all of them in state `present`.
    pub fn count(&mut self, present: LinkState, flits: u32) {
        self.flits[present as usize] += u64::from(flits.wrapping_sub(self.counted));
        self.counted = flits;
    }

    /// Adds the cycles and flits since the last call, up to cycle `now`.
    pub fn settle(&mut self, present: LinkState, flits: u32, now: u64) {
        self.cycles[present as usize] += now - self.since;
        self.since = now;
        self.count(present, flits);
    }

    /// Adds the counts of another channel.
    pub fn add(&mut self, other: &Self) {
        self.cycles.iter_mut().zip(other.cycles).for_each(|(sum, own)| *sum += own);
        self.flits.iter_mut().zip(other.flits).for_each(|(sum, own)| *sum += own);
        self.transitions += other.transitions;
    }

    /// Takes away what an earlier reading counted.
    pub fn remove(&mut self, earlier: &Self) {
        self.cycles.iter_mut().zip(earlier.cycles).for_each(|(sum, own)| *sum -= own);
        self.flits.iter_mut().zip(earlier.flits).for_each(|(sum, own)| *sum -= own);
        self.transitions -= earlier.transitions;
    }

    /// Cycles that the channel has been off.
    pub fn off_cycles(&self, present: LinkState, now: u64) -> u64 {
        let off = LinkState::Off;
        self.cycles[off as usize] + if present == off { now - self.since } else { 0 }
    }
}
