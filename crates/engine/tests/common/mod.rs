//! Helpers that the tests share: they describe a network, run it, and convert a result to numbers.

mod draw;
mod examples;
mod fewer;
mod recordings;

// the engine under test is a different crate from the engine that `weft-conformance` uses, so its helpers are compiled a second time
#[path = "../../../conformance/src/accounts.rs"]
mod accounts;
#[path = "../../../conformance/src/checkpoints.rs"]
mod checkpoints;
#[path = "../../../conformance/src/compare.rs"]
mod compare;
#[path = "../../../conformance/src/members.rs"]
mod members;
#[path = "../../../conformance/src/specs.rs"]
mod specs;

pub use accounts::*;
pub use checkpoints::*;
pub use compare::*;
pub use draw::*;
pub use examples::*;
pub use fewer::*;
pub use members::*;
pub use recordings::*;
pub use specs::*;

use std::sync::Arc;
use weft_engine::outcome::Ending;
use weft_engine::power::LinkState;
use weft_engine::spec::{Job, LoadPhase};
use weft_engine::workload::{WorkloadConfig, request_reply::RequestReply};
use weft_engine::{Outcome, Simulation, Spec, routing::RoutingConfig};
use weft_topology::TopologyConfig;
use weft_traffic::{GapTable, PatternConfig, Population, mix, stream};
use weft_units::Flits;

/// The default modes of scenarios that define no modes.
pub const HALF: LinkState = LinkState::Named(5);
pub const QUARTER: LinkState = LinkState::Named(6);

pub fn routing(json: &str) -> RoutingConfig {
    serde_json::from_str(json).expect("a routing")
}

pub fn topology(json: &str) -> TopologyConfig {
    serde_json::from_str(json).expect("a topology")
}

pub fn pattern(spec: &mut Spec, json: &str) {
    let config = serde_json::from_str(json).expect("a pattern");
    spec.set_pattern(&config).expect("a pattern for this network");
}

pub fn policy(spec: &mut Spec, json: &str) {
    spec.policy = serde_json::from_str(json).expect("a policy");
}

/// A workload with replies of `flits` flits. Each terminal has at most `outstanding` requests without a reply.
pub fn request_reply(flits: u32, outstanding: Option<u32>) -> WorkloadConfig {
    WorkloadConfig::RequestReply(RequestReply { packet: Flits(flits), outstanding, ..RequestReply::default() })
}

pub fn allocator(spec: &mut Spec, json: &str) {
    spec.router.allocator = serde_json::from_str(json).expect("an allocator");
}

pub fn spec(topology_json: &str, routing_json: &str) -> Spec {
    Spec::new(&topology(topology_json), routing(routing_json)).expect("a spec")
}

