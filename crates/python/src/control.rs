//! The progress of a run, and a request to stop it: a running network and Python share them without the GIL.

use pyo3::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use weft_engine::Progress;

/// What the running engine writes and reads.
#[derive(Debug, Default)]
pub struct Shared {
    cycle: AtomicU64,
    of: AtomicU64,
    stop: AtomicBool,
}

impl Progress for Shared {
    fn tick(&self, cycle: u64, of: u64) -> bool {
        self.cycle.store(cycle, Relaxed);
        self.of.store(of, Relaxed);
        !self.stop.load(Relaxed)
    }
}

/// The handle of one run: read how far it is, ask it to stop.
#[pyclass(frozen, module = "weft._engine")]
pub struct Control {
    pub shared: Arc<Shared>,
}

#[pymethods]
impl Control {
    #[new]
    fn new() -> Self {
        Self { shared: Arc::default() }
    }

    /// The cycle reached; at most `cycles`.
    #[getter]
    fn cycle(&self) -> u64 {
        self.shared.cycle.load(Relaxed)
    }

    /// Cycles until the end of the window, as far as it is known: packets of the window are delivered after it.
    #[getter]
    fn cycles(&self) -> u64 {
        self.shared.of.load(Relaxed)
    }

    /// Whether the run was asked to stop.
    #[getter]
    fn stopped(&self) -> bool {
        self.shared.stop.load(Relaxed)
    }

    /// Asks the run to stop the next time that it reports its progress.
    fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
    }
}
