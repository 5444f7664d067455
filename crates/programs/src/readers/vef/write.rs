//! Writes a program as a VEF file.

use super::{After, OPERATIONS};
use crate::form::{Kind, Op, Operation, Program, RankProgram, When};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};
use std::fmt::Write;
use weft_units::Refusal;

/// Identifies an operation of the program: its rank, and its index there.
type Place = (u32, u32);
/// Sort key by which the next record is chosen among those that can be written.
type Order = (u8, u64, u64, u32);

const HELP: &str = "write .goal, a format for every program";

/// The dependencies of the records of a program.
struct Records {
    /// For each send and collective: the operation on which it depends, and the delay after this operation \[ns\].
    after: HashMap<Place, (Option<Place>, u64)>,
    /// For each receive, the send whose message it gets.
    sends: HashMap<Place, Place>,
}

/// Returns the bytes of the file for a program.
pub fn program(program: &Program) -> Result<Vec<u8>, Refusal> {
    let records = Records { after: records(program)?, sends: matched(program)? };
    let mut comms: BTreeMap<u32, &[u32]> = BTreeMap::new();
    for comm in program.ranks.iter().flat_map(|of| &of.comms) {
        comms.insert(comm.number, &comm.members);
    }
    let numbers: HashMap<u32, usize> = comms.keys().zip(1..).map(|(&number, place)| (number, place)).collect();
    let order = order(program, &records)?;
    let mut file =
        File { program, records: &records, numbers: &numbers, messages: HashMap::new(), collectives: HashMap::new() };
    let (mut lines, mut only_sends, mut participations) = (String::new(), true, 0);
    for place in order {
        let kind = file.line(place, &mut lines)?;
        match program.ranks[place.0 as usize].ops.op(place.1).kind() {
            Kind::Collective(_) => participations += 1,
            Kind::Send | Kind::Receive | Kind::Compute => only_sends &= kind < 2,
        }
    }
    let only_sends = if only_sends { "TRUE" } else { "FALSE" };
    let (messages, collectives) = (file.messages.len(), file.collectives.len());
    let count = comms.len() + 1;
    let mut text = format!("VEF {} {messages} {count} {collectives} {participations} {only_sends}\n", program.len());
    let all: Vec<u32> = (0..program.len()).collect();
    for (number, members) in std::iter::once(&all[..]).chain(comms.into_values()).enumerate() {
        let members: Vec<String> = members.iter().map(u32::to_string).collect();
        let _ = writeln!(text, "C{number} {}", members.join(" "));
    }
    Ok((text + &lines).into_bytes())
}

fn refused(rank: u32, op: u32, what: &str) -> Refusal {
    Refusal::new(format!("rank {rank}, operation {op}"), what, HELP)
}

/// Returns, for each send and collective, the operation on which it depends, and the delay after this operation
/// \[ns\]. Computations in between are part of the delay. Refuses programs that the format cannot express.
fn records(program: &Program) -> Result<HashMap<Place, (Option<Place>, u64)>, Refusal> {
    let mut found = HashMap::new();
    for (rank, of) in (0..).zip(&program.ranks) {
        let mut before: Vec<Option<u32>> = vec![None; of.ops.len()];
        for earlier in 0..of.ops.len() as u32 {
            if !of.ops.successors(earlier, When::Start).is_empty() {
                return Err(refused(
                    rank,
                    earlier,
                    "another operation depends on the start of this one, but VEF files can depend only on ends",
                ));
            }
            for &later in of.ops.successors(earlier, When::Finish) {
                if before[later as usize].replace(earlier).is_some() {
                    return Err(refused(
                        rank,
                        later,
                        "this operation follows several others, but a record of VEF follows only one",
                    ));
                }
            }
        }
        for (index, op) in (0..).zip(of.ops.ops()) {
            let what = match op.kind() {
                Kind::Receive if before[index as usize].is_some() => {
                    "the receive follows another operation, but VEF posts all receives at the start"
                }
                Kind::Compute if of.ops.successors(index, When::Finish).is_empty() => {
                    "no message follows the computation, but VEF has no record for such a computation"
                }
                Kind::Collective(Operation::ReduceScatter) => "VEF has no reduce_scatter",
                Kind::Collective(_) if op.sizes() > 0 => "the blocks have different sizes, but VEF has one size",
                Kind::Collective(Operation::Broadcast | Operation::Reduce | Operation::Gather | Operation::Scatter)
                    if op.size() == 0 && op.root() > 0 =>
                {
                    "the collective has 0 bytes, but VEF finds the root by its bytes"
                }
                Kind::Send | Kind::Collective(_) => {
                    let (mut at, mut delay) = (before[index as usize], 0u64);
                    while let Some(earlier) = at.filter(|&earlier| of.ops.op(earlier).kind() == Kind::Compute) {
                        delay = delay.saturating_add(of.ops.op(earlier).size());
                        at = before[earlier as usize];
                    }
                    found.insert((rank, index), (at.map(|earlier| (rank, earlier)), delay));
                    continue;
                }
                Kind::Receive | Kind::Compute => continue,
            };
            return Err(refused(rank, index, what));
        }
    }
    Ok(found)
}

