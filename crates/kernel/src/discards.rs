//! Discards packets whose remaining paths all lead through a failed router. The buffer space of the discarded packets becomes free.

use crate::block::{Beside, Fabric, PolicySide, Reach, Routers};
use crate::faults::subnets;
use crate::net::Net;
use weft_api::state::{MARKED, NO_REQUEST, NOTICE, UNDECIDED};

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// True if packet `id` at router `r` is stuck, because this router or the next router that the packet must visit has failed.
    pub(super) fn is_lost(&self, policy: &PolicySide, net: &Net, r: usize, id: u32) -> bool {
        if policy.faults.is_dead(r) {
            return true;
        }
        let (packet, at) = (&self.buffers.packets.items[id as usize], net.coords[self.requests.routers[r].id as usize]);
        if at == packet.dest {
            return false;
        }
        let port = match net.routing.aim(at, packet, net.seed) {
            Ok(leg) => subnets(net).port_to(leg.d, leg.own, leg.to),
            Err(hop) => hop.port,
        };
        policy.faults.dead_ends(self.requests.routers[r].base as usize + usize::from(port)) > 0
    }

    /// True if the packet that has become the head of VC `v` of input `i` is stuck. A stuck packet is scheduled to be discarded.
    #[cold]
    pub(crate) fn is_doomed(&mut self, policy: &mut PolicySide, net: &Net, i: usize, v: usize, packet: u32) -> bool {
        let lost = self.is_lost(policy, net, self.buffers.ins[i].router as usize, packet);
        if lost {
            self.buffers.ins[i].requests[v] = UNDECIDED;
            policy.faults.doomed.push((i as u32, v as u8));
        }
        lost
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Discards the packets of the heads that are scheduled for this. Flits of these packets that arrive later are also discarded.
    #[cold]
    pub(super) fn discard(&mut self, net: &Net) {
        let mut waiting = Vec::new();
        while let Some((i, v)) = self.routers.beside.policy.faults.doomed.pop() {
            if !self.discard_head(net, i as usize, usize::from(v)) {
                waiting.push((i, v));
            }
        }
        self.routers.beside.policy.faults.doomed = waiting;
    }

    /// Counts a packet that the cycle loop discards. A congestion notification belongs to no job, so no job counts it.
    fn count_lost(&mut self, net: &Net, packet: u32) {
        let Routers { fabric, beside } = &mut self.routers;
        let (lost, marks) = (&fabric.buffers.packets.items[packet as usize], &mut self.interfaces.limits.counts);
        if lost.flags & NOTICE != 0 {
            marks.lost += 1;
            return;
        }
        marks.lost_marks += u64::from(lost.flags & MARKED != 0);
        beside.observers.tally.lose(net, lost, fabric.now);
    }

    /// Discards all flits of a stuck head's packet that have arrived, and frees their buffer space. Returns true if the tail of the
    /// packet was among them.
    fn discard_head(&mut self, net: &Net, i: usize, v: usize) -> bool {
        let Routers { fabric, beside: Beside { policy, .. } } = &mut self.routers;
        let id = fabric.buffers.ins[i].head[v];
        let segment = &mut fabric.buffers.segments.items[id as usize];
        let (packet, flits) = (segment.packet, segment.arrived - segment.sent);
        if !net.single {
            segment.sent = segment.arrived;
        }
        let tail = net.single || segment.sent == segment.len;
        if net.set_aside.is_some() {
            fabric.note_discard((i, v), packet, tail);
        }
        if policy.power.probes.departures
            && let Some(agents) = &mut policy.agents
        {
            agents.discard(fabric.now, i, flits, tail.then_some(&fabric.buffers.packets.items[packet as usize]));
        }
        if tail {
            self.routers.fabric.buffers.ins[i].requests[v] = NO_REQUEST;
            self.count_lost(net, packet);
            self.routers.fabric.buffers.packets.remove(packet);
            if net.watches {
                self.routers.fabric.watch_loss(&mut self.routers.beside.observers, i, v);
            }
        }
        for k in 1..=flits {
            let is_tail = tail && k == flits;
            if net.single {
                self.routers.leave::<true>(net, i, v, id, is_tail);
            } else {
                self.routers.leave::<false>(net, i, v, id, is_tail);
            }
        }
        self.ask_for_closed(net);
        tail
    }
}
