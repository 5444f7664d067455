//! The network engine: it assembles and simulates the network of a spec. The engine does not read or write files, reads no clock, and never
//! iterates over a map in random order.
//!
//! The engine turns a [`Spec`] (plain numbers) into a network of blocks ([`Simulation`]). Each block simulates cycle by cycle
//! (`kernel/src/block.rs`, `Block::step`) and counts integers; [`run`] returns these counts as an [`Outcome`]. ARCHITECTURE.md lists the
//! rooms (folders of `src`) of this crate, and states which room may import from which.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

// this crate under its own name, for code that refers to it by name
extern crate self as weft_engine;

mod explain;
mod network;
mod run;

pub use explain::demand::demand;
pub use explain::imply::{BoundOf, BrokenLinks, Implied, Sampled, imply};
pub use explain::paths::{self, Explanation, explain};
pub use network::classes::Protocol;
pub use network::congestion::{Marking, marking};
pub use network::lanes::{LaneCounts, lanes};
pub use network::memory::{Memory, memory};
pub use network::rebuild::{Rebuilds, after_faults, rebuilds, unproven};
pub use network::scaling;
pub use network::simulation::Simulation;
pub use network::spec::{self, Spec};
use run::course::Bytes;
pub use run::measure::{Progress, drain_cycles};
pub use run::outcome::{self, Outcome};
pub use run::warmup::usual_limit;
pub use run::{journey, steady};
pub use weft_api::age;
pub use weft_api::base::kept;
pub use weft_api::classes;
pub use weft_api::examples;
pub use weft_kernel::face::widths::{Width, compiler};
pub use weft_kernel::parts::watch;
pub use weft_models::{allocation, congestion, power, queueing, recording, routing, workload};
use weft_units::{Cycles, Refusal};

/// Checks that the spec can run: topology, routing and policy are compatible, links have enough VCs, and channels do not depend on each
/// other in a cycle.
pub fn check(spec: &Spec) -> Result<(), Refusal> {
    network::assemble::net(spec)?;
    spec.check_policy()
}

/// Runs a spec. The result depends only on the spec, not on `how` (the numbers of threads and blocks).
pub fn run(spec: &Spec, how: spec::Execution, progress: &dyn Progress) -> Result<Outcome, Refusal> {
    finish(spec, Simulation::new(spec, how)?, progress, None)
}

/// Continues a run of the same spec from a checkpoint that [`Progress::keep`] has received. The result is the same as that of an
/// uninterrupted run. The network has the blocks of the checkpoint, even if `how` requests another number of blocks. The threads of `how`
/// share these blocks. The function refuses bytes that it cannot read as a checkpoint of this spec. The function checks many of the numbers
/// in the bytes, but not all. Therefore callers must pass only unchanged bytes that this build of the engine has written. To check this,
/// `weft run` stores a checksum and an identifier of the build with the bytes. The function frees the bytes as soon as it has read them.
pub fn resume<'a>(
    spec: &Spec,
    how: spec::Execution,
    progress: &dyn Progress,
    checkpoint: impl AsRef<[u8]> + 'a,
) -> Result<Outcome, Refusal> {
    let division = run::course::division_of(checkpoint.as_ref(), &spec.graph)?;
    let simulation = Simulation::divided(spec, how, division)?;
    finish(spec, simulation, progress, Some(Box::new(checkpoint)))
}

/// Runs a spec without warm-up, stops its sources in cycle `stop`, and measures until the network has no packets left. The function refuses
/// a network that is not empty within `limit` cycles after `stop`. Tests of models use this function.
///
/// # Panics
/// Panics if the network is empty, but a credit has not returned or a packet still holds a VC.
pub fn run_to_rest(spec: &Spec, how: spec::Execution, stop: Cycles, limit: Cycles) -> Result<Outcome, Refusal> {
    let mut spec = spec.clone();
    (spec.phases.warmup, spec.phases.window) = (0, stop + 2 * limit);
    Simulation::new(&spec, how)?.run_to_rest(&spec, stop, limit)
}

/// Runs the newly assembled network to the end of the run, from the checkpoint if there is one.
fn finish(
    spec: &Spec,
    mut simulation: Simulation,
    progress: &dyn Progress,
    checkpoint: Option<Bytes<'_>>,
) -> Result<Outcome, Refusal> {
    let _pinned = simulation.pin(progress.cores())?;
    let fullest = explain::imply::fullest(spec, &simulation.net);
    let most_hops = simulation.net.routing.most_hops();
    let outcome = match checkpoint {
        Some(checkpoint) => simulation.resume(spec, progress, checkpoint)?,
        None => simulation.run(spec, progress),
    };
    let outcome = Outcome { fullest, ..outcome };
    run::livelock::refuse(spec.routing.name(), most_hops, outcome.longest_path)?;
    Ok(outcome)
}
