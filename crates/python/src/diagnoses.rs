//! Judges finished points from the numbers in their summaries.

use crate::value;
use pyo3::exceptions::PyKeyError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyMapping};
use serde_json::json;
use weft_diagnoses::{Facts, Kind, Source, flaws, kinds, words};

/// A summary or a part of a summary: a dict with strings as keys.
struct Record<'py>(Bound<'py, PyDict>);

impl<'py> Record<'py> {
    /// The value of a key; `None` if the key is missing or its value is Python's `None`.
    fn value(&self, key: &str) -> Option<Bound<'py, PyAny>> {
        self.0.get_item(key).ok().flatten().filter(|value| !value.is_none())
    }
}

impl Source for Record<'_> {
    fn has(&self, key: &str) -> bool {
        self.0.contains(key).unwrap_or(false)
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.value(key)?.extract().ok()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.value(key)?.extract().ok()
    }

    fn text(&self, key: &str) -> Option<String> {
        self.value(key)?.extract().ok()
    }

    fn list(&self, key: &str) -> Vec<Self> {
        let Some(Ok(list)) = self.value(key).map(|value| value.cast_into::<PyList>()) else { return Vec::new() };
        list.iter().filter_map(|item| item.cast_into::<PyDict>().ok()).map(Self).collect()
    }

    fn record(&self, key: &str) -> Option<Self> {
        self.value(key)?.cast_into::<PyDict>().ok().map(Self)
    }
}

/// The verdict on a finished point, or on one phase of its load whose data have the form of a summary. A flaw's rank is its index in the
/// list `flaw_kinds`; the worst kind of flaw has rank 0.
#[pyclass(frozen, module = "weft._engine")]
pub struct Verdict {
    facts: Facts,
    flaws: Vec<&'static Kind>,
}

impl Verdict {
    pub fn facts(&self) -> &Facts {
        &self.facts
    }
}

fn ranks(flaws: &[&Kind]) -> Vec<usize> {
    flaws.iter().map(|kind| kind.rank()).collect()
}

#[pymethods]
impl Verdict {
    #[new]
    fn new(summary: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let dict = match summary.cast::<PyDict>() {
            Ok(dict) => dict.clone(),
            Err(_) => {
                let copy = PyDict::new(summary.py());
                copy.update(summary)?;
                copy
            }
        };
        let facts = Facts::of(&Record(dict));
        let flaws = facts.flaws();
        Ok(Self { facts, flaws })
    }

    #[getter]
    fn flaws(&self) -> Vec<usize> {
        ranks(&self.flaws)
    }

    /// Ranks of the flaws that prevent a comparison even with a point that delivers the same load.
    #[getter]
    fn obstacles(&self) -> Vec<usize> {
        ranks(&self.facts.obstacles())
    }

    #[getter]
    fn is_over(&self) -> bool {
        flaws::is_over(&self.flaws)
    }

    #[getter]
    fn is_unsettled(&self) -> bool {
        flaws::is_unsettled(&self.flaws)
    }

    #[getter]
    fn is_unjudged(&self) -> bool {
        flaws::is_unjudged(&self.flaws)
    }

    #[getter]
    fn is_few(&self) -> bool {
        flaws::is_few(&self.flaws)
    }

    #[getter]
    fn is_above_bound(&self) -> bool {
        self.facts.is_above_bound()
    }

    #[getter]
    fn is_behind(&self) -> bool {
        self.facts.is_behind()
    }

    #[getter]
    fn is_lossy(&self) -> bool {
        self.facts.is_lossy()
    }

    #[getter]
    fn dropped_share(&self) -> f64 {
        self.facts.dropped_share()
    }

