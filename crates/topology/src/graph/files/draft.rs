//! The result of the readers of graph files: routers and links as the file states them, each with its place in the
//! file.

use crate::graph::facts::Facts;
use std::collections::{BTreeMap, HashMap, HashSet};
use weft_units::Remark;

/// The fault of a file, its place, and the remedy.
#[derive(Debug)]
pub struct Problem {
    pub what: String,
    pub help: String,
    /// The key of the scenario that it is about.
    pub key: &'static str,
}

impl Problem {
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into(), key: "file" }
    }

    /// The same, about another key of the scenario than the file.
    pub fn under(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// The same, with its place in the file.
    pub fn at(self, place: &Place) -> Self {
        Self { what: format!("{place}: {}", self.what), ..self }
    }
}

/// How often a file states a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stated {
    /// Once, in either direction.
    Once,
    /// In both directions, each once.
    BothWays,
    /// A cable may be listed in one direction or in both.
    OneOrBothWays,
}

/// The meaning of two statements of one link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// Two parallel links.
    Links,
    /// A mistake; with the remedy.
    Refused(&'static str),
}

/// Names of routers to show in a message.
const SHOWN: usize = 5;

#[derive(Debug)]
pub struct Router {
    pub name: String,
    /// Terminals, where the file says how many.
    pub terminals: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub from: u32,
    pub to: u32,
    /// Index into [`Draft::classes`].
    pub class: u32,
    /// Line, or index in the list of links.
    pub place: u32,
}

/// A graph file, read but not checked.
#[derive(Debug)]
pub struct Draft {
    pub routers: Vec<Router>,
    pub links: Vec<Link>,
    pub classes: Vec<String>,
    /// The facts that the file states of the links of each class.
    pub facts: Vec<Facts>,
    /// Classes of the file without any facts. Only a section of the scenario makes them different from others.
    pub sections: Vec<bool>,
    /// The facts of links to terminals.
    pub terminal_facts: Facts,
    /// Remarks for the author of the file.
    pub remarks: Vec<Remark>,
    pub stated: Stated,
    pub parallel: Parallel,
    /// What [`Link::place`] counts.
    pub count: Count,
    /// The router of every terminal, where the file names terminals.
    pub router_of: Option<Vec<u32>>,
}

impl Draft {
    pub fn name(&self, router: u32) -> &str {
        &self.routers[router as usize].name
    }

    /// Gives routers the number of terminals that the scenario states for their id.
    pub fn terminals_by_id(&mut self, stated: &BTreeMap<String, u32>) -> Result<(), Problem> {
        let mut used = HashSet::new();
        for router in &mut self.routers {
            let exact = stated.get_key_value(&router.name);
            let begins = stated
                .iter()
                .filter(|(id, _)| id.strip_suffix('*').is_some_and(|start| router.name.starts_with(start)));
            let Some((id, &number)) = exact.or(begins.max_by_key(|(id, _)| id.len())) else { continue };
            router.terminals = Some(number);
            used.insert(id);
        }
        let problem = |what: String, help: &str| Err(Problem::new(what, help).under("terminals_of"));
        let unused = stated.keys().find(|id| !used.contains(id));
        if let Some(unused) = unused.filter(|_| !self.routers.is_empty()) {
            let names: Vec<_> = self.routers.iter().take(SHOWN).map(|router| router.name.as_str()).collect();
            let what = format!("no router has its terminals from `{unused}`; the first of them: {}", names.join(", "));
            return problem(what, "write the id of a router, or the beginning of ids and a star, such as `leaf*`");
        }
        match &self.router_of {
            Some(router_of) if !stated.is_empty() => {
                let what = format!("the file places {} terminals itself", router_of.len());
                problem(what, "leave terminals_of out, or the terminals of the file")
            }
            _ => Ok(()),
        }
    }

    /// Leaves out the classes of which there is no link.
    pub fn drop_unused_classes(&mut self) {
        let mut new = vec![None; self.classes.len()];
        let mut kept = Vec::new();
        for link in &mut self.links {
            let old = link.class as usize;
            link.class = *new[old].get_or_insert_with(|| {
                kept.push(old);
                kept.len() as u32 - 1
            });
        }
        self.classes = kept.iter().map(|&old| std::mem::take(&mut self.classes[old])).collect();
        self.facts = kept.iter().map(|&old| std::mem::take(&mut self.facts[old])).collect();
        self.sections = kept.iter().map(|&old| self.sections[old]).collect();
    }

    pub fn place(&self, link: &Link) -> String {
        let ends = [link.from, link.to].map(|router| self.name(router));
        Place { count: self.count, number: link.place, ends }.to_string()
    }

    /// Where two links are, each place once.
    pub fn places(&self, a: &Link, b: &Link) -> String {
        let [a, b] = [a, b].map(|link| self.place(link));
        if a == b { a } else { format!("{a} and {b}") }
    }
}

/// Gives each name a number, in the order in which the names come.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The number of a name, a new one if it is new.
    pub fn number(&mut self, name: &str) -> u32 {
        match self.numbers.get(name) {
            Some(&number) => number,
            None => {
                let number = self.numbers.len() as u32;
                self.numbers.insert(name.to_owned(), number);
                number
            }
        }
    }

    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// The names by number.
    pub fn into_list(self) -> Vec<String> {
        let mut list = vec![String::new(); self.numbers.len()];
        self.numbers.into_iter().for_each(|(name, number)| list[number as usize] = name);
        list
    }
}

/// The class of links that name none.
pub const DEFAULT_CLASS: &str = "link";

/// Enters a router, once.
pub fn new_router(names: &mut Names, name: &str, place: impl FnOnce() -> String) -> Result<(), Problem> {
    let routers = names.len();
    match names.number(name) as usize == routers {
        true => Ok(()),
        false => Err(Problem::new(
            format!("{}: the router {name} is stated twice", place()),
            "give every node an id of its own (1 and \"1\" count as the same)",
        )),
    }
}

/// The end of a link, which must be a router of the file.
pub fn known_end(names: &Names, name: &str, place: impl FnOnce() -> String) -> Result<u32, Problem> {
    names.find(name).ok_or_else(|| {
        Problem::new(
            format!("{}: the link ends at {name}, which is none of the {} nodes", place(), names.len()),
            "state the node, or correct its id",
        )
    })
}

/// The meaning of the number of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// Lines of the file.
    Lines,
    /// The elements of this list.
    List(&'static str),
    /// The edges of a file that was made of the author's file: they say nothing to its author.
    Converted,
}

/// The place of an edge in its file.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    pub count: Count,
    pub number: u32,
    pub ends: [&'a str; 2],
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self.count {
            Count::List(list) => write!(f, "{list}[{}]", self.number),
            Count::Lines => write!(f, "line {}", self.number),
            Count::Converted => write!(f, "edge ({}, {})", self.ends[0], self.ends[1]),
        }
    }
}
