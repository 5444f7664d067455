//! The candidate paths of LBR between every two routers with terminals, if the paths are fixed for the whole run. These paths are drawn
//! once, and a table stores all their hops.

use crate::routing::on_graph::{MAX_BYTES, Wiring};
use crate::routing::{AnyRouting, Hop, Step, class_per_hop};
use std::sync::Arc;
use weft_api::base::hash::{below, hash};
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::Refusal;

const BYTES: u64 = 4;

/// The table of all paths, hop by hop.
#[derive(Debug, Clone)]
pub struct Fixed {
    wiring: Wiring,
    /// Number of candidate paths of a pair of routers. The minimal path comes first, and then the paths over intermediates.
    pub of_pair: usize,
    /// Length of the longest path \[links\].
    pub longest: usize,
    /// Number of values that each router posts on the board: the queue of each port, and the number of flits that its terminals have sent.
    numbers: usize,
    /// For each path: index of its first hop in `hops`. A last entry is the length of `hops`.
    starts: Arc<[u32]>,
    /// For each hop: index of the value on the board that is the queue of its output (router * numbers + port).
    hops: Arc<[u32]>,
}

impl Fixed {
    /// Index of the first candidate path from router `from` to router `to`. The other paths of this pair have the next indices.
    #[inline(always)]
    pub fn first(&self, from: u64, to: u64) -> usize {
        let row = |router: u64| self.wiring.row(router as u32).unwrap_or(0) as usize;
        (row(to) * self.wiring.destinations as usize + row(from)) * self.of_pair
    }

    /// The hops of a path, as indices of the queues of their outputs on the board.
    #[inline(always)]
    pub fn hops(&self, path: usize) -> &[u32] {
        &self.hops[self.starts[path] as usize..self.starts[path + 1] as usize]
    }

    /// The port of the hop with index `hop` of a path; `None` after the last hop. The hop must begin at router `at`.
    #[inline(always)]
    pub fn port(&self, path: usize, hop: u8, at: u64) -> Option<u16> {
        self.hops(path).get(usize::from(hop)).map(|&place| (place - at as u32 * self.numbers as u32) as u16)
    }

    pub fn is_undecided(packet: &Packet) -> bool {
        packet.phase == 0
    }

    /// Assigns the packet to candidate path `number` (from 0) of its pair of routers. `first`: index of the first path of the pair.
    #[inline(always)]
    pub fn send(packet: &mut Packet, first: usize, number: usize) {
        packet.phase = 1;
        packet.target = (first + number) as u64;
        packet.flags |= if number == 0 { 0 } else { DETOUR };
    }

    /// The next hop of a packet on its chosen path.
    #[inline(always)]
    pub fn hop(&self, at: u64, packet: &mut Packet) -> Hop {
        let class = packet.lane;
        match self.port(packet.target as usize, class, at) {
            Some(port) => {
                packet.lane += 1;
                Hop { port, class }
            }
            None => Hop::to_terminal(packet),
        }
    }

    /// The first hop of each candidate path of a packet at router `at`.
    pub fn ways(&self, at: u64, packet: &Packet) -> Vec<Step> {
        let way = |number: usize| {
            let mut after = *packet;
            Self::send(&mut after, self.first(at, packet.dest), number);
            Step { hop: self.hop(at, &mut after), after, cost: None }
        };
        (0..self.of_pair).map(way).collect()
    }

    /// Ports of a router that lead to other routers.
    pub fn ports_to_routers(&self, router: u64) -> impl Iterator<Item = u16> + '_ {
        self.wiring.ports_to_routers(router as u32)
    }
}

/// Size of the table [bytes], if all paths have `links` links.
pub fn table_bytes(hosts: u64, of_pair: u64, links: u64) -> u64 {
    hosts.saturating_mul(hosts).saturating_mul(of_pair).saturating_mul((links + 1) * BYTES)
}

