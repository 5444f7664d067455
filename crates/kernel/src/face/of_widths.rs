//! Implements the interface `AnyBlock`, which is the same for all widths, for a block of given widths.

use super::AnyBlock;
use super::views::{Input, Output, Place, Records};
use crate::block::{Beside, Block, Interfaces, Mail, Observers, PolicySide, Reach, Routers};
use crate::net::Net;
use crate::parts::set_aside::SetAsides;
use crate::shortcuts::Shortcuts;
use crate::shortcuts::steady::{Flow, Snapshot};
use crate::switch_allocation::SwitchAllocator;
use std::sync::Arc;
use weft_api::agents::BlockSite;
use weft_api::base::bits::Active;
use weft_api::base::kept::Kept;
use weft_api::base::wheel::Wheel;
use weft_api::policy::Policy;
use weft_api::recording::Recorder;
use weft_api::state::{Account, InputUnit, LinkState, OutputUnit, Router, Segment, Terminal};
use weft_api::subnetworks::Views;

/// A block with its allocator, compiled for the same widths.
#[derive(Debug, Kept)]
pub struct OfWidths<const W: usize, const V: usize> {
    pub(crate) block: Block<W, V>,
    #[kept(fixed)]
    pub(super) allocator: Arc<dyn SwitchAllocator<W, V>>,
    /// The stored state, which [`AnyBlock::flow_since`] compares with the present state.
    #[kept(fixed)]
    pub(super) then: Option<Snapshot<W, V>>,
}

/// Records of a block that a test may set to wrong values.
#[doc(hidden)]
#[derive(Debug)]
pub struct Damaged<'a, const W: usize, const V: usize> {
    pub ins: &'a mut [InputUnit<V>],
    pub outs: &'a mut [OutputUnit<V>],
    pub routers: &'a mut [Router<W>],
    pub segments: &'a mut [Segment],
    pub credits: &'a mut Wheel<u32, 128>,
    pub terminals: &'a mut [Terminal],
    pub busy: &'a mut Active,
    pub alarms: &'a mut Wheel<u32, 128>,
}

impl<const W: usize, const V: usize> OfWidths<W, V> {
    /// Gives a test write access to the records.
    ///
    /// # Safety
    /// The cycle loop uses the indices in these records as array indices without a bounds check. After the caller has changed a record, the
    /// block may advance only if [`AnyBlock::numbers_are_right`] returns true.
    #[doc(hidden)]
    pub unsafe fn damage(&mut self) -> Damaged<'_, W, V> {
        let Reach { routers: Routers { fabric, .. }, interfaces } = &mut self.block.reach;
        Damaged {
            ins: &mut fabric.buffers.ins,
            outs: &mut fabric.wires.outs,
            routers: &mut fabric.requests.routers,
            segments: &mut fabric.buffers.segments.items,
            credits: &mut fabric.wires.credits,
            terminals: &mut interfaces.terminals,
            busy: &mut interfaces.busy,
            alarms: &mut interfaces.alarms,
        }
    }
}

impl<const W: usize, const V: usize> AnyBlock for OfWidths<W, V> {
    fn interfaces(&self) -> &Interfaces {
        &self.block.reach.interfaces
    }

    fn set_asides(&self) -> &SetAsides {
        &self.block.reach.routers.fabric.set_asides
    }

    fn policy(&self) -> &PolicySide {
        &self.block.reach.routers.beside.policy
    }

    fn policy_mut(&mut self) -> &mut PolicySide {
        &mut self.block.reach.routers.beside.policy
    }

    fn views(&self) -> &Views {
        &self.block.reach.routers.fabric.views
    }

    fn views_mut(&mut self) -> &mut Views {
        &mut self.block.reach.routers.fabric.views
    }

    fn observers(&self) -> &Observers {
        &self.block.reach.routers.beside.observers
    }

    fn observers_mut(&mut self) -> &mut Observers {
        &mut self.block.reach.routers.beside.observers
    }

    fn shortcuts(&self) -> &Shortcuts {
        &self.block.reach.routers.beside.shortcuts
    }

