//! Tests that compare programs from files and generators with known results.

mod answers;
mod applications;
mod capture;
mod chakra;
mod damage;
mod dumpi;
mod fuzz;
mod generated;
mod hand_worked;
mod laws;
mod liballprof;
mod naive;
mod recorded;
mod support;
mod vef;
