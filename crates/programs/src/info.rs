//! Statistics of a program: operations, messages, and bytes between ranks.

use crate::collectives::{Call, Rules};
use crate::form::{Kind, Op, Operation, Program};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use weft_units::Refusal;

/// Largest number of unmatched channels that the statistics list.
const NAMED: usize = 8;

/// A channel between two ranks: sender, receiver, number of the communicator, and tag. Sends and receives are counted per
/// channel.
type Channel = (u32, u32, u32, Option<u32>);

/// Returns statistics of a program as JSON. The keys are:
///
/// - `ranks`, `operations`, `edges`, `messages`, `bytes`, `wildcards`: counts.
/// - `kinds`, `collectives`: numbers of operations by kind.
/// - `compute_ns`: sum of the computation times of all ranks.
/// - `sizes`: pairs of a power of 2 and the number of messages of at least that size [bytes].
/// - `cpus`, `nics`: numbers of processors and interfaces of a rank. `pairs`: number of pairs of a sender and another
///   rank that receives from it.
/// - `to_itself`: number of messages that a rank sends to itself.
/// - `short_receives`: messages that are larger than their receives; null if there are none.
/// - `unmatched`: the first channels with different numbers of sends and receives. The list is empty if a receive has a
///   wildcard.
pub fn info(program: &Program) -> Value {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    let mut collectives: BTreeMap<&str, u64> = BTreeMap::new();
    let mut sizes: BTreeMap<u64, u64> = BTreeMap::new();
    let (mut bytes, mut compute, mut edges, mut wild, mut to_itself) = (0u128, 0u128, 0u64, 0u64, 0u64);
    let mut channels: HashMap<Channel, [u64; 2]> = HashMap::new();
    let mut pairs: HashMap<(u32, u32), ()> = HashMap::new();
    for (rank, of) in program.ranks.iter().enumerate() {
        edges += of.ops.edges() as u64;
        for op in of.ops.ops() {
            let context = usize::from(op.comm()).checked_sub(1).map_or(0, |place| of.comms[place].number);
            let peer = op.peer().map(|peer| of.rank_of(op.comm(), peer));
            match op.kind() {
                Kind::Compute => {
                    *kinds.entry("compute").or_default() += 1;
                    compute += u128::from(op.size());
                }
                Kind::Send => {
                    *kinds.entry("send").or_default() += 1;
                    *sizes.entry(op.size().checked_ilog2().map_or(0, |bit| 1 << bit)).or_default() += 1;
                    bytes += u128::from(op.size());
                    let to = peer.unwrap_or(0);
                    if to == rank as u32 {
                        to_itself += 1;
                    } else {
                        pairs.insert((rank as u32, to), ());
                    }
                    channels.entry((rank as u32, to, context, op.tag())).or_default()[0] += 1;
                }
                Kind::Receive => {
                    *kinds.entry("receive").or_default() += 1;
                    match peer {
                        Some(from) if op.tag().is_some() => {
                            channels.entry((from, rank as u32, context, op.tag())).or_default()[1] += 1;
                        }
                        _ => wild += 1,
                    }
                }
                Kind::Collective(operation) => {
                    *kinds.entry("collective").or_default() += 1;
                    *collectives.entry(operation.name()).or_default() += 1;
                }
            }
        }
    }
    let (cpus, nics) = program.resources();
    let unmatched = if wild == 0 { unmatched(&channels) } else { Vec::new() };
    json!({
        "ranks": program.len(), "operations": program.ops(), "edges": edges, "kinds": kinds,
        "messages": kinds.get("send").copied().unwrap_or(0), "bytes": number(bytes), "compute_ns": number(compute),
        "collectives": collectives, "sizes": sizes.into_iter().map(|(size, count)| json!([size, count])).collect::<Vec<_>>(),
        "cpus": cpus, "nics": nics, "pairs": pairs.len(), "to_itself": to_itself, "wildcards": wild, "unmatched": unmatched,
        "short_receives": program.short_receives(),
    })
}

/// Converts a number for JSON: to a whole number if it fits into 64 bits, otherwise to a floating-point number.
fn number(value: u128) -> Value {
    u64::try_from(value).map_or_else(|_| json!(value as f64), |whole| json!(whole))
}

fn unmatched(channels: &HashMap<Channel, [u64; 2]>) -> Vec<Value> {
    let mut wrong: Vec<_> = channels.iter().filter(|(_, [sends, receives])| sends != receives).collect();
    wrong.sort();
    let about = |(&(from, to, context, tag), &[sends, receives]): (&Channel, &[u64; 2])| json!({"from": from, "to": to, "communicator": context, "tag": tag, "sends": sends, "receives": receives});
    wrong.into_iter().take(NAMED).map(about).collect()
}

