//! The overseer of the elastic tree policy. At the end of each epoch the overseer reads the utilisation of every level, and changes the
//! widths of all levels together. If links have failed, the overseer replaces them by other links.

use super::plan::{Failed, Plan, Tree};
use super::{Gauge, OFF, Runtime};
use std::any::Any;
use std::sync::Arc;
use weft_api::agents::{Network, Overseer, Published};
use weft_api::base::kept::{Kept, Value};
use weft_api::coordinates::LEVEL;
use weft_api::links_up::LinksUp;
use weft_api::policy::Site;
use weft_api::state::LinkState;
use weft_api::widths::Widths;

#[derive(Debug, Kept)]
pub(super) struct Sizer {
    #[kept(fixed)]
    policy: Runtime,
    #[kept(fixed)]
    tree: Tree,
    #[kept(each)]
    channels: Vec<Channel>,
    /// The links that packets use now.
    plan: Plan,
    /// The links that have failed.
    failed: Failed,
    change: Option<Change>,
    epoch_end: u64,
    /// True if a change of links has ended in this epoch. The utilisation of this epoch then belongs partly to the old widths, so the
    /// overseer does not decide from it.
    has_changed: bool,
    /// For each level: the utilisation of its busiest channel in the last epoch.
    #[kept(each)]
    busiest: Vec<f64>,
}

/// A channel of the tree, up or down.
#[derive(Debug, Kept)]
struct Channel {
    #[kept(fixed)]
    number: u32,
    /// Level of the link.
    #[kept(fixed)]
    level: usize,
    /// Coordinates of the link's lower end.
    #[kept(fixed)]
    lower: u64,
    /// Coordinates of the link's upper end.
    #[kept(fixed)]
    upper: u64,
    /// True if the policy may switch the link on and off.
    #[kept(fixed)]
    managed: bool,
    /// The low 32 bits of the channel's count of flits at the last reading.
    flits: u32,
}

/// A change in progress, in which links are between on and off.
#[derive(Debug, Clone, Value)]
enum Change {
    /// The links of `to` that were off are waking until cycle `until`.
    Waking { to: Plan, until: u64 },
    /// The links of `from` that packets no longer use are draining.
    Draining { from: Plan },
}

impl Overseer for Sizer {
    fn next(&self) -> u64 {
        match self.change {
            Some(Change::Waking { until, .. }) => until.min(self.epoch_end),
            Some(Change::Draining { .. }) | None => self.epoch_end,
        }
    }

    fn act(&mut self, network: &mut dyn Network, now: u64) {
        if now < self.next() {
            return;
        }
        let epoch_ends = now == self.epoch_end;
        if epoch_ends {
            self.epoch_end = now.saturating_add(self.policy.epoch);
            self.read(network);
        }
        match self.change.take() {
            Some(Change::Waking { to, until }) if until == now => {
                self.enter(network, (&self.plan.links, &to.links), LinkState::On, now);
                self.has_changed = !epoch_ends;
                self.turn_to(network, to, now);
            }
            Some(Change::Draining { from }) if from.widths != self.plan.widths && self.grown() != self.plan.widths => {
                self.enter(network, (&self.plan.links, &from.links), LinkState::On, now);
                self.has_changed = false;
                self.turn_to(network, from, now);
            }
            Some(Change::Draining { from }) if self.is_drained(network, &from) => {
                self.enter(network, (&self.plan.links, &from.links), LinkState::Off, now);
                self.has_changed = false;
                self.publish(network);
                self.repair(network, now);
            }
            None if epoch_ends && !self.has_changed => self.decide(network, now),
            change @ Some(_) => self.change = change,
            None => self.has_changed = false,
        }
    }

    /// The overseer has nothing to do if the network sends no flit and all widths are as small as possible.
    fn rests(&self, network: &mut dyn Network) -> Option<u64> {
        let is_calm = self.change.is_none() && !self.has_changed && self.busiest.iter().all(|&used| used == 0.0);
        let sends = |channel: &Channel| network.flits(channel.number) != channel.flits;
        let stays = is_calm && self.shrunk() == self.plan.widths && !self.channels.iter().any(sends);
        stays.then_some(self.policy.epoch)
    }

