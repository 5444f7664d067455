//! A queue of programs that run on the nodes of a job of the simulation. Each program is submitted at a certain time, and starts when
//! enough nodes are free.
//!
//! # Source
//! F. J. Andujar et al., "Energy efficient torus networks with on/off links" (JPDC 2019), section 3.3: the default parameters are the
//! "oblivious trace scheduler" of this paper. The format of job files is the Standard Workload Format 2.2 (D. Feitelson et al.). EASY
//! backfilling: D. A. Lifka, "The ANL/IBM SP scheduling system" (JSSPP 1995). Slowdown and bounded slowdown: D. Feitelson et al., "Theory
//! and practice in parallel job scheduling" (JSSPP 1997). Placement by groups in random order: N. Jain et al., "Maximizing throughput on a
//! dragonfly network" (SC 2014).
//! # Parameters
//! - traces: the programs of the queue. Each program has a name, the keys of the workload `programs`, `count` (number of times that it
//!   runs) and `estimate` \[time\] (its expected run time).
//! - arrivals: the rule for the times of submission: all at the start, at the times of a Poisson process, of a list, or of a file.
//! - order: rule that chooses the submitted program that starts next.
//! - period \[time\]: time between two scheduling passes, in which programs can start. The first pass is in cycle 0.
//! - placement: rule that chooses the free nodes for a program.
//! - cores_per_node \[count\]: number of cores of a node, for programs that share nodes.
//! - slowdown_bound \[time\]: the least run time in the denominator of the bounded slowdown. With a file of jobs the default is 10 s;
//!   otherwise there is no default.
//! - seed: seed of the random choices, in addition to the seed of the scenario.
//!
//! The workload uses two keys of the job: `terminals`, and `packet` \[flits\].
//! # Guarantees
//! Each program starts once, at a scheduling pass at or after its submission. In each pass the scheduler repeatedly starts one of the
//! waiting programs, by the rule `order`. The program gets the free nodes that `placement` chooses (default: the first ones in the order of
//! the job's terminals). A node belongs to one program at a time. If a program does not fill its last node, the rest of this node is
//! therefore idle. With `cores_per_node`, the scheduler assigns a core to each rank instead. The rest of its last node is then available to
//! other programs. The interface of a shared node sends packets of the programs on this node in turn. The nodes or cores of a program
//! become free at the first pass that is at least one period after its end. The run time of the queue is the time at which the last program
//! ends.
//!
//! All blocks of the simulation make the same decisions, because a pass uses only ends of programs that are at least one period old. By
//! then, all blocks have exchanged their messages about these ends. Therefore a period must be longer than the latency of every link.
//!
//! The energy of a program has four parts. They are shares of the network's static energy, and of the dynamic energy of terminal links,
//! other links and routers. The share of the static energy is a quotient. The program's number of terminals times its run time is divided
//! by the number of all terminals times the window. If programs share terminals, numbers of cores replace numbers of terminals. The share
//! of each dynamic energy is the share of the flits that were delivered to the program. Each flit counts once for every such link or router
//! that it crossed. The remaining energy belongs to idle terminals, to control packets, and to packets that were not delivered.
//! # Not modelled
//! More than 64 programs that share nodes with each other: a further program waits. Priorities. Reservations, except for the first program
//! that waits. Programs that depend on other programs. The end of a program at its estimate: if a program never ends, the programs that
//! need its nodes wait until `measure.stop.complete.max_window`. For a file of jobs, the scheduler scales the computations of each program.
//! With this scale, the program has the run time of the file on an ideal network. There each rank has a separate node, and the keys
//! `jitter`, `host_latency` and `local_latency` have no effect. Different energies per flit on different links: in the shares of programs,
//! a flit costs the mean over all links between routers.
//! # Validation
//! `scheduler/queue.rs` checks that random choices are uniform, and that a node has one program at a time. It also checks the order in
//! which programs start. `scheduler/order.rs` compares backfilling with values computed by hand, and `scheduler/placement.rs` does the same
//! for the chosen nodes. `scheduler/arrivals.rs` checks mean and variance of the times between arrivals, and `scheduler/alone.rs` checks
//! run times. `tests/test_job_queue.py` checks for a queue of 1,000 jobs that the node-seconds of all programs equal those in the table of
//! utilisation. The conformance tests run the scheduler with several blocks, threads and checkpoints.

mod alone;
mod answers;
mod arrivals;
mod held;
mod job_log;
mod order;
mod placement;
mod queue;
mod sources;

