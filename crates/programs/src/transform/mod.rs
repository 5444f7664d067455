//! Conversions of programs: collectives to messages, a cut to a time window, ranks to other ranks, several copies, scaled
//! computations.

mod cut;
mod lower;
mod place;
mod scale;

pub use cut::{Window, cut};
pub use lower::lower;
pub use place::{Placement, place, tile};
pub use scale::scaled;