/// Returns the number that an operation's communicator has in the program.
fn context(of: &RankProgram, op: &Op) -> u32 {
    usize::from(op.comm()).checked_sub(1).map_or(0, |place| of.comms[place].number)
}

/// Returns, for each receive, the send whose message it gets. Sends and receives with the same sender, receiver,
/// communicator and tag match in their order.
fn matched(program: &Program) -> Result<HashMap<Place, Place>, Refusal> {
    let mut channels: HashMap<(u32, u32, u32, Option<u32>), VecDeque<Place>> = HashMap::new();
    for (rank, of) in (0..).zip(&program.ranks) {
        for (index, op) in (0..).zip(of.ops.ops()).filter(|(_, op)| op.kind() == Kind::Send) {
            let to = of.rank_of(op.comm(), op.peer().unwrap_or(0));
            channels.entry((rank, to, context(of, op), op.tag())).or_default().push_back((rank, index));
        }
    }
    let mut found = HashMap::new();
    for (rank, of) in (0..).zip(&program.ranks) {
        for (index, op) in (0..).zip(of.ops.ops()).filter(|(_, op)| op.kind() == Kind::Receive) {
            let (Some(peer), Some(tag)) = (op.peer(), op.tag()) else {
                return Err(refused(
                    rank,
                    index,
                    "the receive accepts any source or any tag, but VEF names each message",
                ));
            };
            let channel = (of.rank_of(op.comm(), peer), rank, context(of, op), Some(tag));
            let send = channels.get_mut(&channel).and_then(VecDeque::pop_front);
            found.insert((rank, index), send.ok_or_else(|| refused(rank, index, "no send matches this receive"))?);
        }
    }
    match channels.into_values().flatten().min() {
        Some((rank, index)) => Err(refused(rank, index, "no receive matches this send")),
        None => Ok(found),
    }
}

/// Returns the records in an order in which each record follows the record on which it depends. If all messages have
/// different tags, messages are in the order of their tags where possible.
fn order(program: &Program, records: &Records) -> Result<Vec<Place>, Refusal> {
    let mut tags = HashMap::new();
    for &(rank, index) in records.after.keys() {
        let op = program.ranks[rank as usize].ops.op(index);
        if op.kind() == Kind::Send {
            *tags.entry(op.tag()).or_insert(0) += 1;
        }
    }
    let has_own_tags = tags.iter().all(|(tag, &count)| tag.is_some() && count == 1);
    let key = |(rank, index): Place| -> Order {
        let of = &program.ranks[rank as usize];
        let op = of.ops.op(index);
        match op.kind() {
            Kind::Collective(_) => (1, context(of, &op).into(), op.instance().into(), rank),
            Kind::Send | Kind::Receive | Kind::Compute if has_own_tags => (0, op.tag().unwrap_or(0).into(), 0, rank),
            Kind::Send | Kind::Receive | Kind::Compute => (0, index.into(), 0, rank),
        }
    };
    let mut followers: HashMap<Place, Vec<Place>> = HashMap::new();
    let mut ready: BinaryHeap<Reverse<(Order, Place)>> = BinaryHeap::new();
    for (&place, &(after, _)) in &records.after {
        match after.map(|after| records.sends.get(&after).copied().unwrap_or(after)) {
            None => ready.push(Reverse((key(place), place))),
            Some(after) => followers.entry(after).or_default().push(place),
        }
    }
    let mut order = Vec::with_capacity(records.after.len());
    while let Some(Reverse((_, place))) = ready.pop() {
        order.push(place);
        for next in followers.remove(&place).unwrap_or_default() {
            ready.push(Reverse((key(next), next)));
        }
    }
    match followers.into_values().flatten().min() {
        Some((rank, index)) => {
            Err(refused(rank, index, "the operation waits for itself through messages of other ranks"))
        }
        None => Ok(order),
    }
}

