//! The effect of faults on the delivery of packets: before, during and after the faults, and the recovery time.
//!
//! # Source
//! None: the usual questions about a network that loses a link.
//! # Guarantees
//! Each packet is counted in the cycle of the window in which it is delivered or dropped, not in the cycle of its creation. Otherwise a
//! packet that was created before a fault and delayed by it would increase the latency before the fault. *Before* is the part of the window
//! up to its first failure. *During* consists of all later cycles in which a link or router is broken. *After* consists of all later cycles
//! in which the whole network works. Together these three parts are the whole window. `baseline.rs` decides when packets have recovered,
//! that is, arrive as they did before the fault. If the comparison is impossible, the recovery time is null, and the results give a reason.
//! # Validation
//! `scenario/tests/recovery.rs` checks runs with known recovery times.

mod baseline;

use crate::statistics::per_packet;
use baseline::{Baseline, Span, Time};
use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::outcome::{Arrived, FaultOutcome, Outcome};
use weft_engine::spec::{Episode, Fault, Member, Part, episodes};

/// Maximum number of episodes that the summary lists, and maximum number of failed parts that it names for an episode. An episode is a time
/// in which at least one part is broken without interruption.
const LISTED: usize = 200;
const NAMED: usize = 3;

/// The keys of the summary about faults. The summary has no such keys if no part fails in the run.
pub(crate) fn of(spec: &Spec, outcome: &Outcome) -> Map<String, Value> {
    let Some(faults) = &outcome.faults else { return Map::new() };
    let window = (outcome.warmup, outcome.warmup + outcome.window);
    let hit: Vec<Episode> = episodes(&spec.faults)
        .into_iter()
        .filter(|e| e.from < window.1 && e.until.is_none_or(|until| until > window.0))
        .collect();
    let judge = Baseline::of(spec, outcome, faults, window, &hit);
    let judged: Vec<Judged> = (0..hit.len()).map(|k| Judged::of(spec, faults, &judge, (&hit, k), window.1)).collect();
    let mut fields = Map::new();
    let parts = parts(faults, window, &hit, f64::from(spec.traffic.members()));
    for part in &parts {
        let name = part["part"].as_str().unwrap_or_default();
        fields.insert(format!("latency_{name}_faults_cycles"), part["latency_cycles"].clone());
        fields.insert(format!("delivered_{name}_faults_share"), part["delivered_share"].clone());
    }
    let (recovery, why) = longest(judged.iter().map(|of| &of.recovery), &judge, "fault");
    let (back, why_back) = longest(judged.iter().map(|of| &of.back), &judge, "return");
    fields.extend([
        ("recovery_cycles".to_owned(), json!(recovery.map(|time| time.cycles))),
        ("recovery_interval_cycles".to_owned(), json!(recovery.map(|time| time.interval))),
        ("return_recovery_cycles".to_owned(), json!(back.map(|time| time.cycles))),
        ("return_recovery_interval_cycles".to_owned(), json!(back.map(|time| time.interval))),
        ("recovery_unknown".to_owned(), json!(why)),
        ("return_recovery_unknown".to_owned(), json!(why_back)),
        ("recovery_bin_cycles".to_owned(), json!(judge.as_ref().ok().map(|judge| judge.bin))),
        ("fault_parts".to_owned(), json!(parts)),
        ("fault_episodes".to_owned(), episodes_of(spec, faults, window, &hit, &judged)),
        ("fault_episodes_count".to_owned(), json!(hit.len())),
    ]);
    fields
}

