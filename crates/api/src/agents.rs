//! The agents of a power policy: the calls that they receive, and the changes that they can make. Every block has its own agents; an
//! overseer acts on the whole network. Agents and overseers see channels (the outputs of routers and terminals), never the state of the
//! loop itself.

use crate::base::kept::{Kept, Value};
use crate::control::{Arrival, ControlPacket, Frame, Wire};
use crate::links_up::LinksUp;
use crate::state::{Flit, LinkState, Packet};
use crate::subnetworks::{Subnets, Views};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::{Peer, Trunk};

/// The data from which the agents of a block are built. In this data, channels and routers are numbered within their block.
#[derive(Debug)]
pub struct BlockSite {
    /// The channels that lead out of the routers, in the order of their ports. If the policy manages links of terminals, the channels from
    /// terminals into routers follow.
    pub channels: Vec<ChannelSite>,
    pub routers: Vec<RouterSite>,
    /// Whether all packets have one flit.
    pub single: bool,
    /// Whether links or routers fail in this run.
    pub faults: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct ChannelSite {
    /// The router that the channel leaves. For a channel from a terminal: the router that it enters.
    pub router: u32,
    /// Power state in cycle 0.
    pub state: LinkState,
    /// The far end. For a channel between routers: the number of the router in the whole network, and its port.
    pub peer: Peer,
    /// Link class; `Site::class_name` has its name.
    pub class: u8,
    /// The ports of its router that can be used in place of each other, including this port.
    pub trunk: Trunk,
    /// The channel belongs to a link of a class that the policy may switch.
    pub managed: bool,
    /// Capacity [flits] of the buffer at the far end. The buffer of the opposite channel of the same link has the same capacity.
    pub buffer: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct RouterSite {
    /// Number of the router in the whole network, its coordinates, and its first channel.
    pub id: u32,
    pub coords: u64,
    pub base: u32,
}

/// The events of the loop for which agents request calls. Events that are not requested cost nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Probes {
    pub arrivals: bool,
    pub departures: bool,
    /// Heads whose route depended on the queues of their router (`at_head`).
    pub routed: bool,
    /// Flits that begin to wait for a channel. The engine counts these flits for [`Channels::queued`]. The engine does not report these
    /// flits to the agents. If `queued` is false, each call of [`Channels::queued`] counts the flits in the queues.
    pub queued: bool,
}

/// The agents of a block. By default the methods do nothing.
pub trait Agents: Kept + Any + Debug + Send {
    fn probes(&self) -> Probes {
        Probes::default()
    }

    /// Called when the run begins. Agents set their first timers here, for cycles after 0. Agents also take their actions for cycle 0 here.
    fn start(&mut self, _channels: &mut dyn Channels) {}

    /// Called with the timers that end in this cycle, in ascending order.
    fn timers(&mut self, _ended: &[u32], _channels: &mut dyn Channels) {}

    /// Called while no packet is in flight in the network. Returns a period if, while the network stays idle, timer `who` only sets itself
    /// again, one period later, each time it ends. The engine then skips the ends of this timer. An agent that counts the ends of a timer
    /// returns `None`, the default: the engine then skips none.
    fn rests(&self, _who: usize, _channels: &dyn Channels) -> Option<u64> {
        None
    }

    /// Called when packets no longer hold a VC of these closed channels (in ascending order). If no packet held a channel when it was
    /// closed, the engine makes this call in the same cycle, after the timers.
    fn drained(&mut self, _drained: &[u32], _channels: &mut dyn Channels) {}

    /// Called when a head begins to request a closed channel. (The engine does not report heads that waited when the channel was closed.
    /// [`Channels::is_wanted`] covers all heads.) In this call agents read and change only this channel. The agents must not depend on the
    /// order of requests and departures in a cycle.
    fn wanted(&mut self, _channel: usize, _channels: &mut dyn Channels) {}

    /// Called with links that were about to be switched off, and that packets have chosen since the last cycle (in ascending order).
    fn wanted_back(&mut self, _wanted: &[u32], _channels: &mut dyn Channels) {}

