//! A shortcut for heads that choose in every step: the cycle loop itself compares the credits of their candidates, and does not call the
//! routing in every step.
//!
//! # When it applies
//!
//! The shortcut applies if the routing compares only credits (`Needs::compares_credits_of`), and no links form trunks. The routing returns
//! the candidates once per head, as a mask of output ports. `choose.rs` compares them.
//!
//! # State after the shortcut
//!
//! Nothing has to be settled, because the cycle loop always makes the choice that the routing would make. Debug builds also call the
//! routing and compare the two choices.

use super::Shortcut;
use super::facts::Facts;

/// Marker type for the shortcut that the header of this file describes.
pub struct Candidates;

impl Shortcut for Candidates {
    const SKIPS: &'static str = "calls of the routing for heads that choose in every step";

    fn applies(facts: &Facts) -> bool {
        facts.needs.compares_credits_of.is_some() && !facts.trunks && !facts.classes_apart
    }
}
