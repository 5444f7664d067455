//! Numbers that can be computed for any graph: degrees, distances, bisection.

mod bisection;
mod distances;
mod profile;

pub use bisection::Bisection;
pub use profile::{Degrees, DistanceProfile};
