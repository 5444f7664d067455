//! The registry of routings. Each routing is one file, in the folder of the kind of networks that it routes, and one line of the
//! registry below.
//!
//! Several routings share code:
//! - [`on_grid`], [`on_dragonfly`] and [`on_graph`] find the ports that lead to a destination.
//! - [`on_links`] finds paths around links that are off, inside a line of a HyperX (a set of routers that differ in one coordinate).
//! - [`weighted`] computes shortest paths with link weights.
//! - [`best`] finds the candidate output with the most credits.
//! - [`in_transit`] has the common part of routings whose packets can leave the minimal path at any router, and can escape into rings.
//! - [`two_legs`] joins two paths of a routing at an intermediate router.
//! - [`bounds`] has theoretical bounds on the accepted load, for the examples of routings.

weft_units::registry! {
    /// Every routing algorithm that the engine can run.
    pub enum RoutingConfig as AnyRoutingModel declares ABOUT: About, with examples of Example, open to AddedRouting:
    grid {
        "dimension_order" => dimension_order::DimensionOrder,
        "minimal" => minimal::Minimal,
        "valiant" => valiant::Valiant,
        "ugal" => ugal::Ugal,
        "ugal_p" => ugal_p::UgalP,
        "pal" => pal::Pal,
        "dal" => dal::Dal,
        "omniwar" => omniwar::OmniWar,
        "hyperx_ofar" => hyperx_ofar::HyperXOfar,
        "minimal_adaptive" => minimal_adaptive::MinimalAdaptive,
        "slac" => slac::Slac,
    }
    dragonfly {
        "dragonfly_minimal" => dragonfly_minimal::DragonflyMinimal,
        "dragonfly_valiant" => dragonfly_valiant::DragonflyValiant,
        "dragonfly_ugal" => dragonfly_ugal::DragonflyUgal,
        "dragonfly_pb" => dragonfly_pb::DragonflyPb,
        "dragonfly_par" => dragonfly_par::DragonflyPar,
        "dragonfly_ofar" => dragonfly_ofar::DragonflyOfar,
    }
    tree {
        "up_down" => up_down::UpDown,
    }
    layers {
        "flex_minimal" => flex_minimal::FlexMinimal,
    }
    any_graph {
        "shortest_path" => shortest_path::ShortestPath,
        "ecmp" => ecmp::Ecmp,
        "up_down_any" => up_down_any::UpDownAny,
        "lash" => lash::Lash,
        "table" => table::Table,
        "valiant_over" => valiant_over::ValiantOver,
        "ugal_over" => ugal_over::UgalOver,
        "lbr" => lbr::Lbr,
    }
}

mod best;
mod bounds;
mod in_transit;
pub mod on_dragonfly;
mod on_graph;
pub mod on_grid;
mod on_links;
mod two_legs;
mod weighted;

pub use weft_api::agents::Published;
pub use weft_api::base::hash::{below, hash};
pub use weft_api::examples::{Accepts, Example};
pub use weft_api::policy::LinkKnowledge;
pub use weft_api::routing::Classes;
use weft_api::routing::{About, AnyRoutingModel};
pub use weft_api::routing::{
    AnyRouting, AroundFaults, Decides, Hop, Needs, RingEntry, Routing, RoutingModel, draw, weigh,
};
pub use weft_api::sensor::Sensor;
pub use weft_api::view::{HopNote, View};
pub use weft_api::walk::{COPY, Cost, Draws, Outcomes, Ports, Proof, Step, TIE};

use weft_topology::{Graph, TopologyConfig};
use weft_units::{Flits, Refusal};

impl RoutingConfig {
    /// True if the routing works on this graph.
    pub fn fits(&self, graph: &Graph) -> bool {
        self.declares().routes_graph(graph)
    }

    /// Properties and needs of the routing that do not depend on its parameters.
    pub fn about(&self) -> About {
        self.declares()
    }

