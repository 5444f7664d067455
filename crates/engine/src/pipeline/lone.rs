//! Flits that are alone: each allocator lets them cross, so none is asked.
//!
//! A flit that comes to an empty queue, and whose packet holds an output VC with a credit or can take one, crosses the switch in
//! the same cycle if nobody else wants its output or leaves its input. Most flits do where links are not full. All others are left
//! to the allocator: tails with another packet behind them, which becomes a head; and all flits where somebody may see in which
//! order they leave a router (`Block::lone_flits_cross` is false). So are heads and tails of wide routers: there the allocator
//! has others to match in most cycles, and one more costs it less than it costs to see that a flit is alone.

use crate::base::bits::{Bits, pick16};
use crate::base::unchecked::Hot;
use crate::pipeline::arrive::split;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::pipeline::streams;
use crate::state::{BODY, ChannelEnd, Flit, Move, NO_REQUEST, NONE, RUN_BEGINS, occupied};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Sends those of the flits of this cycle that are alone, and leaves the others to the allocator.
    #[inline(never)]
    pub(crate) fn send_lone_flits<const SINGLE: bool>(&mut self, net: &Net) {
        for k in 0..self.fresh_flits.len() {
            let to = *self.fresh_flits.hot(k);
            let (i, v) = ((to >> 4) as usize, (to & 15) as usize);
            if SINGLE || *self.ins.hot(i).requests.hot(v) != NO_REQUEST {
                self.send_head_if_alone::<SINGLE>(net, i, v);
            } else {
                self.send_body_if_alone(net, i, v);
            }
        }
        self.fresh_flits.clear();
    }

    #[inline(never)]
    fn send_head_if_alone<const SINGLE: bool>(&mut self, net: &Net, i: usize, v: usize) {
        let port = self.ins.hot(i);
        let (p, class) = split(*port.requests.hot(v), net.class_bits);
        let (o, r, input) = (port.base(i) + p, port.router as usize, port.port);
        let out = self.outs.hot(o);
        let open = out.available_vcs::<SINGLE>() & net.vcs(out.class, class);
        let mut only = Bits::default();
        only.set(usize::from(input));
        let is_kept_apart = !SINGLE && net.hold_switch && out.free_vcs != net.links.hot(usize::from(out.class)).all;
        let is_alone = open != 0
            && !is_kept_apart
            && (SINGLE || out.vcs_with_flit == 0)
            && out.requested == 1 << class
            && *self.requesters.hot(net.slot(o, class)) == only
            && self.is_alone_in_input::<SINGLE>(i, v);
        if !is_alone {
            self.routers.hot_mut(r).vc_requests.set(p);
            self.active.set(r);
            return;
        }
        self.requesters.hot_mut(net.slot(o, class)).clear(usize::from(input));
        self.routers.hot_mut(r).vc_requests.clear(p);
        let (port, out) = (self.ins.hot_mut(i), self.outs.hot_mut(o));
        let vc = pick16(open, out.rr_vc);
        out.rr_vc = (vc + 1) & 15;
        out.requested = 0;
        *port.requests.hot_mut(v) = NO_REQUEST;
        if !SINGLE {
            port.hold(v as u8, p, vc);
            out.hold(vc, usize::from(input), v as u8);
        }
        self.send_one::<SINGLE>(net, r, Move { i: input, v: v as u8, p: p as u8, vc });
    }

    #[inline(always)]
    fn send_body_if_alone(&mut self, net: &Net, i: usize, v: usize) {
        let port = self.ins.hot(i);
        let (held, r, input) = (*port.output_vc.hot(v), port.router as usize, port.port);
        let (p, vc) = (usize::from(held >> 4), usize::from(held & 15));
        let o = port.base(i) + p;
        let out = self.outs.hot(o);
        let segment = self.segments.items.hot(*port.head.hot(v) as usize);
        let to_come = segment.len - segment.arrived;
        let is_tail = to_come == 0;
        let may_cross = !is_tail || self.lone_heads_cross && segment.next == NONE;
        let is_wanted_by_none_else = out.vcs_with_flit == 1 << vc && out.requested == 0;
        if !may_cross || !is_wanted_by_none_else || !self.is_alone_in_input::<false>(i, v) {
            self.routers.hot_mut(r).switch_requests.set(p);
            self.active.set(r);
        } else if is_tail {
            self.send_one::<false>(net, r, Move { i: input, v: v as u8, p: p as u8, vc: vc as u8 });
        } else if self.may_stream(net, (i, v), (o, vc), to_come) {
            self.send_first(net, (i, v), (p, vc));
        } else {
            self.send_lone::<false>(net, (i, v), (p, vc));
        }
    }

    /// As `send_lone`, and a stream begins.
    #[inline(never)]
    fn send_first(&mut self, net: &Net, (i, v): (usize, usize), (p, vc): (usize, usize)) {
        let at = self.send_lone::<true>(net, (i, v), (p, vc));
        let o = self.ins.hot(i).base(i) + p;
        self.begin_stream((i, v), (o, vc), at);
    }

    /// Whether nothing but VC `v` of input `i` may send from this input now.
    #[inline(always)]
    fn is_alone_in_input<const SINGLE: bool>(&self, i: usize, v: usize) -> bool {
        let port = self.ins.hot(i);
        let mut others = occupied(&port.head) & !(1 << v);
        if SINGLE {
            return others == 0;
        }
        while others != 0 {
            let other = others.trailing_zeros() as usize;
            others &= others - 1;
            let held = *port.output_vc.hot(other);
            let has_flit =
                || self.outs.hot(port.base(i) + usize::from(held >> 4)).vcs_with_flit >> (held & 15) & 1 != 0;
            if *port.requests.hot(other) != NO_REQUEST || has_flit() {
                return false;
            }
        }
        true
    }

    /// The only flit of VC `v` of input `i`, a body flit, crosses to VC `vc` of output port `p`. Input and output take turns as if
    /// an allocator had matched them. Returns when it arrives. `FIRST`: a run begins with it, and one with its credit.
    #[inline(always)]
    fn send_lone<const FIRST: bool>(&mut self, net: &Net, (i, v): (usize, usize), (p, vc): (usize, usize)) -> u64 {
        let (key, mark) = if FIRST { (RUN_BEGINS, streams::BEGINS) } else { (BODY, 0) };
        let port = self.ins.hot_mut(i);
        let o = port.base(i) + p;
        port.rr_out = p as u8 + 1;
        port.rr_vc = (v as u8 + 1) & 15;
        self.segments.items.hot_mut(*port.head.hot(v) as usize).sent += 1;
        let out = self.outs.hot_mut(o);
        out.rr_in = port.port + 1;
        out.vcs_with_flit = 0;
        out.spend::<false>(vc, net.room);
        let link = net.links.hot(usize::from(out.class));
        let at = out.depart(self.now + net.after_grant) + link.latency;
        let (kind, peer) = (out.kind, out.peer);
        if kind == ChannelEnd::Local {
            self.flits.push(self.now, at, Flit::of_body(peer << 4 | vc as u32, key));
        } else if kind == ChannelEnd::Ejection {
            self.credits.push(self.now, at + link.credit_latency, (o << 4 | vc) as u32 | mark);
            self.tally.accepted(at + net.ejection_delay);
        } else {
            self.mail_flit::<false>(peer, at, Flit::of_body(vc as u32, key), NONE);
        }
        self.return_marked(net, (i, v), self.now, mark);
        self.tally.flit_hops += 1;
        at
    }
}
