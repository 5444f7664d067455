//! HyperX OFAR: adaptive routing in transit, at every router. If its minimal output is occupied, a head crosses another unaligned
//! dimension, or takes a detour in one. A dimension is unaligned if the packet is not at its destination's coordinate there. A ring of
//! channels to which blocked packets can escape prevents deadlock.
//!
//! # Source
//! The mechanism of M. Garcia et al., "Bubble Flow Control in High-Radix Hierarchical Networks" (OFAR), sections IV and V. The triggers are
//! those of the authors' simulator FOGSim, first version. The network and the detours are those of J. H. Ahn et al., "HyperX: Topology,
//! Routing, and Packaging of Efficient Large-Scale Networks", SC'09 (DAL). Bubble: C. Carrion et al., HiPC 1997. No paper has combined
//! these mechanisms: this combination is our choice.
//! # Parameters
//! `trigger`: condition under which a head looks for another output than its preferred one. `least_occupancy`: Th_min \[share of a
//! buffer\]. `most_occupancy`: Th_non-min (`relative`: \[share of the occupancy of the minimal output\], `fixed`: \[share of a buffer\]).
//! `occupancy`: the quantity that is compared with both thresholds. It is the number of `credits` in use, or the number of flits that are
//! `waiting`. `ring`: the escape ring (kind, `rings`, `directions`, `vcs`, `exits`, `from_sources`). `injection` (`bubble` \[packets\],
//! `escape_occupancy` \[share of a buffer\]): rule that keeps packets at their source while there is too little free space.
//! # Guarantees
//! At each router, a hash selects one of the unaligned dimensions, which the packet prefers. If its output there is occupied (`trigger`) or
//! has no space, the packet takes an open minimal hop in another dimension. If no such hop is open, and the occupancy of the preferred
//! output is at least Th_min, the packet takes a detour. A detour is a hop to another router of an unaligned dimension in which the packet
//! has not yet made a detour. The detour is drawn from the outputs that are open and have an occupancy of at most Th_non-min. If there is
//! no such output and no minimal output has space, the packet enters the ring or continues in it. A packet enters the ring from its source
//! only with `from_sources`. A packet takes at most one detour in each dimension. Therefore, before the first escape, it makes at most two
//! hops per dimension outside the ring. A packet that has left the ring `exits` times stays in the ring until its destination router. Every
//! run checks the resulting limit of hops (`most_hops`). All packets may use all VCs outside the ring, in any order. Every packet to
//! another router may escape to the ring. A ring always has a bubble (free space for a packet).
//!
//! A line is a set of routers that differ in one coordinate. If a power policy switches links of lines, minimal hops and detours use only
//! links that are on (`hyperx_ofar/by_links.rs`). If all direct links are off, a head takes a detour even without the condition `trigger`,
//! over a router with active links to both ends. Under such a policy, packets do not escape into a ring. They escape over the hub of each
//! line (the router with active links to all others), in the order of dimensions, in two separate VC classes. Therefore `ring` has no
//! effect, and `escape_occupancy` refers to the VCs of these escape hops. Paths have at most 3 links in each dimension, unless the hub
//! moves.
//!
//! Detours begin only when buffers on minimal paths are full. If minimal paths alone cannot carry the load, the latency is therefore at
//! least the time to empty a full buffer on a minimal path. At these loads, `dal` and `ugal_p` have a lower latency, because they compare
//! queues.
//! # Not modelled
//! The choice of the output VC with the most credits: in this model, VCs with space take turns. Thresholds for single VCs instead of whole
//! outputs. Trunks. Ring VCs only on the links of the ring: in this model, all links of a link class have them. They stay empty on links
//! outside the ring.
//! # Validation
//! `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest buffers cause no stall.
//! `engine/tests/escape_rings.rs` checks that packets keep arriving, and that the rings become empty in the end. `engine/tests/theory.rs`
//! checks that latency without contention is exact to the cycle. `engine/tests/bounds.rs` checks that the accepted load is at least half of
//! the theoretical bound with detours. `conformance/src/policy.rs` checks that no packet is lost under policies that switch links. The
//! tests in the folder `hyperx_ofar` follow packets through every possible hop, and check the limits of detours.
//! `engine/tests/models/hyperx_ofar.rs` checks that the accepted load is higher than with minimal routing under bit complement, and the
//! same as with minimal routing under uniform traffic. No test compares this routing with another simulator.

