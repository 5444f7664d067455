//! Builds the engine of Weft with the models of this crate. You need not change this file when you add a model.

// links the models: the linker omits a crate that no code names
use {{crate_name}} as _;

use pyo3::prelude::*;

#[pymodule]
fn _engine_with_models(module: &Bound<'_, PyModule>) -> PyResult<()> {
    _engine::fill(module)
}
