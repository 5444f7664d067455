//! Adds to the Python module constants with the names that the engine uses in results. Python reads its lists of names from these
//! constants.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use weft_engine::outcome::{Cause, Ending};
use weft_engine::power::{Modes, PolicyConfig};
use weft_engine::recording::RecordingConfig;
use weft_engine::watch::Reason;

/// Adds the constants to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("LINK_STATES", PyTuple::new(py, Modes::default().names().collect::<Vec<_>>())?)?;
    let modes = Modes::default();
    let rows = modes.all().map(|state| (modes.name(state), modes.rate(state).per_cycle(), modes.carries(state)));
    module.add("LINK_MODES", PyTuple::new(py, rows)?)?;
    module.add("CONTROL_PACKETS", PyTuple::new(py, PolicyConfig::control_packets())?)?;
    module.add("ALL_ON_POLICIES", PyTuple::new(py, PolicyConfig::all_on())?)?;
    module.add("RECORDS", PyTuple::new(py, RecordingConfig::names())?)?;
    module.add("ENDINGS", PyTuple::new(py, Ending::NAMES)?)?;
    module.add("WAITING_REASONS", PyTuple::new(py, Reason::NAMES)?)?;
    module.add("STALL_CAUSES", PyTuple::new(py, Cause::NAMES)?)
}
