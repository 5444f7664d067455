//! Each channel adapts its rate to its traffic. The possible rates are those of the modes in which a channel carries traffic. A channel
//! moves by one rate at a time.
//!
//! # Source
//! Abts, Marty, Wells, Klausler, Liu, "Energy Proportional Datacenter Networks", ISCA 2010, Section 3.3. At the end of each epoch, the rate
//! of a link moves one step down or up, depending on the utilisation in the epoch. Each channel decides separately. The paper has one
//! threshold. Our policy has two, which prevent endless changes of a link's rate. The TCEP paper (ISCA 2018) compares TCEP with this
//! policy, but assumes there that a change of rate costs nothing.
//! # Parameters
//! `epoch` [time]: time between two decisions of a channel. `transition` [time]: duration of a change, in which the channel carries
//! nothing. `up`: a channel moves to the next higher rate if its utilisation at the present rate is above this value. `down`: the channel
//! moves to the next lower rate if its utilisation at that rate would be below this value. `slowest`: the slowest mode that channels use.
//! `changes`: whether a channel carries traffic while it changes its rate.
//! # Guarantees
//! The policy never drops a flit: a change that stops traffic begins only after all packets that hold VCs of the channel have left. If
//! these packets have not left within an epoch, the channel keeps its rate, and decides again at the end of the next epoch. Without this
//! rule, packets that hold channels could wait for each other forever. At a constant load, each channel stops changing its rate. The reason
//! is that `down` is at most `up`: after a move down, a channel does not move up again at the same load.
//! # Not modelled
//! Retraining errors, and messages between the ends of a link about a change.
//! # Validation
//! - `engine/tests/speeds.rs` checks that the network delivers long packets even with tiny buffers. It also checks that at constant loads
//!   each channel reaches the rate that the thresholds imply.
//! - `engine/tests/modes.rs` tests sets of rates other than the default ones.
//! - `engine/tests/conservation.rs` checks that the cycles of each channel, over all its states, add up to the window.
//! - `tests/test_analysis_dvfs.py` checks that the energy is between two bounds. The lower bound is the energy with a policy that knows the
//!   best rate in advance. The upper bound is the energy of links that are always on.

use super::changes::Changes;
use super::rungs::rungs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Channels};
use weft_api::base::kept::{Kept, Value};
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::rate::Rate;
use weft_api::state::{LinkState, Modes};
use weft_api::switching::CloseFirst;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

/// The rate of a channel depends on its utilisation in each epoch. The possible rates are those of the modes that carry traffic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RateLadder {
    /// Time between two decisions of a channel.
    pub epoch: Time,
    /// Duration of a change of the rate. During this time the channel carries nothing and is `waking`. With `changes: carry`, the channel
    /// always carries traffic. A change down then takes no time. Before a change up, the channel keeps the lower rate for this time.
    pub transition: Time,
    /// A channel moves to the next higher rate if its utilisation at the present rate was above this share.
    pub up: f64,
    /// A channel moves to the next lower rate if its utilisation at that rate would have been below this share.
    pub down: f64,
    /// The slowest mode that channels use: one of the modes that `power.modes` names. If `power.modes` names none, `half` and `quarter` are
    /// allowed. Default: the slowest mode that carries traffic. Channels use all modes from the slowest one to `on`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"half", example = &"quarter", example = &"low")]
    pub slowest: Option<String>,
    /// Whether the channel carries traffic while it changes its rate.
    #[serde(skip_serializing_if = "Changes::all_stop")]
    pub changes: Changes,
}

impl Default for RateLadder {
    fn default() -> Self {
        Self {
            epoch: Time::Femtoseconds(10_000_000_000),
            transition: Time::Femtoseconds(1_000_000_000),
            up: 0.75,
            down: 0.5,
            slowest: None,
            changes: Changes::Stop,
        }
    }
}

const PATH: &str = "power.policy.rate_ladder";
const OFF: CloseFirst = CloseFirst::of(&RateLadder::OFFERS);

impl RateLadder {
    pub(crate) const OFFERS: Offers =
        Offers { links: LinkKnowledge::Nothing, packets_wait_for_links: true, ..Offers::ALWAYS_ON };

