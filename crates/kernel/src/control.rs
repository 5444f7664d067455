//! Carries control packets, which are events and not flits in queues. A control packet uses its link for one cycle, ahead of all data flits
//! that wait for the link, and needs no credits. The cycle loop counts control packets, and notifies recordings of them.

use crate::block::{Reach, Wires};
use crate::net::Net;
use crate::parts::control::Control;
use weft_api::control::{Arrival, Frame, Wire};
use weft_api::state::ChannelEnd;

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Delivers the control packets of this cycle to the agents, in an order that does not depend on the division into
    /// blocks.
    pub(crate) fn receive_control(&mut self, net: &Net) {
        let control = &mut self.routers.beside.policy.control;
        if control.nothing_due(self.routers.fabric.now) {
            return;
        }
        let mut due = std::mem::take(&mut control.due);
        while let Some((chunk, len)) = control.arriving.due(self.routers.fabric.now) {
            due.extend((0..len).map(|k| control.arriving.item(chunk, k)));
            control.arriving.release(self.routers.fabric.now);
        }
        due.sort_unstable();
        self.with_agents(net, |agents, channels| due.iter().for_each(|&arrival| agents.receive(arrival, channels)));
        due.clear();
        self.routers.beside.policy.control.due = due;
    }
}

/// Sends a control packet over channel `o`. Returns false, and sends nothing, if too many control packets wait for this channel.
pub(crate) fn send<const W: usize, const V: usize>(
    wires: &mut Wires<W, V>,
    control: &mut Control,
    net: &Net,
    (o, frame): (usize, Frame),
    now: u64,
) -> bool {
    let out = &mut wires.outs[o];
    let earliest = now + net.router.after_grant;
    let flit = net.common.rates.of(out.class).cycles_per_flit();
    let depart = earliest.max(control.next[o]);
    if depart > earliest + control.queue * flit {
        return false;
    }
    control.next[o] = depart + flit;
    // the control packet leaves before the flits that wait for the link, so the next granted flit leaves one cycle later
    out.next_free = depart as u32 + (out.next_free.wrapping_sub(depart as u32) as i32).max(0) as u32 + flit as u32;
    out.flits += 1;
    if let Some(counts) = &mut control.counts {
        counts.flit_hops += 1;
    }
    let at = depart + flit - 1 + net.links.of(out.class).latency;
    wires.pass_by(o, 1);
    post(wires, control, o, (at, Wire::Link, Frame { hops: frame.hops.saturating_add(1), ..frame }), now);
    true
}

/// Schedules the arrival of a frame (the contents of a control packet) at the far end of channel `o` for cycle `at`.
pub(crate) fn post<const W: usize, const V: usize>(
    wires: &mut Wires<W, V>,
    control: &mut Control,
    o: usize,
    (at, wire, frame): (u64, Wire, Frame),
    now: u64,
) {
    let out = &wires.outs[o];
    if out.is(ChannelEnd::Remote) {
        let (mail, port) = wires.mail_to(out.peer);
        mail.messages.push((at, Arrival { port, wire, frame }));
    } else {
        control.post_in(now, at, Arrival { port: out.peer, wire, frame });
    }
}

/// Delivers a frame to any router of the network without a control packet. The frame does not arrive earlier than a control packet could.
pub(crate) fn tell<const W: usize, const V: usize>(
    wires: &mut Wires<W, V>,
    control: &mut Control,
    net: &Net,
    (router, class, frame): (u32, u8, Frame),
    now: u64,
) {
    let (block, port) = control.places[router as usize];
    let latency = net.links.of(class).latency;
    let at = now + (2 * latency).max(latency + net.router.after_grant);
    let arrival = Arrival { port, wire: Wire::None, frame };
    if block == control.block {
        control.post_in(now, at, arrival);
    } else {
        wires.outbox[block as usize].messages.push((at, arrival));
    }
}