/// The input of the search for fixed paths.
pub struct Search<'a> {
    pub graph: &'a Graph,
    pub leg: &'a dyn AnyRouting,
    /// For each router: its coordinates in the form that the routing of the legs uses.
    coords: Vec<u64>,
    /// Number of paths over an intermediate for each pair of routers.
    detours: usize,
    /// Seed of the hashes that select paths and intermediates.
    draw: u64,
}

impl<'a> Search<'a> {
    pub fn new(graph: &'a Graph, leg: &'a dyn AnyRouting, detours: u32, draw: u64) -> Self {
        Self { graph, leg, coords: leg.coordinates(graph), detours: detours as usize, draw }
    }

    /// The hops (router, port) of candidate path `number` from router `from` to router `to`. `mid`: the intermediate of the path, if any.
    fn path(&self, wiring: &Wiring, from: u32, to: u32, number: u32, mid: Option<u32>) -> Vec<(u32, u16)> {
        let mut hops = Vec::new();
        let mut at = from;
        for (target, leg) in mid.into_iter().chain([to]).zip(0..) {
            // the routing of a leg draws by a hash of the packet; on a fixed path, this hash has the same value for all packets
            let fixed = hash(self.draw, from, to, 0x1b + 2 * u64::from(number) + leg);
            let dest = self.coords[target as usize];
            let mut packet =
                Packet { dest, target: dest, src: (fixed >> 32) as u32, seq: fixed as u32, ..Packet::default() };
            while at != target {
                let hop = self.leg.next(self.coords[at as usize], &mut packet, self.draw);
                let Some(Hop { port, .. }) = hop else { return hops };
                let Some(next) = wiring.peers(at)[usize::from(port)] else { return hops };
                hops.push((at, port));
                at = next;
            }
        }
        hops
    }

    /// Draws the intermediates of the paths from router `from` to router `to`: different routers with terminals, except these two.
    fn mids(&self, hosts: &[u32], from: u32, to: u32) -> Vec<u32> {
        let mut mids: Vec<u32> = Vec::with_capacity(self.detours);
        let wanted = self.detours.min(hosts.len().saturating_sub(2));
        for salt in 0.. {
            if mids.len() == wanted {
                break;
            }
            let mid = hosts[below(hash(self.draw, from, to, 0x3000 + salt), hosts.len() as u32) as usize];
            if mid != from && mid != to && !mids.contains(&mid) {
                mids.push(mid);
            }
        }
        mids
    }

    /// Finds all candidate paths. Refuses paths that are longer than the number of VC classes, and tables that are too large.
    pub fn paths(&self) -> Result<Fixed, Refusal> {
        let wiring = Wiring::of(self.graph);
        let hosts: Vec<u32> = wiring.hosts().collect();
        let of_pair = 1 + self.detours.min(hosts.len().saturating_sub(2));
        let (mut starts, mut hops, mut longest) = (vec![0], Vec::new(), 1);
        let numbers = self.graph.radix() + 1;
        for (&to, &from) in hosts.iter().flat_map(|to| hosts.iter().map(move |from| (to, from))) {
            let mids = if from == to { Vec::new() } else { self.mids(&hosts, from, to) };
            for number in 0..of_pair {
                if from != to {
                    let path = self.path(&wiring, from, to, number as u32, number.checked_sub(1).map(|k| mids[k]));
                    longest = longest.max(path.len());
                    hops.extend(path.iter().map(|&(at, port)| at * numbers + u32::from(port)));
                }
                starts.push(hops.len() as u32);
            }
            class_per_hop(longest as u32, "routing.lbr.minimal", "choose a topology with shorter paths")?;
            if (starts.len() + hops.len()) as u64 * BYTES > MAX_BYTES {
                let what = format!(
                    "the table of {of_pair} paths between every two of {} routers needs more than {MAX_BYTES} bytes",
                    hosts.len()
                );
                return Err(Refusal::new("routing.lbr.detours", what, "write fewer detours, or use a smaller network"));
            }
        }
        let numbers = numbers as usize;
        Ok(Fixed { wiring, of_pair, longest, numbers, starts: starts.into(), hops: hops.into() })
    }
}
