//! Converts the nodes of a graph file that are hosts to terminals of the routers to which they have a link.

use super::asked::Hosts;
use super::draft::{Draft, Problem, Stated};
use super::sheet::{Asked, Field};
use super::unused::Seen;
use weft_units::Remark;

weft_units::codes! {
    HOSTS_ARE_ROUTERS = "graph_hosts_are_routers", Warning,
        means: "Nodes of the graph file have one link, and an attribute calls them hosts. The scenario makes each of them a router.",
        computed: "Number of nodes with one link that an attribute calls a host, if the file does not define any terminals.",
        helps: "Write the rule of the message under `hosts`, and remove `terminals_per_router`. Then these nodes become terminals.";
    HOSTS_FOUND = "graph_hosts_found", Warning,
        means: "Nodes of the graph file have one link, and an attribute calls them hosts. Weft makes them terminals.",
        computed: "Number of nodes with one link that an attribute calls a host, if the file does not define any terminals.",
        helps: "Write the rule of the message under `hosts` to confirm this, or `terminals_per_router` to make these nodes routers.";
}

/// Words with which files call a node a host.
const WORDS: [&str; 7] = ["host", "server", "compute", "terminal", "endpoint", "hca", "gpu"];
/// Names of node attributes that contain the kind of a node.
const KINDS: [&str; 5] = ["type", "role", "kind", "device_role", "node_type"];

/// The reason why a node is, or may be, a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mark {
    /// The scenario selects the node as a host.
    Asked,
    /// The file calls the node a host. The fields are the rule with which a scenario could select such nodes.
    Called { attribute: String, value: String },
}

/// The reason why this node is a host; `None` if it is not a host.
pub fn mark(id: &str, fields: &[Field], asked: Option<&Hosts>, seen: &mut Seen) -> Option<Mark> {
    if let Some(hosts) = asked {
        let own = fields.iter().find(|(name, _)| *name == hosts.attribute).map(|(_, text)| text.as_str());
        let value = own.or((hosts.attribute == "id").then_some(id))?;
        if seen.host_values.len() < SHOWN || seen.host_values.contains_key(value) {
            *seen.host_values.entry(value.to_owned()).or_default() += 1;
        }
        return hosts.fits(value).then_some(Mark::Asked);
    }
    let called = |(name, text): &&Field| {
        KINDS.contains(&name.to_lowercase().as_str()) && WORDS.contains(&text.to_lowercase().as_str())
    };
    if let Some((name, text)) = fields.iter().find(called) {
        return Some(Mark::Called { attribute: name.clone(), value: text.clone() });
    }
    let begins = |word: &&str| {
        let (start, rest) = id.split_at_checked(word.len())?;
        (start.eq_ignore_ascii_case(word) && !rest.starts_with(char::is_alphabetic)).then_some(start)
    };
    let start = WORDS.iter().find_map(begins)?;
    Some(Mark::Called { attribute: "id".to_owned(), value: format!("{start}*") })
}

/// Number of attribute values that an error message lists.
const SHOWN: usize = 6;

/// Converts hosts to terminals. Hosts that the scenario does not select become terminals only if neither the scenario nor the file gives
/// other terminals.
pub fn settle(draft: &mut Draft, marks: &[Option<Mark>], asked: Asked, seen: &Seen) -> Result<(), Problem> {
    let marked: Vec<bool> = marks.iter().map(Option::is_some).collect();
    if let Some(hosts) = asked.hosts {
        if !marked.contains(&true) {
            return Err(nobody(hosts, seen));
        }
        let both =
            draft.routers.iter().zip(&marked).find(|(router, host)| !**host && router.terminals.unwrap_or(0) > 0);
        if let Some((router, _)) = both {
            let what =
                format!("an attribute gives terminals to router {}, but hosts also become terminals", router.name);
            return Err(Problem::new(what, "remove `hosts`, or remove the attribute from the file").under("hosts"));
        }
        return take(draft, &marked);
    }
    let ends = neighbours(draft);
    let is_leaf = |node: usize| matches!(ends[node][..], [only] if !marked[only as usize]);
    let leaves: Vec<bool> = (0..marks.len()).map(|node| marked[node] && is_leaf(node)).collect();
    let count = leaves.iter().filter(|leaf| **leaf).count();
    let first = marks.iter().zip(&leaves).find(|(_, leaf)| **leaf);
    let Some((Some(Mark::Called { attribute, value }), _)) = first else { return Ok(()) };
    let rule = format!("hosts: {{attribute: {attribute}, value: \"{value}\"}}");
    let called = format!("by `{attribute}`, such as {value:?}");
    let own = draft.routers.iter().zip(&leaves).any(|(router, leaf)| *leaf && router.terminals.is_some());
    if own || seen.has_terminals() {
        return Ok(());
    }
    let numbers = vec![("hosts".to_owned(), count as f64), ("nodes".to_owned(), marks.len() as f64)];
    let remark = |code, what, help| Remark { code, path: "file".to_owned(), numbers, what, help };
    draft.remarks.push(match asked.default_terminals {
        true => remark(
            &HOSTS_ARE_ROUTERS,
            format!(
                "{count} of {} nodes have one link and are called hosts {called}; the scenario makes them routers",
                marks.len()
            ),
            format!("write `{rule}` and remove `terminals_per_router` to make them terminals"),
        ),
        false => remark(
            &HOSTS_FOUND,
            format!(
                "{count} of {} nodes have one link and are called hosts {called}; Weft makes them terminals",
                marks.len()
            ),
            format!("write `{rule}` to confirm this, or `terminals_per_router` to make them routers"),
        ),
    });
    if asked.default_terminals { Ok(()) } else { take(draft, &leaves) }
}

