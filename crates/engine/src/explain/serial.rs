//! The time that a lone packet takes over a path, from its creation to the delivery of its tail.
//!
//! If all links carry one flit per cycle and buffers cover the credit round trip, a packet of P flits takes P - 1 cycles more than its
//! head. For other links, and for a worm longer than the buffers, the flits are followed one by one under the rules of the loop: the rates
//! of links, credits, and one grant per step.

use crate::network::spec::Spec;
use std::collections::HashMap;
use weft_api::spec::{FlowControl, InputSpeedup};
use weft_api::state::link_class::Link;
use weft_api::state::rate::{Pace, Rate};
use weft_kernel::net::Net;

/// The sequences of link classes that packets cross. Each sequence has a number, and a number of cycles that it adds to the latency of a
/// packet. If no sequence adds any, there is only sequence 0.
#[derive(Debug)]
pub struct Sequences<'a> {
    spec: &'a Spec,
    net: &'a Net,
    /// Whether flits have to be followed one by one.
    followed: bool,
    /// Lengths of packets \[flits\].
    lengths: Vec<u32>,
    /// For each sequence, the classes of its links between routers.
    links: Vec<Vec<u8>>,
    /// For each sequence and a link class that follows it: the longer sequence.
    longer: HashMap<(u32, u8), u32>,
    /// For each sequence and length, the cycles that it adds.
    adds: HashMap<(u32, u16), u64>,
}

/// Number of the sequence without links between routers.
pub const NO_LINKS: u32 = 0;

impl<'a> Sequences<'a> {
    pub fn new(spec: &'a Spec, net: &'a Net, lengths: Vec<u32>) -> Self {
        let longest = lengths.iter().copied().max().unwrap_or(1);
        let followed = net.rates.is_some() || waits_for_credits(net, longest);
        Self { spec, net, followed, lengths, links: vec![Vec::new()], longer: HashMap::new(), adds: HashMap::new() }
    }

    /// The sequence that results if a link of this class follows sequence `before`.
    pub fn after(&mut self, before: u32, class: u8) -> u32 {
        if !self.followed {
            return NO_LINKS;
        }
        let links = &mut self.links;
        *self.longer.entry((before, class)).or_insert_with(|| {
            let mut sequence = links[before as usize].clone();
            sequence.push(class);
            links.push(sequence);
            links.len() as u32 - 1
        })
    }

    /// Cycles that the sequence, between two terminal links, adds to the time that a packet of length number `length` takes over links of
    /// rate 1 with large buffers.
    pub fn adds(&mut self, sequence: u32, length: u16) -> f64 {
        if !self.followed {
            return 0.0;
        }
        let (links, flits) = (&self.links[sequence as usize], self.lengths[usize::from(length)]);
        let extra = || cycles(self.spec, self.net, links, flits) - without_waiting(self.spec, links, flits);
        *self.adds.entry((sequence, length)).or_insert_with(extra) as f64
    }
}

/// Whether a lone worm of `flits` flits may wait for credits of a link. Paced links are not considered here: [`cycles`] handles them.
pub fn waits_for_credits(net: &Net, flits: u32) -> bool {
    let starves = |(link, &returns): (&Link, &u64)| {
        let round_trip = net.router.after_grant + 1 + link.latency + returns;
        u64::from(link.buffer) < u64::from(flits).min(round_trip)
    };
    let wormhole = net.router.flow_control == FlowControl::Wormhole;
    wormhole && net.links.iter().zip(&net.credit_returns).any(starves)
}

/// Cycles from creation to delivery, if the links between routers have rate 1 and the buffers are large.
fn without_waiting(spec: &Spec, links: &[u8], flits: u32) -> u64 {
    let wire: u64 = links.iter().chain(&[0, 0]).map(|&class| spec.links[usize::from(class)].latency).sum();
    let routers = links.len() as u64 + 1;
    wire + routers * spec.router.delay + spec.router.ejection_delay + u64::from(flits) - 1
}

/// Cycles from the creation of a packet of `flits` flits to its delivery, over links of these classes between two terminal links, without
/// other packets.
pub fn cycles(spec: &Spec, net: &Net, links: &[u8], flits: u32) -> u64 {
    if net.rates.is_none() && !waits_for_credits(net, flits) {
        return without_waiting(spec, links, flits);
    }
    let classes = std::iter::once(&0).chain(links).chain(&[0]);
    let mut channels: Vec<Channel> = classes.map(|&class| Channel::new(net, class, flits)).collect();
    let (mut now, mut arrival) = (0, 0);
    for flit in 0..flits as usize {
        // a terminal sends at most one flit per cycle
        (now, arrival) = channels[0].inject(net, flit, now);
        for k in 1..channels.len() {
            let (before, rest) = channels.split_at_mut(k);
            let (before, channel) = (&mut before[k - 1], &mut rest[0]);
            let (grant, next) = channel.cross(net, before.class, flit, arrival);
            before.free_place(net, flit, grant);
            arrival = next;
        }
        // the buffer of a terminal is free again at once
        channels[links.len() + 1].free_place(net, flit, arrival);
        now += 1;
    }
    arrival + net.router.ejection_delay
}

