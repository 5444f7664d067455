//! Judges the jobs of a point separately: the network may carry one job but not another.
//!
//! If one job of a point is saturated or cut off, the run ends with the window, and packets in flight are then not delivered. Another job,
//! whose load is accepted or which is complete, still has a valid latency. This latency lacks only those packets of the job that were in
//! flight at the end of the window.

use crate::backlog::CHANCE;
use crate::facts::{Facts, Job};
use crate::flaws::{CARRIED, sign};
use crate::kinds::{self, ENDED, NEXT_TO_MARK};
use crate::words;

impl Job {
    /// Whether the job is a batch or a program that is not complete.
    pub(crate) fn is_open(&self) -> bool {
        self.has_end() && self.completion_cycles.is_none()
    }

    /// Whether the job ends by itself: it is a batch, a program or a queue of programs.
    fn has_end(&self) -> bool {
        [self.batch_packets, self.ranks, self.queue_programs].iter().any(Option::is_some)
    }

    /// Whether the network carries the job: it is complete, or at least 97 % of its load is accepted, up to random variation.
    fn is_carried(&self) -> bool {
        if self.has_end() {
            return self.completion_cycles.is_some();
        }
        let positive = |value: Option<f64>| value.filter(|&value| value != 0.0);
        match (positive(self.offered_load), self.accepted_load, positive(self.packets)) {
            (Some(offered), Some(accepted), Some(packets)) => accepted >= (CARRIED - CHANCE / packets.sqrt()) * offered,
            (_, _, _) => false,
        }
    }
}

impl Facts {
    /// For each job, the sign that tables print in place of a latency without limit, or the mark after the numbers of the job. The sign is
    /// empty if the job has no mark.
    pub fn job_signs(&self) -> Vec<&'static str> {
        let flaws = self.flaws();
        let whole = sign(&flaws);
        let is_of_job = [&ENDED[0], &ENDED[2]].iter().any(|mark| mark.sign == whole);
        let is_sound = |job: &Job| is_of_job && self.jobs.len() > 1 && job.is_carried();
        let beside = |job: &Job| if positive_missing(job) { NEXT_TO_MARK.sign } else { "" };
        self.jobs.iter().map(|job| if is_sound(job) { beside(job) } else { whole }).collect()
    }

    /// For each job, its flaws as text; `None` for a job without flaws.
    pub fn job_reasons(&self) -> Vec<Option<String>> {
        let flaws = self.flaws();
        let next_to = match flaws[..] {
            [only] if only.is(&kinds::SATURATED) => Some(words::NEXT_TO_SATURATED),
            [only] if only.is(&kinds::NOT_COMPLETE) => Some(words::NEXT_TO_CUT),
            _ => None,
        };
        let why = (!flaws.is_empty()).then(|| words::reason(&flaws));
        let is_ended = |sign: &str| ENDED.iter().any(|mark| mark.sign == sign);
        let reason = |sign: &str| match next_to {
            Some(words) if !is_ended(sign) => Some(words.to_owned()),
            _ => why.clone(),
        };
        self.job_signs().into_iter().map(reason).collect()
    }
}

fn positive_missing(job: &Job) -> bool {
    job.missing_packets.is_some_and(|missing| missing > 0.0)
}
