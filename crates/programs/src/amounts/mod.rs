//! Sizes and rates, written as text with their units.

pub mod bytes;
pub mod per_second;

pub use bytes::{Bytes, in_words};
pub use per_second::{ByteRate, Flops};
