//! What an adaptive routing reads as the congestion of an output.

use crate::api::subnetworks::{View, Views};
use crate::base::unchecked::Hot;
use crate::base::wheel::Wheel;
use crate::models::power::LinkState;
use crate::models::routing::{Hop, steps::Cost};
use crate::pipeline::net::{Link, Net, Trunk};
use crate::state::OutPort;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Congestion of an output port in flits.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sensor {
    /// Flits that have crossed the switch and wait for the link.
    OutputQueue,
    /// Credits in use, summed over the VCs: downstream buffer, wire and returning credits. Sees "phantom" congestion on
    /// long links.
    #[default]
    UsedCredits,
    /// Credits in use minus the flits that the link has taken during the last credit round trip (history window; Won et al.,
    /// HPCA 2015): what waits for the link, and what waits behind it longer than that.
    HistoryWindow,
}

/// What a routing may ask of the router its packet is in, and of others in its block ([`partition`]).
///
/// [`partition`]: crate::network::assemble::partition
pub(crate) trait Congestion {
    /// Congestion of output `port` [flits] of this router; of a trunk, the mean of its members.
    fn read(&self, sensor: Sensor, port: u8) -> i32;
    /// Congestion of output `port` [flits] of the router whose ports are `away` places after those of this one.
    fn read_of(&self, sensor: Sensor, away: i32, port: u8) -> i32;
    /// The open member of the trunk of `hop` with the most credits, after its credits; ties by `turn`. 0 credits if a head
    /// may take a VC of the class at none of them.
    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop);
    /// Where to ask when no member is open: at one that is waking, or at one that is off, which is then woken.
    fn fallback(&self, hop: Hop) -> Hop;
    /// State of the channel behind output `port` of this router.
    fn state(&self, port: u8) -> LinkState;
    #[inline(always)]
    fn is_on(&self, port: u8) -> bool {
        self.state(port) == LinkState::On
    }
    /// Credits of the VCs of `hop` that a head may take.
    fn credits(&self, hop: Hop) -> u32;
    /// What this router knows of the links of its subnetworks.
    fn view(&self) -> View<'_>;
    /// What a path that begins with `hop` costs, with `queue` flits where `cost` says.
    #[inline(always)]
    fn weigh(&self, _hop: Hop, cost: Cost, queue: i32) -> i32 {
        queue * cost.hops as i32 + cost.bias
    }
    /// The best open member, else the fallback.
    fn ask(&self, hop: Hop, turn: u32) -> Hop {
        match self.member(hop, turn) {
            (0, _) => self.fallback(hop),
            (_, member) => member,
        }
    }
}

/// The outputs of one block, seen from one router. `TRUNK`: network ports come in trunks.
pub(crate) struct Queues<'a, const V: usize, const TRUNK: bool> {
    pub outs: &'a [OutPort<V>],
    /// First output of the router.
    pub base: usize,
    pub links: &'a [Link],
    /// Flits that wait for the link or were sent on it in the last round trip, per output.
    pub history: Option<&'a [u32]>,
    /// Low 32 bits of the cycle.
    pub now: u32,
    /// Cycles from the grant to the link.
    pipeline: u32,
    /// All packets have one flit.
    pub single: bool,
    pub trunk: Trunk,
    views: (&'a Views, usize),
}

impl<'a, const V: usize, const TRUNK: bool> Queues<'a, V, TRUNK> {
    #[inline(always)]
    pub fn new(
        outs: &'a [OutPort<V>],
        base: u32,
        views: (&'a Views, usize),
        history: Option<&'a History>,
        now: u64,
        net: &'a Net,
    ) -> Self {
        Self {
            outs,
            base: base as usize,
            views,
            links: &net.links,
            history: history.map(History::sent),
            now: now as u32,
            pipeline: net.after_grant as u32,
            single: net.single,
            trunk: net.trunk,
        }
    }
}

impl<const V: usize, const TRUNK: bool> Congestion for Queues<'_, V, TRUNK> {
    #[inline(always)]
    fn read(&self, sensor: Sensor, port: u8) -> i32 {
        if !TRUNK {
            return self.read_output(sensor, self.base + port as usize);
        }
        // the packet will take any of the members: their mean
        let members = self.trunk.members(port);
        let width = members.len() as i32;
        members.map(|port| self.read_output(sensor, self.base + port as usize)).sum::<i32>() / width
    }

