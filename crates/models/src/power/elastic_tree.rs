//! Elastic tree: every level of a fat tree uses the number of links up that its load needs, counted from the first one. All other
//! links sleep.
//!
//! # Source
//! B. Heller et al., "ElasticTree: Saving Energy in Data Center Networks", NSDI 2010, Section 3.3: the topology-aware heuristic,
//! which keeps the left-most links and switches, with a safety margin. Our choice: the policy uses the utilisation of links in the
//! last epoch, not flow demands, and a level has the same width in all pods.
//! # Parameters
//! `epoch` [time]: the utilisation of links is averaged over it, and the policy decides at its end. `high`: a level grows if the
//! utilisation of its busiest channel is above this value, from 0 to 1. `low`: a level shrinks if the utilisation of its busiest
//! channel will still be below this value afterwards. `wake` [time]: from off to on. `initial`: links that are on in cycle 0.
//! # Guarantees
//! The width w of a level means that each router of the level uses its first w links up. A link is on if some path over links in
//! use leads to it. At width 1 everywhere the links that are on are a spanning tree of the leaves, and routers without such a path
//! sleep. All leaves stay connected at any widths, over paths with the same number of links as before. Utilisation is the share of
//! the flits that a channel can carry, given its bandwidth and the credits of its buffers. If a level is above `high`, the policy
//! widens the highest level that can grow, at or below the busy level. The new width is about width * utilisation / high. All links
//! that wake are on after `wake`, and packets use the new links only then. Otherwise the levels shrink, from the leaves up. Each
//! shrinks to the least width at which all busiest channels stay below `low`: width * utilisation / new width, at this level and
//! above. From then on, links that are to go off do not take new packets. These links stay on until no packet in flight has chosen them,
//! so no head ever waits for a dark link. If a level gets too busy meanwhile, its links are used again at once. Only one change is
//! in progress at a time, and a whole epoch without a change precedes the next one. Up/down paths on fewer links stay free of
//! deadlock.
//!
//! Faults: in the cycle after links or routers fail or return, packets avoid the failed ones, if the links that are on allow it.
//! The policy chooses other links as replacements. Packets use the replacement links when these are awake, and the replaced links
//! go off. At each choice of a link up, the policy uses the links from which failed links cut off the fewest leaves. Among equal
//! links the policy uses the first ones. The width of the level gives the number of links. If two leaves that can be joined are not
//! joined by these links, the policy uses more links. So another core above the same routers replaces a dead core, or a core with a
//! failed link. If a link of a leaf fails, or a router in between, the tree moves to other links up everywhere. As soon as the
//! replacements are on, packets are lost only between leaves that no up/down path of working links joins. Until then, packets for
//! which no path is on are discarded. Replacements take at most `wake` and the rest of the change in progress. Links and routers
//! that return are used as before.
//! # Not modelled
//! The time in which utilisations and faults reach a controller, and in which its orders come to the routers. Widths of single
//! pods: one busy pod widens its level everywhere. Demands of flows, which would show how a load spreads over fewer links.
//! # Validation
//! `engine/tests/elastic_tree.rs`: the spanning tree at least power; its links, latency and bound against values by hand; accepted
//! load compared with `always_on`, also with tiny buffers; nothing lost and no flit on a dark link while the load rises and falls;
//! the same results in any number of blocks. `engine/tests/tree_faults.rs`: the links that replace failed ones; nothing lost once
//! they are on; no link left between on and off. `elastic_tree/plan/tests.rs`: for random faults the plan joins all leaves that can
//! be joined. No comparison with another simulator, because none has this policy.

mod gauge;
mod overseer;
mod plan;

use gauge::Gauge;
use overseer::Sizer;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, Overseer};
use weft_api::coordinates;
use weft_api::examples::written;
use weft_api::links_up::Ups;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_api::switching::DrainFirst;
use weft_api::widths::{Widths, link_between, tree_of};
use weft_topology::{Graph, TopologyConfig};
use weft_units::{Cycles, Refusal, Time};

const PATH: &str = "power.policy.elastic_tree";
const OFF: DrainFirst = DrainFirst::of(&ElasticTree::OFFERS);

/// Every level of a fat tree uses the number of links up that its load needs, counted from the first one. All other links sleep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticTree {
    /// Time over which the utilisation of links is averaged; also the time between two decisions.
    #[serde(default = "default_epoch")]
    pub epoch: Time,
    /// A level shrinks if the utilisation of its busiest channel would stay below this value with fewer links.
    #[serde(default = "default_low")]
    pub low: f64,
    /// A level grows if the utilisation of its busiest channel is above this value.
    #[serde(default = "default_high")]
    pub high: f64,
    /// Time from off to on.
    #[serde(default = "default_wake")]
    pub wake: Time,
    /// Links that are on in cycle 0.
    #[serde(default)]
    pub initial: Initial,
}

/// Links that are on in cycle 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Initial {
    /// A spanning tree of the leaves: one link up of each router that is in use.
    #[default]
    SpanningTree,
    AllOn,
}

fn default_epoch() -> Time {
    Time::Cycles(1000)
}

fn default_low() -> f64 {
    0.5
}

fn default_high() -> f64 {
    0.75
}

fn default_wake() -> Time {
    Time::Cycles(1000)
}

