//! Switches whole links: the routers at both ends agree to switch a link off after both directions were idle for the time `idle`. A packet
//! for either direction makes the link wake.
//!
//! # Source
//! Weft's authors designed the policy. `idle_timeout` (Zahn et al., HiPINEB 2019) applies the same idea to each direction of a link
//! separately. The agreement by request and answer is that of J. Kim et al., "TCEP", ISCA 2018.
//! # Parameters
//! `idle` \[time\]: idle time of both directions before the link goes off. `transition` \[time\]: duration of going off, and of waking.
//! # Guarantees
//! The policy never drops a flit. No flit starts on a channel that is not `on`. An "end" of a link is a router together with the channel on
//! which it sends. If this channel was idle for the time `idle`, the end closes it and sends `sleep` over the link. The other end answers
//! `agree` if its own channel was also idle for that time; otherwise it answers `refuse`. After `agree`, both ends switch their channels
//! off. If both ends send `sleep` before they receive the other's, each `sleep` counts as `agree`. After `refuse`, the end that sent
//! `sleep` opens its channel again, and sends its next `sleep` at the earliest after another time `idle`. If a packet waits for a channel
//! that is off or going off, the channel's end sends `wake` to the other end on the side channel. A channel that is going off must be off
//! before it wakes. When its channel is awake, each end sends `awake` on the side channel. The channels open when both ends are awake. The
//! first packet of a burst waits at most for the answer of the other end, then 2 transitions and 2 messages on the side channel.
//! # Not modelled
//! Retraining errors. The energy of the side channel, which also carries credits and is always on. Links of terminals.
//! # Validation
//! `engine/tests/models/neighbour_sleep.rs` checks that each link of an idle network is in each state for the expected number of cycles. It
//! also checks that the cycles of every channel, over all its states, add up to the window. A link with one busy direction must stay on.
//! For many values of latency, `idle` and `transition`, it checks that no packet is lost. `engine/tests/theory.rs` checks that a packet
//! waits for sleeping links exactly as long as derived by hand. No test compares this policy with another simulator, because no other
//! simulator has link states.

use super::sleeps_too_soon;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, ChannelSite, Channels};
use weft_api::base::kept::{Kept, Value};
use weft_api::control::{Arrival, Body, ControlKind, ControlPacket, Frame, Wire};
use weft_api::examples::written;
use weft_api::policy::{ControlPlan, LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_api::switching::CloseFirst;
use weft_topology::{Graph, Peer};
use weft_units::{Cycles, Refusal, Remark, Time};

/// Switches whole links: the routers at both ends agree to switch a link off after both directions were idle for the time `idle`. A packet
/// for either direction makes the link wake.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NeighbourSleep {
    /// Time for which both directions must have been idle before the link goes off. A direction is idle if it sends no flit and no packet
    /// holds or requests it.
    pub idle: Time,
    /// Duration of going off, and of waking. During these times the link draws full power and carries nothing.
    pub transition: Time,
}

const PATH: &str = "power.policy.neighbour_sleep";
const OFF: CloseFirst = CloseFirst::of(&NeighbourSleep::OFFERS);

impl NeighbourSleep {
    pub(crate) const OFFERS: Offers = Offers {
        links: LinkKnowledge::Nothing,
        packets_wait_for_links: true,
        control_packets: &Say::PACKETS,
        ..Offers::ALWAYS_ON
    };

    fn times(&self, cycle_fs: u128) -> Result<Times, Refusal> {
        let cycles = |name: &str, time: Time| {
            let path = format!("{PATH}.{name}");
            Ok(time.duration(cycle_fs, &path)?.above_zero(&path)?.cycles)
        };
        Ok(Times { idle: cycles("idle", self.idle)?, transition: cycles("transition", self.transition)? })
    }
}

