//! Decides which sentences about its points are printed below the table of a sweep.

use crate::backlog;
use crate::facts::{EngineWarning, Facts, Job, Place};
use crate::kinds::{self, Kind};
use crate::numbers::known;
use crate::verdict::Remedy;
use crate::words;
use serde_json::{Map, Value};
use weft_units::{Code, Severity};

weft_units::codes! {
    WINDOW_BELOW_LATENCY = "window_below_latency", Warning,
        means: "The window is shorter than the mean latency. Packets that arrive in the window were sent before it began.",
        computed: "`measure.window` < mean packet latency, and the point is not saturated.",
        helps: "Write a window of 10 times the mean latency or more.";
    JOB_WITHOUT_PACKETS = "job_without_packets", Warning,
        means: "A job has no measured packet, although other jobs have some.",
        computed: "The job has 0 measured packets: it created none in the window, none of them was delivered, or its batch was complete \
                   before the window.",
        helps: "Write a window in which the job sends.";
    PHASE_WITHOUT_PACKETS = "phase_without_packets", Warning,
        means: "A phase of the load has no measured packet.",
        computed: "The phase begins after the window, it ends before the window, or none of its packets was delivered.",
        helps: "Write a window that includes the phase.";
    BUFFERS_LIMIT_LOAD = "buffers_limit_load", Warning,
        means: "The offered load of a saturated point is more than its paths carry, because buffers are shorter than the round trip of a \
                credit.",
        computed: "Offered load / bound of the paths > 1. A link carries at most its buffers / the round trip of a credit. The bound is an \
                   upper bound, because packets also wait for each other.",
        helps: "Write all the longer buffers that the remedy names, or a lower load. `weft saturation` finds the highest load that the \
                network carries.";
    WARMUP_NOT_JUDGED = "warmup_not_judged", Warning,
        means: "Weft did not test whether the network had settled, because the load changes at given times.",
        computed: "The load has phases, so the scenario sets the warm-up.",
        helps: "Compare with a run that has a longer `measure.warmup` and begins all phases later by the same time.";
    MAY_BE_SATURATED = "may_be_saturated", Warning,
        means: "The point accepted less than its offered load and had not settled. It may be saturated.",
        computed: "accepted / offered < 97 % - 3 / sqrt(packets) over the window, and the point has not settled.",
        helps: "Write a warm-up of 4 times the present run and a window of 4 times the present window. The engine can then judge the \
                point.";
}

/// A sentence about a point below a table. `code`: the flaw or warning that the sentence is about. For a warning, `numbers` has the numbers
/// in the sentence; for a flaw, [`Facts::numbers`] returns them.
#[derive(Debug, Clone, PartialEq)]
pub struct Note {
    pub code: &'static Code,
    pub what: String,
    pub numbers: Map<String, Value>,
    pub remedy: Option<Remedy>,
}

impl Note {
    /// The text of the note: the finding, then its remedy if there is one.
    pub fn text(self) -> String {
        match self.remedy {
            Some(remedy) => format!("{}; {}", self.what, remedy.text),
            None => self.what,
        }
    }
}

fn note(code: &'static Code, what: String, numbers: Map<String, Value>) -> Note {
    Note { code, what, numbers, remedy: None }
}

fn of(kind: &Kind, what: String) -> Note {
    note(kind.code, what, Map::new())
}

/// A function that returns the notes of one topic for a point. `longest`: the largest `measure.warmup_limit` of all points of the sweep
/// \[cycles\].
type Topic = fn(&Facts, longest: f64) -> Vec<Note>;

/// All topics, each with its name and its function.
pub const TOPICS: [(&str, Topic); 18] = [
    ("not_judged", |facts, _| not_judged(facts)),
    ("part_of_period", |facts, _| partial(facts)),
    ("not_complete", |facts, _| not_complete(facts)),
    ("no_packet", |facts, _| no_packet(facts)),
    ("short_window", |facts, _| short_window(facts)),
    ("filling", |facts, _| filling(facts)),
    ("silent_jobs", |facts, _| silent_jobs(facts)),
    ("silent_phases", |facts, _| silent_phases(facts)),
    ("overloaded_phases", |facts, _| overloaded_phases(facts)),
    ("late_phases", |facts, _| late_phases(facts)),
    ("buffers", |facts, _| buffers(facts)),
    ("too_early", |facts, _| too_early(facts)),
    ("at_path_bound", |facts, _| at_path_bound(facts)),
    ("queues", |facts, _| queues(facts)),
    ("backlog", |facts, _| left_by_warmup(facts)),
    ("warmup", |facts, _| warmup(facts)),
    ("to_settle", to_settle),
    ("behind", |facts, _| behind(facts)),
];

