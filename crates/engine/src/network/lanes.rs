//! Finds the lanes (the queues of a queueing scheme) that packets can reach on each channel, and numbers them.
//!
//! Before the run, this code follows packets between all terminals, as the dependency check does. On each channel and in each VC class, it
//! numbers the lanes that packets reach. The number of lanes of a link class is the largest number on any of its channels. If following all
//! packets would take too many steps, every lane of the scheme counts as reached.

use crate::network::pairs;
use crate::network::reached::Reached;
use crate::network::rebuild;
use crate::network::routing::routing;
use crate::network::spec::Spec;
use std::sync::Arc;
use weft_api::queueing::{Crossing, Scheme};
use weft_api::refined::{self, OfLink, Output, Refined};
use weft_api::routing::{AnyRouting, Decides, Needs};
use weft_topology::{Graph, Peer};
use weft_units::Refusal;

/// The largest number of VC classes on a link. A route key (output port and VC class of a hop in one number) has no bits for more.
const MAX_VC_CLASSES: u32 = 16;

/// The largest number of lanes in an ideal map. The number is small because an input examines the first head of every lane.
pub(crate) const MOST_IDEAL_LANES: u32 = 8;

/// The lanes that a queueing scheme uses in a network.
#[derive(Debug, Clone)]
pub(crate) struct Lanes {
    scheme: Arc<dyn Scheme>,
    looks_ahead: bool,
    /// Number of lanes, indexed by link class and by VC class of the routing. A channel to a terminal has one lane.
    pub counts: Vec<Vec<u8>>,
    /// Number of lanes on a channel from a terminal.
    pub from_terminals: u8,
    /// See [`refined::Lanes::numbers`].
    numbers: Vec<u8>,
    classes: usize,
    /// Number of destinations with separate queues; `None` if there is no ideal map.
    ideal: Option<u32>,
    /// Whether the routing has an additional last VC class, without VCs of its own, for packets whose path around faults has become too
    /// long.
    spare: bool,
}

/// The lanes of an ideal map. The lane of a packet is its lane in the scheme, modulo the number of lanes of the map.
#[derive(Debug)]
struct Folded {
    scheme: Arc<dyn Scheme>,
    lanes: u32,
}

impl Scheme for Folded {
    fn lanes(&self) -> u32 {
        self.lanes
    }

    fn lane(&self, crossing: &Crossing) -> u32 {
        self.scheme.lane(crossing) % self.lanes
    }

    fn looks_at_sources(&self) -> bool {
        self.scheme.looks_at_sources()
    }
}

impl Lanes {
    /// Returns `None` if the spec has no queueing scheme.
    pub(crate) fn of(spec: &Spec, routing: &dyn AnyRouting, needs: &Needs) -> Result<Option<Self>, Refusal> {
        if spec.queueing.is_usual() {
            return Ok(None);
        }
        let (model, graph) = (spec.queueing.model(), &*spec.graph);
        let looks_ahead = model.looks_ahead();
        let ideal = model.ideal_queues(graph);
        let built = model.build(graph)?;
        let scheme = match ideal {
            None => built,
            Some(_) => Arc::new(Folded { scheme: built, lanes: ideal_lanes(spec, needs) }),
        };
        if looks_ahead && scheme.lanes() > 1 && needs.decides != Decides::Ahead {
            let (name, routing) = (spec.queueing.name(), spec.routing.name());
            let what = format!(
                "{name} chooses queues by the output at the next router, but {routing} chooses this output later"
            );
            let help = "choose a routing that computes all hops in advance, such as a deterministic routing, or a scheme that uses \
                        destinations";
            return Err(Refusal::new(format!("queueing.{name}"), what, help));
        }
        let seen =
            if model.sets_aside() || ideal.is_some() { None } else { Reached::follow(graph, routing, needs, &*scheme) };
        let lanes = Self { ideal, ..Self::numbered(spec, needs, scheme, looks_ahead, seen) };
        lanes.check(spec, needs)?;
        Ok(Some(lanes))
    }