/// The content of a file while it is written.
struct File<'a> {
    program: &'a Program,
    records: &'a Records,
    /// The number that each communicator has in the file.
    numbers: &'a HashMap<u32, usize>,
    /// The number that each message has in the file.
    messages: HashMap<Place, usize>,
    /// The number that each collective has in the file.
    collectives: HashMap<(u32, u32), usize>,
}

impl File<'_> {
    /// Writes the record of a send or collective. Returns the kind of the dependency that it has written.
    fn line(&mut self, place: Place, lines: &mut String) -> Result<u8, Refusal> {
        let of = &self.program.ranks[place.0 as usize];
        let op = of.ops.op(place.1);
        let (after, delay) = self.records.after[&place];
        let (kind, id) = self.after(after);
        match op.kind() {
            Kind::Collective(operation) => {
                let context = context(of, &op);
                let next = self.collectives.len();
                let number = *self.collectives.entry((context, op.instance())).or_insert(next);
                let comm = self.numbers.get(&context).copied().unwrap_or(0);
                let code = OPERATIONS.iter().position(|&known| known == operation);
                let code = code.ok_or_else(|| refused(place.0, place.1, "VEF does not have this collective"))?;
                let (size, me) = of.place_in(op.comm(), place.0, self.program.len());
                let (sends, receives) = sizes(operation, op.size(), size.into(), me == op.root());
                let _ = writeln!(lines, "G{number} {comm} {code} {} {sends} {receives} {kind} {delay} {id}", place.0);
            }
            Kind::Send | Kind::Receive | Kind::Compute => {
                let number = self.messages.len();
                self.messages.insert(place, number);
                let to = of.rank_of(op.comm(), op.peer().unwrap_or(0));
                let _ = writeln!(lines, "{number} {} {to} {} {kind} {delay} {id}", place.0, op.size());
            }
        }
        Ok(kind)
    }

    /// Returns the kind of a dependency, and the number of the message or collective on which a record depends.
    fn after(&self, after: Option<Place>) -> (u8, String) {
        let Some(place) = after else { return (0, "-1".to_owned()) };
        let of = &self.program.ranks[place.0 as usize];
        let op = of.ops.op(place.1);
        let event = match op.kind() {
            Kind::Receive => After::Received(self.messages[&self.records.sends[&place]] as u32),
            Kind::Collective(_) => After::Collective(self.collectives[&(context(of, &op), op.instance())] as u32),
            Kind::Send | Kind::Compute => After::Sent(self.messages[&place] as u32),
        };
        match event {
            After::Nothing => (0, "-1".to_owned()),
            After::Sent(id) => (1, id.to_string()),
            After::Received(id) => (2, id.to_string()),
            After::Collective(id) => (3, format!("G{id}")),
        }
    }
}

/// Returns the bytes that a task of a collective sends and receives, as the format defines them.
fn sizes(operation: Operation, bytes: u64, ranks: u64, is_root: bool) -> (u64, u64) {
    let all = bytes.saturating_mul(ranks);
    match (operation, is_root) {
        (Operation::Broadcast, true) | (Operation::Reduce, false) | (Operation::Gather, false) => (bytes, 0),
        (Operation::Broadcast, false) | (Operation::Reduce, true) | (Operation::Scatter, false) => (0, bytes),
        (Operation::AllReduce, _) => (bytes, bytes),
        (Operation::Gather, true) | (Operation::AllGather, _) => (bytes, all),
        (Operation::Scatter, true) => (all, bytes),
        (Operation::AllToAll, _) => (bytes, 0),
        (Operation::Barrier | Operation::ReduceScatter, _) => (0, 0),
    }
}
