//! Candidates of heads that choose in every step: the loop compares their credits itself, instead of calling the
//! routing in every step.
//!
//! # When it applies
//!
//! If the routing compares only credits (`Needs::compares_credits_of`), and no links form trunks. The routing names the
//! candidates once per head, as a mask of ports. The comparison is in `choose.rs`.
//!
//! # What it hands back, and when it is settled
//!
//! The choice that the routing would make. Debug builds also call the routing, and compare.

use super::Shortcut;
use super::facts::Facts;

/// See the head of this file.
pub struct Candidates;

impl Shortcut for Candidates {
    const SKIPS: &'static str = "calls of the routing for heads that choose in every step";

    fn applies(facts: &Facts) -> bool {
        facts.needs.compares_credits_of.is_some() && !facts.trunks && !facts.classes_apart
    }
}
