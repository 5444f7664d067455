//! Routing algorithms: what they are asked, and the registry.
//!
//! A routing has three hooks. `source`, when the packet is made. `next`, one hop ahead: it sees coordinates and the
//! packet only, and says `None` when the choice needs the queues of that router. `head`, in that router, when the packet
//! has become the head of its VC. Random choices are hashes of (seed, packet, place), so the order of events is free.

weft_units::registry! {
    /// Every routing algorithm the engine can run.
    pub enum RoutingConfig:
    "dimension_order" => dimension_order::DimensionOrder,
    "minimal" => minimal::Minimal,
    "valiant" => valiant::Valiant,
    "ugal" => ugal::Ugal,
    "ugal_p" => ugal_p::UgalP,
    "pal" => pal::Pal,
    "dragonfly_minimal" => dragonfly_minimal::DragonflyMinimal,
    "dragonfly_valiant" => dragonfly_valiant::DragonflyValiant,
    "dragonfly_ugal" => dragonfly_ugal::DragonflyUgal,
    "up_down" => up_down::UpDown,
    "dal" => dal::Dal,
    "shortest_path" => shortest_path::ShortestPath,
    "ecmp" => ecmp::Ecmp,
    "table" => table::Table,
    "minimal_adaptive" => minimal_adaptive::MinimalAdaptive,
    "slac" => slac::Slac,
}

mod choice;
mod distances;
pub(crate) mod grid;
pub(crate) mod groups;
pub mod sensor;
pub(crate) mod spy;
pub(crate) mod steps;
pub(crate) use choice::Choice;
pub(crate) use distances::Ports;
pub use sensor::Sensor;

use crate::explain::dependency::Dependencies;
use crate::models::power::{AnyPolicy, PolicyConfig, slac::Initial};
use crate::pipeline::net::Net;
use crate::state::Packet;
use sensor::Congestion;
use weft_topology::{Graph, Structure};
use weft_units::{Flits, Refusal};

/// An output port and the VC class on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    pub port: u8,
    pub class: u8,
}

/// VC classes that a routing needs on every link class (index as in the graph; terminal links need one).
pub type Classes = Vec<u8>;

#[derive(Debug, Clone)]
pub enum AnyRouting {
    Dimension(dimension_order::Runtime),
    Minimal(minimal::Runtime),
    Valiant(valiant::Runtime),
    Ugal(ugal::Runtime),
    UgalP(ugal_p::Runtime),
    Pal(pal::Runtime),
    DragonflyMinimal(dragonfly_minimal::Runtime),
    DragonflyValiant(dragonfly_valiant::Runtime),
    DragonflyUgal(dragonfly_ugal::Runtime),
    UpDown(up_down::Runtime),
    Dal(dal::Runtime),
    ShortestPath(shortest_path::Runtime),
    Ecmp(ecmp::Runtime),
    Table(table::Runtime),
    MinimalAdaptive(minimal_adaptive::Runtime),
    Slac(slac::Runtime),
}

/// Calls the same method of whichever routing it is.
macro_rules! each {
    ($self:expr, $r:ident => $call:expr) => {
        match $self {
            AnyRouting::Dimension($r) => $call,
            AnyRouting::Minimal($r) => $call,
            AnyRouting::Valiant($r) => $call,
            AnyRouting::Ugal($r) => $call,
            AnyRouting::UgalP($r) => $call,
            AnyRouting::Pal($r) => $call,
            AnyRouting::DragonflyMinimal($r) => $call,
            AnyRouting::DragonflyValiant($r) => $call,
            AnyRouting::DragonflyUgal($r) => $call,
            AnyRouting::UpDown($r) => $call,
            AnyRouting::Dal($r) => $call,
            AnyRouting::ShortestPath($r) => $call,
            AnyRouting::Ecmp($r) => $call,
            AnyRouting::Table($r) => $call,
            AnyRouting::MinimalAdaptive($r) => $call,
            AnyRouting::Slac($r) => $call,
        }
    };
}

