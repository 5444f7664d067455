//! Divides the routers of a network into blocks of about equal work.

use super::division::{Division, Order};
use crate::network::jobs::Job;
use crate::network::spec::Spec;
use crate::network::transit::packets_under_way;
use weft_api::routing::Needs;
use weft_api::state::Packet;
use weft_topology::{Graph, Link};
use weft_units::Refusal;

/// Divides the network into `blocks` blocks. The result depends only on the spec and the number of blocks. `whole_groups`: whether the
/// routing reads the queues of a group. If true, each group must be in one block, and there cannot be more blocks than groups.
///
/// Work is estimated from the ports of the routers and from the terminals of programs ([`work`]).
pub(crate) fn partition(spec: &Spec, blocks: usize, whole_groups: bool) -> Division {
    partition_by(spec, blocks, whole_groups, &work(spec))
}

/// Divides the network in the same way, with a given amount of work for each router.
pub(crate) fn partition_by(spec: &Spec, blocks: usize, whole_groups: bool, work: &[u64]) -> Division {
    let order = Order::of(&spec.graph, blocks);
    order.divide(&spec.graph, &bounds_in(&order, spec, blocks, whole_groups, work))
}

/// For each block, the position of its first router in the order; the last entry is the end.
///
/// If there are enough units (rows, groups) for all blocks, no unit is divided. Units are divided if whole units would leave more than the
/// share [`IDLE_SHARE`] of the time idle, and if the division costs nothing. A division costs nothing if links inside units are as long as
/// links between units, because blocks then do not wait for each other more often.
fn bounds_in(order: &Order, spec: &Spec, blocks: usize, whole_groups: bool, work: &[u64]) -> Vec<u32> {
    let graph = &*spec.graph;
    let units = order.units.len() as u32 - 1;
    let blocks = (blocks.min(MAX_BLOCKS) as u32).clamp(1, if whole_groups { units } else { graph.routers() });
    let work = before(order.routers.iter().map(|&router| work[router as usize]));
    let whole = bounds(&work, blocks.min(units), &order.units);
    let is_too_uneven =
        || blocks > units || uneven(&work, &whole) > IDLE_SHARE && !is_closer_inside(spec, &order.unit_of());
    let single: Vec<u32> = (0..=graph.routers()).collect();
    let steps = if whole_groups { &order.units } else { &single };
    let may_split = !whole_groups && units < graph.routers();
    let bounds = if may_split && is_too_uneven() { bounds(&work, blocks, &single) } else { whole };
    let jobs = &spec.traffic.jobs;
    let whole = with_whole_nodes(spec, jobs.iter(), bounds.clone(), (order, steps));
    if whole.len() == bounds.len() {
        return whole;
    }
    let with_notes_at_once = jobs.iter().filter(|job| job.workload.model().notes_after(spec.cycle_fs).is_none());
    with_whole_nodes(spec, with_notes_at_once, bounds, (order, steps))
}

/// Number of cycles after which terminals of one node affect each other: the minimum over those jobs that have a node (a group of their
/// terminals) in several blocks. `None` if no node is divided.
pub(crate) fn notes_after(spec: &Spec, division: &Division) -> Option<u64> {
    let block = |terminal: u32| division.block(spec.graph.terminal_at(terminal).0);
    let is_divided = |node: &[u32]| node.iter().any(|&terminal| block(terminal) != block(node[0]));
    let jobs = spec.traffic.jobs.iter().filter(|job| nodes(spec, job).any(is_divided));
    jobs.filter_map(|job| job.workload.model().notes_after(spec.cycle_fs)).min()
}

/// For a job whose nodes have several terminals, the terminals of each node; empty for other jobs.
fn nodes<'a>(spec: &Spec, job: &'a Job) -> impl Iterator<Item = &'a [u32]> {
    let together = job.workload.model().terminals_together(spec.graph.planes()) as usize;
    job.terminals.chunks(together.max(1)).filter(move |_| together > 1)
}