impl Facts {
    /// The notes of one topic about this point; `None` if there is no topic with this name.
    pub fn notes(&self, topic: &str, longest: f64) -> Option<Vec<Note>> {
        TOPICS.iter().find(|(name, _)| *name == topic).map(|(_, notes)| notes(self, longest))
    }

    /// The notes that make the results of the point doubtful although it has no flaw.
    pub(crate) fn doubts(&self) -> Vec<Note> {
        let all = TOPICS.iter().flat_map(|(_, notes)| notes(self, 0.0));
        all.filter(|note| note.code.severity == Severity::Warning).collect()
    }

    /// The engine's warnings about the point that no note includes, as sentences. If a note includes only a part of a warning, the list has
    /// the rest.
    pub fn unreported(&self) -> Vec<String> {
        let open = self.has(&kinds::NOT_JUDGED).then(|| self.short_span()).flatten();
        let early = [self.short_warmup(), self.without_replies()];
        let rest = |warning: &EngineWarning| {
            let is = |noted: Option<&EngineWarning>| noted.is_some_and(|noted| std::ptr::eq(noted, warning));
            let text = if early.into_iter().any(is) { warning.help.clone() } else { words::what_and_help(warning) };
            (!is(open)).then(|| words::warning(&warning.path, &text, warning.code.as_deref()))
        };
        self.warnings.iter().filter_map(rest).collect()
    }

    /// If the flaw is that Weft cannot decide whether the network carries the load of the point: the reason, with the remedy.
    fn unjudged(&self) -> Option<String> {
        let why = || self.short_span().map(words::what_and_help);
        self.has(&kinds::NOT_JUDGED).then(|| why().unwrap_or_else(|| kinds::NOT_JUDGED.words.to_owned()))
    }
}

/// The note about a point that accepted less than its offered load and had not settled.
fn behind(facts: &Facts) -> Vec<Note> {
    let behind_note = || Note {
        remedy: Some(facts.to_judge()),
        ..note(&MAY_BE_SATURATED, words::may_be_saturated(facts), known(facts.loads()))
    };
    facts.is_behind().then(behind_note).into_iter().collect()
}

fn not_judged(facts: &Facts) -> Vec<Note> {
    facts.unjudged().map(|why| of(&kinds::NOT_JUDGED, words::not_judged(&why))).into_iter().collect()
}

/// The note about numbers that depend on which part of a period the window, or a phase in it, covers.
fn partial(facts: &Facts) -> Vec<Note> {
    if std::iter::once(facts).chain(&facts.phases).all(|span| span.whole_periods != Some(false)) {
        return Vec::new();
    }
    let warned = facts.short_span().map(words::what_and_help);
    let why = warned.unwrap_or_else(|| kinds::PART_OF_PERIOD.words.to_owned());
    match facts.unjudged() {
        Some(known) if known == why => Vec::new(),
        Some(_) | None => vec![of(&kinds::PART_OF_PERIOD, words::part_of_period(&why))],
    }
}

/// The note about a run that was cut off, with the completed share of its jobs.
fn not_complete(facts: &Facts) -> Vec<Note> {
    let text = || {
        let open = facts.jobs.iter().filter(|job| job.is_open());
        let most = facts.span(facts.window_cycles.unwrap_or(0.0));
        words::not_complete(open, most, &facts.to_complete().text)
    };
    facts.has(&kinds::NOT_COMPLETE).then(|| of(&kinds::NOT_COMPLETE, text())).into_iter().collect()
}

fn no_packet(facts: &Facts) -> Vec<Note> {
    let is_silent = facts.offered_load.unwrap_or(0.0) == 0.0;
    facts.has(&kinds::NO_PACKET).then(|| of(&kinds::NO_PACKET, words::no_packet(is_silent))).into_iter().collect()
}

