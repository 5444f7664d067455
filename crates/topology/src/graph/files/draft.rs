//! What the readers of graph files make: routers and links as the file states them, each with its place in the file.

use std::collections::HashMap;

/// What is wrong with a file, where, and what to do.
#[derive(Debug)]
pub struct Problem {
    pub what: String,
    pub help: String,
}

impl Problem {
    pub fn new(what: impl Into<String>, help: impl Into<String>) -> Self {
        Self { what: what.into(), help: help.into() }
    }
}

/// How often a file states a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stated {
    /// Once, in either direction.
    Once,
    /// In both directions, each once.
    BothWays,
    /// In one direction or in both.
    OneOrBothWays,
}

/// What two statements of one link mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parallel {
    /// Two parallel links.
    Links,
    /// A mistake; with the remedy.
    Refused(&'static str),
}

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
    pub stated: Stated,
    pub parallel: Parallel,
    /// The list of which [`Link::place`] is an index; `None` where it is a line.
    pub list: Option<&'static str>,
    /// The router of every terminal, where the file names terminals.
    pub router_of: Option<Vec<u32>>,
}

impl Draft {
    pub fn name(&self, router: u32) -> &str {
        &self.routers[router as usize].name
    }

    pub fn place(&self, link: &Link) -> String {
        match self.list {
            Some(list) => format!("{list}[{}]", link.place),
            None => format!("line {}", link.place),
        }
    }

    /// Where two links are, each place once.
    pub fn places(&self, a: &Link, b: &Link) -> String {
        match a.place == b.place {
            true => self.place(a),
            false => format!("{} and {}", self.place(a), self.place(b)),
        }
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
