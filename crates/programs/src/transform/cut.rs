//! Cuts a program to the operations that start within a window of time.

use crate::form::{Draft, Kind, Op, Ops, Program, RankProgram, When};
use crate::loggops::{Failure, Parameters, run_recorded};
use weft_units::Refusal;

/// Begin and end of the window \[ns\], on the clock of the LogGOPS executor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    pub from_ns: f64,
    pub to_ns: f64,
}

/// Returns the operations of a program without collectives that start within a window. If only the send or only the receive
/// of a message is in the window, a computation of 0 ns with the same dependencies replaces it. Also returns the number of
/// these replacements.
pub fn cut(program: &Program, at: Parameters, window: Window) -> Result<(Program, u64), Failure> {
    if window.from_ns >= window.to_ns {
        let what = format!("the window begins at {} ns and ends at {} ns", window.from_ns, window.to_ns);
        return Err(Failure::Refused(Refusal::new("the window", what, "make the window end after its begin")));
    }
    let (answer, record) = run_recorded(program, at)?;
    let kept = |rank: usize, op: u32| {
        let start = at.ns(record.starts[rank][op as usize]);
        window.from_ns <= start && start < window.to_ns
    };
    let mut halves = 0;
    let mut ranks = Vec::with_capacity(program.ranks.len());
    for (rank, of) in program.ranks.iter().enumerate() {
        let is_kept = |op: u32| kept(rank, op);
        let whole = |op: u32| {
            let (other, its_op) = record.partners[rank][op as usize];
            kept(other as usize, its_op)
        };
        ranks.push(RankProgram::new(part(&of.ops, is_kept, whole, &mut halves)));
    }
    if ranks.iter().all(|rank| rank.ops.is_empty()) {
        let last = at.ns(answer.last().0);
        let what = format!(
            "no operation starts from {} ns to {} ns; the program ends at {last} ns",
            window.from_ns, window.to_ns
        );
        return Err(Failure::Refused(Refusal::new("the window", what, "choose a window within the run")));
    }
    Ok((Program { ranks }, halves))
}

fn part(ops: &Ops, is_kept: impl Fn(u32) -> bool, is_whole: impl Fn(u32) -> bool, halves: &mut u64) -> Ops {
    let mut draft = Draft::default();
    let mut numbers = vec![None; ops.len()];
    for index in (0..ops.len() as u32).filter(|&index| is_kept(index)) {
        let op = ops.op(index);
        let is_half = match op.kind() {
            Kind::Send | Kind::Receive => !is_whole(index),
            Kind::Compute | Kind::Collective(_) => false,
        };
        *halves += u64::from(is_half);
        numbers[index as usize] = Some(draft.add(if is_half { Op::compute(0).on(op.cpu(), 0) } else { op }));
    }
    for index in 0..ops.len() as u32 {
        for when in [When::Finish, When::Start] {
            for &later in ops.successors(index, when) {
                if let (Some(earlier), Some(later)) = (numbers[index as usize], numbers[later as usize]) {
                    draft.depend(later, earlier, when);
                }
            }
        }
    }
    draft.unchecked()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Calls;
    use crate::readers::{Format, goal::Goal};

    #[test]
    fn a_window_keeps_whole_messages_and_the_order_of_the_rest() {
        // The parameters are o 10 and L 100, and no gaps. Rank 0 sends at 0, computes from 10 to 60, and sends at 60.
        // Rank 1 receives at 110 and 170.
        let mut sender = Calls::default();
        sender.blocking(Op::send(1, 1, Some(0)));
        sender.blocking(Op::compute(50));
        sender.blocking(Op::send(1, 1, Some(1)));
        let mut receiver = Calls::default();
        receiver.blocking(Op::receive(Some(0), 1, Some(0)));
        receiver.blocking(Op::receive(Some(0), 1, Some(1)));
        let ranks = [sender, receiver].map(|calls| RankProgram::new(calls.finish())).into();
        let at = Parameters {
            unit_fs: 1_000_000,
            latency: 100,
            overhead: 10,
            gap: 0,
            gap_per_byte: 0,
            overhead_per_byte: 0,
            eager: 9,
        };
        let (part, halves) = cut(&Program { ranks }, at, Window { from_ns: 5.0, to_ns: 200.0 }).unwrap();
        let text = String::from_utf8(Goal.write(&part).unwrap()).unwrap();
        // the second receive of rank 1 is in the window, because it starts at 120, when the first message has been
        // processed. The first receive is not, because it starts at 0
        let wanted = "num_ranks 2\n\nrank 0 {\nl1: calc 50\nl2: send 1b to 1 tag 1\nl2 requires l1\n}\n\nrank 1 {\n\
                      l1: recv 1b from 0 tag 1\n}\n";
        assert_eq!((text.as_str(), halves), (wanted, 0));
        let (part, halves) = cut(&part, at, Window { from_ns: 0.0, to_ns: 40.0 }).unwrap();
        assert_eq!((part.ranks[1].ops.op(0), halves), (Op::compute(0), 1), "its send starts at 50");
        assert!(cut(&part, at, Window { from_ns: 1e6, to_ns: 2e6 }).is_err());
    }
}
