//! Dragonfly OFAR: adaptive routing in transit, at every router. A head takes a detour if its minimal output is occupied. A ring of
//! channels to which blocked packets can escape prevents deadlock.
//!
//! # Source
//! M. Garcia, E. Vallejo, R. Beivide, M. Odriozola, C. Camarero, M. Valero, G. Rodriguez, J. Labarta, C. Minkenberg, "Bubble Flow Control
//! in High-Radix Hierarchical Networks" (OFAR, OFAR-L), sections IV and V. The parameter `trigger` has three values. `granted_or_full` and
//! `unavailable` are interpretations of section IV-B of this paper. `granted`, and the two directions of the ring, are those of the
//! authors' simulator FOGSim, first version. The rule of the ring is also that of FOGSim: a head enters the ring only if its minimal output
//! has no space, and never from a source. Bubble: C. Carrion et al., HiPC 1997. If a power policy switches off links of groups, packets
//! take detours around these links. The rule is that of Kim et al., "TCEP", ISCA 2018, Section IV-E, without its order of VC classes.
//! `occupancy: waiting` is ours. It avoids the "phantom congestion" of `credits`: flits in flight on a long global link count as used
//! credits, so the link seems fuller than a short one. Sources then take no detours although global links are idle. As J. Won et al., HPCA
//! 2015, propose, `waiting` subtracts the flits that the link has accepted during a time window. The rule that a broken minimal link counts
//! as occupied is also ours.
//! # Parameters
//! `local_misrouting`: whether packets take local detours (OFAR) or not (OFAR-L). `trigger`: condition under which a head looks for a
//! detour. `least_occupancy`: Th_min \[share of a buffer\]. `most_occupancy`: Th_non-min (`relative`: \[share of the occupancy of the
//! minimal output\], `fixed`: \[share of a buffer\]). `occupancy`: the quantity that is compared with both thresholds. It is the number of
//! `credits` in use, as in the paper, or the number of flits that are `waiting`. `global_misrouting`: the global links that a detour may
//! take. `ring`: the escape ring (kind, `rings`, `directions`, `vcs`, `exits`, `from_sources`). `injection` (`bubble` \[packets\],
//! `escape_occupancy` \[share of a buffer\]): FOGSim's congestion control. It keeps packets at their source if too little space is free
//! outside the ring (`bubble`) or in the ring (`escape_occupancy`).
//! # Guarantees
//! A packet takes at most one global misroute (detour over a global link) in total, and one local misroute in each group. Before its first
//! escape to the ring, it makes at most 8 hops (l l g l l g l l; l: local, g: global). A packet may leave the ring at most `exits` times,
//! and after each departure it makes at most 8 further hops outside the ring. If a packet enters the ring again after its last permitted
//! departure, it stays in the ring until its destination router. Every run checks the resulting limit of hops (`most_hops`). All packets
//! may use all VCs outside the ring. Every packet to another router may escape to the ring. A ring always has a bubble (free space for a
//! packet). A power policy can report which links of a group are on (`dragonfly_ofar/gated.rs`). If the direct link of a head is then off,
//! the head goes over a router with active links to both ends. The detour over this router counts as the packet's local misroute in this
//! group. If the second of these links has gone off when the packet arrives there, the packet continues over the hub of the group, but only
//! once. The hub is the router that has active links to all others. If the link from the hub is also off, the packet can only enter the
//! ring. Under such a policy, a packet crosses at most 11 links outside the ring (l l l g l l l g l l l). Local misroutes use only links
//! that are on. All links of a ring must be on: Weft refuses a policy that switches links of an embedded ring.
//! # Not modelled
//! The choice of the output VC with the most credits: in this model, VCs with space take turns. Thresholds for single VCs instead of whole
//! outputs. Trunks.
//! # Validation
//! Four tests run on palm-tree dragonflies with embedded and physical rings. `conformance/src/routing.rs` checks that no packet is lost.
//! `engine/tests/stall.rs` checks that the smallest buffers cause no stall. `engine/tests/escape_rings.rs` checks that packets keep
//! arriving, and that the rings become empty in the end. `engine/tests/theory.rs` checks that latency without contention is exact to the
//! cycle. The tests in the folder `dragonfly_ofar` follow packets through every possible hop, and check the limits of misroutes. They also
//! check the path around a link that is not on, for each state of the link. `engine/tests/models/dragonfly_ofar.rs` checks that under
//! adversarial traffic the accepted load is higher than with minimal routing, and even higher with `occupancy: waiting`.
//! `engine/tests/tcep_in_transit.rs` tests the routing under the power policy TCEP, and `engine/tests/broken.rs` tests paths around broken
//! links. The OFAR rows of `tests/data/golden/fogsim.csv` compare the routing with FOGSim.

