//! DAL: dimensionally adaptive, load-balanced routing of a HyperX. At each hop, a packet may cross any unaligned dimension. A dimension is
//! unaligned if the packet is not at its destination's coordinate there. A packet may take at most one detour in each dimension.
//!
//! # Source
//! J. H. Ahn, N. Binkert, A. Davis, M. McLaren, R. S. Schreiber, "HyperX: Topology, Routing, and Packaging of Efficient
//! Large-Scale Networks", SC'09.
//! # Parameters
//! `threshold`: T \[flits\], bias towards minimal hops. `sensor`: definition of q, the queue of an output.
//! # Guarantees
//! There are two kinds of candidates. The first is the minimal hop in every unaligned dimension. The second, in every unaligned dimension
//! in which the packet has not taken a detour, is a hop to one random router (a detour). The candidate with the lowest cost q * (remaining
//! hops) wins. For a detour, T is added to the cost. Among minimal hops of equal cost, a hash decides. A packet makes at most two hops in
//! each dimension. The VC class of a hop is its index in the path. The class rises with each hop. Therefore the dependencies between
//! channels have no cycle, and the routing needs one class for each hop of the longest path.
//!
//! A line is a set of routers that differ in one coordinate. If a power policy switches links of lines (TCEP, Section IV-E), a minimal hop
//! is a candidate only if the direct link is on. A detour then leads over a router of the line, which is drawn from the routers with active
//! links to both ends. A detour has no bias if the direct link is off. If the direct link is a shadow link and the detour has no credit,
//! the packet takes the direct link, which becomes active again. A packet finishes its detour before it crosses another dimension. If the
//! second link of the detour goes off before that, the packet goes over the hub of the line (the router with active links to all others).
//! Therefore a dimension of 3 or more routers needs 3 VC classes. If another router becomes the hub while a packet is on its way there, the
//! packet can take further hops, all in the last VC class.
//! # Not modelled
//! The escape layer, which the paper permits as an alternative to VC classes by hop.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/paths.rs` checks that the paths of `dal` are exactly the paths with at most one detour per
//! dimension. `engine/tests/bounds.rs` checks that the accepted load is at least half of the theoretical bound with detours.
//! `conformance/src/policy.rs` checks that no packet is lost under policies that switch links. No test compares this routing with another
//! simulator.

mod by_links;

use crate::routing::bounds::SharedBounds;
use crate::routing::on_grid::Grid;
use crate::routing::on_links::SwitchedLines;
use crate::routing::{
    Classes, Cost, Decides, Example, Hop, LinkKnowledge, Needs, Proof, Routing, RoutingModel, Sensor, Step, View,
    below, draw, same_classes, threshold, weigh,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::policy::Policy;
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::{Flits, Refusal};

/// DAL: at each hop, a packet may cross any unaligned dimension of a HyperX, with at most one detour in each dimension.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dal {
    /// Bias T towards minimal hops.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
}

/// The default threshold is our choice: a queue that is two flits longer on the minimal path does not justify a detour.
fn two() -> Flits {
    Flits(2)
}

/// The default sensor does not count flits in flight as a queue. With `used_credits`, packets would leave minimal paths even if no flit
/// waits on these paths.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

/// In a packet's state, `dim` is a bit mask of the dimensions in which the packet has taken a detour. `lane` is the number of hops that it
/// has made.
#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    /// Number of VC classes of each link between routers. It equals the largest number of hops of a packet.
    hops: u8,
    grid: Grid,
    threshold: i32,
    sensor: Sensor,
    lines: SwitchedLines,
}

impl RoutingModel for Dal {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids with a link between every two routers of a line";

    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Subnetworks, LinkKnowledge::Nothing];

    fn fits(graph: &Graph) -> bool {
        Grid::complete(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::complete(graph).expect("a graph that fits");
        // a packet makes at most two hops in a dimension, and one hop if the dimension has only two routers
        let hops = most_hops(&grid, 2);
        let (classes, threshold) = (same_classes(graph, hops), threshold(self.threshold, "dal")?);
        let lines = SwitchedLines::of(graph);
        Ok(Runtime { classes, hops, grid, threshold, sensor: self.sensor, lines })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").bound_with_detours_around_one_neighbor()]
    }
}

/// Largest number of hops of a packet. `in_each`: largest number of hops in a dimension of 3 or more routers, in which detours are
/// possible. Returns at least 1.
fn most_hops(grid: &Grid, in_each: u8) -> u8 {
    grid.widths.iter().map(|&width| if width > 2 { in_each } else { width - 1 }).sum::<u8>().max(1)
}