/// For the parts of the window before, during and after the faults: their length, and the packets that arrived.
fn parts(faults: &FaultOutcome, window: (u64, u64), hit: &[Episode], terminals: f64) -> Vec<Value> {
    let first = hit.first().map_or(window.1, |episode| episode.from);
    let of = |part: &str, belongs: &dyn Fn(u64, bool) -> bool, empty: String| {
        let (mut cycles, mut all) = (0, Arrived::default());
        for span in faults.spans.iter().filter(|span| belongs(span.from, span.broken)) {
            cycles += span.to - span.from;
            all.add(&span.arrived);
        }
        let latency = per_packet(all.latency, all.packets);
        let none =
            (cycles > 0 && latency.is_none()).then(|| format!("no packet was delivered in these {cycles} cycles"));
        let slots = cycles as f64 * terminals;
        json!({
            "part": part,
            "cycles": cycles,
            "packets": all.packets,
            "dropped_packets": all.dropped,
            "accepted_load": (slots > 0.0).then(|| all.flits as f64 / slots),
            "latency_cycles": latency,
            "delivered_share": per_packet(all.packets, all.packets + all.dropped),
            "unknown": if cycles == 0 { Some(empty) } else { none },
        })
    };
    let begins = format!("the first fault occurs in cycle {first}, but the window begins in cycle {}", window.0);
    let ends = format!("a part is broken until the window ends in cycle {}", window.1);
    let none = format!("no part is broken in the window, cycles {} to {}", window.0, window.1);
    vec![
        of("before", &|from, broken| !broken && from < first, begins),
        of("during", &|_, broken| broken, none.clone()),
        of("after", &|from, broken| !broken && from >= first, if hit.is_empty() { none } else { ends }),
    ]
}

/// Two recovery times of an episode. `recovery` is counted from its beginning, while parts are broken, and `back` from its end. Each is a
/// time, or the reason why the time is unknown.
struct Judged {
    recovery: Result<Time, String>,
    back: Result<Time, String>,
}

impl Judged {
    fn of(
        spec: &Spec,
        faults: &FaultOutcome,
        judge: &Result<Baseline, String>,
        hit: (&[Episode], usize),
        end: u64,
    ) -> Self {
        let (episode, later) = (hit.0[hit.1], hit.0.get(hit.1 + 1));
        let ends = (end, "the window ends");
        let rebuilt = |event: u64| if faults.rebuilds { spec.rebuilt(event).max(event) } else { event };
        let after = |event: u64, lost_from, lasts, (end, next)| {
            let span = Span { event, lost_from, lasts, rebuilt: rebuilt(event), next, end };
            judge.as_ref().map_err(Clone::clone)?.back(&span)
        };
        let before = hit.1.checked_sub(1).and_then(|before| hit.0[before].until).unwrap_or(0);
        let next = match next_change(&spec.faults, episode.from).filter(|&cycle| cycle < end) {
            None => ends,
            whole if whole == episode.until => (episode.until.unwrap_or(end), "all parts are repaired"),
            Some(cycle) => (cycle, "the next change occurs"),
        };
        let back = match episode.until.filter(|&until| until < end) {
            None => Err(format!("a part is broken until the window ends in cycle {end}")),
            Some(until) => after(
                until,
                until,
                "after the return",
                later.map_or(ends, |later| (later.from, "the next fault occurs")),
            ),
        };
        Self { recovery: after(episode.from, before, "while parts are broken", next), back }
    }
}

/// The first cycle after `cycle` in which a part fails or returns.
fn next_change(faults: &[Fault], cycle: u64) -> Option<u64> {
    faults.iter().flat_map(|fault| [Some(fault.at), fault.until]).flatten().filter(|&change| change > cycle).min()
}

/// Returns the longest of these times. If some times are unknown, returns the reason instead.
fn longest<'a>(
    times: impl Iterator<Item = &'a Result<Time, String>>,
    judge: &Result<Baseline, String>,
    what: &str,
) -> (Option<Time>, Option<String>) {
    if let Err(why) = judge {
        return (None, Some(why.clone()));
    }
    let (mut known, mut unknown, mut why) = (Vec::new(), 0, None);
    for time in times {
        match time {
            Ok(time) => known.push(*time),
            Err(reason) => {
                unknown += 1;
                why = why.or(Some(reason));
            }
        }
    }
    let longest = known.iter().copied().max_by_key(|time| time.cycles);
    let Some(why) = why else { return (longest, None) };
    let all = known.len() + unknown;
    if all == 1 {
        return (None, Some(why.clone()));
    }
    let others = longest.map_or_else(String::new, |time| format!("; the longest known time is {} cycles", time.cycles));
    (None, Some(format!("unknown after {unknown} of {all} {what}s ({why}){others}")))
}

