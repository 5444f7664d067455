//! Up*/down* routing on a k-ary n-tree or a fat tree of pods: up to a nearest common ancestor, then down on the only
//! path.
//!
//! # Source
//! F. Petrini, M. Vanneschi, "k-ary n-trees", IPPS'97. The routings `nca` (here `random`) and `anca` (here `adaptive`)
//! of BookSim2 on `fattree`. D-mod-k: E. Zahavi et al., "Optimized InfiniBand fat-tree routing for shift all-to-all
//! communication patterns", Concurrency and Computation 22(2), 2010.
//! # Parameters
//! `ascent`: rule that chooses the upward link at each level. With `random` all upward links of a path are drawn when the packet is
//! created. BookSim2 draws one at each hop, with the same probabilities. With `d_mod_k`, the index of the upward link at level s is digit
//! s, base k, of the number of the destination terminal; digit 0 is the lowest. With `d_mod_k_high_first`, digit 0 is the highest. On a
//! tree whose levels have different numbers of links, the digits are those of the terminal's position in the tree, and digit s is taken
//! modulo the number of upward links. With `adaptive`, the packet at the front of a VC takes the upward link with the least congestion; the
//! comparison begins at a random link. `sensor`: definition of congestion (`adaptive` only). Under a policy that switches links level by
//! level, each router chooses the upward link when a packet is at the front of its VC. The rule then applies only to the upward links that
//! the policy uses at this level: `random` draws one of these links, and a digit is taken modulo their number. If links have failed under
//! such a policy, the router chooses among the upward links from which working links lead to the destination.
//! # Guarantees
//! Paths are minimal. If the nearest common ancestors of two leaves are l levels up, packets between the leaves use k^l paths (`random`,
//! `adaptive`), or one path per destination terminal (both `d_mod_k` rules). On a tree whose levels have different numbers of links, the
//! number is not k^l, but the product of the numbers of upward links of these l levels. The routing has one VC class. A packet that has
//! crossed a downward link never goes up again. An upward link can therefore depend only on upward links of the next level and on downward
//! links. A downward link can depend only on downward links of the level below. These dependencies form no cycle.
//!
//! Faults: on the path down there is no alternative hop, so a packet whose head meets a broken link there is discarded. On the path up,
//! `adaptive` takes another link at the router whose link has failed, but does not avoid failures further along the path. The other rules
//! choose the whole path in advance, so the packet is discarded. If a policy switches links level by level, all rules avoid upward links
//! without a working path to the destination, as soon as the policy has been notified of the fault. After this notification, a packet is
//! lost only if it had already chosen its path, or if no working path leads to its destination.
//! # Not modelled
//! A new choice of the upward link while a head waits for it. Routers of one level with different numbers of links.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/paths.rs` checks that packets take all shortest paths and no others, and that D-mod-k follows the
//! digits. `engine/tests/bounds.rs` checks the accepted loads of full trees under `bit_complement`, and under the worst pattern for each
//! order of digits. The rows `nca` of `tests/data/golden/booksim.csv` compare `random` with BookSim2.

use crate::routing::{
    Accepts, Classes, Cost, Decides, Example, Hop, LinkKnowledge, Needs, Outcomes, Proof, Published, Routing,
    RoutingModel, Sensor, Step, View, below, draw, same_classes, weigh,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, RwLock};
use weft_api::coordinates::{self, DIGITS, LEVEL, is_above};
use weft_api::links_up::{LinksUp, numbers_of};
use weft_api::state::Packet;
use weft_api::widths::{Widths, note_choice};
use weft_topology::Graph;
use weft_units::Refusal;

/// Up*/down* routing on a k-ary n-tree or a fat tree: up to a nearest common ancestor, then down on the only path.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UpDown {
    /// Rule that chooses the upward link at each level.
    #[serde(default)]
    pub ascent: Ascent,
    /// Definition of the congestion of an output (used only by `adaptive`).
    #[serde(default = "credits")]
    pub sensor: Sensor,
}

/// The default sensor counts flits in flight as congestion. On a tree this causes no detours, because all upward links are minimal. It
/// spreads packets over the links.
fn credits() -> Sensor {
    Sensor::UsedCredits
}

