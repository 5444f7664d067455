//! The clocks of the sources: when the packets of a terminal are created, through the phases of its job.

use crate::api::jobs::{Job, TrafficSpec};
use crate::base::unchecked::Hot;
use crate::pipeline::net::Net;
use crate::state::Terminal;
use rand_pcg::Pcg32;
use std::sync::Arc;
use weft_traffic::{Pattern, Process};
use weft_units::Refusal;

/// Clock of a terminal that is in no job.
pub const NEVER: u16 = u16::MAX;

/// What the terminals of a job with the same load share in one phase.
#[derive(Debug, Clone)]
pub struct Clock {
    /// `None`: silent in this phase.
    process: Option<Process>,
    pub pattern: Arc<Pattern>,
    pub job: u16,
    pub packet_flits: u16,
    phase: u32,
    /// Creations before this cycle need no second look.
    plain_until: u64,
    /// End of the phase.
    until: u64,
}

/// What the loop needs of a job.
#[derive(Debug, Clone)]
pub struct NetJob {
    /// Terminals by rank.
    pub terminals: Vec<u32>,
    /// Clocks by phase and rank.
    clocks: Vec<Vec<u16>>,
    /// Start of each phase.
    starts: Vec<u64>,
    /// Packets of each rank, if the job is a batch.
    batch: Option<Vec<u32>>,
    /// Length of a reply [flits]; 0 where nothing is answered.
    pub reply_flits: u16,
    /// Requests of a source without a reply at most.
    pub outstanding: u32,
    /// Packets to be delivered in all, if the job is a batch.
    pub total: Option<u64>,
}

impl NetJob {
    /// The job, whose clocks are added to `clocks`.
    pub fn new(index: usize, job: &Job, cycle_fs: u128, clocks: &mut Vec<Clock>) -> Result<Self, Refusal> {
        let ends = job.phases[1..].iter().map(|phase| phase.from).chain([u64::MAX]);
        let mut of_phases = Vec::with_capacity(job.phases.len());
        let watched = job.batch.is_some() || job.reply.is_some_and(|reply| reply.outstanding.is_some());
        let path = format!("traffic.jobs.{index}.injection.{}", job.injection.name());
        for (p, (phase, until)) in job.phases.iter().zip(ends).enumerate() {
            let mut loads = phase.load.clone();
            loads.sort_by(f64::total_cmp);
            loads.dedup();
            let first = clocks.len();
            for &load in &loads {
                let process = || job.injection.build(load, job.packet_flits, cycle_fs, &path);
                clocks.push(Clock {
                    process: if load > 0.0 { Some(process()?) } else { None },
                    pattern: phase.pattern.clone(),
                    job: index as u16,
                    packet_flits: job.packet_flits as u16,
                    phase: p as u32,
                    plain_until: if watched { 0 } else { until },
                    until,
                });
            }
            if clocks.len() >= NEVER as usize {
                return Err(Refusal::new(
                    "traffic",
                    format!("more than {} different loads of terminals and phases", NEVER - 1),
                    "give more terminals the same load",
                ));
            }
            let place = |load: &f64| loads.partition_point(|l| l.total_cmp(load).is_lt());
            of_phases.push(phase.load.iter().map(|load| (first + place(load)) as u16).collect());
        }
        let (requests, answers) = (job.batch.as_ref(), 1 + u64::from(job.reply.is_some()));
        Ok(Self {
            terminals: job.terminals.clone(),
            clocks: of_phases,
            starts: job.phases.iter().map(|phase| phase.from).collect(),
            total: requests.map(|batch| answers * batch.iter().map(|&n| u64::from(n)).sum::<u64>()),
            batch: job.batch.clone(),
            reply_flits: job.reply.map_or(0, |reply| reply.flits as u16),
            outstanding: job.reply.and_then(|reply| reply.outstanding).unwrap_or(u32::MAX),
        })
    }
}

