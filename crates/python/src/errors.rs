//! Converts diagnostics to the exceptions of `weft.errors`.

use crate::value::to_python;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError};
use pyo3::prelude::*;
use std::cell::Cell;
use std::io;
use weft_programs::loggops::Failure;
use weft_scenario::Diagnostic;
use weft_units::Refusal;

thread_local! {
    /// The Python exception that Ctrl-C caused while the engine called a Python function. The engine ends with a refusal, and
    /// `scenario_error` or `program_error` replaces this refusal by the stored exception.
    static INTERRUPTION: Cell<Option<PyErr>> = const { Cell::new(None) };
}

/// Stores an exception from a Python function that the engine called, if the exception is an interruption by the user.
pub fn keep_interruption(py: Python<'_>, problem: &PyErr) {
    if problem.is_instance_of::<PyKeyboardInterrupt>(py) {
        INTERRUPTION.set(Some(problem.clone_ref(py)));
    }
}

/// Creates a `weft.ScenarioError` with the diagnostic's text, place and remedy as attributes, or returns the interruption that caused the
/// diagnostic.
pub fn scenario_error(py: Python<'_>, problem: Diagnostic) -> PyErr {
    if let Some(interruption) = INTERRUPTION.take() {
        return interruption;
    }
    let Diagnostic { text, path, line, column, what, help } = problem;
    let raised = py
        .import("weft.errors")
        .and_then(|module| module.getattr("ScenarioError"))
        .and_then(|class| class.call1((text, path, line, column, what, help)));
    raised.map_or_else(|broken| broken, PyErr::from_value)
}

/// Creates a `weft.errors.ProgramError` with the place, the problem and the remedy of a refusal as attributes.
pub fn program_error(py: Python<'_>, refusal: &Refusal) -> PyErr {
    if let Some(interruption) = INTERRUPTION.take() {
        return interruption;
    }
    let raised = py
        .import("weft.errors")
        .and_then(|module| module.getattr("ProgramError"))
        .and_then(|class| class.call_method1("saying", (&refusal.what, &refusal.help, &refusal.path)));
    raised.map_or_else(|broken| broken, PyErr::from_value)
}

/// Creates a `weft.errors.StuckError` with the waiting ranks as data, or the error for a refusal.
pub fn program_failure(py: Python<'_>, failure: &Failure) -> PyErr {
    let stuck = match failure {
        Failure::Refused(refusal) => return program_error(py, refusal),
        Failure::Stuck(stuck) => stuck,
    };
    let raised = py.import("weft.errors").and_then(|module| module.getattr("StuckError")).and_then(|class| {
        class.call_method1("of", (stuck.to_string(), stuck.help(), to_python(py, &stuck.as_json())?))
    });
    raised.map_or_else(|broken| broken, PyErr::from_value)
}

/// Creates an `OSError` with the error number of the operating system, if there is one.
pub fn os_error(problem: &io::Error) -> PyErr {
    match problem.raw_os_error() {
        Some(number) => PyOSError::new_err((number, problem.to_string())),
        None => PyOSError::new_err(problem.to_string()),
    }
}