impl AnyRouting {
    /// The routing for this graph, and the VC classes it needs; refuses a shape it can't route.
    pub fn build(config: &RoutingConfig, graph: &Graph) -> Result<(Self, Classes), Refusal> {
        Ok(match config {
            RoutingConfig::DimensionOrder(c) => c.build(graph).map(|(r, n)| (Self::Dimension(r), n))?,
            RoutingConfig::Minimal(c) => c.build(graph).map(|(r, n)| (Self::Minimal(r), n))?,
            RoutingConfig::Valiant(c) => c.build(graph).map(|(r, n)| (Self::Valiant(r), n))?,
            RoutingConfig::Ugal(c) => c.build(graph).map(|(r, n)| (Self::Ugal(r), n))?,
            RoutingConfig::UgalP(c) => c.build(graph).map(|(r, n)| (Self::UgalP(r), n))?,
            RoutingConfig::Pal(c) => c.build(graph).map(|(r, n)| (Self::Pal(r), n))?,
            RoutingConfig::DragonflyMinimal(c) => c.build(graph).map(|(r, n)| (Self::DragonflyMinimal(r), n))?,
            RoutingConfig::DragonflyValiant(c) => c.build(graph).map(|(r, n)| (Self::DragonflyValiant(r), n))?,
            RoutingConfig::DragonflyUgal(c) => c.build(graph).map(|(r, n)| (Self::DragonflyUgal(r), n))?,
            RoutingConfig::UpDown(c) => c.build(graph).map(|(r, n)| (Self::UpDown(r), n))?,
            RoutingConfig::Dal(c) => c.build(graph).map(|(r, n)| (Self::Dal(r), n))?,
            RoutingConfig::ShortestPath(c) => c.build(graph).map(|(r, n)| (Self::ShortestPath(r), n))?,
            RoutingConfig::Ecmp(c) => c.build(graph).map(|(r, n)| (Self::Ecmp(r), n))?,
            RoutingConfig::Table(c) => c.build(graph).map(|(r, n)| (Self::Table(r), n))?,
            RoutingConfig::MinimalAdaptive(c) => c.build(graph).map(|(r, n)| (Self::MinimalAdaptive(r), n))?,
            RoutingConfig::Slac(c) => c.build(graph).map(|(r, n)| (Self::Slac(r), n))?,
        })
    }

    /// A run with this policy begins, which may have stage 1 alone on.
    pub(crate) fn begin(&mut self, policy: &PolicyConfig) {
        if let (Self::Slac(routing), PolicyConfig::Slac(slac)) = (self, policy) {
            routing.switch_to(1);
            if slac.initial == Initial::AllOn {
                routing.switch_all_on();
            }
        }
    }

    /// Where links go on and off by stages: all of them are on now.
    pub(crate) fn switch_all_on(&mut self) -> bool {
        match self {
            Self::Slac(routing) => routing.switch_all_on(),
            Self::Pal(routing) => routing.switch_all_on(),
            _ => false,
        }
    }

    /// What is implied from now on is for the links with which the policy begins.
    pub(crate) fn imply_under(&mut self, policy: &AnyPolicy, managed: &[bool]) {
        if let Self::Pal(routing) = self {
            routing.imply_under(policy, managed);
        }
    }

