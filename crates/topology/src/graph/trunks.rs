//! Trunks: parallel links between two routers. A packet can cross any link of a trunk. A topology wires only one link for each trunk, and
//! states the width of the trunks of each link class. The builder then adds the other links of each trunk.
//!
//! The added ports come after all ports that the topology has wired. Views of the structure, patterns and routings that compute ports
//! therefore do not depend on trunks. A view uses only the first link of each trunk, and [`Graph::trunk`] returns the other links.

use super::builder::{MAX_PORTS, MAX_RADIX};
use super::{Graph, Link, Peer, Port};
use schemars::JsonSchema;
use serde::de::{MapAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;
use std::fmt::Formatter;
use weft_units::Refusal;

/// Width of trunks: the number of parallel links that replace each link between routers, 1 or more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum TrunkWidth {
    /// All classes of links between routers have the same width.
    Same(u32),
    /// A width for each named link class; the width of all other classes is 1.
    ByClass(BTreeMap<String, u32>),
}

impl Default for TrunkWidth {
    fn default() -> Self {
        Self::Same(1)
    }
}

impl JsonSchema for TrunkWidth {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TrunkWidth".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": ["integer", "object"],
            "minimum": 1,
            "additionalProperties": { "type": "integer", "minimum": 1 },
            "examples": [2, { "local": 2, "global": 4 }]
        })
    }
}

impl<'de> Deserialize<'de> for TrunkWidth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Widths;
        impl<'de> Visitor<'de> for Widths {
            type Value = TrunkWidth;
            fn expecting(&self, f: &mut Formatter) -> std::fmt::Result {
                f.write_str("a number of parallel links, or a number per link class, such as {local: 2, global: 4}")
            }
            fn visit_u64<E: serde::de::Error>(self, width: u64) -> Result<TrunkWidth, E> {
                Ok(TrunkWidth::Same(width.try_into().unwrap_or(u32::MAX)))
            }
            fn visit_map<A: MapAccess<'de>>(self, widths: A) -> Result<TrunkWidth, A::Error> {
                BTreeMap::deserialize(MapAccessDeserializer::new(widths)).map(TrunkWidth::ByClass)
            }
        }
        deserializer.deserialize_any(Widths)
    }
}

impl TrunkWidth {
    /// The width of the trunks of each class. `names` contains the names of the classes; the first class is for terminals. Refuses, at
    /// `path`, unknown names, and widths for which a router does not have enough ports.
    pub(super) fn of_classes(&self, names: &[String], path: &str) -> Result<Vec<u32>, Refusal> {
        match self {
            Self::Same(width) => {
                check(*width, path)?;
                Ok((0..names.len()).map(|class| if class == 0 { 1 } else { *width }).collect())
            }
            Self::ByClass(by_name) => {
                let mut widths = vec![1; names.len()];
                for (name, &width) in by_name {
                    let path = format!("{path}.{name}");
                    let class = names.iter().skip(1).position(|other| other == name);
                    let Some(class) = class else { return Err(unknown(name, &names[1..], path)) };
                    check(width, &path)?;
                    widths[class + 1] = width;
                }
                Ok(widths)
            }
        }
    }
}

fn check(width: u32, path: &str) -> Result<(), Refusal> {
    match width {
        0 => Err(Refusal::new(path, "0 is too few", "write 1 or more")),
        1..=MAX_RADIX => Ok(()),
        _ => {
            let what = format!("{width} parallel links are too many: a router has at most {MAX_RADIX} ports");
            Err(Refusal::new(path, what, "write a smaller number"))
        }
    }
}

fn unknown(name: &str, others: &[String], path: String) -> Refusal {
    let what = match name {
        "terminal" => "a terminal has exactly one link".to_owned(),
        _ => format!("the topology has no class `{name}` of links between routers"),
    };
    let help = match others {
        [] => "remove trunk_width: the topology has no links between routers".to_owned(),
        names => format!("name one of: {}", names.join(", ")),
    };
    Refusal::new(path, what, help)
}