mod by_links;

use crate::routing::bounds::SharedBounds;
use crate::routing::in_transit::{InTransit, Injection, Keys, MostOccupancy, Occupancy, RingConfig, Trigger};
use crate::routing::on_grid::Grid;
use crate::routing::on_links::SwitchedLines;
use crate::routing::{
    Accepts, Classes, Cost, Decides, Example, Hop, HopNote, LinkKnowledge, Needs, Proof, Routing, RoutingModel, Step,
    View, below, hash, same_classes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::policy::Policy;
use weft_api::state::{DETOUR, Packet};
use weft_topology::{Graph, Ring};
use weft_units::Refusal;

/// HyperX OFAR: adaptive routing in transit, at every router. A head leaves its minimal path if the minimal output is occupied. A ring of
/// channels to which blocked packets can escape prevents deadlock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HyperXOfar {
    /// Condition under which a head looks for an output other than the minimal output that it prefers.
    #[serde(default = "unavailable")]
    pub trigger: Trigger,
    /// Th_min: a head looks for a detour only if the occupancy of its minimal output is at least this value, 0 to 1 [share of a buffer].
    #[serde(default)]
    pub least_occupancy: f64,
    /// Th_non-min: a head takes a detour only if the occupancy of the detour's first output is at most this value.
    #[serde(default)]
    pub most_occupancy: MostOccupancy,
    /// Definition of the occupancy of an output that is compared with both thresholds.
    #[serde(default)]
    pub occupancy: Occupancy,
    /// The escape ring, which prevents deadlock.
    #[serde(default)]
    pub ring: RingConfig,
    /// Rule that keeps packets at their source while there is too little free space.
    #[serde(default = "quarter_of_the_escape")]
    pub injection: Injection,
}

fn unavailable() -> Trigger {
    Trigger::Unavailable
}

/// The default rule for injection. Without a rule, the accepted load collapses beyond saturation, as the paper reports for few VCs. In
/// Weft, 4x4 routers with 4 terminals and 4 VCs of 16 flits were measured under bit complement at an offered load of 0.9. Without a rule,
/// the network accepts a load of 0.09. With `escape_occupancy`, it accepts 0.47, both with `most: 0` and with `most: 0.5`.
fn quarter_of_the_escape() -> Injection {
    Injection::EscapeOccupancy { most: 0.25 }
}

/// In the state of a packet, bit d of `phase` is 1 if the packet has made its detour in dimension d.
#[derive(Debug, Clone)]
pub struct Runtime {
    grid: Grid,
    /// For each dimension: difference between the indices of two routers whose coordinates in this dimension differ by 1.
    strides: [u32; 8],
    in_transit: InTransit,
    /// The VC classes if packets escape over hubs.
    by_hubs: Classes,
    lines: SwitchedLines,
}

/// Name of this routing in scenarios.
const NAME: &str = "hyperx_ofar";

