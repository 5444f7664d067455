//! Builds a graph from the ports of its routers, and checks that the graph obeys the laws of all graphs.

use super::names::Ids;
use super::{Facts, Graph, Layer, Peer, Port, Structure, TrunkWidth};
use weft_units::{Refusal, Remark};

/// Maximum number of ports on a router. Allocators store the requests of each port in a mask of 512 bits.
pub const MAX_RADIX: u32 = 512;

/// Maximum number of ports in a graph. With this limit, a typing error in a size cannot request more than 1 GiB for the table of ports.
pub const MAX_PORTS: u64 = 1 << 26;

/// Number of parallel links (the width of the trunk) that replace each link of the topology.
#[derive(Debug)]
enum Widths {
    OfClasses(TrunkWidth),
    /// A width for each port of the graph.
    OfPorts(Vec<u16>),
}

/// Collects the routers of a graph in the order of their ids, each with all its ports. [`GraphBuilder::build`] checks the laws.
///
/// Each port stores the port at the other end of its link, so each link is described twice, once from each end. A wrong wiring formula is
/// therefore detected, because the two descriptions of a link do not agree.
#[derive(Debug)]
pub struct GraphBuilder {
    topology: &'static str,
    port_base: Vec<u32>,
    ports: Vec<Port>,
    class_names: Vec<String>,
    facts: Vec<Facts>,
    sections: Vec<bool>,
    remarks: Vec<Remark>,
    widths: Widths,
    router_ids: Option<Ids>,
    parts: Vec<Layer>,
}

impl GraphBuilder {
    /// Creates a graph without routers for the topology with that name. Class 0, "terminal", is added in front of `link_classes`.
    pub fn new<S: Into<String>>(topology: &'static str, link_classes: impl IntoIterator<Item = S>) -> Self {
        let class_names: Vec<String> =
            std::iter::once("terminal".to_owned()).chain(link_classes.into_iter().map(Into::into)).collect();
        Self {
            topology,
            port_base: vec![0],
            ports: Vec::new(),
            facts: vec![Facts::default(); class_names.len()],
            sections: vec![false; class_names.len()],
            remarks: Vec::new(),
            class_names,
            widths: Widths::OfClasses(TrunkWidth::default()),
            router_ids: None,
            parts: Vec::new(),
        }
    }

    /// Appends the next router with its ports, port 0 first.
    pub fn router(&mut self, ports: impl IntoIterator<Item = Port>) {
        self.ports.extend(ports);
        self.port_base.push(self.ports.len() as u32);
    }

    /// Sets the latency, bandwidth and sum of parallel links for each class, if known, and marks the classes that need a section in the
    /// scenario.
    pub(crate) fn facts(&mut self, of_class: impl Fn(&str) -> (Facts, bool)) {
        (self.facts, self.sections) = self.class_names.iter().map(|name| of_class(name)).unzip();
    }

    /// Adds remarks on the graph file, which become warnings.
    pub(crate) fn remarks(&mut self, remarks: Vec<Remark>) {
        self.remarks = remarks;
    }

    /// Replaces each link between routers by a number of parallel links.
    pub fn trunks(&mut self, width: &TrunkWidth) {
        self.widths = Widths::OfClasses(width.clone());
    }

    /// Replaces the link at each port of each router by this number of parallel links. The number must be the same at both ends, and 1 for
    /// terminals. No router may get more than [`MAX_RADIX`] ports. Call this method after the last router.
    pub(crate) fn trunk_of_each_port(&mut self, width: impl Fn(u32, usize) -> u32) {
        let of_router =
            |(router, bases): (u32, &[u32])| (0..(bases[1] - bases[0]) as usize).map(move |port| (router, port));
        let ports = (0..).zip(self.port_base.windows(2)).flat_map(of_router);
        self.widths = Widths::OfPorts(ports.map(|(router, port)| width(router, port) as u16).collect());
    }

    /// Sets the ids of the routers. All ids must be different.
    pub(crate) fn name_routers(&mut self, ids: Vec<String>) {
        self.router_ids = Some(Ids::new(ids));
    }

