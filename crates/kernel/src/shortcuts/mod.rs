//! Shortcuts of the cycle loop: each skips work and gives the same result. The cycle loop also works without any shortcut. `profile.rs`
//! lists the shortcuts, and is the only file that decides which of them a run uses.

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

/// The trait of the shortcuts of the cycle loop. A shortcut skips work and gives the same result.
///
/// The cycle loop calls each shortcut in a different way, so the trait has only the functions that all shortcuts share.
pub trait Shortcut {
    /// Description of the work that the shortcut skips.
    const SKIPS: &'static str;
    /// Another shortcut without which this shortcut cannot be used.
    const NEEDS: Option<Kind> = None;

    /// True if the shortcut leaves the results of a run with these properties unchanged and makes the run faster.
    fn applies(facts: &Facts) -> bool;

    /// True if the shortcut is also correct in a block whose agents are notified of the events `_probes`.
    fn goes_beside(_probes: Probes) -> bool {
        true
    }

    /// Adds the skipped work to the records of a block, so that the records equal those of the plain loop. Called before code outside of
    /// the cycle loop reads the records. By default does nothing, for shortcuts under which the records equal those of the plain loop in
    /// every cycle.
    fn settle<const W: usize, const V: usize>(_block: &mut Block<W, V>, _net: &Net) {}
}