    /// Called when a control packet, or a message on a side channel, has arrived.
    fn receive(&mut self, _arrival: Arrival, _channels: &mut dyn Channels) {}

    /// Called when a packet has chosen a hop of a detour.
    fn goes_around(&mut self, _detour: Detour) {}

    /// Called when a packet of one flit that had chosen a detour over this channel takes another path instead.
    fn not_around(&mut self, _channel: usize) {}

    /// Called when the routing has chosen a head's route from the queues of its router.
    fn routed(&mut self, _packet: &Packet) {}

    /// Called when a head with such a route meets a failed link and takes another link. The arguments are the packet with its first route,
    /// and the packet with its new route.
    fn rerouted(&mut self, _before: &Packet, _now: &Packet) {}

    /// Called with the flits that have arrived at inputs.
    fn arrive(&mut self, _batch: &Arrivals) {}

    /// Called with the flits that leave inputs.
    fn depart(&mut self, _batch: &Departures) {}

    /// Called when `flits` flits leave an input because their packet is discarded. `packet`: the packet, if its tail is among these flits.
    /// Agents that count packets in flight subtract the packet here, as they do at a delivery.
    fn discard(&mut self, _now: u64, _input: usize, _flits: u16, _packet: Option<&Packet>) {}

    /// Called when an end of a link fails or returns.
    fn fault(&mut self, _fault: Breakage, _channels: &mut dyn Channels) {}

    /// For tests: counts of packets and flits in flight. The sum of each count over all blocks is 0 when the network is empty.
    fn under_way(&self) -> Vec<i64> {
        Vec::new()
    }

    /// For tests: number of flits on detours that were sent on a port, and number that arrived on it.
    fn went_around(&self, _port: usize) -> (u32, u32) {
        (0, 0)
    }
}

/// Flits that arrive at inputs in this cycle.
#[derive(Debug, Clone, Copy)]
pub struct Arrivals<'a> {
    pub now: u64,
    pub flits: &'a [Flit],
    pub packets: &'a [Packet],
}

/// Flits that leave a router in this step.
#[derive(Debug, Clone, Copy)]
pub struct Departures<'a> {
    pub now: u64,
    pub flits: &'a [Departure],
    pub packets: &'a [Packet],
}

/// A flit that leaves input `input` for VC `vc` of channel `channel`.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    pub input: u32,
    pub channel: u32,
    pub vc: u8,
    /// The packet, if this is a head flit.
    pub head: Option<u32>,
    /// The packet, if this is a tail flit that leaves for its terminal.
    pub delivered: Option<u32>,
}

/// A hop over channel `over` that a packet on a detour has chosen in cycle `now`.
#[derive(Debug, Clone, Copy)]
pub struct Detour {
    pub now: u64,
    pub over: usize,
    /// If this hop begins the detour, the direct link, which the packet does not take; `None` if it is a later hop.
    pub direct: Option<usize>,
    pub packet: u32,
    /// The VC that the head takes on the channel, if the head leaves in this step. The engine has already reported this departure. `None`
    /// if the head still waits: the engine reports its departure later.
    pub leaves_on: Option<u8>,
}

/// A failure or return of a link or a router. `channel` is the end of the link at the router that receives this report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Breakage {
    pub channel: u32,
    pub breaks: bool,
    pub cause: Cause,
}

/// The part that fails or returns: the link, the router at its far end, or the router at this end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Cause {
    Link,
    FarRouter,
    OwnRouter,
}

/// A head without a usable path, in VC `v` of input `i` of router `router`. The head has to reach member `to` of subnetwork `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Parked {
    pub router: u32,
    pub i: u32,
    pub v: u8,
    pub d: u8,
    pub to: u8,
}

/// The channels of a block, as its agents see and change them.
pub trait Channels {
    fn now(&self) -> u64;
    /// A hash of the run's seed and these numbers.
    fn draw(&self, high: u32, low: u32, salt: u64) -> u64;