    /// Adds a named layer of the network, such as its spines; see [`Graph::layers`].
    pub fn layer(&mut self, part: Layer) {
        self.parts.push(part);
    }

    /// Checks the laws of graphs. A router has at most [`MAX_RADIX`] ports. Each of the terminals 0..n is attached exactly once, on class
    /// 0. The peer of a port's peer is the port itself. The two ports of a link between routers are on different routers, and their class
    /// is not 0. All routers are connected. Trunks also obey these laws. The method refuses trunks for which routers do not have enough
    /// ports.
    pub fn build(self, structure: Structure, path: &str) -> Result<Graph, Refusal> {
        let terminals = self.ports.iter().filter(|port| matches!(port.peer, Peer::Terminal(_))).count();
        let whole = Layer {
            name: "network".to_owned(),
            routers: (0..self.port_base.len() as u32 - 1).collect(),
            classes: (0..).zip(&self.class_names).map(|(class, _)| class).collect(),
            structure,
        };
        let mut graph = Graph {
            topology: self.topology,
            port_base: self.port_base,
            ports: self.ports,
            terminal_at: vec![NOWHERE; terminals],
            trunks: Vec::new(),
            trunk_widths: vec![1; self.class_names.len()],
            widths_are_of_classes: matches!(self.widths, Widths::OfClasses(_)),
            class_names: self.class_names,
            facts: self.facts,
            latencies: Vec::new(),
            sections: self.sections,
            remarks: self.remarks,
            router_ids: self.router_ids,
            layers: std::iter::once(whole).chain(self.parts).collect(),
            planes: None,
        };
        check_size(graph.routers().into(), graph.radix().into(), "the wiring", path)?;
        attach_terminals(&mut graph, path)?;
        check_symmetry(&graph, path)?;
        check_connected(&graph, path)?;
        match self.widths {
            Widths::OfPorts(widths) => graph.widen_ports(&widths),
            Widths::OfClasses(width) => {
                let path = format!("{path}.trunk_width");
                let widths = width.of_classes(graph.class_names(), &path)?;
                graph.widen(widths, &path)?;
            }
        }
        Ok(graph)
    }
}

/// Placeholder for the position of a terminal that is not attached yet. No router has this id, since a graph has at most [`MAX_PORTS`]
/// ports.
const NOWHERE: (u32, u16) = (u32::MAX, u16::MAX);

/// Refuses more than [`MAX_RADIX`] ports per router or [`MAX_PORTS`] in the graph, before memory is allocated. `sum` is the formula for the
/// radix, as text for the message.
pub(crate) fn check_size(routers: u64, radix: u64, sum: &str, path: &str) -> Result<(), Refusal> {
    if radix > MAX_RADIX.into() {
        let what = format!("{sum} gives {radix} ports per router; a router has at most {MAX_RADIX}");
        return Err(Refusal::new(path, what, "use fewer terminals per router, or fewer links per router"));
    }
    let ports = routers.saturating_mul(radix);
    if ports > MAX_PORTS {
        let what = format!("{routers} routers of {radix} ports have {ports} ports; at most {MAX_PORTS} are possible");
        return Err(Refusal::new(path, what, "use fewer routers"));
    }
    Ok(())
}

/// Refuses a count of zero at `key` under `path`.
pub(crate) fn check_positive(counts: &[(&str, u32)], path: &str) -> Result<(), Refusal> {
    match counts.iter().find(|(_, count)| *count == 0) {
        Some((key, _)) => Err(Refusal::new(format!("{path}.{key}"), "0 is too few", "write 1 or more")),
        None => Ok(()),
    }
}

fn broken(path: &str, what: String) -> Refusal {
    Refusal::new(path, what, "the wiring of this topology breaks a rule of all networks: report this as a bug in Weft")
}

