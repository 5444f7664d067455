//! Remarks on an input that can be used although it may not mean what its author thinks.

use crate::Code;

/// A remark: its code, the key of the scenario, the numbers of its sentence by name, the sentence, and the remedy.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    pub code: &'static Code,
    /// Dotted path of the scenario key.
    pub path: String,
    /// Names with the unit last, and values.
    pub numbers: Vec<(String, f64)>,
    pub what: String,
    pub help: String,
}

impl Remark {
    pub fn new<const N: usize>(
        code: &'static Code,
        path: impl Into<String>,
        numbers: [(&str, f64); N],
        what: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        let numbers = numbers.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Self { code, path: path.into(), numbers, what: what.into(), help: help.into() }
    }
}
