//! Builds some fields of `Net`: the rules of routers and faults, the flags for slow code paths, and times. This file also collects the
//! properties of a run that decide which shortcuts it uses.

use super::{lookahead, parameters, partition};
use crate::network::classes::VcSets;
use crate::network::episodes;
use crate::network::pairs;
use crate::network::spec::{Fault, Spec};
use weft_api::common::Common;
use weft_api::routing::{AnyRouting, Decides, Needs};
use weft_api::spec::InputSpeedup;
use weft_api::walk::Proof;
use weft_kernel::net::{FaultRules, NetJob, Repair, RouterRules, SlowPaths, Tables, Times};
use weft_kernel::shortcuts::facts::Facts;
use weft_units::Refusal;

/// The rules of the routers in the form that the cycle loop uses. `paced`: whether at least one link needs pacing.
pub(super) fn router(spec: &Spec, needs: &Needs, common: &Common, paced: bool) -> Result<RouterRules, Refusal> {
    let router = &spec.router;
    let input_speedup = parameters::input_speedup(spec)?;
    let (vc_realloc, rings) = (router.vc_realloc > 0, !needs.ring_entries.is_empty());
    Ok(RouterRules {
        after_grant: parameters::after_grant(spec)?,
        ejection_delay: router.ejection_delay,
        routing_delay: parameters::routing_delay(spec)?,
        input_speedup,
        closes_vcs: router.routing_delay > 0 || paced && input_speedup != InputSpeedup::Unlimited,
        vc_realloc,
        speedup: router.speedup,
        hold_switch: common.hold_switch,
        by_age: parameters::by_age(spec)?,
        priority: router.priority,
        flow_control: router.flow_control,
        room: parameters::room(spec) as u16,
        rings,
        each_credit_wakes: vc_realloc && !common.single || rings || needs.waits_for_room,
    })
}

pub(super) fn faults(spec: &Spec, routing: &dyn AnyRouting, tables: Vec<Tables>) -> FaultRules {
    let repair = pairs::repair(spec, routing);
    FaultRules {
        repair,
        tables,
        patience: spec.fault_times.patience,
        cut_rings: if matches!(routing.proof(), Proof::EscapeRings(_)) {
            episodes::spans(&spec.faults)
        } else {
            Vec::new()
        },
        routers_fail: repair == Repair::ByPolicy && spec.faults.iter().any(Fault::is_of_router),
    }
}

/// The properties of a run that decide which shortcuts it uses. `watches`: whether the user watches packets. `paced`: whether at least one
/// link needs pacing. `maps_queues`: whether a queueing scheme has queues in addition to the VCs: queues set aside for congested outputs,
/// or queues of an ideal map.
pub(super) fn facts<'a>(
    spec: &Spec,
    needs: &'a Needs,
    (router, faults): (&RouterRules, &FaultRules),
    (watches, paced): (bool, bool),
    (sets, maps_queues): (&VcSets, bool),
) -> Facts<'a> {
    let graph = &*spec.graph;
    let mut facts = Facts {
        needs,
        trunks: graph.has_trunks(),
        slow_heads: false,
        hold_switch: router.hold_switch,
        vc_realloc: router.vc_realloc,
        paced_links: paced,
        fast_links: spec.links.iter().any(|link| link.rate.is_above(1)),
        closes_vcs: router.closes_vcs,
        watches,
        faults: faults.repair.any(),
        longest: spec.traffic.longest(),
        outputs: u64::from(graph.port_base(graph.routers())) + u64::from(graph.terminals()),
        is_large: partition::is_larger_than_cache(spec),
        queues: spec.has_queues(sets),
        keeps: spec.keeps_packets(),
        marks: !spec.congestion.is_usual(),
        classes_apart: sets.are_finer(),
        maps_queues,
    };
    let chooses_at_head = facts.chooses() && needs.decides == Decides::AtHead;
    facts.slow_heads = router.by_age || watches || maps_queues || router.closes_vcs || facts.faults || chooses_at_head;
    facts
}

/// The slow code paths of the cycle loop that the rare features of a run need. `terminals_paced`: whether the links of terminals need
/// pacing.
pub(super) fn slow_paths(
    spec: &Spec,
    jobs: &[NetJob],
    facts: &Facts<'_>,
    router: &RouterRules,
    terminals_paced: bool,
) -> SlowPaths {
    let &Facts { needs, watches, paced_links: paced, .. } = facts;
    // whether packets are counted for each job: there are several jobs, or a workload reports latencies separately
    let by_job =
        jobs.len() > 1 || !spec.classes.is_empty() || jobs.iter().any(|job| !job.workload.latencies().is_empty());
    let hears_packets = jobs.iter().any(|job| job.hears_packets);
    let ends = jobs.iter().any(|job| job.workload.total().is_some() || job.workload.progress().ends());
    let changes = spec.traffic.jobs.iter().any(|job| job.phases.len() > 1) || !spec.faults.is_empty();
    // whether a delivery does more than add to the sums
    let does_more = by_job || hears_packets || ends || changes || spec.phases.auto_warmup;
    let recorded = spec.recordings.iter().any(|asked| asked.model.hears_deliveries());
    let paths = spec.recordings.iter().any(|asked| asked.model.hears_paths());
    let marks = !spec.congestion.is_usual();
    SlowPaths {
        injection: terminals_paced || spec.managed[0] && spec.switches_links(),
        creation: by_job || watches || paths,
        paths,
        hops: paths || marks || needs.remembers,
        moves: needs.sees_grants || facts.maps_queues,
        crossing: router.by_age || watches || router.routing_delay > 0 || paced,
        delivery: does_more || marks || recorded || paths,
        only_recorded: !does_more && !marks,
    }
}

pub(super) fn times(spec: &Spec, router: &RouterRules) -> Result<Times, Refusal> {
    exchanges_in_time(spec)?;
    Ok(Times {
        landing: router.after_grant + spec.links[0].latency + router.ejection_delay,
        lookahead: lookahead(spec)?,
        power_period: spec.power_period()?,
        turnaround: spec.turnaround()?,
        policy_repeats: spec.schedule()?.period,
        changes: spec.traffic.changes(),
        batch: spec.phases.window.div_ceil(u64::from(spec.phases.batches)),
    })
}

/// Refuses sources that would react to events of other blocks before the blocks have exchanged their mail. The time
/// between two exchanges can be as long as the latency of a link.
fn exchanges_in_time(spec: &Spec) -> Result<(), Refusal> {
    let longest = spec.links.iter().map(|link| link.latency).max().unwrap_or(0);
    for (j, job) in spec.traffic.jobs.iter().enumerate() {
        if let Some((key, cycles)) = job.workload.model().acts_on_others_after(spec.cycle_fs)
            && cycles <= longest
        {
            let what =
                format!("{cycles} cycles, but this time must be longer than the latency of a link, {longest} cycles");
            let of = if spec.traffic.jobs.len() == 1 { "traffic".into() } else { format!("traffic.jobs.{j}") };
            let path = format!("{of}.workload.{}.{key}", job.workload.name());
            return Err(Refusal::new(path, what, format!("write {}cycles or more", longest + 1)));
        }
    }
    Ok(())
}
