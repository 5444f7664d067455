//! VC classes that are finer than those of the routing. Each VC class of the routing has separate finer classes for each set of message
//! classes, and for each lane of a queueing scheme.
//!
//! The VCs of a link are divided into sets (one for each message class, or for classes that share their VCs). Each set has `each` finer
//! classes. VC class `c` of the routing becomes finer class `set * each + first[c] + lane`, where `lane` is the packet's lane in this VC
//! class. Without a queueing scheme the lane is 0.

use crate::compiled::Ahead;
use crate::queueing::{Crossing, Scheme};
use crate::routing::Hop;
use crate::state::{Packet, UNDECIDED};
use std::sync::Arc;

/// The finer VC classes on a link class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfLink {
    /// Number of finer VC classes in each set of VCs.
    pub each: u8,
    /// For each VC class of the routing, its first finer class in set 0.
    pub first: [u8; 16],
    /// For each finer VC class in set 0, the VC class of the routing.
    pub routed: [u8; 16],
}

impl OfLink {
    /// `lanes`: number of lanes for each VC class of the routing.
    pub fn of(lanes: &[u8]) -> Self {
        let (mut each, mut first, mut routed) = (0, [0; 16], [0; 16]);
        for (class, &lanes) in (0u8..).zip(lanes) {
            first[usize::from(class)] = each;
            (each..each + lanes).for_each(|fine| routed[usize::from(fine)] = class);
            each += lanes;
        }
        Self { each, first, routed }
    }

    /// The finer VC classes in set `set` for VC class `class` of the routing.
    pub fn fine(&self, set: u8, class: u8) -> impl Iterator<Item = usize> + '_ {
        let own = (0..self.each).filter(move |&fine| self.routed[usize::from(fine)] == class);
        own.map(move |fine| usize::from(set * self.each + fine))
    }
}

/// Data about a router's output, for the conversion of VC classes on it.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    pub link: u8,
    /// The router at the end of the output's channel; `None` for a terminal, or if the port has no link.
    pub next: Option<u32>,
    /// Index, among all channels, of the first channel of the output's trunk; without trunks, of the output's channel.
    pub place: u32,
}

/// A queueing scheme, and the tables that number its lanes on each channel.
#[derive(Debug)]
pub struct Lanes {
    pub scheme: Arc<dyn Scheme>,
    /// For a scheme that looks ahead: the routing that computes the next hop, and the coordinates of the routers.
    pub onward: Option<(Box<dyn Ahead>, Vec<u64>)>,
    /// Index of each lane among the lanes that packets can reach on a channel. The order is by channel, by VC class of the routing (of
    /// `classes`), and by lane of the scheme. The entries of an output to a terminal also apply to the channel from that terminal. If the
    /// table is empty, the index of a lane is its number in the scheme.
    pub numbers: Vec<u8>,
    pub classes: usize,
}

/// The finer VC classes of a network, and conversions from and to those of the routing.
#[derive(Debug)]
pub struct Refined {
    /// For each message class, the number of its set of VCs.
    pub set_of: Vec<u8>,
    /// For each message class, its first finer VC class. Used only without lanes, if all links have the same VC classes.
    pub first_of: Vec<u8>,
    /// For each link class, its finer VC classes.
    pub links: Vec<OfLink>,
    /// Index in `outputs` of the first output of each router.
    pub base: Vec<u32>,
    pub outputs: Vec<Output>,
    pub lanes: Option<Lanes>,
}

impl Refined {
    fn output(&self, router: u32, port: u16) -> Output {
        self.outputs[self.base[router as usize] as usize + usize::from(port)]
    }

    /// Converts `hop`, which the routing returned at a router, to the finer VC class of the packet's message class and
    /// lane.
    #[inline(always)]
    pub fn taken(&self, router: u32, packet: &Packet, hop: Hop, seed: u64) -> Hop {
        match &self.lanes {
            None => Hop { class: self.first_of[usize::from(packet.class)] + hop.class, ..hop },
            Some(lanes) => self.on_lane(lanes, router, packet, hop, seed),
        }
    }

    #[inline(never)]
    fn on_lane(&self, lanes: &Lanes, router: u32, packet: &Packet, hop: Hop, seed: u64) -> Hop {
        let output = self.output(router, hop.port);
        let link = &self.links[usize::from(output.link)];
        let first = self.set_of[usize::from(packet.class)] * link.each + link.first[usize::from(hop.class)];
        let lane = output.next.map_or(0, |to| {
            let crossing = Crossing {
                src: packet.src,
                dst: packet.dst,
                from: Some((router, hop.port)),
                to,
                onward: lanes.onward(to, packet, seed),
            };
            lanes.number(output.place, hop.class, &crossing)
        });
        Hop { class: first + lane, ..hop }
    }

    /// The router at the end of an output's channel; `None` for a terminal, or if the port has no link.
    pub fn next(&self, router: u32, port: u16) -> Option<u32> {
        self.output(router, port).next
    }

    /// Converts the finer VC class of `hop` back to the VC class of the routing.
    pub fn routed(&self, router: u32, hop: Hop) -> Hop {
        let link = &self.links[usize::from(self.output(router, hop.port).link)];
        Hop { class: link.routed[usize::from(hop.class % link.each)], ..hop }
    }

    /// The lane of a packet on the channel from its source terminal. The terminal is at `port` of `router`.
    pub fn from_terminal(&self, (router, port): (u32, u16), packet: &Packet, seed: u64) -> u8 {
        let Some(lanes) = &self.lanes else { return 0 };
        let onward = lanes.onward(router, packet, seed);
        let crossing = Crossing { src: packet.src, dst: packet.dst, from: None, to: router, onward };
        lanes.number(self.output(router, port).place, 0, &crossing)
    }
}

impl Lanes {
    /// The output that a packet will request at router `to`, its next router; 0 if the scheme does not look ahead.
    fn onward(&self, to: u32, packet: &Packet, seed: u64) -> u16 {
        let Some((ahead, coords)) = &self.onward else { return 0 };
        let mut there = *packet;
        match ahead.key_ahead(to, coords[to as usize], &mut there, seed, CLASS_BITS) {
            UNDECIDED => 0,
            key => key >> CLASS_BITS,
        }
    }

    fn number(&self, place: u32, class: u8, crossing: &Crossing) -> u8 {
        let lane = self.scheme.lane(crossing) as usize;
        if self.numbers.is_empty() {
            return lane as u8;
        }
        self.numbers[(place as usize * self.classes + usize::from(class)) * self.scheme.lanes() as usize + lane]
    }
}

/// Number of bits for a VC class in the keys of `Lanes`: a routing has at most 16 VC classes.
const CLASS_BITS: u32 = 4;
