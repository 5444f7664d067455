//! Streams from terminals whose network interfaces have queues.
//!
//! A terminal with queues has a stream only while exactly one of its queues contains packets. Therefore flits of other packets do not
//! alternate with the flits of the stream. During the stream the terminal sleeps until a source is due. If the source's packet joins
//! another queue, the stream ends in the same cycle.

use super::{TERMINAL, WORTH};
use crate::block::{Interfaces, Reach};
use crate::net::Net;
use crate::parts::queues::InterfaceRules;
use crate::shortcuts::Shortcuts;
use crate::tally::Tally;
use weft_api::base::unchecked::Hot;

impl Shortcuts {
    /// True if a terminal has a stream on channel `o`, or may open one for the `left` remaining flits of the only packet that it can send.
    #[inline(always)]
    pub(crate) fn may_stream(&self, o: usize, left: u16) -> bool {
        self.streams.outs.get(o).is_some_and(|sender| left > WORTH || sender.from == TERMINAL)
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Called after terminal `t` has accepted the packets that its sources create now. Returns true if the terminal still has a stream.
    #[inline(always)]
    pub(crate) fn keeps_stream(&mut self, net: &Net, t: usize) -> bool {
        let o = self.interfaces.channel_of(t);
        self.routers.beside.shortcuts.streams.outs[o].from == TERMINAL && self.stream_goes_on(net, t, o)
    }

    #[inline(never)]
    fn stream_goes_on(&mut self, net: &Net, t: usize, o: usize) -> bool {
        let is_alone = self.interfaces.queues.filled[t].is_power_of_two();
        if is_alone {
            self.interfaces.sleep_beside_stream(t, self.routers.fabric.now);
        } else {
            self.break_stream_of_terminal(net, o);
        }
        is_alone
    }

    /// Sends a body flit of queue `q` of terminal `t`, if the flit can leave. The head of the packet has already left. `streams`: whether
    /// the flit may open a stream, if no other queue contains packets. Returns false if the flit cannot leave.
    #[inline(always)]
    pub(crate) fn sends_body_of_queue(
        &mut self,
        net: &Net,
        rules: &InterfaceRules,
        (t, q): (usize, usize),
        measured: u64,
        streams: bool,
    ) -> bool {
        let queues = &mut self.interfaces.queues;
        let queue = queues.queue(t, q);
        let (left, terminal) = (queue.left, &mut self.interfaces.terminals[t]);
        (terminal.left, terminal.vc) = (left, queue.vc);
        let sends = if streams && queues.filled[t].is_power_of_two() {
            self.sends_body::<true>(net, t, measured)
        } else {
            self.sends_body::<false>(net, t, measured)
        };
        if !sends {
            return false;
        }
        // a notification has only one flit, so queue `q` is for packets of sources
        self.interfaces.queues.turns[t] = rules.turn_after(q);
        if self.interfaces.terminals[t].left == left {
            self.interfaces.sleep_beside_stream(t, self.routers.fabric.now);
        } else {
            self.interfaces.count_body(&mut self.routers.beside.observers.tally, (t, q), measured > 0);
        }
        true
    }
}

impl Interfaces {
    /// Lets terminal `t`, which has a stream, sleep until a source is due, with an alarm for that cycle.
    #[inline(never)]
    fn sleep_beside_stream(&mut self, t: usize, now: u64) {
        self.rest(t, now);
        self.terminals[t].blocked = false;
    }

    /// Called when a flit of a stream has left terminal `t`. Only one queue of the terminal holds packets.
    #[inline(always)]
    pub(super) fn flow_from_queue(&mut self, tally: &mut Tally, t: usize, measured: bool) {
        // SAFETY: an injection channel stores the valid number of its terminal (checked by `assert_numbers`).
        let q = unsafe { self.queues.filled.hot(t) }.trailing_zeros() as usize;
        self.count_body(tally, (t, q), measured);
    }

    /// Called when a body flit of queue `q` has left terminal `t`. Updates the number of flits that the packet still has to send.
    #[inline(always)]
    pub(crate) fn count_body(&mut self, tally: &mut Tally, (t, q): (usize, usize), measured: bool) {
        // SAFETY: the cycle loop uses valid terminal numbers (checked by `assert_numbers`).
        let left = unsafe { self.terminals.hot(t) }.left;
        self.queues.queue_mut(t, q).left = left;
        if measured && tally.parts.are_counted() {
            let front = self.queues.front(t, q);
            tally.parts.inject(self.queues.streams[front.stream as usize].job, front.class);
        }
    }
}