impl PolicyModel for NeighbourSleep {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking])
    }

    /// The sum of two times: from the last flit of a link until the link is off, and until it is on again.
    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let times = self.times(cycle_fs)?;
        Ok(Some(times.transition.saturating_mul(2).saturating_add(times.idle)))
    }

    /// Two transitions, because the link must be off before it wakes. The messages between the ends take some cycles more, depending on the
    /// latency of the link. They are not included.
    fn longest_wait(&self, cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(self.times(cycle_fs)?.transition.saturating_mul(2))
    }

    fn risk(&self, cycle_fs: u128) -> Result<Option<Remark>, Refusal> {
        let Times { idle, transition } = self.times(cycle_fs)?;
        Ok((transition > idle).then(|| sleeps_too_soon(self.idle, self.transition, PATH, [idle, transition])))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        if site.managed[0] {
            let what = "neighbour_sleep needs two routers that agree, but the link of a terminal has only one router";
            let help = "leave terminal out of manages; all means all links between routers";
            return Err(Refusal::new("power.manages", what, help));
        }
        Ok(Arc::new(Rules { times: self.times(site.cycle_fs)?, ports: site.graph.radix() as usize }))
    }

    fn examples() -> Vec<Self> {
        written(&[r#"{"idle": "40ns", "transition": "25ns"}"#])
    }
}

/// The parameters of the policy [cycles].
#[derive(Debug, Clone, Copy)]
struct Times {
    idle: u64,
    transition: u64,
}

/// The policy built for one network. It creates the agents of each block.
#[derive(Debug, Clone, Copy)]
struct Rules {
    times: Times,
    /// Largest number of ports of a router.
    ports: usize,
}

impl Policy for Rules {
    /// Limits on control packets in flight. The limits are small, because an end sends its next request only after the other end has
    /// answered the last one.
    fn control(&self) -> Option<ControlPlan> {
        Some(ControlPlan { kinds: &Say::PACKETS, queue: 2, per_router: 3 * self.ports })
    }

    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let end = |channel: &ChannelSite| match channel.peer {
            Peer::Router { router: far, .. } if channel.managed => {
                Some(End::new(site.routers[channel.router as usize].id, far, channel.class))
            }
            Peer::Router { .. } | Peer::Terminal(_) | Peer::Unused => None,
        };
        Some(Box::new(Ends { times: self.times, of: site.channels.iter().map(end).collect() }))
    }
}

/// A message from one end of a link to the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Say {
    Sleep,
    Agree,
    Refuse,
    /// A packet waits for this end's channel. The message is sent on the side channel.
    Wake,
    /// The channel of this end is awake. The message is sent on the side channel.
    Awake,
}

impl Say {
    const ALL: [Self; 5] = [Self::Sleep, Self::Agree, Self::Refuse, Self::Wake, Self::Awake];
    /// Names of the control packets in results. The other two messages (`Wake`, `Awake`) use the side channel.
    const PACKETS: [&'static str; 3] = ["sleep", "agree", "refuse"];
}

/// Phase of an end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
enum Step {
    /// The channel is open, and carries packets.
    Carries,
    /// This end has sent `sleep` and waits for the answer.
    Asks,
    /// The ends have agreed to sleep. This end goes off as soon as the flits that still wait for its channel have left, such as its answer.
    Leaves,
    /// The channel is going off, or is off.
    Sleeps,
    /// The channel is waking.
    Wakes,
    /// This end is awake and waits until the other end is awake.
    IsAwake,
}

/// State of one end of a link.
#[derive(Debug, Clone, Copy, Value)]
struct End {
    step: Step,
    /// True if this end has asked the other end to wake since the link last carried packets.
    has_called: bool,
    /// True if the other end has asked this end to wake since the link last carried packets.
    is_called: bool,
    /// True if the other end has reported that it is awake since the link last carried packets.
    other_is_awake: bool,
    /// Router of this end, numbered in the whole network.
    own: u32,
    /// Router of the other end, numbered in the whole network.
    far: u32,
    /// Link class of the channel.
    class: u8,
}

impl End {
    fn new(own: u32, far: u32, class: u8) -> Self {
        Self { step: Step::Carries, has_called: false, is_called: false, other_is_awake: false, own, far, class }
    }
}

/// For each channel of a block: the state of this end of its link; `None` if the policy does not manage the channel.
#[derive(Debug, Kept)]
struct Ends {
    #[kept(fixed)]
    times: Times,
    #[kept(each)]
    of: Vec<Option<End>>,
}

impl Agents for Ends {
    fn start(&mut self, channels: &mut dyn Channels) {
        let managed = self.of.iter().enumerate().filter(|(_, end)| end.is_some());
        managed.for_each(|(o, _)| channels.set_timer(o, self.times.idle));
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        ended.iter().for_each(|&o| self.with(o as usize, channels, |work| work.timer()));
    }