/// The note about a window with too few packets, or shorter than the mean latency of a packet.
fn short_window(facts: &Facts) -> Vec<Note> {
    let flaws = facts.flaws();
    let is_over = crate::flaws::is_over(&flaws);
    let window = facts.window_cycles.filter(|&window| window != 0.0);
    let packets = facts.packets.unwrap_or(0.0);
    if flaws.iter().any(|kind| kind.is(&kinds::TOO_FEW_PACKETS)) {
        let text = match is_over {
            true => words::few_delivered(flaws[0].words, packets, window, &words::loads(facts)),
            false => words::few_packets(packets, window, facts.has_sent_all()),
        };
        return vec![of(&kinds::TOO_FEW_PACKETS, text)];
    }
    match (window, facts.packet_latency_mean_cycles) {
        (Some(window), Some(latency)) if window < latency && !is_over => {
            let numbers = known([("window_cycles", Some(window)), ("packet_latency_mean_cycles", Some(latency))]);
            let what = words::window_below_latency(window, latency);
            let remedy = Some(facts.accepted(words::window(facts.span((10.0 * latency).ceil()))));
            vec![Note { remedy, ..note(&WINDOW_BELOW_LATENCY, what, numbers) }]
        }
        (_, _) => Vec::new(),
    }
}

/// The note about a window that began before the first packets had arrived.
fn filling(facts: &Facts) -> Vec<Note> {
    let note = |latency| Note {
        remedy: Some(facts.remedy(&kinds::FILLING)),
        ..of(&kinds::FILLING, words::filling(facts.warmup_cycles.unwrap_or(0.0), latency))
    };
    facts.fills_for().map(note).into_iter().collect()
}

/// For a point with several jobs, the notes about jobs of which no packet was measured.
fn silent_jobs(facts: &Facts) -> Vec<Note> {
    if facts.jobs.len() < 2 {
        return Vec::new();
    }
    let silent = facts.jobs.iter().filter(|job| job.packets == Some(0.0));
    let text = |job: &Job| match (job.completion_cycles, facts.warmup_cycles) {
        (Some(completed), Some(begin)) if completed <= begin => words::job_before_window(job, completed, begin),
        _ if job.offered_load.unwrap_or(0.0) != 0.0 => words::job_undelivered(job),
        _ => words::job_without_packets(job),
    };
    let numbers = |job: &Job| known([("packets", job.packets), ("completion_cycles", job.completion_cycles)]);
    silent.map(|job| note(&JOB_WITHOUT_PACKETS, text(job), numbers(job))).collect()
}

/// The notes about phases of the load in which no packet was measured.
fn silent_phases(facts: &Facts) -> Vec<Note> {
    let begin = facts.warmup_cycles.unwrap_or(0.0);
    let end = begin + facts.window_cycles.unwrap_or(0.0);
    let starts = facts.phases.iter().map(|phase| phase.place.as_ref().and_then(|place| place.start_cycle));
    let nexts = starts.skip(1).chain([None]);
    let note_of = |(phase, next): (&Facts, Option<f64>)| {
        let place = phase.place.as_ref()?;
        let text = match place.start_cycle {
            Some(start) if start >= end => Some(words::phase_after_window(place.phase, start, end)),
            _ if place.from_cycle.is_none() => {
                Some(words::phase_before_window(place.phase, next.unwrap_or(begin), begin))
            }
            _ => (phase.packets == Some(0.0)).then(|| words::phase_undelivered(place.phase)),
        };
        let numbers = known([("phase", Some(place.phase)), ("start_cycle", place.start_cycle)]);
        Some(note(&PHASE_WITHOUT_PACKETS, text?, numbers))
    };
    facts.phases.iter().zip(nexts).filter_map(note_of).collect()
}

fn overloaded_phases(facts: &Facts) -> Vec<Note> {
    let waits = backlog::of_phases(&facts.phases);
    let is_over = |place: &&Place| place.own_saturated == Some(true);
    let text = |(phase, waits): (&Facts, Option<backlog::Backlog>)| {
        let place = phase.place.as_ref().filter(is_over)?;
        Some(words::overloaded_phase(place.phase, phase, waits))
    };
    let texts = facts.phases.iter().zip(waits).filter_map(text);
    texts.map(|text| of(&kinds::SATURATED_IN_A_PHASE, text)).collect()
}

/// The notes about phases that are not saturated, but leave a backlog to the next phase or begin with the backlog of the previous phase.
fn late_phases(facts: &Facts) -> Vec<Note> {
    let notes = facts.phases.iter().filter_map(|phase| {
        let number = phase.place.as_ref()?.phase;
        if let Some(late) = phase.fell_behind() {
            let remedy = phase.longer_phase(late).text;
            return Some(of(&kinds::FELL_BEHIND, words::fell_behind(number, &words::loads(phase), &remedy)));
        }
        let late = phase.began_behind()?;
        let remedy = phase.after_backlog(&late).text;
        Some(of(&kinds::BEGAN_WITH_BACKLOG, words::phase_with_backlog(number, &late, &remedy)))
    });
    notes.collect()
}

