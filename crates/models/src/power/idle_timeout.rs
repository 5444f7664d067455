//! Per direction: a channel that was idle for `idle` goes off, or to a lower rate, and a packet that wants it brings it back.
//!
//! # Source
//! Zahn et al., HiPINEB 2019 (on/off policy); idle time `t_down = t_transition / rho`. Lower rates: ours, as links do that
//! keep some lanes.
//! # Parameters
//! idle [time]: how long the channel must have been idle; transition [time]: duration of going off and of waking, or until a channel
//! at a lower rate has its full one; to: the state of idle channels.
//! # Guarantees
//! Never drops a flit; no flit starts on a channel that is neither `on` nor at a lower rate. Off: the first packet of a
//! burst waits at most 2 transitions. At a lower rate: it waits for nothing, and goes at that rate until the full one is back.
//! # Not modelled
//! Retraining errors. Credits travel on a side channel that is never switched off nor billed.
//! # Validation
//! `engine/tests/conservation.rs`: the account of every channel closes, only a channel that is on carries flits, an
//! idle network is in each state for exactly the cycles given; `engine/tests/choosing.rs`: sleeping members of a trunk
//! wake when needed. No rows of a peer: neither has link states.

use super::sleeps_too_soon;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Channels};
use weft_api::base::kept::Kept;
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::LinkState;
use weft_api::switching::CloseFirst;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

/// Per direction: a channel that was idle for `idle` goes off, or to a lower rate, and a packet that wants it brings it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleTimeout {
    /// Time after which an idle channel goes down. It is idle while no flit waits for the link or is on its way to it.
    pub idle: Time,
    /// Duration of going off and of waking, in which the channel draws full power and carries nothing.
    pub transition: Time,
    /// The state of idle channels. With `half` or `quarter` packets wait for nothing: the channel carries them at that rate,
    /// and has its full rate again a `transition` after the first one asked for it.
    #[serde(default, skip_serializing_if = "IdleState::is_off")]
    pub to: IdleState,
}

/// The state of idle channels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum IdleState {
    #[default]
    Off,
    Half,
    Quarter,
}

impl IdleState {
    fn is_off(&self) -> bool {
        *self == Self::Off
    }
}

const PATH: &str = "power.policy.idle_timeout";
const OFF: CloseFirst = CloseFirst::of(&IdleTimeout::OFFERS);

impl IdleTimeout {
    pub(crate) const OFFERS: Offers =
        Offers { links: LinkKnowledge::Nothing, packets_wait_for_links: true, ..Offers::ALWAYS_ON };

    fn times(&self, cycle_fs: u128) -> Result<Times, Refusal> {
        let cycles = |name: &str, time: Time| {
            let path = format!("{PATH}.{name}");
            Ok(time.duration(cycle_fs, &path)?.above_zero(&path)?.cycles)
        };
        let slow = match self.to {
            IdleState::Off => None,
            IdleState::Half => Some(LinkState::Half),
            IdleState::Quarter => Some(LinkState::Quarter),
        };
        Ok(Times { idle: cycles("idle", self.idle)?, transition: cycles("transition", self.transition)?, slow })
    }
}

impl PolicyModel for IdleTimeout {
    fn modes(&self) -> &'static [LinkState] {
        match self.to {
            IdleState::Off => &[LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking],
            IdleState::Half => &[LinkState::On, LinkState::Half],
            IdleState::Quarter => &[LinkState::On, LinkState::Quarter],
        }
    }

    /// The time from the last flit until the channel is off, and until it is on again.
    fn settling_period(&self, _: &Graph, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let times = self.times(cycle_fs)?;
        Ok(Some(times.transition.saturating_mul(2).saturating_add(times.idle)))
    }

    /// It must be off before it wakes.
    fn longest_wait(&self, cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(self.times(cycle_fs)?.transition.saturating_mul(2))
    }

    /// A link that goes off after less idle time than a switch takes can starve the links behind it, which then go off, too.
    fn risk(&self, cycle_fs: u128) -> Result<Option<Refusal>, Refusal> {
        let times = self.times(cycle_fs)?;
        Ok((times.transition > times.idle).then(|| sleeps_too_soon(self.idle, self.transition, PATH)))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(self.times(site.cycle_fs)?))
    }

    fn examples() -> Vec<Self> {
        written(&[
            r#"{"idle": "40ns", "transition": "25ns"}"#,
            r#"{"idle": "40ns", "transition": "25ns", "to": "quarter"}"#,
        ])
    }
}

