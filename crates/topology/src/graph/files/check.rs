//! Turns what a graph file states into a wiring that keeps the laws of graphs, or refuses it.

use super::draft::{Draft, Link, Problem, Stated};
use crate::{MAX_PORTS, MAX_RADIX};

/// One end of a link, at its router.
#[derive(Debug, Clone, Copy)]
pub struct End {
    pub to: u32,
    /// Place of the other end among the links of the other router.
    pub far: u16,
    pub class: u8,
}

/// The links of every router by ascending neighbour, and the names of the link classes.
pub struct Wiring<'a> {
    pub links: Vec<Vec<End>>,
    pub classes: Vec<&'a str>,
}

/// The terminals of every router; `default` is for routers of which the file does not say.
pub fn terminals_of_routers(draft: &Draft, default: Option<u32>) -> Result<Vec<Vec<u32>>, Problem> {
    if draft.routers.is_empty() {
        return Err(Problem::new("no routers", "state at least one router with a terminal"));
    }
    let mut terminals = vec![Vec::new(); draft.routers.len()];
    match (&draft.router_of, default) {
        (Some(router_of), None) => {
            for (&router, terminal) in router_of.iter().zip(0..) {
                terminals[router as usize].push(terminal);
            }
        }
        (Some(router_of), Some(_)) => {
            let what = format!("the file places {} nodes itself", router_of.len());
            return Err(Problem::new(what, "leave terminals_per_router out, or the nodes"));
        }
        (None, default) => {
            let mut next = 0;
            for (own, router) in terminals.iter_mut().zip(&draft.routers) {
                let number = router.terminals.or(default).unwrap_or(0);
                check_radix(&router.name, number, 0)?;
                own.extend(next..next + number);
                next += number;
                check_ports(next.into())?;
            }
        }
    }
    if terminals.iter().all(Vec::is_empty) {
        let what = format!("none of the {} routers has a terminal", draft.routers.len());
        return Err(Problem::new(what, "write terminals_per_router, or the node attribute `terminals`"));
    }
    Ok(terminals)
}

fn check_radix(name: &str, terminals: u32, links: usize) -> Result<(), Problem> {
    let ports = u64::from(terminals) + links as u64;
    if ports <= MAX_RADIX.into() {
        return Ok(());
    }
    let what =
        format!("router {name} has {terminals} terminals + {links} links = {ports} ports; {MAX_RADIX} are the most");
    Err(Problem::new(what, "take fewer terminals or fewer links, or split the router"))
}

fn check_ports(ports: u64) -> Result<(), Problem> {
    match ports > MAX_PORTS {
        true => Err(Problem::new(format!("more than {MAX_PORTS} ports"), "take fewer routers or terminals")),
        false => Ok(()),
    }
}

/// Checks the links and gives them to their routers.
pub fn wiring<'a>(draft: &'a Draft, terminals: &[Vec<u32>]) -> Result<Wiring<'a>, Problem> {
    let (classes, numbers) = classes(draft)?;
    let mut ends = vec![Vec::new(); draft.routers.len()];
    for link in distinct_links(draft)? {
        // Pairs ascend, so the neighbours of each router do: first those below it, then those above.
        let (a, b) = pair(&link);
        let class = numbers[link.class as usize];
        let (far, near) = (ends[b as usize].len() as u16, ends[a as usize].len() as u16);
        ends[a as usize].push(End { to: b, far, class });
        ends[b as usize].push(End { to: a, far: near, class });
        for router in [a, b] {
            let own = terminals[router as usize].len() as u32;
            check_radix(draft.name(router), own, ends[router as usize].len())?;
        }
    }
    check_ports(ends.iter().zip(terminals).map(|(ends, own)| (ends.len() + own.len()) as u64).sum())?;
    check_connected(draft, &ends)?;
    Ok(Wiring { links: ends, classes })
}

