//! Link classes are off at the times of a timetable, which may repeat; a packet that meets such a link waits for it.
//!
//! # Source
//! Ours: the reference of a plan that knows nothing of the traffic, such as a night or a maintenance window.
//! # Parameters
//! off: rows, each with from and until \[time\], counted from the beginning of the run or period, and classes, the names
//! of the link classes that are off then (default: all that are managed); period \[time\]: after which the rows repeat
//! (default: they do not); transition \[time\]: duration of going down and of waking.
//! # Guarantees
//! The run begins with all links on. A channel is shut at `from`, goes down for one transition, is off, wakes one
//! transition before `until` and is on at `until`, whatever waits for it: packets wait until then, and do not wake it. No
//! row is for ever, so none waits for ever. Never drops a flit: a channel is shut in the first cycle of its row in which no
//! packet holds one of its VCs, and draws for one transition more than the flits that have been granted take to leave; it
//! stays on in a row that leaves no time for that. Packets of one flit hold no VC: their rows begin at `from`.
//! # Not modelled
//! Packets that know of the timetable and go round; a link that closes to new packets while others hold it.
//! # Validation
//! `engine/src/models/power/timetable.rs`: cycles per state against the rows of a timetable, cycle by cycle, in an idle
//! network; the same times on under any load of one-flit packets; refusals. `engine/tests/conformance/policy.rs`: nothing
//! is lost, accounts close, the same in 1 and 3 blocks. No rows of a peer: neither has link states.

use crate::api::agents::{Agents, BlockSite, Channels};
use crate::api::examples::written;
use crate::api::policy::{LinkKnowledge, Offers, Policy, PolicyModel, Site};
use crate::state::LinkState;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

const PATH: &str = "power.policy.timetable";

/// Link classes are off at the times of a timetable, which may repeat; a packet that meets such a link waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timetable {
    /// When which links are off.
    pub off: Vec<Row>,
    /// After this time the rows begin again. Default: they do not repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
    /// Duration of going down and of waking; the channel draws full power and carries nothing.
    pub transition: Time,
}

/// Links that are off for some time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Names of link classes. Default: all that the policy manages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// They begin to go down, in the run or in each period.
    pub from: Time,
    /// They are on again; in the next period, where this is more than one period.
    pub until: Time,
}

impl Timetable {
    pub(crate) const OFFERS: Offers = Offers { links: LinkKnowledge::Nothing, packets_wait_for_links: true, ..Offers::ALWAYS_ON };

    /// The rows in cycles, before their classes are looked at.
    fn times(&self, cycle_fs: u128) -> Result<Times, Refusal> {
        let above_zero = |name: &str, time: &Time| {
            let path = format!("{PATH}.{name}");
            match time.cycles(cycle_fs, &path)? {
                0 => Err(Refusal::new(path, "0 cycles", "write at least 1cycle")),
                cycles => Ok(cycles),
            }
        };
        let transition = above_zero("transition", &self.transition)?;
        let period = self.period.as_ref().map(|period| above_zero("period", period)).transpose()?;
        if self.off.is_empty() {
            let help = "add a row, such as {from: 20us, until: 60us}, or write policy: always_on";
            return Err(Refusal::new(format!("{PATH}.off"), "no row: all links stay on for ever", help));
        }
        let mut rows = Vec::new();
        for (k, row) in self.off.iter().enumerate() {
            let at = |name: &str| format!("{PATH}.off.{k}.{name}");
            let (from, until) = (row.from.cycles(cycle_fs, &at("from"))?, row.until.cycles(cycle_fs, &at("until"))?);
            let span = Span { from, until };
            span.check(transition, period, at)?;
            rows.push(span);
        }
        Ok(Times { rows, period, transition })
    }

