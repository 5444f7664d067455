//! FleX minimal: shortest paths on a FleX network, with detours around failed links. The network has layers of routers with coordinates x
//! and y, and the layers form a ring. The VC class of a hop is its index in the path.
//!
//! # Source
//! M. Jeon et al., "FleX: A Flex Interconnected HPC System with Stochastic Load Balancing Scheme", IEEE Access 10 (2022): algorithm 1 with
//! one correction. In Weft, the loop of the algorithm runs while the packet is not at its destination. The paper prints "while it is",
//! which we take as an error.
//! # Parameters
//! `paths`: rule that chooses among the shortest paths. With `balanced`, at each router a packet draws one of all hops that begin a
//! shortest path, with equal probability. With `printed` a packet takes the paths of algorithm 1. These paths lead over the layer below if
//! source and destination are in one layer. They cross y before x. If source and destination have the same x and the same y, but are in
//! different layers, both hops are along x. `detours` \[links\]: number by which paths around failed links may exceed the longest shortest
//! path (default: 0). If the link between two neighbours has failed, the paper proposes paths of two links, one more than before (section
//! III-C1).
//! # Guarantees
//! Paths are minimal. The number of VC classes is the number of links on the longest shortest path, plus `detours`. The class rises with
//! each hop, so the dependencies between channels have no cycle, with and without faults. With two or three layers, `balanced` makes all
//! shortest paths equally likely. With more layers, only the next hops at each router are equally likely. `printed` needs three layers of
//! at least 3 x 3 routers. The following bounds are loads [flits per terminal and cycle] on 6 x 6 x 3 routers with 10 terminals each. The
//! traffic is uniform, and terminals also send to themselves. The bound under `printed` is 27 / 31 = 0.871. The bound under `balanced` is
//! 108 / 97 = 1.113, more than a terminal can send. The routing needs no tables. Faults: a head at a broken link takes another hop at once.
//! Its choice depends only on the links of its own router. The head first tries the hops on all shortest paths (also under `printed`), and
//! then the other hops, those with the fewest remaining links first. Among hops with equally many remaining links it begins with a random
//! one. The head can take a hop only if a VC class is left for each remaining link. In networks of three layers with widths of at least 3,
//! the best hops that are not on a shortest path cost one link more. A packet is then delivered if it meets at most `detours` broken links,
//! and if at each of them the link of another possible hop works. Therefore `detours: 1` loses no packet if one link fails. With `detours:
//! 0`, packets that meet a failed link on their last hop are lost. In networks of two, four or more layers with widths of at least 4, these
//! hops cost two links more. There a detour between neighbours needs `detours: 2`. A packet does not return to the router at which it last
//! met a broken link, if it has another hop. Packets do not know broken links in advance, so a packet can meet several.
//! # Not modelled
//! A choice between shortest paths by congestion.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. The tests of this file check that `balanced` lists all hops that begin a shortest path. They also check that
//! `printed` lists the hops of algorithm 1, and that detours between neighbours are those of the paper. `engine/tests/faults.rs` checks the
//! numbers of lost packets with and without detours. `engine/tests/bounds.rs` checks that throughput under uniform traffic reaches the
//! theoretical bounds of `balanced` and `printed`. No test compares this routing with another simulator.

use crate::routing::{
    Accepts, AroundFaults, Classes, Example, Hop, Needs, Proof, Routing, RoutingModel, Step, below, class_per_hop,
    draw, same_classes,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::coordinates;
use weft_api::state::Packet;
use weft_topology::{CrossedLayers, Crossing, Graph, Offset};
use weft_units::Refusal;

/// Shortest paths on a FleX network (layers of routers that form a ring), with detours around failed links. The VC class of a hop is its
/// index in the path.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlexMinimal {
    /// Rule that chooses one of the shortest paths.
    #[serde(default)]
    pub paths: Paths,
    /// Number of links by which paths around failed links may exceed the longest shortest path. Each of these links needs one more VC
    /// class.
    #[serde(default)]
    pub detours: u8,
}

