//! Programs from files and generators against known answers.

mod answers;
mod damage;
mod generated;
mod hand_worked;
mod naive;
mod support;
