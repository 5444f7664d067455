//! The planner, the overseer of `fewest_links`: it measures the traffic of each subnetwork, and changes its links.

use super::ledger::Ledger;
use super::plan::{Links, Traffic, count, flip};
use super::{Initial, Runtime};
use crate::api::agents::{Network, Overseer};
use crate::api::policy::Site;
use crate::base::kept::Kept;
use crate::state::LinkState;
use std::any::Any;

/// A channel that is above the mark in so many activation epochs on end has more to carry than the plan says.
const TOO_LONG: u8 = 3;
/// Then all traffic is taken for so many times what it was taken for.
const MORE: f64 = 1.05;
/// Traffic is taken for so many times what it is, at least and at most: the ways that packets choose among differ.
const LEAST: f64 = 0.9;
const MOST: f64 = 4.0;
/// By how much of its distance from the mark the busiest channel changes that factor at the end of a deactivation epoch.
const STEP: f64 = 0.3;
/// A plan is worth a change if it saves this share of all links.
const WORTH: f64 = 0.01;

#[derive(Debug, Kept)]
pub(super) struct Planner {
    #[kept(fixed)]
    policy: Runtime,
    #[kept(each)]
    lines: Vec<Line>,
    epoch_end: u64,
    /// Activation epochs that have ended.
    epochs: u64,
}

/// A subnetwork: the links between routers that are all neighbours.
#[derive(Debug, Kept)]
struct Line {
    /// Which one of its routers, and how many these are.
    #[kept(fixed)]
    d: usize,
    #[kept(fixed)]
    members: usize,
    /// \[from\]\[to\]: the channels between its members; some number on the diagonal.
    #[kept(fixed)]
    channels: Vec<u32>,
    /// Links that packets may take.
    on: Links,
    /// What the present change leads to: these wake, until `until`, before others drain.
    plan: Links,
    until: Option<u64>,
    draining: Links,
    /// \[from\]\[to\]: flits sent, in all and on detours, and those that took a detour in its place; at the end of the last
    /// deactivation epoch.
    #[kept(each)]
    long: Vec<Counts>,
    /// Flits sent at the end of the last activation epoch.
    short: Vec<u32>,
    /// \[from\]\[to\]: activation epochs on end in which a channel was above the mark.
    crowded: Vec<u8>,
    /// All traffic is taken for so many times what it is.
    scale: f64,
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
        // cycles since the matrix was begun
        let since = policy.epoch * ((self.epochs - 1) % policy.ratio + 1);
        for line in lines {
            line.finish_draining(network, now);
            line.look(policy, network);
            if line.is_at_rest() && line.crowded.iter().any(|&epochs| epochs >= TOO_LONG) {
                line.scale = (line.scale * MORE).min(MOST);
                line.crowded.fill(0);
                line.decide(policy, network, (since, now), true);
            } else if long && line.is_at_rest() {
                line.decide(policy, network, (since, now), false);
            }
            if long {
                line.begin_matrix(network);
            }
        }
    }
}

impl Planner {
    pub fn new(policy: Runtime, site: &Site) -> Self {
        let lines = policy.managed.iter().flat_map(|&d| lines_of(&policy, site, d)).collect();
        Self { lines, epoch_end: policy.epoch, epochs: 0, policy }
    }
}

/// The subnetworks number `d` of all routers.
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
            plan: on.clone(),
            on,
            until: None,
            draining: vec![0; members],
            long: vec![Counts::default(); members * members],
            short: vec![0; members * members],
            crowded: vec![0; members * members],
            scale: 1.0,
        }
    };
    firsts.map(line).collect()
}

impl Line {
    fn is_at_rest(&self) -> bool {
        self.until.is_none() && self.draining.iter().all(|&row| row == 0)
    }

