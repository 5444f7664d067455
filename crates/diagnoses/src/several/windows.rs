//! Finds compared points whose windows cover different cycles. The sources of these points possibly offered different loads by chance, and
//! different faults were possibly active in the two windows.

use super::words;
use crate::facts::Facts;
use crate::numbers::known;
use crate::verdict::{Diagnosis, Remedy};

weft_units::codes! {
    OTHER_WINDOWS = "other_windows", Warning,
        means: "The windows of compared points begin or end in different cycles, so the offered loads differ by chance.",
        computed: "`warmup_cycles` or `window_cycles` differ, and so do the offered loads. Batches and programs are excluded, because they \
                   send the same packets in every window.",
        helps: "Write a fixed `measure.warmup` for all points, and no `measure.stop`.";
}

/// If a run's batches are complete after at least this share of its cycles, the batches ended the run. The share is below 1 because the
/// engine checks for the end only every few cycles.
const ENDED: f64 = 0.97;

impl Facts {
    /// Whether the run ended because its batches were complete, and not after a fixed time.
    pub fn ends_with_its_work(&self) -> bool {
        let cycles = self.warmup_cycles.unwrap_or(0.0) + self.window_cycles.unwrap_or(0.0);
        self.completion_cycles.is_some_and(|completed| completed >= ENDED * cycles)
    }

    /// Whether links or routers failed during the run.
    pub fn is_failing(&self) -> bool {
        self.has_fault_parts || self.dropped_packets.is_some_and(|dropped| dropped > 0.0)
    }

    /// Whether the run sends the same packets whatever the length of its window is: batches, programs and closed loops.
    fn has_its_packets(&self) -> bool {
        self.ends_with_its_work() || self.is_closed_loop
    }

    fn begin(&self) -> f64 {
        self.warmup_cycles.unwrap_or(0.0)
    }
}

/// Warm-up and window of each run, sorted.
fn windows(runs: &[&Facts]) -> Vec<(f64, f64)> {
    let mut all: Vec<_> = runs.iter().map(|run| (run.begin(), run.window_cycles.unwrap_or(0.0))).collect();
    all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    all
}

/// Whether parts fail in runs whose windows cover other cycles than the windows of the reference.
pub fn faults_differ(own: &[&Facts], reference: &[&Facts]) -> bool {
    windows(own) != windows(reference) && own.iter().chain(reference).any(|run| run.is_failing())
}

/// The setting of `measure.warmup` that makes all windows begin in the same cycle.
fn fixed_warmup(runs: &[&Facts]) -> String {
    let longest = runs.iter().copied().reduce(|a, b| if b.begin() > a.begin() { b } else { a });
    longest.map_or_else(String::new, |run| words::fixed_warmup(run.span(run.begin())))
}

/// The remedy for runs with faults: settings with which all windows cover the same cycles. A window with programs or batches ends when the
/// last of them ends, so no setting makes such windows equal.
pub fn common_warmup(runs: &[&Facts]) -> Remedy {
    if runs.iter().any(|run| run.is_program || run.ends_with_its_work()) {
        return Remedy::new(words::WITHOUT_FAULTS);
    }
    Remedy::new(words::common_warmup(&fixed_warmup(runs)))
}

fn mean(runs: &[&Facts], of: impl Fn(&Facts) -> f64) -> f64 {
    runs.iter().map(|run| of(run)).sum::<f64>() / runs.len() as f64
}

/// The diagnosis of compared points that were offered different loads because their windows cover different cycles; `None` if there are
/// none.
///
/// Each pair has the runs of one side and the runs of the other side.
pub fn other_windows(pairs: &[[Vec<&Facts>; 2]]) -> Option<Diagnosis> {
    let is_judged = |pair: &&[Vec<&Facts>; 2]| {
        pair.iter().flatten().all(|run| run.offered_load.is_some() && !run.has_its_packets())
    };
    let judged: Vec<_> = pairs.iter().filter(is_judged).collect();
    let apart: Vec<_> = judged.iter().filter(|[a, b]| windows(a) != windows(b)).collect();
    let loads = |[a, b]: &[Vec<&Facts>; 2]| [a, b].map(|side| mean(side, |run| run.offered_load.unwrap_or(0.0)));
    let gap = |pair: &[Vec<&Facts>; 2]| {
        let [a, b] = loads(pair);
        (a - b).abs()
    };
    let first = apart.iter().copied().reduce(|a, b| if gap(b) > gap(a) { b } else { a })?;
    if gap(first) == 0.0 {
        return None;
    }
    let offered = loads(first);
    let warmups = [&first[0], &first[1]].map(|side| mean(side, Facts::begin));
    let runs: Vec<&Facts> = apart.iter().flat_map(|pair| pair.iter().flatten().copied()).collect();
    let numbers = [
        ("pairs", apart.len() as f64),
        ("first_warmup_cycles", warmups[0]),
        ("second_warmup_cycles", warmups[1]),
        ("first_offered_load_flits_per_terminal_cycle", offered[0]),
        ("second_offered_load_flits_per_terminal_cycle", offered[1]),
    ];
    Some(Diagnosis {
        code: &OTHER_WINDOWS,
        severity: OTHER_WINDOWS.severity,
        phase: None,
        what: words::other_windows(apart.len(), judged.len(), warmups, offered),
        numbers: known(numbers.map(|(name, value)| (name, Some(value)))),
        remedy: Remedy::new(words::same_packets(&fixed_warmup(&runs))),
    })
}