impl Default for UpDown {
    fn default() -> Self {
        Self { ascent: Ascent::default(), sensor: credits() }
    }
}

/// Rule that chooses the upward link at each level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Ascent {
    /// A random link, drawn for each packet.
    #[default]
    Random,
    /// The upward link at level s is digit s of the number of the destination terminal, counted from the lowest digit. Packets to
    /// neighbouring terminals take different links.
    DModK,
    /// The upward link at level s is digit s of the number of the destination terminal, counted from the highest digit. Packets to
    /// neighbouring terminals share links.
    DModKHighFirst,
    /// The link that is least congested in the cycle in which the packet reaches the front of its VC.
    Adaptive,
}

#[derive(Debug)]
pub struct Runtime {
    classes: Classes,
    ascent: Ascent,
    sensor: Sensor,
    /// True if each router chooses the upward link when the packet is at the front of its VC. Otherwise the routing chooses all upward
    /// links when the packet is created.
    at_head: bool,
    /// The upward links that the policy uses, if the policy switches links.
    in_use: Option<LinksInUse>,
    /// Number of levels of the tree.
    n: u32,
    /// For each level: number of downward links of a router.
    down: [u32; 8],
    /// For each level: number of upward links of a router.
    up: [u32; 8],
    coords: Vec<u64>,
}

/// The upward links that packets may take. The overseer of the policy changes them between two cycles, when no router
/// runs.
#[derive(Debug)]
struct LinksInUse {
    /// For each level: number of upward links that every router uses, from its first link on. The value is [`LinksInUse::BY_ROUTER`] if the
    /// links in use differ between routers.
    widths: AtomicU64,
    /// The links in use, if they differ between the routers of a level.
    links: RwLock<Arc<LinksUp>>,
}

impl LinksInUse {
    /// Value of `widths` if the links in use differ between routers. Other values have at least 1 link per level.
    const BY_ROUTER: Widths = Widths(0);

    fn new(widths: u64) -> Self {
        Self { widths: AtomicU64::new(widths), links: RwLock::default() }
    }

    fn links(&self) -> Arc<LinksUp> {
        Arc::clone(&self.links.read().expect("no panic while the overseer writes"))
    }
}

