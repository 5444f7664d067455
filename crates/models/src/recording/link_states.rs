//! Link states over time: a table of the time spans in which each managed channel was in one state, over the whole run.
//!
//! Each block of the simulation records the changes of its channels. The limit applies to the changes of all blocks together. Therefore the
//! table does not depend on the division into blocks. It ends before the cycle of the first change beyond the limit.
//!
//! # Source
//! None. The table lists the changes that a power policy makes.
//! # Parameters
//! `max_spans` [spans]: largest number of time spans to record.
//! # Guarantees
//! The spans of a channel have no gaps between them. Within the measured window, they add up to the channel's cycles per state in
//! `channels.parquet`. If there are more than `max_spans` spans, the table ends, for all channels, before the cycle in which the limit is
//! exceeded.
//! # Not modelled
//! States that a channel enters and leaves within one cycle.
//! # Validation
//! `engine/tests/link_states.rs` checks that spans have no gaps, cover the run, and add up to the cycles per state. With any limit, the
//! table is the same for any number of blocks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::base::kept::{Kept, Value};
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, Recorded, Recorder, RecorderSite, Recording, Table, TableInfo, most_rows,
};
use weft_api::state::{LinkState, Modes};
use weft_units::Refusal;

/// The power states of each managed channel over the whole run, saved as link_states.parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct LinkStates {
    /// Largest number of time spans to record, 1 to 100000000, and at least one per managed channel. The table ends, for all channels,
    /// before the cycle in which the limit is exceeded.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_spans: u32,
}

impl Default for LinkStates {
    fn default() -> Self {
        Self { max_spans: 1_000_000 }
    }
}

impl Recording for LinkStates {
    const TABLE: TableInfo = TableInfo {
        meaning: "time spans of channels in power states",
        rows: "A row per time span that a managed channel spent in one state, over the whole run.",
        bounded: true,
        in_summary: false,
        columns: || {
            let modes = Modes::default();
            let states: Vec<String> = modes.names().map(|name| format!("`{name}`")).collect();
            vec![
                Heading::new("channel", Kind::Count, "", "row of `channels.parquet`"),
                Heading::new("state", Kind::Text, "", format!("{}, or a mode of `power.modes`", states.join(", "))),
                Heading::new("from_cycle", Kind::Count, "cycles", "first cycle of the span"),
                Heading::new(
                    "to_cycle",
                    Kind::Count,
                    "cycles",
                    "first cycle after the span, in which the next span of the channel begins",
                ),
            ]
        },
    };
    type Part = Log;

    fn part(&self, network: &NetworkSite, block: &RecorderSite, path: &str) -> Result<Log, Refusal> {
        let path = format!("{path}.max_spans");
        let (most, managed) = (most_rows(self.max_spans, &path)?, network.managed);
        if most < managed {
            let what =
                format!("the policy manages {managed} channels, each with at least one span: {most} are too few");
            return Err(Refusal::new(path, what, format!("write {managed} or more")));
        }
        let rows = block.channels.iter().map(|channel| channel.row).collect();
        let mut log = Log::new(most, rows);
        for (o, channel) in block.channels.iter().enumerate().filter(|(_, channel)| channel.managed) {
            log.note(o, channel.state, 0);
        }
        Ok(log)
    }

    fn table(&self, parts: Vec<Log>, run: &Recorded) -> Table {
        let mut changes: Vec<Change> = parts.into_iter().flat_map(|log| log.changes).collect();
        // the sort is stable, so several changes of a channel in one cycle stay in their order
        changes.sort_by_key(|change| (change.at, change.channel));
        let cut = changes.get(self.max_spans as usize).map(|change| change.at);
        let end = cut.unwrap_or(run.cycles);
        changes.truncate(changes.partition_point(|change| change.at < end));
        changes.sort_by_key(|change| (change.channel, change.at));
        let next = |k: usize| changes.get(k + 1).filter(|next| next.channel == changes[k].channel);
        let to = |k: usize| next(k).map_or(end, |next| next.at);
        let spans: Vec<_> =
            changes.iter().enumerate().map(|(k, change)| (change, to(k))).filter(|(from, to)| from.at < *to).collect();
        let names: Vec<Arc<str>> = run.network.modes.names().map(Arc::from).collect();
        let counts = |of: fn(&(&Change, u64)) -> u64| Column::Counts(spans.iter().map(of).collect());
        let columns = [
            ("channel", counts(|(from, _)| from.channel.into())),
            (
                "state",
                Column::Texts(spans.iter().map(|(from, _)| names[usize::from(from.state.number())].clone()).collect()),
            ),
            ("from_cycle", counts(|(from, _)| from.at)),
            ("to_cycle", counts(|(_, to)| *to)),
        ];
        Table::bounded(columns, cut.is_none())
    }

    fn examples() -> Vec<Self> {
        vec![Self::default()]
    }
}

/// A change: the channel enters a state in a cycle.
#[derive(Debug, Clone, Copy, Value)]
struct Change {
    at: u64,
    /// Row of the channel in the table of channels.
    channel: u32,
    state: LinkState,
}

/// The recorded changes of the channels of a block, including the states at the beginning of the run.
#[derive(Debug, Kept)]
pub struct Log {
    changes: Vec<Change>,
    #[kept(fixed)]
    most: usize,
    /// For each channel: its row in the table of channels.
    #[kept(fixed)]
    rows: Vec<Option<u32>>,
    /// For each channel: index in `changes` of its last change.
    #[kept(each)]
    last: Vec<usize>,
}

impl Log {
    fn new(most: usize, rows: Vec<Option<u32>>) -> Self {
        Self { changes: Vec::new(), most, last: vec![usize::MAX; rows.len()], rows }
    }

    /// Records that channel `o` enters a state. A state that the channel enters and leaves in the same cycle does not count as a span.
    /// Stores up to one change more than the limit. The cycle of this additional change is the one in which the limit is exceeded.
    fn note(&mut self, o: usize, state: LinkState, at: u64) {
        let Some(channel) = self.rows[o] else { return };
        if let Some(last) = self.changes.get_mut(self.last[o]).filter(|last| last.at == at) {
            last.state = state;
        } else if self.changes.len() <= self.most {
            self.last[o] = self.changes.len();
            self.changes.push(Change { at, channel, state });
        }
    }
}

impl Recorder for Log {
    fn changed(&mut self, channel: usize, _: LinkState, to: LinkState, now: u64) {
        self.note(channel, to, now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_is_left_in_the_same_cycle_takes_no_room() {
        let mut log = Log::new(2, vec![Some(7), None]);
        let changes = [(LinkState::On, 0), (LinkState::Draining, 0), (LinkState::Off, 5), (LinkState::Waking, 5)];
        changes.into_iter().for_each(|(state, at)| log.note(0, state, at));
        log.note(1, LinkState::Off, 6);
        let noted: Vec<_> = log.changes.iter().map(|change| (change.at, change.channel, change.state)).collect();
        assert_eq!(noted, [(0, 7, LinkState::Draining), (5, 7, LinkState::Waking)]);
    }
}
