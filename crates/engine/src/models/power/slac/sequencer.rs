//! The sequencer: sees all routers at the end of each averaging window, and switches one stage at a time.

use super::{Gauge, Initial, Runtime, outputs};
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::models::power::{AnyPolicy, LinkState};
use crate::network::spec::Spec;
use weft_units::Refusal;

#[derive(Debug)]
pub(crate) struct Sequencer {
    policy: Runtime,
    /// (block, output) of the channels of every stage.
    stages: Vec<Vec<(usize, usize)>>,
    /// Routers that asked for stages 2, 3 and so on, one that is warming included; `None`: it was on from the beginning.
    asked: Vec<Option<u32>>,
    change: Option<Change>,
    /// Nothing is decided before.
    rests_until: u64,
    /// End of the present averaging window.
    window_end: u64,
    /// Utilisation of every router in the last window.
    used: Vec<f64>,
}

/// A stage between on and off.
#[derive(Debug, Clone, Copy)]
enum Change {
    Warming { until: u64 },
    Draining,
}

impl Sequencer {
    /// The sequencer of a network under this policy.
    pub fn of<const W: usize, const V: usize>(
        spec: &Spec,
        net: &Net,
        blocks: &mut [Block<W, V>],
    ) -> Result<Option<Self>, Refusal> {
        let AnyPolicy::Slac(policy) = spec.policy.build(spec)? else { return Ok(None) };
        let mut stages: Vec<Vec<(usize, usize)>> = Vec::new();
        for (b, block) in blocks.iter().enumerate() {
            for (o, stage) in outputs(spec, net, block) {
                stages.resize(stages.len().max(stage + 1), Vec::new());
                stages[stage].push((b, o));
            }
        }
        for block in blocks {
            block.gauge = Some(Gauge::new(block.ins.len(), stages.len()));
        }
        let mut asked = Vec::with_capacity(stages.len());
        if policy.initial == Initial::AllOn {
            asked.resize(stages.len() - 1, None);
        }
        Ok(Some(Self {
            asked,
            change: None,
            rests_until: 0,
            window_end: policy.averaging,
            used: vec![0.0; spec.graph.routers() as usize],
            policy,
            stages,
        }))
    }

    /// The cycle before which it acts next.
    pub fn next(&self) -> u64 {
        match self.change {
            Some(Change::Warming { until }) => until.min(self.window_end),
            _ => self.window_end,
        }
    }

    /// Acts before cycle `now`, if it is time to.
    pub fn act<const W: usize, const V: usize>(&mut self, net: &mut Net, blocks: &mut [Block<W, V>], now: u64) {
        if now < self.next() {
            return;
        }
        let window_ends = now == self.window_end;
        if window_ends {
            self.window_end += self.policy.averaging;
            self.read(net, blocks, now);
        }
        match self.change {
            Some(Change::Warming { until }) if until == now => {
                self.enter(blocks, self.asked.len(), LinkState::On, now);
                self.settle(net, now);
            }
            // the stage above those that are left
            Some(Change::Draining) if self.is_drained(net, blocks, self.asked.len() + 1) => {
                self.enter(blocks, self.asked.len() + 1, LinkState::Off, now);
                self.settle(net, now);
            }
            None if window_ends && now >= self.rests_until => self.decide(net, blocks, now),
            _ => {}
        }
    }

    /// Nothing changes any more: packets from now on find all stages that were asked for.
    fn settle(&mut self, net: &mut Net, now: u64) {
        self.change = None;
        self.rests_until = now + self.policy.averaging;
        pin_to(net, self.asked.len() + 1);
    }

    /// Fills in the utilisation of every router in the window that ends.
    fn read<const W: usize, const V: usize>(&mut self, net: &Net, blocks: &mut [Block<W, V>], now: u64) {
        self.used.fill(0.0);
        for Block { ins, routers, gauge, .. } in blocks {
            let gauge = gauge.as_mut().expect("every block has one under this policy");
            for (i, port) in ins.iter().enumerate().filter(|(_, port)| port.class > 0) {
                let room = self.policy.averaging * u64::from(net.links[port.class as usize].capacity);
                let used = &mut self.used[routers[port.router as usize].id as usize];
                *used = used.max(gauge.flit_cycles(i, now) as f64 / room as f64);
            }
        }
    }

    /// Warms or drains a stage, if some router asks for it.
    fn decide<const W: usize, const V: usize>(&mut self, net: &mut Net, blocks: &mut [Block<W, V>], now: u64) {
        // of equal ones the lowest, whatever the blocks
        let fullest = (0..self.used.len()).rev().max_by(|&a, &b| self.used[a].total_cmp(&self.used[b])).unwrap_or(0);
        if self.used[fullest] > self.policy.high {
            if self.asked.len() + 1 < self.stages.len() {
                self.asked.push(Some(fullest as u32));
                let stage = self.asked.len();
                let links = self.stages[stage].len() as u64 / 2;
                self.change = Some(Change::Warming {
                    until: now.saturating_add(self.policy.wake_per_link.saturating_mul(links)),
                });
                self.enter(blocks, stage, LinkState::Waking, now);
            }
        } else if let Some(&router) = self.asked.last()
            && self.used[router.map_or(fullest, |router| router as usize)] < self.policy.low
        {
            self.enter(blocks, self.asked.len(), LinkState::Draining, now);
            self.asked.pop();
            self.change = Some(Change::Draining);
            pin_to(net, self.asked.len() + 1);
        }
    }

    /// Puts all channels of a stage into a state. One that drains stays open to the packets that are pinned to it.
    fn enter<const W: usize, const V: usize>(
        &self,
        blocks: &mut [Block<W, V>],
        stage: usize,
        state: LinkState,
        now: u64,
    ) {
        for &(block, o) in &self.stages[stage] {
            let Block { power, outs, .. } = &mut blocks[block];
            let out = &mut outs[o];
            match state {
                LinkState::On => out.free = power.all_vcs[o],
                LinkState::Off => out.free = 0,
                _ => {}
            }
            power.change(o, out, state, now);
        }
    }

    /// Whether no packet is under way that may need the stage, and all credits of its channels are home.
    fn is_drained<const W: usize, const V: usize>(&self, net: &Net, blocks: &[Block<W, V>], stage: usize) -> bool {
        // packets that need the stage with index `stage` are pinned to more stages than that
        let pinned = |block: &Block<W, V>| block.gauge.as_ref().map_or(0, |gauge| gauge.pinned_to(stage + 1));
        if blocks.iter().map(pinned).sum::<i64>() > 0 {
            return false;
        }
        let mut home = true;
        for &(block, o) in &self.stages[stage] {
            let out = &blocks[block].outs[o];
            let link = &net.links[out.class as usize];
            assert!(out.free == link.all && out.wanting == 0, "a packet that no one counts holds or wants a channel");
            home &= out.credits.iter().map(|&c| u32::from(c)).sum::<u32>() == link.capacity;
        }
        home
    }
}

/// Packets from now on find so many stages on.
fn pin_to(net: &Net, stages: usize) {
    net.routing.hear(stages as u32);
}

#[cfg(test)]
mod tests;
