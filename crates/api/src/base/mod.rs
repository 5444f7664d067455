pub mod barrier;
pub mod bits;
pub mod cores;
pub mod hash;
pub mod kept;
pub mod prefetch;
pub mod unchecked;
pub mod wheel;
