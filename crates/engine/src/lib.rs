//! The network engine: state, cycle loop, routings, power policies. It reads and writes no files, reads no clock, and
//! iterates over no map in random order.
//!
//! A [`Spec`] (plain numbers) becomes a network ([`Simulation`]) of blocks. A block advances cycle by cycle
//! (`pipeline/block.rs`, `Block::step`) and counts integers; [`run`] returns these as an [`Outcome`]. The rooms of this
//! crate, and which may use which, are in ARCHITECTURE.md.

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
pub use api::examples;
pub use explain::demand::demand;
pub use explain::imply::{Implied, Sampled, imply};
pub use explain::paths::{self, Explanation, explain};
pub use models::{allocation, power, recording, routing, workload};
pub use network::memory::{Memory, memory};
pub use network::rebuild::unproven;
pub use network::simulation::Simulation;
pub use network::spec::{self, Spec};
pub use pipeline::watch;
pub use run::measure::Progress;
pub use run::outcome::{self, Outcome};
pub use run::warmup::usual_limit;
pub use run::{journey, steady};
use weft_units::Refusal;

/// Checks that the spec can run: the topology and the routing fit, links have enough VCs, channels do not depend on
/// each other in a cycle, the policy goes with the routing.
pub fn check(spec: &Spec) -> Result<(), Refusal> {
    network::assemble::net(spec)?;
    spec.check_policy()
}

/// Runs a spec. The result depends on the spec alone, not on `how` (threads and blocks).
pub fn run(spec: &Spec, how: spec::Execution, progress: &dyn Progress) -> Result<Outcome, Refusal> {
    if spec.is_narrow() { run_as::<1, 8>(spec, how, progress) } else { run_as::<2, 16>(spec, how, progress) }
}

fn run_as<const W: usize, const V: usize>(
    spec: &Spec,
    how: spec::Execution,
    progress: &dyn Progress,
) -> Result<Outcome, Refusal>
where
    Widths: ForPorts<V>,
{
    let simulation = Simulation::<W, V>::new(spec, how)?;
    let fullest = explain::imply::fullest(spec, &simulation.net);
    let most_hops = simulation.net.routing.most_hops();
    let outcome = Outcome { fullest, ..simulation.run(spec, progress) };
    run::livelock::refuse(spec.routing.name(), most_hops, outcome.longest_path)?;
    Ok(outcome)
}
