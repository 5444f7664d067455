//! How a collective becomes messages: algorithms, each in a file and a line of the registry, and tables that choose one.

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
