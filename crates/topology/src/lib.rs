//! Topologies: models that return plain data, a [`Graph`] of routers, ports and links with its [`Structure`].
//! Nothing is dispatched after construction; a routing takes the view of the structure that it needs, or refuses.
//!
//! `graph` holds the data, its laws and the readers of graph files; `models` one file per topology; `metrics` what can
//! be computed of every graph.

mod graph;
mod metrics;
mod models;

pub use graph::*;
pub use metrics::{Bisection, Degrees, DistanceProfile};
pub use models::*;
