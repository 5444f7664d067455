//! Programs of messages. Each rank has compute, send, receive and collective operations in a partial order. This crate
//! does not depend on networks or the engine, and does not read a clock or open files.
//!
//! - [`form`]: programs in memory, and how they are built. All other modules read programs through [`form::Cursor`].
//! - [`rank`]: the state machine that runs the operations of a rank. The caller reports to the machine which operations start
//!   and end, and which messages arrive. The machine returns the operations that can start.
//! - [`collectives`]: expands collectives into messages.
//! - [`loggops`]: computes the finish time of a program on an ideal network, by the LogGOPS model.
//! - [`mpi`]: makes programs from the recorded MPI calls of all ranks.
//! - [`readers`]: reads the GOAL formats, and the formats of traces.
//! - [`generators`], [`ai`]: make programs from a few parameters.
//! - [`laws`]: checks rules that every generator and every algorithm of a collective must obey.

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
