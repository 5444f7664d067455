//! Properties of link classes in the form that the cycle loop uses.

use super::OutputUnit;
use crate::base::arrays::At;

/// The properties that all links of a link class share.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Link {
    pub latency: u64,
    /// Cycles from the grant of a flit in the buffer at the far end of a channel until the sender can use the credit for the freed slot.
    pub credit_latency: u64,
    pub buffer: u16,
    /// Mask of all VCs of a channel of this class.
    pub all: u16,
    /// Mask of the VCs of each VC class of the routing.
    pub vcs_of: [u16; 16],
    /// Mask of the VC classes on which heads enter a ring that keeps a bubble.
    pub entering: u16,
    /// Number of free flit slots that an output VC needs for a head that enters a ring.
    pub room_to_enter: u16,
    /// Number of credits of an idle channel, summed over its VCs.
    pub capacity: u32,
    /// Whether channels of this class need pacing: their rate is not one flit per cycle, or the flits that wait for them are limited
    /// (`rate.rs`).
    pub paced: bool,
}

const _: () = assert!(size_of::<Link>() == 64);

impl Link {
    /// Whether all credits of a channel have returned, which means that the buffer at its far end is empty.
    pub fn are_home(&self, credits: &[u16]) -> bool {
        (0..).zip(credits).all(|(vc, &free)| self.all >> vc & 1 == 0 || free == self.buffer)
    }

    /// Selects the VCs that heads of VC class `class` may take. `open`: the VCs of output `out` that heads may take if they enter no ring.
    #[inline(always)]
    pub fn open_to<const V: usize>(&self, out: &OutputUnit<V>, open: u16, class: usize) -> u16 {
        let vcs = open & self.vcs_of.at(class);
        if self.entering >> class & 1 == 0 { vcs } else { vcs & out.vcs_with(self.room_to_enter) }
    }

    /// Number of flits that fit into all VCs of VC class `class` on one channel.
    pub fn room_of(&self, class: u8) -> u32 {
        self.vcs_of[usize::from(class)].count_ones() * u32::from(self.buffer)
    }

    /// The VC class of VC number `v`; if two classes share this VC, the lower class.
    #[inline(always)]
    pub fn class_of(&self, v: usize) -> u8 {
        self.vcs_of.iter().position(|vcs| vcs >> v & 1 != 0).unwrap_or(0) as u8
    }
}
