//! The keys of `traffic`, and their conversion to jobs of the engine.

use crate::assemble::Clock;
use crate::config::Scenario;
use crate::packet::PacketConfig;
use crate::placement::{Placement, place};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_engine::spec::{self, Rate, TrafficSpec};
use weft_engine::workload::{WorkloadConfig, request_reply::RequestReply};
use weft_topology::Graph;
use weft_traffic::{InjectionConfig, Pattern, PatternConfig, Population};
use weft_units::{Flits, Refusal, Time};

/// The traffic: which packets terminals send, for the whole machine, or for jobs on parts of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Traffic pattern: the destinations of the packets of each source. With `jobs`, it is the pattern of the jobs that set no pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternConfig>,
    /// Offered load as a fraction of the injection bandwidth [flits/cycle per terminal], 0 to 1. With `jobs`, it is the load of the jobs
    /// that set no load. Default for batches: 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
    /// Ranges of terminals with a different load.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loads: Vec<TerminalLoad>,
    /// Packet length [flits], 1 to 65535, or several lengths by weight. With `jobs`, it is the length in the jobs that set no length.
    #[serde(default = "one_flit")]
    pub packet: PacketConfig,
    /// Injection process: the times at which sources create packets. Default: bernoulli. With `bernoulli`, a source creates a packet in
    /// every cycle with the same probability.
    #[serde(default, skip_serializing_if = "is_default")]
    pub injection: InjectionConfig,
    /// Changes of the pattern or the load at later times, sorted by their starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Number of packets after which sources stop (batch).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchSize>,
    /// Workload: the rule that determines which packets terminals send, and when. Default: `open_loop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadConfig>,
    /// Packets are requests, which their destinations answer. `reply` is short for `workload: {request_reply: ...}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<RequestReply>,
    /// Message class of the packets: a name under `classes`. With `jobs`, it is the class of the jobs that set no class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// Jobs, each with its terminals and with separate results. Terminals without a job send nothing. Jobs of the same message class must
    /// have disjoint sets of terminals. Default: one job on all terminals.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobConfig>,
}

/// A range of terminals with a different load.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TerminalLoad {
    /// First and last terminal of the range, both included.
    pub terminals: [u32; 2],
    /// Offered load of each of these terminals [flits/cycle], 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: f64,
}

/// A change of the pattern or the load at a certain time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Phase {
    /// Start of the phase [time], counted from the start of the run, including the warm-up.
    pub from: Time,
    /// Traffic pattern of the phase. Default: the pattern of the previous phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternConfig>,
    /// Offered load of every terminal [flits/cycle], 0 to 1. Default: the load of the previous phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
}

/// Number of packets of a batch. Terminals to which the pattern gives no destination send no packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum BatchSize {
    /// Number of packets that every terminal sends.
    PerTerminal(u32),
    /// Number of packets that every group of the topology sends. The packets are divided evenly among the terminals of the group;
    /// the first terminals get the remainder.
    PerGroup(u32),
    /// Number of packets that the job sends. The packets are divided evenly among the terminals of the job; the first terminals get
    /// the remainder.
    PerJob(u32),
}

/// A job: terminals that send to each other. If a job does not set a key, the value of the key in `traffic` applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct JobConfig {
    /// Name of the job in tables.
    pub name: String,
    /// Terminals on which the job runs. Patterns number these terminals from 0 in this order, and do not use routers or groups.
    #[schemars(extend("x-also" = ["placement"]))]
    pub terminals: Placement,
    /// Traffic pattern: the destinations of the packets of each source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<PatternConfig>,
    /// Offered load [flits/cycle per terminal], 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
    /// Packet length [flits], 1 to 65535, or several lengths by weight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub packet: Option<PacketConfig>,
    /// Injection process: the times at which sources create packets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injection: Option<InjectionConfig>,
    /// Changes of the pattern or the load at later times, sorted by their starts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<Phase>,
    /// Number of packets after which sources stop (batch).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<BatchSize>,
    /// Workload: the rule that determines which packets terminals send, and when. Default: `open_loop`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workload: Option<WorkloadConfig>,
    /// Packets are requests, which their destinations answer. `reply` is short for `workload: {request_reply: ...}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<RequestReply>,
    /// Message class of the job's packets: a name under `classes`. Jobs of different classes can use the same terminals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
}