    /// For each class, the rows in which it is off.
    fn spans(&self, site: &Site, times: &Times) -> Result<Vec<Vec<Span>>, Refusal> {
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); site.managed.len()];
        for (k, row) in self.off.iter().enumerate() {
            for class in row.numbers(site, k)? {
                let rows = &mut rows_of[class];
                let clash = rows.iter().find(|&&other| times.rows[k].meets(&times.rows[other], times.period));
                if let Some(other) = clash {
                    let (name, Span { from, until }) = (&site.graph.class_names()[class], times.rows[*other]);
                    let what = format!("{name} is off already, or until just then, by row {other}: {from} to {until} cycles");
                    let help = "make one row of both, or leave at least 1cycle between them";
                    return Err(Refusal::new(format!("{PATH}.off.{k}"), what, help));
                }
                rows.push(k);
            }
        }
        let span = |rows: Vec<usize>| rows.into_iter().map(|k| times.rows[k]).collect();
        let mut spans: Vec<Vec<Span>> = rows_of.into_iter().map(span).collect();
        spans.iter_mut().for_each(|spans| spans.sort_by_key(|span| span.from));
        Ok(spans)
    }
}

impl Row {
    /// Numbers of the classes of row `k`, each once.
    fn numbers(&self, site: &Site, k: usize) -> Result<Vec<usize>, Refusal> {
        let names = site.graph.class_names();
        let managed: Vec<usize> = (1..names.len()).filter(|&class| site.managed[class]).collect();
        let path = format!("{PATH}.off.{k}.classes");
        let valid = managed.iter().map(|&class| names[class].as_str()).collect::<Vec<_>>().join(", ");
        if managed.is_empty() {
            let what = "the timetable has no link to switch: no class of links between routers is managed";
            return Err(Refusal::new("power.manages", what, "name such a class, or write policy: always_on"));
        }
        let Some(classes) = &self.classes else { return Ok(managed) };
        if classes.is_empty() {
            return Err(Refusal::new(path, "no class", format!("leave classes out for all, or name some of: {valid}")));
        }
        let mut numbers = Vec::new();
        for (j, name) in classes.iter().enumerate() {
            let path = format!("{path}.{j}");
            let Some(class) = names.iter().position(|other| other == name) else {
                let what = format!("the topology has no link class `{name}`");
                return Err(Refusal::new(path, what, format!("write one of: {valid}")));
            };
            if class == 0 {
                let help = format!("write one of: {valid}");
                return Err(Refusal::new(path, "terminal links always stay on in this version", help));
            }
            if !site.managed[class] {
                let what = format!("the policy does not manage {name}: power.manages leaves it out");
                return Err(Refusal::new(path, what, format!("add {name} to power.manages, or write one of: {valid}")));
            }
            if !numbers.contains(&class) {
                numbers.push(class);
            }
        }
        Ok(numbers)
    }
}

impl PolicyModel for Timetable {
    fn modes(&self) -> &'static [LinkState] {
        &[LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking]
    }

    /// One period; without one, until the last row is over.
    fn settling_period(&self, _: &Graph, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        let times = self.times(cycle_fs)?;
        Ok(times.period.or_else(|| times.rows.iter().map(|row| row.until).max()))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let times = self.times(site.cycle_fs)?;
        let spans = self.spans(site, &times)?;
        let ports = (0..site.graph.routers()).map(|router| site.graph.ports(router));
        Ok(Arc::new(Plan {
            spans,
            period: times.period,
            transition: times.transition,
            classes: ports.map(|ports| ports.iter().map(|port| port.class).collect()).collect(),
        }))
    }

    fn examples() -> Vec<Self> {
        // all links are off for a third of the time, in the first cycles too
        written(&[r#"{"off": [{"from": "0ns", "until": "40ns"}, {"from": "250ns", "until": "400ns"}], "period": "600ns",
            "transition": "15ns"}"#])
    }
}

/// The parameters in cycles.
#[derive(Debug)]
struct Times {
    rows: Vec<Span>,
    period: Option<u64>,
    transition: u64,
}

/// Cycles in which a channel is not on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    from: u64,
    until: u64,
}

