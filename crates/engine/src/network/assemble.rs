//! Assembles the network of a spec. This code allocates all memory that the cycle loop needs.

use crate::network::bubbles;
use crate::network::classes::VcSets;
use crate::network::dependency;
use crate::network::faults;
use crate::network::ideal;
use crate::network::pairs;
use crate::network::rebuild;
use crate::network::routing::routing;
use crate::network::set_aside;
use crate::network::spec::{Job, LinkClass, Spec};
pub(crate) use builder::{Builder, blocks};
pub(crate) use division::Division;
pub(crate) use partition::{notes_after, partition, partition_by, usual_blocks};
use std::sync::Arc;
use weft_api::activity::Wanted;
use weft_api::board::Board;
use weft_api::common::Common;
use weft_api::compiled::Ahead;
use weft_api::in_classes::AheadInClasses;
use weft_api::refined::Refined;
use weft_api::routing::{AnyRouting, Needs};
use weft_api::spec::Watched;
use weft_api::state::by_class::ByClass;
use weft_api::state::link_class::Link;
use weft_api::workload::JobSite;
use weft_kernel::net::{Net, NetJob, Places, Tables};
use weft_kernel::shortcuts::profile::Profile;
use weft_traffic::mix;
use weft_units::Refusal;

mod agents;
mod builder;
mod division;
mod parameters;
mod partition;
mod rules;

/// Purpose number of the hashes from which routings draw random choices; workloads use the lower purpose numbers.
const ROUTES: u64 = 3;

/// Builds and checks the data of the network that blocks read but never write.
pub(crate) fn net(spec: &Spec) -> Result<Net, Refusal> {
    net_with(spec, routing(spec)?.into(), jobs)
}

/// Does the work of `net` for a given routing. The closure `jobs` builds the jobs; it is called after the traffic has been checked.
pub(crate) fn net_with(
    spec: &Spec,
    routing: Arc<dyn AnyRouting>,
    jobs: impl FnOnce(&Spec) -> Result<Vec<NetJob>, Refusal>,
) -> Result<Net, Refusal> {
    let graph = &*spec.graph;
    let Routed { needs, tables, links, sets } = Routed::of(spec, &*routing)?;
    let jobs = jobs(spec)?;
    let some_hear_packets = jobs.iter().any(|job| job.hears_packets);
    let refined = sets.refined(spec, &routing);
    let common = common(spec, class_bits(&needs, !tables.is_empty(), &sets), &needs, &links)?;
    let (watches, rates) = (watches(spec)?, parameters::rates(spec)?);
    let faults = rules::faults(spec, &*routing, tables);
    let router = rules::router(spec, &needs, &common, rates.is_some())?;
    let set_aside = set_aside::rules(spec, &links, &sets)?;
    let ideal = ideal::rules(spec, &*routing, &needs, &links, &sets)?;
    let maps_queues = set_aside.is_some() || ideal.is_some();
    let facts = rules::facts(spec, &needs, (&router, &faults), (watches, rates.is_some()), (&sets, maps_queues));
    let (shortcuts, chooses) = (Profile::of(&facts), facts.chooses());
    Ok(Net {
        coords: routing.all_coordinates(graph),
        terminal_at: (0..graph.terminals()).map(|t| graph.terminal_at(t)).collect(),
        class_bits: common.class_bits,
        first_ports: if sets.are_finer() { None } else { routing.first_ports() },
        ahead: ahead(&routing, refined.as_ref()),
        routing,
        chooses,
        heads: shortcuts.heads(facts.slow_heads, chooses),
        shortcuts,
        fast_links: facts.fast_links,
        slow: rules::slow_paths(spec, &jobs, &facts, &router, links[0].paced),
        watches,
        rates,
        credit_returns: credit_returns(spec, &links),
        links: ByClass::new(&links),
        subnets: pairs::subnetworks(spec),
        faults,
        tells: some_hear_packets || !spec.congestion.is_usual(),
        notes_after: None, // set when the blocks are known
        wakes: spec.traffic.jobs.iter().any(|job| job.workload.model().wakes_others()),
        jobs,
        places: Places::new(graph.terminals(), spec.traffic.jobs.iter().map(|job| &*job.terminals)),
        congestion: spec.control()?,
        interface: spec.interface_rules(&sets),
        set_aside,
        ideal,
        maps_queues,
        class_ranks: spec.class_ranks(),
        refined,
        keeps: spec.keeps_packets(),
        alarms_lapse: some_hear_packets || spec.has_queues(&sets),
        single: common.single,
        times: rules::times(spec, &router)?,
        router,
        // the seed is mixed, because similar seeds must not give similar random numbers
        seed: mix(spec.seed, ROUTES, 0),
        needs,
        common,
    })
}

