//! The loop: a block of routers advances cycle by cycle. It knows the traits of `weft-api`, and no model.
//!
//! Begin with [`cycle`], which has one line for each phase, and [`block`], whose parts the phases read and write.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

pub mod arrive;
pub mod block;
mod broken;
pub mod bundles;
pub mod choose;
pub mod closed_vcs;
pub mod control;
mod credits;
pub mod cycle;
pub mod deliveries;
pub mod depart;
pub mod discards;
pub mod facade;
pub mod face;
pub mod fault_tally;
pub mod faults;
mod ideal;
pub mod job_tally;
mod marks;
pub mod net;
pub mod network_interface;
pub mod numbers;
pub mod pace;
pub mod parts;
pub mod phase_tally;
pub mod posts;
pub mod power;
mod queued;
mod queued_interface;
pub mod recorders;
mod requests;
mod set_aside;
pub mod shortcuts;
pub mod spy;
pub mod switch_allocation;
pub mod tally;
pub mod timers;
pub mod vc_allocation;
pub mod watch;
