//! Finds points that accept too little load because the power policy keeps links dark.

use super::words;
use crate::facts::Facts;
use crate::numbers::known;
use crate::verdict::{Diagnosis, Remedy};

weft_units::codes! {
    COLLAPSED = "collapsed", Warning,
        means: "The network carries very little, although no channel is busy. The power policy keeps links dark.",
        computed: "The point is overloaded and accepts less than 50 % of its load, and no channel is busy for 50 % of the window. The same \
                   load is carried at a point that switches no link. If no such point was run, links were dark for at least 20 % of their \
                   cycles. A link is dark while it cannot carry flits: it is off, or it switches.",
        helps: "Let links wait longer before they switch off, or choose another policy. `weft plot residency` shows the states of the \
                links.";
    DARK_LINKS_LIMIT_LOAD = "dark_links_limit_load", Warning,
        means: "The network does not carry the load while links are dark, although no channel is busy.",
        computed: "As `collapsed`, but the network accepts 50 % of its load or more.",
        helps: "Let links wait longer before they switch off, or choose another policy. `weft plot residency` shows the states of the \
                links.";
}

/// If no channel of an overloaded network is used more than this share of the window, bandwidth is not the limit.
const IDLE: f64 = 0.5;
/// If links were dark for at least this share of their cycles, they explain an overload even without another point for comparison.
const DARK: f64 = 0.2;
/// A network that accepts less than this share of the offered load has collapsed.
const COLLAPSED_BELOW: f64 = 0.5;

/// Use of the links that a policy manages, as shares of their cycles.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Links {
    pub on: f64,
    pub off: f64,
    /// Share of the cycles in which links were off or switching; 0 if no link ever switched.
    pub dark: f64,
    /// Share of the window in which the busiest channel carried flits.
    pub busiest: f64,
}

/// The names and facts that the sentence about a collapse needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Names<'a> {
    /// The name of the collapsed point, and the number of similar points.
    pub place: &'a str,
    /// The power policy of the collapsed point.
    pub policy: &'a str,
    /// A policy under which the network carries the same load; `None` if no such point was run.
    pub carried_under: Option<&'a str>,
    /// Whether the policy switches off links that receive no flits.
    pub goes_off_idle: bool,
}

/// Whether a point is overloaded because links were dark, although no channel is busy. `beside`: the point with the same load and always-on
/// links, if the sweep has one.
pub fn is_held_back(point: &Facts, links: Links, beside: Option<&Facts>) -> bool {
    let is_idle = links.dark != 0.0 && links.busiest < IDLE && point.is_over();
    is_idle && beside.map_or(links.dark >= DARK, |beside| beside.flaws().is_empty())
}

/// The accepted and offered loads that show the overload of a point: those of its worst phase, or of its window.
struct Loads {
    accepted: f64,
    of: f64,
    phase: Option<f64>,
}

impl Loads {
    fn of(point: &Facts) -> Self {
        let share = |phase: &Facts| phase.accepted_load.unwrap_or(0.0) / phase.load.unwrap_or(f64::NAN);
        let is_over = |phase: &&Facts| phase.place.as_ref().is_some_and(|place| place.own_saturated == Some(true));
        let worst = point.phases.iter().filter(is_over).min_by(|a, b| share(a).total_cmp(&share(b)));
        let (from, of) = match worst.filter(|_| point.saturated != Some(true)) {
            Some(phase) => (phase, phase.load),
            None => (point, point.offered_load),
        };
        let place = from.place.as_ref().map(|place| place.phase);
        Self { accepted: from.accepted_load.unwrap_or(0.0), of: of.unwrap_or(0.0), phase: place }
    }
}

/// The diagnosis of a point that does not carry its load because of dark links.
pub fn diagnosis(point: &Facts, links: Links, names: Names) -> Diagnosis {
    let loads = Loads::of(point);
    let has_collapsed = loads.accepted < COLLAPSED_BELOW * loads.of;
    let code = if has_collapsed { &COLLAPSED } else { &DARK_LINKS_LIMIT_LOAD };
    let numbers = [
        ("offered_load_flits_per_terminal_cycle", Some(loads.of)),
        ("accepted_load_flits_per_terminal_cycle", Some(loads.accepted)),
        ("phase", loads.phase),
        ("busiest_channel_share", Some(links.busiest)),
        ("links_on_share", Some(links.on)),
        ("links_off_share", Some(links.off)),
        ("links_switching_share", Some(links.dark - links.off)),
    ];
    let carried = words::carried(names.place, loads.phase, has_collapsed, loads.accepted, loads.of);
    Diagnosis {
        code,
        severity: code.severity,
        phase: None,
        what: words::held_back(&carried, links, names),
        numbers: known(numbers),
        remedy: Remedy::new("`weft plot residency {root}` shows the states of the links"),
    }
}
