//! The cycle loop of Weft, which advances a block of routers cycle by cycle. The loop uses the traits of `weft-api`, and does not depend on
//! any model.
//!
//! Start reading with `cycle.rs`, which has one line for each phase, and [`block`], which defines the data that the phases read and write.
//! The loop uses the indices in these data without a check, so the other crates read and write the data only through [`face`].

#![cfg_attr(doc, doc = include_str!("../README.md"))]

mod arrive;
pub mod block;
mod broken;
pub mod bundles;
mod choose;
mod closed_vcs;
mod control;
mod credits;
mod cycle;
mod deliveries;
mod depart;
mod discards;
mod facade;
pub mod face;
pub mod fault_tally;
mod faults;
mod ideal;
pub mod job_tally;
mod marks;
pub mod net;
mod network_interface;
mod numbers;
mod pace;
pub mod parts;
mod phase_tally;
mod posts;
mod power;
mod queued;
mod queued_interface;
pub mod recorders;
mod requests;
mod set_aside;
mod set_aside_paths;
pub mod shortcuts;
pub mod spy;
mod switch_allocation;
pub mod tally;
mod timers;
mod vc_allocation;
mod watch;
