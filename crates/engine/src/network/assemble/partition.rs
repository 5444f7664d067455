//! Divides the routers into blocks.

use crate::network::jobs::Job;
use crate::network::spec::Spec;
use crate::network::transit::packets_under_way;
use weft_api::routing::Needs;
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// The first router of every block, and the end of the last block. It depends only on the spec and the number of
/// blocks. `whole_groups`: routers read the queues of their group, so each group must lie in one block, and there can't
/// be more blocks than groups.
///
/// Blocks have about equal work, estimated from the ports of their routers and the terminals of programs ([`work`]).
pub(crate) fn partition(spec: &Spec, blocks: usize, whole_groups: bool) -> Vec<u32> {
    partition_by(spec, blocks, whole_groups, work(spec))
}

/// The same by the work of each router.
///
/// A unit (a row, a group) stays whole if there are enough units for all blocks. Units are split if whole ones leave
/// more than [`IDLE_SHARE`] idle, and the split costs nothing. It costs nothing if links inside of a unit are as long
/// as those between units, because blocks then wait for each other no more often.
pub(crate) fn partition_by(spec: &Spec, blocks: usize, whole_groups: bool, work: Vec<u64>) -> Vec<u32> {
    let graph = &*spec.graph;
    let grain = graph.grain();
    let units = graph.routers().div_ceil(grain);
    let blocks = (blocks.min(MAX_BLOCKS) as u32).clamp(1, if whole_groups { units } else { graph.routers() });
    let work = before(work);
    let whole = bounds(&work, blocks.min(units), grain);
    let is_too_uneven = || blocks > units || uneven(&work, &whole) > IDLE_SHARE && !is_closer_inside(spec, grain);
    let bounds = if whole_groups || grain == 1 || !is_too_uneven() { whole } else { bounds(&work, blocks, 1) };
    let step = if whole_groups { grain } else { 1 };
    let jobs = &spec.traffic.jobs;
    let whole = with_whole_nodes(spec, jobs.iter(), bounds.clone(), step);
    if whole.len() == bounds.len() {
        return whole;
    }
    let with_notes_at_once = jobs.iter().filter(|job| job.workload.model().notes_after(spec.cycle_fs).is_none());
    with_whole_nodes(spec, with_notes_at_once, bounds, step)
}

/// Cycles after which terminals of a node act on each other: the least over the jobs of which a node is divided among these blocks.
/// `None`: no node is divided.
pub(crate) fn notes_after(spec: &Spec, bounds: &[u32]) -> Option<u64> {
    let block = |terminal: u32| bounds.partition_point(|&first| first <= spec.graph.terminal_at(terminal).0);
    let is_divided = |node: &[u32]| node.iter().any(|&terminal| block(terminal) != block(node[0]));
    let jobs = spec.traffic.jobs.iter().filter(|job| nodes(spec, job).any(is_divided));
    jobs.filter_map(|job| job.workload.model().notes_after(spec.cycle_fs)).min()
}

/// The terminals of each node of a job, if a node has several.
fn nodes<'a>(spec: &Spec, job: &'a Job) -> impl Iterator<Item = &'a [u32]> {
    let together = job.workload.model().terminals_together(spec.graph.planes()) as usize;
    job.terminals.chunks(together.max(1)).filter(move |_| together > 1)
}

/// Moves bounds, by `step` routers at a time, to places that divide no node of these jobs. There are fewer blocks if there are fewer
/// such places.
fn with_whole_nodes<'a>(spec: &Spec, jobs: impl Iterator<Item = &'a Job>, mut bounds: Vec<u32>, step: u32) -> Vec<u32> {
    let graph = &*spec.graph;
    // by router: nodes that begin before it and end there or later
    let mut divided = vec![0i32; graph.routers() as usize + 1];
    for node in jobs.flat_map(|job| nodes(spec, job)) {
        let routers = node.iter().map(|&terminal| graph.terminal_at(terminal).0);
        let (least, most) = routers.fold((u32::MAX, 0), |(least, most), r| (least.min(r), most.max(r)));
        divided[least as usize + 1] += 1;
        divided[most as usize + 1] -= 1;
    }
    let mut open = 0;
    divided.iter_mut().for_each(|node| {
        open += *node;
        *node = open;
    });
    for bound in &mut bounds {
        while divided[*bound as usize] > 0 {
            *bound -= step.min(*bound);
        }
    }
    bounds.dedup();
    bounds
}

/// Number of ports whose work equals that of a terminal with an active source, such as a program.
const PORTS_PER_ACTIVE_TERMINAL: u64 = 16;

