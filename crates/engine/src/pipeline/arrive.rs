//! Credits and flits that reach their port in this cycle.

use crate::api::agents::{Arrivals, Detour, Direct};
use crate::base::unchecked::Hot;
use crate::models::routing::sensor::Queues;
use crate::models::routing::{AnyRouting, Hop, pal, ugal_p};
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::{AROUND, ASK, Flit, Kind, LinkState, NO_KEY, NONE, Segment};

impl<const W: usize, const V: usize> Block<W, V> {
    pub(crate) fn receive_credits<const SINGLE: bool>(&mut self, net: &Net) {
        while let Some((first, len)) = self.credits.due(self.now) {
            for k in 0..len {
                let word = self.credits.item(first, k);
                self.credit::<SINGLE>((word >> 4) as usize, word & 15, net);
            }
            self.credits.release(self.now);
        }
        if let Some(history) = &mut self.history {
            history.expire(self.now);
        }
    }

    /// One flit of buffer is free again behind output `o`.
    #[inline(always)]
    fn credit<const SINGLE: bool>(&mut self, o: usize, vc: u32, net: &Net) {
        let out = self.outs.hot_mut(o);
        let credits = out.credits.hot_mut(vc as usize);
        *credits += 1;
        let (first, enough) = (*credits == 1, if SINGLE { *credits == 1 } else { *credits == net.room });
        // the VC stage gives VCs without credits, too, and looks for them whenever something moves
        if first || enough || (!SINGLE && net.vc_realloc) {
            let bit = 1u16 << vc;
            out.credit |= bit;
            if !SINGLE && enough {
                out.room |= bit;
            }
            self.wake(o, bit);
        }
    }

    /// Whoever waits for a VC of output `o` looks again.
    #[inline(always)]
    fn wake(&mut self, o: usize, vc: u16) {
        let out = self.outs.hot(o);
        let r = out.router as usize;
        if out.kind == Kind::Injection {
            let terminal = self.terminals.hot_mut(r);
            if terminal.waiting {
                terminal.waiting = false;
                self.busy.set(r);
            }
            return;
        }
        let router = self.routers.hot_mut(r);
        let port = o - router.base as usize;
        if out.ready & vc != 0 {
            router.go.set(port);
            self.active.set(r);
        }
        if out.wanting != 0 && out.free & vc != 0 {
            router.want.set(port);
            self.active.set(r);
        }
        if !router.choosing.is_empty() {
            self.active.set(r);
        }
    }

    pub(crate) fn receive_flits<const SINGLE: bool>(&mut self, net: &Net) {
        while let Some((first, len)) = self.flits.due(self.now) {
            if self.power.probes.arrivals
                && let Some(agents) = &mut self.agents
            {
                let flits = self.flits.items(first, len);
                agents.arrive(&Arrivals { now: self.now, flits, packets: &self.packets.items });
            }
            for k in 0..len {
                let flit = self.flits.item(first, k);
                if SINGLE || flit.packet != NONE {
                    self.receive_head::<SINGLE>(net, flit);
                } else {
                    self.receive_body((flit.to >> 4) as usize, (flit.to & 15) as usize);
                }
            }
            self.flits.release(self.now);
        }
        if net.routing_delay > 0 {
            self.open_vcs::<SINGLE>(net);
        }
    }

    #[inline(always)]
    fn receive_head<const SINGLE: bool>(&mut self, net: &Net, flit: Flit) {
        let (i, v) = ((flit.to >> 4) as usize, (flit.to & 15) as usize);
        let id = if SINGLE {
            let segment = self.segments.items.hot_mut(flit.packet as usize);
            (segment.next, segment.key) = (NONE, flit.key);
            flit.packet
        } else {
            self.segments.add(Segment {
                packet: flit.packet,
                next: NONE,
                arrived: 1,
                sent: 0,
                len: flit.len,
                key: flit.key,
            })
        };
        let port = self.ins.hot_mut(i);
        let tail = std::mem::replace(port.tail.hot_mut(v), id);
        if *port.head.hot(v) == NONE {
            *port.head.hot_mut(v) = id;
            self.expose::<SINGLE>(net, i, v, flit.packet, flit.key);
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
            let out = self.outs.hot_mut(port.base as usize + p);
            out.ready |= 1 << vc;
            if out.credit >> vc & 1 != 0 {
                let r = port.router as usize;
                self.routers.hot_mut(r).go.set(p);
                self.active.set(r);
            }
        }
    }

    /// A packet has become the head of VC `v` of input `i`: it starts to ask for an output VC.
    #[inline(always)]
    pub(crate) fn expose<const SINGLE: bool>(&mut self, net: &Net, i: usize, v: usize, packet: u32, mut key: u16) {
        if net.heads_apart {
            match self.expose_apart(net, i, v, packet, key) {
                Some(known) => key = known,
                None => return,
            }
        } else if key == ASK {
            key = self.route_here(net, self.ins.hot(i).router as usize, packet);
        }
        *self.ins.hot_mut(i).keys.hot_mut(v) = key;
        if net.class_bits == 0 {
            self.ask::<SINGLE>(net, i, key as usize, 0);
        } else {
            let (p, class) = split(key, net.class_bits);
            self.ask::<SINGLE>(net, i, p, class);
        }
    }

