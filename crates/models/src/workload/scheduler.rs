//! A set of programs runs on the nodes of a job: each starts when others have left enough nodes free, in a random order.
//!
//! # Source
//! F. J. Andujar et al., "Energy efficient torus networks with on/off links" (JPDC 2019), section 3.3: the oblivious trace scheduler.
//! # Parameters
//! - traces: the programs, each with its name and the keys of the workload `programs`; `count` runs one several times.
//! - period \[time\]: of the scheduler. It looks at the nodes at 0, then once in each period.
//! - placement: which of the free nodes a program gets.
//! - seed: of the random choices, beside the seed of the scenario.
//!
//! Of the job it uses terminals, and packet \[flits\].
//! # Guarantees
//! Each program starts once. At each look the scheduler repeats: of the programs that have not started and whose nodes are free, it takes one
//! at random, all with the same chance. That one gets the first free nodes in the order of the terminals of the job, or those that `placement` says. A
//! node belongs to one program at a time, so a program that does not fill its last node leaves the rest of it idle. A program that ends frees its nodes at the first
//! look that comes a period or more after its end. The run time is the end of the last program.
//!
//! All blocks decide alike: at a look they use only ends that are a period old, and the blocks have exchanged all messages since. So a
//! period has to be longer than the latency of every link.
//! # Not modelled
//! Priorities, reservations and estimates of run times. A program that waits for ever lets the others wait for its nodes until
//! `measure.stop.complete.max_window`.
//! # Validation
//! `scheduler/queue.rs`: choices are uniform, nodes are given once. The conformance tests run it with blocks, threads and checkpoints.

mod answers;
mod queue;
mod sources;

use super::programs::Programs;
use queue::{Placement, Queue, Trace};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sources::Nodes;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use weft_api::activity::{OfJob, Wanted};
use weft_api::recording::Table;
use weft_api::workload::{Awaits, JobSite, JobSources, Place, Progress, Workload, WorkloadModel};
use weft_traffic::{InjectionConfig, Lengths};
use weft_units::{Cycles, Refusal, Time};

/// A set of programs: each starts when others have left enough nodes free.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduler {
    /// The programs.
    #[schemars(length(min = 1))]
    pub traces: Vec<Scheduled>,
    /// Time between two looks of the scheduler at the nodes.
    #[serde(default = "microsecond")]
    pub period: Time,
    /// Which of the free nodes a program gets.
    #[serde(default)]
    pub placement: Placement,
    /// Seed of the random choices.
    #[serde(default)]
    pub seed: u64,
}

/// A program that the scheduler starts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scheduled {
    /// Its name in the results.
    pub name: String,
    /// How often it runs.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub count: u32,
    /// What runs: the keys of the workload `programs`, without `start`.
    pub programs: Programs,
}

