//! The engine of Weft with the models of this folder. You need not change this file when you add a model.

// links the models: the linker leaves out a crate that is named nowhere
use {{crate_name}} as _;

use pyo3::prelude::*;

#[pymodule]
fn _engine_with_models(module: &Bound<'_, PyModule>) -> PyResult<()> {
    _engine::fill(module)
}
