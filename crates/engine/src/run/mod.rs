pub mod journey;
pub mod measure;
pub mod outcome;
pub mod report;
pub mod series;
pub mod stall;
pub mod steady;
pub mod warmup;