mod decide;
mod gated;

use crate::routing::in_transit::{InTransit, Injection, Keys, MostOccupancy, Occupancy, RingConfig, Trigger};
use crate::routing::on_dragonfly::{Groups, group, in_groups, index};
use crate::routing::{
    Accepts, Cost, Decides, Example, Hop, HopNote, LinkKnowledge, Needs, Proof, Routing, RoutingModel, Step, View,
};
use decide::Kind;
use gated::{BY_FORCE, FirstLinks, TWICE_DONE};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::policy::Policy;
use weft_api::state::{DETOUR, Packet};
use weft_api::subnetworks::Subnets;
use weft_topology::{Graph, Peer, Ring};
use weft_units::Refusal;

/// Dragonfly OFAR: adaptive routing in transit, at every router. A head takes a detour if its minimal output is occupied. A ring of
/// channels to which blocked packets can escape prevents deadlock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyOfar {
    /// Whether packets also take local detours, at most one in each group (OFAR). Without local detours, the routing is OFAR-L.
    #[serde(default = "yes")]
    pub local_misrouting: bool,
    /// Condition under which a head looks for a detour.
    #[serde(default)]
    pub trigger: Trigger,
    /// Th_min: a head looks for a detour only if the occupancy of its minimal output is at least this value, 0 to 1 [share of a buffer].
    #[serde(default)]
    pub least_occupancy: f64,
    /// Th_non-min: a head takes a detour only if the occupancy of the detour's first output is at most this value.
    #[serde(default)]
    pub most_occupancy: MostOccupancy,
    /// Definition of the occupancy of an output that is compared with both thresholds.
    #[serde(default)]
    pub occupancy: Occupancy,
    /// The global links that a detour may take.
    #[serde(default)]
    pub global_misrouting: GlobalMisrouting,
    /// The escape ring, which prevents deadlock.
    #[serde(default)]
    pub ring: RingConfig,
    /// Rule that keeps packets at their source while there is too little free space.
    #[serde(default)]
    pub injection: Injection,
}

/// The global links that a detour may take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GlobalMisrouting {
    /// At its source router, a packet may take a global link of this router. After a local hop to another router of the group, it may take
    /// a global link of that router (as in the paper).
    #[default]
    Mixed,
    /// At its source router, a packet may take a global link of this router. After a local hop, it must not take a global detour. Therefore
    /// a packet that has crossed a local link in its source group stays on its minimal path. Under this rule, no packet misroutes locally
    /// with `local_misrouting: false`.
    SourceRouter,
    /// A global link of the router that holds the packet.
    CurrentRouter,
    /// A global link of another router of the group.
    NeighbourRouter,
    /// A global link of a random router of the group.
    RandomRouter,
}

fn yes() -> bool {
    true
}

/// Name of this routing in scenarios.
const NAME: &str = "dragonfly_ofar";

