//! The Python classes for a point of a sweep and for its result.

use crate::control::Control;
use crate::design::Design;
use crate::functions::{Watching, outcome};
use crate::{errors, value};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict};
use std::path::PathBuf;
use std::sync::Arc;
use weft_engine::spec::{Execution, Watched};

// `weft.runs.overload` makes this warning from the numbers of `Point.imply`.
weft_units::codes! {
    LOAD_ABOVE_BOUND = "load_above_bound", Warning,
        means: "The network can't carry the load that its terminals send at the start of the run.",
        computed: "The load is above the channel-load bound, and the routing can't avoid the fullest channel by detours. Or some \
                   destinations get more flits per cycle than they can accept. If points differ only in loads, Weft judges \
                   the lowest of their loads.",
        helps: "Write lower loads, unless you study a saturated network.";
}

/// A point of a sweep: the values that the sweep set, the scenario with all defaults filled in, and the hash of this scenario.
#[pyclass(frozen, module = "weft._engine")]
pub struct Point {
    inner: Arc<weft_scenario::Point>,
}

impl Point {
    pub fn new(inner: weft_scenario::Point) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

#[pymethods]
impl Point {
    /// Values that the sweep set for this point, by dotted path.
    #[getter]
    fn coordinates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for (path, set) in &self.inner.coordinates {
            dict.set_item(path, value::to_python(py, set)?)?;
        }
        Ok(dict)
    }

    /// Hash that identifies the results of the point. The hash covers the resolved scenario and the version of the result model.
    #[getter]
    fn hash(&self) -> &str {
        &self.inner.hash
    }