/// A trunk: the ports of a router to the same neighbour. A packet can leave by each of these ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trunk {
    /// The port of the first link, which the views of the structure use.
    pub first: u16,
    /// The first port of the other links, whose ports have consecutive numbers.
    others: u16,
    pub width: u16,
}

impl Trunk {
    /// The trunk of `port`; `place` is the index of the port in `trunks`, which is empty if every trunk has only one link.
    pub fn at(trunks: &[Self], place: usize, port: u16) -> Self {
        trunks.get(place).copied().unwrap_or(Self { first: port, others: 0, width: 1 })
    }

    /// Port of the link with index `number` in the trunk; the index must be below the width.
    #[inline(always)]
    pub fn member(self, number: u16) -> u16 {
        if number == 0 { self.first } else { self.others + (number - 1) }
    }

    /// The highest port number of the trunk.
    #[inline(always)]
    pub fn highest(self) -> u16 {
        self.first.max(self.member(self.width - 1))
    }

    /// The ports of all links of the trunk.
    #[inline(always)]
    pub fn members(self) -> impl Iterator<Item = u16> + Clone {
        (0..self.width).map(move |number| self.member(number))
    }
}

impl Graph {
    /// True if at least one trunk has two links or more.
    pub fn has_trunks(&self) -> bool {
        !self.trunks.is_empty()
    }

    /// The trunk to which a port of a router belongs.
    pub fn trunk(&self, router: u32, port: u16) -> Trunk {
        Trunk::at(&self.trunks, self.port_base(router) as usize + usize::from(port), port)
    }

    /// Number of parallel links per trunk of this class; the largest number if the trunks of the class differ.
    pub fn trunk_width(&self, class: u8) -> u32 {
        self.trunk_widths[usize::from(class)]
    }

    /// Number of parallel links per trunk, if this number is the same for all links between routers.
    pub fn only_trunk_width(&self) -> Option<u32> {
        let width = |link: Link| self.trunk(link.ends[0].0, link.ends[0].1).width;
        let mut widths = self.links().map(width);
        let first = widths.next().unwrap_or(1);
        widths.all(|width| width == first).then_some(first.into())
    }

    /// The number of trunks for each width above 1, by ascending width.
    pub fn trunks_by_width(&self) -> Vec<(u32, usize)> {
        let mut counts = BTreeMap::new();
        for link in self.links() {
            let (router, port) = (link.ends[0].0, link.ends[0].1);
            let trunk = self.trunk(router, port);
            if trunk.width > 1 && trunk.first == port {
                *counts.entry(trunk.width.into()).or_insert(0) += 1;
            }
        }
        counts.into_iter().collect()
    }

    /// A copy of the network with only the first link of each trunk.
    pub fn without_trunks(&self) -> Self {
        let mut narrow = Self { port_base: vec![0], ports: Vec::new(), trunks: Vec::new(), ..self.clone() };
        narrow.trunk_widths.fill(1);
        for router in 0..self.routers() {
            // the ports of first links come before all other ports, so they keep their numbers
            let firsts = self.ports(router).iter().zip(0u16..);
            let firsts = firsts.filter(|&(_, number)| self.trunk(router, number).first == number);
            narrow.ports.extend(firsts.map(|(port, _)| *port));
            narrow.port_base.push(narrow.ports.len() as u32);
        }
        narrow
    }

    /// The remedy for a message that refuses a network; `None` if trunks are not the only reason for the refusal. `fits` returns true for a
    /// network that is accepted.
    pub fn narrowed(&self, fits: impl Fn(&Self) -> bool) -> Option<String> {
        let trunks = self.has_trunks() && fits(&self.without_trunks());
        let narrow = match self.topology {
            _ if self.widths_are_of_classes => format!("write topology.{}.trunk_width: 1", self.topology),
            name => format!("state each link once in topology.{name}.file"),
        };
        trunks.then_some(narrow)
    }

