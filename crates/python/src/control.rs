//! Data with which Python observes and controls a run: progress, stop requests, checkpoints and cores. The running engine shares these data
//! with Python, and does not need the GIL (Python's global lock) to access them.

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
    /// The Python function that the engine calls with each checkpoint. If it is `None`, the engine makes no checkpoints.
    keep: Option<Py<PyAny>>,
    /// True if a checkpoint has been requested and not yet made.
    asked: AtomicBool,
    /// Cycles between two automatic checkpoints; 0 if no automatic checkpoints are made.
    every: u64,
    /// The first cycle in which the next automatic checkpoint can be made; 0 before the run has begun.
    next: AtomicU64,
    /// True if the cycle loop skips no idle cycles and uses no other shortcut.
    plain: AtomicBool,
    /// The core to which each thread is pinned; not set if the threads are not pinned.
    cores: OnceLock<Vec<usize>>,
}

impl Shared {
    /// Settings with which the engine executes the run on `threads` threads, with the network divided into `blocks` blocks.
    pub fn execution(&self, threads: usize, blocks: usize) -> Execution {
        let how = Execution::new(threads, blocks);
        if self.plain.load(Relaxed) { how.plain() } else { how }
    }

    /// True if the time between two automatic checkpoints has passed at cycle `now`.
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
            // the function `keep` reports expected errors itself; any other error is a bug in it, so Python prints the traceback
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
    /// Creates the handle. The thread of the run calls `keep` with the bytes of each checkpoint. The run makes checkpoints on request,
    /// after every `every_cycles` cycles if that is above 0, and when it is stopped.
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

    /// The cycle in which the window ends, as far as the run knows it. Packets of the window may be delivered after this cycle.
    #[getter]
    fn cycles(&self) -> u64 {
        self.shared.of.load(Relaxed)
    }

    /// True if the run was asked to stop.
    #[getter]
    fn stopped(&self) -> bool {
        self.shared.stop.load(Relaxed)
    }

    /// True if the run uses no shortcuts. Shortcuts only make a run faster and do not change its results.
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

    /// Requests a checkpoint, which the run makes as soon as it can.
    fn checkpoint(&self) {
        self.shared.asked.store(true, Relaxed);
    }
}
