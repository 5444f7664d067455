//! Data that all routers of a network share and that models may read.

use super::board::Board;
use super::sensor::Sensor;
use crate::base::arrays::At;
use crate::state::by_class::ByClass;
use crate::state::link_class::Link;
use crate::state::rate::Rate;
use crate::state::{Modes, key_of};

/// Data of all routers that models may read.
#[derive(Debug)]
pub struct Common {
    pub links: ByClass<Link>,
    /// Rates of the links, by link class.
    pub rates: ByClass<Rate>,
    /// Table of the modes of the channels.
    pub modes: Modes,
    /// The routing's sensor of congestion; `None` if the routing does not read queues.
    pub sensor: Option<Sensor>,
    /// Cycles from the grant of a flit until the flit is on the link.
    pub after_grant: u32,
    /// Whether all packets have one flit.
    pub single: bool,
    /// Bits of the VC class in a route key (output port << class_bits | class).
    pub class_bits: u32,
    /// An output sends all flits of a packet before it begins another packet.
    pub hold_switch: bool,
    /// Whether each trunk has an open member in every cycle, so that heads take open members. (In other networks heads wake closed members
    /// with requests.)
    pub always_carries: bool,
    /// Numbers that routers post for the routing, if any.
    pub board: Option<Board>,
}

impl Common {
    /// Route key of a class of output port `p`.
    #[inline(always)]
    pub fn key(&self, p: usize, class: usize) -> u16 {
        key_of(p, class, self.class_bits)
    }

    /// Index of the requests for a class of output `o` (of the block, or of a router) among the requests for all outputs.
    #[inline(always)]
    pub fn slot(&self, o: usize, class: usize) -> usize {
        o << self.class_bits | class
    }

    /// Output port of a route key.
    #[inline(always)]
    pub fn port(&self, key: u16) -> usize {
        usize::from(key) >> self.class_bits
    }

    /// Output port and class of a route key.
    #[inline(always)]
    pub fn split(&self, key: u16) -> (usize, usize) {
        ((key >> self.class_bits) as usize, (key & ((1 << self.class_bits) - 1)) as usize)
    }

    /// VCs of a routing's class on a link class.
    #[inline(always)]
    pub fn vcs(&self, link: u8, class: usize) -> u16 {
        *self.links.of(link).vcs_of.at(class)
    }
}
