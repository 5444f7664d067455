//! Execution traces of Chakra, encoded with protobuf. A trace has the operations of each accelerator with their dependencies.
//!
//! # Source
//! `mlcommons/chakra`, `schema/protobuf/et_def.proto`. The attributes and the meaning of `comm_size` are those of ASTRA-sim
//! (`astra-sim/astra-sim`). For an all-gather, `comm_size` is the size of one rank's block. For an all-to-all it is the sum of the
//! bytes that a rank sends. For the other collectives it is the size of the vector.
//!
//! # Parameters
//! None. Durations are microseconds, sizes are bytes.
//!
//! # Guarantees
//! Operations keep the data dependencies of the trace. Operations keep control dependencies only if these form no cycle with data
//! dependencies at the rank. Traces from PyTorch have such cycles: an operation has its caller as control dependency, but the caller
//! ends after the operation. The collectives of a rank have their order in the file. Operations on the host use processor 0, and
//! operations on the accelerator use processor 1. Each collective belongs to the group that it names. The members of a group come from
//! ASTRA-sim's file of groups, or from the node in which PyTorch lists its process groups. If there is only one group and no list, the
//! group contains all ranks. The root of a collective is an index in its group.
//!
//! # Not modelled
//! Times of computations for which the trace has a number of arithmetic operations but no duration. Memory and storage: nodes of these
//! kinds become computations of the same duration.
//!
//! # Validation
//! `programs/tests/programs/chakra.rs` checks nodes, groups, and damaged files. `tests/test_traces.py` checks a trace of ASTRA-sim: an
//! all-reduce on a ring of 8 accelerators. We had no sample file with groups from another project.

mod groups;
mod messages;

use super::trace_files::{Clock, Files, TraceFormat, by_rank, number_of};
use crate::form::{Draft, Op, Operation, Program, RankProgram, When};
use crate::mpi::{Assumed, Assumptions, Converted, Problem};
use groups::{Groups, OfRank};
use messages::{GlobalMetadata, Node};
use prost::Message;
use std::collections::HashMap;
use weft_units::Refusal;

/// The reader for Chakra execution traces.
pub struct Chakra;

const ENDING: &str = ".et";

impl TraceFormat for Chakra {
    fn name(&self) -> &'static str {
        "chakra"
    }

    fn fits(&self, name: &str, _head: &[u8]) -> bool {
        name.ends_with(ENDING)
    }

    fn read(&self, files: &mut dyn Files, clock: Option<Clock>) -> Result<Converted, Refusal> {
        if clock.is_some() {
            let what = "traces of Chakra have durations but no clocks";
            return Err(Refusal::new("the trace", what, "remove --clock"));
        }
        let names = files.names().to_vec();
        let places = by_rank(&names, None, |name| number_of(name, ENDING).map(|(_, rank)| rank))?;
        let (mut ranks, mut assumptions) = (Vec::new(), Assumptions::new());
        let mut groups = Groups::of(files, places.len() as u32)?;
        for (rank, &place) in (0..).zip(&places) {
            let bytes = files.load(place)?;
            *assumptions.entry(Assumed::RanksOfFiles).or_default() += 1;
            let reader = Reader { file: &names[place], bytes: &bytes, ranks: places.len() as u64 };
            ranks.push(reader.rank(&mut assumptions, OfRank::new(&mut groups, rank))?);
        }
        groups.check()?;
        for (rank, program) in (0..).zip(&mut ranks) {
            groups.complete(rank, &mut program.comms);
        }
        let program = Program { ranks };
        program.check()?;
        Ok(Converted { program, assumptions })
    }
}

/// The state of the reader for the file of one rank.
struct Reader<'a> {
    file: &'a str,
    bytes: &'a [u8],
    ranks: u64,
}

