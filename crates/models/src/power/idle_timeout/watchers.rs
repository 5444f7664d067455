//! The agents of `idle_timeout`. The agents watch the managed channels of their block.

use super::{OFF, Times};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, ChannelSite, Channels, Probes};
use weft_api::base::kept::{Kept, Value};
use weft_api::policy::Policy;
use weft_api::state::LinkState;

impl Policy for Times {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let managed = (0..).zip(&site.channels).filter(|(_, channel)| channel.managed).map(|(o, _)| o);
        let switch_at = |channel: &ChannelSite| self.switch_at.get(usize::from(channel.class)).copied().unwrap_or(0);
        Some(Box::new(Watchers {
            times: Arc::new(self.clone()),
            managed: managed.collect(),
            switch_at: site.channels.iter().map(switch_at).collect(),
            low: vec![Low::Rests; site.channels.len()],
        }))
    }
}

/// The activity of a channel that is in the mode `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
enum Low {
    /// The channel is closed until a packet requests it.
    Rests,
    /// The channel is open, and carries traffic at the lower rate. The agent checks how many flits wait for it.
    Carries,
    /// The channel is closed to new packets. When the packets that hold it have left, its change to the full rate begins.
    Drains,
    /// The channel changes to the full rate, and carries traffic during the change.
    Rises,
}

/// The agent of a block, which watches the block's managed channels.
#[derive(Debug, Kept)]
struct Watchers {
    #[kept(fixed)]
    times: Arc<Times>,
    #[kept(fixed)]
    managed: Vec<usize>,
    /// For each channel: the number of flits that must wait before the channel leaves the mode `to`. If it is 0, the first packet makes the
    /// channel leave this mode.
    #[kept(fixed)]
    switch_at: Vec<u32>,
    #[kept(each)]
    low: Vec<Low>,
}

impl Agents for Watchers {
    fn probes(&self) -> Probes {
        Probes { queued: !self.times.switch_at.is_empty(), ..Probes::default() }
    }

    fn start(&mut self, channels: &mut dyn Channels) {
        self.managed.iter().for_each(|&o| channels.set_timer(o, self.times.idle));
    }

    fn wanted(&mut self, o: usize, channels: &mut dyn Channels) {
        // A channel that is changing to the mode `to` must end this change before it can wake. The timer at the end of the change then
        // makes it wake
        if channels.state(o) != self.times.to || self.low[o] != Low::Rests {
            return;
        }
        if self.switch_at[o] > 0 {
            OFF.open(channels, o);
            self.low[o] = Low::Carries;
            channels.set_timer(o, channels.now() + 1);
        } else {
            self.rise(o, channels);
        }
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        for o in ended.iter().map(|&o| o as usize) {
            self.look(o, channels);
            channels.look_again(o);
        }
    }

    /// Called for channels (`drained`) whose last packet has left. Starts the change of those that waited for this.
    fn drained(&mut self, drained: &[u32], channels: &mut dyn Channels) {
        for o in drained.iter().map(|&o| o as usize) {
            if channels.state(o) == self.times.to && self.low[o] == Low::Drains {
                self.begin_change(o, channels);
            }
        }
    }
}

impl Watchers {
    fn look(&mut self, o: usize, channels: &mut dyn Channels) {
        match channels.state(o) {
            LinkState::On => self.look_at_idle(o, channels),
            LinkState::Draining => {
                channels.enter(o, self.times.to);
                self.low[o] = Low::Rests;
                if channels.is_wanted(o) {
                    self.wanted(o, channels);
                }
            }
            LinkState::Waking => {
                channels.enter(o, LinkState::On);
                OFF.open(channels, o);
                channels.set_timer(o, channels.now() + self.times.idle);
            }
            LinkState::Named(_) => match self.low[o] {
                Low::Rests => {}
                Low::Carries => self.look_at_queue(o, channels),
                Low::Drains => self.look_at_packets(o, channels),
                // the channel already carries traffic
                Low::Rises => {
                    channels.enter(o, LinkState::On);
                    channels.set_timer(o, channels.now() + self.times.idle);
                }
            },
            LinkState::Off | LinkState::Shadow => {}
        }
    }

    /// Begins the change of channel `o` to the mode `to` if its last flit left at least `idle` cycles ago. Otherwise sets a timer for the
    /// first cycle in which this can be true.
    fn look_at_idle(&mut self, o: usize, channels: &mut dyn Channels) {
        let (now, idle, free_for) = (channels.now(), self.times.idle, channels.free_for(o));
        let held = channels.is_held(o) || channels.is_wanted(o);
        if held || free_for < 0 {
            // If a packet holds or requests the channel, it is busy at least until the next cycle. In any case it is busy until all flits
            // that wait for it have left
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
                self.low[o] = Low::Rests;
            }
        }
    }

    /// Begins the change of channel `o` from the mode `to` to the full rate. Called when enough flits wait for the channel or, without
    /// `switch_at`, when the first packet requests it.
    fn rise(&mut self, o: usize, channels: &mut dyn Channels) {
        if self.times.changes.stop_up() {
            channels.enter(o, LinkState::Waking);
        } else {
            OFF.open(channels, o);
            self.low[o] = Low::Rises;
        }
        channels.set_timer(o, channels.now() + self.times.transition);
    }

    /// Begins the change to the full rate if enough flits wait for channel `o`. Closes the channel again (`Rests`) if it has nothing to
    /// send and no packet holds or requests it. Otherwise sets a timer for the first cycle in which enough flits can wait.
    fn look_at_queue(&mut self, o: usize, channels: &mut dyn Channels) {
        let (now, enough) = (channels.now(), self.switch_at[o]);
        let queued = channels.queued(o, enough);
        if queued >= enough {
            if !self.times.changes.stop_up() {
                return self.rise(o, channels);
            }
            self.low[o] = Low::Drains;
            channels.set_timer(o, now + self.times.idle);
            OFF.close(channels, o);
        } else if queued == 0 && channels.free_for(o) >= 0 && !channels.is_held(o) && !channels.is_wanted(o) {
            self.low[o] = Low::Rests;
            OFF.close(channels, o);
        } else {
            let growth = channels.queue_growth(o);
            channels.set_timer(o, now + growth.map_or(1, |growth| u64::from((enough - queued).div_ceil(growth))));
        }
    }

    /// Handles a channel whose change must wait until the packets that hold it, and their flits, have left. Called when its timer ends.
    fn look_at_packets(&mut self, o: usize, channels: &mut dyn Channels) {
        if !channels.is_held(o) {
            return self.begin_change(o, channels);
        }
        // the packets that hold this channel possibly wait forever for packets on other such channels, so the channel carries traffic again
        self.low[o] = Low::Carries;
        OFF.open(channels, o);
        channels.set_timer(o, channels.now() + self.times.idle);
    }

    /// Called when no packet holds channel `o` any more. Begins the change as soon as the last flit of the channel has left.
    fn begin_change(&mut self, o: usize, channels: &mut dyn Channels) {
        match OFF.flits_leave_in(channels, o) {
            0 => self.rise(o, channels),
            cycles => channels.set_timer(o, channels.now() + cycles),
        }
    }
}
