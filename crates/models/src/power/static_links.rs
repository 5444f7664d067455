//! A fixed set of links is on for the whole run. All other links that the policy manages are off.
//!
//! # Source
//! A reference for power policies: a set of links chosen in advance for a known load. `root` is a star in every subnetwork, the state of
//! least power in Kim et al., "TCEP", ISCA 2018, Section III-B.
//! # Parameters
//! `on`: `root` (the star around the hub), or `links` (a list of pairs of neighbouring routers). `hub`: the member (router) of every
//! subnetwork that is the centre of its star. Packets between two other members whose link is off can go over the hub.
//! # Guarantees
//! No link changes its state. A link that is off carries nothing. Every two routers of a subnetwork must have a link that is on, or a path
//! over one other router. The policy refuses any other set of links. The policy needs a routing that knows which links are off.
//! # Not modelled
//! The time and energy of switching the links before the run.
//! # Validation
//! `engine/tests/pal.rs` checks an 8x8 flattened butterfly under `root`: 112 of 448 links are on, and latency without contention equals
//! theory. For stars with some further links, it checks the number of hops between every two routers, and that links that are off carry
//! nothing.

use crate::power::stars::is_root;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::sync::Arc;
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use weft_api::state::{LinkState, Modes};
use weft_api::subnetworks::Subnets;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal};

/// A fixed set of links is on for the whole run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Static {
    /// The managed links that are on.
    #[serde(default)]
    pub on: On,
    /// Index of the member of every subnetwork that is the centre of its star.
    #[serde(default)]
    pub hub: u8,
}

/// The choice of the links that are on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum On {
    /// The star around the hub of every subnetwork.
    Root {},
    /// Pairs of neighbouring routers.
    Links(Vec<[u32; 2]>),
}

impl Default for On {
    fn default() -> Self {
        Self::Root {}
    }
}

/// The policy built for one network: the links that are on, and the subnetworks of the network.
#[derive(Debug)]
struct Runtime {
    /// The links that are on, as pairs with the lower router first. `None` for the star (`root`).
    on: Option<HashSet<(u32, u32)>>,
    hub: u8,
    nets: Subnets,
    coords: Vec<u64>,
}

const PATH: &str = "power.policy.static";

impl Static {
    pub(crate) const OFFERS: Offers = Offers { links: LinkKnowledge::Subnetworks, ..Offers::ALWAYS_ON };
}

impl PolicyModel for Static {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Off])
    }

    fn settling_period(&self, _: &Graph, _: &Modes, _: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(None)
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let nets = super::subnets_of(site, "static", PATH)?;
        super::check_hub(site, &nets, self.hub, PATH)?;
        let pairs = |links: &Vec<[u32; 2]>| links.iter().map(|&[a, b]| (a.min(b), a.max(b))).collect();
        let runtime = Runtime {
            on: match &self.on {
                On::Root {} => None,
                On::Links(links) => Some(pairs(links)),
            },
            hub: self.hub,
            nets,
            coords: site.coords(),
        };
        let known = runtime.check(site)?;
        if let On::Links(links) = &self.on {
            let is_known = |[a, b]: [u32; 2]| known.contains(&(a.min(b), a.max(b)));
            if let Some((k, [a, b])) = links.iter().enumerate().find(|(_, link)| !is_known(**link)) {
                let what = format!("the policy manages no link between routers {a} and {b}");
                return Err(Refusal::new(format!("{PATH}.on.links.{k}"), what, "write pairs of neighbouring routers"));
            }
        }
        Ok(Arc::new(runtime))
    }

    fn examples() -> Vec<Self> {
        // the default: the star around the hub of every subnetwork
        written(&["{}"])
    }
}

impl Policy for Runtime {
    fn first_state(&self, a: u32, b: u32) -> LinkState {
        if self.is_on(a, b) { LinkState::On } else { LinkState::Off }
    }

    fn hub(&self) -> u8 {
        self.hub
    }
}

impl Runtime {
    /// True if the link between routers `a` and `b` is on.
    fn is_on(&self, a: u32, b: u32) -> bool {
        match &self.on {
            None => is_root(&self.nets, &self.coords, self.hub, (a, b)),
            Some(pairs) => self.nets.link(&self.coords, a, b).is_none() || pairs.contains(&(a.min(b), a.max(b))),
        }
    }

    /// Returns the set of all links that the policy manages, as pairs with the lower router first. Refuses a set `on` with which two
    /// routers of a subnetwork have neither a link nor a path over one other router.
    fn check(&self, site: &Site) -> Result<HashSet<(u32, u32)>, Refusal> {
        let nets = &self.nets;
        let mut known = HashSet::new();
        for router in 0..site.graph.routers() {
            for d in (0..nets.count).filter(|&d| site.managed[usize::from(nets.classes[d])]) {
                let own = nets.member(self.coords[router as usize], d);
                let reach = |from: u32, own: u8| {
                    let on = nets.others(d, own).filter(|&c| self.is_on(from, nets.router(from, d, own, c)));
                    on.fold(1u64 << own, |mask, c| mask | 1 << c)
                };
                let mine = reach(router, own);
                for c in nets.others(d, own) {
                    let far = nets.router(router, d, own, c);
                    known.insert((router.min(far), router.max(far)));
                    if mine & reach(far, c) == 0 {
                        let what = format!(
                            "routers {router} and {far} of one subnetwork have neither a link that is on nor a path over one other router"
                        );
                        return Err(Refusal::new(
                            format!("{PATH}.on"),
                            what,
                            "add links, such as a star around one router",
                        ));
                    }
                }
            }
        }
        Ok(known)
    }
}