/// Returns the bytes and messages that each rank sends to each other rank: (from, to, bytes, messages). The function
/// expands collectives into messages by `rules`.
pub fn matrix(program: &Program, rules: &Rules) -> Result<Vec<(u32, u32, u64, u64)>, Refusal> {
    let mut pairs: BTreeMap<(u32, u32), (u64, u64)> = BTreeMap::new();
    each_operation(program, rules, |rank, op, comm, times| {
        if op.kind() == Kind::Send {
            let to = program.ranks[rank].rank_of(comm, op.peer().unwrap_or(0));
            let entry = pairs.entry((rank as u32, to)).or_default();
            entry.0 = entry.0.saturating_add(op.size().saturating_mul(times));
            entry.1 += times;
        }
    })?;
    Ok(pairs.into_iter().map(|((from, to), (bytes, messages))| (from, to, bytes, messages)).collect())
}

/// Returns the number of operations and the computation time \[ns\] of each rank. The function expands collectives by `rules`.
/// The function does not run the program.
pub fn work(program: &Program, rules: &Rules) -> Result<Vec<(u64, u64)>, Refusal> {
    let mut all = vec![(0u64, 0u64); program.ranks.len()];
    each_operation(program, rules, |rank, op, _, times| {
        let (operations, compute) = &mut all[rank];
        *operations += times;
        if op.kind() == Kind::Compute {
            *compute = compute.saturating_add(op.size().saturating_mul(times));
        }
    })?;
    Ok(all)
}

/// Calls `see` with each operation of each rank, including the operations of collectives, as `rules` expand them. The
/// arguments are the rank, the operation, the communicator of its peer, and how often the rank has this operation.
fn each_operation(program: &Program, rules: &Rules, mut see: impl FnMut(usize, &Op, u16, u64)) -> Result<(), Refusal> {
    program.check()?;
    rules.check(program)?;
    for (rank, of) in program.ranks.iter().enumerate() {
        // equal collectives of a rank are expanded only once, because they have equal operations
        let mut collectives: HashMap<Op, u64> = HashMap::new();
        for op in of.ops.ops() {
            match op.kind() {
                Kind::Collective(_) => *collectives.entry(op.tagged(0)).or_default() += 1,
                Kind::Send | Kind::Compute | Kind::Receive => see(rank, op, op.comm(), 1),
            }
        }
        for (op, times) in collectives {
            let (size, me) = of.place_in(op.comm(), rank as u32, program.len());
            let expanded = rules.expand(&op, size, me, of.ops.sizes(op.sizes()).map(|sizes| &**sizes));
            expanded.ops().iter().for_each(|each| see(rank, each, op.comm(), times));
        }
    }
    Ok(())
}

/// Sum over all ranks of two amounts: the bytes of their sends, and the bytes of their data that other ranks need in
/// collectives.
pub fn given(program: &Program) -> u64 {
    let mut given = 0u64;
    for (rank, of) in program.ranks.iter().enumerate() {
        for op in of.ops.ops() {
            let bytes = match op.kind() {
                Kind::Send => op.size(),
                Kind::Collective(operation) => {
                    let (ranks, me) = of.place_in(op.comm(), rank as u32, program.len());
                    let (root, bytes) = (op.root(), op.size());
                    let sizes = of.ops.sizes(op.sizes()).map(|sizes| &**sizes);
                    Call { operation, ranks, me, root, bytes, sizes, of_vector: false }.given()
                }
                Kind::Compute | Kind::Receive => 0,
            };
            given = given.saturating_add(bytes);
        }
    }
    given
}

/// Returns the collectives of a rank by kind and communicator size: their number and the sum of their bytes.
pub fn collectives_of(program: &Program, rank: usize) -> Vec<(Operation, u32, u64, u64)> {
    let of = &program.ranks[rank];
    let mut found: BTreeMap<(Operation, u32), (u64, u64)> = BTreeMap::new();
    let of_kind = |op: &Op| match op.kind() {
        Kind::Collective(operation) => Some((operation, of.size_of(op.comm(), program.len()), op.size())),
        Kind::Compute | Kind::Send | Kind::Receive => None,
    };
    for (operation, size, bytes) in of.ops.ops().iter().filter_map(of_kind) {
        let entry = found.entry((operation, size)).or_default();
        entry.0 += 1;
        entry.1 = entry.1.saturating_add(bytes);
    }
    found.into_iter().map(|((operation, size), (count, bytes))| (operation, size, count, bytes)).collect()
}
