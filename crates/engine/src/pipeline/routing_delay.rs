//! Heads that wait for their route behind another packet (`router.routing_delay`): a VC that a packet has left is closed
//! to the next head for so many whole cycles, whether that head is there already or comes later.

use crate::base::unchecked::Hot;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::Segment;

impl<const W: usize, const V: usize> Block<W, V> {
    /// The first `count` moves of router `r` are about to leave their VCs.
    pub(crate) fn close_behind(&mut self, net: &Net, r: usize, count: usize) {
        let base = self.routers.hot(r).base as usize;
        for m in &self.moves[..count] {
            self.opens[(base + usize::from(m.i)) * V + usize::from(m.v)] = self.now + 1 + net.routing_delay;
        }
    }

    /// Whether the head of VC `v` of input `i` may ask; if not, it comes back when it may.
    pub(crate) fn is_open(&mut self, i: usize, v: usize) -> bool {
        let opens = self.opens[i * V + v];
        if opens > self.now {
            self.turning.push(self.now, opens, (i << 4 | v) as u32);
        }
        opens <= self.now
    }

    /// Heads that have waited long enough ask.
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
