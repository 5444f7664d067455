//! The result of the readers of graph files: the routers and links as the file lists them, with the position of each link in the file.

use crate::graph::facts::Facts;
use std::collections::{BTreeMap, HashMap, HashSet};
use weft_units::Remark;

/// An error in a graph file: the fault, its position, and the remedy.
#[derive(Debug)]
pub struct Problem {
    pub what: String,
    pub help: String,
    /// The scenario key at which the error is shown.
    pub key: &'static str,
}

impl Problem {
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into(), key: "file" }
    }

    /// Moves the error to another scenario key than `file`.
    pub fn under(self, key: &'static str) -> Self {
        Self { key, ..self }
    }

    /// Adds the position in the file to the text of the error.
    pub fn at(self, place: &Place) -> Self {
        Self { what: format!("{place}: {}", self.what), ..self }
    }
}

/// The number of times that a file lists each link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stated {
    /// The file lists each link once, in either direction.
    Once,
    /// The file lists each link twice: once in each direction.
    BothWays,
    /// The file lists each link once or in both directions: a cable can be listed from one end or from both ends.
    OneOrBothWays,
}

/// Meaning of a link that the file lists twice in the same direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// The two entries are two parallel links.
    Links,
    /// The second entry is a mistake, so the file is refused. The text is the remedy.
    Refused(&'static str),
}

/// Number of router names that an error message lists.
const SHOWN: usize = 5;

#[derive(Debug)]
pub struct Router {
    pub name: String,
    /// Number of terminals, if the file gives it.
    pub terminals: Option<u32>,
}

#[derive(Debug, Clone, Copy)]
pub struct Link {
    pub from: u32,
    pub to: u32,
    /// Index into [`Draft::classes`].
    pub class: u32,
    /// Position of the link: line number, or index in the list of links.
    pub place: u32,
}

/// The content of a graph file, before any check.
#[derive(Debug)]
pub struct Draft {
    pub routers: Vec<Router>,
    pub links: Vec<Link>,
    pub classes: Vec<String>,
    /// For each class, the latency and bandwidth that the file gives for its links.
    pub facts: Vec<Facts>,
    /// For each class, true if the file names the class but gives neither its latency nor its bandwidth. The links of such a class differ
    /// from others only if the scenario has a section for the class.
    pub sections: Vec<bool>,
    /// The latency and bandwidth that the file gives for links to terminals.
    pub terminal_facts: Facts,
    /// Remarks for the author of the file, which become warnings.
    pub remarks: Vec<Remark>,
    pub stated: Stated,
    pub parallel: Parallel,
    /// The unit of [`Link::place`].
    pub count: Count,
    /// The router of every terminal, if the file gives names to terminals.
    pub router_of: Option<Vec<u32>>,
}

impl Draft {
    pub fn name(&self, router: u32) -> &str {
        &self.routers[router as usize].name
    }

    /// Sets the number of terminals of those routers that the scenario lists by id. `stated`: number of terminals by id, or by the begin of
    /// ids and `*`.
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
            let what = format!("`{unused}` gives terminals to no router; the first routers are {}", names.join(", "));
            return problem(what, "write the id of a router, or the beginning of ids and a star, such as `leaf*`");
        }
        match &self.router_of {
            Some(router_of) if !stated.is_empty() => {
                let what = format!("the file already connects {} terminals to routers", router_of.len());
                problem(what, "remove terminals_of, or remove the terminals from the file")
            }
            _ => Ok(()),
        }
    }

    /// Removes classes that no link has.
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

    /// The positions of two links in the file, as text. Equal positions are written only once.
    pub fn places(&self, a: &Link, b: &Link) -> String {
        let [a, b] = [a, b].map(|link| self.place(link));
        if a == b { a } else { format!("{a} and {b}") }
    }
}

/// Assigns a number to each name, in the order in which the names first occur.
#[derive(Debug, Default)]
pub struct Names {
    numbers: HashMap<String, u32>,
}

impl Names {
    /// The number of this name. A name that is not known yet gets the next number.
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

    /// The names in the order of their numbers.
    pub fn into_list(self) -> Vec<String> {
        let mut list = vec![String::new(); self.numbers.len()];
        self.numbers.into_iter().for_each(|(name, number)| list[number as usize] = name);
        list
    }
}

/// Name of the class of links for which the file gives no class.
pub const DEFAULT_CLASS: &str = "link";

/// Adds a router with this name. Refuses a name that has been added before.
pub fn new_router(names: &mut Names, name: &str, place: impl FnOnce() -> String) -> Result<(), Problem> {
    let routers = names.len();
    match names.number(name) as usize == routers {
        true => Ok(()),
        false => Err(Problem::new(
            format!("{}: router {name} is defined twice", place()),
            "give every node a different id (1 and \"1\" are the same id)",
        )),
    }
}

/// The number of the router at an end of a link. Refuses a name that is no router of the file.
pub fn known_end(names: &Names, name: &str, place: impl FnOnce() -> String) -> Result<u32, Problem> {
    names.find(name).ok_or_else(|| {
        Problem::new(
            format!("{}: the link ends at {name}, which is not one of the {} nodes", place(), names.len()),
            "add the node to the file, or correct the id",
        )
    })
}

/// Kind of the numbers that give the position of an edge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Count {
    /// The number is a line number in the file.
    Lines,
    /// The number is the index in the list with this name.
    List(&'static str),
    /// The number is a position in a converted file, so it has no meaning for the author of the original file and is not shown.
    Converted,
}

/// The position of an edge in its file.
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
