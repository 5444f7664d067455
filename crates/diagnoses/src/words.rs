//! The templates of the sentences about one point: one for each remedy and each note. The numbers in these sentences
//! are computed in other files.

use crate::backlog::Backlog;
use crate::facts::{EngineWarning, Facts, Job, Place};
use crate::flaws::{LIMIT, WARMUP};
use crate::format::{Span, counted, general};
use crate::kinds::Kind;
use crate::remedies::BELOW_BOUND;
use crate::verdict::Remedy;
use serde_json::Map;

pub(crate) const WINDOW: &str = "measure.window";
const MAX_WINDOW: &str = "measure.stop.complete.max_window";
const NEAR: &str = "near the capacity queues hardly ever drain";

/// A setting with its value in the notation of a scenario, for a sentence: `path: value`.
fn setting(path: &str, span: Span) -> String {
    format!("`{path}: {span}`")
}

pub(crate) fn write(remedy: Remedy) -> Remedy {
    Remedy { text: format!("write {}", remedy.text), ..remedy }
}

pub(crate) fn also_in_profile(help: &str) -> String {
    format!("{help}; a new load must also be in the profile")
}

pub(crate) fn policy_or(path: &str, help: &str, general: &str) -> Remedy {
    Remedy::of_load(format!("the cause may be {path}: {help}; otherwise {general}"))
}

pub(crate) fn warmup_and_window(key: &str, warmup: Span, window: Span) -> Remedy {
    Remedy::new(format!("write {} and {}, or more", setting(key, warmup), setting(WINDOW, window)))
        .with(key, warmup.to_string())
        .with(WINDOW, window.to_string())
}

pub(crate) fn longer_limit(limit: Span, lighter: Option<String>) -> Remedy {
    let is_of_load = lighter.is_some();
    let lighter = lighter.map_or_else(String::new, |lighter| format!("; {lighter}"));
    let text = format!("`{WARMUP}: auto` reached its limit: write {} or more{lighter}", setting(LIMIT, limit));
    Remedy { is_of_load, ..Remedy::new(text).with(LIMIT, limit.to_string()) }
}

pub(crate) fn longer_run(
    key: &str,
    warmup: Span,
    window: Option<Span>,
    replaces: bool,
    lighter: Option<String>,
) -> Remedy {
    let and = window.map_or_else(String::new, |window| format!(" and {}", setting(WINDOW, window)));
    let place = if replaces { " (in place of `auto` and of any `measure.warmup_limit`)" } else { "" };
    let is_of_load = lighter.is_some();
    let lighter = lighter.map_or_else(String::new, |lighter| format!("; {lighter}"));
    let text = format!("write {}{and}, or more{place}{lighter}", setting(key, warmup));
    let remedy = Remedy { is_of_load, ..Remedy::new(text).with(key, warmup.to_string()) };
    match window {
        Some(window) => remedy.with(WINDOW, window.to_string()),
        None => remedy,
    }
}

pub(crate) fn lighter_and_longer(load: Option<f64>, warmup: Option<(&str, Span)>) -> Remedy {
    let and = warmup.map_or_else(String::new, |(key, warmup)| format!(" and {}", setting(key, warmup)));
    // the remedy has no settings: the key of the load depends on the scenario, and the warm-up without the load is only half of the remedy
    Remedy::of_load(format!("write {}{and}: {NEAR}, however long the warm-up is", lower_load(load)))
}

pub(crate) fn else_lighter(load: Option<f64>) -> String {
    format!("if that is not enough, the load may be near the capacity: write {}", lower_load(load))
}

fn lower_load(load: Option<f64>) -> String {
    match load {
        None => "lower loads".to_owned(),
        Some(load) => format!("a load 5 % lower ({} in place of {})", general(0.95 * load, 3), general(load, 6)),
    }
}

/// Joins the remedies of several phases into one sentence.
pub(crate) fn each(remedies: impl Iterator<Item = String>) -> Remedy {
    let text = remedies.collect::<Vec<_>>().join("; ");
    Remedy { is_of_load: !text.is_empty(), ..Remedy::new(text) }
}

pub(crate) fn lower_phase(phase: f64) -> String {
    format!("lower the load of phase {phase} by 5 % or more: {NEAR}")
}