    /// Replaces each link that the topology has wired by a trunk with the width of its class.
    pub(super) fn widen(&mut self, widths: Vec<u32>, path: &str) -> Result<(), Refusal> {
        let has_links = |class: usize| self.links().any(|link| usize::from(link.class) == class);
        if (0..widths.len()).all(|class| widths[class] == 1 || !has_links(class)) {
            return Ok(());
        }
        self.check_widths(&widths, path)?;
        let of_ports: Vec<u16> = self.ports.iter().map(|port| widths[usize::from(port.class)] as u16).collect();
        self.widen_ports(&of_ports);
        self.trunk_widths = widths;
        Ok(())
    }

    /// Replaces the link at each port by a trunk; `widths` contains the width of each. The caller has checked that routers have enough
    /// ports.
    pub(super) fn widen_ports(&mut self, widths: &[u16]) {
        if widths.iter().all(|&width| width == 1) {
            return;
        }
        for (port, &width) in self.ports.iter().zip(widths) {
            let most = &mut self.trunk_widths[usize::from(port.class)];
            *most = u32::from(width).max(*most);
        }
        let mut others = Vec::with_capacity(self.ports.len());
        for router in 0..self.routers() {
            let mut next = self.ports(router).len() as u16;
            let base = self.port_base(router) as usize;
            for width in &widths[base..base + self.ports(router).len()] {
                others.push(next);
                next += width - 1;
            }
        }
        let (mut port_base, mut ports, mut trunks) = (vec![0], Vec::new(), Vec::new());
        for router in 0..self.routers() {
            let base = self.port_base(router) as usize;
            let trunk = |number: u16| {
                let place = base + usize::from(number);
                Trunk { first: number, others: others[place], width: widths[place] }
            };
            let own: Vec<Trunk> = (0..self.ports(router).len() as u16).map(trunk).collect();
            ports.extend_from_slice(self.ports(router));
            trunks.extend_from_slice(&own);
            for (port, trunk) in self.ports(router).iter().zip(own) {
                ports.extend((0..trunk.width - 1).map(|other| self.beside(port, other, &others)));
                trunks.extend((1..trunk.width).map(|_| trunk));
            }
            port_base.push(ports.len() as u32);
        }
        (self.port_base, self.ports, self.trunks) = (port_base, ports, trunks);
    }

    /// The port of an added link, which is number `other` among the links added in parallel to the link at `port`. `others`: for each port
    /// of the graph, the first port of the links added in parallel to its link.
    fn beside(&self, port: &Port, other: u16, others: &[u16]) -> Port {
        let peer = match port.peer {
            Peer::Router { router, port } => {
                let place = self.port_base(router) as usize + usize::from(port);
                Peer::Router { router, port: others[place] + other }
            }
            Peer::Unused => Peer::Unused,
            Peer::Terminal(_) => unreachable!("a terminal has one link"),
        };
        Port { peer, ..*port }
    }

