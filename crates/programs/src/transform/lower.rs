//! Converts a program: collectives become messages, and all messages use the communicator of all ranks.

use crate::collectives::Rules;
use crate::form::{Draft, Kind, Op, Ops, Program, RankProgram, When};
use std::collections::HashMap;
use weft_units::Refusal;

/// Largest number of operations of a converted program. An operation takes 60 bytes, so this number takes 6 GB of
/// memory.
const MOST: usize = 100_000_000;

/// Chooses the tags of messages that come from collectives or from other communicators than that of all ranks. In the
/// communicator of all ranks, these tags must differ from the tags that the program already uses.
struct Tags {
    known: HashMap<(u32, u32), u32>,
    next: u32,
}

impl Tags {
    /// The chosen tags begin above every tag of messages in the communicator of all ranks.
    fn new(program: &Program) -> Self {
        let plain = |op: &&Op| op.comm() == 0 && op.kind() != Kind::Compute;
        let tags = program.ranks.iter().flat_map(|rank| rank.ops.ops().iter().filter(plain).filter_map(Op::tag));
        let of_messages = tags.max().map_or(0, |tag| tag.saturating_add(1));
        Self { known: HashMap::new(), next: of_messages }
    }

    fn of(&mut self, context: u32, tag: u32) -> Result<u32, Refusal> {
        if context == 0 {
            return Ok(tag);
        }
        if let Some(&known) = self.known.get(&(context, tag)) {
            return Ok(known);
        }
        if self.next == u32::MAX {
            let what =
                "the messages of collectives and communicators need tags above those of the program, but none are left";
            return Err(Refusal::new("the program", what, "use smaller tags for messages among all ranks"));
        }
        self.next += 1;
        self.known.insert((context, tag), self.next - 1);
        Ok(self.next - 1)
    }
}

/// Converts a program; `rules` expand its collectives into messages. In the converted program, a collective begins and
/// ends with a computation of 0 ns. These computations have the dependencies of the collective.
pub fn lower(program: &Program, rules: &Rules) -> Result<Program, Refusal> {
    program.check()?;
    rules.check(program)?;
    let is_plain = |rank: &RankProgram| rank.comms.is_empty();
    if !program.has_collectives() && program.ranks.iter().all(is_plain) {
        return Ok(program.clone());
    }
    let mut tags = Tags::new(program);
    let (mut ranks, mut operations) = (Vec::with_capacity(program.ranks.len()), 0);
    for (rank, of) in program.ranks.iter().enumerate() {
        operations += ranks.last().map_or(0, |last: &RankProgram| last.ops.len());
        if operations > MOST {
            let what = format!(
                "the first {rank} of {} ranks have {operations} operations, but a program has at most {MOST}",
                program.len()
            );
            return Err(Refusal::new(
                "the program",
                what,
                "use fewer ranks or steps; weft trace loggops does not need collectives as messages",
            ));
        }
        ranks.push(RankProgram::new(lower_rank(program.len(), rank as u32, of, rules, &mut tags)?));
    }
    Ok(Program { ranks })
}

fn lower_rank(ranks: u32, rank: u32, of: &RankProgram, rules: &Rules, tags: &mut Tags) -> Result<Ops, Refusal> {
    let mut draft = Draft::default();
    // index of the first and of the last new operation that replace each old operation. The two indices differ only
    // for collectives
    let mut ends: Vec<(u32, u32)> = Vec::with_capacity(of.ops.len());
    for op in of.ops.ops() {
        ends.push(match op.kind() {
            Kind::Compute => {
                let number = draft.add(op.within(0));
                (number, number)
            }
            Kind::Send | Kind::Receive => {
                let number = draft.add(message(of, op, 2 * number_of(of, op.comm()), op.comm(), tags)?);
                (number, number)
            }
            Kind::Collective(_) => collective(ranks, rank, of, op, rules, tags, &mut draft)?,
        });
    }
    for earlier in 0..of.ops.len() as u32 {
        for when in [When::Finish, When::Start] {
            for &later in of.ops.successors(earlier, when) {
                let (begin, end) = ends[earlier as usize];
                let earlier = if when == When::Finish { end } else { begin };
                draft.depend(ends[later as usize].0, earlier, when);
            }
        }
    }
    Ok(draft.unchecked())
}

