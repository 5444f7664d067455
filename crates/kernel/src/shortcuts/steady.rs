//! A shortcut for steady flows of body flits: when the state of a block repeats, the cycle loop skips many periods at once.
//!
//! A long message consists mostly of body flits, which follow each other. While only body flits and their credits move, the next events
//! depend only on the state of the block, in which all times are relative to the present cycle. If the state equals an earlier state,
//! except for counts of flits, the period between the two states repeats. The period repeats until the last flit of a packet arrives or
//! leaves its source. [`Snapshot`] compares the state with an earlier state, and [`Flow`] contains the counts that one period adds.
//!
//! # When it applies
//!
//! The shortcut applies if `profile.rs` allows it: no model is notified of flits, and the next events depend only on the compared state.
//! Agents may wait for timers. Channels may have limited rates if no change of a rate is pending.
//!
//! # State after the shortcut
//!
//! The result is the state that the plain loop would have after the skipped periods, including all counts. No records need an update. The
//! skipped time ends before the next cycle in which a timer of an agent ends. If the agents change only timers in that cycle, the flow
//! continues with the same period.

use super::Shortcut;
use super::facts::Facts;
use crate::block::{Block, Reach, Routers};
use crate::net::Net;
use crate::shortcuts::streams::Streams;
use weft_api::agents::Probes;
use weft_api::base::bits::Bits;
use weft_api::sensor::Sensor;
use weft_api::state::rate::Pace;
use weft_api::state::{BODY, Flit, InputUnit, NONE, OutputUnit, Router, Segment, Terminal};

/// Marker type for the shortcut that the header of this file describes.
pub struct SteadyFlows;

impl Shortcut for SteadyFlows {
    const SKIPS: &'static str = "periods in which only body flits and their credits move";

    /// True if future events depend only on the state that [`Snapshot`] compares.
    fn applies(facts: &Facts) -> bool {
        let nobody_looks = facts.needs.posts.is_none() && facts.needs.sensor != Some(Sensor::HistoryWindow);
        let nobody_acts = !facts.maps_queues && !facts.closes_vcs && !facts.watches && !facts.faults;
        facts.longest > 1 && nobody_looks && !facts.queues && nobody_acts
    }

    fn goes_beside(probes: Probes) -> bool {
        !probes.arrivals && !probes.departures && !probes.routed
    }
}

/// If a terminal has fewer unsent flits of its packet than this number, a search for a period is not worthwhile.
const WORTH: u16 = 64;

/// The state of a block before a cycle, without the parts that body flits and credits cannot change.
#[derive(Debug)]
pub struct Snapshot<const W: usize, const V: usize> {
    at: u64,
    routers: Vec<Router<W>>,
    ins: Vec<InputUnit<V>>,
    outs: Vec<OutputUnit<V>>,
    requesters: Vec<Bits<W>>,
    terminals: Vec<Terminal>,
    segments: Vec<Segment>,
    streams: Streams,
    packets: usize,
    /// Routers and terminals that have work to do.
    active: Vec<u64>,
    busy: Vec<u64>,
    /// Events in order, each with the number of cycles until it is due.
    flits: Vec<(u64, Flit)>,
    credits: Vec<(u64, u32)>,
    vc_stage: [Vec<u16>; 3],
    paces: Vec<Pace>,
    counts: Counts,
}

/// The numbers of body flits that a block has moved.
#[derive(Debug, Clone, Copy)]
struct Counts {
    flit_hops: u64,
    injected: u64,
    accepted: u64,
}

/// The numbers of body flits that a block moves in one period.
#[derive(Debug)]
pub struct Flow {
    /// For each packet's segment with arrivals or departures: its index, and the number of flits.
    segments: Vec<(u32, u16)>,
    /// For each output with departures: its index, and the number of flits.
    outs: Vec<(u32, u32)>,
    /// For each terminal that injects: its index, and the number of flits.
    terminals: Vec<(u32, u16)>,
    counts: Counts,
}

