//! Explains the paths that a packet may take from one terminal to another, and the costs that an adaptive routing compares at each choice.

use crate::explain::serial;
use crate::network::assemble;
use crate::network::spec::Spec;
use serde::Serialize;
use std::collections::BTreeMap;
use weft_api::classes::MessageClass;
use weft_api::routing::Classes;
use weft_api::state::{DETOUR, Packet};
use weft_api::walk::{Cost, Step};
use weft_kernel::net::Net;
use weft_units::Refusal;

/// Maximum number of paths in the list, and maximum number of paths that are followed to count them.
const LISTED: usize = 64;
const FOLLOWED: u64 = 100_000;
/// Maximum number of choices in the list.
const CHOICES: usize = 16;

/// The explanation of a routing's hops between two terminals.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    pub routing: String,
    pub from: Place,
    pub to: Place,
    /// Number of links between routers on a shortest path between the terminals.
    pub distance: u32,
    /// For each link class, the VC classes that the routing needs, with the VCs that each has in the first message class.
    pub vc_classes: Vec<VcClasses>,
    /// For each message class, its name and the VCs of its VC classes; empty if the spec has no message classes.
    pub message_classes: Vec<MessageVcs>,
    /// The paths, at most 64: shortest first, and among equal lengths most likely first.
    pub paths: Vec<Path>,
    /// Number of different paths that were found.
    pub path_count: u64,
    /// False if there may be more than `path_count` different paths.
    pub all_counted: bool,
    /// The choices that an adaptive routing makes on these paths, at most 16.
    pub choices: Vec<ChoiceAt>,
    /// Length of the packet whose latencies are shown [flits]: the longest packet that the source terminal sends.
    pub packet_flits: u32,
    /// Number of different packet lengths that the source terminal sends.
    pub packet_lengths: usize,
}

/// The VCs of a message class on each link class.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MessageVcs {
    pub class: String,
    pub vc_classes: Vec<VcClasses>,
}

/// A terminal and its router.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Place {
    pub terminal: u32,
    pub router: u32,
    pub port: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct VcClasses {
    pub links: String,
    pub classes: u8,
    /// For each VC class, the numbers of its VCs.
    pub vcs: Vec<Vec<u8>>,
}

/// A path from terminal to terminal. Its latency includes the terminal links, but its hops do not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Path {
    pub hops: Vec<PathHop>,
    /// Whether the path has the length of a shortest path, or is minimal by the rules of the routing.
    pub minimal: bool,
    /// Share of packets that take the path under an oblivious routing; `None` if the choice depends on queues.
    pub probability: Option<f64>,
    /// Number of cycles from the creation of the packet to the delivery of its tail, without contention.
    pub zero_load_latency: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathHop {
    pub router: u32,
    pub port: u32,
    /// Name of the hop's link class.
    pub link: String,
    pub class: u8,
    /// The VCs of the hop's VC class; the packet may take any of them. If the spec has message classes, these are the VCs of the first one.
    pub vcs: Vec<u8>,
    pub next_router: u32,
}

/// A choice of the routing at a router, before the hop with index `hop` of the path. The routing compares the costs of the candidates and
/// takes the one with the least cost.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChoiceAt {
    pub router: u32,
    pub hop: u32,
    pub rule: String,
    /// The hops that the routing compares, at most 64.
    pub candidates: Vec<Candidate>,
    /// Number of hops that the routing compares, including those that `candidates` omits.
    pub candidate_count: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Candidate {
    pub port: u32,
    pub next_router: Option<u32>,
    pub class: u8,
    /// The cost as a formula; q(...) is the congestion of an output in flits.
    pub cost: String,
    /// The value of this cost in an idle network [flits].
    pub zero_load: i64,
}

