//! Elastic tree: on each level of a fat tree, every router uses only its first w upward links, where the load determines w. All other links
//! sleep.
//!
//! # Source
//! B. Heller et al., "ElasticTree: Saving Energy in Data Center Networks", NSDI 2010, Section 3.3: the topology-aware heuristic, which uses
//! the left-most links and switches, with a safety margin. Two choices are ours: the policy uses the utilisation of links in the last epoch
//! instead of flow demands, and a level has the same width in all pods. The width of a level is the number of upward links that each of its
//! routers uses.
//! # Parameters
//! `epoch` [time]: time over which the utilisation of links is averaged. The policy decides at the end of each epoch. `high`: a level
//! becomes wider if the utilisation (0 to 1) of its busiest channel is above this value. `low`: a level becomes narrower if the utilisation
//! of its busiest channel would stay below this value with fewer links. `wake` [time]: time that a link needs from off to on. `initial`:
//! links that are on in cycle 0.
//! # Guarantees
//! If a level has width w, each of its routers uses its first w upward links. A link is on if a leaf can reach it over links in use. If all
//! levels have width 1, the links that are on form a spanning tree of the leaves, and all routers outside of this tree sleep. At all
//! widths, all leaves stay connected, over paths with the same number of links as in the full tree. The utilisation of a channel is the
//! number of flits that it carried, divided by the number that its bandwidth and the buffer behind it permit. If the utilisation of a level
//! is above `high`, the policy widens this level or, if it cannot grow, the nearest level below it that can. The new width is about present
//! width * utilisation / high. All waking links are on after the time `wake`. Packets use them only from then on. If no level is above
//! `high`, the policy makes levels narrower, from the leaves up. Each level shrinks to the smallest width at which the busiest channels of
//! this level and of the levels above stay below `low`. For a new width, the policy expects a utilisation of present width * present
//! utilisation / new width. From the decision on, no new packet takes a link that will go off. These links stay on until no packet in
//! flight has chosen them, so no head ever waits for a dark link. If a level becomes too busy before its links are off, packets use these
//! links again at once. Only one change is in progress at a time. After a change, the policy waits for a whole epoch before the next one.
//! Up/down paths that use only some of the links are also free of deadlock.
//!
//! Faults: in the cycle after links or routers fail or return, packets avoid the failed ones, if the links that are on permit it. The
//! policy chooses other links as replacements. Packets use the replacement links when these are on, and the replaced links go off. On each
//! level, the policy chooses as many upward links per router as the width. It chooses the links above which failed links cut off the fewest
//! leaves, and of equally good links the first. If the chosen links do not join two leaves that can be joined, the policy uses more links.
//! Therefore another core above the same routers replaces a core that has failed or has a failed link. All pods use the same upward links.
//! Therefore all pods change to other upward links if a link of one leaf fails, or a router between leaves and cores. As soon as the
//! replacements are on, packets are lost only between leaves that no up/down path of working links joins. Before the replacements are on,
//! the network discards packets for which no path is on. The replacements are on at the latest when the time `wake` has passed since the
//! end of the change that was in progress. Links and routers that return are used as before the fault.
//! # Not modelled
//! The time until utilisations and faults are known to a controller, and until routers receive its orders. Separate widths for each pod:
//! one busy pod widens the level in all pods. Demands of flows, from which the policy could compute the load of fewer links.
//! # Validation
//! `engine/tests/elastic_tree.rs` compares the links that are on at minimum power, and the load that they carry, with values computed by
//! hand. It checks that latency without contention is the same as with all links on. Accepted loads are compared with those under
//! `always_on`, also with tiny buffers. While the load rises and falls, no packet is lost, and no flit crosses a dark link. Results are the
//! same for any number of blocks. `engine/tests/tree_faults.rs` checks which links replace failed ones. It also checks that no packet is
//! lost once the replacements are on, and that no link stays waking or draining forever. `elastic_tree/plan/tests.rs` checks that the plan
//! joins all leaves that can be joined, for random faults. No test compares this policy with another simulator, because no other simulator
//! has it.

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
use weft_topology::{Graph, TopologyConfig, Tree};
use weft_units::{Cycles, Refusal, Time};

const PATH: &str = "power.policy.elastic_tree";
const OFF: DrainFirst = DrainFirst::of(&ElasticTree::OFFERS);

/// On each level of a fat tree, every router uses only its first upward links, as many as the load needs. All other links sleep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ElasticTree {
    /// Time over which the utilisation of links is averaged. The policy decides at the end of each epoch.
    #[serde(default = "default_epoch")]
    pub epoch: Time,
    /// A level of the tree becomes narrower (uses fewer upward links per router) if the utilisation of its busiest channel would then stay
    /// below this value.
    #[serde(default = "default_low")]
    pub low: f64,
    /// A level of the tree becomes wider (uses more upward links per router) if the utilisation of its busiest channel is above this value.
    #[serde(default = "default_high")]
    pub high: f64,
    /// Time that a link needs from off to on.
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
    /// A spanning tree of the leaves: each router that is in use has one upward link.
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

/// The parameters of the policy in cycles, for a given tree.
#[derive(Debug, Clone)]
struct Runtime {
    epoch: u64,
    low: f64,
    high: f64,
    wake: u64,
    /// Number of upward links of a router.
    radix: u32,
    /// For each level with upward links: true if the policy may change its width.
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

    /// Returns the widths of all levels in cycle 0 and, for each level, true if the policy may change its width.
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

/// Refuses a tree whose routers below the top do not all have the same number of upward and downward links. `what`: the beginning of the
/// message, which says what the policy does.
fn unequal(what: &str, tree: &Tree) -> Refusal {
    let sizes: Vec<_> = tree.down.iter().zip(&tree.up).collect();
    let other = sizes.iter().position(|&(down, up)| down != up || down != sizes[0].0).unwrap_or(0);
    let (down, up) = sizes[other];
    let why = format!(
        "below the top, all its routers need the same number of upward and downward links, but on level {other} a router has {down} \
         downward and {up} upward links (a trunk is one link)"
    );
    let how = "choose a tree with an even number of ports per router, without oversubscription and with all its terminals, or another \
               policy";
    Refusal::new(PATH, format!("{what}: {why}"), how)
}

impl PolicyModel for ElasticTree {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking])
    }

    /// The sum of three times: an epoch without a change, an epoch until the decision, and the time to wake.
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
            let levels = site.graph.structure().levels.as_ref().filter(|levels| levels.count > 1);
            if let Some(tree) = levels.and_then(|levels| levels.tree.as_ref()) {
                return unequal(what, tree);
            }
            Refusal::new(
                PATH,
                format!("{what}, but this network is no such tree"),
                format!("choose another policy, or such a tree: {}", able.join(", ")),
            )
        })?;
        // refuses a scenario in which the policy manages no link class
        site.managed_classes(None, PATH)?;
        self.check_thresholds()?;
        let [epoch, wake] = self.cycles(site.cycle_fs)?;
        let coords = coordinates::in_tree(site.graph).expect("a tree");
        let radix = tree_of(site.graph).expect("a tree").1;
        Ok(Arc::new(Runtime { epoch, low: self.low, high: self.high, wake, radix, managed, first, coords }))
    }

    fn examples() -> Vec<Self> {
        // times and thresholds with which the widths of levels change early in a test
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
