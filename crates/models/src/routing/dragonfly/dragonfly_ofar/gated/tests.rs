//! Tests of the paths around a link that is not on, for each state of the link, and of the length of the longest path.

use super::super::{GLOBAL_DONE, LEFT_GROUP};
use super::*;
use crate::routing::in_transit::tests::longest_way;
use crate::routing::{LinkKnowledge, Routing, RoutingModel};
use weft_api::coordinates::of_all;
use weft_api::subnetworks::{LinkTable, Views};
use weft_topology::{Graph, Peer, TopologyConfig};

/// Groups of 4 routers, with a physical ring. A router has 2 ports to terminals, 3 to routers of its group, 2 to other groups, and 4 of the
/// ring.
const GROUPS: &str = r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2,
                         "escape_rings": 1}}"#;

fn of(parameters: &str) -> (Graph, Runtime) {
    let graph = serde_json::from_str::<TopologyConfig>(GROUPS).unwrap().build("topology").unwrap();
    let mut routing = serde_json::from_str::<DragonflyOfar>(parameters).unwrap().build(&graph).unwrap();
    routing.go_by(LinkKnowledge::Subnetworks);
    (graph, routing)
}

/// The state of router 1 of a group in which router 0 is the hub. The arrays describe the links to routers 0, 2 and 3: their state, whether
/// the buffer at the far end has space, and whether the output is open.
struct Router {
    states: [LinkState; 3],
    room: [bool; 3],
    open: [bool; 3],
    first: u16,
    views: Views,
}

impl Router {
    fn local(&self, port: u16) -> Option<usize> {
        port.checked_sub(self.first).map(usize::from).filter(|&k| k < 3)
    }
}

impl View for Router {
    fn read(&self, _: u16) -> i32 {
        unreachable!("OFAR reads single VCs")
    }
    fn read_of(&self, _: i32, _: u16) -> i32 {
        unreachable!("OFAR reads its own router")
    }
    fn post(&self, _: u64) -> weft_api::board::Post<'_> {
        unreachable!("OFAR reads its own router")
    }
    fn member(&self, hop: Hop, _: u32) -> (u32, Hop) {
        (1, hop)
    }
    fn fallback(&self, hop: Hop) -> Hop {
        hop
    }
    fn capacity(&self, _: u16) -> u32 {
        unreachable!("it compares credits")
    }

    fn is_broken(&self, _: u16) -> bool {
        false
    }

    fn state(&self, port: u16) -> LinkState {
        self.local(port).map_or(LinkState::On, |k| self.states[k])
    }
    fn credits(&self, _: Hop) -> u32 {
        1
    }
    fn is_open(&self, hop: Hop) -> bool {
        self.local(hop.port).is_none_or(|k| self.open[k])
    }
    fn has_room(&self, hop: Hop) -> bool {
        self.local(hop.port).is_none_or(|k| self.room[k])
    }
    fn was_granted(&self, _: u16) -> bool {
        false
    }
    fn used(&self, _: Hop) -> u32 {
        0
    }
    fn occupancy(&self, _: Hop) -> (f64, u32) {
        (0.0, 8)
    }
    fn table(&self) -> LinkTable<'_> {
        self.views.of(0)
    }
}

/// A packet at router 1 of its last group, on its way to router 3 of the group. The packet has left its source.
fn packet(phase: u8) -> Packet {
    Packet { dest: 3, target: 3, dim: 1, phase: LEFT_GROUP | GLOBAL_DONE | phase, ..Packet::default() }
}

/// Creates router 1. The link between routers 1 and 3 is in state `state`. The links `off` of the group are off, and all others are on.
fn router(routing: &Runtime, state: LinkState, off: &[(u8, u8)]) -> Router {
    let mut views = Views::new(&routing.nets, 1, 0);
    views.set(&routing.nets, 0, 0, (1, 3), state == LinkState::On);
    off.iter().for_each(|&link| views.set(&routing.nets, 0, 0, link, false));
    let own = |c: u8| if off.contains(&(1, c)) { LinkState::Off } else { LinkState::On };
    let first = routing.groups.first_local();
    Router { states: [own(0), own(2), state], room: [true; 3], open: [true; 3], first, views }
}

