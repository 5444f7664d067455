//! The routings. Each is one file, in the folder of the networks that it routes, and one line here.
//!
//! Several of them share code: [`on_grid`], [`on_dragonfly`] and [`on_graph`] find the ports that lead to a
//! destination, [`on_links`] finds ways round links of lines that are off, [`weighted`] has shortest paths where links count differently, [`best`] compares candidates by their credits, [`in_transit`] has what routings share that leave their
//! minimal path at any router and escape into rings, [`two_legs`] joins two paths of
//! any of them, [`bounds`] holds bounds that they give with examples.

weft_units::registry! {
    /// Every routing algorithm the engine can run.
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
    /// Whether it routes this graph.
    pub fn fits(&self, graph: &Graph) -> bool {
        self.declares().routes_graph(graph)
    }

    /// Needs that do not depend on its parameters.
    pub fn about(&self) -> About {
        self.declares()
    }

    /// Its knowledge of links that are off.
    pub fn knowledge_of_links(&self) -> &'static [LinkKnowledge] {
        self.declares().links
    }

    /// Bytes of its tables for this graph, if their size grows faster than the number of ports.
    pub fn table_bytes(&self, graph: &Graph) -> u64 {
        self.model().table_bytes_any(graph.plane())
    }

    /// Whether it computes paths again after each fault.
    pub fn rebuilds(&self) -> bool {
        self.model().rebuilds_any()
    }

    /// The routing for this graph, or for a plane of it; refuses a graph that it can't route.
    pub fn build(&self, graph: &Graph) -> Result<Box<dyn AnyRouting>, Refusal> {
        if !self.fits(graph) {
            return Err(wrong_graph(self.name(), self.declares(), graph));
        }
        self.model().build_any(graph.plane())
    }
}

/// Highest bias, so that congestion times hops plus bias fits into 32 bits.
const MAX_THRESHOLD: i32 = 1 << 30;

/// The bias in the unit of the sensors.
fn threshold(flits: Flits, routing: &str) -> Result<i32, Refusal> {
    i32::try_from(flits.0).ok().filter(|&flits| flits <= MAX_THRESHOLD).ok_or_else(|| {
        let what = format!("{} flits is more than any queue can hold", flits.0);
        Refusal::new(format!("routing.{routing}.threshold"), what, format!("write at most {MAX_THRESHOLD}flits"))
    })
}

/// The same number of VC classes on all links between routers.
fn same_classes(graph: &Graph, classes: u8) -> Classes {
    let mut all = vec![classes; graph.class_names().len()];
    all[0] = 1;
    all
}

/// Most VCs of a link, and so most VC classes.
const MAX_CLASSES: u8 = 16;

/// The VC classes of paths whose class is the hop index. Refuses at `path` paths of more links than there can be classes.
fn class_per_hop(longest: u32, path: impl Into<String>, help: &str) -> Result<u8, Refusal> {
    match u8::try_from(longest).ok().filter(|&longest| longest <= MAX_CLASSES) {
        Some(longest) => Ok(longest.max(1)),
        None => {
            let what = format!(
                "paths of up to {longest} links need {longest} VC classes, and a link has at most {MAX_CLASSES} VCs"
            );
            Err(Refusal::new(path, what, help))
        }
    }
}

/// Words for a remedy: the routings of this graph, except `own`, whose VC classes do not grow with the length of paths.
fn with_few_classes(graph: &Graph, own: &str) -> String {
    let few = |&(name, about): &(&'static str, About)| about.few_classes && about.routes_graph(graph) && name != own;
    let names: Vec<&str> = RoutingConfig::declared().filter(few).map(|(name, _)| name).collect();
    format!("take a routing that needs fewer VC classes: {}", names.join(", "))
}

/// The refusal of a graph that the routing does not route; it names the routings that do, and the topologies that this
/// one routes.
fn wrong_graph(name: &str, About { routes, fits, .. }: About, graph: &Graph) -> Refusal {
    let fitting = RoutingConfig::declared().filter(|(_, about)| about.routes_graph(graph));
    let fitting: Vec<&str> = fitting.map(|(name, _)| name).collect();
    if let Some(narrow) = graph.narrowed(fits) {
        let what = format!("{name} routes {routes}, by one link between two routers, but the topology has trunks");
        return Refusal::new(format!("routing.{name}"), what, format!("{narrow}, or choose {}", fitting.join(", ")));
    }
    let routed = TopologyConfig::names_with(fits);
    Refusal::new(
        format!("routing.{name}"),
        format!("{name} routes {routes}, but the topology is {}", graph.topology_name()),
        format!("choose {}, or a topology of those that {name} routes: {}", fitting.join(", "), routed.join(", ")),
    )
}
