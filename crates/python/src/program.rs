//! The Python class for a program of messages, and functions that read and analyse programs.

use crate::{errors, value};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use weft_programs::collectives::Rules;
use weft_programs::mpi::Note;
use weft_programs::readers::traces::Files;
use weft_programs::{face, form, info, transform};
use weft_units::Refusal;

/// A program, with the algorithms that convert its collectives to messages.
#[pyclass(frozen, module = "weft._engine")]
pub struct Program {
    inner: form::Program,
    rules: Arc<Rules>,
    arithmetic: serde_json::Value,
    notes: Vec<Note>,
}

impl Program {
    fn of(inner: form::Program) -> Self {
        let arithmetic = serde_json::Value::Array(Vec::new());
        Self { inner, rules: Arc::default(), arithmetic, notes: Vec::new() }
    }
}

/// Creates the Python object for a program that has no collectives.
fn made(py: Python<'_>, result: Result<form::Program, Refusal>) -> PyResult<Program> {
    let inner = result.map_err(|refusal| errors::program_error(py, &refusal))?;
    Ok(Program::of(inner))
}

/// Reads a program from the bytes of a file in a program format.
#[pyfunction]
pub fn read_program(py: Python<'_>, file_name: &str, bytes: &[u8]) -> PyResult<Program> {
    made(py, py.detach(|| face::read(file_name, bytes)))
}

/// Generates a program from the parameters in a file.
#[pyfunction]
pub fn make_program(py: Python<'_>, file_name: &str, text: &str) -> PyResult<Program> {
    let made = py.detach(|| weft_scenario::make_program(file_name, text));
    let (made, rules) = made.map_err(|problem| errors::scenario_error(py, problem))?;
    let arithmetic = made.arithmetic_json();
    Ok(Program { inner: made.program, rules: Arc::new(rules), arithmetic, notes: Vec::new() })
}

/// The files of a trace, which a Python function loads one by one.
struct PythonFiles<'py> {
    names: Vec<String>,
    load: Bound<'py, PyAny>,
    /// The Python exception because of which a file could not be loaded.
    problem: Option<PyErr>,
}

impl Files for PythonFiles<'_> {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn load(&mut self, place: usize) -> Result<Vec<u8>, Refusal> {
        self.load.call1((place,)).and_then(|bytes| bytes.extract()).map_err(|problem| {
            self.problem = Some(problem);
            Refusal::new(self.names[place].as_str(), "the file can't be read", "copy the file again")
        })
    }
}

/// The name of the format of a trace, which Weft detects from the name of one of its files and the first bytes of that file.
#[pyfunction]
pub fn trace_format(file_name: &str, head: &[u8]) -> Option<&'static str> {
    face::trace_format(file_name, head)
}

/// Names of the trace formats that Weft can read.
#[pyfunction]
pub fn trace_formats() -> Vec<&'static str> {
    weft_programs::readers::traces::FORMATS.iter().map(|format| format.name()).collect()
}

/// Names of the clocks of a trace that can measure the time of computations.
#[pyfunction]
pub fn trace_clocks() -> Vec<&'static str> {
    weft_programs::readers::traces::Clock::NAMES.to_vec()
}

/// Reads a trace and converts it to a program. `load` returns the bytes of file k of `file_names`.
#[pyfunction]
pub fn read_trace(
    py: Python<'_>,
    format: &str,
    file_names: Vec<String>,
    load: Bound<'_, PyAny>,
    clock: Option<&str>,
) -> PyResult<Program> {
    let mut files = PythonFiles { names: file_names, load, problem: None };
    let converted = face::read_trace(format, &mut files, clock);
    if let Some(problem) = files.problem {
        return Err(problem);
    }
    let converted = converted.map_err(|refusal| errors::program_error(py, &refusal))?;
    let notes = converted.notes();
    Ok(Program { notes, ..Program::of(converted.program) })
}

/// Names of the formats in which Weft can write programs.
#[pyfunction]
pub fn program_formats() -> Vec<&'static str> {
    weft_programs::readers::FORMATS.iter().map(|format| format.name()).collect()
}