/// Whether the offered load is the same random process in the whole window, whatever the network does.
pub fn is_steady(traffic: &TrafficSpec) -> bool {
    let steady = |job: &Job| {
        let waits = job.reply.is_some_and(|reply| reply.outstanding.is_some());
        let memoryless = job.injection.model().is_memoryless();
        job.phases.len() == 1 && job.batch.is_none() && memoryless && !waits
    };
    traffic.jobs.iter().all(steady)
}

impl Net {
    /// To whom a terminal with this clock sends its next packet.
    #[inline(always)]
    pub fn destination(&self, clock: &Clock, terminal: u32, rng: &mut Pcg32) -> Option<u32> {
        if self.ranks.is_empty() {
            clock.pattern.destination(terminal, rng)
        } else {
            self.destination_in_job(clock, terminal, rng)
        }
    }

    #[inline(never)]
    fn destination_in_job(&self, clock: &Clock, terminal: u32, rng: &mut Pcg32) -> Option<u32> {
        let rank = clock.pattern.destination(self.rank(terminal), rng)?;
        Some(self.terminal(clock.job, rank))
    }

    /// Rank of a terminal in its job.
    pub fn rank(&self, terminal: u32) -> u32 {
        if self.ranks.is_empty() { terminal } else { *self.ranks.hot(terminal as usize) }
    }

    /// Terminal of a rank of a job.
    pub fn terminal(&self, job: u16, rank: u32) -> u32 {
        if self.ranks.is_empty() { rank } else { *self.jobs.hot(job as usize).terminals.hot(rank as usize) }
    }

    /// Job of a terminal that is in one.
    #[inline(always)]
    pub fn job(&self, terminal: u32) -> usize {
        if self.jobs.len() == 1 { 0 } else { usize::from(*self.job_of.hot(terminal as usize)) }
    }

    /// The clock of a terminal in its first phase, and its first creation (`u64::MAX`: none). Returns what it remembers.
    pub fn start(&self, terminal: &mut Terminal) -> u64 {
        let job = &self.jobs[self.job(terminal.id)];
        terminal.clock = job.clocks[0][self.rank(terminal.id) as usize];
        let mut memory = 0;
        let first = match &self.clocks[terminal.clock as usize].process {
            Some(process) => {
                memory = process.start(&mut terminal.gaps);
                process.first(&mut memory, &mut terminal.gaps)
            }
            None => u64::MAX,
        };
        terminal.next_packet = self.settle(terminal, &mut memory, 0, first, 0);
        memory
    }

    /// When the terminal creates its next packet, after one at cycle `after`. `memory`: what its clock remembers;
    /// `waiting`: its requests without a reply.
    #[inline(always)]
    pub fn next_packet(&self, terminal: &mut Terminal, memory: &mut u64, after: u64, waiting: u32) -> u64 {
        let clock = self.clocks.hot(terminal.clock as usize);
        let Some(process) = &clock.process else { return u64::MAX };
        let at = process.next(after, memory, &mut terminal.gaps);
        if at < clock.plain_until { at } else { self.settle(terminal, memory, after, at, waiting) }
    }

    /// The creation after cycle `after` that the terminal's present clock has drawn for cycle `at`, if its job goes on
    /// until then; what passes the end of a phase is drawn again from there (exact for a process without memory).
    #[inline(never)]
    fn settle(&self, terminal: &mut Terminal, memory: &mut u64, after: u64, mut at: u64, waiting: u32) -> u64 {
        let mut clock = &self.clocks[terminal.clock as usize];
        let (job, rank) = (&self.jobs[clock.job as usize], self.rank(terminal.id) as usize);
        if job.batch.as_ref().is_some_and(|batch| terminal.seq >= batch[rank]) || waiting >= job.outstanding {
            return u64::MAX;
        }
        while at >= clock.until {
            let phase = clock.phase as usize + 1;
            let Some(&start) = job.starts.get(phase) else { return u64::MAX };
            terminal.clock = job.clocks[phase][rank];
            clock = &self.clocks[terminal.clock as usize];
            at = clock.process.as_ref().map_or(u64::MAX, |process| {
                *memory = process.start(&mut terminal.gaps);
                process.next(after.max(start - 1), memory, &mut terminal.gaps)
            });
        }
        at
    }
}
