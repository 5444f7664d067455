//! Tests that rings that keep a bubble are accepted, and rings that could fill up are refused.

use crate::network::dependency::refuse_cycle;
use weft_api::routing::{Hop, Needs, RingEntry, Routing};
use weft_api::state::Packet;
use weft_api::walk::{Proof, Step};
use weft_topology::TopologyConfig;

/// A routing on a ring of four routers that keeps a bubble in each direction. By default all packets go up. With `both`, packets to odd
/// destinations go down.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// VC classes of the first hop in a direction, and of later hops. Class 1 is for entering, class 0 for moving on.
    classes: [u8; 2],
    both: bool,
    /// Whether packets turn round after one hop: first for packets that begin upward, second for packets that begin downward.
    turn_back: [bool; 2],
    /// Whether the proof lists turns. Turns do not show where packets start.
    names_turns: bool,
}

const ROUND: Round = Round { classes: [1, 0], both: false, turn_back: [false; 2], names_turns: false };

impl Routing for Round {
    fn needs(&self) -> Needs {
        let ring_entries = vec![RingEntry { link: 1, enter: 1, move_on: 0, vcs: None }];
        Needs { classes: vec![1, 2], ring_entries, ..Needs::default() }
    }

    fn next(&self, at: u64, packet: &mut Packet, _: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop::to_terminal(packet));
        }
        // The phase is 1 for packets that go up and 2 for packets that go down, like the numbers of the ports up and down. The lane is 1
        // after a turn.
        let before = packet.phase;
        if before == 0 {
            packet.phase = if self.both && packet.dest % 2 == 1 { 2 } else { 1 };
        } else if packet.lane == 0 && self.turn_back[usize::from(before) - 1] {
            (packet.phase, packet.lane) = (3 - before, 1);
        }
        Some(Hop { port: packet.phase.into(), class: self.classes[usize::from(packet.phase == before)] })
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        Step::named(self, at, packet, seed)
    }

    fn proof(&self) -> Proof<'_> {
        let up = Hop { port: 1, class: 0 };
        let turns = move |each: &mut dyn FnMut(u32, Hop, Hop)| (0..4).for_each(|at| each(at, up, up));
        if self.names_turns { Proof::Turns(Box::new(turns)) } else { Proof::EveryState }
    }
}

/// Runs the check on the routing. If the check refuses it, returns the message with the length of the cycle.
fn check_round(routing: Round) -> Result<(), String> {
    let torus = r#"{"torus": {"widths": [4], "terminals_per_router": 1}}"#;
    let graph = serde_json::from_str::<TopologyConfig>(torus).unwrap().build("topology").unwrap();
    let refused = refuse_cycle(&graph, &routing, &routing.needs().classes, "round");
    refused.map_err(|refusal| {
        assert!(refusal.help.contains("every hop into a ring"), "{refusal}");
        refusal.what.split(" channels").next().unwrap().to_owned()
    })
}

#[test]
fn a_ring_that_packets_enter_and_then_move_on_in_is_no_cycle() {
    assert_eq!(check_round(ROUND), Ok(()));
    assert_eq!(check_round(Round { both: true, ..ROUND }), Ok(()));
    // packets go from the upward ring into the downward ring, but not back
    assert_eq!(check_round(Round { both: true, turn_back: [true, false], ..ROUND }), Ok(()));
}

#[test]
fn a_ring_whose_hops_are_on_the_wrong_class_is_a_cycle() {
    let cycle_of = |length: u32| Err(format!("channel dependencies have a cycle of {length}"));
    // new packets use the class for moving on instead of the class for entering, so the ring can become full
    assert_eq!(check_round(Round { classes: [0, 0], ..ROUND }), cycle_of(4));
    // packets inside the ring use the class for entering again, for which they need more space than the bubble
    assert_eq!(check_round(Round { classes: [1, 1], ..ROUND }), cycle_of(4));
    assert_eq!(check_round(Round { classes: [0, 1], ..ROUND }), cycle_of(4));
    // this proof does not show where packets start; the check follows all states instead and finds the wrong first hops
    assert_eq!(check_round(Round { classes: [0, 0], names_turns: true, ..ROUND }), cycle_of(4));
    assert_eq!(check_round(Round { names_turns: true, ..ROUND }), Ok(()));
}

#[test]
fn rings_that_wait_for_each_other_are_a_cycle() {
    let refused = check_round(Round { both: true, turn_back: [true, true], ..ROUND });
    // the cycle leads through two rings, and each ring counts as one node
    assert_eq!(refused, Err("channel dependencies have a cycle of 2".to_owned()));
}
