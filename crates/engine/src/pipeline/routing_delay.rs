//! The delay of route computation for a head behind another packet (`router.routing_delay`): after a packet has left a
//! VC, the next head there may not ask for an output for this many whole cycles, whether it is there already or comes
//! later.

use crate::base::unchecked::Hot;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::Segment;

impl<const W: usize, const V: usize> Block<W, V> {
    /// The first `count` moves of router `r` are about to be carried out: the VCs that they leave are closed to the
    /// next heads.
    pub(crate) fn close_behind(&mut self, net: &Net, r: usize, count: usize) {
        let base = self.routers.hot(r).base as usize;
        for m in &self.moves[..count] {
            self.opens[(base + usize::from(m.i)) * V + usize::from(m.v)] = self.now + 1 + net.routing_delay;
        }
    }

    /// Whether the head of VC `v` of input `i` may ask for an output now. If not, it is scheduled for the cycle in
    /// which it may.
    pub(crate) fn is_open(&mut self, i: usize, v: usize) -> bool {
        let opens = self.opens[i * V + v];
        if opens > self.now {
            self.turning.push(self.now, opens, (i << 4 | v) as u32);
        }
        opens <= self.now
    }

    /// Heads that have waited long enough ask for their outputs.
    pub(crate) fn open_vcs<const SINGLE: bool>(&mut self, net: &Net) {
        while let Some((first, len)) = self.turning.due(self.now) {
            for k in 0..len {
                let word = self.turning.item(first, k);
                let (i, v) = ((word >> 4) as usize, (word & 15) as usize);
                let head = *self.ins.hot(i).head.hot(v);
                let &Segment { packet, key, .. } = self.segments.items.hot(head as usize);
                self.new_head::<SINGLE>(net, i, v, packet, key);
            }
            self.turning.release(self.now);
        }
    }
}
