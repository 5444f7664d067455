//! PAL: power-aware progressive load-balanced routing. PAL is the routing `ugal_p` with the additional knowledge of the active links in the
//! subnetworks of a router.
//!
//! # Source
//! Kim et al., "TCEP", ISCA 2018, Section IV-E, Table I. In each subnetwork (a line of a HyperX, a group of a dragonfly) a packet goes
//! directly, or takes a detour over one other router. It draws this intermediate router from the routers with active links to both ends. If
//! the direct link is active, the packet takes it if q_m <= 2 q_n + T. Here q_m is the queue of the direct link, and q_n that of the first
//! hop of the detour. If the direct link is a shadow link, the packet takes the detour if the detour has a credit. Otherwise the packet
//! takes the shadow link, which becomes active again. If the direct link is inactive or waking, the packet takes the detour. From the
//! intermediate router the packet takes the direct link, even if that is a shadow link. If this direct link has gone off before the packet
//! takes it, the packet goes over the hub of the subnetwork. For faults that cut the links of the hub, see `engine/src/network/faults.rs`.
//! Under a policy that never switches a link off, a head at a broken link takes another hop from `steps` whose link works.
//! # Parameters
//! `threshold`: the bias T towards the direct link \[flits\]. `sensor`: definition of q, the queue of an output.
//! # Guarantees
//! A packet uses two VC classes in each subnetwork that it crosses. Class 0 is for a hop to an intermediate, and class 1 for the hop to its
//! destination in the subnetwork. After a class-0 hop into the hub a packet takes only class-1 hops, so classes rise. If all links are
//! active, PAL takes the same hops as `ugal_p`, with the same random draws. In a dragonfly, paths between groups are minimal. PAL applies
//! inside the source group and the destination group.
//! # Not modelled
//! Detours over other groups of a dragonfly.
//! # Validation
//! The tests of this file check the rows of the paper's Table I. `engine/tests/pal.rs` checks that results are equal to those of `ugal_p`
//! to the last bit if all links are on. If only a fixed set of links is on, it checks that packets reach every destination in the number of
//! hops that theory gives. Three tests use networks of every topology on which this routing works. `engine/tests/theory.rs` checks that
//! latency without contention is exact to the cycle. `conformance/src/routing.rs` checks that no packet is lost. `engine/tests/stall.rs`
//! checks that the smallest buffers cause no stall. No test compares this routing with another simulator, because other simulators have no
//! link states.

use crate::routing::bounds::SharedBounds;
use crate::routing::on_dragonfly::{self as groups, Groups};
use crate::routing::on_grid::Grid;
use crate::routing::{
    Classes, Cost, Decides, Draws, Example, Hop, HopNote, LinkKnowledge, Needs, Proof, Routing, RoutingModel, Sensor,
    Step, View, below, draw, same_classes, threshold, weigh,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::policy::Policy;
use weft_api::state::{AROUND, DETOUR, LinkState, Packet};
use weft_api::subnetworks::{Leg, LinkTable, Subnets};
use weft_topology::Graph;
use weft_units::{Flits, Refusal};

/// PAL: the routing `ugal_p` with knowledge of the active links, in each dimension of a HyperX or inside the groups of a dragonfly. Paths
/// between groups are minimal.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Pal {
    /// Bias T towards the direct link, added to the cost of a detour.
    #[serde(default = "two")]
    pub threshold: Flits,
    /// Definition of the queue of an output.
    #[serde(default = "window")]
    pub sensor: Sensor,
}

/// The default is the threshold of `ugal_p`, so that both routings take the same paths if all links are on. The TCEP paper gives no
/// threshold.
fn two() -> Flits {
    Flits(2)
}

/// The default sensor does not count flits in flight, because they do not wait in a queue. With `used_credits` packets
/// would leave minimal paths even if no flit waits on them.
fn window() -> Sensor {
    Sensor::HistoryWindow
}

#[derive(Debug, Clone)]
pub struct Runtime {
    classes: Classes,
    nets: Subnets,
    groups: Option<Groups>,
    threshold: i32,
    sensor: Sensor,
    /// The policy that determines which links are on in cycle 0 and, for each link class, whether it manages the class.
    /// `Some` only while `weft check` computes paths under this policy.
    begins: Option<(Arc<dyn Policy>, Vec<bool>)>,
}

