//! Shared by the tests: short ways to say a network, ways to run it, and what a result says in numbers.

mod checkpoints;
mod examples;
mod members;
mod recordings;
pub use checkpoints::*;
pub use examples::*;
pub use members::*;
pub use recordings::*;

use weft_engine::outcome::Ending;
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::workload::{WorkloadConfig, request_reply::RequestReply};
use weft_engine::{
    Outcome, Simulation, Spec, routing::RoutingConfig, spec::Execution, spec::FlowControl, spec::LoadPhase,
};
use weft_topology::TopologyConfig;
use weft_traffic::{GapTable, mix, stream};
use weft_units::{Flits, Refusal, Time};

/// The rounds (or cycles) of a long test: `few` in `make test`; `make test-all` sets WEFT_TEST_ROUNDS=4, for four times
/// as many. Every round asserts the same, however many there are.
pub fn rounds(few: u64) -> u64 {
    let times = std::env::var("WEFT_TEST_ROUNDS").map_or(1, |text| text.parse().expect("WEFT_TEST_ROUNDS is a number"));
    few * times
}

/// One of `all` in turn, so that many members share the choices out among them; all of them in `make test-all`.
pub fn in_turn<T>(turn: usize, all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().cycle().skip(turn % all.len()).take((rounds(1) as usize).min(all.len()))
}

pub const ONE: Execution = Execution::new(1, 1);

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

/// Under a policy that switches links, one that goes with the routing and has links to manage: by timeout where that can
/// be, else the first example of another one. Where there is none, and without `switched`, all links stay on.
pub fn fitting_policy(spec: &mut Spec, switched: bool) {
    let all = spec.managed.clone();
    let timeout = serde_json::from_str(IDLE_TIMEOUT).expect("a policy");
    let candidates = std::iter::once(timeout).chain(PolicyConfig::examples());
    for candidate in candidates.filter(|candidate| switched && candidate.states().len() > 1) {
        spec.policy = candidate;
        if manage_what_can_be(spec) {
            return;
        }
    }
    (spec.policy, spec.managed) = (PolicyConfig::default(), all);
}

/// The policy manages all classes of links between routers, or else all but one, or else one. Returns whether it can.
pub fn manage_what_can_be(spec: &mut Spec) -> bool {
    let all: Vec<bool> = (0..spec.managed.len()).map(|class| class > 0).collect();
    // class 0 is left out of all
    let without = (0..all.len()).map(|left_out| {
        let mut managed = all.clone();
        managed[left_out] = false;
        managed
    });
    let alone = (1..all.len()).map(|class| (0..all.len()).map(|other| other == class).collect());
    without.chain(alone).any(|managed| {
        spec.managed = managed;
        (spec.managed.contains(&true) || all.len() == 1) && weft_engine::check(spec).is_ok()
    })
}

/// Replies of so many flits, and so many requests of a terminal without a reply.
pub fn request_reply(flits: u32, outstanding: Option<u32>) -> WorkloadConfig {
    WorkloadConfig::RequestReply(RequestReply { packet: Flits(flits), turnaround: Time::Cycles(0), outstanding })
}

pub fn allocator(spec: &mut Spec, json: &str) {
    spec.router.allocator = serde_json::from_str(json).expect("an allocator");
}

pub fn spec(topology_json: &str, routing_json: &str) -> Spec {
    Spec::new(&topology(topology_json), routing(routing_json)).expect("a spec")
}