fn one_flit() -> PacketConfig {
    PacketConfig::One(Flits(1))
}

fn is_default(injection: &InjectionConfig) -> bool {
    *injection == InjectionConfig::default()
}

/// A job of the scenario, in which keys that the job does not set have the values of `traffic`.
struct Plan<'a> {
    /// The dotted paths for messages: the path of the job for keys that the job sets, and the path of `traffic` for other keys.
    path: String,
    name: &'a str,
    terminals: Vec<u32>,
    /// The nodes on which the job runs. In a network with planes, a node has a terminal in each plane; otherwise a node is a terminal.
    population: Population,
    planes: u32,
    pattern: Option<(&'a PatternConfig, String)>,
    load: Option<(f64, String)>,
    packet: (&'a PacketConfig, String),
    injection: (&'a InjectionConfig, String),
    phases: (&'a [Phase], String),
    /// If a range of terminals with a different load overlaps this job, the path of `traffic.loads`.
    loads: Option<String>,
    batch: Option<(BatchSize, String)>,
    workload: Asked<'a>,
    class: u8,
}

/// The workload that a scenario requests with the key `workload` or `reply`, and the section that contains the key.
enum Asked<'a> {
    Nothing,
    Workload(&'a WorkloadConfig, String),
    Reply(&'a RequestReply, String),
}

impl<'a> Asked<'a> {
    /// Reads the keys `workload` and `reply` of the section at `path`.
    fn of(workload: Option<&'a WorkloadConfig>, reply: Option<&'a RequestReply>, path: &str) -> Result<Self, Refusal> {
        match (workload, reply) {
            (None, None) => Ok(Self::Nothing),
            (Some(workload), None) => Ok(Self::Workload(workload, path.to_owned())),
            (None, Some(reply)) => Ok(Self::Reply(reply, path.to_owned())),
            (Some(_), Some(_)) => {
                let what = "`workload` and `reply` both define the packets that terminals send";
                let help = "leave one of them out: `reply: ...` is short for `workload: {request_reply: ...}`";
                Err(Refusal::new(format!("{path}.workload"), what, help))
            }
        }
    }

    fn config(&self) -> WorkloadConfig {
        match self {
            Self::Nothing => WorkloadConfig::default(),
            Self::Workload(workload, _) => (*workload).clone(),
            Self::Reply(reply, _) => WorkloadConfig::RequestReply((*reply).clone()),
        }
    }

    /// Changes a refusal of the workload of the job at `path`, so that it names the key that the user wrote.
    fn placed(&self, refusal: Refusal, path: &str) -> Refusal {
        let in_job = format!("{path}.workload.{}", self.config().name());
        let written = match self {
            Self::Nothing => return refusal,
            Self::Workload(workload, section) => format!("{section}.workload.{}", workload.name()),
            Self::Reply(_, section) => format!("{section}.reply"),
        };
        Refusal { path: refusal.path.replace(&in_job, &written), ..refusal }
    }
}

impl Scenario {
    /// True if a job's workload determines what its terminals send, without a pattern or a load.
    pub(crate) fn has_own_demand(&self) -> bool {
        let own = |workload: &Option<WorkloadConfig>| workload.as_ref().is_some_and(|own| own.model().has_own_demand());
        let inherits = |job: &JobConfig| job.workload.is_none() && job.reply.is_none();
        let jobs = &self.traffic.jobs;
        let inherited = jobs.is_empty() || jobs.iter().any(inherits);
        own(&self.traffic.workload) && inherited || jobs.iter().any(|job| own(&job.workload))
    }

    /// Converts the jobs of the scenario to jobs of the engine, and checks them against the network. `terminal`: the bandwidth of the links
    /// to terminals.
    pub(crate) fn traffic_spec(&self, graph: &Graph, clock: &Clock, terminal: Rate) -> Result<TrafficSpec, Refusal> {
        let traffic = &self.traffic;
        let plans = if traffic.jobs.is_empty() { vec![self.whole_machine(graph)?] } else { self.plans(graph)? };
        let most = terminal.per_cycle().min(1.0);
        let mut jobs = plans.iter().map(|plan| plan.job(clock, most)).collect::<Result<Vec<_>, Refusal>>()?;
        self.change_loads(&mut jobs, &plans, graph, most)?;
        for job in &mut jobs {
            follow_patterns(job);
        }
        let spec = TrafficSpec { jobs };
        let path = |j: usize| if traffic.jobs.is_empty() { "traffic".into() } else { format!("traffic.jobs.{j}") };
        let placed = |refusal: Refusal| {
            let plan = plans.iter().find(|plan| refusal.path.starts_with(&format!("{}.", plan.path)));
            plan.map_or(refusal.clone(), |plan| plan.workload.placed(refusal, &plan.path))
        };
        spec.check(graph, (clock.cycle_fs, self.flit.0), path).map_err(placed)?;
        plans.iter().zip(&spec.jobs).try_for_each(|(plan, job)| {
            job.turnaround(clock.cycle_fs, &plan.path).map_err(placed)?;
            Ok(())
        })?;
        plans.iter().zip(&spec.jobs).try_for_each(|(plan, job)| plan.check_injection(job, clock))?;
        Ok(spec)
    }

    fn whole_machine(&self, graph: &Graph) -> Result<Plan<'_>, Refusal> {
        let traffic = &self.traffic;
        Ok(Plan {
            path: "traffic".into(),
            name: "all",
            terminals: (0..graph.terminals()).collect(),
            population: spec::population(graph, self.seed),
            planes: graph.planes(),
            pattern: traffic.pattern.as_ref().map(|pattern| (pattern, "traffic.pattern".into())),
            load: traffic.load.map(|load| (load, "traffic.load".into())),
            packet: (&traffic.packet, "traffic.packet".into()),
            injection: (&traffic.injection, "traffic.injection".into()),
            phases: (&traffic.phases, "traffic.phases".into()),
            loads: (!traffic.loads.is_empty()).then(|| "traffic.loads".into()),
            batch: traffic.batch.map(|batch| (batch, "traffic.batch".into())),
            workload: Asked::of(traffic.workload.as_ref(), traffic.reply.as_ref(), "traffic")?,
            class: self.class_number(traffic.class.as_deref(), "traffic.class")?,
        })
    }

    fn plans(&self, graph: &Graph) -> Result<Vec<Plan<'_>>, Refusal> {
        let traffic = &self.traffic;
        let jobs = traffic.jobs.iter().enumerate();
        let places = jobs.map(|(j, job)| Ok((&*job.name, &job.terminals, self.class_of_job(j)?)));
        let places = places.collect::<Result<Vec<_>, Refusal>>()?;
        // a placement contains nodes instead of terminals, so the jobs are placed on the terminals of one plane
        let places = place(&places, graph.plane(), self.seed)?;
        refuse_missing_nodes(&places, graph)?;
        let places = places.into_iter();
        let terminals = |nodes: Vec<u32>| -> Vec<u32> {
            let planes = graph.planes();
            nodes.into_iter().flat_map(|node| node * planes..(node + 1) * planes).collect()
        };
        let places = places.map(terminals);
        let jobs = traffic.jobs.iter().zip(places).enumerate();
        jobs.map(|(j, (job, terminals))| self.plan(j, job, terminals, graph.planes())).collect()
    }

    /// Index of the message class of job number `j`.
    fn class_of_job(&self, j: usize) -> Result<u8, Refusal> {
        let (own, ours) = (self.traffic.jobs[j].class.as_deref(), self.traffic.class.as_deref());
        let path =
            if own.is_none() && ours.is_some() { "traffic.class".into() } else { format!("traffic.jobs.{j}.class") };
        self.class_number(own.or(ours), &path)
    }

    /// Changes a refusal of a job's workload, so that it names the key that the user wrote.
    pub(crate) fn at_workload(&self, refusal: Refusal) -> Refusal {
        let traffic = &self.traffic;
        let jobs = traffic.jobs.iter().enumerate();
        let paths = jobs.map(|(j, job)| (format!("traffic.jobs.{j}"), job.workload.as_ref(), job.reply.as_ref()));
        let whole = ("traffic".to_owned(), traffic.workload.as_ref(), traffic.reply.as_ref());
        let sections = if traffic.jobs.is_empty() { vec![whole] } else { paths.collect() };
        let own = sections.into_iter().find(|(path, ..)| refusal.path.starts_with(&format!("{path}.")));
        let Some((path, workload, reply)) = own else { return refusal };
        let asked = match Asked::of(workload, reply, &path) {
            Ok(Asked::Nothing) => Asked::of(traffic.workload.as_ref(), traffic.reply.as_ref(), "traffic"),
            asked => asked,
        };
        asked.map_or(refusal.clone(), |asked| asked.placed(refusal, &path))
    }

    fn plan<'a>(&'a self, j: usize, job: &'a JobConfig, terminals: Vec<u32>, planes: u32) -> Result<Plan<'a>, Refusal> {
        let path = format!("traffic.jobs.{j}");
        let traffic = &self.traffic;
        let mine = |key: &str| format!("{path}.{key}");
        let ours = |key: &str| format!("traffic.{key}");
        let pattern = job.pattern.as_ref().map(|own| (own, mine("pattern")));
        let load = job.load.map(|own| (own, mine("load")));
        let batch = job.batch.map(|own| (own, mine("batch")));
        let packet = job.packet.as_ref().map(|own| (own, mine("packet")));
        let injection = job.injection.as_ref().map(|own| (own, mine("injection")));
        let phases = match job.phases.is_empty() {
            true => (&*traffic.phases, ours("phases")),
            false => (&*job.phases, mine("phases")),
        };
        let own = Asked::of(job.workload.as_ref(), job.reply.as_ref(), &path)?;
        let workload = match own {
            Asked::Nothing => Asked::of(traffic.workload.as_ref(), traffic.reply.as_ref(), "traffic")?,
            Asked::Workload(..) | Asked::Reply(..) => own,
        };
        Ok(Plan {
            name: &job.name,
            population: Population { seed: self.seed, ..Population::of(terminals.len() as u32 / planes) },
            planes,
            terminals,
            pattern: pattern.or_else(|| traffic.pattern.as_ref().map(|p| (p, ours("pattern")))),
            load: load.or_else(|| traffic.load.map(|load| (load, ours("load")))),
            packet: packet.unwrap_or_else(|| (&traffic.packet, ours("packet"))),
            injection: injection.unwrap_or_else(|| (&traffic.injection, ours("injection"))),
            phases,
            loads: None,
            batch: batch.or_else(|| traffic.batch.map(|batch| (batch, ours("batch")))),
            workload,
            class: self.class_of_job(j)?,
            path,
        })
    }

    /// Applies the loads of ranges of terminals (`traffic.loads`). These loads are valid from the start of the run until a phase sets
    /// another load.
    fn change_loads(&self, jobs: &mut [spec::Job], plans: &[Plan], graph: &Graph, most: f64) -> Result<(), Refusal> {
        for (i, some) in self.traffic.loads.iter().enumerate() {
            check_load(&format!("traffic.loads.{i}.load"), some.load, most)?;
            let [from, to] = some.terminals;
            if from > to || to >= graph.terminals() {
                let what = format!("{from} to {to} is not a range of the {} terminals", graph.terminals());
                let help = format!("write [first, last] within 0 to {}", graph.terminals() - 1);
                return Err(Refusal::new(format!("traffic.loads.{i}.terminals"), what, help));
            }
            let by_load = |job: &spec::Job| !job.workload.model().has_own_demand();
            for (job, plan) in jobs.iter_mut().zip(plans).filter(|(job, _)| by_load(job)) {
                let kept = 1 + plan.phases.0.iter().take_while(|phase| phase.load.is_none()).count();
                for (rank, _) in job.terminals.iter().enumerate().filter(|(_, t)| (from..=to).contains(*t)) {
                    job.phases[..kept].iter_mut().for_each(|phase| phase.load[rank] = some.load);
                }
            }
        }
        Ok(())
    }
}

impl Plan<'_> {
    /// Converts the job to the type of the engine. The terminals of the job inject at most `most` flits per cycle each.
    fn job(&self, clock: &Clock, most: f64) -> Result<spec::Job, Refusal> {
        if self.workload.config().model().has_own_demand() {
            return self.job_of_own_demand();
        }
        let (config, path) = self
            .pattern
            .as_ref()
            .ok_or_else(|| self.missing("pattern", &format!("pattern: {}", PatternConfig::default().name())))?;
        let mut pattern = self.build(config, path)?;
        let ranks = self.terminals.len();
        let load = match &self.load {
            Some((load, path)) => {
                check_load(path, *load, most)?;
                if *load == 0.0 && self.batch.is_some() && self.phases.0.is_empty() {
                    let what = "a batch is never sent at a load of 0";
                    return Err(Refusal::new(
                        path,
                        what,
                        "write a load above 0, or leave it out: batches then use the highest load that a terminal can \
                         send",
                    ));
                }
                *load
            }
            None if self.batch.is_some() => most,
            None => return Err(self.missing("load", "load: 0.1")),
        };
        let mut phases = vec![spec::LoadPhase { from: 0, pattern: pattern.clone(), load: vec![load; ranks] }];
        let mut load = load;
        for (k, phase) in self.phases.0.iter().enumerate() {
            let path = format!("{}.{k}", self.phases.1);
            let from = clock.cycles(phase.from, &format!("{path}.from"))?;
            let before = phases.last().map_or(0, |last| last.from);
            if from <= before {
                let what =
                    format!("this phase starts at cycle {from}, but the phase before it starts at cycle {before}");
                return Err(Refusal::new(
                    format!("{path}.from"),
                    what,
                    "write the phases in the order of their start times",
                ));
            }
            if let Some(config) = &phase.pattern {
                pattern = self.build(config, &format!("{path}.pattern"))?;
            }
            if let Some(other) = phase.load {
                check_load(&format!("{path}.load"), other, most)?;
                load = other;
            }
            phases.push(spec::LoadPhase { from, pattern: pattern.clone(), load: vec![load; ranks] });
        }
        Ok(spec::Job {
            name: self.name.to_owned(),
            terminals: self.terminals.clone(),
            batch: self.batch.as_ref().map(|(size, path)| self.batch_of(*size, path, &phases)).transpose()?,
            phases,
            packets: self.packet.0.lengths(&self.packet.1)?,
            injection: self.injection.0.clone(),
            workload: self.workload.config(),
            class: self.class,
        })
    }

    /// Converts a job whose workload determines what its terminals send, without a pattern or a load. Refuses keys of the job that would
    /// have no effect. Keys of `traffic` without effect on this job are allowed, because they can be for other jobs.
    fn job_of_own_demand(&self) -> Result<spec::Job, Refusal> {
        let own = |path: &str| path.starts_with(&format!("{}.", self.path));
        let keys = [
            self.pattern.as_ref().map(|(_, path)| path),
            self.load.as_ref().map(|(_, path)| path),
            self.batch.as_ref().map(|(_, path)| path),
            (!self.phases.0.is_empty()).then_some(&self.phases.1),
            (!is_default(self.injection.0)).then_some(&self.injection.1),
            self.loads.as_ref(),
        ];
        if let Some(path) = keys.into_iter().flatten().find(|path| own(path)) {
            let key = path.rsplit('.').next().unwrap_or_default();
            let workload = self.workload.config();
            let what = format!(
                "`{}` defines the packets of terminals and their times: `{key}` would have no effect",
                workload.name()
            );
            return Err(Refusal::new(path, what, format!("leave `{key}` out")));
        }
        let ranks = self.terminals.len();
        // the engine never calls sources of such a job, so all its loads are 0
        let population = Population::of(ranks.max(2) as u32);
        let pattern = Arc::new(PatternConfig::default().build(&population, "traffic.pattern")?);
        Ok(spec::Job {
            name: self.name.to_owned(),
            terminals: self.terminals.clone(),
            batch: None,
            phases: vec![spec::LoadPhase { from: 0, pattern, load: vec![0.0; ranks] }],
            packets: self.packet.0.lengths(&self.packet.1)?,
            injection: InjectionConfig::default(),
            workload: self.workload.config(),
            class: self.class,
        })
    }

    /// Refuses a load at which the injection process cannot create the packets of the job.
    fn check_injection(&self, job: &spec::Job, clock: &Clock) -> Result<(), Refusal> {
        let (injection, path) = &self.injection;
        let path = format!("{path}.{}", injection.name());
        let mut loads: Vec<f64> =
            job.phases.iter().flat_map(|phase| &phase.load).copied().filter(|l| *l > 0.0).collect();
        loads.sort_by(f64::total_cmp);
        loads.dedup();
        loads.iter().try_for_each(|&load| injection.check(load, job.packets.mean(), clock.cycle_fs, &path))
    }

    fn build(&self, config: &PatternConfig, path: &str) -> Result<Arc<Pattern>, Refusal> {
        let of_nodes = config.build(&self.population, &format!("{path}.{}", config.name()))?;
        Ok(Arc::new(of_nodes.in_planes(self.planes)))
    }

    fn missing(&self, key: &str, example: &str) -> Refusal {
        let what = match self.path.as_str() {
            "traffic" => format!("the key `{key}` is missing"),
            _ => format!("job `{}` has no `{key}`, and `traffic` has none either", self.name),
        };
        Refusal::new(format!("{}.{key}", self.path), what, format!("write `{example}`"))
    }

    /// Number of packets in the batch of each rank.
    fn batch_of(&self, size: BatchSize, path: &str, phases: &[spec::LoadPhase]) -> Result<Vec<u32>, Refusal> {
        let (key, packets) = match size {
            BatchSize::PerTerminal(n) => ("per_terminal", n),
            BatchSize::PerGroup(n) => ("per_group", n),
            BatchSize::PerJob(n) => ("per_job", n),
        };
        let path = format!("{path}.{key}");
        if !(1..=spec::MAX_BATCH).contains(&packets) {
            let what =
                format!("a batch of {packets} packets is not possible; a batch has 1 to {} packets", spec::MAX_BATCH);
            return Err(Refusal::new(path, what, "write 1 or more, or leave the batch out"));
        }
        let ranks = self.terminals.len();
        let group = match (size, self.population.terminals_per_group) {
            (BatchSize::PerTerminal(_), _) => 1,
            (BatchSize::PerJob(_), _) => ranks,
            (BatchSize::PerGroup(_), Some(group)) => (group * self.planes) as usize,
            (BatchSize::PerGroup(_), None) => {
                let what = format!("`{}` has no groups of terminals", self.name);
                return Err(Refusal::new(path, what, "write per_terminal or per_job"));
            }
        };
        let sends = |rank: usize| phases.iter().any(|phase| phase.pattern.relative_load(rank as u32) > 0.0);
        let mut batch = vec![0; ranks];
        for first in (0..ranks).step_by(group) {
            let senders: Vec<_> = (first..(first + group).min(ranks)).filter(|&rank| sends(rank)).collect();
            for (k, &rank) in senders.iter().enumerate() {
                let (share, rest) = (packets as usize / senders.len(), packets as usize % senders.len());
                batch[rank] = (share + usize::from(k < rest)) as u32;
            }
        }
        Ok(batch)
    }
}

/// Multiplies the load of each source by the relative load that its pattern gives it. A pattern can give its sources different loads, or
/// leave some sources silent.
fn follow_patterns(job: &mut spec::Job) {
    for phase in &mut job.phases {
        let pattern = &phase.pattern;
        phase.load.iter_mut().enumerate().for_each(|(rank, load)| *load *= pattern.relative_load(rank as u32));
    }
}

/// Refuses nodes that do not exist, in a network with planes. (Without planes a node is a terminal, and `TrafficSpec::check` refuses
/// terminals that do not exist.)
fn refuse_missing_nodes(places: &[Vec<u32>], graph: &Graph) -> Result<(), Refusal> {
    let nodes = graph.plane().terminals();
    for (j, places) in places.iter().enumerate().filter(|_| graph.planes() > 1) {
        if let Some(node) = places.iter().find(|&&node| node >= nodes) {
            let what = format!("there is no node {node}: the network has {nodes} nodes, with a terminal in each plane");
            return Err(Refusal::new(format!("traffic.jobs.{j}.terminals"), what, format!("write 0 to {}", nodes - 1)));
        }
    }
    Ok(())
}

/// Returns a number as text, in scientific notation if it is 10^9 or more.
fn written(number: f64) -> String {
    if number.abs() < 1e9 { number.to_string() } else { format!("{number:e}") }
}

fn check_load(path: &str, load: f64, most: f64) -> Result<(), Refusal> {
    if load > most {
        let shown = written(load);
        let what =
            format!("a load of {shown} is {shown} flits per cycle and terminal, but a terminal injects at most {most}");
        let percent =
            if (2.0..=100.0).contains(&load) { format!("; {load} % is {}", load / 100.0) } else { String::new() };
        let help = match most < 1.0 {
            true => format!("write at most {most}, the bandwidth of terminal links{percent}"),
            false => format!("write a fraction of the injection bandwidth, up to 1{percent}"),
        };
        return Err(Refusal::new(path, what, help));
    }
    match load >= 0.0 {
        true => Ok(()),
        false => {
            let what = format!("a load of {} is below 0", written(load));
            Err(Refusal::new(path, what, "write a fraction from 0 to 1"))
        }
    }
}
