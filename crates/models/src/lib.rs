//! The models of the engine: each is one file, and one line in the registry of its family. Models use only their arguments
//! (`weft-api`); they know nothing of the loop that calls them.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

pub mod allocation;
pub mod congestion;
pub mod power;
pub mod queueing;
pub mod recording;
pub mod routing;
pub mod workload;