/// Rule that chooses one of the shortest paths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Paths {
    /// All shortest paths: at each router, the packet draws one of all hops that begin a shortest path, with equal
    /// probability.
    #[default]
    Balanced,
    /// The paths of algorithm 1 of the paper.
    Printed,
}

/// Value of `Packet::phase` for a packet that has met a broken link. `Packet::target` is then the router at which the packet last met a
/// broken link.
const MET_BROKEN: u8 = 1;

/// Largest number of kinds of first hops: up or down, times along x or y, times to the destination's coordinate or to
/// another one.
const MAX_KINDS: usize = 8;

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    /// Number of links of the longest path, which is also the number of VC classes.
    most_hops: u8,
    crossed: CrossedLayers,
    /// Routers have coordinates: x in byte 0, y in byte 1, the layer in byte 2. For each relative position of the destination, the table
    /// contains the hops that a packet may take. The index into the table is 4 * (layers upward to the destination) + 2 * (1 if y
    /// differs) + (1 if x differs).
    first_hops: Arc<[FirstHops]>,
}

/// The hops that a packet may take to destinations in the same relative position.
#[derive(Debug, Clone, Copy, Default)]
struct FirstHops {
    kinds: [Kind; MAX_KINDS],
    /// Number of routers to which these hops lead.
    count: u32,
}

#[derive(Debug, Clone, Copy, Default)]
struct Kind {
    /// The first port of this kind: it leads to coordinate 0 of the axis, if the router's own coordinate is not 0.
    first_port: u16,
    /// First bit of this axis in the packed coordinates.
    shift: u8,
    /// True if the hop leads to the destination's coordinate, false if it leads to any other coordinate.
    arrives: bool,
    /// Number of routers to which hops of this kind lead; 0 after the last kind.
    count: u32,
}

impl RoutingModel for FlexMinimal {
    type Routing = Runtime;
    const ROUTES: &'static str = "layers of routers that form a ring and are connected crosswise";
    const CAN_BE_A_LEG: bool = true;

    fn fits(graph: &Graph) -> bool {
        graph.structure().crossed.is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let crossed = graph.structure().crossed.as_ref().expect("a graph that fits");
        let [x, y, layers] = crossed.widths;
        if self.paths == Paths::Printed && (x.min(y) < 3 || layers != 3) {
            let what =
                format!("algorithm 1 of FleX is for 3 layers of at least 3 x 3 routers, not for {x} x {y} x {layers}");
            return Err(Refusal::new("routing.flex_minimal.paths", what, "write balanced"));
        }
        let help =
            if self.detours == 0 { "choose fewer layers" } else { "allow fewer detours, or choose fewer layers" };
        let most_hops = class_per_hop(graph.diameter() + u32::from(self.detours), "routing.flex_minimal", help)?;
        let first_hops = (0..4 * layers).map(|kind| {
            let offset = Offset { differs: [kind & 1 == 1, kind & 2 == 2], layers: kind / 4 };
            let exists = (0..2).all(|axis| !offset.differs[axis] || crossed.widths[axis] > 1);
            let mut hops = if exists { crossed.first_hops(offset) } else { Vec::new() };
            hops.retain(|hop| self.paths == Paths::Balanced || is_printed(hop, offset));
            FirstHops::of(crossed, &hops)
        });
        let (classes, first_hops) = (same_classes(graph, most_hops), first_hops.collect());
        Ok(Runtime { classes, most_hops, crossed: crossed.clone(), first_hops })
    }

