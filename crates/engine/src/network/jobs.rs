//! Traffic of the terminals: each job has terminals and a workload.
//!
//! A terminal belongs to one job, to several jobs with different message classes, or to no job. A terminal without a job sends nothing.
//! Patterns use ranks: the rank of a terminal is its index in its job.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use weft_api::activity::Wanted;
use weft_api::workload::{JobSite, LoadPhase, Near};
use weft_models::workload::WorkloadConfig;
use weft_topology::Graph;
use weft_traffic::{InjectionConfig, Lengths, Pattern, mix};
use weft_units::{Cycles, Refusal, Remark};

/// The largest number of jobs in a run. The number is limited because each block has separate statistics for every job.
pub const MAX_JOBS: usize = 256;

/// Purpose number of the random seeds of jobs whose packets are not of the first message class. Workloads and routings use lower numbers.
const CLASSES: u64 = 4;

/// Traffic of all terminals, as one job or several.
#[derive(Debug, Clone)]
pub struct TrafficSpec {
    pub jobs: Vec<Job>,
}

/// A job: a set of terminals that send to each other.
#[derive(Debug, Clone)]
pub struct Job {
    pub name: String,
    /// The terminal of each rank, indexed by rank. Two jobs of the same message class have no terminal in common.
    pub terminals: Vec<u32>,
    /// The phases of the load, in the order of their starts; the first phase starts at cycle 0.
    pub phases: Vec<LoadPhase>,
    /// Distribution of packet lengths [flits]; each length is 1 to 65,535.
    pub packets: Lengths,
    /// Decides when sources create packets.
    pub injection: InjectionConfig,
    /// Number of packets that each rank sends before it stops; `None` if ranks never stop.
    pub batch: Option<Vec<u32>>,
    /// The model that determines destinations, loads, and reactions to deliveries.
    pub workload: WorkloadConfig,
    /// The message class of packets that are not replies.
    pub class: u8,
}

impl Job {
    /// A job with one phase, and packets of one length [flits].
    pub fn steady(name: &str, terminals: Vec<u32>, pattern: Arc<Pattern>, load: f64, packet_flits: u32) -> Self {
        let load = vec![load; terminals.len()];
        let phases = vec![LoadPhase { from: 0, pattern, load }];
        let injection = InjectionConfig::default();
        let (packets, workload) = (Lengths::one(packet_flits), WorkloadConfig::default());
        Self { name: name.to_owned(), terminals, phases, packets, injection, batch: None, workload, class: 0 }
    }

    /// Number of cycles by which the workload delays replies at a terminal. `path`: the place of the job in the scenario.
    pub fn turnaround(&self, cycle_fs: u128, path: &str) -> Result<Cycles, Refusal> {
        self.workload.model().turnaround(cycle_fs, &format!("{path}.workload.{}", self.workload.name()))
    }

    /// Whether `rank` can send: its load is above 0 in at least one phase, or the workload decides what it sends.
    pub fn sends(&self, rank: usize) -> bool {
        self.workload.model().has_own_demand() || self.phases.iter().any(|phase| phase.load[rank] > 0.0)
    }
}

impl TrafficSpec {
    /// The cycles after cycle 0 in which the load or the pattern of a job changes, in ascending order.
    pub fn changes(&self) -> Vec<u64> {
        let starts = self.jobs.iter().flat_map(|job| job.phases.iter().skip(1).map(|phase| phase.from));
        starts.collect::<BTreeSet<u64>>().into_iter().collect()
    }

    /// The packet lengths that occur [flits].
    pub fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        let of_job = |job: &Job| {
            let model = job.workload.model();
            job.packets.shares().iter().flat_map(|&(own, _)| model.lengths(own)).collect::<Vec<_>>()
        };
        self.jobs.iter().flat_map(of_job)
    }

    /// Length of the longest packet [flits].
    pub fn longest(&self) -> u32 {
        self.lengths().max().unwrap_or(1)
    }

    /// Length of the packets that a terminal sends [flits]; the longest one if the terminal has several. A terminal without a job gets the
    /// length of the first job.
    pub fn packet_of(&self, terminal: u32) -> u32 {
        self.job_of(terminal).map_or(1, |job| job.packets.longest())
    }

    /// Number of different lengths of the packets that a terminal sends. A terminal without a job gets the number of the first job.
    pub fn lengths_of(&self, terminal: u32) -> usize {
        self.job_of(terminal).map_or(1, |job| job.packets.shares().len())
    }

    /// The job of a terminal; for a terminal without a job, the first job.
    fn job_of(&self, terminal: u32) -> Option<&Job> {
        self.jobs.iter().find(|job| job.terminals.contains(&terminal)).or(self.jobs.first())
    }

    /// Offered load of a terminal when the run starts [flits/cycle].
    pub fn load_of(&self, terminal: u32) -> f64 {
        let place = |job: &Job| job.terminals.iter().position(|&t| t == terminal).map(|rank| job.phases[0].load[rank]);
        self.jobs.iter().filter_map(place).sum()
    }

    /// Offered load of every terminal when the run starts [flits/cycle], summed over all its jobs.
    pub fn loads(&self, terminals: u32) -> Vec<f64> {
        let mut loads = vec![0.0; terminals as usize];
        for job in &self.jobs {
            let own = job.terminals.iter().zip(&job.phases[0].load);
            own.for_each(|(&terminal, load)| loads[terminal as usize] += load);
        }
        loads
    }

    /// Number of terminals that belong to a job.
    pub fn members(&self) -> u32 {
        if let [job] = &self.jobs[..] {
            return job.terminals.len() as u32;
        }
        let terminals = self.jobs.iter().flat_map(|job| &job.terminals);
        terminals.collect::<BTreeSet<_>>().len() as u32
    }

    /// Refuses jobs that overlap, terminals that do not exist, and phases that are out of order. `path` returns the dotted path of a job,
    /// for the message. `units`: length of a cycle [fs] and size of a flit [bits].
    pub fn check(&self, graph: &Graph, units: (u128, u64), path: impl Fn(usize) -> String) -> Result<(), Refusal> {
        let terminals = graph.terminals();
        if !(1..=MAX_JOBS).contains(&self.jobs.len()) {
            let what = format!("{} jobs, but a run has 1 to {MAX_JOBS} jobs", self.jobs.len());
            return Err(Refusal::new("traffic.jobs", what, "write one job or more, and join similar jobs"));
        }
        // two jobs of the same message class must not share a terminal
        let mut owners = BTreeMap::new();
        for (j, job) in self.jobs.iter().enumerate() {
            let owner: &mut Vec<Option<usize>> =
                owners.entry(job.class).or_insert_with(|| vec![None; terminals as usize]);
            for &t in &job.terminals {
                let place = owner.get_mut(t as usize).ok_or_else(|| no_terminal(&path(j), &job.name, t, terminals))?;
                if let Some(first) = place.replace(j) {
                    return Err(shared(&path(j), &self.jobs[first].name, &job.name, t));
                }
            }
            job.check(&path(j), graph, units)?;
            if let Some(first) = self.jobs[..j].iter().position(|other| other.name == job.name) {
                let what = format!("`{}` is also the name of {}", job.name, path(first));
                let help = "give each job its own name: the results identify jobs by name";
                return Err(Refusal::new(format!("{}.name", path(j)), what, help));
            }
        }
        Ok(())
    }
}

