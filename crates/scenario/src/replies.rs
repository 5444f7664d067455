//! Checks for replies that a workload delays (turnaround): the drain must be longer than this delay, and the warm-up should be.

use crate::config::Scenario;
use crate::warning::{Warning, long};
use crate::warnings::later;
use weft_engine::Spec;
use weft_engine::spec::{Job, Stop};
use weft_units::{Cycles, MAX_CYCLES, Refusal};

weft_units::codes! {
    WARMUP_WITHOUT_REPLIES = "warmup_without_replies", Warning,
        means: "The fixed warm-up ends before the first replies are sent. The window contains fewer packets than later \
                cycles would.",
        computed: "`measure.warmup` is not longer than the longest turnaround of a reply. The remedy adds two turnarounds.",
        helps: "Write a longer `measure.warmup` or a shorter turnaround.";
}

/// The path of the key that sets the turnaround of job number `j`: in the job if the job sets it, otherwise in `traffic`.
fn key(scenario: &Scenario, j: usize) -> String {
    let traffic = &scenario.traffic;
    let own = traffic.jobs.get(j).filter(|job| job.workload.is_some() || job.reply.is_some());
    let (section, workload, reply) = match own {
        Some(job) => (format!("traffic.jobs.{j}"), &job.workload, &job.reply),
        None => ("traffic".to_owned(), &traffic.workload, &traffic.reply),
    };
    match (workload, reply) {
        (Some(workload), None) => format!("{section}.workload.{}.turnaround", workload.name()),
        (None | Some(_), _) => format!("{section}.reply.turnaround"),
    }
}

/// The jobs that send replies in the window or in the drain, each with its turnaround [cycles].
fn kept_back<'a>(spec: &'a Spec, counts: impl Fn(&Job) -> bool + 'a) -> Result<Vec<(usize, Cycles)>, Refusal> {
    let jobs = spec.traffic.jobs.iter().enumerate().filter(|(_, job)| counts(job));
    let with_cycles = jobs.map(|(j, job)| Ok((j, job.turnaround(spec.cycle_fs, &format!("traffic.jobs.{j}"))?)));
    with_cycles.filter(|job| job.as_ref().is_ok_and(|&(_, cycles)| cycles > 0)).collect()
}

/// Refuses a drain that ends before the last replies can leave, because then every load would count as saturated.
pub(crate) fn check(scenario: &Scenario, spec: &Spec) -> Result<(), Refusal> {
    let limit = spec.phases.drain_limit;
    // if the window ends with the last packet of a batch, it contains all replies to the batch
    let drains = |job: &Job| job.batch.is_none() || spec.phases.stop != Stop::Complete;
    let Some((j, cycles)) = kept_back(spec, drains)?.into_iter().find(|&(_, cycles)| cycles >= limit) else {
        return Ok(());
    };
    let what = format!(
        "a reply is sent {} after its request has arrived, but the drain ends at most {} after the window: the replies \
         to the last requests would be missing",
        long(cycles, spec),
        long(limit, spec)
    );
    let enough = cycles + limit.max(spec.phases.window);
    let help = match enough <= MAX_CYCLES {
        true => format!("write `measure.drain_limit: {enough}cycles`, or a shorter turnaround"),
        false => format!("write a shorter turnaround, of less than {limit}cycles"),
    };
    Err(Refusal::new(key(scenario, j), what, help))
}

/// Warns about a fixed warm-up that is over before the first replies leave.
pub(crate) fn warning(spec: &Spec) -> Result<Option<Warning>, Refusal> {
    let phases = &spec.phases;
    if phases.auto_warmup || phases.stop == Stop::Complete {
        return Ok(None);
    }
    let longest = kept_back(spec, |job| job.batch.is_none())?.into_iter().map(|(_, cycles)| cycles).max();
    Ok(longest.filter(|&cycles| phases.warmup <= cycles).map(|cycles| {
        let what = format!(
            "a warm-up of {} is not longer than the turnaround of {}: the window begins before the first replies are \
             sent, and measures a network with fewer packets than later",
            long(phases.warmup, spec),
            long(cycles, spec)
        );
        let enough = phases.warmup + 2 * cycles;
        let help = match enough <= MAX_CYCLES {
            true => {
                let moved = later(spec, enough - phases.warmup).map_or_else(String::new, |text| format!(", {text}"));
                format!("write `measure.warmup: {enough}cycles` or more{moved}")
            }
            false => "write a shorter turnaround".to_owned(),
        };
        let numbers = [
            ("warmup_cycles", phases.warmup as f64),
            ("turnaround_cycles", cycles as f64),
            ("enough_cycles", enough as f64),
        ];
        Warning::new(&WARMUP_WITHOUT_REPLIES, "measure.warmup", numbers, what, help)
    }))
}
