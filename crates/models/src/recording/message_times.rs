//! Messages of programs over time: a table with sender and receiver of each message, and the cycles in which it began and arrived.
//!
//! # Source
//! None. The table lists the messages of a run.
//! # Parameters
//! `max_messages` \[messages\]: largest number of messages to record.
//! # Guarantees
//! A message begins when the sender's processor has finished its work for the message. A message arrives with its last packet, before the
//! receiver's processor handles it. If there are more than `max_messages` messages, the table ends before the cycle in which the limit is
//! exceeded. Rows do not depend on the numbers of blocks and threads.
//! # Not modelled
//! Messages that have not arrived by the end of the run.
//! # Validation
//! `engine/tests/rank_states.rs` checks the cycles of the messages of a ping-pong. The number of rows, the sum of bytes and the longest
//! time must equal those in the results of the program. The rows must be the same for any number of blocks and after checkpoints.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::activity::{Message, Wanted, job_column, joined};
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, NoPart, Recorded, RecorderSite, Recording, Table, TableInfo, most_rows,
};
use weft_units::Refusal;

/// A row for each message of a program, with the cycles in which it began and arrived, for the whole run, saved as message_times.parquet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct MessageTimes {
    /// Largest number of messages to record, 1 to 100000000. The table ends before the cycle in which the limit is exceeded.
    #[schemars(range(min = 1, max = 100_000_000))]
    pub max_messages: u32,
}

impl Default for MessageTimes {
    fn default() -> Self {
        Self { max_messages: 1_000_000 }
    }
}

impl Recording for MessageTimes {
    const TABLE: TableInfo = TableInfo {
        meaning: "times of messages between ranks",
        rows: "A row per message that arrived between two ranks of a program, over the whole run, in the order of arrival. If no job has \
               a program, the table is empty.",
        bounded: true,
        in_summary: false,
        columns: || {
            let begun = "time at which the processor of the sender had finished its work";
            let arrived = "time at which the last packet had arrived, before the work of the receiver's processor";
            vec![
                Heading::new(
                    "job",
                    Kind::Text,
                    "",
                    "name of the job; `job: name k` for the program that the job started as number k",
                ),
                Heading::new("from_rank", Kind::Count, "", "rank that sends"),
                Heading::new("to_rank", Kind::Count, "", "rank that receives"),
                Heading::new("bytes", Kind::Count, "bytes", "length of the message"),
                Heading::new("begun_cycle", Kind::Count, "cycles", begun),
                Heading::new("arrived_cycle", Kind::Count, "cycles", arrived),
            ]
        },
    };
    type Part = NoPart;

    fn part(&self, _: &NetworkSite, _: &RecorderSite, path: &str) -> Result<NoPart, Refusal> {
        most_rows(self.max_messages, &format!("{path}.max_messages"))?;
        Ok(NoPart {})
    }

    fn wants(&self) -> Wanted {
        Wanted { spans: 0, messages: self.max_messages as usize }
    }

    fn table(&self, _: Vec<NoPart>, run: &Recorded) -> Table {
        let (rows, is_complete) = joined(run.ranks, self.max_messages as usize, |own| &own.messages);
        let counts = |of: fn(&Message) -> u64| Column::Counts(rows.iter().map(|(_, message)| of(message)).collect());
        let columns = [
            ("job", job_column(run.ranks, &rows)),
            ("from_rank", counts(|message| message.from.into())),
            ("to_rank", counts(|message| message.to.into())),
            ("bytes", counts(|message| message.bytes)),
            ("begun_cycle", counts(|message| message.begun)),
            ("arrived_cycle", counts(|message| message.arrived)),
        ];
        Table::bounded(columns, is_complete)
    }

    fn examples() -> Vec<Self> {
        vec![Self::default()]
    }
}
