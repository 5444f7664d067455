//! The agents of a power policy: what they are told, and what they can do. Each block has its own; an overseer acts on the
//! whole network. They see channels (outputs of the block), never the state of the loop itself.

use crate::api::control::{Arrival, ControlPacket, Frame, Wire};
use crate::api::subnetworks::Views;
use crate::state::{Flit, LinkState, Packet};
use std::any::Any;
use std::fmt::Debug;

/// What agents of a block are made from. Channels and routers are numbered in their block.
#[derive(Debug)]
pub struct BlockSite {
    /// Channels that lead out of the routers, in the order of their ports.
    pub channels: Vec<ChannelSite>,
    pub routers: Vec<RouterSite>,
    /// All packets have one flit.
    pub single: bool,
    /// Links or routers fail in this run.
    pub faults: bool,
}

#[derive(Debug, Clone, Copy)]
pub struct ChannelSite {
    pub router: u32,
    /// State in cycle 0.
    pub state: LinkState,
    /// It leads to a router, and the policy manages its class.
    pub managed: bool,
    /// Flits that fit into the buffer behind it, and into that before it, of the link of the same port.
    pub buffer: u32,
}

#[derive(Debug, Clone, Copy)]
pub struct RouterSite {
    /// Number in the whole network, coordinates, and first channel.
    pub id: u32,
    pub coords: u64,
    pub base: u32,
}

/// What agents want to be told in the loop; what they do not ask for costs nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Probes {
    pub arrivals: bool,
    pub departures: bool,
    /// Heads that have been routed where they are.
    pub routed: bool,
}

/// The agents of a block.
pub trait Agents: Any + Debug + Send {
    fn probes(&self) -> Probes {
        Probes::default()
    }

    /// The run begins: the place to set the first timers.
    fn start(&mut self, _channels: &mut dyn Channels) {}

    /// Timers that end in this cycle, in ascending order.
    fn timers(&mut self, _ended: &[u32], _channels: &mut dyn Channels) {}

    /// A head waits for a channel that is not on.
    fn wanted(&mut self, _channel: usize, _channels: &mut dyn Channels) {}

    /// Packets have chosen these shadow links since the last cycle, in ascending order.
    fn wanted_back(&mut self, _wanted: &[u32], _channels: &mut dyn Channels) {}

    /// A control packet or a word on a side channel has come.
    fn receive(&mut self, _arrival: Arrival, _channels: &mut dyn Channels) {}

    /// A head has chosen to go round.
    fn goes_around(&mut self, _detour: &Detour) {}

    /// A packet of one flit that was to go round over a channel does not.
    fn not_around(&mut self, _channel: usize) {}

    /// A head has been routed by the state of the router where it is.
    fn routed(&mut self, _packet: &Packet) {}

    /// Flits that come to inputs.
    fn arrive(&mut self, _batch: &Arrivals) {}

    /// Flits that leave inputs.
    fn depart(&mut self, _batch: &Departures) {}

    /// An end of a link fails or returns.
    fn fault(&mut self, _fault: Breakage, _channels: &mut dyn Channels) {}

    /// Flits that went round over a channel, and those that came so by the link of the same port (for tests).
    fn went_around(&self, _port: usize) -> (u32, u32) {
        (0, 0)
    }
}

/// A packet goes round at router `router`.
#[derive(Debug, Clone, Copy)]
pub struct Detour {
    pub now: u64,
    pub router: usize,
    /// The channel that it takes.
    pub channel: usize,
    pub flits: u16,
    /// Where it begins to go round: what it goes round.
    pub begins: Option<Direct>,
}

/// The direct way of a packet that goes round.
#[derive(Debug, Clone, Copy)]
pub struct Direct {
    /// Subnetwork, and the member to reach there.
    pub subnet: usize,
    pub to: u8,
    /// The channel, and its state.
    pub channel: usize,
    pub state: LinkState,
}

/// Flits that come in this cycle.
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
    /// The packet, of a head flit.
    pub head: Option<u32>,
    /// The packet, of a tail flit that goes to its terminal.
    pub delivered: Option<u32>,
}

/// An end of a link, which is channel `channel`, fails or returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Breakage {
    pub channel: u32,
    pub breaks: bool,
    pub cause: Cause,
}

/// What has failed or returned: the link, the router behind it, or the router that it belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    Link,
    FarRouter,
    OwnRouter,
}

/// A head that has no way: it is in VC `v` of input `i` of router `router`, and wants to reach member `to` of subnetwork `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parked {
    pub router: u32,
    pub i: u32,
    pub v: u8,
    pub d: u8,
    pub to: u8,
}

