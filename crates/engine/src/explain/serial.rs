//! Computes the time that a packet takes over a path if it meets no other packet, from its creation to the delivery of
//! its tail.
//!
//! If all links carry one flit per cycle and buffers cover the credit round trip, the tail of a packet of P flits arrives P - 1 cycles
//! after the head. For other links, and for a wormhole packet longer than a buffer, the code follows each flit under the rules of the cycle
//! loop: link rates, credits, and one grant per allocation step.

use crate::network::spec::Spec;
use std::collections::HashMap;
use weft_api::spec::{FlowControl, InputSpeedup};
use weft_api::state::link_class::Link;
use weft_api::state::rate::{Pace, Rate};
use weft_kernel::net::Net;

/// The sequences of link classes that packets cross, with the cycles that each sequence adds to the latency. Equal sequences share a
/// number. If no sequence can add cycles, all packets have sequence 0.
#[derive(Debug)]
pub struct Sequences<'a> {
    spec: &'a Spec,
    net: &'a Net,
    /// Whether sequences can add cycles. If so, the code must follow each flit.
    followed: bool,
    /// The different packet lengths \[flits\].
    lengths: Vec<u32>,
    /// For each sequence, the classes of its links between routers, in order.
    links: Vec<Vec<u8>>,
    /// For a sequence and the class of the next link, the number of the sequence with that link appended.
    longer: HashMap<(u32, u8), u32>,
    /// For a sequence and a packet length, the cycles that the sequence adds.
    adds: HashMap<(u32, u16), u64>,
}

/// Number of the empty sequence, without links between routers.
pub const NO_LINKS: u32 = 0;

impl<'a> Sequences<'a> {
    pub fn new(spec: &'a Spec, net: &'a Net, lengths: Vec<u32>) -> Self {
        let longest = lengths.iter().copied().max().unwrap_or(1);
        let followed = net.rates.is_some() || waits_for_credits(net, longest);
        Self { spec, net, followed, lengths, links: vec![Vec::new()], longer: HashMap::new(), adds: HashMap::new() }
    }

    /// The sequence that consists of sequence `before` and then a link of class `class`.
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

    /// Number of cycles that the sequence, between two terminal links, adds for a packet with length index `length`, compared with links of
    /// rate 1 and large buffers.
    pub fn adds(&mut self, sequence: u32, length: u16) -> f64 {
        if !self.followed {
            return 0.0;
        }
        let (links, flits) = (&self.links[sequence as usize], self.lengths[usize::from(length)]);
        let extra = || cycles(self.spec, self.net, links, flits) - without_waiting(self.spec, links, flits);
        *self.adds.entry((sequence, length)).or_insert_with(extra) as f64
    }
}

/// Whether a wormhole packet of `flits` flits that meets no other packet may have to wait for credits of a link. The function ignores waits
/// for slow links; [`cycles`] includes those.
pub fn waits_for_credits(net: &Net, flits: u32) -> bool {
    let starves = |(link, &returns): (&Link, &u64)| {
        let round_trip = net.router.after_grant + 1 + link.latency + returns;
        u64::from(link.buffer) < u64::from(flits).min(round_trip)
    };
    let wormhole = net.router.flow_control == FlowControl::Wormhole;
    wormhole && net.links.iter().zip(&net.credit_returns).any(starves)
}

/// Number of cycles from creation to delivery of a packet, if all links have rate 1 and the buffers are large.
fn without_waiting(spec: &Spec, links: &[u8], flits: u32) -> u64 {
    let wire: u64 = links.iter().chain(&[0, 0]).map(|&class| spec.links[usize::from(class)].latency).sum();
    let routers = links.len() as u64 + 1;
    wire + routers * spec.router.delay + spec.router.ejection_delay + u64::from(flits) - 1
}

/// Number of cycles from the creation of a packet of `flits` flits to its delivery without contention. `links`: the classes of the links
/// between routers.
pub fn cycles(spec: &Spec, net: &Net, links: &[u8], flits: u32) -> u64 {
    if net.rates.is_none() && !waits_for_credits(net, flits) {
        return without_waiting(spec, links, flits);
    }
    let classes = std::iter::once(&0).chain(links).chain(&[0]);
    let mut channels: Vec<Channel> = classes.map(|&class| Channel::new(net, class, flits)).collect();
    let (mut now, mut arrival) = (0, 0);
    for flit in 0..flits as usize {
        // a terminal sends no more than one flit per cycle
        (now, arrival) = channels[0].inject(net, flit, now);
        for k in 1..channels.len() {
            let (before, rest) = channels.split_at_mut(k);
            let (before, channel) = (&mut before[k - 1], &mut rest[0]);
            let (grant, next) = channel.cross(net, before.class, flit, arrival);
            before.free_place(net, flit, grant);
            arrival = next;
        }
        // the buffer of a terminal frees the slot of a flit at once
        channels[links.len() + 1].free_place(net, flit, arrival);
        now += 1;
    }
    arrival + net.router.ejection_delay
}

/// A channel on the path of the packet. The packet meets no other packets.
struct Channel {
    class: u8,
    pace: Pace,
    paced: bool,
    /// The first cycle in which the link can take the next flit (`OutputUnit::next_free`).
    next_free: u64,
    /// For each slot in the buffer at the far end, the cycle from which a flit can use it again.
    places: Vec<u64>,
    /// The first allocation step, counted from cycle 0, in which the switch may pass a flit to the channel.
    next_step: u64,
    /// The cycle in which the next flit of the VC may leave, if the router limits the flits that leave an input (`input_speedup`).
    opens: u64,
}

impl Channel {
    fn new(net: &Net, class: u8, flits: u32) -> Self {
        let link = &net.links[usize::from(class)];
        let pace = net.rates.as_ref().map_or(Pace::new(Rate::ONE, u32::MAX), |rates| rates.pace(class));
        let places = vec![0; u32::from(link.buffer).min(flits) as usize];
        Self { class, pace, paced: link.paced, next_free: 0, places, next_step: 0, opens: 0 }
    }

    /// The cycle in which the terminal sends flit number `flit`, and the cycle in which this flit arrives. `now`: the cycle after the one
    /// in which the terminal sent the previous flit.
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

    /// For a flit that arrives over a link of class `before` in cycle `arrival` and crosses the switch to this channel: the cycle of its
    /// grant, and the cycle in which it arrives at the far end.
    fn cross(&mut self, net: &Net, before: u8, flit: usize, arrival: u64) -> (u64, u64) {
        let speedup = u64::from(net.router.speedup);
        // if VC allocation is a separate stage, a head gets its VC in an earlier step
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

    /// The cycle in which the flit leaves on a paced link, by the same rules as `Fabric::depart_paced`.
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

    /// The cycle in which the buffer at the far end has a slot for flit number `flit`.
    fn place(&self, flit: usize) -> u64 {
        self.places[flit % self.places.len()]
    }

    /// Records that flit number `flit` has left its slot in cycle `at`.
    fn free_place(&mut self, net: &Net, flit: usize, at: u64) {
        let place = flit % self.places.len();
        self.places[place] = at + net.credit_returns[usize::from(self.class)];
    }

    fn latency(&self, net: &Net) -> u64 {
        net.links[usize::from(self.class)].latency
    }
}
