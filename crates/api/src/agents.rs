//! Interface of the agents of a power policy: the calls that agents receive from the cycle loop, and the changes that they can make to
//! channels. Every block has its own agents; in addition, a policy may have an overseer, which acts on the whole network. Agents and
//! overseers see channels (the outputs of routers and terminals), never the state of the cycle loop itself.

use crate::base::kept::{Kept, Value};
use crate::control::{Arrival, ControlPacket, Frame, Wire};
use crate::links_up::LinksUp;
use crate::state::{Flit, LinkState, Packet};
use crate::subnetworks::{Subnets, Views};
use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::{Peer, Trunk};

/// The data of a block from which a policy builds the block's agents. Channels and routers are numbered within the block.
#[derive(Debug)]
pub struct BlockSite {
    /// The output channels of the routers, in the order of their ports. If the policy manages links of terminals, the channels from
    /// terminals into routers follow in the list.
    pub channels: Vec<ChannelSite>,
    pub routers: Vec<RouterSite>,
    /// Whether all packets have one flit.
    pub single: bool,
    /// Whether links or routers fail in this run.
    pub faults: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct ChannelSite {
    /// The router at the start of the channel. For a channel from a terminal: the router at its end.
    pub router: u32,
    /// Power state in cycle 0.
    pub state: LinkState,
    /// The far end. For a channel between routers, this is the number of the router in the whole network, and its port.
    pub peer: Peer,
    /// Number of the link class; `Site::class_name` returns its name.
    pub class: u8,
    /// The ports of the same router that packets can use instead of this port, including this port.
    pub trunk: Trunk,
    /// Whether the policy may switch the channel: its link class is managed.
    pub managed: bool,
    /// Capacity [flits] of the buffer at the far end. The buffer of the opposite channel of the link has the same capacity.
    pub buffer: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct RouterSite {
    /// Number of the router in the whole network.
    pub id: u32,
    /// Coordinates of the router.
    pub coords: u64,
    /// Index of the router's first channel among the channels of the block.
    pub base: u32,
}

/// The kinds of events in the cycle loop for which agents request calls. Events that no agent requests cost no time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Probes {
    pub arrivals: bool,
    pub departures: bool,
    /// Heads whose route the routing chose from the queues of their router (`at_head`).
    pub routed: bool,
    /// Flits that start to wait for a channel. The engine only counts these flits for [`Channels::queued`], and makes no call for them. If
    /// this field is false, each call of [`Channels::queued`] counts the flits in the queues.
    pub queued: bool,
}

/// The agents of a power policy in one block, as the cycle loop calls them. Methods with a default do nothing by default.
pub trait Agents: Kept + Any + Debug + Send {
    fn probes(&self) -> Probes {
        Probes::default()
    }

    /// Called in cycle 0, when the run begins. In this call agents take their actions for cycle 0, and set their first timers, for cycles
    /// after 0.
    fn start(&mut self, _channels: &mut dyn Channels) {}

    /// Called with the timers that end in this cycle, in ascending order.
    fn timers(&mut self, _ended: &[u32], _channels: &mut dyn Channels) {}

    /// Called while no packet is in flight in the network. Returns the period [cycles] of timer `who` if, in an idle network, the end of
    /// this timer has only one effect: the agent sets the timer again, one period later. The engine then skips the calls for this timer
    /// while the network is idle. An agent that counts the ends of a timer must return `None` (the default): the engine then skips no call.
    fn rests(&self, _who: usize, _channels: &dyn Channels) -> Option<u64> {
        None
    }

    /// Called with the closed channels whose last held VC has become free (in ascending order). If a channel had no held VC when it was
    /// closed, the engine makes this call in the same cycle, after `timers`.
    fn drained(&mut self, _drained: &[u32], _channels: &mut dyn Channels) {}

    /// Called when a head begins to request a closed channel. (If a head already waited when the channel was closed, the engine makes no
    /// call. [`Channels::is_wanted`] covers all heads.) In this call agents read and change only this channel. The result must not depend
    /// on the order of requests and departures in a cycle.
    fn wanted(&mut self, _channel: usize, _channels: &mut dyn Channels) {}

    /// Called with the channels that were about to be switched off, but that packets have chosen since the last cycle (in ascending order).
    fn wanted_back(&mut self, _wanted: &[u32], _channels: &mut dyn Channels) {}

    /// Called when a control packet, or a message on a side channel, has arrived.
    fn receive(&mut self, _arrival: Arrival, _channels: &mut dyn Channels) {}

