pub mod arrays;
pub mod barrier;
pub mod bits;
pub mod cores;
pub mod hash;
pub mod kept;
pub mod unchecked;
pub mod wheel;
