//! Tells workloads of packets that were sent and delivered.
//!
//! The tail of a packet is granted its last channel some cycles before it is delivered. Until then the packet waits in
//! a calendar wheel, because the terminal may answer in the very cycle of the delivery.

use crate::block::Block;
use crate::net::Net;
use crate::parts::deliveries::Delivery;
use weft_api::base::unchecked::Hot;
use weft_api::state::{NO_JOB, NONE};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Packet `packet` leaves output `o` and will be delivered at cycle `at`; its workload is told then.
    pub fn announce(&mut self, o: usize, packet: u32, at: u64) {
        let injection = self.buffers.ins.hot(o).upstream() as usize;
        let terminal = self.wires.outs.hot(injection).router;
        self.interfaces.deliveries.push(self.now, at, Delivery { packet, terminal });
    }

    /// Tells workloads of the packets that are delivered in this cycle.
    #[inline(never)]
    pub fn deliver(&mut self, net: &Net) {
        while let Some((first, len)) = self.interfaces.deliveries.due(self.now) {
            for k in 0..len {
                let Delivery { packet, terminal } = self.interfaces.deliveries.item(first, k);
                let t = terminal as usize;
                let terminal = self.interfaces.terminals.hot_mut(t);
                let sources = self.interfaces.sources.hot_mut(usize::from(terminal.job));
                let delivered = self.buffers.packets.items.hot(packet as usize);
                sources.all_mut().delivered(terminal.source as usize, delivered, &mut terminal.due, self.now);
                self.buffers.packets.remove(packet);
                if self.is_idle(t) {
                    self.sleep(net, t, self.now);
                }
            }
            self.interfaces.deliveries.release(self.now);
        }
    }

    /// Tells the workload that terminal `t` has injected the tail of a packet.
    #[inline(never)]
    pub fn tell_sent(&mut self, t: usize) {
        let terminal = self.interfaces.terminals.hot_mut(t);
        let sources = self.interfaces.sources.hot_mut(usize::from(terminal.job));
        sources.all_mut().sent(terminal.source as usize, &mut terminal.due, self.now);
    }

    /// Whether all sources have created and injected all packets of their own (those that no delivery causes) that are
    /// due before cycle `until`.
    pub fn sources_finished(&self, until: u64) -> bool {
        self.interfaces.terminals.iter().filter(|terminal| terminal.job != NO_JOB).all(|terminal| {
            let in_hand = (terminal.packet != NONE).then(|| &self.buffers.packets.items[terminal.packet as usize]);
            self.interfaces.sources[usize::from(terminal.job)].all().finished(
                terminal.source as usize,
                terminal.due,
                in_hand,
                until,
            )
        })
    }

    /// Whether terminal `t` has nothing to inject before its source is due.
    pub fn is_idle(&self, t: usize) -> bool {
        // one that sends a stream is neither busy nor does it wait
        let terminal = self.interfaces.terminals.hot(t);
        !self.interfaces.busy.contains(t) && !terminal.waiting && terminal.packet == NONE
    }
}