/// The note about saturated points whose buffers are too short for their load.
fn buffers(facts: &Facts) -> Vec<Note> {
    let is_short = !facts.path_bound_buffers.is_empty() && facts.is_over() && facts.is_above_bound();
    let numbers = || known(facts.loads().into_iter().chain([facts.bound()]));
    let limit_note = || Note {
        remedy: Some(words::write(facts.below_bound())),
        ..note(&BUFFERS_LIMIT_LOAD, words::buffers_limit(&words::bound(facts)), numbers())
    };
    is_short.then(limit_note).into_iter().collect()
}

/// The note about a fixed warm-up that is too short for power states or replies to settle.
fn too_early(facts: &Facts) -> Vec<Note> {
    let short = facts.short_warmup().map(|warning| of(&kinds::POWER_UNSETTLED, words::power_unsettled(&warning.what)));
    let early =
        facts.without_replies().map(|warning| of(&kinds::REPLIES_UNSETTLED, words::replies_unsettled(&warning.what)));
    short.into_iter().chain(early).collect()
}

fn at_path_bound(facts: &Facts) -> Vec<Note> {
    let is_full = facts.has(&kinds::AT_PATH_BOUND) && !facts.is_over();
    let what = || words::at_path_bound(&words::bound(facts), facts.is_near_bound());
    is_full.then(|| of(&kinds::AT_PATH_BOUND, what())).into_iter().collect()
}

fn queues(facts: &Facts) -> Vec<Note> {
    if !facts.has(&kinds::QUEUES_UNSETTLED) || facts.has(&kinds::AT_PATH_BOUND) {
        return Vec::new();
    }
    let texts = if facts.phases.is_empty() {
        vec![queues_of_point(facts)]
    } else {
        let unsettled = facts.phases.iter().filter(|phase| phase.has(&kinds::QUEUES_UNSETTLED));
        unsettled.filter_map(|phase| Some(words::queues_of_phase(phase.place.as_ref()?, phase))).collect()
    };
    texts.into_iter().map(|text| of(&kinds::QUEUES_UNSETTLED, text)).collect()
}

fn queues_of_point(facts: &Facts) -> String {
    if facts.drains() {
        return words::drains(facts);
    }
    let lasted = facts.warmup_cycles.unwrap_or(0.0) + facts.window_cycles.unwrap_or(0.0);
    let memory = facts.queue_memory_cycles.unwrap_or(0.0);
    match facts.latency_growth_share {
        Some(grown) if memory <= lasted => words::latency_grows(grown),
        Some(_) | None => words::long_queues(facts, memory, lasted),
    }
}

fn left_by_warmup(facts: &Facts) -> Vec<Note> {
    let late = if facts.phases.is_empty() { facts.began_behind() } else { None };
    late.map(|late| of(&kinds::BEGAN_WITH_BACKLOG, words::left_by_warmup(&late, facts))).into_iter().collect()
}

/// The note about a point for which Weft had no test of whether latencies had settled: its load has phases, and its warm-up is fixed.
fn warmup(facts: &Facts) -> Vec<Note> {
    let is_by_phases = !facts.phases.is_empty() && facts.warmup_settled.is_none();
    let numbers = || known([("warmup_cycles", facts.warmup_cycles)]);
    let unjudged_note = || note(&WARMUP_NOT_JUDGED, words::warmup_not_judged(facts.warmup_cycles), numbers());
    is_by_phases.then(unjudged_note).into_iter().collect()
}

/// The notes that propose settings with which the point would settle. The list is empty if the engine already warned
/// about a short fixed warm-up before the run.
fn to_settle(facts: &Facts, longest: f64) -> Vec<Note> {
    if facts.short_warmup().is_some() || facts.without_replies().is_some() {
        return Vec::new();
    }
    let flaws = facts.flaws();
    let unsettled = flaws.iter().find(|kind| kind.group == kinds::Group::Unsettled);
    let Some(kind) = unsettled else { return Vec::new() };
    facts.to_settle(longest).iter().map(|remedy| of(kind, words::to_settle(&remedy.text))).collect()
}
