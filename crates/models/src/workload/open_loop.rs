//! Terminals create packets at random times that do not depend on the network.
//!
//! # Source
//! W. J. Dally, B. Towles, "Principles and Practices of Interconnection Networks", Morgan Kaufmann 2004, section 23.1:
//! open-loop measurement with infinite source queues.
//! # Parameters
//! None. The job has these parameters: pattern and load \[flits/cycle\] of each phase, packet length \[flits\], injection process, batch
//! \[packets\].
//! # Guarantees
//! The creation time and the destination of a packet depend only on the seed and the packet's source terminal. If the network takes packets
//! more slowly than the source creates them, no packet is lost. The source creates each packet only after the previous one has left, but
//! with the creation time that it would have in an infinite queue.
//! # Not modelled
//! Source queues of finite length.
//! # Validation
//! `conformance/src/workload.rs` checks that no packet is lost, and that the number of blocks has no effect on results.
//! `engine/tests/workload.rs` checks that phases, jobs and batches work as specified. `engine/tests/determinism.rs` checks that the random
//! stream of a terminal does not depend on other terminals.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::clocks::{ClockSources, Clocks};
use weft_api::workload::{Awaits, JobSite, JobSources, Place, Workload, WorkloadModel};
use weft_units::{Cycles, Refusal};

/// Terminals create packets at random times that do not depend on the network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenLoop {}

impl WorkloadModel for OpenLoop {
    fn awaits(&self) -> Option<Awaits> {
        None
    }

    fn check(&self, site: &JobSite) -> Result<(), Refusal> {
        Clocks::check(site)
    }

    fn build(&self, site: &JobSite) -> Result<Arc<dyn Workload>, Refusal> {
        Ok(Arc::new(Runtime { clocks: Arc::new(Clocks::new(site, false)?) }))
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

#[derive(Debug)]
struct Runtime {
    clocks: Arc<Clocks>,
}

impl Workload for Runtime {
    fn sources(&self, here: &[Place]) -> JobSources {
        JobSources::Clocks(ClockSources::new(&self.clocks, here))
    }

    fn total(&self) -> Option<u64> {
        self.clocks.total()
    }

    fn is_steady(&self) -> bool {
        self.clocks.is_steady()
    }

    fn dispersion(&self, start: Cycles) -> Option<f64> {
        self.clocks.dispersion(start)
    }
}
