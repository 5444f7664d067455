//! Minimal adaptive routing on grids: at every hop any minimal direction, with dimension order as the escape.
//!
//! # Source
//! J. Duato, "A New Theory of Deadlock-Free Adaptive Routing in Wormhole Networks", IEEE TPDS 4(12), 1993; as used by
//! BlueGene/L (Adiga et al., IBM J. R&D 49(2/3), 2005) and by F. J. Andujar et al., "Energy efficient torus networks
//! with aggregated links", JPDC 2019: two adaptive and two escape VCs, virtual cut-through.
//! # Parameters
//! leave_escape: whether a packet that took an escape VC may go back to adaptive ones.
//! # Guarantees
//! Minimal paths. VC classes: escape (on a torus two, 0 while the way to the destination's coordinate still crosses the
//! wrap link, then 1), then one adaptive class. A head asks again in every allocation step: for the open adaptive VC with
//! the most credits, ties in turn; else for the escape. The escape, dimension order, is offered at every hop and acyclic.
//! Half way round a ring both directions are minimal; the escape takes the one without the wrap link.
//! # Not modelled
//! Credits of routers further ahead. Worms that leave the escape (they could deadlock: refused).

use super::{Choice, Classes, Hop, grid::Grid, grid::Line};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::Graph;
use weft_units::Refusal;

/// Minimal adaptive routing on grids: at every hop any minimal direction, with dimension order as the escape.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MinimalAdaptive {
    /// Whether a packet that took an escape VC may go back to adaptive ones.
    #[serde(default = "yes")]
    pub leave_escape: bool,
}

fn yes() -> bool {
    true
}

#[derive(Debug, Clone)]
pub struct Runtime {
    grid: Grid,
    /// VC class of the adaptive VCs; those below are escapes.
    adaptive: u8,
    pub(super) leave_escape: bool,
}

impl MinimalAdaptive {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let grid = Grid::of(graph, "minimal_adaptive")?;
        let adaptive = if grid.line == Line::Ring { 2 } else { 1 };
        let mut classes = vec![adaptive + 1; graph.class_names().len()];
        classes[0] = 1;
        Ok((Runtime { grid, adaptive, leave_escape: self.leave_escape }, classes))
    }
}

impl Runtime {
    #[inline(always)]
    pub(crate) fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        (at == packet.dest).then_some(Hop { port: packet.dst_port, class: 0 })
    }

    /// What a packet at `at` may ask for; `arrived` gives the VC class it came on, if it came from a router.
    #[inline(always)]
    pub(crate) fn choice(&self, at: u64, packet: &Packet, arrived: impl FnOnce() -> Option<u8>) -> Choice {
        let to = packet.dest;
        let mut choice = Choice::default();
        choice.escape = Grid::first_difference(at, to).map(|d| self.escape(at, to, d));
        if !self.leave_escape && arrived().is_some_and(|class| class < self.adaptive) {
            return choice;
        }
        let mut differ = at ^ to;
        while differ != 0 {
            let d = (differ.trailing_zeros() / 8) as usize;
            differ &= !(0xff << (8 * d));
            let (own, c) = (Grid::coordinate(at, d), Grid::coordinate(to, d));
            if self.grid.line == Line::Complete {
                choice.push(Hop { port: self.grid.port_to(at, d, c), class: self.adaptive });
                continue;
            }
            let (up, down) = self.grid.ways(own, c, d);
            for (minimal, way) in [(up, true), (down, false)] {
                if minimal {
                    choice.push(Hop { port: self.grid.port_along(d, way), class: self.adaptive });
                }
            }
        }
        choice
    }

    /// The hop in dimension order on the escape VCs.
    #[inline(always)]
    fn escape(&self, at: u64, to: u64, d: usize) -> Hop {
        let (own, c) = (Grid::coordinate(at, d), Grid::coordinate(to, d));
        if self.grid.line == Line::Complete {
            return Hop { port: self.grid.port_to(at, d, c), class: 0 };
        }
        let up = self.grid.goes_up(at, to, d, || c > own);
        let wraps = up == (c < own);
        Hop { port: self.grid.port_along(d, up), class: u8::from(self.adaptive == 2 && !wraps) }
    }
}
