//! Readers of graph files. Each makes a [`Draft`], which is then checked and turned into a wiring.

pub(crate) mod anynet;
mod check;
mod draft;
pub(crate) mod graphml;
pub(crate) mod json;
mod parallel;

pub(crate) use check::{Wiring, terminal_counts, terminals_of_routers, wiring};
pub(crate) use draft::{Draft, Problem};
