//! Streams: body flits of long packets that follow each other through a router, one in each cycle, are moved by what changes and
//! not one by one.
//!
//! # Runs and streams
//!
//! A *run* is what a channel carries while one packet sends a body flit on it in each cycle. Two events go over the channel: one
//! with the first flit, and one in the cycle after the last. The same holds for credits. A *stream* takes the flits of a run from an
//! input to an output in the cycle in which they come, makes a run of them on the next channel, and a run of the credits that it
//! gives back. A terminal opens a stream with the body flits of its packet. Where no stream takes the flits of a run they are
//! received one by one, as if each had come as an event of its own. A terminal whose interface has queues opens a stream only while a
//! single queue holds packets (`streams/queued.rs`).
//!
//! # When a stream opens, closes and is settled
//!
//! A stream opens (`streams/open.rs`) with an uncontended flit of a run (`uncontended.rs`), if enough flits are to come.
//! It closes (`streams/close.rs`) when anybody else asks for its output, when its credits run out, or with its run, which is over
//! before the tail comes. Nobody else can ask for its input: what else waits there has no flit, and gets none while the run has the
//! channel. While a stream is open nothing is done for it in a cycle (`streams/cycle.rs`), but that its output spends credits as long
//! as none come back, and that a terminal counts what it has left. What the flits have changed otherwise (counts of flits, when the
//! link is free) is settled when the stream closes, and between two advances.
//!
//! # Why results are the same
//!
//! An uncontended flit crosses in the cycle in which it comes, whatever the allocator, and input and output take turns as after the
//! flit before. So a stream does what its flits would do one by one, and whoever might see a difference closes it first, in the same
//! cycle. It may open and close at any time. No reader sees counts that are not settled. `profile.rs` allows no streams beside agents that
//! get events of flits, nor with a board, nor where uncontended flits do not bypass the allocator. Agents that read or change a channel find
//! its counts as without a stream (`unsettled`, `settle_channel`).
//! Before they close it, or send a control packet on it, its stream is closed. Credits need not be settled: the far end of a channel
//! that carries a flit in each cycle is not empty.

mod close;
mod cycle;
mod open;
mod queued;

use super::Shortcut;
use super::facts::Facts;
use crate::block::Block;
use crate::net::Net;
use crate::parts::profile::Kind;
pub use crate::parts::streams::*;
use weft_api::agents::Probes;

/// See the head of this file.
pub struct OfBodyFlits;

impl Shortcut for OfBodyFlits {
    const SKIPS: &'static str = "events and departures of body flits that follow each other";
    const NEEDS: Option<Kind> = Some(Kind::Uncontended);

    /// Nobody reads counts of flits between two advances, no head waits for any credit but the one that lets a packet in, and packets
    /// are so long that this pays.
    fn applies(facts: &Facts) -> bool {
        let nobody_looks = !facts.chooses() && facts.needs.ring_entries.is_empty() && facts.needs.posts.is_none();
        nobody_looks && facts.longest >= LONG_PACKET && facts.outputs <= MAX_OUTPUTS
    }

    fn goes_beside(probes: Probes) -> bool {
        !probes.arrivals && !probes.departures
    }

    /// Counts the flits of all streams before this cycle.
    fn settle<const W: usize, const V: usize>(block: &mut Block<W, V>, net: &Net) {
        block.reach.routers.settle_streams(net);
    }
}
