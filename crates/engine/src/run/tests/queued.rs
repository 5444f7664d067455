//! Tests the number of flits that wait for a channel, as agents read it from the queues.

use super::closed_channels::site;
use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use serde_json::json;
use std::sync::{Arc, Mutex};
use weft_api::agents::{Agents, Arrivals, BlockSite, Channels, Departures, Probes};
use weft_api::base::kept::Kept;
use weft_api::policy::Policy;

/// One reading: the cycle, the channel, and the number of flits that waited for the channel.
type Read = (u64, usize, u32);

/// Agents that read the queues of all channels every 7 cycles. `probing`: whether the agents also count each flit that arrives and departs,
/// and compare the counts. `counted`: whether the cycle loop counts waiting flits when they arrive, instead of in the queues at each
/// reading. `unbounded`: whether all flits of a queue can be added to the number at once.
#[derive(Debug, Default)]
struct Reads {
    probing: bool,
    counted: bool,
    unbounded: bool,
    read: Arc<Mutex<Vec<Read>>>,
}

impl Policy for Reads {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let (probing, counted, unbounded, read) = (self.probing, self.counted, self.unbounded, self.read.clone());
        Some(Box::new(Readers {
            channels: site.channels.len(),
            probing,
            counted,
            unbounded,
            inside: 0,
            before: vec![0; site.channels.len()],
            read,
        }))
    }
}

#[derive(Debug, Kept)]
struct Readers {
    #[kept(fixed)]
    channels: usize,
    #[kept(fixed)]
    probing: bool,
    #[kept(fixed)]
    counted: bool,
    #[kept(fixed)]
    unbounded: bool,
    /// Number of flits in the queues of the block, by the arrivals and departures that the agents count if `probing` is true.
    inside: u64,
    /// Number of flits that waited for each channel at the last reading.
    before: Vec<u32>,
    #[kept(fixed)]
    read: Arc<Mutex<Vec<Read>>>,
}

impl Agents for Readers {
    fn probes(&self) -> Probes {
        Probes { arrivals: self.probing, departures: self.probing, queued: self.counted, ..Probes::default() }
    }

    fn start(&mut self, channels: &mut dyn Channels) {
        channels.set_timer(0, 7);
    }

    fn timers(&mut self, _: &[u32], channels: &mut dyn Channels) {
        let now = channels.now();
        let queued: Vec<u32> = (0..self.channels).map(|o| channels.queued(o, u32::MAX)).collect();
        if self.probing {
            assert_eq!(queued.iter().map(|&flits| u64::from(flits)).sum::<u64>(), self.inside, "cycle {now}");
        }
        for (o, (&queued, &before)) in queued.iter().zip(&self.before).enumerate() {
            let growth = channels.queue_growth(o);
            assert_eq!(growth.is_none(), self.unbounded, "a bound where flits count as they come");
            let growth = growth.unwrap_or(u32::MAX / 8);
            assert!(
                queued <= before.saturating_add(7 * growth),
                "cycle {now}, channel {o}: {queued} after {before}, 7 times {growth}"
            );
        }
        self.before.clone_from(&queued);
        self.read.lock().unwrap().extend(queued.into_iter().enumerate().map(|(o, flits)| (now, o, flits)));
        channels.set_timer(0, now + 7);
    }

    fn arrive(&mut self, batch: &Arrivals) {
        self.inside += batch.flits.len() as u64;
    }

    fn depart(&mut self, batch: &Departures) {
        self.inside -= batch.flits.len() as u64;
    }
}

/// Runs a network, and returns the numbers that the agents read. For `probing` and `counted`, see [`Reads`].
fn read(flits: u32, load: f64, speedup: u8, (how, probing, counted): (Execution, bool, bool)) -> Vec<Read> {
    let topology = serde_json::from_value(json!({"hyperx": {"widths": [4, 3], "terminals_per_router": 2}})).unwrap();
    let mut spec = Spec::new(&topology, serde_json::from_value(json!({"dimension_order": {}})).unwrap()).unwrap();
    spec.set_packet(flits);
    spec.set_load(load);
    spec.router.speedup = speedup;
    (spec.phases.warmup, spec.phases.window) = (0, 2000);
    let mut sim = Simulation::new(&spec, how).unwrap();
    let site = site(&*sim.blocks[0]);
    let policy = Reads { probing, counted, ..Reads::default() };
    sim.blocks[0].add_agents(&sim.net, &policy, &site);
    sim.run(&spec, &());
    std::mem::take(&mut *policy.read.lock().unwrap())
}