/// The needs of a network's routing, and the routings that replace it while links or routers fail. All these routings have been checked,
/// and the links have enough VCs for them.
struct Routed {
    needs: Needs,
    tables: Vec<Tables>,
    links: Vec<Link>,
    sets: VcSets,
}

impl Routed {
    /// Builds the routings for all faults of the spec. Refuses a spec that cannot run, or whose packets could deadlock.
    fn of(spec: &Spec, routing: &dyn AnyRouting) -> Result<Self, Refusal> {
        let mut needs = routing.needs();
        let tables = rebuild::tables(spec, routing)?;
        needs.classes = rebuild::widest(needs.classes, &tables);
        let sets = VcSets::of(spec, routing, &needs, !tables.is_empty())?;
        bubbles::refuse_misfit(spec, &needs)?;
        let links = (0..spec.links.len()).map(|c| parameters::link_of(spec, c, &needs, &sets));
        let links = links.collect::<Result<Vec<_>, _>>();
        let links = links.map_err(|refusal| rebuild::explained(refusal, &routing.needs().classes, &needs.classes))?;
        check(spec, routing, &needs)?;
        if !spec.allow_dependency_cycle {
            rebuild::refuse_cycles(spec, &tables, &needs.classes)?;
        }
        Ok(Self { needs, tables, links, sets })
    }
}

/// Refuses a spec that can't run, or whose packets could deadlock.
fn check(spec: &Spec, routing: &dyn AnyRouting, needs: &Needs) -> Result<(), Refusal> {
    // one plane is enough to check: paths stay in their plane, and all planes have the same graph
    let (graph, name) = (spec.graph.plane(), spec.routing.name());
    refuse_across_planes(spec, needs)?;
    dependency::refuse_misfit(graph, routing, name)?;
    bubbles::refuse_lost(spec, needs)?;
    if !spec.allow_dependency_cycle {
        dependency::refuse_cycle(graph, routing, &needs.classes, name)?;
    }
    partition::refuse_split_groups(graph, needs, name)?;
    pairs::check_links(spec, routing)?;
    spec.traffic.check(&spec.graph, (spec.cycle_fs, spec.flit_bits), |j| format!("traffic.jobs.{j}"))?;
    spec.check_classes(|j| format!("traffic.jobs.{j}"))?;
    spec.check_warmup()?;
    spec.check_faults()?;
    faults::check_aim(spec, routing)?;
    spec.check_recordings()?;
    parameters::refuse_worms(spec, &routing.proof())
}

/// Refuses a routing that uses the numbers of other routers in a network of several planes, because routers of different planes would have
/// the same number.
fn refuse_across_planes(spec: &Spec, needs: &Needs) -> Result<(), Refusal> {
    let name = spec.routing.name();
    if spec.graph.planes() == 1 || !(needs.reads_group || needs.posts.is_some() || pairs::rebuilds(spec)) {
        return Ok(());
    }
    let what = match pairs::rebuilds(spec) {
        true => format!("{name} computes new paths after a fault only in a network of one plane; this one has several"),
        false => format!("{name} reads queues of other routers only in a network of one plane; this one has several"),
    };
    let help = match pairs::rebuilds(spec) {
        true => "remove the faults, or choose a routing that does not compute new paths",
        false => "choose a routing that reads only the queues of its own router, or a network of one plane",
    };
    Err(Refusal::new(format!("routing.{name}"), what, help))
}

/// For each link class, the longest time \[cycles\] until the credit for a flit on one of its channels returns.
fn credit_returns(spec: &Spec, links: &[Link]) -> Vec<u64> {
    let of = |back: Vec<u8>| back.into_iter().map(|class| links[usize::from(class)].credit_latency).max().unwrap_or(0);
    spec.ways_back().into_iter().map(of).collect()
}

