//! A granted flit leaves its input queue for the link (or for its terminal).

use crate::block::Block;
use crate::hot::Hot;
use crate::net::Net;
use crate::state::{ASK, Flit, Kind, NONE};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Sends the next flit of VC `v` of input `i` on VC `vc` of output `p` of router `r`.
    #[inline(always)]
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn send<const SINGLE: bool>(&mut self, net: &Net, r: usize, base: usize, p: usize, i: usize, v: usize, vc: usize) {
        let (o, i) = (base + p, base + i);
        let port = self.ins.hot_mut(i);
        let id = *port.head.hot(v);
        let segment = self.segments.items.hot_mut(id as usize);
        segment.sent += u16::from(!SINGLE);
        let (head, tail) = (SINGLE || segment.sent == 1, SINGLE || segment.sent == segment.len);
        let dry = segment.sent == segment.arrived;
        let packet = if SINGLE { id } else { segment.packet };
        let (len, next) = (if SINGLE { 1 } else { segment.len }, segment.next);

        if tail {
            *port.head.hot_mut(v) = next;
        }
        let (upstream, remote) = (port.upstream, port.remote);
        let credit_at = self.now + net.links.hot(port.class as usize).credit_latency;
        if remote {
            self.mail_credit(upstream, v, credit_at);
        } else {
            self.credits.push(self.now, credit_at, upstream << 4 | v as u32);
        }

        let out = self.outs.hot_mut(o);
        if tail && (!SINGLE || net.vc_realloc) {
            out.free |= 1 << vc;
            out.ready &= !(1 << vc);
            if out.wanting != 0 {
                self.routers.hot_mut(r).want.set(p);
            }
        } else if dry && !SINGLE {
            out.ready &= !(1 << vc);
        }

        out.flits += 1;
        let credits = out.credits.hot_mut(vc);
        *credits -= 1;
        if *credits == 0 {
            out.credit &= !(1 << vc);
        }
        let earliest = self.now + net.after_grant;
        let depart = earliest + (out.next_free.wrapping_sub(earliest as u32) as i32).max(0) as u64;
        out.next_free = (depart + 1) as u32;
        let link = net.links.hot(out.class as usize);
        let at = depart + link.latency;
        let (kind, peer, class) = (out.kind, out.peer, out.class);
        if kind == Kind::Ejection {
            self.credits.push(self.now, at + link.credit_latency, (o << 4 | vc) as u32);
            self.tally.accepted(at + net.ejection_delay);
            if tail {
                self.tally.deliver(net, self.packets.items.hot(packet as usize), at + net.ejection_delay);
                self.packets.remove(packet);
            }
        } else {
            let to = peer << 4 | vc as u32;
            let mut flit = Flit { to, packet: NONE, key: ASK, len };
            if head {
                let router = *self.next_router.hot(o) as usize;
                let packet_record = self.packets.items.hot_mut(packet as usize);
                packet_record.hops += 1;
                flit.packet = packet;
                flit.key = net.route_ahead(router, packet_record);
            }
            if kind == Kind::Local {
                self.flits.push(self.now, at, flit);
            } else {
                self.mail_flit(peer, vc, at, flit, id);
            }
        }
        self.tally.flit_hops += 1;
        if let Some(history) = &mut self.history {
            history.sent_one(self.now, o, class);
        }
        if tail {
            if !SINGLE {
                self.segments.remove(id);
            }
            if next != NONE {
                self.expose(net, i, v);
            }
        }
    }

    #[inline(never)]
    fn mail_credit(&mut self, cut: u32, vc: usize, at: u64) {
        let cut = self.cuts[cut as usize];
        self.outbox[cut.block as usize].credits.push((at, cut.port << 4 | vc as u32));
    }

    /// Sends a flit to another block; a head takes its packet along.
    #[inline(never)]
    fn mail_flit(&mut self, cut: u32, vc: usize, at: u64, mut flit: Flit, segment: u32) {
        let cut = self.cuts[cut as usize];
        let mail = &mut self.outbox[cut.block as usize];
        flit.to = cut.port << 4 | vc as u32;
        if flit.packet != NONE {
            mail.packets.push(self.packets.items[flit.packet as usize]);
            self.packets.remove(flit.packet);
            self.segments.items[segment as usize].packet = NONE;
            flit.packet = mail.packets.len() as u32 - 1;
        }
        mail.flits.push((at, flit));
    }
}
