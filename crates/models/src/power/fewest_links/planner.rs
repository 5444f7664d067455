//! The planner is the overseer of `fewest_links`. The planner measures the traffic of each subnetwork, and changes the links that are on.

use super::ledger::Ledger;
use super::plan::{Links, Traffic, count, flip};
use super::{OFF, Runtime};
use crate::power::stars::Initial;
use std::any::Any;
use weft_api::agents::{Network, Overseer};
use weft_api::base::kept::Kept;
use weft_api::policy::Site;
use weft_api::state::LinkState;

/// Weight of the last deactivation epoch in the mean traffic matrix: `NEW` for random packets of one flit, less with bursts, but at least
/// `LEAST`.
const NEW: f64 = 0.25;
const LEAST: f64 = 1.0 / 16.0;
/// Weight of the last activation epoch in the mean of the usual traffic.
const LATEST: f64 = 0.1;
/// The squared change of traffic between two epochs enters the variance only up to this multiple of the usual variance. Otherwise a change
/// of the load would count as a burst.
const OUTLIER: f64 = 10.0;
/// Approximate time that a packet of one flit spends on its path \[cycles\]. The permitted wait of longer packets is relative to this time
/// plus one cycle per flit.
const FLIGHT: f64 = 32.0;
/// Traffic surges if the traffic of an epoch exceeds the usual traffic by two limits. `SURGE` is the first limit in standard deviations.
/// `SURGE_SHARE` is the second limit as a share of the usual traffic.
const SURGE: f64 = 4.0;
const SURGE_SHARE: f64 = 0.05;
/// In a surge, the planner multiplies the measured traffic by this factor: some sources possibly still wait for links, so the measured
/// traffic is too low.
const MORE: f64 = 1.25;
/// The present links can stay if the wait of packets is at most this factor times the permitted wait.
const LOOSE: f64 = 1.1;
/// The planner changes links only if the change saves at least this share of all links.
const WORTH: f64 = 0.01;

#[derive(Debug, Kept)]
pub struct Planner {
    #[kept(fixed)]
    pub policy: Runtime,
    #[kept(each)]
    pub lines: Vec<Line>,
    epoch_end: u64,
    /// Number of activation epochs that have ended.
    pub epochs: u64,
}

/// A subnetwork: the links between a set of routers that are all neighbours of each other.
#[derive(Debug, Kept)]
pub struct Line {
    /// Index of this subnetwork among the subnetworks of each of its routers.
    #[kept(fixed)]
    d: usize,
    #[kept(fixed)]
    members: usize,
    /// Indexed by two members: the channel from the first to the second. The entry of a member with itself is the channel of port 0 of its
    /// router.
    #[kept(fixed)]
    channels: Vec<u32>,
    /// The links that packets may take now.
    on: Links,
    #[kept(fixed)]
    wake: u64,
    /// The links that packets may take after the present change. In a change, links that the plan adds wake until cycle `until`. After that
    /// cycle, the links that the plan removes drain.
    plan: Links,
    until: Option<u64>,
    draining: Links,
    /// Indexed by two members: counters of the channel from the first to the second at the end of the last activation epoch.
    #[kept(each)]
    counts: Vec<Counts>,
    /// Indexed by two members: traffic from the first to the second in the last activation epoch, as a share of the capacity of a channel.
    latest: Vec<f64>,
    /// Indexed by two members: sum of `latest` over the activation epochs of this deactivation epoch.
    pub gathered: Vec<f64>,
    /// Indexed by two members: weighted mean of the traffic in the last deactivation epochs. Empty until the first deactivation epoch has
    /// ended.
    mean: Vec<f64>,
    /// Traffic between all members in the last activation epoch, as a share of the capacity of a channel.
    total: f64,
    /// Weighted mean of `total` over the last activation epochs.
    pub usual: f64,
    /// Variance of the traffic of an activation epoch.
    pub variance: f64,
    /// True if the traffic rose, in an activation epoch of this deactivation epoch, by more than bursts explain.
    surged: bool,
}

#[derive(Debug, Clone, Copy, Default, Kept)]
struct Counts {
    sent: u32,
    taken: u32,
    avoided: u32,
}

