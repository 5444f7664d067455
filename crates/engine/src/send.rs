//! A granted flit leaves its input queue for the link (or for its terminal).

use crate::block::Block;
use crate::net::Net;
use crate::state::{ASK, Flit, Kind, NONE};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Sends the next flit of the packet that holds VC `vc` of output `p` of router `r`.
    #[inline(always)]
    pub(crate) fn send(&mut self, net: &Net, r: usize, p: usize, vc: usize) {
        let base = self.routers[r].base as usize;
        let o = base + p;
        let out = &mut self.outs[o];
        let holder = out.holder[vc];
        let (i, v) = (base + (holder >> 4) as usize, (holder & 15) as usize);
        let port = &mut self.ins[i];
        let id = port.head[v];
        let segment = &mut self.segments.items[id as usize];
        segment.sent += 1;
        let (head, tail) = (segment.sent == 1, segment.sent == segment.len);
        let dry = segment.sent == segment.arrived;
        let packet = segment.packet;
        let len = segment.len;
        let next = segment.next;

        out.credits[vc] -= 1;
        out.flits += 1;
        if out.credits[vc] == 0 {
            out.credit &= !(1 << vc);
        }
        let link = &net.links[out.class as usize];
        let wait = out.next_free.wrapping_sub((self.now + net.after_grant) as u32) as i32;
        let depart = self.now + net.after_grant + wait.max(0) as u64;
        out.next_free = (depart + 1) as u32;
        if let Some(history) = &mut self.history {
            history.sent_one(self.now, o, out.class);
        }

        let credit_at = self.now + net.links[port.class as usize].credit_latency;
        if port.remote {
            let cut = self.cuts[port.upstream as usize];
            self.outbox[cut.block as usize].credits.push((credit_at, cut.port << 4 | v as u32));
        } else {
            self.credits.push(self.now, credit_at, port.upstream << 4 | v as u32);
        }

        if tail {
            out.free |= 1 << vc;
            out.ready &= !(1 << vc);
            if out.wanting != 0 {
                self.routers[r].want.set(p);
            }
            port.head[v] = next;
        } else if dry {
            out.ready &= !(1 << vc);
        }

        let at = depart + link.latency;
        let (kind, peer) = (out.kind, out.peer);
        if kind == Kind::Ejection {
            self.credits.push(self.now, at + link.credit_latency, (o << 4 | vc) as u32);
            self.tally.accepted(at + net.ejection_delay);
            if tail {
                self.tally.deliver(net, &self.packets.items[packet as usize], at + net.ejection_delay);
                self.packets.remove(packet);
            }
        } else {
            let head_at = head.then(|| (packet, self.next_router[o]));
            self.forward(net, kind, peer, vc, at, head_at, len);
            if head && kind == Kind::Remote {
                self.packets.remove(packet);
                self.segments.items[id as usize].packet = NONE;
            }
        }
        self.tally.flit_hops += 1;
        if tail {
            self.segments.remove(id);
            if next != NONE {
                self.expose(net, i, v);
            }
        }
    }

    /// Puts a flit on the link; a head's route at the next router is worked out while its packet is at hand.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    fn forward(&mut self, net: &Net, kind: Kind, peer: u32, vc: usize, at: u64, head: Option<(u32, u32)>, len: u16) {
        let mut flit = Flit { to: peer << 4 | vc as u32, packet: NONE, key: ASK, len };
        if let Some((id, router)) = head {
            let packet = &mut self.packets.items[id as usize];
            packet.hops += 1;
            flit.packet = id;
            flit.key = net.routing.next(net.coords[router as usize], packet, net.seed).map_or(ASK, |h| h.key(net.classes));
        }
        if kind == Kind::Remote {
            let cut = self.cuts[peer as usize];
            let mail = &mut self.outbox[cut.block as usize];
            flit.to = cut.port << 4 | vc as u32;
            if flit.packet != NONE {
                mail.packets.push(self.packets.items[flit.packet as usize]);
                flit.packet = mail.packets.len() as u32 - 1;
            }
            mail.flits.push((at, flit));
        } else {
            self.flits.push(self.now, at, flit);
        }
    }
}
