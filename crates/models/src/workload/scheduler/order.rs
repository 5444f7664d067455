//! Orders: which of the programs that wait starts next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which of the programs that wait starts next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A program whose nodes are free, each such program with the same chance.
    Random,
    /// First come, first served: a program starts if no earlier one waits.
    Fcfs,
    /// As `fcfs`, with backfilling: a later program may start if the first that waits is not delayed by it, as far as the estimates tell.
    /// Each program needs an estimate.
    Easy,
}

/// A program that waits, or runs, as far as an order knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Number of the program among all.
    pub program: usize,
    /// Nodes that it needs or holds, or cores where programs share nodes.
    pub nodes: usize,
    /// Waiting: its estimated run time. Running: the cycle of its estimated end.
    pub estimate: u64,
}

/// The next program to start in cycle `now`, while `free` nodes are free. `waiting`: those that have been submitted, the first one first.
/// `running`: all that hold nodes, in any order. `draw` gives a random number below its argument.
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

/// The cycle in which `nodes` nodes are free as far as the estimates tell, and the number of free nodes that are left over in it.
/// A program that has run longer than estimated may end in cycle `now`.
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

    /// 8 nodes: program 0 holds 5 until cycle 200. Program 1 needs 6 and so can start at 200, when 8 - 6 = 2 nodes are left over.
    #[test]
    fn backfilling_does_not_delay_the_first_program() {
        let running = [known(0, 5, 200)];
        let first = known(1, 6, 50);
        // it ends at 200, just in time
        assert_eq!(easy(3, &[first, known(2, 3, 100)], &running), Some(2));
        // it would end at 201 and take 3 nodes of which 2 are left over
        assert_eq!(easy(3, &[first, known(2, 3, 101)], &running), None);
        // 2 nodes are left over for however long
        assert_eq!(easy(3, &[first, known(2, 3, 101), known(3, 2, 9_999)], &running), Some(3));
        // the first one starts when it fits
        assert_eq!(easy(6, &[first, known(2, 3, 1)], &[]), Some(1));
        // first come, first served has no backfilling
        let fcfs = next(Order::Fcfs, (100, 3), &[first, known(2, 3, 1)], running.into_iter(), |_| 0);
        assert_eq!(fcfs, None);
    }

    /// 11 nodes: programs 0 and 1 hold 3 and 5 until cycle 200, when program 2 gets 6 of 11 and 5 are left over.
    #[test]
    fn programs_that_end_together_free_their_nodes_together() {
        let waiting = [known(2, 6, 50), known(3, 3, 1_000)];
        for running in [[known(0, 3, 200), known(1, 5, 200)], [known(0, 3, 20), known(1, 5, 30)]] {
            assert_eq!(easy(3, &waiting, &running), Some(3), "{running:?}");
        }
        // of the nodes of a program that ends later none is left over: 3 + 3 - 6 = 0
        assert_eq!(easy(3, &waiting, &[known(0, 3, 200), known(1, 5, 201)]), None);
    }

    #[test]
    fn a_program_beyond_its_estimate_may_end_at_once() {
        // the estimated end was in cycle 60: only left-over nodes may be taken, 3 + 5 - 6 = 2 of them
        let running = [known(0, 5, 60)];
        assert_eq!(easy(3, &[known(1, 6, 50), known(2, 3, 1), known(3, 2, 500)], &running), Some(3));
    }
}
