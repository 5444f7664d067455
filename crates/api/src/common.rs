//! Data that all routers of a network share and that models can read.

use super::board::Board;
use super::sensor::Sensor;
use crate::base::arrays::At;
use crate::state::by_class::ByClass;
use crate::state::link_class::Link;
use crate::state::rate::Rate;
use crate::state::{Modes, key_of};

/// The shared data of all routers.
#[derive(Debug)]
pub struct Common {
    pub links: ByClass<Link>,
    /// Full rate of the links of each link class.
    pub rates: ByClass<Rate>,
    /// The modes (link states) that channels can have.
    pub modes: Modes,
    /// The sensor with which the routing measures congestion; `None` if the routing does not read queues.
    pub sensor: Option<Sensor>,
    /// Cycles from the grant of a flit by the allocator until the flit is on the link.
    pub after_grant: u32,
    /// Whether all packets have one flit.
    pub single: bool,
    /// Number of low bits of a route key that give the VC class (key = output port << class_bits | class).
    pub class_bits: u32,
    /// Whether an output sends all flits of a packet before it begins another packet.
    pub hold_switch: bool,
    /// Whether each trunk has an open link in every cycle, so that heads take open links. (In other networks heads wake closed links by
    /// requests.)
    pub always_carries: bool,
    /// The board with the numbers that routers post for the routing; `None` if the routing posts nothing.
    pub board: Option<Board>,
}

impl Common {
    /// Route key of output port `p` with VC class `class`.
    #[inline(always)]
    pub fn key(&self, p: usize, class: usize) -> u16 {
        key_of(p, class, self.class_bits)
    }

    /// Index, in a table of requests, of the requests for VC class `class` of output `o`. The table and `o` are both of the block, or both
    /// of one router.
    #[inline(always)]
    pub fn slot(&self, o: usize, class: usize) -> usize {
        o << self.class_bits | class
    }

    /// Output port that a route key names.
    #[inline(always)]
    pub fn port(&self, key: u16) -> usize {
        usize::from(key) >> self.class_bits
    }

    /// Output port and VC class that a route key names.
    #[inline(always)]
    pub fn split(&self, key: u16) -> (usize, usize) {
        ((key >> self.class_bits) as usize, (key & ((1 << self.class_bits) - 1)) as usize)
    }

    /// Mask of the VCs that VC class `class` of the routing has on link class `link`.
    #[inline(always)]
    pub fn vcs(&self, link: u8, class: usize) -> u16 {
        *self.links.of(link).vcs_of.at(class)
    }
}