fn nobody(hosts: &Hosts, seen: &Seen) -> Problem {
    let what = format!("no node has the attribute `{}` with the value {:?}", hosts.attribute, hosts.value);
    let values: Vec<_> = seen.host_values.keys().map(|value| format!("{value:?}")).collect();
    let help = match values.is_empty() {
        true => "name an attribute that the nodes have, or `id` for their ids".to_owned(),
        false => format!("values in the file: {}", values.join(", ")),
    };
    Problem::new(what, help).under("hosts")
}

/// For each node, the first two different nodes to which it has a link (fewer if it has fewer neighbours).
fn neighbours(draft: &Draft) -> Vec<Vec<u32>> {
    let mut ends = vec![Vec::new(); draft.routers.len()];
    for link in &draft.links {
        for (one, other) in [(link.from, link.to), (link.to, link.from)] {
            if !ends[one as usize].contains(&other) && ends[one as usize].len() < 2 {
                ends[one as usize].push(other);
            }
        }
    }
    ends
}

/// Removes hosts and their links. Each router gets one terminal for each host linked to it, in the order of the hosts.
fn take(draft: &mut Draft, is_host: &[bool]) -> Result<(), Problem> {
    let mut new = Vec::with_capacity(is_host.len());
    let mut routers = 0;
    for host in is_host {
        new.push(routers);
        routers += u32::from(!host);
    }
    let mut own: Vec<Option<u32>> = vec![None; is_host.len()];
    let mut first: Option<super::draft::Link> = None;
    let links = std::mem::take(&mut draft.links);
    let (mut kept, mut count) = (Vec::new(), vec![0u32; is_host.len()]);
    for link in links {
        let (host, router) = match (is_host[link.from as usize], is_host[link.to as usize]) {
            (false, false) => {
                kept.push(super::draft::Link { from: new[link.from as usize], to: new[link.to as usize], ..link });
                continue;
            }
            (true, false) => (link.from, link.to),
            (false, true) => (link.to, link.from),
            (true, true) => {
                let (one, other) = (draft.name(link.from), draft.name(link.to));
                let what = format!("{}: the hosts {one} and {other} have a link to each other", draft.place(&link));
                return Err(Problem::new(what, "connect each host to a router: correct `hosts`, or the file"));
            }
        };
        count[host as usize] += 1;
        let before = *own[host as usize].get_or_insert(router);
        let most = if draft.stated == Stated::Once { 1 } else { 2 };
        if before != router || count[host as usize] > most {
            let what = format!("{}: the host {} has a second link", draft.place(&link), draft.name(host));
            return Err(Problem::new(what, "keep one link of each host, because a terminal has one link"));
        }
        let first = *first.get_or_insert(link);
        if draft.facts[first.class as usize] != draft.facts[link.class as usize] {
            let [one, other] =
                [first, link].map(|link| format!("{} `{}`", draft.place(&link), draft.classes[link.class as usize]));
            let what =
                format!("links to hosts differ ({one}, {other}), but all links to terminals have the same class");
            let help = "remove their bandwidth and latency from the file, and write `links.terminal` in the scenario";
            return Err(Problem::new(what, help));
        }
    }
    let hosts: Vec<usize> = (0..is_host.len()).filter(|&node| is_host[node]).collect();
    if let Some(&alone) = hosts.iter().find(|&&host| own[host].is_none()) {
        let what = format!("the host {} has no link", draft.name(alone as u32));
        return Err(Problem::new(what, "connect the host to a router, or remove it"));
    }
    draft.router_of = Some(hosts.iter().filter_map(|&host| own[host].map(|router| new[router as usize])).collect());
    draft.terminal_facts = first.map(|link| draft.facts[link.class as usize].clone()).unwrap_or_default();
    let mut host = is_host.iter();
    draft.routers.retain(|_| !host.next().copied().unwrap_or(false));
    draft.links = kept;
    draft.drop_unused_classes();
    Ok(())
}
