//! A block of given widths behind the face that all blocks have.

use super::AnyBlock;
use super::views::{Input, Output, Place, Records};
use crate::block::{Block, Interfaces, Mail, Observers, PolicySide, Shortcuts};
use crate::net::Net;
use crate::shortcuts::steady::{Flow, Snapshot};
use crate::switch_allocation::SwitchAllocator;
use std::sync::Arc;
use weft_api::agents::BlockSite;
use weft_api::base::kept::Kept;
use weft_api::policy::Policy;
use weft_api::recording::Recorder;
use weft_api::state::{Account, LinkState};

/// A block with the allocator that is compiled for its widths.
#[derive(Debug, Kept)]
pub struct OfWidths<const W: usize, const V: usize> {
    pub block: Block<W, V>,
    #[kept(fixed)]
    pub(super) allocator: Arc<dyn SwitchAllocator<W, V>>,
    /// The state with which [`AnyBlock::flow_since`] compares.
    #[kept(fixed)]
    pub(super) then: Option<Snapshot<W, V>>,
}

impl<const W: usize, const V: usize> AnyBlock for OfWidths<W, V> {
    fn interfaces(&self) -> &Interfaces {
        &self.block.interfaces
    }

    fn policy(&self) -> &PolicySide {
        &self.block.policy
    }

    fn policy_mut(&mut self) -> &mut PolicySide {
        &mut self.block.policy
    }

    fn observers(&self) -> &Observers {
        &self.block.observers
    }

    fn observers_mut(&mut self) -> &mut Observers {
        &mut self.block.observers
    }

    fn shortcuts(&self) -> &Shortcuts {
        &self.block.shortcuts
    }

    fn shortcuts_mut(&mut self) -> &mut Shortcuts {
        &mut self.block.shortcuts
    }

    fn records(&self) -> Records<'_> {
        Records::of(&self.block)
    }

    fn routers(&self) -> usize {
        self.block.requests.routers.len()
    }

    fn router(&self, r: usize) -> Place {
        let router = &self.block.requests.routers[r];
        Place { id: router.id, base: router.base }
    }

    fn inputs(&self) -> usize {
        self.block.buffers.ins.len()
    }

    fn input(&self, i: usize) -> Input<'_> {
        Input::of(&self.block.buffers, i)
    }

    fn outputs(&self) -> usize {
        self.block.wires.outs.len()
    }

    fn output(&self, o: usize) -> Output<'_> {
        Output::of(&self.block, o)
    }

    fn advance(&mut self, net: &Net, until: u64) {
        self.block.advance(net, &*self.allocator, until);
    }

    fn outbox(&self) -> &[Mail] {
        &self.block.wires.outbox
    }

    fn outbox_mut(&mut self) -> &mut [Mail] {
        &mut self.block.wires.outbox
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
        self.block.change_state(net, o, to, now);
    }

    fn open_channel(&mut self, o: usize) {
        let Block { policy, wires, now, .. } = &mut self.block;
        policy.power.open_channel(o, &mut wires.outs[o], *now);
        self.block.look_again(o);
    }

    fn close_channel(&mut self, net: &Net, o: usize) {
        self.block.interrupt(net, o);
        let Block { policy, wires, .. } = &mut self.block;
        policy.power.close_channel(o, &mut wires.outs[o]);
    }

    fn bandwidth(&self, net: &Net, o: usize) -> f64 {
        self.block.bandwidth(net, o)
    }

    fn is_policy_at_rest(&self) -> bool {
        self.block.is_policy_at_rest()
    }

    fn agents_wrote(&mut self) -> bool {
        self.block.agents_wrote()
    }

    fn agents_wait_until(&self) -> Option<u64> {
        self.block.agents_wait_until()
    }

    fn begin_window(&mut self, now: u64) {
        let Block { policy, wires, .. } = &mut self.block;
        policy.power.begin(&wires.outs, now);
        policy.control.begin();
        self.block.window_begins(now);
    }

    fn end_window(&mut self, now: u64) {
        self.block.window_ends(now);
    }

    fn accounts(&self, now: u64) -> Vec<Account> {
        self.block.policy.power.close(&self.block.wires.outs, now)
    }

    fn off_cycles(&self, now: u64) -> u64 {
        self.block.policy.power.off_cycles(&self.block.wires.outs, now)
    }

    fn sample(&mut self, now: u64) {
        self.block.observers.recorders.sample(&self.block.wires.outs, &self.block.buffers, now);
    }

    fn end_recordings(&mut self, now: u64) -> Vec<Box<dyn Recorder>> {
        std::mem::take(&mut self.block.observers.recorders).finish(&self.block.wires.outs, &self.block.buffers, now)
    }

    fn end_watch(&mut self, net: &Net) {
        self.block.watch_end(net);
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
        let now = self.block.now;
        self.block.interfaces.exchange_notes(net, (now, now));
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
