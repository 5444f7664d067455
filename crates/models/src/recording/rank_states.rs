//! States of ranks over time: a table of the times in which each rank of a program computed, handled messages, and waited for another rank.
//!
//! All processors of a rank together have one state. If one processor computes while another handles a message, the rank computes. A time
//! in which no processor is busy ends when a message arrives, or when the network interface has space again. The row of this idle time
//! names the other rank of the message, and the rank at which the transfer began.
//!
//! # Source
//! None. The table lists the time spans of a run.
//! # Parameters
//! `max_spans` \[spans\]: largest number of time spans to record.
//! # Guarantees
//! The spans of a rank have no gaps between them, from the start of its program to its end. If a rank has one processor, its spans of each
//! state add up to the times in `ranks.parquet`, except for rounding to whole cycles. If there are more than `max_spans` spans, the table
//! ends, for all ranks, before the cycle in which the limit is exceeded. Rows do not depend on the numbers of blocks and threads.
//! # Not modelled
//! The boundaries between operations of the same kind that follow each other without a gap: they form one span. Which of the processors is
//! busy.
//! # Validation
//! `engine/tests/rank_states.rs` checks the states of a ping-pong and a ring in every cycle. It also checks that spans have no gaps, and
//! add up to the times in the table of ranks. The rows must be the same for any number of blocks and after checkpoints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::activity::{Span, State, Wanted, job_column, joined};
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, NoPart, Recorded, RecorderSite, Recording, Table, TableInfo, most_rows,
};
use weft_units::Refusal;

/// The times in which each rank of a program computed, handled messages and waited, for the whole run, saved as rank_states.parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RankStates {
    /// Largest number of time spans to record, 1 to 100000000. The table ends, for all ranks, before the cycle in which the limit is
    /// exceeded.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_spans: u32,
}

impl Default for RankStates {
    fn default() -> Self {
        Self { max_spans: 1_000_000 }
    }
}

impl Recording for RankStates {
    const TABLE: TableInfo = TableInfo {
        meaning: "time spans of ranks in states",
        rows: "A row per time span that a rank of a program spent in one state, over the whole run. If no job has a program, the table is \
               empty.",
        bounded: true,
        in_summary: false,
        columns: headings,
    };
    type Part = NoPart;

    fn part(&self, _: &NetworkSite, _: &RecorderSite, path: &str) -> Result<NoPart, Refusal> {
        most_rows(self.max_spans, &format!("{path}.max_spans"))?;
        Ok(NoPart {})
    }

    fn wants(&self) -> Wanted {
        Wanted { spans: self.max_spans as usize, messages: 0 }
    }

    fn table(&self, _: Vec<NoPart>, run: &Recorded) -> Table {
        let (mut rows, is_complete) = joined(run.ranks, self.max_spans as usize, |own| &own.spans);
        rows.sort_unstable_by_key(|(job, span)| (*job, span.rank, span.from));
        let names = State::ALL.map(|state| (state, Arc::<str>::from(state.name())));
        let name = |(_, span): &(usize, Span)| {
            let found = names.iter().find(|(state, _)| *state == span.state);
            Arc::clone(&found.expect("all states have a name").1)
        };
        let counts = |of: fn(&Span) -> u64| Column::Counts(rows.iter().map(|(_, span)| of(span)).collect());
        let numbers =
            |of: fn(&Span) -> Option<u32>| Column::MaybeNumbers(rows.iter().map(|(_, span)| of(span)).collect());
        let since = |(_, span): &(usize, Span)| span.cause.map(|cause| cause.since);
        let columns = [
            ("job", job_column(run.ranks, &rows)),
            ("rank", counts(|span| span.rank.into())),
            ("state", Column::Texts(rows.iter().map(name).collect())),
            ("from_cycle", counts(|span| span.from)),
            ("to_cycle", counts(|span| span.to)),
            ("peer", numbers(|span| span.cause.map(|cause| cause.peer))),
            ("origin", numbers(|span| span.cause.map(|cause| cause.origin))),
            ("since_cycle", Column::MaybeCounts(rows.iter().map(since).collect())),
            ("packet_terminal", numbers(|span| span.cause?.packet.map(|(terminal, _)| terminal))),
            ("packet", numbers(|span| span.cause?.packet.map(|(_, number)| number))),
        ];
        Table::bounded(columns, is_complete)
    }

    fn examples() -> Vec<Self> {
        vec![Self::default()]
    }
}

fn headings() -> Vec<Heading> {
    let names: Vec<String> = State::ALL.map(|state| format!("`{}`", state.name())).into();
    vec![
        Heading::new(
            "job",
            Kind::Text,
            "",
            "name of the job; `job: name k` for the program that the job started as number k",
        ),
        Heading::new("rank", Kind::Count, "", "number of the rank in the program"),
        Heading::new("state", Kind::Text, "", names.join(", ")),
        Heading::new("from_cycle", Kind::Count, "cycles", "first cycle of the span"),
        Heading::new("to_cycle", Kind::Count, "cycles", "first cycle after the span, in which the next one begins"),
        Heading::new(
            "peer",
            Kind::MaybeNumber,
            "",
            "the other rank of the message whose transfer ended the idle time; null if the rank is busy, or if no message ended the idle \
             time",
        ),
        Heading::new(
            "origin",
            Kind::MaybeNumber,
            "",
            "rank at which this transfer began: the sender, or the rank whose receive started a rendezvous",
        ),
        Heading::new("since_cycle", Kind::MaybeCount, "cycles", "start of this transfer, possibly before the span"),
        Heading::new(
            "packet_terminal",
            Kind::MaybeNumber,
            "",
            "terminal that sent the last packet to arrive in this transfer; null if the transfer had no packet",
        ),
        Heading::new("packet", Kind::MaybeNumber, "", "number of this packet among the packets of its terminal"),
    ]
}
