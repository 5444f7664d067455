mod by_fault;
pub mod by_phase;
mod channel_uses;
pub mod course;
pub mod journey;
pub mod judge;
pub mod livelock;
pub mod marks;
pub mod measure;
pub mod outcome;
pub mod report;
mod rest;
mod short_spans;
pub mod stall;
pub mod steady;
pub mod warmup;

#[cfg(test)]
mod tests;
