//! Tests that a routing is refused if its packets can't always use its rings, and that the routing proposed in the message is accepted.

use crate::network::assemble;
use crate::network::spec::Spec;
use std::sync::Arc;
use weft_api::routing::{Decides, Hop, Needs, RingEntry, Routing};
use weft_api::state::Packet;
use weft_api::walk::{EscapeRing, Proof, RingHop, Step};
use weft_models::routing::RoutingConfig;
use weft_units::Refusal;

/// VC class of hops outside the rings; the other two are for hops that enter a ring and for hops inside a ring.
const OUTSIDE: u8 = 0;
const ENTER: u8 = 1;
const MOVE_ON: u8 = 2;

/// A routing on a full mesh of four routers, with escapes into rings that each test can break. A packet may take any other router as
/// intermediate, and then the direct link. At each router except its source a packet may enter the ring of routers 0, 1, 2, 3, and move on
/// in this ring.
#[derive(Debug, Clone)]
struct Toy {
    /// The rings that the proof declares, each as a list with one hop per router.
    rings: Vec<Vec<RingHop>>,
    decides: Decides,
    entries: Vec<RingEntry>,
    /// A router and a VC class: at this router packets get no hop on this class. `None`: packets get all hops.
    without: Option<(u64, u8)>,
    /// The router at which hops on the class for moving on lead to a wrong router; `None`: all hops are right.
    astray: Option<u64>,
    /// Whether packets stay in the ring at their destination router, which the check must refuse.
    passes: bool,
}

fn port(at: u64, to: u64) -> u16 {
    (to + u64::from(to < at)) as u16
}

/// The hops of a ring that leads from each router to the router that `next` returns for it.
fn ring(next: impl Fn(u64) -> u64) -> Vec<RingHop> {
    (0..4).map(|at| RingHop { port: port(at, next(at)), enter: ENTER, move_on: MOVE_ON }).collect()
}

fn whole() -> Toy {
    Toy {
        rings: vec![ring(|at| (at + 1) % 4)],
        decides: Decides::EachStep,
        entries: vec![RingEntry { link: 1, enter: ENTER, move_on: MOVE_ON, vcs: Some(1) }],
        without: None,
        astray: None,
        passes: false,
    }
}

impl Routing for Toy {
    fn needs(&self) -> Needs {
        let ring_entries = self.entries.clone();
        Needs { classes: vec![1, 3], ring_entries, decides: self.decides, remembers: true, ..Needs::default() }
    }

    fn next(&self, at: u64, packet: &mut Packet, _: u64) -> Option<Hop> {
        (at == packet.dest).then_some(Hop::to_terminal(packet))
    }

    fn taken(&self, _: u64, packet: &mut Packet, hop: Hop) {
        packet.phase = 1;
        packet.dim = u8::from(hop.class != OUTSIDE);
    }

    fn steps(&self, at: u64, packet: &Packet, _: u64) -> Vec<Step> {
        let step = |hop: Hop| Step { hop, after: *packet, cost: None };
        if at == packet.dest && !self.passes {
            return vec![Step::deliver(packet)];
        }
        let to_any = packet.phase == 0 || at == packet.dest;
        let outside = (0..4).filter(|&to| to != at && (to_any || to == packet.dest));
        let mut hops: Vec<Hop> = outside.map(|to| Hop { port: port(at, to), class: OUTSIDE }).collect();
        let onward = if self.astray == Some(at) { (at + 2) % 4 } else { (at + 1) % 4 };
        let class = if packet.dim == 0 { ENTER } else { MOVE_ON };
        if packet.phase > 0 {
            hops.push(Hop { port: port(at, onward), class });
        }
        hops.into_iter().filter(|hop| self.without != Some((at, hop.class))).map(step).collect()
    }

    fn proof(&self) -> Proof<'_> {
        Proof::EscapeRings(self.rings.iter().map(|hops| EscapeRing { hops: hops.clone() }).collect())
    }
}