impl RoutingModel for Pal {
    type Routing = Runtime;
    const ROUTES: &'static str = "grids or groups in which all routers of a line or group are neighbours";
    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Subnetworks];
    const TAKES_REPLACEMENTS: bool = true;

    fn fits(graph: &Graph) -> bool {
        Subnets::of(graph).is_some()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let nets = Subnets::of(graph).expect("a graph that fits");
        nets.check("pal", "routing.pal")?;
        let groups = Groups::of(graph);
        let classes = groups.as_ref().map_or_else(|| same_classes(graph, 2), |groups| groups.vc_classes(4, 1));
        let threshold = threshold(self.threshold, "pal")?;
        Ok(Runtime { classes, nets, groups, threshold, sensor: self.sensor, begins: None })
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").bound_with_detours_around_one_neighbor(), Example::of(r#"{"sensor": "used_credits"}"#)]
    }
}

impl Runtime {
    /// Returns the present leg (path within one subnetwork) of a packet at router `at`, which must not be its
    /// destination router. If the packet leaves its group of a dragonfly at this router, returns the hop out of the
    /// group as `Err`.
    #[inline(always)]
    fn leg(&self, at: u64, packet: &Packet, seed: u64) -> Result<Leg, Hop> {
        match &self.groups {
            Some(groups) => Self::leg_in_group(groups, at, packet, seed),
            None => Ok(Self::leg_on_grid(at, packet)),
        }
    }

    /// Returns the leg of a packet on a HyperX, for `leg`.
    #[inline(always)]
    fn leg_on_grid(at: u64, packet: &Packet) -> Leg {
        let d = Grid::first_difference(at, packet.dest).unwrap_or(0);
        let (own, to) = (Grid::coordinate(at, d), Grid::coordinate(packet.dest, d));
        Leg { d, own, to, number: d as u8 + 1, class: 0 }
    }

    fn leg_in_group(groups: &Groups, at: u64, packet: &Packet, seed: u64) -> Result<Leg, Hop> {
        let own = groups::index(at) as u8;
        if groups::group(at) == groups::group(packet.dest) {
            return Ok(Leg { d: 0, own, to: groups::index(packet.dest) as u8, number: 2, class: 2 });
        }
        let (router, port) = groups.gateway_to(groups::group(at), groups::group(packet.dest), packet, seed);
        if router == u16::from(own) {
            return Err(Hop { port, class: 0 });
        }
        Ok(Leg { d: 0, own, to: router as u8, number: 1, class: 0 })
    }

    /// Chooses the hop of a packet at the first router of this leg: the direct link or a detour. (Functions with the
    /// argument `here` are inlined, because otherwise `here` is copied for each packet.)
    #[inline(always)]
    fn choose<Q: View + ?Sized>(&self, at: u64, leg: Leg, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let direct = self.direct(leg);
        let on = here.is_on(direct.port);
        packet.dim = leg.number;
        packet.flags &= !AROUND;
        let draw = draw(seed, packet, 0x51 + leg.d as u64);
        let all = here.table().ways_among_all(leg.d);
        let c = if all != 0 {
            any_other(leg, below(draw, u32::from(all)) as u8)
        } else {
            let ways = here.table().between(&self.nets, leg.d, leg.own, leg.to);
            if ways == 0 {
                return direct;
            }
            nth(ways, below(draw, ways.count_ones()))
        };
        let detour = self.over(leg, c);
        let stays = if on {
            weigh(here, at, direct, 1, 0) <= weigh(here, at, detour, 2, self.threshold)
        } else {
            here.state(direct.port) == LinkState::Shadow && here.credits(detour) == 0
        };
        if stays { direct } else { go_round(packet, detour) }
    }

    /// Returns the hop at the intermediate router of a leg: the direct link or, if this link has gone off, the hop over
    /// the hub.
    #[inline(always)]
    fn go_on<Q: View + ?Sized>(&self, leg: Leg, here: &Q, packet: &mut Packet) -> Hop {
        let direct = self.direct(leg);
        let dark = !here.is_on(direct.port) && here.state(direct.port) != LinkState::Shadow;
        if dark { self.over_hub(leg, here.table(), packet) } else { direct }
    }

