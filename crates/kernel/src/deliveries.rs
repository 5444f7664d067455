//! Tells workloads of packets that were sent and delivered.
//!
//! The tail of a packet is granted its last channel some cycles before it is delivered. Until then the packet waits in
//! a calendar wheel, because the terminal may answer in the very cycle of the delivery.

use crate::block::Block;
use crate::net::Net;
use crate::parts::deliveries::Delivery;
use crate::parts::queues::Stream;
use weft_api::state::{NO_JOB, NONE};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Packet `packet` leaves output `o` and will be delivered at cycle `at`; its workload is told then.
    pub fn announce(&mut self, o: usize, packet: u32, at: u64) {
        let terminal = self.terminal_behind(o) as u32;
        self.interfaces.deliveries.push(self.now, at, Delivery { packet, terminal });
    }

    /// The terminal (of the block) that output `o` leads to.
    pub(crate) fn terminal_behind(&self, o: usize) -> usize {
        let injection = self.buffers.ins[o].upstream() as usize;
        self.wires.outs[injection].router as usize
    }

    /// Tells workloads of the packets that are delivered in this cycle.
    #[inline(never)]
    pub fn deliver(&mut self, net: &Net) {
        while let Some((first, len)) = self.interfaces.deliveries.due(self.now) {
            for k in 0..len {
                let Delivery { packet, terminal } = self.interfaces.deliveries.item(first, k);
                let t = terminal as usize;
                if net.interface.is_some() {
                    self.deliver_to_stream(net, t, packet);
                    continue;
                }
                let terminal = &mut self.interfaces.terminals[t];
                let sources = &mut self.interfaces.sources[usize::from(terminal.job)];
                let delivered = &self.buffers.packets.items[packet as usize];
                sources.all_mut().delivered(terminal.source as usize, delivered, &mut terminal.due, self.now);
                self.buffers.packets.remove(packet);
                if self.is_idle(t) {
                    self.sleep(net, t, self.now);
                }
            }
            self.interfaces.deliveries.release(self.now);
        }
    }

    /// Tells the part of a source at terminal `t` that `packet` concerns of its delivery.
    fn deliver_to_stream(&mut self, net: &Net, t: usize, packet: u32) {
        let delivered = &self.buffers.packets.items[packet as usize];
        let job = usize::from(delivered.job);
        let part = net.jobs[job].workload.part_for(delivered);
        let mut own = self.interfaces.queues.streams_of(t);
        let first = own.find(|&s| usize::from(self.interfaces.queues.streams[s].job) == job);
        let first = first.expect("packets go to terminals of their job");
        let stream = &mut self.interfaces.queues.streams[first + part];
        let sources = self.interfaces.sources[job].all_mut();
        sources.delivered(stream.source as usize, delivered, &mut stream.due, self.now);
        self.buffers.packets.remove(packet);
        self.look_at_queues(t);
    }

    /// Tells the workload that terminal `t` has injected the tail of a packet.
    #[inline(never)]
    pub fn tell_sent(&mut self, t: usize) {
        let terminal = &mut self.interfaces.terminals[t];
        let sources = &mut self.interfaces.sources[usize::from(terminal.job)];
        sources.all_mut().sent(terminal.source as usize, &mut terminal.due, self.now);
    }

    /// Whether all sources have created and injected all packets of their own (those that no delivery causes) that are
    /// due before cycle `until`.
    pub fn sources_finished(&self, until: u64) -> bool {
        // packets in queues are counted as created
        let finished = |stream: &Stream| {
            let sources = self.interfaces.sources[usize::from(stream.job)].all();
            sources.finished(stream.source as usize, stream.due, None, until)
        };
        if !self.interfaces.queues.streams.iter().all(finished) {
            return false;
        }
        let has_queues = self.interfaces.queues.each > 0;
        has_queues
            || self.interfaces.terminals.iter().filter(|terminal| terminal.job != NO_JOB).all(|terminal| {
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
        let terminal = &self.interfaces.terminals[t];
        !self.interfaces.busy.contains(t) && !terminal.waiting && terminal.packet == NONE
    }
}
