//! What packets may do, for the walks of checks, bounds and explanations; never in the loop.

use super::routing::{AnyRouting, Hop, Routing, draw};
use crate::base::hash::below;
use crate::state::Packet;
use std::collections::BTreeSet;

/// A bit for every port of a router.
pub type Ports = [u64; 4];

/// One hop that a packet may take, and the packet after it.
#[derive(Debug)]
pub struct Step {
    pub hop: Hop,
    pub after: Packet,
    /// What an adaptive routing compares; an oblivious one draws among its choices, all equally likely.
    pub cost: Option<Cost>,
}

impl Step {
    /// The one hop that `next` names.
    pub fn named(routing: &dyn Routing, at: u64, packet: &Packet, seed: u64) -> Vec<Self> {
        let mut after = *packet;
        routing.next(at, &mut after, seed).into_iter().map(|hop| Self { hop, after, cost: None }).collect()
    }

    /// The packet is at its destination router.
    pub fn deliver(packet: &Packet) -> Self {
        Self { hop: Hop::to_terminal(packet), after: *packet, cost: None }
    }
}

/// Congestion of an output (of the router with coordinates `at`) times `hops`, plus `bias`; the least wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    pub at: u64,
    pub port: u8,
    pub hops: u32,
    pub bias: i32,
}

/// Most outcomes of the draws for a whole way that are walked.
const MAX_OUTCOMES: u32 = 1 << 14;

/// What a packet draws once for its whole way.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draws {
    /// Dimensions of a grid in which a packet may go half way round a ring, in the direction that it draws.
    pub ties: Vec<u64>,
    /// Copies of a global link among which it draws, less one.
    pub more_copies: u32,
}

/// Purposes of the hashes for these draws.
pub const TIE: u64 = 0x7e;
pub const COPY: u64 = 0x91;

impl Draws {
    /// Packets ([`Packet::seq`]), one per possible outcome of these draws.
    pub fn outcomes(&self, packet: Packet, seed: u64) -> Vec<u32> {
        let copies = self.more_copies + 1;
        let outcomes = (copies << self.ties.len()).min(MAX_OUTCOMES) as usize;
        let mut seen = BTreeSet::new();
        let is_new = |seq: &u32| {
            let packet = Packet { seq: *seq, ..packet };
            let up = |&d: &u64| draw(seed, &packet, TIE + d) & 1;
            let directions: Vec<u64> = self.ties.iter().map(up).collect();
            seen.insert((below(draw(seed, &packet, COPY), copies), directions))
        };
        (0..1 << 20).filter(is_new).take(outcomes).collect()
    }
}

/// Calls its argument with every turn: from a router by a hop, and on by a hop of the next router.
pub type EachTurn<'a> = Box<dyn Fn(&mut dyn FnMut(u32, Hop, Hop)) + 'a>;
/// Calls its argument with every turn of packets to one destination router, on one class: from a router by a port, and on
/// by each of these ports of the next router.
pub type TurnsTo<'a> = Box<dyn Fn(u32, &mut dyn FnMut(u32, u8, &Ports)) + 'a>;

/// Why the packets of a routing can't wait for each other in a circle (Dally and Seitz 1987): how the dependency check
/// enters what can depend on what. Every variant walks the functions that the loop uses.
pub enum Proof<'a> {
    /// Every state that a packet can reach from any router with terminals to any other, whatever it chooses.
    EveryState,
    /// The rank ([`super::routing::Routing::rank`]) rises with every hop, or with `link_first` the class of the link and
    /// then the rank: seen on some walks over each router. Where it does not rise, what `or` says is walked.
    Rises { link_first: bool, or: Box<Proof<'a>> },
    /// Paths of one leg between all pairs of routers. `by_line`: what a packet does in one dimension of a grid does not
    /// depend on the others, and dimensions go in order.
    OneLeg { by_line: bool },
    /// Paths over an intermediate: legs in phase 0, then in phase 1; and those of a packet that goes minimally in a phase of
    /// its own.
    TwoLegs { by_line: bool, minimal_phase: Option<u8> },
    /// Packets, each with the router it starts from, that together take every turn, under a routing that follows them.
    Packets { routing: Box<dyn AnyRouting + 'a>, packets: Box<dyn Iterator<Item = (u32, Packet)> + 'a> },
    /// The turns themselves.
    Turns(EachTurn<'a>),
    /// The turns to each of these routers, on one class.
    TurnsTo { destinations: Vec<u32>, turns: TurnsTo<'a> },
    /// Every packet may fall back on its escape (Duato 1993).
    Escapes,
    /// Packets of all of these routings are under way at the same time.
    Together(Vec<Box<dyn AnyRouting + 'a>>),
}

impl Proof<'_> {
    /// The rank rises, else every state is walked.
    pub fn rises() -> Self {
        Self::Rises { link_first: false, or: Box::new(Self::EveryState) }
    }
}
