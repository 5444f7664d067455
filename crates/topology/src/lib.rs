//! Topologies: models that build a [`Graph`] of routers, ports and links with its [`Structure`]. A graph is plain data, so no code calls
//! the topology model after the graph is built. A routing requests the view of the structure that it needs, and refuses a graph that does
//! not have it.
//!
//! `graph` contains the data, the laws that every graph obeys, and the readers of graph files. `models` has one file per topology.
//! `metrics` computes properties of any graph: distances, bisection, degrees, path diversity, survival of failures. `laws` checks that a
//! graph obeys the laws of every graph.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

mod graph;
pub mod laws;
mod metrics;
mod models;

pub use graph::*;
pub use metrics::{Bisection, Degrees, DistanceProfile, Halves, PathDiversity, PathsAtDistance, Survived};
pub use models::*;