impl RoutingModel for UpDown {
    type Routing = Runtime;
    const ROUTES: &'static str = "fat trees in which all routers of a level are alike";
    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Widths, LinkKnowledge::Nothing];

    fn fits(graph: &Graph) -> bool {
        links_of(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let (n, down, up) = links_of(graph).expect("a graph that fits");
        let (classes, coords) = (same_classes(graph, 1), coordinates::in_tree(graph).expect("a tree"));
        let at_head = self.ascent == Ascent::Adaptive;
        Ok(Runtime { classes, ascent: self.ascent, sensor: self.sensor, at_head, in_use: None, n, down, up, coords })
    }

    fn examples() -> Vec<Example<Self>> {
        const TREE: &str = r#"{"k_ary_n_tree": {"k": 4, "n": 3}}"#;
        const BIT_COMPLEMENT: &str = r#"{"bit_complement": {}}"#;
        const BIT_REVERSE: &str = r#"{"bit_reverse": {}}"#;
        vec![
            Example::of("{}")
                // a leaf has as many upward links as terminals, and packets use all links evenly
                .bound(TREE, BIT_COMPLEMENT, Accepts::UpTo(1.0)),
            Example::of(r#"{"ascent": "d_mod_k"}"#)
                // The lowest digit of the destination is the highest digit of the source with its bits reversed. This digit is equal for
                // all 4 terminals of a leaf, so they share an upward link. The example states the bound as a lower limit, because terminals
                // of other leaves can possibly send more.
                .bound(TREE, BIT_REVERSE, Accepts::AtLeast(1.0 / 4.0))
                .bound(TREE, BIT_COMPLEMENT, Accepts::UpTo(1.0)),
            Example::of(r#"{"ascent": "d_mod_k_high_first"}"#)
                // the highest digit of the destination is the complement of the source's highest digit, which is equal for all
                // terminals of a leaf
                .bound(TREE, BIT_COMPLEMENT, Accepts::UpTo(1.0 / 4.0)),
            Example::of(r#"{"ascent": "adaptive"}"#)
                // the same bound as for `random`, because packets use all links evenly
                .bound(TREE, BIT_COMPLEMENT, Accepts::UpTo(1.0)),
        ]
    }
}

/// If the graph is a tree, returns the number of levels and, for each level, the numbers of downward and upward links
/// of a router.
fn links_of(graph: &Graph) -> Option<(u32, [u32; 8], [u32; 8])> {
    let levels = graph.structure().levels.as_ref()?;
    let by_level = |links: &[u32]| std::array::from_fn(|level| links.get(level).copied().unwrap_or(0));
    levels.tree.as_ref().map(|tree| (levels.count, by_level(&tree.down), by_level(&tree.up)))
}

/// Returns the digits of a number, one per byte, the lowest digit first. `bases` has the base of each digit.
fn digits(number: u32, bases: &[u32]) -> u64 {
    let mut rest = number;
    (0..).zip(bases).map(|(i, base)| (u64::from(rest % base) << (8 * i), rest /= base).0).sum()
}

fn digit(packed: u64, i: u32) -> u8 {
    (packed >> (8 * i)) as u8
}

fn with_digit(packed: u64, i: u32, digit: u32) -> u64 {
    packed & !(0xff << (8 * i)) | u64::from(digit) << (8 * i)
}

/// Returns the level of the nearest common ancestors of two leaves. It is one above the highest digit in which the
/// positions of the leaves differ.
fn meeting_level(a: u64, b: u64) -> u32 {
    (u64::BITS - ((a ^ b) & DIGITS).leading_zeros()).div_ceil(8)
}

impl Runtime {
    /// Returns the hop over the upward link with index `up` of router `at`.
    #[inline(always)]
    fn up(&self, at: u64, up: u32) -> Hop {
        Hop { port: (self.down[(at >> LEVEL) as usize] + up) as u16, class: 0 }
    }

    /// True if the packet must still choose an upward link at this router.
    fn asks(&self, at: u64, packet: &Packet) -> bool {
        self.at_head && !is_above(at, packet.dest)
    }

    /// Number of upward links that packets may take at every router of level `level`, from the first link on. 0 if the links in use differ
    /// between routers.
    #[inline(always)]
    fn width(&self, level: u32) -> u32 {
        self.in_use
            .as_ref()
            .map_or(self.up[level as usize], |in_use| Widths(in_use.widths.load(Relaxed)).of(level as usize))
    }

    /// Chooses the upward link for `at_head` after faults. The rule of the scenario then applies only to the upward links from which
    /// working links lead to the destination.
    #[cold]
    fn among_whole<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &Packet, seed: u64) -> u32 {
        let links = self.links_up(at, packet);
        let width = links.len() as u32;
        let first = self.link((at >> LEVEL) as u32, width, packet, seed);
        let turned = (first..first + width).map(|i| links[(i % width) as usize]);
        match self.ascent {
            Ascent::Adaptive => turned.min_by_key(|&up| weigh(here, at, self.up(at, up), 1, 0)).expect("a link"),
            Ascent::Random | Ascent::DModK | Ascent::DModKHighFirst => links[first as usize],
        }
    }

    /// The upward links that the packet may take at router `at`, of which the rule of the scenario selects one.
    fn links_up(&self, at: u64, packet: &Packet) -> Vec<u32> {
        match (self.width((at >> LEVEL) as u32), &self.in_use) {
            (0, Some(in_use)) => numbers_of(in_use.links().choices(at, packet.dest)).collect(),
            (width, _) => (0..width).collect(),
        }
    }

    /// Returns the index of the upward link at level `level`, among the first `width` links, without regard to queues.
    #[inline(always)]
    fn link(&self, level: u32, width: u32, packet: &Packet, seed: u64) -> u32 {
        // byte i is digit i of the destination terminal
        let terminal = || (packet.dest & DIGITS) << 8 | u64::from(packet.dst_port);
        match self.ascent {
            // for the adaptive rule, this is the link with which the comparison begins
            Ascent::Random | Ascent::Adaptive => below(draw(seed, packet, 0xa7 + u64::from(level)), width),
            Ascent::DModK => u32::from(digit(terminal(), level)) % width,
            Ascent::DModKHighFirst => u32::from(digit(terminal(), self.n - 1 - level)) % width,
        }
    }

    /// Records that the packet takes upward link `up` of a router of `level`. If a policy switches links, the packet stores all its
    /// choices, so that the policy can determine which links the packet needs.
    #[inline(always)]
    fn keep(&self, packet: &mut Packet, level: u32, up: u32) {
        if self.in_use.is_some() {
            note_choice(packet, level, up);
        }
    }

    /// A copy of this routing that reads the upward links from the packet's `target`. The proof that the routing is
    /// free of deadlock uses it.
    fn with_drawn_links(&self) -> Self {
        let (classes, coords) = (self.classes.clone(), self.coords.clone());
        Self { ascent: Ascent::Random, at_head: false, in_use: None, classes, coords, ..*self }
    }

    /// Returns packets, each with the leaf from which it starts. All these packets together take every turn that any packet can take. In a
    /// k-ary n-tree, there would be k^(3n-3) packets between all pairs of leaves over all ancestors. This selection has only (n-1) k^(n+1)
    /// packets.
    ///
    /// A turn at a router leads from an upward channel to the next upward channel, from up to down, or from down to down. Let A be a router
    /// above the leaves with C children, of which each has G children of its own. For each child c of A, and for each s with 0 <= s <
    /// max(C - 1, G), one packet goes over A. Its source is below the child with index j = s mod G of c. Its destination is below the child
    /// with index j of another child c' of A, with c' = (c + 1 + s mod (C - 1)) mod C. These packets visit every pair of different children
    /// of A, and so take every turn from up to down at A. For a fixed c, j takes all values from 0 to G - 1, and the same is true for a
    /// fixed c'. Therefore the packets take every turn at c from a child up to A, and every turn at c' from A down to a child. If A has
    /// only one child, no packet turns round at A.
    pub(crate) fn every_turn(&self) -> impl Iterator<Item = (u32, Packet)> + '_ {
        let ancestors = self.coords.iter().filter(|&&at| at >> LEVEL > 0);
        ancestors.flat_map(move |&at| {
            let level = (at >> LEVEL) as u32;
            let children = self.down[level as usize];
            let below_child = if level > 1 { self.down[level as usize - 1] } else { 1 };
            let steps = if children > 1 { below_child.max(children - 1) } else { 0 };
            let below = move |c: u32, j: u32| {
                let leaf = with_digit((at & DIGITS) >> (8 * level) << (8 * level), level - 1, c);
                if level > 1 { with_digit(leaf, level - 2, j) } else { leaf }
            };
            (0..children * steps).map(move |choice| {
                let (c, step) = (choice / steps, choice % steps);
                let dest = below((c + 1 + step % (children - 1)) % children, step % below_child);
                let from = self.leaf(below(c, step % below_child));
                (from, Packet { dest, target: at & DIGITS, ..Packet::default() })
            })
        })
    }

    /// Returns the index of a leaf: the number whose digits are those of the leaf's position. The base of each digit is the number of
    /// downward links of the level above.
    fn leaf(&self, coords: u64) -> u32 {
        (0..self.n - 1).rev().fold(0, |number, i| number * self.down[i as usize + 1] + u32::from(digit(coords, i)))
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs {
            classes: self.classes.clone(),
            decides: if self.at_head { Decides::AtHead } else { Decides::Ahead },
            sensor: (self.ascent == Ascent::Adaptive).then_some(self.sensor),
            draws_path: !self.at_head,
            sees_terminals: self.ascent == Ascent::DModK,
            ..Needs::default()
        }
    }

    fn coordinates(&self, _: &Graph) -> Vec<u64> {
        self.coords.clone()
    }

    /// Chooses the upward links of all levels: byte i of `target` is the link from level i to level i + 1.
    fn inject(&self, packet: &mut Packet, seed: u64) {
        if self.at_head {
            return; // in this case, each router chooses the link
        }
        let stages = 0..self.n - 1;
        packet.target = stages.map(|i| u64::from(self.link(i, self.up[i as usize], packet, seed)) << (8 * i)).sum();
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        let level = (at >> LEVEL) as u32;
        let port = match level.checked_sub(1) {
            _ if !is_above(at, packet.dest) => {
                if self.at_head {
                    return None;
                }
                self.down[level as usize] as u16 + u16::from(digit(packet.target, level))
            }
            None => packet.dst_port,
            Some(below) => digit(packet.dest, below).into(),
        };
        Some(Hop { port, class: 0 })
    }

    /// Chooses the upward link by the rule of the scenario. The adaptive rule takes the least congested link, and its comparison
    /// begins at a random link.
    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let level = (at >> LEVEL) as u32;
        let width = self.width(level);
        if width == 0 {
            let up = self.among_whole(at, here, packet, seed);
            self.keep(packet, level, up);
            return self.up(at, up);
        }
        let mut up = self.link(level, width, packet, seed);
        if self.ascent == Ascent::Adaptive {
            let cost = |&u: &u32| weigh(here, at, self.up(at, u), 1, 0);
            up = (up..up + width).map(|u| u % width).min_by_key(cost).unwrap_or(up);
        }
        self.keep(packet, level, up);
        self.up(at, up)
    }

    /// Lists the hop over every upward link that the rule may choose.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if !self.asks(at, packet) {
            return Step::named(self, at, packet, seed);
        }
        let level = (at >> LEVEL) as u32;
        let mut choices = self.links_up(at, packet);
        match self.ascent {
            Ascent::Random | Ascent::Adaptive => {}
            Ascent::DModK | Ascent::DModKHighFirst => {
                choices = vec![choices[self.link(level, choices.len() as u32, packet, seed) as usize]];
            }
        }
        let choice = |up: u32| {
            let (hop, mut after) = (self.up(at, up), *packet);
            self.keep(&mut after, level, up);
            let compared = self.ascent == Ascent::Adaptive;
            Step { hop, after, cost: compared.then_some(Cost { at, port: hop.port, hops: 1, bias: 0 }) }
        };
        choices.into_iter().map(choice).collect()
    }

    fn proof(&self) -> Proof<'_> {
        Proof::Packets { routing: Box::new(self.with_drawn_links()), packets: Box::new(self.every_turn()) }
    }

    fn draws_ties(&self) -> bool {
        true
    }

    /// Returns the packet after each possible outcome of the draw: one for each nearest common ancestor.
    fn detours(&self, at: u64, packet: Packet) -> Outcomes<'_> {
        let drawn = self.ascent == Ascent::Random && !self.at_head;
        let mut fixed = packet;
        self.inject(&mut fixed, 0);
        if !drawn {
            return Outcomes::only(fixed);
        }
        let up = &self.up[..meeting_level(at, packet.dest) as usize];
        let ancestors = up.iter().product::<u32>();
        Outcomes::new(ancestors as usize, move |a| Packet { target: digits(a as u32, up), ..packet })
    }

    fn rule_without_queues(&self) -> &'static str {
        "one of the upward links in use, at random or by a digit of the destination"
    }

    /// Stores the upward links that the overseer of the policy has published. Packets use them from now on.
    fn hear(&self, published: &Published) {
        let Some(in_use) = &self.in_use else { return };
        match published {
            Published::Number(widths) => in_use.widths.store(*widths, Relaxed),
            Published::LinksUp(links) => {
                *in_use.links.write().expect("no panic while a router reads") = Arc::clone(links);
                in_use.widths.store(LinksInUse::BY_ROUTER.0, Relaxed);
            }
        }
    }

    fn begin_with(&mut self, widths: u64) {
        (self.at_head, self.in_use) = (true, Some(LinksInUse::new(widths)));
    }

    fn assume_all_links(&mut self) -> bool {
        let all = (0..self.n as usize - 1).fold(Widths(0), |widths, level| widths.with(level, self.up[level]));
        self.hear(&Published::Number(all.0));
        self.in_use.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::routing::RoutingConfig;
    use std::collections::BTreeSet;
    use weft_topology::{Peer, TopologyConfig, TopologyModel, TrunkWidth};
    use weft_topology::{fat_tree::FatTree, hyperx::HyperX, k_ary_n_tree::KAryNTree};

    fn tree(k: u32, n: u32) -> Graph {
        let topology = TopologyConfig::KAryNTree(KAryNTree { k, n, trunk_width: TrunkWidth::default() });
        topology.build("topology").unwrap()
    }

    /// Follows a packet, and adds its turns to `turns`, each as (channel, next channel). Returns the router that delivers the packet.
    fn walk(graph: &Graph, runtime: &Runtime, from: u32, mut packet: Packet, turns: &mut BTreeSet<[u32; 2]>) -> u32 {
        let (mut at, mut last) = (from, None);
        loop {
            let hop = runtime.next(runtime.coords[at as usize], &mut packet, 1).unwrap();
            let Peer::Router { router, .. } = graph.ports(at)[hop.port as usize].peer else { return at };
            let channel = graph.port_base(at) + u32::from(hop.port);
            turns.extend(last.map(|last| [last, channel]));
            (last, at) = (Some(channel), router);
        }
    }

    #[test]
    fn a_few_packets_take_every_turn() {
        for (k, n) in [(2, 1), (2, 2), (2, 5), (3, 3), (4, 3), (5, 2)] {
            check_turns(&tree(k, n));
        }
        for k in [2, 4, 6, 8] {
            check_turns(
                &TopologyConfig::FatTree(FatTree::of_pods(k, TrunkWidth::default())).build("topology").unwrap(),
            );
        }
    }

    #[test]
    fn a_few_packets_take_every_turn_of_trees_as_they_are_bought() {
        for example in FatTree::examples() {
            check_turns(&TopologyConfig::FatTree(example).build("topology").unwrap().without_trunks());
        }
    }

    fn check_turns(graph: &Graph) {
        let runtime = UpDown::default().build(graph).unwrap();
        let coords = &runtime.coords;
        let (mut few, mut all) = (BTreeSet::new(), BTreeSet::new());
        for (from, packet) in runtime.every_turn() {
            let to = walk(graph, &runtime, from, packet, &mut few);
            assert_eq!(coords[to as usize], packet.dest);
        }
        let leaves = coords.iter().filter(|&at| at >> LEVEL == 0).count() as u32;
        for (from, to) in (0..leaves).flat_map(|from| (0..leaves).map(move |to| (from, to))) {
            let packet = Packet { dest: coords[to as usize], ..Packet::default() };
            for packet in runtime.detours(coords[from as usize], packet).all() {
                assert_eq!(walk(graph, &runtime, from, packet, &mut all), to);
            }
        }
        assert!(few == all, "{}: {} turns of {}", graph.topology_name(), few.len(), all.len());
    }

    #[test]
    fn every_link_up_is_drawn_equally_often() {
        let runtime = UpDown::default().build(&tree(4, 3)).unwrap();
        let mut drawn = [[0; 4]; 2];
        for seq in 0..4000 {
            let mut packet = Packet { src: seq % 7, seq, ..Packet::default() };
            runtime.inject(&mut packet, 1);
            (0..2).for_each(|level| drawn[level as usize][usize::from(digit(packet.target, level))] += 1);
        }
        // each of 4 links gets about 1,000 of 4,000 draws; five standard deviations are 5 sqrt(4000 * 1/4 * 3/4) = 137
        assert!(drawn.iter().flatten().all(|count| (1000i32 - count).abs() < 137), "{drawn:?}");
    }

    #[test]
    fn other_shapes_and_patterns_of_other_shapes_are_refused() {
        let hyperx = TopologyConfig::HyperX(HyperX {
            widths: vec![4],
            terminals_per_router: 1,
            trunk_width: TrunkWidth::default(),
        });
        let graph = hyperx.build("topology").unwrap();
        let refusal = RoutingConfig::UpDown(UpDown::default()).build(&graph).unwrap_err();
        assert!(refusal.help.ends_with("or a topology that suits up_down: k_ary_n_tree, fat_tree"), "{refusal}");
        assert_eq!(
            refusal.what,
            "up_down is for fat trees in which all routers of a level are alike, but the topology is hyperx"
        );
    }
}
