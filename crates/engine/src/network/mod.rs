pub mod assemble;
pub mod dependency;
pub mod faults;
pub mod pairs;
pub mod policy;
pub mod simulation;
pub mod spec;
pub mod whole;
