//! Functions that compare points of a sweep, and judge them from the verdicts on the points.

use crate::diagnoses::Verdict;
use crate::value;
use pyo3::prelude::*;
use serde_json::json;
use weft_diagnoses::several::collapse::{self, Links, Names};
use weft_diagnoses::several::curve::{self, Curve};
use weft_diagnoses::several::pairs::{self, Obstacle, Side};
use weft_diagnoses::several::saving::Power;
use weft_diagnoses::several::windows;
use weft_diagnoses::{Diagnosis, Facts};

type Runs<'py> = Vec<PyRef<'py, Verdict>>;

fn facts<'a>(runs: &'a [PyRef<'_, Verdict>]) -> Vec<&'a Facts> {
    runs.iter().map(|run| run.facts()).collect()
}

/// The code of a reason against a comparison, and the words that state the reason.
fn named(obstacle: Obstacle) -> (&'static str, &'static str) {
    (obstacle.code.name, obstacle.what)
}

fn optional<'py>(py: Python<'py>, diagnosis: Option<&Diagnosis>) -> PyResult<Option<Bound<'py, PyAny>>> {
    diagnosis.map(|diagnosis| value::to_python(py, &json!(diagnosis))).transpose()
}

fn links((on, off, dark, busiest): (f64, f64, f64, f64)) -> Links {
    Links { on, off, dark, busiest }
}

/// True if the accepted load of a point is low because links are dark (off or switching). `shares` contains the shares of cycles in which
/// links are on, off, and dark, and the share of the window in which the busiest channel carries flits. `beside`: the point with the same
/// load in which no link is switched.
#[pyfunction]
#[pyo3(signature = (point, shares, beside = None))]
fn is_held_back(point: &Verdict, shares: (f64, f64, f64, f64), beside: Option<&Verdict>) -> bool {
    collapse::is_held_back(point.facts(), links(shares), beside.map(Verdict::facts))
}

/// The diagnosis of a point whose accepted load is limited by dark links.
#[pyfunction]
#[pyo3(signature = (point, shares, place, policy, carried_under, goes_off_idle))]
fn held_back<'py>(
    py: Python<'py>,
    point: &Verdict,
    shares: (f64, f64, f64, f64),
    place: &str,
    policy: &str,
    carried_under: Option<&str>,
    goes_off_idle: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let names = Names { place, policy, carried_under, goes_off_idle };
    value::to_python(py, &json!(collapse::diagnosis(point.facts(), links(shares), names)))
}

/// The indices of two loads whose results contradict each other, and the diagnosis. The contradiction is that the network carries the
/// higher load, but not the lower load.
#[pyfunction]
fn not_monotonic<'py>(
    py: Python<'py>,
    loads: Vec<f64>,
    points: Runs<'py>,
    network: &str,
) -> PyResult<Option<([usize; 2], Bound<'py, PyAny>)>> {
    let points: Vec<(f64, &Facts)> = loads.into_iter().zip(facts(&points)).collect();
    let found = curve::not_monotonic(&points, network);
    found.map(|found| Ok((found.points, value::to_python(py, &json!(found.diagnosis))?))).transpose()
}

/// True if at least half of the runs at a load show that the load is too high; `None` if this depends on runs without a verdict.
#[pyfunction]
fn is_too_much(runs: Runs<'_>) -> Option<bool> {
    curve::is_too_much(&facts(&runs))
}

/// The saturation load of a curve: the highest load that the network carries, and the verdict in words.
#[pyfunction]
fn saturation(
    loads: Vec<(f64, Option<bool>)>,
    dropped: Vec<(f64, f64)>,
    is_closed_loop: bool,
    is_warned: bool,
) -> (Option<f64>, String) {
    let found = Curve { loads: &loads, dropped: &dropped, is_closed_loop, is_warned }.saturation();
    (found.steady, found.what)
}

/// Reasons why two points cannot be compared: the code of each reason, and the words that state it. Each of the two points is described by
/// its verdict, the runs over which it is the mean, and a flag. The flag is true if the results have a latency, a mean number of links that
/// are on, and an accepted load above 0.
#[pyfunction]
fn obstacles(
    own: (PyRef<'_, Verdict>, Runs<'_>, bool),
    reference: (PyRef<'_, Verdict>, Runs<'_>, bool),
) -> Vec<(&'static str, &'static str)> {
    let (own_runs, reference_runs) = (facts(&own.1), facts(&reference.1));
    let own = Side { point: own.0.facts(), runs: &own_runs, is_measured: own.2 };
    let reference = Side { point: reference.0.facts(), runs: &reference_runs, is_measured: reference.2 };
    pairs::obstacles(own, reference).into_iter().map(named).collect()
}

