//! Reads network files in BookSim's text format `anynet`. Each line names a router or node, and then its neighbours, each with an optional
//! latency. An example is `router 0 node 0 node 1 router 1 15 router 2`. Weft numbers the routers in ascending order of their ids.

use super::draft::{Count, DEFAULT_CLASS, Draft, Link, Names, Parallel, Problem, Router, Stated};
use crate::graph::facts::{Facts, Latency};
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::iter::Peekable;
use std::str::SplitWhitespace;
use weft_units::Remark;

weft_units::codes! {
    CREDITS_UNLIKE_BOOKSIM = "anynet_credits_unlike_booksim", Warning,
        means: "Links of a BookSim file have different latencies in their two directions. In Weft a credit has the latency of the \
                direction opposite to its flit. In BookSim a credit has the same latency as its flit.",
        computed: "The number of links whose two directions have different latencies.",
        helps: "Change nothing, unless you compare with BookSim. Then exchange the credit latencies of the two link classes.";
}

/// Prefix of the class name of links whose latency is in the file. The latency in cycles follows the prefix.
pub const LATENCY_CLASS: &str = "latency";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Router(u32),
    Node(u32),
}

/// The content of the lines read so far; routers are identified by their ids in the file.
#[derive(Default)]
struct Reading {
    routers: BTreeSet<u32>,
    links: Vec<Link>,
    classes: Names,
    router_of: BTreeMap<u32, u32>,
}

pub fn read(text: &str) -> Result<Draft, Problem> {
    let mut reading = Reading::default();
    for (line, number) in text.lines().zip(1..) {
        reading
            .line(line, number)
            .map_err(|problem| Problem { what: format!("line {number}: {}", problem.what), ..problem })?;
    }
    state_ways_back(&mut reading);
    let Reading { routers, mut links, classes, router_of } = reading;
    let ids: Vec<u32> = routers.into_iter().collect();
    let index = |id: u32| ids.binary_search(&id).map_or(0, |index| index as u32);
    for link in &mut links {
        (link.from, link.to) = (index(link.from), index(link.to));
    }
    // The ids are in ascending order, so the first missing id is the first index that differs from the id at this index.
    if let Some((place, (id, _))) = router_of.iter().enumerate().find(|&(place, (&id, _))| place as u32 != id) {
        let what = format!("the file has {} nodes, among them node {id}, but no node {place}", router_of.len());
        return Err(Problem::new(what, format!("number the nodes 0 to {}", router_of.len() - 1)));
    }
    let router_of = (!router_of.is_empty()).then(|| router_of.into_values().map(index).collect());
    let routers = ids.iter().map(|id| Router { name: id.to_string(), terminals: None }).collect();
    let classes = classes.into_list();
    let latency = |class: &String| class.strip_prefix(LATENCY_CLASS).and_then(|cycles| cycles.parse().ok());
    let fact = |class: &String| Facts { latency: latency(class).map(Latency::cycles), ..Facts::default() };
    let mut draft = Draft {
        facts: classes.iter().map(fact).collect(),
        sections: vec![false; classes.len()],
        terminal_facts: Facts::default(),
        remarks: Vec::new(),
        routers,
        links,
        classes,
        stated: Stated::OneOrBothWays,
        parallel: Parallel::Refused("keep one of them; for parallel links write the file as JSON or GraphML"),
        count: Count::Lines,
        router_of,
    };
    draft.remarks.extend(remark(&draft));
    Ok(draft)
}

/// The latency that BookSim assumes for a direction of a link if the file does not give it \[cycles\].
const UNSAID: u32 = 1;

/// Adds the opposite direction of each link whose latency the file gives for only one direction. BookSim gives the opposite direction a
/// latency of 1.
fn state_ways_back(reading: &mut Reading) {
    let stated: HashSet<(u32, u32)> = reading.links.iter().map(|link| (link.from, link.to)).collect();
    let unsaid = reading.classes.find(DEFAULT_CLASS);
    let back = |link: &&Link| Some(link.class) != unsaid && !stated.contains(&(link.to, link.from));
    let one_way: Vec<Link> = reading.links.iter().filter(back).copied().collect();
    for link in one_way {
        let class = reading.classes.number(&format!("{LATENCY_CLASS}{UNSAID}"));
        reading.links.push(Link { from: link.to, to: link.from, class, ..link });
    }
}