/// The 512-node flattened butterfly of the TCEP paper: 8x8 routers of 8 terminals, 10-cycle links, 6 VCs x 32 flits.
pub fn butterfly(routing_json: &str) -> Spec {
    spec(r#"{"hyperx": {"widths": [8, 8], "terminals_per_router": 8}}"#, routing_json)
}

/// The same VCs and buffers on every link.
pub fn queues(spec: &mut Spec, vcs: u8, buffer: u32) {
    for link in &mut spec.links {
        (link.vcs, link.buffer) = (vcs, buffer);
    }
}

/// (delay, vc_realloc, speedup)
pub fn router(spec: &mut Spec, (delay, vc_realloc, speedup): (u64, u8, u8)) {
    (spec.router.delay, spec.router.vc_realloc, spec.router.speedup) = (delay, vc_realloc, speedup);
}

/// Packets of `flits`; with virtual cut-through in buffers that hold at least one (two, where rings keep a bubble),
/// else streaming through `buffer`.
pub fn packets(spec: &mut Spec, flits: u32, flow_control: FlowControl, buffer: u32) {
    spec.set_packet(flits);
    spec.router.flow_control = flow_control;
    let least = if flow_control == FlowControl::VirtualCutThrough { flits } else { 1 };
    spec.links.iter_mut().for_each(|link| link.buffer = buffer.max(least));
    // worms are refused where they could not always reach their escape
    let refused = |refusal: Refusal| refusal.path == "router.flow_control";
    if flow_control == FlowControl::Wormhole && weft_engine::check(spec).is_err_and(refused) {
        packets(spec, flits, FlowControl::VirtualCutThrough, buffer);
    }
    // rings that keep a bubble need room for two packets
    let two = |refusal: Refusal| refusal.path.ends_with(".buffer");
    if flow_control == FlowControl::VirtualCutThrough && weft_engine::check(spec).is_err_and(two) {
        spec.links.iter_mut().for_each(|link| link.buffer = buffer.max(2 * flits));
    }
}

pub fn phases(spec: &mut Spec, warmup: u64, window: u64) {
    (spec.phases.warmup, spec.phases.window) = (warmup, window);
}

/// Loads that go up and down, drawn from `seed`, and in the end nothing for `quiet` cycles.
pub fn load_steps(spec: &mut Spec, seed: u64, quiet: u64) {
    let first = spec.traffic.jobs[0].phases[0].clone();
    let mut from = 0;
    let mut steps: Vec<LoadPhase> = Vec::new();
    for k in 0..12 {
        let draw = mix(seed, 77, k);
        // half of the steps are quiet, so that links go off again
        let load = if k % 2 == 0 { 0.3 + 0.7 * (draw % 1000) as f64 / 1000.0 } else { 0.01 };
        steps.push(LoadPhase { from, load: vec![load; first.load.len()], ..first.clone() });
        from += 100 + draw / 1000 % 700;
    }
    steps.push(LoadPhase { from, load: vec![0.0; first.load.len()], ..first });
    spec.traffic.jobs[0].phases = steps;
    phases(spec, 0, from + quiet);
}

pub fn run(spec: &Spec) -> Outcome {
    run_as(spec, ONE)
}

pub fn run_as(spec: &Spec, how: Execution) -> Outcome {
    weft_engine::run(spec, how, &()).expect("a run")
}

/// Accepted load [flits/terminal/cycle].
pub fn accepted(out: &Outcome) -> f64 {
    out.accepted_flits as f64 / (out.window * u64::from(out.terminals)) as f64
}

/// Creation times inside the run's window (warm-up 0) of the packets of `terminal`: its stream of gaps is addressed by
/// (seed, terminal, purpose 1), and the first packet comes one cycle earlier than a gap, since cycle 0 is a trial too.
pub fn creations(spec: &Spec, terminal: u32) -> Vec<u64> {
    let load = spec.traffic.load_of(terminal);
    if load == 0.0 {
        return Vec::new();
    }
    let gaps = GapTable::new(load / f64::from(spec.traffic.longest()));
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

/// Only `terminal` sends, about 30 packets, and no two of them are in the network at the same time: takes the first
/// seed with which all are created at least `apart` cycles from each other and from the end of the window.
pub fn alone(spec: &mut Spec, terminal: u32, apart: u64) {
    phases(spec, 0, 240 * apart);
    spec.set_load(0.0);
    spec.set_load_of(terminal, f64::from(spec.traffic.longest()) / (8 * apart) as f64);
    let lonely = |spec: &Spec| {
        let mut times = creations(spec, terminal);
        times.push(spec.phases.window);
        times.len() > 20 && times.windows(2).all(|pair| pair[1] - pair[0] >= apart)
    };
    while !lonely(spec) {
        spec.seed += 1;
    }
}

/// Everything a result says but its channels, as integers.
pub fn packet_numbers(out: &Outcome) -> Vec<u64> {
    let mut n = vec![out.cycles, out.window, out.terminals.into(), out.offered_flits, out.injected_flits];
    n.extend([out.accepted_flits, out.backlog_packets, out.missing_packets, out.flit_hops]);
    for s in std::iter::once(&out.sums).chain(&out.batches) {
        n.extend([s.packets, s.flits, s.latency, s.network_latency, s.hops, s.minimal]);
    }
    for histogram in [&out.latency, &out.network_latency] {
        n.extend(histogram.iter_recorded().flat_map(|bin| [bin.value_iterated_to(), bin.count_at_value()]));
    }
    n.extend(&out.hop_counts);
    n
}

/// Everything a result says, as integers.
pub fn numbers(out: &Outcome) -> Vec<u64> {
    let mut n = packet_numbers(out);
    for c in &out.channels {
        let end = |at: Option<u32>, port: u32| [at.map_or(u64::MAX, u64::from), u64::from(port)];
        n.extend(end(c.from, c.from_port).into_iter().chain(end(c.to, c.to_port)));
        n.extend([u64::from(c.class), c.transitions]);
        n.extend(of_states(&c.cycles).chain(of_states(&c.flits)));
    }
    n.extend(&out.asleep);
    n
}

/// By state; lower rates count only where a channel was at one, so that a digest does not change with their number.
fn of_states(values: &[u64; LinkState::COUNT]) -> impl Iterator<Item = u64> {
    let at_full_rate = |state: LinkState| state.slowdown() == 1;
    LinkState::ALL.into_iter().zip(values).filter(move |&(state, &n)| n > 0 || at_full_rate(state)).map(|(_, &n)| n)
}

/// Two results are the same, bit for bit.
#[track_caller]
pub fn assert_same(a: &Outcome, b: &Outcome, what: &str) {
    assert_eq!(a.ending, b.ending, "{what}");
    assert!(a.sums == b.sums, "{what}: {:?} and {:?}", a.sums, b.sums);
    assert!(numbers(a) == numbers(b), "{what}: the same sums, but other numbers differ");
}

/// Drains a simulation whose sources are stopped: within `limit` cycles nothing is left and all is as at the start.
#[track_caller]
pub fn drain<const W: usize, const V: usize>(sim: &mut Simulation<W, V>, limit: u64, what: &str) {
    let end = sim.now() + limit;
    while sim.packets_under_way() > 0 {
        assert!(sim.now() < end, "{what}: {} packets left after {limit} cycles", sim.packets_under_way());
        sim.advance(sim.now() + 200);
    }
    // the last credits are still on their way
    sim.advance(sim.now() + 200);
    sim.assert_empty();
}

/// A run that delivered all it created in the window.
#[track_caller]
pub fn assert_drained(out: &Outcome) {
    assert_eq!(out.ending, Ending::Drained);
    assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits));
}

/// A dark channel carries nothing, and residencies fill the window.
pub fn check_channels(out: &Outcome) {
    for c in &out.channels {
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{c:?}");
        let dark = [LinkState::Off, LinkState::Waking].map(|state| c.flits[state as usize]);
        assert_eq!(dark, [0, 0], "{c:?}");
    }
}
