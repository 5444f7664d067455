//! Diagnoses of finished points: pure functions from the numbers of a summary to flaws, notes and remedies.
//!
//! [`Facts::of`] reads a summary from a [`Source`]. A source is JSON in this crate, and a dict in the Python module.
//!
//! [`flaws`] decides the flaws of the summary. [`remedies`] gives the settings that remove the flaws. [`numbers`] gives the numbers of
//! each flaw.
//!
//! [`jobs`] judges the jobs of a point, and [`several`] judges several points of a sweep together.
//!
//! [`notes`] decides which sentences are printed below a table. [`words`] has the text of all sentences, and [`kinds`] the code of each
//! flaw. Results of earlier versions are judged as well: a number that is missing from a summary counts as unknown.

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
pub mod words;

pub use facts::{Facts, Source};
pub use kinds::{Group, Kind, Mark};
pub use verdict::{Diagnosis, Remedy};
pub use weft_units::codes;