    fn shortcuts_mut(&mut self) -> &mut Shortcuts {
        &mut self.block.reach.routers.beside.shortcuts
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.block)
    }

    fn routers(&self) -> usize {
        self.block.reach.routers.fabric.requests.routers.len()
    }

    fn router(&self, r: usize) -> Place {
        let router = &self.block.reach.routers.fabric.requests.routers[r];
        Place { id: router.id, base: router.base }
    }

    fn inputs(&self) -> usize {
        self.block.reach.routers.fabric.buffers.ins.len()
    }

    fn input(&self, i: usize) -> Input<'_> {
        Input::of(&self.block.reach.routers.fabric.buffers, i)
    }

    fn outputs(&self) -> usize {
        self.block.reach.routers.fabric.wires.outs.len()
    }

    fn output(&self, o: usize) -> Output<'_> {
        Output::of(&self.block, o)
    }

    fn advance(&mut self, net: &Net, until: u64) {
        self.block.advance(net, &*self.allocator, until);
    }

    fn outbox(&self) -> &[Mail] {
        &self.block.reach.routers.fabric.wires.outbox
    }

    fn outbox_mut(&mut self) -> &mut [Mail] {
        &mut self.block.reach.routers.fabric.wires.outbox
    }

    fn take(&mut self, net: &Net, mail: &mut Mail) {
        self.block.take(net, mail);
    }

    fn settle(&mut self, net: &Net) {
        self.block.settle(net);
    }

    fn keep_counters(&mut self, now: u64) {
        self.block.keep_counters(now);
    }

    fn stop_sources(&mut self) {
        self.block.stop_sources();
    }

    fn sources_finished(&self, until: u64) -> bool {
        self.block.sources_finished(until)
    }

    fn numbers_are_right(&self, net: &Net) -> bool {
        self.block.numbers_are_right(net)
    }

    fn assert_empty(&self, net: &Net) {
        self.block.assert_empty(net);
    }

    fn add_agents(&mut self, net: &Net, policy: &dyn Policy, site: &BlockSite) {
        self.block.add_agents(net, policy, site);
    }

    fn begin_in(&mut self, o: usize, state: LinkState) {
        self.block.begin_in(o, state);
    }

    fn change_state(&mut self, net: &Net, o: usize, to: LinkState, now: u64) {
        self.block.reach.routers.change_state(net, o, to, now);
    }

    fn open_channel(&mut self, o: usize) {
        let Routers { fabric, beside } = &mut self.block.reach.routers;
        beside.policy.power.open_channel(o, &mut fabric.wires.outs[o], fabric.now);
        let Reach { routers: Routers { fabric, beside }, interfaces } = &mut self.block.reach;
        fabric.look_again(interfaces, &mut beside.policy, o);
    }

    fn close_channel(&mut self, net: &Net, o: usize) {
        self.block.reach.interrupt_any(net, o);
        let Routers { fabric, beside } = &mut self.block.reach.routers;
        beside.policy.power.close_channel(o, &mut fabric.wires.outs[o]);
    }

    fn bandwidth(&self, net: &Net, o: usize) -> f64 {
        self.block.reach.routers.fabric.bandwidth(net, o)
    }

    fn is_policy_at_rest(&self) -> bool {
        self.block.reach.routers.beside.policy.is_at_rest(self.block.reach.routers.fabric.now)
    }

    fn agents_wrote(&mut self) -> bool {
        self.block.reach.routers.beside.policy.agents_wrote()
    }

    fn agents_wait_until(&self) -> Option<u64> {
        self.block.reach.routers.beside.policy.agents_wait_until()
    }

    fn begin_window(&mut self, now: u64) {
        let policy = &mut self.block.reach.routers.beside.policy;
        policy.power.begin(&self.block.reach.routers.fabric.wires.outs, now);
        policy.control.begin();
        let Reach { routers: Routers { fabric, beside }, interfaces } = &mut self.block.reach;
        beside.observers.recorders.window_begins(now);
        fabric.tell_part_crossed(interfaces, &mut beside.observers.recorders);
    }

    fn end_window(&mut self, now: u64) {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &mut self.block.reach;
        fabric.tell_part_crossed(interfaces, &mut beside.observers.recorders);
        beside.observers.recorders.window_ends(now);
    }

    fn accounts(&self, now: u64) -> Vec<Account> {
        self.block.reach.routers.beside.policy.power.close(&self.block.reach.routers.fabric.wires.outs, now)
    }

    fn off_cycles(&self, now: u64) -> u64 {
        self.block.reach.routers.beside.policy.power.off_cycles(&self.block.reach.routers.fabric.wires.outs, now)
    }

    fn sample(&mut self, now: u64) {
        self.block.reach.routers.beside.observers.recorders.sample(
            &self.block.reach.routers.fabric.wires.outs,
            &self.block.reach.routers.fabric.buffers,
            now,
        );
    }

    fn end_recordings(&mut self, now: u64) -> Vec<Box<dyn Recorder>> {
        std::mem::take(&mut self.block.reach.routers.beside.observers.recorders).finish(
            &self.block.reach.routers.fabric.wires.outs,
            &self.block.reach.routers.fabric.buffers,
            now,
        )
    }

    fn end_watch(&mut self, net: &Net) {
        let Beside { policy, observers, .. } = &mut self.block.reach.routers.beside;
        self.block.reach.routers.fabric.watch_end(policy, net, &mut observers.watch);
    }

    fn is_quiet(&self) -> bool {
        self.block.is_quiet()
    }

    fn has_packets(&self) -> bool {
        self.block.has_packets()
    }

    fn nothing_is_under_way(&self) -> bool {
        self.block.nothing_is_under_way()
    }

    fn next_created(&self) -> u64 {
        self.block.next_created()
    }

    fn take_notes(&mut self, net: &Net) {
        let now = self.block.reach.routers.fabric.now;
        self.block.reach.interfaces.exchange_notes(net, (now, now));
    }

    fn idle_until(&mut self, net: &Net) -> u64 {
        self.block.idle_until(net)
    }

    fn jump(&mut self, net: &Net, now: u64) {
        self.block.jump(net, now);
    }

    fn flows(&self) -> Option<(usize, u16)> {
        self.block.flows()
    }

    fn remember(&mut self) {
        self.then = Some(self.block.snapshot());
    }

    fn forget(&mut self) {
        self.then = None;
    }

    fn flow_since(&self) -> Option<Flow> {
        self.then.as_ref().and_then(|then| self.block.flow_since(then))
    }

    fn periods_left(&self, flow: &Flow) -> u64 {
        self.block.periods_left(flow)
    }

    fn longest_wait(&self, flow: &Flow) -> u64 {
        self.block.longest_wait(flow)
    }

    fn flow_on(&mut self, net: &Net, flow: &Flow, periods: u64, cycles: u64) {
        self.block.flow_on(net, flow, periods, cycles);
    }
}
