//! A table from a file, which names the next router for every pair of a router and a destination router.
//!
//! # Source
//! The tables that the subnet manager of an InfiniBand fabric writes into its switches. VC classes correspond to virtual lanes.
//! # Parameters
//! `file`: CSV with the header `router,destination,next` or `router,destination,next,class`. Routers are numbers, or names if the topology
//! has names. Names with commas are in double quotes. `destination` is a router, and the entry holds for all its terminals. `next` is the
//! neighbour to which `router` sends the packets for `destination`. `class` is the VC class of the hop (0 if left out).
//! # Guarantees
//! Weft refuses unknown routers, next routers that are not neighbours, and duplicate entries. The message names the line and a remedy. Weft
//! also refuses a table with a missing entry or a loop on the path between two routers with terminals. The message shows the path. The
//! check of dependencies finds tables that can deadlock. In memory, the table has two bytes for each pair of a router and a destination
//! router, at most 1 GiB. Faults: a table at the start avoids every link and router that is broken from the start. After a later fault,
//! heads at a broken link wait until the time `fault_model.rebuild_delay` has passed. From then on, a router whose path is broken sends
//! packets towards the nearest router whose path works, with the VC class of its old entry. Packets to routers that have no path any more
//! are discarded. The check of dependencies tests the table before and after every fault separately. It does not test packets that follow
//! an old and a new table at the same time.
//! # Not modelled
//! Next hops that depend on the terminal or the source. A choice among parallel links: packets take the link on the lowest port.
//! # Validation
//! Three tests use networks of every topology on which this routing works, with tables of dimension order. `engine/tests/theory.rs` checks
//! that latency without contention is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost.
//! `engine/tests/stall.rs` checks that the smallest buffers cause no stall. `engine/tests/refused.rs` checks that Weft refuses tables with
//! missing entries, loops or possible deadlocks. `engine/tests/bounds.rs` checks that throughput reaches the theoretical bound of dimension
//! order. No test compares this routing with another simulator.

use crate::routing::on_graph::{self, Wiring};
use crate::routing::{
    Accepts, AnyRouting, Classes, Example, Hop, MAX_CLASSES, Proof, Routing, RoutingModel, Step, same_classes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::{InputFile, Refusal};

/// A table from a file, which names the next router for every pair of a router and a destination router.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// CSV file with the columns router, destination, next and, optionally, class.
    pub file: InputFile,
}

const HEADER: &str = "router,destination,next";

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    wiring: Wiring,
    /// The entries of the table (index: [`Wiring::place`]).
    hops: Arc<[Option<Entry>]>,
}

/// An entry of the table: 9 bits for the port, 6 bits for the VC class, and the highest bit, which is always 1. Because the number is never
/// 0, an `Option` of it also fits into two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry(std::num::NonZeroU16);

/// Number of bits for the index of a port.
const PORT_BITS: u32 = 9;
const _: () = assert!(weft_topology::MAX_RADIX == 1 << PORT_BITS);

impl Entry {
    fn new(hop: Hop) -> Option<Self> {
        std::num::NonZeroU16::new(0x8000 | u16::from(hop.class) << PORT_BITS | hop.port).map(Self)
    }

    #[inline(always)]
    fn hop(self) -> Hop {
        Hop { port: self.0.get() & ((1 << PORT_BITS) - 1), class: (self.0.get() >> PORT_BITS) as u8 & 0x3f }
    }
}

impl RoutingModel for Table {
    type Routing = Runtime;
    on_graph::routes_any_graph!();
    const CAN_BE_A_LEG: bool = true;

    fn table_bytes(&self, graph: &Graph) -> u64 {
        on_graph::table_bytes(graph, size_of::<Entry>() as u64)
    }

    fn rebuilds(&self) -> bool {
        true
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let wiring = Wiring::of(graph);
        let hops = vec![None; wiring.check_size(2, "table")?];
        let mut reader = Reader { file: &self.file, graph, wiring, hops };
        let most = reader.read()?;
        let Reader { wiring, hops, .. } = reader;
        let runtime = Runtime { classes: same_classes(graph, most + 1), wiring, hops: hops.into() };
        runtime.check_ways(&Source { file: &self.file, graph })?;
        Ok(runtime)
    }

