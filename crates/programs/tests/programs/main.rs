//! Programs from files and generators against known answers.

mod answers;
mod damage;
mod dumpi;
mod generated;
mod hand_worked;
mod naive;
mod recorded;
mod support;
