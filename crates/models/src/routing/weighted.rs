//! Shortest paths on any graph. The weight of a link is 1, its latency, or a cost that the scenario sets.

use super::on_graph::{self, Distances, Wiring};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::Refusal;

/// Definition of the length of a path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Weight {
    /// The number of links on the path.
    Links {},
    /// The sum of the latencies of the links on the path [cycles]. The delays of routers are not counted.
    Latency {},
    /// The sum of the costs of the links on the path. The scenario sets the cost of every class of links between routers, a whole number of
    /// at least 1.
    Cost(BTreeMap<String, u32>),
}

impl Default for Weight {
    fn default() -> Self {
        Self::Links {}
    }
}

/// Largest cost of a link. With this limit, the costs of the links on a path add up without overflow in networks of up to 65,536
/// routers.
const MAX_COST: u32 = 1 << 16;

impl Weight {
    /// The weight of the links of each class; `None` if every link has weight 1. `name` is the name of the routing, for
    /// messages.
    fn of_classes(&self, graph: &Graph, name: &str) -> Result<Option<Vec<u32>>, Refusal> {
        match self {
            Self::Links {} => Ok(None),
            Self::Latency {} => {
                let weight = |latency: u64| u32::try_from(latency.max(1)).unwrap_or(u32::MAX);
                // a graph that was built without a scenario has no link latencies
                let known = (0..graph.class_names().len()).map(|class| graph.latencies().get(class).copied());
                Ok(Some(known.map(|latency| latency.map_or(1, weight)).collect()))
            }
            Self::Cost(costs) => costs_of_classes(costs, graph, &format!("routing.{name}.weight.cost")).map(Some),
        }
    }

    /// Size [bytes] of the tables with the shortest paths of a graph.
    pub fn table_bytes(&self, graph: &Graph) -> u64 {
        match self {
            Self::Links {} => on_graph::table_bytes_with_first_ports(graph),
            Self::Latency {} | Self::Cost(_) => on_graph::table_bytes(graph, size_of::<u32>() as u64),
        }
    }
}

fn costs_of_classes(costs: &BTreeMap<String, u32>, graph: &Graph, path: &str) -> Result<Vec<u32>, Refusal> {
    let used = graph.links_by_class();
    let between = used.iter().skip(1).filter(|(_, links)| *links > 0).map(|(class, _)| class.as_str());
    let between: Vec<&str> = between.collect();
    let example = || between.iter().map(|class| format!("{class}: 1")).collect::<Vec<_>>().join(", ");
    // a class of links keeps its name even if all its links have failed
    let known = &graph.class_names()[1..];
    if let Some(unknown) = costs.keys().find(|class| !known.contains(class)) {
        let what = format!("there is no link of class `{unknown}` between routers");
        return Err(Refusal::new(path, what, format!("name only these classes: {}", between.join(", "))));
    }
    if let Some(missing) = between.iter().find(|class| !costs.contains_key(**class)) {
        let what = format!("links of class `{missing}` have no cost");
        return Err(Refusal::new(path, what, format!("write a cost for each class, such as cost: {{{}}}", example())));
    }
    if let Some((class, cost)) = costs.iter().find(|(_, cost)| !(1..=MAX_COST).contains(*cost)) {
        let what = format!("the cost {cost} of links of class `{class}` is out of range");
        return Err(Refusal::new(path, what, format!("write 1 to {MAX_COST}")));
    }
    Ok(graph.class_names().iter().map(|class| costs.get(class).copied().unwrap_or(1)).collect())
}

/// The shortest paths of a graph, for the definition of length in the scenario.
#[derive(Debug, Clone)]
pub enum Paths {
    /// Every link has weight 1.
    Links(Distances),
    Weighted(Weighted),
}

impl Paths {
    pub fn of(graph: &Graph, weight: &Weight, name: &str) -> Result<Self, Refusal> {
        Ok(match weight.of_classes(graph, name)? {
            None => Self::Links(Distances::of(graph, name)?.with_first_ports(graph)),
            Some(weights) => Self::Weighted(Weighted::of(graph, &weights, name)?),
        })
    }

    pub fn wiring(&self) -> &Wiring {
        match self {
            Self::Links(distances) => &distances.wiring,
            Self::Weighted(weighted) => &weighted.wiring,
        }
    }

    /// Largest number of links on a shortest path between routers with terminals.
    pub fn longest(&self) -> u32 {
        match self {
            Self::Links(distances) => distances.longest.into(),
            Self::Weighted(weighted) => weighted.longest,
        }
    }

    /// The ports of `at` that begin a shortest path to `dest`.
    pub fn ports(&self, at: u32, dest: u32) -> Vec<u16> {
        match self {
            Self::Links(distances) => distances.ports(at, dest).collect(),
            Self::Weighted(weighted) => weighted.ports(at, dest).collect(),
        }
    }

