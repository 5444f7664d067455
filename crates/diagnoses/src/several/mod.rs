//! Judgements on several points of a sweep: dark links, loads that contradict each other, comparisons, saturation.

pub mod collapse;
pub mod curve;
pub mod pairs;
pub mod saving;
pub mod windows;
mod words;
