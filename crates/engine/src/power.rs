//! Link power: the states of a channel, the account of the time spent in them, and the policies that change them.
//!
//! A channel's state belongs to its sender. A policy acts on timers (one per managed channel) and when a packet wants a
//! channel that may not be used. The account is integer: cycles and flits per state, and transitions, over the window.

weft_units::registry! {
    /// Every link power policy.
    pub enum PolicyConfig:
    "always_on" => always_on::AlwaysOn,
    "idle_timeout" => idle_timeout::IdleTimeout,
    "slac" => slac::Slac,
}

use crate::block::Block;
use crate::routing::RoutingConfig;
use crate::spans::Log;
use crate::spec::Spec;
use crate::state::OutPort;
use crate::wheel::Wheel;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Power state of a channel (one direction of a link).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum LinkState {
    /// Carries traffic.
    On,
    /// Logically off, physically ready.
    Shadow,
    /// On the way to off; carries no new packet.
    Draining,
    Off,
    /// On the way to on; carries nothing yet.
    Waking,
}

impl LinkState {
    pub const COUNT: usize = 5;
    pub const ALL: [LinkState; Self::COUNT] = [Self::On, Self::Shadow, Self::Draining, Self::Off, Self::Waking];

    /// The name in scenarios and columns.
    pub fn name(self) -> &'static str {
        ["on", "shadow", "draining", "off", "waking"][self as usize]
    }
}

impl PolicyConfig {
    /// States that a channel can be in under this policy: the power model must price each.
    pub fn states(&self) -> &'static [LinkState] {
        match self {
            Self::AlwaysOn(_) => always_on::STATES,
            Self::IdleTimeout(_) => idle_timeout::STATES,
            Self::Slac(_) => slac::STATES,
        }
    }

    pub(crate) fn build(&self, cycle_fs: u128) -> Result<AnyPolicy, Refusal> {
        Ok(match self {
            Self::AlwaysOn(_) => AnyPolicy::AlwaysOn,
            Self::IdleTimeout(c) => AnyPolicy::IdleTimeout(c.build(cycle_fs)?),
            Self::Slac(c) => AnyPolicy::Slac(c.build(cycle_fs)?),
        })
    }
}

/// Refuses a policy whose link states the routing does not follow, and a routing that follows another policy's.
pub(crate) fn check_pair(spec: &Spec) -> Result<(), Refusal> {
    let (policy, routing) = (spec.policy.name(), spec.routing.name());
    let refuse = |path: &str, what: String, help: &str| Err(Refusal::new(path, what, help));
    match (&spec.policy, &spec.routing) {
        (PolicyConfig::Slac(_), RoutingConfig::Slac(_)) => slac::check_network(&spec.graph, &spec.managed),
        (PolicyConfig::Slac(_), _) => {
            slac::check_network(&spec.graph, &spec.managed)?;
            let what =
                format!("{routing} is blind to link states: it would send packets to links that {policy} turns off");
            refuse("power.policy.slac", what, "set routing: slac, or another policy")
        }
        (PolicyConfig::AlwaysOn(_), _) => Ok(()),
        (_, RoutingConfig::Slac(_)) => {
            let what = format!("slac routes by the stages of the policy slac, but {policy} switches links another way");
            refuse("routing.slac", what, "set power.policy to slac or always_on, or take another routing")
        }
        _ => Ok(()),
    }
}

#[derive(Debug, Clone)]
pub(crate) enum AnyPolicy {
    AlwaysOn,
    IdleTimeout(idle_timeout::Runtime),
    /// Acts between windows of the blocks (`slac::Sequencer`), without timers.
    Slac(slac::Runtime),
}

/// Time and flits of one channel per state, over the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Account {
    /// Start of the present state, or of the window if later.
    since: u64,
    /// Flits of the channel that are counted already, the low 32 bits.
    counted: u32,
    /// When the policy looks at the channel next.
    due: u64,
    pub cycles: [u64; LinkState::COUNT],
    pub flits: [u64; LinkState::COUNT],
    pub transitions: u64,
}

impl Account {
    /// Adds the flits that `out` has sent since they were counted last, all of them in its present state.
    fn count<const V: usize>(&mut self, out: &OutPort<V>) {
        self.flits[out.state as usize] += u64::from(out.flits.wrapping_sub(self.counted));
        self.counted = out.flits;
    }
}

