//! Minimal adaptive routing on grids: at every hop a packet may take any minimal direction. Separate escape VCs, on
//! which packets follow dimension order, prevent deadlock.
//!
//! # Source
//! J. Duato, "A New Theory of Deadlock-Free Adaptive Routing in Wormhole Networks", IEEE TPDS 4(12), 1993. The form
//! with two adaptive and two escape VCs and virtual cut-through is that of BlueGene/L (Adiga et al., IBM J. R&D
//! 49(2/3), 2005) and of F. J. Andujar et al., "Energy efficient torus networks with aggregated links", JPDC 2019.
//! # Parameters
//! `leave_escape`: whether a packet on an escape VC may return to adaptive VCs.
//! # Guarantees
//! Paths are minimal. The first VC classes are those of the escape path, the last one is adaptive. On a torus the escape path has two
//! classes. If the path to the destination's coordinate crosses the wrap link, class 0 is for the hops up to and including that link. Class
//! 1 is for all other hops. In every allocation step a head chooses its output again. It requests the open adaptive VC with the most
//! credits, or the escape hop if no adaptive VC is open. If several VCs have the most credits, a hash of the cycle chooses one. The escape
//! path follows dimension order. At every router a packet has an escape hop, and the dependencies between escape channels have no cycle. If
//! the destination is half way round a ring, both directions are minimal. In this case the escape path uses the direction without the wrap
//! link.
//!
//! A line is a set of routers of a HyperX that differ in one coordinate. Under a power policy that switches links of lines, adaptive hops
//! use the direct links that are on. If all direct links are dark, a packet may take a detour over a router with active links to both ends,
//! once in each dimension. If no detour is open, the packet takes a shadow link, which becomes active again. The escape path crosses
//! dimensions in order, leads over the hub of each line, and needs one more VC class. (The hub is the router with active links to all
//! others.) Under such a policy, paths are not always minimal: they have at most 3 links in each dimension, as long as the hub does not
//! move.
//! # Not modelled
//! A choice by the credits of routers further along the path. Weft refuses this routing with wormhole flow control if packets have several
//! flits.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/choosing.rs` checks that packets use outputs with equal credits equally often, and that a trunk
//! carries as much as its links together. `engine/tests/bounds.rs` checks that throughput reaches its theoretical bound under tornado
//! traffic, and that uniform traffic is limited by cuts of the network. `conformance/src/policy.rs` checks that no packet is lost under
//! policies that switch links. No test compares this routing with another simulator.

mod by_links;

use crate::routing::best::Best;
use crate::routing::bounds::SharedBounds;
use crate::routing::on_grid::{Grid, Line};
use crate::routing::on_links::SwitchedLines;
use crate::routing::{
    Classes, Cost, Decides, Example, Hop, HopNote, LinkKnowledge, Needs, Proof, Routing, RoutingModel, Step, View,
    same_classes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::policy::Policy;
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// Minimal adaptive routing on grids: at every hop a packet may take any minimal direction. Separate escape VCs, on
/// which packets follow dimension order, prevent deadlock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinimalAdaptive {
    /// Whether a packet on an escape VC may return to adaptive VCs.
    #[serde(default = "yes")]
    pub leave_escape: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    grid: Grid,
    /// Index of the adaptive VC class. Lower classes belong to the escape path.
    adaptive: u8,
    leave_escape: bool,
    /// Table of minimal ports, indexed by dimension, own coordinate and destination coordinate. An entry has one bit
    /// for each port that begins a minimal path.
    ways: Vec<u128>,
    /// For each dimension: index of its first entry in `ways`, and width of the dimension [routers]. Empty if a router has more ports than
    /// an entry of `ways` has bits.
    ways_of: Vec<(u32, u32)>,
    lines: SwitchedLines,
}