/// `lighter`: whether the load can be the reason for long queues.
pub(crate) fn longer_for_queues(phase: f64, longer: Span, lighter: bool) -> String {
    let lighter = match lighter {
        true => format!(
            "; if that is not enough, the load may be near the capacity: lower the load of phase {phase} by 5 % or more"
        ),
        false => String::new(),
    };
    let longer = longer.words();
    format!("let phase {phase} last for {longer} or more before the next phase begins or the window ends{lighter}")
}

/// `stays_broken`: whether a part is broken until the window ends.
pub(crate) fn window_with_faults(window: Span, stays_broken: bool) -> Remedy {
    let stays = match stays_broken {
        true => "; if that is not enough, the network with the broken parts may not carry this load",
        false => "",
    };
    let kept = "and leave the warm-up as it is: the faults then stay in the window";
    Remedy {
        is_of_load: stays_broken,
        ..Remedy::new(format!("write {} or more, {kept}{stays}", setting(WINDOW, window)))
    }
    .with(WINDOW, window.to_string())
}

pub(crate) fn saturated_at_faults(longer: Remedy, general: &str) -> Remedy {
    let text =
        format!("packets may wait at parts that fail or return in the window: {}; otherwise {general}", longer.text);
    Remedy { text, is_of_load: true, ..longer }
}

pub(crate) fn any_window_with_faults() -> Remedy {
    Remedy::new(format!(
        "write a longer `{WINDOW}`, and leave the warm-up as it is: the faults then stay in the window"
    ))
}

pub(crate) fn with_moved_faults(remedy: Remedy, later: Span) -> Remedy {
    let moved = format!("let each fault in the window begin and end {} later, so that it stays there", later.words());
    Remedy { text: format!("{}, and {moved}", remedy.text), settings: Map::new(), ..remedy }
}

/// `accepted`: for a saturated point, the share of its load that it accepted. `None` for other points, and if the accepted load is not
/// below the bound of the paths. `buffers`: key and required length [flits] of each group of buffers that is too short for the load.
pub(crate) fn below_bound(load: Option<f64>, share: f64, accepted: Option<f64>, buffers: &[(&str, f64)]) -> Remedy {
    let setting = |(path, needed): &(&str, f64)| format!("`{path}: {needed}flits`");
    let longer = match buffers.iter().map(setting).collect::<Vec<_>>().join(" and ") {
        none if none.is_empty() => none,
        all => format!("; or write {all}: buffers of this length cover the round trip of a credit"),
    };
    let carried = accepted.unwrap_or(1.0 / share);
    let Some(load) = load else {
        let percent = general(100.0 * (1.0 - BELOW_BOUND * carried), 2);
        return Remedy::of_load(format!("loads that are {percent} % lower{longer}"));
    };
    let (lower, bound) = (general(BELOW_BOUND * carried * load, 3), general(load / share, 4));
    let here =
        accepted.map_or_else(String::new, |part| format!("the network accepts {}, and ", general(part * load, 3)));
    Remedy::of_load(format!(
        "a load of {lower} or less: {here}the paths carry at most {bound}, or less if packets wait for each other (`weft saturation` finds \
         the highest load that the network carries){longer}"
    ))
}

pub(crate) fn lower_before(is_of_phase: bool) -> Remedy {
    let of = if is_of_phase { " of the previous phase" } else { "" };
    Remedy::of_load(format!("lower the load{of}: the network hardly delivers the packets that were left"))
}

/// `shift`: the time by which the later phases must also begin later; `None` if there are no phases.
pub(crate) fn later_window(warmup: Span, shift: Option<Span>) -> Remedy {
    let shifted =
        shift.map_or_else(String::new, |shift| format!(", and let all later phases begin {} later", shift.words()));
    let remedy = Remedy::new(format!("write {} or more{shifted}", setting(WARMUP, warmup)));
    // if phases must shift, the warm-up alone is only half of the remedy, so it is not a setting
    if shift.is_some() { remedy } else { remedy.with(WARMUP, warmup.to_string()) }
}

pub(crate) fn longer_phase(phase: f64, enough: Span) -> Remedy {
    Remedy::new(format!("let phase {phase} last for {} or more in the window", enough.words()))
}

pub(crate) fn higher_loads(times: f64) -> Remedy {
    Remedy::of_load(format!("write loads that are {times} times as high or higher: no window is long enough"))
}

