//! Shortcuts: less work for the same result. The loop works completely without them. `profile.rs` lists them, and is the only file that
//! decides which of them a run uses.

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
/// The loop calls each shortcut in a different way, so the trait has only the functions that all shortcuts share.
pub trait Shortcut {
    /// Description of the work that the shortcut skips.
    const SKIPS: &'static str;
    /// Another shortcut that this shortcut requires.
    const NEEDS: Option<Kind> = None;

    /// True if a run with these properties has the same results with the shortcut and is faster.
    fn applies(facts: &Facts) -> bool;

    /// True if the shortcut also applies in a block whose agents are notified of these events.
    fn goes_beside(_probes: Probes) -> bool {
        true
    }

    /// Adds the skipped work to the records of a block, which then equal those of the plain loop. This function is called before any code
    /// outside of the loop reads the records. It does nothing for shortcuts whose records are always equal.
    fn settle<const W: usize, const V: usize>(_block: &mut Block<W, V>, _net: &Net) {}
}
