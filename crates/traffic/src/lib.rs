//! Who sends what to whom, and when. Knows terminals, router coordinates and groups as plain numbers, not routers or
//! links.

mod alias;
mod gaps;
pub mod injection;
pub mod pattern;
mod population;
mod random;

pub use gaps::GapTable;
pub use injection::{InjectionConfig, Process};
pub use pattern::{Pattern, PatternConfig};
pub use population::Population;
pub use random::{below, mix, stream};
