//! Calls a Python routing function that reads queues, from the cycle loop of the engine.

use super::function::refusal;
use super::routing::PATH;
use pyo3::prelude::*;
use std::sync::OnceLock;
use weft_api::routing::Hop;
use weft_api::state::Packet;
use weft_units::Refusal;

/// A Python object of the class `weft.scenario.python_routes.Chooser`.
#[derive(Debug)]
pub struct Chooser(Py<PyAny>);

impl Chooser {
    pub fn new(chooser: Py<PyAny>) -> Self {
        Self(chooser)
    }

    /// Calls the function for a packet at a router, and returns the hops of least cost. `queues`: the length of the queue at each port
    /// \[flits\]. Only one thread calls Python at a time.
    pub fn choose(&self, router: u32, queues: Vec<i32>, packet: &Packet) -> Result<Vec<Hop>, Refusal> {
        let vc = packet.lane.checked_sub(1);
        Python::attach(|py| {
            let named = (packet.src, packet.seq, packet.dst);
            let best = self.0.call_method1(py, "choose", (router, packet.dest, vc, queues, named));
            let best = best.and_then(|best| best.extract::<Vec<(u16, u8)>>(py));
            best.map_err(|problem| refusal(py, &problem, PATH))
        })
        .map(|best| best.into_iter().map(|(port, class)| Hop { port, class }).collect())
    }
}

/// The error of the first failed call of the function. The run ends with this error.
#[derive(Debug, Default)]
pub struct Fault(OnceLock<Refusal>);

impl Fault {
    pub fn is_set(&self) -> bool {
        self.0.get().is_some()
    }

    pub fn set(&self, refusal: Refusal) {
        // if several threads fail, the first refusal is kept
        let _ = self.0.set(refusal);
    }

    pub fn get(&self) -> Option<&Refusal> {
        self.0.get()
    }
}
