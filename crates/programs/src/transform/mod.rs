//! Programs made of programs: without collectives, parts of them, on other ranks, several side by side, with other times of computations.

mod cut;
mod lower;
mod place;
mod scale;

pub use cut::{Window, cut};
pub use lower::lower;
pub use place::{Placement, place, tile};
pub use scale::scaled;
