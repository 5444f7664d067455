//! Tests with a workload outside the registry: a terminal sends only after a packet has been delivered to it.

use super::{Simulation, usual_division};
use crate::network::assemble;
use crate::network::routing::routing;
use crate::network::spec::{Execution, Spec, Stop};
use crate::run::outcome::{Ending, Outcome};
use std::collections::VecDeque;
use std::sync::Arc;
use weft_api::base::kept::Kept;
use weft_api::state::Packet;
use weft_api::workload::{Backlog, Counts, JobSources, NOT_DUE, NewPacket, Place, Sources, Workload};
use weft_kernel::net::NetJob;

/// A workload in which terminal 0 sends first. After each delivery, a terminal sends one packet to each of its heirs, which are other
/// terminals.
#[derive(Debug, Clone, Copy)]
struct Relay {
    /// The terminals to which `terminal` sends after its delivery number `n` (1 for the first delivery).
    heirs: fn(terminal: u32, n: u32, terminals: u32) -> Vec<u32>,
    terminals: u32,
    /// Number of packets that the whole run creates.
    total: u64,
}

#[derive(Debug, Kept)]
struct Runner {
    #[kept(fixed)]
    terminal: u32,
    deliveries: u32,
    /// Packets that are ready to be sent: the destination, and the first cycle in which the packet can be sent.
    ready: VecDeque<(u32, u64)>,
}

#[derive(Debug, Kept)]
struct Runners {
    #[kept(fixed)]
    relay: Relay,
    #[kept(each)]
    runners: Vec<Runner>,
}

impl Workload for Relay {
    fn sources(&self, here: &[Place]) -> JobSources {
        let runner = |place: &Place| Runner { terminal: place.terminal, deliveries: 0, ready: VecDeque::new() };
        JobSources::Asked(Box::new(Runners { relay: *self, runners: here.iter().map(runner).collect() }))
    }

    fn total(&self) -> Option<u64> {
        Some(self.total)
    }
}

impl Runners {
    /// Adds the packets that one more delivery in cycle `now` causes at this source. Returns their number.
    fn pass_on(&mut self, source: usize, now: u64) -> u64 {
        let runner = &mut self.runners[source];
        runner.deliveries += 1;
        let heirs = (self.relay.heirs)(runner.terminal, runner.deliveries, self.relay.terminals);
        runner.ready.extend(heirs.into_iter().map(|to| (to, now)));
        self.due(source)
    }

    fn due(&self, source: usize) -> u64 {
        self.runners[source].ready.front().map_or(NOT_DUE, |&(_, created)| created)
    }
}

impl Sources for Runners {
    fn start(&mut self, source: usize) -> u64 {
        if self.runners[source].terminal == 0 { self.pass_on(source, 0) } else { NOT_DUE }
    }

    fn next(&mut self, source: usize, due: &mut u64, _now: u64) -> Option<NewPacket> {
        let ((to, _), created) = (self.runners[source].ready.pop_front()?, *due);
        *due = self.due(source);
        Some(NewPacket { to, flits: 3, created, tag: 0, counts: Counts::IfCreatedInWindow })
    }

    fn delivered(&mut self, source: usize, _packet: &Packet, due: &mut u64, now: u64) {
        *due = self.pass_on(source, now);
    }

    fn backlog(&self, source: usize, _due: u64, until: u64, _window: (u64, u64)) -> Backlog {
        let waiting = self.runners[source].ready.iter().filter(|&&(_, created)| created < until).count() as u64;
        Backlog { packets: waiting, flits: 3 * waiting, ..Backlog::default() }
    }
}

/// Runs the relay in `blocks` blocks until its last packet is delivered. The network has 4 x 3 routers with 2 terminals each.
fn run(relay: Relay, blocks: usize) -> Outcome {
    let out = run_on(relay, Execution::new(1, blocks));
    assert_eq!((&out.ending, out.missing_packets, out.backlog_packets), (&Ending::Drained, 0, 0));
    assert_eq!((out.sums.packets, out.sums.flits, out.offered_flits), (relay.total, 3 * relay.total, 3 * relay.total));
    out
}

fn run_on(relay: Relay, how: Execution) -> Outcome {
    let topology = serde_json::from_str(r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#).unwrap();
    let mut spec = Spec::new(&topology, serde_json::from_str(r#"{"dimension_order": {}}"#).unwrap()).unwrap();
    spec.set_packet(3);
    (spec.phases.warmup, spec.phases.window, spec.phases.stop) = (0, 100_000, Stop::Complete);
    let job = NetJob { workload: Arc::new(relay), classes: vec![0], hears_packets: true };
    let net = assemble::net_with(&spec, routing(&spec).unwrap().into(), |_| Ok(vec![job])).unwrap();
    let division = usual_division(&spec, how, &net);
    Simulation::of(net, &spec, how, spec.width(), division).unwrap().run(&spec, &())
}

/// A single packet, the token, passes through all terminals 5 times. Each terminal sends in the cycle in which it gets the token, so the
/// run takes exactly the sum of all latencies.
#[test]
fn a_token_goes_round_a_ring() {
    let ring = |terminal: u32, n: u32, terminals: u32| if n > 5 { vec![] } else { vec![(terminal + 1) % terminals] };
    let relay = Relay { heirs: ring, terminals: 24, total: 5 * 24 };
    let (one, three) = (run(relay, 1), run(relay, 3));
    assert_eq!(one.jobs[0].batch.and_then(|batch| batch.completed), Some(one.sums.latency));
    assert_eq!((one.cycles, one.sums), (three.cycles, three.sums));
}

/// A message reaches all terminals along a binary tree, because each delivery makes a terminal send two packets.
#[test]
fn a_broadcast_reaches_every_terminal() {
    let tree = |terminal: u32, _: u32, terminals: u32| {
        [2 * terminal + 1, 2 * terminal + 2].into_iter().filter(|&child| child < terminals).collect()
    };
    let relay = Relay { heirs: tree, terminals: 24, total: 23 };
    let (one, three) = (run(relay, 1), run(relay, 3));
    assert_eq!((one.cycles, one.sums), (three.cycles, three.sums));
}

/// If a model panics in one thread, the other threads end too, and the run ends with the model's message.
#[test]
fn a_panic_in_any_thread_ends_the_run_with_its_message() {
    fn ring_to<const LAST: u32>(terminal: u32, _: u32, terminals: u32) -> Vec<u32> {
        assert!(terminal < LAST, "terminal {terminal} has no heir");
        vec![(terminal + 1) % terminals]
    }
    // one case panics in the first block, and one in the last block
    for (heirs, message) in [
        (ring_to::<3> as fn(u32, u32, u32) -> Vec<u32>, "terminal 3 has no heir"),
        (ring_to::<23>, "terminal 23 has no heir"),
    ] {
        let relay = Relay { heirs, terminals: 24, total: 24 };
        let run = || run_on(relay, Execution::new(3, 4));
        let panic = std::panic::catch_unwind(run).expect_err("a panic");
        assert_eq!(panic.downcast_ref::<String>().map(String::as_str), Some(message));
    }
}
