//! Streams: body flits of a long packet that follow each other through a router, one in each cycle. Only the first flit and the last flit
//! cause an event.
//!
//! # Runs and streams
//!
//! A *run* is a sequence of body flits that one packet sends on a channel, one in each cycle. Two events cross the channel: one with the
//! first flit, and one in the cycle after the last flit. Credits can also form runs. A *stream* forwards the flits of a run from an input
//! to an output in the cycle of their arrival. The stream creates a run of flits on the next channel, and a run of the returned credits.
//! A terminal opens a stream with the body flits of its packet. If no stream takes the flits of a run, they are received one by one, as
//! if each flit had caused a separate event. A terminal whose interface has queues opens a stream only while a single queue contains
//! packets (`streams/queued.rs`).
//!
//! # When a stream opens, closes and is settled
//!
//! A stream opens (`streams/open.rs`) with an uncontended flit of a run (`uncontended.rs`), if enough flits will follow. The stream
//! closes (`streams/close.rs`) when another flit requests its output, when its credits run out, or when its run ends, which is before the
//! tail. No other packet at its input can send: it has no flit there, and receives none while the run occupies the channel. An open
//! stream needs almost no work in a cycle (`streams/cycle.rs`). The output of the stream spends credits as long as none return, and a
//! terminal counts its remaining flits. The other effects of the flits are settled when the stream closes, and between two advances:
//! counts of flits, and the time at which the link is free.
//!
//! # Why results are the same
//!
//! Under every allocator an uncontended flit crosses in the cycle of its arrival. The round-robin pointers of input and output move as
//! after the previous flit. Therefore a stream has the same effect as its single flits. Code that could detect a difference closes the
//! stream first, in the same cycle. A stream may open and close at any time. No reader gets counts that are not settled. `profile.rs`
//! does not allow streams together with agents that are notified of flits, with a board, or if uncontended flits do not bypass the
//! allocator. Agents that read or change a channel find the same counts as without a stream (`unsettled`, `settle_channel`). Before they
//! close the channel, or send a control packet on it, its stream is closed. Credits need not be settled: the buffer at the far end of a
//! channel that carries a flit in each cycle is not empty.

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

/// The shortcut described in the header of this file.
pub struct OfBodyFlits;

impl Shortcut for OfBodyFlits {
    const SKIPS: &'static str = "events and departures of body flits that follow each other";
    const NEEDS: Option<Kind> = Some(Kind::Uncontended);

    /// Streams are allowed under three conditions. No model reads counts of flits between two advances. Heads wait only for the credit
    /// that admits a packet. Packets are long enough for streams to save time.
    fn applies(facts: &Facts) -> bool {
        let nobody_looks = !facts.chooses() && facts.needs.ring_entries.is_empty() && facts.needs.posts.is_none();
        nobody_looks && facts.longest >= LONG_PACKET && facts.outputs <= MAX_OUTPUTS
    }

    fn goes_beside(probes: Probes) -> bool {
        !probes.arrivals && !probes.departures
    }

    /// Counts the flits that all streams have moved before this cycle.
    fn settle<const W: usize, const V: usize>(block: &mut Block<W, V>, net: &Net) {
        block.reach.routers.settle_streams(net);
    }
}