    fn rules(&self, cycle_fs: u128) -> Result<Rules, Refusal> {
        let cycles = |name: &str, time: Time| {
            let path = format!("{PATH}.{name}");
            time.duration(cycle_fs, &path)?.above_zero(&path)
        };
        let (epoch, transition) = (cycles("epoch", self.epoch)?, cycles("transition", self.transition)?);
        if transition.cycles >= epoch.cycles {
            let what = format!("{epoch} is too short: a single change takes {transition}");
            let help = format!("write a longer time, such as {}", epoch.like(10 * transition.cycles).short());
            return Err(Refusal::new(format!("{PATH}.epoch"), what, help));
        }
        for (key, share) in [("up", self.up), ("down", self.down)] {
            if !(share > 0.0 && share <= 1.0) {
                let what = format!("{share} is not a share of a link's bandwidth");
                return Err(Refusal::new(format!("{PATH}.{key}"), what, "write a number above 0, up to 1"));
            }
        }
        if self.down > self.up {
            let what = format!("{} is above up, {}: a channel would repeatedly go down and up", self.down, self.up);
            return Err(Refusal::new(format!("{PATH}.down"), what, format!("write at most {}", self.up)));
        }
        let (epoch, transition) = (epoch.cycles, transition.cycles);
        Ok(Rules { epoch, transition, up: self.up, down: self.down, changes: self.changes, rungs: Vec::new() })
    }

    /// The rates between which a channel moves, from the slowest to the full rate.
    fn rungs(&self, modes: &Modes) -> Result<Vec<Rung>, Refusal> {
        let states = rungs(modes, self.slowest.as_deref(), &format!("{PATH}.slowest"))?;
        Ok(states.into_iter().map(|state| Rung { state, rate: modes.rate(state) }).collect())
    }
}

impl PolicyModel for RateLadder {
    fn states(&self, modes: &Modes) -> Result<Vec<LinkState>, Refusal> {
        let rungs = self.rungs(modes)?;
        let waking = (self.changes != Changes::Carry).then_some(LinkState::Waking);
        let slower = rungs.iter().rev().skip(1).map(|rung| rung.state);
        Ok(std::iter::once(LinkState::On).chain(waking).chain(slower).collect())
    }

    /// The time of one epoch and one change, multiplied by the number of changes from the slowest to the full rate.
    fn settling_period(&self, _: &Graph, modes: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let rules = self.rules(cycle_fs)?;
        Ok(Some(rules.epoch.saturating_add(rules.transition).saturating_mul(self.rungs(modes)?.len() as u64 - 1)))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(Rules { rungs: self.rungs(site.modes)?, ..self.rules(site.cycle_fs)? }))
    }

    fn examples() -> Vec<Self> {
        written(&[
            r#"{"epoch": "200ns", "transition": "25ns"}"#,
            r#"{"epoch": "100ns", "transition": "5ns", "up": 0.4, "down": 0.2, "slowest": "half"}"#,
            r#"{"epoch": "150ns", "transition": "20ns", "changes": "carry"}"#,
        ])
    }
}

/// A rate that a channel can have, and the link state with this rate.
#[derive(Debug, Clone, Copy)]
struct Rung {
    state: LinkState,
    /// The rate as a share of the full bandwidth of the channel.
    rate: Rate,
}

/// The parameters of the policy in cycles, and the possible rates.
#[derive(Debug, Clone)]
struct Rules {
    epoch: u64,
    transition: u64,
    up: f64,
    down: f64,
    changes: Changes,
    /// All possible rates, from the slowest to the full rate.
    rungs: Vec<Rung>,
}

impl Rules {
    /// Index in `rungs` of the rate that a channel should have next. In the last epoch its rate was `rung` and its utilisation
    /// `utilisation`.
    fn next(&self, rung: usize, utilisation: f64) -> usize {
        if utilisation > self.up && rung + 1 < self.rungs.len() {
            return rung + 1;
        }
        let Some(slower) = rung.checked_sub(1) else { return rung };
        let (present, rate) = (self.rungs[rung].rate, self.rungs[slower].rate);
        let times = present.flits_times(rate.cycles()) as f64 / rate.flits_times(present.cycles()) as f64;
        if times * utilisation < self.down { slower } else { rung }
    }

    /// True if the channel carries no traffic during a change from rate `from` to rate `to`.
    fn stops(&self, from: usize, to: usize) -> bool {
        if to > from { self.changes.stop_up() } else { self.changes.stop_down() }
    }
}

impl Policy for Rules {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let ladder = |channel: &weft_api::agents::ChannelSite| {
            let at_full = Ladder { rung: self.rungs.len() - 1, to: None, counted: 0 };
            channel.managed.then_some(at_full)
        };
        Some(Box::new(Ladders { rules: self.clone(), of: site.channels.iter().map(ladder).collect() }))
    }
}

