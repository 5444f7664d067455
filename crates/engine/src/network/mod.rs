pub mod assemble;
pub mod faults;
pub mod simulation;
pub mod spec;
