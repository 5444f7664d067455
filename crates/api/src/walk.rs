//! The hops that packets may take at each router, for checks that follow packets. Checks, bounds and explanations use these hops before a
//! run; the cycle loop never uses them.

use super::routing::{AnyRouting, Hop, Routing, draw};
use crate::base::hash::below;
use crate::state::Packet;
use std::collections::BTreeSet;

/// A mask with one bit for every port of a router: 8 words for up to 512 ports.
pub type Ports = [u64; 8];

/// A hop that a packet may take, and the packet as it is after the hop.
#[derive(Debug)]
pub struct Step {
    pub hop: Hop,
    pub after: Packet,
    /// The cost of this hop, if the routing is adaptive and compares costs. `None` for an oblivious routing, which chooses each of its hops
    /// with the same probability.
    pub cost: Option<Cost>,
}

impl Step {
    /// The only step of a routing whose `next` always returns the hop.
    pub fn named(routing: &dyn Routing, at: u64, packet: &Packet, seed: u64) -> Vec<Self> {
        let mut after = *packet;
        routing.next(at, &mut after, seed).into_iter().map(|hop| Self { hop, after, cost: None }).collect()
    }

    /// The step to the terminal, for a packet at its destination router.
    pub fn deliver(packet: &Packet) -> Self {
        Self { hop: Hop::to_terminal(packet), after: *packet, cost: None }
    }
}

/// The cost of a hop: the congestion of an output (of the router with coordinates `at`) times `hops`, plus `bias`. An adaptive routing
/// takes the hop of least cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    pub at: u64,
    pub port: u16,
    pub hops: u32,
    pub bias: i32,
}

/// Maximum number of outcomes of random choices that a check follows.
const MAX_OUTCOMES: u32 = 1 << 14;

/// The random choices that a packet makes once for its whole path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draws {
    /// Dimensions in which the packet may choose the direction at random, because its destination is exactly half way round a ring.
    pub ties: Vec<u64>,
    /// Number of parallel global links among which the packet chooses at random, minus 1.
    pub more_copies: u32,
}

/// A packet for each possible outcome of the source's random choices. All of these outcomes are equally likely. A packet is computed only
/// when a caller requests its number, because a network can have one outcome per router.
pub struct Outcomes<'a> {
    count: usize,
    nth: Box<dyn Fn(usize) -> Packet + 'a>,
}

impl<'a> Outcomes<'a> {
    /// `count` outcomes; `nth` computes the packet of the outcome with a given number.
    pub fn new(count: usize, nth: impl Fn(usize) -> Packet + 'a) -> Self {
        Self { count, nth: Box::new(nth) }
    }

    /// A packet whose source makes no random choice: it is the only outcome.
    pub fn only(packet: Packet) -> Self {
        Self::new(1, move |_| packet)
    }

    /// Number of possible outcomes. There is one packet for each outcome.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The packet of outcome number `number`, which must be below [`Outcomes::count`].
    pub fn nth(&self, number: usize) -> Packet {
        (self.nth)(number)
    }

    /// The packets of all outcomes, in the order of their numbers.
    pub fn all(self) -> impl Iterator<Item = Packet> + use<'a> {
        (0..self.count).map(self.nth)
    }
}

/// Salts for the two random choices in [`Draws`]: a direction (`ties`), and a link (`more_copies`). With different salts, the hashes for
/// the two choices differ.
pub const TIE: u64 = 0x7e;
pub const COPY: u64 = 0x91;

impl Draws {
    /// Packet numbers ([`Packet::seq`]), one for each possible outcome of these choices: hashes of the numbers give the
    /// outcomes.
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

/// A function that calls its argument with every turn. A turn is a router, the hop of a packet there, and the packet's hop at the next
/// router.
pub type EachTurn<'a> = Box<dyn Fn(&mut dyn FnMut(u32, Hop, Hop)) + 'a>;
/// A function that calls its argument with every turn of packets to one destination router, on one VC class. For `TurnsTo`, a turn is a
/// router, the output port of a packet there, and all its possible output ports at the next router.
pub type TurnsTo<'a> = Box<dyn Fn(u32, &mut dyn FnMut(u32, u16, &Ports)) + 'a>;

/// An escape ring: a ring in one direction that visits every router once and keeps a bubble
/// ([`RingEntry`](super::routing::RingEntry)).
#[derive(Debug, Clone)]
pub struct EscapeRing {
    /// For each router, the hop along the ring.
    pub hops: Vec<RingHop>,
}

/// The hop along a ring at one router: the output port, the VC class of packets that enter, and that of packets already in the ring.
#[derive(Debug, Clone, Copy)]
pub struct RingHop {
    pub port: u16,
    pub enter: u8,
    pub move_on: u8,
}

/// The reason why the packets of a routing cannot wait for each other in a cycle (Dally and Seitz 1987). The proof selects the method by
/// which the dependency check finds all dependencies between channels. Under every method, the check calls the functions of the routing
/// that the cycle loop also calls.
pub enum Proof<'a> {
    /// The check follows packets from every router with terminals to every other, through all states that result from their random choices
    /// and decisions.
    EveryState,
    /// The rank of hops ([`super::routing::Routing::rank`]) rises with every hop, so a cycle of channels is impossible. With `link_first`,
    /// hops are compared first by the class of their link, and then by rank. The check tests on some paths over each router that ranks
    /// rise. If they do not, the check uses the proof `or`.
    Rises { link_first: bool, or: Box<Proof<'a>> },
    /// The check follows packets between all pairs of routers. With `by_line`, the check follows only pairs of routers on the same line of
    /// a grid. Pairs on the same line are enough if packets cross the dimensions in order, and the hops in one dimension do not depend on
    /// the others.
    OneLeg { by_line: bool },
    /// Paths lead over an intermediate router: a leg in phase 0, then a leg in phase 1. `minimal_phase`: the phase of packets that take the
    /// minimal path without an intermediate router.
    TwoLegs { by_line: bool, minimal_phase: Option<u8> },
    /// The routing lists packets and the routers where they start. Together these packets take every turn that is possible under the
    /// routing.
    Packets { routing: Box<dyn AnyRouting + 'a>, packets: Box<dyn Iterator<Item = (u32, Packet)> + 'a> },
    /// The routing itself lists every turn.
    Turns(EachTurn<'a>),
    /// The routing lists the turns of packets to each of these routers, on one VC class.
    TurnsTo { destinations: Vec<u32>, turns: TurnsTo<'a> },
    /// Every head may take its escape hop at any time (Duato 1993). The routing decides in each step, and `steps` always lists the escape
    /// hop.
    Escapes,
    /// Every packet between routers may enter one of these rings, and stay in the ring until it reaches its destination router.
    EscapeRings(Vec<EscapeRing>),
    /// Packets of all these routings are in the network at the same time.
    Together(Vec<Box<dyn AnyRouting + 'a>>),
}

impl Proof<'_> {
    /// The proof by rank. If the rank does not rise, the check follows every state instead.
    pub fn rises() -> Self {
        Self::Rises { link_first: false, or: Box::new(Self::EveryState) }
    }
}
