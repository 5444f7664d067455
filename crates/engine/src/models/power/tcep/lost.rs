//! Routers that fail: what they hold, and what can only go to them, is discarded. The rules are in `faults.rs`.

use super::agent::Agents;
use super::message::{Kind, Message};
use super::repair::Repairs;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::{ASK, NO_KEY, Packet};

impl Repairs {
    /// Whether router `r` of the block has failed.
    pub fn is_dead(&self, r: usize) -> bool {
        self.dead.get(r).is_some_and(|&dead| dead)
    }
}

impl Agents {
    /// Whether nothing can bring `packet` on from router `r`: this router has failed, or the one that it must go to.
    pub(super) fn is_lost(&self, net: &Net, r: usize, packet: &Packet) -> bool {
        if self.repairs.is_dead(r) {
            return true;
        }
        let at = net.coords[self.routers[r].id as usize];
        if at == packet.dest {
            return false;
        }
        let port = net.routing.aim(at, packet, net.seed).map_or_else(|hop| hop.port, |leg| self.nets.port_to(leg.d, leg.own, leg.to));
        self.repairs.dead_ends[self.routers[r].base + usize::from(port)] > 0
    }

    /// Whether a packet that router `r` would send has no sender or no receiver.
    pub(super) fn is_mute(&self, r: usize, message: Message) -> bool {
        let to = || self.output(r, usize::from(message.net), message.to);
        self.repairs.is_dead(r) || self.repairs.dead_ends.get(to()).is_some_and(|&ends| ends > 0)
    }

    /// Tells a router that has returned what it has missed of the links of router `r`, and who is the hub.
    pub(super) fn tell_what_is<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        (d, own, to): (usize, u8, u8),
    ) {
        let value = block.now as u32;
        let link = Message { net: d as u8, from: own, to, value, ..Message::default() };
        let (whole, active) = {
            let row = |views: &crate::api::subnetworks::Views| views.of(r).row(&self.nets, d, own);
            (row(&self.repairs.healthy), row(&block.views))
        };
        for about in self.nets.others(d, own).filter(|&c| c != to) {
            let flag = whole >> about & 1 == 0;
            self.send(block, net, r, Message { kind: Kind::Fault, about, flag, ..link });
            if active >> about & 1 != 0 {
                self.send(block, net, r, Message { kind: Kind::State, about, flag: true, ..link });
            }
        }
        let (cycle, hub) = self.routers[r].crowned[d];
        if hub == own && block.views.of(r).hub(d) == own {
            self.send(block, net, r, Message { kind: Kind::Hub, value: cycle, ..link });
        }
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Whether nothing can bring the packet on that has become the head of VC `v` of input `i`: it will be discarded.
    #[cold]
    pub(crate) fn is_doomed(&mut self, net: &Net, i: usize, v: usize, packet: u32) -> bool {
        let r = self.ins[i].router as usize;
        let agents = self.agents.as_mut().expect("routers fail under agents");
        let lost = agents.is_lost(net, r, &self.packets.items[packet as usize]);
        if lost {
            self.ins[i].keys[v] = ASK;
            agents.repairs.doomed.push((i as u32, v as u8));
        }
        lost
    }

    /// Doomed heads leave the network, and so do their flits that come later.
    #[cold]
    pub(crate) fn discard(&mut self, net: &Net) {
        let mut waiting = Vec::new();
        while let Some((i, v)) = self.agents.as_mut().and_then(|agents| agents.repairs.doomed.pop()) {
            let gone = if net.single {
                self.discard_head::<true>(net, i as usize, usize::from(v))
            } else {
                self.discard_head::<false>(net, i as usize, usize::from(v))
            };
            if !gone {
                waiting.push((i, v));
            }
        }
        if let Some(agents) = &mut self.agents {
            agents.repairs.doomed = waiting;
        }
    }

    /// The flits that have come of a doomed head give their places back. Returns whether its tail was among them.
    fn discard_head<const SINGLE: bool>(&mut self, net: &Net, i: usize, v: usize) -> bool {
        let id = self.ins[i].head[v];
        let segment = &mut self.segments.items[id as usize];
        let (packet, flits) = (segment.packet, segment.arrived - segment.sent);
        if !SINGLE {
            segment.sent = segment.arrived;
        }
        let tail = SINGLE || segment.sent == segment.len;
        if tail {
            self.ins[i].keys[v] = NO_KEY;
            let lost = &self.packets.items[packet as usize];
            self.tally.lose(lost, net.job(lost.src));
            self.packets.remove(packet);
            if net.watches {
                self.watch_loss(i, v);
            }
        }
        for k in 1..=flits {
            self.leave::<SINGLE>(net, i, v, id, tail && k == flits);
        }
        tail
    }
}
