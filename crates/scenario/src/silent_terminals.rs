//! Warns about terminals that send nothing because the pattern of their job gives them no destination.

use crate::config::Scenario;
use crate::warning::Warning;
use crate::warnings::{named, place};
use weft_engine::Spec;
use weft_engine::spec::Job;

weft_units::codes! {
    SILENT_TERMINALS = "silent_terminals", Warning,
        means: "The pattern of a job lets some of its terminals send nothing. Loads are means over all terminals, so \
                the offered and the accepted load are lower than the written load.",
        computed: "Terminals with a relative load of 0 in all phases of the job, such as those beyond the ids of `within` or the empty rows of \
                   a matrix.",
        helps: "Change nothing if these terminals are to send nothing. Otherwise write a pattern in which all \
                terminals send, or a job only for the terminals that send (`traffic.jobs`): the loads of a job are \
                means over its own terminals.";
}

/// Warns about jobs in which some terminals send nothing and other terminals send.
pub(crate) fn warnings(scenario: &Scenario, spec: &Spec) -> Vec<Warning> {
    let jobs = spec
        .traffic
        .jobs
        .iter()
        .enumerate()
        .filter(|(_, job)| !job.workload.model().has_own_demand() && job.batch.is_none());
    let with_silent = jobs.map(|(j, job)| (j, job, silent(job)));
    let some = with_silent.filter(|&(_, job, silent)| silent > 0 && silent < job.terminals.len());
    let warning = |(j, job, silent): (usize, &Job, usize)| {
        let all = job.terminals.len();
        let senders = all - silent;
        let what = format!(
            "{} has a pattern that lets {silent} of {all} terminals send nothing. Offered and accepted load are means \
             over all {all}, so they are lower than the written load",
            named(scenario, spec, j)
        );
        let help = format!(
            "change nothing if these terminals are to send nothing; otherwise write a pattern in which all terminals \
             send, or a job for the {senders} terminals that send (`traffic.jobs`), whose loads are means over these \
             terminals"
        );
        let numbers = [("silent_terminals", silent as f64), ("terminals", all as f64)];
        Warning::new(&SILENT_TERMINALS, place(scenario, j, "pattern"), numbers, what, help)
    };
    some.map(warning).collect()
}

/// Number of terminals of a job to which its patterns never give a destination.
fn silent(job: &Job) -> usize {
    let sends = |rank: u32| job.phases.iter().any(|phase| phase.pattern.relative_load(rank) > 0.0);
    (0..).zip(&job.terminals).filter(|&(rank, _)| !sends(rank)).count()
}