/// Returns the router of the group to which the requested local hop leads, or `None` for a hop into the ring. Also returns the note to the
/// policy.
fn goes(routing: &Runtime, here: &Router, mut packet: Packet) -> (Option<u8>, HopNote) {
    let hop = routing.each_step(1, here, &mut packet, 7).expect("a hop");
    let note = routing.tells(1, &packet, hop);
    (here.local(hop.port).map(|k| [0, 2, 3][k]), note)
}

#[test]
fn a_head_goes_round_a_link_that_is_not_on() {
    let (_, routing) = of("{}");
    let begins = HopNote::BeginsDetour { direct: routing.groups.first_local() + 2 };
    for state in [LinkState::Off, LinkState::Waking, LinkState::Draining, LinkState::Shadow] {
        // if only the hub has links to both ends, the packet goes over the hub; otherwise over any router with such links
        let here = router(&routing, state, &[(1, 2)]);
        assert_eq!(goes(&routing, &here, packet(0)), (Some(0), begins), "{state:?}");
        let here = router(&routing, state, &[(2, 3)]);
        assert_eq!(goes(&routing, &here, packet(0)), (Some(0), begins), "{state:?}");
        let here = Router { open: [false, true, true], ..router(&routing, state, &[]) };
        assert_eq!(goes(&routing, &here, packet(0)), (Some(2), begins), "{state:?}");
    }
    let here = router(&routing, LinkState::On, &[]);
    assert_eq!(goes(&routing, &here, packet(0)), (Some(3), HopNote::Nothing));
}

#[test]
fn a_shadow_link_is_taken_back_only_if_no_way_round_it_has_room() {
    let (_, routing) = of("{}");
    let full = |state: LinkState| Router {
        room: [false, true, true],
        open: [false, true, true],
        ..router(&routing, state, &[(1, 2)])
    };
    assert_eq!(goes(&routing, &full(LinkState::Shadow), packet(0)), (Some(3), HopNote::TakesBack));
    assert_eq!(goes(&routing, &full(LinkState::Off), packet(0)), (None, HopNote::Nothing), "into the ring");
    // the head waits for the output to the hub, which is not open now, but whose buffer has space
    let taken = Router { open: [false, true, true], ..router(&routing, LinkState::Shadow, &[(1, 2)]) };
    assert_eq!(goes(&routing, &taken, packet(0)).0, Some(0));
}

#[test]
fn the_second_hop_of_a_detour_may_use_a_shadow_link_and_goes_round_a_dark_one_over_the_hub() {
    let (_, routing) = of("{}");
    let at = |state: LinkState| router(&routing, state, &[]);
    let second = packet(LOCAL_DONE);
    assert_eq!(goes(&routing, &at(LinkState::On), second), (Some(3), HopNote::ContinuesDetour));
    assert_eq!(
        goes(&routing, &at(LinkState::Shadow), second),
        (Some(3), HopNote::ContinuesDetour),
        "and takes nothing back"
    );
    assert_eq!(goes(&routing, &at(LinkState::Off), second), (Some(0), HopNote::ContinuesDetour));
    // a packet goes over the hub only once
    assert_eq!(goes(&routing, &at(LinkState::Off), packet(LOCAL_DONE | TWICE_DONE)), (None, HopNote::Nothing));
}

