//! Body flits that are alone: each allocator lets them cross, so none is asked.
//!
//! A body flit that comes to an empty queue, and whose packet holds an output VC with a credit, crosses the switch in the same
//! cycle if nobody else wants its output or leaves its input. Most flits of long packets do. All others are left to the
//! allocator: tails, after which others become heads; and all flits where somebody may see in which order they leave a router
//! (`Block::lone_flits_cross` is false). A flit that is alone may be the first of a stream (`streams.rs`).

use crate::base::unchecked::Hot;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::pipeline::streams;
use crate::state::{BODY, ChannelEnd, Flit, NO_REQUEST, NONE, RUN_BEGINS, occupied};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Sends those of the body flits of this cycle that are alone, and leaves the others to the allocator. `STREAMS`: one that is alone
    /// may open a stream.
    #[inline(never)]
    pub(crate) fn send_lone_flits<const STREAMS: bool>(&mut self, net: &Net) {
        let earliest = self.now + net.after_grant;
        for k in 0..self.fresh_flits.len() {
            let to = *self.fresh_flits.hot(k);
            let (i, v) = ((to >> 4) as usize, (to & 15) as usize);
            let port = self.ins.hot(i);
            let held = *port.output_vc.hot(v);
            let (p, vc) = (usize::from(held >> 4), usize::from(held & 15));
            let o = port.base(i) + p;
            if !self.is_alone(i, v, o, vc) {
                let r = port.router as usize;
                self.routers.hot_mut(r).switch_requests.set(p);
                self.active.set(r);
            } else if STREAMS && self.may_open_stream(net, (i, v), (o, vc)) {
                self.open_stream(net, (i, v), (p, vc));
            } else {
                self.send_lone::<false>(net, (i, v), (p, vc), earliest);
            }
        }
        self.fresh_flits.clear();
    }

    /// Whether VC `v` of input `i`, which has one flit for VC `vc` of output `o`, is the only one that may send to this output or
    /// from this input now, and the flit is no tail.
    #[inline(always)]
    fn is_alone(&self, i: usize, v: usize, o: usize, vc: usize) -> bool {
        let (port, out) = (self.ins.hot(i), self.outs.hot(o));
        let segment = self.segments.items.hot(*port.head.hot(v) as usize);
        if out.vcs_with_flit != 1 << vc || out.requested != 0 || segment.arrived == segment.len {
            return false;
        }
        let mut others = occupied(&port.head) & !(1 << v);
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
    /// an allocator had matched them. Returns when the flit arrives. `FIRST`: a run begins with it, and one with its credit.
    #[inline(always)]
    pub(crate) fn send_lone<const FIRST: bool>(
        &mut self,
        net: &Net,
        (i, v): (usize, usize),
        (p, vc): (usize, usize),
        earliest: u64,
    ) -> u64 {
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
        let at = out.depart(earliest) + link.latency;
        let (kind, peer) = (out.kind, out.peer);
        if kind == ChannelEnd::Local {
            self.flits.push(self.now, at, Flit::of_run(peer << 4 | vc as u32, key));
        } else if kind == ChannelEnd::Ejection {
            self.credits.push(self.now, at + link.credit_latency, (o << 4 | vc) as u32 | mark);
            self.tally.accepted(at + net.ejection_delay);
        } else {
            self.mail_flit::<false>(peer, at, Flit::of_run(vc as u32, key), NONE);
        }
        self.return_marked(net, (i, v), self.now, mark);
        self.tally.flit_hops += 1;
        at
    }
}