fn attach_terminals(graph: &mut Graph, path: &str) -> Result<(), Refusal> {
    let terminals = graph.terminals();
    for router in 0..graph.routers() {
        let base = graph.port_base(router) as usize;
        for number in 0..graph.ports(router).len() {
            let port = graph.ports[base + number];
            let Peer::Terminal(terminal) = port.peer else { continue };
            if port.class != 0 {
                let what = format!("the link of terminal {terminal} has class {}, not class 0", port.class);
                return Err(broken(path, what));
            }
            // The number of terminal ports equals the number of terminal ids. So if each id is in range and not used twice, each is
            // attached exactly once.
            match graph.terminal_at.get_mut(terminal as usize) {
                Some(place) if *place == NOWHERE => *place = (router, number as u16),
                Some(_) => return Err(broken(path, format!("terminal {terminal} is attached twice"))),
                None => return Err(broken(path, format!("terminal {terminal} is not in 0..{terminals}"))),
            }
        }
    }
    Ok(())
}

fn check_symmetry(graph: &Graph, path: &str) -> Result<(), Refusal> {
    for router in 0..graph.routers() {
        for (port, number) in graph.ports(router).iter().zip(0u16..) {
            if port.class as usize >= graph.class_names().len() {
                return Err(broken(
                    path,
                    format!("port {number} of router {router} has the unnamed class {}", port.class),
                ));
            }
            let Peer::Router { router: far, port: far_number } = port.peer else { continue };
            let back = Peer::Router { router, port: number };
            let answer = (far < graph.routers()).then(|| graph.ports(far).get(far_number as usize)).flatten();
            if answer.is_none_or(|answer| answer.peer != back) || far == router || port.class == 0 {
                let here = format!("port {number} of router {router} is wired as {port:?}");
                return Err(broken(path, format!("{here}, but port {far_number} of router {far} as {answer:?}")));
            }
        }
    }
    Ok(())
}

fn check_connected(graph: &Graph, path: &str) -> Result<(), Refusal> {
    if graph.routers() == 0 || graph.terminals() == 0 {
        let what = format!("the network has {} routers and {} terminals", graph.routers(), graph.terminals());
        return Err(broken(path, what));
    }
    match graph.distances_from(0).iter().position(|&distance| distance == u32::MAX) {
        Some(router) => Err(broken(path, format!("no path leads from router 0 to router {router}"))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Link;

    fn terminal(id: u32) -> Port {
        Port { peer: Peer::Terminal(id), class: 0 }
    }

    fn to(router: u32, port: u16, class: u8) -> Port {
        Port { peer: Peer::Router { router, port }, class }
    }

    fn build(routers: &[&[Port]]) -> Result<Graph, Refusal> {
        let mut builder = GraphBuilder::new("graph", ["link", "other"]);
        for ports in routers {
            builder.router(ports.iter().copied());
        }
        builder.build(Structure::default(), "topology")
    }

    fn refusal(routers: &[&[Port]]) -> String {
        build(routers).expect_err("breaks a law").to_string()
    }

    #[test]
    fn two_routers_and_one_link_are_lawful() {
        let graph = build(&[&[terminal(1), to(1, 0, 1)], &[to(0, 1, 1), terminal(0)]]).unwrap();
        assert_eq!((graph.terminal_at(0), graph.terminal_at(1)), ((1, 1), (0, 0)));
        assert_eq!(graph.links().collect::<Vec<_>>(), [Link { ends: [(0, 1), (1, 0)], class: 1, back: 1 }]);
        assert_eq!(graph.links_by_class(), [("terminal".into(), 2), ("link".into(), 1), ("other".into(), 0)]);
    }

    #[test]
    fn every_broken_law_is_named() {
        assert!(refusal(&[&[terminal(0), to(1, 0, 1)], &[to(0, 0, 1), terminal(1)]]).contains("is wired as"));
        assert!(refusal(&[&[terminal(0), to(9, 0, 1)]]).contains("is wired as"));
        assert!(refusal(&[&[terminal(0), to(0, 2, 1), to(0, 1, 1)]]).contains("is wired as"));
        assert!(refusal(&[&[terminal(0), terminal(0)]]).contains("attached twice"));
        assert!(refusal(&[&[terminal(0), terminal(2)]]).contains("not in 0..2"));
        assert!(refusal(&[&[terminal(0)], &[terminal(1)]]).contains("no path"));
        assert!(refusal(&[]).contains("0 routers"));
        let wide: Vec<_> = (0..=MAX_RADIX).map(terminal).collect();
        assert!(refusal(&[&wide]).contains("513 ports per router"));
    }
}
