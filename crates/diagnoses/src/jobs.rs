//! Judgements on the jobs of a point: a job may be sound next to one that the network does not carry.
//!
//! A point in which any job is saturated ends with its window and is not drained. A job that accepts its load has a latency all the same.
//! Only its packets in flight at the end of the window are missing.

use crate::backlog::CHANCE;
use crate::facts::{Facts, Job};
use crate::flaws::{CARRIED, sign};
use crate::kinds::{self, ENDED, NEXT_TO_MARK};
use crate::words;

impl Job {
    /// True if the network carries a job: a complete batch, or a load of which 97 % is accepted, up to chance.
    fn is_carried(&self) -> bool {
        if self.batch_packets.is_some() {
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
    /// Of each job the sign in place of a latency that has no limit, or the mark behind its numbers; empty for a sound job.
    pub fn job_signs(&self) -> Vec<&'static str> {
        let flaws = self.flaws();
        let whole = sign(&flaws);
        let is_sound = |job: &Job| whole == ENDED[0].sign && self.jobs.len() > 1 && job.is_carried();
        let beside = |job: &Job| if positive_missing(job) { NEXT_TO_MARK.sign } else { "" };
        self.jobs.iter().map(|job| if is_sound(job) { beside(job) } else { whole }).collect()
    }

    /// Flaws of each job as text; `None` for a sound job.
    pub fn job_reasons(&self) -> Vec<Option<String>> {
        let flaws = self.flaws();
        let is_saturated = matches!(flaws[..], [only] if only.is(&kinds::SATURATED));
        let why = (!flaws.is_empty()).then(|| words::reason(&flaws));
        let is_ended = |sign: &str| ENDED.iter().any(|mark| mark.sign == sign);
        let reason = |sign: &str| match is_saturated && !is_ended(sign) {
            true => Some(words::NEXT_TO_SATURATED.to_owned()),
            false => why.clone(),
        };
        self.job_signs().into_iter().map(reason).collect()
    }
}

fn positive_missing(job: &Job) -> bool {
    job.missing_packets.is_some_and(|missing| missing > 0.0)
}
