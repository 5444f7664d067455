//! The sequencer is the overseer of SLaC. At the end of each averaging window it reads the occupancy of all routers. The sequencer switches
//! at most one stage at a time.

use super::{Gauge, Initial, OFF, Release, Runtime, stage_of};
use std::any::Any;
use weft_api::agents::{Network, Overseer, Published};
use weft_api::base::kept::{Kept, Value};
use weft_api::policy::Site;
use weft_api::state::LinkState;

#[derive(Debug, Kept)]
pub struct Sequencer {
    #[kept(fixed)]
    policy: Runtime,
    /// For each stage: the channels that belong to it.
    #[kept(fixed)]
    pub stages: Vec<Vec<u32>>,
    /// For each stage except the first, as far as stages are on or warming: the router that requested the stage. `None` for a stage that
    /// was on from the beginning of the run.
    pub asked: Vec<Option<u32>>,
    pub change: Option<Change>,
    /// First cycle in which the sequencer may make its next decision.
    pub rests_until: u64,
    /// End of the present averaging window.
    pub window_end: u64,
    /// Utilisation of every router in the last window.
    #[kept(each)]
    pub used: Vec<f64>,
}

/// The change of a stage between on and off.
#[derive(Debug, Clone, Copy, Value)]
pub enum Change {
    Warming { until: u64 },
    Draining,
}

impl Overseer for Sequencer {
    /// The next cycle before which the sequencer has to act.
    fn next(&self) -> u64 {
        match self.change {
            Some(Change::Warming { until }) => until.min(self.window_end),
            Some(Change::Draining) | None => self.window_end,
        }
    }

    /// Ends the present change, and makes a decision, if one of these is due just before cycle `now`.
    fn act(&mut self, network: &mut dyn Network, now: u64) {
        if now < self.next() {
            return;
        }
        let window_ends = now == self.window_end;
        if window_ends {
            self.window_end += self.policy.times.averaging;
            self.read(network, now);
        }
        match self.change {
            Some(Change::Warming { until }) if until == now => {
                self.enter(network, self.asked.len(), LinkState::On, now);
                self.settle(network, now);
            }
            // the draining stage follows the last stage that stays on
            Some(Change::Draining) if self.is_drained(network, self.asked.len() + 1) => {
                self.enter(network, self.asked.len() + 1, LinkState::Off, now);
                self.settle(network, now);
            }
            None if window_ends && now >= self.rests_until => self.decide(network, now),
            Some(Change::Warming { .. } | Change::Draining) | None => {}
        }
    }

    /// Returns the length of the averaging window if the sequencer has nothing to do. Then all buffers have been empty for a window, and no
    /// stage can go off.
    fn rests(&self, network: &mut dyn Network) -> Option<u64> {
        let may_release = self.policy.release == Release::BelowLow && !self.asked.is_empty();
        let is_calm = self.change.is_none() && self.used.iter().all(|&used| used == 0.0) && !may_release;
        let is_still = is_calm && (0..network.blocks()).all(|block| gauge(network, block).is_still());
        is_still.then_some(self.policy.times.averaging)
    }

    fn skip(&mut self, cycles: u64) {
        self.window_end += cycles;
    }
}

impl Sequencer {
    pub fn new(policy: Runtime, site: &Site) -> Self {
        let mut stages = vec![Vec::new(); policy.stages];
        for channel in site.channels() {
            stages[stage_of(&policy.rows, channel.from, channel.to.0)].push(channel.number);
        }
        // if the network is a single column, the last row has no links and no stage
        stages.truncate(stages.iter().rposition(|stage| !stage.is_empty()).map_or(1, |last| last + 1));
        let asked = if policy.initial == Initial::AllOn { vec![None; stages.len() - 1] } else { Vec::new() };
        Self {
            asked,
            change: None,
            rests_until: 0,
            window_end: policy.times.averaging,
            used: vec![0.0; site.graph.routers() as usize],
            policy,
            stages,
        }
    }

    /// Called when a stage has been switched on or off. Packets that start from now on may use all stages that are on.
    fn settle(&mut self, network: &mut dyn Network, now: u64) {
        self.change = None;
        self.rests_until = now + self.policy.times.averaging;
        network.publish(&Published::Number(self.asked.len() as u64 + 1));
    }

    /// Computes the utilisation of every router in the window that has just ended.
    pub fn read(&mut self, network: &mut dyn Network, now: u64) {
        self.used.fill(0.0);
        for block in 0..network.blocks() {
            gauge(network, block).read(&mut self.used, self.policy.times.averaging, now);
        }
    }

    /// Begins to warm the next stage or to drain the newest one, according to the utilisation of the routers.
    pub fn decide(&mut self, network: &mut dyn Network, now: u64) {
        // of several routers with the highest utilisation, takes the one with the lowest number, so that the result does not depend on
        // blocks
        let fullest = (0..self.used.len()).rev().max_by(|&a, &b| self.used[a].total_cmp(&self.used[b])).unwrap_or(0);
        if self.used[fullest] > self.policy.high {
            if self.asked.len() + 1 < self.stages.len() {
                self.asked.push(Some(fullest as u32));
                let stage = self.asked.len();
                let links = self.stages[stage].len() as u64 / 2;
                self.change = Some(Change::Warming {
                    until: now.saturating_add(self.policy.times.wake_per_link.saturating_mul(links)),
                });
                self.enter(network, stage, LinkState::Waking, now);
            }
        } else if self.policy.release == Release::BelowLow
            && let Some(&router) = self.asked.last()
            && self.used[router.map_or(fullest, |router| router as usize)] < self.policy.low
        {
            self.enter(network, self.asked.len(), LinkState::Draining, now);
            self.asked.pop();
            self.change = Some(Change::Draining);
            network.publish(&Published::Number(self.asked.len() as u64 + 1));
        }
    }

    /// Moves all channels of a stage to power state `state`. Draining channels still carry the packets that are pinned to the stage.
    fn enter(&self, network: &mut dyn Network, stage: usize, state: LinkState, now: u64) {
        for &channel in &self.stages[stage] {
            match state {
                LinkState::On => OFF.open(network, channel),
                LinkState::Off => OFF.close(network, channel),
                LinkState::Shadow | LinkState::Draining | LinkState::Waking => {}
                LinkState::Named(_) => unreachable!("stages have no rates"),
            }
            network.enter(channel, state, now);
        }
    }

    /// True if no packet in flight can need the stage, and all credits of its channels have returned.
    fn is_drained(&self, network: &mut dyn Network, stage: usize) -> bool {
        // indices of stages begin at 0, so packets that can need the stage with index `stage` are pinned to at least `stage` + 1 stages
        let pinned: i64 = (0..network.blocks()).map(|block| gauge(network, block).pinned_to(stage + 1)).sum();
        if pinned > 0 {
            return false;
        }
        let mut home = true;
        for &channel in &self.stages[stage] {
            assert!(OFF.is_unused(network, channel), "a packet that no one counts holds or wants a channel");
            home &= network.credits_are_home(channel);
        }
        home
    }
}

/// The gauge (agent) of block `block`.
fn gauge(network: &mut dyn Network, block: usize) -> &mut Gauge {
    let agents: &mut dyn Any = network.agents(block).expect("every block has some under this policy");
    agents.downcast_mut().expect("under this policy they are gauges")
}