/// A channel on the path of a lone packet.
struct Channel {
    class: u8,
    pace: Pace,
    paced: bool,
    /// The cycle in which the link can take the next flit (`OutputUnit::next_free`).
    next_free: u64,
    /// For each place in the buffer at the far end, the cycle from which it can be used again.
    places: Vec<u64>,
    /// Number of allocation steps since cycle 0 until the first one in which the switch may give a flit to the channel.
    next_step: u64,
    /// The cycle in which the next flit of the VC begins to leave, if the router limits the rate of its inputs (`input_speedup`).
    opens: u64,
}

impl Channel {
    fn new(net: &Net, class: u8, flits: u32) -> Self {
        let link = &net.links[usize::from(class)];
        let pace = net.rates.as_ref().map_or(Pace::new(Rate::ONE, u32::MAX), |rates| rates.pace(class));
        let places = vec![0; u32::from(link.buffer).min(flits) as usize];
        Self { class, pace, paced: link.paced, next_free: 0, places, next_step: 0, opens: 0 }
    }

    /// The cycle in which the terminal sends this flit, and the cycle in which the flit arrives. The terminal has sent the packet's earlier
    /// flits before cycle `now`.
    fn inject(&mut self, net: &Net, flit: usize, now: u64) -> (u64, u64) {
        let mut now = now.max(self.place(flit));
        let mut depart = now;
        if self.paced {
            now += self.pace.full_for(self.next_free, now);
            let rates = net.rates.as_ref().expect("links that are paced have rates");
            (depart, self.next_free) = self.pace.take(self.next_free, rates.ready_at_source(&self.pace, now));
        }
        (now, depart + self.latency(net))
    }

    /// For a flit that has arrived over a link of class `before` in cycle `arrival` and crosses the switch to this channel: the cycle of
    /// its grant, and the cycle of its arrival at the far end.
    fn cross(&mut self, net: &Net, before: u8, flit: usize, arrival: u64) -> (u64, u64) {
        let speedup = u64::from(net.router.speedup);
        // if VC allocation is a separate stage, a head gets its VC in the step before
        let own_stage = u64::from(flit == 0 && net.router.vc_realloc);
        let step = (arrival.max(self.place(flit)) * speedup + own_stage).max(self.next_step);
        let grant = step / speedup;
        self.next_step = step + 1;
        let earliest = grant + net.router.after_grant;
        let depart = match self.paced {
            true => self.depart_paced(net, before, (grant, earliest), speedup),
            false => {
                let depart = earliest.max(self.next_free);
                self.next_free = depart + 1;
                depart
            }
        };
        (grant, depart + self.latency(net))
    }

    /// The same as `Fabric::depart_paced`.
    fn depart_paced(&mut self, net: &Net, before: u8, (grant, earliest): (u64, u64), speedup: u64) -> u64 {
        let rates = net.rates.as_ref().expect("links that are paced have rates");
        let mut ready = rates.ready((before, Rate::ONE), (self.class, &self.pace), earliest);
        let limited = net.router.input_speedup != InputSpeedup::Unlimited;
        if limited {
            if net.router.routing_delay > 0 {
                self.opens = grant + 1 + net.router.routing_delay;
            }
            ready = ready.max((self.opens + net.router.after_grant + self.pace.rate().cycles_per_flit() - 1, 0));
        }
        let (depart, next_free) = self.pace.take(self.next_free, ready);
        self.next_free = next_free;
        self.next_step = self.next_step.max((grant + self.pace.full_for(next_free, earliest)) * speedup);
        if limited {
            self.opens = self.opens.max(depart + 1 - net.router.after_grant);
        }
        depart
    }

    /// The cycle in which the buffer at the far end has a place for this flit.
    fn place(&self, flit: usize) -> u64 {
        self.places[flit % self.places.len()]
    }

    /// Records that this flit has left its place in cycle `at`.
    fn free_place(&mut self, net: &Net, flit: usize, at: u64) {
        let place = flit % self.places.len();
        self.places[place] = at + net.credit_returns[usize::from(self.class)];
    }

    fn latency(&self, net: &Net) -> u64 {
        net.links[usize::from(self.class)].latency
    }
}