    fn examples() -> Vec<Example<Self>> {
        const SMALL: &str = r#"{"flex": {"widths": [3, 3], "layers": 3, "terminals_per_router": 8}}"#;
        const UNIFORM: &str = r#"{"uniform": {"include_self": true}}"#;
        vec![
            // At a load of 1, every router sends 8 / 27 flits per cycle to each of the 27 routers. In units of 8 / 27 flits per cycle, the
            // packets of one router make these hops up along x, by the position of the destination. In the same layer: 2 to the 2 routers
            // along x (a path has 2 hops, one of them up), and 2 to the 4 routers that differ in x and y (a quarter of 2 hops each). In the
            // layer above: 2 to the 2 routers along x. In the layer below: 1 to the router in the same position (half of 2 hops), and 4 to
            // the 4 routers that differ in x and y (half of 2 hops each). In total, 11 hops share the 2 channels up along x of a router.
            Example::of("{}").bound(SMALL, UNIFORM, Accepts::UpTo(27.0 / (8.0 * 5.5))),
            // As in the example above: 2 to the 2 routers along x in the same layer, and 2 to those in the layer above. To the 4 routers of
            // the same layer that differ in x and y: 4 (not 2), because all packets to these go down along y first and then up along x. In
            // the layer below: 2 to the router in the same position, because these packets go along x, and 4 as above. In total 14.
            Example::of(r#"{"paths": "printed"}"#).only_on(&[SMALL]).bound(
                SMALL,
                UNIFORM,
                Accepts::UpTo(27.0 / (8.0 * 7.0)),
            ),
            Example::of(r#"{"detours": 1}"#),
        ]
    }
}

impl FirstHops {
    fn of(crossed: &CrossedLayers, hops: &[Crossing]) -> Self {
        let mut first = Self { count: hops.iter().map(|hop| hop.count).sum(), ..Self::default() };
        for (kind, hop) in first.kinds.iter_mut().zip(hops) {
            *kind = Kind {
                first_port: crossed.first_port_of(hop.up, hop.axis) as u16,
                shift: 8 * hop.axis as u8,
                arrives: hop.arrives,
                count: hop.count,
            };
        }
        first
    }

    /// Returns the port of the first hop with index `number` (below `count`), for a packet to `dest` at the router with coordinates `at`.
    #[inline(always)]
    fn port(&self, at: u64, dest: u64, mut number: u32) -> u16 {
        let mut kind = &self.kinds[0];
        // the loop is short, because most destinations have one or two kinds of hops
        for next in &self.kinds[1..] {
            if number < kind.count {
                break;
            }
            number -= kind.count;
            kind = next;
        }
        let (own, to) = ((at >> kind.shift) as u8, (dest >> kind.shift) as u8);
        let skipped = to - u8::from(to > own);
        let place = match kind.arrives {
            true => skipped,
            // a router has no port to its own coordinate; a hop that does not lead to the destination's coordinate also
            // skips that coordinate
            false => number as u8 + u8::from(own != to && number as u8 >= skipped),
        };
        kind.first_port + u16::from(place)
    }
}

/// True if algorithm 1 uses this hop of a shortest path, in a network of three layers.
fn is_printed(hop: &Crossing, offset: Offset) -> bool {
    match (offset.layers == 0, offset.differs) {
        // the direct link
        (false, [true, false] | [false, true]) => true,
        // same position in another layer: over the third layer, along x to any other router
        (false, [false, false]) => hop.axis == 0,
        // another layer, x and y differ: over the third layer, first along y
        (false, [true, true]) => hop.axis == 1,
        // same layer, x or y differs: over the layer below, along the axis that differs
        (true, [true, false] | [false, true]) => !hop.up,
        // same layer, x and y differ: over the layer below, first along y
        (true, [true, true]) => !hop.up && hop.axis == 1,
        (true, [false, false]) => unreachable!("a packet at its destination goes nowhere"),
    }
}

impl Runtime {
    /// Returns the position of the destination relative to the router with coordinates `at`.
    #[inline(always)]
    fn offset(&self, at: u64, dest: u64) -> Offset {
        let differ = at ^ dest;
        let (own, to) = ((at >> 16) as u32, (dest >> 16) as u32);
        let layers = if to >= own { to - own } else { to + self.crossed.widths[2] - own };
        Offset { differs: [differ & 0xff != 0, differ & 0xff00 != 0], layers }
    }

