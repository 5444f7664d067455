//! FleX: layers of routers in a ring. Links join each router to the routers of the neighbouring layers that have the same x or the same y.
//!
//! # Source
//! M. Jeon, K. Joo, T. Kim, S. Kim, C. Youn, "FleX: A Flex Interconnected HPC System with Stochastic Load Balancing Scheme", IEEE Access
//! 10 (2022), section III. For two layers, eq. (7) of the paper counts the links twice. In this model these links exist once, in agreement
//! with the paper's formula for the radix of two layers.
//!
//! # Parameters
//! `widths` Nx, Ny \[routers\], `layers` Nz \[layers\], `terminals_per_router` p \[terminals\], `trunk_width` \[links, by
//! link class\].
//!
//! # Guarantees
//! Wiring, numbering and ports are described in [`CrossedLayers`]. The ports to terminals come first, and the ports of the other links of
//! trunks come last. Terminal id = router * p + port. Nx + Ny - 2 links lead from each router to each neighbouring layer. The degree is 2
//! (Nx + Ny - 2), or half of it with two layers. The network has Nx * Ny * Nz * (Nx + Ny - 2) links, or half of them with two layers. No
//! two routers of a layer are neighbours. Link classes: "x" and "y", by the coordinate that changes. Each layer is a group and a part of
//! the network ("layer0", ...). Diameter of networks whose widths are at least 3: 2 with 3 layers, 3 with 4 to 7 layers.
//!
//! # Not modelled
//! Different numbers of routers or terminals in different layers; a single layer (for one layer, the equations of the paper give a
//! `hyperx`).
//!
//! # Validation
//! `topology/tests/conformance.rs` checks counts, wiring and numbering, and compares diameter and mean distance with a search.
//! `topology/tests/flex.rs` compares degrees, links, distances and numbers of shortest paths with the formulas of the paper, over whole
//! ranges of sizes. No other simulator was compared.

use super::TopologyModel;
use crate::graph::{check_positive, check_size};
use crate::{CrossedLayers, Graph, GraphBuilder, Groups, Layer, Peer, Port, Structure, TrunkWidth};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Layers of routers in a ring, with links between neighbouring layers only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flex {
    /// Nx, Ny: number of routers along x and along y in each layer, 1 to 255 each; at least one of them 2 or more.
    pub widths: [u32; 2],
    /// Nz: number of layers, 2 to 255.
    pub layers: u32,
    /// p: terminals on each router, 1 or more.
    pub terminals_per_router: u32,
    /// Number of parallel links that replace each link between routers, 1 or more: for all classes, or by link class.
    #[serde(default)]
    pub trunk_width: TrunkWidth,
}

impl TopologyModel for Flex {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let view = self.check(path)?;
        let in_layer = self.widths[0] * self.widths[1];
        let mut builder = GraphBuilder::new("flex", ["x", "y"]);
        for router in 0..view.routers() {
            let first = router * self.terminals_per_router;
            let terminals = (first..first + self.terminals_per_router)
                .map(|terminal| Port { peer: Peer::Terminal(terminal), class: 0 });
            let directions: &[bool] = if view.has_ports_down() { &[true, false] } else { &[true] };
            let links = directions.iter().flat_map(|&up| (0..2).flat_map(move |axis| [(up, axis)]));
            builder.router(terminals.chain(links.flat_map(|(up, axis)| ports_along(&view, router, up, axis))));
        }
        for layer in 0..self.layers {
            let routers = (layer * in_layer..(layer + 1) * in_layer).collect();
            let classes = (0..3).filter(|&class| class == 0 || self.widths[usize::from(class) - 1] > 1).collect();
            builder.layer(Layer { name: format!("layer{layer}"), routers, classes, structure: Structure::default() });
        }
        builder.trunks(&self.trunk_width);
        let groups = Some(Groups::in_a_row(self.layers, in_layer));
        builder.build(Structure { crossed: Some(view), groups, ..Structure::default() }, path)
    }

    fn examples() -> Vec<Self> {
        let new = |widths, layers, terminals_per_router, trunk_width| Self {
            widths,
            layers,
            terminals_per_router,
            trunk_width,
        };
        let single = [
            ([3, 3], 3, 2),
            ([6, 6], 3, 10),
            ([3, 3], 4, 1),
            ([4, 3], 2, 2),
            ([3, 4], 3, 1),
            ([2, 2], 3, 1),
            ([2, 1], 5, 2),
            ([1, 4], 2, 1),
            ([3, 2], 7, 1),
            ([5, 2], 8, 1),
        ];
        let single = single.map(|(widths, layers, p)| new(widths, layers, p, TrunkWidth::default()));
        let mixed = TrunkWidth::ByClass([("x".to_owned(), 2)].into());
        single.into_iter().chain([new([3, 2], 3, 1, mixed)]).collect()
    }
}

