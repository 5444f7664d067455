//! Finds the sizes of blocks in collectives whose blocks have different sizes, from the records of several ranks
//! together. Replaces prefix sums by chains of messages.

use super::Assumed;
use super::recorder::{Problem, Recorder};
use crate::form::{Comm, Kind, Op, Operation};
use std::collections::HashMap;
use std::sync::Arc;
use weft_units::Refusal;

/// First tag of the messages of prefix sums. It is above the tags of MPI, which end at 2^31 - 1.
const CHAIN_TAG: u32 = 1 << 31;

/// An operation that needs information from other ranks, with the information that its own rank has.
pub enum Blocks {
    /// The sizes of all blocks, or `None` if this rank does not know them.
    Known { index: u32, sizes: Option<Vec<u64>> },
    /// The sizes of the blocks that this rank sends, and of those that it receives.
    Row { index: u32, sends: Vec<u64>, receives: Vec<u64> },
    /// The messages of a prefix sum.
    Chain { receive: u32, send: u32, bytes: u64 },
}

/// Identifies a collective: its communicator in the program, and its number in this communicator.
type Place = (u32, u32);

/// The block sizes of a collective that are known so far.
#[derive(Default)]
struct Found {
    sizes: Option<Vec<u64>>,
    /// Sizes of the blocks that each rank of the communicator sends, and of those that it receives.
    rows: HashMap<u32, (Vec<u64>, Vec<u64>)>,
}

/// Returns the communicator of an operation: its number, its number of ranks, and this rank's number in it.
fn comm_of(comms: &[Comm], op: &Op, rank: u32, ranks: u32) -> (u32, u32, u32) {
    usize::from(op.comm()).checked_sub(1).map_or((0, ranks, rank), |place| {
        let comm = &comms[place];
        (comm.number, comm.members.len() as u32, comm.me)
    })
}

/// Completes the calls of all ranks: stores the block sizes of all collectives whose blocks have different sizes, and
/// makes the messages of prefix sums.
pub fn complete(recorders: &mut [Recorder], comms: &[Vec<Comm>]) -> Result<(), Refusal> {
    let ranks = recorders.len() as u32;
    let mut found: HashMap<Place, Found> = HashMap::new();
    let mut wanted: Vec<Vec<u32>> = Vec::with_capacity(recorders.len());
    for (rank, recorder) in (0..).zip(&mut *recorders) {
        let mut indices = Vec::new();
        for block in std::mem::take(&mut recorder.blocks) {
            let index = match &block {
                Blocks::Known { index, .. } | Blocks::Row { index, .. } | Blocks::Chain { receive: index, .. } => {
                    *index
                }
            };
            let op = recorder.calls.ops()[index as usize];
            let (number, size, me) = comm_of(&comms[rank as usize], &op, rank, ranks);
            let place = (number, op.instance());
            match block {
                Blocks::Known { index, sizes } => {
                    if let Some(sizes) = sizes {
                        found.entry(place).or_default().sizes = Some(sizes);
                    }
                    indices.push(index);
                }
                Blocks::Row { index, sends, receives } => {
                    found.entry(place).or_default().rows.insert(me, (sends, receives));
                    indices.push(index);
                }
                Blocks::Chain { receive, send, bytes } => {
                    let from = me.checked_sub(1).map(|before| Op::receive(Some(before), bytes, Some(CHAIN_TAG)));
                    let to = (me + 1 < size).then(|| Op::send(me + 1, bytes, Some(CHAIN_TAG)));
                    for (index, op) in [(receive, from), (send, to)] {
                        let plain = recorder.calls.ops()[index as usize];
                        recorder.calls.replace(index, op.map_or(Op::compute(0), |op| op.within(plain.comm())));
                    }
                }
            }
        }
        wanted.push(indices);
    }
    let (lists, odd) = merged(found);
    if let Some(first) = recorders.first_mut().filter(|_| odd > 0) {
        first.assumptions.insert(Assumed::SizesOfReceivers, odd);
    }
    (0..).zip(recorders).zip(&wanted).try_for_each(|((rank, recorder), indices)| {
        give(recorder, indices, &lists, |op| comm_of(&comms[rank as usize], op, rank, ranks))
            .map_err(|(what, help)| Refusal::new(format!("rank {rank}"), what, help))
    })
}