    /// Numbers the lanes that packets reach. `seen`: the reached lanes (see [`Reached::follow`]), or `None` if all lanes count as reached.
    fn numbered(spec: &Spec, needs: &Needs, scheme: Arc<dyn Scheme>, looks_ahead: bool, seen: Option<Vec<u8>>) -> Self {
        let graph = &*spec.graph;
        let all = u8::try_from(scheme.lanes()).unwrap_or(u8::MAX);
        let one = if seen.is_some() { 1 } else { all };
        let of_link = |link: usize| vec![if link == 0 { 1 } else { one }; usize::from(needs.classes[link]).max(1)];
        let mut counts: Vec<Vec<u8>> = (0..spec.links.len()).map(of_link).collect();
        let classes = counts.iter().map(Vec::len).max().unwrap_or(1);
        let mut lanes = Self {
            looks_ahead,
            from_terminals: one,
            numbers: Vec::new(),
            classes,
            counts: Vec::new(),
            scheme,
            ideal: None,
            spare: pairs::rebuilds(spec),
        };
        let Some(mut seen) = seen else { return Self { counts, ..lanes } };
        let each = lanes.scheme.lanes() as usize;
        for router in 0..graph.routers() {
            for (port, at) in (0u16..).zip(graph.ports(router)) {
                if graph.trunk(router, port).first != port {
                    continue; // the first member of its trunk represents it
                }
                let place = place(graph, router, port) as usize;
                for class in 0..classes {
                    let from = (place * classes + class) * each;
                    let count = number(&mut seen[from..from + each]);
                    match at.peer {
                        Peer::Terminal(_) if class == 0 => lanes.from_terminals = lanes.from_terminals.max(count),
                        Peer::Router { .. } => {
                            if let Some(most) = counts[usize::from(at.class)].get_mut(class) {
                                *most = (*most).max(count);
                            }
                        }
                        Peer::Terminal(_) | Peer::Unused => {}
                    }
                }
            }
        }
        Self { counts, numbers: seen, ..lanes }
    }

    /// Number of lanes of an ideal map, and the largest number of destinations that it holds; `None` if there is no ideal map.
    pub(crate) fn ideal(&self) -> Option<(u32, u32)> {
        let lanes = self.scheme.lanes();
        self.ideal.map(|destinations| (lanes, destinations.div_ceil(lanes)))
    }

    /// Whether at least one channel has more than one lane.
    pub(crate) fn divide(&self) -> bool {
        self.from_terminals > 1 || self.counts.iter().flatten().any(|&lanes| lanes > 1)
    }

    fn check(&self, spec: &Spec, needs: &Needs) -> Result<(), Refusal> {
        let (name, routing) = (spec.queueing.name(), spec.routing.name());
        let path = format!("queueing.{name}");
        if self.divide() && !needs.ring_entries.is_empty() {
            let what =
                format!("{routing} keeps a bubble in rings of VCs, but {name} would divide these VCs into lanes");
            let help = "choose a routing that avoids deadlock only with VC classes, or remove `queueing`";
            return Err(Refusal::new(path, what, help));
        }
        if self.divide() && self.spare && !spec.queueing.model().sets_aside() {
            let what =
                format!("{routing} computes new paths after each fault, and packets on these paths use other lanes");
            return Err(Refusal::new(path, what, "remove the faults, choose another routing, or remove `queueing`"));
        }
        for (link, counts) in self.counts.iter().enumerate() {
            let of_link = if link == 0 { u32::from(self.from_terminals) } else { 0 };
            let all = counts.iter().map(|&lanes| u32::from(lanes)).sum::<u32>().max(of_link);
            if all + u32::from(self.spare) > MAX_VC_CLASSES {
                let link = &spec.graph.class_names()[link];
                let parts: Vec<_> = counts.iter().map(u8::to_string).collect();
                let sum = if of_link > 0 { of_link.to_string() } else { parts.join(" + ") };
                let order = if parts.len() > 1 { ", in the order of the VC classes of the routing" } else { "" };
                let limit = match self.spare {
                    false => format!("{all} > {MAX_VC_CLASSES}, the maximum number of VCs of a link"),
                    true => {
                        format!("{all} > {}, the maximum number of VCs if faults change the paths", MAX_VC_CLASSES - 1)
                    }
                };
                let what = format!("packets use {sum} lanes on {link} links{order}: {limit}");
                return Err(Refusal::new(path, what, self.fewer(spec)));
            }
        }
        Ok(())
    }

    /// The remedy for too many lanes, as words for a message.
    fn fewer(&self, spec: &Spec) -> &'static str {
        let text = serde_json::to_value(&spec.queueing).unwrap_or_default();
        let has_number = text.as_object().is_some_and(|of| of.values().any(|of| of.get("queues").is_some()));
        match has_number {
            true => "write fewer `queues`, or choose a routing with fewer VC classes",
            false => {
                "choose a scheme with fewer queues, such as `dbbm: {queues: 4}`, or a routing with fewer VC classes"
            }
        }
    }

    /// Builds the VC classes of all sets of VCs on links. `ahead`: the routing that computes hops in its original VC classes.
    pub(crate) fn refine(&self, spec: &Spec, routing: &Arc<dyn AnyRouting>, set_of: &[u8]) -> Refined {
        let coords = || routing.all_coordinates(&spec.graph);
        let lanes = refined::Lanes {
            scheme: self.scheme.clone(),
            onward: self.looks_ahead.then(|| (routing.clone().ahead(), coords())),
            numbers: self.numbers.clone(),
            classes: self.classes,
        };
        refined(spec, set_of, self.of_links(), Some(lanes))
    }

    /// The VC classes of each set of VCs, for each link class.
    pub(crate) fn of_links(&self) -> Vec<OfLink> {
        let of_link = |counts: &Vec<u8>| OfLink::of(&[&counts[..], &[1][..usize::from(self.spare)]].concat());
        self.counts.iter().map(of_link).collect()
    }
}

