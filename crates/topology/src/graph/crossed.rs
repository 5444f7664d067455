//! Layers of routers in a ring, with links only between neighbouring layers: the view that describes the wiring of FleX.

/// Routers at (x, y) in layer z: router id = x + y * `widths[0]` + z * `widths[0]` * `widths[1]`. A router is joined to routers of the
/// next layer and of the previous layer. They differ from it in exactly one of x and y. The layers form a ring. If only two layers exist,
/// each is both the next and the previous layer of the other, and their links exist only once.
///
/// The ports of a router begin at `first_port`. The ports up, to the next layer, are first. With three layers or more, the same number of
/// ports down follows. In each direction the ports along x come before those along y. Along an axis, the port to coordinate c has number
/// c if c is below the router's own coordinate, otherwise c - 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossedLayers {
    /// Number of routers along x and along y, and number of layers.
    pub widths: [u32; 3],
    /// First port to another router. This port is the same on every router.
    pub first_port: u16,
    /// Link classes of the links along x and along y.
    pub classes: [u8; 2],
}

/// The relative position of two routers: the coordinates (x, y) that differ, and the number of layers from the first
/// router up to the second.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    pub differs: [bool; 2],
    pub layers: u32,
}

/// A kind of hop to the next layer or to the previous layer, along x or y.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    pub up: bool,
    /// 0 for a hop along x, 1 for a hop along y.
    pub axis: usize,
    /// True for a hop to the coordinate of the destination; false for a hop to a coordinate that neither the router nor the destination
    /// has.
    pub arrives: bool,
    /// Number of routers to which such a hop may lead.
    pub count: u32,
    /// The relative position of the destination after the hop.
    pub after: Offset,
}

impl CrossedLayers {
    /// Number of routers.
    pub fn routers(&self) -> u32 {
        self.widths.iter().product()
    }

    /// The coordinates x, y and layer of a router.
    pub fn coordinates(&self, router: u32) -> [u32; 3] {
        let [x, y, _] = self.widths;
        [router % x, router / x % y, router / (x * y)]
    }

    /// The router at x, y in a layer.
    pub fn router(&self, [x, y, z]: [u32; 3]) -> u32 {
        x + self.widths[0] * (y + self.widths[1] * z)
    }

    /// Number of ports of a router to each of its neighbouring layers.
    pub fn ports_per_layer(&self) -> u32 {
        self.widths[0] + self.widths[1] - 2
    }

    /// True if a router has ports down that are separate from its ports up.
    pub fn has_ports_down(&self) -> bool {
        self.widths[2] > 2
    }

    /// The first port along an axis, up or down.
    pub fn first_port_of(&self, up: bool, axis: usize) -> u32 {
        let before = if up || !self.has_ports_down() { 0 } else { self.ports_per_layer() };
        u32::from(self.first_port) + before + if axis == 0 { 0 } else { self.widths[0] - 1 }
    }

    /// The position of `to` relative to `from`.
    pub fn offset(&self, from: u32, to: u32) -> Offset {
        let [[x, y, z], [far_x, far_y, far_z]] = [from, to].map(|router| self.coordinates(router));
        Offset { differs: [x != far_x, y != far_y], layers: (far_z + self.widths[2] - z) % self.widths[2] }
    }

    /// All relative positions of two routers (they may be the same router), each with the number of routers at this position.
    pub fn offsets(&self) -> impl Iterator<Item = (Offset, u32)> + '_ {
        let of_axis = |axis: usize, differs: bool| if differs { self.widths[axis] - 1 } else { 1 };
        let axes = [[false, false], [true, false], [false, true], [true, true]];
        (0..self.widths[2]).flat_map(move |layers| {
            let counted =
                move |differs: [bool; 2]| (Offset { differs, layers }, of_axis(0, differs[0]) * of_axis(1, differs[1]));
            axes.into_iter().map(counted).filter(|&(_, count)| count > 0)
        })
    }

    /// Number of links on a shortest path to a router at this relative position. A path of h links changes x in some of them and y in the
    /// others. The path goes up and down by a number of layers that ends in the right layer.
    pub fn distance(&self, offset: Offset) -> u32 {
        let [width_x, width_y, layers] = self.widths;
        let ways_round = [offset.layers, layers - offset.layers];
        let ends_in_layer = |h: u32| ways_round.iter().any(|&least| h >= least && (h - least).is_multiple_of(2));
        let ends_in_place = |h: u32| {
            (0..=h).any(|along_x| {
                is_reached(width_x, along_x, offset.differs[0]) && is_reached(width_y, h - along_x, offset.differs[1])
            })
        };
        (0..).find(|&h| ends_in_layer(h) && ends_in_place(h)).expect("the network is connected")
    }

    /// The first hops of all shortest paths to a router at this relative position.
    pub fn first_hops(&self, offset: Offset) -> Vec<Crossing> {
        let left = self.distance(offset);
        self.hops(offset).into_iter().filter(|hop| self.distance(hop.after) + 1 == left).collect()
    }

    /// All hops of a router, from the view of a packet to a router at this relative position.
    pub fn hops(&self, offset: Offset) -> Vec<Crossing> {
        let directions: &[bool] = if self.has_ports_down() { &[true, false] } else { &[true] };
        let mut hops = Vec::new();
        for &up in directions {
            let further = if up { self.widths[2] - 1 } else { 1 };
            let layers = (offset.layers + further) % self.widths[2];
            for (axis, arrives) in [(0, true), (0, false), (1, true), (1, false)] {
                let others = self.widths[axis] - if offset.differs[axis] { 2 } else { 1 };
                let count = if arrives { u32::from(offset.differs[axis]) } else { others };
                let mut after = Offset { layers, ..offset };
                after.differs[axis] = !arrives;
                if count > 0 {
                    hops.push(Crossing { up, axis, arrives, count, after });
                }
            }
        }
        hops
    }
}

/// True if this number of hops along an axis of this width, each to another coordinate, can end at the first coordinate (`differs` is
/// false) or at another coordinate (`differs` is true).
fn is_reached(width: u32, hops: u32, differs: bool) -> bool {
    match width {
        1 => hops == 0 && !differs,
        2 => (hops % 2 == 1) == differs,
        _ if differs => hops > 0,
        _ => hops != 1,
    }
}
