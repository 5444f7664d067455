//! Tests channels that are closed while packets hold their VCs. In these tests, agents close and open channels repeatedly.

use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use crate::run::outcome::Ending;
use serde_json::json;
use std::sync::{Arc, Mutex};
use weft_api::agents::{Agents, BlockSite, ChannelSite, Channels, RouterSite};
use weft_api::base::kept::{Kept, Value};
use weft_api::policy::Policy;
use weft_api::spec::{FlowControl, Watched};
use weft_api::state::{ChannelEnd, LinkState};
use weft_kernel::face::AnyBlock;
use weft_kernel::face::views::Output;
use weft_kernel::parts::watch::Reason;
use weft_topology::{Peer, Trunk};

#[derive(Debug, Default)]
struct ClosesAll(Arc<Mutex<Counts>>);

/// Number of times that each kind of event occurred in a run.
#[derive(Debug, Default)]
struct Counts {
    /// How often a channel drained in the cycle in which it was closed (`at_once`), drained later (`later`), or was opened before it had
    /// drained (`never`).
    at_once: u32,
    later: u32,
    never: u32,
    wanted: u32,
}

impl Policy for ClosesAll {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let channels = site.channels.iter().map(|channel| Channel { managed: channel.managed, ..Channel::default() });
        Some(Box::new(Closers { channels: channels.collect(), counts: self.0.clone() }))
    }
}

#[derive(Debug, Clone, Copy, Default, Value)]
struct Channel {
    managed: bool,
    /// The cycle in which the channel was closed; `None` if the channel is open.
    closed: Option<u64>,
    drained: bool,
    /// Number of flits that the channel had sent when it was closed or, if it has drained since, when it had drained.
    flits: u32,
}

/// Agents that close each channel for the first time in one of the cycles 200 to 240, and again 100 cycles after each opening. A channel
/// stays closed for 1 cycle or for 40 cycles. The agents do not change the power state: a closed channel stays `on`.
#[derive(Debug, Kept)]
struct Closers {
    channels: Vec<Channel>,
    #[kept(fixed)]
    counts: Arc<Mutex<Counts>>,
}

impl Agents for Closers {
    fn start(&mut self, channels: &mut dyn Channels) {
        let managed = (0..self.channels.len()).filter(|&o| self.channels[o].managed);
        managed.for_each(|o| channels.set_timer(o, 200 + o as u64 % 40));
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        let now = channels.now();
        for o in ended.iter().map(|&o| o as usize) {
            let channel = &mut self.channels[o];
            if channel.closed.is_none() {
                *channel = Channel { closed: Some(now), drained: false, flits: channels.flits(o), ..*channel };
                channels.close(o);
                channels
                    .set_timer(o, now + if channels.draw(o as u32, now as u32, 7).is_multiple_of(3) { 1 } else { 40 });
                continue;
            }
            assert!(!(channel.drained && channels.is_held(o)));
            let since = channels.flits(o) - channel.flits;
            // only packets that held one of the 6 VCs (5 flits each) have sent flits since
            assert!(since <= if channel.drained { 0 } else { 6 * 5 }, "{since} flits on a closed channel");
            self.counts.lock().unwrap().never += u32::from(!channel.drained);
            channel.closed = None;
            channels.open(o);
            channels.look_again(o);
            channels.set_timer(o, now + 100);
        }
    }

    fn drained(&mut self, drained: &[u32], channels: &mut dyn Channels) {
        assert!(drained.is_sorted());
        for o in drained.iter().map(|&o| o as usize) {
            let channel = &mut self.channels[o];
            let closed = channel.closed.expect("only closed channels are reported");
            assert!(!channel.drained && !channels.is_held(o), "reported once, after it has drained");
            let since = channels.flits(o) - channel.flits;
            assert!(since <= 6 * 5, "{since} flits");
            (channel.drained, channel.flits) = (true, channels.flits(o));
            let counts = &mut *self.counts.lock().unwrap();
            *if closed == channels.now() { &mut counts.at_once } else { &mut counts.later } += 1;
        }
    }

    fn wanted(&mut self, o: usize, channels: &mut dyn Channels) {
        assert!(self.channels[o].closed.is_some() && channels.state(o) == LinkState::On);
        self.counts.lock().unwrap().wanted += 1;
    }
}

pub(super) fn site(block: &dyn AnyBlock) -> BlockSite {
    let channel = |out: Output<'_>| ChannelSite {
        router: out.router,
        state: LinkState::On,
        peer: Peer::Unused,
        class: out.class,
        trunk: Trunk::at(&[], 0, 0),
        managed: out.kind == ChannelEnd::Local,
        buffer: 0,
    };
    BlockSite {
        channels: block.outs().take(block.inputs()).map(channel).collect(),
        routers: block.places().map(|r| RouterSite { id: r.id, coords: 0, base: r.base }).collect(),
        single: false,
        faults: false,
    }
}

/// Runs a network under these agents, and checks that all packets arrive.
fn run(flits: u32, flow_control: FlowControl, vc_realloc: u8, hold_switch: bool) -> Counts {
    let topology = serde_json::from_value(json!({"hyperx": {"widths": [4, 3], "terminals_per_router": 2}})).unwrap();
    let mut spec = Spec::new(&topology, serde_json::from_value(json!({"dimension_order": {}})).unwrap()).unwrap();
    spec.set_packet(flits);
    spec.set_load(0.3);
    (spec.router.flow_control, spec.router.vc_realloc) = (flow_control, vc_realloc);
    spec.router.hold_switch = hold_switch;
    (spec.phases.warmup, spec.phases.window) = (0, 4000);
    spec.watched = Watched::First(3000);
    let mut sim = Simulation::new(&spec, Execution::new(1, 1)).unwrap();
    let site = site(&*sim.blocks[0]);
    let policy = ClosesAll::default();
    sim.blocks[0].add_agents(&sim.net, &policy, &site);
    let out = sim.run(&spec, &());
    assert_eq!((&out.ending, out.missing_packets), (&Ending::Drained, 0));
    assert!(out.sums.packets > 500, "{}", out.sums.packets);
    // a closed link is reported as about to go off, although its state is on
    let visits = out.journeys.iter().filter_map(|journey| journey.life.as_ref()).flat_map(|life| &life.routers);
    assert!(visits.flat_map(|visit| &visit.waits).any(|wait| wait.reason == Reason::LinkAsleep));
    std::mem::take(&mut *policy.0.lock().unwrap())
}

#[test]
fn packets_that_hold_a_closed_channel_finish_and_no_other_begins() {
    for (flow_control, hold_switch) in [
        (FlowControl::VirtualCutThrough, false),
        (FlowControl::VirtualCutThrough, true),
        (FlowControl::Wormhole, false),
    ] {
        let counts = run(5, flow_control, 0, hold_switch);
        assert!(counts.at_once > 100 && counts.later > 100 && counts.never > 10 && counts.wanted > 100, "{counts:?}");
    }
}

#[test]
fn packets_of_one_flit_hold_a_closed_channel_between_vc_and_switch_allocation_only() {
    let counts = run(1, FlowControl::VirtualCutThrough, 0, false);
    assert!(counts.at_once > 100 && counts.wanted > 100 && (counts.later, counts.never) == (0, 0), "{counts:?}");
    let counts = run(1, FlowControl::VirtualCutThrough, 1, false);
    assert!(counts.at_once > 100 && counts.wanted > 100 && counts.later > 10, "{counts:?}");
}
