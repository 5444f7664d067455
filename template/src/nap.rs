//! Nap: a channel that was idle goes off, and the first packet that wants it brings it back.
//!
//! # Source
//! An example; `idle_timeout` of Weft is the complete model.
//! # Parameters
//! idle [time]: how long the channel must have been idle; wake [time]: how long it takes to go on again.
//! # Guarantees
//! Never drops a flit. Packets wait for a channel that is off, `wake` at most after the first of them.
//! # Not modelled
//! The time and the energy of going off.
//! # Validation
//! `tests/conformance.rs`: the accounts of all channels close, every packet is delivered, and the channels are in all states
//! that the policy declares. No rows of a peer.

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

/// A channel that was idle goes off, and the first packet that wants it brings it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Nap {
    /// Time after which an idle channel goes off.
    pub idle: Time,
    /// Time from the first packet that wants the channel until it is on.
    pub wake: Time,
}

const OFF: CloseFirst = CloseFirst::of(&Nap::OFFERS);

impl Nap {
    /// Packets wait for links, and routings need not know the states of links.
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

/// The parameters in cycles.
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

/// Watches the managed channels of a block. The state of a channel is all that it remembers.
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
    /// The channel goes off if it was idle for `idle` cycles; else this looks again as soon as that can be true.
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
