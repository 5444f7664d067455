//! Opens streams.

use super::{Sender, TERMINAL, THROUGH, WORTH};
use crate::block::{Fabric, Interfaces, Routers};
use crate::net::Net;
use crate::shortcuts::Shortcuts;
use crate::shortcuts::uncontended::FIRST_OF_RUN;
use weft_api::base::arrays::At;
use weft_api::base::unchecked::Hot;
use weft_api::state::{Flit, NONE, RUN_BEGINS};

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Tries to open a stream at terminal `t`. The terminal has body flits to send and a credit for VC `vc`. Returns true if the stream was
    /// opened. The flits of the stream move from this cycle on.
    #[inline(always)]
    pub(crate) fn opens_source(
        &mut self,
        interfaces: &mut Interfaces,
        shortcuts: &mut Shortcuts,
        net: &Net,
        t: usize,
        vc: usize,
    ) -> bool {
        // SAFETY: the cycle loop uses valid terminal numbers (checked by `assert_numbers`).
        let left = unsafe { interfaces.terminals.hot(t) }.left;
        left > WORTH && self.open_source(interfaces, shortcuts, net, t, vc)
    }

    #[inline(never)]
    fn open_source(
        &mut self,
        interfaces: &mut Interfaces,
        shortcuts: &mut Shortcuts,
        net: &Net,
        t: usize,
        vc: usize,
    ) -> bool {
        let (o, delay) = (interfaces.channel_of(t), net.links.of(0).latency);
        if self.now + delay <= shortcuts.streams.outs[o].ended {
            return false;
        }
        let out = &mut self.wires.outs[o];
        self.wires.flits.push(self.now, self.now + delay, Flit::of_run(out.peer << 4 | vc as u32, RUN_BEGINS));
        if shortcuts.streams.open(o, Sender::new(TERMINAL, vc, self.now, delay)) {
            // the cycle loop has already counted the credit that arrives in this cycle
            out.use_credit::<false>(vc, net.router.room);
        }
        shortcuts.streams.sources.push(o as u32);
        interfaces.busy.clear(t);
        true
    }

    /// True if the uncontended flit that crosses next, from VC `v` of input `i` to VC `vc` of output `o`, may open a stream.
    #[inline(always)]
    pub(crate) fn may_open_stream(
        &self,
        shortcuts: &Shortcuts,
        net: &Net,
        (i, v): (usize, usize),
        (o, vc): (usize, usize),
    ) -> bool {
        // SAFETY: a flit leaves an input, in which its packet has a segment, and streams store valid port numbers (checked by
        // `assert_numbers`).
        let (segment, receiver) = unsafe {
            let head = *self.buffers.ins.hot(i).head.at(v);
            (self.buffers.segments.items.hot(head as usize), shortcuts.streams.ins.hot(i))
        };
        segment.len - segment.arrived > WORTH
            && receiver.place < THROUGH
            && usize::from(receiver.vc) == v
            && receiver.closed < self.now
            && self.has_room_for_stream(shortcuts, net, o, vc)
    }

    /// True if the last run on output `o` ends before a new run would begin, and the output has credits for more than one flit: either it
    /// has them now, or credits return in a run.
    #[inline(never)]
    fn has_room_for_stream(&self, shortcuts: &Shortcuts, net: &Net, o: usize, vc: usize) -> bool {
        // SAFETY: a flit leaves by an existing output, and streams store valid port numbers (checked by `assert_numbers`).
        let (out, sender) = unsafe { (self.wires.outs.hot(o), shortcuts.streams.outs.hot(o)) };
        let at = out.departure(self.now + net.router.after_grant) + net.links.of(out.class).latency;
        let some_come_back = || sender.credits != NONE && usize::from(sender.credit_vc) == vc;
        sender.ended < at && (*out.credits.at(vc) > 1 || some_come_back())
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Called when the only flit of VC `v` of input `i` crosses without contention to VC `vc` of output port `p`. The flit is the first of
    /// a stream.
    #[inline(never)]
    pub(crate) fn open_stream(&mut self, net: &Net, (i, v): (usize, usize), (p, vc): (usize, usize)) {
        let at = self.fabric.send_uncontended(
            &mut self.beside.observers,
            net,
            (i, v),
            (p, vc),
            self.fabric.now + net.router.after_grant,
            FIRST_OF_RUN,
        );
        let o = self.fabric.buffers.ins[i].base(i) + p;
        self.beside.shortcuts.streams.stop_receiving(i, THROUGH);
        self.beside.shortcuts.streams.ins[i].out = o as u32;
        self.beside
            .shortcuts
            .streams
            .open(o, Sender::new((i << 4 | v) as u32, vc, self.fabric.now + 1, at - self.fabric.now));
    }
}
