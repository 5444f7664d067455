//! The law that every algorithm of a collective must obey: at the end of a call, each rank must have the right data. The check
//! follows data from send to receive. A send can contain only data that the rank had before the call, or received in
//! operations for which the send waits.

use crate::collectives::{Call, Expands, Into, Piece, Steps, Watched};
use crate::form::{Kind, Operation, Ops, When};
use std::collections::{HashMap, VecDeque};

/// For each byte, a bit mask of the ranks whose data are summed in it.
type Data = Vec<u128>;

/// The operations of a rank, and the numbers of the bytes that each message has.
struct Rank {
    ops: Ops,
    watched: HashMap<u32, (Vec<usize>, Into)>,
    /// For each operation: all operations that have finished before it starts.
    before: Vec<Vec<u32>>,
    /// For each operation: the operations for which it waits directly.
    direct: Vec<Vec<u32>>,
}

fn before(ops: &Ops) -> Vec<Vec<u32>> {
    let mut before = vec![Vec::new(); ops.len()];
    for op in 0..ops.len() as u32 {
        let own: Vec<u32> = before[op as usize].clone();
        for (when, and_itself) in [(When::Finish, true), (When::Start, false)] {
            for &later in ops.successors(op, when) {
                assert!(later > op, "operations come in the order of their rounds");
                before[later as usize].extend(own.iter().copied().chain(and_itself.then_some(op)));
                before[later as usize].sort_unstable();
                before[later as usize].dedup();
            }
        }
    }
    before
}

/// Returns the index of the first byte of each block.
fn starts(call: &Call) -> Vec<usize> {
    let n = u64::from(call.ranks);
    let blocks = match call.operation {
        Operation::AllToAll => n * n,
        Operation::Gather | Operation::Scatter | Operation::AllGather => n,
        Operation::Barrier
        | Operation::Broadcast
        | Operation::Reduce
        | Operation::AllReduce
        | Operation::ReduceScatter => 1,
    };
    let size = |block| if blocks == 1 { call.vector() } else { call.size_of(block) };
    let mut starts = vec![0];
    (0..blocks).for_each(|block| starts.push(starts[block as usize] + size(block) as usize));
    starts
}

/// Returns the data of a rank before the collective, and the data that it must have after the collective. The wanted data are
/// pairs of a byte and the set of ranks whose data must be summed in it.
fn given_and_wanted(call: &Call, starts: &[usize], rank: u32) -> (Data, Vec<(usize, u128)>) {
    let (n, all, own) = (call.ranks as usize, (1u128 << call.ranks) - 1, 1u128 << rank);
    let length = starts[starts.len() - 1];
    let block = |block: usize| starts[block]..starts[block + 1];
    let bit = |rank: usize| 1u128 << rank;
    let mut given = vec![0; length];
    let mut wanted: Vec<(usize, u128)> = Vec::new();
    let (me, root) = (rank as usize, call.root as usize);
    match call.operation {
        Operation::Barrier => {}
        Operation::Broadcast => {
            if me == root {
                given.fill(own);
            }
            wanted.extend((0..length).map(|byte| (byte, bit(root))));
        }
        Operation::Reduce | Operation::AllReduce | Operation::ReduceScatter => {
            given.fill(own);
            let share = call.share(rank);
            let range = if call.operation == Operation::ReduceScatter {
                share.start as usize..(share.start + share.bytes) as usize
            } else if call.operation == Operation::AllReduce || me == root {
                0..length
            } else {
                0..0
            };
            wanted.extend(range.map(|byte| (byte, all)));
        }
        Operation::Gather | Operation::AllGather => {
            given[block(me)].fill(own);
            if call.operation == Operation::AllGather || me == root {
                (0..n).for_each(|from| wanted.extend(block(from).map(|byte| (byte, bit(from)))));
            }
        }
        Operation::Scatter => {
            if me == root {
                given.fill(own);
            }
            wanted.extend(block(me).map(|byte| (byte, bit(root))));
        }
        Operation::AllToAll => {
            (0..n).for_each(|to| given[block(me * n + to)].fill(own));
            (0..n).filter(|&from| from != me).for_each(|from| {
                wanted.extend(block(from * n + me).map(|byte| (byte, bit(from))));
            });
        }
    }
    (given, wanted)
}

