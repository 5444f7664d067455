//! Ways to do less for the same result. The loop is complete without them; each of them says when it applies, what it leaves to the
//! loop, and when what it has skipped must be settled. `profile.rs` alone decides which of them a run has.

pub mod fresh;
pub mod idle;
pub mod lone;
mod prefetch;
pub mod profile;
pub mod steady;
pub mod streams;
