//! Per direction: a channel that was idle for `idle` goes off, or to another mode, and a packet that wants it brings it back.
//!
//! # Source
//! Zahn et al., HiPINEB 2019 (on/off policy); idle time `t_down = t_transition / rho`. Lower rates: ours, as links do that
//! keep some lanes.
//! # Parameters
//! idle [time]: how long the channel must have been idle; transition [time]: duration of a change; to: the mode of idle
//! channels, `off` or one that the scenario names; changes: whether the channel carries traffic during a change.
//! # Guarantees
//! Never drops a flit; no flit starts on a channel whose mode carries none, nor during a change that stops traffic. Off, or
//! with changes that stop: the first packet of a burst waits at most 2 transitions. With changes that carry it waits for
//! nothing, and crosses at the lower rate until the full one is back.
//! # Not modelled
//! Retraining errors. Credits travel on a side channel that is never switched off nor billed.
//! # Validation
//! `engine/tests/conservation.rs`: the account of every channel closes, only a channel that is on carries flits, an
//! idle network is in each state for exactly the cycles given; `engine/tests/choosing.rs`: sleeping members of a trunk
//! wake when needed; `engine/tests/modes.rs`: at 1/12 of the rate a flit takes as long as twelve. No rows of a peer: neither
//! has link states.

use super::changes::Changes;
use super::sleeps_too_soon;
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

/// Per direction: a channel that was idle for `idle` goes off, or to another mode, and a packet that wants it brings it back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleTimeout {
    /// Time after which an idle channel goes down. It is idle while no flit waits for the link or is on its way to it.
    pub idle: Time,
    /// Duration of a change of the mode, down and up.
    pub transition: Time,
    /// The mode of idle channels: `off`, or one that `power.modes` names (`half` and `quarter` where it names none). In a mode
    /// that carries traffic the channel has its full rate again a `transition` after the first packet asked for it.
    #[serde(default = "off", skip_serializing_if = "is_off")]
    #[schemars(example = &"off", example = &"quarter", example = &"low")]
    pub to: String,
    /// Whether the channel carries traffic while it changes: at the lower rate, with `carry`. Default: `carry` if it carries
    /// traffic in the mode `to`, else `stop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
}

fn off() -> String {
    "off".to_owned()
}

fn is_off(to: &str) -> bool {
    to == "off"
}

const PATH: &str = "power.policy.idle_timeout";
const OFF: CloseFirst = CloseFirst::of(&IdleTimeout::OFFERS);

impl IdleTimeout {
    pub(crate) const OFFERS: Offers =
        Offers { links: LinkKnowledge::Nothing, packets_wait_for_links: true, ..Offers::ALWAYS_ON };

    fn times(&self, cycle_fs: u128) -> Result<(u64, u64), Refusal> {
        let cycles = |name: &str, time: Time| {
            let path = format!("{PATH}.{name}");
            Ok(time.duration(cycle_fs, &path)?.above_zero(&path)?.cycles)
        };
        Ok((cycles("idle", self.idle)?, cycles("transition", self.transition)?))
    }

    /// The mode of idle channels, and whether changes stop traffic.
    fn target(&self, modes: &Modes) -> Result<(LinkState, Changes), Refusal> {
        let to = modes.asked(&self.to, &format!("{PATH}.to"))?;
        let carries = modes.carries(to);
        let changes = self.changes.unwrap_or(if carries { Changes::Carry } else { Changes::Stop });
        if !carries && changes != Changes::Stop {
            let what =
                format!("`{changes}`, but a channel carries nothing in the mode `{}`, nor on its way there", self.to);
            return Err(Refusal::new(format!("{PATH}.changes"), what, "leave `changes` out, or write `changes: stop`"));
        }
        Ok((to, changes))
    }
}

impl PolicyModel for IdleTimeout {
    fn states(&self, modes: &Modes) -> Result<Vec<LinkState>, Refusal> {
        let (to, changes) = self.target(modes)?;
        let mut states = vec![LinkState::On];
        states.extend(changes.stop_down().then_some(LinkState::Draining));
        states.push(to);
        states.extend(changes.stop_up().then_some(LinkState::Waking));
        Ok(states)
    }

    /// The time from the last flit until the channel is off, and until it is on again.
    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let (idle, transition) = self.times(cycle_fs)?;
        Ok(Some(transition.saturating_mul(2).saturating_add(idle)))
    }

    /// It must be off before it wakes.
    fn longest_wait(&self, cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(self.times(cycle_fs)?.1.saturating_mul(2))
    }

    /// A link that goes off after less idle time than a switch takes can starve the links behind it, which then go off, too.
    fn risk(&self, cycle_fs: u128) -> Result<Option<Refusal>, Refusal> {
        let (idle, transition) = self.times(cycle_fs)?;
        Ok((transition > idle).then(|| sleeps_too_soon(self.idle, self.transition, PATH)))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let (idle, transition) = self.times(site.cycle_fs)?;
        let (to, changes) = self.target(site.modes)?;
        Ok(Arc::new(Times { idle, transition, to, changes }))
    }

    fn examples() -> Vec<Self> {
        written(&[
            r#"{"idle": "40ns", "transition": "25ns"}"#,
            r#"{"idle": "40ns", "transition": "25ns", "to": "quarter"}"#,
            r#"{"idle": "40ns", "transition": "25ns", "to": "half", "changes": "stop"}"#,
            r#"{"idle": "40ns", "transition": "25ns", "to": "quarter", "changes": "stop_up"}"#,
        ])
    }
}

/// The parameters in cycles.
#[derive(Debug, Clone, Copy)]
struct Times {
    idle: u64,
    transition: u64,
    /// The mode of idle channels.
    to: LinkState,
    changes: Changes,
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
        if channels.state(o) == self.times.to {
            if self.times.changes.stop_up() {
                channels.enter(o, LinkState::Waking);
            } else {
                OFF.open(channels, o);
            }
            channels.set_timer(o, channels.now() + self.times.transition);
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
                channels.enter(o, self.times.to);
                if channels.is_wanted(o) {
                    self.wanted(o, channels);
                }
            }
            LinkState::Waking => {
                channels.enter(o, LinkState::On);
                OFF.open(channels, o);
                channels.set_timer(o, channels.now() + self.times.idle);
            }
            // it is open already, as a timer is set in this mode only by a change that carries
            LinkState::Named(_) => {
                channels.enter(o, LinkState::On);
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
            if self.times.changes.stop_down() {
                channels.enter(o, LinkState::Draining);
                channels.set_timer(o, now + self.times.transition);
            } else {
                channels.enter(o, self.times.to);
            }
        }
    }
}