/// The diagnosis of pairs of points that cannot be compared for the reason `code`; `None` if a flaw of a point is the reason. `runs`: the
/// runs of the points in all pairs.
#[pyfunction]
fn not_compared<'py>(
    py: Python<'py>,
    code: &str,
    pairs: usize,
    of: usize,
    runs: Runs<'_>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    optional(py, pairs::not_compared(code, pairs, of, &facts(&runs)).as_ref())
}

/// The code and the words of the reason why means over seeds cannot be compared.
#[pyfunction]
fn unequal(
    runs: Runs<'_>,
    accepted: Vec<Option<f64>>,
    packets: Vec<Option<f64>>,
    is_accepted: bool,
) -> Option<(&'static str, &'static str)> {
    pairs::unequal(&facts(&runs), &accepted, &packets, is_accepted).map(named)
}

fn power((mean_w, static_w, accepted, packets): (f64, f64, f64, f64)) -> Power {
    Power { mean_w, static_w, accepted, packets }
}

/// The power [W] that a reference would have at the accepted load `accepted`, computed from its power at its own accepted load. The tuple
/// contains the mean power of the reference [W], the static part of this power [W], its accepted load [flits/terminal/cycle] and its
/// packets.
#[pyfunction]
fn power_at_w(reference: (f64, f64, f64, f64), accepted: f64) -> f64 {
    power(reference).at_w(accepted)
}

/// The largest difference in power between two points at the same accepted load that random variation can explain [W].
#[pyfunction]
fn chance_w(own: (f64, f64, f64, f64), other: (f64, f64, f64, f64)) -> f64 {
    power(own).chance_w(power(other))
}

/// Power that a point saves, compared with a reference at the same accepted load [W]; 0 if random variation explains the difference.
#[pyfunction]
fn saved_w(own: (f64, f64, f64, f64), reference: (f64, f64, f64, f64)) -> f64 {
    power(own).saved_w(power(reference))
}

/// True if links or routers fail in the runs, and the windows of the runs cover other cycles than the windows of the reference.
#[pyfunction]
fn faults_differ(own: Runs<'_>, reference: Runs<'_>) -> bool {
    windows::faults_differ(&facts(&own), &facts(&reference))
}

/// Settings of the warm-up with which the windows of runs with faults cover the same cycles.
#[pyfunction]
fn common_warmup(runs: Runs<'_>) -> String {
    windows::common_warmup(&facts(&runs)).text
}

/// The diagnosis of pairs of points whose windows cover different cycles and have different offered loads.
#[pyfunction]
fn other_windows<'py>(py: Python<'py>, pairs: Vec<(Runs<'py>, Runs<'py>)>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let pairs: Vec<[Vec<&Facts>; 2]> = pairs.iter().map(|(a, b)| [facts(a), facts(b)]).collect();
    optional(py, windows::other_windows(&pairs).as_ref())
}

pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let programs_differ = named(pairs::MESSAGES_DIFFER);
    module.add("PROGRAMS_DIFFER", programs_differ)?;
    module.add_function(wrap_pyfunction!(is_held_back, module)?)?;
    module.add_function(wrap_pyfunction!(held_back, module)?)?;
    module.add_function(wrap_pyfunction!(not_monotonic, module)?)?;
    module.add_function(wrap_pyfunction!(is_too_much, module)?)?;
    module.add_function(wrap_pyfunction!(saturation, module)?)?;
    module.add_function(wrap_pyfunction!(obstacles, module)?)?;
    module.add_function(wrap_pyfunction!(not_compared, module)?)?;
    module.add_function(wrap_pyfunction!(unequal, module)?)?;
    module.add_function(wrap_pyfunction!(power_at_w, module)?)?;
    module.add_function(wrap_pyfunction!(chance_w, module)?)?;
    module.add_function(wrap_pyfunction!(saved_w, module)?)?;
    module.add_function(wrap_pyfunction!(faults_differ, module)?)?;
    module.add_function(wrap_pyfunction!(common_warmup, module)?)?;
    module.add_function(wrap_pyfunction!(other_windows, module)?)
}
