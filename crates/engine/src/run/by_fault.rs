//! Counts of packets that arrive in the window, separately for times with at least one broken part and times without.

use crate::network::simulation::Simulation;
use crate::run::outcome::{FaultOutcome, FaultSpan};
use weft_api::routing::AroundFaults;
use weft_kernel::net::Repair;
use weft_kernel::tally::Tally;

impl Simulation {
    /// Results for each span between two changes of the broken parts, and for each time bin of the window; `None` if no part fails during
    /// the run.
    pub(crate) fn by_fault(&self, tally: &Tally, window: (u64, u64)) -> Option<FaultOutcome> {
        let counted = &tally.parts.faults;
        if counted.width() == 0 {
            return None;
        }
        let spans: Vec<_> = counted.spans().collect();
        let ends = spans.iter().skip(1).map(|&(start, ..)| start).chain([u64::MAX]);
        let clipped = spans.iter().zip(ends).map(|(&(start, broken, &arrived), end)| FaultSpan {
            from: start.max(window.0),
            to: end.min(window.1),
            broken,
            arrived,
        });
        Some(FaultOutcome {
            spans: clipped.filter(|span| span.from < span.to).collect(),
            bin: counted.width(),
            bins: counted.bins(window).collect(),
            rebuilds: self.net.faults.repair == Repair::ByRouting(AroundFaults::Rebuilds),
        })
    }
}
