//! Checks of a program before it runs: all peers and communicators exist, and all ranks call the same collectives.

use super::op::{Kind, Op, Operation};
use super::ops::Ops;
use super::program::{Program, RankProgram};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use weft_units::Refusal;

impl Program {
    /// Refuses unknown ranks and communicators, and collectives that differ between ranks.
    pub fn check(&self) -> Result<(), Refusal> {
        let mut checked = Checked::default();
        let mut members = HashSet::new();
        for (rank, of) in self.ranks.iter().enumerate() {
            check_comms(self, rank, of, &mut members)?;
            if !checked.is_new(of) {
                continue;
            }
            for (place, op) in of.ops.ops().iter().enumerate() {
                check_op(self, of, op)
                    .map_err(|(what, help)| Refusal::new(format!("rank {rank}, operation {place}"), what, help))?;
            }
        }
        self.same_collectives()
    }

    /// Checks that all ranks of a communicator call the same collectives in the same order: same kind, root and size.
    fn same_collectives(&self) -> Result<(), Refusal> {
        if !self.has_collectives() {
            return Ok(());
        }
        let mut first: HashMap<u32, (usize, Arc<[Call]>)> = HashMap::new();
        let mut known = HashMap::new();
        for (rank, of) in self.ranks.iter().enumerate() {
            // many ranks share one list of operations, which is checked once
            let calls = known.entry((Arc::as_ptr(&of.ops), of.comms.len())).or_insert_with(|| calls(of));
            for (own, place) in calls.iter().zip(0..=of.comms.len()) {
                let number = place.checked_sub(1).map_or(0, |place| of.comms[place].number);
                let (other, known) = first.entry(number).or_insert_with(|| (rank, Arc::clone(own)));
                if !Arc::ptr_eq(known, own) && known != own {
                    let place = known.iter().zip(&**own).take_while(|(a, b)| a == b).count();
                    return Err(different(rank, *other, number, place, own.get(place), known.get(place)));
                }
            }
        }
        Ok(())
    }
}

/// Returns, for each communicator of a rank, the rank's collectives in the order of their numbers.
fn calls(of: &RankProgram) -> Vec<Arc<[Call]>> {
    let mut calls = vec![Vec::new(); of.comms.len() + 1];
    for op in of.ops.ops().iter().filter(|op| is_collective(op)) {
        let sizes = of.ops.sizes(op.sizes()).cloned();
        calls[usize::from(op.comm())].push((op.within(0).on(0, 0).sized_by(0), sizes));
    }
    let in_order = |mut calls: Vec<Call>| {
        calls.sort_by_key(|(op, _)| op.instance());
        calls.into()
    };
    calls.into_iter().map(in_order).collect()
}

/// The lists of operations that were already checked, each with the sizes of the communicators in which it was
/// checked. Many ranks share one list, so this record prevents repeated checks.
#[derive(Default)]
pub(crate) struct Checked(HashMap<*const Ops, Vec<usize>>);

impl Checked {
    /// Returns true if no earlier rank had this list of operations in communicators of these sizes.
    pub(crate) fn is_new(&mut self, of: &RankProgram) -> bool {
        let sizes: Vec<usize> = of.comms.iter().map(|comm| comm.members.len()).collect();
        self.0.insert(Arc::as_ptr(&of.ops), sizes.clone()).is_none_or(|before| before != sizes)
    }
}

/// The properties of a collective that must be equal on all ranks, and the sizes of its blocks.
type Call = (Op, Option<Arc<[u64]>>);

fn is_collective(op: &Op) -> bool {
    match op.kind() {
        Kind::Collective(_) => true,
        Kind::Compute | Kind::Send | Kind::Receive => false,
    }
}

fn different(rank: usize, other: usize, comm: u32, place: usize, own: Option<&Call>, known: Option<&Call>) -> Refusal {
    let named = |call: Option<&Call>| match call.map(|(op, sizes)| (op.kind(), op, sizes)) {
        Some((Kind::Collective(operation), op, sizes)) => {
            let size = match sizes {
                None => format!("{} bytes", op.size()),
                Some(sizes) => format!("blocks of {:?} bytes", &sizes[..sizes.len().min(8)]),
            };
            format!("{} of {size} with root {}", operation.name(), op.root())
        }
        _ => "missing".to_owned(),
    };
    Refusal::new(
        format!("rank {rank}"),
        format!(
            "collective {place} of communicator {comm} is {} at this rank, but {} at rank {other}",
            named(own),
            named(known)
        ),
        "make all ranks of a communicator call the same collectives in the same order",
    )
}

/// `known` contains the lists of members that were already checked for earlier ranks. All members of a large
/// communicator share one list, so each list is checked once.
fn check_comms(
    program: &Program,
    rank: usize,
    of: &RankProgram,
    known: &mut HashSet<*const [u32]>,
) -> Result<(), Refusal> {
    let ranks = program.len();
    for (place, comm) in of.comms.iter().enumerate() {
        let path = format!("rank {rank}, communicator {}", place + 1);
        let is_new = known.insert(Arc::as_ptr(&comm.members));
        let outside = if is_new { comm.members.iter().find(|&&member| member >= ranks) } else { None };
        if let Some(outside) = outside {
            let what =
                format!("rank {outside} is a member, but the program has ranks 0 to {}", ranks.saturating_sub(1));
            return Err(Refusal::new(path, what, "list only ranks of the program as members"));
        }
        if comm.number == 0 || comm.members.get(comm.me as usize) != Some(&(rank as u32)) {
            let what = format!("the member at place {} of communicator {} is not rank {rank}", comm.me, comm.number);
            return Err(Refusal::new(
                path,
                what,
                "give each rank its own place among the members; number communicators from 1",
            ));
        }
    }
    Ok(())
}