    fn examples() -> Vec<Example<Self>> {
        const HYPERX: &str = r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#;
        const TORUS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 2}}"#;
        let table = |ring| Self { file: InputFile::new("table.csv", dimension_order_of_4_by_3(ring).as_bytes()) };
        vec![
            Example::new(table(false))
                .only_on(&[HYPERX])
                // under tornado traffic, the 2 terminals of a router share a link in each dimension
                .bound(HYPERX, r#"{"tornado": {}}"#, Accepts::UpTo(1.0 / 2.0)),
            Example::new(table(true)).only_on(&[TORUS]),
        ]
    }
}

/// The text of a table of dimension order on 4 x 3 routers, for tests. The rows and columns of routers are rings (`ring`) or complete
/// graphs. If both directions of a ring are equally long, a packet takes the ascending direction. It uses class 1, except before it crosses
/// the wrap link.
fn dimension_order_of_4_by_3(ring: bool) -> String {
    let mut text = format!("{HEADER},class\n");
    for (router, dest) in (0..12u32).flat_map(|router| (0..12).map(move |dest| (router, dest))) {
        let in_row = router % 4 != dest % 4;
        let (own, to, width, stride) = if in_row { (router % 4, dest % 4, 4, 1) } else { (router / 4, dest / 4, 3, 4) };
        let up = 2 * ((to + width - own) % width) <= width;
        let (next, class) = match (ring, up) {
            (false, _) => (to, 0),
            (true, true) => ((own + 1) % width, u8::from(to > own)),
            (true, false) => ((own + width - 1) % width, u8::from(to < own)),
        };
        if router != dest {
            text += &format!("{router},{dest},{},{class}\n", router - own * stride + next * stride);
        }
    }
    text
}

/// Data for error messages: the file, whose name they contain, and the graph, which has the names of its routers.
struct Source<'a> {
    file: &'a InputFile,
    graph: &'a Graph,
}

/// The name of a router in the form that the file uses, in quotes if the name contains commas or quotes.
fn field(graph: &Graph, router: u32) -> String {
    let name = graph.router_name(router);
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into_owned() }
}

/// Splits a line of the file into its fields. Commas separate fields. A field that contains commas is in double quotes, and quotes inside
/// it are doubled.
fn fields(line: &str) -> Result<Vec<String>, (String, String)> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(text) = rest.map(str::trim_start) {
        let (field, after) = match text.strip_prefix('"') {
            Some(quoted) => {
                let end = closing_quote(quoted).ok_or_else(|| {
                    (format!("missing closing quote after {text:?}"), "close the quoted field with \"".to_owned())
                })?;
                (quoted[..end].replace("\"\"", "\""), quoted[end + 1..].trim_start())
            }
            None => {
                let end = text.find(',').unwrap_or(text.len());
                (text[..end].trim_end().to_owned(), &text[end..])
            }
        };
        if !after.is_empty() && !after.starts_with(',') {
            let what = format!("{after:?} follows a quoted field");
            return Err((what, "double the quotes inside a quoted field".into()));
        }
        fields.push(field);
        rest = after.strip_prefix(',');
    }
    Ok(fields)
}

/// Position of the first quote that is not doubled.
fn closing_quote(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        match (bytes[at], bytes.get(at + 1)) {
            (b'"', Some(b'"')) => at += 2,
            (b'"', _) => return Some(at),
            _ => at += 1,
        }
    }
    None
}

fn refusal(what: String, help: impl Into<String>) -> Refusal {
    Refusal::new("routing.table.file", what, help)
}

struct Reader<'a> {
    file: &'a InputFile,
    graph: &'a Graph,
    wiring: Wiring,
    hops: Vec<Option<Entry>>,
}

