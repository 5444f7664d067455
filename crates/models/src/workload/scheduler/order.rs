//! Rules that choose the next program to start among those that wait.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Rule that chooses the next program to start among those that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// A random program with enough free nodes; all such programs have the same probability.
    Random,
    /// First come, first served: a program starts only if all earlier programs have started.
    Fcfs,
    /// First come, first served with backfilling (EASY): a later program can start early if this does not delay the first waiting
    /// program, according to the estimates. Every program needs an estimate of its run time.
    Easy,
}

/// The data about a waiting or running program that the choice of the next program uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Known {
    /// Index of the program in the list of all programs.
    pub program: usize,
    /// Number of nodes that the program needs or occupies; number of cores if programs share nodes.
    pub nodes: usize,
    /// Estimated run time of a program that waits. Estimated end, as a cycle, of a program that runs.
    pub estimate: u64,
}

/// Returns the program that starts next in cycle `now`, if `free` nodes are free. `waiting`: the submitted programs that have not started,
/// in the order of their submission. `running`: all programs that occupy nodes, in any order. `draw`: returns a random number below its
/// argument.
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

/// Returns the cycle in which `nodes` nodes will be free according to the estimates, and the number of nodes that are left over then. A
/// program that has run longer than its estimate is assumed to end in cycle `now`.
fn reservation(nodes: usize, (now, mut free): (u64, usize), running: impl Iterator<Item = Known>) -> (u64, usize) {
    let mut ends: Vec<(u64, usize)> = running.map(|each| (each.estimate.max(now), each.nodes)).collect();
    ends.sort_unstable();
    // programs with the same estimated end free their nodes together
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

    /// There are 8 nodes, and program 0 occupies 5 of them until cycle 200. Program 1 needs 6 nodes, so it can start in cycle 200. Then 8 -
    /// 6 = 2 nodes are left over for other programs.
    #[test]
    fn backfilling_does_not_delay_the_first_program() {
        let running = [known(0, 5, 200)];
        let first = known(1, 6, 50);
        // program 2 starts, because it would end in cycle 200, in which program 1 needs the nodes
        assert_eq!(easy(3, &[first, known(2, 3, 100)], &running), Some(2));
        // program 2 does not start: it would end in cycle 201 and needs 3 nodes, but only 2 are left over
        assert_eq!(easy(3, &[first, known(2, 3, 101)], &running), None);
        // program 3 starts, because it needs only the 2 left-over nodes, so its run time has no limit
        assert_eq!(easy(3, &[first, known(2, 3, 101), known(3, 2, 9_999)], &running), Some(3));
        // the first program starts if there are enough nodes
        assert_eq!(easy(6, &[first, known(2, 3, 1)], &[]), Some(1));
        // first come, first served does not backfill
        let fcfs = next(Order::Fcfs, (100, 3), &[first, known(2, 3, 1)], running.into_iter(), |_| 0);
        assert_eq!(fcfs, None);
    }

    /// There are 11 nodes, and programs 0 and 1 occupy 3 and 5 of them until cycle 200. Program 2 then gets 6 nodes,
    /// and 11 - 6 = 5 are left over.
    #[test]
    fn programs_that_end_together_free_their_nodes_together() {
        let waiting = [known(2, 6, 50), known(3, 3, 1_000)];
        for running in [[known(0, 3, 200), known(1, 5, 200)], [known(0, 3, 20), known(1, 5, 30)]] {
            assert_eq!(easy(3, &waiting, &running), Some(3), "{running:?}");
        }
        // program 1 ends one cycle later, so its nodes do not count: 3 + 3 - 6 = 0 nodes are left over
        assert_eq!(easy(3, &waiting, &[known(0, 3, 200), known(1, 5, 201)]), None);
    }

    #[test]
    fn a_program_beyond_its_estimate_may_end_at_once() {
        // The estimated end of program 0 was in cycle 60, so program 1 is expected to start now. For other programs,
        // only 3 + 5 - 6 = 2 nodes are left over
        let running = [known(0, 5, 60)];
        assert_eq!(easy(3, &[known(1, 6, 50), known(2, 3, 1), known(3, 2, 500)], &running), Some(3));
    }
}
