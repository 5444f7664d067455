//! One cycle of a block: its phases, in order.

use crate::block::{Block, Fabric, Mail, Reach, Routers};
use crate::credits;
use crate::net::Net;
use crate::pace;
use crate::parts::profile::Kind;
use crate::switch_allocation::SwitchAllocator;
use weft_api::state::{NONE, Segment};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Simulates one cycle. Phases read only data that earlier cycles or earlier phases of the same router wrote.
    ///
    /// `SINGLE`: whether all packets have one flit. With one-flit packets, a packet needs only one segment, and both have the same number.
    pub(crate) fn step<const SINGLE: bool>(&mut self, net: &Net, allocator: &dyn SwitchAllocator<W, V>) {
        let Self { reach, posts } = self;
        // routers post numbers about their queues on the board, for other routers
        if let Some(board) = &net.common.board {
            reach.routers.fabric.post(posts, net, board);
        }
        // output units count the returned credits
        if !SINGLE && reach.routers.beside.shortcuts.has_streams() {
            reach.receive_credits_among_streams(net);
        } else {
            let Reach { routers: Routers { fabric, .. }, interfaces } = reach;
            credits::receive(&mut fabric.wires, (&mut fabric.requests, interfaces), fabric.now, net);
        }
        // notes from other routers arrive that set queues aside for congested outputs
        if let Some(rules) = &net.set_aside {
            reach.routers.keep_set_asides(&mut reach.interfaces, net, rules);
        }
        // places in queues of the ideal map become free for heads that wait for them
        if let Some(rules) = &net.ideal {
            reach.routers.keep_places(&mut reach.interfaces, net, rules);
        }
        // arriving flits join the queues of their VCs, and new heads get a route
        reach.routers.receive_flits::<SINGLE>(net);
        // heads that arrived in this cycle reserve places in queues of the ideal map
        if net.ideal.is_some() {
            reach.routers.settle_arrivals(net);
        }
        reach.ask_for_closed(net);
        // outputs that were full can take flits again, and inputs get new rates of incoming flits
        if net.rates.is_some() {
            let Reach { routers: Routers { fabric, .. }, interfaces } = reach;
            pace::keep(&mut fabric.wires, (&mut fabric.requests, interfaces), fabric.now);
        }
        // sources create packets for the injection channels
        reach.inject::<SINGLE>(net);
        // timers of the policy change the states of links
        reach.manage_power(net);
        // for watched packets, the reasons why heads wait are recorded
        if net.watches {
            let Reach { routers: Routers { fabric, beside }, interfaces } = reach;
            fabric.watch_cycle(interfaces, &beside.policy, net, &mut beside.observers.watch);
        }
        // step by step, heads get VCs, and flits cross the switch to the links
        reach.allocate::<SINGLE>(net, allocator);
        reach.routers.fabric.now += 1;
    }

    /// Advances the block to cycle `until`. Skips cycles in which nothing can happen, if the block uses the shortcut for idle time.
    pub(crate) fn advance(&mut self, net: &Net, allocator: &dyn SwitchAllocator<W, V>, until: u64) {
        if net.notes_after.is_some() {
            self.reach.interfaces.exchange_notes(net, (self.reach.routers.fabric.now, until));
        }
        while self.reach.routers.fabric.now < until {
            if self.reach.routers.beside.shortcuts.has(Kind::Idle) && self.is_quiet() {
                self.reach.routers.fabric.now = self.next_event(net, until);
                if self.reach.routers.fabric.now == until {
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
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Reserves a slot for a packet. If `single` is true, this also reserves the segment with the same number.
    #[inline(always)]
    pub(crate) fn new_packet(&mut self, single: bool) -> u32 {
        let id = self.buffers.packets.take();
        if id as usize >= self.buffers.segments.items.len() && single {
            self.buffers.segments.items.push(Segment::of_single(id));
        }
        id
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Receives the mail that another block has sent to this block.
    pub(crate) fn take(&mut self, net: &Net, mail: &mut Mail) {
        let Routers { fabric, beside } = &mut self.reach.routers;
        for &(at, mut flit) in &mail.flits {
            if flit.packet != NONE {
                let id = fabric.new_packet(net.single);
                fabric.buffers.packets.bring_free();
                fabric.buffers.packets.items[id as usize] = mail.packets[flit.packet as usize];
                flit.packet = id;
            }
            fabric.wires.flits.push(fabric.now, at, flit);
        }
        for &(at, credit) in &mail.credits {
            fabric.wires.credits.push(fabric.now, at, credit);
        }
        mail.slowed.drain(..).for_each(|(at, slowed)| fabric.wires.paces.slow_from(fabric.now, at, slowed));
        mail.messages.drain(..).for_each(|(at, arrival)| beside.policy.control.post_in(fabric.now, at, arrival));
        mail.notes.drain(..).for_each(|(at, note)| fabric.set_asides.notes.push(fabric.now, at, note));
        mail.places.drain(..).for_each(|(at, place)| fabric.ideal.returned.push(fabric.now, at, place));
        mail.flits.clear();
        mail.packets.clear();
        mail.credits.clear();
    }
}