    /// All ordered pairs of members.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let members = self.members;
        (0..members).flat_map(move |from| (0..members).map(move |to| (from, to))).filter(|(from, to)| from != to)
    }

    fn channel(&self, (from, to): (usize, usize)) -> u32 {
        self.channels[from * self.members + to]
    }

    /// Sees which channels were above the mark in the epoch that ends.
    fn look(&mut self, policy: &Runtime, network: &dyn Network) {
        for (from, to) in self.pairs() {
            let (channel, place) = (self.channel((from, to)), from * self.members + to);
            let flits = network.flits(channel);
            let sent = flits.wrapping_sub(std::mem::replace(&mut self.short[place], flits));
            let used = f64::from(sent) / network.throughput(channel) / policy.epoch as f64;
            self.crowded[place] = if used > policy.high_water { self.crowded[place].saturating_add(1) } else { 0 };
        }
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

    /// The matrix of traffic since the last deactivation epoch ended, `since` cycles ago, and the share of the busiest channel.
    fn matrix(&self, network: &mut dyn Network, since: u64) -> (Vec<f64>, f64) {
        let (mut matrix, mut busiest) = (vec![0.0; self.members * self.members], 0.0_f64);
        for (from, to) in self.pairs() {
            let place = from * self.members + to;
            let (now, before) = (self.counts(network, (from, to)), self.long[place]);
            let gained = |of: fn(Counts) -> u32| f64::from(of(now).wrapping_sub(of(before)) as i32);
            let (sent, taken) = (gained(|counts| counts.sent), gained(|counts| counts.taken));
            let direct = (sent - taken).max(0.0) + gained(|counts| counts.avoided);
            let room = network.throughput(self.channel((from, to))) * since as f64;
            matrix[place] = direct / room;
            busiest = busiest.max(sent / room);
        }
        (matrix, busiest)
    }

    fn begin_matrix(&mut self, network: &mut dyn Network) {
        for (from, to) in self.pairs() {
            self.long[from * self.members + to] = self.counts(network, (from, to));
        }
    }

    /// Plans, and begins to change the links if that is worth it, or if those that are on would be too few.
    fn decide(&mut self, policy: &Runtime, network: &mut dyn Network, (since, now): (u64, u64), grows: bool) {
        let (mut sent, busiest) = self.matrix(network, since);
        if !grows {
            let step = 1.0 + STEP * (busiest / policy.high_water - 1.0);
            self.scale = (self.scale * step).clamp(LEAST, MOST);
        }
        sent.iter_mut().for_each(|sent| *sent *= self.scale);
        let traffic =
            Traffic { sent: &sent, members: self.members, hub: usize::from(policy.hub), mark: policy.high_water };
        let mut plan = traffic.fewest();
        if grows {
            plan.iter_mut().zip(&self.on).for_each(|(row, on)| *row |= on);
        } else if traffic.fits(&self.on, &mut Vec::new()) {
            let links = (self.members * (self.members - 1) / 2) as f64;
            if f64::from(count(&self.on)) - f64::from(count(&plan)) < (WORTH * links).max(1.0) {
                return;
            }
        }
        if plan != self.on {
            self.plan = plan;
            for link in missing(&self.on, &self.plan) {
                self.enter(network, link, LinkState::Waking, now);
            }
            self.until = Some(now.saturating_add(policy.wake));
        }
    }

    /// The links that wake are on. Those that the plan does not have drain from now on.
    fn finish_waking(&mut self, policy: &Runtime, network: &mut dyn Network, now: u64) {
        self.until = None;
        for link in missing(&self.on, &self.plan) {
            self.enter(network, link, LinkState::On, now);
            for pair in [link, (link.1, link.0)] {
                network.open(self.channel(pair));
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

    /// Links that drain go dark if no packet is on them.
    fn finish_draining(&mut self, network: &mut dyn Network, now: u64) {
        let none = vec![0; self.members];
        for link in missing(&none, &self.draining) {
            let channels = [link, (link.1, link.0)].map(|pair| self.channel(pair));
            let is_free = |&channel: &u32| {
                !network.is_wanted(channel) && !network.is_held(channel) && network.credits_are_home(channel)
            };
            if channels.iter().all(is_free) {
                channels.iter().for_each(|&channel| network.close(channel));
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

    /// All members know from now on whether packets may take the link.
    fn tell(&self, policy: &Runtime, network: &mut dyn Network, (a, b): (usize, usize), active: bool) {
        for member in 0..self.members {
            let own = self.channels[member * self.members + member];
            network.know(own, &policy.nets, self.d, (a as u8, b as u8), active);
        }
    }
}

/// Links of the second set that the first has not, with the higher member first.
fn missing(from: &Links, to: &Links) -> Vec<(usize, usize)> {
    let rows = from.iter().zip(to).enumerate();
    rows.flat_map(|(a, (from, to))| (0..a).filter(move |b| (to & !from) >> b & 1 != 0).map(move |b| (a, b))).collect()
}