use super::programs::{NUMBER_BITS, Programs};
use alone::Alone;
use arrivals::{Arrivals, Arrived, Asking};
use held::Held;
use order::Order;
use placement::Placement;
use queue::{Queue, Rules, Submitted};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sources::Nodes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft_api::activity::{OfJob, Wanted};
use weft_api::recording::Table;
use weft_api::workload::{Awaits, JobSite, JobSources, Near, Place, Progress, Usage, Workload, WorkloadModel};
use weft_traffic::{InjectionConfig, Lengths};
use weft_units::{Cycles, Refusal, Remark, Time};

/// A queue of programs. Each program is submitted at a certain time, and starts when enough nodes are free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// The programs of the queue.
    #[schemars(length(min = 1))]
    pub traces: Vec<Scheduled>,
    /// Rule for the times at which the programs are submitted.
    #[serde(default, skip_serializing_if = "is_at_once")]
    pub arrivals: Arrivals,
    /// Rule that chooses the waiting program that starts next. Default: `random` if all programs arrive at once, otherwise `fcfs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Time between two scheduling passes, in which programs can start.
    #[serde(default = "microsecond")]
    pub period: Time,
    /// Rule that chooses the free nodes for a program.
    #[serde(default)]
    pub placement: Placement,
    /// Number of cores of a node [count]. With this key, each rank of a program has one core, and programs can share nodes. Default: each
    /// node belongs to one program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cores_per_node: Option<u32>,
    /// The least run time in the denominator of the bounded slowdown [time]. If `arrivals` is a file, this is a time of the file, and the
    /// default is 10 s. Otherwise there is no default, and without this key the bounded slowdown is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub slowdown_bound: Option<Time>,
    /// Seed of the random choices of the scheduler.
    #[serde(default)]
    pub seed: u64,
}

/// A program that the scheduler can start.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduled {
    /// Name of the program in the results.
    pub name: String,
    /// Number of times that the program runs.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub count: u32,
    /// Expected run time of the program [time], for `order: easy`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub estimate: Option<Time>,
    /// The program itself: the keys of the workload `programs`, except `start`.
    pub programs: Programs,
}

fn microsecond() -> Time {
    Time::Femtoseconds(1_000_000_000)
}

