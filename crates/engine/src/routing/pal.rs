//! PAL: power-aware progressive load-balanced routing. UGAL_p that knows which links of its subnetworks are active.
//!
//! # Source
//! Kim et al., "TCEP", ISCA 2018, Section IV-E, Table I. In each subnetwork (a dimension of a HyperX, a group of a
//! dragonfly) a packet goes directly or over one other router, drawn among those that have active links to both ends.
//! Direct link active: minimal if q_m <= 2 q_n + T. Shadow: not minimal while the other way has a credit, else the
//! shadow link is taken back. Inactive or waking: not minimal. At the intermediate: directly, over a shadow link too; if that link has
//! gone meanwhile, over the hub. Where faults have cut the star: see `faults.rs`.
//! # Parameters
//! threshold T \[flits\]; sensor: what q is.
//! # Guarantees
//! Two VC classes per subnetwork that is crossed (0: toward an intermediate, 1: to the destination in the subnetwork). A
//! class-0 hop into the hub is followed by class 1 only, so classes rise. With all links active it is `ugal_p`, draw by draw.
//! In a dragonfly: minimal between groups, PAL inside the group of the source and that of the destination.
//! # Not modelled
//! Non-minimal paths between the groups of a dragonfly.
//! # Validation
//! `engine/tests/pal.rs`: equal to `ugal_p` to the last bit while all links are on; Table I row by row; every pair is
//! reached over static subsets of links with the number of hops that theory gives. On every legal topology:
//! `engine/tests/theory.rs`, `conservation.rs`, `stall.rs`. No rows of a peer: none has link states.

use super::{Classes, Hop, Sensor, below, draw, grid::Grid, groups, groups::Groups, steps::Cost, steps::Step};
use super::{sensor::Congestion, wrong_shape};
use crate::power::LinkState;
use crate::state::{AROUND, DETOUR, Packet};
use crate::subnets::Subnets;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::{Graph, Shape};
use weft_units::{Flits, Refusal};

/// UGAL_p that knows which links of its subnetworks are active.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pal {
    /// Bias toward the minimal path.
    #[serde(default = "super::default_threshold")]
    pub threshold: Flits,
    /// What is read as the congestion of an output.
    #[serde(default)]
    pub sensor: Sensor,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    pub(crate) nets: Subnets,
    pub(super) groups: Option<Groups>,
    threshold: i32,
    pub(super) sensor: Sensor,
}

/// The part of a packet's way that is inside one subnetwork: from member `own` to member `to` of subnetwork `d`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Leg {
    pub d: usize,
    pub own: u8,
    pub to: u8,
    /// Of the legs of a packet, plus 1: kept in [`Packet::dim`].
    number: u8,
    /// First of its VC classes.
    class: u8,
}

impl Pal {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let needs = "hyperx and, inside their groups, dragonflies";
        let nets = Subnets::of(graph).ok_or_else(|| wrong_shape("pal", needs, graph.shape()))?;
        nets.check("pal", "routing.pal")?;
        let groups = match graph.shape() {
            Shape::Dragonfly { .. } => Some(Groups::of(graph, "pal")?),
            _ => None,
        };
        let mut classes = vec![if groups.is_some() { 4 } else { 2 }; graph.class_names().len()];
        classes[0] = 1;
        if groups.is_some() {
            classes[2] = 1;
        }
        let threshold = super::threshold(self.threshold, "pal")?;
        Ok((Runtime { nets, groups, threshold, sensor: self.sensor }, classes))
    }
}

