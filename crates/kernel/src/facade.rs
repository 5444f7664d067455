//! The view through which agents read and change the channels of a block.

use crate::block::{Beside, PolicySide, Reach, Routers};
use crate::control;
use crate::net::Net;
use crate::parts::control::RETRY;
use crate::parts::faults::Faults;
use crate::parts::power::Power;
use weft_api::agents::{Channels, Parked};
use weft_api::base::hash::hash;
use weft_api::control::{Arrival, ControlPacket, Frame, Wire};
use weft_api::recording::ControlArrival;
use weft_api::state::{LinkState, OutputUnit};
use weft_api::subnetworks::Views;

pub struct Facade<'a, const W: usize, const V: usize> {
    pub reach: &'a mut Reach<W, V>,
    pub net: &'a Net,
    /// The only channel that the agents may read and change at present; `None`: all channels.
    pub only: Option<usize>,
}

impl<const W: usize, const V: usize> Facade<'_, W, V> {
    /// Debug builds: checks that the agents read no channel other than `only`.
    fn look(&self, channel: usize) {
        debug_assert!(
            self.only.is_none_or(|only| only == channel),
            "agents that hear of a wanted channel look at another"
        );
    }

    /// Called before the agents change anything other than timers.
    fn note_write(&mut self) {
        self.reach.routers.beside.policy.power.wrote = true;
    }

    /// Called before the agents change a channel.
    fn write(&mut self, channel: usize) {
        self.look(channel);
        self.note_write();
    }

    fn out(&self, channel: usize) -> &OutputUnit<V> {
        &self.reach.routers.fabric.wires.outs[channel]
    }

    fn power(&self) -> &Power {
        &self.reach.routers.beside.policy.power
    }

    fn faults(&self) -> &Faults {
        &self.reach.routers.beside.policy.faults
    }
}

