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
    "static" => static_links::Static,
    "tcep" => tcep::Tcep,
}

use crate::api::subnetworks::Subnets;
use crate::base::wheel::Wheel;
use crate::models::routing::RoutingConfig;
use crate::network::spec::Spec;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::pipeline::spans::Log;
use crate::state::OutPort;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal};

/// Power state of a channel (one direction of a link).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
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

    /// The state with this number (of a port).
    #[inline(always)]
    pub(crate) fn of(number: u8) -> Self {
        Self::ALL[usize::from(number)]
    }

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
            Self::Static(_) => static_links::STATES,
            Self::Tcep(_) => tcep::STATES,
        }
    }

    /// Cycles in which the policy takes each of its decisions at least once: a power state that did not change for less
    /// may not have settled. `None` if it never switches a channel during a run.
    pub fn settling_period(&self, graph: &Graph, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(match self {
            Self::AlwaysOn(_) | Self::Static(_) => None,
            Self::IdleTimeout(c) => Some(c.build(cycle_fs)?.settling_period()),
            Self::Slac(c) => Some(c.build(cycle_fs)?.settling_period(graph)),
            Self::Tcep(c) => Some(c.deactivation_epoch.cycles(cycle_fs, "power.policy.tcep.deactivation_epoch")?),
        })
    }

    /// Whether links go off under packets that have not asked for them, so that the routing must know what is off.
    fn hides_links(&self) -> bool {
        matches!(self, Self::Static(_) | Self::Tcep(_))
    }

    pub(crate) fn build(&self, spec: &Spec) -> Result<AnyPolicy, Refusal> {
        self.check(spec)?;
        Ok(match self {
            Self::AlwaysOn(_) => AnyPolicy::AlwaysOn,
            Self::IdleTimeout(c) => AnyPolicy::IdleTimeout(c.build(spec.cycle_fs)?),
            Self::Slac(c) => AnyPolicy::Slac(c.build(spec.cycle_fs)?),
            Self::Static(c) => AnyPolicy::Static(c.build(spec)?),
            Self::Tcep(c) => AnyPolicy::Tcep(c.build(spec)?),
        })
    }

    /// Refuses what no policy can do, and a policy beside a routing that does not go with it.
    fn check(&self, spec: &Spec) -> Result<(), Refusal> {
        if matches!(self, Self::AlwaysOn(_)) {
            return Ok(());
        }
        if spec.managed[0] {
            let what = "terminal links always stay on in this version";
            return Err(Refusal::new("power.manages", what, "leave terminal out of manages"));
        }
        if matches!(self, Self::Slac(_)) || matches!(spec.routing, RoutingConfig::Slac(_)) {
            return slac::check_pair(spec);
        }
        let pal = matches!(spec.routing, RoutingConfig::Pal(_));
        if self.hides_links() && !pal {
            let (policy, routing) = (self.name(), spec.routing.name());
            let what = format!("{policy} switches links off, but {routing} does not look at the states of links");
            return Err(Refusal::new("power.policy", what, "write routing: pal, or policy: always_on or idle_timeout"));
        }
        if pal && !self.hides_links() {
            let what = format!("pal goes round links that are off, so nothing would wake them under {}", self.name());
            return Err(Refusal::new(
                "power.policy",
                what,
                "write policy: always_on, static or tcep, or routing: ugal_p",
            ));
        }
        Ok(())
    }
}

/// The subnetworks that a policy manages; refuses topologies without.
fn subnets_of(spec: &Spec, policy: &str, path: &str) -> Result<Subnets, Refusal> {
    let nets = Subnets::of(&spec.graph).filter(|nets| nets.count > 0).ok_or_else(|| {
        let what = format!("{policy} manages the links between routers that are all neighbours, and there are none");
        Refusal::new(path, what, "take a hyperx, or a dragonfly for the links inside its groups")
    })?;
    nets.check(policy, path)?;
    let managed = |d: usize| spec.managed[usize::from(nets.classes[d])] && nets.widths[d] > 1;
    if !(0..nets.count).any(managed) {
        let what =
            format!("{policy} has no link to manage: no managed class has links between routers of one subnetwork");
        return Err(Refusal::new("power.manages", what, "name such a class, or write policy: always_on"));
    }
    let mut others = (1..spec.managed.len()).filter(|&class| spec.managed[class]);
    if let Some(class) = others.find(|&class| !nets.classes[..nets.count].contains(&(class as u8))) {
        let name = &spec.graph.class_names()[class];
        let what = format!("{policy} can't switch {name} links: their routers are not all neighbours");
        return Err(Refusal::new("power.manages", what, format!("leave {name} out of manages")));
    }
    Ok(nets)
}

/// Refuses a hub that some managed subnetwork does not have.
fn check_hub(spec: &Spec, nets: &Subnets, hub: u8, path: &str) -> Result<(), Refusal> {
    let managed = (0..nets.count).filter(|&d| spec.managed[usize::from(nets.classes[d])]);
    match managed.map(|d| nets.widths[d]).filter(|&width| width > 1).min() {
        Some(width) if hub >= width => {
            let what = format!("{hub}, but there is a subnetwork of {width} routers");
            Err(Refusal::new(format!("{path}.hub"), what, format!("write 0 to {}", width - 1)))
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
    Static(Arc<static_links::Runtime>),
    Tcep(Arc<tcep::Rules>),
}

impl AnyPolicy {
    /// The member of every subnetwork that has links to all others.
    pub fn hub(&self) -> u8 {
        match self {
            Self::Static(policy) => policy.hub,
            Self::Tcep(rules) => rules.config.hub,
            _ => 0,
        }
    }

    /// State in which the link from router `router` (member `own` of subnetwork `d`) to member `c` begins.
    pub fn first_state(&self, nets: &Subnets, d: usize, router: u32, own: u8, c: u8) -> LinkState {
        match self {
            Self::Static(policy) if !policy.is_on(nets, d, router, own, c) => LinkState::Off,
            Self::Tcep(rules) if !rules.begins_on(own, c) => LinkState::Off,
            _ => LinkState::On,
        }
    }
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
        let timers = if matches!(policy, AnyPolicy::IdleTimeout(_)) { outputs + 1 } else { 0 };
        let accounts = vec![Account::default(); outputs];
        Self { policy, accounts, all_vcs, timers: Wheel::new(4096, timers), log: spans.map(Log::new) }
    }

    pub(crate) fn policy(&self) -> &AnyPolicy {
        &self.policy
    }

    pub(crate) fn nothing_due(&self, now: u64) -> bool {
        self.timers.is_empty_at(now)
    }

    /// The policy takes charge of channel `o`.
    pub(crate) fn manage<const V: usize>(&mut self, o: usize, out: &OutPort<V>) {
        if let Some(log) = &mut self.log {
            log.note(o, LinkState::of(out.state), 0);
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
    pub(crate) fn change<const V: usize>(&mut self, o: usize, out: &mut OutPort<V>, to: LinkState, now: u64) {
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

    /// Cycles that channels have been off since their accounts began, summed over the channels.
    pub(crate) fn off_cycles<const V: usize>(&self, outs: &[OutPort<V>], now: u64) -> u64 {
        let off = LinkState::Off as usize;
        let present =
            |account: &Account, out: &OutPort<V>| u64::from(out.state as usize == off) * (now - account.since);
        self.accounts.iter().zip(outs).map(|(account, out)| account.cycles[off] + present(account, out)).sum()
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
    pub(crate) fn manage_power(&mut self, net: &Net) {
        if self.agents.is_some() {
            self.run_agents(net);
        }
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