impl Span {
    /// Refuses what is no row of a timetable. `at`: path of a key of the row.
    fn check(&self, transition: u64, period: Option<u64>, at: impl Fn(&str) -> String) -> Result<(), Refusal> {
        let &Self { from, until } = self;
        if from >= until {
            let what = format!("{until} cycles is not after from, {from} cycles");
            let help = match period {
                Some(period) => format!("write {} for the next period", Time::Cycles(until.saturating_add(period))),
                None => format!("write more than {}", Time::Cycles(from)),
            };
            return Err(Refusal::new(at("until"), what, help));
        }
        let (long, least) = (until - from, transition.saturating_mul(2).saturating_add(1));
        if long < least {
            let what = format!(
                "{until} - {from} = {long} cycles leave no time to be off between going down and waking, 2 x {transition} cycles"
            );
            let help = format!("write at least {}, or a shorter transition", Time::Cycles(from.saturating_add(least)));
            return Err(Refusal::new(at("until"), what, help));
        }
        let Some(period) = period else { return Ok(()) };
        if long >= period {
            let what = format!("{until} - {from} = {long} cycles fill the period of {period}: the link would never be on");
            let help = format!("write less than {}, or a longer period", Time::Cycles(from.saturating_add(period)));
            return Err(Refusal::new(at("until"), what, help));
        }
        if from >= period {
            let what = format!("{from} cycles is not inside of the period of {period}");
            return Err(Refusal::new(at("from"), what, format!("write less than {}", Time::Cycles(period))));
        }
        Ok(())
    }

    /// Whether the two overlap, or one begins as the other ends, in any period.
    fn meets(&self, other: &Self, period: Option<u64>) -> bool {
        // both begin in one period and are shorter: a neighbouring period is as far as they reach
        let meet = |a: &Self, b: &Self, later: u64| {
            a.from.saturating_add(later) <= b.until && b.from <= a.until.saturating_add(later)
        };
        let period = period.unwrap_or(0);
        meet(self, other, 0) || period > 0 && (meet(self, other, period) || meet(other, self, period))
    }
}

/// The timetable at work.
#[derive(Debug, Clone)]
struct Plan {
    /// When each class is off, in order of time.
    spans: Vec<Vec<Span>>,
    period: Option<u64>,
    transition: u64,
    /// The class of each port of each router.
    classes: Vec<Vec<u8>>,
}

impl Plan {
    /// The first time at or after cycle `now` from which a class is to be off.
    fn next(&self, class: u8, now: u64) -> Option<Span> {
        let spans = &self.spans[usize::from(class)];
        let begun = self.period.map_or(0, |period| now / period * period);
        let later = |span: &Span, by: u64| Span { from: span.from.saturating_add(by), until: span.until.saturating_add(by) };
        let here = spans.iter().map(|span| later(span, begun)).find(|span| span.from >= now);
        here.or_else(|| Some(later(spans.first()?, begun.saturating_add(self.period?))))
    }
}

impl Policy for Plan {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let class = |o: usize| {
            let router = site.routers[site.channels[o].router as usize];
            self.classes[router.id as usize][o - router.base as usize]
        };
        let nothing = Span { from: u64::MAX, until: u64::MAX };
        let managed = (0..site.channels.len()).filter(|&o| site.channels[o].managed);
        Some(Box::new(Clerks {
            managed: managed.filter(|&o| !self.spans[usize::from(class(o))].is_empty()).collect(),
            rows: (0..site.channels.len()).map(|o| (class(o), nothing)).collect(),
            plan: self.clone(),
        }))
    }
}

/// One clerk per channel, who knows its class and the row that comes or is.
#[derive(Debug)]
struct Clerks {
    managed: Vec<usize>,
    rows: Vec<(u8, Span)>,
    plan: Plan,
}

impl Agents for Clerks {
    fn start(&mut self, channels: &mut dyn Channels) {
        for k in 0..self.managed.len() {
            self.await_row(self.managed[k], channels.now(), channels);
        }
    }

    fn timers(&mut self, ended: &[u32], channels: &mut dyn Channels) {
        for o in ended.iter().map(|&o| o as usize) {
            let (_, row) = self.rows[o];
            match channels.state(o) {
                LinkState::On => self.begin_row(o, channels),
                LinkState::Draining => {
                    channels.enter(o, LinkState::Off);
                    channels.set_timer(o, row.until - self.plan.transition);
                }
                LinkState::Off => {
                    channels.enter(o, LinkState::Waking);
                    channels.set_timer(o, row.until);
                }
                LinkState::Waking => {
                    channels.enter(o, LinkState::On);
                    channels.open(o);
                    channels.look_again(o);
                    self.await_row(o, row.until, channels);
                }
                LinkState::Shadow => {}
            }
        }
    }
}