/// If the direct link is on, a detour that OFAR chooses leads over a router with active links to both ends.
#[test]
fn a_chosen_detour_needs_both_its_links() {
    let (_, routing) = of(r#"{"trigger": "unavailable"}"#);
    let busy = |off: &[(u8, u8)]| Router { open: [true, true, false], ..router(&routing, LinkState::On, off) };
    let over = |off: &[(u8, u8)]| goes(&routing, &busy(off), packet(0)).0;
    assert_eq!(over(&[(1, 2)]), Some(0));
    assert_eq!(over(&[(2, 3)]), Some(0));
    assert_eq!(over(&[(0, 3)]), Some(2));
    assert_eq!(over(&[(0, 3), (2, 3)]), Some(3), "no detour: it waits");
}

#[test]
fn no_way_is_longer_than_the_limit_whatever_links_are_on() {
    for (exits, directions, local, misrouting) in [
        (0, 2, true, "mixed"),
        (1, 1, true, "random_router"),
        (2, 2, false, "current_router"),
        (1, 2, false, "source_router"),
    ] {
        let keys = format!(
            r#"{{"local_misrouting": {local}, "global_misrouting": "{misrouting}",
                "ring": {{"exits": {exits}, "directions": {directions}}}}}"#
        );
        let (graph, routing) = of(&keys);
        let coords = of_all(&graph);
        let longest = longest_way((&graph, &routing, &coords), graph.routers() - 1);
        let most = routing.most_hops().expect("a limit");
        assert!(longest <= most && longest > graph.routers() / 2, "{keys}: {longest} of {most}");
    }
}

/// The longest path outside the ring is l l l g l l l g l l l (l: local link, g: global link).
#[test]
fn outside_the_ring_a_packet_crosses_11_links_at_most() {
    fn follow(at: u32, (graph, routing, coords): (&Graph, &Runtime, &[u64]), packet: &Packet, hops: u32) -> u32 {
        let here = coords[at as usize];
        let mut longest = hops;
        for step in if here == packet.dest { Vec::new() } else { routing.steps(here, packet, 1) } {
            let mut after = step.after;
            routing.taken(here, &mut after, step.hop);
            let Peer::Router { router, .. } = graph.ports(at)[usize::from(step.hop.port)].peer else {
                panic!("a hop to {:?}", step.hop)
            };
            if routing.in_transit.rings.direction(at as usize, step.hop).is_none() {
                longest = longest.max(follow(router, (graph, routing, coords), &after, hops + 1));
            }
        }
        longest
    }
    let (graph, routing) = of("{}");
    let coords = of_all(&graph);
    let to = |to: u32| {
        let packet = Packet { dest: coords[to as usize], target: coords[to as usize], ..Packet::default() };
        follow(1, (&graph, &routing, &coords), &packet, 0)
    };
    assert_eq!(to(3), 3, "inside a group");
    assert_eq!((4..12).map(to).max(), Some(11));
}

/// Tests how each trigger reacts to a minimal output that is busy, and to one that is full. Depending on the trigger, the packet takes the
/// minimal output, or goes over another router of the group. With the trigger `granted`, a full output starts no detour, because it is
/// granted to no head. The packet then takes the ring.
#[test]
fn a_full_output_and_a_busy_one_pull_other_triggers() {
    let way = |trigger: &str, room: bool| {
        let (_, mut routing) = of(&format!(r#"{{"trigger": "{trigger}"}}"#));
        routing.go_by(LinkKnowledge::Nothing);
        let here =
            Router { room: [true, true, room], open: [true, true, false], ..router(&routing, LinkState::On, &[]) };
        let hop = routing.each_step(1, &here, &mut packet(0), 7).expect("a hop");
        here.local(hop.port).map(|k| [0, 2, 3][k])
    };
    assert_eq!((way("granted", true), way("granted", false)), (Some(3), None));
    let (busy, full) = (way("granted_or_full", true), way("granted_or_full", false));
    assert!(busy == Some(3) && [Some(0), Some(2)].contains(&full), "{busy:?} {full:?}");
    for room in [true, false] {
        assert!([Some(0), Some(2)].contains(&way("unavailable", room)), "{room}");
    }
}
