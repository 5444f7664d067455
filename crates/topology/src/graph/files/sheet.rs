//! Collects the nodes and edges of a graph file with their attributes, and interprets the attributes.

use super::asked::{Attributes, Hosts};
use super::draft::{
    Count, DEFAULT_CLASS, Draft, Link, Names, Parallel, Place, Problem, Router, Stated, known_end, new_router,
};
use super::hosts::{self, Mark};
use super::unused::Seen;
use super::values;
use crate::graph::facts::Facts;
use std::collections::{HashMap, HashSet};
use weft_units::{Bandwidth, Time};

/// The scenario keys about the graph file.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub attributes: &'a Attributes,
    pub hosts: Option<&'a Hosts>,
    /// True if the scenario gives a default number of terminals for routers without a number in the file.
    pub default_terminals: bool,
}

impl Asked<'_> {
    pub fn terminals(&self) -> &str {
        self.attributes.terminals.as_ref().map_or("terminals", |named| &named.from)
    }

    pub fn class(&self) -> &str {
        self.attributes.class.as_ref().map_or("class", |named| &named.from)
    }
}

/// An attribute of a node or edge: its name and its value.
pub type Field = (String, String);

/// The nodes and edges that a reader has found in a file so far.
pub struct Sheet<'a> {
    asked: Asked<'a>,
    names: Names,
    routers: Vec<Router>,
    marks: Vec<Option<Mark>>,
    classes: Names,
    /// A number for each kind of links. Links of the same kind have the same class in the file, the same latency and the same bandwidth.
    kinds: HashMap<(u32, Facts), u32>,
    links: Vec<Link>,
    seen: Seen,
}

impl<'a> Sheet<'a> {
    pub fn new(asked: Asked<'a>) -> Self {
        let (names, classes, seen) = (Names::default(), Names::default(), Seen::new(asked));
        let (routers, marks, kinds, links) = (Vec::new(), Vec::new(), HashMap::new(), Vec::new());
        Self { asked, names, routers, marks, classes, kinds, links, seen }
    }

    /// Adds a node.
    pub fn node(&mut self, id: &str, fields: &[Field], place: impl Fn() -> String) -> Result<(), Problem> {
        new_router(&mut self.names, id, &place)?;
        let mut terminals = None;
        for (name, text) in fields {
            if name == self.asked.terminals() {
                let number = values::whole(text).ok_or_else(|| {
                    let what =
                        format!("{}: {:?} is not a number of terminals (router {id})", place(), values::short(text));
                    Problem::new(what, "write a whole number, 0 or more")
                })?;
                terminals = Some(number);
            }
            self.seen.node(name);
        }
        self.routers.push(Router { name: id.to_owned(), terminals });
        self.marks.push(hosts::mark(id, fields, self.asked.hosts, &mut self.seen));
        Ok(())
    }

    /// Adds an edge between two nodes. The caller must have added both nodes before.
    pub fn edge(&mut self, fields: &[Field], place: Place) -> Result<(), Problem> {
        let [from, to] = place.ends.map(|end| known_end(&self.names, end, || place.to_string()));
        let (from, to) = (from?, to?);
        let (mut class, mut facts) = (DEFAULT_CLASS, Facts::default());
        let attributes = self.asked.attributes;
        for (name, text) in fields {
            if name == self.asked.class() {
                class = text;
            }
            if let Some(asked) = attributes.bandwidth.as_ref().filter(|asked| asked.from == *name) {
                facts.bandwidth = Some(asked.read(text).map_err(|problem| problem.at(&place))?);
            }
            if let Some(asked) = attributes.latency.as_ref().filter(|asked| asked.from == *name) {
                facts.latency = Some(asked.read(text).map_err(|problem| problem.at(&place))?);
            }
            self.seen.edge(name);
        }
        let class = self.classes.number(class);
        let next = self.kinds.len() as u32;
        let class = *self.kinds.entry((class, facts)).or_insert(next);
        self.links.push(Link { from, to, class, place: place.number });
        Ok(())
    }

    /// Builds the draft of the network from all nodes and edges, with hosts as terminals.
    pub fn draft(self, stated: Stated, parallel: Parallel, count: Count) -> Result<Draft, Problem> {
        let Self { asked, names: _, routers, marks, classes, kinds, links, seen } = self;
        seen.check()?;
        let has_classes = seen.has_classes();
        let names = classes.into_list();
        let mut classes = vec![(String::new(), Facts::default(), false); kinds.len()];
        for ((class, facts), number) in kinds {
            let name = named(&names[class as usize], &facts);
            let needs_section = has_classes && facts == Facts::default() && names[class as usize] != DEFAULT_CLASS;
            classes[number as usize] = (name, facts, needs_section);
        }
        let mut known = HashSet::new();
        if let Some((twice, ..)) = classes.iter().find(|(name, ..)| !known.insert(name)) {
            let what =
                format!("two classes of links get the name `{twice}` when Weft adds the bandwidth or latency to names");
            return Err(Problem::new(what, "give one of the classes another name in the file"));
        }
        let mut draft = Draft {
            remarks: seen.remarks(links.len()),
            facts: classes.iter().map(|(_, facts, _)| facts.clone()).collect(),
            sections: classes.iter().map(|(_, _, needs)| *needs).collect(),
            classes: classes.into_iter().map(|(name, ..)| name).collect(),
            terminal_facts: Facts::default(),
            router_of: None,
            routers,
            links,
            stated,
            parallel,
            count,
        };
        hosts::settle(&mut draft, &marks, asked, &seen)?;
        Ok(draft)
    }
}

/// A class name that contains the latency and bandwidth of its links, such as `link_100G_276us`. The name becomes part of a dotted path, so
/// quantities in it are whole numbers without a dot.
fn named(class: &str, facts: &Facts) -> String {
    let mut name = class.to_owned();
    match facts.bandwidth {
        Some(Bandwidth::BitsPerSecond(bits)) => {
            let units = [("T", 1_000_000_000_000), ("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000), ("b", 1)];
            name += &in_whole(bits, &units);
        }
        Some(Bandwidth::Flits { flits, cycles: 1 }) => name += &format!("_{flits}flits"),
        Some(Bandwidth::Flits { flits, cycles }) => name += &format!("_{flits}of{cycles}flits"),
        None => {}
    }
    match facts.latency.map(|latency| latency.time) {
        Some(Time::Cycles(cycles)) => name += &format!("_{cycles}cycles"),
        Some(Time::Femtoseconds(fs)) => {
            let (us, ns) = (1_000_000_000, 1_000_000);
            name += &in_whole(fs, &[("ms", us * 1000), ("us", us), ("ns", ns), ("ps", 1000), ("fs", 1)]);
        }
        None => {}
    }
    name
}

fn in_whole(value: u128, units: &[(&str, u128)]) -> String {
    let unit = units.iter().find(|(_, scale)| value.is_multiple_of(*scale) && value > 0).or(units.last());
    unit.map_or_else(String::new, |(unit, scale)| format!("_{}{unit}", value / scale))
}
