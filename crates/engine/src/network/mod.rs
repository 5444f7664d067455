pub mod assemble;
pub mod dependency;
pub mod faults;
pub mod simulation;
pub mod spec;
