//! Rules that choose the next program to start among those that wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rule that chooses the next program to start among those that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A random program with enough free nodes; all such programs have the same probability.
    Random,
    /// First come, first served: a program starts only if no earlier program waits.
    Fcfs,
    /// First come, first served with backfilling: a later program may start if, according to the estimates, it does not delay the
    /// first program that waits. Each program needs an estimate.
    Easy,
}

/// The data about a program that waits or runs, for the choice of the next program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Number of the program among all programs.
    pub program: usize,
    /// Number of nodes that the program needs or holds; number of cores if programs share nodes.
    pub nodes: usize,
    /// For a program that waits: its estimated run time. For a program that runs: the cycle of its estimated end.
    pub estimate: u64,
}

/// The next program to start in cycle `now`, while `free` nodes are free. `waiting`: the submitted programs, the first submitted
/// first. `running`: all programs that hold nodes, in any order. `draw` returns a random number below its argument.
pub fn next(
    order: Order,
    (now, free): (u64, usize),
    waiting: &[Known],
    running: impl Iterator<Item = Known>,
    draw: impl FnOnce(usize) -> usize,
) -> Option<usize> {
    let first = waiting.first()?;
    match order {
        Order::Random => {
            let fit: Vec<usize> = waiting.iter().filter(|each| each.nodes <= free).map(|each| each.program).collect();
            (!fit.is_empty()).then(|| fit[draw(fit.len())])
        }
        Order::Fcfs | Order::Easy if first.nodes <= free => Some(first.program),
        Order::Fcfs => None,
        Order::Easy => {
            let (shadow, extra) = reservation(first.nodes, (now, free), running);
            let delays_nothing = |each: &&Known| {
                each.nodes <= free && (each.nodes <= extra || now.saturating_add(each.estimate) <= shadow)
            };
            waiting[1..].iter().find(delays_nothing).map(|each| each.program)
        }
    }
}

/// The cycle in which, according to the estimates, `nodes` nodes are free; and the number of free nodes that are left over in this
/// cycle. A program that has run longer than estimated may end in cycle `now`.
fn reservation(nodes: usize, (now, mut free): (u64, usize), running: impl Iterator<Item = Known>) -> (u64, usize) {
    let mut ends: Vec<(u64, usize)> = running.map(|each| (each.estimate.max(now), each.nodes)).collect();
    ends.sort_unstable();
    // programs that end in the same cycle free their nodes together
    for together in ends.chunk_by(|(end, _), (other, _)| end == other) {
        free += together.iter().map(|&(_, freed)| freed).sum::<usize>();
        if free >= nodes {
            return (together[0].0, free - nodes);
        }
    }
    (u64::MAX, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(program: usize, nodes: usize, estimate: u64) -> Known {
        Known { program, nodes, estimate }
    }

    fn easy(free: usize, waiting: &[Known], running: &[Known]) -> Option<usize> {
        next(Order::Easy, (100, free), waiting, running.iter().copied(), |_| unreachable!("no random choice"))
    }

    /// 8 nodes: program 0 holds 5 until cycle 200. Program 1 needs 6 nodes, so it can start at 200; then 8 - 6 = 2 nodes are left over.
    #[test]
    fn backfilling_does_not_delay_the_first_program() {
        let running = [known(0, 5, 200)];
        let first = known(1, 6, 50);
        // the program ends at 200, just in time
        assert_eq!(easy(3, &[first, known(2, 3, 100)], &running), Some(2));
        // the program would end at 201 and take 3 nodes, but only 2 are left over
        assert_eq!(easy(3, &[first, known(2, 3, 101)], &running), None);
        // 2 nodes are left over for any time
        assert_eq!(easy(3, &[first, known(2, 3, 101), known(3, 2, 9_999)], &running), Some(3));
        // the first program starts when there are enough nodes
        assert_eq!(easy(6, &[first, known(2, 3, 1)], &[]), Some(1));
        // first come, first served has no backfilling
        let fcfs = next(Order::Fcfs, (100, 3), &[first, known(2, 3, 1)], running.into_iter(), |_| 0);
        assert_eq!(fcfs, None);
    }

    /// 11 nodes: programs 0 and 1 hold 3 and 5 until cycle 200. Then program 2 gets 6 of 11, and 5 are left over.
    #[test]
    fn programs_that_end_together_free_their_nodes_together() {
        let waiting = [known(2, 6, 50), known(3, 3, 1_000)];
        for running in [[known(0, 3, 200), known(1, 5, 200)], [known(0, 3, 20), known(1, 5, 30)]] {
            assert_eq!(easy(3, &waiting, &running), Some(3), "{running:?}");
        }
        // if a program ends later, none of its nodes is left over: 3 + 3 - 6 = 0
        assert_eq!(easy(3, &waiting, &[known(0, 3, 200), known(1, 5, 201)]), None);
    }

    #[test]
    fn a_program_beyond_its_estimate_may_end_at_once() {
        // the estimated end was in cycle 60, so other programs may take only left-over nodes: 3 + 5 - 6 = 2
        let running = [known(0, 5, 60)];
        assert_eq!(easy(3, &[known(1, 6, 50), known(2, 3, 1), known(3, 2, 500)], &running), Some(3));
    }
}
