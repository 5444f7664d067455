//! Remedies for points with faults that begin or end in the window: the proposed window still contains these faults.
//!
//! A later window would contain other faults or none, and a run without the faults is not the run that the user wants to measure. Packets
//! also wait at broken parts until the routing has new tables. Such waits are long at any load, so they do not show that the load is near
//! the capacity.

use crate::facts::{Episode, Facts};
use crate::kinds::Kind;
use crate::remedies::{LONGER, PATIENCE};
use crate::verdict::Remedy;
use crate::words;

impl Facts {
    /// Whether faults begin or end after the warm-up, so that a later window would contain other faults. A part that is broken before,
    /// during and after the window is no such fault.
    pub(crate) fn has_faults_in_window(&self) -> bool {
        let begin = self.warmup_cycles.unwrap_or(0.0);
        self.fault_episodes.iter().any(|each| each.from_cycle >= begin || each.to_cycle.is_some())
    }

    /// Whether parts break, are broken for a time, or return in the span of these facts: the window, or one phase.
    pub(crate) fn is_disturbed(&self) -> bool {
        let Some(place) = &self.place else { return self.has_faults_in_window() };
        let (begin, end) = (place.from_cycle.unwrap_or(0.0), place.to_cycle.unwrap_or(f64::INFINITY));
        let lasts = |each: &Episode| each.from_cycle < end && each.to_cycle.is_none_or(|to| to > begin);
        let changes = |each: &Episode| each.from_cycle >= begin || each.to_cycle.is_some();
        self.fault_episodes.iter().any(|each| lasts(each) && changes(each))
    }

    /// The remedy of a longer window after the same warm-up. The packets that waited at the faults are then a smaller part of all packets.
    /// Their mean wait falls with the length of the window, and the memory of the queues falls with the square of the wait. The window must
    /// therefore grow with the cube root of the memory.
    pub(crate) fn window_with_faults(&self) -> Remedy {
        let (warmup, window) = (self.warmup_cycles.unwrap_or(0.0), self.window_cycles.unwrap_or(0.0));
        let stays_broken = self.fault_episodes.iter().any(|each| each.to_cycle.is_none());
        if window == 0.0 {
            return words::any_window_with_faults();
        }
        let lasted = warmup + window;
        let memory = self.queue_memory_cycles.unwrap_or(0.0);
        let times = match stays_broken || self.fault_episodes_count > 1.0 {
            // the mean wait stays as it is if such faults follow in the longer window
            true if memory <= PATIENCE * lasted => (memory / window).ceil(),
            _ => (memory / lasted).cbrt().min(PATIENCE),
        };
        // most of the window must be after the last return
        let repaired = self.fault_episodes.iter().filter_map(|each| each.to_cycle).fold(warmup, f64::max) - warmup;
        let times = (LONGER * times.max(repaired / window).max(1.0)).ceil();
        words::window_with_faults(self.span(times * window), stays_broken)
    }

    /// The remedy for a saturated point if parts fail or return in its window; `None` for other points, and if the load changes. Packets
    /// that wait for new tables can be the reason for the missing load, so the remedy proposes a longer window first.
    pub(crate) fn saturated_at_faults(&self, kind: &Kind) -> Option<Remedy> {
        let is_at_faults = !self.is_phase() && self.phases.is_empty() && self.has_faults_in_window();
        is_at_faults.then(|| words::saturated_at_faults(self.window_with_faults(), kind.help))
    }

    /// Extends a remedy that moves the beginning of the window by `later` cycles: the faults in the window must move by the same time.
    /// Without the moved faults, the settings are only half of the remedy, so the remedy then has no settings.
    pub(crate) fn with_moved_faults(&self, remedy: Remedy, later: f64) -> Remedy {
        if self.has_faults_in_window() { words::with_moved_faults(remedy, self.span(later)) } else { remedy }
    }
}
