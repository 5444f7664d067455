//! The candidate paths of LBR, if they are drawn for each packet or each snapshot. The routing does not store paths. It finds the outputs
//! on a path by following the packet hop by hop.

use super::shares::MOST;
use crate::routing::on_graph::Wiring;
use crate::routing::two_legs::TwoLegs;
use crate::routing::{Step, below, draw};
use weft_api::base::hash::hash;
use weft_api::board::Post;
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;

/// Computes the candidate paths of a packet: the minimal path has index 0, and the paths over intermediates follow. The state of a packet
/// has the meaning that [`TwoLegs`] defines. A packet that has not drawn its path yet is in phase 0 and has no intermediate.
#[derive(Debug, Clone)]
pub struct Drawn {
    pub legs: TwoLegs,
    wiring: Wiring,
    detours: usize,
    anew: Anew,
}

/// The times at which new intermediates are drawn. If the routing of a leg also draws its path, each packet draws this path separately.
#[derive(Debug, Clone, Copy)]
pub enum Anew {
    /// Each packet draws its intermediates.
    ByPacket,
    /// Each source router draws intermediates for each destination router after every snapshot.
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

    /// The state of the packet on its minimal path.
    pub fn minimal(packet: &Packet) -> Packet {
        Packet { phase: 1, target: packet.dest, ..*packet }
    }

    /// The state of the packet on its path over `mid`.
    pub fn over(&self, packet: &Packet, mid: u64) -> Packet {
        let mut detour = *packet;
        self.legs.detour(&mut detour, mid);
        detour
    }

    /// The intermediates of a packet at router `at`, if `post` is the last snapshot. Indexed like the candidate paths.
    #[inline]
    pub fn mids(&self, at: u64, packet: &Packet, seed: u64, post: Post<'_>) -> [u32; MOST] {
        let mut mids = [0; MOST];
        let (mut filled, mut salt) = (1, 0x1b00);
        while filled < self.of_packet() {
            let random = match self.anew {
                Anew::ByPacket => draw(seed, packet, salt),
                Anew::BySnapshot => hash(seed, at as u32, packet.dest as u32, (post.count << 16) + salt),
            };
            let mid = self.legs.mids[below(random, self.legs.mids.len() as u32) as usize];
            salt += 1;
            if ![at, packet.dest].contains(&mid.into()) && !mids[1..filled].contains(&mid) {
                mids[filled] = mid;
                filled += 1;
            }
        }
        mids
    }

    /// The state of the packet on the candidate path with index `path`, if `mids` are its intermediates.
    #[inline]
    pub fn sent(&self, packet: &Packet, path: usize, mids: &[u32; MOST]) -> Packet {
        if path == 0 { Self::minimal(packet) } else { self.over(packet, mids[path].into()) }
    }

    /// Computes, for each candidate path of a packet at router `at`, the sum of the queues along the path in snapshot `post`.
    #[inline]
    pub fn queues(&self, at: u64, packet: &Packet, seed: u64, post: Post<'_>, mids: &[u32; MOST], queues: &mut [u32]) {
        let mut on_leg = *packet;
        for (path, sum) in queues.iter_mut().enumerate() {
            let mut cross = |at: u64, port: u16| {
                let next = self.wiring.peer(at as u32, port)?;
                *sum += post.of(at as u32, port.into());
                Some(next.into())
            };
            (on_leg.dim, on_leg.lane) = (packet.dim, packet.lane);
            let mut from = at;
            if path > 0 {
                let mid = mids[path].into();
                if self.legs.follow((at, mid), &mut on_leg, seed, &mut cross).is_none() {
                    continue;
                }
                from = mid;
                (on_leg.dim, on_leg.lane) = (0, 0);
            }
            self.legs.follow((from, packet.dest), &mut on_leg, seed, &mut cross);
        }
    }

    /// The first hops of the minimal paths, and then those of the paths over each intermediate.
    pub fn ways(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mids = self.legs.mids.iter().map(|&mid| u64::from(mid)).filter(|&mid| mid != at && mid != packet.dest);
        let over = mids.filter(|_| self.detours > 0).map(|mid| self.over(packet, mid));
        [Self::minimal(packet)].into_iter().chain(over).flat_map(|sent| self.legs.steps(at, &sent, seed)).collect()
    }

