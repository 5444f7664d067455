//! Diagnoses of finished points: pure functions from the numbers of a summary to flaws, notes and remedies.
//!
//! A summary is read by [`Facts::of`] from anything that is a [`Source`]: JSON here, a dict in the Python module. [`flaws`] decides
//! which flaws it has, [`remedies`] which settings end them, [`numbers`] gives the numbers of each flaw, and [`notes`] decides which
//! sentences are told of it. All
//! sentences are in [`words`], each code of a flaw is in [`kinds`]. Results of earlier versions are judged as well: a number
//! that a summary lacks is unknown.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

pub mod backlog;
pub mod facts;
pub mod flaws;
pub mod format;
pub mod kinds;
pub mod notes;
pub mod numbers;
pub mod phases;
pub mod remedies;
pub mod verdict;
pub mod words;

pub use facts::{Facts, Source};
pub use kinds::{Group, Kind, Mark};
pub use verdict::{Diagnosis, Remedy};
pub use weft_units::codes;
