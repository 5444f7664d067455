//! Notifies workloads when packets are sent and delivered.
//!
//! The last channel is granted to the tail of a packet some cycles before the delivery. Until the delivery, the packet is in a calendar
//! wheel, because the terminal may reply in the cycle of the delivery.

use crate::block::{Block, Buffers, Fabric, Interfaces, Observers, Reach, Routers};
use crate::net::Net;
use crate::parts::deliveries::Delivery;
use crate::parts::queues::Stream;
use weft_api::congestion::Control;
use weft_api::state::{NO_JOB, NONE};
use weft_api::workload::NOT_DUE;

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Called when `packet` leaves output `o` for its terminal. Schedules the delivery of the packet for cycle `at`. In that cycle the
    /// workload of the packet is notified.
    pub(crate) fn announce(&mut self, interfaces: &mut Interfaces, o: usize, packet: u32, at: u64) {
        let terminal = self.terminal_behind(o) as u32;
        interfaces.deliveries.push(self.now, at, Delivery { packet, terminal });
    }

    /// The terminal (index in the block) to which output `o` leads.
    pub(crate) fn terminal_behind(&self, o: usize) -> usize {
        let injection = self.buffers.ins[o].upstream() as usize;
        self.wires.outs[injection].router as usize
    }

    /// Does the work of [`deliver`] in runs in which receivers also check for congestion marks and notifications.
    #[inline(never)]
    pub(crate) fn deliver_marked(
        &mut self,
        interfaces: &mut Interfaces,
        observers: &mut Observers,
        net: &Net,
        control: &dyn Control,
    ) {
        for_each_due(interfaces, net, self.now, |interfaces, Delivery { packet, terminal }| {
            if self.take_marks(interfaces, observers, net, control, terminal as usize, packet) {
                tell_delivered(interfaces, &mut self.buffers, net, (terminal as usize, packet), self.now);
            }
        });
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// True if all sources have created, and begun to inject, every packet that is due before cycle `until`. Packets that deliveries cause
    /// do not count.
    pub(crate) fn sources_finished(&self, until: u64) -> bool {
        let Reach { routers: Routers { fabric, .. }, interfaces } = &self.reach;
        // packets in the queues of an interface have already been counted as created
        let finished = |stream: &Stream| {
            let sources = interfaces.sources[usize::from(stream.job)].all();
            sources.finished(stream.source as usize, stream.due, None, until)
        };
        if !interfaces.queues.streams.iter().all(finished) {
            return false;
        }
        let has_queues = interfaces.queues.each > 0;
        has_queues
            || interfaces.terminals.iter().filter(|terminal| terminal.job != NO_JOB).all(|terminal| {
                // after the head has left, the record of the packet can be in another block
                let waits = terminal.packet != NONE && terminal.vc == u8::MAX;
                let in_hand = waits.then(|| &fabric.buffers.packets.items[terminal.packet as usize]);
                interfaces.sources[usize::from(terminal.job)].all().finished(
                    terminal.source as usize,
                    terminal.due,
                    in_hand,
                    until,
                )
            })
    }
}

impl Interfaces {
    /// Notifies the workload that terminal `t` has injected the tail of a packet in cycle `now`.
    #[inline(never)]
    pub(crate) fn tell_sent(&mut self, net: &Net, t: usize, now: u64) {
        let terminal = &mut self.terminals[t];
        let job = terminal.job;
        let sources = &mut self.sources[usize::from(job)];
        sources.all_mut().sent(terminal.source as usize, &mut terminal.due, now);
        if net.wakes {
            self.wake_others(net, job, now);
        }
    }

    /// Called after a source of this job was called. The call can make sources at other interfaces of the same node due; sets alarms for
    /// these sources.
    #[inline(never)]
    pub(crate) fn wake_others(&mut self, net: &Net, job: u16, now: u64) {
        self.next_act = self.next_act.min(self.sources[usize::from(job)].all().next_act());
        while let Some((source, due)) = self.sources[usize::from(job)].all_mut().take_woken() {
            let t = self.terminal_of[usize::from(job)][source] as usize;
            if net.interface.is_some() {
                self.wake_stream(t, (job, source), (now, due));
                continue;
            }
            self.terminals[t].due = due;
            if self.is_idle(t) {
                self.sleep(net, t, (now, now));
            }
        }
    }

    /// Called before the block runs from cycle `now` to `until`. Sources read the notes that other blocks have sent.
    #[inline(never)]
    pub(crate) fn exchange_notes(&mut self, net: &Net, (now, until): (u64, u64)) {
        for job in 0..self.sources.len() {
            self.sources[job].all_mut().exchange(now, until);
            self.wake_others(net, job as u16, now);
        }
    }

