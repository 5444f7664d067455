//! Link classes are off at the times of a timetable, which may repeat; a packet that meets such a link waits for it.
//!
//! # Source
//! Ours: a reference for plans that do not depend on the traffic, such as a night or a maintenance window.
//! # Parameters
//! `off`: rows, each with three fields. `from`, `until` \[time\]: counted from the beginning of the run or period. `classes`: the names of
//! the link classes that are off then (default: all managed classes). `period` \[time\]: after which the rows repeat (default: they
//! do not). `transition` \[time\]: duration of going down and of waking.
//! # Guarantees
//! All links are on when the run begins. From `from` on a channel does not take new packets. Packets that hold one of the
//! channel's VCs then finish first, and flits with a grant leave. Then the channel goes down for one transition, and is off. The
//! channel wakes one transition before `until` and is on at `until`. Packets that wait for a channel do not wake it earlier than
//! `until`. Every row ends, so no packet waits for ever. The policy never drops a flit. If the packets leave too late for the
//! channel to go down and to wake, the channel opens again and stays on in that row. Packets of one flit hold no VC, so their
//! channels go down at `from`.
//! # Not modelled
//! Packets that know the timetable and take detours.
//! # Validation
//! `engine/tests/models/timetable.rs`: cycles per state compared with the rows of a timetable, cycle by cycle, in an idle network;
//! the same times on under any load of one-flit packets; refusals. `conformance/src/policy.rs`: nothing is lost, the cycles of
//! channels add up, and results are the same in 1 and 3 blocks. No comparison with another simulator, because none has link states.

mod span;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use span::{Span, Times};
use std::sync::Arc;
use weft_api::agents::{Agents, BlockSite, ChannelSite, Channels};
use weft_api::base::kept::Kept;
use weft_api::examples::written;
use weft_api::policy::{LinkKnowledge, OffTime, Offers, Policy, PolicyModel, Schedule, Site};
use weft_api::state::{LinkState, Modes};
use weft_api::switching::CloseFirst;
use weft_topology::Graph;
use weft_units::{Cycles, LinkClasses, Refusal, Time};

const PATH: &str = "power.policy.timetable";
const OFF: CloseFirst = CloseFirst::of(&Timetable::OFFERS);

/// Link classes are off at the times of a timetable, which may repeat; a packet that meets such a link waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timetable {
    /// The link classes that are off, with their times.
    pub off: Vec<Row>,
    /// After this time the rows begin again. Default: the rows do not repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
    /// Duration of going down and of waking. Meanwhile the channel draws full power and carries nothing.
    pub transition: Time,
}

/// A set of links that is off for some time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Names of link classes, or `all`. Default: all links that the policy manages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<LinkClasses>,
    /// Time at which the links begin to go down, in the run or in each period.
    pub from: Time,
    /// Time at which the links are on again. A time above one period is in the next period.
    pub until: Time,
}

impl Timetable {
    pub(crate) const OFFERS: Offers =
        Offers { links: LinkKnowledge::Nothing, packets_wait_for_links: true, ..Offers::ALWAYS_ON };

    /// The rows in cycles, without a check of their classes.
    fn times(&self, cycle_fs: u128) -> Result<Times, Refusal> {
        let above_zero = |name: &str, time: &Time| {
            let path = format!("{PATH}.{name}");
            time.duration(cycle_fs, &path)?.above_zero(&path)
        };
        let transition = above_zero("transition", &self.transition)?;
        let period = self.period.as_ref().map(|period| above_zero("period", period)).transpose()?;
        if self.off.is_empty() {
            let help = format!("add a row, such as {{from: 20us, until: 60us}}, or {}", super::leave_links_on());
            return Err(Refusal::new(format!("{PATH}.off"), "there is no row: all links would always stay on", help));
        }
        let mut rows = Vec::new();
        for (k, row) in self.off.iter().enumerate() {
            let at = |name: &str| format!("{PATH}.off.{k}.{name}");
            let (from, until) =
                (row.from.duration(cycle_fs, &at("from"))?, row.until.duration(cycle_fs, &at("until"))?);
            rows.push(Span::of_row(from, until, transition, period, at)?);
        }
        Ok(Times { rows, period: period.map(|period| period.cycles), transition: transition.cycles })
    }

