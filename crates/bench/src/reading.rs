//! A power policy for benchmarks: it reads every link repeatedly, but never switches one. The comparison with a network whose links are
//! always on shows the cost of agents. The code of this policy has the same form as that of a policy in a crate outside Weft.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Channels};
use weft_api::base::kept::Kept;
use weft_api::policy::{Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_engine::power::PolicyConfig;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal};

/// Number of cycles between two readings of the same link.
const EVERY: u64 = 5_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reading {}

weft_units::add_model! { PolicyConfig: "reading" => Reading, declares Offers::ALWAYS_ON }

impl PolicyModel for Reading {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On])
    }

    fn settling_period(&self, _: &Graph, _: &Modes, _: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(None)
    }

    fn build(&self, _: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(self.clone()))
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

impl Policy for Reading {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let managed = site.channels.iter().enumerate().filter(|(_, channel)| channel.managed).map(|(o, _)| o).collect();
        Some(Box::new(Readers { managed, last: vec![0; site.channels.len()] }))
    }
}

#[derive(Debug, Kept)]
struct Readers {
    #[kept(fixed)]
    managed: Vec<usize>,
    /// For each channel, the number of flits at the last reading.
    last: Vec<u32>,
}

impl Agents for Readers {
    fn start(&mut self, channels: &mut dyn Channels) {
        self.managed.iter().for_each(|&o| channels.set_timer(o, EVERY));
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        for o in ended.iter().map(|&o| o as usize) {
            let flits = channels.flits(o);
            let sent = flits.wrapping_sub(std::mem::replace(&mut self.last[o], flits));
            assert!(u64::from(sent) <= EVERY, "a link carries a flit per cycle at most");
            channels.set_timer(o, channels.now() + EVERY);
        }
    }
}