impl Reader<'_> {
    /// Reads all lines of the file, and returns the highest VC class in them.
    fn read(&mut self) -> Result<u8, Refusal> {
        let file = self.file;
        let text = file.text().map_err(|what| refusal(what, "save it as UTF-8"))?;
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let header = lines.next().map_or(String::new(), |(line, _)| line.replace(' ', ""));
        let columns = if header == HEADER { 3 } else { 4 };
        if columns == 4 && header != format!("{HEADER},class") {
            let what = format!("the first line of {} is {header:?}", file.name());
            return Err(refusal(what, format!("write {HEADER:?} or \"{HEADER},class\" into the first line")));
        }
        let mut most = 0;
        for (line, number) in lines {
            most = self
                .line(line, columns)
                .map_err(|(what, help)| refusal(format!("line {number} of {}: {what}", file.name()), help))?
                .max(most);
        }
        Ok(most)
    }

    /// Stores the entry of one line, and returns its VC class.
    fn line(&mut self, line: &str, columns: usize) -> Result<u8, (String, String)> {
        let fields = fields(line)?;
        if fields.len() != columns {
            let what = format!("{} fields, but the first line names {columns} columns", fields.len());
            return Err((what, "write a value for every column".into()));
        }
        let (at, dest, next) = (self.router(&fields[0])?, self.router(&fields[1])?, self.router(&fields[2])?);
        let class = fields.get(3).map_or(Ok(0), |text| {
            let class = text.parse::<u8>().ok().filter(|&class| class < MAX_CLASSES);
            class.ok_or_else(|| (format!("{text:?} is not a VC class"), format!("write 0 to {}", MAX_CLASSES - 1)))
        })?;
        let Some(port) = self.wiring.peers(at).iter().position(|&peer| peer == Some(next)) else {
            let what = format!("router {} has no link to {}", fields[0], fields[2]);
            return Err((what, format!("write one of its neighbours: {}", neighbours(self.graph, &self.wiring, at))));
        };
        // the routing never uses entries for a destination without terminals
        if self.wiring.row(dest).is_some() {
            let place = self.wiring.place(at, dest);
            if self.hops[place].is_some() {
                let what = format!("router {} already has an entry for destination {}", fields[0], fields[1]);
                return Err((what, "remove one of the two entries".into()));
            }
            self.hops[place] = Entry::new(Hop { port: port as u16, class });
        }
        Ok(class)
    }

    fn router(&self, text: &str) -> Result<u32, (String, String)> {
        let routers = self.wiring.routers();
        let help = match self.graph.router_names() {
            Some(_) => "write the id of a router, as in the file of the topology".into(),
            None => format!("write 0 to {}", routers - 1),
        };
        self.graph.router_named(text).ok_or_else(|| (format!("there is no router {text:?}"), help))
    }
}

/// The first neighbours of a router, for an error message.
fn neighbours(graph: &Graph, wiring: &Wiring, router: u32) -> String {
    let mut near: Vec<u32> = wiring.peers(router).iter().flatten().copied().collect();
    near.sort_unstable();
    near.dedup();
    let shown: Vec<String> = near.iter().take(8).map(|&near| graph.router_name(near).into_owned()).collect();
    shown.join(", ") + if near.len() > 8 { ", ..." } else { "" }
}

impl Routing for Runtime {
    on_graph::knows_numbers!();

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop { port: packet.dst_port, class: 0 });
        }
        self.hops[self.wiring.place(at as u32, packet.dest as u32)].map(Entry::hop)
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    /// After a fault, routers whose paths still work keep their entries. Any other router sends packets towards the nearest router whose
    /// path works, with the VC class of its old entry.
    fn rebuild(&self, left: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        let wiring = Wiring::of(left);
        let mut hops = vec![None; self.hops.len()];
        wiring.hosts().for_each(|dest| self.mend_paths(&wiring, dest, &mut hops));
        Ok(Box::new(Self { classes: self.classes.clone(), wiring, hops: hops.into() }))
    }

    fn proof(&self) -> Proof<'_> {
        Proof::Turns(Box::new(|turn| self.every_turn(turn)))
    }
}

impl Runtime {
    /// The hop at `router` toward `dest`, and the router to which this hop leads.
    fn step(&self, router: u32, dest: u32) -> Option<(Hop, u32)> {
        let hop = self.hops[self.wiring.place(router, dest)].map(Entry::hop)?;
        self.wiring.peers(router)[hop.port as usize].map(|next| (hop, next))
    }

