//! Queues set aside for congested outputs: tokens and queues that come back, and runs in blocks and from checkpoints.

use crate::checkpoints::check_every_phase;
use crate::common::*;
use std::sync::Arc;
use weft_engine::Spec;
use weft_engine::classes::Queueing;
use weft_engine::outcome::{Outcome, SetAside};
use weft_engine::spec::{Execution, FlowControl, Job};
use weft_traffic::{PatternConfig, Population};

const MESH_4X4: &str = r#"{"mesh": {"widths": [4, 4], "terminals_per_router": 1}}"#;
const RECN: &str = r#"{"recn": {"queues": 3, "detect": "50%", "spread": "1%", "linger": "500ns"}}"#;

/// A mesh under a scheme with `vcs` VCs on every link, of 16 flits each.
fn under(queueing: &str, vcs: u8) -> Spec {
    let mut spec = spec(MESH_4X4, DOR);
    queues(&mut spec, vcs, 16);
    spec.queueing = serde_json::from_str(queueing).expect("a scheme");
    (spec.interface.queueing, spec.interface.queues) = (Queueing::PerDestination, 16);
    spec.interface.depth = 64;
    spec
}

fn job(name: &str, terminals: Vec<u32>, pattern: &str, load: f64) -> Job {
    let config: PatternConfig = serde_json::from_str(pattern).expect("a pattern");
    let pattern = Arc::new(config.build(&Population::of(terminals.len() as u32), "pattern").expect("it fits"));
    Job::steady(name, terminals, pattern, load, 1)
}

/// Four terminals send to terminal 0 as fast as they can. The other 11 send to each other at random at load 0.4.
fn hot_spot(queueing: &str, vcs: u8) -> Spec {
    let mut spec = under(queueing, vcs);
    let senders = vec![0, 3, 7, 11, 15];
    let others = (1..16).filter(|terminal| !senders.contains(terminal)).collect();
    let mut hot = job("hot", senders, r#"{"hot_spot": {"targets": [0], "share": 1.0}}"#, 1.0);
    hot.phases[0].load[0] = 0.0;
    spec.traffic.jobs = vec![hot, job("cold", others, r#"{"uniform": {}}"#, 0.4)];
    phases(&mut spec, 4000, 6000);
    spec.phases.drain_limit = 1;
    spec
}

fn set_aside_of(out: &Outcome) -> SetAside {
    out.set_aside.expect("a scheme that sets queues aside")
}

/// Each token is a queue that is set aside, or is under way.
fn check_tokens(out: &Outcome) {
    let SetAside { counts, out, lines } = set_aside_of(out);
    assert_eq!(counts.given - counts.returned, out);
    assert_eq!(out, lines + counts.sent - counts.arrived);
}

#[test]
fn all_queues_come_back_when_the_congestion_is_over() {
    let mut spec = hot_spot(RECN, 4);
    let mut sim = weft_engine::Simulation::new(&spec, Execution::new(1, 3)).expect("a run");
    sim.advance(4000);
    sim.stop_sources();
    assert_eq!(sim.empty_within(90_000), 0);
    // an empty queue stays for 500 cycles, and its token goes back over a link; at most 7 channels lie one behind the other
    sim.advance(sim.now() + 7 * 600);
    phases(&mut spec, 0, sim.now());
    let out = sim.run(&spec, &());
    let SetAside { counts, out: tokens, lines } = set_aside_of(&out);
    assert!(counts.given > 0);
    assert_eq!((tokens, lines, counts.sent), (0, 0, counts.arrived), "{counts:?}");
    assert_eq!(counts.given, counts.returned);
}

#[test]
fn blocks_and_checkpoints_change_nothing_while_queues_are_set_aside() {
    for (flits, flow_control) in
        [(1, FlowControl::VirtualCutThrough), (5, FlowControl::VirtualCutThrough), (5, FlowControl::Wormhole)]
    {
        let mut spec = hot_spot(RECN, 4);
        packets(&mut spec, flits, flow_control, 16);
        phases(&mut spec, 500, 1000);
        let out = check_every_phase(&spec, 4, &format!("{flits} flits, {flow_control:?}"));
        check_tokens(&out);
        assert!(set_aside_of(&out).counts.returned > 0, "{:?}", set_aside_of(&out));
    }
}
