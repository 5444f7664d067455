//! Who sends what: jobs on their terminals, the phases of their load, batches and replies.
//!
//! A terminal belongs to one job, or to none and is silent. Patterns speak of ranks: the rank of a terminal is its
//! place in its job.

use std::sync::Arc;
use weft_traffic::{InjectionConfig, Pattern};
use weft_units::{Cycles, Refusal};

/// The largest packet [flits]: lengths and credits are 16-bit numbers.
const MAX_PACKET_FLITS: u32 = u16::MAX as u32;
/// Every job has its own statistics in every block.
pub const MAX_JOBS: usize = 256;
/// Packets are numbered with 32 bits at their source.
pub const MAX_BATCH: u32 = 1 << 31;

/// Who sends what: one job or more.
#[derive(Debug, Clone)]
pub struct TrafficSpec {
    pub jobs: Vec<Job>,
}

/// Terminals that send to each other.
#[derive(Debug, Clone)]
pub struct Job {
    pub name: String,
    /// The terminal of each rank; no terminal is in two jobs.
    pub terminals: Vec<u32>,
    /// By start; the first one starts at 0.
    pub phases: Vec<LoadPhase>,
    /// Packet length [flits], 1 to 65,535.
    pub packet_flits: u32,
    /// When sources create packets.
    pub injection: InjectionConfig,
    /// Packets that each rank sends before it stops; `None` if ranks never stop.
    pub batch: Option<Vec<u32>>,
    /// Every packet is a request that its destination answers.
    pub reply: Option<Reply>,
}

/// The pattern and the load of a job from a cycle on.
#[derive(Debug, Clone)]
pub struct LoadPhase {
    pub from: Cycles,
    /// Among the ranks of the job.
    pub pattern: Arc<Pattern>,
    /// Offered load of each rank [flits/cycle], 0 to 1, without replies. It is used as it is: the pattern's relative
    /// loads are included already.
    pub load: Vec<f64>,
}

/// The answer to a request. It is created when the request is delivered, and sent before new requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reply {
    /// Length of a reply [flits], 1 to 65,535.
    pub flits: u32,
    /// Most requests of a source that have no reply yet; with so many, its clock waits.
    pub outstanding: Option<u32>,
}

impl Job {
    /// A job with one phase.
    pub fn steady(name: &str, terminals: Vec<u32>, pattern: Arc<Pattern>, load: f64, packet_flits: u32) -> Self {
        let load = vec![load; terminals.len()];
        let phases = vec![LoadPhase { from: 0, pattern, load }];
        let injection = InjectionConfig::default();
        Self { name: name.to_owned(), terminals, phases, packet_flits, injection, batch: None, reply: None }
    }

    /// Flits of a packet and of the reply to it.
    pub fn flits_per_packet(&self) -> u64 {
        u64::from(self.packet_flits) + self.reply.map_or(0, |reply| u64::from(reply.flits))
    }

    /// Whether any phase loads `rank`.
    pub fn sends(&self, rank: usize) -> bool {
        self.phases.iter().any(|phase| phase.load[rank] > 0.0)
    }
}

