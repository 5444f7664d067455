//! Nap: a channel that was idle turns off, and the first packet that needs the channel turns it on again.
//!
//! # Source
//! An example; `idle_timeout` of Weft is the complete model.
//! # Parameters
//! idle [time]: time for which a channel must have been idle before it goes off; wake [time]: time that it takes to go on again.
//! # Guarantees
//! The policy never discards a flit. Packets wait for a channel that is off: at most `wake` after the first of them has requested it.
//! # Not modelled
//! The time and the energy of switching off.
//! # Validation
//! `tests/conformance.rs`: the accounts of all channels are complete, every packet is delivered, and channels enter all states that the
//! policy declares. There are no results of another simulator.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Channels};
use weft_api::base::kept::Kept;
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_api::switching::CloseFirst;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

/// A channel that was idle turns off, and the first packet that needs the channel turns it on again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nap {
    /// Time for which a channel must be idle before it turns off.
    pub idle: Time,
    /// Time from the first packet that requests the channel until it is on.
    pub wake: Time,
}

const OFF: CloseFirst = CloseFirst::of(&Nap::OFFERS);

impl Nap {
    /// Packets wait for links, and routings need no information about the states of links.
    pub const OFFERS: Offers =
        Offers { links: LinkKnowledge::Nothing, packets_wait_for_links: true, ..Offers::ALWAYS_ON };

    fn times(&self, cycle_fs: u128) -> Result<Times, Refusal> {
        let cycles = |name: &str, time: Time| {
            let path = format!("power.policy.nap.{name}");
            Ok(time.duration(cycle_fs, &path)?.above_zero(&path)?.cycles)
        };
        Ok(Times { idle: cycles("idle", self.idle)?, wake: cycles("wake", self.wake)? })
    }
}

impl PolicyModel for Nap {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Off, LinkState::Waking])
    }

    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let Times { idle, wake } = self.times(cycle_fs)?;
        Ok(Some(idle.saturating_add(wake)))
    }

    fn longest_wait(&self, cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(self.times(cycle_fs)?.wake)
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(self.times(site.cycle_fs)?))
    }

    fn examples() -> Vec<Self> {
        written(&[r#"{"idle": "40ns", "wake": "25ns"}"#])
    }
}

/// The parameters of the policy, converted to cycles.
#[derive(Debug, Clone, Copy)]
struct Times {
    idle: u64,
    wake: u64,
}

impl Policy for Times {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let managed = (0..).zip(&site.channels).filter(|(_, channel)| channel.managed).map(|(number, _)| number);
        Some(Box::new(Watchers { times: Arc::new(*self), managed: managed.collect() }))
    }
}

/// The agent that monitors the managed channels of a block. The agent stores only the states of the channels.
#[derive(Debug, Kept)]
struct Watchers {
    #[kept(fixed)]
    times: Arc<Times>,
    #[kept(fixed)]
    managed: Vec<usize>,
}

impl Agents for Watchers {
    fn start(&mut self, channels: &mut dyn Channels) {
        self.managed.iter().for_each(|&channel| channels.set_timer(channel, self.times.idle));
    }

    fn wanted(&mut self, channel: usize, channels: &mut dyn Channels) {
        if channels.state(channel) == LinkState::Off {
            channels.enter(channel, LinkState::Waking);
            channels.set_timer(channel, channels.now() + self.times.wake);
        }
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        for channel in ended.iter().map(|&channel| channel as usize) {
            if channels.state(channel) == LinkState::Waking {
                channels.enter(channel, LinkState::On);
                OFF.open(channels, channel);
                channels.set_timer(channel, channels.now() + self.times.idle);
            } else {
                self.look_at_idle(channel, channels);
            }
        }
    }
}

impl Watchers {
    /// Switches the channel off if it has been idle for `idle` cycles. Otherwise sets a timer for the first cycle in which the channel can
    /// have been idle that long.
    fn look_at_idle(&self, channel: usize, channels: &mut dyn Channels) {
        let (now, idle, free_for) = (channels.now(), self.times.idle, channels.free_for(channel));
        if channels.is_held(channel) || channels.is_wanted(channel) || free_for < 0 {
            channels.set_timer(channel, now + OFF.flits_leave_in(channels, channel).max(1) + idle);
        } else if (free_for as u64) < idle {
            channels.set_timer(channel, now - free_for as u64 + idle);
        } else {
            OFF.close(channels, channel);
            channels.enter(channel, LinkState::Off);
        }
    }
}
