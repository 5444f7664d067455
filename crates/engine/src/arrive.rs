//! Credits and flits that reach their port in this cycle.

use crate::hot::Hot;
use crate::block::Block;
use crate::net::Net;
use crate::state::{ASK, Kind, NO_KEY, NONE, Segment};

impl<const W: usize, const V: usize> Block<W, V> {
    pub(crate) fn receive_credits(&mut self, net: &Net) {
        let always = net.packet_flits > 1;
        while let Some((chunk, len)) = self.credits.due(self.now) {
            for k in 0..len {
                let word = self.credits.item(chunk, k);
                self.credit((word >> 4) as usize, word & 15, always);
            }
            self.credits.release(self.now);
        }
        if let Some(history) = &mut self.history {
            history.expire(self.now);
        }
    }

    /// One flit of buffer is free again behind output `o`. `always`: a VC that had credits may still have been too full.
    #[inline(always)]
    fn credit(&mut self, o: usize, vc: u32, always: bool) {
        let out = self.outs.hot_mut(o);
        let credits = out.credits.hot_mut(vc as usize);
        *credits += 1;
        if *credits > 1 && !always {
            return;
        }
        let bit = 1u16 << vc;
        out.credit |= bit;
        if out.kind == Kind::Injection {
            let terminal = self.terminals.hot_mut(out.router as usize);
            if terminal.waiting {
                terminal.waiting = false;
                self.busy.set(out.router as usize);
            }
        } else {
            let r = out.router as usize;
            let router = self.routers.hot_mut(r);
            let port = o - router.base as usize;
            if out.ready & bit != 0 {
                router.go.set(port);
                self.active.set(r);
            }
            if out.wanting != 0 && out.free & bit != 0 {
                router.want.set(port);
                self.active.set(r);
            }
        }
    }

    pub(crate) fn receive_flits<const SINGLE: bool>(&mut self, net: &Net) {
        while let Some((chunk, len)) = self.flits.due(self.now) {
            for k in 0..len {
                let flit = self.flits.item(chunk, k);
                let (i, v) = ((flit.to >> 4) as usize, (flit.to & 15) as usize);
                if !SINGLE && flit.packet == NONE {
                    self.receive_body(i, v);
                } else {
                    let segment = Segment {
                        packet: flit.packet,
                        next: NONE,
                        arrived: 1,
                        sent: 0,
                        len: flit.len,
                        key: flit.key,
                    };
                    self.receive_head::<SINGLE>(net, i, v, segment);
                }
            }
            self.flits.release(self.now);
        }
    }

    #[inline(always)]
    fn receive_head<const SINGLE: bool>(&mut self, net: &Net, i: usize, v: usize, segment: Segment) {
        let id = if SINGLE {
            *self.segments.items.hot_mut(segment.packet as usize) = segment;
            segment.packet
        } else {
            self.segments.add(segment)
        };
        let port = self.ins.hot_mut(i);
        let tail = std::mem::replace(port.tail.hot_mut(v), id);
        if *port.head.hot(v) == NONE {
            *port.head.hot_mut(v) = id;
            self.expose(net, i, v);
        } else {
            self.segments.items.hot_mut(tail as usize).next = id;
        }
    }

    #[inline(always)]
    fn receive_body(&mut self, i: usize, v: usize) {
        let port = self.ins.hot(i);
        let tail = *port.tail.hot(v);
        let segment = self.segments.items.hot_mut(tail as usize);
        let was_dry = segment.arrived == segment.sent;
        segment.arrived += 1;
        if was_dry && *port.head.hot(v) == tail && *port.keys.hot(v) == NO_KEY {
            let held = *port.held.hot(v);
            let (p, vc) = ((held >> 4) as usize, held & 15);
            let r = port.router as usize;
            let router = self.routers.hot_mut(r);
            let out = self.outs.hot_mut(router.base as usize + p);
            out.ready |= 1 << vc;
            if out.credit >> vc & 1 != 0 {
                router.go.set(p);
                self.active.set(r);
            }
        }
    }

    /// A packet has become the head of VC `v` of input `i`: it starts to ask for an output VC.
    #[inline(always)]
    pub(crate) fn expose(&mut self, net: &Net, i: usize, v: usize) {
        let port = self.ins.hot(i);
        let segment = *self.segments.items.hot(*port.head.hot(v) as usize);
        let mut key = segment.key;
        let r = port.router as usize;
        if key == ASK {
            key = self.route_here(net, r, segment.packet);
        }
        let port = self.ins.hot_mut(i);
        *port.keys.hot_mut(v) = key;
        let (p, class) = split(key, net.class_bits);
        let router = self.routers.hot_mut(r);
        let o = router.base as usize + p;
        self.want.hot_mut(net.slot(o, class)).set(port.port as usize);
        let out = self.outs.hot_mut(o);
        out.wanting |= 1 << class;
        if out.free & out.credit & net.links.hot(out.class as usize).vcs_of.hot(class) != 0 {
            router.want.set(p);
            self.active.set(r);
        } else if out.state != crate::power::LinkState::On as u8 {
            self.power.wanted(o, self.now, out);
        }
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Route key of a packet whose routing reads the queues of router `r`, where it is.
    #[inline(never)]
    fn route_here(&mut self, net: &Net, r: usize, packet: u32) -> u16 {
        let router = self.routers.hot(r);
        let base = router.base as usize;
        let queues = crate::routing::sensor::Queues {
            outs: &self.outs[base..],
            links: &net.links,
            history: self.history.as_ref().map(|h| h.sent(base)),
            now: self.now as u32,
        };
        let packet = self.packets.items.hot_mut(packet as usize);
        let hop = net.routing.head(*net.coords.hot(router.id as usize), &queues, packet, net.seed);
        net.key(hop.port as usize, hop.class as usize)
    }
}

/// Output and class of a key.
#[inline(always)]
pub(crate) fn split(key: u16, class_bits: u32) -> (usize, usize) {
    ((key >> class_bits) as usize, (key & ((1 << class_bits) - 1)) as usize)
}