/// The parameters in cycles, for a given tree.
#[derive(Debug, Clone)]
struct Runtime {
    epoch: u64,
    low: f64,
    high: f64,
    wake: u64,
    /// Number of links up of a router.
    radix: u32,
    /// For each level with links up: whether its width may change.
    managed: Vec<bool>,
    first: Widths,
    /// For each router: its coordinates in the tree.
    coords: Vec<u64>,
}

impl ElasticTree {
    pub(crate) const OFFERS: Offers = Offers { links: LinkKnowledge::Widths, ..Offers::ALWAYS_ON };

    fn cycles(&self, cycle_fs: u128) -> Result<[u64; 2], Refusal> {
        let cycles = |name: &str, time: &Time| {
            let path = format!("{PATH}.{name}");
            Ok(time.duration(cycle_fs, &path)?.above_zero(&path)?.cycles)
        };
        Ok([cycles("epoch", &self.epoch)?, cycles("wake", &self.wake)?])
    }

    fn check_thresholds(&self) -> Result<(), Refusal> {
        for (name, share) in [("low", self.low), ("high", self.high)] {
            if !(share > 0.0 && share <= 1.0) {
                let what = format!("{share} is not a share of the capacity of a link");
                return Err(Refusal::new(format!("{PATH}.{name}"), what, "write a number above 0, at most 1"));
            }
        }
        if self.high <= self.low {
            return Err(Refusal::new(
                format!("{PATH}.high"),
                format!("{} is not above low, {}: a level would grow and shrink at the same time", self.high, self.low),
                format!("write more than {}, or a smaller low", self.low),
            ));
        }
        Ok(())
    }

    /// The widths of all levels in cycle 0; and for each level, whether its width may change.
    fn first_widths(&self, site: &Site) -> Option<(Widths, Vec<bool>)> {
        let (levels, radix) = tree_of(site.graph)?;
        let mut managed = vec![false; levels.count as usize - 1];
        for channel in site.channels() {
            let ends = [channel.from, channel.to.0].map(|router| levels.of_router[router as usize]);
            managed[ends[0].min(ends[1]) as usize] |= site.managed[usize::from(channel.class)];
        }
        let least = |level: usize| managed[level] && self.initial == Initial::SpanningTree;
        let all = Widths::equal(managed.len(), radix);
        let first = (0..managed.len()).filter(|&level| least(level)).fold(all, |widths, level| widths.with(level, 1));
        Some((first, managed))
    }
}

impl PolicyModel for ElasticTree {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking])
    }

    /// The sum of an epoch without a change, an epoch until the decision, and the time to wake.
    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let [epoch, wake] = self.cycles(cycle_fs)?;
        Ok(Some(epoch.saturating_mul(2).saturating_add(wake)))
    }

    fn first_published(&self, site: &Site) -> Option<u64> {
        self.first_widths(site).map(|(first, _)| first.0)
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let most = tree_of(site.graph).map_or(0, |(_, radix)| radix);
        if most > Ups::BITS {
            let what = format!("{most} upward links per router, but Weft stores their states in {} bits", Ups::BITS);
            return Err(Refusal::new(PATH, what, format!("choose routers with at most {} upward links", Ups::BITS)));
        }
        let (first, managed) = self.first_widths(site).ok_or_else(|| {
            let able = TopologyConfig::names_with(|graph| tree_of(graph).is_some());
            let what = "elastic_tree switches the upward links of a fat tree with two or more levels";
            if site.graph.structure().levels.as_ref().is_some_and(|levels| levels.count > 1 && levels.tree.is_some()) {
                let why = "all its routers need the same number of upward links, each to a different router";
                let how = "choose a tree with all its terminals and without trunks, or another policy";
                return Refusal::new(PATH, format!("{what}: {why}"), how);
            }
            Refusal::new(
                PATH,
                format!("{what}, but this network is no such tree"),
                format!("choose another policy, or such a tree: {}", able.join(", ")),
            )
        })?;
        // at least one class is managed
        site.managed_classes(None, PATH)?;
        self.check_thresholds()?;
        let [epoch, wake] = self.cycles(site.cycle_fs)?;
        let coords = coordinates::in_tree(site.graph).expect("a tree");
        let radix = tree_of(site.graph).expect("a tree").1;
        Ok(Arc::new(Runtime { epoch, low: self.low, high: self.high, wake, radix, managed, first, coords }))
    }

    fn examples() -> Vec<Self> {
        // times and thresholds with which levels grow and shrink soon
        written(&[
            r#"{"epoch": "100ns", "wake": "40ns"}"#,
            r#"{"epoch": "60ns", "low": 0.2, "high": 0.4, "wake": "90ns", "initial": "all_on"}"#,
        ])
    }
}

impl Runtime {
    /// The level of a link, and the coordinates of its upper end.
    fn place(&self, a: u32, b: u32) -> (usize, u64) {
        link_between(self.coords[a as usize], self.coords[b as usize])
    }
}

impl Policy for Runtime {
    fn first_state(&self, a: u32, b: u32) -> LinkState {
        let (level, upper) = self.place(a, b);
        if self.first.reach(upper, level) { LinkState::On } else { LinkState::Off }
    }

    fn agents(&self, _: &BlockSite) -> Option<Box<dyn Agents>> {
        Some(Box::new(Gauge::new(self.managed.len(), self.radix)))
    }

    fn overseer(&self, site: &Site) -> Option<Box<dyn Overseer>> {
        Some(Box::new(Sizer::new(self.clone(), site)))
    }
}
