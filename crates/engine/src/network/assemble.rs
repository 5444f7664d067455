//! From a spec to a network: the last allocations before the loop.

use crate::api::common::Common;
use crate::api::coordinates;
use crate::api::routing::{AnyRouting, Classes, Decides, Needs};
use crate::api::spec::Watched;
use crate::network::dependency;
use crate::network::faults;
use crate::network::pairs;
use crate::network::spec::{Fault, LinkClass, Spec};
use crate::pipeline::clock::{Clock, NEVER, NetJob};
use crate::pipeline::net::Net;
use crate::state::link_class::Link;
pub(crate) use builder::{Builder, blocks};
pub(crate) use partition::{blocks_by_size, partition};
use std::sync::Arc;
use weft_traffic::mix;
use weft_units::Refusal;

mod builder;
mod parameters;
mod partition;

/// Purpose of the hashes that routings draw from.
const ROUTES: u64 = 3;

/// The routing of a run at its beginning.
pub(crate) fn routing(spec: &Spec) -> Result<Box<dyn AnyRouting>, Refusal> {
    let mut routing = spec.routing.build(&spec.graph)?;
    if let Some(stages) = spec.policy.model().first_stages(&spec.graph) {
        routing.begin_with_stages(stages);
    }
    Ok(routing)
}

/// Builds and checks everything that blocks only read.
pub(crate) fn net(spec: &Spec) -> Result<Net, Refusal> {
    let graph = &*spec.graph;
    let routing: Arc<dyn AnyRouting> = routing(spec)?.into();
    let needs = routing.needs();
    let links = links(spec, &needs.classes)?;
    check(spec, &*routing, &needs)?;
    let (jobs, clocks) = clocks(spec)?;
    let (ranks, job_of) = places(spec);
    let counts = Counts::of(spec);
    let (common, after_grant) = (common(spec, &needs, &links)?, parameters::after_grant(spec)?);
    let (watches, by_age, faults) = (watches(spec)?, parameters::by_age(spec)?, !spec.faults.is_empty());
    let chooses = needs.decides == Decides::EachStep || common.trunk.width > 1;
    Ok(Net {
        first_ports: routing.first_ports(),
        coords: routing.coordinates(graph),
        terminal_at: (0..graph.terminals()).map(|t| graph.terminal_at(t)).map(|(r, p)| (r, p as u8)).collect(),
        class_bits: common.class_bits,
        links,
        chooses,
        by_age,
        priority: spec.router.priority,
        watches,
        creation_slow_path: counts.by_job || watches,
        only_in_time: !counts.others,
        crossing_slow_path: by_age || watches || spec.router.routing_delay > 0,
        heads_slow_path: chooses || by_age || watches || spec.router.routing_delay > 0 || faults,
        subnets: pairs::subnetworks(spec),
        counts_sleep: spec.records.sleep,
        faults,
        routers_fail: spec.faults.iter().any(Fault::is_of_router),
        trunk: common.trunk,
        ahead: routing.clone().ahead(),
        routing,
        needs,
        delivery_slow_path: counts.others || spec.records.transient.is_some(),
        jobs,
        clocks,
        ranks,
        job_of,
        replies: counts.replies,
        single: common.single,
        after_grant,
        ejection_delay: spec.router.ejection_delay,
        routing_delay: parameters::routing_delay(spec)?,
        vc_realloc: spec.router.vc_realloc > 0,
        speedup: spec.router.speedup,
        hold_switch: common.hold_switch,
        flow_control: spec.router.flow_control,
        room: parameters::room(spec) as u16,
        landing: after_grant + spec.links[0].latency + spec.router.ejection_delay,
        lookahead: lookahead(spec)?,
        power_period: spec.power_period()?,
        batch: spec.phases.window.div_ceil(u64::from(spec.phases.batches)),
        // neighbouring seeds must not give neighbouring draws
        seed: mix(spec.seed, ROUTES, 0),
        common,
    })
}

