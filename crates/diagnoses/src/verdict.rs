//! A diagnosis as data: code, finding, numbers and remedy.

use crate::facts::Facts;
use crate::kinds::{self, Kind};
use crate::notes::Note;
use serde::Serialize;
use serde_json::{Map, Value, json};
use weft_units::{Code, Severity};

/// A remedy as a sentence, together with its settings in the notation of a scenario.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Remedy {
    pub text: String,
    /// The values of the settings by dotted path, as `--set` accepts them.
    pub settings: Map<String, Value>,
    /// Whether the remedy proposes another load.
    #[serde(skip)]
    pub is_of_load: bool,
}

impl Remedy {
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), settings: Map::new(), is_of_load: false }
    }

    /// Makes a remedy that proposes another load.
    pub fn of_load(text: impl Into<String>) -> Self {
        Self { is_of_load: true, ..Self::new(text) }
    }

    /// Adds a setting to the remedy; the sentence must already name it.
    pub fn with(mut self, path: &str, value: impl Into<String>) -> Self {
        self.settings.insert(path.to_owned(), json!(value.into()));
        self
    }
}

/// A diagnosis of a point, or of one phase of its load.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnosis {
    pub code: &'static Code,
    pub severity: Severity,
    /// For a diagnosis of a phase, the index of the phase in the load.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub phase: Option<u64>,
    /// For a flaw, the flaw in a few words; for a warning, a sentence.
    pub what: String,
    /// The values in the text of the diagnosis, by name. The name of each number ends with its unit.
    pub numbers: Map<String, Value>,
    pub remedy: Remedy,
}

/// The flaws that a phase has only because its point has them.
static OF_POINT: [&Kind; 5] = [
    &kinds::STALLED,
    &kinds::INTERRUPTED,
    &kinds::POWER_UNSETTLED,
    &kinds::REPLIES_UNSETTLED,
    &kinds::LATENCIES_UNSETTLED,
];

impl Facts {
    /// All diagnoses of a point: its own flaws, worst first, then the flaws of each measured phase, then the warnings about the results.
    pub fn diagnoses(&self) -> Vec<Diagnosis> {
        let own = self.flaws().into_iter().map(|kind| self.diagnosis(kind));
        let is_own = |kind: &&Kind| !OF_POINT.iter().any(|of_point| of_point.is(kind));
        let of = |phase: &Self| -> Vec<Diagnosis> {
            phase.flaws().into_iter().filter(is_own).map(|kind| phase.diagnosis(kind)).collect()
        };
        let measured = self.phases.iter().filter(|phase| phase.packets.is_some_and(|packets| packets > 0.0));
        own.chain(measured.flat_map(of)).chain(self.doubts().into_iter().map(Diagnosis::from)).collect()
    }

    fn diagnosis(&self, kind: &'static Kind) -> Diagnosis {
        Diagnosis {
            code: kind.code,
            severity: kind.code.severity,
            phase: self.place.as_ref().map(|place| place.phase as u64),
            what: kind.words.to_owned(),
            numbers: self.numbers(kind),
            remedy: self.remedy(kind),
        }
    }
}

impl From<Note> for Diagnosis {
    fn from(Note { code, what, numbers, remedy }: Note) -> Self {
        let remedy = remedy.unwrap_or_else(|| Remedy::new(code.helps));
        Self { code, severity: code.severity, phase: None, what, numbers, remedy }
    }
}