/// Explains the paths from terminal `from` to terminal `to` under the routing of the spec.
pub fn explain(spec: &Spec, from: u32, to: u32) -> Result<Explanation, Refusal> {
    let terminals = spec.graph.terminals();
    for (key, terminal) in [("from", from), ("to", to)] {
        if terminal >= terminals {
            let what = format!("there is no terminal {terminal}: the network has {terminals} terminals");
            return Err(Refusal::new(key, what, format!("write 0 to {}", terminals - 1)));
        }
    }
    let planes = spec.graph.planes();
    if from % planes != to % planes {
        let what = format!("terminals {from} and {to} are in different planes, and no path connects different planes");
        let near = to / planes * planes + from % planes;
        return Err(Refusal::new(
            "to",
            what,
            format!("write {near}, the terminal of the same node in the plane of {from}"),
        ));
    }
    let net = assemble::net(spec)?;
    let mut explainer = Explainer { spec, net: &net, found: BTreeMap::new(), choices: Vec::new(), followed: 0 };
    explainer.follow_all(from, to);
    Ok(explainer.explanation(from, to, &net.needs.classes))
}

/// The hops of a path: (router, port, VC class) for each hop.
type Hops = Vec<(u32, u16, u8)>;

struct Explainer<'a> {
    spec: &'a Spec,
    net: &'a Net,
    /// The paths found so far, by length and hops. For each path: its probability, and true if the packet took no detour.
    found: BTreeMap<(usize, Hops), (Option<f64>, bool)>,
    choices: Vec<ChoiceAt>,
    followed: u64,
}

