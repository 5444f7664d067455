pub mod barrier;
pub mod bits;
pub mod hash;
pub mod unchecked;
pub mod wheel;