fn ranks_of(algorithm: &dyn Expands, call: &Call, starts: &[usize]) -> Vec<Rank> {
    let expand = |me: u32| {
        let mut steps = Steps::watched();
        algorithm.expand(&Call { me, ..*call }, &mut steps);
        let (ops, watched) = steps.finish_watched();
        let bytes = |of: &Watched| {
            let of_piece = |piece: &Piece| {
                let first = starts[piece.block as usize] + piece.start as usize;
                first..first + piece.bytes as usize
            };
            (of.pieces.iter().flat_map(of_piece).collect::<Vec<usize>>(), of.into)
        };
        let watched = watched.iter().map(|of| (of.op, bytes(of))).collect();
        let before = before(&ops);
        let mut direct = vec![Vec::new(); ops.len()];
        for op in 0..ops.len() as u32 {
            ops.successors(op, When::Finish).iter().for_each(|&later| direct[later as usize].push(op));
        }
        Rank { ops, watched, before, direct }
    };
    (0..call.ranks).map(expand).collect()
}

/// Runs the messages of a call, and checks the data of each rank at the end. Messages of panics begin with `name`.
///
/// # Panics
/// If a rank ends without its data, or waits without end. The message describes the fault.
pub(super) fn check_call(algorithm: &dyn Expands, call: &Call, name: &str) {
    let starts = starts(call);
    let ranks = ranks_of(algorithm, call, &starts);
    let is_barrier = call.operation == Operation::Barrier;
    let given: Vec<Data> = (0..call.ranks)
        .map(|rank| if is_barrier { vec![1 << rank] } else { given_and_wanted(call, &starts, rank).0 })
        .collect();
    let mut flow = Flow {
        name,
        is_barrier,
        given,
        got: vec![HashMap::new(); ranks.len()],
        under_way: HashMap::new(),
        done: ranks.iter().map(|rank| vec![false; rank.ops.len()]).collect(),
        ranks: &ranks,
    };
    flow.run();
    assert!(flow.done.iter().flatten().all(|&done| done), "{name}: some ranks wait forever");
    assert!(flow.under_way.values().all(VecDeque::is_empty), "{name}: some messages have no receive");
    for (me, rank) in ranks.iter().enumerate() {
        let all: Vec<u32> = (0..rank.ops.len() as u32).collect();
        let data = flow.held(me, &all);
        if is_barrier {
            assert_eq!(data[0], (1 << call.ranks) - 1, "{name}: rank {me} leaves before all ranks have entered");
            continue;
        }
        for (byte, whose) in given_and_wanted(call, &starts, me as u32).1 {
            assert_eq!(data[byte], whose, "{name}: wrong data in byte {byte} at rank {me}");
        }
    }
}

/// The state of a call while its messages run.
struct Flow<'a> {
    name: &'a str,
    /// True for a barrier. A barrier has no data. In place of data, one byte has the set of the ranks that have entered the
    /// barrier.
    is_barrier: bool,
    ranks: &'a [Rank],
    /// Data of each rank before the call.
    given: Vec<Data>,
    /// For each rank, the data of each finished receive.
    got: Vec<HashMap<u32, Data>>,
    /// Sizes and data of messages that were sent and not yet received, by sender, receiver and tag.
    under_way: HashMap<(u32, u32, u32), VecDeque<(u32, Data)>>,
    /// For each rank, which operations have finished.
    done: Vec<Vec<bool>>,
}