    fn skip(&mut self, cycles: u64) {
        self.epoch_end += cycles;
    }

    /// After a fault, packets avoid failed links and use the links that are on. The replacements of failed links are on after the time
    /// `wake`.
    fn fault(&mut self, network: &mut dyn Network, now: u64) {
        self.failed.clear();
        for channel in self.channels.iter().filter(|channel| network.is_broken(channel.number)) {
            let up = channel.upper.to_le_bytes()[channel.level];
            *self.failed.entry(channel.lower).or_default() |= 1 << up;
        }
        self.publish(network);
        self.repair(network, now);
    }
}

impl Sizer {
    pub fn new(policy: Runtime, site: &Site) -> Self {
        let channels = site.channels().map(|channel| {
            let (level, upper) = policy.place(channel.from, channel.to.0);
            let lower = policy.coords[channel.from as usize].min(policy.coords[channel.to.0 as usize]);
            let managed = site.managed[usize::from(channel.class)];
            Channel { number: channel.number, level, lower, upper, managed, flits: 0 }
        });
        Self { channels: channels.collect(), ..Self::of(policy) }
    }

    /// Creates an overseer that has no channels yet.
    fn of(policy: Runtime) -> Self {
        let leaves = policy.coords.iter().copied().filter(|at| at >> LEVEL == 0).collect();
        let tree = Tree { radix: policy.radix, levels: policy.managed.len(), leaves };
        Self {
            channels: Vec::new(),
            plan: Plan::plain(&tree, policy.first),
            failed: Failed::new(),
            change: None,
            epoch_end: policy.epoch,
            has_changed: false,
            busiest: vec![0.0; policy.managed.len()],
            tree,
            policy,
        }
    }

    /// Called when all links of `plan` are on. From now on, packets use the links of `plan`. Links that only the previous plan uses begin
    /// to drain.
    fn turn_to(&mut self, network: &mut dyn Network, plan: Plan, now: u64) {
        let from = std::mem::replace(&mut self.plan, plan);
        self.change = None;
        if from.links.beyond(&self.plan.links).next().is_some() {
            self.enter(network, (&self.plan.links, &from.links), LinkState::Draining, now);
            self.change = Some(Change::Draining { from });
        }
        self.publish(network);
        self.repair(network, now);
    }

    /// Chooses the best links for `widths`, and begins the change to these links.
    fn begin(&mut self, network: &mut dyn Network, widths: Widths, now: u64) {
        let to = Plan::around(&self.tree, widths, &self.failed);
        if to.links.beyond(&self.plan.links).next().is_none() {
            return self.turn_to(network, to, now);
        }
        self.enter(network, (&self.plan.links, &to.links), LinkState::Waking, now);
        self.change = Some(Change::Waking { to, until: now.saturating_add(self.policy.wake) });
    }

    /// If links have failed or returned since the present links were chosen, begins a change to other links of the same widths. If another
    /// change is in progress, does nothing: the function is called again when that change ends.
    fn repair(&mut self, network: &mut dyn Network, now: u64) {
        let widths = self.plan.widths;
        if self.change.is_none() && Plan::around(&self.tree, widths, &self.failed).links != self.plan.links {
            self.begin(network, widths, now);
        }
    }

    /// Publishes the upward links that packets may choose from now on.
    fn publish(&self, network: &mut dyn Network) {
        let from = match &self.change {
            Some(Change::Draining { from }) => Some(from),
            Some(Change::Waking { .. }) | None => None,
        };
        let is_plain = |plan: &Plan| plan.is_plain(&self.tree);
        if self.failed.is_empty() && is_plain(&self.plan) && from.is_none_or(is_plain) {
            return network.publish(&Published::Number(self.plan.widths.0));
        }
        let leaving = from.map(|from| from.links.used.clone()).unwrap_or_default();
        let links = LinksUp { leaving, broken: self.failed.clone(), ..self.plan.links.clone() };
        network.publish(&Published::LinksUp(Arc::new(links)));
    }

