//! Progress of a run whose routing calls Python: the run ends when a call fails.

use super::chooser::Fault;
use super::routing::PythonRouting;
use crate::control::Shared;
use std::sync::Arc;
use weft_engine::Progress;
use weft_engine::routing::RoutingConfig;
use weft_scenario::{Diagnostic, Point};

/// The progress of a run, and the first failed call of Python in the run.
pub struct Watching {
    shared: Arc<Shared>,
    fault: Option<Arc<Fault>>,
}

impl Watching {
    pub fn new(shared: Arc<Shared>, point: &Point) -> Self {
        Self { shared, fault: fault_of(&point.scenario.routing) }
    }

    fn failed(&self) -> bool {
        self.fault.as_ref().is_some_and(|fault| fault.is_set())
    }
}

impl Progress for Watching {
    fn tick(&self, cycle: u64, of: u64) -> bool {
        self.shared.tick(cycle, of) && !self.failed()
    }

    fn wants_checkpoint(&self, now: u64) -> bool {
        !self.failed() && self.shared.wants_checkpoint(now)
    }

    fn keep(&self, checkpoint: Vec<u8>) {
        self.shared.keep(checkpoint);
    }

    fn cores(&self) -> &[usize] {
        self.shared.cores()
    }
}

/// The result of a finished run of a point. If a call of a function has failed, the result is the error of that call.
pub fn outcome<T>(point: &Point, result: Result<T, Diagnostic>) -> Result<T, Diagnostic> {
    match fault_of(&point.scenario.routing).as_ref().and_then(|fault| fault.get()) {
        Some(refusal) => Err(point.refusal(&refusal.path, &refusal.what, &refusal.help)),
        None => result,
    }
}

/// The object in which the routing records the first failed call of Python; `None` for a routing that does not call
/// Python.
fn fault_of(routing: &RoutingConfig) -> Option<Arc<Fault>> {
    let RoutingConfig::Outside(member) = routing else { return None };
    member.any().downcast_ref::<PythonRouting>().map(|routing| routing.fault.clone())
}