    /// The resolved scenario, which contains the value of every key.
    #[getter]
    fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.inner.resolved)
    }

    /// The resolved scenario as YAML, in the form that Weft saves with the results.
    fn resolved_yaml(&self) -> String {
        self.inner.resolved_yaml()
    }

    /// The contents of the files that the scenario names; the keys are file names without folder.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for input in &self.inner.inputs {
            dict.set_item(input.name(), PyBytes::new(py, input.bytes()))?;
        }
        Ok(dict)
    }

    /// Makes the checks that `expand` does not make. The routing must be compatible with the network and the policy, links must have enough
    /// VCs, and channels must not depend on each other in a cycle.
    fn check_network(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.check_network()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// The last cycle in which a link or router fails or returns, and the cycle from which all routers use the tables for this change.
    /// `None` unless the routing computes new tables after each fault, and these tables have a path for every pair of terminals.
    fn rebuilds(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let rebuilds = py.detach(|| self.inner.rebuilds()).map_err(|problem| errors::scenario_error(py, problem))?;
        Ok(rebuilds.map(|rebuilds| (rebuilds.last_change, rebuilds.last_tables)))
    }

    /// The highest load of a terminal, divided by the load at which the busiest channel on the paths after the last fault is full. Defined
    /// for a routing that computes new tables after a fault. `None` if no terminal sends in the first phase.
    fn load_share_after_faults(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        py.detach(|| self.inner.load_share_after_faults()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// Warnings about a point that can run, but whose results could mislead: a list of `path`, `what` and `help`.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &serde_json::json!(self.inner.warnings))
    }

    /// The load that identifies this point in a bill; `None` if only a run can determine it.
    fn load(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        py.detach(|| self.inner.load()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// The highest load that the terminals of the point can send [flits/terminal/cycle].
    fn most_load(&self, py: Python<'_>) -> PyResult<f64> {
        py.detach(|| self.inner.most_load()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// Number of phases of the load: 1 if the load never changes.
    fn phases(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| self.inner.phases()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// Creates the error for a refused key of the scenario. The error shows the place in the file where the key `path` was written.
    fn refusal(&self, py: Python<'_>, path: &str, what: &str, help: &str) -> PyErr {
        errors::scenario_error(py, self.inner.refusal(path, what, help))
    }

    /// Makes all checks that are possible before the run, and returns the predictions for the point, such as its zero-load latency.
    fn imply<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let implied = py.detach(|| self.inner.imply()).map_err(|problem| errors::scenario_error(py, problem))?;
        value::to_python(py, &implied)
    }

    /// Estimated memory of a run [bytes]: the upper limit, and the amount that the run needs at its load while queues are short. For this
    /// estimate Weft builds only the graph, not the whole network.
    fn memory<'py>(&self, py: Python<'py>, threads: usize, blocks: usize) -> PyResult<Bound<'py, PyAny>> {
        let estimated = py.detach(|| self.inner.memory(Execution::new(threads, blocks)));
        value::to_python(py, &estimated.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// How evenly the work is divided between `threads` threads, measured by the threads' flit-hops in the first `cycles` cycles of a run.
    fn work<'py>(&self, py: Python<'py>, threads: usize, cycles: u64) -> PyResult<Bound<'py, PyAny>> {
        let work = py.detach(|| outcome(&self.inner, self.inner.work(threads, cycles)));
        value::to_python(py, &work.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// Approximate length of the drain [cycles]: the time after the window until all packets of the window have been delivered.
    fn drain_cycles(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.inner.drain_cycles()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// Properties of the network: degrees, distances, bisection, links.
    fn explain_topology<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let explained = py.detach(|| self.inner.explain_topology());
        value::to_python(py, &explained.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// The network as a design with this name, for analyses that need no run.
    fn design(&self, py: Python<'_>, name: &str) -> PyResult<Design> {
        let design = py.detach(|| self.inner.design(name)).map_err(|problem| errors::scenario_error(py, problem))?;
        Ok(Design::new(design))
    }

    /// Data for a drawing of the network: positions of its routers, and number of its channels.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let network = py.detach(|| self.inner.network());
        value::to_python(py, &network.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// The load that the terminals of each router (row) offer to the terminals of each other router (column) in the first phases of the
    /// traffic [flits/cycle].
    fn traffic_matrix(&self, py: Python<'_>) -> PyResult<Vec<Vec<f64>>> {
        py.detach(|| self.inner.traffic_matrix()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// The paths between two terminals, and the costs that an adaptive routing compares at each choice of a path.
    fn explain_routing<'py>(&self, py: Python<'py>, source: u32, target: u32) -> PyResult<Bound<'py, PyAny>> {
        let explained = py.detach(|| self.inner.explain_routing(source, target));
        value::to_python(py, &explained.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// Runs the point with the GIL released. `watch`: the packets (terminal, number) whose journeys are recorded; `watch_first`: the number
    /// of first packets of the window to record in the same way.
    #[pyo3(signature = (threads, blocks, control, watch = Vec::new(), watch_first = 0))]
    fn run(
        &self,
        py: Python<'_>,
        threads: usize,
        blocks: usize,
        control: &Control,
        watch: Vec<(u32, u32)>,
        watch_first: usize,
    ) -> PyResult<Finished> {
        let how = control.shared.execution(threads, blocks);
        let watched = if watch.is_empty() { Watched::First(watch_first) } else { Watched::Packets(watch) };
        let (point, progress) = (Arc::clone(&self.inner), Watching::new(Arc::clone(&control.shared), &self.inner));
        let finished = py.detach(move || outcome(&point, point.run_watching(how, watched, &progress)));
        finished.map(|inner| Finished { inner }).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// Continues a run of the point from a checkpoint; the results are the same as those of an uninterrupted run. The network has the same
    /// division into blocks as in the run that wrote the checkpoint. `take` is called once and returns the bytes of the checkpoint, which
    /// are freed as soon as the state of the network has been restored.
    fn resume(&self, py: Python<'_>, threads: usize, control: &Control, take: &Bound<'_, PyAny>) -> PyResult<Finished> {
        let how = control.shared.execution(threads, 0);
        let checkpoint: PyBackedBytes = take.call0()?.extract()?;
        let (point, progress) = (Arc::clone(&self.inner), Watching::new(Arc::clone(&control.shared), &self.inner));
        let finished = py.detach(move || outcome(&point, point.resume(how, &progress, checkpoint)));
        finished.map(|inner| Finished { inner }).map_err(|problem| errors::scenario_error(py, problem))
    }
}

/// The result of one point, in memory until `save` writes it.
#[pyclass(frozen, module = "weft._engine")]
pub struct Finished {
    inner: weft_scenario::Finished,
}

#[pymethods]
impl Finished {
    /// All results except the results of single channels.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.inner.summary)
    }

    /// The journeys of the watched packets, hop by hop.
    #[getter]
    fn journeys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.inner.journeys)
    }

    /// A text that lists the packets or jobs that wait, if the network is stalled.
    #[getter]
    fn stalled(&self) -> Option<&str> {
        self.inner.stalled.as_deref()
    }

    /// Writes the files of this result into a folder. The folder appears only when all files are complete.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.save(&folder)).map_err(|problem| errors::os_error(&problem))
    }
}