    /// Called when a head on a detour has chosen a hop ([`Detour`]).
    fn goes_around(&mut self, _detour: Detour) {}

    /// Called when a packet of one flit had chosen a detour over this channel, but leaves on another path.
    fn not_around(&mut self, _channel: usize) {}

    /// Called when the routing has chosen a hop for a head from the queues of the head's router.
    fn routed(&mut self, _packet: &Packet) {}

    /// Called when a head meets a failed link and takes another link, after its first route was reported to `routed`. The arguments are the
    /// packet with its old route, and the packet with its new route.
    fn rerouted(&mut self, _before: &Packet, _now: &Packet) {}

    /// Called with flits that have arrived at inputs of the block in this cycle. The cycle loop may make several calls per cycle.
    fn arrive(&mut self, _batch: &Arrivals) {}

    /// Called once per router and allocation step in which flits leave inputs of the router, with all these flits.
    fn depart(&mut self, _batch: &Departures) {}

    /// Called when `flits` flits leave an input because their packet is discarded. `packet`: the discarded packet if its tail is among
    /// these flits, else `None`. Agents that count packets in flight subtract a discarded packet here, as they subtract a delivered one in
    /// `depart`.
    fn discard(&mut self, _now: u64, _input: usize, _flits: u16, _packet: Option<&Packet>) {}

    /// Called for a channel of the block when its link, or a router at one of its ends, fails or returns.
    fn fault(&mut self, _fault: Breakage, _channels: &mut dyn Channels) {}

    /// For tests: the agents' counts of packets and flits in flight in their block. The sum of these counts over all blocks must be 0 when
    /// the network is empty.
    fn under_way(&self) -> Vec<i64> {
        Vec::new()
    }

    /// For tests: number of flits on detours that left through a port, and number that arrived through it.
    fn went_around(&self, _port: usize) -> (u32, u32) {
        (0, 0)
    }
}

/// Flits that arrive at inputs of a block in the same cycle.
#[derive(Debug, Clone, Copy)]
pub struct Arrivals<'a> {
    pub now: u64,
    pub flits: &'a [Flit],
    pub packets: &'a [Packet],
}

/// All flits that leave a router in one allocation step.
#[derive(Debug, Clone, Copy)]
pub struct Departures<'a> {
    pub now: u64,
    pub flits: &'a [Departure],
    pub packets: &'a [Packet],
}

/// A flit that leaves input number `input` on VC `vc` of channel number `channel`.
#[derive(Debug, Clone, Copy)]
pub struct Departure {
    pub input: u32,
    pub channel: u32,
    pub vc: u8,
    /// The packet of the flit, if the flit is a head.
    pub head: Option<u32>,
    /// The packet of the flit, if the flit is a tail that leaves for its terminal.
    pub delivered: Option<u32>,
}

/// A report about packet `packet`, which is on a detour: the packet has chosen a hop over channel `over` in cycle `now`.
#[derive(Debug, Clone, Copy)]
pub struct Detour {
    pub now: u64,
    pub over: usize,
    /// For the first hop of a detour: the channel of the direct link, which the packet does not take; `None` for later
    /// hops.
    pub direct: Option<usize>,
    pub packet: u32,
    /// The VC that the head takes on channel `over`, if the head leaves in this step. The engine has already reported this departure to
    /// `depart`. `None` if the head still waits: the engine then reports its departure later.
    pub leaves_on: Option<u8>,
}

/// A failure or return of a link or a router. `channel`: the output channel, at the router that gets the report, of the affected link.
/// `breaks`: true for a failure, false for a return.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Breakage {
    pub channel: u32,
    pub breaks: bool,
    pub cause: Cause,
}

/// The failed or returned object: the link itself, the router at the far end, or the router that gets the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum Cause {
    Link,
    FarRouter,
    OwnRouter,
}

/// A head that waits in VC `v` of input `i` of router `router`, because no path is usable. The head must go to member `to` of subnetwork
/// `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Parked {
    pub router: u32,
    pub i: u32,
    pub v: u8,
    pub d: u8,
    pub to: u8,
}

/// The channels of a block: the functions with which agents read and change them.
pub trait Channels {
    fn now(&self) -> u64;
    /// A random number: a hash of the run's seed and these arguments.
    fn draw(&self, high: u32, low: u32, salt: u64) -> u64;

