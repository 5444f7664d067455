//! A network without traffic, and methods that return facts about it.

use crate::{errors, value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// A network with the name that its file gives it. Methods return arrays as bytes, for `numpy.frombuffer`.
#[pyclass(frozen, module = "weft._engine")]
pub struct Design {
    inner: Arc<weft_scenario::Design>,
}

impl Design {
    pub fn new(inner: weft_scenario::Design) -> Self {
        Self { inner: Arc::new(inner) }
    }
}

/// Reads all designs of a file, in their order. The content of files that the designs name is taken from `attached` (name, content), or
/// read from disk relative to the folder of `file_name`.
#[pyfunction]
pub fn read_designs(
    py: Python<'_>,
    file_name: &str,
    text: &str,
    attached: Vec<(String, Vec<u8>)>,
) -> PyResult<Vec<Design>> {
    let read = py.detach(|| weft_scenario::read_designs(file_name, text, attached));
    Ok(read.map_err(|problem| errors::scenario_error(py, problem))?.into_iter().map(Design::new).collect())
}

/// Converts rows of 32-bit numbers to bytes, in the byte order of the machine.
fn bytes<'py, const N: usize>(py: Python<'py>, rows: &[[u32; N]]) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &rows.iter().flatten().flat_map(|number| number.to_ne_bytes()).collect::<Vec<_>>())
}

#[pymethods]
impl Design {
    #[getter]
    fn name(&self) -> &str {
        &self.inner.name
    }

    /// Topology of the network, with every default written out.
    #[getter]
    fn topology<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.inner.topology)
    }

    /// Facts of the network: degrees, distances, bisection, and links by class.
    fn facts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &py.detach(|| self.inner.facts()))
    }

    /// The order of the routers on the floor of the machine room, with the coordinates of each router.
    fn places<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &py.detach(|| self.inner.places()))
    }

    /// For each link between routers, its two ends and the link classes of both directions (u32).
    fn links<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, &self.inner.links())
    }

    /// Number of terminals at each router (u32).
    fn terminals_of_routers<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        bytes(py, &self.inner.terminals_of_routers().into_iter().map(|count| [count]).collect::<Vec<_>>())
    }

    /// Statistics of the number of shortest paths between two different routers with terminals, for each distance.
    fn path_diversity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &py.detach(|| self.inner.path_diversity()))
    }

    /// Improves a division of the routers into two halves; returns the number of links between the halves, and the half of each router. The
    /// search starts from the given halves (one byte per router, 1 for the second half), balances them, and then improves them.
    fn improved_halves<'py>(&self, py: Python<'py>, second: Vec<u8>) -> PyResult<(u64, Bound<'py, PyBytes>)> {
        let improved = py.detach(|| self.inner.improved_halves(&second));
        let (links, second) =
            improved.ok_or_else(|| PyValueError::new_err("the halves need one byte for each router"))?;
        Ok((links, PyBytes::new(py, &second)))
    }

    /// For each of `trials` random orders of failing links, two numbers (u32). The first is how many links can fail before a router is cut
    /// off, the second before a router with terminals is cut off.
    fn survived_failures<'py>(&self, py: Python<'py>, trials: u32, seed: u64) -> Bound<'py, PyBytes> {
        let survived = py.detach(|| self.inner.survived_failures(trials, seed));
        bytes(py, &survived)
    }
}
