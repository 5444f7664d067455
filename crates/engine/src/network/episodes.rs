//! Episodes: the spans of a run in which at least one link or router is broken.

use crate::network::failures::Fault;
use weft_api::spec::Phases;
use weft_kernel::fault_tally::FaultTally;
use weft_units::Cycles;

/// Number of time bins in the longest window. Runs with faults count arrivals in these bins.
const BINS: u64 = 128;

/// A span from a first failure until all parts work again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Episode {
    pub from: Cycles,
    /// First cycle in which all parts work again; `None` if a part stays broken.
    pub until: Option<Cycles>,
}

/// The episodes that these faults cause, in ascending order of time.
pub fn episodes(faults: &[Fault]) -> Vec<Episode> {
    let mut sorted: Vec<&Fault> = faults.iter().collect();
    sorted.sort_unstable_by_key(|fault| fault.at);
    let mut episodes: Vec<Episode> = Vec::new();
    for fault in sorted {
        match episodes.last_mut() {
            Some(last) if last.until.is_none_or(|until| fault.at <= until) => {
                last.until = last.until.zip(fault.until).map(|(a, b)| a.max(b));
            }
            _ => episodes.push(Episode { from: fault.at, until: fault.until }),
        }
    }
    episodes
}

/// For each episode, its first cycle and the first cycle after it (`Cycles::MAX` if it never ends).
pub(crate) fn spans(faults: &[Fault]) -> Vec<(Cycles, Cycles)> {
    episodes(faults).iter().map(|episode| (episode.from, episode.until.unwrap_or(Cycles::MAX))).collect()
}

/// Creates the counters of arrivals for a block, in a run with these faults.
pub(crate) fn tally(faults: &[Fault], phases: &Phases) -> FaultTally {
    let changes: Vec<Cycles> =
        episodes(faults).iter().flat_map(|episode| [Some(episode.from), episode.until]).flatten().collect();
    let width = (phases.window / BINS).max(1);
    FaultTally::new(&changes, width, ((phases.warmup + phases.window) / width + 1).min(1 << 16) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::failures::Part;

    #[test]
    fn faults_that_touch_are_one_episode() {
        let fault = |at, until| Fault { what: Part::Router(at as u32), at, until };
        let faults = [
            fault(70, Some(80)),
            fault(10, Some(30)),
            fault(20, Some(25)),
            fault(30, Some(40)),
            fault(90, None),
            fault(95, Some(99)),
        ];
        let found: Vec<_> = episodes(&faults).iter().map(|e| (e.from, e.until)).collect();
        assert_eq!(found, [(10, Some(40)), (70, Some(80)), (90, None)]);
        assert_eq!(episodes(&[]), []);
    }
}
