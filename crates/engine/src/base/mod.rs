pub mod barrier;
pub mod bits;
pub mod unchecked;
pub mod wheel;
