//! Switches each direction of a link separately: a channel goes off, or to a slower mode, after it was idle for the time `idle`. It returns
//! to its full rate when a packet requests it.
//!
//! # Source
//! Zahn et al., HiPINEB 2019: the policies On/Off and High/Low, with idle time `t_down = t_transition / rho`. On/Off is `to: off`. High/Low
//! is a mode `to` that uses one lane of the link, with `switch_at: break_even` and `changes: stop`. Further modes are our addition.
//! # Parameters
//! `idle` [time]: idle time after which a channel changes to the mode `to` (`t_down`). `rho`, instead of `idle`: the idle time is
//! transition / rho, rounded up to whole cycles. `transition` [time]: duration of a change (`t_transition`). `to`: the mode of idle
//! channels: `off`, or a mode that the scenario defines. `changes`: whether a channel carries traffic while it changes its mode.
//! `switch_at` [bytes or bits]: amount of data that must wait before a channel in the mode `to` begins its change to the full rate. The
//! amount is rounded up to whole flits. `break_even` is the smallest amount that the channel sends no later with the change than at its
//! lower rate. Without `switch_at`, the first packet starts the change to the full rate. `power.manages` determines whether the policy also
//! manages links of terminals.
//! # Guarantees
//! The policy never drops a flit. No flit starts on a channel whose mode carries no traffic, or during a change that stops traffic. With
//! `to: off`, or with changes that stop traffic, the first packet of a burst waits at most 2 transitions. With changes that carry traffic,
//! this packet does not wait: it crosses at the lower rate until the change has ended. With `switch_at`, this packet also crosses at the
//! lower rate. The change to the full rate begins in the first cycle in which enough flits wait at the sender. A change that stops traffic
//! begins only when the packets that hold VCs of the channel have left. If these packets have not left after the time `idle`, the channel
//! carries traffic again. The policy repeats the attempt after another time `idle`.
//! # Not modelled
//! Retraining errors. Credits: they travel on a side channel that is always on and whose energy is not counted.
//! # Validation
//! - `engine/tests/conservation.rs` checks that the cycles of every channel, over all its states, add up to the window. Only a channel that
//!   is on carries flits. In an idle network each channel is in each state for exactly the expected number of cycles.
//! - `engine/tests/choosing.rs` checks that sleeping links of a trunk wake when packets need them.
//! - `engine/tests/modes.rs` checks that a flit needs twelve times as many cycles at 1/12 of the rate.
//! - `engine/tests/high_low.rs` checks that the change to the full rate begins with the flit for which the formula of `break_even` predicts
//!   it. The latency of a single packet over a sleeping or slow link equals the closed form.
//!
//! No test compares this policy with another simulator, because no other simulator has link states.

mod switch_at;
mod watchers;

use super::changes::Changes;
use super::sleeps_too_soon;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use switch_at::SwitchAt;
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::rate::Rate;
use weft_api::state::{LinkState, Modes};
use weft_api::switching::CloseFirst;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Remark, Time};

