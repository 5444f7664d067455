//! Records the start times of operations, and the partner of each message.

use crate::form::{Program, RankProgram};
use crate::rank::OpId;

/// Start time of each operation \[units\], by rank and operation. `partners` has the rank and operation at the other end of
/// each message. For an operation without a message, `partners` has the operation's own rank and index.
#[derive(Debug, Clone, Default)]
pub struct Record {
    pub starts: Vec<Vec<i64>>,
    pub partners: Vec<Vec<(u32, u32)>>,
}

impl Record {
    pub(super) fn of(program: &Program) -> Self {
        let starts = program.ranks.iter().map(|rank| vec![0; rank.ops.len()]).collect();
        let own = |(rank, of): (usize, &RankProgram)| (0..of.ops.len() as u32).map(|op| (rank as u32, op)).collect();
        Self { starts, partners: program.ranks.iter().enumerate().map(own).collect() }
    }

    pub(super) fn start(&mut self, rank: u32, id: OpId, time: i64) {
        if let Some(op) = id.in_program() {
            self.starts[rank as usize][op as usize] = time;
        }
    }

    pub(super) fn pair(&mut self, ends: [(u32, OpId); 2]) {
        if let [(sender, Some(send)), (receiver, Some(receive))] = ends.map(|(rank, id)| (rank, id.in_program())) {
            self.partners[sender as usize][send as usize] = (receiver, receive);
            self.partners[receiver as usize][receive as usize] = (sender, send);
        }
    }
}
