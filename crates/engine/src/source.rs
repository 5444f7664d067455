//! Sources: every terminal has a clock that creates packets (Bernoulli) and an injection channel of one flit per cycle.
//!
//! The clock is virtual: the next packet is made when the previous one has left, with the creation time of an infinite
//! queue. Nothing grows at overload; the backlog is counted at the end from the clock itself.

use crate::block::Block;
use crate::net::Net;
use crate::spec::FlowControl;
use crate::state::{ASK, Flit, MEASURED, NONE, Packet};

impl<const W: usize, const V: usize> Block<W, V> {
    pub(crate) fn inject(&mut self, net: &Net) {
        while let Some((chunk, len)) = self.alarms.due(self.now) {
            for k in 0..len {
                let t = self.alarms.item(chunk, k);
                self.sleep(t as usize, self.now);
            }
            self.alarms.release(self.now);
        }
        for word in 0..self.busy.0.len() {
            let mut bits = self.busy.0[word];
            while bits != 0 {
                let t = word * 64 + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                self.send_from(net, t);
            }
        }
    }

    /// Wakes terminal `t` when its next packet is created; at `from` at the earliest.
    pub(crate) fn sleep(&mut self, t: usize, from: u64) {
        let due = self.terminals[t].next_packet;
        if due <= from {
            self.busy.set(t);
        } else {
            self.busy.clear(t);
            let at = due.min(self.now + self.alarms.horizon() - 1);
            self.alarms.push(self.now, at, t as u32);
        }
    }

    /// Sends one flit of terminal `t`, whose next packet is already created.
    fn send_from(&mut self, net: &Net, t: usize) {
        if self.terminals[t].packet == NONE && !self.create(net, t) {
            return;
        }
        let terminal = &mut self.terminals[t];
        let out = &mut self.outs[terminal.out as usize];
        let head = terminal.left == net.packet_flits;
        if head {
            let room = if net.flow_control == FlowControl::VirtualCutThrough { net.packet_flits } else { 1 };
            let Some(vc) = next_vc(&out.credits, net.links[0].all, out.rr_vc, room) else {
                return self.wait_for_credit(t);
            };
            terminal.vc = vc;
            out.rr_vc = (vc + 1) & 15;
        }
        let vc = terminal.vc as usize;
        if out.credits[vc] == 0 {
            return self.wait_for_credit(t);
        }
        out.credits[vc] -= 1;
        out.flits += 1;
        let mut flit = Flit { to: out.peer << 4 | vc as u32, packet: NONE, key: ASK, len: net.packet_flits };
        if head {
            let packet = &mut self.packets.items[terminal.packet as usize];
            packet.injected = self.now;
            flit.packet = terminal.packet;
            let (router, _) = net.terminal_at[terminal.id as usize];
            flit.key = net.routing.next(net.coords[router as usize], packet, net.seed).map_or(ASK, |h| h.key(net.classes));
        }
        self.flits.push(self.now, self.now + net.links[0].latency, flit);
        self.tally.injected(self.now);
        terminal.left -= 1;
        if terminal.left == 0 {
            terminal.packet = NONE;
            let gap = net.gaps[terminal.rate as usize].draw(&mut terminal.gaps);
            terminal.next_packet += gap;
            self.sleep(t, self.now + 1);
        }
    }

    fn wait_for_credit(&mut self, t: usize) {
        self.terminals[t].waiting = true;
        self.busy.clear(t);
    }

    /// Makes the packet of terminal `t` that was due; false if the pattern sends nothing from here.
    fn create(&mut self, net: &Net, t: usize) -> bool {
        let terminal = &mut self.terminals[t];
        let Some(dst) = net.pattern.destination(terminal.id, &mut terminal.targets) else {
            self.busy.clear(t);
            terminal.next_packet = u64::MAX;
            return false;
        };
        let (router, port) = net.terminal_at[dst as usize];
        let created = terminal.next_packet;
        let (start, end) = net.window();
        let measured = created >= start && created < end;
        let dest = net.coords[router as usize];
        let mut packet = Packet {
            created,
            target: dest,
            dest,
            src: terminal.id,
            dst,
            seq: terminal.seq,
            len: net.packet_flits,
            dst_port: port,
            flags: if measured { MEASURED } else { 0 },
            ..Packet::default()
        };
        net.routing.source(net, &mut packet);
        terminal.seq = terminal.seq.wrapping_add(1);
        terminal.left = net.packet_flits;
        terminal.packet = self.packets.add(packet);
        self.tally.created += u64::from(measured);
        true
    }
}

/// The next VC in turn with room for `room` flits.
fn next_vc<const V: usize>(credits: &[u16; V], allowed: u16, from: u8, room: u16) -> Option<u8> {
    let mut mask = 0u16;
    for (vc, &c) in credits.iter().enumerate() {
        mask |= u16::from(c >= room) << vc;
    }
    mask &= allowed;
    (mask != 0).then(|| crate::bits::pick16(mask, from))
}
