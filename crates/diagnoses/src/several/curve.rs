//! Judges load curves: finds contradictions between the results of two loads, and the saturation load of a curve.

use super::words;
use crate::facts::Facts;
use crate::kinds;
use crate::numbers::known;
use crate::verdict::Diagnosis;

weft_units::codes! {
    NOT_MONOTONIC = "not_monotonic", Warning,
        means: "A load is saturated, although the same network carries a higher load.",
        computed: "The lowest saturated load is below the highest load that is carried. The verdict on saturation covers only one window. \
                   A routing that leaves the shortest paths only at long queues may still fill these queues in the window. At a higher \
                   load, the queues fill sooner.",
        helps: "Write a warm-up of 4 times the present run and a window of 4 times the present window. Longer runs show which verdict \
                holds.";
}

/// Two points of a curve whose results contradict each other: a load is saturated, but a higher load is carried.
#[derive(Debug, Clone, PartialEq)]
pub struct Contradiction {
    /// Two points, as indices: the lowest saturated point, and the highest carried point.
    pub points: [usize; 2],
    pub diagnosis: Diagnosis,
}

/// Finds the contradiction among the points of one network. The points are in the order of their loads. `network`: text that identifies
/// this network in the sweep; empty if the sweep varies only the load.
pub fn not_monotonic(points: &[(f64, &Facts)], network: &str) -> Option<Contradiction> {
    let with = |holds: fn(&Facts) -> bool| (0..points.len()).filter(move |&point| holds(points[point].1));
    let by_load = |a: &usize, b: &usize| points[*a].0.total_cmp(&points[*b].0);
    let low = with(|facts| facts.has(&kinds::SATURATED)).min_by(by_load)?;
    let high = with(|facts| facts.saturated == Some(false)).rev().max_by(by_load)?;
    let [(load, facts), (higher, carried)] = [points[low], points[high]];
    if load >= higher {
        return None;
    }
    let numbers =
        [("saturated_load_flits_per_terminal_cycle", load), ("carried_load_flits_per_terminal_cycle", higher)];
    let diagnosis = Diagnosis {
        code: &NOT_MONOTONIC,
        severity: NOT_MONOTONIC.severity,
        phase: None,
        what: words::not_monotonic(network, (load, facts), (higher, carried)),
        numbers: known(numbers.map(|(name, value)| (name, Some(value)))),
        remedy: facts.to_judge(),
    };
    Some(Contradiction { points: [low, high], diagnosis })
}

/// Whether at least half of the runs of a load (one run per seed) are saturated. `None` if the answer depends on runs with an unknown
/// verdict.
pub fn is_too_much(runs: &[&Facts]) -> Option<bool> {
    let count = |holds: fn(&Facts) -> bool| runs.iter().filter(|run| holds(run)).count();
    let votes = count(|run| run.is_over() || run.is_lossy() || run.is_above_bound());
    if 2 * votes >= runs.len() {
        return Some(true);
    }
    let open = count(|run| crate::flaws::is_unjudged(&run.flaws()) || run.is_behind());
    if 2 * (votes + open) >= runs.len() { None } else { Some(false) }
}

/// The loads of a curve, with the verdict on each load.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Curve<'a> {
    /// The loads in ascending order; for each load, whether it is too high for the network (`None` if unknown).
    pub loads: &'a [(f64, Option<bool>)],
    /// Loads at which more than 3 % of the packets were dropped, each with the largest dropped share among its runs.
    pub dropped: &'a [(f64, f64)],
    /// Whether the curve is of a closed loop: sources send less if the network delivers more slowly.
    pub is_closed_loop: bool,
    /// Whether the engine warned that the network possibly fails to carry loads between the loads that were run.
    pub is_warned: bool,
}

/// The saturation load of a curve, as far as the loads that were run show it.
#[derive(Debug, Clone, PartialEq)]
pub struct Saturation {
    /// The highest load that the network carried in every run with that load.
    pub steady: Option<f64>,
    /// The lowest load that was too high for the network.
    pub over: Option<f64>,
    /// For a curve without a saturated load: the lowest load above `steady` without a verdict.
    pub open_from: Option<f64>,
    /// The finding as a part of a sentence.
    pub what: String,
}

impl Curve<'_> {
    pub fn saturation(&self) -> Saturation {
        let is_lossy = |load: f64| self.dropped.iter().any(|&(lossy, _)| lossy == load);
        let kept: Vec<(f64, Option<bool>)> = self.loads.iter().copied().filter(|&(load, _)| !is_lossy(load)).collect();
        let of = |is: Option<bool>| kept.iter().filter(move |&&(_, over)| over == is).map(|&(load, _)| load);
        let steady = of(Some(false)).filter(|&load| of(None).all(|unknown| unknown != load)).reduce(f64::max);
        let over = of(Some(true)).next();
        let is_above = |&load: &f64| steady.is_none_or(|steady| load > steady);
        let open_from = if over.is_none() { of(None).filter(is_above).reduce(f64::min) } else { None };
        let mut carried: Vec<f64> = of(Some(false)).collect();
        carried.dedup();
        let mut found = Saturation { steady, over, open_from, what: String::new() };
        found.what = words::saturation(self, &found, &carried);
        found
    }
}
