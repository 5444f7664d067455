//! Dragonfly Valiant: packets take a minimal path to a random group (or router), and then a minimal path to the destination.
//!
//! # Source
//! Kim et al., ISCA 2008. VC classes along a path (l1: class 1 of a local link, g1: class 1 of a global link): l0 g0 l1 g1 l2 if the
//! intermediate is a group, and l0 g0 l1 l2 g1 l3 if it is a router, as in CAMINOS. `other_group` is the rule of Valiant in the later
//! versions of FOGSim, and `other_group_for_all` the rule in its first version.
//! # Parameters
//! `intermediate`: the place at which the first leg of a path ends. With `group`, it is the first router that the packet reaches in a
//! random group. The group is neither the source group nor the destination group. Traffic inside a group takes minimal paths. With
//! `other_group`, the random group is any group except the source group. A packet that draws the destination group takes the minimal path.
//! `other_group_for_all` is the same rule, but it also applies to traffic inside a group, and between terminals of one router. With
//! `router`, the first leg ends at a random router of the whole network. This router can be in the source group or the destination group,
//! and can be the source router or the destination router itself. `early_exit`: whether a packet is delivered when it reaches its
//! destination router on the way to the intermediate, as in CAMINOS. Without `early_exit`, the packet continues to the intermediate and
//! returns.
//! # Guarantees
//! Every path uses the VC classes in the order given under Source, which never leads back to an earlier class. Therefore the dependencies
//! between channels have no cycle. Local links have 3 VC classes (4 with `router`), and global links have 2.
//! # Not modelled
//! Nothing is omitted.
//! # Validation
//! Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that latency without contention
//! is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs` checks that the smallest
//! buffers cause no stall. `engine/tests/bounds.rs` checks that throughput reaches the theoretical bound under `group_shift`.
//! `engine/tests/models/dragonfly_valiant.rs` compares the hops that `early_exit` saves with a value computed by hand. The rows `val` of
//! `tests/data/golden/caminos.csv` compare this routing with CAMINOS (with `router` and `early_exit`). The rows `VAL` of
//! `tests/data/golden/fogsim.csv` compare it with FOGSim (with `other_group`).

use crate::routing::bounds::{DRAGONFLY, NEXT_GROUP, NEXT_ROUTER};
use crate::routing::on_dragonfly::{Groups, group, in_groups};
use crate::routing::{
    Accepts, Classes, Cost, Draws, Example, Hop, Needs, Outcomes, Proof, Routing, RoutingModel, Step, below, draw,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::{DETOUR, Packet};
use weft_topology::Graph;
use weft_units::Refusal;

/// Dragonfly Valiant: packets take a minimal path to a random group (or router), and then a minimal path to the destination.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyValiant {
    /// The place at which the first leg of a path ends.
    #[serde(default)]
    pub intermediate: Intermediate,
    /// Whether a packet is delivered when it reaches its destination router on the way to the intermediate. With `false`, the packet
    /// continues to the intermediate and returns. A packet can reach its destination early only if the intermediate is a router (`router`),
    /// or if packets inside a group leave it (`other_group_for_all`).
    #[serde(default)]
    pub early_exit: bool,
}

/// The place at which the first leg of a path ends.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intermediate {
    /// The first router that the packet reaches in a random group. Needs 3 VC classes on local links and 2 on global links.
    #[default]
    Group,
    /// The first router that the packet reaches in a random group other than the source group. If the random group is the destination
    /// group, the path is minimal.
    OtherGroup,
    /// The first router that the packet reaches in a random group other than the source group. Packets whose destination is in the source
    /// group also leave the group and return.
    OtherGroupForAll,
    /// A random router. Needs 4 VC classes on local links and 2 on global links.
    Router,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    pub(super) groups: Groups,
    intermediate: Intermediate,
    early_exit: bool,
}

impl RoutingModel for DragonflyValiant {
    type Routing = Runtime;
    const ROUTES: &'static str = "groups of routers that are all neighbours, with global links between groups";

