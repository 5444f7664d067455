//! Routings that compute new paths when links and routers fail or work again (`RoutingModel::rebuilds`). For each state of the network,
//! this code builds one routing and computes the first cycle in which the run uses it. The tables of these routings are checked for
//! deadlock freedom.

use crate::network::dependency;
use crate::network::failures::FIRST;
use crate::network::pairs;
use crate::network::spec::Spec;
use weft_api::routing::{AnyRouting, Classes};
use weft_api::walk::Proof;
use weft_kernel::net::Tables;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Remark};

weft_units::codes! {
    DEADLOCK_NOT_PROVEN = "deadlock_not_proven", Warning,
        means: "Packets that follow the tables from before a fault might wait for packets that follow the tables from after this fault, \
                and vice versa. Weft has no proof that this cannot happen.",
        computed: "The routing computes new tables during the run, and the VC class of a packet does not rise with each hop. Weft checks \
                   the channel dependencies in each of the first 64 states of the network, but not between two states.",
        helps: "Choose a routing whose VC class rises with each hop. If a deadlock occurs, Weft finds and explains it.";
}

/// The largest number of network states whose channel dependencies are checked.
const MOST_CHECKED: usize = 64;
/// The largest number of steps for which [`rebuilds`] returns an answer. Each state of the network needs one step (about 5 ns) for each
/// router and port.
const MOST_STEPS: u64 = 1 << 28;
/// The largest size of the tables of all states together [bytes].
const MAX_BYTES: u64 = 1 << 30;

/// The cycles in which a part fails or works again, in ascending order.
pub(crate) fn changes(spec: &Spec) -> Vec<Cycles> {
    let mut cycles: Vec<Cycles> =
        spec.faults.iter().flat_map(|fault| [Some(fault.at), fault.until]).flatten().collect();
    cycles.sort_unstable();
    cycles.dedup();
    cycles
}

/// The network without the parts that are broken in this cycle.
fn left(spec: &Spec, cycle: Cycles) -> Graph {
    let broken: Vec<_> = spec.faults.iter().filter(|fault| fault.is_on(cycle)).collect();
    spec.graph.without(|a, b, class| broken.iter().any(|fault| fault.breaks(a, b, class)))
}

/// Number of links that are broken from the start. Each of several parallel links counts.
pub(crate) fn broken_first(spec: &Spec) -> usize {
    if spec.faults.is_empty() { 0 } else { spec.graph.links().count() - left(spec, FIRST).links().count() }
}

/// The routing with its first tables, which exclude parts that are broken from the start. Returns `None` if no part is broken, if the
/// routing has no tables, or if some terminals are cut off.
pub(crate) fn first_tables(spec: &Spec, routing: &dyn AnyRouting) -> Result<Option<Box<dyn AnyRouting>>, Refusal> {
    if !pairs::rebuilds(spec) || broken_first(spec) == 0 {
        return Ok(None);
    }
    let left = left(spec, FIRST);
    if joins_terminals(&left) { routing.rebuild(&left).map(Some) } else { Ok(None) }
}

/// The routings for the states of the network after each change, in the order of time. The list is empty if this routing does not rebuild.
pub(crate) fn tables(spec: &Spec, routing: &dyn AnyRouting) -> Result<Vec<Tables>, Refusal> {
    if !pairs::rebuilds(spec) {
        return Ok(Vec::new());
    }
    let (cycles, bytes) = (changes(spec), spec.routing.table_bytes(&spec.graph));
    if bytes * cycles.len() as u64 > MAX_BYTES {
        let what = format!(
            "links and routers fail and return at {} times, and each time needs a table of {bytes} bytes: {} bytes in total, but the limit \
             is {MAX_BYTES} bytes",
            cycles.len(),
            bytes * cycles.len() as u64
        );
        return Err(Refusal::new(
            "faults",
            what,
            "let fewer links or routers fail, or choose a routing without tables",
        ));
    }
    let tables = |cycle: Cycles| {
        let routing = routing.rebuild(&left(spec, cycle)).map_err(|refusal| in_state(refusal, cycle))?;
        Ok(Tables { at: spec.rebuilt(cycle), routing: routing.into() })
    };
    cycles.into_iter().map(tables).collect()
}

/// A spec without faults, with the network as it is after the last fault or repair.
pub fn after_faults(spec: &Spec) -> Spec {
    let graph = changes(spec).last().map_or_else(|| spec.graph.clone(), |&last| left(spec, last).into());
    Spec { graph, faults: Vec::new(), ..spec.clone() }
}

fn in_state(refusal: Refusal, cycle: Cycles) -> Refusal {
    let what = format!("after the fault or repair in cycle {cycle}: {}", refusal.what);
    Refusal::new("faults", what, format!("remove this fault, or: {}", refusal.help))
}

