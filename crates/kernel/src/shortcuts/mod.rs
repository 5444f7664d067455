//! Shortcuts: less work for the same result. The loop is complete without them. `profile.rs` lists them, and alone
//! decides which of them a run has.

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

/// A shortcut: less work for the same result.
///
/// The loop calls each shortcut in a different way, so the trait has only the common questions.
pub trait Shortcut {
    /// The work that the shortcut skips.
    const SKIPS: &'static str;
    /// Another shortcut that it requires.
    const NEEDS: Option<Kind> = None;

    /// Whether a run with these properties has the same results with the shortcut and is faster.
    fn applies(facts: &Facts) -> bool;

    /// Whether the shortcut also applies in a block whose agents are notified of these events.
    fn goes_beside(_probes: Probes) -> bool {
        true
    }

    /// Enters the skipped work into the records of a block, which then equal those of the plain loop. Called before any
    /// code outside of the loop reads them. Does nothing for shortcuts whose records are always equal.
    fn settle<const W: usize, const V: usize>(_block: &mut Block<W, V>, _net: &Net) {}
}
