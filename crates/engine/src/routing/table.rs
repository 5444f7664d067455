//! An explicit table: the next router for every router and destination, from a file.
//!
//! # Source
//! What the subnet manager of an InfiniBand fabric writes into its switches; the classes are its virtual lanes.
//! # Parameters
//! file: CSV with the header `router,destination,next` or `router,destination,next,class`. Routers are numbers, or names
//! where the topology has them. `destination` is a router (all its terminals), `next` a neighbour of `router`, `class` the
//! VC class of the hop (0 if left out).
//! # Guarantees
//! Refused with line and remedy: unknown routers, next routers that are no neighbour, duplicates; refused with the path:
//! pairs of routers with terminals that have a hole or a loop on their way; the check of dependencies decides on
//! deadlock. Two bytes of table per router and router with terminals, at most 1 GiB.
//! # Not modelled
//! Next hops by terminal or by source; choice among parallel links: that on the lowest port is taken.

use super::{Classes, Hop, distances::Wiring};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::{InputFile, Refusal};

/// An explicit table: the next router for every router and destination, from a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// CSV file with the columns router, destination, next and, if wanted, class.
    pub file: InputFile,
}

/// Most classes: as many VCs as a link can have.
const MAX_CLASSES: u8 = 16;
const HEADER: &str = "router,destination,next";

#[derive(Debug, Clone)]
pub struct Runtime {
    wiring: Wiring,
    /// By [`Wiring::place`].
    hops: Arc<[Option<Entry>]>,
}

/// Port and VC class: 8 and 4 bits in fact, packed with the niche of `Option` into two bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry(std::num::NonZeroU16);

impl Entry {
    fn new(hop: Hop) -> Option<Self> {
        std::num::NonZeroU16::new(0x8000 | u16::from(hop.class) << 8 | u16::from(hop.port)).map(Self)
    }

    #[inline(always)]
    fn hop(self) -> Hop {
        Hop { port: self.0.get() as u8, class: (self.0.get() >> 8) as u8 & 0x7f }
    }
}

impl Table {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let wiring = Wiring::of(graph);
        let hops = vec![None; wiring.check_size(2, "table")?];
        let mut reader = Reader { file: &self.file, names: names(graph), wiring, hops };
        let most = reader.read()?;
        let Reader { wiring, hops, .. } = reader;
        let runtime = Runtime { wiring, hops: hops.into() };
        runtime.check_ways(&self.file)?;
        let mut classes = vec![most + 1; graph.class_names().len()];
        classes[0] = 1;
        Ok((runtime, classes))
    }
}

fn names(graph: &Graph) -> Option<BTreeMap<&str, u32>> {
    graph.router_names().map(|names| names.iter().map(String::as_str).zip(0..).collect())
}

fn refusal(what: String, help: impl Into<String>) -> Refusal {
    Refusal::new("routing.table.file", what, help)
}

struct Reader<'a> {
    file: &'a InputFile,
    names: Option<BTreeMap<&'a str, u32>>,
    wiring: Wiring,
    hops: Vec<Option<Entry>>,
}

impl Reader<'_> {
    /// Reads all lines; returns the highest class.
    fn read(&mut self) -> Result<u8, Refusal> {
        let file = self.file;
        let text = file.text().map_err(|what| refusal(what, "save it as UTF-8"))?;
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.trim().is_empty());
        let header = lines.next().map_or(String::new(), |(line, _)| line.replace(' ', ""));
        let columns = if header == HEADER { 3 } else { 4 };
        if columns == 4 && header != format!("{HEADER},class") {
            let what = format!("{} begins with {header:?}", file.name());
            return Err(refusal(what, format!("write {HEADER:?} or \"{HEADER},class\" into its first line")));
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

    /// Enters one line; returns its class.
    fn line(&mut self, line: &str, columns: usize) -> Result<u8, (String, String)> {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() != columns {
            let what = format!("{} fields, but the first line names {columns} columns", fields.len());
            return Err((what, "write a value for every column".into()));
        }
        let (at, dest, next) = (self.router(fields[0])?, self.router(fields[1])?, self.router(fields[2])?);
        let class = fields.get(3).map_or(Ok(0), |text| {
            let class = text.parse::<u8>().ok().filter(|&class| class < MAX_CLASSES);
            class.ok_or_else(|| (format!("class {text:?}"), format!("write 0 to {}", MAX_CLASSES - 1)))
        })?;
        let Some(port) = self.wiring.peers(at).iter().position(|&peer| peer == Some(next)) else {
            let what = format!("router {} has no link to {}", fields[0], fields[2]);
            return Err((what, format!("write one of its neighbours: {}", neighbours(&self.wiring, at))));
        };
        // what leads to a router without terminals is never used
        if self.wiring.row(dest).is_some() {
            let place = self.wiring.place(at, dest);
            if self.hops[place].is_some() {
                let what = format!("router {} already has an entry for destination {}", fields[0], fields[1]);
                return Err((what, "leave one of the two out".into()));
            }
            self.hops[place] = Entry::new(Hop { port: port as u8, class });
        }
        Ok(class)
    }

    fn router(&self, text: &str) -> Result<u32, (String, String)> {
        let routers = self.wiring.routers();
        let known = match &self.names {
            Some(names) => names.get(text).copied(),
            None => text.parse().ok().filter(|&router: &u32| router < routers),
        };
        let help = match &self.names {
            Some(_) => "write a name from the file of the topology".into(),
            None => format!("write 0 to {}", routers - 1),
        };
        known.ok_or_else(|| (format!("there is no router {text:?}"), help))
    }
}