    /// Notifies the power policy if the packet takes a detour or a shadow link.
    #[inline(always)]
    fn tell<Q: View + ?Sized>(&self, leg: Leg, begins: bool, hop: Hop, here: &Q, packet: &Packet) {
        if packet.flags & AROUND != 0 {
            let begun = HopNote::BeginsDetour { direct: self.direct(leg).port };
            here.note(if begins { begun } else { HopNote::ContinuesDetour });
        } else if begins && here.state(hop.port) == LinkState::Shadow {
            here.note(HopNote::TakesBack);
        }
    }

    /// Returns the hop over the hub. The hub has links to all members. If a fault has cut one of these links, the hop goes over another
    /// member with links to both ends. The first choice is the next hub, the second a member with a lower index than this router, the third
    /// any member. Lower members come first because then the hops of class 0 keep a fixed order. If no member has links to both ends,
    /// returns the direct hop, which the packet cannot take now.
    #[inline(never)]
    fn over_hub(&self, leg: Leg, table: LinkTable, packet: &mut Packet) -> Hop {
        let (hub, next) = (table.hub(leg.d), table.next_hub(leg.d));
        let ways = table.between(&self.nets, leg.d, leg.own, leg.to);
        let order = |c: u8| if c == next { (0, 0) } else { (1 + u8::from(c != hub), c) };
        let rank = |&c: &u8| (order(c) >= order(leg.own), c != hub, order(c));
        let way = (0..64).filter(|c| ways >> c & 1 != 0).min_by_key(rank);
        way.map_or(self.direct(leg), |c| go_round(packet, self.over(leg, c)))
    }

    #[inline(always)]
    fn direct(&self, leg: Leg) -> Hop {
        Hop { port: self.nets.port_to(leg.d, leg.own, leg.to), class: leg.class + 1 }
    }

    #[inline(always)]
    fn over(&self, leg: Leg, c: u8) -> Hop {
        Hop { port: self.nets.port_to(leg.d, leg.own, c), class: leg.class }
    }

    /// True if packets can find the link between members `a` and `b` on. False only while `weft check` computes paths under a power policy,
    /// for a link that is off in cycle 0.
    fn is_on(&self, at: u64, leg: Leg, a: u8, b: u8) -> bool {
        let Some((policy, managed)) = &self.begins else { return true };
        let number = match &self.groups {
            Some(groups) => groups::group(at) * groups.per_group + groups::index(at),
            None => (0..self.nets.count).map(|d| u32::from(self.nets.member(at, d)) * self.nets.strides[d]).sum(),
        };
        let [from, to] = [a, b].map(|c| self.nets.router(number, leg.d, leg.own, c));
        let state = policy.first_state(from, to);
        !managed[usize::from(self.nets.classes[leg.d])] || state == LinkState::On
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        Needs { classes: self.classes.clone(), decides: Decides::AtHead, sensor: Some(self.sensor), ..Needs::default() }
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        // only a hop out of a group is known now. Inside a subnetwork, `at_head` decides later, when the packet is at the front of its
        // queue, by the states of links
        Self::leg_in_group(self.groups.as_ref()?, at, packet, seed).err()
    }

