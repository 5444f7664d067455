//! The Python module `weft._engine`. The functions of the module take text, return plain Python values, and release the GIL while a network
//! runs.
//!
//! The exceptions are defined in the Python module `weft.errors`, so that they have named attributes and appear in the documentation.

#![allow(clippy::result_large_err, reason = "an error ends the work: its size costs nothing")]

mod control;
mod design;
mod diagnoses;
mod errors;
mod functions;
mod heap;
mod point;
mod program;
mod several;
mod value;
mod words;

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::PathBuf;

/// Reads a scenario and returns its points, in the order of the sweep. The content of files that the scenario names is taken from
/// `attached` (name, content), or read from disk relative to the folder of `file_name`.
#[pyfunction]
fn expand(
    py: Python<'_>,
    file_name: &str,
    text: &str,
    sets: Vec<(String, String)>,
    attached: Vec<(String, Vec<u8>)>,
) -> PyResult<Vec<point::Point>> {
    let points = weft_scenario::expand_with(file_name, text, &sets, attached)
        .map_err(|problem| errors::scenario_error(py, problem))?;
    Ok(points.into_iter().map(point::Point::new).collect())
}

/// Converts a graph file of another program to a format that the engine reads; NetworkX does this in `weft.scenario.networkx_graphs`.
fn converted(name: &str, format: &str, content: &[u8]) -> Result<(String, Vec<u8>), String> {
    Python::attach(|py| {
        let convert = py.import("weft.scenario.networkx_graphs").and_then(|module| module.getattr("converted"));
        let read = convert.and_then(|convert| convert.call1((name, format, PyBytes::new(py, content))));
        read.and_then(|read| read.extract()).map_err(|problem| {
            errors::keep_interruption(py, &problem);
            let text = |name: &str| problem.value(py).getattr(name).and_then(|text| text.extract::<String>());
            match (text("what"), text("help")) {
                (Ok(what), Ok(help)) => format!("{what}\n{help}"),
                (_, _) => problem.to_string(),
            }
        })
    })
}

/// Reads a scenario file and returns its content as a string.
#[pyfunction]
fn read(py: Python<'_>, file: PathBuf) -> PyResult<String> {
    weft_scenario::read(&file).map_err(|problem| errors::scenario_error(py, problem))
}

/// Reads the keys of `bill` in a YAML string, checks these keys and fills in all defaults.
#[pyfunction]
fn read_bill<'py>(py: Python<'py>, text: &str, file_name: &str, example: &str) -> PyResult<Bound<'py, PyAny>> {
    let read =
        weft_scenario::read_bill(file_name, text, example).map_err(|problem| errors::scenario_error(py, problem))?;
    value::to_python(py, &read)
}

/// JSON Schema of a scenario.
#[pyfunction]
fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    value::to_python(py, &weft_scenario::schema())
}

/// Families of models, the members of each family, and the parameters of each member.
#[pyfunction]
fn models(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    value::to_python(py, &weft_scenario::models())
}

/// Recordings: a description of each, an example of its parameters, and the columns of its table.
#[pyfunction]
fn recordings(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    value::to_python(py, &weft_scenario::recordings())
}

/// The catalogue of hardware: its edition, its figures, and its rows with their sources.
#[pyfunction]
fn catalogue(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    value::to_python(py, &weft_scenario::catalogue())
}

/// Power figures from the catalogue of hardware, for the given hardware.
#[pyfunction]
fn catalogue_power<'py>(
    py: Python<'py>,
    speed: &str,
    cables: &str,
    terminal_cables: &str,
    routers: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let choice = [("speed", speed), ("cables", cables), ("terminal_cables", terminal_cables), ("routers", routers)];
    let choice =
        choice.into_iter().map(|(key, word)| (key.to_owned(), word.into())).collect::<serde_json::Map<_, _>>().into();
    let power = weft_scenario::catalogue_power(&choice).map_err(|problem| errors::scenario_error(py, problem))?;
    value::to_python(py, &power)
}

/// Configurations that models declare as examples for tests, by family.
#[pyfunction]
fn examples(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    value::to_python(py, &weft_scenario::examples())
}

#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    fill(module)
}

/// Adds all content of `weft._engine` to a module. A crate outside Weft calls this function to make its own Python module, which then
/// contains Weft and the crate's models.
pub fn fill(module: &Bound<'_, PyModule>) -> PyResult<()> {
    weft_scenario::convert_with(Box::new(converted));
    module.add("RESULT_MODEL_VERSION", weft_scenario::RESULT_MODEL_VERSION)?;
    module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
    // the commit is empty if Weft was not built in a git checkout
    module.add("COMMIT", env!("WEFT_COMMIT"))?;
    // the `# Source` texts in the headers of models, by family and name, as JSON
    module.add("MODEL_SOURCES", include_str!(concat!(env!("OUT_DIR"), "/sources.json")))?;
    words::add(module)?;
    diagnoses::add(module)?;
    several::add(module)?;
    module.add_class::<control::Control>()?;
    module.add_class::<design::Design>()?;
    module.add_class::<point::Point>()?;
    module.add_class::<point::Finished>()?;
    module.add_class::<program::Program>()?;
    module.add_function(wrap_pyfunction!(program::make_program, module)?)?;
    module.add_function(wrap_pyfunction!(program::read_program, module)?)?;
    module.add_function(wrap_pyfunction!(program::program_formats, module)?)?;
    module.add_function(wrap_pyfunction!(program::read_trace, module)?)?;
    module.add_function(wrap_pyfunction!(program::trace_format, module)?)?;
    module.add_function(wrap_pyfunction!(program::trace_formats, module)?)?;
    module.add_function(wrap_pyfunction!(program::trace_clocks, module)?)?;
    module.add_function(wrap_pyfunction!(expand, module)?)?;
    module.add_function(wrap_pyfunction!(read, module)?)?;
    module.add_function(wrap_pyfunction!(read_bill, module)?)?;
    module.add_function(wrap_pyfunction!(design::read_designs, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(models, module)?)?;
    module.add_function(wrap_pyfunction!(recordings, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue, module)?)?;
    module.add_function(wrap_pyfunction!(catalogue_power, module)?)?;
    module.add_function(wrap_pyfunction!(examples, module)?)?;
    Ok(())
}