    fn fits(graph: &Graph) -> bool {
        Groups::of(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        Ok(Runtime { early_exit: self.early_exit, ..Runtime::of(graph, self.intermediate) })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![
            Example::of("{}")
                // The 8 terminals of group i send to group i + 1, over 7 other groups. Loads are in units of a terminal's load. A global
                // link i -> j, j != i + 1, carries 8 / 7 from group i (first legs), and 8 / 7 from group j - 1 (second legs). A local link
                // carries at most 2 terminals * 2 / 7 to a gateway (a router with a global link), and 8 / 7 from the gateway to group i to
                // the gateway to group i + 1. From a gateway to a destination router it carries at most 2 global links * 8 / 7 / 4.
                // Therefore a local link does not carry more than a global link. The example states the bound as a lower limit only,
                // because the accepted load of a window can exceed it. At an offered load of 0.569, it was 0.442 in one window.
                .bound(DRAGONFLY, NEXT_GROUP, Accepts::AtLeast(7.0 / 16.0)),
            Example::of(r#"{"intermediate": "router"}"#),
            Example::of(r#"{"intermediate": "router", "early_exit": true}"#),
            Example::of(r#"{"intermediate": "other_group"}"#),
            // Every packet goes to one of the 8 other groups and returns. Each of the 8 global links of a group carries the load of one of
            // its terminals, and on the way back that of a terminal of another group. A local link carries half of this sum.
            Example::of(r#"{"intermediate": "other_group_for_all"}"#).bound(
                DRAGONFLY,
                NEXT_ROUTER,
                Accepts::AtLeast(1.0 / 2.0),
            ),
        ]
    }
}

impl Runtime {
    pub(super) fn of(graph: &Graph, intermediate: Intermediate) -> Self {
        Self { groups: Groups::of(graph).expect("a graph that fits"), intermediate, early_exit: false }
    }

    pub(super) fn classes(&self) -> Classes {
        let local = if self.intermediate == Intermediate::Router { 4 } else { 3 };
        self.groups.vc_classes(local, 2)
    }

    /// A random intermediate for a packet in group `from`; `None` if this packet takes the minimal path. `again`: 0 for the first draw of
    /// the packet, and another number for each later draw.
    pub(super) fn draw_intermediate(&self, from: u32, packet: &Packet, seed: u64, again: u64) -> Option<u64> {
        let (g, a) = (self.groups.groups, self.groups.per_group);
        let hash = draw(seed ^ again, packet, 0x51);
        if self.intermediate == Intermediate::Router {
            let router = below(hash, g * a);
            return Some(u64::from(router / a) << 16 | u64::from(router % a));
        }
        let to = group(packet.dest);
        if self.takes_any_other_group() {
            let drawn = below(hash, g - 1);
            let mid = drawn + u32::from(drawn >= from);
            let detours = mid != to && (from != to || self.intermediate == Intermediate::OtherGroupForAll);
            return detours.then_some(u64::from(mid) << 16);
        }
        if from == to || g < 3 {
            return None;
        }
        Some(u64::from(other_group(below(hash, g - 2), from, to)) << 16)
    }

    /// True if the intermediate is drawn from all groups except the source group, so that it can be the destination group.
    fn takes_any_other_group(&self) -> bool {
        match self.intermediate {
            Intermediate::OtherGroup | Intermediate::OtherGroupForAll => true,
            Intermediate::Group | Intermediate::Router => false,
        }
    }

    /// True if an adaptive routing has a choice of paths from router `at` to router `dest`.
    #[inline(always)]
    pub(super) fn has_choice(&self, at: u64, dest: u64) -> bool {
        match self.intermediate {
            Intermediate::OtherGroupForAll => at != dest,
            Intermediate::Group | Intermediate::OtherGroup | Intermediate::Router => group(at) != group(dest),
        }
    }

    /// Number of hops from router `at` to router `dest` over the intermediate `mid`. If the intermediate is a group, the second leg begins
    /// at the router where the packet enters the group.
    pub(super) fn distance_over(&self, at: u64, mid: u64, dest: u64, packet: &Packet, seed: u64) -> u32 {
        match self.intermediate {
            Intermediate::Group | Intermediate::OtherGroup | Intermediate::OtherGroupForAll => {
                self.groups.distance_over(at, group(mid), dest, packet, seed)
            }
            Intermediate::Router => {
                self.groups.distance(at, mid, packet, seed) + self.groups.distance(mid, dest, packet, seed)
            }
        }
    }

    /// Begins a detour of the packet over the intermediate `mid`.
    #[inline(always)]
    pub(super) fn detour(&self, packet: &mut Packet, mid: u64) {
        packet.target = mid;
        packet.flags |= DETOUR;
    }

    /// Begins the second leg of the packet's path (phase 1). The VC classes of the second leg are above those of the first leg.
    #[inline(always)]
    pub(super) fn second_phase(&self, packet: &mut Packet) {
        packet.phase = 1;
        packet.lane = 1;
        packet.target = packet.dest;
    }

    /// Lets the packet take the minimal path, which has only one leg (phase 2).
    #[inline(always)]
    pub(super) fn minimal(&self, packet: &mut Packet) {
        packet.phase = 2;
        packet.target = packet.dest;
    }
}

/// Functions for the routings that compare the minimal path with a path over an intermediate (UGAL, PB, PAR). Argument `go`: a function
/// that returns the next hop of a packet that has chosen its path. Argument `mid`: the intermediate of a detour; `None` for the minimal
/// path.
impl Runtime {
    /// Number of hops from router `at` to the packet's destination, over `mid` if there is one.
    #[inline(always)]
    pub(super) fn hops(&self, at: u64, packet: &Packet, mid: Option<u64>, seed: u64) -> u32 {
        match mid {
            None => self.groups.distance(at, packet.dest, packet, seed),
            Some(mid) => self.distance_over(at, mid, packet.dest, packet, seed),
        }
    }

    /// Chooses the minimal path, or the path over `mid` if one was drawn and its cost is lower. `value`: returns the cost of a path.
    /// Returns the first hop of the chosen path.
    #[inline(always)]
    pub(super) fn take_better(
        &self,
        packet: &mut Packet,
        mid: Option<u64>,
        go: impl Fn(&mut Packet) -> Option<Hop>,
        value: impl Fn(Hop, &Packet, Option<u64>) -> i32,
    ) -> Hop {
        let mut detour = Packet { phase: 0, ..*packet };
        self.minimal(packet);
        let minimal = go(packet).unwrap_or(Hop::to_terminal(packet));
        let Some(mid) = mid else { return minimal };
        self.detour(&mut detour, mid);
        if let Some(hop) = go(&mut detour)
            && value(minimal, packet, None) > value(hop, &detour, Some(mid))
        {
            *packet = detour;
            return hop;
        }
        minimal
    }

    /// The first hop of the minimal path, as the entry that is first in `both_ways`.
    pub(super) fn minimal_way(
        &self,
        packet: &Packet,
        go: impl Fn(&mut Packet) -> Option<Hop>,
        cost: impl Fn(Hop, &Packet, Option<u64>) -> Cost,
    ) -> Option<Step> {
        let mut after = *packet;
        self.minimal(&mut after);
        let hop = go(&mut after)?;
        Some(Step { hop, after, cost: Some(cost(hop, &after, None)) })
    }

    /// The first hops of all paths that `take_better` can choose: the minimal path, and one path over each intermediate.
    pub(super) fn both_ways(
        &self,
        at: u64,
        packet: &Packet,
        go: impl Fn(&mut Packet) -> Option<Hop>,
        cost: impl Fn(Hop, &Packet, Option<u64>) -> Cost,
    ) -> Vec<Step> {
        let undecided = Packet { phase: 0, ..*packet };
        let drawn = self.detours(at, undecided).all().filter(|d| d.phase == 0 && d.target != at && d.target != d.dest);
        let detours = drawn.filter_map(|Packet { target: mid, .. }| {
            let mut detour = undecided;
            self.detour(&mut detour, mid);
            let hop = go(&mut detour)?;
            Some(Step { hop, after: detour, cost: Some(cost(hop, &detour, Some(mid))) })
        });
        self.minimal_way(packet, &go, &cost).into_iter().chain(detours).collect()
    }
}

/// The group with index `number` among the groups other than `from` and `to`.
#[inline(always)]
fn other_group(number: u32, from: u32, to: u32) -> u32 {
    let after_first = number + u32::from(number >= from.min(to));
    after_first + u32::from(from != to && after_first >= from.max(to))
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes(), draws_path: true, ..Needs::default() }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        in_groups(graph)
    }

    fn inject(&self, packet: &mut Packet, _seed: u64) {
        // the packet draws its intermediate later, at its first router, because the source group is known only there
        packet.target = u64::MAX;
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if packet.target == u64::MAX {
            match self.draw_intermediate(group(at), packet, seed, 0) {
                Some(mid) => self.detour(packet, mid),
                None => self.minimal(packet),
            }
        }
        let arrived = match self.intermediate {
            Intermediate::Group | Intermediate::OtherGroup | Intermediate::OtherGroupForAll => {
                group(at) == group(packet.target)
            }
            Intermediate::Router => at == packet.target,
        };
        if packet.phase == 0 && (arrived || self.early_exit && at == packet.dest) {
            self.second_phase(packet);
        }
        if packet.phase != 0 && at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        let shift = u8::from(packet.phase == 1 && self.intermediate == Intermediate::Router);
        Some(self.groups.classed_hop(at, packet.target, shift, packet, seed))
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::TwoLegs { by_line: false, minimal_phase: Some(2) }
    }

    /// A rank of hops that rises along every path, which proves that dependencies between channels have no cycle. If the intermediate is a
    /// router, the local hop to the intermediate has rank 2, and the local hop away from it has rank 3.
    fn rank(&self, _at: u64, hop: Hop) -> u32 {
        const LOCAL: [u32; 4] = [0, 2, 3, 5];
        const GLOBAL: [u32; 2] = [1, 4];
        let class = usize::from(hop.class);
        match self.intermediate {
            Intermediate::Group | Intermediate::OtherGroup | Intermediate::OtherGroupForAll => self.groups.rank(hop),
            Intermediate::Router if self.groups.is_local(hop.port) => LOCAL[class],
            Intermediate::Router => GLOBAL[class],
        }
    }

    fn leg(&self, phase: u8, target: u64, draw: u32) -> Packet {
        let mut packet = Packet { target, dest: target, seq: draw, phase, ..Packet::default() };
        if phase == 1 {
            self.second_phase(&mut packet);
        }
        packet
    }

    fn draws(&self) -> Draws {
        self.groups.draws()
    }

    fn draws_between(&self, from: u64, to: u64) -> bool {
        group(from) != group(to)
    }

    /// The packet after each possible outcome of the draw: one for each intermediate that it can draw at router `at`.
    fn detours(&self, at: u64, packet: Packet) -> Outcomes<'_> {
        let (g, a) = (self.groups.groups, self.groups.per_group);
        let (from, to) = (group(at), group(packet.dest));
        let mut minimal = packet;
        self.minimal(&mut minimal);
        let others = g - if from == to { 1 } else { 2 };
        let over_group = move |k: u32| Packet { target: u64::from(other_group(k, from, to)) << 16, ..packet };
        match self.intermediate {
            Intermediate::Router => Outcomes::new((g * a) as usize, move |r| {
                let r = r as u32;
                Packet { target: u64::from(r / a) << 16 | u64::from(r % a), ..packet }
            }),
            Intermediate::Group if from == to || g < 3 => Outcomes::only(minimal),
            Intermediate::OtherGroup if from == to => Outcomes::only(minimal),
            Intermediate::OtherGroupForAll if from == to => {
                Outcomes::new(others as usize, move |k| over_group(k as u32))
            }
            Intermediate::Group => Outcomes::new(others as usize, move |k| over_group(k as u32)),
            Intermediate::OtherGroup | Intermediate::OtherGroupForAll => {
                let drawn = move |k: usize| if k == others as usize { minimal } else { over_group(k as u32) };
                Outcomes::new(others as usize + 1, drawn)
            }
        }
    }

    fn intermediate(&self, packet: &Packet) -> Option<u64> {
        let detours = packet.phase == 0 && packet.flags & DETOUR != 0 && packet.target != packet.dest;
        detours.then_some(packet.target)
    }
}