    /// Refuses trunks for which a router or the graph does not have enough ports, before memory is allocated.
    fn check_widths(&self, widths: &[u32], path: &str) -> Result<(), Refusal> {
        let counts = |router: u32| {
            let mut counts = vec![0; widths.len()];
            self.ports(router).iter().for_each(|port| counts[usize::from(port.class)] += 1);
            counts
        };
        let ports = |counts: &[u32]| counts.iter().zip(widths).map(|(ports, width)| ports * width).sum::<u32>();
        let radices = || (0..self.routers()).map(|router| ports(&counts(router)));
        let widest = (0..self.routers()).max_by_key(|&router| ports(&counts(router))).expect("a router");
        let (widest, total) = (counts(widest), radices().map(u64::from).sum::<u64>());
        let help = "write smaller numbers, or use fewer terminals or links per router";
        if ports(&widest) > MAX_RADIX {
            let of_class = |(class, &ports): (usize, &u32)| match (class, ports) {
                (_, 0) => None,
                (0, terminals) => Some(format!("{terminals} terminals")),
                (class, ports) => Some(format!("{ports} {} links x {}", self.class_names[class], widths[class])),
            };
            let sum: Vec<String> = widest.iter().enumerate().filter_map(of_class).collect();
            let (sum, radix) = (sum.join(" + "), ports(&widest));
            let what = format!("{sum} gives {radix} ports per router; a router has at most {MAX_RADIX}");
            return Err(Refusal::new(path, what, help));
        }
        if total > MAX_PORTS {
            let what =
                format!("with all parallel links the network has {total} ports; at most {MAX_PORTS} are possible");
            return Err(Refusal::new(path, what, help));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::{Graph, TopologyConfig};
    use weft_units::Refusal;

    fn build(json: &str) -> Result<Graph, Refusal> {
        serde_json::from_str::<TopologyConfig>(json).expect("a topology").build("topology")
    }

    fn hyperx(trunk_width: &str) -> Result<Graph, Refusal> {
        let sizes = r#""widths": [8, 8], "terminals_per_router": 8"#;
        build(&format!(r#"{{"hyperx": {{{sizes}, "trunk_width": {trunk_width}}}}}"#))
    }

    #[test]
    fn refuses_with_the_arithmetic() {
        let refused = |width: &str, path: &str, what: &str, help: &str| {
            let refusal = hyperx(width).expect_err("too wide, or no class");
            assert_eq!((refusal.path.as_str(), refusal.what.as_str()), (path, what));
            assert!(refusal.help.contains(help), "{refusal}");
        };
        refused("0", "topology.trunk_width", "0 is too few", "write 1 or more");
        refused(r#"{"dim1": 0}"#, "topology.trunk_width.dim1", "0 is too few", "write 1 or more");
        let wide =
            "8 terminals + 7 dim0 links x 37 + 7 dim1 links x 37 gives 526 ports per router; a router has at most 512";
        refused("37", "topology.trunk_width", wide, "write smaller numbers");
        assert!(hyperx("36").is_ok(), "the remedy: 8 + 14 * 36 = 512 ports");
        let wide = "4000000000 parallel links are too many: a router has at most 512 ports";
        refused("4000000000", "topology.trunk_width", wide, "write a smaller number");
        let unknown = "the topology has no class `global` of links between routers";
        refused(r#"{"global": 2}"#, "topology.trunk_width.global", unknown, "name one of: dim0, dim1");
        let terminal = "a terminal has exactly one link";
        refused(r#"{"terminal": 2}"#, "topology.trunk_width.terminal", terminal, "name one of: dim0, dim1");
    }

    #[test]
    fn the_ports_of_the_topology_keep_their_numbers() {
        let (narrow, wide) = (hyperx("1").expect("a graph"), hyperx(r#"{"dim0": 1, "dim1": 3}"#).expect("a graph"));
        assert!(!narrow.has_trunks() && wide.has_trunks());
        assert!(wide.without_trunks() == narrow);
        for router in 0..narrow.routers() {
            assert_eq!(wide.ports(router)[..narrow.radix() as usize], *narrow.ports(router));
        }
        // ports: 8 terminals, 7 + 7 first links, and two more links for each port of dim1
        assert_eq!((wide.radix(), wide.trunk_width(1), wide.trunk_width(2)), (22 + 14, 1, 3));
        assert!(wide.trunk(5, 15).members().eq([15, 22, 23]) && wide.trunk(5, 35) == wide.trunk(5, 21));
        assert_eq!((wide.only_trunk_width(), hyperx("2").expect("a graph").only_trunk_width()), (None, Some(2)));
        // each dimension has 64 x 7 / 2 pairs of routers with a link
        assert_eq!(wide.links_by_class()[1..], [("dim0".into(), 224), ("dim1".into(), 672)]);
    }
}
