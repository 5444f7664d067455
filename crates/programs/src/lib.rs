//! Programs of messages: each rank has a partial order of compute, send, receive and collective operations. This crate
//! does not depend on networks or the engine, and does not read a clock or open files.
//!
//! - [`form`]: programs in memory, their construction, and [`form::Cursor`], with which all other modules read them.
//! - [`rank`]: the state machine of a rank. The caller reports to it which operations start and end, and which messages arrive. The
//!   machine returns the operations that may start.
//! - [`collectives`]: the expansion of collectives into messages.
//! - [`loggops`]: the finish time of a program on an ideal network, by the LogGOPS model.
//! - [`mpi`]: programs from recorded MPI calls of all ranks.
//! - [`readers`]: the GOAL formats, and the formats of traces.
//! - [`generators`], [`ai`]: programs from a few parameters.
//! - [`laws`]: rules that every generator and every algorithm of a collective obeys.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

pub mod ai;
pub mod amounts;
pub mod collectives;
pub mod face;
pub mod form;
pub mod generators;
pub mod info;
pub mod laws;
pub mod loggops;
pub mod mpi;
pub mod rank;
pub mod readers;
pub mod transform;
