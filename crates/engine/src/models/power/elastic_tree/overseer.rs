//! The overseer of the elastic tree: at the end of each epoch it sees how busy each level is, and changes the widths of
//! all levels that need it at once.

use super::{Gauge, Runtime};
use crate::api::agents::{Network, Overseer};
use crate::api::policy::Site;
use crate::api::widths::Widths;
use crate::state::LinkState;
use std::any::Any;

#[derive(Debug)]
pub(super) struct Sizer {
    policy: Runtime,
    channels: Vec<Channel>,
    /// The widths for packets that are routed now.
    widths: Widths,
    change: Option<Change>,
    epoch_end: u64,
    /// A change has ended in this epoch, so that its utilisation tells nothing of the new widths.
    has_changed: bool,
    /// Per level, the utilisation of its busiest channel in the last epoch.
    busiest: Vec<f64>,
}

/// A channel of the tree, up or down.
#[derive(Debug)]
struct Channel {
    number: u32,
    /// Level and coordinates of the upper end of its link.
    level: usize,
    upper: u64,
    /// The policy may switch it.
    managed: bool,
    /// Flits at the last reading, the low 32 bits.
    flits: u32,
}

/// Links between on and off.
#[derive(Debug, Clone, Copy)]
enum Change {
    /// Those of `to` that are off wake.
    Waking { to: Widths, until: u64 },
    /// Those of `from` that are not used any more drain.
    Draining { from: Widths },
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
        match self.change {
            Some(Change::Waking { to, until }) if until == now => {
                self.enter(network, (self.widths, to), LinkState::On, now);
                self.settle(network, to, !epoch_ends);
            }
            Some(Change::Draining { from }) if self.grown() != self.widths => {
                self.enter(network, (self.widths, from), LinkState::On, now);
                self.settle(network, from, false);
            }
            Some(Change::Draining { from }) if self.is_drained(network, from) => {
                self.enter(network, (self.widths, from), LinkState::Off, now);
                self.settle(network, self.widths, false);
            }
            None if epoch_ends && !self.has_changed => self.decide(network, now),
            Some(_) => {}
            None => self.has_changed = false,
        }
    }
}

impl Sizer {
    pub fn new(policy: Runtime, site: &Site) -> Self {
        let channels = site.channels().map(|channel| {
            let (level, upper) = policy.place(channel.from, channel.to.0);
            let managed = site.managed[usize::from(channel.class)];
            Channel { number: channel.number, level, upper, managed, flits: 0 }
        });
        Self {
            channels: channels.collect(),
            widths: policy.first,
            change: None,
            epoch_end: policy.epoch,
            has_changed: false,
            busiest: vec![0.0; policy.managed.len()],
            policy,
        }
    }

    /// The change is complete, maybe inside the epoch that now runs. Packets use these widths from now on.
    fn settle(&mut self, network: &mut dyn Network, widths: Widths, inside_epoch: bool) {
        self.change = None;
        self.has_changed = inside_epoch;
        self.widths = widths;
        network.publish(widths.0);
    }