impl RoutingModel for MinimalAdaptive {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids in which all lines have the same form (ring, row or full mesh)";

    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Subnetworks, LinkKnowledge::Nothing];

    fn fits(graph: &Graph) -> bool {
        Grid::of(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let grid = Grid::of(graph).expect("a graph that fits");
        let adaptive = if grid.line == Line::Ring { 2 } else { 1 };
        let (mut ways, mut ways_of) = (Vec::new(), Vec::new());
        let all = if grid.end_of_ports() <= u128::BITS { usize::from(grid.dims) } else { 0 };
        for d in 0..all {
            let width = grid.widths[d];
            ways_of.push((ways.len() as u32, u32::from(width)));
            for (own, to) in (0..width).flat_map(|own| (0..width).map(move |to| (own, to))) {
                let ports = minimal_ports(&grid, d, own, to).fold(0, |ports, port| ports | 1 << port);
                ways.push(if own == to { 0 } else { ports });
            }
        }
        let classes = same_classes(graph, adaptive + 1);
        let (leave_escape, lines) = (self.leave_escape, SwitchedLines::of(graph));
        Ok(Runtime { classes, grid, adaptive, leave_escape, ways, ways_of, lines })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").bound_by_tornado_on_a_ring(), Example::of(r#"{"leave_escape": false}"#)]
    }
}

impl Runtime {
    #[inline(never)]
    fn last_resort(&self, at: u64, packet: &Packet, here: &(impl View + ?Sized), turn: u32) -> Hop {
        let last = self.escape(at, packet.dest).unwrap_or(Hop::to_terminal(packet));
        here.best_or_fallback(last, turn)
    }

    /// True if a router has more ports than the bit mask of [`Routing::candidates`] has bits.
    #[inline(always)]
    fn is_wide(&self) -> bool {
        self.ways_of.is_empty()
    }

    /// Returns the adaptive hops of a packet on a grid whose routers have too many ports for a bit mask.
    fn wide_hops(&self, at: u64, packet: &Packet) -> impl Iterator<Item = Hop> + use<'_> {
        let (to, class) = (packet.dest, self.adaptive);
        let differences = self.grid.differences(at, to).filter({
            let must_stay = self.must_stay(packet);
            move |_| !must_stay
        });
        let ports = move |d: usize| minimal_ports(&self.grid, d, Grid::coordinate(at, d), Grid::coordinate(to, d));
        differences.flat_map(ports).map(move |port| Hop { port, class })
    }

    /// True if the packet must stay on escape VCs, because its last hop was on an escape VC (`Packet::lane`) and `leave_escape` is false.
    #[inline(always)]
    fn must_stay(&self, packet: &Packet) -> bool {
        !self.leave_escape && packet.lane == ON_ESCAPE
    }
}

/// The ports of dimension `d` that begin a minimal path from coordinate `own` to another coordinate.
fn minimal_ports(grid: &Grid, d: usize, own: u8, to: u8) -> impl Iterator<Item = u16> {
    let ports = match grid.line {
        Line::Complete => [Some(grid.port_to(u64::from(own) << (8 * d), d, to)), None],
        Line::Ring | Line::Row => {
            let (up, down) = grid.ways(own, to, d);
            [up.then(|| grid.port_along(d, true)), down.then(|| grid.port_along(d, false))]
        }
    };
    ports.into_iter().flatten()
}

/// Returns the hop on VC class `class` for each port whose bit is set in `ports`.
fn hops(mut ports: u128, class: u8) -> impl Iterator<Item = Hop> {
    std::iter::from_fn(move || {
        let port = (ports != 0).then_some(ports.trailing_zeros() as u16)?;
        ports &= ports - 1;
        Some(Hop { port, class })
    })
}

