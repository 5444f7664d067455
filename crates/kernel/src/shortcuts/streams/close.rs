//! Closes streams, and counts the flits that they have moved.

use super::{BALANCED, ENDS, Sender, TERMINAL};
use crate::block::{Fabric, Reach, Routers};
use crate::net::Net;
use crate::shortcuts::Shortcuts;
use weft_api::base::arrays::At;
use weft_api::base::unchecked::Hot;
use weft_api::state::{ChannelEnd, Flit, NONE, RUN_ENDS};

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Called when another flit requests output `o` of a router. If a stream uses this output, ends the stream. The remaining flits of the
    /// stream then move one by one.
    #[inline(always)]
    pub(crate) fn interrupt(&mut self, net: &Net, o: usize) {
        if self.beside.shortcuts.streams.outs.get(o).is_some_and(|sender| sender.from != NONE) {
            self.break_stream(net, o);
        }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Called before agents close channel `o` or send a control packet on it. Ends the stream of the channel. The channel may begin at a
    /// router or at a terminal.
    pub(crate) fn interrupt_any(&mut self, net: &Net, o: usize) {
        match self.routers.beside.shortcuts.streams.outs.get(o).map_or(NONE, |sender| sender.from) {
            NONE => {}
            TERMINAL => self.break_stream_of_terminal(net, o),
            _ => self.routers.break_stream(net, o),
        }
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Ends the stream of output `o` of a router before its run ends. The remaining flits of the run move one by one.
    #[inline(never)]
    pub(super) fn break_stream(&mut self, net: &Net, o: usize) {
        let from = self.beside.shortcuts.streams.outs[o].from;
        debug_assert_ne!(from, TERMINAL, "a terminal sends on no output of a router");
        self.close_stream(net, o);
        self.beside.shortcuts.streams.start_receiving((from >> 4) as usize, (from & 15) as u8);
        if self.beside.shortcuts.streams.received > self.beside.shortcuts.streams.next.max(self.fabric.now) {
            // agents end the stream after flits were received in this cycle but before streams move, so a flit of the stream has already
            // arrived
            self.fabric.count_arrival(net, Flit::of_body(from));
            self.receive_body::<true>(net, from);
        }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Ends the stream of injection channel `o` before its run ends.
    #[inline(never)]
    pub(super) fn break_stream_of_terminal(&mut self, net: &Net, o: usize) {
        self.routers.close_stream(net, o);
        let sources = &mut self.routers.beside.shortcuts.streams.sources;
        if let Some(place) = sources.iter().position(|&other| other as usize == o) {
            sources.swap_remove(place);
        }
        self.interfaces.busy.set(self.routers.fabric.wires.outs[o].router as usize);
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Ends the stream of output `o` in the first cycle in which streams have not moved their flits yet. From then on no flit of the stream
    /// crosses.
    pub(super) fn close_stream(&mut self, net: &Net, o: usize) {
        let end = self.beside.shortcuts.streams.next.max(self.fabric.now);
        self.settle_stream(net, o, end);
        let sender = &mut self.beside.shortcuts.streams.outs[o];
        let &mut Sender { from, vc, delay, credits, .. } = sender;
        let at = end + u64::from(delay);
        (sender.from, sender.ended) = (NONE, at);
        let out = &mut self.fabric.wires.outs[o];
        if credits != BALANCED {
            self.beside.shortcuts.streams.stop_spending(o);
        } else {
            if end == self.fabric.now {
                // the stream does not spend the credit that has arrived in this cycle
                out.regain_credit(usize::from(vc), net.router.room);
            }
            self.beside.shortcuts.streams.start_returning(o, vc);
        }
        self.fabric.end_run(net, o, u32::from(vc), at);
        if from != TERMINAL {
            let (i, v) = ((from >> 4) as usize, (from & 15) as usize);
            self.beside.shortcuts.streams.ins[i].closed = end;
            self.fabric.return_marked(net, (i, v), end, ENDS);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Notifies the receiver of output `o` that no flit of the run on VC `vc` arrives from cycle `at` on.
    fn end_run(&mut self, net: &Net, o: usize, vc: u32, at: u64) {
        let out = &self.wires.outs[o];
        let peer = out.peer;
        if matches!(out.kind(), ChannelEnd::Ejection | ChannelEnd::Unused) {
            // a terminal accepts every flit, and its credits also form a run
            let credit_at = at + net.links.of(out.class).credit_latency;
            self.wires.credits.push(self.now, credit_at, ENDS | (o as u32) << 4 | vc);
        } else {
            self.launch((out.is(ChannelEnd::Remote), peer), at, Flit::of_run(vc, RUN_ENDS), NONE);
        }
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Counts the flits that the stream of output `o` has sent before cycle `end`.
    #[inline(always)]
    fn settle_stream(&mut self, net: &Net, o: usize, end: u64) {
        // SAFETY: the lists of runs and streams store valid port numbers (checked by `assert_numbers`).
        let (sender, out) =
            unsafe { (self.beside.shortcuts.streams.outs.hot_mut(o), self.fabric.wires.outs.hot_mut(o)) };
        let flits = end - std::mem::replace(&mut sender.since, end);
        out.flits = out.flits.wrapping_add(flits as u32);
        if sender.from == TERMINAL {
            return;
        }
        out.next_free = out.next_free.wrapping_add(flits as u32);
        let (i, v) = ((sender.from >> 4) as usize, (sender.from & 15) as usize);
        // SAFETY: the packet of a stream has a segment at the input that the stream leaves (checked by `assert_numbers`).
        let segment = unsafe {
            let head = *self.fabric.buffers.ins.hot(i).head.at(v);
            self.fabric.buffers.segments.items.hot_mut(head as usize)
        };
        segment.arrived += flits as u16;
        segment.sent += flits as u16;
        self.beside.observers.tally.flit_hops += flits;
        if out.is(ChannelEnd::Ejection) {
            let landed = end + u64::from(sender.delay) + net.router.ejection_delay;
            self.beside.observers.tally.accepted_flits +=
                self.beside.observers.tally.cycles_inside(landed - flits, landed);
        }
        self.fabric.wires.pass_by(o, flits as u32);
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Number of flits that the stream of output `o` has sent and that are not counted yet.
    pub(crate) fn unsettled(&self, shortcuts: &Shortcuts, o: usize) -> u32 {
        let flows = |sender: &&Sender| sender.from != NONE;
        let end = shortcuts.streams.next.max(self.now);
        shortcuts.streams.outs.get(o).filter(flows).map_or(0, |sender| (end - sender.since) as u32)
    }

    /// Cycle in which the link of output `o` is free. Includes the flits of its stream that are not counted yet. No code reads this cycle
    /// for an injection channel with a stream.
    pub(crate) fn next_free(&self, shortcuts: &Shortcuts, o: usize) -> u32 {
        self.wires.outs[o].next_free.wrapping_add(self.unsettled(shortcuts, o))
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Called before channel `o` changes its state. Counts the flits that the stream of the channel has sent.
    pub(crate) fn settle_channel(&mut self, net: &Net, o: usize) {
        if self.fabric.unsettled(&self.beside.shortcuts, o) > 0 {
            self.settle_stream(net, o, self.beside.shortcuts.streams.next.max(self.fabric.now));
        }
    }

    /// Counts the flits that all streams have moved before this cycle.
    pub(super) fn settle_streams(&mut self, net: &Net) {
        for o in 0..self.beside.shortcuts.streams.outs.len() {
            if self.beside.shortcuts.streams.outs[o].from != NONE {
                self.settle_stream(net, o, self.fabric.now);
            }
        }
    }
}