/// The parameters in cycles.
#[derive(Debug, Clone, Copy)]
struct Times {
    idle: u64,
    transition: u64,
    /// The lower rate of idle channels; `None`: they go off.
    slow: Option<LinkState>,
}

impl Policy for Times {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let managed = (0..).zip(&site.channels).filter(|(_, channel)| channel.managed).map(|(o, _)| o);
        Some(Box::new(Watchers { times: *self, managed: managed.collect() }))
    }
}

/// Watches the managed channels. It remembers nothing but the timer of each.
#[derive(Debug, Kept)]
struct Watchers {
    #[kept(fixed)]
    times: Times,
    #[kept(fixed)]
    managed: Vec<usize>,
}

impl Agents for Watchers {
    fn start(&mut self, channels: &mut dyn Channels) {
        self.managed.iter().for_each(|&o| channels.set_timer(o, self.times.idle));
    }

    fn wanted(&mut self, o: usize, channels: &mut dyn Channels) {
        // a channel on its way down must get there first; its timer wakes it then
        match channels.state(o) {
            LinkState::Off => {
                channels.enter(o, LinkState::Waking);
                channels.set_timer(o, channels.now() + self.times.transition);
            }
            LinkState::Half | LinkState::Quarter => {
                OFF.open(channels, o);
                channels.set_timer(o, channels.now() + self.times.transition);
            }
            LinkState::On | LinkState::Shadow | LinkState::Draining | LinkState::Waking => {}
        }
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        for o in ended.iter().map(|&o| o as usize) {
            self.look(o, channels);
            channels.look_again(o);
        }
    }
}

impl Watchers {
    fn look(&mut self, o: usize, channels: &mut dyn Channels) {
        match channels.state(o) {
            LinkState::On => self.look_at_idle(o, channels),
            LinkState::Draining => {
                channels.enter(o, LinkState::Off);
                if channels.is_wanted(o) {
                    self.wanted(o, channels);
                }
            }
            LinkState::Half | LinkState::Quarter => {
                channels.enter(o, LinkState::On);
                channels.set_timer(o, channels.now() + self.times.idle);
            }
            LinkState::Waking => {
                channels.enter(o, LinkState::On);
                OFF.open(channels, o);
                channels.set_timer(o, channels.now() + self.times.idle);
            }
            LinkState::Off | LinkState::Shadow => {}
        }
    }

    /// The channel goes down if its last flit left `idle` cycles ago; otherwise this looks again as soon as that can be
    /// true.
    fn look_at_idle(&self, o: usize, channels: &mut dyn Channels) {
        let (now, idle, free_for) = (channels.now(), self.times.idle, channels.free_for(o));
        let held = channels.is_held(o) || channels.is_wanted(o);
        if held || free_for < 0 {
            // it is busy until now at least (a packet holds or wants it), or until the flits that wait for it have left
            let busy_until = now + u64::from(held).max(OFF.flits_leave_in(channels, o));
            channels.set_timer(o, busy_until + idle);
        } else if (free_for as u64) < idle {
            channels.set_timer(o, now - free_for as u64 + idle);
        } else {
            OFF.close(channels, o);
            channels.enter(o, self.times.slow.unwrap_or(LinkState::Draining));
            if self.times.slow.is_none() {
                channels.set_timer(o, now + self.times.transition);
            }
        }
    }
}