impl<const W: usize, const V: usize> Channels for Facade<'_, W, V> {
    fn now(&self) -> u64 {
        self.reach.routers.fabric.now
    }

    fn draw(&self, high: u32, low: u32, salt: u64) -> u64 {
        hash(self.net.seed, high, low, salt)
    }

    fn state(&self, channel: usize) -> LinkState {
        self.look(channel);
        self.power().state_for_policy(channel, self.out(channel))
    }

    fn enter(&mut self, channel: usize, state: LinkState) {
        self.write(channel);
        self.reach.routers.settle_channel(self.net, channel);
        self.reach.routers.change_state(self.net, channel, state, self.reach.routers.fabric.now);
    }

    fn open(&mut self, channel: usize) {
        self.write(channel);
        self.reach.routers.settle_channel(self.net, channel);
        let Routers { fabric, beside } = &mut self.reach.routers;
        beside.policy.power.open_channel(channel, &mut fabric.wires.outs[channel], fabric.now);
    }

    fn close(&mut self, channel: usize) {
        self.write(channel);
        self.reach.interrupt_any(self.net, channel);
        let Routers { fabric, beside } = &mut self.reach.routers;
        beside.policy.power.close_channel(channel, &mut fabric.wires.outs[channel]);
    }

    fn look_again(&mut self, channel: usize) {
        self.look(channel);
        let Reach { routers: Routers { fabric, beside }, interfaces } = &mut *self.reach;
        // if no head or terminal waits, this call has changed nothing, so steady flows can continue
        let has_work = fabric.look_again(interfaces, &mut beside.policy, channel);
        beside.policy.power.wrote |= has_work;
    }

    fn flits(&self, channel: usize) -> u32 {
        let Routers { fabric, beside } = &self.reach.routers;
        self.look(channel);
        self.out(channel).flits.wrapping_add(fabric.unsettled(&beside.shortcuts, channel))
    }

    fn bandwidth(&self, channel: usize) -> f64 {
        self.look(channel);
        self.reach.routers.fabric.bandwidth(self.net, channel)
    }

    fn is_wanted(&self, channel: usize) -> bool {
        self.look(channel);
        self.out(channel).requested != 0
    }

    fn is_held(&self, channel: usize) -> bool {
        self.look(channel);
        self.power().held_vcs(channel, self.out(channel)) != 0
    }

    fn free_for(&self, channel: usize) -> i32 {
        let Routers { fabric, beside } = &self.reach.routers;
        self.look(channel);
        (fabric.now as u32).wrapping_sub(fabric.next_free(&beside.shortcuts, channel)) as i32
    }

    fn queued(&self, channel: usize, most: u32) -> u32 {
        self.look(channel);
        self.reach.queued_for(self.net, channel, most)
    }

    fn queue_growth(&self, channel: usize) -> Option<u32> {
        self.look(channel);
        self.reach.routers.fabric.queue_growth(self.net, channel)
    }

    fn credits_are_home(&self, channel: usize) -> bool {
        self.look(channel);
        let out = self.out(channel);
        self.net.links[usize::from(out.class)].are_home(&out.credits)
    }

    fn credit_latency(&self, channel: usize) -> u64 {
        self.net.links[usize::from(self.out(channel).class)].credit_latency
    }

    fn set_timer(&mut self, who: usize, at: u64) {
        self.look(who);
        self.reach.routers.beside.policy.power.timers.set(who, self.reach.routers.fabric.now, at);
    }

    fn views(&self) -> &Views {
        &self.reach.routers.fabric.views
    }

    fn views_mut(&mut self) -> &mut Views {
        self.note_write();
        &mut self.reach.routers.fabric.views
    }

    fn count_packet(&mut self, kind: usize, packet: &dyn Fn() -> ControlPacket) -> Option<u32> {
        self.reach.routers.beside.policy.control.count(kind);
        self.reach.routers.beside.observers.recorders.control_sent(packet)
    }

    fn note_arrival(&mut self, from: u32, frame: &Frame) {
        if let Some(number) = frame.number {
            let Beside { policy: PolicySide { control, .. }, observers, .. } = &mut self.reach.routers.beside;
            let arrival = ControlArrival {
                block: control.block_of(from),
                number,
                cycle: self.reach.routers.fabric.now,
                hops: frame.hops,
            };
            observers.recorders.control_arrived(arrival);
        }
    }

    fn send(&mut self, channel: usize, frame: Frame) -> bool {
        self.write(channel);
        self.reach.interrupt_any(self.net, channel);
        let (fabric, control) = (&mut self.reach.routers.fabric, &mut self.reach.routers.beside.policy.control);
        control::send(&mut fabric.wires, control, self.net, (channel, frame), fabric.now)
    }

    fn signal(&mut self, channel: usize, at: u64, wire: Wire, frame: Frame) {
        self.write(channel);
        let (fabric, control) = (&mut self.reach.routers.fabric, &mut self.reach.routers.beside.policy.control);
        control::post(&mut fabric.wires, control, channel, (at, wire, frame), fabric.now);
    }

    fn try_later(&mut self, router: usize, frame: Frame) {
        self.note_write();
        let Routers { fabric, beside } = &mut self.reach.routers;
        let (now, port) = (fabric.now, fabric.requests.routers[router].base);
        beside.policy.control.post_in(now, now + RETRY, Arrival { port, wire: Wire::None, frame });
    }

    fn tell(&mut self, router: u32, class: u8, frame: Frame) {
        self.note_write();
        let (fabric, control) = (&mut self.reach.routers.fabric, &mut self.reach.routers.beside.policy.control);
        control::tell(&mut fabric.wires, control, self.net, (router, class, frame), fabric.now);
    }

    fn is_dead(&self, router: usize) -> bool {
        self.faults().is_dead(router)
    }

    fn dead_ends(&self, channel: usize) -> u8 {
        self.faults().dead_ends(channel)
    }

    fn parked(&self) -> &[Parked] {
        self.faults().parked()
    }

    fn note_news(&mut self, router: usize) {
        self.note_write();
        self.reach.routers.beside.policy.faults.note_news(router);
    }

    fn warn(&mut self, router: usize) {
        self.note_write();
        self.reach.routers.beside.policy.faults.warn(router);
    }
}
