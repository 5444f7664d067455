//! The models of the engine. Each model is one file, and has one line in the registry of its family. A model reads only its arguments,
//! whose types are in `weft-api`. Models do not depend on the cycle loop that calls them.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

pub mod allocation;
pub mod congestion;
pub mod power;
pub mod queueing;
pub mod recording;
pub mod routing;
pub mod workload;