    /// Returns the hops that a packet at router `at` may take, which must not be its destination router.
    #[inline(always)]
    fn first_hops(&self, at: u64, dest: u64) -> &FirstHops {
        let Offset { differs: [x, y], layers } = self.offset(at, dest);
        &self.first_hops[(4 * layers + u32::from(x) + 2 * u32::from(y)) as usize]
    }

    /// Returns a random port among those that begin a shortest path from `at`.
    #[inline(always)]
    fn port(&self, at: u64, packet: &Packet, drawn: impl Fn(u32) -> u32) -> u16 {
        let hops = self.first_hops(at, packet.dest);
        if packet.phase == MET_BROKEN {
            return self.port_onward(hops, at, packet, &drawn);
        }
        hops.port(at, packet.dest, drawn(hops.count))
    }

    /// Like `port`, for a packet that has met a broken link. If it has another choice, it does not return to the router at which it met
    /// this link.
    #[cold]
    #[inline(never)]
    fn port_onward(&self, hops: &FirstHops, at: u64, packet: &Packet, drawn: &dyn Fn(u32) -> u32) -> u16 {
        let Some(back) = self.port_to_avoid(at, packet) else { return hops.port(at, packet.dest, drawn(hops.count)) };
        let port = hops.port(at, packet.dest, drawn(hops.count - 1));
        if port == back { hops.port(at, packet.dest, hops.count - 1) } else { port }
    }

    /// Returns the port of a shortest path that leads back to the router at which the packet last met a broken link. Returns `None` if
    /// shortest paths begin at no other port.
    #[cold]
    fn port_to_avoid(&self, at: u64, packet: &Packet) -> Option<u16> {
        let hops = self.first_hops(at, packet.dest);
        let begins = |back: u16| (0..hops.count).any(|number| hops.port(at, packet.dest, number) == back);
        self.port_back(at, packet).filter(|&back| hops.count > 1 && begins(back))
    }