    /// Records in cycle `now` that source `source` of terminal `t` is due in cycle `due`.
    fn wake_stream(&mut self, t: usize, (job, source): (u16, usize), (now, due): (u64, u64)) {
        for s in self.queues.streams_of(t) {
            let stream = &mut self.queues.streams[s];
            if stream.job == job && stream.source as usize == source {
                stream.due = due;
            }
        }
        if due <= now {
            self.look_at_queues(t);
        } else if !self.busy.contains(t) {
            self.rest(t, now);
        }
    }
}

impl Interfaces {
    /// Calls the sources that act in cycle `now` by themselves, not because of a delivery.
    #[inline(always)]
    pub(crate) fn act(&mut self, net: &Net, now: u64) {
        if self.next_act <= now {
            self.act_now(net, now);
        }
    }

    #[inline(never)]
    fn act_now(&mut self, net: &Net, now: u64) {
        self.next_act = NOT_DUE;
        for job in 0..self.sources.len() {
            let sources = self.sources[job].all_mut();
            if sources.next_act() <= now {
                sources.act(now);
            }
            self.wake_others(net, job as u16, now);
        }
    }
}

/// Notifies workloads of the packets that are delivered in cycle `now`.
#[inline(never)]
pub fn deliver<const V: usize>(interfaces: &mut Interfaces, buffers: &mut Buffers<V>, net: &Net, now: u64) {
    for_each_due(interfaces, net, now, |interfaces, Delivery { packet, terminal }| {
        tell_delivered(interfaces, buffers, net, (terminal as usize, packet), now);
    });
}

/// Calls `tell` for each delivery of cycle `now`. If a delivery can make sources at other interfaces of the node due (`Net::wakes`), the
/// order of deliveries matters. The function then sorts the deliveries by terminal, because a shortcut can record them in another order
/// than the plain loop.
#[inline(always)]
fn for_each_due(interfaces: &mut Interfaces, net: &Net, now: u64, mut tell: impl FnMut(&mut Interfaces, Delivery)) {
    let mut in_order = std::mem::take(&mut interfaces.in_order);
    while let Some((first, len)) = interfaces.deliveries.due(now) {
        for k in 0..len {
            let delivery = interfaces.deliveries.item(first, k);
            if net.wakes {
                in_order.push(delivery);
            } else {
                tell(interfaces, delivery);
            }
        }
        interfaces.deliveries.release(now);
    }
    // a stable sort: deliveries to one terminal keep their order, and runs that are already sorted are only merged
    in_order.sort_by_key(|delivery| delivery.terminal);
    in_order.drain(..).for_each(|delivery| tell(interfaces, delivery));
    interfaces.in_order = in_order;
}

/// Notifies the workload that `packet` has been delivered to terminal `t`.
fn tell_delivered<const V: usize>(
    interfaces: &mut Interfaces,
    buffers: &mut Buffers<V>,
    net: &Net,
    (t, packet): (usize, u32),
    now: u64,
) {
    if net.interface.is_some() {
        return deliver_to_stream(interfaces, buffers, net, (t, packet), now);
    }
    let terminal = &mut interfaces.terminals[t];
    let sources = &mut interfaces.sources[usize::from(terminal.job)];
    let delivered = &buffers.packets.items[packet as usize];
    sources.all_mut().delivered(terminal.source as usize, delivered, &mut terminal.due, now);
    let job = terminal.job;
    buffers.packets.remove(packet);
    if net.wakes {
        interfaces.wake_others(net, job, now);
    }
    if interfaces.is_idle(t) {
        interfaces.sleep(net, t, (now, now));
    }
}

/// Notifies a part of a source at terminal `t` that a packet of this part was delivered.
fn deliver_to_stream<const V: usize>(
    interfaces: &mut Interfaces,
    buffers: &mut Buffers<V>,
    net: &Net,
    (t, packet): (usize, u32),
    now: u64,
) {
    let delivered = &buffers.packets.items[packet as usize];
    let job = usize::from(delivered.job);
    let part = net.jobs[job].workload.part_for(delivered);
    let mut own = interfaces.queues.streams_of(t);
    let first = own.find(|&s| usize::from(interfaces.queues.streams[s].job) == job);
    let first = first.expect("packets go to terminals of their job");
    let stream = &mut interfaces.queues.streams[first + part];
    let sources = interfaces.sources[job].all_mut();
    sources.delivered(stream.source as usize, delivered, &mut stream.due, now);
    buffers.packets.remove(packet);
    if net.wakes {
        interfaces.wake_others(net, job as u16, now);
    }
    interfaces.look_at_queues(t);
}