impl Overseer for Planner {
    fn next(&self) -> u64 {
        self.lines.iter().filter_map(|line| line.until).fold(self.epoch_end, u64::min)
    }

    fn act(&mut self, network: &mut dyn Network, now: u64) {
        if now < self.next() {
            return;
        }
        let Self { policy, lines, .. } = self;
        for line in lines.iter_mut().filter(|line| line.until.is_some_and(|until| until <= now)) {
            line.finish_waking(policy, network, now);
        }
        if now < self.epoch_end {
            return;
        }
        self.epochs += 1;
        self.epoch_end = now.saturating_add(policy.epoch);
        let long = self.epochs.is_multiple_of(policy.ratio);
        for line in lines {
            line.finish_draining(network, now);
            let surges = line.measure(network, policy.epoch);
            if long {
                line.end_matrix(policy);
            }
            if line.until.is_some() {
                continue;
            }
            // after a surge, the planner only adds links, because the traffic before the surge does not predict the traffic after it
            if surges || long && line.surged {
                line.grow(policy, network, now);
            } else if long {
                line.plan_anew(policy, network, now);
            }
            line.surged &= !long;
        }
    }
}

impl Planner {
    pub fn new(policy: Runtime, site: &Site) -> Self {
        let lines = policy.managed.iter().flat_map(|&d| lines_of(&policy, site, d)).collect();
        Self { lines, epoch_end: policy.epoch, epochs: 0, policy }
    }
}

/// Every subnetwork that has index `d` among the subnetworks of its routers.
fn lines_of(policy: &Runtime, site: &Site, d: usize) -> Vec<Line> {
    let (nets, members) = (&policy.nets, usize::from(policy.nets.widths[d]));
    let firsts = (0..site.graph.routers()).filter(|&router| nets.member(policy.coords[router as usize], d) == 0);
    let line = |first: u32| {
        let channel = |from: usize, to: usize| {
            let router = nets.router(first, d, 0, from as u8);
            let port = if from == to { 0 } else { nets.port_to(d, from as u8, to as u8) };
            site.graph.port_base(router) + u32::from(port)
        };
        let channels = (0..members * members).map(|pair| channel(pair / members, pair % members)).collect();
        let hub = usize::from(policy.hub);
        let mut on = vec![0; members];
        for (a, b) in (0..members).flat_map(|a| (0..a).map(move |b| (a, b))) {
            flip(&mut on, (a, b), policy.initial == Initial::AllOn || a == hub || b == hub);
        }
        Line {
            d,
            members,
            channels,
            wake: policy.wake,
            plan: on.clone(),
            on,
            until: None,
            draining: vec![0; members],
            counts: vec![Counts::default(); members * members],
            latest: vec![0.0; members * members],
            gathered: vec![0.0; members * members],
            mean: Vec::new(),
            total: 0.0,
            usual: 0.0,
            variance: 0.0,
            surged: false,
        }
    };
    firsts.map(line).collect()
}

