//! Activity of the ranks of a program over time: spans of states, and messages. A workload records the activity if a recording requested it
//! ([`Wanted`]). The recording makes a table from this activity.

use crate::base::kept::{Kept, Value};
use crate::recording::Column;
use std::sync::Arc;

/// The rows of activity that the recordings of a run request: the largest number of rows of each kind, 0 for none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wanted {
    pub spans: usize,
    pub messages: usize,
}

impl Wanted {
    /// The larger of the two requests, for each kind of rows.
    pub fn or(self, other: Self) -> Self {
        Self { spans: self.spans.max(other.spans), messages: self.messages.max(other.messages) }
    }
}

/// The state of a rank, which can have several processors. If one processor of a rank computes and another handles a message, the state is
/// `Compute`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub enum State {
    /// A processor computes.
    Compute,
    /// A processor handles a message (sends or receives), and no processor computes.
    Overhead,
    /// No processor is busy: the rank waits for a message that is in transfer.
    Transfer,
    /// No processor is busy, for a reason other than a message in transfer.
    Wait,
}

impl State {
    pub const ALL: [Self; 4] = [Self::Compute, Self::Overhead, Self::Transfer, Self::Wait];

    pub fn name(self) -> &'static str {
        match self {
            Self::Compute => "compute",
            Self::Overhead => "overhead",
            Self::Transfer => "transfer",
            Self::Wait => "wait",
        }
    }
}

/// The event that ended the idle time of a rank. The event occurred some cycles earlier, at this or another rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Cause {
    /// The rank at the other end of the message.
    pub peer: u32,
    /// The rank at which the transfer began: the sender, or the rank whose receive started a rendezvous.
    pub origin: u32,
    /// The cycle in which the transfer began.
    pub since: u64,
    /// The packet whose delivery ended the transfer: its source terminal, and its number among the packets of that terminal. `None` for a
    /// message within one terminal and for a send.
    pub packet: Option<(u32, u32)>,
}

/// A span of time in which a rank has the same state. If there are more rows than the log keeps, the log keeps the first rows in the order
/// of these fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Span {
    /// The first cycle after the span. The span starts in cycle `from`.
    pub to: u64,
    pub rank: u32,
    pub from: u64,
    pub state: State,
    /// The message or send that ended an idle time; `None` if there is none.
    pub cause: Option<Cause>,
}

/// A message that has arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Message {
    pub arrived: u64,
    pub from: u32,
    pub to: u32,
    /// The cycle in which the sender had finished its part of the message.
    pub begun: u64,
    pub bytes: u64,
}

/// A row of the log of rank activity: a span or a message.
pub trait Row: Copy + Ord + Value {
    /// The cycle in which all content of the row is known: the end of the span, or the arrival of the message.
    fn known(&self) -> u64;
}

impl Row for Span {
    fn known(&self) -> u64 {
        self.to
    }
}

impl Row for Message {
    fn known(&self) -> u64 {
        self.arrived
    }
}

/// A log that keeps the earliest rows. The log keeps one row more than requested. If this row exists, the table of the requested rows is
/// incomplete. The choice of the rows that a log keeps does not depend on the order in which rows are added.
#[derive(Debug, Clone, Kept)]
pub struct Log<R> {
    #[kept(fixed)]
    most: usize,
    rows: Vec<R>,
}

impl<R: Row> Log<R> {
    /// `most`: number of rows that the recordings request.
    pub fn new(most: usize) -> Self {
        Self { most, rows: Vec::new() }
    }

    pub fn push(&mut self, row: R) {
        if self.most == 0 {
            return;
        }
        self.rows.push(row);
        if self.rows.len() > 2 * (self.most + 1) {
            self.rows.select_nth_unstable(self.most);
            self.rows.truncate(self.most + 1);
        }
    }

    pub fn rows(&self) -> &[R] {
        &self.rows
    }
}

/// The activity of the ranks of a workload.
#[derive(Debug, Clone, Kept)]
pub struct Activity {
    pub spans: Log<Span>,
    pub messages: Log<Message>,
}

/// The name of a job, and the activity of the job's ranks.
pub type OfJob = (Arc<str>, Activity);

/// Merges the rows of all jobs. Each row has the index of its job. The flag of the result is true if `most` rows are enough for all jobs.
/// If the flag is false, the result contains only rows that end before the cycle of the first row beyond `most`.
pub fn joined<R: Row>(jobs: &[OfJob], most: usize, of: impl Fn(&Activity) -> &Log<R>) -> (Vec<(usize, R)>, bool) {
    let mut all: Vec<(R, usize)> =
        jobs.iter().enumerate().flat_map(|(job, (_, own))| of(own).rows().iter().map(move |&row| (row, job))).collect();
    all.sort_unstable();
    let cut = all.get(most).map(|(row, _)| row.known());
    let kept = all.iter().take_while(|(row, _)| cut.is_none_or(|cut| row.known() < cut));
    (kept.map(|&(row, job)| (job, row)).collect(), cut.is_none())
}

/// The column of a table that has, for each row, the name of its job.
pub fn job_column<R>(jobs: &[OfJob], rows: &[(usize, R)]) -> Column {
    Column::Texts(rows.iter().map(|(job, _)| Arc::clone(&jobs[*job].0)).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(arrived: u64, from: u32) -> Message {
        Message { arrived, from, to: 0, begun: 0, bytes: 1 }
    }

    #[test]
    fn the_earliest_rows_are_kept_whatever_their_order() {
        let rows: Vec<Message> = (0..100).map(|k| message(k / 3, k as u32)).collect();
        let kept_of = |order: &[Message]| {
            let mut log = Log::new(10);
            order.iter().for_each(|&row| log.push(row));
            let activity = Activity { spans: Log::new(0), messages: log };
            joined(&[("all".into(), activity)], 10, |own| &own.messages)
        };
        let reversed: Vec<Message> = rows.iter().rev().copied().collect();
        // row 10 arrives in cycle 3, like row 9; the cut therefore is before cycle 3, and 9 rows remain
        let (kept, is_complete) = kept_of(&rows);
        assert_eq!((kept.len(), is_complete), (9, false));
        assert_eq!(kept_of(&reversed).0, kept);
        assert!(kept.iter().map(|(_, row)| *row).eq(rows[..9].iter().copied()));
        // `most` is 10, so all 10 rows remain
        let (kept, is_complete) = kept_of(&rows[..10]);
        assert_eq!((kept.len(), is_complete), (10, true));
    }
}