#[derive(Debug, Clone)]
pub struct Runtime {
    config: DragonflyOfar,
    groups: Groups,
    in_transit: InTransit,
    /// Ports to other routers of the group: index of the first port, and number of ports.
    local: (u16, u16),
    /// Ports to other groups: index of the first port, and number of ports.
    global: (u16, u16),
    /// For each direction of the rings and each router: true if the next hop of the ring leads to another group.
    leaves_group: Vec<Vec<bool>>,
    nets: Subnets,
    /// True if the power policy reports which links of the groups are on. Packets then take paths around links that are off.
    goes_by_links: bool,
    first: Option<FirstLinks>,
}

impl RoutingModel for DragonflyOfar {
    type Routing = Runtime;
    const ROUTES: &'static str = "groups of routers that are all neighbours, with global links between groups";
    const LINKS: &'static [LinkKnowledge] = &[LinkKnowledge::Subnetworks, LinkKnowledge::Nothing];

    fn fits(graph: &Graph) -> bool {
        // the routing does not support trunks, because heads compare single links
        Groups::of(graph).is_some() && graph.routers() > 2 && !graph.has_trunks()
    }

    fn build(&self, graph: &Graph) -> Result<Runtime, Refusal> {
        let keys = Keys {
            trigger: self.trigger,
            least_occupancy: self.least_occupancy,
            most_occupancy: self.most_occupancy,
            occupancy: self.occupancy,
            ring: self.ring.clone(),
            injection: self.injection,
        };
        let in_transit = InTransit::of(keys, NAME, graph, |path| Ring::in_label_order(graph, path))?;
        let groups = Groups::of(graph).expect("a graph that fits");
        let local = (groups.first_local(), (groups.per_group - 1) as u16);
        let global = groups.global_ports();
        let leaves = |(router, &port): (u32, &u16)| match graph.ports(router)[usize::from(port)].peer {
            Peer::Router { router: far, .. } => far / groups.per_group != router / groups.per_group,
            Peer::Terminal(_) | Peer::Unused => false,
        };
        let leaves_group = in_transit.rings.ports().map(|ports| (0..).zip(ports).map(leaves).collect()).collect();
        let nets = Subnets::of(graph).expect("the groups of a graph that fits");
        let config = self.clone();
        Ok(Runtime { config, local, global, leaves_group, in_transit, groups, nets, goes_by_links: false, first: None })
    }

    fn examples() -> Vec<Example<Self>> {
        // All 8 terminals of a group send to the next group, to which one global link leads. The group has 8 global links in total. Packets
        // on minimal paths cross one global link, and packets on detours cross two.
        const NEXT: &str = r#"{"group_shift": {"shift": 1}}"#;
        let example = |parameters: &str, networks: &[&str]| Example::of(parameters).only_on(networks);
        vec![
            example("{}", &[SMALL, EMBEDDED, PHYSICAL]).bound(EMBEDDED, NEXT, Accepts::WithDetours(4.5 / 8.0)),
            example(r#"{"trigger": "unavailable", "ring": {"rings": 2, "directions": 1}}"#, &[EMBEDDED]).bound(
                EMBEDDED,
                NEXT,
                Accepts::WithDetours(4.5 / 8.0),
            ),
            example(
                r#"{"local_misrouting": false, "global_misrouting": "current_router", "ring": {"exits": 0}}"#,
                &[SMALL, PHYSICAL],
            ),
            example(
                r#"{"trigger": "granted_or_full", "local_misrouting": false, "global_misrouting": "source_router"}"#,
                &[SMALL, EMBEDDED],
            ),
            example(
                r#"{"global_misrouting": "random_router", "most_occupancy": {"fixed": 0.5}, "ring": {"from_sources": true}}"#,
                &[SMALL],
            ),
            example(
                r#"{"global_misrouting": "neighbour_router", "ring": {"vcs": 2}, "injection": {"bubble": {"packets": 1}}}"#,
                &[SMALL],
            ),
            example(r#"{"injection": {"escape_occupancy": {"most": 0.5}}}"#, &[SMALL, PHYSICAL]),
            example(r#"{"occupancy": "waiting"}"#, &[EMBEDDED, PHYSICAL]).bound(
                EMBEDDED,
                NEXT,
                Accepts::WithDetours(4.5 / 8.0),
            ),
        ]
    }
}

const SMALL: &str =
    r#"{"dragonfly": {"routers_per_group": 2, "terminals_per_router": 2, "global_links_per_router": 1}}"#;
const EMBEDDED: &str =
    r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
const PHYSICAL: &str = r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2,
                                        "escape_rings": 1}}"#;

