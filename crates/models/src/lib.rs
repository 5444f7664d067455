//! The models of the engine: one file each, and one line of the registry of their family. They see only their arguments
//! (`weft-api`), and nothing of the loop that calls them.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

pub mod allocation;
pub mod congestion;
pub mod power;
pub mod queueing;
pub mod recording;
pub mod routing;
pub mod workload;
