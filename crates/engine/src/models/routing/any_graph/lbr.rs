//! LBR (load-balanced routing): each packet is source-routed over one of a few fixed paths, drawn with shares that fill the
//! paths with the shortest queues first.
//!
//! # Source
//! M. Jeon et al., "FleX: A Flex Interconnected HPC System with Stochastic Load Balancing Scheme", IEEE Access 10 (2022), section
//! on LBR, eqs. (9) to (16); eq. (9) with the flits injected, lambda T, in place of the misprinted queue.
//! # Parameters
//! minimal: the routing of the minimal path and of both legs of the others, as for `valiant_over`; detours: how many paths over
//! an intermediate each pair of routers has beside the minimal one; every: T, time from one snapshot of the queues to the
//! next; delay: age at which a snapshot becomes known (the paper: at once; here 1 cycle at least); prefer_min_on_tie: take the
//! minimal path where all queues are equal, as in an empty network (the equations give all paths equal shares); sensor:
//! what the queue of an output is; candidates: number of the random draw of paths and intermediates.
//! # Guarantees
//! The paths of a pair of routers are the same for the whole run. A packet that is the head of its source router draws one: its
//! share is (A - q) / lambda T, where q is the sum of the posted queues of the outputs on the path, lambda T (1 at least) the
//! flits that the terminals of the source router sent between the last two snapshots, and A the level up to which these fill
//! the paths in use; paths with longer queues are taken out until none is left (the paper takes them out once, which can give
//! negative shares). VC class = hop index, so dependencies are acyclic. Intermediates are routers with terminals.
//! Table: 4 bytes per hop of every path, at most 1 GiB.
//! Under faults: a head at its source whose first link is broken takes another candidate; beyond the source, packets at a broken
//! link are discarded.
//! # Not modelled
//! The load of the packets that would carry the snapshots. New random paths every T.
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `engine/tests/conservation.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! `lbr/shares.rs`: shares sum to 1 and none is negative, on random queues; the tests of this file: paths and shares in a
//! network; `engine/tests/bounds.rs`: half or more of the bound of detours. No rows of a peer.

use super::valiant_over::shortest_paths;
use crate::api::board::Posts;
use crate::api::coordinates;
use crate::models::routing::bounds::{DRAGONFLY, FLEX, SHORT_PATHS};
use crate::models::routing::two_legs::build_leg;
use crate::models::routing::{
    Classes, Cost, Decides, Example, Hop, Needs, Proof, Routing, RoutingConfig, RoutingModel, Sensor, Step, View, draw,
    same_classes,
};
use crate::state::{DETOUR, Packet};
use candidates::{Candidates, Search};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shares::{MOST, Shares};
use weft_topology::Graph;
use weft_units::{Refusal, Time};

mod candidates;
mod shares;

/// LBR: each packet is source-routed over one of a few fixed paths, by the queues along them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Lbr {
    /// The routing of the minimal path, and of both legs of the others.
    #[serde(default = "shortest_paths")]
    pub minimal: Box<RoutingConfig>,
    /// Paths over a random intermediate, beside the minimal one, 0 to 15.
    #[serde(default = "three")]
    pub detours: u32,
    /// Time from one snapshot of all queues to the next \[time\], 1 cycle or more.
    #[serde(default = "ten_cycles")]
    pub every: Time,
    /// Time until all routers know a snapshot \[time\], 1 cycle or more.
    #[serde(default = "one_cycle")]
    pub delay: Time,
    /// Take the minimal path where all queues are equal.
    #[serde(default)]
    pub prefer_min_on_tie: bool,
    /// What is read as the queue of an output.
    #[serde(default)]
    pub sensor: Sensor,
    /// Number of the random draw of intermediates and paths.
    #[serde(default)]
    pub candidates: u64,
}

fn three() -> u32 {
    3
}

fn ten_cycles() -> Time {
    Time::Cycles(10)
}

fn one_cycle() -> Time {
    Time::Cycles(1)
}

#[derive(Debug, Clone)]
pub struct Runtime {
    candidates: Candidates,
    classes: Classes,
    posts: Posts,
    prefer_min_on_tie: bool,
    sensor: Sensor,
}

impl RoutingModel for Lbr {
    type Routing = Runtime;
    const ROUTES: &'static str = "any graph";

    fn fits(_: &Graph) -> bool {
        true
    }

    fn table_bytes(&self, graph: &Graph) -> u64 {
        let hosts = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).count() as u64;
        // most paths are made of two legs that are shorter than the diameter
        let paths = candidates::table_bytes(hosts, u64::from(self.detours) + 1, 4);
        self.minimal.table_bytes(graph) + paths
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        if self.detours as usize >= MOST {
            let what = format!("{} paths over an intermediate", self.detours);
            return Err(Refusal::new("routing.lbr.detours", what, format!("write at most {}", MOST - 1)));
        }
        let leg = build_leg(graph, &self.minimal, "lbr", "minimal")?;
        let candidates = Search::new(graph, &*leg, self.detours, self.candidates).candidates()?;
        Ok(Runtime {
            classes: same_classes(graph, candidates.longest as u8),
            posts: Posts { key: "", numbers: candidates.numbers, every: self.every, delay: self.delay },
            candidates,
            prefer_min_on_tie: self.prefer_min_on_tie,
            sensor: self.sensor,
        })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}").only_on(&SHORT_PATHS).bound_with_detours_around_one_neighbor(),
            Example::of(r#"{"minimal": {"flex_minimal": {}}, "prefer_min_on_tie": true, "every": "5cycles"}"#)
                .only_on(&[FLEX]),
            Example::of(r#"{"minimal": {"dragonfly_minimal": {}}, "detours": 6, "delay": "20cycles"}"#)
                .only_on(&[DRAGONFLY]),
        ]
    }
}

impl Runtime {
    /// Whether the packet has still to draw its path.
    #[inline(always)]
    fn asks(at: u64, packet: &Packet) -> bool {
        packet.phase == 0 && at != packet.dest
    }

    /// Sends the packet on candidate `number` of the paths from `at` to its destination, whose first is `first`.
    #[inline(always)]
    fn send(packet: &mut Packet, first: usize, number: usize) {
        packet.phase = 1;
        packet.target = (first + number) as u64;
        packet.flags |= if number == 0 { 0 } else { DETOUR };
    }

    /// The next hop of a packet that has its path.
    #[inline(always)]
    fn hop(&self, at: u64, packet: &mut Packet) -> Hop {
        let class = packet.lane;
        match self.candidates.port(packet.target as usize, class, at) {
            Some(port) => {
                packet.lane += 1;
                Hop { port, class }
            }
            None => Hop::to_terminal(packet),
        }
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs {
            classes: self.classes.clone(),
            decides: Decides::AtHead,
            sensor: Some(self.sensor),
            posts: Some(self.posts),
            ..Needs::default()
        }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        coordinates::numbers(graph)
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        match packet.phase {
            0 if at == packet.dest => Some(Hop::to_terminal(packet)),
            0 => None,
            _ => Some(self.hop(at, packet)),
        }
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let (last, before) = (here.post(0), here.post(1));
        let first = self.candidates.first(at, packet.dest);
        let (mut queues, count) = ([0u32; MOST], self.candidates.of_pair);
        let queues = &mut queues[..count];
        for (number, queue) in queues.iter_mut().enumerate() {
            let hops = self.candidates.hops(first + number);
            *queue = hops.iter().map(|&place| last.at(place as usize)).sum();
            // for watched packets: this is what the routing compares
            let port = (hops[0] - self.candidates.place(at, 0) as u32) as u8;
            here.weigh(Hop { port, class: 0 }, Cost { at, port, hops: 1, bias: 0 }, *queue as i32);
        }
        let sent = self.candidates.place(at, self.candidates.numbers - 1);
        let injected = last.at(sent).wrapping_sub(before.at(sent));
        let is_tie = self.prefer_min_on_tie && queues.iter().all(|&queue| queue == queues[0]);
        let number = if is_tie { 0 } else { Shares::of(injected, queues).pick(draw(seed, packet, 0x1b)) };
        Self::send(packet, first, number);
        self.hop(at, packet)
    }

    fn post<Q: View + ?Sized>(&self, at: u64, here: &Q, sent: impl Fn() -> u32, numbers: &mut [u32]) {
        for port in self.candidates.ports_to_routers(at) {
            numbers[usize::from(port)] = here.read(port) as u32;
        }
        numbers[self.candidates.numbers - 1] = sent();
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !Self::asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let first = self.candidates.first(at, packet.dest);
        let step = |number: usize| {
            let mut after = *packet;
            Self::send(&mut after, first, number);
            let hop = self.hop(at, &mut after);
            Step { hop, after, cost: Some(Cost { at, port: hop.port, hops: 1, bias: 0 }) }
        };
        (0..self.candidates.of_pair).map(step).collect()
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut steps = self.steps(at, packet, seed);
        if self.prefer_min_on_tie {
            steps.truncate(1);
        }
        steps
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    /// While all queues are empty, all candidates have equal shares.
    fn draws_ties(&self) -> bool {
        !self.prefer_min_on_tie
    }

    fn own_rule(&self) -> Option<&'static str> {
        Some(
            "a random draw, whose shares fill the candidate paths with the shortest queues first (of each path the first output is \
             named, and the posted queues of all its outputs are summed)",
        )
    }
}