    /// Computes the utilisation of each level in the epoch that has just ended.
    fn read(&mut self, network: &dyn Network) {
        self.busiest.fill(0.0);
        for channel in &mut self.channels {
            let flits = network.flits(channel.number);
            let sent = flits.wrapping_sub(std::mem::replace(&mut channel.flits, flits));
            let room = network.throughput(channel.number) * self.policy.epoch as f64;
            let busiest = &mut self.busiest[channel.level];
            *busiest = busiest.max(f64::from(sent) / room);
        }
    }

    fn decide(&mut self, network: &mut dyn Network, now: u64) {
        let grown = self.grown();
        let widths = if grown == self.plan.widths { self.shrunk() } else { grown };
        if widths != self.plan.widths {
            self.begin(network, widths, now);
        }
    }

    /// The present widths, increased until no level would have a utilisation above `high` if its load were spread evenly. Ends at the
    /// largest widths, even if a level is still too busy. Searches from the top level down, because a higher level has fewer links to wake.
    fn grown(&self) -> Widths {
        let (mut widths, mut busiest) = (self.plan.widths, self.busiest.clone());
        for level in (0..busiest.len()).rev() {
            while busiest[level] > self.policy.high {
                let can_grow = |&l: &usize| self.policy.managed[l] && widths.of(l) < self.policy.radix;
                let Some(l) = (0..=level).rev().find(can_grow) else { break };
                let wider = widths.of(l) + 1;
                resize(&mut widths, &mut busiest, l, wider);
            }
        }
        widths
    }

    /// Makes the levels narrower as long as the utilisation of the changed level and of all levels above it would stay below `low`. Begins
    /// at the leaves, because lower levels have more links to switch off.
    fn shrunk(&self) -> Widths {
        let (mut widths, mut busiest) = (self.plan.widths, self.busiest.clone());
        for level in (0..busiest.len()).filter(|&level| self.policy.managed[level]) {
            while widths.of(level) > 1 {
                let (mut fewer, mut used) = (widths, busiest.clone());
                resize(&mut fewer, &mut used, level, widths.of(level) - 1);
                if used[level..].iter().any(|&used| used >= self.policy.low) {
                    break;
                }
                (widths, busiest) = (fewer, used);
            }
        }
        widths
    }

    /// Sets the power state `state` of all managed channels that a leaf can reach over the links `with`, but not over the links `without`.
    /// Only `On` and `Off` open or close a channel: a draining channel still carries the packets that have already chosen it.
    fn enter(&self, network: &mut dyn Network, (without, with): (&LinksUp, &LinksUp), state: LinkState, now: u64) {
        for channel in self.between(without, with) {
            match state {
                LinkState::On => OFF.open(network, channel.number),
                LinkState::Off => OFF.close(network, channel.number),
                LinkState::Shadow | LinkState::Draining | LinkState::Waking => {}
                LinkState::Named(_) => unreachable!("levels have no rates"),
            }
            network.enter(channel.number, state, now);
        }
    }

    fn between(&self, without: &LinksUp, with: &LinksUp) -> impl Iterator<Item = &Channel> {
        let reached = |links: &LinksUp, channel: &Channel| links.reach(channel.upper, channel.level);
        let managed = self.channels.iter().filter(|channel| channel.managed);
        managed.filter(move |&channel| reached(with, channel) && !reached(without, channel))
    }