fn microsecond() -> Time {
    Time::Femtoseconds(1_000_000_000)
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Scheduler {
    /// Refuses at `path` what makes no sense for any job.
    fn period(&self, cycle_fs: u128, path: &str) -> Result<Cycles, Refusal> {
        let period = self.period.cycles(cycle_fs, &format!("{path}.period"))?;
        if period == 0 {
            let what = "a scheduler that looks at the nodes every 0 cycles";
            return Err(Refusal::new(format!("{path}.period"), what, "write a time such as 1us"));
        }
        Ok(period)
    }

    /// The traces, each as often as it runs, with the terminals that it needs.
    fn traces(&self, site: &JobSite) -> Result<Vec<Trace>, Refusal> {
        let mut all = Vec::new();
        for (place, scheduled) in self.traces.iter().enumerate() {
            let key = format!("workload.scheduler.traces.{place}");
            if scheduled.count == 0 {
                return Err(site.refusal(&format!("{key}.count"), "it runs 0 times".into(), "write 1 or more"));
            }
            if scheduled.programs.has_start() {
                let help = "leave `start` out, or run it as a job of its own with the workload `programs`";
                let what = "the scheduler decides when a program starts".into();
                return Err(site.refusal(&format!("{key}.programs.start"), what, help));
            }
            if scheduled.programs.rails(site.planes) > 1 {
                let what =
                    "a node of several terminals, and the scheduler gives a program its terminals one by one".into();
                let help = match site.planes {
                    1 => "leave `rails` out, or run the program as a job of its own with the workload `programs`",
                    _ => {
                        "take a network of one plane, or run the program as a job of its own with the workload `programs`"
                    }
                };
                return Err(site.refusal(&format!("{key}.programs.rails"), what, help));
            }
            let needs = scheduled.programs.terminals_needed(&format!("{}.{key}.programs", site.path))? as usize;
            if needs > site.terminals.len() {
                let what = format!(
                    "`{}` needs {needs} terminals, and job `{}` has {}: it would never start",
                    scheduled.name,
                    site.job,
                    site.terminals.len()
                );
                let help =
                    "give the job more terminals, or make a program of fewer ranks, or put more ranks at each terminal";
                return Err(site.refusal(&format!("{key}.programs"), what, help));
            }
            let trace = Trace { name: scheduled.name.as_str().into(), programs: scheduled.programs.clone(), needs };
            all.extend(std::iter::repeat_n(trace, scheduled.count as usize));
        }
        if all.is_empty() {
            return Err(site.refusal("workload.scheduler.traces", "no program".into(), "name one or more"));
        }
        Ok(all)
    }
}

impl WorkloadModel for Scheduler {
    fn awaits(&self) -> Option<Awaits> {
        Some(Awaits { what: "messages", remedy: "write a pattern and a load in place of the programs" })
    }

    fn has_own_demand(&self) -> bool {
        true
    }

    fn wakes_others(&self) -> bool {
        true
    }

    /// The last packet of a message may be shorter.
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
            let what = "a message becomes packets of one greatest length, and a shorter last one".into();
            return Err(site.refusal("packet", what, "write one length, such as 16flits"));
        }
        self.traces(site)?;
        self.traces.iter().try_for_each(|scheduled| scheduled.programs.check(site))
    }

    fn build(&self, site: &JobSite) -> Result<Arc<dyn Workload>, Refusal> {
        let period = self.period(site.cycle_fs, &format!("{}.workload.scheduler", site.path))?;
        let queue =
            Queue::new(self.traces(site)?, site.terminals.len(), period, (self.placement, site.seed ^ self.seed));
        Ok(Arc::new(Runtime { all: Arc::new(All { site: OwnSite::of(site), queue: Mutex::new(queue) }) }))
    }

    fn examples() -> Vec<Self> {
        let of = |text: &str| serde_json::from_str(text).expect("a workload");
        vec![
            of(r#"{"period": "200ns", "traces": [
                {"name": "ring", "count": 2, "programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 3, "bytes": "2KB"}}}},
                {"name": "pair", "count": 3, "programs": {"program": {"collective": {"operation": "all_to_all", "ranks": 2, "bytes": "300B"}}}}]}"#),
            of(r#"{"period": "300ns", "placement": "best_fit", "seed": 5, "traces": [
                {"name": "all", "count": 2, "programs": {"overhead": "20ns", "ranks_per_terminal": 2,
                    "program": {"collective": {"operation": "all_to_all", "ranks": 9, "bytes": "300B"}}}},
                {"name": "two", "programs": {"program": {"collective": {"operation": "all_reduce", "ranks": 2, "bytes": "1KB"}}}}]}"#),
        ]
    }
}

/// What a program has to know of the job when it starts.
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
}

impl OwnSite {
    fn of(site: &JobSite) -> Self {
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
        }
    }

    /// A program that starts in cycle `start` at these terminals of the job.
    fn launch(&self, programs: &Programs, places: &[u32], start: u64) -> Arc<dyn Workload> {
        let terminals: Vec<u32> = places.iter().map(|&place| self.terminals[place as usize]).collect();
        let site = JobSite {
            path: self.path.clone(),
            job: &self.job,
            terminals: &terminals,
            phases: &[],
            packets: &self.packets,
            injection: &self.injection,
            batch: None,
            apart: self.apart,
            // of several planes `traces` refuses programs
            planes: 1,
            cycle_fs: self.cycle_fs,
            flit_bits: self.flit_bits,
            seed: self.seed,
            wanted: self.wanted,
        };
        programs.starting_at(start).build(&site).expect("a program that passed `check`")
    }
}

/// The scheduler and its job, which all blocks share.
#[derive(Debug)]
struct All {
    site: OwnSite,
    queue: Mutex<Queue>,
}

impl All {
    /// The queue. If a thread has panicked, the run ends anyway.
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Runtime {
    all: Arc<All>,
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
            let name = &queue.trace(started).name;
            started.workload.stuck().map(|told| format!("`{name}`: {told}"))
        })
    }

    fn tables(&self) -> Vec<(&'static str, Table)> {
        answers::tables(&self.all.queue(), &self.all.site.terminals)
    }

    fn activities(&self, job: &str, end: u64) -> Vec<OfJob> {
        answers::activities(&self.all.queue(), job, end)
    }

    fn figures(&self) -> Vec<(&'static str, Option<f64>)> {
        answers::figures(&self.all.queue())
    }
}
