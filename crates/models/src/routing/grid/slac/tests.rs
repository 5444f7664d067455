//! Tests the path between every pair of routers, for every number of stages and every rule `via`. The expected hops come from a second
//! implementation of the routing.

use super::{Runtime, Slac, Via};
use crate::routing::{Hop, Routing, RoutingModel, View};
use weft_api::coordinates::of_all as coordinates;
use weft_api::state::LinkState;
use weft_api::state::{DETOUR, Packet};
use weft_api::subnetworks::LinkTable;
use weft_topology::{Graph, Peer, TopologyConfig};

const CHOICES: [Via; 4] = [Via::ByDestination, Via::Lowest, Via::Newest, Via::Random];
/// Numbers of columns and rows of the tested networks.
const NETWORKS: [(u32, u32); 4] = [(8, 8), (5, 3), (3, 6), (2, 2)];

fn hyperx(columns: u32, rows: u32) -> Graph {
    let json = format!(r#"{{"hyperx": {{"widths": [{columns}, {rows}], "terminals_per_router": 1}}}}"#);
    serde_json::from_str::<TopologyConfig>(&json).unwrap().build("topology").unwrap()
}

fn with_every_stage(graph: &Graph, via: Via) -> Vec<Runtime> {
    Slac { via }.build(graph).unwrap().every_stage().collect()
}

/// A view of a router whose methods for queues panic, because SLaC must not read queues.
struct NoQueues;

impl View for NoQueues {
    fn read(&self, _: u16) -> i32 {
        unreachable!("it reads no queue")
    }
    fn capacity(&self, _: u16) -> u32 {
        unreachable!("it reads no queue")
    }
    fn read_of(&self, _: i32, _: u16) -> i32 {
        unreachable!("it reads no queue")
    }
    fn post(&self, _: u64) -> weft_api::board::Post<'_> {
        unreachable!("it reads no queue")
    }
    fn member(&self, _: Hop, _: u32) -> (u32, Hop) {
        unreachable!("it knows no trunk")
    }
    fn fallback(&self, _: Hop) -> Hop {
        unreachable!("it knows no trunk")
    }
    fn is_broken(&self, _: u16) -> bool {
        false
    }

    fn state(&self, _: u16) -> LinkState {
        unreachable!("it looks at no link")
    }
    fn credits(&self, _: Hop) -> u32 {
        unreachable!("it counts no credits")
    }
    fn is_open(&self, _: Hop) -> bool {
        unreachable!("it reads no queue")
    }
    fn has_room(&self, _: Hop) -> bool {
        unreachable!("it reads no queue")
    }
    fn was_granted(&self, _: u16) -> bool {
        unreachable!("it reads no queue")
    }
    fn used(&self, _: Hop) -> u32 {
        unreachable!("it reads no queue")
    }
    fn occupancy(&self, _: Hop) -> (f64, u32) {
        unreachable!("it reads no queue")
    }
    fn table(&self) -> LinkTable<'_> {
        unreachable!("it looks at no link")
    }
}

/// A hop: the next router, and the class of the link.
type Step = (u32, u8);

/// Returns the hops of a packet, of which `at_head` chooses the first, and the state of the packet at its destination.
fn walk(graph: &Graph, routing: &Runtime, from: u32, to: u32, seq: u32) -> (Vec<Step>, Packet) {
    let coords = coordinates(graph);
    let dest = coords[to as usize];
    let mut packet = Packet { dest, target: dest, seq, ..Packet::default() };
    let (mut at, mut steps) = (from, Vec::new());
    loop {
        let known = routing.next(coords[at as usize], &mut packet, 7);
        let hop = known.unwrap_or_else(|| routing.at_head(coords[at as usize], &NoQueues, &mut packet, 7));
        assert_eq!(hop.class, 0);
        let port = graph.ports(at)[hop.port as usize];
        let Peer::Router { router, .. } = port.peer else { return (steps, packet) };
        steps.push((router, port.class));
        at = router;
        assert!(steps.len() < 4, "{from} to {to}: {steps:?}");
    }
}

/// Returns the number of hops that the paper's rule implies, and true if the packet must choose a row. Rows and columns are counted from 0.
fn expected((x1, y1): (u32, u32), (x2, y2): (u32, u32), stages: u32) -> (usize, bool) {
    let on = |row: u32| row < stages;
    match (x1 == x2, y1 == y2) {
        (true, true) => (0, false),
        // a column link belongs to the stage of its lower row
        (true, false) => {
            if on(y1.min(y2)) {
                (1, false)
            } else {
                (2, true)
            }
        }
        (false, true) => {
            if on(y1) {
                (1, false)
            } else {
                (3, true)
            }
        }
        (false, false) => {
            if on(y1) || on(y2) {
                (2, false)
            } else {
                (3, true)
            }
        }
    }
}