// The bits of `Packet::phase`: the state of a packet outside the ring.
/// The packet has taken its global misroute.
const GLOBAL_DONE: u8 = 1;
/// The packet has taken a local misroute in this group.
const LOCAL_DONE: u8 = 2;
/// The packet has taken a local misroute in its source group: its next hop must be a global misroute.
const MUST_GLOBAL: u8 = 4;
/// The packet has arrived over a local link.
const FROM_LOCAL: u8 = 8;
/// The packet has left its source group.
const LEFT_GROUP: u8 = 16;
/// Flags that are cleared when the packet leaves a group.
const IN_GROUP: u8 = LOCAL_DONE | MUST_GLOBAL | TWICE_DONE;

impl Runtime {
    /// Index of the router whose coordinates are `at`.
    #[inline(always)]
    fn router(&self, at: u64) -> usize {
        (group(at) * self.groups.per_group + index(at)) as usize
    }

    /// The minimal hop to the destination router, and true if this hop is global. The packet must not be at its destination router.
    #[inline(always)]
    fn minimal(&self, at: u64, packet: &Packet) -> (Hop, bool) {
        let (port, is_global) = self.groups.hop(at, packet.dest, packet, 0);
        (Hop { port, class: 0 }, is_global)
    }

    /// True if the packet is still in its source group, and its destination is in another group.
    #[inline(always)]
    fn is_before_first_global(at: u64, packet: &Packet) -> bool {
        packet.phase & LEFT_GROUP == 0 && group(at) != group(packet.dest)
    }

    /// Updates the packet's state for hop `hop` outside the ring.
    fn takes(&self, at: u64, packet: &mut Packet, hop: Hop) {
        let misroutes = hop.port != self.minimal(at, packet).0.port;
        if misroutes {
            packet.flags |= DETOUR;
        }
        if self.groups.is_local(hop.port) {
            packet.phase |= FROM_LOCAL;
            if misroutes {
                let chosen = packet.phase & BY_FORCE == 0;
                let first = chosen && Self::is_before_first_global(at, packet) && packet.phase & GLOBAL_DONE == 0;
                let again = if packet.phase & LOCAL_DONE != 0 { TWICE_DONE } else { 0 };
                packet.phase |= LOCAL_DONE | again | if first { MUST_GLOBAL } else { 0 };
            }
        } else {
            packet.phase &= !(IN_GROUP | FROM_LOCAL);
            packet.phase |= LEFT_GROUP | if misroutes { GLOBAL_DONE } else { 0 };
        }
        packet.phase &= !BY_FORCE;
    }

    /// Every hop that a head may take for a detour of kind `kind`, even if the link of the hop is off.
    fn candidates(&self, at: u64, kind: Kind, minimal: Hop) -> impl Iterator<Item = Hop> + use<> {
        let (first, count) = if kind.is_global() { self.global } else { self.local };
        let wired = if kind.is_global() { self.groups.wired_global_ports(at).min(count) } else { count };
        (first..first + wired).filter(move |&port| port != minimal.port).map(|port| Hop { port, class: 0 })
    }
}

impl Routing for Runtime {
    fn needs(&self) -> Needs {
        let (classes, ring_entries) = self.in_transit.classes();
        Needs {
            classes,
            ring_entries,
            free_beside_first: self.in_transit.free_beside_first(),
            waits_for_room: self.in_transit.waits_for_room(),
            decides: Decides::EachStep,
            remembers: true,
            sees_grants: true,
            sensor: self.in_transit.sensor(),
            ..Needs::default()
        }
    }

