//! Topologies: models that return plain data, a [`Graph`] of routers, ports and links with its [`Structure`]. No code
//! calls a topology once the graph is built. A routing takes the view of the structure that it needs, and refuses a
//! graph without it.
//!
//! `graph` holds the data, the laws that every graph keeps, and the readers of graph files. `models` has one file per
//! topology. `metrics` computes numbers of any graph: distances, bisection, degrees, path diversity, survivors of failures. `laws` checks what
//! every graph promises.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

mod graph;
pub mod laws;
mod metrics;
mod models;

pub use graph::*;
pub use metrics::{Bisection, Degrees, DistanceProfile, Halves, PathDiversity, PathsAtDistance, Survived};
pub use models::*;
