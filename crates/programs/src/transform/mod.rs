//! Programs made of programs: without collectives, parts of them, on other ranks, several side by side.

mod cut;
mod lower;
mod place;

pub use cut::{Window, cut};
pub use lower::lower;
pub use place::{Placement, place, tile};
