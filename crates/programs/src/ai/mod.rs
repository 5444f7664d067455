//! The arithmetic of transformer models on many accelerators: numbers of parameters and operations, memory, and the
//! messages between ranks.

pub mod degrees;
pub mod layers;
pub mod model;
pub mod pipeline;

pub use degrees::Degrees;
pub use model::{Accelerator, Experts, Model};
