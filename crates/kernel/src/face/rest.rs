//! Operations on a block between two advances: update its counters, stop its sources, and check that the block is empty.

use crate::block::{Block, Routers};
use crate::net::Net;
use weft_api::state::{ChannelEnd, Gate, LinkState, NONE};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Updates 32-bit stamps and counters of cycles and flits before they can wrap unnoticed.
    pub(super) fn keep_counters(&mut self, now: u64) {
        let Routers { fabric, beside } = &mut self.reach.routers;
        let now = now as u32;
        for out in &mut fabric.wires.outs {
            let age = now.wrapping_sub(out.next_free) as i32;
            if age > 1 << 30 {
                out.next_free = now.wrapping_sub(1 << 30);
            }
        }
        beside.policy.power.flush(&fabric.wires.outs);
        beside.observers.recorders.look(&fabric.wires.outs);
    }

    pub(super) fn stop_sources(&mut self) {
        let interfaces = &mut self.reach.interfaces;
        for (t, terminal) in interfaces.terminals.iter_mut().enumerate() {
            terminal.due = u64::MAX / 2;
            if terminal.packet == NONE && interfaces.queues.each == 0 {
                interfaces.busy.clear(t);
            }
        }
        interfaces.queues.stop();
    }

    /// Sets the state of channel `o` in cycle 0 to a state other than on.
    pub(super) fn begin_in(&mut self, o: usize, state: LinkState) {
        let out = &mut self.reach.routers.fabric.wires.outs[o];
        (out.state, out.free_vcs) = (state.number(), 0);
        out.set_gate(Gate::Closed);
    }

    /// Panics unless all credits have returned, and no VC is requested or held.
    pub(super) fn assert_empty(&self, net: &Net) {
        let Routers { fabric, beside } = &self.reach.routers;
        for (o, out) in fabric.wires.outs.iter().enumerate().filter(|(_, out)| !out.is(ChannelEnd::Unused)) {
            let link = &net.links[usize::from(out.class)];
            for (vc, &c) in out.credits.iter().enumerate().filter(|&(vc, _)| link.all >> vc & 1 != 0) {
                assert_eq!(c, link.buffer, "credits of VC {vc} of a {:?} channel", out.kind());
            }
            assert_eq!((out.vcs_with_flit, out.requested), (0, 0));
            assert_eq!(beside.policy.power.held_vcs(o, out), 0);
        }
        assert!(fabric.buffers.ins.iter().all(|i| i.head.iter().all(|&h| h == NONE)));
        assert!(fabric.requests.requesters.iter().all(|w| w.is_empty()));
        assert_eq!(fabric.buffers.packets.in_use(), 0);
        // skipped for one-flit packets, because their segments share the numbers of the packets and never count as used
        assert!(net.single || fabric.buffers.segments.in_use() == 0);
        assert!(fabric.requests.have_chosen.is_empty());
        assert!(fabric.set_asides.are_empty());
        assert!(fabric.ideal.are_empty());
    }
}