    /// What the routing knows of every router: its coordinates on the shape that it routes.
    pub(crate) fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        match self {
            Self::ShortestPath(_) | Self::Ecmp(_) | Self::Table(_) => (0..u64::from(graph.routers())).collect(),
            _ => grid::coordinates(graph),
        }
    }

    /// The packet is made: an oblivious routing draws its intermediate or its path here.
    #[inline(always)]
    pub(crate) fn source(&self, net: &Net, packet: &mut Packet) {
        match self {
            Self::Valiant(r) => r.source(net.seed, packet),
            Self::DragonflyValiant(r) => r.source(net.seed, packet),
            Self::UpDown(r) => r.source(net.seed, packet),
            _ => {}
        }
    }

    /// The hop at the router with coordinates `at`; `None` if it depends on the queues there.
    #[inline(always)]
    pub(crate) fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        each!(self, r => r.next(at, packet, seed))
    }

    /// The hop at the router with coordinates `at`, whose queues are at hand.
    #[inline(always)]
    pub(crate) fn head(&self, at: u64, queues: &impl Congestion, packet: &mut Packet, seed: u64) -> Hop {
        match self {
            Self::Ugal(r) => r.head(at, queues, packet, seed),
            Self::UgalP(r) => r.head(at, queues, packet, seed),
            Self::Pal(r) => r.head(at, queues, packet, seed),
            Self::DragonflyUgal(r) => r.head(at, queues, packet, seed),
            Self::UpDown(r) => r.head(at, queues, packet, seed),
            Self::Dal(r) => r.head(at, queues, packet, seed),
            Self::Slac(r) => r.head(at, packet, seed),
            _ => unreachable!("only adaptive routings ask for queues"),
        }
    }

    /// Whether heads choose again in every allocation step.
    pub(crate) fn chooses(&self) -> bool {
        matches!(self, Self::MinimalAdaptive(_))
    }

    /// What a head at `at` may ask for, where heads choose again in every step. `arrived` gives the VC class that it came
    /// on, if it came from a router.
    pub(crate) fn choice(&self, at: u64, packet: &Packet, arrived: impl FnOnce() -> Option<u8>) -> Choice {
        match self {
            Self::MinimalAdaptive(r) => r.choice(at, packet, arrived),
            _ => Choice::default(),
        }
    }

    /// The candidate that a head at `at` asks for now.
    #[inline(always)]
    pub(crate) fn choose(
        &self,
        at: u64,
        packet: &Packet,
        arrived: impl FnOnce() -> Option<u8>,
        queues: &impl Congestion,
        turn: u32,
    ) -> Hop {
        match self {
            Self::MinimalAdaptive(r) => r.choose(at, packet, arrived, queues, turn),
            _ => unreachable!("heads of other routings do not choose again"),
        }
    }

    /// The hop that a packet may always fall back on.
    pub(crate) fn escape(&self, at: u64, to: u64) -> Option<Hop> {
        match self {
            Self::MinimalAdaptive(r) => r.escape(at, to),
            _ => None,
        }
    }

    /// What the routing reads as congestion, if it is adaptive.
    pub fn sensor(&self) -> Option<Sensor> {
        match self {
            Self::Ugal(r) => Some(r.sensor),
            Self::UgalP(r) => Some(r.sensor),
            Self::Pal(r) => Some(r.sensor),
            Self::DragonflyUgal(r) => Some(r.sensor),
            Self::UpDown(r) if r.ascent == up_down::Ascent::Adaptive => Some(r.sensor),
            Self::Dal(r) => Some(r.sensor),
            _ => None,
        }
    }

    /// Whether the routing reads queues of other routers of its group, which then must be in one block.
    pub(crate) fn reads_group(&self) -> bool {
        matches!(self, Self::DragonflyUgal(r) if r.global)
    }

    /// What rises with each hop of a packet, where `dependencies` says so: as a rule the VC class.
    pub(crate) fn rank(&self, at: u64, hop: Hop) -> u32 {
        match self {
            Self::Pal(r) => r.rank(at, hop),
            Self::Slac(r) => r.rank(at, hop),
            _ => u32::from(hop.class),
        }
    }

    /// Enters every dependency between channels that packets of this routing can cause.
    pub(crate) fn dependencies(&self, d: &mut Dependencies) {
        match self {
            Self::Minimal(_) | Self::Dal(_) | Self::ShortestPath(_) if d.rises(self, false) => {}
            Self::UgalP(_) if d.rises(self, true) => {}
            Self::Pal(_) if d.rises(self, false) => {}
            Self::Ecmp(r) if r.rule == ecmp::ClassRule::HopIndex && d.rises(self, false) => {}
            Self::Dimension(_) | Self::DragonflyMinimal(_) => d.one_leg(self, 0),
            Self::Valiant(_) | Self::Ugal(_) | Self::DragonflyValiant(_) | Self::DragonflyUgal(_) => d.two_legs(self),
            Self::UgalP(_) | Self::Pal(_) | Self::Minimal(_) | Self::Dal(_) | Self::ShortestPath(_) => d.per_hop(self),
            Self::UpDown(r) => d.packets(&Self::UpDown(r.with_drawn_links()), r.every_turn()),
            Self::Ecmp(r) => {
                for (dest, count) in r.distances.wiring.hosts().zip(1u32..) {
                    r.distances.turns_to(dest, |at, port, onward| d.turns(at, port, onward));
                    // most graphs close a cycle soon
                    if count.is_power_of_two() && d.find_cycle().is_some() {
                        break;
                    }
                }
            }
            Self::Table(r) => r.every_turn(|at, hop, onward| d.turn(at, hop, onward)),
            Self::MinimalAdaptive(_) => d.escapes(self),
            Self::Slac(r) => {
                let every = || r.every_stage().map(Self::Slac);
                if !every().all(|routing| d.rises(&routing, false)) {
                    every().for_each(|routing| d.per_hop(&routing));
                }
            }
        }
    }

    /// A packet in phase `phase` (0: to the intermediate if there is one, 1: to the destination after it, 2: minimal
    /// where that is a phase of its own) that heads for `target`.
    pub(crate) fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        let mut packet = Packet { target, dest: target, seq: draw, phase, ..Packet::default() };
        match self {
            Self::DragonflyValiant(r) if phase == 1 => r.second_phase(&mut packet),
            Self::DragonflyUgal(r) if phase == 1 => r.valiant.second_phase(&mut packet),
            Self::Ugal(_) | Self::DragonflyUgal(_) if phase == 0 => packet.flags |= crate::state::DETOUR,
            _ => {}
        }
        packet
    }

    /// The phase in which a packet goes minimally, where the routing knows one.
    pub(crate) fn minimal_phase(&self) -> u8 {
        match self {
            Self::Ugal(_) => 1,
            Self::DragonflyValiant(_) | Self::DragonflyUgal(_) => 2,
            _ => 0,
        }
    }

    /// The packet over every intermediate or path that an oblivious routing may draw at `at`, all equally likely.
    pub(crate) fn detours(&self, at: u64, packet: Packet) -> Box<dyn Iterator<Item = Packet> + '_> {
        match self {
            Self::Valiant(r) => Box::new(r.detours(packet)),
            Self::DragonflyValiant(r) => r.detours(at, packet),
            Self::UpDown(r) => Box::new(r.detours(at, packet)),
            _ => Box::new(std::iter::once(packet)),
        }
    }

    /// Whether every packet goes over an intermediate or a path that is drawn when it is made.
    pub(crate) fn draws_path(&self) -> bool {
        match self {
            Self::Valiant(_) | Self::DragonflyValiant(_) => true,
            Self::UpDown(r) => r.ascent != up_down::Ascent::Adaptive,
            _ => false,
        }
    }

    /// Whether paths depend on the terminals of a packet, not only on their routers.
    pub(crate) fn sees_terminals(&self) -> bool {
        match self {
            Self::Ecmp(_) => true,
            Self::UpDown(r) => r.ascent == up_down::Ascent::DModK,
            _ => false,
        }
    }
}