impl Flow<'_> {
    /// Runs operations until no operation can finish. An operation runs as soon as the operations for which it waits have
    /// finished.
    fn run(&mut self) {
        let mut left: Vec<Vec<u32>> = self.ranks.iter().map(|rank| (0..rank.ops.len() as u32).collect()).collect();
        loop {
            let mut moved = false;
            for (me, rank) in self.ranks.iter().enumerate() {
                left[me].retain(|&op| !self.done[me][op as usize]);
                for &op in &left[me] {
                    let waits = rank.direct[op as usize].iter().any(|&other| !self.done[me][other as usize]);
                    if !waits && self.finish(me, op) {
                        self.done[me][op as usize] = true;
                        moved = true;
                    }
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// Runs an operation of rank `me`, if it can finish. Returns false for a receive if its message has not been sent
    /// yet.
    fn finish(&mut self, me: usize, op: u32) -> bool {
        let (name, rank) = (self.name, &self.ranks[me]);
        let of = rank.ops.op(op);
        let (peer, tag) = (of.peer().unwrap(), of.tag().unwrap());
        match of.kind() {
            Kind::Send => {
                let data = self.held(me, &rank.before[op as usize]);
                let bytes = &rank.watched[&op].0;
                let is_whole = self.is_barrier || bytes.is_empty() || bytes.len() as u64 == of.size();
                assert!(is_whole, "{name}: the size of a message differs from its data");
                let data = if self.is_barrier { data } else { bytes.iter().map(|&byte| data[byte]).collect() };
                self.under_way.entry((me as u32, peer, tag)).or_default().push_back((of.size() as u32, data));
                true
            }
            Kind::Receive => {
                let queue = self.under_way.get_mut(&(peer, me as u32, tag));
                let Some((size, data)) = queue.and_then(VecDeque::pop_front) else { return false };
                assert_eq!(u64::from(size), of.size(), "{name}: rank {me} expects another size from rank {peer}");
                self.got[me].insert(op, data);
                true
            }
            Kind::Compute | Kind::Collective(_) => panic!("{name}: an algorithm may have only messages"),
        }
    }

    /// Returns the data of a rank after the operations `before`.
    fn held(&self, rank: usize, before: &[u32]) -> Data {
        let (name, got) = (self.name, &self.got[rank]);
        let mut data = self.given[rank].clone();
        for op in before.iter().filter(|op| got.contains_key(op)) {
            let (bytes, into) = &self.ranks[rank].watched[op];
            let bytes = if self.is_barrier { &vec![0] } else { bytes };
            for (&byte, &value) in bytes.iter().zip(&got[op]) {
                match into {
                    Into::Copy => data[byte] = value,
                    Into::Sum => {
                        assert!(self.is_barrier || data[byte] & value == 0, "{name}: rank {rank} sums data twice");
                        data[byte] |= value;
                    }
                }
            }
        }
        data
    }
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;
    use crate::collectives::algorithms::{AlgorithmConfig, hierarchical};

    /// Compares the bytes that all n ranks together send with formulas. For a vector of S bytes these are 2 (n - 1) S for an
    /// all-reduce on a ring or two trees, and (n - 1) S for broadcast and reduce. All-gather and all-to-all send n (n - 1)
    /// blocks.
    #[test]
    fn bytes_are_those_of_the_formulas() {
        let sent = |name: &str, operation, ranks: u32, bytes| {
            let hierarchical = hierarchical::Hierarchical { node: 4 };
            let hierarchical = AlgorithmConfig::Hierarchical(hierarchical);
            let is_it = |algorithm: &AlgorithmConfig| {
                algorithm.name() == name && (name != "hierarchical" || *algorithm == hierarchical)
            };
            let algorithm = AlgorithmConfig::examples().into_iter().find(is_it).expect("an algorithm");
            let of = |me| {
                let mut steps = Steps::watched();
                algorithm.model().expand(&Call { me, ..call(operation, ranks, 0, bytes) }, &mut steps);
                steps.finish().ops().iter().filter(|op| op.kind() == Kind::Send).map(|op| op.size()).collect::<Vec<_>>()
            };
            (0..ranks).map(|me| of(me).iter().sum::<u64>()).collect::<Vec<_>>()
        };
        for n in [2u32, 8, 13, 64] {
            let (ranks, size) = (u64::from(n), u64::from(n) * 10);
            assert_eq!(sent("ring", Operation::AllReduce, n, size), vec![2 * (ranks - 1) * 10; n as usize]);
            assert_eq!(sent("double_tree", Operation::AllReduce, n, size).iter().sum::<u64>(), 2 * (ranks - 1) * size);
            for name in ["ring", "bruck", "pairwise"] {
                assert_eq!(sent(name, Operation::AllGather, n, 7), vec![7 * (ranks - 1); n as usize], "{name}");
            }
            assert_eq!(sent("pairwise", Operation::AllToAll, n, 7), vec![7 * (ranks - 1); n as usize]);
            assert_eq!(sent("binomial", Operation::Broadcast, n, 9).iter().sum::<u64>(), 9 * (ranks - 1));
            assert_eq!(sent("chain", Operation::Reduce, n, 9).iter().sum::<u64>(), 9 * (ranks - 1));
        }
        // 64 ranks are in nodes of 4. Each rank sends 2 * 3/4 of the vector inside its node, and 2 * 15/16 of a quarter of the
        // vector between nodes.
        let whole = 64 * 16;
        let sent = sent("hierarchical", Operation::AllReduce, 64, whole);
        assert_eq!(sent, vec![2 * whole * 3 / 4 + 2 * (whole / 4) * 15 / 16; 64]);
    }
}