    /// The sign that tables print after the numbers of the point.
    #[getter]
    fn mark(&self) -> &'static str {
        flaws::mark(&self.flaws, true)
    }

    /// The sign that tables print after a number that was measured while no packet was dropped.
    #[getter]
    fn mark_without_drops(&self) -> &'static str {
        flaws::mark(&self.flaws, false)
    }

    /// The sign that tables print instead of a latency without limit, or instead of the numbers of a run that was cut off. For other
    /// points, the mark.
    #[getter]
    fn sign(&self) -> &'static str {
        flaws::sign(&self.flaws)
    }

    /// For each job, the sign that replaces a latency that grows without limit, or the mark that follows the numbers of the job.
    #[getter]
    fn job_signs(&self) -> Vec<&'static str> {
        self.facts.job_signs()
    }

    /// For each job, a string that lists its flaws; `None` for a job without flaws.
    #[getter]
    fn job_reasons(&self) -> Vec<Option<String>> {
        self.facts.job_reasons()
    }

    /// True if the run ends when its batches are complete.
    #[getter]
    fn ends_with_its_work(&self) -> bool {
        self.facts.ends_with_its_work()
    }

    /// True if links or routers fail during the run.
    #[getter]
    fn is_failing(&self) -> bool {
        self.facts.is_failing()
    }

    /// A text that names the flaws of the point; `None` for a point without flaws.
    #[getter]
    fn reason(&self) -> Option<String> {
        (!self.flaws.is_empty()).then(|| words::reason(&self.flaws))
    }

    /// Dotted path of the power policy's parameter about which the engine has warned, if there is one.
    #[getter]
    fn risk(&self) -> Option<&str> {
        self.facts.policy_warning().map(|warning| &*warning.path)
    }

    /// The reason why latencies had not settled when the warm-up reached its limit.
    #[getter]
    fn at_limit(&self) -> Option<&str> {
        self.facts.at_limit().map(|warning| &*warning.what)
    }

    /// For each phase, the data from which Weft judges the point and later phases.
    #[getter]
    fn phases<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let one = |phase: &Facts| {
            let late = phase.late.as_ref();
            json!({
                "saturated": phase.saturated,
                "after_saturated": late.is_some_and(|late| late.after_saturated),
                "backlog": late.and_then(|late| late.backlog),
                "dropped_packets": phase.dropped_packets.unwrap_or(0.0) as u64,
            })
        };
        value::to_python(py, &self.facts.phases.iter().map(one).collect())
    }

    /// Flaws and warnings as data: code, severity, number of the phase, words, numbers, and remedy.
    fn diagnoses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        value::to_python(py, &json!(self.facts.diagnoses()))
    }

    /// Remedy for the flaw with this rank; without a rank, for the worst flaw. The text is empty for a point without flaws. `in_profile` is
    /// true if a load profile contains the load of the point.
    #[pyo3(signature = (rank = None, in_profile = false))]
    fn remedy(&self, rank: Option<usize>, in_profile: bool) -> String {
        let kind = rank.and_then(|rank| kinds::KINDS.get(rank)).or(self.flaws.first());
        let remedy = |kind| if in_profile { self.facts.remedy_in_profile(kind) } else { self.facts.remedy(kind) };
        kind.map(|kind| remedy(kind).text).unwrap_or_default()
    }

    /// Settings with which a new run can decide whether the network carries the load.
    fn to_judge(&self) -> String {
        self.facts.to_judge().text
    }

    /// Settings with which the latencies of an unsettled point would settle. `longest` is the longest warm-up limit in the sweep [cycles].
    #[pyo3(signature = (longest = 0.0))]
    fn to_settle(&self, longest: f64) -> Vec<String> {
        self.facts.to_settle(longest).into_iter().map(|remedy| remedy.text).collect()
    }

    /// Codes and sentences about a topic, which Weft prints below the tables of a sweep.
    #[pyo3(signature = (topic, longest = 0.0))]
    fn notes(&self, topic: &str, longest: f64) -> PyResult<Vec<(&'static str, String)>> {
        let notes = self.facts.notes(topic, longest).ok_or_else(|| PyKeyError::new_err(topic.to_owned()))?;
        Ok(notes.into_iter().map(|note| (note.code.name, note.text())).collect())
    }

    /// The warnings of the engine, or parts of warnings, that no note has reported.
    fn unreported(&self) -> Vec<String> {
        self.facts.unreported()
    }
}

/// All kinds of flaws, the worst first: code, words, general remedy, and the group of flaws that Weft treats in the same way.
#[pyfunction]
fn flaw_kinds(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let one = |kind: &Kind| {
        let group = format!("{:?}", kind.group).to_lowercase();
        json!({ "code": kind.code, "words": kind.words, "help": kind.help, "group": group })
    };
    value::to_python(py, &kinds::KINDS.into_iter().map(one).collect())
}

/// The signs that follow the numbers of points with flaws, and the signs that replace latencies without a limit, each with its meaning.
#[pyfunction]
fn marks(py: Python<'_>) -> PyResult<(Bound<'_, PyDict>, Bound<'_, PyDict>)> {
    let (behind, in_place) = (PyDict::new(py), PyDict::new(py));
    for mark in kinds::MARKS {
        behind.set_item(mark.sign, mark.meaning)?;
    }
    for mark in &kinds::ENDED {
        in_place.set_item(mark.sign, mark.meaning)?;
    }
    Ok((behind, in_place))
}

/// All codes of diagnoses, with name, severity, meaning, computation and remedy.
#[pyfunction]
fn codes(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let all = weft_diagnoses::codes().into_iter().map(|code| {
        json!({
            "code": code, "severity": code.severity,
            "means": code.means, "computed": code.computed, "helps": code.helps,
        })
    });
    value::to_python(py, &all.collect())
}

/// True if all points deliver the same load, up to 3 % plus random variation.
#[pyfunction]
fn same_work(accepted: Vec<Option<f64>>, packets: Vec<Option<f64>>) -> bool {
    flaws::same_work(&accepted, &packets)
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("NEXT_TO_MARK", (kinds::NEXT_TO_MARK.sign, kinds::NEXT_TO_MARK.meaning))?;
    module.add_class::<Verdict>()?;
    module.add_function(wrap_pyfunction!(flaw_kinds, module)?)?;
    module.add_function(wrap_pyfunction!(marks, module)?)?;
    module.add_function(wrap_pyfunction!(codes, module)?)?;
    module.add_function(wrap_pyfunction!(same_work, module)?)
}