impl Program {
    /// The program with its collectives converted to messages.
    fn flat(&self) -> Result<form::Program, Refusal> {
        transform::lower(&self.inner, &self.rules)
    }
}

#[pymethods]
impl Program {
    /// Facts about the program: numbers of ranks, operations, messages, bytes, and more.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &py.detach(|| info::info(&self.inner)))
    }

    /// How Weft computed the numbers of a generated program: name, value, unit and formula of each number.
    fn arithmetic<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &self.arithmetic)
    }

    /// Assumptions that Weft made when it converted a trace: code, count and words. The list is empty for programs that are not from a
    /// trace.
    fn assumptions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &serde_json::json!(self.notes))
    }

    /// A sentence and a remedy for messages that are larger than their receives; `None` if there are no such messages.
    fn short_receives(&self, py: Python<'_>) -> Option<(String, &'static str)> {
        py.detach(|| self.inner.short_receives()).map(|short| (short.to_string(), short.help()))
    }

    /// Finish times of the program on an ideal network; `parameters` are the LogGOPS parameters in JSON.
    fn loggops<'py>(&self, py: Python<'py>, parameters: &str) -> PyResult<Bound<'py, PyAny>> {
        let answer = py.detach(|| face::finish(&self.inner, &self.rules, &face::LogGops::from_json(parameters)?));
        value::to_python(py, &answer.map_err(|failure| errors::program_failure(py, &failure))?)
    }

    /// The content of the program's file in this format, with collectives converted to messages.
    fn written<'py>(&self, py: Python<'py>, format: &str) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| face::write(&self.inner, format, &self.rules));
        Ok(PyBytes::new(py, &bytes.map_err(|refusal| errors::program_error(py, &refusal))?))
    }

    /// The part of the program that starts within a time window, and the number of messages whose sender or receiver is outside this
    /// window.
    fn cut(&self, py: Python<'_>, parameters: &str, begin: &str, end: &str) -> PyResult<(Program, u64)> {
        let part = py.detach(|| face::cut(&self.flat()?, &face::LogGops::from_json(parameters)?, begin, end));
        let (inner, halves) = part.map_err(|failure| errors::program_failure(py, &failure))?;
        Ok((Program::of(inner), halves))
    }

    /// The program with its ranks placed on `nodes` nodes: in order (`per_node` ranks on each node), in random order, or on the given
    /// nodes. A seed decides the random order.
    fn placed(
        &self,
        py: Python<'_>,
        nodes: Option<u32>,
        per_node: u32,
        seed: Option<u64>,
        given: Option<Vec<u32>>,
    ) -> PyResult<Program> {
        let placement = match (given, seed) {
            (Some(given), _) => transform::Placement::Given(given),
            (None, Some(seed)) => transform::Placement::Random { per_node, seed },
            (None, None) => transform::Placement::Linear { per_node },
        };
        let placed = || transform::place(&self.flat()?, &placement, nodes);
        made(py, py.detach(placed))
    }

    /// A program that consists of several copies of this program, which run at the same time on different ranks.
    fn tiled(&self, py: Python<'_>, copies: u32) -> PyResult<Program> {
        made(py, py.detach(|| transform::tile(&self.flat()?, copies)))
    }

    /// For each rank, the number of its operations and its computation time [ns], with collectives converted to messages. The method counts
    /// these numbers without executing the program.
    fn work(&self, py: Python<'_>) -> PyResult<Vec<(u64, u64)>> {
        let work = py.detach(|| info::work(&self.inner, &self.rules));
        work.map_err(|refusal| errors::program_error(py, &refusal))
    }

    /// For each pair of ranks that communicate: sender, receiver, bytes and number of messages, with collectives converted to messages.
    fn matrix(&self, py: Python<'_>) -> PyResult<Vec<(u32, u32, u64, u64)>> {
        let matrix = py.detach(|| info::matrix(&self.inner, &self.rules));
        matrix.map_err(|refusal| errors::program_error(py, &refusal))
    }
}
