//! Scales the computation times of a program.

use crate::form::{Kind, Op, Ops, Program, RankProgram};
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the program with the time of each computation multiplied by `factor`, and rounded to nanoseconds.
pub fn scaled(program: &Program, factor: f64) -> Program {
    // ranks often share their operations, and then they also share the scaled operations
    let mut known: HashMap<*const Ops, Arc<Ops>> = HashMap::new();
    let rank = |rank: &RankProgram| {
        let ops = known.entry(Arc::as_ptr(&rank.ops)).or_insert_with(|| of_rank(&rank.ops, factor));
        RankProgram { ops: Arc::clone(ops), comms: rank.comms.clone() }
    };
    Program { ranks: program.ranks.iter().map(rank).collect() }
}

fn of_rank(ops: &Arc<Ops>, factor: f64) -> Arc<Ops> {
    let mut draft = ops.draft();
    for index in 0..draft.len() {
        let op = draft.ops()[index as usize];
        if op.kind() == Kind::Compute {
            let ns = (op.size() as f64 * factor).round() as u64;
            draft.replace(index, Op::compute(ns).on(op.cpu(), op.nic()));
        }
    }
    draft.finish().map_or_else(|_| Arc::clone(ops), Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Calls;

    #[test]
    fn computations_alone_take_another_time() {
        let mut calls = Calls::default();
        calls.blocking(Op::compute(10));
        calls.blocking(Op::send(1, 64, None));
        let first = RankProgram::new(calls.finish());
        let program = Program { ranks: vec![first.clone(), first] };
        let long = scaled(&program, 2.5);
        assert_eq!(long.ranks[1].ops.ops(), [Op::compute(25), Op::send(1, 64, None)]);
        assert_eq!(long.ranks[0].ops.predecessors(1), 1);
        assert_eq!(scaled(&program, 1.0), program);
    }
}