/// The remark on a link whose two directions have different latencies. The remark explains the latencies in Weft and in BookSim.
fn remark(draft: &Draft) -> Option<Remark> {
    let class_of: BTreeMap<(u32, u32), u32> =
        draft.links.iter().map(|link| ((link.from, link.to), link.class)).collect();
    let differ = |link: &&Link| class_of.get(&(link.to, link.from)).is_some_and(|&back| back != link.class);
    let mut different = draft.links.iter().filter(differ).filter(|link| link.from < link.to);
    let first = different.next()?;
    let links = 1 + different.count();
    let name = |class: u32| &draft.classes[class as usize];
    let (there, back) = (name(first.class), name(class_of[&(first.to, first.from)]));
    let what = format!(
        "{links} of the links have different latencies in their two directions, such as {} ({there} and {back}). In Weft a credit \
         has the latency of the direction opposite to its flit. In BookSim a credit has the same latency as its flit",
        draft.place(first)
    );
    let help = format!(
        "change nothing; or, for the credits of BookSim, set links.{back}.credit_latency to the latency of {there}, and \
         links.{there}.credit_latency to the latency of {back}"
    );
    let numbers = [("links".to_owned(), links as f64)].into();
    Some(Remark { code: &CREDITS_UNLIKE_BOOKSIM, path: "file".to_owned(), numbers, what, help })
}

impl Reading {
    fn line(&mut self, line: &str, number: u32) -> Result<(), Problem> {
        let mut words = line.split_whitespace().peekable();
        let Some(head) = end(&mut words)? else { return Ok(()) };
        self.enter(head);
        while let Some(other) = end(&mut words)? {
            self.enter(other);
            let latency = latency(&mut words, line)?;
            match (head, other) {
                (End::Router(from), End::Router(to)) => {
                    let class = latency.map_or(DEFAULT_CLASS.to_owned(), |latency| format!("{LATENCY_CLASS}{latency}"));
                    let class = self.classes.number(&class);
                    self.links.push(Link { from, to, class, place: number });
                }
                (End::Router(router), End::Node(node)) | (End::Node(node), End::Router(router)) => {
                    self.attach(node, router, latency)?;
                }
                (End::Node(a), End::Node(b)) => {
                    let what = format!("node {a} is connected to node {b}");
                    return Err(Problem::new(what, "connect nodes only to routers"));
                }
            }
        }
        Ok(())
    }

    fn enter(&mut self, end: End) {
        if let End::Router(id) = end {
            self.routers.insert(id);
        }
    }

    fn attach(&mut self, node: u32, router: u32, latency: Option<u32>) -> Result<(), Problem> {
        if let Some(latency) = latency {
            let what = format!("the link of node {node} has latency {latency}, which Weft does not read from the file");
            return Err(Problem::new(what, "remove the number, and write links.terminal.latency in the scenario"));
        }
        let before = *self.router_of.entry(node).or_insert(router);
        if before != router {
            let what = format!("node {node} is connected to router {before} and to router {router}");
            return Err(Problem::new(what, "connect every node to exactly one router"));
        }
        Ok(())
    }
}

/// Parses the next `router N` or `node N` in a line; `None` at the end of the line.
fn end(words: &mut Peekable<SplitWhitespace>) -> Result<Option<End>, Problem> {
    let Some(kind) = words.next() else { return Ok(None) };
    let id = words.next();
    match (kind, id.and_then(|id| id.parse().ok())) {
        ("router", Some(id)) => Ok(Some(End::Router(id))),
        ("node", Some(id)) => Ok(Some(End::Node(id))),
        _ => {
            let what =
                format!("{:?} is neither `router N` nor `node N`", [kind, id.unwrap_or_default()].join(" ").trim());
            Err(Problem::new(
                what,
                "write, for example, `router 0 node 0 router 1`; Weft recognises other formats by the extension of the file: \
                 .json, .graphml, .csv (cables), .gml, .edgelist; or write `format: json`, `graphml` or `cables`",
            ))
        }
    }
}

/// Parses the latency after the name of a router or node, if there is one. `line` is the whole line, for the column of the number.
fn latency(words: &mut Peekable<SplitWhitespace>, line: &str) -> Result<Option<u32>, Problem> {
    let Some(word) = words.next_if(|word| word.starts_with(|first: char| first.is_ascii_digit())) else {
        return Ok(None);
    };
    match word.parse() {
        Ok(0) => {
            let before = word.as_ptr() as usize - line.as_ptr() as usize;
            let column = line[..before].chars().count() + 1;
            let what = format!("column {column}: the latency is 0 cycles, which BookSim2 refuses");
            let help = "write 1 or more, or remove the number and write links.link.latency in the scenario";
            Err(Problem::new(what, help))
        }
        Ok(cycles) => Ok(Some(cycles)),
        Err(_) => {
            let what = format!("the latency {word} is not a whole number below 2^32");
            Err(Problem::new(what, "write a whole number of cycles, such as 15"))
        }
    }
}
