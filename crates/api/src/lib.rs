//! Data that models receive, and the traits of their families. Two folders contain lower layers: `state` has the state of a network, and
//! `base` has code that is independent of networks. To add a model, a crate outside this repository needs only this crate, and none of the
//! engine's other crates.
//!
//! Each file here covers one subject: `routing`, `policy`, `allocation`, `workload` and `recording` contain the traits of the families. The
//! other files contain the types that these traits use. `weft-kernel`, the crate with the simulation loop, uses these traits, but no
//! specific model.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

// derive macros write `weft_api::...`, so this crate needs its own name as a path
extern crate self as weft_api;

pub mod base;
pub mod state;

pub mod activity;
pub mod age;
pub mod agents;
pub mod allocation;
pub mod board;
pub mod candidates;
pub mod classes;
pub mod clocks;
pub mod common;
pub mod compiled;
pub mod congestion;
pub mod control;
pub mod coordinates;
pub mod examples;
pub mod in_classes;
pub mod links_up;
pub mod policy;
pub mod queueing;
pub mod recording;
pub mod refined;
pub mod routing;
pub mod sensor;
pub mod spec;
pub mod subnetworks;
pub mod switch;
pub mod switch_step;
pub mod switching;
pub mod view;
pub mod walk;
pub mod widths;
pub mod workload;