impl RoutingModel for HyperXOfar {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids of 3 or more routers with a link between every two routers of a line";
    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Subnetworks, LinkKnowledge::Nothing];

    fn fits(graph: &Graph) -> bool {
        // the routing does not support trunks, because heads compare single links
        Grid::complete(graph).is_some() && graph.routers() > 2 && !graph.has_trunks()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let keys = Keys {
            trigger: self.trigger,
            least_occupancy: self.least_occupancy,
            most_occupancy: self.most_occupancy,
            occupancy: self.occupancy,
            ring: self.ring.clone(),
            injection: self.injection,
        };
        let single = |path: &str| Ring::disjoint(graph, 1, path).map(|rings| rings.into_iter().next().expect("a ring"));
        let in_transit = InTransit::of(keys, NAME, graph, single)?;
        let grid = Grid::complete(graph).expect("a graph that fits");
        let mut strides = [0; 8];
        let mut stride = 1;
        for (d, own) in strides.iter_mut().enumerate().take(usize::from(grid.dims)) {
            *own = stride;
            stride *= u32::from(grid.widths[d]);
        }
        let (by_hubs, lines) = (same_classes(graph, by_links::CLASSES), SwitchedLines::of(graph));
        Ok(Runtime { grid, strides, in_transit, by_hubs, lines })
    }

    fn examples() -> Vec<Example<Self>> {
        // In each dimension, all packets of a router go to the complement of the router's coordinate. Of its 3 links in this dimension, one
        // leads there. At load 1, the 16 routers with 4 terminals each send 4 x 16 flits per cycle in total. m <= 16 of these flits take a
        // direct link, and d flits take two of the 3 x 16 links of this dimension. Therefore m + 2 d <= 48, and m + d <= 32.
        const COMPLEMENT: &str = r#"{"bit_complement": {}}"#;
        let detours = Accepts::WithDetours(32.0 / 64.0);
        let example = |parameters: &str| Example::of(parameters).only_on(&[CUBE, SQUARE]);
        vec![
            Example::of("{}").bound_with_detours_around_one_neighbor().bound(SQUARE, COMPLEMENT, detours),
            Example::of(r#"{"ring": {"rings": 2, "directions": 1}}"#).only_on(&[SQUARE]),
            example(
                r#"{"most_occupancy": {"fixed": 0.5}, "occupancy": "waiting", "ring": {"exits": 0, "from_sources": true}}"#,
            ),
            example(r#"{"ring": {"vcs": 2}, "injection": {"bubble": {"packets": 1}}}"#),
            example(r#"{"trigger": "granted", "injection": {"free": {}}}"#),
        ]
    }
}

const SQUARE: &str = r#"{"hyperx": {"widths": [4, 4], "terminals_per_router": 4}}"#;
const CUBE: &str = r#"{"hyperx": {"widths": [3, 2, 3], "terminals_per_router": 2}}"#;

impl Runtime {
    /// Index of the router whose coordinates are `at`.
    #[inline(always)]
    fn router(&self, at: u64) -> usize {
        let dims = 0..usize::from(self.grid.dims);
        dims.map(|d| u32::from(Grid::coordinate(at, d)) * self.strides[d]).sum::<u32>() as usize
    }

    /// The minimal hop in dimension `d`.
    #[inline(always)]
    fn minimal_in(&self, at: u64, d: usize, packet: &Packet) -> Hop {
        Hop { port: self.grid.port_to(at, d, Grid::coordinate(packet.dest, d)), class: 0 }
    }

    /// The minimal hops to the destination router. The packet must be at another router.
    fn minimal(&self, at: u64, packet: &Packet) -> impl Iterator<Item = Hop> + use<'_> {
        let packet = *packet;
        self.grid.differences(at, packet.dest).map(move |d| self.minimal_in(at, d, &packet))
    }

    /// The minimal hop that a packet prefers. A hash selects it, so that it stays the same while the packet is at router `at`.
    #[inline(always)]
    fn preferred(&self, at: u64, packet: &Packet) -> Hop {
        // one bit for each dimension in which the coordinates differ
        let mut differ = at ^ packet.dest;
        differ |= differ >> 4;
        differ |= differ >> 2;
        differ |= differ >> 1;
        self.preferred_of(at, packet, differ & 0x0101_0101_0101_0101)
    }

    /// The minimal hop that the packet prefers among the dimensions whose bits are set in `differ` (bit 8 d for dimension d).
    #[inline(always)]
    fn preferred_of(&self, at: u64, packet: &Packet, mut differ: u64) -> Hop {
        let random = hash(0, packet.src, packet.seq, 0x0fa3);
        (0..below(random, differ.count_ones())).for_each(|_| differ &= differ - 1);
        self.minimal_in(at, differ.trailing_zeros() as usize / 8, packet)
    }

    /// The first hops of all detours that the packet may still make: to other routers of unaligned dimensions.
    fn detours(&self, at: u64, packet: &Packet) -> impl Iterator<Item = Hop> + use<'_> {
        let Packet { dest, phase, .. } = *packet;
        let allowed = self.grid.differences(at, dest).filter(move |d| phase >> d & 1 == 0);
        allowed.flat_map(move |d| {
            let taken = [Grid::coordinate(at, d), Grid::coordinate(dest, d)];
            let others = (0..self.grid.widths[d]).filter(move |c| !taken.contains(c));
            others.map(move |c| Hop { port: self.grid.port_to(at, d, c), class: 0 })
        })
    }

    /// The hop that a head requests, without regard to the injection rule, which can keep the packet at its source.
    #[inline(always)]
    fn wish<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, turn: u32) -> Hop {
        let preferred = self.preferred(at, packet);
        let looks = self.in_transit.looks(here, preferred);
        if !looks && here.has_room(preferred) {
            return self.in_transit.takes_minimal(here, preferred);
        }
        self.another(at, here, packet, turn, (preferred, looks))
    }

    /// Returns another minimal hop, if one is open. Otherwise returns an open detour, if the head looks for one. Otherwise returns a hop
    /// into the ring, if no minimal hop has space. The last choices are a hop over a link that is off (`to_wake`), and the preferred
    /// minimal hop.
    #[inline(never)]
    fn another<Q: View + ?Sized>(
        &self,
        at: u64,
        here: &Q,
        packet: &Packet,
        turn: u32,
        (preferred, looks): (Hop, bool),
    ) -> Hop {
        let random = hash(u64::from(turn), packet.src, packet.seq, 0x0fa2);
        let others = self.minimal(at, packet).filter(|&hop| hop != preferred);
        if let Some(hop) = self.in_transit.pick(here, others, 1.0, random) {
            return hop;
        }
        if looks
            && let Some(most) = self.in_transit.most_occupancy(self.in_transit.occupancy(here, preferred))
            && let Some(hop) = self.in_transit.pick(here, self.detours(at, packet), most, random)
        {
            return hop;
        }
        let with_room = self.minimal(at, packet).find(|&hop| self.in_transit.has_room(here, hop));
        let routers = || (self.router(at), self.router(packet.dest));
        let is_stuck = with_room.is_none();
        let escape = is_stuck.then(|| self.in_transit.escape(routers(), here, packet, random)).flatten();
        escape.unwrap_or_else(|| self.to_wake(at, here, packet, preferred).unwrap_or(preferred))
    }

    /// Returns a hop over a link that is off, if the preferred output has no space. A link that is off wakes only if a head requests it.
    /// The hop begins a detour only if the preferred output is broken.
    fn to_wake<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, preferred: Hop) -> Option<Hop> {
        let sleeps = |hop: &Hop| !here.is_on(hop.port) && here.has_room(*hop);
        if self.in_transit.has_room(here, preferred) {
            return None;
        }
        let detours = || self.detours(at, packet).find(sleeps).filter(|_| here.is_broken(preferred.port));
        self.minimal(at, packet).find(sleeps).or_else(detours)
    }

    /// Every hop that a packet may take at router `at`. The router must not be its destination router. Each hop has a flag: true if it is
    /// minimal. Minimal hops come first.
    fn possible(&self, at: u64, packet: &Packet) -> Vec<(Hop, bool)> {
        let escapes = self.in_transit.escapes(self.router(at), self.router(packet.dest), packet);
        let escapes = escapes.into_iter().map(|hop| (hop, false));
        if self.in_transit.stays_in_ring(packet) {
            return escapes.collect();
        }
        let minimal = self.minimal(at, packet).map(|hop| (hop, true));
        minimal.chain(self.detours(at, packet).map(|hop| (hop, false))).chain(escapes).collect()
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        let (classes, ring_entries) = match self.lines.get() {
            Some(_) => (self.by_hubs.clone(), Vec::new()),
            None => self.in_transit.classes(),
        };
        Needs {
            classes,
            ring_entries,
            free_beside_first: self.in_transit.free_beside_first(),
            waits_for_room: self.in_transit.waits_for_room(),
            decides: Decides::EachStep,
            remembers: true,
            sees_grants: true,
            sensor: self.in_transit.sensor(),
            ..Needs::default()
        }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        (at == packet.dest).then_some(Hop::to_terminal(packet))
    }

    #[inline(always)]
    fn each_step<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, turn: u32) -> Option<Hop> {
        if let Some(lines) = self.lines.get() {
            return self.step_by_links(lines, (at, here), packet, turn);
        }
        if self.in_transit.stays_in_ring(packet) {
            return Some(self.in_transit.rings.onward(self.router(at), packet));
        }
        let hop = self.wish(at, here, packet, turn);
        self.in_transit.may_take(self.router(at), here, packet, hop).then_some(hop)
    }

    fn taken(&self, at: u64, packet: &mut Packet, hop: Hop) {
        if at == packet.dest {
            return; // the packet is at its destination router: the hop leads to the terminal
        }
        if let Some(lines) = self.lines.get() {
            return self.takes_by_links(lines, at, packet, hop);
        }
        if self.in_transit.taken(self.router(at), packet, hop).is_none()
            && !self.minimal(at, packet).any(|minimal| minimal.port == hop.port)
        {
            let begins = |&d: &usize| self.grid.widths[d] > 1 && self.grid.ports[d] <= hop.port;
            let d = (0..usize::from(self.grid.dims)).rev().find(begins).expect("a port of some dimension");
            packet.phase |= 1 << d;
            packet.flags |= DETOUR;
        }
    }

    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        if let Some(lines) = self.lines.get() {
            return self.steps_by_links(lines, at, packet);
        }
        let left = self.grid.differences(at, packet.dest).count() as u32;
        let cost = |hop: Hop, minimal: bool| Cost { at, port: hop.port, hops: left + u32::from(!minimal), bias: 0 };
        let step = |(hop, minimal)| Step { hop, after: *packet, cost: Some(cost(hop, minimal)) };
        self.possible(at, packet).into_iter().map(step).collect()
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut steps = self.steps(at, packet, seed);
        let first = match self.lines.get() {
            Some(_) => {
                let hops = |step: &Step| step.cost.map(|cost| cost.hops);
                let least = steps.first().and_then(hops);
                steps.iter().take_while(|step| hops(step) == least).count()
            }
            None => self.minimal(at, packet).count().max(1),
        };
        steps.truncate(first);
        steps
    }

    fn proof(&self) -> Proof<'_> {
        if self.lines.are_there() { Proof::Escapes } else { self.in_transit.proof() }
    }

    fn escape(&self, at: u64, to: u64) -> Option<Hop> {
        self.lines.get().and_then(|_| self.escape_over(at, to, |_| 0))
    }

    fn draws_ties(&self) -> bool {
        true
    }

    /// The limit is the sum of two parts. The first part is `InTransit::most_hops` with one hop per dimension in each stay outside of
    /// rings. The second part is one hop for each dimension in which a detour is possible. A packet makes only one detour per dimension on
    /// its whole path. There is no limit if a hub can move.
    fn most_hops(&self) -> Option<u32> {
        if self.lines.are_there() {
            return None;
        }
        let wider = |than: u8| self.grid.widths.iter().filter(|&&width| width > than).count() as u32;
        Some(self.in_transit.most_hops(wider(1)) + wider(2))
    }

    // ---- links that are switched ----------------------------------------------------------------------------------------

    fn go_by(&mut self, links: LinkKnowledge) {
        self.lines.go_by(links);
    }

    fn tells(&self, at: u64, packet: &Packet, hop: Hop) -> HopNote {
        self.lines.get().map_or(HopNote::Nothing, |lines| self.tells_by_links(lines, at, packet, hop))
    }

    fn assume_first_links(&mut self, policy: &Arc<dyn Policy>, managed: &[bool]) {
        self.lines.assume_first(policy, managed);
    }

    fn assume_all_links(&mut self) -> bool {
        self.lines.assume_all()
    }
}

#[cfg(test)]
mod tests;
