//! Credits and flits that reach their port in this cycle.

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
        let out = &mut self.outs[o];
        let bit = 1u16 << vc;
        out.credits[vc as usize] += 1;
        let first = out.credit & bit == 0;
        out.credit |= bit;
        if out.kind == Kind::Injection {
            let terminal = &mut self.terminals[out.router as usize];
            if terminal.waiting {
                terminal.waiting = false;
                self.busy.set(out.router as usize);
            }
        } else if first || always {
            let r = out.router as usize;
            let router = &mut self.routers[r];
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

    pub(crate) fn receive_flits(&mut self, net: &Net) {
        while let Some((chunk, len)) = self.flits.due(self.now) {
            for k in 0..len {
                let flit = self.flits.item(chunk, k);
                let (i, v) = ((flit.to >> 4) as usize, (flit.to & 15) as usize);
                if flit.packet == NONE {
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
                    self.receive_head(net, i, v, segment);
                }
            }
            self.flits.release(self.now);
        }
    }

    #[inline(always)]
    fn receive_head(&mut self, net: &Net, i: usize, v: usize, segment: Segment) {
        let id = self.segments.add(segment);
        let port = &mut self.ins[i];
        let tail = port.tail[v];
        port.tail[v] = id;
        if port.head[v] == NONE {
            port.head[v] = id;
            self.expose(net, i, v);
        } else {
            self.segments.items[tail as usize].next = id;
        }
    }

    #[inline(always)]
    fn receive_body(&mut self, i: usize, v: usize) {
        let port = &self.ins[i];
        let tail = port.tail[v];
        let segment = &mut self.segments.items[tail as usize];
        let was_dry = segment.arrived == segment.sent;
        segment.arrived += 1;
        if was_dry && port.head[v] == tail && port.keys[v] == NO_KEY {
            let held = port.held[v];
            let (p, vc) = ((held >> 4) as usize, held & 15);
            let r = port.router as usize;
            let router = &mut self.routers[r];
            let out = &mut self.outs[router.base as usize + p];
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
        let port = &mut self.ins[i];
        let segment = self.segments.items[port.head[v] as usize];
        let mut key = segment.key;
        let r = port.router as usize;
        let router = &mut self.routers[r];
        let base = router.base as usize;
        if key == ASK {
            let packet = &mut self.packets.items[segment.packet as usize];
            let queues = crate::routing::sensor::Queues {
                outs: &self.outs[base..],
                links: &net.links,
                history: self.history.as_ref().map(|h| h.sent(base)),
                now: self.now as u32,
            };
            let hop = net.routing.head(net.coords[router.id as usize], &queues, packet, net.seed);
            key = hop.key(net.classes);
        }
        port.keys[v] = key;
        let (p, class) = split(key, net.classes);
        let o = base + p;
        self.want[o * net.classes + class].set(port.port as usize);
        let out = &mut self.outs[o];
        out.wanting |= 1 << class;
        if out.free & out.credit & net.links[out.class as usize].vcs_of[class] != 0 {
            router.want.set(p);
            self.active.set(r);
        } else if out.state != crate::power::LinkState::On as u8 {
            self.power.wanted(o, self.now, out);
        }
    }
}

/// Output and class of a key.
#[inline(always)]
pub(crate) fn split(key: u16, classes: usize) -> (usize, usize) {
    match classes {
        1 => (key as usize, 0),
        2 => ((key >> 1) as usize, (key & 1) as usize),
        4 => ((key >> 2) as usize, (key & 3) as usize),
        n => ((key as usize) / n, (key as usize) % n),
    }
}

