pub mod assemble;
pub mod faults;
pub mod pairs;
pub mod policy;
pub mod simulation;
pub mod spec;
pub mod whole;