/// For each link class, the largest number of VC classes that any of the routings in `tables` needs.
pub(crate) fn widest(classes: Classes, tables: &[Tables]) -> Classes {
    tables.iter().fold(classes, |most, state| {
        most.into_iter().zip(state.routing.needs().classes).map(|(a, b)| a.max(b)).collect()
    })
}

/// Adds an explanation to a refusal about the VCs of links. If paths after faults need more VC classes (`widest`) than before, the
/// explanation states that faults make paths longer.
pub(crate) fn explained(refusal: Refusal, classes: &Classes, widest: &Classes) -> Refusal {
    let most = |classes: &Classes| classes.iter().copied().max().unwrap_or(1);
    let (before, then) = (most(classes), most(widest));
    if then == before {
        return refusal;
    }
    let what = format!("{} ({before} without faults; after some links have failed, paths need {then})", refusal.what);
    Refusal::new(refusal.path, what, format!("{}, or remove the faults", refusal.help))
}

/// Refuses the faults if packets can deadlock in a state of the network with the tables of that state. If the VC class rises with each hop,
/// it rises in every state, so no check is needed.
pub(crate) fn refuse_cycles(spec: &Spec, tables: &[Tables], classes: &Classes) -> Result<(), Refusal> {
    for (cycle, state) in changes(spec).into_iter().zip(tables).take(MOST_CHECKED) {
        if !matches!(state.routing.proof(), Proof::Rises { .. }) {
            dependency::refuse_cycle(&left(spec, cycle), &*state.routing, classes, spec.routing.name())
                .map_err(|refusal| in_state(refusal, cycle))?;
        }
    }
    Ok(())
}

/// The times of the last new tables, for a routing that computes tables after each fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rebuilds {
    /// The last cycle in which a part fails or works again.
    pub last_change: Cycles,
    /// The first cycle in which all routers have the tables for the last change.
    pub last_tables: Cycles,
}

/// The times at which the run gets its last new tables. The times exist if the routing computes tables after each fault, and all pairs of
/// terminals are connected in each state of the network. Returns `None` for other routings and networks, for runs without faults, and if
/// the function would need more than `MOST_STEPS` steps. The function builds neither the routing nor its tables, so it is fast even where
/// [`crate::check`] is slow. However, `check` can refuse a spec for which this function returns times.
pub fn rebuilds(spec: &Spec) -> Option<Rebuilds> {
    if !pairs::rebuilds(spec) {
        return None;
    }
    let (cycles, graph) = (changes(spec), &spec.graph);
    let ports = u64::from(graph.port_base(graph.routers()));
    if cycles.len() as u64 * u64::from(graph.routers()) * ports > MOST_STEPS {
        return None;
    }
    let joined = cycles.iter().all(|&cycle| joins_terminals(&left(spec, cycle)));
    let last = cycles.last().filter(|_| joined);
    last.map(|&last_change| Rebuilds { last_change, last_tables: spec.rebuilt(last_change) })
}

/// Whether paths connect all routers that have terminals. The function does not distinguish planes, because Weft refuses routings that
/// rebuild their tables on networks with planes.
fn joins_terminals(graph: &Graph) -> bool {
    let mut reached = vec![false; graph.routers() as usize];
    let (first, _) = graph.terminal_at(0);
    let mut ahead = vec![first];
    reached[first as usize] = true;
    while let Some(router) = ahead.pop() {
        for far in graph.neighbours(router) {
            if !std::mem::replace(&mut reached[far as usize], true) {
                ahead.push(far);
            }
        }
    }
    (0..graph.terminals()).all(|terminal| reached[graph.terminal_at(terminal).0 as usize])
}

/// For a run that is not refused, a remark on properties that Weft has not proven; `None` if all are proven.
pub fn unproven(spec: &Spec) -> Result<Option<Remark>, Refusal> {
    if !pairs::rebuilds(spec) {
        return Ok(None);
    }
    let routing = spec.routing.build(&spec.graph)?;
    if matches!(routing.proof(), Proof::Rises { .. }) {
        return Ok(None);
    }
    let states = changes(spec).len();
    if changes(spec).into_iter().all(|cycle| spec.rebuilt(cycle) == 0) {
        return Ok(None); // the network has one state during the whole run, and this state is checked
    }
    let unchecked = states.saturating_sub(MOST_CHECKED);
    let rest = if unchecked > 0 {
        format!(", and {unchecked} of {states} states of the network are not checked")
    } else {
        String::new()
    };
    let what = format!(
        "Weft has no proof that packets can't deadlock after a fault: packets that follow the tables from before a change and packets that \
         follow the tables from after the change may wait for each other{rest}"
    );
    let help =
        "to be safe, choose a routing whose VC class rises with each hop; Weft would find and explain a deadlock";
    let numbers = [("states", states as f64), ("unchecked_states", unchecked as f64)];
    Ok(Some(Remark::new(&DEADLOCK_NOT_PROVEN, "faults", numbers, what, help)))
}