    /// Relative probability that the packet takes the hop `way`, if all its candidate paths are equally likely.
    pub fn weight(&self, at: u64, packet: &Packet, way: &Step, seed: u64) -> f64 {
        let others = (self.legs.mids.len() - 2) as f64;
        let (sent, weight) = match way.after.flags & DETOUR {
            0 => (Self::minimal(packet), 1.0),
            _ => (self.over(packet, way.after.target), self.detours as f64 / others),
        };
        weight / self.legs.steps(at, &sent, seed).len() as f64
    }

    /// Ports of a router that lead to other routers.
    pub fn ports_to_routers(&self, router: u64) -> impl Iterator<Item = u16> + '_ {
        self.wiring.ports_to_routers(router as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_api::board::{Board, Posts};
    use weft_topology::TopologyConfig;
    use weft_units::Time;

    #[test]
    fn intermediates_change_with_the_packet_or_with_the_snapshot() {
        let flex = r#"{"flex": {"widths": [4, 4], "layers": 3, "terminals_per_router": 1}}"#;
        let graph = serde_json::from_str::<TopologyConfig>(flex).unwrap().build("topology").unwrap();
        let leg = serde_json::from_str(r#"{"flex_minimal": {}}"#).unwrap();
        let posts = Posts { key: "", numbers: 1, every: Time::Cycles(10), delay: Time::Cycles(1) };
        let board = Board::new(&posts, 48, 1_000_000, "lbr").unwrap();
        // the intermediates of 20 packets from router 3 to router 40 in each of four cycles; the last known snapshot is the first in cycle
        // 5, the second in cycles 15 and 19, and the third in cycle 25
        let mids = |anew| {
            let legs = TwoLegs::of(&graph, &leg, "lbr", "minimal").unwrap();
            let drawn = Drawn::new(&graph, legs, 3, anew);
            [5, 15, 19, 25].map(|now| {
                let packets = (0..20).map(|seq| Packet { dest: 40, seq, ..Packet::default() });
                let all = packets.map(|packet| drawn.mids(3, &packet, 1, board.known(now, 0))[1..4].to_vec());
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

    #[test]
    fn queues_are_summed_along_the_way_that_the_packet_takes() {
        let cases = [
            (r#"{"flex": {"widths": [4, 3], "layers": 3, "terminals_per_router": 1}}"#, r#"{"flex_minimal": {}}"#),
            (r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 1}}"#, r#"{"dimension_order": {}}"#),
            (r#"{"fat_tree": {"k": 4}}"#, r#"{"shortest_path": {}}"#),
        ];
        for (topology, leg) in cases {
            let graph = serde_json::from_str::<TopologyConfig>(topology).unwrap().build("topology").unwrap();
            let legs = TwoLegs::of(&graph, &serde_json::from_str(leg).unwrap(), "lbr", "minimal").unwrap();
            let drawn = Drawn::new(&graph, legs, 3, Anew::ByPacket);
            let (numbers, wiring) = (graph.radix() as usize + 1, Wiring::of(&graph));
            let posts = Posts { key: "", numbers, every: Time::Cycles(10), delay: Time::Cycles(1) };
            let board = Board::new(&posts, graph.routers() as usize, 1_000_000, "lbr").unwrap();
            for router in 0..graph.routers() {
                let queues = (0..numbers as u64).map(|port| below(hash(3, router, 0, port), 100));
                board.post(0, router, &queues.collect::<Vec<_>>());
            }
            let post = board.known(5, 0);
            let hosts: Vec<u32> = wiring.hosts().collect();
            for seq in 0..200 {
                let (from, to) = (seq as usize % hosts.len(), (seq as usize * 7 + 1) % hosts.len());
                if from == to {
                    continue;
                }
                let (at, dest) = (u64::from(hosts[from]), u64::from(hosts[to]));
                let packet = Packet { dest, target: dest, src: seq, seq, ..Packet::default() };
                let (mids, mut queues) = (drawn.mids(at, &packet, 1, post), [0; 4]);
                drawn.queues(at, &packet, 1, post, &mids, &mut queues);
                for (path, queue) in queues.into_iter().enumerate() {
                    let (mut sent, mut at, mut sum) = (drawn.sent(&packet, path, &mids), at, 0);
                    while at != dest || sent.phase == 0 {
                        let port = drawn.legs.hop(at, &mut sent, 1).unwrap().port;
                        sum += post.of(at as u32, port.into());
                        at = wiring.peer(at as u32, port).unwrap().into();
                    }
                    assert_eq!(queue, sum, "path {path} of packet {seq} of {topology}");
                }
            }
        }
    }
}