/// A spec of the mesh, with packets of one flit and buffers of two flits.
fn spec() -> Spec {
    let mesh = serde_json::from_str(r#"{"full_mesh": {"routers": 4, "terminals_per_router": 1}}"#).unwrap();
    let stand_in = RoutingConfig::examples().swap_remove(0).config;
    let mut spec = Spec::new(&mesh, stand_in).unwrap();
    spec.links.iter_mut().for_each(|link| (link.vcs, link.buffer) = (2, 2));
    spec
}

/// Assembles the network with routing `toy`, and returns the refusal, if any.
fn loaded(spec: &Spec, toy: &Toy) -> Result<(), Refusal> {
    assemble::net_with(spec, Arc::new(toy.clone()), assemble::jobs).map(|_| ())
}

/// Checks that `toy` is refused for the reason `because`, and that the routing proposed in the help is accepted.
#[track_caller]
fn refused(toy: &Toy, because: &str) {
    let spec = spec();
    let refusal = loaded(&spec, toy).expect_err(because);
    assert!(refusal.what.contains(because), "{refusal}");
    assert!(refusal.help.starts_with("choose another routing; the developer of "), "{refusal}");
    assert!(assemble::net(&spec).is_ok(), "another routing");
}

#[test]
fn packets_that_may_always_go_round_the_ring_are_safe() {
    assert_eq!(loaded(&spec(), &whole()), Ok(()));
    // without a declared ring these packets can deadlock, because all their hops outside the ring are on one VC class
    let every_state = Toy { rings: Vec::new(), ..whole() };
    refused(&every_state, "does not let a packet to router 0 enter a ring at router ");
}

#[test]
fn a_ring_that_does_not_visit_all_is_refused() {
    let early = ring(|at| if at == 2 { 0 } else { (at + 1) % 4 });
    refused(&Toy { rings: vec![early], ..whole() }, "visits 3 routers, beginning at router 0, and ends at router 0");
    // the hops lead to 0, 1, 2 and back to 1, so they never return to router 0
    let tail = ring(|at| if at == 2 { 1 } else { (at + 1) % 4 });
    refused(&Toy { rings: vec![tail], ..whole() }, "visits 4 routers, beginning at router 0, and ends at router 2");
    let short = whole().rings[0][..3].to_vec();
    refused(&Toy { rings: vec![short], ..whole() }, "has a ring without router 3");
}

#[test]
fn a_ring_that_leads_nowhere_is_refused() {
    let mut to_terminal = whole().rings;
    to_terminal[0][1].port = 0;
    refused(&Toy { rings: to_terminal, ..whole() }, "leads from router 1 to no other router");
}

#[test]
fn a_hop_of_packets_that_the_ring_does_not_have_is_refused() {
    refused(&Toy { astray: Some(1), ..whole() }, " at router 1");
    // the ring that the proof declares differs from the ring that the packets use
    let back = Toy { rings: vec![ring(|at| (at + 3) % 4)], ..whole() };
    refused(&back, " enter a ring at router ");
}

#[test]
fn rings_with_common_vcs_are_refused() {
    let twice = Toy { rings: vec![whole().rings[0].clone(); 2], ..whole() };
    refused(&twice, "has rings 0 and 1 that share the channel router 0 port 1 to router 1 class 2");
    let other_way = ring(|at| (at + 3) % 4);
    let both = Toy { rings: vec![whole().rings[0].clone(), other_way], ..whole() };
    assert_eq!(loaded(&spec(), &both), Ok(()));
}

#[test]
fn a_head_that_may_not_escape_is_refused() {
    for (class, what) in [(ENTER, " enter a ring at router 2"), (MOVE_ON, " move on in its ring at router 2")] {
        refused(&Toy { without: Some((2, class)), ..whole() }, what);
    }
    let once = Toy { decides: Decides::AtHead, ..whole() };
    refused(&once, "relies on rings, but a head that has requested another hop never requests the ring");
    refused(&Toy { passes: true, ..whole() }, "does not deliver a packet that is at its destination router 0");
}

#[test]
fn entries_of_classes_that_the_routing_does_not_have_are_refused() {
    let entry = whole().entries[0];
    let chain = RingEntry { enter: MOVE_ON, move_on: OUTSIDE, ..entry };
    for entries in [vec![RingEntry { move_on: 3, ..entry }], vec![entry; 2], vec![entry, chain]] {
        refused(&Toy { entries, ..whole() }, "with VC classes that the routing lacks, or that several entries use");
    }
}

#[test]
fn buffers_without_room_for_a_bubble_are_refused() {
    for flits in [1, 5] {
        let mut spec = spec();
        spec.set_packet(flits);
        spec.links.iter_mut().for_each(|link| link.buffer = 2 * flits - 1);
        let refusal = loaded(&spec, &whole()).expect_err("room for one packet");
        assert!(refusal.what.contains(&format!("2 x {flits} = {} flits", 2 * flits)), "{refusal}");
        assert!(refusal.help.starts_with(&format!("set buffer to at least {}flits", 2 * flits)), "{refusal}");
        spec.links[1].buffer = 2 * flits;
        assert_eq!(loaded(&spec, &whole()), Ok(()));
    }
}