impl TrafficSpec {
    /// Lengths of all packets, replies included [flits].
    pub fn lengths(&self) -> impl Iterator<Item = u32> + '_ {
        self.jobs.iter().flat_map(|job| [Some(job.packet_flits), job.reply.map(|reply| reply.flits)]).flatten()
    }

    /// The longest packet [flits].
    pub fn longest(&self) -> u32 {
        self.lengths().max().unwrap_or(1)
    }

    /// Packet length of a terminal [flits]; that of the first job for one in no job.
    pub fn packet_of(&self, terminal: u32) -> u32 {
        let job = self.jobs.iter().find(|job| job.terminals.contains(&terminal)).or(self.jobs.first());
        job.map_or(1, |job| job.packet_flits)
    }

    /// Offered load of a terminal when the run starts [flits/cycle].
    pub fn load_of(&self, terminal: u32) -> f64 {
        let place = |job: &Job| job.terminals.iter().position(|&t| t == terminal).map(|rank| job.phases[0].load[rank]);
        self.jobs.iter().find_map(place).unwrap_or(0.0)
    }

    /// Refuses jobs that overlap or need terminals that do not exist, and phases that are out of order. `path` gives
    /// the dotted path of a job.
    pub fn check(&self, terminals: u32, path: impl Fn(usize) -> String) -> Result<(), Refusal> {
        if !(1..=MAX_JOBS).contains(&self.jobs.len()) {
            let what = format!("{} jobs; a run has 1 to {MAX_JOBS}", self.jobs.len());
            return Err(Refusal::new("traffic.jobs", what, "write one job or more, and join jobs that are alike"));
        }
        let mut owner: Vec<Option<usize>> = vec![None; terminals as usize];
        for (j, job) in self.jobs.iter().enumerate() {
            for &t in &job.terminals {
                let place = owner.get_mut(t as usize).ok_or_else(|| no_terminal(&path(j), &job.name, t, terminals))?;
                if let Some(first) = place.replace(j) {
                    return Err(shared(&path(j), &self.jobs[first].name, &job.name, t));
                }
            }
            job.check(&path(j))?;
            if let Some(first) = self.jobs[..j].iter().position(|other| other.name == job.name) {
                let what = format!("`{}` is the name of {}, too", job.name, path(first));
                let help = "give each job a name of its own: results are told apart by it";
                return Err(Refusal::new(format!("{}.name", path(j)), what, help));
            }
        }
        Ok(())
    }
}

fn no_terminal(path: &str, job: &str, terminal: u32, terminals: u32) -> Refusal {
    let what =
        format!("job `{job}` asks for terminal {terminal}, but the {terminals} terminals are 0 to {}", terminals - 1);
    Refusal::new(format!("{path}.terminals"), what, format!("write terminals within 0 to {}", terminals - 1))
}

fn shared(path: &str, first: &str, second: &str, terminal: u32) -> Refusal {
    let what = if first == second {
        format!("job `{second}` has terminal {terminal} twice")
    } else {
        format!("terminal {terminal} is in job `{first}` and in job `{second}`")
    };
    Refusal::new(format!("{path}.terminals"), what, "give every terminal to one job at most, once")
}

impl Job {
    fn check(&self, path: &str) -> Result<(), Refusal> {
        let refuse = |key: &str, what: String, help: &str| Err(Refusal::new(format!("{path}.{key}"), what, help));
        if self.terminals.is_empty() {
            return refuse(
                "terminals",
                format!("job `{}` has no terminals", self.name),
                "give it one terminal or more",
            );
        }
        let lengths = [("packet", Some(self.packet_flits)), ("reply.packet", self.reply.map(|r| r.flits))];
        for (key, flits) in lengths {
            if flits.is_some_and(|flits| !(1..=MAX_PACKET_FLITS).contains(&flits)) {
                let what = format!("a packet of {}flits; a packet has 1 to {MAX_PACKET_FLITS}", flits.unwrap_or(0));
                return refuse(key, what, "write 1flit or more, and send longer messages as several packets");
            }
        }
        if self.reply.is_some_and(|reply| reply.outstanding == Some(0)) {
            return refuse("reply.outstanding", "0 requests at a time send none".into(), "write 1 or more");
        }
        let ranks = self.terminals.len();
        let most = self.batch.as_ref().and_then(|batch| batch.iter().max());
        if most.is_some_and(|&most| !(1..=MAX_BATCH).contains(&most)) {
            let what = format!("{} packets of a terminal; a batch has 1 to {MAX_BATCH}", most.unwrap_or(&0));
            return refuse("batch", what, "write 1 or more, or leave the batch out");
        }
        let sized = self.phases.iter().all(|phase| phase.load.len() == ranks);
        if !sized || self.batch.as_ref().is_some_and(|batch| batch.len() != ranks) {
            let what = format!("loads or batches of job `{}` are not one per rank ({ranks})", self.name);
            return refuse("terminals", what, "give every rank its own");
        }
        if self.phases.first().is_none_or(|phase| phase.from != 0) {
            return refuse("phases", format!("job `{}` has no phase from cycle 0 on", self.name), "add one");
        }
        for (k, pair) in self.phases.windows(2).enumerate() {
            if pair[0].from >= pair[1].from {
                let what = format!("it starts at cycle {}, the phase before it at {}", pair[1].from, pair[0].from);
                // the first phase is the job's own pattern and load
                return refuse(&format!("phases.{k}.from"), what, "write the phases in the order of their starts");
            }
        }
        Ok(())
    }
}
