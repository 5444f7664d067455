//! The hops that packets may take at each router. Checks, bounds and explanations use these hops to follow packets before a run; the loop
//! never uses them.

use super::routing::{AnyRouting, Hop, Routing, draw};
use crate::base::hash::below;
use crate::state::Packet;
use std::collections::BTreeSet;

/// A set with one bit for every port of a router.
pub type Ports = [u64; 8];

/// A hop that a packet may take, and the state of the packet after it.
#[derive(Debug)]
pub struct Step {
    pub hop: Hop,
    pub after: Packet,
    /// The cost of this hop, which an adaptive routing compares. `None` for an oblivious routing, which chooses among its hops at random,
    /// all equally likely.
    pub cost: Option<Cost>,
}

impl Step {
    /// The single hop that `next` returns.
    pub fn named(routing: &dyn Routing, at: u64, packet: &Packet, seed: u64) -> Vec<Self> {
        let mut after = *packet;
        routing.next(at, &mut after, seed).into_iter().map(|hop| Self { hop, after, cost: None }).collect()
    }

    /// The hop to the terminal, for a packet at its destination router.
    pub fn deliver(packet: &Packet) -> Self {
        Self { hop: Hop::to_terminal(packet), after: *packet, cost: None }
    }
}

/// A cost: the congestion of an output (of the router with coordinates `at`) times `hops`, plus `bias`. The hop of least cost wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cost {
    pub at: u64,
    pub port: u16,
    pub hops: u32,
    pub bias: i32,
}

/// The most outcomes of random choices that a check follows.
const MAX_OUTCOMES: u32 = 1 << 14;

/// The random choices that a packet makes once, for its whole path.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Draws {
    /// Dimensions of a grid in which a destination may be exactly half way round a ring, so that the packet chooses the direction at
    /// random.
    pub ties: Vec<u64>,
    /// Number of parallel global links among which the packet chooses at random, minus 1.
    pub more_copies: u32,
}

/// The packets for all possible outcomes of the source's random choices, one for each outcome. All outcomes are equally likely. A packet is
/// created only when it is requested by its number, because there may be one for every router of the network.
pub struct Outcomes<'a> {
    count: usize,
    nth: Box<dyn Fn(usize) -> Packet + 'a>,
}

impl<'a> Outcomes<'a> {
    /// `count` packets; `nth` creates the packet with a given number.
    pub fn new(count: usize, nth: impl Fn(usize) -> Packet + 'a) -> Self {
        Self { count, nth: Box::new(nth) }
    }

    /// The only possible outcome.
    pub fn only(packet: Packet) -> Self {
        Self::new(1, move |_| packet)
    }

    /// Number of possible outcomes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The packet with a number below [`Outcomes::count`].
    pub fn nth(&self, number: usize) -> Packet {
        (self.nth)(number)
    }

    /// All packets, in the order of their numbers.
    pub fn all(self) -> impl Iterator<Item = Packet> + use<'a> {
        (0..self.count).map(self.nth)
    }
}

/// Salts that separate the hashes for these choices.
pub const TIE: u64 = 0x7e;
pub const COPY: u64 = 0x91;

impl Draws {
    /// Packet numbers ([`Packet::seq`]), one for each possible outcome of these random choices.
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

/// Calls its argument with every turn: a router, the hop that a packet takes there, and the hop that it takes at the next router.
pub type EachTurn<'a> = Box<dyn Fn(&mut dyn FnMut(u32, Hop, Hop)) + 'a>;
/// Calls its argument with every turn of packets to one destination router, on one VC class. A turn consists of a router, the port that a
/// packet takes there, and all ports that the packet may take at the next router.
pub type TurnsTo<'a> = Box<dyn Fn(u32, &mut dyn FnMut(u32, u16, &Ports)) + 'a>;

/// A ring in one direction that visits every router once and keeps a bubble ([`RingEntry`](super::routing::RingEntry)).
#[derive(Debug, Clone)]
pub struct EscapeRing {
    /// For each router: the hop into the ring, and the hop of a packet that is already in the ring.
    pub hops: Vec<RingHop>,
}

/// The hop along a ring at one router: the output port, the VC class on which packets enter, and the VC class on which packets move on.
#[derive(Debug, Clone, Copy)]
pub struct RingHop {
    pub port: u16,
    pub enter: u8,
    pub move_on: u8,
}

/// The reason why the packets of a routing can't wait for each other in a cycle (Dally and Seitz 1987). The proof selects the method by
/// which the dependency check finds out which channels can depend on each other. Every variant calls the same functions as the loop.
pub enum Proof<'a> {
    /// The check follows every state that a packet can reach from any router with terminals to any other, for all its random choices and
    /// decisions.
    EveryState,
    /// The rank ([`super::routing::Routing::rank`]) rises with every hop. With `link_first`, the class of the link is compared first, and
    /// then the rank. The check tests this on some paths over each router. If the rank does not rise, the check uses the proof `or`.
    Rises { link_first: bool, or: Box<Proof<'a>> },
    /// The check follows packets between all pairs of routers. With `by_line` the check follows only pairs of routers within one line of a
    /// grid. That is enough if packets cross the dimensions in order, and the hops in one dimension do not depend on the others.
    OneLeg { by_line: bool },
    /// Paths over an intermediate: a leg in phase 0, then a leg in phase 1. `minimal_phase`: the phase of packets that take the minimal
    /// path without an intermediate.
    TwoLegs { by_line: bool, minimal_phase: Option<u8> },
    /// These packets, each with the router from which it starts, together take every turn that is possible under this routing.
    Packets { routing: Box<dyn AnyRouting + 'a>, packets: Box<dyn Iterator<Item = (u32, Packet)> + 'a> },
    /// The routing lists the turns itself.
    Turns(EachTurn<'a>),
    /// The routing lists the turns of packets to each of these routers, on one VC class.
    TurnsTo { destinations: Vec<u32>, turns: TurnsTo<'a> },
    /// Every packet may take its escape hop at any time (Duato 1993): the routing decides in each step, and `steps` lists the escape hop
    /// everywhere.
    Escapes,
    /// Every packet between routers may enter one of these rings, and move on in the ring until it reaches its destination router.
    EscapeRings(Vec<EscapeRing>),
    /// Packets of all these routings are in flight at the same time.
    Together(Vec<Box<dyn AnyRouting + 'a>>),
}

impl Proof<'_> {
    /// The proof by rank; if the rank does not rise, the check follows every state.
    pub fn rises() -> Self {
        Self::Rises { link_first: false, or: Box::new(Self::EveryState) }
    }
}
