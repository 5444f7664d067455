//! A timetable determines at which times link classes are off, once or periodically. A packet that needs a link that is off waits for it.
//!
//! # Source
//! Weft's authors designed the policy. It is a reference for plans that do not depend on the traffic, such as links that are off at night
//! or during maintenance.
//! # Parameters
//! `off`: rows, each with three fields. `from`, `until` \[time\]: beginning and end of the time in which links are off, counted from the
//! beginning of the run, or of each period. `classes`: the names of the link classes that are off in this time (default: all managed
//! classes). `period` \[time\]: time after which the rows repeat (default: they do not repeat). `transition` \[time\]: duration of going
//! down, and of waking.
//! # Guarantees
//! All links are on when the run begins. From `from` on, no new packet takes a channel of the row. Packets that already hold a VC of the
//! channel still cross it, and granted flits leave. When the channel has drained, it goes down for the time `transition`, and after that it
//! is off. The channel begins to wake one `transition` before `until`, and is on at `until`, not earlier, even if packets wait for it.
//! Because every row ends, no packet waits forever. The policy never drops a flit. If the last packet leaves so late that the channel could
//! not go down and wake before `until`, the channel opens again and stays on. If all packets have one flit, channels go down at `from`,
//! because packets of one flit hold no VC.
//! # Not modelled
//! Routings that read the timetable and avoid links that are off.
//! # Validation
//! `engine/tests/models/timetable.rs` checks that the channels of an idle network are in each state for the cycles that the rows of a
//! timetable imply. With packets of one flit, channels follow every row at loads below saturation, and at least half of the rows at full
//! load. The file also tests refusals. `conformance/src/policy.rs` checks that no packet is lost, and that the cycles of each channel, over
//! all its states, add up to the window. Results are the same for 1 and 3 blocks. No test compares this policy with another simulator,
//! because no other simulator has link states.

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

/// A timetable determines at which times link classes are off, once or periodically. A packet that needs a link that is off waits for it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Timetable {
    /// The rows of the timetable: link classes, and the time in which they are off.
    pub off: Vec<Row>,
    /// After this time the rows begin again. Default: the rows do not repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub period: Option<Time>,
    /// Duration of going down, and of waking. During these times the channel draws full power and carries nothing.
    pub transition: Time,
}

/// A row of the timetable: links that are off for some time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// Names of link classes, or `all`. Default: all links that the policy manages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<LinkClasses>,
    /// Time at which the links begin to go down, in the run or in each period.
    pub from: Time,
    /// Time at which the links are on again. If it is greater than `period`, the row ends in the next period.
    pub until: Time,
}

impl Timetable {
    pub(crate) const OFFERS: Offers =
        Offers { links: LinkKnowledge::Nothing, packets_wait_for_links: true, ..Offers::ALWAYS_ON };

    /// Converts the parameters to cycles. Does not check the link classes of the rows.
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

    /// For each link class: the times in which it is off, in ascending order. Refuses rows of the same class that overlap or touch.
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

    /// Returns the period, because in each period the policy takes each of its actions once. Returns `None` if the rows do not repeat,
    /// because the actions then have fixed times in the run, whatever the length of the warm-up.
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

    /// The length of the longest row, because a packet that arrives when a row begins waits until this row ends.
    fn longest_wait(&self, cycle_fs: u128) -> Result<Cycles, Refusal> {
        Ok(self.times(cycle_fs)?.rows.iter().map(|row| row.until - row.from).max().unwrap_or(0))
    }

    fn build(&self, site: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        let times = self.times(site.cycle_fs)?;
        let spans = self.spans(site, &times)?;
        Ok(Arc::new(Plan { spans, period: times.period, transition: times.transition }))
    }

    fn examples() -> Vec<Self> {
        // all links are off for a third of the time, including the first cycles
        written(&[
            r#"{"off": [{"from": "0ns", "until": "40ns"}, {"from": "250ns", "until": "400ns"}], "period": "600ns",
            "transition": "15ns"}"#,
        ])
    }
}

/// The timetable built for one network.
#[derive(Debug, Clone)]
struct Plan {
    /// For each link class: the times in which it is off, in ascending order.
    spans: Vec<Vec<Span>>,
    period: Option<u64>,
    transition: u64,
}

impl Plan {
    /// The first row of link class `class` that begins at or after cycle `now`.
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

/// The agent of a block. `rows`: for each channel, its link class and its present or next row.
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

    /// Called when no packet holds the channels `drained` any more. Begins to switch each of them off, or opens it again if too little time
    /// is left in its row.
    fn drained(&mut self, drained: &[u32], channels: &mut dyn Channels) {
        for o in drained.iter().map(|&o| o as usize) {
            let (until, transition) = (self.rows[o].1.until, self.plan.transition);
            // the channel goes down only after the granted flits that still wait for it
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
    /// Sets the next row of channel `o`: the first row that begins in cycle `from` or later.
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

    /// Called when the row of channel `o` has begun. Closes the channel to new packets; it goes down when it has drained. Sets a timer for
    /// the first cycle in which too little time is left to go down and to wake before the end of the row.
    fn begin_row(&mut self, o: usize, channels: &mut dyn Channels) {
        OFF.close(channels, o);
        channels.set_timer(o, self.rows[o].1.until - 2 * self.plan.transition);
    }

    /// Opens channel `o` again, because the time left in its row is too short to go down and wake.
    fn skip_row(&mut self, o: usize, channels: &mut dyn Channels) {
        OFF.open(channels, o);
        self.await_row(o, self.rows[o].1.until, channels);
    }
}
