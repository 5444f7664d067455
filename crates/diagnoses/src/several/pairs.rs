//! The reasons why two points cannot be compared.

use super::windows;
use super::words;
use crate::facts::Facts;
use crate::flaws::same_work;
use crate::kinds::{self, Kind};
use crate::numbers::known;
use crate::verdict::{Diagnosis, Remedy};
use weft_units::Code;

weft_units::codes! {
    UNEQUAL_WORK = "unequal_work", Warning,
        means: "Two points deliver different loads. Their latencies, powers and energies cannot be compared.",
        computed: "The accepted loads differ by more than 3 % plus chance: 3 sqrt(1 / packets of one point + 1 / packets of the other \
                   point).",
        helps: "Compare at loads that both points carry. If chance is the reason, write a longer `measure.window`.";
    UNEQUAL_PROGRAMS = "unequal_programs", Warning,
        means: "Programs of two points send different messages. Their times and energies cannot be compared.",
        computed: "The jobs of the points differ in their number of messages or bytes.",
        helps: "Compare points that run the same programs.";
    OTHER_FAULTS = "other_faults", Warning,
        means: "The windows of two points cover different cycles, so different faults are active in them.",
        computed: "`warmup_cycles` or `window_cycles` differ, and a link or router fails in one of the points.",
        helps: "Write a fixed `measure.warmup` for all points, and faults that begin after the warm-up. Then all windows have the same \
                faults. Compare programs and batches, which are measured from cycle 0 to their end, without faults.";
}

/// A reason why two points cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Obstacle {
    pub code: &'static Code,
    /// The reason as a predicate, as in "2 pairs are saturated".
    pub what: &'static str,
}

const fn of_flaw(kind: &Kind) -> Obstacle {
    Obstacle { code: kind.code, what: kind.words }
}

pub static LOADS_DIFFER: Obstacle = Obstacle { code: &UNEQUAL_WORK, what: words::LOADS_DIFFER };
pub static MESSAGES_DIFFER: Obstacle = Obstacle { code: &UNEQUAL_PROGRAMS, what: words::MESSAGES_DIFFER };
static FAULTS_DIFFER: Obstacle = Obstacle { code: &OTHER_FAULTS, what: words::FAULTS_DIFFER };

/// A side of a comparison: a point, or the mean of the runs of a point with several seeds.
#[derive(Debug, Clone, Copy)]
pub struct Side<'a> {
    pub point: &'a Facts,
    /// The finished runs of the point: one run, or one run per seed.
    pub runs: &'a [&'a Facts],
    /// True if the results of these runs have a latency, a mean number of links that are on, and an accepted load above 0.
    pub is_measured: bool,
}

impl Side<'_> {
    /// The reasons why the point cannot be compared with any other point, worst first.
    fn flaws(&self) -> Vec<Obstacle> {
        let flaws = self.point.obstacles();
        if flaws.is_empty() && !self.is_measured {
            return vec![of_flaw(&kinds::NO_PACKET)];
        }
        flaws.into_iter().map(of_flaw).collect()
    }
}

/// The diagnosis for `pairs` of the `of` pairs, which cannot be compared for the reason `code`.
///
/// `runs`: the runs on both sides of these pairs. `None` if a flaw of a point is the reason, because that point already has its own
/// diagnosis.
pub fn not_compared(code: &str, pairs: usize, of: usize, runs: &[&Facts]) -> Option<Diagnosis> {
    let reasons = [
        (&LOADS_DIFFER, Remedy::new(words::SAME_LOADS)),
        (&MESSAGES_DIFFER, Remedy::new(words::SAME_PROGRAMS)),
        (&FAULTS_DIFFER, windows::common_warmup(runs)),
    ];
    let (reason, remedy) = reasons.into_iter().find(|(reason, _)| reason.code.name == code)?;
    Some(Diagnosis {
        code: reason.code,
        severity: reason.code.severity,
        phase: None,
        what: words::not_compared(pairs, of, reason.what),
        numbers: known([("pairs", Some(pairs as f64)), ("of_pairs", Some(of as f64))]),
        remedy,
    })
}

/// The reasons why power and latency of the two sides cannot be compared; empty if they can.
pub fn obstacles(own: Side, reference: Side) -> Vec<Obstacle> {
    let flaws = own.flaws();
    let flaws = if flaws.is_empty() { reference.flaws() } else { flaws };
    if !flaws.is_empty() {
        return flaws;
    }
    if windows::faults_differ(own.runs, reference.runs) {
        return vec![FAULTS_DIFFER];
    }
    let both = [own.point, reference.point];
    let is_same = same_work(&both.map(|each| each.accepted_load), &both.map(|each| each.packets));
    if is_same { Vec::new() } else { vec![LOADS_DIFFER] }
}

/// The reason why the means of the two sides, each over the runs of its seeds, cannot be compared; `None` if they can.
///
/// `accepted`: the mean accepted load of each side. `is_accepted`: whether the comparison is about accepted loads, which are valid for
/// saturated points also.
pub fn unequal(
    runs: &[&Facts],
    accepted: &[Option<f64>],
    packets: &[Option<f64>],
    is_accepted: bool,
) -> Option<Obstacle> {
    let worst = runs.iter().flat_map(|run| run.obstacles()).min_by_key(|kind| kind.rank());
    let is_of_load = |kind: &&Kind| matches!(kind.group, kinds::Group::Overloaded | kinds::Group::Dropping);
    match worst.filter(|kind| !(is_accepted && is_of_load(kind))) {
        Some(kind) => Some(of_flaw(kind)),
        None => (!is_accepted && !same_work(accepted, packets)).then_some(LOADS_DIFFER),
    }
}
