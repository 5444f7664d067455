//! The network engine: state, cycle loop, routings, power policies. No input or output, no clock, no random maps.
//!
//! A [`Spec`] (plain numbers) becomes a network ([`run::Simulation`]) of blocks; a block advances cycle by cycle
//! (`block::Block::step`, one screen) and counts integers; [`run`] returns them as an [`Outcome`].

mod api;
mod base;
mod explain;
mod models;
mod network;
mod pipeline;
mod run;
mod state;

pub use api::age;
pub use api::compiled::{ForPorts, Widths};
pub use explain::demand::demand;
pub use explain::imply::{Implied, imply};
pub use explain::paths::{self, Explanation, explain};
pub use models::{allocation, power, routing};
pub use network::simulation::Simulation;
pub use network::spec::{self, Spec};
pub use pipeline::watch;
pub use run::outcome::{self, Outcome};
pub use run::{journey, steady};
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
    network::assemble::net(spec)?;
    network::policy::build(spec).map(|_| ())
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
