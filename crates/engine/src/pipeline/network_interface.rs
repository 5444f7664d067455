//! Sources: every terminal in a job has a clock that creates packets and an injection channel of one flit per cycle.
//!
//! The clock is virtual: the next packet is made when the previous one has left, with the creation time of an infinite
//! queue. Nothing grows at overload; the backlog is counted at the end from the clock itself.

use crate::base::bits::pick16;
use crate::base::unchecked::Hot;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::{Flit, MEASURED, NONE, Packet, UNDECIDED};

impl<const W: usize, const V: usize> Block<W, V> {
    pub(crate) fn inject<const SINGLE: bool>(&mut self, net: &Net) {
        let measured = u64::from(self.tally.inside(self.now));
        if net.replies {
            self.answer(net);
        }
        for word in 0..self.busy.0.len() {
            let mut bits = *self.busy.0.hot(word);
            while bits != 0 {
                let t = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.send_from::<SINGLE>(net, t, measured);
            }
        }
        while let Some((chunk, len)) = self.alarms.due(self.now) {
            for k in 0..len {
                let t = self.alarms.item(chunk, k) as usize;
                if net.replies {
                    if self.wakes(t) {
                        self.send_from::<SINGLE>(net, t, measured);
                    }
                } else if self.terminals.hot(t).next_packet <= self.now {
                    if !SINGLE {
                        self.busy.set(t);
                    }
                    self.send_from::<SINGLE>(net, t, measured);
                } else if self.terminals.hot(t).next_packet < u64::MAX {
                    self.sleep(t, self.now);
                }
            }
            self.alarms.release(self.now);
        }
    }

    /// Wakes terminal `t` when its next packet is created; at `from` at the earliest.
    #[inline(always)]
    pub(crate) fn sleep(&mut self, t: usize, from: u64) {
        let due = self.terminals.hot_mut(t).next_packet;
        if due <= from {
            self.busy.set(t);
        } else {
            self.busy.clear(t);
            let at = due.min(self.now + self.alarms.horizon() - 1);
            self.alarms.push(self.now, at, t as u32);
        }
    }

    /// Sends one flit of terminal `t`, whose next packet is already created. `measured`: flits of this cycle that count.
    fn send_from<const SINGLE: bool>(&mut self, net: &Net, t: usize, measured: u64) {
        if self.terminals.hot_mut(t).packet == NONE {
            let has_one = if net.replies { self.take_up::<SINGLE>(net, t) } else { self.create::<SINGLE>(net, t) };
            if !has_one {
                return;
            }
        }
        let terminal = self.terminals.hot_mut(t);
        let out = self.outs.hot_mut(terminal.out as usize);
        let head = SINGLE || terminal.vc == u8::MAX;
        let vc = if head {
            let open = out.available_vcs::<SINGLE>();
            if open == 0 {
                return self.wait_for_credit(t);
            }
            let vc = pick16(open, out.rr_vc);
            terminal.vc = vc;
            out.rr_vc = (vc + 1) & 15;
            vc as usize
        } else {
            terminal.vc as usize
        };
        if !SINGLE && out.vcs_with_credit >> vc & 1 == 0 {
            return self.wait_for_credit(t);
        }
        out.spend::<SINGLE>(vc, net.room);
        let mut flit = Flit { to: out.peer << 4 | vc as u32, packet: NONE, key: UNDECIDED, len: 1 };
        if head {
            let packet = self.packets.items.hot_mut(terminal.packet as usize);
            packet.injected = self.now;
            flit.packet = terminal.packet;
            flit.len = if SINGLE { 1 } else { packet.len };
            flit.key = net.route_ahead(net.terminal_at.hot(terminal.id as usize).0 as usize, packet);
        }
        self.flits.push(self.now, self.now + net.links.hot(0).latency, flit);
        self.tally.injected_flits += measured;
        if !SINGLE {
            terminal.left -= 1;
            if terminal.left > 0 {
                return;
            }
        }
        terminal.packet = NONE;
        if net.replies {
            return self.put_down(net, t);
        }
        terminal.next_packet = net.next_packet(terminal, self.memory.hot_mut(t), terminal.next_packet, 0);
        self.sleep(t, self.now + 1);
    }

    fn wait_for_credit(&mut self, t: usize) {
        self.terminals.hot_mut(t).waiting = true;
        self.busy.clear(t);
    }

    /// Makes the packet of terminal `t` that was due; false if the pattern sends nothing from here.
    #[inline(always)]
    pub(crate) fn create<const SINGLE: bool>(&mut self, net: &Net, t: usize) -> bool {
        let terminal = self.terminals.hot_mut(t);
        let clock = net.clocks.hot(terminal.clock as usize);
        let Some(dst) = net.destination(clock, terminal.id, &mut terminal.targets) else {
            self.skip(net, t);
            return false;
        };
        let (router, port) = *net.terminal_at.hot(dst as usize);
        let created = terminal.next_packet;
        let measured = self.tally.inside(created);
        let dest = *net.coords.hot(router as usize);
        let seq = terminal.seq;
        terminal.seq = seq.wrapping_add(1);
        (terminal.left, terminal.vc) = (clock.packet_flits, u8::MAX);
        let src = terminal.id;
        let id = self.new_packet(SINGLE);
        self.terminals.hot_mut(t).packet = id;
        let packet = self.packets.items.hot_mut(id as usize);
        *packet = Packet {
            created,
            target: dest,
            dest,
            src,
            dst,
            seq,
            len: clock.packet_flits,
            dst_port: port,
            flags: if measured { MEASURED } else { 0 },
            ..Packet::default()
        };
        if net.needs.draws_path {
            net.routing.inject(packet, net.seed);
        }
        self.tally.created += u64::from(measured);
        if net.creation_slow_path {
            self.created_slow_path(net, t, id, measured);
        }
        true
    }

    /// Terminal `t` has made packet `id`, which is counted by its job or watched.
    #[inline(never)]
    fn created_slow_path(&mut self, net: &Net, t: usize, id: u32, measured: bool) {
        if net.delivery_slow_path {
            let clock = self.terminals.hot(t).clock;
            self.tally.parts.created(net.clocks.hot(clock as usize).job, measured);
        }
        if net.watches {
            self.watch_creation(net, t, id, measured);
        }
    }

    /// The pattern sends nothing from terminal `t` now: its clock goes on.
    #[cold]
    fn skip(&mut self, net: &Net, t: usize) {
        let waiting = self.answers.waiting(t);
        let terminal = self.terminals.hot_mut(t);
        terminal.next_packet = net.next_packet(terminal, self.memory.hot_mut(t), terminal.next_packet, waiting);
        if net.replies {
            self.sleep_until_due(t, self.now + 1);
        } else {
            self.sleep(t, self.now + 1);
        }
    }
}