/// Cycles from `now` until the link of an output is free.
fn busy<const V: usize>(out: &OutputUnit<V>, now: u64) -> u64 {
    (out.next_free.wrapping_sub(now as u32) as i32).max(0) as u64
}

impl Flow {
    pub fn is_empty(&self) -> bool {
        self.segments.is_empty() && self.terminals.is_empty()
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// The number of flits in flight, and the smallest number of flits that a source still has to send of its packet (`u16::MAX` if no
    /// source has a packet). `None` if anything other than body flits and credits is in flight, or if too few flits remain for a worthwhile
    /// search.
    pub(crate) fn flows(&self) -> Option<(usize, u16)> {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &self.reach;
        let mut flits = beside.shortcuts.streams.flits_under_way();
        let is_body = |flit: &Flit| flit.packet == NONE && flit.key == BODY;
        let more = !fabric.wires.flits.all(|flit| is_body(flit).then(|| flits += 1).is_some())
            || !interfaces.deliveries.is_empty()
            || !fabric.buffers.turning.is_empty()
            || !fabric.wires.paces.stand_still()
            || beside.policy.agents_wait_until().is_none()
            || fabric.requests.routers.iter().any(|router| !router.choosing.is_empty());
        let left = interfaces.terminals.iter().filter(|t| t.packet != NONE).map(|t| t.left).min().unwrap_or(u16::MAX);
        (!more && left >= WORTH).then_some((flits, left))
    }

    /// Copies the state of the block before this cycle.
    pub(crate) fn snapshot(&self) -> Snapshot<W, V> {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &self.reach;
        Snapshot {
            at: fabric.now,
            routers: fabric.requests.routers.clone(),
            ins: fabric.buffers.ins.clone(),
            outs: fabric.wires.outs.clone(),
            requesters: fabric.requests.requesters.clone(),
            terminals: interfaces.terminals.clone(),
            segments: fabric.buffers.segments.items.clone(),
            streams: beside.shortcuts.streams.by_distance(fabric.now),
            packets: fabric.buffers.packets.in_use(),
            active: fabric.requests.active.0.clone(),
            busy: interfaces.busy.0.clone(),
            flits: fabric.wires.flits.by_distance(fabric.now),
            credits: fabric.wires.credits.by_distance(fabric.now),
            vc_stage: fabric.vc_stage.state().map(<[u16]>::to_vec),
            paces: fabric.wires.paces.of.clone(),
            counts: self.counts(),
        }
    }

    fn counts(&self) -> Counts {
        let (flit_hops, injected) = (
            self.reach.routers.beside.observers.tally.flit_hops,
            self.reach.routers.beside.observers.tally.injected_flits,
        );
        Counts { flit_hops, injected, accepted: self.reach.routers.beside.observers.tally.accepted_flits }
    }

    /// The flits that have moved since `then`, if the present state repeats that of `then`; otherwise `None`.
    pub(crate) fn flow_since(&self, then: &Snapshot<W, V>) -> Option<Flow> {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &self.reach;
        let is_same = fabric.wires.flits.by_distance(fabric.now) == then.flits
            && fabric.wires.credits.by_distance(fabric.now) == then.credits
            && fabric.requests.routers == then.routers
            && fabric.buffers.ins == then.ins
            && fabric.requests.requesters == then.requesters
            && beside.shortcuts.streams.by_distance(fabric.now) == then.streams
            && fabric.buffers.packets.in_use() == then.packets
            && fabric.wires.paces.of == then.paces
            && fabric.wires.paces.stand_still()
            && (&fabric.requests.active.0, &interfaces.busy.0) == (&then.active, &then.busy)
            && fabric.vc_stage.state() == then.vc_stage.each_ref().map(Vec::as_slice);
        if !is_same || fabric.buffers.segments.items.len() != then.segments.len() {
            return None;
        }
        let (mut segments, mut outs, mut terminals) = (Vec::new(), Vec::new(), Vec::new());
        for (id, (now, then)) in (0..).zip(fabric.buffers.segments.items.iter().zip(&then.segments)) {
            let came = now.arrived.wrapping_sub(then.arrived);
            let moved = Segment { arrived: now.arrived, sent: then.sent.wrapping_add(came), ..*then };
            if moved != *now {
                return None;
            }
            if came > 0 {
                segments.push((id, came));
            }
        }
        for (o, (now, old)) in (0..).zip(fabric.wires.outs.iter().zip(&then.outs)) {
            let moved = OutputUnit { flits: now.flits, next_free: now.next_free, ..old.clone() };
            if moved != *now || busy(now, fabric.now) != busy(old, then.at) {
                return None;
            }
            if now.flits != old.flits {
                outs.push((o, now.flits.wrapping_sub(old.flits)));
            }
        }
        for (t, (now, then)) in (0..).zip(interfaces.terminals.iter().zip(&then.terminals)) {
            if (Terminal { left: now.left, ..then.clone() }) != *now {
                return None;
            }
            if now.left != then.left {
                terminals.push((t, then.left - now.left));
            }
        }
        let (now, then) = (self.counts(), then.counts);
        let counts = Counts {
            flit_hops: now.flit_hops - then.flit_hops,
            injected: now.injected - then.injected,
            accepted: now.accepted - then.accepted,
        };
        Some(Flow { segments, outs, terminals, counts })
    }

    /// Number of periods for which the flow certainly repeats: no tail arrives or leaves its source in these periods.
    pub(crate) fn periods_left(&self, flow: &Flow) -> u64 {
        let Reach { routers: Routers { fabric, .. }, interfaces } = &self.reach;
        let to_come = flow.segments.iter().map(|&(id, came)| {
            let segment = &fabric.buffers.segments.items[id as usize];
            (segment.len - 1).saturating_sub(segment.arrived) / came
        });
        let to_inject =
            flow.terminals.iter().map(|&(t, sent)| interfaces.terminals[t as usize].left.saturating_sub(2) / sent);
        to_come.chain(to_inject).min().map_or(0, u64::from)
    }

    /// The largest number of cycles for which flits granted earlier still occupy the link of an output of this flow.
    pub(crate) fn longest_wait(&self, flow: &Flow) -> u64 {
        let fabric = &self.reach.routers.fabric;
        flow.outs.iter().map(|&(o, _)| busy(&fabric.wires.outs[o as usize], fabric.now)).max().unwrap_or(0)
    }

    /// Advances the block by `periods` periods of the flow, which last `cycles` cycles in total.
    pub(crate) fn flow_on(&mut self, net: &Net, flow: &Flow, periods: u64, cycles: u64) {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &mut self.reach;
        for &(id, came) in &flow.segments {
            let segment = &mut fabric.buffers.segments.items[id as usize];
            segment.arrived += came * periods as u16;
            segment.sent += came * periods as u16;
        }
        for &(o, sent) in &flow.outs {
            let out = &mut fabric.wires.outs[o as usize];
            out.flits = out.flits.wrapping_add(sent.wrapping_mul(periods as u32));
            // only outputs that send flits need this: at other outputs the link is free, because otherwise the state would not have
            // repeated
            out.next_free = out.next_free.wrapping_add(cycles as u32);
            fabric.wires.pass_by(o as usize, sent.wrapping_mul(periods as u32));
        }
        for &(t, sent) in &flow.terminals {
            interfaces.terminals[t as usize].left -= sent * periods as u16;
        }
        beside.observers.tally.flit_hops += flow.counts.flit_hops * periods;
        beside.observers.tally.injected_flits += flow.counts.injected * periods;
        beside.observers.tally.accepted_flits += flow.counts.accepted * periods;
        beside.policy.power.timers.jump(fabric.now + cycles);
        beside.shortcuts.streams.delay(cycles);
        fabric.wires.flits.delay(cycles);
        fabric.wires.credits.delay(cycles);
        let now = fabric.now + cycles;
        self.sleep_on(net, now);
    }
}