/// Returns the sizes of all blocks of each collective. Equal lists are stored once. Also returns the number of
/// all-to-alls in which sender and receiver of a block have different sizes for the block.
fn merged(found: HashMap<Place, Found>) -> (HashMap<Place, Arc<[u64]>>, u64) {
    let mut known: HashMap<Arc<[u64]>, Arc<[u64]>> = HashMap::new();
    let mut lists = HashMap::with_capacity(found.len());
    let mut odd = 0;
    for (place, found) in found {
        let sizes = match found.sizes {
            Some(sizes) => sizes,
            None => {
                let size = found.rows.keys().max().map_or(0, |&last| last as usize + 1);
                let of = |from: usize, to: usize| {
                    let sent = found.rows.get(&(from as u32)).and_then(|row| row.0.get(to)).copied().unwrap_or(0);
                    let received = found.rows.get(&(to as u32)).and_then(|row| row.1.get(from)).copied();
                    (sent, received.unwrap_or(sent))
                };
                let all = || (0..size).flat_map(|from| (0..size).map(move |to| (from, to)));
                odd += u64::from(all().any(|(from, to)| of(from, to).0 != of(from, to).1));
                all().map(|(from, to)| of(from, to).1).collect()
            }
        };
        let list: Arc<[u64]> = sizes.into();
        lists.insert(place, Arc::clone(known.entry(Arc::clone(&list)).or_insert(list)));
    }
    (lists, odd)
}

/// Writes the block sizes into the operations `indices` of a rank. `comm_of` returns the communicator of an operation.
fn give(
    recorder: &mut Recorder,
    indices: &[u32],
    lists: &HashMap<Place, Arc<[u64]>>,
    comm_of: impl Fn(&Op) -> (u32, u32, u32),
) -> Result<(), Problem> {
    let mut numbers: HashMap<*const u64, u16> = HashMap::new();
    for &index in indices {
        let op = recorder.calls.ops()[index as usize];
        let (number, size, _) = comm_of(&op);
        let Kind::Collective(operation) = op.kind() else { continue };
        let wanted = if operation == Operation::AllToAll { (size as usize).pow(2) } else { size as usize };
        let list = lists.get(&(number, op.instance())).filter(|list| list.len() == wanted);
        let list = list.ok_or_else(|| {
            let what = format!(
                "{} {} of communicator {number} has {size} ranks, but its calls do not give the sizes of {wanted} blocks",
                operation.name(),
                op.instance()
            );
            (what, "record all ranks of one run, from their start to their end".to_owned())
        })?;
        let is_vector = operation == Operation::ReduceScatter;
        let sum = || list.iter().try_fold(0_u64, |sum, &size| sum.checked_add(size));
        let bytes = if is_vector { sum() } else { Some(list.iter().copied().max().unwrap_or(0)) };
        let bytes = bytes.ok_or_else(|| {
            let what = format!("the blocks of {} {} have more than 2^64 bytes", operation.name(), op.instance());
            (what, "the file is damaged: copy it again".to_owned())
        })?;
        let plain = Op::collective(operation, op.root(), bytes, op.instance()).within(op.comm());
        if !is_vector && list.iter().all(|&size| size == bytes) {
            recorder.calls.replace(index, plain);
            continue;
        }
        let number = match numbers.get(&list.as_ptr()) {
            Some(&number) => number,
            None => {
                let number = recorder.calls.keep_shared(list).ok_or_else(|| {
                    let what = "the collectives of the rank have more than 65,535 different lists of sizes".to_owned();
                    (what, "record only a part of the program".to_owned())
                })?;
                numbers.insert(list.as_ptr(), number);
                number
            }
        };
        recorder.calls.replace(index, plain.sized_by(number));
    }
    Ok(())
}