    // ---- states -----------------------------------------------------------------------------------------------------
    fn state(&self, channel: usize) -> LinkState;
    /// Sets the power state of the channel, by which the channel's energy is counted. The state does not decide whether packets may take
    /// the channel: `open` and `close` decide this.
    fn enter(&mut self, channel: usize, state: LinkState);
    /// Closes a channel: from now on no head may take a VC of the channel. Packets that already hold a VC continue; the engine calls
    /// [`Agents::drained`] when the last of their flits has left the router. At the call of `drained`, granted flits can still wait for the
    /// link (`free_for`).
    fn close(&mut self, channel: usize);
    /// Opens a closed channel: heads may take its VCs from now on, even if packets still hold some of them. If heads may already wait for
    /// the channel, call `look_again` afterwards.
    fn open(&mut self, channel: usize);
    /// Makes heads check the channel again: the heads that wait for it, and the heads at its router that choose among several outputs.
    fn look_again(&mut self, channel: usize);

    // ---- activity of a channel
    // ----------------------------------------------------------------------------------------
    /// Number of flits that the channel has sent so far, low 32 bits.
    fn flits(&self, channel: usize) -> u32;
    /// Flits per cycle that the channel can carry.
    fn bandwidth(&self, channel: usize) -> f64;
    /// Whether a head requests the channel.
    fn is_wanted(&self, channel: usize) -> bool;
    /// Whether a packet holds a VC of the channel.
    fn is_held(&self, channel: usize) -> bool;
    /// Number of cycles since the channel became free to take another flit. While granted flits wait for the channel, the value is
    /// negative: minus the number of cycles until the channel is free.
    fn free_for(&self, channel: usize) -> i32;
    /// Number of flits that wait at the sender of the channel; at a terminal, the count stops at `most`. In a router, these are the flits
    /// of packets whose next hop is this channel. The flits wait in input queues or after the switch. At a terminal, these are the unsent
    /// flits of all packets that were created before this cycle. While body flits move as a stream (a shortcut of the loop), `queued` is
    /// higher by one, and `flits` lower by one, than without the shortcut. Streams exist only on channels from terminals that the policy
    /// does not manage. Each call of `queued` counts the flits in the queues, unless [`Probes::queued`] makes the engine count flits when
    /// they arrive. Agents may call `queued` only in `timers`, because in `wanted` the number would depend on the order of requests.
    fn queued(&self, channel: usize, most: u32) -> u32;
    /// Maximum number of flits by which `queued` can grow from one cycle to the next; at least 1. `None`: heads choose their output late,
    /// so `queued` can grow by all flits of an input queue at once.
    fn queue_growth(&self, channel: usize) -> Option<u32>;
    /// Whether the buffer at the far end of the channel is empty and all credits of the channel have returned.
    fn credits_are_home(&self, channel: usize) -> bool;
    /// Latency [cycles] of a credit of the channel, or of a message on the link's side channel.
    fn credit_latency(&self, channel: usize) -> u64;

    // ---- timers -----------------------------------------------------------------------------------------------------
    /// Sets timer `who` to end at cycle `at`. `at` must be later than now. If the timer is already set, the new cycle replaces the old
    /// one. Each channel has one timer with the number of the channel. The timers of the routers have the next numbers.
    fn set_timer(&mut self, who: usize, at: u64);

    // ---- knowledge of routers
    // ------------------------------------------------------------------------------------------
    fn views(&self) -> &Views;
    fn views_mut(&mut self) -> &mut Views;

    // ---- control packets --------------------------------------------------------------------------------------------
    /// Counts a packet of this kind, and reports it to the recordings. Returns the number of the packet if the run has recordings.
    fn count_packet(&mut self, kind: usize, packet: &dyn Fn() -> ControlPacket) -> Option<u32>;
    /// Reports to the recordings that a control packet of router `from` (numbered in the whole network) has reached its
    /// destination router.
    fn note_arrival(&mut self, from: u32, frame: &Frame);
    /// Sends a control packet over the link, ahead of all data flits that wait for it. Returns `false` if the maximum number of control
    /// packets already waits there.
    fn send(&mut self, channel: usize, frame: Frame) -> bool;
    /// Sends a message on the side channel of the link in cycle `at` or later.
    fn signal(&mut self, channel: usize, at: u64, wire: Wire, frame: Frame);
    /// Delivers the frame to router `router` of this block again after some cycles, so that the agent can retry an action.
    fn try_later(&mut self, router: usize, frame: Frame);
    /// Delivers the frame to a router (numbered in the whole network) without a control packet. The delivery takes twice the latency of
    /// links of class `class`; for very short links, the latency plus the time from a grant to the link.
    fn tell(&mut self, router: u32, class: u8, frame: Frame);

