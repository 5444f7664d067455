//! Links that change their level by two thresholds of their utilisation, both directions together: what the policies of this kind
//! have in common. A level is how many members of a trunk are on, or how wide links are.

pub(super) mod end;
pub(super) mod forecast;
pub(super) mod rule;
pub(super) mod units;