impl Line {
    /// All ordered pairs of different members.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let members = self.members;
        (0..members).flat_map(move |from| (0..members).map(move |to| (from, to))).filter(|(from, to)| from != to)
    }

    fn channel(&self, (from, to): (usize, usize)) -> u32 {
        self.channels[from * self.members + to]
    }

    /// Measures the traffic of the activation epoch that has just ended. Returns true if the planner must check at once whether this
    /// traffic needs more links: in a surge, or if no deactivation epoch has ended yet.
    fn measure(&mut self, network: &mut dyn Network, epoch: u64) -> bool {
        for pair in self.pairs() {
            let place = pair.0 * self.members + pair.1;
            let now = self.counts(network, pair);
            let before = std::mem::replace(&mut self.counts[place], now);
            let gained = |of: fn(Counts) -> u32| f64::from(of(now).wrapping_sub(of(before)) as i32);
            // A packet of one flit on a detour counts as taken when it chooses its hop, shortly before it is sent. Therefore `taken` can be
            // greater than `sent`
            let direct = gained(|counts| counts.sent) - gained(|counts| counts.taken) + gained(|counts| counts.avoided);
            let sent = direct / (network.throughput(self.channel(pair)) * epoch as f64);
            self.latest[place] = sent;
            self.gathered[place] += sent;
        }
        let total = self.latest.iter().sum::<f64>().max(0.0);
        let before = std::mem::replace(&mut self.total, total);
        let begins = self.mean.is_empty();
        if begins {
            self.usual = total;
        }
        let more = total - self.usual;
        let surges = self.is_surge(more, self.usual);
        self.surged |= self.is_surge(more / self.burst(epoch), self.usual);
        // for random packets of one flit, the variance of the flits per epoch equals their mean
        let typical = self.variance.max(self.usual.max(total) / epoch as f64);
        self.variance += LATEST * ((0.5 * (total - before).powi(2)).min(OUTLIER * typical) - self.variance);
        self.usual += LATEST * more;
        surges || begins
    }

    /// True if an excess of `more` over the usual traffic is a surge: larger than random variation explains.
    fn is_surge(&self, more: f64, usual: f64) -> bool {
        more > SURGE * self.variance.sqrt() && more > SURGE_SHARE * usual
    }

    /// Approximate size of bursts \[flits\], at least 1. It is half the ratio of the variance of an epoch's traffic to the variance of
    /// random packets of one flit. The other half is ignored, because a ratio up to 2 can be random variation.
    pub fn burst(&self, epoch: u64) -> f64 {
        let dispersion = if self.usual > 0.0 { self.variance * epoch as f64 / self.usual } else { 0.0 };
        (0.5 * dispersion).max(1.0)
    }

    /// The utilisation up to which the planner may load channels on average (the mark of `plan.rs`). At this utilisation, the wait of
    /// packets divided by their time without waiting is `loose` times that of random packets of one flit at utilisation `high_water`.
    pub fn mark(&self, policy: &Runtime, loose: f64) -> f64 {
        let burst = self.burst(policy.epoch);
        let waiting = loose * policy.high_water / (1.0 - policy.high_water) * (FLIGHT + burst) / (FLIGHT + 1.0) / burst;
        waiting / (1.0 + waiting)
    }

    /// Adds the matrix of the deactivation epoch that has just ended to the mean matrix. If the epoch's traffic is much more than the mean,
    /// discards the old mean and starts again from this epoch. Links planned for the lower mean would be too few. If bursts are larger, one
    /// epoch has less weight, and must exceed the mean by more. The reason is that long packets last for several activation epochs.
    fn end_matrix(&mut self, policy: &Runtime) {
        let share = 1.0 / policy.ratio as f64;
        let burst = self.burst(policy.epoch);
        let new = (NEW / burst.sqrt()).max(LEAST);
        let before: f64 = self.mean.iter().sum();
        let more = self.gathered.iter().sum::<f64>() * share - before;
        if self.mean.is_empty() || self.is_surge(more / burst, before) {
            self.mean = self.gathered.iter().map(|sum| sum * share).collect();
        } else {
            self.mean.iter_mut().zip(&self.gathered).for_each(|(mean, sum)| *mean += new * (sum * share - *mean));
        }
        self.gathered.fill(0.0);
    }

    fn counts(&self, network: &mut dyn Network, pair: (usize, usize)) -> Counts {
        let channel = self.channel(pair);
        let detours = network.counts_of(channel, &|agents, o| {
            let agents: &dyn Any = agents;
            let ledger: &Ledger = agents.downcast_ref().expect("under this policy they are ledgers");
            let detours = ledger.of(o);
            [detours.taken, detours.avoided]
        });
        Counts { sent: network.flits(channel), taken: detours[0], avoided: detours[1] }
    }

    /// Makes a plan for the mean traffic of the last deactivation epochs. Begins to change the links if the present links are too few, or
    /// if the change saves enough links.
    fn plan_anew(&mut self, policy: &Runtime, network: &mut dyn Network, now: u64) {
        let sent: Vec<f64> = self.mean.iter().map(|sent| sent.max(0.0)).collect();
        let plan = self.traffic(policy, &sent, self.mark(policy, 1.0)).fewest();
        if self.traffic(policy, &sent, self.mark(policy, LOOSE)).fits(&self.on, &mut Vec::new()) {
            let links = (self.members * (self.members - 1) / 2) as f64;
            if f64::from(count(&self.on)) - f64::from(count(&plan)) < (WORTH * links).max(1.0) {
                return;
            }
        }
        self.begin(policy, network, plan, now);
    }

    /// Adds links if the present links are too few for the traffic of the last activation epoch plus a reserve. If it adds links, it also
    /// uses all draining links again, instead of letting them go off.
    fn grow(&mut self, policy: &Runtime, network: &mut dyn Network, now: u64) {
        let sent: Vec<f64> = self.latest.iter().map(|sent| (sent * MORE).max(0.0)).collect();
        let traffic = self.traffic(policy, &sent, self.mark(policy, 1.0));
        if !traffic.fits(&self.on, &mut Vec::new()) {
            let mut plan = traffic.fewest();
            for (row, (on, draining)) in plan.iter_mut().zip(self.on.iter().zip(&self.draining)) {
                *row |= on | draining;
            }
            self.begin(policy, network, plan, now);
        }
    }

    fn traffic<'a>(&self, policy: &Runtime, sent: &'a [f64], mark: f64) -> Traffic<'a> {
        Traffic { sent, members: self.members, hub: usize::from(policy.hub), mark }
    }

    /// Begins to change the links that are on to those of `plan`. Links of the plan that still drain are on at once. The rest of the
    /// draining links continues to drain.
    fn begin(&mut self, policy: &Runtime, network: &mut dyn Network, plan: Links, now: u64) {
        if plan == self.on {
            return;
        }
        self.plan = plan;
        for link in common(&self.draining, &self.plan) {
            self.enter(network, link, LinkState::On, now);
            self.tell(policy, network, link, true);
            flip(&mut self.draining, link, false);
            flip(&mut self.on, link, true);
        }
        for link in missing(&self.on, &self.plan) {
            self.enter(network, link, LinkState::Waking, now);
        }
        self.until = Some(now.saturating_add(self.wake));
    }

    /// Called when the waking links are on. From now on, links outside the plan drain.
    fn finish_waking(&mut self, policy: &Runtime, network: &mut dyn Network, now: u64) {
        self.until = None;
        for link in missing(&self.on, &self.plan) {
            self.enter(network, link, LinkState::On, now);
            for pair in [link, (link.1, link.0)] {
                OFF.open(network, self.channel(pair));
            }
            self.tell(policy, network, link, true);
        }
        for link in missing(&self.plan, &self.on) {
            self.enter(network, link, LinkState::Draining, now);
            flip(&mut self.draining, link, true);
            self.tell(policy, network, link, false);
        }
        self.on.clone_from(&self.plan);
    }

    /// Switches each draining link off if no packet is on it and all its credits have returned.
    fn finish_draining(&mut self, network: &mut dyn Network, now: u64) {
        let none = vec![0; self.members];
        for link in missing(&none, &self.draining) {
            let channels = [link, (link.1, link.0)].map(|pair| self.channel(pair));
            if channels.iter().all(|&channel| OFF.is_drained(network, channel)) {
                channels.iter().for_each(|&channel| OFF.close(network, channel));
                self.enter(network, link, LinkState::Off, now);
                flip(&mut self.draining, link, false);
            }
        }
    }

    fn enter(&self, network: &mut dyn Network, (a, b): (usize, usize), state: LinkState, now: u64) {
        for pair in [(a, b), (b, a)] {
            network.enter(self.channel(pair), state, now);
        }
    }

    /// Informs all members of the subnetwork that packets may take the link between `a` and `b` (`active`), or that they must not.
    fn tell(&self, policy: &Runtime, network: &mut dyn Network, (a, b): (usize, usize), active: bool) {
        for member in 0..self.members {
            let own = self.channels[member * self.members + member];
            network.know(own, &policy.nets, self.d, (a as u8, b as u8), active);
        }
    }
}

/// Links that are in both sets, as pairs with the higher member first.
fn common(one: &Links, other: &Links) -> Vec<(usize, usize)> {
    let others: Links = other.iter().map(|row| !row).collect();
    missing(&others, one)
}

/// Links of the set `to` that are not in the set `from`, as pairs with the higher member first.
fn missing(from: &Links, to: &Links) -> Vec<(usize, usize)> {
    let rows = from.iter().zip(to).enumerate();
    rows.flat_map(|(a, (from, to))| (0..a).filter(move |b| (to & !from) >> b & 1 != 0).map(move |b| (a, b))).collect()
}
