//! A shortcut for streams: body flits of a long packet that follow each other through a router, one in each cycle. Only the first flit and
//! the last flit of a stream cause an event.
//!
//! # Runs and streams
//!
//! A *run* is a sequence of body flits that one packet sends on a channel, one in each cycle. Two events cross the channel: one with the
//! first flit, and one in the cycle after the last flit. The credits that return for a run can also form a run. A *stream* forwards the
//! flits of a run from an input to an output, each in the cycle of its arrival. The stream creates a run of flits on the next channel and a
//! run of credits on the channel before it. A terminal can also open a stream, with the body flits of the packet that it sends. If no
//! stream forwards a run, the router receives the flits of the run one by one, as if each had caused an event. A terminal whose interface
//! has queues opens a stream only while a single queue contains packets (`streams/queued.rs`).
//!
//! # When a stream opens, closes and is settled
//!
//! A stream opens (`streams/open.rs`) with an uncontended flit of a run (`uncontended.rs`), if enough flits will follow. The stream closes
//! (`streams/close.rs`) in three cases: another flit requests its output, its credits run out, or its run ends. A run ends before the tail.
//! While a stream is open, no other packet can send from its input, because none has a flit there, and none arrives there while the run
//! occupies the channel. An open stream needs almost no work in a cycle (`streams/cycle.rs`). In each cycle the stream's output spends a
//! credit if none returns, and a terminal counts its remaining flits. Other effects of the flits are settled (recorded later): counts of
//! flits, and the time at which the link is free. Streams are settled when they close, and between two advances of the block.
//!
//! # Why results are the same
//!
//! An uncontended flit crosses the switch in the cycle of its arrival, under every allocator. After each flit of a stream, the round-robin
//! pointers of input and output have the same values as after the previous flit. Therefore a stream has the same effect as its flits would
//! have one by one. Code that could see a difference closes the stream first, in the same cycle. A stream may open and close in any cycle
//! without an effect on results. All code that reads counts gets settled counts. `profile.rs` does not allow streams in three cases: with
//! agents that are notified of flits, with a board, and if uncontended flits do not bypass the allocator. Agents that read or change a
//! channel get the same counts as without a stream (`unsettled`, `settle_channel`). Before agents close a channel or send a control packet
//! on it, the cycle loop closes its stream. Credits need no settling, because the buffer at the far end of a channel is not empty while the
//! channel carries a flit in each cycle.

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

/// Marker type for the shortcut that the header of this file describes.
pub struct OfBodyFlits;

impl Shortcut for OfBodyFlits {
    const SKIPS: &'static str = "events and departures of body flits that follow each other";
    const NEEDS: Option<Kind> = Some(Kind::Uncontended);

    /// True under three conditions. No model reads counts of flits between two advances. Heads wait only for the credit that lets a packet
    /// enter a buffer. Packets are long enough for streams to save time.
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
