//! Numbers that can be computed for any graph: degrees, distances, bisection, path diversity, what survives failures.

mod bisection;
mod distances;
mod diversity;
mod failures;
mod profile;

pub use bisection::{Bisection, Halves};
pub use diversity::{PathDiversity, PathsAtDistance};
pub use failures::Survived;
pub use profile::{Degrees, DistanceProfile};