    #[inline(always)]
    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop) {
        if !TRUNK {
            return (self.open_credits(hop.port, hop.class), hop);
        }
        let members = self.trunk.members(hop.port);
        let (first, width) = (u32::from(members.start), members.len() as u32);
        let mut best = (0, hop);
        for k in 0..width {
            let port = (first + (k + turn) % width) as u8;
            let credits = self.open_credits(port, hop.class);
            if credits > best.0 {
                best = (credits, Hop { port, ..hop });
            }
        }
        best
    }

    #[inline(always)]
    fn state(&self, port: u8) -> LinkState {
        LinkState::of(self.outs.hot(self.base + port as usize).state)
    }

    #[inline(always)]
    fn is_on(&self, port: u8) -> bool {
        self.outs.hot(self.base + port as usize).state == LinkState::On as u8
    }

    #[inline(always)]
    fn credits(&self, hop: Hop) -> u32 {
        self.open_credits(hop.port, hop.class)
    }

    #[inline(always)]
    fn view(&self) -> View<'_> {
        self.views.0.of(self.views.1)
    }

    #[inline(always)]
    fn read_of(&self, sensor: Sensor, away: i32, port: u8) -> i32 {
        self.read_output(sensor, self.base.wrapping_add_signed(away as isize) + port as usize)
    }

    fn fallback(&self, hop: Hop) -> Hop {
        let with = |state: LinkState| {
            let is = |port: &u8| self.outs[self.base + *port as usize].state == state as u8;
            self.trunk.members(hop.port).find(is)
        };
        Hop { port: with(LinkState::Waking).or_else(|| with(LinkState::Off)).unwrap_or(hop.port), ..hop }
    }
}

impl<const V: usize, const TRUNK: bool> Queues<'_, V, TRUNK> {
    /// Credits of the VCs of `class` that a head may take at `port`.
    #[inline(always)]
    pub(crate) fn open_credits(&self, port: u8, class: u8) -> u32 {
        let out = self.outs.hot(self.base + port as usize);
        let open = if self.single { out.open::<true>() } else { out.open::<false>() };
        let mut vcs = open & self.links.hot(out.class as usize).vcs_of.hot(class as usize);
        let mut credits = 0;
        while vcs != 0 {
            credits += u32::from(*out.credits.hot(vcs.trailing_zeros() as usize));
            vcs &= vcs - 1;
        }
        credits
    }

    #[inline(always)]
    fn read_output(&self, sensor: Sensor, o: usize) -> i32 {
        let out = self.outs.hot(o);
        if sensor == Sensor::OutputQueue {
            return (out.next_free.wrapping_sub(self.now) as i32).max(0);
        }
        let left: u32 = out.credits.iter().map(|&c| u32::from(c)).sum();
        let used = (self.links.hot(out.class as usize).capacity - left) as i32;
        match self.history {
            Some(sent) if sensor == Sensor::HistoryWindow => {
                // what could not leave as soon as it had crossed the router
                let waiting = (out.next_free.wrapping_sub(self.now.wrapping_add(self.pipeline + 1)) as i32).max(0);
                (used - (sent[o] as i32 - waiting).max(0)).max(0)
            }
            _ => used,
        }
    }
}

/// Flits on each output that wait for the link, or were sent on it during the last credit round trip of its link class.
#[derive(Debug)]
pub struct History {
    sent: Vec<u32>,
    windows: Vec<u64>,
    wheel: Wheel<u32, 128>,
}

impl History {
    /// The window of a class is twice its flit latency plus 2 cycles (spec of Cascade's variant: a credit round trip).
    /// `most`: cycles that a flit can wait for a link.
    pub fn new(outputs: usize, latencies: impl Iterator<Item = u64>, most: u64) -> Self {
        let windows: Vec<u64> = latencies.map(|l| 2 * l + 2).collect();
        let longest = windows.iter().copied().max().unwrap_or(2);
        Self { sent: vec![0; outputs], wheel: Wheel::new(longest + most + 1, outputs * longest as usize), windows }
    }

    /// Counts per output.
    pub fn sent(&self) -> &[u32] {
        &self.sent
    }

    #[inline(always)]
    pub fn sent_one(&mut self, now: u64, depart: u64, output: usize, class: u8) {
        self.sent[output] += 1;
        self.wheel.push(now, depart + self.windows[class as usize], output as u32);
    }

    /// Forgets what left the window at `now`.
    pub fn expire(&mut self, now: u64) {
        while let Some((chunk, len)) = self.wheel.due(now) {
            for k in 0..len {
                self.sent[self.wheel.item(chunk, k) as usize] -= 1;
            }
            self.wheel.release(now);
        }
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        self.wheel.is_empty_at(now)
    }
}
