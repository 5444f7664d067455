//! Data of link classes in the form that the loop needs.

use super::OutputUnit;
use crate::base::arrays::At;

/// The properties that all links of a link class share.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Link {
    pub latency: u64,
    /// Cycles from the grant of a flit at the far end until the sender can use the returned credit.
    pub credit_latency: u64,
    pub buffer: u16,
    /// All VCs of a channel of this class.
    pub all: u16,
    /// VCs of each routing class.
    pub vcs_of: [u16; 16],
    /// `entering`: the routing classes whose heads enter a ring, one bit each. `room_to_enter`: number of free flit slots that an output VC
    /// must have for these heads.
    pub entering: u16,
    pub room_to_enter: u16,
    /// Credits of all VCs of a channel together.
    pub capacity: u32,
    /// Whether the rate of its channels differs from one flit per cycle, or the number of flits that may wait for them has a limit
    /// (`rate.rs`).
    pub paced: bool,
}

const _: () = assert!(size_of::<Link>() == 64);

impl Link {
    /// Whether all credits of a channel have returned, so that the buffer behind it is empty.
    pub fn are_home(&self, credits: &[u16]) -> bool {
        (0..).zip(credits).all(|(vc, &free)| self.all >> vc & 1 == 0 || free == self.buffer)
    }

    /// Selects the VCs that heads of `class` may take, from the VCs that are `open` at output `out` to heads that enter no ring.
    #[inline(always)]
    pub fn open_to<const V: usize>(&self, out: &OutputUnit<V>, open: u16, class: usize) -> u16 {
        let vcs = open & self.vcs_of.at(class);
        if self.entering >> class & 1 == 0 { vcs } else { vcs & out.vcs_with(self.room_to_enter) }
    }

    /// Number of flits that fit into all VCs of a class of a channel.
    pub fn room_of(&self, class: u8) -> u32 {
        self.vcs_of[usize::from(class)].count_ones() * u32::from(self.buffer)
    }

    /// The VC class of VC `v`; if two classes share the VC, the lower one.
    #[inline(always)]
    pub fn class_of(&self, v: usize) -> u8 {
        self.vcs_of.iter().position(|vcs| vcs >> v & 1 != 0).unwrap_or(0) as u8
    }
}
