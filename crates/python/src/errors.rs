//! Diagnostics as the exceptions of `weft.errors`.

use pyo3::prelude::*;
use weft_scenario::Diagnostic;

/// A `weft.ScenarioError` with the diagnostic's text, place and remedy as attributes.
pub fn scenario_error(py: Python<'_>, problem: Diagnostic) -> PyErr {
    let Diagnostic { text, path, line, column, what, help } = problem;
    let raised = py
        .import("weft.errors")
        .and_then(|module| module.getattr("ScenarioError"))
        .and_then(|class| class.call1((text, path, line, column, what, help)));
    raised.map_or_else(|broken| broken, PyErr::from_value)
}
