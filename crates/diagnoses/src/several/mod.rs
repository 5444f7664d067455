//! Judges several points of a sweep together: dark links, contradictions between loads, comparisons, and saturation.

pub mod collapse;
pub mod curve;
pub mod pairs;
pub mod saving;
pub mod windows;
mod words;
