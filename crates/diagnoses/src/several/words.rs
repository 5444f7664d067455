//! The templates of the sentences about several points.

use super::collapse::{Links, Names};
use super::curve::{Curve, Saturation};
use crate::facts::Facts;
use crate::format::{Span, general};
use crate::words::{LOADS, loads};

/// Maximum number of loads that a sentence lists.
const LISTED: usize = 6;
const OTHERS: &str = "the network may not carry other loads (see the warning)";
// If a policy switches off links because they receive no flits, these links wake for a waiting packet. Links that are off for another
// reason may stay off.
const WAITING: &str = "packets wait for links that are not on, and block the packets behind them; the next links therefore get no flits \
                       and also go to sleep";
const CLOSED: &str = "links that are not on accept no new packets";

pub(super) const LOADS_DIFFER: &str = "of unequal work (accepted loads differ)";
pub(super) const MESSAGES_DIFFER: &str = "of unequal work (the programs send different messages)";
pub(super) const FAULTS_DIFFER: &str = "with windows in different cycles, and so with different faults";

pub(super) const SAME_LOADS: &str =
    "compare at loads that both points carry; if chance is the reason, write a longer `measure.window`";
pub(super) const SAME_PROGRAMS: &str = "compare points that run the same programs";

pub(super) fn not_compared(pairs: usize, of: usize, why: &str) -> String {
    format!("not compared, {pairs} of {of} pairs of points: {why}")
}

/// The sentence about the part of a too high load that the network accepts.
pub(super) fn carried(place: &str, phase: Option<f64>, has_collapsed: bool, accepted: f64, of: f64) -> String {
    let head = if has_collapsed { "Collapse" } else { "Overload while links are dark" };
    let phase = phase.map_or_else(String::new, |phase| format!(", phase {phase} of the load"));
    let much = match accepted >= of {
        true => "packets of the window are not delivered within `measure.drain_limit`".to_owned(),
        false => format!("{} of {} {LOADS} are accepted", general(accepted, 4), general(of, 4)),
    };
    format!("{head} at {place}{phase}: {much}")
}

fn percent(share: f64) -> String {
    format!("{} %", general(100.0 * share, 2))
}

pub(super) fn held_back(carried: &str, links: Links, names: Names) -> String {
    let switching = links.dark - links.off;
    let mut text = format!(
        "{carried} although no channel is busy for more than {} of the window. Under {} the links were on for {} of their cycles, off for \
         {} and switching for {}: {}",
        percent(links.busiest),
        names.policy,
        percent(links.on),
        percent(links.off),
        percent(switching),
        if names.goes_off_idle { WAITING } else { CLOSED },
    );
    if names.goes_off_idle && switching > links.on {
        text +=
            ". Links spend more time switching than on: they may switch off after less idle time than a switch takes";
    }
    if let Some(other) = names.carried_under {
        text += &format!(". Under {other}, which switches no link, the network carries the same load");
    }
    text
}

pub(super) fn not_monotonic(network: &str, low: (f64, &Facts), high: (f64, &Facts)) -> String {
    let of = if network.is_empty() { String::new() } else { format!(" ({network})") };
    format!(
        "not monotonic{of}: load {} is saturated ({} accepted), and {} is not ({} accepted). At the lower load, the queues that decide the \
         choice of the routing may still have been filling",
        general(low.0, 6),
        loads(low.1),
        general(high.0, 6),
        loads(high.1),
    )
}

pub(super) fn fixed_warmup(span: Span) -> String {
    format!("write a fixed `measure.warmup` for all points, such as `{span}`")
}

pub(super) const WITHOUT_FAULTS: &str = "compare these points without `faults` and `fault_model`: programs and batches end in different \
                                         cycles, and are measured from cycle 0";

pub(super) fn common_warmup(fixed: &str) -> String {
    format!("{fixed}, and faults that begin after the warm-up: all windows then have the same faults")
}

pub(super) fn same_packets(fixed: &str) -> String {
    format!("to get the same packets, {fixed}, and no `measure.stop`")
}

pub(super) fn other_windows(apart: usize, of: usize, warmups: [f64; 2], offered: [f64; 2]) -> String {
    let count = if of > 1 { format!("{apart} of {of} pairs") } else { "this pair".to_owned() };
    format!(
        "the windows of {count} begin or end in different cycles (warm-up {:.0} and {:.0} cycles), so the offered loads differ by chance \
         ({} and {} {LOADS})",
        warmups[0],
        warmups[1],
        general(offered[0], 4),
        general(offered[1], 4),
    )
}

/// The loads that the network carries, as text: listed if there are few.
fn not_at(carried: &[f64]) -> String {
    let of = |load: &f64| general(*load, 4);
    match carried {
        [first, .., last] if carried.len() > LISTED => {
            format!("not at {} loads from {} to {}", carried.len(), of(first), of(last))
        }
        few => format!("not at {}", few.iter().map(of).collect::<Vec<_>>().join(", ")),
    }
}

/// The text about the saturation load of a curve. `carried`: the loads that the network carries, in ascending order.
pub(super) fn saturation(curve: &Curve, found: &Saturation, carried: &[f64]) -> String {
    let of = |load: f64| general(load, 4);
    let below = |steady| if curve.is_warned { not_at(carried) } else { format!("not up to {}", of(steady)) };
    let place = match (found.over, found.steady) {
        (None, _) if curve.is_closed_loop => "never: in a closed loop the load follows the network".to_owned(),
        (None, steady) => {
            let open = found.open_from.map(|load| format!("not judged from {} on", of(load)));
            steady.map(below).into_iter().chain(open).collect::<Vec<_>>().join(", ")
        }
        (Some(over), None) => format!("at {} or below", of(over)),
        (Some(over), Some(steady)) if steady > over => format!("at {}, though not at {}", of(over), of(steady)),
        (Some(over), Some(steady)) => format!("between {} and {}", of(steady), of(over)),
    };
    let follows = found.over.is_none() && curve.is_closed_loop;
    let warned = if curve.is_warned && found.steady.is_some() && !follows { OTHERS } else { "" };
    let parts = [&*place, warned, &*dropped(curve.dropped)];
    parts.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("; ")
}

fn dropped(lossy: &[(f64, f64)]) -> String {
    if lossy.is_empty() {
        return String::new();
    }
    let loads: Vec<String> = lossy.iter().map(|&(load, _)| general(load, 4)).collect();
    let most = lossy.iter().map(|&(_, share)| share).fold(0.0, f64::max);
    let up_to = if lossy.len() > 1 { "up to " } else { "" };
    format!("{up_to}{} % of the packets are dropped at {}", general(100.0 * most, 3), loads.join(", "))
}