/// The accounts and timers of the channels of a block, and its policy.
#[derive(Debug)]
pub struct Manager {
    policy: AnyPolicy,
    /// One per output port.
    pub accounts: Vec<Account>,
    /// All VCs of each channel.
    pub(crate) all_vcs: Vec<u16>,
    timers: Wheel<u32, 128>,
    /// States over time, where they are recorded.
    pub(crate) log: Option<Log>,
}

impl Manager {
    /// `spans`: most spans to record.
    pub(crate) fn new(policy: AnyPolicy, all_vcs: Vec<u16>, spans: Option<usize>) -> Self {
        let outputs = all_vcs.len();
        // an alarm per channel, and some slack for one that fires while it is set again
        let timers = if matches!(policy, AnyPolicy::AlwaysOn | AnyPolicy::Slac(_)) { 0 } else { outputs + 1 };
        let accounts = vec![Account::default(); outputs];
        Self { policy, accounts, all_vcs, timers: Wheel::new(4096, timers), log: spans.map(Log::new) }
    }

    pub(crate) fn nothing_due(&self, now: u64) -> bool {
        self.timers.is_empty_at(now)
    }

    /// The policy takes charge of channel `o`.
    pub(crate) fn manage(&mut self, o: usize) {
        if let Some(log) = &mut self.log {
            log.note(o, LinkState::On, 0);
        }
        if let AnyPolicy::IdleTimeout(policy) = &self.policy {
            let at = policy.first_look();
            self.set_timer(o, 0, at);
        }
    }

    /// The policy will look at channel `o` at cycle `at`.
    fn set_timer(&mut self, o: usize, now: u64, at: u64) {
        self.accounts[o].due = at;
        let at = at.clamp(now + 1, now + self.timers.horizon() - 1);
        self.timers.push(now, at, o as u32);
    }

    /// Moves channel `o` to another state.
    #[inline(always)]
    fn change<const V: usize>(&mut self, o: usize, out: &mut OutPort<V>, to: LinkState, now: u64) {
        let account = &mut self.accounts[o];
        account.cycles[out.state as usize] += now - account.since;
        account.count(out);
        account.transitions += 1;
        account.since = now;
        out.state = to as u8;
        if let Some(log) = &mut self.log {
            log.note(o, to, now);
        }
    }

    /// A packet wants channel `o`, which may not be used now.
    #[cold]
    pub(crate) fn wanted<const V: usize>(&mut self, o: usize, now: u64, out: &mut OutPort<V>) {
        if let AnyPolicy::IdleTimeout(policy) = self.policy.clone() {
            policy.wanted(self, o, now, out);
        }
    }

    /// Starts the account of the window at `now`, over all channels.
    pub(crate) fn open<const V: usize>(&mut self, outs: &[OutPort<V>], now: u64) {
        for (account, out) in self.accounts.iter_mut().zip(outs) {
            *account = Account { since: now, counted: out.flits, due: account.due, ..Account::default() };
        }
    }

    /// Brings the accounts up to date: the counters of the ports have 32 bits.
    pub(crate) fn flush<const V: usize>(&mut self, outs: &[OutPort<V>]) {
        self.accounts.iter_mut().zip(outs).for_each(|(account, out)| account.count(out));
    }

    /// The account of the window that ends at `now`.
    pub(crate) fn close<const V: usize>(&mut self, outs: &[OutPort<V>], now: u64) -> Vec<Account> {
        let mut accounts = self.accounts.clone();
        for (account, out) in accounts.iter_mut().zip(outs) {
            account.cycles[out.state as usize] += now - account.since;
            account.count(out);
        }
        accounts
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Timers of the policy that are due.
    pub(crate) fn manage_power(&mut self) {
        while let Some((chunk, len)) = self.power.timers.due(self.now) {
            for k in 0..len {
                let o = self.power.timers.item(chunk, k) as usize;
                self.look(o);
            }
            self.power.timers.release(self.now);
        }
    }

    fn look(&mut self, o: usize) {
        let now = self.now;
        let due = self.power.accounts[o].due;
        if due > now {
            return self.power.set_timer(o, now, due);
        }
        let AnyPolicy::IdleTimeout(policy) = self.power.policy.clone() else { return };
        let out = &mut self.outs[o];
        policy.look(&mut self.power, o, now, out);
        let router = &mut self.routers[out.router as usize];
        if out.wanting != 0 && out.free & out.credit != 0 {
            router.want.set(o - router.base as usize);
            self.active.set(out.router as usize);
        }
        if !router.choosing.is_empty() {
            self.active.set(out.router as usize);
        }
    }
}
