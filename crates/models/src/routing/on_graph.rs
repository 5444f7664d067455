//! The common code of the routings for any graph. This file computes the distances from every router to every router
//! with terminals, and chooses among next hops. It also has the VC classes of routings by hop index, and the trait
//! methods that are equal in all these routings.

use super::{Classes, Ports, class_per_hop, same_classes, with_few_classes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_topology::{Graph, Peer};
use weft_units::Refusal;

/// Used in `impl RoutingModel`: declares that the routing works on any graph.
macro_rules! routes_any_graph {
    () => {
        const ROUTES: &'static str = "any graph";

        fn fits(_: &weft_topology::Graph) -> bool {
            true
        }
    };
}

/// Writes the methods `needs` and `coordinates` for a routing that identifies routers by their numbers and has a field
/// `classes`. The argument of the macro can add one more field of `needs`.
macro_rules! knows_numbers {
    ($($need:ident: $value:expr)?) => {
        fn needs(&self) -> weft_api::routing::Needs {
            weft_api::routing::Needs { classes: self.classes.clone(), $($need: $value,)? ..Default::default() }
        }

        fn coordinates(&self, graph: &weft_topology::Graph) -> Vec<u64> {
            weft_api::coordinates::numbers(graph)
        }
    };
}

pub(super) use {knows_numbers, routes_any_graph};

/// Rule that chooses one of several possible next hops.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Among {
    /// A random next hop. Each packet draws it at each router, with equal probabilities.
    #[default]
    Random,
    /// The next hop over the port with the lowest index.
    First,
}

/// Returns the VC classes of the routing `name`, with one class for each hop of the longest path.
pub(super) fn hop_classes(graph: &Graph, longest: u32, name: &str) -> Result<Classes, Refusal> {
    let classes = class_per_hop(longest, format!("routing.{name}"), &with_few_classes(graph, name))?;
    Ok(same_classes(graph, classes))
}

/// Largest allowed size [bytes] of a table with an entry for every router and destination.
pub(super) const MAX_BYTES: u64 = 1 << 30;

/// The distances from every router to every router with terminals, in a table with one byte per pair. Methods identify routers by their
/// numbers. Clones share the tables.
#[derive(Debug, Clone)]
pub struct Distances {
    pub wiring: Wiring,
    /// Distances [links]. The index is (row of the destination) * (number of routers) + (number of the router).
    links: Arc<[u8]>,
    /// Indexed like `links`: a bit mask of the ports that begin a shortest path. Empty if the routing computes these ports from the
    /// distances instead.
    first_ports: Arc<[u64]>,
    /// Number of links on the longest shortest path between routers with terminals.
    pub longest: u8,
}

/// Largest size [bytes] of a table of first ports. The limit is low, because the table is read at random positions, so a large table is
/// slow.
const MAX_FIRST_PORTS: u64 = 1 << 24;

/// The neighbour at each port of each router. Also gives each router with terminals a row in tables that are indexed by destination.
#[derive(Debug, Clone)]
pub struct Wiring {
    /// For each router, the index of its first port in `peers`. The last entry is the number of all ports.
    bases: Arc<[u32]>,
    /// For each port, the router at its far end; `None` for terminals and unused ports.
    peers: Arc<[Option<u32>]>,
    /// For each router: its row as a destination in tables; `None` for routers without terminals.
    rows: Arc<[Option<u32>]>,
    pub destinations: u32,
}

impl Wiring {
    pub fn of(graph: &Graph) -> Self {
        let peer = |peer: Peer| match peer {
            Peer::Router { router, .. } => Some(router),
            Peer::Terminal(_) | Peer::Unused => None,
        };
        let mut destinations = 0;
        let mut row = |router: u32| {
            let hosts = graph.ports(router).iter().any(|port| matches!(port.peer, Peer::Terminal(_)));
            destinations += u32::from(hosts);
            hosts.then(|| destinations - 1)
        };
        Self {
            bases: (0..=graph.routers()).map(|r| graph.port_base(r)).collect(),
            peers: (0..graph.routers()).flat_map(|r| graph.ports(r)).map(|port| peer(port.peer)).collect(),
            rows: (0..graph.routers()).map(&mut row).collect(),
            destinations,
        }
    }

