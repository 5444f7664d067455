use super::find;
use crate::Simulation;
use crate::network::spec::{Execution, Spec};
use crate::run::outcome::{Cause, Ending, Stall};
use serde_json::json;
use weft_api::state::ChannelEnd;
use weft_topology::Graph;

const PORT: u32 = 1;

/// A network of 3 routers in a row, with one terminal each, under `policy`; packets have 4 flits. The channel from router 1 to router 2
/// (port [`PORT`]) is closed in cycle 300.
fn closed(policy: serde_json::Value) -> (Spec, Simulation) {
    let topology = serde_json::from_value(json!({"mesh": {"widths": [3], "terminals_per_router": 1}})).unwrap();
    let routing = serde_json::from_value(json!({"dimension_order": {}})).unwrap();
    let mut spec = Spec::new(&topology, routing).unwrap();
    spec.policy = serde_json::from_value(policy).unwrap();
    spec.set_packet(4);
    spec.set_load(0.3);
    (spec.phases.warmup, spec.phases.window, spec.phases.stall_limit) = (0, 2000, 500);
    let mut sim = Simulation::new(&spec, Execution::new(1, 1)).unwrap();
    sim.advance(300);
    let block = &mut sim.blocks[0];
    let o = (block.router(1).base + PORT) as usize;
    assert_eq!((block.output(o).kind, block.records().next_router[o]), (ChannelEnd::Local, 2));
    block.close_channel(&sim.net, o);
    sim.advance(2000);
    (spec, sim)
}

fn check(stall: &Stall, graph: &Graph) {
    let last = stall.wait_for.last().expect("some packet waits");
    assert_eq!((last.at.router, last.cause), (1, Cause::Closed { port: PORT, to: 2 }), "{stall:?}");
    let words = last.in_words(graph);
    assert!(words.ends_with(" waits for its link 1 -> 2 (output 1), which the power policy has closed"), "{words}");
    for (k, waiting) in stall.wait_for.iter().enumerate() {
        assert_eq!(waiting.cause.queue(), stall.wait_for.get(k + 1).map(|next| next.at), "{stall:?}");
        assert_ne!(waiting.cause.queue(), Some(waiting.at), "no packet waits for itself");
    }
}

#[test]
fn packets_behind_a_channel_that_stays_closed_are_reported_with_the_cause() {
    let (spec, sim) = closed(json!({"always_on": {}}));
    check(&find(&sim).expect("packets are stuck"), &spec.graph);
    let out = sim.run(&spec, &());
    let Ending::Stalled(stall) = &out.ending else { panic!("ended as {:?}", out.ending) };
    check(stall, &spec.graph);
}

#[test]
fn as_long_as_the_policy_may_open_a_channel_no_packet_is_stuck() {
    let (_, sim) = closed(json!({"idle_timeout": {"idle": "40ns", "transition": "25ns"}}));
    assert!(!sim.is_policy_at_rest(), "timers are set");
    assert_eq!(find(&sim), None);
}
