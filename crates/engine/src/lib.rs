//! The network engine: state, cycle loop, routings, power policies. No input or output, no clock, no random maps.
//!
//! A [`Spec`] (plain numbers) becomes a network ([`run::Simulation`]) of blocks; a block advances cycle by cycle
//! (`block::Block::step`, one screen) and counts integers; [`run`] returns them as an [`Outcome`].

pub mod age;
mod allocate;
pub mod allocator;
mod answers;
mod arrive;
mod assemble;
mod barrier;
mod bits;
mod block;
mod choose;
mod clock;
mod demand;
mod dependency;
pub mod explain;
pub mod faults;
mod hot;
mod imply;
mod jobs;
pub mod journey;
mod measure;
mod meters;
mod net;
pub mod outcome;
mod parts;
pub mod power;
mod report;
pub mod routing;
mod run;
mod send;
mod series;
mod source;
mod spans;
pub mod spec;
mod stall;
mod state;
pub mod steady;
mod subnets;
mod switch;
mod tally;
mod three_stage;
mod turn;
mod vc_stage;
mod warmup;
pub mod watch;
mod wheel;

pub use demand::demand;
pub use explain::{Explanation, explain};
pub use imply::{Implied, imply};
pub use outcome::Outcome;
pub use run::Simulation;
pub use spec::Spec;
use weft_units::Refusal;

/// Told about the progress of a run; can stop it.
pub trait Progress: Sync {
    /// Called now and then with the cycle reached and the cycles expected in all; `false` stops the run.
    fn tick(&self, cycle: u64, of: u64) -> bool;
}

/// No one looks.
impl Progress for () {
    fn tick(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// Checks that the spec can run: shapes, VC counts, cycles of channel dependencies.
pub fn check(spec: &Spec) -> Result<(), Refusal> {
    assemble::net(spec)?;
    spec.policy.build(spec).map(|_| ())
}

/// Runs one spec. The result depends on the spec alone, not on `how`.
pub fn run(spec: &Spec, how: spec::Execution, progress: &dyn Progress) -> Result<Outcome, Refusal> {
    let vcs = spec.links.iter().map(|l| l.vcs).max().unwrap_or(1);
    if spec.graph.radix() <= 64 && vcs <= 8 {
        Ok(Simulation::<1, 8>::new(spec, how)?.run(spec, progress))
    } else {
        Ok(Simulation::<2, 16>::new(spec, how)?.run(spec, progress))
    }
}
