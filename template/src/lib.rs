//! Models for Weft. Registers the models of this crate: each model has its own file, and an `add_model!` line in this file.

mod bow_tie;
mod highest_first;
mod mirror;
mod nap;

pub use bow_tie::BowTie;
pub use highest_first::HighestFirst;
pub use mirror::Mirror;
pub use nap::Nap;

use weft_api::routing::RoutingModel;
use weft_engine::power::PolicyConfig;
use weft_engine::routing::RoutingConfig;
use weft_topology::TopologyConfig;
use weft_traffic::PatternConfig;
use weft_units::add_model;

add_model! { TopologyConfig: "bow_tie" => BowTie }
add_model! { RoutingConfig: "highest_first" => HighestFirst, declares HighestFirst::ABOUT }
add_model! { PatternConfig: "mirror" => Mirror }
add_model! { PolicyConfig: "nap" => Nap, declares Nap::OFFERS }
