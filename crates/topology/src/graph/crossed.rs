//! Crossed layers: layers of routers in a ring, with links only between neighbouring layers. The view `crossed` of a graph describes the
//! wiring of the topology FleX (`models/flex.rs`).

/// The router at (x, y) in layer z has the id x + y * `widths[0]` + z * `widths[0]` * `widths[1]`. A router has links to routers of the
/// next layer and of the previous layer. Each of these neighbours differs from the router in exactly one of x and y. The layers form a
/// ring. If only two layers exist, the next layer of each is also its previous layer, and the links between them exist only once.
///
/// The ports of a router begin at `first_port`. The ports up, which lead to the next layer, come first. With three layers or more, the same
/// number of ports down (to the previous layer) follows. In each direction the ports along x come before those along y. Along an axis, the
/// port to coordinate c has number c if c is below the router's own coordinate, otherwise c - 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrossedLayers {
    /// Number of routers along x and along y, and number of layers.
    pub widths: [u32; 3],
    /// First port to another router. The number of the port is the same on every router.
    pub first_port: u16,
    /// Link classes of the links along x and along y.
    pub classes: [u8; 2],
}

/// The position of a router relative to another: the coordinates (x, y) that differ, and the number of layers from the
/// other router up to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Offset {
    pub differs: [bool; 2],
    pub layers: u32,
}

/// A kind of hop of a packet to the next or previous layer, along x or y. From all routers to which hops of this kind lead, the destination
/// has the same relative position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Crossing {
    pub up: bool,
    /// 0 for a hop along x, 1 for a hop along y.
    pub axis: usize,
    /// True for a hop to the coordinate of the destination. False for a hop to a coordinate that neither the router nor the destination
    /// has.
    pub arrives: bool,
    /// Number of routers to which hops of this kind lead.
    pub count: u32,
    /// The relative position of the destination after the hop.
    pub after: Offset,
}

impl CrossedLayers {
    /// Number of routers in all layers.
    pub fn routers(&self) -> u32 {
        self.widths.iter().product()
    }

    /// The coordinates x, y and layer of a router.
    pub fn coordinates(&self, router: u32) -> [u32; 3] {
        let [x, y, _] = self.widths;
        [router % x, router / x % y, router / (x * y)]
    }

    /// The router with the coordinates x and y in layer z.
    pub fn router(&self, [x, y, z]: [u32; 3]) -> u32 {
        x + self.widths[0] * (y + self.widths[1] * z)
    }

    /// Number of ports of a router that lead to one of its neighbouring layers.
    pub fn ports_per_layer(&self) -> u32 {
        self.widths[0] + self.widths[1] - 2
    }

    /// True if routers have ports down that are separate from their ports up.
    pub fn has_ports_down(&self) -> bool {
        self.widths[2] > 2
    }

    /// The number of the first port that leads up or down along an axis.
    pub fn first_port_of(&self, up: bool, axis: usize) -> u32 {
        let before = if up || !self.has_ports_down() { 0 } else { self.ports_per_layer() };
        u32::from(self.first_port) + before + if axis == 0 { 0 } else { self.widths[0] - 1 }
    }

    /// The position of `to` relative to `from`.
    pub fn offset(&self, from: u32, to: u32) -> Offset {
        let [[x, y, z], [far_x, far_y, far_z]] = [from, to].map(|router| self.coordinates(router));
        Offset { differs: [x != far_x, y != far_y], layers: (far_z + self.widths[2] - z) % self.widths[2] }
    }

    /// All possible positions of a router relative to another router or itself, each with the number of routers that have this position
    /// relative to one router.
    pub fn offsets(&self) -> impl Iterator<Item = (Offset, u32)> + '_ {
        let of_axis = |axis: usize, differs: bool| if differs { self.widths[axis] - 1 } else { 1 };
        let axes = [[false, false], [true, false], [false, true], [true, true]];
        (0..self.widths[2]).flat_map(move |layers| {
            let counted =
                move |differs: [bool; 2]| (Offset { differs, layers }, of_axis(0, differs[0]) * of_axis(1, differs[1]));
            axes.into_iter().map(counted).filter(|&(_, count)| count > 0)
        })
    }

    /// Number of links on a shortest path to a router at this relative position. A path of h links changes x in some of its hops and y in
    /// the others. The hops of the path go up and down so that it ends in the layer of the destination.
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

    /// The kinds of first hops on all shortest paths to a router at this relative position.
    pub fn first_hops(&self, offset: Offset) -> Vec<Crossing> {
        let left = self.distance(offset);
        self.hops(offset).into_iter().filter(|hop| self.distance(hop.after) + 1 == left).collect()
    }

    /// All kinds of hops from a router, for a packet to a router at this relative position.
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

/// True if this number of hops along an axis of this width can end at a given coordinate. With `differs`, this coordinate is not the one
/// where the hops begin. Each hop changes the coordinate.
fn is_reached(width: u32, hops: u32, differs: bool) -> bool {
    match width {
        1 => hops == 0 && !differs,
        2 => (hops % 2 == 1) == differs,
        _ if differs => hops > 0,
        _ => hops != 1,
    }
}