/// Checks for every number of stages that each hop uses a stage that is on. Each path must have the length that the paper's rule implies.
fn check_pairs(columns: u32, rows: u32, via: Via) {
    let graph = hyperx(columns, rows);
    let place = |router: u32| (router % columns, router / columns);
    for (stages, routing) in (1..).zip(with_every_stage(&graph, via)) {
        for (from, to) in (0..graph.routers()).flat_map(|from| (0..graph.routers()).map(move |to| (from, to))) {
            let (steps, packet) = walk(&graph, &routing, from, to, from * 31 + to);
            let what = format!("{columns} x {rows}, {stages} stages, {via:?}, {from} to {to}: {steps:?}");
            let (hops, chosen) = expected(place(from), place(to), stages);
            assert_eq!(steps.len(), hops, "{what}");
            assert_eq!(packet.lane, if hops > 0 { stages as u8 } else { 0 }, "{what}");
            let shortest = graph.distances_from(from)[to as usize] as usize;
            assert_eq!(packet.flags & DETOUR != 0, hops > shortest, "{what}");
            let mut at = from;
            for &(next, link) in &steps {
                let lower = place(at).1.min(place(next).1);
                assert!(lower < stages, "dark link {at} -> {next}: {what}");
                assert_eq!(link, if place(at).1 == place(next).1 { 1 } else { 2 }, "{what}");
                at = next;
            }
            assert_eq!(at, to, "{what}");
            if chosen {
                check_row(place(steps[0].0).1, to, stages, via, &what);
            }
        }
    }
}

fn check_row(row: u32, to: u32, stages: u32, via: Via, what: &str) {
    match via {
        Via::ByDestination => assert_eq!(row, to % stages, "{what}"),
        Via::Lowest => assert_eq!(row, 0, "{what}"),
        Via::Newest => assert_eq!(row, stages - 1, "{what}"),
        Via::Random => assert!(row < stages, "{what}"),
    }
}

#[test]
fn every_pair_is_joined_over_stages_that_are_on_as_the_rule_says() {
    for (columns, rows) in NETWORKS {
        CHOICES.into_iter().for_each(|via| check_pairs(columns, rows, via));
    }
}

#[test]
fn a_random_row_is_any_that_is_on() {
    let graph = hyperx(5, 4);
    let routing = &with_every_stage(&graph, Via::Random)[2];
    // 300 packets from (0, 3) to (2, 3) draw one of 3 rows: each row gets about 100 packets, with a standard deviation of 8
    let mut seen = [0; 3];
    (0..300).for_each(|seq| seen[(walk(&graph, routing, 15, 17, seq).0[0].0 / 5) as usize] += 1);
    assert!(seen.iter().all(|count| (60..140).contains(count)), "{seen:?}");
    let dest = coordinates(&graph)[17];
    let steps = routing.steps(coordinates(&graph)[15], &Packet { dest, ..Packet::default() }, 7);
    assert_eq!(steps.len(), 3);
}

#[test]
fn hops_of_the_8x8_network_with_each_number_of_stages() {
    let graph = hyperx(8, 8);
    let pairs = || (0..64).flat_map(|from| (0..64).map(move |to| (from, to)));
    let sum = |routing: &Runtime| pairs().map(|(from, to)| walk(&graph, routing, from, to, 0).0.len()).sum::<usize>();
    let sums: Vec<usize> = with_every_stage(&graph, Via::ByDestination).iter().map(sum).collect();
    // With all 8 stages, a path has one hop for each dimension in which its ends differ. In each of the two dimensions, 7 / 8 of the pairs
    // differ
    assert_eq!(sums[7], 2 * 64 * 56);
    // With S stages, 8 - S rows are dark. Between two routers in dark rows, a packet makes one hop more than on a minimal path. If the
    // routers are in the same row, it makes two hops more
    for (stages, hops) in (1..).zip(sums) {
        let dark = 8 - stages;
        let others = dark * dark - dark;
        let more = 8 * others + 2 * dark * 56 + 56 * others;
        assert_eq!(hops, 2 * 64 * 56 + more, "{stages} stages");
    }
    // with one stage, the paths of all 4,096 pairs together have 3,472 hops more than with all stages, 0.848 per pair
    assert_eq!(format!("{:.3}", f64::from(8 * 7 * 6 + 2 * 7 * 56 + 56 * 7 * 6) / 4096.0), "0.848");
}
