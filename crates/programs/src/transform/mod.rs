//! Conversions of programs: without collectives, cut to a time window, on other ranks, several copies, with scaled computations.

mod cut;
mod lower;
mod place;
mod scale;

pub use cut::{Window, cut};
pub use lower::lower;
pub use place::{Placement, place, tile};
pub use scale::scaled;