impl Explainer<'_> {
    fn follow_all(&mut self, from: u32, to: u32) {
        let (net, seed) = (self.net, self.net.seed);
        let (router, dst_port) = net.terminal_at[to as usize];
        let dest = net.coords[router as usize];
        let packet = Packet { src: from, dst: to, dst_port, dest, target: dest, ..Packet::default() };
        let (at, _) = net.terminal_at[from as usize];
        let draws = net.routing.draws().outcomes(packet, seed);
        let starts = net.routing.starts(net.coords[at as usize], packet, &draws);
        let share = 1.0 / starts.count() as f64;
        for start in starts.all() {
            self.follow(at, start, Some(share), &mut Vec::new());
        }
    }

    /// Follows a packet from router `at` to its terminal. `hops`: the hops of the packet before `at`; `share`: their probability.
    fn follow(&mut self, at: u32, packet: Packet, share: Option<f64>, hops: &mut Hops) {
        if self.followed >= FOLLOWED {
            return;
        }
        let choices = self.net.routing.choices(self.net.coords[at as usize], &packet, self.net.seed);
        if choices.first().is_some_and(|c| c.cost.is_some()) {
            self.note(at, hops.len() as u32, &choices);
        }
        let each = 1.0 / choices.len() as f64;
        for Step { hop, after, cost } in choices {
            let share = share.filter(|_| cost.is_none()).map(|s| s * each);
            match self.neighbour(at, hop.port) {
                Some(router) => {
                    hops.push((at, hop.port, hop.class));
                    self.follow(router, after, share, hops);
                    hops.pop();
                }
                None => self.arrive(share, after.flags & DETOUR == 0, hops),
            }
        }
    }

    fn arrive(&mut self, share: Option<f64>, direct: bool, hops: &Hops) {
        self.followed += 1;
        let entry = self.found.entry((hops.len(), hops.clone())).or_insert((Some(0.0), direct));
        entry.0 = entry.0.zip(share).map(|(sum, share)| sum + share);
        entry.1 |= direct;
    }

    fn note(&mut self, router: u32, hop: u32, choices: &[Step]) {
        let known = self.choices.iter().any(|c| (c.router, c.hop) == (router, hop));
        if known || self.choices.len() == CHOICES {
            return;
        }
        let candidate = |c: &Step| {
            let cost = c.cost?;
            Some(Candidate {
                port: c.hop.port.into(),
                next_router: self.neighbour(router, c.hop.port),
                class: c.hop.class,
                cost: self.words(router, cost),
                zero_load: cost.bias.into(),
            })
        };
        let candidates = choices.iter().take(LISTED).filter_map(candidate).collect();
        let rule = self.net.routing.rule().to_owned();
        self.choices.push(ChoiceAt { router, hop, rule, candidates, candidate_count: choices.len() as u32 });
    }

    /// The formula of a cost as text, for example `q(port 9 of router 4) * 3 + 2`.
    fn words(&self, router: u32, cost: Cost) -> String {
        let coords = &self.net.coords;
        let owner = if coords[router as usize] == cost.at { None } else { self.router_at(cost.at, router) };
        let owner = owner.map_or(String::new(), |r| format!(" of router {}", self.spec.graph.router_name(r)));
        let bias = if cost.bias == 0 { String::new() } else { format!(" + {}", cost.bias) };
        format!("q(port {}{owner}) * {}{bias}", cost.port, cost.hops)
    }

    /// The router with these coordinates in the same plane as router `near`.
    fn router_at(&self, coords: u64, near: u32) -> Option<u32> {
        let (planes, all) = (self.spec.graph.planes(), &self.net.coords);
        let routers = (near % planes..all.len() as u32).step_by(planes as usize);
        routers.into_iter().find(|&router| all[router as usize] == coords)
    }

    fn neighbour(&self, router: u32, port: u16) -> Option<u32> {
        self.spec.graph.neighbour(router, port).map(|(router, _)| router)
    }

    fn explanation(self, from: u32, to: u32, classes: &Classes) -> Explanation {
        let flits = self.spec.traffic.packet_of(from);
        let place = |terminal: u32| {
            let (router, port) = self.spec.graph.terminal_at(terminal);
            Place { terminal, router, port: port.into() }
        };
        let (from, to) = (place(from), place(to));
        let vc_classes = |message: usize| {
            let names = self.spec.graph.class_names().iter();
            let of_link = |(link, (name, &classes)): (usize, (&String, &u8))| VcClasses {
                links: name.clone(),
                classes,
                vcs: (0..classes).map(|class| self.vcs_for(message, link, class)).collect(),
            };
            names.zip(classes).enumerate().map(of_link).collect()
        };
        let messages = self.spec.classes.iter().enumerate();
        let message = |(number, class): (usize, &MessageClass)| MessageVcs {
            class: class.name.clone(),
            vc_classes: vc_classes(number),
        };
        let distance = self.spec.graph.distances_from(from.router)[to.router as usize];
        // paths with equal length and probability keep the order of their ports
        let mut found: Vec<_> = self.found.iter().collect();
        found.sort_by(|((a, _), (of_a, _)), ((b, _), (of_b, _))| {
            a.cmp(b).then(of_b.unwrap_or(0.0).total_cmp(&of_a.unwrap_or(0.0)))
        });
        // there may be a hundred thousand paths, so the paths after the first `LISTED` are counted but not described
        found.truncate(LISTED);
        let path = |((_, hops), found): (&(usize, Hops), &_)| self.path(hops, *found, distance, flits);
        let paths: Vec<Path> = found.into_iter().map(path).collect();
        Explanation {
            routing: self.spec.routing.name().to_owned(),
            distance,
            vc_classes: vc_classes(0),
            message_classes: messages.map(message).collect(),
            paths,
            path_count: self.found.len() as u64,
            all_counted: self.followed < FOLLOWED,
            choices: self.choices.clone(),
            packet_flits: flits,
            packet_lengths: self.spec.traffic.lengths_of(from.terminal),
            from,
            to,
        }
    }

    fn path(&self, hops: &Hops, (probability, direct): (Option<f64>, bool), distance: u32, flits: u32) -> Path {
        let (spec, graph) = (self.spec, &*self.spec.graph);
        let mut list = Vec::with_capacity(hops.len());
        for &(router, port, class) in hops {
            let link = graph.ports(router)[port as usize].class as usize;
            list.push(PathHop {
                router,
                port: port.into(),
                link: graph.class_names()[link].clone(),
                class,
                vcs: self.vcs(link, class),
                next_router: self.neighbour(router, port).unwrap_or(router),
            });
        }
        let classes: Vec<u8> = hops.iter().map(|&(router, port, _)| graph.ports(router)[port as usize].class).collect();
        Path {
            minimal: hops.len() as u32 == distance || (direct && !self.net.needs.draws_path),
            probability,
            zero_load_latency: serial::cycles(spec, self.net, &classes, flits),
            hops: list,
        }
    }

    /// The VCs of a VC class in the first message class.
    fn vcs(&self, link: usize, class: u8) -> Vec<u8> {
        self.vcs_for(0, link, class)
    }

    fn vcs_for(&self, message: usize, link: usize, class: u8) -> Vec<u8> {
        let mask = self.net.vcs_for(message, link, class);
        (0..16).filter(|vc| mask >> vc & 1 != 0).collect()
    }
}
