//! The common part of policies in which links change their level according to two thresholds of their utilisation. The two directions of a
//! link change together. A level is the number of members of a trunk that are on, or the width of links.

pub(super) mod end;
pub(super) mod forecast;
pub(super) mod rule;
pub(super) mod units;
