//! Planes: several identical networks that do not share channels. Each node has a terminal in each plane.
//!
//! Terminal t of plane p has number t * planes + p, and router r has number r * planes + p. So the terminals of a node have consecutive
//! numbers, and so have the routers at the same position in their planes. Each plane has the same ports, link classes and trunks.

use super::names::Ids;
use super::{Graph, Layer, Peer, Port, Structure};
use std::sync::Arc;

/// The additional data of a graph that consists of planes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Planes {
    count: u32,
    /// The graph of one plane.
    of: Arc<Graph>,
}

impl Planes {
    pub fn set_latencies(&mut self, latencies: &[u64]) {
        Arc::make_mut(&mut self.of).set_latencies(latencies.iter().copied());
    }
}

impl Graph {
    /// Number of identical networks that do not share channels: 1, unless the topology is made of planes.
    pub fn planes(&self) -> u32 {
        self.planes.as_ref().map_or(1, |planes| planes.count)
    }

    /// The network of one plane. For a topology without planes, this is the graph itself. Models that compute paths use only this network.
    pub fn plane(&self) -> &Self {
        self.planes.as_ref().map_or(self, |planes| &planes.of)
    }

    /// Copies a value for each router of a plane to the routers at the same position in all planes.
    pub fn in_all_planes<T: Copy>(&self, of_plane: &[T]) -> Vec<T> {
        of_plane.iter().flat_map(|&value| std::iter::repeat_n(value, self.planes() as usize)).collect()
    }

    /// The number of routers in a block should be a multiple of this number, so that no row or group is divided among blocks. The number is
    /// [`Structure::grain`] times the number of planes.
    pub fn grain(&self) -> u32 {
        self.plane().structure().grain() * self.planes()
    }

    /// Makes a network of `count` copies (planes) of this network. With one copy, the network does not change.
    pub(crate) fn in_planes(self, topology: &'static str, count: u32) -> Self {
        if count == 1 {
            return Self { topology, ..self };
        }
        let all = |router: u32, plane: u32| router * count + plane;
        let moved = |port: &Port, plane: u32| {
            let peer = match port.peer {
                Peer::Unused => Peer::Unused,
                Peer::Terminal(terminal) => Peer::Terminal(all(terminal, plane)),
                Peer::Router { router, port } => Peer::Router { router: all(router, plane), port },
            };
            Port { peer, ..*port }
        };
        let (mut ports, mut port_base, mut trunks) = (Vec::new(), vec![0], Vec::new());
        for router in 0..self.routers() {
            for plane in 0..count {
                ports.extend(self.ports(router).iter().map(|port| moved(port, plane)));
                port_base.push(ports.len() as u32);
                if self.has_trunks() {
                    trunks.extend((0..self.ports(router).len()).map(|port| self.trunk(router, port as u16)));
                }
            }
        }
        let terminal_at = |t: u32| {
            let (router, port) = self.terminal_at(t / count);
            (all(router, t % count), port)
        };
        let names = self.router_names().map(|names| {
            let in_planes = |name: &String| (0..count).map(move |plane| format!("{name}/{plane}")).collect::<Vec<_>>();
            Ids::new(names.iter().flat_map(in_planes).collect())
        });
        let whole = Layer {
            routers: (0..self.routers() * count).collect(),
            structure: Structure::default(),
            ..self.layers[0].clone()
        };
        Self {
            topology,
            port_base,
            ports,
            terminal_at: (0..self.terminals() * count).map(terminal_at).collect(),
            router_ids: names,
            layers: vec![whole],
            trunks,
            class_names: self.class_names.clone(),
            facts: self.facts.clone(),
            latencies: self.latencies.clone(),
            sections: self.sections.clone(),
            remarks: self.remarks.clone(),
            trunk_widths: self.trunk_widths.clone(),
            widths_are_of_classes: self.widths_are_of_classes,
            planes: Some(Planes { count, of: Arc::new(self) }),
        }
    }
}