impl Reader<'_> {
    fn rank(&self, assumptions: &mut Assumptions, mut groups: OfRank<'_>) -> Result<RankProgram, Refusal> {
        let mut rest = self.bytes;
        self.message::<GlobalMetadata>(&mut rest)?;
        let (mut draft, mut numbers) = (Draft::default(), HashMap::new());
        let (mut data, mut control) = (Vec::new(), Vec::new());
        while !rest.is_empty() {
            let place = self.bytes.len() - rest.len();
            let at = |(what, help): Problem| Refusal::new(format!("{}, byte {place}", self.file), what, help);
            let node: Node = self.message(&mut rest)?;
            let mut assume = |assumed: Assumed| *assumptions.entry(assumed).or_default() += 1;
            groups.list(&node).map_err(at)?;
            let op = self.op(&node, &mut groups, &mut assume).map_err(at)?;
            let number = draft.add(op);
            if numbers.insert(node.id, number).is_some() {
                let what = format!("two nodes have the number {}", node.id);
                return Err(at((what, "the file is damaged: copy it again".to_owned())));
            }
            data.extend(node.data_deps.iter().map(|&earlier| (number, earlier)));
            control.extend(node.ctrl_deps.iter().map(|&earlier| (number, earlier)));
        }
        for &(later, earlier) in &data {
            match numbers.get(&earlier) {
                Some(&earlier) => draft.depend(later, earlier, When::Finish),
                None => *assumptions.entry(Assumed::DependencyMissing).or_default() += 1,
            }
        }
        let mut with_control = draft.clone();
        let mut missing = 0;
        for &(later, earlier) in &control {
            match numbers.get(&earlier) {
                Some(&earlier) => with_control.depend(later, earlier, When::Finish),
                None => missing += 1,
            }
        }
        let (ops, assumed, count) = match with_control.finish() {
            Ok(ops) => (ops, Assumed::DependencyMissing, missing),
            Err(_) => (self.without_control(draft)?, Assumed::ControlLeftOut, control.len() as u64),
        };
        if count > 0 {
            *assumptions.entry(assumed).or_default() += count;
        }
        Ok(RankProgram { comms: groups.comms(), ..RankProgram::new(ops) })
    }

    /// Returns the operations with only their data dependencies.
    fn without_control(&self, draft: Draft) -> Result<crate::form::Ops, Refusal> {
        draft.finish().map_err(|op| {
            let what = format!("node {} of the file is part of a cycle of data dependencies", op + 1);
            Refusal::new(self.file, what, "the file is damaged: copy it again")
        })
    }

    /// Reads the next message. The length of the message precedes it in the file.
    fn message<M: Message + Default>(&self, rest: &mut &[u8]) -> Result<M, Refusal> {
        let place = self.bytes.len() - rest.len();
        M::decode_length_delimited(rest).map_err(|problem| {
            let what = format!("the message that begins at this byte can't be read: {problem}");
            Refusal::new(format!("{}, byte {place}", self.file), what, "the file is cut off or damaged: copy it again")
        })
    }

    fn op(&self, node: &Node, groups: &mut OfRank<'_>, assume: &mut impl FnMut(Assumed)) -> Result<Op, Problem> {
        let lacks = |what: &str| {
            let what = format!("node {} ({}) has no valid {what}", node.id, node.name);
            (what, "write the trace again with the attributes that ASTRA-sim accepts".to_owned())
        };
        let number = |name: &str| node.number(name).ok_or_else(|| lacks(name));
        let small =
            |name: &str| u32::try_from(number(name)?).ok().filter(|&small| small < u32::MAX).ok_or_else(|| lacks(name));
        let peer = |name: &str| {
            small(name).and_then(|peer| {
                let what = || {
                    format!(
                        "node {} ({}) names rank {peer}, but there are files of {} ranks",
                        node.id, node.name, self.ranks
                    )
                };
                let is_there = u64::from(peer) < self.ranks;
                is_there
                    .then_some(peer)
                    .ok_or_else(|| (what(), "copy the files of all ranks into one folder".to_owned()))
            })
        };
        let tag = || if node.value("comm_tag").is_some() { small("comm_tag") } else { Ok(0) };
        let is_on_host = node.number("is_cpu_op") != Some(0);
        let cpu = u8::from(!is_on_host);
        Ok(match node.kind {
            5 => Op::send(peer("comm_dst")?, number("comm_size")?, Some(tag()?)).on(cpu, 0),
            6 => Op::receive(Some(peer("comm_src")?), number("comm_size")?, Some(tag()?)).on(cpu, 0),
            7 if node.value("comm_type").is_some() && node.value("comm_size").is_some() => {
                let (kind, size) = (number("comm_type")?, number("comm_size")?);
                let root = if node.value("root").is_some() { small("root")? } else { 0 };
                let place = groups.next(node)?;
                let (operation, bytes) = collective(kind, size, place.ranks).ok_or_else(|| lacks("comm_type"))?;
                Op::collective(operation, root, bytes, place.instance).within(place.comm).on(cpu, 0)
            }
            0..=4 | 7..=10 => {
                if node.kind == 7 {
                    assume(Assumed::NoSize);
                } else if node.kind == 4 && node.duration_micros == 0 {
                    assume(Assumed::NoDuration);
                }
                Op::compute(node.duration_micros.saturating_mul(1000)).on(cpu, 0)
            }
            kind => {
                let what = format!("node {} ({}) has kind {kind}, which is not in the schema", node.id, node.name);
                return Err((what, "the file is damaged or has another version: write the trace again".to_owned()));
            }
        })
    }
}

/// Returns the collective for a number of the schema, with its size in the form that [`Op::collective`] needs \[bytes\].
/// The group has `ranks` ranks.
fn collective(kind: u64, bytes: u64, ranks: u32) -> Option<(Operation, u64)> {
    Some(match kind {
        0 => (Operation::AllReduce, bytes),
        1 => (Operation::Reduce, bytes),
        2 => (Operation::AllGather, bytes),
        3 => (Operation::Gather, bytes),
        4 => (Operation::Scatter, bytes),
        5 => (Operation::Broadcast, bytes),
        6 => (Operation::AllToAll, bytes.div_ceil(u64::from(ranks))),
        7 | 8 => (Operation::ReduceScatter, bytes),
        9 => (Operation::Barrier, 0),
        _ => return None,
    })
}
