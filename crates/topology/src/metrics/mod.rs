//! Properties of any graph: degrees, distances, bisection, path diversity, survival of failures.

mod bisection;
mod distances;
mod diversity;
mod failures;
mod profile;

pub use bisection::{Bisection, Halves};
pub use diversity::{PathDiversity, PathsAtDistance};
pub use failures::Survived;
pub use profile::{Degrees, DistanceProfile};