/// Value of `Packet::lane` after a hop on an escape VC.
const ON_ESCAPE: u8 = 1;

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs {
            classes: self.classes.clone(),
            decides: Decides::EachStep,
            remembers: !self.leave_escape || self.lines.are_there(),
            // if a policy switches links, the candidate ports also depend on the states of links
            compares_credits_of: (!self.lines.are_there() && !self.is_wide()).then_some(self.adaptive),
            ..Needs::default()
        }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        (at == packet.dest).then_some(Hop::to_terminal(packet))
    }

    /// Returns the open adaptive candidate with the most credits, or the escape hop if no candidate is open. If the escape
    /// hop is also closed, the head still requests it, because the request wakes a sleeping link.
    #[inline(always)]
    fn each_step<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, turn: u32) -> Option<Hop> {
        if let Some(lines) = self.lines.get() {
            return Some(self.step_by_links(lines, (at, here), packet, turn));
        }
        let mut best = Best::default();
        if self.is_wide() {
            self.wide_hops(at, packet).for_each(|hop| best.offer(hop, here, turn));
        } else {
            hops(self.candidates(at, packet), self.adaptive).for_each(|hop| best.offer(hop, here, turn));
        }
        best.hop().or_else(|| Some(self.last_resort(at, packet, here, turn)))
    }

    /// Returns the minimal ports as a bit mask; the mask is empty if the packet must stay on escape VCs.
    #[inline(always)]
    fn candidates(&self, at: u64, packet: &Packet) -> u128 {
        if self.must_stay(packet) {
            return 0;
        }
        let (mut own, mut to, mut ports) = (at, packet.dest, 0);
        // the loop visits aligned dimensions as well, because skipping them takes more instructions
        for &(first, width) in &self.ways_of {
            ports |= self.ways[(first + (own as u8 as u32) * width + (to as u8 as u32)) as usize];
            (own, to) = (own >> 8, to >> 8);
        }
        ports
    }

    fn taken(&self, at: u64, packet: &mut Packet, hop: Hop) {
        if let Some(lines) = self.lines.get() {
            return self.takes_by_links(lines, at, packet, hop);
        }
        if !self.leave_escape {
            packet.lane = if hop.class < self.adaptive { ON_ESCAPE } else { 0 };
        }
    }

    /// Lists every adaptive hop, and then the escape hop.
    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        let Some(escape) = self.escape(at, packet.dest) else { return vec![Step::deliver(packet)] };
        if let Some(lines) = self.lines.get() {
            return self.steps_by_links(lines, at, packet);
        }
        let step = |hop: Hop| Step { hop, after: *packet, cost: Some(Cost { at, port: hop.port, hops: 1, bias: 0 }) };
        let wide = self.is_wide().then(|| self.wide_hops(at, packet)).into_iter().flatten();
        hops(self.candidates(at, packet), self.adaptive).chain(wide).chain([escape]).map(step).collect()
    }

    fn proof(&self) -> Proof<'_> {
        Proof::Escapes
    }

    fn draws_ties(&self) -> bool {
        true
    }

    fn is_minimal(&self) -> bool {
        !self.lines.are_there()
    }

    /// Returns the next hop in dimension order on the escape VCs; `None` at the destination.
    fn escape(&self, at: u64, to: u64) -> Option<Hop> {
        if self.lines.are_there() {
            return self.escape_over(at, to, |_| 0);
        }
        let d = Grid::first_difference(at, to)?;
        let (own, c) = (Grid::coordinate(at, d), Grid::coordinate(to, d));
        if self.grid.line == Line::Complete {
            return Some(Hop { port: self.grid.port_to(at, d, c), class: 0 });
        }
        let up = self.grid.goes_up(at, to, d, || c > own);
        let wraps = up == (c < own);
        Some(Hop { port: self.grid.port_along(d, up), class: u8::from(self.adaptive == 2 && !wraps) })
    }

    // ---- links that are switched ----------------------------------------------------------------------------------------

    fn go_by(&mut self, links: LinkKnowledge) {
        if self.lines.go_by(links) {
            self.adaptive = by_links::ADAPTIVE;
            self.classes[1..].fill(self.adaptive + 1);
        }
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
