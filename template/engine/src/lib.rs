//! The engine of Weft with the models of this folder. Nothing here needs a change when you add a model.

// links the models: a crate that is named nowhere is left out
use {{crate_name}} as _;

use pyo3::prelude::*;

#[pymodule]
fn _engine_with_models(module: &Bound<'_, PyModule>) -> PyResult<()> {
    _engine::fill(module)
}