/// The work of each router, as estimated before a run. A port counts one, since it moves the flits. A terminal of a
/// program counts [`PORTS_PER_ACTIVE_TERMINAL`] more.
fn work(spec: &Spec) -> Vec<u64> {
    let graph = &*spec.graph;
    let ports = |router: u32| u64::from(graph.port_base(router + 1) - graph.port_base(router));
    let mut work: Vec<u64> = (0..graph.routers()).map(ports).collect();
    let active = spec.traffic.jobs.iter().filter(|job| job.workload.model().wakes_others());
    for &terminal in active.flat_map(|job| &job.terminals) {
        work[graph.terminal_at(terminal).0 as usize] += PORTS_PER_ACTIVE_TERMINAL;
    }
    work
}

/// The work of all routers before each router, and before the end.
fn before(work: Vec<u64>) -> Vec<u64> {
    let sum = |sum: &mut u64, own: u64| {
        *sum += own;
        Some(*sum)
    };
    std::iter::once(0).chain(work.into_iter().scan(0, sum)).collect()
}

/// Share by which the largest block may exceed the mean before units are split.
const IDLE_SHARE: f64 = 0.05;

/// Bounds of `blocks` blocks, at multiples of `grain`, with about as much work each. `work`: that before each router and before the end.
fn bounds(work: &[u64], blocks: u32, grain: u32) -> Vec<u32> {
    let routers = work.len() as u32 - 1;
    let (units, all) = (routers.div_ceil(grain), work[routers as usize]);
    let work_before = |unit: u32| work[(unit * grain).min(routers) as usize];
    let mut bounds = vec![0];
    for b in 1..blocks {
        let due = u64::from(b) * all / u64::from(blocks);
        // the last unit that begins no later; each block has at least one
        let unit = partition_point(units, |unit| work_before(unit) <= due).saturating_sub(1);
        bounds.push(unit.clamp(bounds[b as usize - 1] + 1, units - (blocks - b)));
    }
    bounds.push(units);
    bounds.into_iter().map(|unit| (unit * grain).min(routers)).collect()
}

/// The first number below `end` of which `holds` is not true; it is true of all before it.
fn partition_point(end: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, end);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// The work of the largest block over the mean of all, less 1: the share of the time for which the others wait.
fn uneven(work: &[u64], bounds: &[u32]) -> f64 {
    let of_block = |both: &[u32]| work[both[1] as usize] - work[both[0] as usize];
    let largest = bounds.windows(2).map(of_block).max().unwrap_or(0);
    let all = work.last().copied().unwrap_or(0).max(1);
    largest as f64 * (bounds.len() - 1) as f64 / all as f64 - 1.0
}

/// Whether some link between routers of one unit is shorter than all between units: to cut it would shorten the windows in which
/// blocks run alone.
fn is_closer_inside(spec: &Spec, grain: u32) -> bool {
    let alone = |class: u8| {
        let link = &spec.links[usize::from(class)];
        (link.latency + spec.router.delay).min(link.credit_latency + spec.router.credit_delay)
    };
    let shortest = |inside: bool| {
        let links = spec.graph.links().filter(|link| (link.ends[0].0 / grain == link.ends[1].0 / grain) == inside);
        links.map(|link| alone(link.class).min(alone(link.back))).min().unwrap_or(u64::MAX)
    };
    shortest(true) < shortest(false)
}

/// Default number of blocks for this number of threads. It depends on the size of the network and is a multiple of the
/// threads.
pub(crate) fn usual_blocks(graph: &Graph, threads: usize) -> usize {
    blocks_by_size(graph).next_multiple_of(threads.max(1))
}

/// Most blocks. More would cost memory and time at the barrier, and no machine has so many cores.
const MAX_BLOCKS: usize = 4096;

/// Bytes of a second-level cache that a network may fill.
const CACHE: u64 = 3 << 19;

/// Whether the state of the ports and the packets in flight together do not fit into the second-level cache.
pub(super) fn is_larger_than_cache(spec: &Spec) -> bool {
    let of_ports = port_bytes(&spec.graph);
    // if the ports alone are too large, no distances are measured
    of_ports > CACHE || of_ports + (packets_under_way(spec) * size_of::<Packet>() as f64) as u64 > CACHE
}

/// Bytes of the input and output units.
fn port_bytes(graph: &Graph) -> u64 {
    u64::from(graph.port_base(graph.routers())) * 192
}

/// Every two blocks have memory for mail, which with more blocks than this would be larger than the state of the ports.
const MOST_BY_SIZE: usize = 256;

/// Number of blocks with which the state of a block fits into the second-level cache, if the whole network does not.
fn blocks_by_size(graph: &Graph) -> usize {
    let bytes = port_bytes(graph);
    if bytes < 8 << 20 { 1 } else { ((bytes / (768 << 10)) as usize).min(MOST_BY_SIZE) }
}

