//! Diagnoses of finished points. Pure functions turn the numbers of a summary into flaws, notes and remedies.
//!
//! [`Facts::of`] reads the summary of a point from a [`Source`]. A source is JSON in this crate, and a dict in the
//! Python module.
//!
//! [`flaws`] decides which flaws a point has. [`remedies`] computes the settings that remove them. `window_faults` keeps
//! faults in the window. [`numbers`] returns the numbers of each flaw.
//!
//! [`jobs`] judges the jobs of a point separately, and [`several`] judges several points of a sweep together.
//!
//! [`notes`] decides which sentences are printed below a table. [`words`] has the text of all sentences, and [`kinds`] declares the code of
//! each flaw. The functions also judge results of earlier versions: a number that a summary lacks counts as unknown.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

pub mod backlog;
pub mod facts;
pub mod flaws;
pub mod format;
pub mod jobs;
pub mod kinds;
pub mod notes;
pub mod numbers;
pub mod phases;
pub mod remedies;
pub mod several;
pub mod verdict;
mod window_faults;
pub mod words;

pub use facts::{Facts, Source};
pub use kinds::{Group, Kind, Mark};
pub use verdict::{Diagnosis, Remedy};
pub use weft_units::codes;