/// Bias of the adaptive routings toward the minimal path [flits]: that of BookSim2's flattened butterfly.
fn default_threshold() -> Flits {
    Flits(2)
}

/// Highest bias: congestion times hops plus this fits into 32 bits.
const MAX_THRESHOLD: i32 = 1 << 30;

/// The bias as the sensors count.
fn threshold(flits: Flits, routing: &str) -> Result<i32, Refusal> {
    i32::try_from(flits.0).ok().filter(|&flits| flits <= MAX_THRESHOLD).ok_or_else(|| {
        let what = format!("{} flits is more than any queue can hold", flits.0);
        Refusal::new(format!("routing.{routing}.threshold"), what, format!("write at most {MAX_THRESHOLD}flits"))
    })
}

/// A hash of (seed, packet, salt), for choices that must not depend on the order of events.
#[inline(always)]
pub(crate) fn draw(seed: u64, packet: &Packet, salt: u64) -> u64 {
    hash(seed, packet.src, packet.seq, salt)
}

#[inline(always)]
pub(crate) fn hash(seed: u64, high: u32, low: u32, salt: u64) -> u64 {
    let mut x = seed ^ (u64::from(high) << 32 | u64::from(low)) ^ salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Maps a hash to 0..n (bias below n / 2^32).
#[inline(always)]
pub(crate) fn below(hash: u64, n: u32) -> u32 {
    (((hash >> 32) * u64::from(n)) >> 32) as u32
}

/// The routings made for the structure of a graph; those of any graph come on top.
fn made_for(graph: &Graph) -> &'static [&'static str] {
    const GRIDS: &[&str] = &["dimension_order", "minimal_adaptive", "valiant", "ugal"];
    const COMPLETE: &[&str] =
        &["dimension_order", "minimal", "minimal_adaptive", "valiant", "ugal", "ugal_p", "pal", "dal"];
    const PLANE: &[&str] =
        &["dimension_order", "minimal", "minimal_adaptive", "valiant", "ugal", "ugal_p", "pal", "dal", "slac"];
    const DRAGONFLIES: &[&str] = &["dragonfly_minimal", "dragonfly_valiant", "dragonfly_ugal", "pal"];
    match graph.structure() {
        Structure { grid: Some(grid), .. } => match grid.uniform() {
            Some((grid::Line::Complete, _)) if grid.dimensions.len() == 2 => PLANE,
            Some((grid::Line::Complete, _)) => COMPLETE,
            Some((grid::Line::Ring | grid::Line::Row, _)) => GRIDS,
            None => &[],
        },
        Structure { groups: Some(groups), .. } if groups.complete.is_some() => DRAGONFLIES,
        Structure { levels: Some(levels), .. } if levels.tree.is_some() => &["up_down"],
        Structure { .. } => &[],
    }
}

/// The refusal of a topology.
pub(crate) fn wrong_shape(name: &str, needs: &str, graph: &Graph) -> Refusal {
    let (got, fitting) = (graph.topology_name(), made_for(graph));
    let fitting = [fitting, &["shortest_path", "ecmp", "table"]].concat();
    Refusal::new(
        format!("routing.{name}"),
        format!("{name} routes {needs}, but the topology is {got}"),
        format!("choose {}, or another topology", fitting.join(", ")),
    )
}