/// The names of the classes in alphabetic order, and the number of each class of the draft.
fn classes(draft: &Draft) -> Result<(Vec<&str>, Vec<u8>), Problem> {
    let mut names: Vec<&str> = draft.classes.iter().map(String::as_str).collect();
    names.sort_unstable();
    if let Some(reserved) = names.iter().find(|name| matches!(**name, "terminal" | "default" | "all" | "")) {
        let what = format!("a link is of the class {reserved:?}, which has another meaning in a scenario");
        return Err(Problem::new(what, "give the class another name"));
    }
    if names.len() > usize::from(u8::MAX) {
        let what = format!("{} classes of links; {} are the most", names.len(), u8::MAX);
        return Err(Problem::new(what, "give links that are alike the same class"));
    }
    // Class 0 is "terminal".
    let number = |name: &String| names.partition_point(|&other| other < name.as_str()) as u8 + 1;
    let numbers = draft.classes.iter().map(number).collect();
    Ok((names, numbers))
}

fn pair(link: &Link) -> (u32, u32) {
    (link.from.min(link.to), link.from.max(link.to))
}

/// Every link once, by ascending pair of routers; refuses loops, duplicates and links of one direction.
fn distinct_links(draft: &Draft) -> Result<Vec<Link>, Problem> {
    if let Some(link) = draft.links.iter().find(|link| link.from == link.to) {
        let what = format!("{}: router {} is joined to itself", draft.place(link), draft.name(link.from));
        return Err(Problem::new(what, "remove the link"));
    }
    let mut sorted = draft.links.clone();
    sorted.sort_by_key(|link| (pair(link), link.from));
    let mut distinct = Vec::with_capacity(sorted.len());
    for links in sorted.chunk_by(|a, b| pair(a) == pair(b)) {
        check_pair(draft, links)?;
        distinct.push(links[0]);
    }
    Ok(distinct)
}

/// All links that a file states between two routers.
fn check_pair(draft: &Draft, links: &[Link]) -> Result<(), Problem> {
    let (first, last) = (&links[0], &links[links.len() - 1]);
    let (from, to) = (draft.name(first.from), draft.name(first.to));
    let most = if draft.stated == Stated::Once { 1 } else { 2 };
    // Sorted by direction: of three links, or of two in one direction, the first two are alike.
    if let [a, b, ..] = links
        && (links.len() > most || a.from == b.from)
    {
        let what = format!("{}: the link from {from} to {to} is stated twice", draft.places(a, b));
        return Err(Problem::new(what, "keep one of them: two routers have one link"));
    }
    if draft.stated == Stated::BothWays && links.len() == 1 {
        let what = format!("{}: a link leads from {from} to {to}, and none back", draft.place(first));
        return Err(Problem::new(what, "add the link back, or write an undirected graph: links carry both directions"));
    }
    if first.class != last.class {
        let [one, other] = [first, last].map(|link| &draft.classes[link.class as usize]);
        let places = draft.places(first, last);
        let what = format!("{places}: the link from {from} to {to} is `{one}`, and `{other}` on the way back");
        return Err(Problem::new(what, "give both directions one class or latency"));
    }
    Ok(())
}

/// Parts to name in a message.
const SHOWN: usize = 3;

fn check_connected(draft: &Draft, ends: &[Vec<End>]) -> Result<(), Problem> {
    let mut seen = vec![false; ends.len()];
    let mut parts = Vec::new();
    for first in 0..ends.len() {
        if seen[first] {
            continue;
        }
        seen[first] = true;
        let (mut waiting, mut size) = (vec![first], 0);
        while let Some(router) = waiting.pop() {
            size += 1;
            for end in &ends[router] {
                if !std::mem::replace(&mut seen[end.to as usize], true) {
                    waiting.push(end.to as usize);
                }
            }
        }
        parts.push((size, first as u32));
    }
    if parts.len() == 1 {
        return Ok(());
    }
    let shown: Vec<_> =
        parts.iter().take(SHOWN).map(|(size, router)| format!("{size} with {}", draft.name(*router))).collect();
    let more = if parts.len() > SHOWN { ", ..." } else { "" };
    let what = format!("the {} routers fall into {} parts: {}{more}", ends.len(), parts.len(), shown.join(", "));
    Err(Problem::new(what, "join the parts, or simulate them one by one"))
}
