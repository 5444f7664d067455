//! Links that change their rate with their traffic: full, half or a quarter of their bandwidth.
//!
//! # Source
//! Abts, Marty, Wells, Klausler, Liu, "Energy Proportional Datacenter Networks", ISCA 2010, Section 3.3: at the end of
//! each epoch a link goes a step slower or faster, by its utilisation in the epoch; channels decide alone. Two thresholds
//! in place of its one keep a link from changing for ever. TCEP (ISCA 2018) compares itself with this policy, but lets
//! changes cost nothing.
//! # Parameters
//! epoch [time]: between two decisions; transition [time]: of a change, in which the channel carries nothing; up: utilisation of the
//! present rate above which the channel goes a step faster; down: utilisation that a slower rate would have, below which
//! the channel goes a step slower; slowest: the slowest state.
//! # Guarantees
//! Never drops a flit: a channel changes after its packets have left. If they have not within an epoch, it stays as it
//! is and decides anew an epoch later: worms that hold channels could else wait for each other's for ever. At a constant
//! load a channel comes to rest: no rate that it goes down to is one that it leaves upward, as `down` is at most `up`.
//! # Not modelled
//! Retraining errors; changes of lanes while the others carry on.
//! # Validation
//! `engine/tests/speeds.rs`: worms in tiny buffers get through; at constant loads channels come to rest at the rate that
//! follows from the thresholds; `engine/tests/conservation.rs`: accounts close; `tests/test_analysis_dvfs.py`: energy lies between the ideal of a rate
//! that is known beforehand and links that are always on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Channels};
use weft_api::base::kept::{Kept, Value};
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::LinkState;
use weft_api::switching::CloseFirst;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

/// Channels run at full, half or a quarter of their bandwidth, by their utilisation in each epoch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RateLadder {
    /// Time between two decisions of a channel.
    pub epoch: Time,
    /// Duration of a change, in which the channel carries nothing and is `waking`.
    pub transition: Time,
    /// A channel goes a step faster if it was used more than this share of its present rate.
    pub up: f64,
    /// A channel goes a step slower if its flits would have used less than this share of the slower rate.
    pub down: f64,
    /// The slowest state.
    pub slowest: Slowest,
}

/// The slowest state of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Slowest {
    Half,
    Quarter,
}

impl Default for RateLadder {
    fn default() -> Self {
        Self {
            epoch: Time::Femtoseconds(10_000_000_000),
            transition: Time::Femtoseconds(1_000_000_000),
            up: 0.75,
            down: 0.5,
            slowest: Slowest::Quarter,
        }
    }
}

const PATH: &str = "power.policy.rate_ladder";
const OFF: CloseFirst = CloseFirst::of(&RateLadder::OFFERS);

/// The states from the slowest to the fastest.
const RUNGS: [LinkState; 3] = [LinkState::Quarter, LinkState::Half, LinkState::On];

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
            let what = format!("{epoch}, but a change alone takes {transition}");
            let help = format!("write more, such as {}", epoch.like(10 * transition.cycles).short());
            return Err(Refusal::new(format!("{PATH}.epoch"), what, help));
        }
        for (key, share) in [("up", self.up), ("down", self.down)] {
            if !(share > 0.0 && share <= 1.0) {
                let what = format!("{share} is no share of a link's bandwidth");
                return Err(Refusal::new(format!("{PATH}.{key}"), what, "write a number above 0, up to 1"));
            }
        }
        if self.down > self.up {
            let what = format!("{} is above up, {}: a channel would go down and up again for ever", self.down, self.up);
            return Err(Refusal::new(format!("{PATH}.down"), what, format!("write at most {}", self.up)));
        }
        let lowest = usize::from(self.slowest == Slowest::Half);
        Ok(Rules { epoch: epoch.cycles, transition: transition.cycles, up: self.up, down: self.down, lowest })
    }
}

