//! Hops on a grid of routers. A line is a set of routers that differ in one coordinate. In a HyperX a link joins any two routers of a line;
//! in a torus lines are rings; in a mesh they are rows.

use super::{Hop, RingEntry, TIE, draw};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::coordinates;
use weft_api::state::Packet;
use weft_topology::Graph;

pub use weft_topology::Line;

/// The rule that keeps a ring free of deadlock: VC classes or a bubble.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Dateline {
    /// A packet uses class 0 until it crosses the wrap link, and class 1 on the wrap link and after it.
    #[default]
    Crossing,
    /// A packet gets its class when it enters the dimension, and keeps it there. This rule balances the load of the two classes better than
    /// `crossing`.
    Entry,
    /// All VCs form one class, and each ring keeps a bubble (free space for one packet). A packet enters a ring only if the next buffer has
    /// room for two packets; in the ring, it needs room for one. The rule needs virtual cut-through, and buffers for two packets. All
    /// packets, including replies, must have the same length.
    Bubble,
    /// All packets use one class. The dependencies between the channels of a ring then form a cycle, which Weft refuses
    /// unless the scenario allows it.
    None,
}

/// A grid of routers. The coordinates of a router are the bytes of a `u64`; dimension 0 is the lowest byte.
#[derive(Debug, Clone)]
pub struct Grid {
    pub dims: u8,
    pub widths: [u8; 8],
    /// Index of the first port of each dimension.
    pub ports: [u16; 8],
    pub line: Line,
    pub routers: u32,
    pub coords: Vec<u64>,
}

impl Grid {
    /// Returns the grid of a graph; `None` if the graph is not a grid, or if its lines are not all of one kind. A single router is
    /// a grid without dimensions.
    pub fn of(graph: &Graph) -> Option<Self> {
        let grid = graph.structure().grid.as_ref()?;
        let (dimensions, line) = (&grid.dimensions, grid.uniform()?);
        let mut grid = Self {
            dims: dimensions.len() as u8,
            widths: [1; 8],
            ports: [0; 8],
            line,
            routers: graph.routers(),
            coords: coordinates::on_grid(graph)?,
        };
        for (d, dimension) in dimensions.iter().enumerate() {
            grid.widths[d] = dimension.width as u8;
            grid.ports[d] = dimension.first_port;
        }
        Some(grid)
    }

    /// Returns the grid of a HyperX; `None` for other graphs.
    pub fn complete(graph: &Graph) -> Option<Self> {
        Self::of(graph).filter(|grid| grid.line == Line::Complete)
    }

    /// Returns the first dimension in which the coordinates of two routers differ.
    #[inline(always)]
    pub fn first_difference(at: u64, to: u64) -> Option<usize> {
        let differ = at ^ to;
        (differ != 0).then(|| (differ.trailing_zeros() / 8) as usize)
    }

    /// Returns every dimension in which the coordinates of two routers differ.
    pub fn differences(&self, at: u64, to: u64) -> impl Iterator<Item = usize> + use<> {
        (0..self.dims as usize).filter(move |&d| Self::coordinate(at, d) != Self::coordinate(to, d))
    }

    #[inline(always)]
    pub fn coordinate(at: u64, d: usize) -> u8 {
        (at >> (8 * d)) as u8
    }

    /// Returns 1 + the index of the last port that leads along a dimension.
    pub fn end_of_ports(&self) -> u32 {
        let links = |d: usize| if self.line == Line::Complete { u32::from(self.widths[d]) - 1 } else { 2 };
        (0..usize::from(self.dims)).map(|d| u32::from(self.ports[d]) + links(d)).max().unwrap_or(0)
    }

    /// Returns the port of router `at` that leads to coordinate `c` of dimension `d`, on a HyperX.
    #[inline(always)]
    pub fn port_to(&self, at: u64, d: usize, c: u8) -> u16 {
        self.ports[d] + u16::from(c) - u16::from(c > Self::coordinate(at, d))
    }

    /// Returns the port of dimension `d` in the upward or downward direction, on a torus or mesh.
    #[inline(always)]
    pub fn port_along(&self, d: usize, up: bool) -> u16 {
        self.ports[d] + u16::from(!up)
    }

    /// Returns two values for minimal paths in dimension `d` from coordinate `own` to coordinate `to`: true if one leads up (to higher
    /// coordinates), and true if one leads down. If `to` is half way around a ring, both are true.
    #[inline(always)]
    pub fn ways(&self, own: u8, to: u8, d: usize) -> (bool, bool) {
        if self.line != Line::Ring {
            return (to > own, to < own);
        }
        let width = self.widths[d];
        let up = if to >= own { to - own } else { width - (own - to) };
        (up <= width - up, up >= width - up)
    }

