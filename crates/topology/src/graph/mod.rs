//! Graphs: the routers, ports and links of a network. Every topology builds a graph.
//!
//! Ports of a router are numbered from 0, and the ports to its terminals come first. A link joins two ports and carries
//! one channel in each direction. Every port has a link class (index into [`Graph::class_names`]); class 0 is always
//! "terminal".

pub(crate) mod arrangement;
mod builder;
mod crossed;
mod domains;
pub mod facts;
pub(crate) mod files;
mod names;
mod planes;
mod rings;
mod structure;
mod trunks;

pub use arrangement::{Arrangement, GlobalLinks};
pub use builder::{GraphBuilder, MAX_PORTS, MAX_RADIX};
pub(crate) use builder::{check_positive, check_size};
pub use crossed::{CrossedLayers, Crossing, Offset};
pub use domains::Domains;
pub use facts::{Facts, Latency, Sum};
pub use names::RouterName;
pub use rings::Ring;
pub use structure::{CompleteGroups, Dimension, Grid, Groups, Layer, Levels, Line, Structure, Tree};
pub use trunks::{Trunk, TrunkWidth};

use std::collections::BTreeMap;
use weft_units::Remark;

/// The router port or terminal at the other end of a port's link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The port has no link (for example at the edge of a mesh).
    Unused,
    Terminal(u32),
    Router {
        router: u32,
        port: u16,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Port {
    pub peer: Peer,
    /// Link class of the channel that leaves by this port: index into [`Graph::class_names`].
    pub class: u8,
}

/// A link between two routers with both directions; `ends[0]` is the smaller (router, port).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Link {
    pub ends: [(u32, u16); 2],
    /// Link class of the channel from `ends[0]`: index into [`Graph::class_names`].
    pub class: u8,
    /// Link class of the channel from `ends[1]`.
    pub back: u8,
}

impl Link {
    /// True if at least one channel of the link is of this class.
    pub fn is_of(&self, class: u8) -> bool {
        self.class == class || self.back == class
    }
}

/// Routers, ports and links. A graph does not change after it is built.
#[derive(Debug, Clone, PartialEq)]
pub struct Graph {
    topology: &'static str,
    port_base: Vec<u32>,
    ports: Vec<Port>,
    terminal_at: Vec<(u32, u16)>,
    class_names: Vec<String>,
    facts: Vec<Facts>,
    latencies: Vec<u64>,
    sections: Vec<bool>,
    remarks: Vec<Remark>,
    router_ids: Option<names::Ids>,
    /// The whole network, followed by its named layers.
    layers: Vec<Layer>,
    /// The trunk of each port; empty if every trunk has only one link.
    trunks: Vec<Trunk>,
    /// For each class, the number of parallel links per trunk; the largest number if the trunks of the class differ.
    trunk_widths: Vec<u32>,
    /// True if the scenario sets the width of trunks with `trunk_width`; false if a file sets it.
    widths_are_of_classes: bool,
    /// Data of a network that consists of several identical networks without common channels; `None` for other networks.
    planes: Option<planes::Planes>,
}

