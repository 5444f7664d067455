//! Codes of diagnoses: each kind of warning, hint and flaw has a name that never changes, and a meaning.
//!
//! The file that makes a diagnosis declares its code with [`codes!`](crate::codes). Messages, JSON and the reference page of the
//! documentation show the name of the code.

use serde::{Serialize, Serializer};
use std::fmt;

/// The severity of a diagnosis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A flaw of a finished point: Weft never ranks the point, and marks its numbers.
    Flaw,
    /// A warning: a point can run, or has run, but its numbers may mislead.
    Warning,
    /// A hint: a setting limits the network, or has no effect. The numbers are right.
    Hint,
}

/// A kind of diagnosis, with the texts that explain it.
#[derive(PartialEq, Eq)]
pub struct Code {
    /// Name in lower case, with words joined by `_`.
    pub name: &'static str,
    pub severity: Severity,
    /// Meaning of the diagnosis, in one or two sentences.
    pub means: &'static str,
    /// Formula and thresholds by which Weft decides that the diagnosis applies, with their reasons.
    pub computed: &'static str,
    /// General remedy. A diagnosis of a point adds the numbers of this point.
    pub helps: &'static str,
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

/// An entry in the list of all codes. [`codes!`](crate::codes) adds an entry for each code that it declares.
#[doc(hidden)]
pub struct Declared(pub &'static Code);

inventory::collect!(Declared);

/// All codes that files of this program declare, sorted by severity (the worst first), then by name.
///
/// # Panics
/// If two codes have the same name.
pub fn codes() -> Vec<&'static Code> {
    let mut all: Vec<&Code> = inventory::iter::<Declared>.into_iter().map(|declared| declared.0).collect();
    all.sort_unstable_by_key(|code| (code.severity, code.name));
    let mut names: Vec<&str> = all.iter().map(|code| code.name).collect();
    names.sort_unstable();
    for pair in names.windows(2) {
        assert!(pair[0] != pair[1], "two diagnoses have the code {}: choose another name for one of them", pair[0]);
    }
    all
}

/// Declares codes of diagnoses as statics:
///
/// ```
/// weft_units::codes! {
///     LATE = "late", Hint,
///         means: "It comes late.",
///         computed: "Its cycle is after the last one of the window.",
///         helps: "Write an earlier time.";
/// }
/// assert!(weft_units::codes().contains(&&LATE));
/// ```
#[macro_export]
macro_rules! codes {
    ($($vis:vis $item:ident = $name:literal, $severity:ident, means: $means:expr, computed: $computed:expr, helps: $helps:expr;)+) => {$(
        $vis static $item: $crate::Code = $crate::Code {
            name: $name,
            severity: $crate::Severity::$severity,
            means: $means,
            computed: $computed,
            helps: $helps,
        };
        $crate::inventory::submit! { $crate::Declared(&$item) }
    )+};
}
