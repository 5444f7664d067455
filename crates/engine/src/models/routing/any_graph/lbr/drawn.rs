//! The candidate paths of LBR, drawn for each packet or for each snapshot: they are found by following the packet along
//! each of them.

use super::shares::MOST;
use crate::api::board::Post;
use crate::base::hash::hash;
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
    anew: Anew,
}

/// When other intermediates are drawn. Where a leg draws its path, too, each packet draws its own.
#[derive(Debug, Clone, Copy)]
pub enum Anew {
    /// By each packet.
    ByPacket,
    /// With each snapshot, by each source router for each destination router.
    BySnapshot,
}

impl Drawn {
    pub fn new(graph: &Graph, legs: TwoLegs, detours: usize, anew: Anew) -> Self {
        Self { detours: detours.min(legs.mids.len().saturating_sub(2)), legs, wiring: Wiring::of(graph), anew }
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

    /// The packet at `at` on each of its paths, while `post` is the last snapshot.
    pub fn sent(&self, at: u64, packet: &Packet, seed: u64, post: Post<'_>) -> [Packet; MOST] {
        let mut sent = [Self::minimal(packet); MOST];
        let (mut filled, mut salt) = (1, 0x1b00);
        while filled < self.of_packet() {
            let random = match self.anew {
                Anew::ByPacket => draw(seed, packet, salt),
                Anew::BySnapshot => hash(seed, at as u32, packet.dest as u32, (post.count << 16) + salt),
            };
            let mid = u64::from(self.legs.mids[below(random, self.legs.mids.len() as u32) as usize]);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::board::{Board, Posts};
    use weft_topology::TopologyConfig;
    use weft_units::Time;

    #[test]
    fn intermediates_change_with_the_packet_or_with_the_snapshot() {
        let flex = r#"{"flex": {"widths": [4, 4], "layers": 3, "terminals_per_router": 1}}"#;
        let graph = serde_json::from_str::<TopologyConfig>(flex).unwrap().build("topology").unwrap();
        let leg = serde_json::from_str(r#"{"flex_minimal": {}}"#).unwrap();
        let posts = Posts { key: "", numbers: 1, every: Time::Cycles(10), delay: Time::Cycles(1) };
        let board = Board::new(&posts, 48, 1_000_000, "lbr").unwrap();
        // the intermediates from router 3 to router 40, of 20 packets each before, during and after the second snapshot
        let mids = |anew| {
            let legs = TwoLegs::of(&graph, &leg, "lbr", "minimal").unwrap();
            let drawn = Drawn::new(&graph, legs, 3, anew);
            [5, 15, 19, 25].map(|now| {
                let packets = (0..20).map(|seq| Packet { dest: 40, seq, ..Packet::default() });
                let sent = packets.map(|packet| drawn.sent(3, &packet, 1, board.known(now, 0)));
                let all = sent.map(|sent| sent[1..4].iter().map(|packet| packet.target).collect::<Vec<_>>());
                all.inspect(|mids| assert!(!mids.contains(&3) && !mids.contains(&40))).collect::<Vec<_>>()
            })
        };
        let [before, during, still, after] = mids(Anew::BySnapshot);
        assert!([&before, &during, &after].iter().all(|mids| mids.iter().all(|these| *these == mids[0])));
        assert_eq!(during, still);
        assert!(before[0] != during[0] && during[0] != after[0]);
        let [before, during, ..] = mids(Anew::ByPacket);
        assert_eq!(before, during);
        assert!(before.windows(2).any(|two| two[0] != two[1]));
    }
}