impl Graph {
    pub fn routers(&self) -> u32 {
        self.port_base.len() as u32 - 1
    }
    pub fn terminals(&self) -> u32 {
        self.terminal_at.len() as u32
    }
    /// Index of port 0 of `router` in the flat list of all ports; `port_base(routers())` is the number of ports.
    pub fn port_base(&self, router: u32) -> u32 {
        self.port_base[router as usize]
    }
    pub fn ports(&self, router: u32) -> &[Port] {
        &self.ports[self.port_base[router as usize] as usize..self.port_base[router as usize + 1] as usize]
    }
    /// The router and the port to which a terminal is attached.
    pub fn terminal_at(&self, terminal: u32) -> (u32, u16) {
        self.terminal_at[terminal as usize]
    }
    /// Names of the link classes; class 0 is "terminal".
    pub fn class_names(&self) -> &[String] {
        &self.class_names
    }
    /// Latency and bandwidth of each link class, if the topology states them.
    pub fn facts(&self) -> &[Facts] {
        &self.facts
    }
    /// True if a graph file names the class without giving its latency or bandwidth. The links of such a class differ from others only if
    /// the scenario has a section for the class.
    pub fn needs_section(&self, class: usize) -> bool {
        self.sections[class]
    }
    /// Remarks on the graph file or on the keys of the topology, which become warnings.
    pub fn remarks(&self) -> &[Remark] {
        &self.remarks
    }
    /// The latency of each link class \[cycles\], in the order of [`Graph::class_names`]; empty until the scenario has set it.
    pub fn latencies(&self) -> &[u64] {
        &self.latencies
    }
    /// Sets the latency of each link class \[cycles\].
    pub fn set_latencies(&mut self, latencies: impl IntoIterator<Item = u64>) {
        self.latencies = latencies.into_iter().collect();
        let latencies = self.latencies.clone();
        if let Some(planes) = &mut self.planes {
            planes.set_latencies(&latencies);
        }
    }
    /// The name with which a scenario selects this topology.
    pub fn topology_name(&self) -> &'static str {
        self.topology
    }
    /// The whole network, followed by its layers: parts with a separate name and structure, such as the leaf routers. Layers can overlap.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }
    /// The structure of the whole network.
    pub fn structure(&self) -> &Structure {
        &self.layers[0].structure
    }
    /// Number of terminals on a router.
    pub fn terminals_of(&self, router: u32) -> u64 {
        self.ports(router).iter().filter(|port| matches!(port.peer, Peer::Terminal(_))).count() as u64
    }
    /// Number of terminals on each router that has terminals, if terminal t is on router t / this number; otherwise `None`.
    pub fn terminals_per_router(&self) -> Option<u32> {
        self.terminals_in_a_row(self.terminals_of(0) as u32, |router| router)
    }
    /// Number of terminals of each group, if terminal t is in group t / this number; otherwise `None`.
    pub fn terminals_per_group(&self) -> Option<u32> {
        let groups = self.structure().groups.as_ref()?;
        self.terminals_in_a_row(self.terminals() / groups.count, |router| groups.places[router as usize].0)
    }
    /// Returns `each` if every terminal t is in set t / `each`. All sets then have `each` terminals.
    fn terminals_in_a_row(&self, each: u32, set_of_router: impl Fn(u32) -> u32) -> Option<u32> {
        let whole = each > 0 && self.terminals().is_multiple_of(each);
        let in_order = |(terminal, &(router, _)): (u32, &(u32, u16))| set_of_router(router) == terminal / each;
        (whole && (0..).zip(&self.terminal_at).all(in_order)).then_some(each)
    }
    /// Largest number of ports on a router.
    pub fn radix(&self) -> u32 {
        (0..self.routers()).map(|r| self.ports(r).len() as u32).max().unwrap_or(0)
    }
    /// The links between routers, each listed once, sorted by the (router, port) of their smaller end.
    pub fn links(&self) -> impl Iterator<Item = Link> + '_ {
        (0..self.routers()).flat_map(move |router| {
            self.ports(router).iter().zip(0u16..).filter_map(move |(port, number)| match port.peer {
                Peer::Router { router: far, port: far_port } if (router, number) < (far, far_port) => {
                    let ends = [(router, number), (far, far_port)];
                    Some(Link { ends, class: port.class, back: self.way_back(*port) })
                }
                _ => None,
            })
        })
    }
    /// The router and the port at the other end of the link at this port. `None` if the port leads to no router.
    pub fn neighbour(&self, router: u32, port: u16) -> Option<(u32, u16)> {
        match self.ports(router)[usize::from(port)].peer {
            Peer::Router { router, port } => Some((router, port)),
            Peer::Terminal(_) | Peer::Unused => None,
        }
    }
    /// The link class of the channel that arrives at this port.
    pub fn way_back(&self, port: Port) -> u8 {
        match port.peer {
            Peer::Router { router, port } => self.ports(router)[usize::from(port)].class,
            Peer::Terminal(_) | Peer::Unused => port.class,
        }
    }
    /// A copy of the graph without the links for which `is_gone` returns true. `is_gone` gets the routers at both ends of a link, and a
    /// class of the link. The ports of these links become unused. Unlike a graph from the builder, this graph can be disconnected, and its
    /// structure still describes the complete network.
    pub fn without(&self, is_gone: impl Fn(u32, u32, u8) -> bool) -> Self {
        let mut left = self.clone();
        for router in 0..self.routers() {
            let (base, end) = (self.port_base(router) as usize, self.port_base(router + 1) as usize);
            for port in &mut left.ports[base..end] {
                // a link is named by the class of either of its channels
                let back = self.way_back(*port);
                let is_named = |far| is_gone(router, far, port.class) || is_gone(router, far, back);
                if matches!(port.peer, Peer::Router { router: far, .. } if is_named(far)) {
                    port.peer = Peer::Unused;
                }
            }
        }
        left
    }
    /// Number of links of each class, in the order of [`Graph::class_names`]. The number for class 0 is the number of terminals. A link
    /// whose two channels have different classes is counted in both classes.
    pub fn links_by_class(&self) -> Vec<(String, usize)> {
        let mut counts: Vec<_> = self.class_names.iter().map(|name| (name.clone(), 0)).collect();
        counts[0].1 = self.terminals() as usize;
        for link in self.links() {
            counts[usize::from(link.class)].1 += 1;
            if link.back != link.class {
                counts[usize::from(link.back)].1 += 1;
            }
        }
        counts
    }
    /// The number of links whose two channels have different classes, for each pair of class names in the order of [`Graph::class_names`].
    pub fn links_of_two_classes(&self) -> Vec<([String; 2], usize)> {
        let mut counts = BTreeMap::new();
        for link in self.links().filter(|link| link.back != link.class) {
            *counts.entry([link.class.min(link.back), link.class.max(link.back)]).or_insert(0) += 1;
        }
        let name = |class: u8| self.class_names[usize::from(class)].clone();
        counts.into_iter().map(|(classes, count)| (classes.map(name), count)).collect()
    }
}