fn no_terminal(path: &str, job: &str, terminal: u32, terminals: u32) -> Refusal {
    let what =
        format!("job `{job}` names terminal {terminal}, but the {terminals} terminals are 0 to {}", terminals - 1);
    Refusal::new(format!("{path}.terminals"), what, format!("write terminals from 0 to {}", terminals - 1))
}

fn shared(path: &str, first: &str, second: &str, terminal: u32) -> Refusal {
    let once = "give each terminal to at most one job, and only once";
    let (what, help) = if first == second {
        (format!("job `{second}` has terminal {terminal} twice"), once.to_owned())
    } else {
        let what = format!("terminal {terminal} is in job `{first}` and in job `{second}`");
        let help = format!(
            "{once}, or give the jobs different message classes (`class`); one job sends packets of several lengths with \
             `packet: {{mix: [{{size: 1flit, weight: 3}}, {{size: 9flits, weight: 1}}]}}`"
        );
        (what, help)
    };
    Refusal::new(format!("{path}.terminals"), what, help)
}

impl Job {
    fn check(&self, path: &str, graph: &Graph, units: (u128, u64)) -> Result<(), Refusal> {
        let site = JobSite { path: path.to_owned(), ..self.site(0, false, graph, units, 0) };
        if self.terminals.is_empty() {
            let what = format!("job `{}` has no terminals", self.name);
            return Err(site.refusal("terminals", what, "give the job one terminal or more"));
        }
        self.packets.shares().iter().try_for_each(|&(flits, _)| site.check_length("packet", flits))?;
        self.check_planes(&site)?;
        self.workload.model().check(&site)
    }

    /// Refuses a job that uses a node's terminal in one plane but not its terminals in the other planes. Reason: patterns choose nodes, not
    /// terminals.
    fn check_planes(&self, site: &JobSite) -> Result<(), Refusal> {
        let planes = site.planes as usize;
        let follow = |node: &[u32]| node.len() == planes && (0u32..).zip(node).all(|(plane, &t)| t == node[0] + plane);
        let are_whole = |node: &[u32]| node[0].is_multiple_of(site.planes) && follow(node);
        if planes == 1 || self.terminals.chunks(planes).all(are_whole) {
            return Ok(());
        }
        let what = format!(
            "job `{}` has only some of the {planes} terminals of a node; a node has one terminal in each plane",
            self.name
        );
        Err(site.refusal("terminals", what, "give the job all terminals of each of its nodes, one after the other"))
    }

    /// Data of the job with number `index`, from which its workload is built.
    pub(super) fn site<'a>(
        &'a self,
        index: usize,
        apart: bool,
        graph: &'a Graph,
        (cycle_fs, flit_bits): (u128, u64),
        seed: u64,
    ) -> JobSite<'a> {
        JobSite {
            path: format!("traffic.jobs.{index}"),
            job: &self.name,
            terminals: &self.terminals,
            phases: &self.phases,
            packets: &self.packets,
            injection: &self.injection,
            batch: self.batch.as_deref(),
            apart,
            planes: graph.planes(),
            near: Near::of(graph),
            cycle_fs,
            flit_bits,
            // jobs of different classes at the same terminals must not use the same random numbers
            seed: if self.class == 0 { seed } else { mix(seed, CLASSES, self.class.into()) },
            wanted: Wanted::default(),
        }
    }

    /// The remarks of the job's workload, at the dotted path of the job.
    pub fn remarks(&self, path: &str, graph: &Graph, units: (u128, u64)) -> Result<Vec<Remark>, Refusal> {
        self.workload.model().remarks(&JobSite { path: path.to_owned(), ..self.site(0, false, graph, units, 0) })
    }
}