    /// For each class, the rows in which it is off.
    fn spans(&self, site: &Site, times: &Times) -> Result<Vec<Vec<Span>>, Refusal> {
        let mut rows_of: Vec<Vec<usize>> = vec![Vec::new(); site.managed.len()];
        for (k, row) in self.off.iter().enumerate() {
            for class in site.managed_classes(row.classes.as_ref(), &format!("{PATH}.off.{k}.classes"))? {
                let rows = &mut rows_of[class];
                let clash = rows.iter().find(|&&other| times.rows[k].meets(&times.rows[other], times.period));
                if let Some(&other) = clash {
                    let (name, Row { from, until, .. }) = (site.class_name(class), &self.off[other]);
                    let what = format!("{name} is also off in or next to this time, by row {other}: {from} to {until}");
                    let help = "combine the two rows, or leave at least 1cycle between them";
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

impl PolicyModel for Timetable {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On, LinkState::Draining, LinkState::Off, LinkState::Waking])
    }

    /// The settling period is one period. Rows that do not repeat are at fixed times, so no warm-up can wait for them.
    fn settling_period(&self, _: &Graph, _: &Modes, cycle_fs: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(self.times(cycle_fs)?.period)
    }

    fn schedule(&self, cycle_fs: u128) -> Result<Schedule, Refusal> {
        let Times { rows, period, .. } = self.times(cycle_fs)?;
        let once =
            |(k, row): (usize, &Span)| OffTime { path: format!("{PATH}.off.{k}"), from: row.from, until: row.until };
        let once = if period.is_none() { rows.iter().enumerate().map(once).collect() } else { Vec::new() };
        Ok(Schedule { period, once })
    }

    /// Longest wait: a packet arrives when the longest row begins, and waits until the row ends.
    fn longest_wait(&self, cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(self.times(cycle_fs)?.rows.iter().map(|row| row.until - row.from).max().unwrap_or(0))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let times = self.times(site.cycle_fs)?;
        let spans = self.spans(site, &times)?;
        Ok(Arc::new(Plan { spans, period: times.period, transition: times.transition }))
    }

    fn examples() -> Vec<Self> {
        // all links are off for a third of the time, also in the first cycles
        written(&[
            r#"{"off": [{"from": "0ns", "until": "40ns"}, {"from": "250ns", "until": "400ns"}], "period": "600ns",
            "transition": "15ns"}"#,
        ])
    }
}

/// The timetable built for one network.
#[derive(Debug, Clone)]
struct Plan {
    /// The times at which each class is off, in order.
    spans: Vec<Vec<Span>>,
    period: Option<u64>,
    transition: u64,
}

impl Plan {
    /// The first row of a class that begins at or after cycle `now`.
    fn next(&self, class: u8, now: u64) -> Option<Span> {
        let spans = &self.spans[usize::from(class)];
        let begun = self.period.map_or(0, |period| now / period * period);
        let later =
            |span: &Span, by: u64| Span { from: span.from.saturating_add(by), until: span.until.saturating_add(by) };
        let here = spans.iter().map(|span| later(span, begun)).find(|span| span.from >= now);
        here.or_else(|| Some(later(spans.first()?, begun.saturating_add(self.period?))))
    }
}

impl Policy for Plan {
    fn agents(&self, site: &BlockSite) -> Option<Box<dyn Agents>> {
        let nothing = Span { from: u64::MAX, until: u64::MAX };
        let has_rows = |channel: &ChannelSite| channel.managed && !self.spans[usize::from(channel.class)].is_empty();
        Some(Box::new(Clerks {
            managed: (0..site.channels.len()).filter(|&o| has_rows(&site.channels[o])).collect(),
            rows: site.channels.iter().map(|channel| (channel.class, nothing)).collect(),
            plan: self.clone(),
        }))
    }
}

/// The agent of a block. `rows` has an entry per channel: its class, and its present or next row.
#[derive(Debug, Kept)]
struct Clerks {
    #[kept(fixed)]
    managed: Vec<usize>,
    #[kept(each)]
    rows: Vec<(u8, Span)>,
    #[kept(fixed)]
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
                LinkState::On if channels.now() == row.from => self.begin_row(o, channels),
                LinkState::On => self.skip_row(o, channels),
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
                    OFF.open(channels, o);
                    self.await_row(o, row.until, channels);
                }
                LinkState::Shadow | LinkState::Named(_) => {}
            }
        }
    }

    /// Lets channels go down if their row has begun, or keeps them on if too little of the row is left.
    fn drained(&mut self, drained: &[u32], channels: &mut dyn Channels) {
        for o in drained.iter().map(|&o| o as usize) {
            let (until, transition) = (self.rows[o].1.until, self.plan.transition);
            // flits that wait for the link leave first
            let waiting = OFF.flits_leave_in(channels, o);
            let is_down = channels.now() + waiting + transition;
            if is_down + transition >= until {
                self.skip_row(o, channels);
            } else {
                channels.enter(o, LinkState::Draining);
                channels.set_timer(o, is_down);
            }
        }
    }
}

impl Clerks {
    /// Sets the next row of channel `o`: the first that begins at cycle `from` or later.
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

    /// Called when the row of channel `o` has begun. The channel does not take new packets, and goes down when it has drained. The timer
    /// ends when the channel could no longer go down in time.
    fn begin_row(&mut self, o: usize, channels: &mut dyn Channels) {
        OFF.close(channels, o);
        channels.set_timer(o, self.rows[o].1.until - 2 * self.plan.transition);
    }

    /// Keeps channel `o` on in its row, because too little of the row is left.
    fn skip_row(&mut self, o: usize, channels: &mut dyn Channels) {
        OFF.open(channels, o);
        self.await_row(o, self.rows[o].1.until, channels);
    }
}