    #[inline(always)]
    fn at_head<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, seed: u64) -> Hop {
        let Ok(leg) = self.leg(at, packet, seed) else { unreachable!("only members of a subnetwork choose") };
        let begins = packet.dim != leg.number;
        let hop = if begins { self.choose(at, leg, here, packet, seed) } else { self.go_on(leg, here, packet) };
        self.tell(leg, begins, hop, here, packet);
        hop
    }

    /// Lists every hop that is possible with some set of active links. At the first router of a leg, these are the direct hop and every
    /// detour. At an intermediate router, these are the direct hop and the hop to the hub, which is assumed to be member 0.
    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        let leg = match self.leg(at, packet, seed) {
            Ok(leg) => leg,
            Err(hop) => return vec![Step { hop, after: *packet, cost: None }],
        };
        let option = |hop: Hop, hops: u32, bias: i32, flags: u8| {
            let after = Packet { dim: leg.number, flags: packet.flags | flags, ..*packet };
            Step { hop, after, cost: Some(Cost { at, port: hop.port, hops, bias }) }
        };
        let direct = option(self.direct(leg), 1, 0, 0);
        if packet.dim == leg.number {
            // the first hop is the one that a packet takes if all links are active
            let hub = (leg.own != 0 && leg.to != 0).then(|| option(self.over(leg, 0), 2, 0, 0));
            return std::iter::once(direct).chain(hub).collect();
        }
        let is_on = |a: u8, b: u8| self.is_on(at, leg, a, b);
        let others = self.nets.others(leg.d, leg.own).filter(|&c| c != leg.to);
        let others = others.filter(|&c| is_on(leg.own, c) && is_on(c, leg.to));
        let detours = others.map(|c| option(self.over(leg, c), 2, self.threshold, DETOUR));
        is_on(leg.own, leg.to).then_some(direct).into_iter().chain(detours).collect()
    }

    fn bias_of_used_credits(&self) -> Option<i32> {
        (self.sensor == Sensor::UsedCredits).then_some(self.threshold)
    }

    fn proof(&self) -> Proof<'_> {
        Proof::rises()
    }

    /// Returns a rank that rises with each hop of a packet. Each leg has higher ranks than the leg before it. In a leg, ranks rise in this
    /// order: hops of class 0, hops of class 0 into the hub (member 0), hops of class 1.
    fn rank(&self, at: u64, hop: Hop) -> u32 {
        let Some((d, to)) = self.nets.behind(hop.port, |d| self.nets.member(at, d)) else {
            return 3; // a hop between groups comes after the classes of the first leg
        };
        let (leg, class) = if self.groups.is_some() { (hop.class / 2, hop.class % 2) } else { (d as u8, hop.class) };
        let step = if class == 1 { 2 } else { u32::from(to == 0) };
        4 * u32::from(leg) + step
    }

    fn draws(&self) -> Draws {
        self.groups.as_ref().map_or(Draws::default(), Groups::draws)
    }

    fn draws_between(&self, from: u64, to: u64) -> bool {
        self.groups.is_none() || groups::group(from) != groups::group(to)
    }

    fn draws_ties(&self) -> bool {
        true
    }

    fn rule_without_queues(&self) -> &'static str {
        "Table I of PAL: the state of the direct link decides, or only one path exists"
    }

    fn assume_first_links(&mut self, policy: &Arc<dyn Policy>, managed: &[bool]) {
        self.begins = Some((policy.clone(), managed.to_vec()));
    }

    /// From now on, paths are computed as if all links were on. Returns true if paths were computed under a policy before, and if this
    /// policy switches all links on when the network is full.
    fn assume_all_links(&mut self) -> bool {
        self.begins.take().is_some_and(|(policy, _)| policy.fills_up())
    }

    fn aim(&self, at: u64, packet: &Packet, seed: u64) -> Result<Leg, Hop> {
        self.leg(at, packet, seed)
    }
}

/// Updates the state of a packet that begins a detour with the hop `hop`, and returns the hop.
#[inline(always)]
fn go_round(packet: &mut Packet, hop: Hop) -> Hop {
    packet.flags |= DETOUR | AROUND;
    hop
}

/// Returns the member with index `k` among the members that are not an end of the leg.
#[inline(always)]
fn any_other(leg: Leg, k: u8) -> u8 {
    let c = k + u8::from(k >= leg.own.min(leg.to));
    c + u8::from(c >= leg.own.max(leg.to))
}

/// Returns the position of the set bit with index `k` among the set bits.
#[inline(always)]
fn nth(mut bits: u64, k: u32) -> u8 {
    for _ in 0..k {
        bits &= bits - 1;
    }
    bits.trailing_zeros() as u8
}

#[cfg(test)]
mod tests {
    use super::*;
    use weft_api::subnetworks::Views;

    /// A router that is member 1 of a line of four, with member 0 as hub. The fields contain the states and queues of its outputs to
    /// members 0, 2 and 3.
    struct Router {
        states: [LinkState; 3],
        queues: [i32; 3],
        credits: u32,
        views: Views,
    }