/// The channels of a block, as its agents see them.
pub trait Channels {
    fn now(&self) -> u64;
    /// A hash of the seed of the run and these numbers.
    fn draw(&self, high: u32, low: u32, salt: u64) -> u64;

    // ---- states -----------------------------------------------------------------------------------------------------
    fn state(&self, channel: usize) -> LinkState;
    /// The channel enters a state. Whether packets may use it is said by `open` and `shut`.
    fn enter(&mut self, channel: usize, state: LinkState);
    /// Packets may use the channel, which was shut, from now on.
    fn open(&mut self, channel: usize);
    /// Packets may not use the channel any more. No packet holds one of its VCs.
    fn shut(&mut self, channel: usize);
    /// Heads that wait for the channel, and those that choose at its router, look again.
    fn look_again(&mut self, channel: usize);

    // ---- what a channel does ----------------------------------------------------------------------------------------
    /// Flits sent so far, the low 32 bits.
    fn flits(&self, channel: usize) -> u32;
    /// A head waits for it.
    fn is_wanted(&self, channel: usize) -> bool;
    /// A packet holds one of its VCs.
    fn is_held(&self, channel: usize) -> bool;
    /// Cycles since it could have taken another flit; below 0 while flits wait for it.
    fn free_for(&self, channel: usize) -> i32;
    /// The buffer behind it is empty, and knows it.
    fn credits_are_home(&self, channel: usize) -> bool;
    /// Cycles that a credit, or a word on the side channel, is on its way.
    fn credit_latency(&self, channel: usize) -> u64;

    // ---- timers -----------------------------------------------------------------------------------------------------
    /// Timer `who` ends at cycle `at`, which must be later than now: an earlier setting is void. There is one for each
    /// channel of the routers, with its number, and behind these one for each router.
    fn set_timer(&mut self, who: usize, at: u64);

    // ---- what routers know ------------------------------------------------------------------------------------------
    fn views(&self) -> &Views;
    fn views_mut(&mut self) -> &mut Views;

    // ---- control packets --------------------------------------------------------------------------------------------
    /// Counts a packet of this kind, and records it. Returns its place in the record.
    fn count_packet(&mut self, kind: usize, packet: &dyn Fn() -> ControlPacket) -> Option<u32>;
    /// A packet of router `from` (of the whole network) has come to the router that it was sent to.
    fn note_arrival(&mut self, from: u32, frame: &Frame);
    /// Sends a packet over the link, ahead of all data flits that wait for it; `false`: too many packets wait there already.
    fn send(&mut self, channel: usize, frame: Frame) -> bool;
    /// Says something on the side channel of the link, at the earliest at cycle `at`.
    fn signal(&mut self, channel: usize, at: u64, wire: Wire, frame: Frame);
    /// Router `router` of the block gets the frame again after some time.
    fn try_later(&mut self, router: usize, frame: Frame);
    /// A router of the whole network hears of something without a packet: two latencies of links of this class later.
    fn tell(&mut self, router: u32, class: u8, frame: Frame);

    // ---- faults -----------------------------------------------------------------------------------------------------
    /// Whether router `router` of the block has failed.
    fn is_dead(&self, router: usize) -> bool;
    /// How many of the two routers at the ends of the channel have failed.
    fn dead_ends(&self, channel: usize) -> u8;
    /// Heads of the block that have no way.
    fn parked(&self) -> &[Parked];
    /// Router `router` of the block knows something new about links: its heads without a way look again.
    fn note_news(&mut self, router: usize);
    /// Router `router` of the block has heard of a fault.
    fn warn(&mut self, router: usize);
}

/// What acts on the whole network between two cycles.
pub trait Overseer: Any + Debug + Send {
    /// The cycle before which it acts next.
    fn next(&self) -> u64;
    /// Acts before cycle `now`, if it is time to.
    fn act(&mut self, network: &mut dyn Network, now: u64);
}

/// The whole network, as an overseer sees it. Channels are numbered by router, then port, in the order of the graph.
pub trait Network {
    fn blocks(&self) -> usize;
    /// The agents of a block.
    fn agents(&mut self, block: usize) -> Option<&mut dyn Agents>;
    /// The channel enters a state. Whether packets may use it is said by `open` and `shut`.
    fn enter(&mut self, channel: u32, state: LinkState, now: u64);
    fn open(&mut self, channel: u32);
    fn shut(&mut self, channel: u32);
    /// A head waits for it, or a packet holds one of its VCs.
    fn is_busy(&self, channel: u32) -> bool;
    fn credits_are_home(&self, channel: u32) -> bool;
    /// Tells the routing how many stages packets find on from now on.
    fn publish_stages(&mut self, stages: u8);
}