    fn wanted(&mut self, channel: usize, channels: &mut dyn Channels) {
        self.with(channel, channels, |work| work.wanted());
    }

    fn receive(&mut self, arrival: Arrival, channels: &mut dyn Channels) {
        self.with(arrival.port as usize, channels, |work| work.hear(arrival));
    }
}

impl Ends {
    /// Calls `does` with the end of the link of channel `o`, if the policy manages the channel.
    fn with(&mut self, o: usize, channels: &mut dyn Channels, does: impl FnOnce(&mut Work)) {
        if let Some(end) = &mut self.of[o] {
            does(&mut Work { o, end, times: self.times, channels });
        }
    }
}

/// An end of a link with access to the channels of its block, for one call.
struct Work<'a> {
    /// Number of the channel of this end.
    o: usize,
    end: &'a mut End,
    times: Times,
    channels: &'a mut dyn Channels,
}

impl Work<'_> {
    fn timer(&mut self) {
        match (self.end.step, self.channels.state(self.o)) {
            (Step::Carries, _) => self.look_at_idle(),
            (Step::Leaves, _) => self.leave(),
            (Step::Sleeps, LinkState::Draining) => {
                self.channels.enter(self.o, LinkState::Off);
                if self.end.is_called || self.end.has_called {
                    self.wake();
                }
            }
            (Step::Wakes, _) => {
                self.end.step = Step::IsAwake;
                self.signal(Say::Awake);
                self.carry_if_both_are_awake();
            }
            (Step::Sleeps | Step::Asks | Step::IsAwake, _) => {}
        }
    }

    /// Called when a head begins to request the closed channel.
    fn wanted(&mut self) {
        match self.end.step {
            Step::Leaves | Step::Sleeps => self.call(),
            // in `Asks`, the answer of the other end decides what happens; in the last two steps, both ends already wake
            Step::Carries | Step::Asks | Step::Wakes | Step::IsAwake => {}
        }
    }

    fn hear(&mut self, Arrival { frame, .. }: Arrival) {
        let say = Say::ALL[frame.body as usize];
        if (say as usize) < Say::PACKETS.len() {
            self.channels.note_arrival(self.end.far, &frame);
        }
        match (say, self.end.step) {
            (Say::Sleep, Step::Carries) => self.answer(),
            (Say::Sleep | Say::Agree, Step::Asks) => {
                self.leave();
                if self.channels.is_wanted(self.o) {
                    self.call();
                }
            }
            (Say::Refuse, Step::Asks) => self.carry(),
            (Say::Sleep | Say::Agree | Say::Refuse, step) => unreachable!("{say:?} comes to an end that {step:?}"),
            (Say::Wake, step) => {
                self.end.is_called = true;
                if step == Step::Sleeps && self.channels.state(self.o) == LinkState::Off {
                    self.wake();
                }
            }
            (Say::Awake, _) => {
                self.end.other_is_awake = true;
                self.carry_if_both_are_awake();
            }
        }
    }

    /// Cycles until the channel will have been idle for the time `idle`, if it gets no more packets. Returns 0 if it already was idle for
    /// this time.
    fn idle_in(&self) -> u64 {
        let (idle, free_for) = (self.times.idle, self.channels.free_for(self.o));
        if self.channels.is_held(self.o) || self.channels.is_wanted(self.o) {
            // a packet holds or requests the channel, so it is busy at least until now
            return idle + u64::from(free_for.min(-1).unsigned_abs());
        }
        idle.saturating_add_signed(-i64::from(free_for))
    }

    /// Closes the channel and sends `sleep` to the other end, if the channel has been idle for the time `idle`. Otherwise sets a timer for
    /// the first cycle in which this can be true.
    fn look_at_idle(&mut self) {
        match self.idle_in() {
            0 => {
                OFF.close(self.channels, self.o);
                self.end.step = Step::Asks;
                self.send(Say::Sleep);
            }
            cycles => self.channels.set_timer(self.o, self.channels.now() + cycles),
        }
    }

    /// Answers `sleep` from the other end.
    fn answer(&mut self) {
        if self.idle_in() > 0 {
            return self.send(Say::Refuse);
        }
        OFF.close(self.channels, self.o);
        self.send(Say::Agree);
        self.leave();
    }

    /// Called after both ends have agreed to sleep. The channel goes off as soon as its last packet has left.
    fn leave(&mut self) {
        let (now, leave_in) = (self.channels.now(), OFF.flits_leave_in(self.channels, self.o));
        if leave_in > 0 {
            self.end.step = Step::Leaves;
            return self.channels.set_timer(self.o, now + leave_in);
        }
        self.end.step = Step::Sleeps;
        self.channels.enter(self.o, LinkState::Draining);
        self.channels.set_timer(self.o, now + self.times.transition);
    }

    /// Called when a packet waits for the channel, which sleeps. Makes both ends wake.
    fn call(&mut self) {
        if !self.end.has_called && !self.end.is_called {
            self.signal(Say::Wake);
        }
        self.end.has_called = true;
        if self.channels.state(self.o) == LinkState::Off {
            self.wake();
        }
    }

    fn wake(&mut self) {
        self.end.step = Step::Wakes;
        self.channels.enter(self.o, LinkState::Waking);
        self.channels.set_timer(self.o, self.channels.now() + self.times.transition);
    }

    fn carry_if_both_are_awake(&mut self) {
        if self.end.step == Step::IsAwake && self.end.other_is_awake {
            self.channels.enter(self.o, LinkState::On);
            self.carry();
        }
    }

    /// Opens the channel, so that it carries packets again.
    fn carry(&mut self) {
        *self.end = End::new(self.end.own, self.end.far, self.end.class);
        OFF.open(self.channels, self.o);
        // the other end must know that this end is awake before it receives the next `sleep`
        let wait = self.times.idle.max(self.channels.credit_latency(self.o));
        self.channels.set_timer(self.o, self.channels.now() + wait);
    }

    /// Sends message `say` to the other end in a control packet over the link.
    fn send(&mut self, say: Say) {
        let (cycle, End { own, far, class, .. }) = (self.channels.now(), *self.end);
        let kind = ControlKind::of(&Say::PACKETS, say as usize);
        let packet = || ControlPacket {
            cycle,
            from: own,
            to: far,
            kind,
            about: None,
            value: None,
            flag: false,
            class,
            arrival: None,
        };
        let number = self.channels.count_packet(say as usize, &packet);
        let is_sent = self.channels.send(self.o, Frame { body: say as Body, hops: 0, number });
        assert!(is_sent, "an end sends one packet at a time");
    }

    /// Sends message `say` to the other end on the side channel of the link.
    fn signal(&mut self, say: Say) {
        let at = self.channels.now() + self.channels.credit_latency(self.o);
        self.channels.signal(self.o, at, Wire::SideChannel, Frame { body: say as Body, ..Frame::default() });
    }
}
