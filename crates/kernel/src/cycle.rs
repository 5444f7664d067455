//! A cycle: the phases of a block, one after the other.

use crate::block::{Block, Mail};
use crate::credits;
use crate::net::Net;
use crate::pace;
use crate::parts::profile::Kind;
use crate::switch_allocation::SwitchAllocator;
use weft_api::state::{NONE, Segment};

impl<const W: usize, const V: usize> Block<W, V> {
    /// One cycle. Phases read only what earlier cycles or earlier phases of the same router wrote.
    ///
    /// `SINGLE`: all packets have one flit. Then a packet needs only one segment, which has the same number as the
    /// packet.
    pub fn step<const SINGLE: bool>(&mut self, net: &Net, allocator: &dyn SwitchAllocator<W, V>) {
        // queues -> board
        if let Some(board) = &net.common.board {
            self.post(net, board);
        }
        // credits -> counters
        if !SINGLE && self.shortcuts.streams.are_on() {
            self.receive_credits_among_streams(net);
        } else {
            let wakes = (&mut self.requests, &mut self.interfaces);
            credits::receive::<W, V, SINGLE>(&mut self.wires, wakes, self.now, net);
        }
        // flits -> VC queues, route of new heads
        self.receive_flits::<SINGLE>(net);
        // time -> outputs that were full, rates of flits that come in
        if net.rates.is_some() {
            let wakes = (&mut self.requests, &mut self.interfaces);
            pace::keep(&mut self.wires, wakes, self.now);
        }
        // sources -> injection channels
        self.inject::<SINGLE>(net);
        // timers -> link states
        self.manage_power(net);
        // journeys <- reasons for which heads wait
        if net.watches {
            self.watch_cycle(net);
        }
        // heads -> VCs, flits -> switch -> links, step by step
        self.allocate::<SINGLE>(net, allocator);
        self.now += 1;
    }

    /// Advances to cycle `until`. Skips cycles in which nothing can happen, if the block takes that shortcut.
    pub fn advance(&mut self, net: &Net, allocator: &dyn SwitchAllocator<W, V>, until: u64) {
        if net.notes_after.is_some() {
            self.interfaces.exchange_notes(net, (self.now, until));
        }
        while self.now < until {
            if self.shortcuts.profile.has(Kind::Idle) && self.is_quiet() {
                self.now = self.next_event(net, until);
                if self.now == until {
                    return;
                }
            }
            if net.single {
                self.step::<true>(net, allocator);
            } else {
                self.step::<false>(net, allocator);
            }
        }
    }

    /// Reserves a slot for a packet; with `single`, also one for its segment.
    #[inline(always)]
    pub fn new_packet(&mut self, single: bool) -> u32 {
        let id = self.buffers.packets.take();
        if single && id as usize >= self.buffers.segments.items.len() {
            self.buffers.segments.items.push(Segment::of_single(id));
        }
        id
    }

    /// Takes the mail of another block.
    pub fn take(&mut self, net: &Net, mail: &mut Mail) {
        for &(at, mut flit) in &mail.flits {
            if flit.packet != NONE {
                let id = self.new_packet(net.single);
                self.buffers.packets.bring_free();
                self.buffers.packets.items[id as usize] = mail.packets[flit.packet as usize];
                flit.packet = id;
            }
            self.wires.flits.push(self.now, at, flit);
        }
        for &(at, credit) in &mail.credits {
            self.wires.credits.push(self.now, at, credit);
        }
        mail.slowed.drain(..).for_each(|(at, slowed)| self.wires.paces.slow_from(self.now, at, slowed));
        mail.messages.drain(..).for_each(|(at, arrival)| self.policy.control.post_in(self.now, at, arrival));
        mail.flits.clear();
        mail.packets.clear();
        mail.credits.clear();
    }
}