impl Runtime {
    fn take(&self, packet: &mut Packet, detour: u8) {
        packet.lane += 1;
        packet.dim |= detour;
        packet.flags |= if detour > 0 { DETOUR } else { 0 };
    }

    /// True if the packet may take a detour in dimension `d`.
    #[inline(always)]
    fn may_leave(&self, d: usize, packet: &Packet) -> bool {
        packet.dim >> d & 1 == 0 && self.grid.widths[d] > 2
    }

    /// A random coordinate in dimension `d`, different from those of the router and of the destination.
    #[inline(always)]
    fn other(&self, at: u64, d: usize, packet: &Packet, seed: u64) -> u8 {
        let (own, to) = (Grid::coordinate(at, d), Grid::coordinate(packet.dest, d));
        let salt = 0x51 + d as u64 + 8 * u64::from(packet.lane);
        let mut c = below(draw(seed, packet, salt), u32::from(self.grid.widths[d]) - 2) as u8;
        c += u8::from(c >= own.min(to));
        c += u8::from(c >= own.max(to));
        c
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), decides: Decides::AtHead, sensor: Some(self.sensor), ..Needs::default() }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        (at == packet.dest).then_some(Hop::to_terminal(packet))
    }

    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        if let Some(lines) = self.lines.get() {
            return self.choose_by_links(lines, (at, here), packet, seed);
        }
        let hops = self.grid.differences(at, packet.dest).count() as u32;
        let cost = |port: u16, hops: u32, bias: i32| weigh(here, at, Hop { port, class: packet.lane }, hops, bias);
        let first = draw(seed, packet, 0x3d + u64::from(packet.lane));
        // the candidate with the lowest tuple wins: (cost, 1 for a detour, position of the dimension in a random order)
        let mut best = ((i32::MAX, 1, 0), 0, 0);
        for (place, d) in self.grid.differences(at, packet.dest).enumerate() {
            let turn = (place as u32 + below(first, hops)) % hops;
            let minimal = self.grid.port_to(at, d, Grid::coordinate(packet.dest, d));
            best = best.min(((cost(minimal, hops, 0), 0, turn), minimal, 0));
            if self.may_leave(d, packet) {
                let port = self.grid.port_to(at, d, self.other(at, d, packet, seed));
                best = best.min(((cost(port, hops + 1, self.threshold), 1, turn), port, 1 << d));
            }
        }
        let (_, port, detour) = best;
        let class = packet.lane;
        self.take(packet, detour);
        Hop { port, class }
    }

    /// The possible next hops of the packet: every minimal hop, and then every detour.
    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        if let Some(lines) = self.lines.get() {
            return self.steps_by_links(lines, at, packet);
        }
        let hops = self.grid.differences(at, packet.dest).count() as u32;
        let choice = |port: u16, hops: u32, bias: i32, detour: u8| {
            let mut after = *packet;
            self.take(&mut after, detour);
            Step { hop: Hop { port, class: packet.lane }, after, cost: Some(Cost { at, port, hops, bias }) }
        };
        let to = |d| self.grid.port_to(at, d, Grid::coordinate(packet.dest, d));
        let minimal = self.grid.differences(at, packet.dest).map(|d| choice(to(d), hops, 0, 0));
        let detours = self.grid.differences(at, packet.dest).filter(|&d| self.may_leave(d, packet)).flat_map(|d| {
            let taken = [Grid::coordinate(at, d), Grid::coordinate(packet.dest, d)];
            let others = (0..self.grid.widths[d]).filter(move |c| !taken.contains(c));
            others.map(move |c| choice(self.grid.port_to(at, d, c), hops + 1, self.threshold, 1 << d))
        });
        minimal.chain(detours).collect()
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    fn draws_ties(&self) -> bool {
        true
    }

    // ---- links that are switched ----------------------------------------------------------------------------------------

    fn go_by(&mut self, links: LinkKnowledge) {
        if self.lines.go_by(links) {
            self.hops = most_hops(&self.grid, 3);
            self.classes[1..].fill(self.hops);
        }
    }

    fn assume_first_links(&mut self, policy: &Arc<dyn Policy>, managed: &[bool]) {
        self.lines.assume_first(policy, managed);
    }

    fn assume_all_links(&mut self) -> bool {
        self.lines.assume_all()
    }
}