/// Moves each bound between blocks down to a position in `steps` at which no node of these jobs is divided. If there are too few of these
/// positions, the result has fewer blocks.
fn with_whole_nodes<'a>(
    spec: &Spec,
    jobs: impl Iterator<Item = &'a Job>,
    mut bounds: Vec<u32>,
    (order, steps): (&Order, &[u32]),
) -> Vec<u32> {
    let place_of = order.place_of();
    // by position in the order: the number of nodes with terminals on both sides of the bound before this position
    let mut divided = vec![0i32; place_of.len() + 1];
    for node in jobs.flat_map(|job| nodes(spec, job)) {
        let places = node.iter().map(|&terminal| place_of[spec.graph.terminal_at(terminal).0 as usize]);
        let (least, most) = places.fold((u32::MAX, 0), |(least, most), at| (least.min(at), most.max(at)));
        divided[least as usize + 1] += 1;
        divided[most as usize + 1] -= 1;
    }
    let mut open = 0;
    divided.iter_mut().for_each(|node| {
        open += *node;
        *node = open;
    });
    for bound in &mut bounds {
        let least = steps.partition_point(|step| step < bound);
        let free = steps[..=least].iter().rev().find(|&&step| divided[step as usize] == 0);
        *bound = *free.unwrap_or(&0);
    }
    bounds.dedup();
    bounds
}

/// A terminal with an active source, such as a program, counts as much work as this number of ports.
const PORTS_PER_ACTIVE_TERMINAL: u64 = 16;

/// The estimated work of each router, before a run. A port counts 1, for the flits that it moves. A terminal of a program counts
/// [`PORTS_PER_ACTIVE_TERMINAL`] more.
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

/// For each position, the sum of the work before it; the last entry is the whole work.
fn before(work: impl Iterator<Item = u64>) -> Vec<u64> {
    let sum = |sum: &mut u64, own: u64| {
        *sum += own;
        Some(*sum)
    };
    std::iter::once(0).chain(work.scan(0, sum)).collect()
}

/// Units are divided if the work of the largest block exceeds the mean by more than this share.
const IDLE_SHARE: f64 = 0.05;

/// Bounds of `blocks` blocks with about equal work. Each bound is the beginning of one of `units`. `work`: for each position, the sum of
/// the work before it, as [`before`] returns it.
fn bounds(work: &[u64], blocks: u32, units: &[u32]) -> Vec<u32> {
    let (count, all) = (units.len() as u32 - 1, work[work.len() - 1]);
    let mut bounds = vec![0];
    for b in 1..blocks {
        let due = u64::from(b) * all / u64::from(blocks);
        // the last unit with at most `due` work before it; each block gets at least one unit
        let unit =
            units[..count as usize].partition_point(|&first| work[first as usize] <= due).saturating_sub(1) as u32;
        bounds.push(unit.clamp(bounds[b as usize - 1] + 1, count - (blocks - b)));
    }
    bounds.push(count);
    bounds.into_iter().map(|unit| units[unit as usize]).collect()
}

/// Imbalance: the work of the largest block divided by the mean work of all blocks, minus 1. On average, a block waits for the largest
/// block for about this share of the time.
fn uneven(work: &[u64], bounds: &[u32]) -> f64 {
    let of_block = |both: &[u32]| work[both[1] as usize] - work[both[0] as usize];
    let largest = bounds.windows(2).map(of_block).max().unwrap_or(0);
    let all = work.last().copied().unwrap_or(0).max(1);
    largest as f64 * (bounds.len() - 1) as f64 / all as f64 - 1.0
}

/// Whether some link between routers of the same unit is shorter than all links between units. A window, in which blocks run independently,
/// is at most as long as the shortest delay between two blocks. Therefore dividing units with such a link would shorten the windows.
fn is_closer_inside(spec: &Spec, unit_of: &[u32]) -> bool {
    let alone = |class: u8| {
        let link = &spec.links[usize::from(class)];
        (link.latency + spec.router.delay).min(link.credit_latency + spec.router.credit_delay)
    };
    let shortest = |inside: bool| {
        let is_inside = |link: &Link| unit_of[link.ends[0].0 as usize] == unit_of[link.ends[1].0 as usize];
        let links = spec.graph.links().filter(|link| is_inside(link) == inside);
        links.map(|link| alone(link.class).min(alone(link.back))).min().unwrap_or(u64::MAX)
    };
    shortest(true) < shortest(false)
}