    pub fn routers(&self) -> u32 {
        self.rows.len() as u32
    }

    #[inline(always)]
    pub fn peers(&self, router: u32) -> &[Option<u32>] {
        &self.peers[self.bases[router as usize] as usize..self.bases[router as usize + 1] as usize]
    }

    /// The router at the far end of a port; `None` for terminals and unused ports.
    #[inline(always)]
    pub fn peer(&self, router: u32, port: u16) -> Option<u32> {
        self.peers[self.flat(router, port)]
    }

    /// Index of a port in a list of the ports of all routers.
    #[inline(always)]
    pub fn flat(&self, router: u32, port: u16) -> usize {
        self.bases[router as usize] as usize + usize::from(port)
    }

    /// The ports of a router that lead to other routers.
    pub fn ports_to_routers(&self, router: u32) -> impl Iterator<Item = u16> + '_ {
        self.peers(router).iter().zip(0..).filter(|(peer, _)| peer.is_some()).map(|(_, port)| port)
    }

    pub fn row(&self, router: u32) -> Option<u32> {
        self.rows[router as usize]
    }

    /// The routers with terminals, in the order of their rows.
    pub fn hosts(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.routers()).filter(|&r| self.row(r).is_some())
    }

    /// Index of the entry for a router and a destination router in a table.
    #[inline(always)]
    pub fn place(&self, router: u32, dest: u32) -> usize {
        self.rows[dest as usize].unwrap_or(0) as usize * self.rows.len() + router as usize
    }

    /// Returns the number of entries of a table with one entry per pair of a router and a destination. Refuses a table of more than
    /// [`MAX_BYTES`], if an entry has `bytes` bytes.
    pub fn check_size(&self, bytes: u64, name: &str) -> Result<usize, Refusal> {
        let (rows, routers) = (u64::from(self.destinations), u64::from(self.routers()));
        let total = rows * routers * bytes;
        if total > MAX_BYTES {
            let what = format!(
                "the table needs {rows} routers with terminals x {routers} routers x {bytes} bytes = {total} bytes, but the limit is \
                 {MAX_BYTES}"
            );
            return Err(Refusal::new(
                format!("routing.{name}"),
                what,
                "choose a routing without a table of paths, such as one made for this topology",
            ));
        }
        Ok((rows * routers) as usize)
    }
}

/// Size [bytes] of a table with an entry of `bytes` bytes for each pair of a router and a destination.
pub(super) fn table_bytes(graph: &Graph, bytes: u64) -> u64 {
    let hosts = (0..graph.routers()).filter(|&router| graph.terminals_of(router) > 0).count() as u64;
    hosts * u64::from(graph.routers()) * bytes
}

/// Size [bytes] of the table of first ports; 0 if the table is not used.
fn first_ports_bytes(hosts: u64, routers: u64, radix: u32) -> u64 {
    let bytes = hosts * routers * 8;
    if radix <= u64::BITS && bytes <= MAX_FIRST_PORTS { bytes } else { 0 }
}

/// Size [bytes] of all tables of a [`Distances`] with first ports.
pub(super) fn table_bytes_with_first_ports(graph: &Graph) -> u64 {
    let distances = table_bytes(graph, 1);
    let routers = u64::from(graph.routers());
    distances + first_ports_bytes(distances / routers, routers, graph.radix())
}