    // ---- faults -----------------------------------------------------------------------------------------------------
    /// Whether router `router` of the block has failed now.
    fn is_dead(&self, router: usize) -> bool;
    /// Number of routers (0 to 2) at the ends of the channel that have failed.
    fn dead_ends(&self, channel: usize) -> u8;
    /// Heads of the block that wait because no path is usable.
    fn parked(&self) -> &[Parked];
    /// Makes the parked heads of router `router` look for a path again. Agents call this method when the states of links have changed.
    fn note_news(&mut self, router: usize);
    /// Records that router `router` of the block has been informed of a fault.
    fn warn(&mut self, router: usize);
}

/// The part of a power policy that acts on the whole network, between two cycles.
pub trait Overseer: Kept + Any + Debug + Send {
    /// The cycle before which the overseer acts next; never in the past.
    fn next(&self) -> u64;
    /// Called before each cycle `now`; the overseer acts only if `now` equals `next`.
    fn act(&mut self, network: &mut dyn Network, now: u64);
    /// Called after `act`, while no packet is in flight in the network. If each `act` in an idle network only schedules the next `act`, the
    /// method returns the number of cycles between two of them. The engine then calls `skip` instead of `act`. By default this is `None`,
    /// and the engine skips no `act`.
    fn rests(&self, _network: &mut dyn Network) -> Option<u64> {
        None
    }
    /// Postpones `next` by this number of cycles, which is a multiple of the time that `rests` returned.
    fn skip(&mut self, _cycles: u64) {}
    /// Called before `act` if links or routers have failed or returned in the cycle before `now`.
    fn fault(&mut self, _network: &mut dyn Network, _now: u64) {}
}

/// Data that an overseer publishes to the routing (`publish`).
#[derive(Debug, Clone, Value)]
pub enum Published {
    /// A number, such as the number of stages that are on, or the packed widths of a tree.
    Number(u64),
    /// The upward links of a tree that packets may take after faults.
    LinksUp(Arc<LinksUp>),
}

/// The whole network: the functions with which an overseer reads and changes it. Channels are numbered in the order of
/// the graph: by router, then by port.
pub trait Network {
    fn blocks(&self) -> usize;
    /// The agents of the power policy in block number `block`; `None` if the block has none.
    fn agents(&mut self, block: usize) -> Option<&mut dyn Agents>;
    /// Calls `read` with the agents of the channel's block, and returns the two numbers that `read` returns. The second argument of `read`
    /// is the channel's number in that block.
    fn counts_of(&self, channel: u32, read: &dyn Fn(&dyn Agents, usize) -> [u32; 2]) -> [u32; 2];
    /// Writes into the table of the channel's router whether link `link` of its subnetwork `d` is active.
    fn know(&mut self, channel: u32, nets: &Subnets, d: usize, link: (u8, u8), active: bool);
    /// Sets the state of the channel, like [`Channels::enter`].
    fn enter(&mut self, channel: u32, state: LinkState, now: u64);
    /// Closes the channel, like [`Channels::close`]. The engine notifies the agents of the channel's block when the channel has drained. An
    /// overseer can check this with `is_held` when it acts next.
    fn close(&mut self, channel: u32);
    /// Opens the channel, like [`Channels::open`]; heads that wait for the channel then compute their hops again.
    fn open(&mut self, channel: u32);
    /// Whether a head requests the channel.
    fn is_wanted(&self, channel: u32) -> bool;
    /// Whether a packet holds a VC of the channel.
    fn is_held(&self, channel: u32) -> bool;
    fn credits_are_home(&self, channel: u32) -> bool;
    /// Number of flits that the channel has sent so far, like [`Channels::flits`].
    fn flits(&self, channel: u32) -> u32;
    /// Flits per cycle that the channel can carry. This is usually the bandwidth of the channel. If the buffer at the far end has too few
    /// slots for the bandwidth, it is the lower rate that the credits permit.
    fn throughput(&self, channel: u32) -> f64;
    /// Whether the link of the channel, or a router at one of its ends, has failed.
    fn is_broken(&self, channel: u32) -> bool;
    /// Publishes data to the routing, such as the number of stages that are on. Packets that are routed from now on use
    /// these data.
    fn publish(&mut self, published: &Published);
}