/// The present rate of a channel, and its change if one is in progress.
#[derive(Debug, Clone, Copy, Value)]
struct Ladder {
    rung: usize,
    /// Index of the rate to which the channel is changing, if any. Until the change ends, the channel waits for its packets to leave, or is
    /// `waking`, or carries traffic at its present rate.
    to: Option<usize>,
    /// The low 32 bits of the channel's count of sent flits at the beginning of the epoch.
    counted: u32,
}

#[derive(Debug, Kept)]
struct Ladders {
    #[kept(fixed)]
    rules: Rules,
    /// For each channel: its present rate; `None` if the policy does not manage the channel.
    #[kept(each)]
    of: Vec<Option<Ladder>>,
}

impl Agents for Ladders {
    fn start(&mut self, channels: &mut dyn Channels) {
        let managed = self.of.iter().enumerate().filter(|(_, ladder)| ladder.is_some());
        managed.for_each(|(o, _)| channels.set_timer(o, self.rules.epoch));
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        for o in ended.iter().map(|&o| o as usize) {
            let Some(mut ladder) = self.of[o] else { continue };
            match ladder.to {
                None => self.decide(o, &mut ladder, channels),
                Some(to) if !self.rules.stops(ladder.rung, to) => self.take_rate(o, &mut ladder, to, channels),
                Some(to) if channels.state(o) == LinkState::Waking => {
                    self.take_rate(o, &mut ladder, to, channels);
                    OFF.open(channels, o);
                }
                Some(_) if channels.is_held(o) => {
                    ladder.to = None;
                    OFF.open(channels, o);
                    self.begin_epoch(o, &mut ladder, channels);
                }
                Some(_) => self.change(o, channels),
            }
            self.of[o] = Some(ladder);
        }
    }

    /// The channel has nothing to do at the end of its epoch if it has the slowest rate and sent nothing.
    fn rests(&self, who: usize, channels: &dyn Channels) -> Option<u64> {
        let ladder = (*self.of.get(who)?)?;
        let stays = ladder.rung == 0 && ladder.to.is_none() && channels.flits(who) == ladder.counted;
        stays.then_some(self.rules.epoch)
    }

    fn drained(&mut self, drained: &[u32], channels: &mut dyn Channels) {
        drained.iter().for_each(|&o| self.change(o as usize, channels));
    }
}

impl Ladders {
    fn begin_epoch(&self, o: usize, ladder: &mut Ladder, channels: &mut dyn Channels) {
        ladder.counted = channels.flits(o);
        channels.set_timer(o, channels.now() + self.rules.epoch);
    }

    /// Changes the rate of channel `o` to `to`.
    fn take_rate(&self, o: usize, ladder: &mut Ladder, to: usize, channels: &mut dyn Channels) {
        (ladder.rung, ladder.to) = (to, None);
        channels.enter(o, self.rules.rungs[to].state);
        self.begin_epoch(o, ladder, channels);
    }

    /// Called when an epoch of channel `o` ends. Begins a change of its rate, or the next epoch.
    fn decide(&self, o: usize, ladder: &mut Ladder, channels: &mut dyn Channels) {
        let sent = channels.flits(o).wrapping_sub(ladder.counted);
        let utilisation = f64::from(sent) / (self.rules.epoch as f64 * channels.bandwidth(o));
        let to = self.rules.next(ladder.rung, utilisation);
        if to == ladder.rung {
            return self.begin_epoch(o, ladder, channels);
        }
        if !self.rules.stops(ladder.rung, to) {
            if to < ladder.rung {
                return self.take_rate(o, ladder, to, channels);
            }
            ladder.to = Some(to);
            return channels.set_timer(o, channels.now() + self.rules.transition);
        }
        ladder.to = Some(to);
        // limit for the packets that must leave first; if they leave earlier, the change begins earlier. The timer is set before `close`,
        // because the channel has possibly drained already
        channels.set_timer(o, channels.now() + self.rules.epoch);
        OFF.close(channels, o);
    }

    /// Called when no packet holds channel `o` any more, so that its rate can change. The change begins as soon as the channel's last flit
    /// has left.
    fn change(&self, o: usize, channels: &mut dyn Channels) {
        let (now, leave_in) = (channels.now(), OFF.flits_leave_in(channels, o));
        if leave_in > 0 {
            return channels.set_timer(o, now + leave_in);
        }
        channels.enter(o, LinkState::Waking);
        channels.set_timer(o, now + self.rules.transition);
    }
}
