//! Progress, stop requests, checkpoints and cores of a run. A running network and Python share these data without the GIL.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use weft_engine::Progress;
use weft_engine::spec::Execution;

/// Data that the running engine shares with Python.
#[derive(Debug, Default)]
pub struct Shared {
    cycle: AtomicU64,
    of: AtomicU64,
    stop: AtomicBool,
    /// A Python function that is called with each checkpoint; without it, no checkpoints are made.
    keep: Option<Py<PyAny>>,
    /// Whether a checkpoint is requested, as soon as one can be made.
    asked: AtomicBool,
    /// Cycles between two automatic checkpoints; 0: there are none.
    every: u64,
    /// The first cycle in which the next automatic checkpoint can be made; 0 before the run has begun.
    next: AtomicU64,
    /// Whether the loop uses no shortcut.
    plain: AtomicBool,
    /// The core to which each thread is pinned, if threads are pinned.
    cores: OnceLock<Vec<usize>>,
}

impl Shared {
    /// Settings for the execution of the run on this number of threads, in this number of blocks.
    pub fn execution(&self, threads: usize, blocks: usize) -> Execution {
        let how = Execution::new(threads, blocks);
        if self.plain.load(Relaxed) { how.plain() } else { how }
    }

    /// Whether it is time for an automatic checkpoint.
    fn is_due(&self, now: u64) -> bool {
        let next = self.next.load(Relaxed);
        if self.every == 0 || (next > 0 && now < next) {
            return false;
        }
        self.next.store(now.saturating_add(self.every), Relaxed);
        next > 0
    }
}

impl Progress for Shared {
    fn tick(&self, cycle: u64, of: u64) -> bool {
        self.cycle.store(cycle, Relaxed);
        self.of.store(of, Relaxed);
        !self.stop.load(Relaxed)
    }

    fn wants_checkpoint(&self, now: u64) -> bool {
        self.keep.is_some() && (self.stop.load(Relaxed) || self.asked.swap(false, Relaxed) || self.is_due(now))
    }

    fn keep(&self, checkpoint: Vec<u8>) {
        let Some(keep) = &self.keep else { return };
        Python::attach(|py| {
            let bytes = PyBytes::new(py, &checkpoint);
            drop(checkpoint);
            // the function reports expected errors itself; any other error is a bug, and is shown as such
            keep.call1(py, (bytes,)).map_or_else(|problem| problem.write_unraisable(py, None), drop);
        });
    }

    fn cores(&self) -> &[usize] {
        self.cores.get().map_or(&[], Vec::as_slice)
    }
}

/// The handle of one run: it reads the progress, stops the run and requests checkpoints.
#[pyclass(frozen, module = "weft._engine")]
pub struct Control {
    pub shared: Arc<Shared>,
}

#[pymethods]
impl Control {
    /// `keep` is called with the bytes of each checkpoint, in the thread of the run. Checkpoints are made on request, after every
    /// `every_cycles` cycles if that is above 0, and when the run is stopped.
    #[new]
    #[pyo3(signature = (keep = None, every_cycles = 0))]
    fn new(keep: Option<Py<PyAny>>, every_cycles: u64) -> Self {
        Self { shared: Arc::new(Shared { keep, every: every_cycles, ..Shared::default() }) }
    }

    /// The cycle that the run has reached; at most `cycles`.
    #[getter]
    fn cycle(&self) -> u64 {
        self.shared.cycle.load(Relaxed)
    }

    /// Number of cycles until the end of the window, as far as known; packets of the window may still be delivered after it.
    #[getter]
    fn cycles(&self) -> u64 {
        self.shared.of.load(Relaxed)
    }

    /// Whether the run was asked to stop.
    #[getter]
    fn stopped(&self) -> bool {
        self.shared.stop.load(Relaxed)
    }

    /// Whether the run uses no shortcuts: its results are the same, but it is slower.
    #[getter]
    fn plain(&self) -> bool {
        self.shared.plain.load(Relaxed)
    }

    #[setter]
    fn set_plain(&self, plain: bool) {
        self.shared.plain.store(plain, Relaxed);
    }

    /// Requests that the run stops when it next reports its progress.
    fn stop(&self) {
        self.shared.stop.store(true, Relaxed);
    }

    /// Pins the threads of the next run to these cores, one thread to each core. A run can be pinned only once.
    fn pin(&self, cores: Vec<usize>) {
        let _ = self.shared.cores.set(cores);
    }

    /// Requests a checkpoint as soon as one can be made.
    fn checkpoint(&self) {
        self.shared.asked.store(true, Relaxed);
    }
}