pub(crate) fn window(enough: Span) -> Remedy {
    Remedy::new(format!("write {} or more", setting(WINDOW, enough))).with(WINDOW, enough.to_string())
}

pub(crate) fn larger_batches(times: f64) -> Remedy {
    Remedy::new(format!("write larger batches, or a longer program, with {times} times as many packets or more"))
}

pub(crate) fn longer_times(times: f64, is_phase: bool) -> Remedy {
    let span = if is_phase { "this phase" } else { "the window" };
    Remedy::new(format!("measure {span} for {times} times as long or more"))
}

pub(crate) fn any_packet() -> Remedy {
    Remedy::of_load("write a longer `measure.window` or a higher load, so that packets are created in the window")
}

/// `enough`: a window that is long enough; `None` if a scenario cannot have such a long window. `higher`: a load that
/// is high enough for the present window.
pub(crate) fn first_packet(enough: Option<Span>, higher: f64) -> Remedy {
    let higher = general(higher, 2);
    match enough {
        None => Remedy::of_load(format!(
            "write a load of {higher} or more: no packet was created, and no window is long enough"
        )),
        Some(enough) => Remedy::of_load(format!(
            "write {} or more, or a load of {higher} or more: no packet was created",
            setting(WINDOW, enough)
        ))
        .with(WINDOW, enough.to_string()),
    }
}

pub(crate) const LOADS: &str = "flits/terminal/cycle";

/// The accepted and the offered load with their unit, as text.
pub(crate) fn loads(facts: &Facts) -> String {
    let of = |load: Option<f64>| load.map_or_else(|| "-".to_owned(), |load| general(load, 4));
    format!("{} of {} {LOADS}", of(facts.accepted_load), of(facts.offered_load))
}

fn not_of_the_load(facts: &Facts) -> String {
    format!("{} are accepted, and the latencies are not those of this load alone", loads(facts))
}

pub(crate) fn what_and_help(warning: &EngineWarning) -> String {
    format!("{}; {}", warning.what, warning.help)
}

/// The flaws as text, separated by commas; empty if there is none.
pub fn reason(flaws: &[&Kind]) -> String {
    flaws.iter().map(|kind| kind.words).collect::<Vec<_>>().join(", ")
}

/// Texts for a job without a flaw, next to another job that has one.
pub(crate) const NEXT_TO_SATURATED: &str = "without a flaw, but another job is saturated";
pub(crate) const NEXT_TO_CUT: &str = "without a flaw, but another job was cut off";

pub(crate) fn not_judged(why: &str) -> String {
    format!("not judged: {why}")
}

pub(crate) fn may_be_saturated(facts: &Facts) -> String {
    format!("not judged: {} were accepted, and the point is {}", loads(facts), reason(&facts.flaws()))
}

pub(crate) fn part_of_period(why: &str) -> String {
    format!("part of a period: {why}")
}

/// A job that was cut off, as text with its completed share.
fn open_job(job: &Job) -> String {
    let parts = [
        (job.queue_ended_programs, job.queue_programs, "programs had ended"),
        (job.ended_ranks, job.ranks, "ranks had ended"),
        (job.batch_delivered_packets, job.batch_packets, "packets of the batch were delivered"),
    ];
    let part = parts.into_iter().find_map(|(done, of, words)| Some(format!("{} of {} {words}", done?, of?)));
    format!("job {}: {}", job.name, part.unwrap_or_else(|| "not complete".to_owned()))
}

pub(crate) fn not_complete<'a>(jobs: impl Iterator<Item = &'a Job>, most: Span, remedy: &str) -> String {
    let jobs: Vec<String> = jobs.map(open_job).collect();
    format!("not complete: cut off after {} ({}); {remedy}", most.words(), jobs.join("; "))
}

pub(crate) fn longer_run_to_end(most: Span) -> Remedy {
    let text = format!("write {} or more: the window ends with the last batch and program", setting(MAX_WINDOW, most));
    Remedy::new(text).with(MAX_WINDOW, most.to_string())
}

pub(crate) fn no_packet(is_silent: bool) -> String {
    let why = match is_silent {
        true => "no packet was created in the window",
        false => "none of the packets created in the window was delivered",
    };
    format!("nothing was measured: {why}")
}

/// The length of a window as text to be written after the word "window".
fn of_window(window: Option<f64>) -> String {
    window.map_or_else(String::new, |window| format!(" of {window} cycles"))
}