impl PolicyModel for RateLadder {
    fn modes(&self) -> &'static [LinkState] {
        match self.slowest {
            Slowest::Half => &[LinkState::On, LinkState::Waking, LinkState::Half],
            Slowest::Quarter => &[LinkState::On, LinkState::Waking, LinkState::Half, LinkState::Quarter],
        }
    }

    /// An epoch and a change for each step of the ladder.
    fn settling_period(&self, _: &Graph, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let rules = self.rules(cycle_fs)?;
        Ok(Some(rules.epoch.saturating_add(rules.transition).saturating_mul((RUNGS.len() - 1 - rules.lowest) as u64)))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(self.rules(site.cycle_fs)?))
    }

    fn examples() -> Vec<Self> {
        written(&[
            r#"{"epoch": "200ns", "transition": "25ns"}"#,
            r#"{"epoch": "100ns", "transition": "5ns", "up": 0.4, "down": 0.2, "slowest": "half"}"#,
        ])
    }
}

/// The parameters in cycles.
#[derive(Debug, Clone, Copy)]
struct Rules {
    epoch: u64,
    transition: u64,
    up: f64,
    down: f64,
    /// Place of the slowest state among the rungs.
    lowest: usize,
}

impl Rules {
    /// The rung to go to from `rung`, at this utilisation of its rate.
    fn next(&self, rung: usize, utilisation: f64) -> usize {
        if utilisation > self.up && rung + 1 < RUNGS.len() {
            return rung + 1;
        }
        // the slower rate is half of the present one
        if 2.0 * utilisation < self.down && rung > self.lowest { rung - 1 } else { rung }
    }
}

impl Policy for Rules {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let ladder = |channel: &weft_api::agents::ChannelSite| {
            let at_full = Ladder { rung: RUNGS.len() - 1, to: None, counted: 0 };
            channel.managed.then_some(at_full)
        };
        Some(Box::new(Ladders { rules: *self, of: site.channels.iter().map(ladder).collect() }))
    }
}

/// Where a channel is.
#[derive(Debug, Clone, Copy, Value)]
struct Ladder {
    rung: usize,
    /// The rung that it changes to: its packets leave, or it is `waking`.
    to: Option<usize>,
    /// Flits that it had sent when the epoch began, the low 32 bits.
    counted: u32,
}

#[derive(Debug, Kept)]
struct Ladders {
    #[kept(fixed)]
    rules: Rules,
    /// By channel; `None` if the policy does not manage it.
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
                Some(to) if channels.state(o) == LinkState::Waking => {
                    (ladder.rung, ladder.to) = (to, None);
                    channels.enter(o, RUNGS[to]);
                    OFF.open(channels, o);
                    self.begin_epoch(o, &mut ladder, channels);
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

    fn drained(&mut self, drained: &[u32], channels: &mut dyn Channels) {
        drained.iter().for_each(|&o| self.change(o as usize, channels));
    }
}

impl Ladders {
    fn begin_epoch(&self, o: usize, ladder: &mut Ladder, channels: &mut dyn Channels) {
        ladder.counted = channels.flits(o);
        channels.set_timer(o, channels.now() + self.rules.epoch);
    }

    /// An epoch of channel `o` ends.
    fn decide(&self, o: usize, ladder: &mut Ladder, channels: &mut dyn Channels) {
        let sent = channels.flits(o).wrapping_sub(ladder.counted);
        let utilisation = f64::from(sent) / (self.rules.epoch as f64 * channels.bandwidth(o));
        let to = self.rules.next(ladder.rung, utilisation);
        if to == ladder.rung {
            return self.begin_epoch(o, ladder, channels);
        }
        ladder.to = Some(to);
        // sooner, if its packets leave sooner; set first, as it may be free already
        channels.set_timer(o, channels.now() + self.rules.epoch);
        OFF.close(channels, o);
    }

    /// No packet holds channel `o`, which is to change: it changes as soon as its last flit has left.
    fn change(&self, o: usize, channels: &mut dyn Channels) {
        let (now, leave_in) = (channels.now(), OFF.flits_leave_in(channels, o));
        if leave_in > 0 {
            return channels.set_timer(o, now + leave_in);
        }
        channels.enter(o, LinkState::Waking);
        channels.set_timer(o, now + self.rules.transition);
    }
}