impl Distances {
    pub fn of(graph: &Graph, name: &str) -> Result<Self, Refusal> {
        let wiring = Wiring::of(graph);
        let mut links = vec![0; wiring.check_size(1, name)?];
        let hosts: Vec<u32> = wiring.hosts().collect();
        for (rows, hosts) in links.chunks_mut(64 * wiring.rows.len()).zip(hosts.chunks(64)) {
            search(&wiring, hosts, rows).map_err(|from| {
                let from = graph.router_name(from);
                let what = format!("some router is more than 255 links away from router {from}");
                Refusal::new(format!("routing.{name}"), what, "choose another topology or a routing made for this one")
            })?;
        }
        let longest = links.chunks(wiring.rows.len()).flat_map(|row| hosts.iter().map(|&h| row[h as usize])).max();
        Ok(Self { wiring, links: links.into(), first_ports: Arc::new([]), longest: longest.unwrap_or(0) })
    }

    /// Adds a table of first ports to the distances, if its size is at most `MAX_FIRST_PORTS`. Without this table, `pick` reads the
    /// distances of all neighbours, which takes longer.
    pub fn with_first_ports(self, graph: &Graph) -> Self {
        let (hosts, routers) = (self.wiring.destinations.into(), self.wiring.routers());
        if first_ports_bytes(hosts, routers.into(), graph.radix()) == 0 {
            return self;
        }
        let ports = |at: u32, dest: u32| self.ports(at, dest).fold(0, |ports, port| ports | 1 << port);
        let first_ports = self.wiring.hosts().flat_map(|dest| (0..routers).map(move |at| (at, dest)));
        Self { first_ports: first_ports.map(|(at, dest)| ports(at, dest)).collect(), ..self }
    }

    /// Number of links on a shortest path from `router` to `dest`.
    pub fn links(&self, router: u32, dest: u32) -> u8 {
        self.links[self.wiring.place(router, dest)]
    }

    /// The ports of `at` that begin a shortest path to `dest`.
    #[inline(always)]
    pub fn ports(&self, at: u32, dest: u32) -> impl Iterator<Item = u16> + Clone + '_ {
        let row = &self.links[self.wiring.place(0, dest)..][..self.wiring.rows.len()];
        let here = row[at as usize];
        let nearer = move |peer: &Option<u32>| peer.is_some_and(|p| row[p as usize] < here);
        self.wiring.peers(at).iter().zip(0u16..).filter(move |(peer, _)| nearer(peer)).map(|(_, port)| port)
    }

    /// Draws one of the ports of `at` that begin a shortest path to `dest`, which must not be `at`. `draw` gets the number of
    /// these ports and returns the index of one of them. The result is `None` if failures have left no path to `dest`.
    #[inline(always)]
    pub fn pick(&self, at: u32, dest: u32, draw: impl FnOnce(u32) -> u32) -> Option<u16> {
        let Some(&first) = self.first_ports.get(self.wiring.place(at, dest)) else {
            let ports = self.ports(at, dest);
            let count = ports.clone().count() as u32;
            return ports.clone().nth(draw(count) as usize);
        };
        let rest = (0..draw(first.count_ones())).fold(first, |rest, _| rest & (rest - 1));
        (rest != 0).then(|| rest.trailing_zeros() as u16)
    }

    /// Calls `turns` for all hops on shortest paths from routers with terminals to `dest`. The arguments are a router, its output port, and
    /// all output ports that a packet may take at the next router.
    pub fn turns_to(&self, dest: u32, mut turns: impl FnMut(u32, u16, &Ports)) {
        let routers = self.wiring.routers();
        let mut at_distance: Vec<Vec<u32>> = vec![Vec::new(); 256];
        (0..routers).for_each(|r| at_distance[self.links(r, dest) as usize].push(r));
        let mut passed: Vec<bool> = (0..routers).map(|r| self.wiring.row(r).is_some()).collect();
        let mut onward: Vec<Ports> = vec![Ports::default(); routers as usize];
        let peer = |r: u32, port: u16| self.wiring.peer(r, port);
        // from the farthest to the nearest router, so that a router comes after all routers that send to it
        for &r in at_distance.iter().rev().flatten().filter(|&&r| r != dest) {
            if passed[r as usize] {
                for port in self.ports(r, dest) {
                    onward[r as usize][usize::from(port / 64)] |= 1 << (port % 64);
                    peer(r, port).into_iter().for_each(|next| passed[next as usize] = true);
                }
            }
        }
        for r in (0..routers).filter(|&r| passed[r as usize] && r != dest) {
            for port in self.ports(r, dest) {
                peer(r, port).into_iter().for_each(|next| turns(r, port, &onward[next as usize]));
            }
        }
    }
}

