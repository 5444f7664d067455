//! Congestion control in the cycle loop. Packets are marked when they leave an output, and receivers of marked packets send notifications.
//!
//! A notification is a packet of one flit. A notification has the message class of the marked packet. In its terminal a notification waits
//! in a separate queue, which has priority over all other queues.

use crate::block::{Fabric, Interfaces, Observers, Reach, Routers};
use crate::net::Net;
use crate::network_interface::Created;
use crate::parts::queues::Ready;
use weft_api::congestion::Control;
use weft_api::routing::draw;
use weft_api::state::{MARKED, NONE, NOTICE, Packet};

/// Purpose number of the hash that decides if a packet is marked.
const MARK: u64 = 0x3c << 56;

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Decides whether to mark a packet that leaves output `o`. The probability depends on the number of flits that wait for this output.
    #[inline(never)]
    pub(crate) fn mark(&mut self, net: &Net, control: &dyn Control, o: usize, id: u32) {
        let Routers { fabric, beside } = &self.routers;
        let packet = fabric.buffers.packets.items[id as usize];
        let counts = beside.observers.tally.inside(fabric.now);
        if packet.flags & NOTICE != 0 {
            self.interfaces.limits.counts.notice_hops += u64::from(counts);
            return;
        }
        let waiting = self.queued_for(net, o, u32::MAX);
        let chance = control.marks(waiting);
        let router = &fabric.requests.routers[fabric.wires.outs[o].router as usize];
        let place = u64::from(router.id) << 16 | (o - router.base as usize) as u64;
        // the upper 53 bits of the hash give a number below 1
        let drawn = (draw(net.seed, &packet, MARK | place) >> 11) as f64 / (1u64 << 53) as f64;
        let marked = drawn < chance;
        if marked {
            self.routers.fabric.buffers.packets.items[id as usize].flags |= MARKED;
        }
        if counts {
            let sums = &mut self.interfaces.limits.counts;
            sums.looked += 1;
            sums.waited += u64::from(waiting);
            sums.marked += u64::from(marked);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Called when packet `id` is delivered to terminal `t` in this cycle. Returns true if the workload must be notified of the packet;
    /// false for a congestion notification.
    pub(crate) fn take_marks(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        control: &dyn Control,
        t: usize,
        id: u32,
    ) -> bool {
        let packet = self.buffers.packets.items[id as usize];
        if packet.flags & NOTICE != 0 {
            interfaces.limits.notified(control, (t as u32, packet.src), self.now);
            interfaces.limits.counts.received += 1;
        } else if packet.flags & MARKED != 0 && interfaces.limits.notifies(control, (t as u32, packet.src), self.now) {
            self.notify(interfaces, observers, net, t, &packet);
        }
        let hears = packet.flags & NOTICE == 0 && net.jobs[usize::from(packet.job)].hears_packets;
        if !hears {
            self.buffers.packets.remove(id);
            interfaces.look_at_queues(t);
        }
        hears
    }

    /// Adds to the queue the notification from terminal `t` to the source of a marked packet.
    fn notify(&mut self, interfaces: &mut Interfaces, observers: &mut Observers, net: &Net, t: usize, marked: &Packet) {
        let &Packet { src, job, class, .. } = marked;
        let terminal = &mut interfaces.terminals[t];
        let number = terminal.brought_about;
        terminal.brought_about = number.wrapping_add(1);
        let new = Created { to: src, flits: 1, seq: !number, tag: 0, measured: false, job, class };
        let id = self.add_packet(interfaces, net, t, self.now, new);
        self.buffers.packets.items[id as usize].flags |= NOTICE;
        let lane = self.lane_of(interfaces, net, t, id);
        let ready =
            Ready { packet: id, next: NONE, stream: NONE, created: self.now, flits: 1, class, lane, frees: false };
        let q = interfaces.queues.of_notices();
        interfaces.queues.join(t, q, ready);
        interfaces.limits.counts.sent += 1;
        interfaces.limits.counts.notices += u64::from(observers.tally.inside(self.now));
    }
}