/// Default number of blocks for a run with `threads` threads. The number depends on the size of the network, and is a multiple of the
/// number of threads.
pub(crate) fn usual_blocks(graph: &Graph, threads: usize) -> usize {
    blocks_by_size(graph).next_multiple_of(threads.max(1))
}

/// Maximum number of blocks. More blocks would cost memory and time at barriers, and no machine has more cores than this.
const MAX_BLOCKS: usize = 4096;

/// The part of a second-level cache that the data of a network may fill [bytes].
const CACHE: u64 = 3 << 19;

/// Whether the state of the ports, together with the packets in flight, is larger than the second-level cache.
pub(super) fn is_larger_than_cache(spec: &Spec) -> bool {
    let of_ports = port_bytes(&spec.graph);
    // the number of packets in flight needs the distances of all routers, so it is computed only if the ports alone fit
    of_ports > CACHE || of_ports + (packets_under_way(spec) * size_of::<Packet>() as f64) as u64 > CACHE
}

/// Size of all input and output units of the routers [bytes].
fn port_bytes(graph: &Graph) -> u64 {
    u64::from(graph.port_base(graph.routers())) * 192
}

/// Maximum number of blocks that [`blocks_by_size`] returns. Each pair of blocks needs memory for mail. With more blocks, the memory for
/// mail would exceed the state of the ports.
const MOST_BY_SIZE: usize = 256;

/// Number of blocks with which the state of each block fits into the second-level cache; 1 for a small network.
fn blocks_by_size(graph: &Graph) -> usize {
    let bytes = port_bytes(graph);
    if bytes < 8 << 20 { 1 } else { ((bytes / (768 << 10)) as usize).min(MOST_BY_SIZE) }
}