/// Searches breadth-first from up to 64 `sources` at once, each of which has one bit in masks. Writes the distances into `rows`, one row
/// per source. If a router is more than 255 links away from a source, returns this source as the error.
fn search(wiring: &Wiring, sources: &[u32], rows: &mut [u8]) -> Result<(), u32> {
    let routers = wiring.routers();
    let mut seen = vec![0u64; routers as usize];
    sources.iter().enumerate().for_each(|(bit, &source)| seen[source as usize] |= 1 << bit);
    let mut front = seen.clone();
    let all = u64::MAX >> (64 - sources.len());
    for distance in 1.. {
        let mut next = vec![0u64; routers as usize];
        let mut any = 0;
        for router in (0..routers).filter(|&r| seen[r as usize] != all) {
            let reached = wiring.peers(router).iter().flatten().fold(0, |bits, &peer| bits | front[peer as usize]);
            let mut fresh = reached & !seen[router as usize];
            next[router as usize] = fresh;
            any |= fresh;
            while fresh != 0 {
                let bit = fresh.trailing_zeros();
                fresh &= fresh - 1;
                let place = bit as usize * routers as usize + router as usize;
                rows[place] = u8::try_from(distance).map_err(|_| sources[bit as usize])?;
            }
        }
        if any == 0 {
            break;
        }
        seen.iter_mut().zip(&next).for_each(|(seen, next)| *seen |= next);
        front = next;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::TopologyConfig;

    #[test]
    fn first_ports_are_those_behind_which_routers_are_nearer() {
        for topology in [
            r#"{"fat_tree": {"k": 4}}"#,
            r#"{"slim_fly": {"q": 5, "terminals_per_router": 2}}"#,
            r#"{"torus": {"widths": [3, 4], "terminals_per_router": 1}}"#,
        ] {
            let graph = serde_json::from_str::<TopologyConfig>(topology).unwrap().build("topology").unwrap();
            let looked_up = Distances::of(&graph, "shortest_path").unwrap();
            let in_table = looked_up.clone().with_first_ports(&graph);
            let bytes = table_bytes_with_first_ports(&graph);
            assert_eq!(bytes, (in_table.links.len() + 8 * in_table.first_ports.len()) as u64, "{topology}");
            assert_eq!(in_table.first_ports.len(), in_table.links.len());
            for dest in looked_up.wiring.hosts() {
                for at in (0..graph.routers()).filter(|&at| at != dest) {
                    let mut counts = [0; 2];
                    let all = looked_up.ports(at, dest).count() as u32;
                    for number in 0..all {
                        let [one, other] = [&looked_up, &in_table].map(|distances| {
                            distances.pick(at, dest, |count| {
                                counts[0] += count;
                                number
                            })
                        });
                        counts[1] += 2 * all;
                        assert!(one.is_some() && one == other, "{topology}: from {at} to {dest}");
                    }
                    assert_eq!(counts[0], counts[1]);
                }
            }
        }
    }

    #[test]
    fn large_tables_and_wide_routers_have_no_table_of_first_ports() {
        assert_eq!(first_ports_bytes(1 << 10, 1 << 11, 64), 1 << 24);
        assert_eq!(first_ports_bytes((1 << 10) + 1, 1 << 11, 64), 0);
        assert_eq!(first_ports_bytes(2, 2, 65), 0);
    }
}