/// Returns the problem of an operation and the remedy; `None` if the operation is valid.
#[inline]
fn check_op(program: &Program, of: &RankProgram, op: &Op) -> Result<(), (String, String)> {
    // most operations use the communicator of all ranks and no list of block sizes. This short test accepts them, to
    // save time
    let is_plain = op.comm() == 0 && op.sizes() == 0;
    match op.kind() {
        Kind::Compute if is_plain => Ok(()),
        Kind::Send | Kind::Receive if is_plain && op.peer().is_none_or(|peer| peer < program.len()) => Ok(()),
        Kind::Compute | Kind::Send | Kind::Receive | Kind::Collective(_) => check_any(program, of, op),
    }
}

fn check_any(program: &Program, of: &RankProgram, op: &Op) -> Result<(), (String, String)> {
    if usize::from(op.comm()) > of.comms.len() {
        let what = format!(
            "the operation names communicator {}, but the rank has only {} communicators",
            op.comm(),
            of.comms.len()
        );
        return Err((what, "create the communicator, or use communicator 0, which has all ranks".into()));
    }
    let size = of.size_of(op.comm(), program.len());
    let peer = match op.kind() {
        Kind::Compute => None,
        Kind::Send | Kind::Receive => op.peer(),
        Kind::Collective(_) => Some(op.root()),
    };
    if let Some(peer) = peer.filter(|&peer| peer >= size) {
        let (what, whole) = match op.kind() {
            Kind::Send => ("sends to", "program"),
            Kind::Receive => ("receives from", "program"),
            Kind::Compute | Kind::Collective(_) => ("has its root at", "communicator"),
        };
        let what = format!(
            "the operation {what} rank {peer}, but the {whole} has {size} ranks (0 to {})",
            size.saturating_sub(1)
        );
        return Err((what, "correct this rank, or the number of ranks".into()));
    }
    let lists = of.ops.size_lists().len();
    if usize::from(op.sizes()) > lists {
        return Err((
            format!("the operation names list {} of block sizes, but the rank has {lists} lists", op.sizes()),
            "add this list to the rank".into(),
        ));
    }
    if let (Some(sizes), Kind::Collective(operation)) = (of.ops.sizes(op.sizes()), op.kind()) {
        let wanted = if operation == Operation::AllToAll { u64::from(size).pow(2) } else { size.into() };
        if sizes.len() as u64 != wanted {
            let what = format!(
                "{} of {size} ranks needs {wanted} block sizes, but the list has {}",
                operation.name(),
                sizes.len()
            );
            return Err((what, "give one size per rank; for all-to-all, one per sender and receiver".into()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::{Calls, Comm};
    use super::*;

    fn program(ops: &[Op]) -> Program {
        let mut calls = Calls::default();
        ops.iter().for_each(|&op| _ = calls.blocking(op));
        Program { ranks: vec![RankProgram::new(calls.finish()), RankProgram::new(Calls::default().finish())] }
    }

    #[test]
    fn ranks_that_do_not_exist_are_refused_with_the_numbers() {
        let refused = program(&[Op::compute(1), Op::send(2, 8, Some(0))]).check().unwrap_err();
        assert_eq!(refused.path, "rank 0, operation 1");
        assert_eq!(refused.what, "the operation sends to rank 2, but the program has 2 ranks (0 to 1)");
        assert!(program(&[Op::receive(None, 8, None), Op::send(1, 8, None)]).check().is_ok());
        assert!(program(&[Op::send(1, 8, None).within(1)]).check().unwrap_err().what.contains("communicator 1"));
    }

    #[test]
    fn a_collective_that_one_rank_leaves_out_is_refused() {
        let refused = program(&[Op::collective(Operation::Barrier, 0, 0, 0)]).check().unwrap_err();
        assert!(
            refused.what.contains("is missing at this rank, but barrier of 0 bytes with root 0 at rank 0"),
            "{}",
            refused.what
        );
    }

    /// If the check compared all 200,000 members for each of the 200,000 ranks, it would compare 4 x 10^10 members.
    #[test]
    fn members_that_ranks_share_are_looked_at_once() {
        let members: Arc<[u32]> = (0..200_000).collect();
        let calls = Calls::default().finish();
        let rank = |me: u32| {
            let mut rank = RankProgram::new(calls.clone());
            rank.comms.push(Comm { number: 1, members: Arc::clone(&members), me });
            rank
        };
        let mut program = Program { ranks: (0..200_000).map(rank).collect() };
        assert!(program.check().is_ok());
        program.ranks.pop();
        assert!(
            program
                .check()
                .unwrap_err()
                .what
                .contains("rank 199999 is a member, but the program has ranks 0 to 199998")
        );
    }

    #[test]
    fn a_rank_must_be_at_its_place_in_a_communicator() {
        let mut program = program(&[]);
        program.ranks[1].comms.push(Comm { number: 1, members: [0, 1].into(), me: 0 });
        assert!(program.check().unwrap_err().what.contains("the member at place 0 of communicator 1 is not rank 1"));
        program.ranks[1].comms[0].me = 1;
        assert!(program.check().is_ok());
    }
}