/// Refuses what can't run, or could deadlock.
fn check(spec: &Spec, routing: &dyn AnyRouting, needs: &Needs) -> Result<(), Refusal> {
    let (graph, name) = (&*spec.graph, spec.routing.name());
    dependency::refuse_misfit(graph, routing, name)?;
    if !spec.allow_dependency_cycle {
        dependency::refuse_cycle(graph, routing, &needs.classes, name)?;
    }
    partition::refuse_split_groups(graph, needs, name)?;
    spec.traffic.check(graph.terminals(), |j| format!("traffic.jobs.{j}"))?;
    spec.check_warmup()?;
    spec.check_faults()?;
    faults::check_aim(spec, routing)?;
    parameters::refuse_worms(spec, &routing.proof())
}

/// The link classes. `classes`: VC classes that the routing needs on each.
fn links(spec: &Spec, classes: &Classes) -> Result<Vec<Link>, Refusal> {
    let each = spec.links.iter().zip(classes).zip(spec.graph.class_names());
    each.map(|((link, &classes), name)| parameters::link_of(spec, link, classes, name)).collect()
}

/// What routers share with their allocators and routings.
fn common(spec: &Spec, needs: &Needs, links: &[Link]) -> Result<Common, Refusal> {
    Ok(Common {
        links: links.to_vec(),
        trunk: coordinates::trunk_of(&spec.graph),
        sensor: needs.sensor,
        after_grant: parameters::after_grant(spec)? as u32,
        single: spec.traffic.longest() == 1,
        class_bits: needs.classes.iter().copied().max().unwrap_or(1).next_power_of_two().ilog2(),
        hold_switch: parameters::hold_switch(spec)?,
    })
}

/// What is counted beside all packets together.
struct Counts {
    replies: bool,
    /// By job and kind: only where there are several jobs, or messages of several kinds.
    by_job: bool,
    /// Anything that a delivery has to look at.
    others: bool,
}

impl Counts {
    fn of(spec: &Spec) -> Self {
        let jobs = &spec.traffic.jobs;
        let replies = jobs.iter().any(|job| job.reply.is_some());
        let by_job = replies || jobs.len() > 1;
        let batches = jobs.iter().any(|job| job.batch.is_some());
        Self { replies, by_job, others: by_job || batches || spec.phases.auto_warmup }
    }
}

fn clocks(spec: &Spec) -> Result<(Vec<NetJob>, Vec<Clock>), Refusal> {
    let mut clocks = Vec::new();
    let jobs = spec.traffic.jobs.iter().enumerate().map(|(j, job)| NetJob::new(j, job, spec.cycle_fs, &mut clocks));
    Ok((jobs.collect::<Result<_, _>>()?, clocks))
}

/// Rank and job of every terminal, [`NEVER`] for one in no job; the ranks are left out where they are the terminals.
fn places(spec: &Spec) -> (Vec<u32>, Vec<u16>) {
    let terminals = spec.graph.terminals();
    let (mut ranks, mut job_of) = (vec![0; terminals as usize], vec![NEVER; terminals as usize]);
    for (j, job) in spec.traffic.jobs.iter().enumerate() {
        for (rank, &t) in job.terminals.iter().enumerate() {
            (ranks[t as usize], job_of[t as usize]) = (rank as u32, j as u16);
        }
    }
    if spec.traffic.jobs.len() == 1 && spec.traffic.jobs[0].terminals.iter().copied().eq(0..terminals) {
        ranks.clear();
    }
    (ranks, job_of)
}

/// Whether packets are watched; refuses those of terminals that there are not.
fn watches(spec: &Spec) -> Result<bool, Refusal> {
    let terminals = spec.graph.terminals();
    if let Watched::Packets(names) = &spec.watched
        && let Some((terminal, seq)) = names.iter().find(|(terminal, _)| *terminal >= terminals)
    {
        let what = format!("packet {terminal}:{seq}: there is no terminal {terminal}, the network has {terminals}");
        return Err(Refusal::new("watch", what, format!("write a terminal from 0 to {}", terminals - 1)));
    }
    Ok(!matches!(&spec.watched, Watched::Nobody | Watched::First(0)))
}

/// No delivery is known more cycles ahead.
pub(crate) fn lookahead(spec: &Spec) -> Result<u64, Refusal> {
    let link = |link: &LinkClass| link.latency + u64::from(link.buffer) * u64::from(link.vcs);
    Ok(parameters::after_grant(spec)? + 4 + spec.router.ejection_delay + spec.links.iter().map(link).max().unwrap_or(0))
}
