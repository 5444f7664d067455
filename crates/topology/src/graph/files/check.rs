//! Converts the content of a graph file into a wiring that obeys the laws of graphs, or refuses the file.

use super::draft::{Draft, Problem};
use super::parallel::{Bundle, bundles};
use crate::{MAX_PORTS, MAX_RADIX};

/// The end of a link at a router: an entry in the router's list of links.
#[derive(Debug, Clone, Copy)]
pub struct End {
    pub to: u32,
    /// Index of this link among the links of the other router.
    pub far: u16,
    pub class: u8,
    /// Number of parallel links that this entry represents.
    pub width: u32,
}

/// The links of every router, sorted by neighbour, and the names of the link classes.
pub struct Wiring<'a> {
    pub links: Vec<Vec<End>>,
    pub classes: Vec<&'a str>,
}

/// The number of terminals of every router. `default` applies to routers for which the file gives no number.
pub fn terminal_counts(draft: &Draft, default: Option<u32>) -> Result<Vec<u32>, Problem> {
    if draft.routers.is_empty() {
        return Err(Problem::new("the file has no routers", "add at least one router with a terminal"));
    }
    let counts: Vec<u32> = match (&draft.router_of, default) {
        (Some(router_of), None) => {
            let mut counts = vec![0; draft.routers.len()];
            router_of.iter().for_each(|&router| counts[router as usize] += 1);
            counts
        }
        (Some(router_of), Some(_)) => {
            let what = format!("the file already connects {} terminals to routers", router_of.len());
            return Err(Problem::new(
                what,
                "remove terminals_per_router; or remove `hosts`, or remove the nodes from the file",
            ));
        }
        (None, default) => draft.routers.iter().map(|router| router.terminals.or(default).unwrap_or(0)).collect(),
    };
    if counts.iter().all(|&count| count == 0) {
        let what = format!("none of the {} routers has a terminal", draft.routers.len());
        return Err(Problem::new(
            what,
            "write terminals_per_router or terminals_of, or the node attribute `terminals`; `hosts` makes nodes terminals",
        ));
    }
    Ok(counts)
}

/// The terminal ids of every router; `counts` contains the number of terminals of each router.
pub fn terminals_of_routers(draft: &Draft, counts: &[u32]) -> Vec<Vec<u32>> {
    let mut terminals: Vec<Vec<u32>> = counts.iter().map(|&count| Vec::with_capacity(count as usize)).collect();
    match &draft.router_of {
        Some(router_of) => {
            for (&router, terminal) in router_of.iter().zip(0..) {
                terminals[router as usize].push(terminal);
            }
        }
        None => {
            let mut next = 0..;
            for (own, &count) in terminals.iter_mut().zip(counts) {
                own.extend(next.by_ref().take(count as usize));
            }
        }
    }
    terminals
}

/// Refuses a graph in which a router, or the whole graph, has too many ports.
fn check_ports(draft: &Draft, terminals: &[u32], ends: &[Vec<End>]) -> Result<(), Problem> {
    let mut total = 0;
    for (router, (&terminals, ends)) in (0..).zip(terminals.iter().zip(ends)) {
        let links: u64 = ends.iter().map(|end| u64::from(end.width)).sum();
        let ports = u64::from(terminals) + links;
        if ports > MAX_RADIX.into() {
            let [terminals, links] = [(u64::from(terminals), "terminal"), (links, "link")].map(counted);
            let name = draft.name(router);
            let what = format!(
                "router {name} has {links} and {terminals}, which need {ports} ports; a router has at most {MAX_RADIX}"
            );
            return Err(Problem::new(what, "use fewer terminals or fewer links, or split the router"));
        }
        total += ports;
    }
    match total > MAX_PORTS {
        true => {
            let what = format!("the network has {total} ports; at most {MAX_PORTS} are possible");
            Err(Problem::new(what, "use fewer routers or terminals"))
        }
        false => Ok(()),
    }
}

