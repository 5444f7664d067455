//! A point of a sweep, and its result.

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

/// A scenario with every value set: the values of the sweep, the resolved scenario, and its hash.
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

    /// Hash of the resolved scenario and the version of the result model.
    #[getter]
    fn hash(&self) -> &str {
        &self.inner.hash
    }

    /// The resolved scenario.
    #[getter]
    fn resolved<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.inner.resolved)
    }

    /// The resolved scenario as the YAML that is saved beside the results.
    fn resolved_yaml(&self) -> String {
        self.inner.resolved_yaml()
    }

    /// The contents of the files that the scenario names, by the names of the files without their folders.
    #[getter]
    fn inputs<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for input in &self.inner.inputs {
            dict.set_item(input.name(), PyBytes::new(py, input.bytes()))?;
        }
        Ok(dict)
    }

    /// Checks what `expand` does not: that the routing goes with the network and the policy, that links have enough VCs,
    /// and that channels do not depend on each other in a cycle.
    fn check_network(&self, py: Python<'_>) -> PyResult<()> {
        py.detach(|| self.inner.check_network()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// The last cycle in which something fails or returns, and the cycle from which on all routers have the tables for it. `None`
    /// unless the routing computes new tables after each fault, which leave a path for every pair.
    fn rebuilds(&self, py: Python<'_>) -> PyResult<Option<(u64, u64)>> {
        let rebuilds = py.detach(|| self.inner.rebuilds()).map_err(|problem| errors::scenario_error(py, problem))?;
        Ok(rebuilds.map(|rebuilds| (rebuilds.last_change, rebuilds.last_tables)))
    }

    /// Load as a share of the capacity of the paths after the last fault, under a routing with new tables. `None` if no terminal
    /// sends in the first phase.
    fn load_share_after_faults(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        py.detach(|| self.inner.load_share_after_faults()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// Warnings about results although it can run: a list of `path`, `what` and `help`.
    #[getter]
    fn warnings<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &serde_json::json!(self.inner.warnings))
    }

    /// The load by which a bill names this point; `None` if only a run can say it.
    fn load(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        py.detach(|| self.inner.load()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// The highest load that its terminals can send [flits/terminal/cycle].
    fn most_load(&self, py: Python<'_>) -> PyResult<f64> {
        py.detach(|| self.inner.most_load()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// How many phases the load has: 1 if it never changes.
    fn phases(&self, py: Python<'_>) -> PyResult<usize> {
        py.detach(|| self.inner.phases()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// The error that refuses the scenario at a path, with the place where it was written.
    fn refusal(&self, py: Python<'_>, path: &str, what: &str, help: &str) -> PyErr {
        errors::scenario_error(py, self.inner.refusal(path, what, help))
    }

    /// Checks everything that can be checked before the run, and says what the point implies.
    fn imply<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let implied = py.detach(|| self.inner.imply()).map_err(|problem| errors::scenario_error(py, problem))?;
        value::to_python(py, &implied)
    }

    /// How much memory a run takes [bytes]: at most, and at its load while queues are short. Nothing is built for it but
    /// the graph.
    fn memory<'py>(&self, py: Python<'py>, threads: usize, blocks: usize) -> PyResult<Bound<'py, PyAny>> {
        let estimated = py.detach(|| self.inner.memory(Execution::new(threads, blocks)));
        value::to_python(py, &estimated.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// How evenly this number of threads shares the flit-hops of the first `cycles` of a run.
    fn work<'py>(&self, py: Python<'py>, threads: usize, cycles: u64) -> PyResult<Bound<'py, PyAny>> {
        let work = py.detach(|| outcome(&self.inner, self.inner.work(threads, cycles)));
        value::to_python(py, &work.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// About how many cycles it runs after its window, until all packets of the window have been delivered.
    fn drain_cycles(&self, py: Python<'_>) -> PyResult<u64> {
        py.detach(|| self.inner.drain_cycles()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// Facts of the network: degrees, distances, bisection, links.
    fn explain_topology<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let explained = py.detach(|| self.inner.explain_topology());
        value::to_python(py, &explained.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// The network as a design of this name, for analyses that need no run.
    fn design(&self, py: Python<'_>, name: &str) -> PyResult<Design> {
        let design = py.detach(|| self.inner.design(name)).map_err(|problem| errors::scenario_error(py, problem))?;
        Ok(Design::new(design))
    }

    /// The network as data for a drawing: positions of its routers, and its number of channels.
    fn network<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let network = py.detach(|| self.inner.network());
        value::to_python(py, &network.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// Flits per cycle that each router (row) offers to each (column) in the first phases of the traffic.
    fn traffic_matrix(&self, py: Python<'_>) -> PyResult<Vec<Vec<f64>>> {
        py.detach(|| self.inner.traffic_matrix()).map_err(|problem| errors::scenario_error(py, problem))
    }

    /// The paths between two terminals, and costs that an adaptive routing compares at each choice.
    fn explain_routing<'py>(&self, py: Python<'py>, source: u32, target: u32) -> PyResult<Bound<'py, PyAny>> {
        let explained = py.detach(|| self.inner.explain_routing(source, target));
        value::to_python(py, &explained.map_err(|problem| errors::scenario_error(py, problem))?)
    }

    /// Runs the point with the GIL released. `watch`: packets (terminal, number) to follow, or else the number of first
    /// packets of the window.
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

    /// Goes on with a run of the point from a checkpoint, to the same result; the blocks are those of that run. `take` is
    /// called once and gives the bytes, which are let go as soon as the network is as they say.
    fn resume(&self, py: Python<'_>, threads: usize, control: &Control, take: &Bound<'_, PyAny>) -> PyResult<Finished> {
        let how = control.shared.execution(threads, 0);
        let checkpoint: PyBackedBytes = take.call0()?.extract()?;
        let (point, progress) = (Arc::clone(&self.inner), Watching::new(Arc::clone(&control.shared), &self.inner));
        let finished = py.detach(move || outcome(&point, point.resume(how, &progress, checkpoint)));
        finished.map(|inner| Finished { inner }).map_err(|problem| errors::scenario_error(py, problem))
    }
}

/// The result of one point, not yet on disk.
#[pyclass(frozen, module = "weft._engine")]
pub struct Finished {
    inner: weft_scenario::Finished,
}

#[pymethods]
impl Finished {
    /// Everything measured that is not per channel.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.inner.summary)
    }

    /// The lives of the watched packets.
    #[getter]
    fn journeys<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.inner.journeys)
    }

    /// The wait-for cycle in words if the network got stuck.
    #[getter]
    fn stalled(&self) -> Option<&str> {
        self.inner.stalled.as_deref()
    }

    /// Writes the files of this result; the folder appears complete, or not at all.
    fn save(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        py.detach(|| self.inner.save(&folder)).map_err(|problem| errors::os_error(&problem))
    }
}