    /// A head of input `i` wants a class of output `p`.
    #[inline(always)]
    pub(crate) fn ask<const SINGLE: bool>(&mut self, net: &Net, i: usize, p: usize, class: usize) {
        let port = self.ins.hot(i);
        let (o, r) = (port.base as usize + p, port.router as usize);
        self.want.hot_mut(net.slot(o, class)).set(port.port as usize);
        let out = self.outs.hot_mut(o);
        out.wanting |= 1 << class;
        let open = out.open::<SINGLE>();
        if open != 0 && (net.class_bits == 0 || open & net.vcs(out.class, class) != 0) {
            self.routers.hot_mut(r).want.set(p);
            self.active.set(r);
        } else if out.state != LinkState::On as u8 {
            self.wait_for_link(net, o);
        }
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Route key of a packet whose routing reads the queues of router `r`, where it is.
    #[inline(never)]
    pub(crate) fn route_here(&mut self, net: &Net, r: usize, packet: u32) -> u16 {
        match &net.routing {
            AnyRouting::Pal(pal) if pal.crosses_grids() => self.route_pal::<true>(net, r, packet, pal),
            AnyRouting::Pal(pal) => self.route_pal::<false>(net, r, packet, pal),
            AnyRouting::UgalP(ugal) => self.route_ugal_p(net, r, packet, ugal),
            _ => self.route_by_queues(net, r, packet),
        }
    }

    /// For one routing alone, whose queues need not be laid out in memory.
    #[inline(never)]
    fn route_ugal_p(&mut self, net: &Net, r: usize, packet: u32, ugal: &ugal_p::Runtime) -> u16 {
        let router = self.routers.hot(r);
        let (views, history) = ((&self.views, r), self.history.as_ref());
        let queues = Queues::<V, false>::new(&self.outs, router.base, views, history, self.now, net);
        let packet = self.packets.items.hot_mut(packet as usize);
        let hop = ugal.head(*net.coords.hot(router.id as usize), &queues, packet, net.seed);
        net.key(hop.port as usize, hop.class as usize)
    }

    #[inline(never)]
    fn route_by_queues(&mut self, net: &Net, r: usize, packet: u32) -> u16 {
        let key = if net.trunk.width == 1 {
            self.route_beside::<false>(net, r, packet)
        } else {
            self.route_beside::<true>(net, r, packet)
        };
        if self.power.probes.routed
            && let Some(agents) = &mut self.agents
        {
            agents.routed(self.packets.items.hot(packet as usize));
        }
        key
    }

    #[inline(always)]
    fn route_beside<const TRUNK: bool>(&mut self, net: &Net, r: usize, packet: u32) -> u16 {
        let router = self.routers.hot(r);
        let (views, history) = ((&self.views, r), self.history.as_ref());
        let queues = Queues::<V, TRUNK>::new(&self.outs, router.base, views, history, self.now, net);
        let packet = self.packets.items.hot_mut(packet as usize);
        let hop = net.routing.head(*net.coords.hot(router.id as usize), &queues, packet, net.seed);
        net.key(hop.port as usize, hop.class as usize)
    }

    /// The same for PAL, whose choices the agents of the router want to know. `GRID`: on a HyperX.
    #[inline(never)]
    fn route_pal<const GRID: bool>(&mut self, net: &Net, r: usize, id: u32, pal: &pal::Runtime) -> u16 {
        let router = self.routers.hot(r);
        let (base, at) = (router.base as usize, *net.coords.hot(router.id as usize));
        let (views, history) = ((&self.views, r), self.history.as_ref());
        let queues = Queues::<V, false>::new(&self.outs, router.base, views, history, self.now, net);
        let packet = self.packets.items.hot_mut(id as usize);
        let leg = if GRID {
            pal::Runtime::leg_on_grid(at, packet)
        } else {
            pal.leg(at, packet, net.seed).expect("only members of a subnetwork choose")
        };
        let begins = pal.begins(leg, packet);
        let hop = pal.choose(at, leg, &queues, packet, net.seed);
        if packet.flags & AROUND != 0 {
            self.goes_around(net, r, (id, leg, hop), begins);
        } else if self.outs.hot(base + usize::from(hop.port)).state == LinkState::Shadow as u8 && begins {
            self.want_back(base + usize::from(hop.port));
        }
        net.key(hop.port as usize, hop.class as usize)
    }

    /// Packet `id` goes round at router `r`, where it begins its leg, or goes on.
    #[inline(never)]
    fn goes_around(&mut self, net: &Net, r: usize, (id, leg, hop): (u32, pal::Leg, Hop), begins: bool) {
        let (Some(agents), AnyRouting::Pal(pal)) = (&mut self.agents, &net.routing) else { return };
        let base = self.routers.hot(r).base as usize;
        let begins = begins.then(|| {
            let channel = base + usize::from(pal.direct_port(leg));
            Direct { subnet: leg.d, to: leg.to, channel, state: LinkState::of(self.outs.hot(channel).state) }
        });
        let (channel, flits) = (base + usize::from(hop.port), self.packets.items.hot(id as usize).len);
        agents.goes_around(&Detour { now: self.now, router: r, channel, flits, begins });
    }

    #[cold]
    fn want_back(&mut self, direct: usize) {
        if self.agents.is_some() {
            self.power.wanted_back.push(direct as u32);
        }
    }
}

/// Output and class of a key.
#[inline(always)]
pub(crate) fn split(key: u16, class_bits: u32) -> (usize, usize) {
    ((key >> class_bits) as usize, (key & ((1 << class_bits) - 1)) as usize)
}