    /// The kinds of information that the routing can use about links that a policy switches off.
    pub fn knowledge_of_links(&self) -> &'static [LinkKnowledge] {
        self.declares().links
    }

    /// Size of the routing's tables for this graph [bytes]. 0 for a routing whose tables grow no faster than the number
    /// of ports.
    pub fn table_bytes(&self, graph: &Graph) -> u64 {
        self.model().table_bytes_any(graph.plane())
    }

    /// True if the routing computes its paths again after each fault.
    pub fn rebuilds(&self) -> bool {
        self.model().rebuilds_any()
    }

    /// Builds the routing for this graph. If the graph consists of identical planes without common channels, builds it for one
    /// plane. Refuses a graph that the routing cannot route.
    pub fn build(&self, graph: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        if !self.fits(graph) {
            return Err(wrong_graph(self.name(), self.declares(), graph));
        }
        self.model().build_any(graph.plane())
    }
}

/// Largest bias towards the minimal path that a scenario may set [flits]. Up to this bias, the cost of a path (congestion times hops plus
/// bias) fits into 32 bits.
const MAX_THRESHOLD: i32 = 1 << 30;

/// Converts the key `threshold` of a scenario (the bias) to the integer type in which sensors count flits. Refuses a bias that
/// is too large.
fn threshold(flits: Flits, routing: &str) -> Result<i32, Refusal> {
    i32::try_from(flits.0).ok().filter(|&flits| flits <= MAX_THRESHOLD).ok_or_else(|| {
        let what = format!("{} flits are more than any queue can hold", flits.0);
        Refusal::new(format!("routing.{routing}.threshold"), what, format!("write at most {MAX_THRESHOLD}flits"))
    })
}

/// Returns the number of VC classes of each link class: `classes` for links between routers, and 1 for links of terminals (link class 0).
fn same_classes(graph: &Graph, classes: u8) -> Classes {
    let mut all = vec![classes; graph.class_names().len()];
    all[0] = 1;
    all
}

/// Largest number of VCs on a link. A link cannot have more VC classes than this.
const MAX_CLASSES: u8 = 16;

/// Returns the number of VC classes for a routing in which the VC class of a hop is its index in the path. `longest`: length of the longest
/// path [links]. `path`: the scenario key that a refusal names. Refuses paths with more links than a link can have VC classes.
fn class_per_hop(longest: u32, path: impl Into<String>, help: &str) -> Result<u8, Refusal> {
    match u8::try_from(longest).ok().filter(|&longest| longest <= MAX_CLASSES) {
        Some(longest) => Ok(longest.max(1)),
        None => {
            let what = format!(
                "paths of up to {longest} links need {longest} VC classes, but a link has at most {MAX_CLASSES} VCs"
            );
            Err(Refusal::new(path, what, help))
        }
    }
}

/// Returns the remedy for a routing with name `own` whose paths need too many VC classes. The text names the other routings of this graph
/// for which the number of VC classes does not grow with the length of paths.
fn with_few_classes(graph: &Graph, own: &str) -> String {
    let few = |&(name, about): &(&'static str, About)| about.few_classes && about.routes_graph(graph) && name != own;
    let names: Vec<&str> = RoutingConfig::declared().filter(few).map(|(name, _)| name).collect();
    format!("choose a routing that needs fewer VC classes: {}", names.join(", "))
}

/// Returns the refusal of a graph on which the routing `name` does not work. The refusal names the routings that work on the graph, and the
/// topologies on which this routing works.
fn wrong_graph(name: &str, About { routes, fits, .. }: About, graph: &Graph) -> Refusal {
    let fitting = RoutingConfig::declared().filter(|(_, about)| about.routes_graph(graph));
    let fitting: Vec<&str> = fitting.map(|(name, _)| name).collect();
    if let Some(narrow) = graph.narrowed(fits) {
        let what = format!("{name} is for {routes}, with one link between two routers, but the topology has trunks");
        return Refusal::new(format!("routing.{name}"), what, format!("{narrow}, or choose {}", fitting.join(", ")));
    }
    let routed = TopologyConfig::names_with(fits);
    Refusal::new(
        format!("routing.{name}"),
        format!("{name} is for {routes}, but the topology is {}", graph.topology_name()),
        format!("choose {}, or a topology that suits {name}: {}", fitting.join(", "), routed.join(", ")),
    )
}
