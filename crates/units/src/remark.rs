//! Remarks on a valid scenario that probably differs from its author's intention.

use crate::Code;

/// A remark: its code, the key in the scenario, the sentence with its numbers, and the remedy.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    pub code: &'static Code,
    /// Dotted path of the scenario key.
    pub path: String,
    /// Name, with the unit last, and value of each number in the sentence `what`.
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
