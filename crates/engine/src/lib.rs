//! The network engine: state, cycle loop, routings, power policies. The engine does not read or write files, does not read a clock,
//! and never iterates over a map in random order.
//!
//! A [`Spec`] (plain numbers) becomes a network ([`Simulation`]) of blocks. A block advances cycle by cycle (`kernel/src/block.rs`,
//! `Block::step`) and counts integers; [`run`] returns the counts as an [`Outcome`]. ARCHITECTURE.md lists the rooms (folders) of this
//! crate, and which room may use which.

#![cfg_attr(doc, doc = include_str!("../README.md"))]

// derived code refers to this crate by this name, here and in other crates
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

/// Checks that the spec can run: topology and routing are compatible, links have enough VCs, channels do not depend on each other in a
/// cycle, and policy and routing are compatible.
pub fn check(spec: &Spec) -> Result<(), Refusal> {
    network::assemble::net(spec)?;
    spec.check_policy()
}

/// Runs a spec. The result depends only on the spec, not on `how` (threads and blocks).
pub fn run(spec: &Spec, how: spec::Execution, progress: &dyn Progress) -> Result<Outcome, Refusal> {
    finish(spec, Simulation::new(spec, how)?, progress, None)
}

/// Continues a run of the same spec from a checkpoint that was passed to [`Progress::keep`]. The result is the same as that of a run
/// without interruption. The network is divided into the blocks of the checkpoint, even if `how` differs; the threads of `how` share these
/// blocks. Refuses bytes that can't be read as a checkpoint of this spec. The engine checks many of the numbers in the bytes, but not all.
/// Therefore pass only unchanged bytes that this build of the engine has written. `weft run` stores a checksum and an identifier of the
/// build with the bytes. The bytes of the checkpoint are freed as soon as they have been read.
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

/// Runs a spec without warm-up, stops its sources in cycle `stop`, and measures until no packet is left in the network. Refuses a network
/// that is not empty within `limit` cycles after `stop`. Used for tests of models.
///
/// # Panics
/// Panics if the network is empty, but a credit has not returned or a VC is still held.
pub fn run_to_rest(spec: &Spec, how: spec::Execution, stop: Cycles, limit: Cycles) -> Result<Outcome, Refusal> {
    let mut spec = spec.clone();
    (spec.phases.warmup, spec.phases.window) = (0, stop + 2 * limit);
    Simulation::new(&spec, how)?.run_to_rest(&spec, stop, limit)
}

/// Runs the newly assembled network to its end, starting from the checkpoint if there is one.
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
