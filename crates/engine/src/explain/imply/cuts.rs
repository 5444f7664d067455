//! Bounds on the load for routings that choose among minimal paths on a grid. A cut is the set of all channels that lead from one
//! coordinate of a dimension to another. A packet crosses the same cuts on every minimal path: in each dimension, the cuts between the
//! coordinates of its source and its destination. In the best case the channels of a cut share the cut's load evenly.

use weft_api::state::rate::Rate;
use weft_models::routing::on_grid::{Grid, Line};
use weft_topology::Graph;

/// The loads of all cuts of a grid. A cut is the set of channels in one dimension and direction that leave all routers with the same
/// coordinate in that dimension.
#[derive(Clone)]
pub(super) struct Cuts {
    grid: Grid,
    /// For each dimension, the class of its links.
    classes: Vec<u8>,
    /// For each link class, the number of parallel links between two routers.
    trunk_widths: Vec<u32>,
    /// For each cut (by [`index`]), the load of the packets that must cross it.
    forced: Vec<f64>,
    /// For each cut, the load of packets that go exactly half way round a ring. These packets cross either this cut upward, or the opposite
    /// cut (half way round the ring) downward.
    either: Vec<f64>,
}

/// Index of the cut of the channels that leave coordinate `own` in dimension `d`. `way`: on a fully connected line, the coordinate to which
/// the channels lead; otherwise 1 for up and 0 for down.
fn index(d: usize, own: u8, way: u8) -> usize {
    d << 16 | usize::from(own) << 8 | usize::from(way)
}

impl Cuts {
    /// Makes the cuts of a grid, without load; `None` if the graph is not a grid.
    pub fn of(graph: &Graph) -> Option<Self> {
        let grid = Grid::of(graph)?;
        let places = usize::from(grid.dims) << 16;
        let classes: Vec<u8> =
            graph.structure().grid.iter().flat_map(|grid| &grid.dimensions).map(|d| d.class).collect();
        let trunk_widths = (0..graph.class_names().len()).map(|class| graph.trunk_width(class as u8)).collect();
        Some(Self { grid, classes, trunk_widths, forced: vec![0.0; places], either: vec![0.0; places] })
    }

    /// Adds the traffic between two routers to the loads of the cuts that it crosses. Calls `links` for each dimension that differs, with
    /// its link class and the number of links to cross.
    pub fn cross(&mut self, from: u64, to: u64, rate: f64, mut links: impl FnMut(u8, u32)) {
        for d in self.grid.differences(from, to) {
            let (mut own, c) = (Grid::coordinate(from, d), Grid::coordinate(to, d));
            if self.grid.line == Line::Complete {
                self.forced[index(d, own, c)] += rate;
                links(self.classes[d], 1);
                continue;
            }
            let (up, down) = self.grid.ways(own, c, d);
            let load = if up && down { &mut self.either } else { &mut self.forced };
            let mut crossed = 0;
            while own != c {
                load[index(d, own, up.into())] += rate;
                own = beside(own, up, self.grid.widths[d]);
                crossed += 1;
            }
            links(self.classes[d], crossed);
        }
    }

    /// The load of the busiest channel, as a share of its rate, if packets choose the best paths. `rates`: the rate of each link class.
    pub fn busiest(&self, rates: &[Rate]) -> f64 {
        let mut busiest: f64 = 0.0;
        for d in 0..usize::from(self.grid.dims) {
            let width = self.grid.widths[d];
            let class = usize::from(self.classes[d]);
            let channels = f64::from(self.grid.routers / u32::from(width) * self.trunk_widths[class]);
            let channels = channels * rates[class].per_cycle();
            let forced = &self.forced[index(d, 0, 0)..index(d + 1, 0, 0)];
            busiest = forced.iter().map(|load| load / channels).fold(busiest, f64::max);
            if self.grid.line == Line::Ring && width.is_multiple_of(2) {
                for own in 0..width {
                    // a packet from coordinate a to a + width / 2 crosses the cuts of one half of the ring upward, or the opposite cuts
                    // downward
                    let opposite = (u16::from(own) + u16::from(width) / 2 + 1) % u16::from(width);
                    let (up, down) = (index(d, own, 1), index(d, opposite as u8, 0));
                    let pair = self.forced[up] + self.forced[down] + self.either[up];
                    busiest = busiest.max(pair / (2.0 * channels));
                }
            }
        }
        busiest
    }
}

/// The coordinate after `own`, up or down, on a ring of `width` coordinates.
fn beside(own: u8, up: bool, width: u8) -> u8 {
    match up {
        true if own + 1 == width => 0,
        true => own + 1,
        false if own == 0 => width - 1,
        false => own - 1,
    }
}
