//! Wraps a routing for a network whose VC classes are finer than those of the routing (`refined.rs`). The wrapped routing still returns
//! hops and reads queues in its own VC classes.

use crate::compiled::{Ahead, ForPorts, HeadRouting, Here, Widths};
use crate::refined::Refined;
use crate::routing::{AnyRouting, Hop};
use crate::state::{Packet, UNDECIDED, key_of, split};
use crate::view::{HopNote, Queues, View};
use crate::walk::Cost;
use std::sync::Arc;

/// Gets hops one hop ahead from the wrapped routing, and converts the VC classes of the hops to the network's finer classes.
#[derive(Debug)]
pub struct AheadInClasses {
    pub ahead: Box<dyn Ahead>,
    pub refined: Arc<Refined>,
}

impl Ahead for AheadInClasses {
    fn key_ahead(&self, router: u32, at: u64, packet: &mut Packet, seed: u64, class_bits: u32) -> u16 {
        match self.ahead.key_ahead(router, at, packet, seed, class_bits) {
            UNDECIDED => UNDECIDED,
            key => {
                let (port, class) = split(key, class_bits);
                let hop = Hop { port: port as u16, class: class as u8 };
                let hop = self.refined.taken(router, packet, hop, seed);
                key_of(hop.port.into(), hop.class.into(), class_bits)
            }
        }
    }
}

/// Makes the form of a routing that is compiled for ports of `V` VCs. If the network has finer VC classes, the function wraps the routing.
pub fn in_classes<const V: usize>(
    routing: &Arc<dyn AnyRouting>,
    refined: Option<&Arc<Refined>>,
) -> Box<dyn HeadRouting<V>>
where
    Widths: ForPorts<V>,
{
    let heads = Widths::compiled(routing);
    match refined {
        None => heads,
        Some(refined) => Box::new(HeadsInClasses { heads, refined: refined.clone() }),
    }
}

/// Gets hops for heads from the wrapped routing, and converts the VC classes of the hops to the network's finer classes.
#[derive(Debug)]
pub struct HeadsInClasses<const V: usize> {
    pub heads: Box<dyn HeadRouting<V>>,
    pub refined: Arc<Refined>,
}

impl<const V: usize> HeadRouting<V> for HeadsInClasses<V> {
    fn key_at_head(&self, here: Here<'_, Queues<'_, V>>, packet: &mut Packet, seed: u64, class_bits: u32) -> u16 {
        let Here { router, at, queues } = here;
        let hop = self.at_head_watched(Here { router, at, queues }, packet, seed);
        key_of(hop.port.into(), hop.class.into(), class_bits)
    }

    fn each_step(&self, here: Here<'_, Queues<'_, V>>, packet: &mut Packet, turn: u32) -> Option<Hop> {
        let Here { router, at, queues } = here;
        self.each_step_watched(Here { router, at, queues }, packet, turn)
    }

    fn candidates(&self, at: u64, packet: &Packet) -> u128 {
        self.heads.candidates(at, packet)
    }

    fn post(&self, at: u64, here: &Queues<'_, V>, sent: &dyn Fn() -> u32, numbers: &mut [u32]) {
        self.heads.post(at, here, sent, numbers);
    }

    fn at_head_watched(&self, here: Here<'_, dyn View + '_>, packet: &mut Packet, seed: u64) -> Hop {
        let view = OfPacket { here: here.queues, refined: &self.refined, router: here.router, packet: *packet };
        let hop = self.heads.at_head_watched(Here { queues: &view, ..here }, packet, seed);
        view.hop(hop)
    }

    fn each_step_watched(&self, here: Here<'_, dyn View + '_>, packet: &mut Packet, turn: u32) -> Option<Hop> {
        let view = OfPacket { here: here.queues, refined: &self.refined, router: here.router, packet: *packet };
        let hop = self.heads.each_step_watched(Here { queues: &view, ..here }, packet, turn)?;
        Some(view.hop(hop))
    }
}

/// The view of a router that the routing gets for one packet. The routing passes hops with its own VC classes. The view reads the queues of
/// the finer VC classes of these hops. Hops that the view returns have the VC classes of the routing again.
struct OfPacket<'a> {
    here: &'a dyn View,
    refined: &'a Refined,
    router: u32,
    packet: Packet,
}

impl OfPacket<'_> {
    /// Converts the VC class of a hop to the finer one. The seed is 0, because only queueing schemes that look ahead use it. Weft refuses
    /// such a scheme together with a routing that decides at heads.
    fn hop(&self, hop: Hop) -> Hop {
        self.refined.taken(self.router, &self.packet, hop, 0)
    }

    fn own(&self, hop: Hop) -> Hop {
        self.refined.routed(self.router, hop)
    }
}

impl View for OfPacket<'_> {
    crate::answers_as!(here);

    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop) {
        let (credits, member) = self.here.member(self.hop(hop), turn);
        (credits, self.own(member))
    }

    fn fallback(&self, hop: Hop) -> Hop {
        self.own(self.here.fallback(self.hop(hop)))
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

    fn used(&self, hop: Hop) -> u32 {
        self.here.used(self.hop(hop))
    }

    fn occupancy(&self, hop: Hop) -> (f64, u32) {
        self.here.occupancy(self.hop(hop))
    }

    fn note(&self, what: HopNote) {
        self.here.note(what);
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
