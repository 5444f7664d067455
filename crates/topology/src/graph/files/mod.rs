//! Readers of graph files. Each reader returns a [`Draft`], which Weft then checks and converts to a wiring.

pub(crate) mod anynet;
pub mod asked;
pub(crate) mod cables;
mod check;
mod draft;
pub(crate) mod foreign;
pub(crate) mod graphml;
mod headings;
mod hosts;
pub(crate) mod json;
mod parallel;
mod sheet;
mod sum;
mod unused;
mod values;

pub(crate) use check::{Wiring, terminal_counts, terminals_of_routers, wiring};
pub(crate) use draft::{Draft, Problem};
pub(crate) use sheet::Asked;
pub(crate) use sum::add_up;
