//! The common part of the policies `trunk` and `width`, in which links change their level when their utilisation crosses one of two
//! thresholds. The two directions of a link change together. A level is the number of members of a trunk that are on, or the width of
//! links.

pub(super) mod end;
pub(super) mod forecast;
pub(super) mod rule;
pub(super) mod units;
