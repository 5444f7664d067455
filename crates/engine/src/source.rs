//! Sources: every terminal has a clock that creates packets (Bernoulli) and an injection channel of one flit per cycle.
//!
//! The clock is virtual: the next packet is made when the previous one has left, with the creation time of an infinite
//! queue. Nothing grows at overload; the backlog is counted at the end from the clock itself.

use crate::bits::pick16;
use crate::block::Block;
use crate::hot::Hot;
use crate::net::Net;
use crate::state::{ASK, Flit, MEASURED, NONE, Packet};

impl<const W: usize, const V: usize> Block<W, V> {
    pub(crate) fn inject<const SINGLE: bool>(&mut self, net: &Net) {
        let measured = u64::from(self.tally.inside(self.now));
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
                if self.terminals.hot(t).next_packet <= self.now {
                    if !SINGLE {
                        self.busy.set(t);
                    }
                    self.send_from::<SINGLE>(net, t, measured);
                } else {
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
        if self.terminals.hot_mut(t).packet == NONE && !self.create::<SINGLE>(net, t) {
            return;
        }
        let terminal = self.terminals.hot_mut(t);
        let out = self.outs.hot_mut(terminal.out as usize);
        let head = SINGLE || terminal.left == net.packet_flits;
        let vc = if head {
            let open = out.open::<SINGLE>();
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
        if !SINGLE && out.credit >> vc & 1 == 0 {
            return self.wait_for_credit(t);
        }
        out.spend::<SINGLE>(vc, net.room);
        let mut flit = Flit { to: out.peer << 4 | vc as u32, packet: NONE, key: ASK, len: net.packet_flits };
        if head {
            let packet = self.packets.items.hot_mut(terminal.packet as usize);
            packet.injected = self.now;
            flit.packet = terminal.packet;
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
        let gap = net.gaps.hot(terminal.rate as usize).draw(&mut terminal.gaps);
        terminal.next_packet += gap;
        self.sleep(t, self.now + 1);
    }

    fn wait_for_credit(&mut self, t: usize) {
        self.terminals.hot_mut(t).waiting = true;
        self.busy.clear(t);
    }

    /// Makes the packet of terminal `t` that was due; false if the pattern sends nothing from here.
    fn create<const SINGLE: bool>(&mut self, net: &Net, t: usize) -> bool {
        let terminal = self.terminals.hot_mut(t);
        let Some(dst) = net.pattern.destination(terminal.id, &mut terminal.targets) else {
            self.busy.clear(t);
            terminal.next_packet = u64::MAX;
            return false;
        };
        let (router, port) = *net.terminal_at.hot(dst as usize);
        let created = terminal.next_packet;
        let measured = created.wrapping_sub(net.phases.warmup) < net.phases.window;
        let dest = *net.coords.hot(router as usize);
        let seq = terminal.seq;
        terminal.seq = seq.wrapping_add(1);
        terminal.left = net.packet_flits;
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
            len: net.packet_flits,
            dst_port: port,
            flags: if measured { MEASURED } else { 0 },
            ..Packet::default()
        };
        if net.detours {
            net.routing.source(net, packet);
        }
        self.tally.created += u64::from(measured);
        true
    }
}
