//! Topologies: models that return plain data, a [`Graph`] of routers, ports and links with its [`Structure`]. No code calls a topology
//! after the graph is built. A routing uses the view of the structure that it needs, and refuses a graph without this view.
//!
//! `graph` contains the data, the laws that every graph obeys, and the readers of graph files. `models` has one file per topology.
//! `metrics` computes numbers of any graph: distances, bisection, degrees, path diversity, survival of failures. `laws` checks the laws
//! of every graph.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

mod graph;
pub mod laws;
mod metrics;
mod models;

pub use graph::*;
pub use metrics::{Bisection, Degrees, DistanceProfile, Halves, PathDiversity, PathsAtDistance, Survived};
pub use models::*;