    /// Length of the shortest paths from `at` to `dest`.
    pub fn length(&self, at: u32, dest: u32) -> u32 {
        match self {
            Self::Links(distances) => distances.links(at, dest).into(),
            Self::Weighted(weighted) => weighted.costs[weighted.wiring.place(at, dest)],
        }
    }

    /// Draws one of the ports of `at` that begin a shortest path to `dest`, which must not be `at`. `draw` gets the number of these
    /// ports and returns the index of one of them. The result is `None` if failures have left no path to `dest`.
    #[inline(always)]
    pub fn pick(&self, at: u32, dest: u32, draw: impl FnOnce(u32) -> u32) -> Option<u16> {
        match self {
            Self::Links(distances) => distances.pick(at, dest, draw),
            Self::Weighted(weighted) => {
                let ports = weighted.ports(at, dest);
                let count = ports.clone().count() as u32;
                ports.clone().nth(draw(count) as usize)
            }
        }
    }
}

/// The least costs of paths from every router to every router with terminals. Copies share the tables.
#[derive(Debug, Clone)]
pub struct Weighted {
    wiring: Wiring,
    /// Weight of the link at each port, indexed by [`Wiring::flat`].
    weights: Arc<[u32]>,
    /// Costs, indexed by [`Wiring::place`]; [`UNREACHED`] if no path exists.
    costs: Arc<[u32]>,
    longest: u32,
}

const UNREACHED: u32 = u32::MAX;

impl Weighted {
    fn of(graph: &Graph, of_classes: &[u32], name: &str) -> Result<Self, Refusal> {
        let wiring = Wiring::of(graph);
        let mut costs = Vec::with_capacity(wiring.check_size(size_of::<u32>() as u64, name)?);
        let all = (0..graph.routers()).flat_map(|router| graph.ports(router));
        let weights: Arc<[u32]> = all.map(|port| of_classes[usize::from(port.class)]).collect();
        for dest in wiring.hosts() {
            costs.extend(least_costs(&wiring, &weights, dest, name)?);
        }
        let mut weighted = Self { wiring, weights, costs: costs.into(), longest: 0 };
        weighted.longest = weighted.wiring.hosts().map(|dest| weighted.most_links(dest)).max().unwrap_or(0);
        Ok(weighted)
    }

    /// The ports of `at` that begin a least-cost path to `dest`.
    #[inline(always)]
    fn ports(&self, at: u32, dest: u32) -> impl Iterator<Item = u16> + Clone + '_ {
        let row = &self.costs[self.wiring.place(0, dest)..][..self.wiring.routers() as usize];
        let (here, base) = (row[at as usize], self.wiring.flat(at, 0));
        let leads = move |&(port, peer): &(u16, Option<u32>)| {
            peer.is_some_and(|peer| {
                row[peer as usize].checked_add(self.weights[base + usize::from(port)]) == Some(here)
            })
        };
        let ports = (0u16..).zip(self.wiring.peers(at).iter().copied());
        ports.filter(move |port| here != UNREACHED && leads(port)).map(|(port, _)| port)
    }

    /// Largest number of links on a least-cost path from a router with terminals to `dest`.
    fn most_links(&self, dest: u32) -> u32 {
        let cost = |router: u32| self.costs[self.wiring.place(router, dest)];
        let mut near: Vec<u32> = (0..self.wiring.routers()).filter(|&router| cost(router) != UNREACHED).collect();
        near.sort_by_key(|&router| cost(router));
        let mut links = vec![0; self.wiring.routers() as usize];
        for &router in near.iter().filter(|&&router| router != dest) {
            let next = self.ports(router, dest).filter_map(|port| self.wiring.peer(router, port));
            links[router as usize] = 1 + next.map(|peer| links[peer as usize]).max().unwrap_or(0);
        }
        self.wiring.hosts().map(|host| links[host as usize]).max().unwrap_or(0)
    }
}

/// Computes the least costs from every router to `dest` (Dijkstra's algorithm). A link has the same weight in both
/// directions.
fn least_costs(wiring: &Wiring, weights: &[u32], dest: u32, name: &str) -> Result<Vec<u32>, Refusal> {
    let mut costs = vec![UNREACHED; wiring.routers() as usize];
    costs[dest as usize] = 0;
    let mut open = BinaryHeap::from([Reverse((0u32, dest))]);
    while let Some(Reverse((cost, router))) = open.pop() {
        if cost > costs[router as usize] {
            continue;
        }
        for port in wiring.ports_to_routers(router) {
            let Some(peer) = wiring.peer(router, port) else { continue };
            let Some(further) = cost.checked_add(weights[wiring.flat(router, port)]).filter(|&sum| sum < UNREACHED)
            else {
                let what = format!("the weight of a path to router {dest} is above the limit {UNREACHED}");
                return Err(Refusal::new(format!("routing.{name}.weight"), what, "write `weight: links`"));
            };
            if further < costs[peer as usize] {
                costs[peer as usize] = further;
                open.push(Reverse((further, peer)));
            }
        }
    }
    Ok(costs)
}