/// The first episodes of faults in the window, each with its failed parts and their effects.
fn episodes_of(spec: &Spec, faults: &FaultOutcome, window: (u64, u64), hit: &[Episode], judged: &[Judged]) -> Value {
    let row = |(k, (episode, judged)): (usize, (&Episode, &Judged))| {
        let during = faults.spans.iter().find(|span| span.broken && span.from == episode.from.max(window.0));
        let arrived = during.map(|span| span.arrived).unwrap_or_default();
        let mut why: Vec<&str> = [&judged.recovery, &judged.back]
            .iter()
            .filter_map(|time| time.as_ref().err().map(String::as_str))
            .collect();
        why.dedup();
        json!({
            "episode": k + 1,
            "failed": failed(spec, episode),
            "from_cycle": episode.from,
            "to_cycle": episode.until,
            "latency_cycles": per_packet(arrived.latency, arrived.packets),
            "packets": arrived.packets,
            "dropped_packets": arrived.dropped,
            "delivered_share": per_packet(arrived.packets, arrived.packets + arrived.dropped),
            "recovery_cycles": judged.recovery.as_ref().ok().map(|time| time.cycles),
            "recovery_interval_cycles": judged.recovery.as_ref().ok().map(|time| time.interval),
            "return_recovery_cycles": judged.back.as_ref().ok().map(|time| time.cycles),
            "return_recovery_interval_cycles": judged.back.as_ref().ok().map(|time| time.interval),
            "unknown": (!why.is_empty()).then(|| why.join("; ")),
        })
    };
    hit.iter().zip(judged).take(LISTED).enumerate().map(row).collect()
}

/// The names of the links and routers that fail in an episode, as text.
fn failed(spec: &Spec, episode: &Episode) -> String {
    let within = |at: u64| at >= episode.from && episode.until.is_none_or(|until| at < until);
    let mut faults: Vec<_> = spec.faults.iter().filter(|fault| within(fault.at)).collect();
    faults.sort_by_key(|fault| fault.at);
    let link = |[a, b]: [u32; 2]| spec.graph.link_name(a, b);
    let words = faults.iter().take(NAMED).map(|fault| match fault.what {
        Part::Link(ends) => format!("link {}", link(ends)),
        Part::LinkOfClass(ends, class) => {
            format!("{} link {}", spec.graph.class_names()[usize::from(class)], link(ends))
        }
        Part::Member(Member { ends, number, .. }) => format!("member {number} of link {}", link(ends)),
        Part::Router(router) => format!("router {}", spec.graph.router_name(router)),
    });
    let named = words.collect::<Vec<_>>().join(", ");
    if faults.len() > NAMED { format!("{named} and {} more", faults.len() - NAMED) } else { named }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_time_is_reported_unless_one_is_unknown() {
        let judge = Err("a reason".to_owned());
        let of = |cycles| Time { cycles, interval: (cycles - 1, None) };
        let lost = Err("not while parts are broken".to_owned());
        let known = Ok(Baseline::flat());
        assert_eq!(longest([Ok(of(5)), Ok(of(9))].iter(), &known, "fault"), (Some(of(9)), None));
        assert_eq!(longest([lost.clone()].iter(), &known, "fault"), (None, lost.clone().err()));
        let (none, why) = longest([Ok(of(5)), lost, Ok(of(9))].iter(), &known, "fault");
        assert_eq!(none, None);
        let expected = "unknown after 1 of 3 faults (not while parts are broken); the longest known time is 9 cycles";
        assert_eq!(why.as_deref(), Some(expected));
        assert_eq!(longest([Ok(of(5))].iter(), &judge, "fault"), (None, judge.err()));
    }
}