    /// Writes the hops of all routers toward `dest` into `hops`, after a fault. `wiring`: the network without its failed links.
    fn mend_paths(&self, wiring: &Wiring, dest: u32, hops: &mut [Option<Entry>]) {
        let old = |router: u32| self.hops[self.wiring.place(router, dest)];
        let mut senders: Vec<Vec<u32>> = vec![Vec::new(); wiring.routers() as usize];
        for router in 0..wiring.routers() {
            if let Some(next) = old(router).and_then(|entry| wiring.peers(router)[usize::from(entry.hop().port)]) {
                senders[next as usize].push(router);
            }
        }
        // finds all routers whose path still works, in the order of the length of this path
        let mut reached = vec![false; wiring.routers() as usize];
        reached[dest as usize] = true;
        let mut open = vec![dest];
        for k in 0.. {
            let Some(&router) = open.get(k) else { break };
            for &sender in senders[router as usize].iter().filter(|&&sender| sender != dest) {
                hops[wiring.place(sender, dest)] = old(sender);
                reached[sender as usize] = true;
                open.push(sender);
            }
        }
        // then connects the other routers, from near to far
        for k in 0.. {
            let Some(&near) = open.get(k) else { break };
            for &router in wiring.peers(near).iter().flatten() {
                if std::mem::replace(&mut reached[router as usize], true) {
                    continue;
                }
                let port = wiring.peers(router).iter().position(|&peer| peer == Some(near)).unwrap_or(0);
                let class = old(router).map_or(0, |entry| entry.hop().class);
                hops[wiring.place(router, dest)] = Entry::new(Hop { port: port as u16, class });
                open.push(router);
            }
        }
    }

    /// Follows the path between every two routers with terminals. Refuses holes and loops.
    fn check_ways(&self, source: &Source) -> Result<(), Refusal> {
        for dest in self.wiring.hosts() {
            // for each router: true if its path is known to reach the destination
            let mut ends = vec![false; self.wiring.routers() as usize];
            ends[dest as usize] = true;
            for from in self.wiring.hosts() {
                let mut way = vec![from];
                let mut at = from;
                while !ends[at as usize] {
                    let Some((_, next)) = self.step(at, dest) else { return Err(self.hole(source, &way, dest)) };
                    // a path with more hops than routers has a loop
                    if way.len() > ends.len() {
                        return Err(looped(source, &way, dest));
                    }
                    way.push(next);
                    at = next;
                }
                way.iter().for_each(|&router| ends[router as usize] = true);
            }
        }
        Ok(())
    }

    fn hole(&self, Source { file, graph }: &Source, way: &[u32], dest: u32) -> Refusal {
        let at = way[way.len() - 1];
        let what = format!(
            "{} has no entry for router {} and destination {}, which packets from router {} need: {}",
            file.name(),
            graph.router_name(at),
            graph.router_name(dest),
            graph.router_name(way[0]),
            shown(graph, way)
        );
        let near = neighbours(graph, &self.wiring, at);
        let line = format!("{},{},NEXT", field(graph, at), field(graph, dest));
        refusal(what, format!("add the line {line}; NEXT is a neighbour of router {}: {near}", graph.router_name(at)))
    }

    /// Calls `turn` for every two successive hops of a packet, with (router, its hop, the hop of the next router).
    pub(super) fn every_turn(&self, mut turn: impl FnMut(u32, Hop, Hop)) {
        for dest in self.wiring.hosts() {
            let mut passed = vec![false; self.wiring.routers() as usize];
            for from in self.wiring.hosts() {
                let mut at = from;
                while !std::mem::replace(&mut passed[at as usize], true) {
                    let Some((hop, next)) = self.step(at, dest) else { break };
                    if let Some((onward, _)) = self.step(next, dest).filter(|_| next != dest) {
                        turn(at, hop, onward);
                    }
                    at = next;
                }
            }
        }
    }
}

/// The last 12 routers of a path as `1 -> 2 -> 3`, for an error message.
fn shown(graph: &Graph, way: &[u32]) -> String {
    let routers: Vec<String> =
        way[way.len().saturating_sub(12)..].iter().map(|&r| graph.router_name(r).into_owned()).collect();
    routers.join(" -> ")
}

/// The refusal of a table in which the path `way` ends in a loop. The message shows the loop once.
fn looped(Source { file, graph }: &Source, way: &[u32], dest: u32) -> Refusal {
    let last = way[way.len() - 1];
    let before = way[..way.len() - 1].iter().rposition(|&router| router == last).unwrap_or(0);
    let dest = graph.router_name(dest);
    let what = format!("packets to router {dest} never arrive with {}: {}", file.name(), shown(graph, &way[before..]));
    refusal(what, format!("write another next router for destination {dest} at one of these routers"))
}
