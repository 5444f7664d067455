//! The channels of a block, as its agents see and change them.

use crate::block::{Block, PolicySide};
use crate::control;
use crate::net::Net;
use crate::parts::control::RETRY;
use weft_api::agents::{Channels, Parked};
use weft_api::base::hash::hash;
use weft_api::control::{Arrival, ControlPacket, Frame, Wire};
use weft_api::recording::ControlArrival;
use weft_api::state::LinkState;
use weft_api::subnetworks::Views;

pub struct Facade<'a, const W: usize, const V: usize> {
    pub block: &'a mut Block<W, V>,
    pub net: &'a Net,
    /// The only channel that the agents may read and change now.
    pub only: Option<usize>,
}

impl<const W: usize, const V: usize> Facade<'_, W, V> {
    /// The agents read a channel.
    fn look(&self, channel: usize) {
        debug_assert!(
            self.only.is_none_or(|only| only == channel),
            "agents that hear of a wanted channel look at another"
        );
    }

    /// The agents change a channel.
    fn write(&mut self, channel: usize) {
        self.look(channel);
        self.block.policy.power.wrote = true;
    }
}

impl<const W: usize, const V: usize> Channels for Facade<'_, W, V> {
    fn now(&self) -> u64 {
        self.block.now
    }

    fn draw(&self, high: u32, low: u32, salt: u64) -> u64 {
        hash(self.net.seed, high, low, salt)
    }

    fn state(&self, channel: usize) -> LinkState {
        self.look(channel);
        self.block.policy.power.state_for_policy(channel, &self.block.wires.outs[channel])
    }

    fn enter(&mut self, channel: usize, state: LinkState) {
        self.write(channel);
        self.block.settle_channel(self.net, channel);
        self.block.change_state(self.net, channel, state, self.block.now);
    }

    fn open(&mut self, channel: usize) {
        self.write(channel);
        self.block.settle_channel(self.net, channel);
        let Block { policy, wires, now, .. } = &mut *self.block;
        policy.power.open_channel(channel, &mut wires.outs[channel], *now);
    }

    fn close(&mut self, channel: usize) {
        self.write(channel);
        self.block.interrupt(self.net, channel);
        let Block { policy, wires, .. } = &mut *self.block;
        policy.power.close_channel(channel, &mut wires.outs[channel]);
    }

    fn look_again(&mut self, channel: usize) {
        self.write(channel);
        self.block.look_again(channel);
    }

    fn flits(&self, channel: usize) -> u32 {
        self.look(channel);
        self.block.wires.outs[channel].flits.wrapping_add(self.block.unsettled(channel))
    }

    fn bandwidth(&self, channel: usize) -> f64 {
        self.look(channel);
        self.block.bandwidth(self.net, channel)
    }

    fn is_wanted(&self, channel: usize) -> bool {
        self.look(channel);
        self.block.wires.outs[channel].requested != 0
    }

    fn is_held(&self, channel: usize) -> bool {
        self.look(channel);
        self.block.policy.power.held_vcs(channel, &self.block.wires.outs[channel]) != 0
    }

    fn free_for(&self, channel: usize) -> i32 {
        self.look(channel);
        (self.block.now as u32).wrapping_sub(self.block.next_free(channel)) as i32
    }

    fn queued(&self, channel: usize) -> u32 {
        self.look(channel);
        self.block.queued_for(self.net, channel)
    }

    fn queue_growth(&self, channel: usize) -> Option<u32> {
        self.look(channel);
        self.block.queue_growth(self.net, channel)
    }

    fn credits_are_home(&self, channel: usize) -> bool {
        self.look(channel);
        let out = &self.block.wires.outs[channel];
        self.net.links[usize::from(out.class)].are_home(&out.credits)
    }

    fn credit_latency(&self, channel: usize) -> u64 {
        self.net.links[usize::from(self.block.wires.outs[channel].class)].credit_latency
    }

    fn set_timer(&mut self, who: usize, at: u64) {
        self.look(who);
        self.block.policy.power.timers.set(who, self.block.now, at);
    }

    fn views(&self) -> &Views {
        &self.block.policy.views
    }

    fn views_mut(&mut self) -> &mut Views {
        self.block.policy.power.wrote = true;
        &mut self.block.policy.views
    }

    fn count_packet(&mut self, kind: usize, packet: &dyn Fn() -> ControlPacket) -> Option<u32> {
        self.block.policy.control.count(kind);
        self.block.observers.recorders.control_sent(packet)
    }

    fn note_arrival(&mut self, from: u32, frame: &Frame) {
        if let Some(number) = frame.number {
            let Block { policy: PolicySide { control, .. }, observers, now, .. } = &mut *self.block;
            let arrival = ControlArrival { block: control.block_of(from), number, cycle: *now, hops: frame.hops };
            observers.recorders.control_arrived(arrival);
        }
    }

    fn send(&mut self, channel: usize, frame: Frame) -> bool {
        self.write(channel);
        self.block.interrupt(self.net, channel);
        let Block { wires, policy, now, .. } = &mut *self.block;
        control::send(wires, &mut policy.control, self.net, (channel, frame), *now)
    }

    fn signal(&mut self, channel: usize, at: u64, wire: Wire, frame: Frame) {
        self.write(channel);
        let Block { wires, policy, now, .. } = &mut *self.block;
        control::post(wires, &mut policy.control, channel, (at, wire, frame), *now);
    }

    fn try_later(&mut self, router: usize, frame: Frame) {
        self.block.policy.power.wrote = true;
        let (now, port) = (self.block.now, self.block.requests.routers[router].base);
        self.block.policy.control.post_in(now, now + RETRY, Arrival { port, wire: Wire::None, frame });
    }

    fn tell(&mut self, router: u32, class: u8, frame: Frame) {
        self.block.policy.power.wrote = true;
        let Block { wires, policy, now, .. } = &mut *self.block;
        control::tell(wires, &mut policy.control, self.net, (router, class, frame), *now);
    }

    fn is_dead(&self, router: usize) -> bool {
        self.block.policy.faults.is_dead(router)
    }

    fn dead_ends(&self, channel: usize) -> u8 {
        self.block.policy.faults.dead_ends(channel)
    }

    fn parked(&self) -> &[Parked] {
        self.block.policy.faults.parked()
    }

    fn note_news(&mut self, router: usize) {
        self.block.policy.power.wrote = true;
        self.block.policy.faults.note_news(router);
    }

    fn warn(&mut self, router: usize) {
        self.block.policy.power.wrote = true;
        self.block.policy.faults.warn(router);
    }
}
