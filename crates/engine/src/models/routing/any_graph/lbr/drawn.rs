//! The candidate paths of LBR, drawn for each packet: they are found by following the packet along each of them.

use super::shares::MOST;
use crate::api::board::Post;
use crate::models::routing::on_graph::Wiring;
use crate::models::routing::two_legs::TwoLegs;
use crate::models::routing::{Hop, Step, below, draw};
use crate::state::{DETOUR, Packet};
use weft_topology::Graph;

/// Paths of a packet: the minimal one first, then those over intermediates. Packets are marked as [`TwoLegs`] does, and
/// undecided ones as in phase 0 without a detour.
#[derive(Debug, Clone)]
pub struct Drawn {
    pub legs: TwoLegs,
    wiring: Wiring,
    detours: usize,
}

impl Drawn {
    pub fn new(graph: &Graph, legs: TwoLegs, detours: usize) -> Self {
        Self { detours: detours.min(legs.mids.len().saturating_sub(2)), legs, wiring: Wiring::of(graph) }
    }

    pub fn of_packet(&self) -> usize {
        1 + self.detours
    }

    pub fn is_undecided(packet: &Packet) -> bool {
        packet.phase == 0 && packet.flags & DETOUR == 0
    }

    /// The packet as it takes the minimal path.
    pub fn minimal(packet: &Packet) -> Packet {
        Packet { phase: 1, target: packet.dest, ..*packet }
    }

    /// The packet as it goes over `mid`.
    pub fn over(&self, packet: &Packet, mid: u64) -> Packet {
        let mut detour = *packet;
        self.legs.detour(&mut detour, mid);
        detour
    }

    /// The packet at `at` on each of its paths.
    pub fn sent(&self, at: u64, packet: &Packet, seed: u64) -> [Packet; MOST] {
        let mut sent = [Self::minimal(packet); MOST];
        let (mut filled, mut salt) = (1, 0x1b00);
        while filled < self.of_packet() {
            let mid = u64::from(self.legs.mids[below(draw(seed, packet, salt), self.legs.mids.len() as u32) as usize]);
            salt += 1;
            if mid != at && mid != packet.dest && sent[1..filled].iter().all(|other| other.target != mid) {
                sent[filled] = self.over(packet, mid);
                filled += 1;
            }
        }
        sent
    }

    /// The first hop of a packet at `at` whose path is decided, and the sum of the posted queues along the path.
    pub fn queue(&self, mut at: u64, mut packet: Packet, seed: u64, post: Post<'_>) -> (Option<Hop>, u32) {
        let (mut first, mut sum) = (None, 0);
        while let Some(hop) = self.legs.hop(at, &mut packet, seed) {
            let Some(next) = self.wiring.peers(at as u32)[usize::from(hop.port)] else { break };
            first = first.or(Some(hop));
            sum += post.of(at as u32, hop.port.into());
            at = next.into();
        }
        (first, sum)
    }

    /// The minimal ways, then those over each intermediate.
    pub fn ways(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mids = self.legs.mids.iter().map(|&mid| u64::from(mid)).filter(|&mid| mid != at && mid != packet.dest);
        let over = mids.filter(|_| self.detours > 0).map(|mid| self.over(packet, mid));
        [Self::minimal(packet)].into_iter().chain(over).flat_map(|sent| self.legs.steps(at, &sent, seed)).collect()
    }

    /// How likely one of `ways` is if all paths of a packet are equally likely, compared with the others.
    pub fn weight(&self, at: u64, packet: &Packet, way: &Step, seed: u64) -> f64 {
        let others = (self.legs.mids.len() - 2) as f64;
        let (sent, weight) = match way.after.flags & DETOUR {
            0 => (Self::minimal(packet), 1.0),
            _ => (self.over(packet, way.after.target), self.detours as f64 / others),
        };
        weight / self.legs.steps(at, &sent, seed).len() as f64
    }

    /// Ports of a router that lead to other routers.
    pub fn ports_to_routers(&self, router: u64) -> impl Iterator<Item = u8> + '_ {
        self.wiring.ports_to_routers(router as u32)
    }
}