impl Flex {
    /// Checks all sizes, and returns the view that describes the wiring.
    fn check(&self, path: &str) -> Result<CrossedLayers, Refusal> {
        let ([x, y], layers, p) = (self.widths, self.layers, self.terminals_per_router);
        if let Some((axis, width)) = ["x", "y"].iter().zip(self.widths).find(|(_, width)| !(1..=255).contains(width)) {
            let what = format!("{width} routers along {axis}, not 1 to 255");
            let help = "write the numbers of routers along x and y, such as [6, 6]";
            return Err(Refusal::new(format!("{path}.widths"), what, help));
        }
        if !(2..=255).contains(&layers) {
            let what = format!("{layers} layers, not 2 to 255: all links lead to other layers");
            let help = format!("write 3, or use hyperx with widths [{x}, {y}] for a single layer");
            return Err(Refusal::new(format!("{path}.layers"), what, help));
        }
        check_positive(&[("terminals_per_router", p)], path)?;
        let per_layer = x + y - 2;
        if per_layer == 0 {
            let what = "1 x 1 routers per layer have no links: a link changes either x or y";
            return Err(Refusal::new(format!("{path}.widths"), what, "write 2 or more for x or for y"));
        }
        let (links, sum) = match layers {
            2 => (per_layer, format!("{p} terminals + {per_layer} links to the other layer")),
            _ => (2 * per_layer, format!("{p} terminals + {per_layer} upward links + {per_layer} downward links")),
        };
        let routers = u64::from(x) * u64::from(y) * u64::from(layers);
        check_size(routers, u64::from(p) + u64::from(links), &sum, path)?;
        if x.max(y) == 2 && layers.is_multiple_of(2) {
            let what = format!(
                "{x} x {y} x {layers} routers form two separate networks: each link changes the layer by one and either x \
                 or y by one, so x + y + layer stays even or stays odd"
            );
            return Err(Refusal::new(path, what, format!("write {} layers, or a width of 3 or more", layers + 1)));
        }
        Ok(CrossedLayers { widths: [x, y, layers], first_port: p as u16, classes: [1, 2] })
    }
}

/// The ports of a router that lead to the next layer or to the previous layer, along one axis.
fn ports_along(view: &CrossedLayers, router: u32, up: bool, axis: usize) -> impl Iterator<Item = Port> {
    let (here, layers) = (view.coordinates(router), view.widths[2]);
    let own = here[axis];
    // from the other router, this router is in the opposite direction; with two layers, both directions are the same
    let back = view.first_port_of(!up, axis);
    let far = move |c: u32| {
        let mut far = here;
        far[axis] = c;
        far[2] = (here[2] + if up { 1 } else { layers - 1 }) % layers;
        far
    };
    let class = view.classes[axis];
    let view = view.clone();
    (0..view.widths[axis]).filter(move |&c| c != own).map(move |c| {
        // Neither router has a port to its own coordinate, so higher coordinates have port numbers that are lower by 1.
        let port = back + if own < c { own } else { own - 1 };
        Port { peer: Peer::Router { router: view.router(far(c)), port: port as u16 }, class }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(widths: [u32; 2], layers: u32, terminals_per_router: u32) -> Result<Graph, Refusal> {
        Flex { widths, layers, terminals_per_router, trunk_width: TrunkWidth::default() }.build("topology")
    }

    #[test]
    fn three_small_layers_are_wired_by_hand() {
        // In layers of 3 x 2 routers, router = x + 3 y + 6 z; there are 3 layers. Router (1, 0, 0) leads up to (0, 0, 1), (2, 0, 1), (1, 1,
        // 1), and down to the same coordinates in layer 2.
        let graph = build([3, 2], 3, 1).unwrap();
        let peers: Vec<Peer> = graph.ports(1).iter().map(|port| port.peer).collect();
        let to = |router, port| Peer::Router { router, port };
        // At (0, 0, 1), the port down along x to coordinate 1 is the first port down, after 1 terminal and 3 ports up. At (2, 0, 1) it is
        // the second.
        let up = [to(6, 4), to(8, 5), to(10, 6)];
        let down = [to(12, 1), to(14, 2), to(16, 3)];
        assert_eq!(peers, [vec![Peer::Terminal(1)], up.into(), down.into()].concat());
        let names: Vec<&str> = graph.layers().iter().map(|layer| layer.name.as_str()).collect();
        assert_eq!(names, ["network", "layer0", "layer1", "layer2"]);
        assert_eq!((graph.terminals_per_router(), graph.terminals_per_group()), (Some(1), Some(6)));
    }

    #[test]
    fn two_layers_are_joined_once() {
        let graph = build([3, 3], 2, 1).unwrap();
        let peers: Vec<Peer> = graph.ports(0).iter().skip(1).map(|port| port.peer).collect();
        let to = |router, port| Peer::Router { router, port };
        // router (0, 0, 0) leads to (1, 0, 1), (2, 0, 1), (0, 1, 1) and (0, 2, 1). With two layers, downward links use the same ports
        assert_eq!(peers, [to(10, 1), to(11, 1), to(12, 3), to(15, 3)]);
        assert_eq!(graph.links().count(), 9 * 4);
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        assert_eq!(build([0, 3], 3, 1).unwrap_err().what, "0 routers along x, not 1 to 255");
        assert_eq!(build([3, 256], 3, 1).unwrap_err().path, "topology.widths");
        let single = build([6, 5], 1, 1).unwrap_err();
        assert_eq!((single.path.as_str(), single.what.contains("1 layers")), ("topology.layers", true));
        assert!(single.help.contains("hyperx with widths [6, 5]"));
        assert_eq!(build([1, 1], 3, 1).unwrap_err().path, "topology.widths");
        assert_eq!(build([3, 3], 3, 0).unwrap_err().path, "topology.terminals_per_router");
        let wide = build([30, 30], 3, 397).unwrap_err().what;
        assert_eq!(
            wide,
            "397 terminals + 58 upward links + 58 downward links gives 513 ports per router; a router has at most 512"
        );
        assert!(build([30, 30], 2, 397).is_ok());
        // refused: every hop keeps the parity of x + y + layer, so some routers cannot be reached
        for widths in [[2, 1], [1, 2], [2, 2]] {
            assert_eq!(build(widths, 4, 1).unwrap_err().help, "write 5 layers, or a width of 3 or more");
            assert!(build(widths, 5, 1).is_ok());
        }
    }
}
