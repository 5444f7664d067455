//! A routing in a network whose message classes have VCs of their own: each set of VCs has all VC classes of the routing.
//!
//! The routing knows nothing of it. Its VC class `c` becomes class `first + c` for packets whose set begins with class `first`.

use crate::board::Post;
use crate::compiled::{Ahead, HeadRouting};
use crate::routing::Hop;
use crate::state::{LinkState, Packet, UNDECIDED, key_of};
use crate::subnetworks::LinkTable;
use crate::view::{Queues, Told, View};
use crate::walk::Cost;
use std::sync::Arc;

/// By message class: the first VC class of its set.
pub type FirstClasses = Arc<[u8]>;

/// Hops ahead, on the VC classes of the packet's set.
#[derive(Debug)]
pub struct AheadInClasses {
    pub ahead: Box<dyn Ahead>,
    pub first: FirstClasses,
}

impl Ahead for AheadInClasses {
    fn key_ahead(&self, at: u64, packet: &mut Packet, seed: u64, class_bits: u32) -> u16 {
        let first = u16::from(self.first[usize::from(packet.class)]);
        match self.ahead.key_ahead(at, packet, seed, class_bits) {
            UNDECIDED => UNDECIDED,
            key => key + first,
        }
    }
}

/// Decisions at heads, on the VC classes of the packet's set.
#[derive(Debug)]
pub struct HeadsInClasses<const V: usize> {
    pub heads: Box<dyn HeadRouting<V>>,
    pub first: FirstClasses,
}

impl<const V: usize> HeadsInClasses<V> {
    fn first_of(&self, packet: &Packet) -> u8 {
        self.first[usize::from(packet.class)]
    }
}

impl<const V: usize> HeadRouting<V> for HeadsInClasses<V> {
    fn key_at_head(&self, at: u64, here: &Queues<'_, V>, packet: &mut Packet, seed: u64, class_bits: u32) -> u16 {
        let hop = self.at_head_watched(at, here, packet, seed);
        key_of(hop.port.into(), hop.class.into(), class_bits)
    }

    fn each_step(&self, at: u64, here: &Queues<'_, V>, packet: &mut Packet, turn: u32) -> Option<Hop> {
        self.each_step_watched(at, here, packet, turn)
    }

    fn candidates(&self, at: u64, packet: &Packet) -> u128 {
        self.heads.candidates(at, packet)
    }

    fn post(&self, at: u64, here: &Queues<'_, V>, sent: &dyn Fn() -> u32, numbers: &mut [u32]) {
        self.heads.post(at, here, sent, numbers);
    }

    fn at_head_watched(&self, at: u64, here: &dyn View, packet: &mut Packet, seed: u64) -> Hop {
        let first = self.first_of(packet);
        shifted(self.heads.at_head_watched(at, &OfSet { here, first }, packet, seed), first)
    }

    fn each_step_watched(&self, at: u64, here: &dyn View, packet: &mut Packet, turn: u32) -> Option<Hop> {
        let first = self.first_of(packet);
        self.heads.each_step_watched(at, &OfSet { here, first }, packet, turn).map(|hop| shifted(hop, first))
    }
}

fn shifted(hop: Hop, first: u8) -> Hop {
    Hop { class: hop.class + first, ..hop }
}

/// A router as the routing of one set of VCs sees it.
struct OfSet<'a> {
    here: &'a dyn View,
    first: u8,
}

impl OfSet<'_> {
    fn hop(&self, hop: Hop) -> Hop {
        shifted(hop, self.first)
    }

    fn own(&self, hop: Hop) -> Hop {
        Hop { class: hop.class - self.first, ..hop }
    }
}

impl View for OfSet<'_> {
    fn read(&self, port: u16) -> i32 {
        self.here.read(port)
    }

    fn capacity(&self, port: u16) -> u32 {
        self.here.capacity(port)
    }

    fn read_of(&self, away: i32, port: u16) -> i32 {
        self.here.read_of(away, port)
    }

    fn post(&self, back: u64) -> Post<'_> {
        self.here.post(back)
    }

    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop) {
        let (credits, member) = self.here.member(self.hop(hop), turn);
        (credits, self.own(member))
    }

    fn fallback(&self, hop: Hop) -> Hop {
        self.own(self.here.fallback(self.hop(hop)))
    }

    fn state(&self, port: u16) -> LinkState {
        self.here.state(port)
    }

    fn is_on(&self, port: u16) -> bool {
        self.here.is_on(port)
    }

    fn is_broken(&self, port: u16) -> bool {
        self.here.is_broken(port)
    }

    fn credits(&self, hop: Hop) -> u32 {
        self.here.credits(self.hop(hop))
    }

    fn is_open(&self, hop: Hop) -> bool {
        self.here.is_open(self.hop(hop))
    }

    fn has_room(&self, hop: Hop) -> bool {
        self.here.has_room(self.hop(hop))
    }

    fn was_granted(&self, port: u16) -> bool {
        self.here.was_granted(port)
    }

    fn used(&self, hop: Hop) -> u32 {
        self.here.used(self.hop(hop))
    }

    fn occupancy(&self, hop: Hop) -> (f64, u32) {
        self.here.occupancy(self.hop(hop))
    }

    fn table(&self) -> LinkTable<'_> {
        self.here.table()
    }

    fn told(&self, what: Told) {
        self.here.told(what);
    }

    fn is_watched(&self) -> bool {
        self.here.is_watched()
    }

    fn weigh(&self, hop: Hop, cost: Cost, queue: i32) -> i32 {
        self.here.weigh(self.hop(hop), cost, queue)
    }

    fn best_or_fallback(&self, hop: Hop, turn: u32) -> Hop {
        self.own(self.here.best_or_fallback(self.hop(hop), turn))
    }
}
