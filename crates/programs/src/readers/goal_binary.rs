//! GOAL in binary form: the reader and the writer.
//!
//! # Source
//! The source code of `txt2bin` and `Parser.hpp` of LogGOPSim (`spcl/LogGOPSim`).
//!
//! # Parameters
//! None. Times of computations are in nanoseconds, and sizes in bytes.
//!
//! # Guarantees
//! The bytes that Weft writes for a program are those of `txt2bin`. The reader checks the whole file before use. Each
//! index must be inside its rank, and the nodes must not have more edges than the file lists. [`OnDisk`] needs memory
//! only for active operations. To open a file, the reader needs 4 bytes per operation of the largest rank.
//!
//! # Not modelled
//! Files that LogGOPSim has overwritten with its option `--save-mem`. The reader refuses them.
//!
//! # Validation
//! `programs/tests/programs/answers.rs` checks files of `txt2bin`, and that a program finishes at the same time in
//! memory and in a file. `programs/tests/programs/damage.rs` checks damaged files.

mod layout;
mod on_disk;

pub use on_disk::{OnDisk, Storage, open};

use super::Format;
use crate::form::{Draft, Kind, Op, Program, RankProgram, When};
use layout::{COOKIE, HEAD, NODE, Node, Rank};
use weft_units::Refusal;

/// The reader and writer for binary GOAL.
pub struct GoalBinary;

impl Format for GoalBinary {
    fn name(&self) -> &'static str {
        "goalbin"
    }

    fn fits(&self, head: &[u8]) -> bool {
        let cookie = head.first_chunk::<8>().map(|bytes| u64::from_le_bytes(*bytes));
        cookie.is_some_and(|cookie| [COOKIE, layout::SPOILT].contains(&cookie))
    }

    fn read(&self, file: &str, bytes: &[u8]) -> Result<Program, Refusal> {
        let ranks = layout::ranks(file, &bytes)?;
        let count = ranks.len() as u32;
        let read = |(number, rank): (usize, &Rank)| {
            rank.check(file, number, &bytes, count)?;
            let mut draft = Draft::default();
            for index in 0..rank.nodes {
                draft.add(rank.node(&bytes, index)?.op());
            }
            for index in 0..rank.nodes {
                let node = rank.node(&bytes, index)?;
                for when in [When::Finish, When::Start] {
                    for later in rank.successors(&bytes, &node, when) {
                        draft.depend(later?, index, when);
                    }
                }
            }
            let ops = draft.finish().map_err(|op| {
                let what = format!("operation {op} is part of a cycle of dependencies");
                Refusal::new(format!("{file}, rank {number}"), what, "remove one dependency of this cycle")
            })?;
            Ok(RankProgram::new(ops))
        };
        Ok(Program { ranks: ranks.iter().enumerate().map(read).collect::<Result<_, _>>()? })
    }

    fn write(&self, program: &Program) -> Result<Vec<u8>, Refusal> {
        let (cpus, nics) = program.resources();
        let mut bytes = COOKIE.to_le_bytes().to_vec();
        bytes.extend(program.len().to_le_bytes());
        bytes.extend([(cpus - 1) as u8, (nics - 1) as u8]);
        let length = |of: &RankProgram| 8 + 4 * of.ops.roots().len() + NODE * of.ops.len() + 4 * of.ops.edges();
        let mut start = (HEAD - 8 + 16 * program.ranks.len()) as u64;
        for of in &program.ranks {
            let end = start + length(of) as u64;
            bytes.extend([start, end].into_iter().flat_map(u64::to_le_bytes));
            start = end;
        }
        program.ranks.iter().for_each(|of| write_rank(&mut bytes, of));
        Ok(bytes)
    }
}

fn write_rank(bytes: &mut Vec<u8>, of: &RankProgram) {
    let ops = &of.ops;
    let count = |length: usize| (length as u32).to_le_bytes();
    bytes.extend(count(ops.len()));
    bytes.extend(count(ops.roots().len()));
    bytes.extend(ops.roots().iter().flat_map(|root| root.to_le_bytes()));
    let mut first = 0;
    for index in 0..ops.len() as u32 {
        let op = ops.op(index);
        let numbers = [When::Finish, When::Start].map(|when| ops.successors(index, when).len() as u32);
        bytes.extend(Node::of(&op, of, ops.predecessors(index), numbers, first).bytes());
        first += numbers[0] + numbers[1];
    }
    for index in 0..ops.len() as u32 {
        for when in [When::Finish, When::Start] {
            bytes.extend(ops.successors(index, when).iter().flat_map(|later| later.to_le_bytes()));
        }
    }
}

/// Returns the number that a file has for this kind of operation.
const fn code(kind: Kind) -> u8 {
    match kind {
        Kind::Send => 1,
        Kind::Receive => 2,
        Kind::Compute => 3,
        Kind::Collective(_) => panic!("collectives become messages before they are written"),
    }
}

impl Node {
    fn of(op: &Op, of: &RankProgram, predecessors: u32, [finish, start]: [u32; 2], first: u32) -> Self {
        let (peer, tag) = op.raw();
        let peer = op.peer().map_or(peer, |peer| of.rank_of(op.comm(), peer));
        Self {
            predecessors,
            kind: code(op.kind()),
            peer,
            size: op.size(),
            tag,
            cpu: op.cpu(),
            nic: op.nic(),
            after_finish: (finish, first),
            after_start: (start, first + finish),
        }
    }
}