impl Clerks {
    /// The next row of channel `o` is the first that begins at cycle `from` or later.
    fn await_row(&mut self, o: usize, from: u64, channels: &mut dyn Channels) {
        let (class, row) = &mut self.rows[o];
        let Some(next) = self.plan.next(*class, from) else { return };
        *row = next;
        if next.from > channels.now() {
            channels.set_timer(o, next.from);
        } else {
            self.begin_row(o, channels);
        }
    }

    /// The row of channel `o` has begun: it goes down, now or when no packet holds it, or stays on if too little is left.
    fn begin_row(&mut self, o: usize, channels: &mut dyn Channels) {
        let (now, until, transition) = (channels.now(), self.rows[o].1.until, self.plan.transition);
        // flits that wait for the link leave first
        let is_down = now + u64::from(channels.free_for(o).min(0).unsigned_abs()) + transition;
        if is_down + transition >= until {
            self.await_row(o, until, channels);
        } else if channels.is_held(o) {
            channels.set_timer(o, now + 1);
        } else {
            channels.shut(o);
            channels.enter(o, LinkState::Draining);
            channels.set_timer(o, is_down);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::models::power::PolicyConfig;
    use crate::network::spec::{Execution, LoadPhase, Spec};
    use crate::state::LinkState;
    use crate::{Outcome, run};
    use serde_json::{Value, json};
    use weft_units::Refusal;

    /// 4 columns x 3 rows of 2 terminals; a cycle is 1 ns.
    fn network(timetable: Value, load: f64) -> Spec {
        let topology = json!({"hyperx": {"widths": [4, 3], "terminals_per_router": 2}});
        let routing = serde_json::from_value(json!({"ugal_p": {}})).unwrap();
        let mut spec = Spec::new(&serde_json::from_value(topology).unwrap(), routing).unwrap();
        spec.policy = serde_json::from_value(json!({"timetable": timetable})).unwrap();
        spec.set_load(load);
        (spec.phases.warmup, spec.phases.window) = (0, 1000);
        spec
    }

    fn run_in(spec: &Spec, blocks: usize) -> Outcome {
        run(spec, Execution { threads: 1, blocks }, &()).expect("a run")
    }

    /// The state of a channel at cycle `now`, if nothing keeps it: looked up in every row of every period.
    fn state_at(rows: &[(u64, u64)], period: Option<u64>, transition: u64, now: u64) -> LinkState {
        for later in (0..100).map(|k| k * period.unwrap_or(0)) {
            for (from, until) in rows.iter().map(|&(from, until)| (from + later, until + later)) {
                if (from..until).contains(&now) {
                    return match now {
                        now if now < from + transition => LinkState::Draining,
                        now if now < until - transition => LinkState::Off,
                        _ => LinkState::Waking,
                    };
                }
            }
        }
        LinkState::On
    }

    fn expected(rows: &[(u64, u64)], period: Option<u64>, cycles: std::ops::Range<u64>) -> [u64; LinkState::COUNT] {
        let mut sums = [0; LinkState::COUNT];
        cycles.for_each(|now| sums[state_at(rows, period, 5, now) as usize] += 1);
        sums
    }

    /// Rows (from, until) and the period.
    type Table = (&'static [(u64, u64)], Option<u64>);

    const TABLES: [Table; 6] = [
        (&[(20, 60)], Some(100)),
        // from the first cycle; two rows, the second written first
        (&[(50, 90), (0, 11)], Some(130)),
        // over the end of the period: not before the first one
        (&[(80, 120)], Some(100)),
        (&[(0, 99)], Some(100)),
        (&[(20, 60), (700, 711)], None),
        // begins in the window and ends behind it; too far ahead for one turn of the wheel of timers
        (&[(990, 2600)], Some(3000)),
    ];

    fn table(rows: &[(u64, u64)], period: Option<u64>, classes: Option<&str>) -> Value {
        let row = |&(from, until): &(u64, u64)| {
            json!({"classes": classes.map(|name| [name]), "from": format!("{from}ns"), "until": format!("{until}ns")})
        };
        let rows: Vec<Value> = rows.iter().map(row).collect();
        json!({"off": rows, "period": period.map(|ns| format!("{ns}ns")), "transition": "5ns"})
    }

    #[test]
    fn idle_channels_are_in_each_state_for_the_cycles_of_the_timetable() {
        for (rows, period) in TABLES {
            for (class, name) in [(1, Some("dim0")), (2, Some("dim1")), (0, None)] {
                for warmup in [0, 33, 2500] {
                    let mut spec = network(table(rows, period, name), 0.0);
                    spec.phases.warmup = warmup;
                    let due = expected(rows, period, warmup..warmup + 1000);
                    for c in &run_in(&spec, 2).channels {
                        let named = c.class > 0 && [0, c.class].contains(&class);
                        let due = if named { due } else { [1000, 0, 0, 0, 0] };
                        assert_eq!(c.cycles, due, "{rows:?} every {period:?} for {name:?} from {warmup}: {c:?}");
                    }
                }
            }
        }
    }

    /// Rows of different classes may overlap.
    #[test]
    fn classes_have_their_own_rows() {
        let rows = json!([
            {"classes": ["dim0"], "from": "20ns", "until": "60ns"},
            {"classes": ["dim1"], "from": "40ns", "until": "70ns"},
        ]);
        let spec = network(json!({"off": rows, "period": "100ns", "transition": "5ns"}), 0.0);
        for c in &run_in(&spec, 1).channels {
            let rows: [&[(u64, u64)]; 3] = [&[], &[(20, 60)], &[(40, 70)]];
            let due = expected(rows[usize::from(c.class)], Some(100), 0..1000);
            assert_eq!(c.cycles, due, "{c:?}");
        }
    }

    /// Channels between routers, and how many rows of `TABLES[0]` they kept: each has four transitions.
    fn rows_kept(out: &Outcome) -> Vec<(u64, [u64; LinkState::COUNT])> {
        let between = out.channels.iter().filter(|c| c.class > 0);
        let kept = between.map(|c| {
            assert_eq!((c.transitions % 4, &c.flits[1..]), (0, &[0; 4][..]), "{c:?}");
            assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{c:?}");
            (c.transitions / 4, c.cycles)
        });
        kept.collect()
    }

    /// Packets of one flit hold no VC: what waits for a channel does not change its times, but flits granted before `from`
    /// leave first. At full load these can be more than a row has cycles, and the channel stays on in it.
    #[test]
    fn packets_of_one_flit_wait_until_a_row_ends() {
        for load in [0.02, 0.3, 1.0] {
            let out = run_in(&network(table(TABLES[0].0, TABLES[0].1, None), load), 1);
            for (kept, [on, shadow, draining, off, waking]) in rows_kept(&out) {
                assert_eq!((on, shadow, waking), (1000 - 40 * kept, 0, 5 * kept));
                assert!(draining >= 5 * kept && draining + off == 35 * kept);
                assert!(kept == 10 || load == 1.0 && kept >= 5, "{kept} at {load}");
            }
        }
    }

    /// Longer packets hold VCs: rows begin later, or not at all, and end in time.
    #[test]
    fn packets_of_5_flits_may_keep_a_channel_on() {
        for load in [0.02, 0.3, 1.0] {
            let mut spec = network(table(TABLES[0].0, TABLES[0].1, None), load);
            spec.set_packet(5);
            for (kept, [on, _, draining, off, waking]) in rows_kept(&run_in(&spec, 1)) {
                assert!(kept <= 10 && on >= 1000 - 40 * kept && waking == 5 * kept, "{on} {kept}");
                assert!(draining >= 5 * kept && off >= kept, "{draining} {off} {kept}");
            }
        }
    }

    #[test]
    fn all_packets_arrive_when_the_sources_stop() {
        for (flits, load) in [(1, 0.3), (1, 1.0), (5, 0.3), (5, 1.0), (20, 1.0)] {
            for (rows, period) in TABLES {
                let mut spec = network(table(rows, period, None), load);
                spec.set_packet(flits);
                let first = spec.traffic.jobs[0].phases[0].clone();
                let silence = LoadPhase { from: 500, load: vec![0.0; first.load.len()], ..first };
                spec.traffic.jobs[0].phases.push(silence);
                spec.phases.window = 30_000;
                let out = run_in(&spec, 1);
                assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits), "{flits} {load} {rows:?}");
                assert!(out.sums.packets > 100);
                assert!(numbers(&out) == numbers(&run_in(&spec, 3)), "{flits} {load} {rows:?}");
            }
        }
    }

    fn numbers(out: &Outcome) -> Vec<u64> {
        let channels = out.channels.iter().flat_map(|c| c.cycles.iter().chain(&c.flits).copied());
        channels.chain([out.sums.latency, out.sums.hops, out.flit_hops]).collect()
    }

    #[track_caller]
    fn refused(timetable: Value, path: &str, what: &str, help: &str) {
        let mut spec = network(timetable, 0.1);
        spec.managed = vec![false, true, false];
        let error: Refusal = run(&spec, Execution { threads: 1, blocks: 1 }, &()).expect_err("it is refused");
        assert_eq!(error.path, format!("power.policy.timetable.{path}"), "{error:?}");
        assert!(error.what.contains(what) && error.help.contains(help), "{error:?}");
    }

    #[test]
    fn what_is_no_timetable_is_refused() {
        let rows = |rows: &[(u64, u64)], period: Option<u64>| table(rows, period, None);
        refused(json!({"off": [], "transition": "5ns"}), "off", "no row", "always_on");
        let row = json!([{"from": "20ns", "until": "60ns"}]);
        refused(json!({"off": row, "transition": "0ns"}), "transition", "0 cycles", "1cycle");
        refused(json!({"off": row, "transition": "5ns", "period": "0ns"}), "period", "0 cycles", "1cycle");
        refused(rows(&[(60, 60)], None), "off.0.until", "60 cycles is not after from", "more than 60cycles");
        refused(rows(&[(80, 20)], Some(100)), "off.0.until", "20 cycles is not after from", "120cycles for the next");
        refused(rows(&[(20, 30)], None), "off.0.until", "30 - 20 = 10 cycles leave no time", "at least 31cycles");
        refused(rows(&[(20, 120)], Some(100)), "off.0.until", "120 - 20 = 100 cycles fill", "less than 120cycles");
        refused(rows(&[(120, 150)], Some(100)), "off.0.from", "not inside of the period of 100", "less than 100cycles");
        // overlapping and adjoining, in one period and over its end
        for (other, period) in
            [((50, 90), None), ((60, 90), None), ((0, 20), None), ((80, 121), Some(100)), ((80, 120), Some(100))]
        {
            let (what, help) = ("dim0 is off already, or until just then, by row 0: 20 to 60 cycles", "one row of both");
            refused(rows(&[(20, 60), other], period), "off.1", what, help);
        }
        let named = |name: &str| table(&[(20, 60)], None, Some(name));
        refused(named("dim9"), "off.0.classes.0", "no link class `dim9`", "write one of: dim0");
        refused(named("dim1"), "off.0.classes.0", "does not manage dim1", "add dim1 to power.manages");
        refused(named("terminal"), "off.0.classes.0", "terminal links always stay on", "write one of: dim0");
        let none = json!([{"classes": [], "from": "20ns", "until": "60ns"}]);
        refused(json!({"off": none, "transition": "5ns"}), "off.0.classes", "no class", "dim0");
        // no panic on the longest times
        let far = format!("{}cycles", u64::MAX);
        let row = json!([{"from": "1cycle", "until": far}]);
        refused(json!({"off": row, "transition": far}), "off.0.until", "leave no time", "shorter transition");
    }

    #[test]
    fn a_timetable_settles_in_a_period_or_when_its_last_row_is_over() {
        for (period, settles) in [(Some(100), 100), (None, 70)] {
            let spec = network(table(&[(20, 30 + 40), (0, 15)], period, None), 0.0);
            let policy: &PolicyConfig = &spec.policy;
            assert_eq!(policy.settling_period(&spec.graph, spec.cycle_fs).unwrap(), Some(settles));
        }
    }
}