/// Number of lanes that packets reach on links, for a queueing scheme.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaneCounts {
    /// Number of lanes on a channel from a terminal.
    pub from_terminals: u8,
    /// Number of lanes, indexed by link class and by VC class of the routing. A channel to a terminal has one lane.
    pub by_class: Vec<Vec<u8>>,
    /// Number of queues of a port, as the scheme counts them.
    pub queues: u32,
    /// Number of destinations with separate queues in an ideal map, for each VC class of the routing.
    pub ideal: Option<u32>,
}

/// The number of lanes of an ideal map: as large as the VC classes of a link permit.
fn ideal_lanes(spec: &Spec, needs: &Needs) -> u32 {
    let classes = needs.classes.iter().copied().max().unwrap_or(1).max(1);
    let sets = spec.classes.len().max(1) as u32;
    (MAX_VC_CLASSES / (u32::from(classes) * sets)).clamp(1, MOST_IDEAL_LANES)
}

/// Counts the lanes of a spec. Without a queueing scheme each VC class has one lane. Refuses more lanes than the VCs of links allow.
pub fn lanes(spec: &Spec) -> Result<LaneCounts, Refusal> {
    let routing = routing(spec)?;
    let (mut needs, model) = (routing.needs(), spec.queueing.model());
    let queues = model.queues(&spec.graph);
    if model.sets_aside() {
        needs.classes = rebuild::widest(needs.classes, &rebuild::tables(spec, &*routing)?);
    }
    Ok(match Lanes::of(spec, &*routing, &needs)? {
        Some(lanes) => {
            let Lanes { from_terminals, counts: by_class, ideal, .. } = lanes;
            LaneCounts { from_terminals, by_class, queues, ideal }
        }
        None => {
            let one_each = |link: usize| vec![1; usize::from(needs.least_vcs(link)).max(1)];
            LaneCounts {
                from_terminals: 1,
                by_class: (0..spec.links.len()).map(one_each).collect(),
                queues,
                ideal: None,
            }
        }
    })
}

/// Builds VC classes that are finer than those of the routing, from the sets of VCs and the lanes.
pub(crate) fn refined(spec: &Spec, set_of: &[u8], links: Vec<OfLink>, lanes: Option<refined::Lanes>) -> Refined {
    let graph = &*spec.graph;
    let output = |(router, port): (u32, u16)| {
        let at = graph.ports(router)[usize::from(port)];
        let next = match at.peer {
            Peer::Router { router, .. } => Some(router),
            Peer::Terminal(_) | Peer::Unused => None,
        };
        Output { link: at.class, next, place: place(graph, router, port) }
    };
    let ports = |router: u32| (0..graph.ports(router).len() as u16).map(move |port| (router, port));
    Refined {
        set_of: set_of.to_vec(),
        first_of: set_of.iter().map(|set| set * links[0].each).collect(),
        links,
        base: (0..graph.routers()).map(|router| graph.port_base(router)).collect(),
        outputs: (0..graph.routers()).flat_map(ports).map(output).collect(),
        lanes,
    }
}

/// Index of a channel among all channels; for a trunk, the index of its first channel.
pub(crate) fn place(graph: &Graph, router: u32, port: u16) -> u32 {
    graph.port_base(router) + u32::from(graph.trunk(router, port).first)
}

/// Replaces each entry of `lanes` by a lane number. Lanes that packets reach (entry 1) get the numbers from 0 on. Lanes that no packet
/// reaches (entry 0) share these numbers in turn, because packets that leave their path at a fault can need such lanes. Returns the number
/// of lanes that packets reach, at least 1.
fn number(lanes: &mut [u8]) -> u8 {
    let count = lanes.iter().filter(|&&reached| reached != 0).count().max(1);
    let (mut next, mut others) = (0, 0);
    for lane in lanes {
        let turn = if *lane != 0 { &mut next } else { &mut others };
        *lane = (*turn % count) as u8;
        *turn += 1;
    }
    u8::try_from(count).unwrap_or(u8::MAX)
}