/// For a message: the first neighbours of a router.
fn neighbours(wiring: &Wiring, router: u32) -> String {
    let mut near: Vec<u32> = wiring.peers(router).iter().flatten().copied().collect();
    near.sort_unstable();
    near.dedup();
    let shown: Vec<String> = near.iter().take(8).map(u32::to_string).collect();
    shown.join(", ") + if near.len() > 8 { ", ..." } else { "" }
}

impl Runtime {
    #[inline(always)]
    pub(super) fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop { port: packet.dst_port, class: 0 });
        }
        self.hops[self.wiring.place(at as u32, packet.dest as u32)].map(Entry::hop)
    }

    /// The hop at `router` toward `dest`, and where it leads.
    fn step(&self, router: u32, dest: u32) -> Option<(Hop, u32)> {
        let hop = self.hops[self.wiring.place(router, dest)].map(Entry::hop)?;
        self.wiring.peers(router)[hop.port as usize].map(|next| (hop, next))
    }

    /// Follows every way between routers with terminals.
    fn check_ways(&self, file: &InputFile) -> Result<(), Refusal> {
        for dest in self.wiring.hosts() {
            // routers from which the way is known to end
            let mut ends = vec![false; self.wiring.routers() as usize];
            ends[dest as usize] = true;
            for from in self.wiring.hosts() {
                let mut way = vec![from];
                let mut at = from;
                while !ends[at as usize] {
                    let Some((_, next)) = self.step(at, dest) else { return Err(self.hole(file, &way, dest)) };
                    // longer than all routers in a row: it goes round
                    if way.len() > ends.len() {
                        return Err(looped(file, &way, dest));
                    }
                    way.push(next);
                    at = next;
                }
                way.iter().for_each(|&router| ends[router as usize] = true);
            }
        }
        Ok(())
    }

    fn hole(&self, file: &InputFile, way: &[u32], dest: u32) -> Refusal {
        let at = way[way.len() - 1];
        let what = format!(
            "{} has no entry for router {at} and destination {dest}, which packets from router {} need: {}",
            file.name(),
            way[0],
            shown(way)
        );
        let near = neighbours(&self.wiring, at);
        refusal(what, format!("add the line {at},{dest},NEXT; neighbours of router {at} are {near}"))
    }

    /// Every turn that packets take, as (router, its hop, hop of the next router).
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

/// For a message: a way as `1 -> 2 -> 3`, from its last 12 routers.
fn shown(way: &[u32]) -> String {
    let routers: Vec<String> = way[way.len().saturating_sub(12)..].iter().map(u32::to_string).collect();
    routers.join(" -> ")
}

/// `way` ends in a loop: shows it once.
fn looped(file: &InputFile, way: &[u32], dest: u32) -> Refusal {
    let last = way[way.len() - 1];
    let before = way[..way.len() - 1].iter().rposition(|&router| router == last).unwrap_or(0);
    let what = format!("packets to router {dest} never arrive by {}: {}", file.name(), shown(&way[before..]));
    refusal(what, format!("give one of these routers another next router for destination {dest}"))
}