    impl View for Router {
        fn read(&self, port: u16) -> i32 {
            self.queues[usize::from(port) - 1]
        }
        fn capacity(&self, _: u16) -> u32 {
            unreachable!("PAL compares queues and credits")
        }
        fn read_of(&self, _: i32, _: u16) -> i32 {
            unreachable!("PAL reads its own router")
        }
        fn post(&self, _: u64) -> weft_api::board::Post<'_> {
            unreachable!("PAL reads its own router")
        }
        fn member(&self, hop: Hop, _: u32) -> (u32, Hop) {
            (self.credits, hop)
        }
        fn fallback(&self, hop: Hop) -> Hop {
            hop
        }
        fn is_broken(&self, _: u16) -> bool {
            false
        }
        fn state(&self, port: u16) -> LinkState {
            self.states[usize::from(port) - 1]
        }
        fn credits(&self, _: Hop) -> u32 {
            self.credits
        }
        fn is_open(&self, _: Hop) -> bool {
            unreachable!("PAL compares queues and credits")
        }
        fn has_room(&self, _: Hop) -> bool {
            unreachable!("PAL compares queues and credits")
        }
        fn was_granted(&self, _: u16) -> bool {
            unreachable!("PAL compares queues and credits")
        }
        fn used(&self, _: Hop) -> u32 {
            unreachable!("PAL compares queues and credits")
        }
        fn occupancy(&self, _: Hop) -> (f64, u32) {
            unreachable!("PAL compares queues and credits")
        }
        fn table(&self) -> LinkTable<'_> {
            self.views.of(0)
        }
    }

    fn row_of_four() -> Runtime {
        let config = serde_json::json!({"hyperx": {"widths": [4], "terminals_per_router": 1}});
        let config: weft_topology::TopologyConfig = serde_json::from_value(config).expect("a topology");
        let graph = config.build("topology").expect("a graph");
        Pal { threshold: Flits(2), sensor: Sensor::UsedCredits }.build(&graph).expect("a routing")
    }

    /// Returns the hop that a packet chooses from member 1 to member 3. `state` and `direct` are the state and queue of
    /// the direct link; `around` is the queue over the hub.
    fn goes(state: LinkState, [direct, around]: [i32; 2], credits: u32) -> (u16, u8) {
        let pal = row_of_four();
        let mut views = Views::new(&pal.nets, 1, 0);
        views.set(&pal.nets, 0, 0, (1, 2), false);
        views.set(&pal.nets, 0, 0, (1, 3), state == LinkState::On);
        let router =
            Router { states: [LinkState::On, LinkState::Off, state], queues: [around, 0, direct], credits, views };
        let mut packet = Packet { dest: 3, ..Packet::default() };
        let hop = pal.at_head(1, &router, &mut packet, 1);
        (hop.port, hop.class)
    }

    /// Expected hops: port 3 leads to member 3, and port 1 leads to the hub. Direct hops use class 1.
    const MINIMAL: (u16, u8) = (3, 1);
    const AROUND_THE_HUB: (u16, u8) = (1, 0);

    #[test]
    fn table_1_row_by_row() {
        // active direct link: the packet takes it if q_m <= 2 q_n + T
        assert_eq!(goes(LinkState::On, [4, 1], 0), MINIMAL);
        assert_eq!(goes(LinkState::On, [5, 1], 0), AROUND_THE_HUB);
        // direct link is a shadow link: the packet takes the detour if it has a credit, whatever the queues are; otherwise it takes the
        // shadow link
        assert_eq!(goes(LinkState::Shadow, [0, 30], 1), AROUND_THE_HUB);
        assert_eq!(goes(LinkState::Shadow, [0, 30], 0), MINIMAL);
        // inactive direct link: the packet takes the detour, with or without credits
        for state in [LinkState::Off, LinkState::Waking, LinkState::Draining] {
            assert_eq!(goes(state, [0, 30], 0), AROUND_THE_HUB);
        }
    }

    #[test]
    fn from_an_intermediate_a_dead_link_is_gone_round_over_the_hub() {
        let pal = row_of_four();
        let mut views = Views::new(&pal.nets, 1, 0);
        views.set(&pal.nets, 0, 0, (1, 3), false);
        for (state, expected) in [(LinkState::Shadow, MINIMAL), (LinkState::Off, AROUND_THE_HUB)] {
            let states = [LinkState::On, LinkState::On, state];
            let router = Router { states, queues: [9, 0, 0], credits: 0, views: views.clone() };
            let mut packet = Packet { dest: 3, dim: 1, flags: AROUND, ..Packet::default() };
            let hop = pal.at_head(1, &router, &mut packet, 1);
            assert_eq!((hop.port, hop.class), expected, "{state:?}");
        }
    }
}