pub(crate) fn few_delivered(words: &str, packets: f64, window: Option<f64>, loads: &str) -> String {
    let (count, of) = (counted(packets, "packet"), of_window(window));
    let were = if packets == 1.0 { "was" } else { "were" };
    format!(
        "{words}: {count} of those created in the window{of} {were} delivered, the others wait; {loads} were accepted"
    )
}

pub(crate) fn few_packets(packets: f64, window: Option<f64>, has_sent_all: bool) -> String {
    let (count, of) = (counted(packets, "packet"), of_window(window));
    let more = if has_sent_all { "larger batches or a longer program" } else { "a longer measure.window" };
    format!("{count} in the window{of}: too few for a mean or a percentile; write {more}")
}

pub(crate) fn window_below_latency(window: f64, latency: f64) -> String {
    format!(
        "the window of {window} cycles is shorter than the mean latency, {} cycles: packets delivered in the window were sent before it",
        general(latency, 4)
    )
}

pub(crate) fn filling(warmup: f64, latency: f64) -> String {
    format!(
        "the window began in cycle {warmup}, but a packet takes {} cycles to arrive: the network was still filling, so the accepted load is \
         too low",
        general(latency, 4)
    )
}

fn silent_job(job: &Job) -> String {
    format!("job {} has no measured packet", job.name)
}

pub(crate) fn job_before_window(job: &Job, completed: f64, begin: f64) -> String {
    format!(
        "{}: its batch was complete in cycle {completed}, before the window began in cycle {begin}",
        silent_job(job)
    )
}

pub(crate) fn job_undelivered(job: &Job) -> String {
    format!("{}: none of the packets that it created in the window was delivered", silent_job(job))
}

pub(crate) fn job_without_packets(job: &Job) -> String {
    format!("{}: it created no packet in the window", silent_job(job))
}

fn silent_phase(phase: f64) -> String {
    format!("phase {phase} of the load has no measured packet")
}

pub(crate) fn phase_after_window(phase: f64, start: f64, end: f64) -> String {
    format!("{}: it begins in cycle {start}, and the window ends in cycle {end}", silent_phase(phase))
}

pub(crate) fn phase_before_window(phase: f64, last: f64, begin: f64) -> String {
    format!("{}: it ends in cycle {last}, and the window begins in cycle {begin}", silent_phase(phase))
}

pub(crate) fn phase_undelivered(phase: f64) -> String {
    format!("{}: no packet that was created in the phase was delivered", silent_phase(phase))
}

pub(crate) fn overloaded_phase(number: f64, phase: &Facts, waits: Option<Backlog>) -> String {
    let of = |load: Option<f64>| general(load.unwrap_or(0.0), 4);
    format!(
        "phase {number} of the load is saturated: {} of {} {LOADS} are accepted, {}",
        of(phase.accepted_load),
        of(phase.load),
        left(waits)
    )
}

/// The flits that wait when a phase ends, as text. If the phase also delivers an earlier backlog, its accepted load does not show these
/// flits.
fn left(waits: Option<Backlog>) -> String {
    let Some(waits) = waits.filter(|waits| waits.after() > 0.0 && waits.offered > 0.0) else {
        return "the remaining packets wait in the source queues for later phases".to_owned();
    };
    let begin = match waits.before > 0.0 {
        true => format!(", and {} at its beginning", general(waits.before, 3)),
        false => String::new(),
    };
    let share = general(100.0 * waits.after() / waits.offered, 3);
    format!(
        "{} flits/terminal wait in the source queues at its end ({share} % of its offered flits){begin}",
        general(waits.after(), 3)
    )
}

pub(crate) fn fell_behind(phase: f64, loads: &str, remedy: &str) -> String {
    format!(
        "phase {phase} of the load accepts too little at first: {loads} are accepted, although the network carries the load in the second \
         half; the remaining packets wait for later phases; {remedy}"
    )
}

fn waiting(late: &Backlog) -> String {
    format!("a backlog of {}", counted(late.at_begin.unwrap_or(0.0), "packet"))
}

pub(crate) fn phase_with_backlog(phase: f64, late: &Backlog, remedy: &str) -> String {
    let left = match late.at_begin {
        None => "a backlog of earlier phases".to_owned(),
        Some(_) => format!("{} left by the previous phase", waiting(late)),
    };
    let share = general(100.0 * late.before / late.offered, 3);
    format!(
        "phase {phase} of the load began with {left}, {share} % of its offered flits: its latencies are not those of its load alone; \
         {remedy}"
    )
}