fn is_at_once(arrivals: &Arrivals) -> bool {
    *arrivals == Arrivals::default()
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Scheduler {
    /// Returns the period in cycles. Refuses keys that are invalid for every job. `path`: the dotted path of the scheduler.
    fn period(&self, cycle_fs: u128, path: &str) -> Result<Cycles, Refusal> {
        let period = self.period.cycles(cycle_fs, &format!("{path}.period"))?;
        if period == 0 {
            let what = "the scheduler can't check the nodes every 0 cycles";
            return Err(Refusal::new(format!("{path}.period"), what, "write a time such as 1us"));
        }
        Ok(period)
    }

    fn order(&self) -> Order {
        self.order.unwrap_or(if is_at_once(&self.arrivals) { Order::Random } else { Order::Fcfs })
    }

    /// Number of cores of a node, for programs that share nodes; 1 if a node belongs to one program.
    fn cores(&self) -> u32 {
        self.cores_per_node.unwrap_or(1)
    }

    /// Refuses traces that can never start under the rule `arrivals`.
    fn check_traces(&self, site: &JobSite) -> Result<(), Refusal> {
        for (place, scheduled) in self.traces.iter().enumerate() {
            let key = format!("workload.scheduler.traces.{place}");
            if self.traces[..place].iter().any(|other| other.name == scheduled.name) {
                let what = format!("two traces are called `{}`", scheduled.name);
                return Err(site.refusal(&format!("{key}.name"), what, "give each trace its own name"));
            }
            if scheduled.count == 0 {
                return Err(site.refusal(&format!("{key}.count"), "a program runs 0 times".into(), "write 1 or more"));
            }
            if scheduled.count > 1 && !self.arrivals.counts() {
                let what = "the list or file of `arrivals` sets the number of runs of a program".into();
                return Err(site.refusal(&format!("{key}.count"), what, "leave `count` out"));
            }
            if scheduled.programs.has_start() {
                let help = "leave `start` out, or run the program as a separate job with the workload `programs`";
                let what = "the scheduler sets the start time of each program".into();
                return Err(site.refusal(&format!("{key}.programs.start"), what, help));
            }
            if self.cores_per_node.is_some() && scheduled.programs.ranks_per_node() > 1 {
                let what = "with `cores_per_node`, each rank gets a core, and the free cores of a node limit its number of ranks";
                let help = "leave `ranks_per_terminal` or `cores_per_node` out";
                return Err(site.refusal(&format!("{key}.programs.ranks_per_terminal"), what.into(), help));
            }
            if scheduled.programs.rails(site.planes) > 1 {
                let what =
                    "nodes have several terminals, but the scheduler assigns terminals to a program one by one".into();
                let help = match site.planes {
                    1 => "leave `rails` out, or run the program as a separate job with the workload `programs`",
                    _ => {
                        "use a network of one plane, or run the program as a separate job with the workload `programs`"
                    }
                };
                return Err(site.refusal(&format!("{key}.programs.rails"), what, help));
            }
        }
        if self.cores_per_node == Some(0) {
            return Err(site.refusal(
                "workload.scheduler.cores_per_node",
                "a node can't have 0 cores".into(),
                "write 1 or more",
            ));
        }
        if self.traces.is_empty() {
            return Err(site.refusal("workload.scheduler.traces", "there is no trace".into(), "add at least one"));
        }
        Ok(())
    }

    /// Returns the programs in the order of their submission. Refuses programs that cannot run on this job.
    fn programs(&self, site: &JobSite) -> Result<Arrived, Refusal> {
        self.check_traces(site)?;
        let order = self.order();
        let arrived = self.arrivals.programs(Asking { scheduler: self, site, order })?;
        if arrived.programs.is_empty() {
            return Err(site.refusal("workload.scheduler.arrivals", "no program arrives".into(), "submit one or more"));
        }
        let guess = arrived.programs.iter().find(|program| order == Order::Easy && program.estimate.is_none());
        if let Some(program) = guess {
            let what = format!("`easy` needs an estimate of each run time, but `{}` has none", program.name);
            let help = "give the trace the key `estimate`, or write `order: fcfs`";
            return Err(site.refusal("workload.scheduler.order", what, help));
        }
        Ok(arrived)
    }

    /// Returns the bound of the bounded slowdown [cycles], if there is one.
    fn bound(&self, cycle_fs: u128) -> Option<f64> {
        let bound = self.slowdown_bound.or_else(|| self.arrivals.slowdown_bound())?;
        Some(bound.femtoseconds(cycle_fs) as f64 / self.arrivals.compression() / cycle_fs as f64)
    }
}

impl WorkloadModel for Scheduler {
    fn awaits(&self) -> Option<Awaits> {
        Some(Awaits { what: "messages", remedy: "use a pattern and a load instead of the programs" })
    }

    fn has_own_demand(&self) -> bool {
        true
    }

    fn wakes_others(&self) -> bool {
        true
    }

    /// Lists the shortest and the greatest length of packets, because the last packet of a message can be shorter than the others.
    fn lengths(&self, packet_flits: u32) -> Vec<u32> {
        if packet_flits == 1 { vec![1] } else { vec![packet_flits, 1] }
    }

    fn turnaround(&self, cycle_fs: u128, path: &str) -> Result<Cycles, Refusal> {
        self.period(cycle_fs, path)?;
        for (place, scheduled) in self.traces.iter().enumerate() {
            scheduled.programs.turnaround(cycle_fs, &format!("{path}.traces.{place}.programs"))?;
        }
        Ok(0)
    }

    fn acts_on_others_after(&self, cycle_fs: u128) -> Option<(&'static str, Cycles)> {
        self.period.cycles(cycle_fs, "period").ok().map(|cycles| ("period", cycles))
    }

    fn check(&self, site: &JobSite) -> Result<(), Refusal> {
        if site.packets.shares().len() > 1 {
            let what = "a message becomes packets of one length, of which only the last may be shorter".into();
            return Err(site.refusal("packet", what, "write one length, such as 16flits"));
        }
        let arrived = self.programs(site)?;
        self.placement.domains(site)?;
        let mut checked = BTreeSet::new();
        let mut fresh = arrived.programs.iter().filter(|each| checked.insert((Arc::clone(&each.name), each.needs)));
        fresh.try_for_each(|each| match self.cores_per_node {
            Some(cores) => each.programs.at_nodes_of(cores).check(site),
            None => each.programs.check(site),
        })
    }

    fn remarks(&self, site: &JobSite) -> Result<Vec<Remark>, Refusal> {
        let path = format!("{}.workload.scheduler", site.path);
        let arrived = self.programs(site)?;
        let mut all = answers::remarks(&arrived.skipped, &format!("{path}.arrivals.swf.file"));
        for (place, scheduled) in self.traces.iter().enumerate() {
            let path = format!("{path}.traces.{place}.programs");
            let each = |programs: &Programs| self.cores_per_node.unwrap_or(programs.ranks_per_node());
            // submissions can change the number of ranks of a trace; the one with the most ranks at a node counts
            let mut most = (0, &scheduled.programs);
            for run in arrived.programs.iter().filter(|run| *run.name == *scheduled.name) {
                let together = run.programs.ranks_together(&path, each(&run.programs))?;
                most = if together > most.0 { (together, &run.programs) } else { most };
            }
            all.extend(most.1.remarks_at(&path, each(most.1))?);
        }
        Ok(all)
    }

    fn build(&self, site: &JobSite) -> Result<Arc<dyn Workload>, Refusal> {
        let rules = Rules {
            period: self.period(site.cycle_fs, &format!("{}.workload.scheduler", site.path))?,
            cores: self.cores(),
            order: self.order(),
            placement: self.placement,
            domains: self.placement.domains(site)?,
            seed: site.seed ^ self.seed,
        };
        let Arrived { programs, skipped } = self.programs(site)?;
        let queue = Queue::new(programs, site.terminals.len(), rules);
        let own = OwnSite::of(site, self);
        Ok(Arc::new(Runtime {
            all: Arc::new(All { site: own, queue: Mutex::new(queue) }),
            bound: self.bound(site.cycle_fs),
            skipped: skipped.count(),
        }))
    }

    fn examples() -> Vec<Self> {
        let of = |text: &str| serde_json::from_str(text).expect("a workload");
        vec![
            of(r#"{"period": "200ns", "slowdown_bound": "1us", "traces": [
                {"name": "ring", "count": 2, "programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 3, "bytes": "2KB"}}}},
                {"name": "pair", "count": 3, "programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 2, "bytes": "300B"}}}}]}"#),
            of(r#"{"period": "300ns", "placement": "best_fit", "seed": 5, "slowdown_bound": "1us", "traces": [
                {"name": "all", "count": 2, "programs": {"overhead": "20ns", "ranks_per_terminal": 2,
                    "program": {"collective": {"operation": "all_to_all", "ranks": 9, "bytes": "300B"}}}},
                {"name": "two", "programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 2, "bytes": "1KB"}}}}]}"#),
            of(
                r#"{"period": "200ns", "slowdown_bound": "1us", "placement": "random", "order": "easy", "arrivals": {"poisson": {"mean_gap": "400ns"}}, "traces": [
                {"name": "ring", "count": 3, "estimate": "1us", "programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 5, "bytes": "2KB"}}}},
                {"name": "idle", "count": 2, "estimate": "1us", "programs": {"program": {"compute": {"ranks": 3, "time": "900ns"}}}}]}"#,
            ),
            of(r#"{"period": "200ns", "slowdown_bound": "1us", "placement": "compact", "traces": [
                {"name": "pair", "programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 2, "bytes": "300B"}}}}],
                "arrivals": {"list": [{"at": "10ns", "trace": "pair", "ranks": 5}, {"at": "10ns", "trace": "pair"}, {"at": "1500ns", "trace": "pair", "ranks": 4}]}}"#),
            of(r#"{"period": "200ns", "slowdown_bound": "1us", "cores_per_node": 3, "traces": [
                {"name": "five", "count": 3, "programs": {"overhead": "10ns", "program": {"collective": {"operation": "all_to_all", "ranks": 5, "bytes": "500B"}}}},
                {"name": "two", "count": 2, "programs": {"eager": "100B", "program": {"collective": {"operation": "all_reduce", "ranks": 2, "bytes": "1KB"}}}},
                {"name": "four", "count": 2, "programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 4, "bytes": "2KB"}}}}]}"#),
        ]
    }
}

/// Key of the cache of scaled programs: the name of the trace, the number of nodes, and the requested run time [fs].
type Scaled = (Arc<str>, usize, u128);

/// The data of the job that the scheduler needs to start a program.
#[derive(Debug)]
struct OwnSite {
    path: String,
    job: String,
    terminals: Vec<u32>,
    packets: Lengths,
    injection: InjectionConfig,
    apart: bool,
    cycle_fs: u128,
    flit_bits: u64,
    seed: u64,
    wanted: Wanted,
    shares_nodes: bool,
    /// Latency of a message on the ideal network on which run times of programs are computed.
    latency: Time,
    /// A cache of the scales of computations, so that no scale is computed twice.
    scales: Mutex<BTreeMap<Scaled, f64>>,
}

impl OwnSite {
    fn of(site: &JobSite, scheduler: &Scheduler) -> Self {
        Self {
            path: site.path.clone(),
            job: site.job.to_owned(),
            terminals: site.terminals.to_vec(),
            packets: site.packets.clone(),
            injection: site.injection.clone(),
            apart: site.apart,
            cycle_fs: site.cycle_fs,
            flit_bits: site.flit_bits,
            seed: site.seed,
            wanted: site.wanted,
            shares_nodes: scheduler.cores_per_node.is_some(),
            latency: scheduler.arrivals.latency(),
            scales: Mutex::default(),
        }
    }

    /// Returns the keys of a program, with its computations scaled to the requested run time.
    fn of_its_length(&self, submitted: &Submitted) -> Programs {
        let Some(length) = submitted.length_fs else { return submitted.programs.clone() };
        let find = || {
            let path = format!("{}.workload.scheduler", self.path);
            let units = (self.cycle_fs, self.flit_bits);
            Alone::of(&submitted.programs, &path, units, self.latency)
                .expect("a program that passed `check`")
                .scale(length)
        };
        let mut scales = self.scales.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (Arc::clone(&submitted.name), submitted.needs, length);
        submitted.programs.scaled_by(*scales.entry(key).or_insert_with(find))
    }

    /// Creates the workload of a program that starts in cycle `start` on the nodes `held` of the job.
    fn launch(&self, submitted: &Submitted, held: &Held, start: u64) -> Arc<dyn Workload> {
        let terminals: Vec<u32> = held.places.iter().map(|&place| self.terminals[place as usize]).collect();
        let site = JobSite {
            path: self.path.clone(),
            job: &self.job,
            terminals: &terminals,
            phases: &[],
            packets: &self.packets,
            injection: &self.injection,
            batch: None,
            apart: self.apart,
            // `check_traces` refuses programs on networks of several planes
            planes: 1,
            near: Near::UNKNOWN,
            cycle_fs: self.cycle_fs,
            flit_bits: self.flit_bits,
            seed: self.seed,
            wanted: self.wanted,
        };
        let programs = self.of_its_length(submitted).starting_at(start);
        let ranks: &[u32] = if self.shares_nodes { &held.cores } else { &[] };
        programs.build_on(&site, ranks).expect("a program that passed `check`")
    }
}

/// The scheduler and its job. All blocks share them.
#[derive(Debug)]
struct All {
    site: OwnSite,
    queue: Mutex<Queue>,
}

impl All {
    /// Locks the queue. If another thread has panicked while it had this lock, locks the queue all the same, because
    /// the run ends anyway.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Runtime {
    all: Arc<All>,
    /// Bound of the bounded slowdown [cycles].
    bound: Option<f64>,
    /// Number of lines of the job file that were left out.
    skipped: u64,
}

impl Workload for Runtime {
    fn sources(&self, here: &[Place]) -> JobSources {
        JobSources::Asked(Box::new(Nodes::new(Arc::clone(&self.all), here)))
    }

    fn progress(&self) -> Progress {
        self.all.queue().progress()
    }

    fn stuck(&self) -> Option<String> {
        let queue = self.all.queue();
        queue.started().iter().find_map(|started| {
            let name = &queue.program(started).name;
            started.workload.stuck().map(|reason| format!("`{name}`: {reason}"))
        })
    }

    fn tables(&self, end: u64) -> Vec<(&'static str, Table)> {
        answers::tables(&self.all.queue(), &self.all.site.terminals, self.bound, end)
    }

    fn usages(&self, end: u64) -> Option<(&'static str, Vec<Usage>)> {
        Some((answers::SCHEDULE, answers::usages(&self.all.queue(), end)))
    }

    fn activities(&self, job: &str, end: u64) -> Vec<OfJob> {
        answers::activities(&self.all.queue(), job, end)
    }

    fn figures(&self, end: u64) -> Vec<(&'static str, Option<f64>)> {
        answers::figures(&self.all.queue(), self.bound, self.skipped, end)
    }
}
