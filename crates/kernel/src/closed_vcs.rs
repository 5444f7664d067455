//! VCs that stay closed to the next head for some cycles after a packet has left. The next head in such a VC may not request an output for
//! `router.routing_delay` whole cycles. If only one flit of a VC or of an input can leave at a time (`router.input_speedup`), the next head
//! also waits until the link has taken the flit that leaves before it. The rule is the same for a head that is already in the VC and for a
//! head that arrives later.

use crate::block::{Buffers, Fabric, Routers};
use crate::net::Net;
use weft_api::spec::InputSpeedup;
use weft_api::state::{Move, NO_REQUEST, UNDECIDED};

impl<const V: usize> Buffers<V> {
    /// Closes the VCs from which these moves take flits, so that their next heads must wait. Called before the moves of the router whose
    /// ports begin at `base` are carried out in cycle `now`.
    pub(crate) fn close_behind(&mut self, net: &Net, base: usize, moves: &[Move], now: u64) {
        for m in moves {
            self.opens[(base + usize::from(m.i)) * V + usize::from(m.v)] = now + 1 + net.router.routing_delay;
        }
    }

    /// True if the head of VC `v` of input `i` may request an output in cycle `now`. If not, schedules the head for the cycle in which it
    /// may.
    pub(crate) fn is_open(&mut self, i: usize, v: usize, now: u64) -> bool {
        let opens = self.opens[i * V + v];
        if opens > now {
            self.turning.push(now, opens, (i << 4 | v) as u32);
        }
        opens <= now
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Called for a flit (head or not) that leaves VC `v` of input `i` and is completely on a link in cycle `depart`. Closes the VC, or all
    /// VCs of the input, until that cycle. In addition, at most one head of an input starts to leave in each cycle.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_until(&mut self, net: &Net, (i, v): (usize, usize), depart: u64, head: bool) {
        let opens = depart + 1 - net.router.after_grant;
        self.buffers.opens[i * V + v] = self.buffers.opens[i * V + v].max(opens);
        let others_open = match net.router.input_speedup {
            InputSpeedup::Vcs if head && net.router.speedup > 1 => self.now + 1,
            InputSpeedup::Vcs | InputSpeedup::Unlimited => return,
            InputSpeedup::One => opens,
        };
        let all = self.buffers.opens[i * V..].iter_mut().take(V).enumerate();
        all.filter(|&(other, _)| other != v).for_each(|(_, at)| *at = others_open.max(*at));
        let requests = self.buffers.ins[i].requests;
        for other in (0..V).filter(|&other| other != v && requests[other] != NO_REQUEST) {
            self.take_back(net, i, other);
        }
    }

    /// Withdraws the request of the head of VC `v` of input `i`, if it has one, until its VC opens again.
    fn take_back(&mut self, net: &Net, i: usize, v: usize) {
        let port = &mut self.buffers.ins[i];
        let (key, chooses) = (port.requests[v], port.choosing >> v & 1 != 0);
        if key == NO_REQUEST || key == UNDECIDED && !chooses {
            return; // no head is present, or the head waits for a link to be repaired
        }
        port.requests[v] = NO_REQUEST;
        let r = port.router as usize;
        if chooses {
            self.requests.routers[r].stop_choosing(port, v);
        }
        if key != UNDECIDED {
            self.withdraw(net, r, i, key);
        }
        self.buffers.turning.push(self.now, self.buffers.opens[i * V + v], (i << 4 | v) as u32);
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Lets the heads whose VCs open in this cycle request their outputs.
    pub(crate) fn open_vcs(&mut self, net: &Net) {
        while let Some((first, len)) = self.fabric.buffers.turning.due(self.fabric.now) {
            for k in 0..len {
                let word = self.fabric.buffers.turning.item(first, k);
                let (i, v) = ((word >> 4) as usize, (word & 15) as usize);
                self.head_asks(net, i, v);
            }
            self.fabric.buffers.turning.release(self.fabric.now);
        }
    }
}