    /// Returns the port that leads from `at` directly back to the router at which the packet last met a broken link;
    /// `None` if there is no such link.
    fn port_back(&self, at: u64, packet: &Packet) -> Option<u16> {
        let is_near = packet.phase == MET_BROKEN && self.crossed.distance(self.offset(at, packet.target)) == 1;
        is_near.then(|| self.first_hops(at, packet.target).port(at, packet.target, 0))
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), ..Needs::default() }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        coordinates::in_crossed_layers(graph).expect("a graph that fits")
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let class = packet.lane;
        packet.lane += 1;
        let salt = 0xf1e + u64::from(class);
        let port = self.port(at, packet, |count| if count == 1 { 0 } else { below(draw(seed, packet, salt), count) });
        Some(Hop { port, class })
    }

    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let (class, after) = (packet.lane, Packet { lane: packet.lane + 1, ..*packet });
        let (hops, avoided) = (self.first_hops(at, packet.dest), self.port_to_avoid(at, packet));
        let ports = (0..hops.count).map(|number| hops.port(at, packet.dest, number));
        let ports = ports.filter(|&port| Some(port) != avoided);
        ports.map(|port| Step { hop: Hop { port, class }, after, cost: None }).collect()
    }

    fn around_faults(&self) -> AroundFaults {
        AroundFaults::ChoosesAgain
    }

    /// Lists the hops for a packet whose output is broken: all hops after which a VC class is left for each link of the remaining path. The
    /// hops with the shortest remaining paths come first. Hops with equally long remaining paths are in the order of their indices, but
    /// begin with a random one and wrap around. The hop back to the router at which the packet met an earlier broken link comes last. After
    /// each of these hops, the packet avoids a return to this router.
    fn steps_around(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let class = packet.lane;
        let after = Packet { lane: class + 1, phase: MET_BROKEN, target: at, ..*packet };
        let all = self.crossed.hops(self.offset(at, packet.dest));
        let mut steps = Vec::new();
        for links_behind in 0..u32::from(self.most_hops - class) {
            let is_so_far = |hop: &Crossing| self.crossed.distance(hop.after) == links_behind;
            let hops = FirstHops::of(&self.crossed, &all.iter().copied().filter(is_so_far).collect::<Vec<_>>());
            let drawn =
                if hops.count > 1 { below(draw(seed, packet, 0xde7 + u64::from(class)), hops.count) } else { 0 };
            let ports = (0..hops.count).map(|number| hops.port(at, packet.dest, (drawn + number) % hops.count));
            steps.extend(ports.map(|port| Step { hop: Hop { port, class }, after, cost: None }));
        }
        let back = self.port_back(at, packet);
        steps.sort_by_key(|step| Some(step.hop.port) == back);
        steps
    }

    fn forget_hop(&self, packet: &mut Packet) {
        packet.lane -= 1;
    }

    fn most_hops(&self) -> Option<u32> {
        Some(self.most_hops.into())
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    fn draws_hops(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_topology::{Peer, TopologyConfig};

    fn graph(widths: &str, layers: u32) -> Graph {
        let text = format!(r#"{{"flex": {{"widths": {widths}, "layers": {layers}, "terminals_per_router": 1}}}}"#);
        serde_json::from_str::<TopologyConfig>(&text).expect("a topology").build("topology").expect("a graph")
    }

    /// Returns the routers to which the hops in `steps` lead.
    fn far_ends(graph: &Graph, from: u32, steps: &[Step]) -> Vec<u32> {
        let far = |step: &Step| match graph.ports(from)[usize::from(step.hop.port)].peer {
            Peer::Router { router, .. } => router,
            Peer::Terminal(_) | Peer::Unused => panic!("port {} leads to no router", step.hop.port),
        };
        steps.iter().map(far).collect()
    }

    /// Returns the next routers that a packet from router `from` to router `to` can choose, in ascending order.
    fn hops(routing: &Runtime, graph: &Graph, coords: &[u64], from: u32, to: u32) -> Vec<u32> {
        let packet = Packet { dest: coords[to as usize], ..Packet::default() };
        let mut hops = far_ends(graph, from, &routing.steps(coords[from as usize], &packet, 1));
        hops.sort_unstable();
        hops
    }

    #[test]
    fn balanced_lists_every_hop_that_begins_a_shortest_path() {
        for (widths, layers) in
            [("[3, 3]", 3), ("[4, 3]", 2), ("[3, 4]", 4), ("[2, 2]", 5), ("[4, 1]", 6), ("[5, 2]", 7)]
        {
            let graph = graph(widths, layers);
            let routing = FlexMinimal::default().build(&graph).unwrap();
            let coords = routing.coordinates(&graph);
            for to in 0..graph.routers() {
                let distances = graph.distances_from(to);
                for from in (0..graph.routers()).filter(|&from| from != to) {
                    let is_nearer = |&far: &u32| distances[far as usize] < distances[from as usize];
                    let peers = graph.ports(from).iter().filter_map(|port| match port.peer {
                        Peer::Router { router, .. } => Some(router),
                        Peer::Terminal(_) | Peer::Unused => None,
                    });
                    let mut expected: Vec<u32> = peers.filter(is_nearer).collect();
                    expected.sort_unstable();
                    assert_eq!(
                        hops(&routing, &graph, &coords, from, to),
                        expected,
                        "{widths} x {layers}: {from} to {to}"
                    );
                }
            }
        }
    }

    #[test]
    fn printed_takes_the_hops_of_algorithm_1() {
        // 4 x 3 x 3 routers: number = x + 4 y + 12 z
        let graph = graph("[4, 3]", 3);
        let routing = FlexMinimal { paths: Paths::Printed, detours: 0 }.build(&graph).unwrap();
        let coords = routing.coordinates(&graph);
        let router = |[x, y, z]: [u32; 3]| x + 4 * y + 12 * z;
        let from = [1, 1, 0];
        let cases: [([u32; 3], &[[u32; 3]]); 8] = [
            // to routers in the same layer: over the layer below (layer 2); along x, along y, or along y first
            ([3, 1, 0], &[[0, 1, 2], [2, 1, 2]]),
            ([1, 2, 0], &[[1, 0, 2]]),
            ([3, 2, 0], &[[1, 2, 2]]),
            // to the router in the same position of another layer: along x into the third layer
            ([1, 1, 1], &[[0, 1, 2], [2, 1, 2], [3, 1, 2]]),
            ([1, 1, 2], &[[0, 1, 1], [2, 1, 1], [3, 1, 1]]),
            // neighbours
            ([3, 1, 1], &[[3, 1, 1]]),
            // to routers that differ in x and y: along y into the third layer
            ([3, 2, 1], &[[1, 2, 2]]),
            ([3, 2, 2], &[[1, 2, 1]]),
        ];
        for (to, expected) in cases {
            let expected: Vec<u32> = expected.iter().map(|&far| router(far)).collect();
            assert_eq!(hops(&routing, &graph, &coords, router(from), router(to)), expected, "to {to:?}");
        }
    }

    #[test]
    fn detours_between_neighbours_are_those_of_the_paper() {
        // 5 x 4 x 3 routers: number = x + 5 y + 20 z. A detour between neighbours has two hops over the third layer, to any x except those
        // of the two ends. With Nx routers along x there are Nx - 2 detours.
        let graph = graph("[5, 4]", 3);
        let routing = FlexMinimal { detours: 1, ..FlexMinimal::default() }.build(&graph).unwrap();
        assert_eq!(routing.needs().classes[1..], [3, 3]);
        let coords = routing.coordinates(&graph);
        let router = |[x, y, z]: [u32; 3]| x + 5 * y + 20 * z;
        let (from, to) = (router([1, 2, 0]), router([4, 2, 1]));
        let around = |lane: u8, seq: u32| {
            let packet = Packet { dest: coords[to as usize], lane, seq, ..Packet::default() };
            let steps = routing.steps_around(coords[from as usize], &packet, 1);
            assert!(steps.iter().all(|step| step.hop.class == lane && step.after.lane == lane + 1));
            far_ends(&graph, from, &steps)
        };
        let over = |x| router([x, 2, 2]);
        // a packet on its second hop (lane 1) tries the direct link first, then the detours, whose second hop uses the last VC class
        let mut expected = vec![to, over(0), over(2), over(3)];
        let mut found = around(1, 0);
        assert_eq!(found[0], to);
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        // a random draw decides with which detour each packet begins
        let second: Vec<u32> = (0..100).map(|seq| around(1, seq)[1]).collect();
        assert!([0, 2, 3].into_iter().all(|x| second.contains(&over(x))));
        // a packet on its first hop (lane 0) may cross two more links after this hop. From each of the 2 (5 + 4 - 2) = 14 neighbours, every
        // router is at most two links away
        assert_eq!(around(0, 0).len(), 14);
        // a packet whose next hop uses the last VC class can only take the direct link
        assert_eq!(around(2, 0), [to]);
    }

    #[test]
    fn printed_is_refused_where_the_algorithm_does_not_lead_on() {
        for (widths, layers) in [("[3, 3]", 4), ("[3, 2]", 3)] {
            let refusal = FlexMinimal { paths: Paths::Printed, detours: 0 }.build(&graph(widths, layers)).unwrap_err();
            assert_eq!(
                (refusal.path.as_str(), refusal.help.as_str()),
                ("routing.flex_minimal.paths", "write balanced")
            );
        }
        let far = FlexMinimal::default().build(&graph("[3, 1]", 40)).unwrap_err();
        assert!(far.what.starts_with("paths of up to 20 links need 20 VC classes"), "{}", far.what);
    }
}
