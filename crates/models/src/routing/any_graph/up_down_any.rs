//! Up*/down* on any graph: paths lead up toward the root of a tree, and then down. After a hop down, no hop leads up. Therefore one VC
//! class is enough.
//!
//! # Source
//! M. D. Schroeder et al., "Autonet: a high-speed, self-configuring local area network using point-to-point links", IEEE JSAC
//! 9(8), 1991.
//! # Parameters
//! `choice`: rule that selects one of the next hops on shortest legal paths (see Guarantees). `random` draws a hop for each packet at each
//! router; `first` takes the lowest port.
//! # Guarantees
//! The root is the router with the most links to other routers. If several have the most, it is the one with the lowest number. A hop leads
//! up if it ends nearer to the root than it begins, or at the same distance at a router with a lower number. Every other hop leads down. A
//! legal path leads first up and then down. Packets take a shortest legal path. A shortest legal path can be longer than a shortest path of
//! the graph. A single VC class is enough, because all routers have positions in an order that begins at the root. The position falls while
//! a packet goes up, and rises while it goes down. Therefore the dependencies between channels have no cycle. The routing table has four
//! bytes for each pair of a router and a destination router, at most 1 GiB. Faults: a packet whose head meets a broken link is discarded.
//! Saturation loads were measured to within 0.02, under uniform traffic of 4-flit packets with 12 VCs of 16 flits per link. A ring of 16
//! routers saturates at 0.25 with this routing, and at 0.45 with `shortest_path`. A random graph of 32 routers with 4 links each saturates
//! at 0.41 with this routing, and at 0.97 with `shortest_path`.
//! # Not modelled
//! A root that the user chooses; choices that depend on congestion; new tables after a fault. Load balancing: links near the root carry
//! more traffic than other links.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/deadlock_free.rs` checks that dependencies have no cycle on 200 random graphs, which include
//! rings, trees, stars and wide-area networks. `engine/tests/bounds.rs` checks that throughput reaches the theoretical bound of a full
//! mesh. No test compares this routing with another simulator.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_graph::{self, Among, Wiring};
use crate::routing::{Classes, Example, Hop, Proof, Routing, RoutingModel, Step, below, draw, same_classes};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::sync::Arc;
use weft_api::state::Packet;
use weft_topology::Graph;
use weft_units::Refusal;

/// Up*/down* on any graph: paths lead up toward the root of a tree, and then down, in one VC class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpDownAny {
    /// Rule that selects one of the next hops on shortest legal paths.
    #[serde(default)]
    pub choice: Among,
}

/// The tables of the routing. In a packet's state, `dim` is 1 after its first hop down. While `dim` is 0, the packet may still go up.
#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    choice: Among,
    wiring: Wiring,
    /// For each router: its position in the order that begins at the root.
    order: Arc<[u32]>,
    /// For each router and destination (index: [`Wiring::place`]): number of remaining links for a packet that may still go up, and for one
    /// that must go down.
    left: Arc<[[u16; 2]]>,
}

/// Value in `left` if there is no legal path.
const NONE: u16 = u16::MAX;

impl RoutingModel for UpDownAny {
    type Routing = Runtime;
    on_graph::routes_any_graph!();

    const FEW_CLASSES: bool = true;

    fn table_bytes(&self, graph: &Graph) -> u64 {
        on_graph::table_bytes(graph, size_of::<[u16; 2]>() as u64)
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let wiring = Wiring::of(graph);
        let mut left = Vec::with_capacity(wiring.check_size(size_of::<[u16; 2]>() as u64, "up_down_any")?);
        let order = order(&wiring);
        for dest in wiring.hosts() {
            left.extend(legal_links(&wiring, &order, dest)?);
        }
        let (order, left) = (order.into(), left.into());
        Ok(Runtime { classes: same_classes(graph, 1), choice: self.choice, wiring, order, left })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").bound_by_one_neighbor(), Example::of(r#"{"choice": "first"}"#)]
    }
}

/// For each router: its position in the order in which a breadth-first search from the root finds the routers.
fn order(wiring: &Wiring) -> Vec<u32> {
    let links = |router: &u32| wiring.ports_to_routers(*router).count();
    let root = (0..wiring.routers()).rev().max_by_key(links).unwrap_or(0);
    let mut depth = vec![u32::MAX; wiring.routers() as usize];
    depth[root as usize] = 0;
    let mut open = VecDeque::from([root]);
    while let Some(router) = open.pop_front() {
        for &peer in wiring.peers(router).iter().flatten() {
            if depth[peer as usize] == u32::MAX {
                depth[peer as usize] = depth[router as usize] + 1;
                open.push_back(peer);
            }
        }
    }
    let mut sorted: Vec<u32> = (0..wiring.routers()).collect();
    sorted.sort_by_key(|&router| depth[router as usize]);
    let mut order = vec![0; wiring.routers() as usize];
    sorted.iter().zip(0..).for_each(|(&router, place)| order[router as usize] = place);
    order
}

