//! Candidates of heads that choose in every step: the loop itself compares their credits, instead of calling the routing in every step.
//!
//! # When it applies
//!
//! The shortcut applies if the routing compares only credits (`Needs::compares_credits_of`), and no links form trunks. The routing
//! returns the candidates once per head, as a mask of ports. The comparison is in `choose.rs`.
//!
//! # What it hands back, and when it is settled
//!
//! The result is the choice that the routing would make. Debug builds also call the routing, and compare.

use super::Shortcut;
use super::facts::Facts;

/// The shortcut described in the header of this file.
pub struct Candidates;

impl Shortcut for Candidates {
    const SKIPS: &'static str = "calls of the routing for heads that choose in every step";

    fn applies(facts: &Facts) -> bool {
        facts.needs.compares_credits_of.is_some() && !facts.trunks && !facts.classes_apart
    }
}