/// Refuses groups whose routers do not have consecutive numbers, if the routing reads the queues of its group: each
/// group must be in one block.
pub(super) fn refuse_split_groups(graph: &Graph, needs: &Needs, name: &str) -> Result<(), Refusal> {
    let together = graph.structure().groups.as_ref().is_some_and(|groups| groups.run().is_some());
    if needs.reads_group && !together {
        let what = format!(
            "{name} reads the queues of all routers of a group, but the topology {} has no groups of equal size with \
             consecutive router numbers",
            graph.topology_name()
        );
        return Err(Refusal::new(format!("routing.{name}"), what, "choose another topology or another routing"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::{GraphBuilder, Groups, Peer, Port, Structure};

    /// A ring of four routers; router r is in group r mod 2 (interleaved) or in group r / 2.
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
        assert_eq!(bounds(&[0, 3, 6, 9, 12], 2, &[0, 2, 4]), [0, 2, 4]);
        let refusal = refuse_split_groups(&two_groups(true), &needs, "toy").unwrap_err();
        assert!(refusal.what.contains("has no groups of equal size with consecutive router numbers"), "{refusal}");
        assert_eq!(refuse_split_groups(&two_groups(true), &Needs::default(), "toy"), Ok(()));
    }

    fn spec(topology: &str, routing: &str) -> Spec {
        let topology = serde_json::from_str(topology).expect("a topology");
        Spec::new(&topology, serde_json::from_str(routing).expect("a routing")).expect("a spec")
    }

    /// For a network that is divided in the order of router numbers: the first router of each block, and the end.
    fn firsts(spec: &Spec, blocks: usize, whole_groups: bool) -> Vec<u32> {
        let division = partition(spec, blocks, whole_groups);
        let all: Vec<u32> = (0..division.blocks()).flat_map(|block| division.routers(block)).copied().collect();
        assert!(all.iter().copied().eq(0..spec.graph.routers()), "{division:?}");
        let firsts = (0..division.blocks()).map(|block| division.routers(block)[0]);
        firsts.chain([spec.graph.routers()]).collect()
    }

    /// The sums of work before each router, and the beginnings of units of `grain` routers.
    fn work_and_units(spec: &Spec, grain: usize) -> (Vec<u64>, Vec<u32>) {
        let routers = spec.graph.routers();
        (before(work(spec).into_iter()), (0..routers).step_by(grain).chain([routers]).collect())
    }

    #[test]
    fn rows_are_split_where_whole_ones_leave_threads_idle() {
        let spec = spec(r#"{"hyperx": {"widths": [22, 22], "terminals_per_router": 1}}"#, r#"{"dimension_order": {}}"#);
        let (work, rows) = work_and_units(&spec, 22);
        let (_, single) = work_and_units(&spec, 1);
        // 22 rows in 16 blocks: the largest block has two rows, and the mean is 22 / 16 = 1.375
        assert!((uneven(&work, &bounds(&work, 16, &rows)) - (2.0 / 1.375 - 1.0)).abs() < 1e-9);
        let split = firsts(&spec, 16, false);
        // if rows are divided, the largest of 16 blocks has 31 of the 484 routers, and the mean is 484 / 16 = 30.25
        assert!((uneven(&work, &split) - (31.0 / 30.25 - 1.0)).abs() < 1e-9, "{split:?}");
        assert_eq!(firsts(&spec, 11, false), bounds(&work, 11, &rows), "two rows each");
        assert_eq!(firsts(&spec, 30, false), bounds(&work, 30, &single), "more blocks than rows");
        assert_eq!(firsts(&spec, 16, true), bounds(&work, 16, &rows));
        assert_eq!(firsts(&spec, 100, true), bounds(&work, 22, &rows), "no more blocks than groups");
    }

    #[test]
    fn groups_stay_whole_where_their_links_are_shorter() {
        let dragonfly =
            r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
        let mut spec = spec(dragonfly, r#"{"dragonfly_minimal": {}}"#);
        (spec.links[1].latency, spec.links[2].latency) = (10, 100);
        (spec.links[1].credit_latency, spec.links[2].credit_latency) = (10, 100);
        let (work, groups) = work_and_units(&spec, 4);
        let (_, single) = work_and_units(&spec, 1);
        assert_eq!(firsts(&spec, 4, false), bounds(&work, 4, &groups), "9 groups");
        spec.links.iter_mut().for_each(|link| (link.latency, link.credit_latency) = (100, 100));
        assert_eq!(firsts(&spec, 4, false), bounds(&work, 4, &single), "9 routers each");
    }

    #[test]
    fn blocks_have_as_many_ports_and_each_has_a_router() {
        // a tree whose levels have routers with different numbers of ports, as real products have
        let spec = spec(r#"{"k_ary_n_tree": {"k": 4, "n": 3}}"#, r#"{"up_down": {}}"#);
        for blocks in 1..=spec.graph.routers() {
            let division = partition(&spec, blocks as usize, false);
            assert_eq!(division.blocks(), blocks as usize);
            let mut all: Vec<u32> = (0..division.blocks()).flat_map(|b| division.routers(b)).copied().collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..spec.graph.routers()), "{division:?}");
            assert!((0..division.blocks()).all(|b| division.routers(b).is_sorted()), "{division:?}");
            assert!((0..division.blocks()).all(|b| !division.routers(b).is_empty()), "{division:?}");
        }
        assert_eq!(
            (usual_blocks(&spec.graph, 0), usual_blocks(&spec.graph, 1), usual_blocks(&spec.graph, 5)),
            (1, 1, 5)
        );
    }

    #[test]
    fn terminals_of_a_program_count_as_work() {
        let mut spec =
            spec(r#"{"torus": {"widths": [4, 4], "terminals_per_router": 1}}"#, r#"{"dimension_order": {}}"#);
        assert_eq!(firsts(&spec, 2, false), [0, 8, 16]);
        let program = r#"{"collective": {"operation": "all_reduce", "ranks": 4, "bytes": "1KB"}}"#;
        let job = &mut spec.traffic.jobs[0];
        job.workload =
            serde_json::from_str(&format!(r#"{{"programs": {{"program": {program}}}}}"#)).expect("a workload");
        job.terminals.truncate(4);
        // 16 routers have 5 ports each, and four of them a terminal that counts 16 more: half of the work is (4 x (5 + 16) + 12 x 5) / 2 =
        // 72
        assert_eq!(firsts(&spec, 2, false), [0, 3, 16]);
    }

    /// Tests a tree with pods of 2 leaves and 2 routers above them, and with 4 top routers. Each block gets every second pod, and half of
    /// the top routers.
    #[test]
    fn pods_of_a_tree_are_dealt_out_in_turns() {
        let tree = spec(r#"{"fat_tree": {"k": 4}}"#, r#"{"up_down": {}}"#);
        let two = partition(&tree, 2, false);
        assert_eq!(two.routers(0), [0, 1, 4, 5, 8, 9, 12, 13, 16, 18]);
        assert_eq!(two.routers(1), [2, 3, 6, 7, 10, 11, 14, 15, 17, 19]);
        let eight = partition(&tree, 8, false);
        let leaves = |b: usize| eight.routers(b).iter().filter(|&&router| router < 8).count();
        assert_eq!((0..eight.blocks()).map(leaves).collect::<Vec<_>>(), [1; 8], "{eight:?}");
        let planes = spec(r#"{"planes": {"count": 3, "of": {"fat_tree": {"k": 4}}}}"#, r#"{"up_down": {}}"#);
        let two = partition(&planes, 2, false);
        assert_eq!(two.routers(0)[..12], [0, 1, 2, 3, 4, 5, 12, 13, 14, 15, 16, 17]);
        assert_eq!((two.routers(0).len(), two.routers(1).len()), (30, 30));
    }

    #[test]
    fn nodes_are_divided_only_where_their_notes_take_time_and_no_other_bound_is_free() {
        let halves = |plane: &str, host_latency: &str| {
            let topology = format!(r#"{{"planes": {{"count": 2, "of": {plane}}}}}"#);
            let mut spec = spec(&topology, r#"{"dimension_order": {}}"#);
            let program = r#"{"collective": {"operation": "all_reduce", "ranks": 4, "bytes": "1KB"}}"#;
            let workload = format!(r#"{{"programs": {{"program": {program}, "host_latency": "{host_latency}"}}}}"#);
            spec.traffic.jobs[0].workload = serde_json::from_str(&workload).expect("a workload");
            (notes_after(&spec, &partition(&spec, 2, false)), firsts(&spec, 2, false))
        };
        // two routers: each node has a terminal at each router, so a bound between the routers divides all nodes
        let single = r#"{"single_router": {"terminals": 4}}"#;
        assert_eq!(halves(single, "0ns"), (None, vec![0, 2]));
        assert_eq!(halves(single, "30cycles"), (Some(30), vec![0, 1, 2]));
        // four routers: the first two nodes are at the first two routers, so a bound after two routers divides no node
        let pair = r#"{"hyperx": {"widths": [2], "terminals_per_router": 2}}"#;
        assert_eq!(halves(pair, "30cycles"), (None, vec![0, 2, 4]));
    }

    /// Tests nodes of two terminals in groups of 3 routers: only every second bound between groups divides no node.
    #[test]
    fn groups_stay_whole_where_nodes_do() {
        let dragonfly =
            r#"{"dragonfly": {"routers_per_group": 3, "terminals_per_router": 1, "global_links_per_router": 1}}"#;
        let mut spec = spec(dragonfly, r#"{"dragonfly_minimal": {}}"#);
        let program = r#"{"collective": {"operation": "all_reduce", "ranks": 6, "bytes": "1KB"}}"#;
        let workload = format!(r#"{{"programs": {{"program": {program}, "rails": 2}}}}"#);
        spec.traffic.jobs[0].workload = serde_json::from_str(&workload).expect("a workload");
        assert_eq!(firsts(&spec, 4, true), [0, 6, 12]);
        assert_eq!(firsts(&spec, 4, false), [0, 2, 6, 8, 12], "bounds at 0, 3, 6, 9 and 12, moved by a router");
    }

    /// Tests that packets on long links count as state: although the state of the ports fits into the cache, the state with these packets
    /// does not.
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
