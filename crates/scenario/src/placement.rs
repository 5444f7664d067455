//! Placement of jobs: assigns terminals to each job, in the order of the job's ranks.

use crate::routers;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use weft_topology::{Graph, Peer, RouterName};
use weft_traffic::{below, stream};
use weft_units::Refusal;

/// Purpose in the address of the random streams that place jobs.
const PLACES: u64 = 0x706c_6163;

/// The terminals that a job uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Placement {
    /// First and last terminal, both included.
    Range([u32; 2]),
    /// The terminals in this list, in this order.
    List(Vec<u32>),
    /// All terminals of these routers, router by router. Routers are given by number, or by id in a graph file.
    Routers(Vec<RouterName>),
    /// Terminals drawn at random, in random order, from those that no range and no list names.
    Random(Count),
    /// All terminals that no other job of the same message class uses.
    #[schemars(extend("x-also" = ["all", "others"]))]
    Rest(Rest),
}

/// A number of terminals to draw.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Count {
    /// Number of terminals.
    pub count: u32,
}

/// The remaining terminals. The placement `rest` has no parameters.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rest {}

/// Returns the terminals of each job. `jobs` has the name, the placement and the message class of each job. Jobs of different message
/// classes can use the same terminals.
pub(crate) fn place(jobs: &[(&str, &Placement, u8)], graph: &Graph, seed: u64) -> Result<Vec<Vec<u32>>, Refusal> {
    let mut places = vec![Vec::new(); jobs.len()];
    let classes: BTreeSet<u8> = jobs.iter().map(|&(.., class)| class).collect();
    for class in classes {
        let of_class = |&(_, &(.., of)): &(usize, &(&str, &Placement, u8))| of == class;
        let own: Vec<_> =
            jobs.iter().enumerate().filter(of_class).map(|(j, &(name, place, _))| (j, name, place)).collect();
        for ((j, ..), terminals) in own.iter().zip(place_class(&own, graph, seed)?) {
            places[*j] = terminals;
        }
    }
    Ok(places)
}

/// Returns the terminals of the jobs of one message class. `jobs` has the number, the name and the placement of each job. Terminals that
/// a placement names are assigned first, then random terminals in the order of the jobs, and then the remaining ones. A later check
/// refuses terminals that are named twice.
fn place_class(jobs: &[(usize, &str, &Placement)], graph: &Graph, seed: u64) -> Result<Vec<Vec<u32>>, Refusal> {
    let terminals = graph.terminals();
    let path = |j: usize| format!("traffic.jobs.{j}.terminals");
    let mut places = vec![Vec::new(); jobs.len()];
    let mut free = vec![true; terminals as usize];
    for (k, &(j, _, placement)) in jobs.iter().enumerate() {
        places[k] = match placement {
            Placement::Range([from, to]) if from > to || *to >= terminals => {
                let what = format!("{from} to {to} is not a range of the {terminals} terminals");
                let help = format!("write [first, last] within 0 to {}", terminals - 1);
                return Err(Refusal::new(format!("{}.range", path(j)), what, help));
            }
            Placement::Range([from, to]) => (*from..=*to).collect(),
            Placement::List(list) => list.clone(),
            Placement::Routers(names) => of_routers(names, graph, &format!("{}.routers", path(j)))?,
            Placement::Random(_) | Placement::Rest(_) => continue,
        };
        for &t in &places[k] {
            // a later check refuses a terminal that does not exist, and names the job
            if let Some(free) = free.get_mut(t as usize) {
                *free = false;
            }
        }
    }
    let mut left: Vec<u32> = (0..terminals).filter(|&t| free[t as usize]).collect();
    for (place, &(j, name, placement)) in places.iter_mut().zip(jobs) {
        let Placement::Random(Count { count }) = placement else { continue };
        if *count == 0 || *count as usize > left.len() {
            let what = format!("job `{name}` needs {count} terminals, but {} of the {terminals} are left", left.len());
            let help = match left.len() {
                0 => "give the other jobs fewer terminals".to_owned(),
                most => format!("write 1 to {most}, or give the other jobs fewer terminals"),
            };
            return Err(Refusal::new(format!("{}.random.count", path(j)), what, help));
        }
        let mut rng = stream(seed, j as u64, PLACES);
        for k in 0..*count as usize {
            let other = k + below(&mut rng, (left.len() - k) as u32) as usize;
            left.swap(k, other);
        }
        *place = left.drain(..*count as usize).collect();
        left.sort_unstable();
    }
    let mut rest = jobs.iter().enumerate().filter(|(_, (.., placement))| matches!(placement, Placement::Rest(_)));
    if let Some((k, &(j, name, _))) = rest.next() {
        if left.is_empty() {
            let what =
                format!("job `{name}` gets the remaining terminals, but none of the {terminals} terminals is left");
            return Err(Refusal::new(path(j), what, "give the other jobs fewer terminals"));
        }
        places[k] = left;
        if let Some((_, (other, second, _))) = rest.next() {
            let what = format!("jobs `{name}` and `{second}` both request the remaining terminals");
            return Err(Refusal::new(path(*other), what, "list the terminals of one of these jobs"));
        }
    }
    Ok(places)
}

/// The terminals of the named routers. Refuses routers that do not exist, and routers without terminals.
fn of_routers(names: &[RouterName], graph: &Graph, path: &str) -> Result<Vec<u32>, Refusal> {
    let mut terminals = Vec::new();
    for (k, name) in names.iter().enumerate() {
        let path = format!("{path}.{k}");
        let router = routers::find(graph, name, &path)?;
        let own = graph.ports(router).iter().filter_map(|port| match port.peer {
            Peer::Terminal(terminal) => Some(terminal),
            Peer::Router { .. } | Peer::Unused => None,
        });
        let before = terminals.len();
        terminals.extend(own);
        if terminals.len() == before {
            let what = format!("router {name} has no terminals, so no rank can run there");
            return Err(Refusal::new(path, what, "name routers that have terminals"));
        }
    }
    Ok(terminals)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_terminal_has_one_job_whatever_is_drawn() {
        let ring = r#"{"torus": {"widths": [5], "terminals_per_router": 4}}"#;
        let ring: weft_topology::TopologyConfig = serde_json::from_str(ring).expect("a torus");
        let graph = ring.build("topology").expect("a graph");
        for seed in 0..20 {
            let placements = [
                Placement::Random(Count { count: 5 }),
                Placement::Range([3, 6]),
                Placement::Rest(Rest {}),
                Placement::List(vec![9, 0]),
                Placement::Random(Count { count: 4 }),
            ];
            let jobs: Vec<_> = placements.iter().map(|placement| ("a job", placement, 0)).collect();
            let places = place(&jobs, &graph, seed).expect("20 are enough");
            // the job with `rest` gets the remaining 5 of 20 terminals: the range has 4, the list 2, and 5 + 4 were drawn at random
            assert_eq!(places.iter().map(Vec::len).collect::<Vec<_>>(), [5, 4, 5, 2, 4]);
            let mut all: Vec<_> = places.concat();
            all.sort_unstable();
            assert_eq!(all, (0..20).collect::<Vec<_>>());
            assert_eq!((&places[1], &places[3]), (&vec![3, 4, 5, 6], &vec![9, 0]));
        }
    }
}
