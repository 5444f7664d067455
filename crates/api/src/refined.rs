//! VC classes that are finer than those of the routing: one for each message class and each lane of a queueing scheme.
//!
//! VCs on a link are divided into sets, and each set has `each` such classes. VC class `c` of the routing becomes class
//! `set * each + first[c] + lane`. The lane is 0 if there is no scheme.

use crate::compiled::Ahead;
use crate::queueing::{Crossing, Scheme};
use crate::routing::Hop;
use crate::state::{Packet, UNDECIDED};
use std::sync::Arc;

/// The VC classes of a link class.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfLink {
    /// Number of VC classes in each set of VCs.
    pub each: u8,
    /// For each VC class of the routing, its first finer class in the first set.
    pub first: [u8; 16],
    /// For each VC class in the first set, the VC class of the routing.
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

    /// The finer VC classes that correspond to `class` of the routing, within one set of VCs.
    pub fn fine(&self, set: u8, class: u8) -> impl Iterator<Item = usize> + '_ {
        let own = (0..self.each).filter(move |&fine| self.routed[usize::from(fine)] == class);
        own.map(move |fine| usize::from(set * self.each + fine))
    }
}

/// An output of a router, as [`Refined`] stores it.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    pub link: u8,
    /// The router to which the output leads; `None` for a terminal, or if there is no link.
    pub next: Option<u32>,
    /// Index of the channel among all channels, and index of the first channel of its trunk.
    pub place: u32,
}

/// The rules by which a queueing scheme chooses lanes.
#[derive(Debug)]
pub struct Lanes {
    pub scheme: Arc<dyn Scheme>,
    /// The hops of the routing, and the coordinates that are passed to it, if the scheme looks ahead.
    pub onward: Option<(Box<dyn Ahead>, Vec<u64>)>,
    /// For each channel, VC class of the routing (of `classes`) and lane of the scheme: the index of the lane among the lanes that packets
    /// can reach there. The entry of an output to a terminal also stores the numbers for the channel from that terminal. If the table is
    /// empty, lanes have the numbers that the scheme gives them.
    pub numbers: Vec<u8>,
    pub classes: usize,
}

/// VC classes that are finer than those of the routing.
#[derive(Debug)]
pub struct Refined {
    /// The set of VCs of each message class.
    pub set_of: Vec<u8>,
    /// For each message class, its first VC class, if all links have the same classes and there are no lanes.
    pub first_of: Vec<u8>,
    /// The VC classes of each link class.
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

    /// Converts `hop` of a packet at a router to the VC class of its message class and its lane.
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

    /// The router to which an output leads; `None` for a terminal, or if there is no link.
    pub fn next(&self, router: u32, port: u16) -> Option<u32> {
        self.output(router, port).next
    }

    /// Converts `hop` back to the VC class of the routing.
    pub fn routed(&self, router: u32, hop: Hop) -> Hop {
        let link = &self.links[usize::from(self.output(router, hop.port).link)];
        Hop { class: link.routed[usize::from(hop.class % link.each)], ..hop }
    }

    /// The lane of a packet on the channel from its terminal, which is at `port` of `router`.
    pub fn from_terminal(&self, (router, port): (u32, u16), packet: &Packet, seed: u64) -> u8 {
        let Some(lanes) = &self.lanes else { return 0 };
        let onward = lanes.onward(router, packet, seed);
        let crossing = Crossing { src: packet.src, dst: packet.dst, from: None, to: router, onward };
        lanes.number(self.output(router, port).place, 0, &crossing)
    }
}

impl Lanes {
    /// The output that a packet will request at router `to`, its next router.
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

/// Number of bits of a VC class in the keys of `Lanes`: a routing has at most 16 classes.
const CLASS_BITS: u32 = 4;