/// A number and a noun, in singular or plural, as text.
fn counted((number, thing): (u64, &str)) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// Checks the links of the draft and assigns them to their routers. `terminals`: number of terminals of each router.
pub fn wiring<'a>(draft: &'a Draft, terminals: &[u32]) -> Result<Wiring<'a>, Problem> {
    let (classes, numbers) = classes(draft)?;
    let mut ends = vec![Vec::new(); draft.routers.len()];
    for Bundle { pair: (a, b), class, back, width, .. } in bundles(draft, &numbers)? {
        // Pairs of routers are in ascending order. Therefore each router gets its neighbours in ascending order: first those with a lower
        // number than its own, then those with a higher number. The conversion to `u16` can lose bits, but `check_ports` then refuses the
        // router because of its many links.
        let [far, near] = [b, a].map(|router| ends[router as usize].len() as u16);
        ends[a as usize].push(End { to: b, far, class, width });
        ends[b as usize].push(End { to: a, far: near, class: back, width });
    }
    check_ports(draft, terminals, &ends)?;
    check_connected(draft, &ends)?;
    Ok(Wiring { links: ends, classes })
}

/// The names of the classes in alphabetical order, and the number in this order of each class of the draft.
pub(super) fn classes(draft: &Draft) -> Result<(Vec<&str>, Vec<u8>), Problem> {
    let mut names: Vec<&str> = draft.classes.iter().map(String::as_str).collect();
    names.sort_unstable();
    if let Some(reserved) = names.iter().find(|name| matches!(**name, "terminal" | "default" | "all" | "")) {
        let what = format!("a link has the class {reserved:?}, which has another meaning in a scenario");
        return Err(Problem::new(what, "give the class another name"));
    }
    if names.len() > usize::from(u8::MAX) {
        let what = format!("the file has {} classes of links; at most {} are possible", names.len(), u8::MAX);
        return Err(Problem::new(
            what,
            "give similar links the same class, or write `round` next to `from` in `attributes`",
        ));
    }
    // The numbers begin at 1, because class 0 is "terminal".
    let number = |name: &String| names.partition_point(|&other| other < name.as_str()) as u8 + 1;
    let numbers = draft.classes.iter().map(number).collect();
    Ok((names, numbers))
}

/// Number of disconnected parts that an error message lists, and number of routers that it names in each part.
const SHOWN: usize = 3;

/// Refuses a network that is not connected. The message contains the sizes of its parts and the names of some routers in each part.
fn check_connected(draft: &Draft, ends: &[Vec<End>]) -> Result<(), Problem> {
    let mut parts = parts(ends);
    if parts.len() == 1 {
        return Ok(());
    }
    parts.sort_by_key(|part| std::cmp::Reverse(part.len()));
    let shown: Vec<_> = parts.iter().take(SHOWN).map(|part| shown(draft, part)).collect();
    let more = if parts.len() > SHOWN { ", ..." } else { "" };
    let what = format!("the {} routers form {} separate parts: {}{more}", ends.len(), parts.len(), shown.join(", "));
    Err(Problem::new(what, "add links that connect the parts, or write each part into a separate file"))
}

/// The size of a disconnected part and the names of its first routers, as text.
fn shown(draft: &Draft, part: &[u32]) -> String {
    let names: Vec<_> = part.iter().take(SHOWN).map(|&router| draft.name(router)).collect();
    let more = if part.len() > SHOWN { ", ..." } else { "" };
    format!("{} ({}{more})", counted((part.len() as u64, "router")), names.join(", "))
}

/// The routers of each connected part in ascending order. The parts are in the order of their first router.
fn parts(ends: &[Vec<End>]) -> Vec<Vec<u32>> {
    let mut seen = vec![false; ends.len()];
    let mut parts = Vec::new();
    for first in 0..ends.len() {
        if std::mem::replace(&mut seen[first], true) {
            continue;
        }
        let (mut waiting, mut part) = (vec![first], Vec::new());
        while let Some(router) = waiting.pop() {
            part.push(router as u32);
            for end in &ends[router] {
                if !std::mem::replace(&mut seen[end.to as usize], true) {
                    waiting.push(end.to as usize);
                }
            }
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}