    fn coordinates(&self, graph: &Graph) -> Vec<u64> {
        in_groups(graph)
    }

    #[inline(always)]
    fn next(&self, at: u64, packet: &mut Packet, _seed: u64) -> Option<Hop> {
        (at == packet.dest).then_some(Hop::to_terminal(packet))
    }

    #[inline(always)]
    fn each_step<Q: View + ?Sized>(&self, at: u64, here: &Q, packet: &mut Packet, turn: u32) -> Option<Hop> {
        let hop = self.decide(at, here, packet, turn)?;
        if self.goes_by_links {
            self.mark(at, here, packet, hop);
        }
        Some(hop)
    }

    fn taken(&self, at: u64, packet: &mut Packet, hop: Hop) {
        if at == packet.dest {
            return; // the packet is at its destination router: the next hop leads to the terminal
        }
        let router = self.router(at);
        match self.in_transit.taken(router, packet, hop) {
            Some(direction) => {
                packet.phase &= !(FROM_LOCAL | BY_FORCE);
                if self.leaves_group[usize::from(direction)][router] {
                    packet.phase &= !IN_GROUP;
                    packet.phase |= LEFT_GROUP;
                }
            }
            None => self.takes(at, packet, hop),
        }
    }

    fn steps(&self, at: u64, packet: &Packet, _seed: u64) -> Vec<Step> {
        if at == packet.dest {
            return vec![Step::deliver(packet)];
        }
        if self.goes_by_links {
            return self.steps_by_links(at, packet);
        }
        let hops = self.possible(at, packet);
        // the minimal hop is first and has the lowest cost; it is taken while it is open
        let cost = |hop: Hop, rank: usize| Cost { at, port: hop.port, hops: rank.min(1) as u32 + 1, bias: 0 };
        let step = |(rank, hop): (usize, Hop)| Step { hop, after: *packet, cost: Some(cost(hop, rank)) };
        hops.into_iter().enumerate().map(step).collect()
    }

    fn first_steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        let mut steps = self.steps(at, packet, seed);
        let hops = |step: &Step| step.cost.map(|cost| cost.hops);
        let first = steps.first().and_then(hops);
        let equal = steps.iter().take_while(|step| hops(step) == first).count();
        steps.truncate(equal);
        steps
    }

    fn draws_ties(&self) -> bool {
        self.goes_by_links // if the direct link is off, a draw decides among the paths around it
    }

    fn proof(&self) -> Proof<'_> {
        self.in_transit.proof()
    }

    fn most_hops(&self) -> Option<u32> {
        // The longest paths (l: local link, g: global link) are l l g l l g l l with local misroutes, and l l g l g l without them. Around
        // links that are off, the longest path is l l l g l l l g l l l
        let outside = match (self.goes_by_links, self.config.local_misrouting) {
            (true, _) => 11,
            (false, true) => 8,
            (false, false) => 6,
        };
        Some(self.in_transit.most_hops(outside))
    }

    // ---- links that are switched ----------------------------------------------------------------------------------------

    fn go_by(&mut self, links: LinkKnowledge) {
        self.goes_by_links = links == LinkKnowledge::Subnetworks;
    }

    fn check_links(&self, may_go_off: &[bool]) -> Result<(), Refusal> {
        let entries = self.in_transit.classes().1;
        let rings: Vec<u8> = entries.iter().map(|entry| entry.link).collect();
        // the VCs of an embedded ring belong to links of the dragonfly, so these links must stay on
        self.config.check_links(&rings, entries.iter().all(|entry| entry.vcs.is_none()), may_go_off)
    }

    fn tells(&self, at: u64, packet: &Packet, hop: Hop) -> HopNote {
        self.note_of(at, packet, hop)
    }

    fn assume_first_links(&mut self, policy: &Arc<dyn Policy>, managed: &[bool]) {
        self.assume(policy, managed);
    }

    fn assume_all_links(&mut self) -> bool {
        self.assume_all()
    }
}

#[cfg(test)]
mod tests;