/// For every router: length of the shortest legal paths to `dest` \[links\]. The first number is for paths that lead up and then down, the
/// second for paths that only lead down.
fn legal_links(wiring: &Wiring, order: &[u32], dest: u32) -> Result<Vec<[u16; 2]>, Refusal> {
    let mut left = vec![[NONE; 2]; order.len()];
    left[dest as usize] = [0, 0];
    let above = |router: u32, peer: u32| order[peer as usize] < order[router as usize];
    // first, finds the paths down: searches backwards from the destination
    let mut open = VecDeque::from([dest]);
    while let Some(router) = open.pop_front() {
        let further = next(left[router as usize][1])?;
        for &peer in wiring.peers(router).iter().flatten().filter(|&&peer| above(router, peer)) {
            if left[peer as usize][1] == NONE {
                left[peer as usize] = [further, further];
                open.push_back(peer);
            }
        }
    }
    // then adds the paths that begin with a hop up, from the root on, so that a router comes after all routers above it
    let mut sorted: Vec<u32> = (0..order.len() as u32).collect();
    sorted.sort_by_key(|&router| order[router as usize]);
    for router in sorted {
        let up = wiring.peers(router).iter().flatten().filter(|&&peer| above(router, peer));
        let least = up.map(|&peer| left[peer as usize][0]).min().filter(|&least| least != NONE);
        if let Some(least) = least {
            let over = next(least)?;
            left[router as usize][0] = left[router as usize][0].min(over);
        }
    }
    Ok(left)
}

fn next(links: u16) -> Result<u16, Refusal> {
    links.checked_add(1).filter(|&links| links < NONE).ok_or_else(|| {
        let what = format!("a path has {NONE} links or more");
        Refusal::new("routing.up_down_any", what, "choose a topology with shorter paths")
    })
}

impl Runtime {
    fn is_up(&self, from: u32, to: u32) -> bool {
        self.order[to as usize] < self.order[from as usize]
    }

    /// Ports of router `at` that begin a shortest legal path to `dest`. Each has a flag: true if its hop leads up. `down`: true if the
    /// packet has already gone down.
    fn ports(&self, at: u32, dest: u32, down: bool) -> impl Iterator<Item = (u16, bool)> + Clone + '_ {
        let row = &self.left[self.wiring.place(0, dest)..][..self.order.len()];
        let here = row[at as usize][usize::from(down)];
        let hop = move |(port, peer): (u16, Option<u32>)| {
            let peer = peer?;
            let up = self.is_up(at, peer);
            let left = row[peer as usize][usize::from(!up)];
            (here != NONE && left < here && left + 1 == here && !(up && down)).then_some((port, up))
        };
        (0u16..).zip(self.wiring.peers(at).iter().copied()).filter_map(hop)
    }

    fn go(packet: &mut Packet, up: bool) {
        packet.dim = packet.dim.max(u8::from(!up));
    }
}

impl Routing for Runtime {
    on_graph::knows_numbers!();

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let ports = self.ports(at as u32, packet.dest as u32, packet.dim > 0);
        let number = match self.choice {
            Among::First => 0,
            // the hash includes the router, so that a packet draws again at each router (no path visits a router twice)
            Among::Random => match ports.clone().count() as u32 {
                0 => return None,
                count => below(draw(seed, packet, 0x3d | at << 8), count),
            },
        };
        let (port, up) = ports.clone().nth(number as usize)?;
        Self::go(packet, up);
        Some(Hop { port, class: 0 })
    }

    /// The possible next hops of a packet: one for each port that begins a shortest legal path, or the hop to the terminal at the
    /// destination.
    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let most = if self.choice == Among::First { 1 } else { usize::MAX };
        let step = |(port, up): (u16, bool)| {
            let mut after = *packet;
            Self::go(&mut after, up);
            Step { hop: Hop { port, class: 0 }, after, cost: None }
        };
        self.ports(at as u32, packet.dest as u32, packet.dim > 0).take(most).map(step).collect()
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    /// A rank of hops that rises along every path, which proves that dependencies between channels have no cycle. It is computed from the
    /// positions of routers, which fall while a packet goes up, and rise while it goes down.
    fn rank(&self, at: u64, hop: Hop) -> u32 {
        let (routers, place) = (self.order.len() as u32, self.order[at as usize]);
        match self.wiring.peer(at as u32, hop.port) {
            Some(peer) if self.is_up(at as u32, peer) => routers - place,
            Some(_) | None => routers + place,
        }
    }

    fn draws_hops(&self) -> bool {
        self.choice == Among::Random
    }
}