/// The 512-node flattened butterfly of the TCEP paper: 8x8 routers with 8 terminals each, 10-cycle links, 6 VCs x 32 flits.
pub fn butterfly(routing_json: &str) -> Spec {
    spec(r#"{"hyperx": {"widths": [8, 8], "terminals_per_router": 8}}"#, routing_json)
}

/// Sets the number of VCs and the size of the buffers on every link.
pub fn queues(spec: &mut Spec, vcs: u8, buffer: u32) {
    for link in &mut spec.links {
        (link.vcs, link.buffer) = (vcs, buffer);
    }
}

/// Sets random loads that go up and down, from the seed `seed`. At the end the load is 0 for `quiet` cycles.
pub fn load_steps(spec: &mut Spec, seed: u64, quiet: u64) {
    let first = spec.traffic.jobs[0].phases[0].clone();
    let mut from = 0;
    let mut steps: Vec<LoadPhase> = Vec::new();
    for k in 0..12 {
        let draw = mix(seed, 77, k);
        // every second step has a low load, so that links go off again
        let load = if k % 2 == 0 { 0.3 + 0.7 * (draw % 1000) as f64 / 1000.0 } else { 0.01 };
        steps.push(LoadPhase { from, load: vec![load; first.load.len()], ..first.clone() });
        from += 100 + draw / 1000 % 700;
    }
    steps.push(LoadPhase { from, load: vec![0.0; first.load.len()], ..first });
    spec.traffic.jobs[0].phases = steps;
    phases(spec, 0, from + quiet);
}

/// Two jobs. The `hot` terminals send to terminal 0 at the load given with them. Terminal 0 is the first of the list, and sends nothing.
/// The `cold` terminals send to each other at random, at the load given with them.
pub fn hot_and_cold(hot: (Vec<u32>, f64), cold: (Vec<u32>, f64)) -> Vec<Job> {
    let job = |name: &str, (terminals, load): (Vec<u32>, f64), pattern: &str| {
        let config: PatternConfig = serde_json::from_str(pattern).expect("a pattern");
        let pattern = Arc::new(config.build(&Population::of(terminals.len() as u32), "pattern").expect("it fits"));
        Job::steady(name, terminals, pattern, load, 1)
    };
    let mut sends = job("hot", hot, r#"{"hot_spot": {"targets": [0], "share": 1.0}}"#);
    sends.phases[0].load[0] = 0.0;
    vec![sends, job("cold", cold, r#"{"uniform": {}}"#)]
}

/// Accepted load [flits/terminal/cycle].
pub fn accepted(out: &Outcome) -> f64 {
    out.accepted_flits as f64 / (out.window * u64::from(out.terminals)) as f64
}

/// The gaps between the packets that `terminal` creates; `None` if it creates no packets.
fn gaps(spec: &Spec, terminal: u32) -> Option<GapTable> {
    let load = spec.traffic.load_of(terminal);
    (load > 0.0).then(|| GapTable::new(load / f64::from(spec.traffic.longest())))
}

/// Cycles in which `terminal` creates its packets in the window, for a run with warm-up 0. The stream of gaps of a terminal has the address
/// (seed, terminal, purpose 1). The first packet comes one cycle earlier than a gap, because cycle 0 also counts as a trial.
pub fn creations(spec: &Spec, terminal: u32) -> Vec<u64> {
    gaps(spec, terminal).map_or_else(Vec::new, |gaps| creations_after(&gaps, spec, terminal))
}

/// [`creations`] for a terminal with these gaps.
fn creations_after(gaps: &GapTable, spec: &Spec, terminal: u32) -> Vec<u64> {
    let mut stream = stream(spec.seed, u64::from(terminal), 1);
    let mut times = Vec::new();
    let mut at = gaps.draw(&mut stream) - 1;
    while at < spec.phases.warmup + spec.phases.window {
        times.push(at);
        at += gaps.draw(&mut stream);
    }
    times.retain(|&at| at >= spec.phases.warmup);
    times
}

/// Makes only `terminal` send about 30 packets, such that two packets are never in the network at the same time. The function chooses the
/// first seed with which all packets are created at least `apart` cycles from each other and from the end of the window.
pub fn alone(spec: &mut Spec, terminal: u32, apart: u64) {
    phases(spec, 0, 240 * apart);
    spec.set_load(0.0);
    spec.set_load_of(terminal, f64::from(spec.traffic.longest()) / (8 * apart) as f64);
    let gaps = gaps(spec, terminal).expect("a load");
    let lonely = |spec: &Spec| {
        let mut times = creations_after(&gaps, spec, terminal);
        times.push(spec.phases.window);
        times.len() > 20 && times.windows(2).all(|pair| pair[1] - pair[0] >= apart)
    };
    while !lonely(spec) {
        spec.seed += 1;
    }
}

/// Drains a simulation whose sources are stopped. Fails if the network is not empty and in its initial state within `limit` cycles.
#[track_caller]
pub fn drain(sim: &mut Simulation, limit: u64, what: &str) {
    let left = sim.empty_within(limit);
    assert_eq!(left, 0, "{what}: packets left after {limit} cycles");
}

/// Checks that a run has delivered all packets that it created in the window.
#[track_caller]
pub fn assert_drained(out: &Outcome) {
    assert_eq!(out.ending, Ending::Drained);
    assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits));
}

/// Checks that a dark channel carries nothing, and that the times in all states add up to the length of the window.
pub fn check_channels(out: &Outcome) {
    for c in &out.channels {
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{c:?}");
        let dark = [LinkState::Off, LinkState::Waking].map(|state| c.flits[state]);
        assert_eq!(dark, [0, 0], "{c:?}");
    }
}