    /// True if the minimal path from `at` to `to` in dimension `d` leads up, on a torus or mesh. If `to` is half way around a ring, `tie`
    /// decides.
    #[inline(always)]
    pub fn goes_up(&self, at: u64, to: u64, d: usize, tie: impl FnOnce() -> bool) -> bool {
        let (own, c) = (Self::coordinate(at, d), Self::coordinate(to, d));
        if self.line == Line::Row {
            return c > own;
        }
        let width = self.widths[d];
        let up = if c >= own { c - own } else { width - (own - c) };
        let down = width - up;
        if up == down { tie() } else { up < down }
    }

    /// Number of hops of a minimal path from `a` to `b`.
    pub fn distance(&self, a: u64, b: u64) -> u32 {
        (0..self.dims as usize)
            .map(|d| {
                let gap = u32::from(Self::coordinate(a, d).abs_diff(Self::coordinate(b, d)));
                match self.line {
                    Line::Complete => u32::from(gap != 0),
                    Line::Row => gap,
                    Line::Ring => gap.min(u32::from(self.widths[d]) - gap),
                }
            })
            .sum()
    }

    /// Returns the next hop in dimension order from `at` to `to`, which must not be `at`. `d` is the first dimension in which the two
    /// routers differ. The VC class is 0, except in rings: there `dateline` determines which hops use class 1. With [`Dateline::Bubble`]
    /// the hops that enter a ring use class 1. If the destination is half way around a ring, a hash of the packet decides its direction.
    #[inline(always)]
    pub fn hop(&self, at: u64, to: u64, d: usize, dateline: Dateline, packet: &mut Packet, seed: u64) -> Hop {
        let entering = packet.dim != d as u8 + 1;
        packet.dim = d as u8 + 1;
        if self.line == Line::Complete {
            return Hop { port: self.port_to(at, d, Self::coordinate(to, d)), class: 0 };
        }
        let up = self.goes_up(at, to, d, || draw(seed, packet, TIE + d as u64) & 1 == 0);
        let own = Self::coordinate(at, d);
        if self.line == Line::Ring {
            let c = Self::coordinate(to, d);
            match dateline {
                Dateline::Bubble | Dateline::None => packet.lane = u8::from(entering && dateline == Dateline::Bubble),
                // The class is 1 for a path up that crosses the wrap link, and for a path down that does not. In both
                // cases, c < own
                Dateline::Entry if entering => packet.lane = u8::from(c < own),
                Dateline::Entry => {}
                Dateline::Crossing => {
                    let wrap = if up { own == self.widths[d] - 1 } else { own == 0 };
                    packet.lane = u8::from(wrap || (!entering && packet.lane == 1));
                }
            }
        }
        Hop { port: self.port_along(d, up), class: packet.lane }
    }

    /// The dimensions whose rings have an even number of routers. In such a ring, both directions to the opposite router are equally short.
    pub fn tied_dimensions(&self) -> Vec<u64> {
        let tied = |&d: &u64| self.line == Line::Ring && self.widths[d as usize].is_multiple_of(2);
        (0..u64::from(self.dims)).filter(tied).collect()
    }

    /// True if the two routers are opposite each other in the ring of at least one dimension.
    pub fn is_tied_somewhere(&self, a: u64, b: u64) -> bool {
        self.tied_dimensions().into_iter().any(|d| self.is_tied(a, b, d as usize))
    }

    /// True if the two routers are opposite each other in the ring of dimension `d`.
    fn is_tied(&self, a: u64, b: u64, d: usize) -> bool {
        2 * u32::from(Self::coordinate(a, d).abs_diff(Self::coordinate(b, d))) == u32::from(self.widths[d])
    }

    /// Returns the VC classes in which packets enter rings, if the rings keep a bubble. `links`: number of link classes, of which class 0
    /// contains the links to terminals.
    pub fn ring_entries(&self, dateline: Dateline, links: usize) -> Vec<RingEntry> {
        let rings = if self.line == Line::Ring && dateline == Dateline::Bubble { links } else { 0 };
        (1..rings as u8).map(|link| RingEntry { link, enter: 1, move_on: 0, vcs: None }).collect()
    }

    /// Number of VC classes that a path in dimension order needs. If a path has two legs in dimension order, each leg needs this number.
    pub fn classes(&self, dateline: Dateline) -> u8 {
        if self.line == Line::Ring && dateline != Dateline::None { 2 } else { 1 }
    }
}
