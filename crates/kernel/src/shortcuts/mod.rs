//! Ways to do less for the same result. The loop is complete without them. `profile.rs` lists them, and alone decides which of them a
//! run has.

mod candidates;
pub mod facts;
mod idle;
pub(crate) mod prefetch;
pub mod profile;
mod state;
pub mod steady;
pub mod streams;
mod uncontended;

use crate::block::Block;
use crate::net::Net;
use crate::parts::profile::Kind;
use facts::Facts;
pub use state::Shortcuts;
use weft_api::agents::Probes;

/// A way to do less for the same result.
///
/// Each shortcut is called by the loop in a way of its own, so the trait has only the questions that are common to all.
pub trait Shortcut {
    /// The work that it leaves out.
    const SKIPS: &'static str;
    /// Another shortcut, without which it does not work.
    const NEEDS: Option<Kind> = None;

    /// Whether a run of these facts has the same results with it, and whether it pays.
    fn applies(facts: &Facts) -> bool;

    /// Whether it also applies in a block whose agents are told of these events.
    fn goes_beside(_probes: Probes) -> bool {
        true
    }

    /// Enters what it has skipped into the records of a block, which are then those of the plain loop. Called before anybody but the
    /// loop reads them. Does nothing for shortcuts that always leave these records.
    fn settle<const W: usize, const V: usize>(_block: &mut Block<W, V>, _net: &Net) {}
}
