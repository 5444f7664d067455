//! A diagnosis as data.

use crate::kinds::Kind;
use serde::Serialize;
use serde_json::{Map, Value, json};
use weft_units::{Code, Severity};

/// A remedy in words, and its settings as the scenario writes them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remedy {
    pub text: String,
    /// Values by the dotted path of their key, which `--set` takes.
    pub settings: Map<String, Value>,
    /// True if it proposes another load.
    #[serde(skip)]
    pub is_of_load: bool,
}

impl Remedy {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), settings: Map::new(), is_of_load: false }
    }

    /// That proposes another load.
    pub fn of_load(text: impl Into<String>) -> Self {
        Self { is_of_load: true, ..Self::new(text) }
    }

    /// With a setting that the text names.
    pub fn with(mut self, path: &str, value: impl Into<String>) -> Self {
        self.settings.insert(path.to_owned(), json!(value.into()));
        self
    }
}

/// A diagnosis of a point.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    pub code: &'static Code,
    pub severity: Severity,
    /// What the point is, in a few words.
    pub what: &'static str,
    /// By name with the unit last.
    pub numbers: Map<String, Value>,
    pub remedy: Remedy,
}

impl Diagnosis {
    pub(crate) fn new(kind: &Kind, numbers: Map<String, Value>, remedy: Remedy) -> Self {
        Self { code: kind.code, severity: kind.code.severity, what: kind.words, numbers, remedy }
    }
}
