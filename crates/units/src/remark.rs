//! Remarks on an input that can be used although it may not mean what its author thinks.

/// A remark: a name that never changes, the key of the scenario, the numbers of its sentence by name, the sentence, and the
/// remedy.
#[derive(Debug, Clone, PartialEq)]
pub struct Remark {
    /// Lower case, words joined by `_`.
    pub code: &'static str,
    /// Dotted path of the scenario key.
    pub path: String,
    /// Names with the unit last, and values.
    pub numbers: Vec<(String, f64)>,
    pub what: String,
    pub help: String,
}