impl Runtime {
    #[inline(always)]
    pub(crate) fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop { port: packet.dst_port, class: 0 });
        }
        // the state of a link counts when the packet is at it
        self.leg(at, packet, seed).err()
    }

    /// The leg that the packet is on at `at` (not its destination), or the hop out of the group.
    #[inline(always)]
    pub(crate) fn leg(&self, at: u64, packet: &Packet, seed: u64) -> Result<Leg, Hop> {
        if let Some(groups) = &self.groups {
            return Self::leg_in_group(groups, at, packet, seed);
        }
        let d = Grid::first_difference(at, packet.dest).unwrap_or(0);
        let (own, to) = (Grid::coordinate(at, d), Grid::coordinate(packet.dest, d));
        Ok(Leg { d, own, to, number: d as u8 + 1, class: 0 })
    }

    fn leg_in_group(groups: &Groups, at: u64, packet: &Packet, seed: u64) -> Result<Leg, Hop> {
        let own = groups::index(at) as u8;
        if groups::group(at) == groups::group(packet.dest) {
            return Ok(Leg { d: 0, own, to: groups::index(packet.dest) as u8, number: 2, class: 2 });
        }
        let (router, port) = groups.gateway_to(groups::group(at), groups::group(packet.dest), packet, seed);
        if router == u16::from(own) {
            return Err(Hop { port, class: 0 });
        }
        Ok(Leg { d: 0, own, to: router as u8, number: 1, class: 0 })
    }

    #[inline(always)]
    pub(crate) fn head(&self, at: u64, queues: &impl Congestion, packet: &mut Packet, seed: u64) -> Hop {
        let Ok(leg) = self.leg(at, packet, seed) else { unreachable!("only members of a subnetwork choose") };
        let direct = self.direct(leg);
        let state = queues.state(direct.port);
        if packet.dim == leg.number {
            let alive = state == LinkState::On || state == LinkState::Shadow;
            return if alive { direct } else { self.over_hub(leg, queues, packet) };
        }
        packet.dim = leg.number;
        packet.flags &= !AROUND;
        let view = queues.view();
        let ways = view.between(&self.nets, leg.d, leg.own, leg.to);
        if ways == 0 {
            return direct;
        }
        let k = below(draw(seed, packet, 0x51 + leg.d as u64), ways.count_ones());
        let detour = self.over(leg, nth(ways, k));
        let minimal = match state {
            LinkState::On => {
                let cost = |hop: Hop, hops: u32, bias: i32| {
                    queues.weigh(hop, Cost { at, port: hop.port, hops, bias }, queues.read(self.sensor, hop.port))
                };
                cost(direct, 1, 0) <= cost(detour, 2, self.threshold)
            }
            LinkState::Shadow => queues.credits(detour) == 0,
            _ => false,
        };
        if minimal { direct } else { self.around(packet, detour) }
    }

    #[inline(always)]
    fn around(&self, packet: &mut Packet, hop: Hop) -> Hop {
        packet.flags |= DETOUR | AROUND;
        hop
    }

    /// The hub has links to all. Where a fault has cut one of them: over the next hub, else a lower member, so that hops of
    /// class 0 follow each other in a fixed order, else whoever is on a way. The direct hop, which can't be taken now, if
    /// there is none.
    #[inline(never)]
    fn over_hub(&self, leg: Leg, queues: &impl Congestion, packet: &mut Packet) -> Hop {
        let view = queues.view();
        let (hub, next) = (view.hub(leg.d), view.next_hub(leg.d));
        let ways = view.between(&self.nets, leg.d, leg.own, leg.to);
        let order = |c: u8| if c == next { (0, 0) } else { (1 + u8::from(c != hub), c) };
        let rank = |&c: &u8| (order(c) >= order(leg.own), c != hub, order(c));
        let way = (0..64).filter(|c| ways >> c & 1 != 0).min_by_key(rank);
        way.map_or(self.direct(leg), |c| self.around(packet, self.over(leg, c)))
    }

    #[inline(always)]
    fn direct(&self, leg: Leg) -> Hop {
        Hop { port: self.nets.port_to(leg.d, leg.own, leg.to), class: leg.class + 1 }
    }

    #[inline(always)]
    fn over(&self, leg: Leg, c: u8) -> Hop {
        Hop { port: self.nets.port_to(leg.d, leg.own, c), class: leg.class }
    }

    /// Whether the packet is at the first router of a leg.
    pub(crate) fn begins(&self, leg: Leg, packet: &Packet) -> bool {
        packet.dim != leg.number
    }

    /// The port of the direct link of a leg.
    pub(crate) fn direct_port(&self, leg: Leg) -> u8 {
        self.direct(leg).port
    }

    /// Whatever the states of the links: the direct hop and every detour, and from an intermediate also the way over hub 0.
    pub(super) fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let leg = match self.leg(at, packet, seed) {
            Ok(leg) => leg,
            Err(hop) => return vec![Step { hop, after: *packet, cost: None }],
        };
        let option = |hop: Hop, hops: u32, bias: i32, flags: u8| {
            let after = Packet { dim: leg.number, flags: packet.flags | flags, ..*packet };
            Step { hop, after, cost: Some(Cost { at, port: hop.port, hops, bias }) }
        };
        let direct = option(self.direct(leg), 1, 0, 0);
        if !self.begins(leg, packet) {
            // with all links active the first of these is taken
            let hub = (leg.own != 0 && leg.to != 0).then(|| option(self.over(leg, 0), 2, 0, 0));
            return std::iter::once(direct).chain(hub).collect();
        }
        let others = self.nets.others(leg.d, leg.own).filter(|&c| c != leg.to);
        let detours = others.map(|c| option(self.over(leg, c), 2, self.threshold, DETOUR));
        std::iter::once(direct).chain(detours).collect()
    }

    /// Rises with each hop of a packet: legs in order, and in each of them class 0, class 0 into hub 0, class 1.
    pub(super) fn rank(&self, at: u64, hop: Hop) -> u32 {
        let Some((d, to)) = self.nets.behind(hop.port, |d| self.nets.member(at, d)) else {
            return 3; // between groups: behind the classes of the first leg
        };
        let (leg, class) = if self.groups.is_some() { (hop.class / 2, hop.class % 2) } else { (d as u8, hop.class) };
        let step = if class == 1 { 2 } else { u32::from(to == 0) };
        4 * u32::from(leg) + step
    }
}

/// The bit number `k` of those that are set.
#[inline(always)]
fn nth(mut bits: u64, k: u32) -> u8 {
    for _ in 0..k {
        bits &= bits - 1;
    }
    bits.trailing_zeros() as u8
}