/// Returns the number that a rank's communicator has in the program.
fn number_of(of: &RankProgram, comm: u16) -> u32 {
    usize::from(comm).checked_sub(1).map_or(0, |place| of.comms[place].number)
}

/// Converts a message of communicator `comm` to a message in the communicator of all ranks.
fn message(of: &RankProgram, op: &Op, context: u32, comm: u16, tags: &mut Tags) -> Result<Op, Refusal> {
    let op = match op.tag() {
        Some(tag) => op.tagged(tags.of(context, tag)?),
        None if context == 0 => *op,
        None => {
            let what = "a receive with any tag in a communicator can't be converted to a receive among all ranks";
            return Err(Refusal::new("the program", what, "give the receive a tag"));
        }
    };
    Ok(op.peer().map_or(op, |peer| op.to_peer(of.rank_of(comm, peer))).within(0))
}

fn collective(
    ranks: u32,
    rank: u32,
    of: &RankProgram,
    op: &Op,
    rules: &Rules,
    tags: &mut Tags,
    draft: &mut Draft,
) -> Result<(u32, u32), Refusal> {
    let (size, me) = of.place_in(op.comm(), rank, ranks);
    let messages = rules.expand(op, size, me, of.ops.sizes(op.sizes()).map(|sizes| &**sizes));
    let point = || Op::compute(0).on(op.cpu(), 0);
    let begin = draft.add(point());
    let base = draft.len();
    let context = 2 * number_of(of, op.comm()) + 1;
    for index in 0..messages.len() as u32 {
        let inner = messages.op(index);
        let lowered =
            if inner.kind() == Kind::Compute { inner } else { message(of, &inner, context, op.comm(), tags)? };
        draft.add(lowered);
    }
    let end = draft.add(point());
    for index in 0..messages.len() as u32 {
        if messages.predecessors(index) == 0 {
            draft.depend(base + index, begin, When::Finish);
        }
        for when in [When::Finish, When::Start] {
            messages.successors(index, when).iter().for_each(|&later| draft.depend(base + later, base + index, when));
        }
        draft.depend(end, base + index, When::Finish);
    }
    if messages.is_empty() {
        draft.depend(end, begin, When::Finish);
    }
    Ok((begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::{Calls, Comm, Operation};
    use crate::loggops;
    use std::sync::Arc;

    /// Four ranks do an all-reduce of all ranks, and then one in each half. Messages are sent between the two.
    fn program() -> Program {
        let of = |rank: u32| {
            let mut calls = Calls::default();
            calls.collective(Op::collective(Operation::AllReduce, 0, 100, 0));
            calls.exchange(Op::send(rank ^ 1, 8, Some(0)), Op::receive(Some(rank ^ 1), 8, None));
            calls.collective(Op::collective(Operation::AllReduce, 0, 100, 0).within(1));
            calls.blocking(Op::compute(10));
            let members = [rank / 2 * 2, rank / 2 * 2 + 1];
            let comms = vec![Comm { number: 1 + rank / 2, members: members.into(), me: rank % 2 }];
            RankProgram { ops: Arc::new(calls.finish()), comms }
        };
        Program { ranks: (0..4).map(of).collect() }
    }

    #[test]
    fn a_lowered_program_has_no_collectives_and_finishes_at_the_same_time() {
        let rules = Arc::new(Rules::default());
        let lowered = lower(&program(), &rules).unwrap();
        assert!(!lowered.has_collectives() && lowered.ranks.iter().all(|rank| rank.comms.is_empty()));
        let at = loggops::Parameters {
            unit_fs: 1_000_000,
            latency: 100,
            overhead: 10,
            gap: 5,
            gap_per_byte: 1,
            overhead_per_byte: 0,
            eager: 1 << 16,
        };
        let [plain, flat] = [program(), lowered].map(|program| loggops::run(&program, &rules, at).unwrap());
        assert_eq!(plain.finish, flat.finish);
        assert_eq!((plain.messages, plain.bytes), (flat.messages, flat.bytes));
        // recursive doubling sends 2 messages per rank among 4 ranks, and 1 message per rank among 2 ranks. Each rank
        // also sends one message outside of collectives
        assert_eq!((plain.messages, plain.bytes), (4 * (2 + 1 + 1), 4 * (200 + 100 + 8)));
    }
}