    /// Fills in the utilisation of each level in the epoch that ends.
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
        if grown != self.widths {
            self.change = Some(Change::Waking { to: grown, until: now.saturating_add(self.policy.wake) });
            self.enter(network, (self.widths, grown), LinkState::Waking, now);
            return;
        }
        let shrunk = self.shrunk();
        if shrunk != self.widths {
            let from = std::mem::replace(&mut self.widths, shrunk);
            self.change = Some(Change::Draining { from });
            self.enter(network, (shrunk, from), LinkState::Draining, now);
            network.publish(shrunk.0);
        }
    }

    /// The widths at which no level would be too busy, if its load spread evenly; the widest ones, where even these are
    /// too narrow. From the top down: a level above another has fewer links to wake.
    fn grown(&self) -> Widths {
        let (mut widths, mut busiest) = (self.widths, self.busiest.clone());
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

    /// The least widths at which all levels would stay below `low`, from the leaves up: lower levels have more links.
    fn shrunk(&self) -> Widths {
        let (mut widths, mut busiest) = (self.widths, self.busiest.clone());
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

    /// Puts the channels that these widths reach and `without` does not into a state. Channels that drain stay open, for the
    /// packets that have chosen them.
    fn enter(&self, network: &mut dyn Network, (without, with): (Widths, Widths), state: LinkState, now: u64) {
        for channel in self.between(without, with) {
            match state {
                LinkState::On => network.open(channel.number),
                LinkState::Off => network.close(channel.number),
                LinkState::Shadow | LinkState::Draining | LinkState::Waking => {}
                LinkState::Half | LinkState::Quarter => unreachable!("levels have no rates"),
            }
            network.enter(channel.number, state, now);
        }
    }

    fn between(&self, without: Widths, with: Widths) -> impl Iterator<Item = &Channel> {
        let reached = move |widths: Widths, channel: &Channel| widths.reach(channel.upper, channel.level);
        let managed = self.channels.iter().filter(|channel| channel.managed);
        managed.filter(move |&channel| reached(with, channel) && !reached(without, channel))
    }

    /// Whether no packet is under way that has chosen a link of `from` that is not used any more, and all credits of these
    /// links are home.
    fn is_drained(&self, network: &mut dyn Network, from: Widths) -> bool {
        for level in (0..self.busiest.len()).filter(|&level| self.widths.of(level) < from.of(level)) {
            let width = self.widths.of(level);
            let under_way = (0..network.blocks()).map(|block| gauge(network, block).chosen_beyond(level, width));
            if under_way.sum::<i64>() > 0 {
                return false;
            }
        }
        let mut home = true;
        for channel in self.between(self.widths, from) {
            let is_busy = network.is_wanted(channel.number) || network.is_held(channel.number);
            assert!(!is_busy, "a packet that no one counts holds or wants a channel");
            home &= network.credits_are_home(channel.number);
        }
        home
    }
}

/// Gives `level` another width, and changes what its load and that of the levels above make of their links: these have as
/// many more or fewer routers in use.
fn resize(widths: &mut Widths, busiest: &mut [f64], level: usize, width: u32) {
    let share = f64::from(widths.of(level)) / f64::from(width);
    busiest[level..].iter_mut().for_each(|used| *used *= share);
    *widths = widths.with(level, width);
}

/// The counters of a block.
fn gauge(network: &mut dyn Network, block: usize) -> &mut Gauge {
    let agents: &mut dyn Any = network.agents(block).expect("every block has some under this policy");
    agents.downcast_mut().expect("under this policy they are gauges")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two levels of 8 links up with these widths, whose busiest channels are used so much.
    fn sizer(widths: [u32; 2], busiest: [f64; 2], managed: [bool; 2]) -> Sizer {
        let widths = Widths::equal(2, 0).with(0, widths[0]).with(1, widths[1]);
        let (managed, coords) = (managed.to_vec(), Vec::new());
        let policy = Runtime { epoch: 100, low: 0.5, high: 0.75, wake: 10, radix: 8, managed, first: widths, coords };
        let (change, channels, busiest) = (None, Vec::new(), busiest.to_vec());
        Sizer { policy, channels, widths, change, epoch_end: 100, has_changed: false, busiest }
    }

    #[track_caller]
    fn check(widths: Widths, expected: [u32; 2]) {
        assert_eq!([widths.of(0), widths.of(1)], expected);
    }

    #[test]
    fn the_highest_level_that_can_grow_at_or_below_the_busy_one_does() {
        let grown = |widths, busiest, managed| sizer(widths, busiest, managed).grown();
        // 1.0 over 2 links is 0.5 each
        check(grown([1, 1], [0.1, 1.0], [true; 2]), [1, 2]);
        // 1.0 * 2/3 is below 0.75; the level above has 3/2 as many links in use then
        check(grown([2, 8], [1.0, 0.9], [true; 2]), [3, 8]);
        // the level above can't grow, or must not
        check(grown([2, 8], [0.5, 0.9], [true; 2]), [3, 8]);
        check(grown([2, 4], [0.5, 0.9], [true, false]), [3, 4]);
        // nothing is wider than all links
        check(grown([8, 8], [1.0, 1.0], [true; 2]), [8, 8]);
        check(grown([3, 5], [0.75, 0.4], [true; 2]), [3, 5]);
    }

    #[test]
    fn levels_shrink_while_all_stay_below_low_from_the_leaves_up() {
        let shrunk = |widths, busiest, managed| sizer(widths, busiest, managed).shrunk();
        // 0.1 * 8/2 = 0.4 on both levels, and 0.8 over 1 link; then 0.4 * 8/7 = 0.46 and 0.4 * 8/6 = 0.53
        check(shrunk([8, 8], [0.1, 0.1], [true; 2]), [2, 7]);
        // fewer routers in use would fill the level above
        check(shrunk([8, 8], [0.1, 0.45], [true; 2]), [8, 8]);
        check(shrunk([8, 8], [0.6, 0.1], [true; 2]), [8, 2]);
        check(shrunk([8, 8], [0.0, 0.0], [false, true]), [8, 1]);
    }
}