pub(crate) fn left_by_warmup(late: &Backlog, facts: &Facts) -> String {
    format!("began with {} left by the warm-up: {}", waiting(late), not_of_the_load(facts))
}

/// The load and the bound of the paths, as text. If buffers are too short for their links, the text names them as a reason for a low bound.
pub(crate) fn bound(facts: &Facts) -> String {
    let of = |load: Option<f64>| general(load.unwrap_or(f64::NAN), 4);
    let (offered, bound) = (of(facts.offered_load), of(facts.path_bound_load));
    let paths: Vec<String> = facts.path_bound_buffers.iter().map(|each| format!("`{}`", each.path)).collect();
    let short = match paths.len() {
        0 => String::new(),
        1 => format!(" ({} is shorter than the round trip of a credit)", paths[0]),
        _ => format!(" ({} are shorter than the round trip of a credit)", paths.join(" and ")),
    };
    format!("the offered load is {offered}, and the paths carry at most {bound} {LOADS}{short}")
}

pub(crate) fn buffers_limit(bound: &str) -> String {
    format!("saturated: {bound}")
}

pub(crate) fn power_unsettled(what: &str) -> String {
    format!("power states not settled: {what}")
}

pub(crate) fn replies_unsettled(what: &str) -> String {
    format!("replies not settled: {what}")
}

pub(crate) fn at_path_bound(bound: &str, is_near: bool) -> String {
    match is_near {
        true => {
            format!("not settled: {bound}: so near this limit, or above it, queues grow for as long as the run lasts")
        }
        false => format!("not settled: {bound}: the run is too short to distinguish the load from this limit"),
    }
}

pub(crate) fn queues_of_phase(place: &Place, phase: &Facts) -> String {
    format!(
        "queues not settled in phase {} of the load: they are so long that their initial state has an effect for about {} cycles, but the \
         phase or the window ends {} cycles after the phase begins: the latency of the phase depends on this time",
        place.phase,
        general(phase.queue_memory_cycles.unwrap_or(0.0), 3),
        place.lasted()
    )
}

pub(crate) fn drains(facts: &Facts) -> String {
    format!(
        "queues not settled: the window delivers packets that the warm-up has left in the network: {}",
        not_of_the_load(facts)
    )
}

pub(crate) fn latency_grows(grown: f64) -> String {
    format!(
        "queues not settled: the latency still grows: packets created in the second half of the window took {:.0} % longer on average than \
         packets created in the first half; the latency depends on the initial state and on the length of the run",
        100.0 * grown
    )
}

pub(crate) fn long_queues(facts: &Facts, memory: f64, lasted: f64) -> String {
    let waits = general(facts.queueing_mean_cycles.unwrap_or(0.0), 4);
    let latency = general(facts.packet_latency_mean_cycles.unwrap_or(0.0), 4);
    let memory = general(memory, 3);
    let lasted = format!("about {memory} cycles, but warm-up and window last only {lasted} cycles");
    if facts.has_faults_in_window() {
        return format!(
            "queues not settled: a packet waits for {waits} of its {latency} cycles in queues, also at parts that fail or return in the \
             window; such long queues have an effect for {lasted}: the latency depends on the length of the window"
        );
    }
    format!(
        "queues not settled: a packet waits for {waits} of its {latency} cycles in queues; the initial state of such long queues has an \
         effect for {lasted}: the latency depends on the initial state and on the length of the run"
    )
}

pub(crate) fn warmup_not_judged(warmup: Option<f64>) -> String {
    let length = warmup.map_or_else(|| "None".to_owned(), |warmup| warmup.to_string());
    format!(
        "settled: not judged, because the load changes at given times; the scenario sets the warm-up to {length} cycles"
    )
}

/// A warning of the engine as text with its code. `text`: the warning, or only the part of it that no other sentence includes.
pub(crate) fn warning(path: &str, text: &str, code: Option<&str>) -> String {
    let code = code.map_or_else(String::new, |code| format!(" [{code}]"));
    format!("warning: {path}: {text}{code}")
}

pub(crate) fn to_settle(remedy: &str) -> String {
    format!("to settle: {remedy}")
}