    // ---- states -----------------------------------------------------------------------------------------------------
    fn state(&self, channel: usize) -> LinkState;
    /// Sets the state that the channel's energy account uses. The state does not decide whether packets may take the channel: only `open`
    /// and `close` do.
    fn enter(&mut self, channel: usize, state: LinkState);
    /// Closes a channel: from now on no head may take a VC of the channel. Packets that hold a VC keep it until they have passed;
    /// [`Agents::drained`] is called when the last of them has left the router. When `drained` is called, flits that were granted the link
    /// may still wait for it (`free_for`).
    fn close(&mut self, channel: usize);
    /// Opens a closed channel: heads may take its VCs from now on, even if it has not drained. If heads may wait for the channel, call
    /// `look_again` afterwards.
    fn open(&mut self, channel: usize);
    /// Makes heads check the channel again: heads that wait for it, and heads that choose among outputs at its router.
    fn look_again(&mut self, channel: usize);

    // ---- activity of a channel
    // ----------------------------------------------------------------------------------------
    /// Flits sent so far: the low 32 bits of the count.
    fn flits(&self, channel: usize) -> u32;
    /// Flits per cycle that the channel can carry.
    fn bandwidth(&self, channel: usize) -> f64;
    /// Whether a head requests the channel.
    fn is_wanted(&self, channel: usize) -> bool;
    /// Whether a packet holds a VC of the channel.
    fn is_held(&self, channel: usize) -> bool;
    /// Number of cycles for which the channel has been free to take another flit. Negative while granted flits wait: minus the number of
    /// cycles until the channel is free.
    fn free_for(&self, channel: usize) -> i32;
    /// Flits that wait at the sender of the channel; at a terminal, at most `most` of them are counted. In a router these are the flits of
    /// packets that have this output: flits in the input queues, and flits that wait after the switch. At a terminal the flits are those of
    /// all packets that were created before this cycle and are not sent. If body flits move as a stream, this count is higher by one, and
    /// `flits` lower by one, than if each flit moved by itself. Streams exist only on channels from terminals that the policy does not
    /// manage: managed channels have no streams. The call counts the flits in the queues, unless [`Probes::queued`] makes the engine count
    /// them as they arrive. Agents may call it in `timers` only: in `wanted` the number would depend on the order of the requests.
    fn queued(&self, channel: usize, most: u32) -> u32;
    /// The most flits by which `queued` can grow from one cycle to the next; at least 1. `None`: all flits of a queue may be added at once,
    /// because heads choose their output late.
    fn queue_growth(&self, channel: usize) -> Option<u32>;
    /// Whether the buffer at the far end is empty and all credits have returned.
    fn credits_are_home(&self, channel: usize) -> bool;
    /// Latency [cycles] of a credit, or of a message on the side channel.
    fn credit_latency(&self, channel: usize) -> u64;

    // ---- timers -----------------------------------------------------------------------------------------------------
    /// Sets timer `who` to end at cycle `at`, which must be later than now. A new setting of a timer replaces an earlier one. Each channel
    /// has one timer, whose number is that of the channel. The timers of the routers follow, with the next numbers.
    fn set_timer(&mut self, who: usize, at: u64);

    // ---- knowledge of routers
    // ------------------------------------------------------------------------------------------
    fn views(&self) -> &Views;
    fn views_mut(&mut self) -> &mut Views;

    // ---- control packets --------------------------------------------------------------------------------------------
    /// Counts a packet of this kind, and reports it to the recordings. If there are recordings, returns the number of the packet.
    fn count_packet(&mut self, kind: usize, packet: &dyn Fn() -> ControlPacket) -> Option<u32>;
    /// Reports to the recordings that a control packet of router `from` (numbered in the whole network) has reached its
    /// destination router.
    fn note_arrival(&mut self, from: u32, frame: &Frame);
    /// Sends a packet over the link, before all data flits that wait for it. Returns `false` if too many packets already wait there.
    fn send(&mut self, channel: usize, frame: Frame) -> bool;
    /// Sends a message on the side channel of the link, not before cycle `at`.
    fn signal(&mut self, channel: usize, at: u64, wire: Wire, frame: Frame);
    /// Delivers the frame to router `router` of the block again, some time later.
    fn try_later(&mut self, router: usize, frame: Frame);
    /// Delivers the frame to a router (numbered in the whole network) without a packet, after twice the latency of
    /// links of this class.
    fn tell(&mut self, router: u32, class: u8, frame: Frame);

