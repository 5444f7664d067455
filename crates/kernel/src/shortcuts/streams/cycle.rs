//! The work that a block does for streams in each cycle. Runs begin and end, the block receives the runs that no stream forwards, and
//! streams move their flits.
//!
//! A *run of flits* is a sequence of body flits of one packet on a channel, one in each cycle. A *run of credits* is a sequence of credits
//! for one channel, one in each cycle. Only the begin and the end of a run cause an event. A *stream* forwards the flits of a run from an
//! input of a router to an output, each in the cycle of its arrival (`shortcuts/streams.rs`).

use super::{BALANCED, BEGINS, Sender, TERMINAL, THROUGH, is_of_run, output};
use crate::block::{Fabric, Interfaces, Reach, Routers};
use crate::credits::{Awaited, count_one};
use crate::net::Net;
use crate::parts::profile::Kind;
use crate::shortcuts::Shortcuts;
use crate::shortcuts::prefetch::bring_for_credits;
use weft_api::base::arrays::At;
use weft_api::base::unchecked::Hot;
use weft_api::state::{BODY, Flit, NONE, RUN_BEGINS, port_and_vc};

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Counts the credits of this cycle. Some credits may arrive as runs.
    pub(crate) fn receive_credits_among_streams(&mut self, net: &Net) {
        while let Some((first, len)) = self.routers.fabric.wires.credits.due(self.routers.fabric.now) {
            if net.shortcuts.has(Kind::Prefetch) {
                bring_for_credits(&self.routers.fabric.wires.outs, self.routers.fabric.wires.credits.items(first, len));
            }
            for k in 0..len {
                // SAFETY: the chunk has `len` items, and is released only below.
                let word = unsafe { self.routers.fabric.wires.credits.hot_item(first, k) };
                if is_of_run(word) {
                    self.receive_credit_run(net, word);
                } else {
                    self.routers.fabric.count_credit(&mut self.interfaces, net, port_and_vc::<V>(word));
                }
            }
            self.routers.fabric.wires.credits.release(self.routers.fabric.now);
        }
        let Routers { fabric, beside } = &mut self.routers;
        if let Some(history) = &mut fabric.wires.history {
            history.expire(fabric.now);
        }
        fabric.count_credit_runs(&mut self.interfaces, &mut beside.shortcuts, net);
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    #[inline(always)]
    fn count_credit(&mut self, interfaces: &mut Interfaces, net: &Net, credit: (usize, usize)) {
        let wakes = (&mut self.requests, interfaces);
        count_one(&mut self.wires.outs, wakes, credit, net, Awaited::FirstAndEnough);
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Records that a run of credits for an output begins or has ended. `word` is output * 16 + VC, with the mark of a begin or end.
    #[inline(never)]
    pub(crate) fn receive_credit_run(&mut self, net: &Net, word: u32) {
        let Routers { fabric, beside } = &mut self.routers;
        let (o, vc) = (output(word), (word & 15) as u8);
        let Sender { from, vc: own, credits, .. } = beside.shortcuts.streams.outs[o];
        let balances = from != NONE && own == vc;
        if word & BEGINS != 0 && balances {
            beside.shortcuts.streams.stop_spending(o);
            let sender = &mut beside.shortcuts.streams.outs[o];
            (sender.credits, sender.credit_vc) = (BALANCED, vc);
        } else if word & BEGINS != 0 {
            beside.shortcuts.streams.start_returning(o, vc);
        } else if credits != BALANCED {
            beside.shortcuts.streams.stop_returning(o, NONE);
        } else {
            beside.shortcuts.streams.outs[o].credits = NONE;
            beside.shortcuts.streams.start_spending(o);
            let is_dry = *fabric.wires.outs[o].credits.at(usize::from(vc)) == 0;
            match from {
                TERMINAL if is_dry => self.break_stream_of_terminal(net, o),
                _ if is_dry => self.routers.break_stream(net, o),
                _ => {}
            }
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Counts one credit for each output to which a run of credits returns in this cycle. Omits outputs whose stream spends a credit in the
    /// same cycle, because the number of their credits does not change.
    #[inline(never)]
    pub(crate) fn count_credit_runs(&mut self, interfaces: &mut Interfaces, shortcuts: &mut Shortcuts, net: &Net) {
        let mut next = 0;
        while let Some(&o) = shortcuts.streams.returning.get(next) {
            next += 1;
            let o = o as usize;
            // SAFETY: the lists of runs and streams store valid port numbers (checked by `assert_numbers`).
            let vc = unsafe { shortcuts.streams.outs.hot(o) }.credit_vc;
            self.count_credit(interfaces, net, (o, vc.into()));
        }
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Receives the `len` flits of the chunk that starts at `first`. Some of these flits may begin or end runs.
    #[inline(never)]
    pub(crate) fn receive_among_streams(&mut self, net: &Net, (first, len): (u32, usize)) {
        for k in 0..len {
            // SAFETY: the chunk has `len` items, and is released only later.
            let flit = unsafe { self.fabric.wires.flits.hot_item(first, k) };
            if flit.packet == NONE && flit.key == BODY {
                self.receive_body::<true>(net, flit.to);
            } else if flit.packet == NONE {
                self.receive_run(net, flit);
            } else if self.beside.shortcuts.heads_try_to_bypass() {
                self.receive_head::<false, true, false>(net, flit);
            } else {
                self.receive_head::<false, false, false>(net, flit);
            }
        }
    }

    /// Records that `flit` begins or ends a run.
    #[inline(never)]
    fn receive_run(&mut self, net: &Net, flit: Flit) {
        let (i, vc) = ((flit.to >> 4) as usize, (flit.to & 15) as u8);
        if flit.key == RUN_BEGINS {
            return self.beside.shortcuts.streams.start_receiving(i, vc);
        }
        let receiver = &mut self.beside.shortcuts.streams.ins[i];
        if receiver.place == THROUGH {
            receiver.place = NONE;
            let o = receiver.out as usize;
            self.close_stream(net, o);
        } else {
            self.beside.shortcuts.streams.stop_receiving(i, NONE);
        }
    }

    /// Receives one flit of each run of flits that arrives at an input in this cycle, unless a stream forwards the run.
    #[inline(never)]
    pub(crate) fn receive_runs(&mut self, net: &Net) {
        let (counts, mut k) = (self.fabric.counts_queued(), 0);
        // a stream that ends during this loop adds the rest of its run to the list
        while k < self.beside.shortcuts.streams.incoming.len() {
            let i = self.beside.shortcuts.streams.incoming[k];
            k += 1;
            // SAFETY: the lists of runs and streams store valid port numbers (checked by `assert_numbers`).
            let vc = unsafe { self.beside.shortcuts.streams.ins.hot(i as usize) }.vc;
            let to = i << 4 | u32::from(vc);
            if counts {
                self.fabric.count_arrival(net, Flit::of_body(to));
            }
            self.receive_body::<true>(net, to);
        }
        self.beside.shortcuts.streams.received = self.fabric.now + 1;
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Moves the flits of all streams in this cycle.
    #[inline(always)]
    pub(crate) fn flow(&mut self, net: &Net) {
        self.routers.beside.shortcuts.streams.next = self.routers.fabric.now + 1;
        if !self.routers.beside.shortcuts.streams.spending.is_empty() {
            self.routers.spend(net);
        }
        if !self.routers.beside.shortcuts.streams.sources.is_empty() {
            if net.interface.is_some() {
                self.flow_from_terminals::<true>(net);
            } else {
                self.flow_from_terminals::<false>(net);
            }
        }
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Takes one credit from each output that has a stream but to which no run of credits returns.
    #[inline(never)]
    fn spend(&mut self, net: &Net) {
        let mut k = 0;
        while k < self.beside.shortcuts.streams.spending.len() {
            let o = self.beside.shortcuts.streams.spending[k] as usize;
            // SAFETY: the lists of runs and streams store valid port numbers (checked by `assert_numbers`).
            let (sender, out) =
                unsafe { (self.beside.shortcuts.streams.outs.hot(o), self.fabric.wires.outs.hot_mut(o)) };
            let vc = usize::from(sender.vc) & (V - 1);
            out.use_credit::<false>(vc, net.router.room);
            if *out.credits.at(vc) == 0 && sender.from != TERMINAL {
                self.break_stream(net, o);
            } else {
                k += 1;
            }
        }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Sends one flit from each terminal that has a stream. Closes the stream of a terminal if its next flit has no credit or is the tail.
    /// `QUEUED`: terminals have queues.
    #[inline(never)]
    fn flow_from_terminals<const QUEUED: bool>(&mut self, net: &Net) {
        let measured = self.routers.beside.observers.tally.inside(self.routers.fabric.now);
        self.routers.beside.observers.tally.injected_flits +=
            u64::from(measured) * self.routers.beside.shortcuts.streams.sources.len() as u64;
        let mut k = 0;
        while k < self.routers.beside.shortcuts.streams.sources.len() {
            let o = self.routers.beside.shortcuts.streams.sources[k] as usize;
            // SAFETY: the lists of runs and streams store valid port numbers (checked by `assert_numbers`).
            let (sender, out) =
                unsafe { (self.routers.beside.shortcuts.streams.outs.hot(o), self.routers.fabric.wires.outs.hot(o)) };
            let is_dry = sender.credits != BALANCED && *out.credits.at(usize::from(sender.vc)) == 0;
            let t = out.router as usize;
            // SAFETY: an injection channel stores the valid number of its terminal (checked by `assert_numbers`).
            let terminal = unsafe { self.interfaces.terminals.hot_mut(t) };
            terminal.left -= 1;
            let is_over = is_dry || terminal.left == 1;
            if QUEUED {
                self.interfaces.flow_from_queue(&mut self.routers.beside.observers.tally, t, measured);
            }
            if is_over {
                self.routers.beside.shortcuts.streams.sources.swap_remove(k);
                self.interfaces.busy.set(t);
                self.routers.close_stream(net, o);
            } else {
                k += 1;
            }
        }
    }
}