/// Switches each direction of a link separately: a channel goes off, or to a slower mode, after it was idle for the time `idle`. It returns
/// to its full rate when a packet requests it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IdleTimeout {
    /// Time after which an idle channel changes to the mode `to`. A channel is idle if it sends no flit and no packet holds or requests it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<Time>,
    /// Alternative to `idle`: `transition` divided by the idle time, above 0 and at most 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &0.9)]
    pub rho: Option<f64>,
    /// Duration of a change of the mode, in both directions.
    pub transition: Time,
    /// The mode of idle channels: `off`, or one that `power.modes` names. If `power.modes` names none, `half` and `quarter` are allowed. If
    /// the mode carries traffic, the channel has its full rate again one `transition` after the first packet requested it.
    #[serde(default = "off", skip_serializing_if = "is_off")]
    #[schemars(example = &"off", example = &"quarter", example = &"low")]
    pub to: String,
    /// Whether the channel carries traffic while it changes its mode. With `carry`, it carries traffic at the lower rate during a change.
    /// Default: `carry` if the channel carries traffic in the mode `to`; otherwise `stop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Changes>,
    /// Amount of waiting data at which a channel begins its change to the full rate, if the mode `to` carries traffic. `break_even`: the
    /// smallest amount that the channel sends no later with the change than at its lower rate. Default: the first packet starts the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(example = &"break_even", example = &"16KiB")]
    pub switch_at: Option<SwitchAt>,
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
        let transition = cycles("transition", self.transition)?;
        let idle = match (self.idle, self.rho) {
            (Some(idle), None) => cycles("idle", idle)?,
            (None, Some(rho)) => self.idle_by(rho, transition)?,
            (Some(idle), Some(rho)) => {
                let what = format!("{rho}, and idle is {idle}: both set the idle time after which a channel goes down");
                return Err(Refusal::new(format!("{PATH}.rho"), what, "leave one of the two keys out"));
            }
            (None, None) => {
                let what = "the key `idle` is missing: the idle time after which a channel goes down";
                return Err(Refusal::new(PATH, what, format!("add idle: {}, or rho: 1", self.transition)));
            }
        };
        Ok((idle, transition))
    }

    /// The idle time [cycles] that follows from `rho`: transition / rho, rounded up.
    fn idle_by(&self, rho: f64, transition: u64) -> Result<u64, Refusal> {
        let path = format!("{PATH}.rho");
        let idle = transition as f64 / rho;
        if rho > 1.0 {
            let what = format!(
                "{rho}: a channel would go down after {} / {rho} = {idle:.0} cycles, but a change takes longer: {transition} cycles",
                self.transition
            );
            return Err(Refusal::new(path, what, format!("write 1 or less; or, for this time, idle: {idle:.0}cycles")));
        }
        // 2^40 cycles are longer than any run
        if !(rho > 0.0 && idle < (1u64 << 40) as f64) {
            let what = format!("{rho} is not a valid share of the idle time");
            return Err(Refusal::new(path, what, "write a number above 0, up to 1, such as 0.9"));
        }
        // a share such as 0.9 is not exact in binary: before rounding up, subtracts a millionth of a cycle for this error
        Ok((idle - 1e-6).ceil() as u64)
    }

    /// The mode to which idle channels change, and the changes that stop traffic. Refuses impossible combinations.
    fn target(&self, modes: &Modes) -> Result<(LinkState, Changes), Refusal> {
        let to = modes.asked(&self.to, &format!("{PATH}.to"))?;
        let carries = modes.carries(to);
        let changes = self.changes.unwrap_or(if carries { Changes::Carry } else { Changes::Stop });
        if !carries && changes != Changes::Stop {
            let what =
                format!("`{changes}`, but a channel carries no packets in the mode `{}` or on the way to it", self.to);
            return Err(Refusal::new(format!("{PATH}.changes"), what, "leave `changes` out, or write `changes: stop`"));
        }
        if self.switch_at.is_some() && !(carries && modes.rate(to).is_below(Rate::ONE)) {
            let slower = modes.named().filter(|&mode| modes.carries(mode) && modes.rate(mode).is_below(Rate::ONE));
            let names: Vec<&str> = slower.map(|mode| modes.name(mode)).collect();
            let what = format!(
                "this key needs a mode in which packets cross the channel at a lower rate, but `to` is {}",
                self.to
            );
            let help = match names.is_empty() {
                true => {
                    "omit the key, or add a mode such as `{name: low, rate: 1/12}` to power.modes and write `to: low`"
                        .to_owned()
                }
                false => format!("omit the key, or write `to: {}`", names.join("` or `to: ")),
            };
            return Err(Refusal::new(format!("{PATH}.switch_at"), what, help));
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

    /// The sum of two times: from the last flit of a channel until it is off, and until it is on again.
    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let (idle, transition) = self.times(cycle_fs)?;
        Ok(Some(transition.saturating_mul(2).saturating_add(idle)))
    }

    /// A packet that arrives just when the channel begins to go off waits for two transitions, because the channel must be off before it
    /// can wake.
    fn longest_wait(&self, cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(self.times(cycle_fs)?.1.saturating_mul(2))
    }

    /// A warning if the idle time is shorter than the transition. A link that goes off this early can starve the links behind it of
    /// packets, so that they also go off.
    fn risk(&self, cycle_fs: u128) -> Result<Option<Remark>, Refusal> {
        let (idle, transition) = self.times(cycle_fs)?;
        let shorter = self.idle.filter(|_| transition > idle);
        Ok(shorter.map(|text| sleeps_too_soon(text, self.transition, PATH, [idle, transition])))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let (idle, transition) = self.times(site.cycle_fs)?;
        let (to, changes) = self.target(site.modes)?;
        let path = format!("{PATH}.switch_at");
        let share = site.modes.rate(to);
        let switch_at =
            self.switch_at.map(|at| at.flits(site, (share, transition), &path)).transpose()?.unwrap_or_default();
        Ok(Arc::new(Times { idle, transition, to, changes, switch_at }))
    }

    fn examples() -> Vec<Self> {
        written(&[
            r#"{"idle": "40ns", "transition": "25ns"}"#,
            r#"{"idle": "40ns", "transition": "25ns", "to": "quarter"}"#,
            r#"{"idle": "40ns", "transition": "25ns", "to": "half", "changes": "stop"}"#,
            r#"{"idle": "40ns", "transition": "25ns", "to": "quarter", "changes": "stop_up"}"#,
            r#"{"rho": 0.8, "transition": "25ns", "to": "quarter", "changes": "stop", "switch_at": "break_even"}"#,
            r#"{"idle": "40ns", "transition": "25ns", "to": "half", "switch_at": "64B"}"#,
        ])
    }
}

/// The parameters of the policy, in cycles and flits.
#[derive(Debug, Clone)]
struct Times {
    idle: u64,
    transition: u64,
    /// The mode to which idle channels change.
    to: LinkState,
    changes: Changes,
    /// For each link class: the number of waiting flits at which a channel leaves the mode `to`. Empty without the parameter `switch_at`:
    /// then the first packet makes a channel leave this mode.
    switch_at: Vec<u32>,
}