    /// True if the links of `from` that the present plan does not use have drained. No packet in flight has chosen them, and all their
    /// credits have returned.
    fn is_drained(&self, network: &mut dyn Network, from: &Plan) -> bool {
        for (level, choices) in from.links.beyond(&self.plan.links) {
            let under_way = (0..network.blocks()).map(|block| gauge(network, block).chosen(level, choices));
            if under_way.sum::<i64>() > 0 {
                return false;
            }
        }
        let mut home = true;
        for channel in self.between(&self.plan.links, &from.links) {
            assert!(OFF.is_unused(network, channel.number), "a packet that no one counts holds or wants a channel");
            home &= network.credits_are_home(channel.number);
        }
        home
    }
}

/// Sets the width of `level`. Scales the expected utilisation `busiest` of this level, and of the levels above, whose routers in use become
/// more or fewer with this width.
fn resize(widths: &mut Widths, busiest: &mut [f64], level: usize, width: u32) {
    let share = f64::from(widths.of(level)) / f64::from(width);
    busiest[level..].iter_mut().for_each(|used| *used *= share);
    *widths = widths.with(level, width);
}

/// The gauge (agent) of block `block`.
fn gauge(network: &mut dyn Network, block: usize) -> &mut Gauge {
    let agents: &mut dyn Any = network.agents(block).expect("every block has some under this policy");
    agents.downcast_mut().expect("under this policy they are gauges")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates an overseer for two levels of 8 upward links. `busiest`: utilisation of each level's busiest channel.
    fn sizer(widths: [u32; 2], busiest: [f64; 2], managed: [bool; 2]) -> Sizer {
        let first = Widths::equal(2, 0).with(0, widths[0]).with(1, widths[1]);
        let (managed, coords) = (managed.to_vec(), Vec::new());
        let policy = Runtime { epoch: 100, low: 0.5, high: 0.75, wake: 10, radix: 8, managed, first, coords };
        Sizer { busiest: busiest.to_vec(), ..Sizer::of(policy) }
    }

    #[track_caller]
    fn check(widths: Widths, expected: [u32; 2]) {
        assert_eq!([widths.of(0), widths.of(1)], expected);
    }

    #[test]
    fn the_highest_level_that_can_grow_at_or_below_the_busy_one_does() {
        let grown = |widths, busiest, managed| sizer(widths, busiest, managed).grown();
        // two links instead of one halve the utilisation of 1.0
        check(grown([1, 1], [0.1, 1.0], [true; 2]), [1, 2]);
        // With width 3 instead of 2, level 0 has a utilisation of 1.0 * 2/3, below 0.75. Level 1, which cannot grow, then has 0.9 * 2/3
        check(grown([2, 8], [1.0, 0.9], [true; 2]), [3, 8]);
        // level 1 is too busy, but already has all 8 links, or is not managed by the policy: level 0 grows instead
        check(grown([2, 8], [0.5, 0.9], [true; 2]), [3, 8]);
        check(grown([2, 4], [0.5, 0.9], [true, false]), [3, 4]);
        // the width never exceeds the number of links, 8
        check(grown([8, 8], [1.0, 1.0], [true; 2]), [8, 8]);
        check(grown([3, 5], [0.75, 0.4], [true; 2]), [3, 5]);
    }

    #[test]
    fn levels_shrink_while_all_stay_below_low_from_the_leaves_up() {
        let shrunk = |widths, busiest, managed| sizer(widths, busiest, managed).shrunk();
        // with width 2 on level 0, the utilisation of both levels is 0.1 * 8/2 = 0.4; with width 1 it would be 0.8, above 0.5. Then the
        // utilisation of level 1 is 0.4 * 8/7 = 0.46 with width 7, but 0.4 * 8/6 = 0.53 with width 6
        check(shrunk([8, 8], [0.1, 0.1], [true; 2]), [2, 7]);
        // if level 0 were narrower, fewer routers of level 1 would be in use, and level 1 would be too busy
        check(shrunk([8, 8], [0.1, 0.45], [true; 2]), [8, 8]);
        check(shrunk([8, 8], [0.6, 0.1], [true; 2]), [8, 2]);
        check(shrunk([8, 8], [0.0, 0.0], [false, true]), [8, 1]);
    }
}
