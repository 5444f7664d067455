//! What can be computed of every graph: degrees, distances, bisection.

mod bisection;
mod distances;
mod profile;

pub use bisection::Bisection;
pub use profile::{Degrees, DistanceProfile};
