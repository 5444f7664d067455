//! Traffic: decides which terminal sends a packet, to which terminal, and when. In this crate, terminals, coordinates of routers and groups
//! are plain numbers. Therefore the crate does not depend on the code of routers or links.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

mod alias;
mod gaps;
pub mod injection;
pub mod laws;
mod lengths;
pub mod pattern;
mod population;
mod random;

pub use gaps::GapTable;
pub use injection::{InjectionConfig, Process};
pub use lengths::Lengths;
pub use pattern::{Pattern, PatternConfig};
pub use population::Population;
pub use random::{below, mix, stream};