    // ---- faults -----------------------------------------------------------------------------------------------------
    /// Whether router `router` of the block has failed now.
    fn is_dead(&self, router: usize) -> bool;
    /// Number of failed routers at the two ends of the channel.
    fn dead_ends(&self, channel: usize) -> u8;
    /// Heads of the block that have no usable path.
    fn parked(&self) -> &[Parked];
    /// Makes the parked heads of router `router` of the block look for a path again, after the states of links have changed.
    fn note_news(&mut self, router: usize);
    /// Records that router `router` of the block knows of a fault.
    fn warn(&mut self, router: usize);
}

/// A part of a policy that acts on the whole network, between two cycles.
pub trait Overseer: Kept + Any + Debug + Send {
    /// The cycle before which the overseer acts next; never in the past.
    fn next(&self) -> u64;
    /// Called before each cycle `now`; the overseer acts if `now` is its next cycle.
    fn act(&mut self, network: &mut dyn Network, now: u64);
    /// Called after `act`, while no packet is in flight in the network. Returns the time between two acts if, while the network stays idle,
    /// each act only schedules the next one. The engine then skips acts, with `skip`. By default the engine skips no act.
    fn rests(&self, _network: &mut dyn Network) -> Option<u64> {
        None
    }
    /// Adds this number of cycles to `next`; it is a multiple of the time that `rests` returned.
    fn skip(&mut self, _cycles: u64) {}
    /// Called before `act` if links or routers have failed or returned in the cycle before `now`.
    fn fault(&mut self, _network: &mut dyn Network, _now: u64) {}
}

/// Data that an overseer publishes for the routing.
#[derive(Debug, Clone, Value)]
pub enum Published {
    /// A number, such as the number of stages that are on, or the packed widths of a tree.
    Number(u64),
    /// The links up of a tree that packets may take after faults.
    LinksUp(Arc<LinksUp>),
}

/// The whole network, as an overseer sees it. Channels are numbered by router, then port, in the order of the graph.
pub trait Network {
    fn blocks(&self) -> usize;
    /// The agents of the power policy in block number `block`; `None` if the block has none.
    fn agents(&mut self, block: usize) -> Option<&mut dyn Agents>;
    /// Returns the two numbers that `read` gets from the agents of the channel's block. The second argument of `read` is the number of the
    /// channel in that block.
    fn counts_of(&self, channel: u32, read: &dyn Fn(&dyn Agents, usize) -> [u32; 2]) -> [u32; 2];
    /// Records at the router of the channel whether a link of its subnetwork `d` is active.
    fn know(&mut self, channel: u32, nets: &Subnets, d: usize, link: (u8, u8), active: bool);
    /// The same as [`Channels::enter`].
    fn enter(&mut self, channel: u32, state: LinkState, now: u64);
    /// The same as [`Channels::close`]. Agents of the block are notified when the channel has drained. The overseer can read this state
    /// when it acts next (`is_held`).
    fn close(&mut self, channel: u32);
    /// The same as [`Channels::open`]; heads that wait for the channel compute their hops again.
    fn open(&mut self, channel: u32);
    /// Whether a head requests the channel.
    fn is_wanted(&self, channel: u32) -> bool;
    /// Whether a packet holds a VC of the channel.
    fn is_held(&self, channel: u32) -> bool;
    fn credits_are_home(&self, channel: u32) -> bool;
    /// The same as [`Channels::flits`].
    fn flits(&self, channel: u32) -> u32;
    /// Flits per cycle that the channel can carry. This capacity is the bandwidth of the channel. If the credits of the buffer at the
    /// channel's far end permit only a lower rate, the capacity is that rate.
    fn throughput(&self, channel: u32) -> f64;
    /// Whether the link of the channel, or a router at one of its ends, has failed.
    fn is_broken(&self, channel: u32) -> bool;
    /// Publishes data for packets that are routed from now on, such as the number of stages that are on.
    fn publish(&mut self, published: &Published);
}