/// Refuses interleaved groups under a routing that reads the queues of its group: each group must lie in one block.
pub(super) fn refuse_split_groups(graph: &Graph, needs: &Needs, name: &str) -> Result<(), Refusal> {
    let together = graph.structure().groups.as_ref().is_some_and(|groups| groups.run().is_some());
    if needs.reads_group && !together {
        let what = format!(
            "{name} reads the queues of all routers of a group, but the topology {} has no groups of equal size with \
             consecutive router numbers",
            graph.topology_name()
        );
        return Err(Refusal::new(format!("routing.{name}"), what, "take another topology, or another routing"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::{GraphBuilder, Groups, Peer, Port, Structure};

    /// Four routers in a ring, router r in group r mod 2 or r / 2.
    fn two_groups(interleaved: bool) -> Graph {
        let mut builder = GraphBuilder::new("pairs", ["side"]);
        let port = |peer, class| Port { peer, class };
        for r in 0..4 {
            let side = |router, number| port(Peer::Router { router, port: number }, 1);
            builder.router([port(Peer::Terminal(r), 0), side((r + 1) % 4, 2), side((r + 3) % 4, 1)]);
        }
        let places = (0..4).map(|r| if interleaved { (r % 2, r / 2) } else { (r / 2, r % 2) }).collect();
        let groups = Groups { count: 2, places, complete: None, global: None };
        builder.build(Structure::of_groups(groups), "pairs").unwrap()
    }

    #[test]
    fn a_routing_that_reads_its_group_is_refused_where_a_block_could_split_one() {
        let needs = Needs { reads_group: true, ..Needs::default() };
        assert_eq!(refuse_split_groups(&two_groups(false), &needs, "toy"), Ok(()));
        assert_eq!(bounds(&[0, 3, 6, 9, 12], 2, 2), [0, 2, 4]);
        let refusal = refuse_split_groups(&two_groups(true), &needs, "toy").unwrap_err();
        assert!(refusal.what.contains("has no groups of equal size with consecutive router numbers"), "{refusal}");
        assert_eq!(refuse_split_groups(&two_groups(true), &Needs::default(), "toy"), Ok(()));
    }

    fn spec(topology: &str, routing: &str) -> Spec {
        let topology = serde_json::from_str(topology).expect("a topology");
        Spec::new(&topology, serde_json::from_str(routing).expect("a routing")).expect("a spec")
    }

    #[test]
    fn rows_are_split_where_whole_ones_leave_threads_idle() {
        let spec = spec(r#"{"hyperx": {"widths": [22, 22], "terminals_per_router": 1}}"#, r#"{"dimension_order": {}}"#);
        let work = before(work(&spec));
        // 22 rows on 16 blocks: two rows where 22 / 16 = 1.375 are the mean
        assert!((uneven(&work, &bounds(&work, 16, 22)) - (2.0 / 1.375 - 1.0)).abs() < 1e-9);
        let split = partition(&spec, 16, false);
        // 31 routers where 484 / 16 = 30.25 are the mean
        assert!((uneven(&work, &split) - (31.0 / 30.25 - 1.0)).abs() < 1e-9, "{split:?}");
        assert_eq!(partition(&spec, 11, false), bounds(&work, 11, 22), "two rows each");
        assert_eq!(partition(&spec, 30, false), bounds(&work, 30, 1), "more blocks than rows");
        assert_eq!(partition(&spec, 16, true), bounds(&work, 16, 22));
        assert_eq!(partition(&spec, 100, true), bounds(&work, 22, 22), "no more blocks than groups");
    }

    #[test]
    fn groups_stay_whole_where_their_links_are_shorter() {
        let dragonfly =
            r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
        let mut spec = spec(dragonfly, r#"{"dragonfly_minimal": {}}"#);
        (spec.links[1].latency, spec.links[2].latency) = (10, 100);
        (spec.links[1].credit_latency, spec.links[2].credit_latency) = (10, 100);
        let work = before(work(&spec));
        assert_eq!(partition(&spec, 4, false), bounds(&work, 4, 4), "9 groups");
        spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (100, 100));
        assert_eq!(partition(&spec, 4, false), bounds(&work, 4, 1), "9 routers each");
    }

    #[test]
    fn blocks_have_as_many_ports_and_each_has_a_router() {
        // a fat tree as it is sold: its levels have routers of different sizes
        let spec = spec(r#"{"k_ary_n_tree": {"k": 4, "n": 3}}"#, r#"{"up_down": {}}"#);
        for blocks in 1..=spec.graph.routers() {
            let bounds = partition(&spec, blocks as usize, false);
            assert_eq!(
                (bounds.len(), bounds[0], *bounds.last().unwrap()),
                (blocks as usize + 1, 0, spec.graph.routers())
            );
            assert!(bounds.windows(2).all(|both| both[0] < both[1]), "{bounds:?}");
        }
        assert_eq!(
            (usual_blocks(&spec.graph, 0), usual_blocks(&spec.graph, 1), usual_blocks(&spec.graph, 5)),
            (1, 1, 5)
        );
    }

    /// All terminals of a fat tree are at its first routers. Two blocks share them, so that each has work to do for the ranks of a program.
    #[test]
    fn terminals_of_a_program_are_divided_among_blocks() {
        let mut spec = spec(r#"{"fat_tree": {"k": 4}}"#, r#"{"up_down": {}}"#);
        // 20 routers of 4 ports, the first 8 with 2 terminals each: half of the ports is at router 10
        assert_eq!(partition(&spec, 2, false), [0, 10, 20]);
        let program = r#"{"collective": {"operation": "all_reduce", "ranks": 16, "bytes": "1KB"}}"#;
        spec.traffic.jobs[0].workload =
            serde_json::from_str(&format!(r#"{{"programs": {{"program": {program}}}}}"#)).expect("a workload");
        // (8 x (4 + 2 x 16) + 12 x 4) / 2 = 168 of work, of which each of the first routers has 36
        assert_eq!(partition(&spec, 2, false), [0, 4, 20]);
    }

    #[test]
    fn nodes_are_divided_only_where_their_notes_take_time_and_no_other_bound_is_free() {
        let halves = |plane: &str, host_latency: &str| {
            let topology = format!(r#"{{"planes": {{"count": 2, "of": {plane}}}}}"#);
            let mut spec = spec(&topology, r#"{"dimension_order": {}}"#);
            let program = r#"{"collective": {"operation": "all_reduce", "ranks": 4, "bytes": "1KB"}}"#;
            let workload = format!(r#"{{"programs": {{"program": {program}, "host_latency": "{host_latency}"}}}}"#);
            spec.traffic.jobs[0].workload = serde_json::from_str(&workload).expect("a workload");
            let bounds = partition(&spec, 2, false);
            (notes_after(&spec, &bounds), bounds)
        };
        // two routers: each node has a terminal at both
        let single = r#"{"single_router": {"terminals": 4}}"#;
        assert_eq!(halves(single, "0ns"), (None, vec![0, 2]));
        assert_eq!(halves(single, "30cycles"), (Some(30), vec![0, 1, 2]));
        // four routers: the first two have the first two nodes
        let pair = r#"{"hyperx": {"widths": [2], "terminals_per_router": 2}}"#;
        assert_eq!(halves(pair, "30cycles"), (None, vec![0, 2, 4]));
    }

    /// Nodes of two terminals, on groups of 3: only every second bound between groups divides no node.
    #[test]
    fn groups_stay_whole_where_nodes_do() {
        let dragonfly =
            r#"{"dragonfly": {"routers_per_group": 3, "terminals_per_router": 1, "global_links_per_router": 1}}"#;
        let mut spec = spec(dragonfly, r#"{"dragonfly_minimal": {}}"#);
        let program = r#"{"collective": {"operation": "all_reduce", "ranks": 6, "bytes": "1KB"}}"#;
        let workload = format!(r#"{{"programs": {{"program": {program}, "rails": 2}}}}"#);
        spec.traffic.jobs[0].workload = serde_json::from_str(&workload).expect("a workload");
        assert_eq!(partition(&spec, 4, true), [0, 6, 12]);
        assert_eq!(partition(&spec, 4, false), [0, 2, 6, 8, 12], "bounds at 0, 3, 6, 9 and 12, moved by a router");
    }

    /// Packets on long links fill a cache that the state of the ports does not fill.
    #[test]
    fn packets_under_way_count_as_state() {
        let dragonfly =
            r#"{"dragonfly": {"routers_per_group": 8, "terminals_per_router": 4, "global_links_per_router": 4}}"#;
        let topology = serde_json::from_str(dragonfly).expect("a topology");
        let routing = serde_json::from_str(r#"{"dragonfly_minimal": {}}"#).expect("a routing");
        let mut spec = Spec::new(&topology, routing).expect("a spec");
        assert!(port_bytes(&spec.graph) < CACHE);
        let mut is_larger = |load, latency| {
            spec.set_load(load);
            spec.links.iter_mut().for_each(|link| link.latency = latency);
            is_larger_than_cache(&spec)
        };
        assert!(is_larger(0.3, 100) && !is_larger(0.01, 100) && !is_larger(0.3, 1));
        spec.set_packet(64);
        assert!(!is_larger_than_cache(&spec));
    }
}