/// Tests that the numbers of waiting flits add up to the flits in the queues. This holds because paths are fixed, so that each flit in a
/// queue waits for exactly one channel, and because with one allocation step per cycle no flit waits behind the switch. The numbers are the
/// same with and without shortcuts, with and without probing, and whether the cycle loop counts the flits in the queues or at their
/// arrival.
#[test]
fn flits_that_wait_for_channels_are_those_in_the_queues() {
    let one = Execution::new(1, 1);
    for flits in [1, 5, 24] {
        for load in [0.05, 0.5, 1.0] {
            for speedup in [1, 2] {
                let plain = read(flits, load, speedup, (one.plain(), speedup == 1, false));
                assert!(plain.iter().any(|&(.., flits)| flits > 0), "some flits wait");
                for (how, counted) in [(one, false), (one.plain(), true), (one, true)] {
                    let other = read(flits, load, speedup, (how, false, counted));
                    assert!(plain == other, "{flits} {load} {speedup} {how:?} {counted}");
                }
            }
        }
    }
}

/// Tests a VC that stays closed for some time after a packet has left it. When it opens, all flits of the next packet are added to the
/// number at once.
#[test]
fn queues_whose_heads_may_not_ask_yet_have_no_bound_of_their_growth() {
    let topology = serde_json::from_value(json!({"hyperx": {"widths": [4, 3], "terminals_per_router": 2}})).unwrap();
    let mut spec = Spec::new(&topology, serde_json::from_value(json!({"dimension_order": {}})).unwrap()).unwrap();
    spec.set_packet(24);
    spec.set_load(0.5);
    (spec.router.delay, spec.router.routing_delay) = (3, 3);
    (spec.phases.warmup, spec.phases.window) = (0, 2000);
    let mut sim = Simulation::new(&spec, Execution::new(1, 1)).unwrap();
    let site = site(&*sim.blocks[0]);
    let policy = Reads { unbounded: true, ..Reads::default() };
    sim.blocks[0].add_agents(&sim.net, &policy, &site);
    sim.run(&spec, &());
    assert!(policy.read.lock().unwrap().iter().any(|&(.., flits)| flits > 24), "some flits wait");
}

/// Flits that wait in sources are counted only up to a limit. Below this limit the count equals the number of waiting flits.
#[test]
fn flits_in_sources_are_counted_up_to_a_limit() {
    let topology = serde_json::from_value(json!({"hyperx": {"widths": [4, 3], "terminals_per_router": 2}})).unwrap();
    let mut spec = Spec::new(&topology, serde_json::from_value(json!({"dimension_order": {}})).unwrap()).unwrap();
    spec.set_packet(5);
    spec.set_load(0.9);
    (spec.phases.warmup, spec.phases.window, spec.phases.drain_limit) = (0, 500, 0);
    let mut sim = Simulation::new(&spec, Execution::new(1, 1)).unwrap();
    sim.advance(500);
    let (interfaces, until) = (sim.blocks[0].interfaces(), sim.now + 300);
    for terminal in &interfaces.terminals {
        let sources = interfaces.sources[usize::from(terminal.job)].all();
        let (source, due) = (terminal.source as usize, terminal.due);
        let all = sources.backlog(source, due, until, (u64::MAX, u64::MAX)).flits;
        assert!(all > 40, "{all} flits");
        for most in [0, 1, 5, 23, all, all + 1, u64::MAX] {
            let counted = sources.flits_due(source, due, until, most);
            assert_eq!(counted.min(most), all.min(most));
            assert!(counted <= all && counted < most.saturating_add(5), "{counted} flits, {most} asked for");
        }
    }
}
