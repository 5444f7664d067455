//! Expands collectives into messages. Each algorithm is a file and a line of the registry. A table chooses an
//! algorithm for each call.

mod call;
mod rules;
mod shared;
mod steps;
mod tree;

pub mod algorithms;
pub mod tables;

pub use algorithms::{AlgorithmConfig, Expands};
pub use call::{Call, Piece, part};
pub use rules::{Rules, RulesConfig, operation};
pub use steps::{Into, Steps};
pub(crate) use steps::{Watched, numbered};
pub use tables::{Chooses, TableConfig};