/// The data of all routers that allocators and routings can read.
fn common(spec: &Spec, class_bits: u32, needs: &Needs, links: &[Link]) -> Result<Common, Refusal> {
    let board = |posts| Board::new(posts, spec.graph.routers() as usize, spec.cycle_fs, spec.routing.name());
    Ok(Common {
        links: ByClass::new(links),
        rates: ByClass::new(&spec.links.iter().map(|link| link.rate).collect::<Vec<_>>()),
        modes: spec.modes.clone(),
        sensor: needs.sensor,
        after_grant: parameters::after_grant(spec)? as u32,
        single: spec.traffic.longest() == 1,
        class_bits,
        hold_switch: parameters::hold_switch(spec)?,
        always_carries: spec.policy.offers().always_carries,
        board: needs.posts.as_ref().map(board).transpose()?,
    })
}

/// Number of bits that store a VC class in a route key. If tables are rebuilt after faults (`rebuilds`), the path of a packet in flight can
/// become longer. One additional class then marks packets whose path has become too long (`kernel/src/broken.rs`).
fn class_bits(needs: &Needs, rebuilds: bool, sets: &VcSets) -> u32 {
    let most = usize::from(needs.classes.iter().copied().max().unwrap_or(1) + u8::from(rebuilds));
    let all = if sets.are_finer() { sets.vc_classes() } else { most };
    all.next_power_of_two().ilog2()
}

/// The form of the routing that computes hops one router ahead. If the network divides the routing's VC classes further (`refined`), the
/// hops name these finer classes.
pub(crate) fn ahead(routing: &Arc<dyn AnyRouting>, refined: Option<&Arc<Refined>>) -> Box<dyn Ahead> {
    let ahead = routing.clone().ahead();
    match refined {
        None => ahead,
        Some(refined) => Box::new(AheadInClasses { ahead, refined: refined.clone() }),
    }
}

/// Builds the jobs of the spec with their workloads.
pub(crate) fn jobs(spec: &Spec) -> Result<Vec<NetJob>, Refusal> {
    spec.traffic.jobs.iter().enumerate().map(|(j, job)| net_job(spec, j, job)).collect()
}

/// Builds job number `index` in the form that the cycle loop uses.
fn net_job(spec: &Spec, index: usize, job: &Job) -> Result<NetJob, Refusal> {
    let (model, classes) = (job.workload.model(), spec.classes_of(job));
    let wanted = spec.recordings.iter().map(|asked| asked.model.wants()).fold(Wanted::default(), Wanted::or);
    let site = job.site(index, classes.len() > 1, &spec.graph, (spec.cycle_fs, spec.flit_bits), spec.seed);
    let site = JobSite { wanted, ..site };
    Ok(NetJob { workload: model.build(&site)?, classes, hears_packets: model.awaits().is_some() })
}

/// Whether the user watches packets in this run. Refuses a watched packet if the network does not have its source terminal.
fn watches(spec: &Spec) -> Result<bool, Refusal> {
    let terminals = spec.graph.terminals();
    if let Watched::Packets(names) = &spec.watched
        && let Some((terminal, seq)) = names.iter().find(|(terminal, _)| *terminal >= terminals)
    {
        let what =
            format!("packet {terminal}:{seq}: there is no terminal {terminal}: the network has {terminals} terminals");
        return Err(Refusal::new("watch", what, format!("write a terminal from 0 to {}", terminals - 1)));
    }
    Ok(!matches!(&spec.watched, Watched::Nobody | Watched::First(0)))
}

/// Maximum number of cycles from the grant of a tail at its last router to its delivery.
pub(crate) fn lookahead(spec: &Spec) -> Result<u64, Refusal> {
    let flits = |link: &LinkClass| u64::from(link.buffer) * u64::from(link.vcs);
    let flit = |link: &LinkClass| link.rate.cycles_per_flit();
    let link = |(c, link): (usize, &LinkClass)| {
        link.latency + (flits(link) * flit(link) + flit(link) - 1).max(parameters::slowed(spec, c, link))
    };
    let longest = spec.links.iter().enumerate().map(link).max().unwrap_or(0);
    Ok(parameters::after_grant(spec)? + 4 + spec.router.ejection_delay + longest)
}
