//! A warning as data, and times in its sentences.

use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeMap;
use weft_engine::Spec;
use weft_units::{Code, Cycles, Remark, Severity, Time};

/// A warning about a point that can run: the key (dotted path), the problem with its arithmetic, and the remedy.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Warning {
    /// Code of the warning, which never changes. Programs identify a warning by this code, and read its numbers.
    pub code: &'static Code,
    pub severity: Severity,
    pub path: String,
    /// The numbers in the sentences `what` and `help`, so that programs need not parse the sentences. Each name ends with the unit.
    pub numbers: BTreeMap<Cow<'static, str>, f64>,
    pub what: String,
    pub help: String,
}

impl Warning {
    pub(crate) fn new<const N: usize>(
        code: &'static Code,
        path: impl Into<String>,
        numbers: [(&'static str, f64); N],
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let numbers = numbers.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { code, severity: code.severity, path: path.into(), numbers, what: what.into(), help: help.into() }
    }
}

impl From<Remark> for Warning {
    fn from(Remark { code, path, numbers, what, help }: Remark) -> Self {
        let numbers = numbers.into_iter().map(|(name, value)| (name.into(), value)).collect();
        Self { numbers, ..Self::new(code, path, [], what, help) }
    }
}

/// Writes a number of cycles, followed by the time that they take.
pub(crate) fn long(cycles: Cycles, spec: &Spec) -> String {
    let time = Time::Femtoseconds(u128::from(cycles).saturating_mul(spec.cycle_fs));
    format!("{cycles} {} ({time})", if cycles == 1 { "cycle" } else { "cycles" })
}
