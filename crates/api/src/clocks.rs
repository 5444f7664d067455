//! Clocks: sources that create packets at random times, one clock per terminal. A clock returns the creation time and destination of each
//! packet of its terminal, through all phases of a job.
//!
//! A clock may be behind the simulated time, because the network interface asks it for a packet only when the previous packet has left.
//! Therefore the backlog of an overloaded network needs no memory: Weft computes the backlog from a copy of the clock.

use super::workload::{Amount, Backlog, Counts, JobSite, MAX_BATCH, NOT_DUE, NewPacket, Place, Sources};
use crate::base::kept::Kept;
use rand_pcg::Pcg32;
use std::sync::Arc;
use weft_traffic::{Lengths, Pattern, Process, mix, stream};
use weft_units::prefetch::prefetch;
use weft_units::{Cycles, Refusal};

/// Purposes of the two random streams of a terminal: gaps between its packets, and their destinations.
const GAPS: u64 = 1;
const TARGETS: u64 = 2;
/// Purpose of the hashes from which the lengths of a terminal's packets are computed.
const LENGTHS: u64 = 3;

/// Data for all terminals that have the same load in a phase.
#[derive(Debug)]
struct Rate {
    /// Injection process; `None` if these terminals send nothing in this phase.
    process: Option<Process>,
    pattern: Arc<Pattern>,
    /// Length of every packet [flits]; `None` if packets have different lengths.
    packet_flits: Option<u16>,
    phase: u32,
    /// Packets created before this cycle need no check by `settle`. The value is the end of the phase; it is 0 for a batch and for clocks
    /// that may wait.
    plain_until: u64,
    /// First cycle after this phase.
    until: u64,
    /// Load of each terminal in flits per cycle.
    load: f64,
}

/// Data that the clocks of a job share.
#[derive(Debug)]
pub struct Clocks {
    rates: Vec<Rate>,
    /// Lengths of packets.
    lengths: Lengths,
    /// For each phase and rank, the index into `rates`.
    rate_of: Vec<Vec<u16>>,
    /// First cycle of each phase.
    starts: Vec<u64>,
    /// Number of packets that each rank sends, if the job is a batch.
    batch: Option<Vec<u32>>,
    /// The terminal of each rank; empty if terminals and ranks have the same numbers.
    terminals: Vec<u32>,
    /// Whether each cycle of a phase creates a packet with the same probability, independent of earlier cycles.
    memoryless: bool,
    seed: u64,
}

/// The clock of a terminal: its random streams, the state of its injection process, and its present rate.
#[derive(Debug, Clone, Kept)]
#[repr(align(64))]
pub struct Clock {
    gaps: Pcg32,
    targets: Pcg32,
    /// State of the injection process between two packets.
    memory: u64,
    #[kept(fixed)]
    rank: u32,
    /// Number of packets created so far.
    made: u32,
    /// Index into `rates` in the present phase.
    rate: u16,
}

impl Clocks {
    /// Refuses batches, loads and phases that do not fit the job.
    pub fn check(site: &JobSite) -> Result<(), Refusal> {
        let (ranks, job) = (site.terminals.len(), site.job);
        let most = site.batch.and_then(|batch| batch.iter().max());
        if let Some(&most) = most.filter(|&most| !(1..=MAX_BATCH).contains(most)) {
            let what =
                format!("a batch of {most} packets per terminal is not possible; a batch has 1 to {MAX_BATCH} packets");
            return Err(site.refusal("batch", what, "write 1 or more, or leave the batch out"));
        }
        let sized = site.phases.iter().all(|phase| phase.load.len() == ranks);
        if !sized || site.batch.is_some_and(|batch| batch.len() != ranks) {
            let what =
                format!("the number of loads or batches of job `{job}` is not the number of its ranks ({ranks})");
            return Err(site.refusal("terminals", what, "give one load and one batch to every rank"));
        }
        if site.phases.first().is_none_or(|phase| phase.from != 0) {
            return Err(site.refusal(
                "phases",
                format!("job `{job}` has no phase that starts in cycle 0"),
                "add such a phase",
            ));
        }
        for (k, pair) in site.phases.windows(2).enumerate() {
            if pair[0].from >= pair[1].from {
                let what = format!(
                    "this phase starts at cycle {}, but the phase before it starts at cycle {}",
                    pair[1].from, pair[0].from
                );
                // the job itself gives the pattern and load of the first phase, so the list has only later phases
                let key = format!("phases.{k}.from");
                return Err(site.refusal(&key, what, "write the phases in the order of their start times"));
            }
        }
        Ok(())
    }

    /// Makes the data that the clocks of a job share. `may_wait`: whether a clock may have to wait although its next
    /// packet is due.
    pub fn new(site: &JobSite, may_wait: bool) -> Result<Self, Refusal> {
        let ends = site.phases[1..].iter().map(|phase| phase.from).chain([u64::MAX]);
        let (mut rates, mut rate_of) = (Vec::new(), Vec::with_capacity(site.phases.len()));
        let watched = site.batch.is_some() || may_wait;
        let path = format!("{}.injection.{}", site.path, site.injection.name());
        for (p, (phase, until)) in site.phases.iter().zip(ends).enumerate() {
            let mut loads = phase.load.clone();
            loads.sort_by(f64::total_cmp);
            loads.dedup();
            let first = rates.len();
            for &load in &loads {
                let process = || site.injection.build(load, site.packets.mean(), site.cycle_fs, &path);
                rates.push(Rate {
                    process: if load > 0.0 { Some(process()?) } else { None },
                    pattern: phase.pattern.clone(),
                    packet_flits: site.packets.only().map(|flits| flits as u16),
                    phase: p as u32,
                    plain_until: if watched { 0 } else { until },
                    until,
                    load,
                });
            }
            if rates.len() >= usize::from(u16::MAX) {
                return Err(Refusal::new(
                    "traffic",
                    format!("terminals and phases have more than {} different loads", u16::MAX - 1),
                    "give more terminals the same load",
                ));
            }
            let place = |load: &f64| loads.partition_point(|l| l.total_cmp(load).is_lt());
            rate_of.push(phase.load.iter().map(|load| (first + place(load)) as u16).collect());
        }
        let numbered = (0..).zip(site.terminals).all(|(rank, &terminal)| rank == terminal);
        Ok(Self {
            rates,
            lengths: site.packets.clone(),
            rate_of,
            starts: site.phases.iter().map(|phase| phase.from).collect(),
            batch: site.batch.map(<[u32]>::to_vec),
            terminals: if numbered { Vec::new() } else { site.terminals.to_vec() },
            memoryless: site.injection.model().is_memoryless(),
            seed: site.seed,
        })
    }

    /// Number of packets that all clocks of the job create, if the job is a batch.
    pub fn total(&self) -> Option<u64> {
        self.batch.as_ref().map(|batch| batch.iter().map(|&n| u64::from(n)).sum())
    }

    /// Whether clocks create packets with the same probability in every cycle of a phase.
    pub fn is_steady(&self) -> bool {
        self.batch.is_none() && self.memoryless
    }

    /// Variance divided by mean of the number of packets that the clocks create in a long time. The phase begins with cycle `start`. `None`
    /// if the clocks stop after a batch.
    pub fn dispersion(&self, start: Cycles) -> Option<f64> {
        if self.batch.is_some() {
            return None;
        }
        let phase = self.starts.partition_point(|&own| own <= start).saturating_sub(1);
        let rates = self.rate_of[phase].iter().map(|&rate| &self.rates[usize::from(rate)]);
        // clocks are independent, so the variances and the means of their numbers of packets add up
        let sums = rates.filter_map(|rate| rate.process.as_ref().map(|process| (rate.load, process.dispersion())));
        let (mean, variance) = sums.fold((0.0, 0.0), |(m, v), (load, dispersion)| (m + load, v + load * dispersion));
        Some(if mean > 0.0 { variance / mean } else { 0.0 })
    }

    /// Makes the clock of the terminal with this rank.
    pub fn clock(&self, Place { terminal, rank }: Place) -> Clock {
        let component = u64::from(terminal);
        let (gaps, targets) = (stream(self.seed, component, GAPS), stream(self.seed, component, TARGETS));
        Clock { gaps, targets, memory: 0, rank, made: 0, rate: self.rate_of[0][rank as usize] }
    }

    /// The cycle in which a clock creates its first packet.
    pub fn start(&self, clock: &mut Clock) -> u64 {
        let first = match &self.rates[usize::from(clock.rate)].process {
            Some(process) => {
                clock.memory = process.start(&mut clock.gaps);
                process.first(&mut clock.memory, &mut clock.gaps)
            }
            None => NOT_DUE,
        };
        self.settle(clock, 0, first, false)
    }

    /// The next packet of a clock, created in cycle `created`; `None` if the pattern sends nothing from this terminal
    /// now.
    pub fn packet(&self, clock: &mut Clock, created: u64) -> Option<NewPacket> {
        let packet = self.packet_at(&self.rates[usize::from(clock.rate)], clock);
        packet.map(|packet| own(packet, created))
    }

    #[inline(always)]
    fn packet_at(&self, rate: &Rate, clock: &mut Clock) -> Option<(u32, u16)> {
        let rank = rate.pattern.destination(clock.rank, &mut clock.targets)?;
        let to = if self.terminals.is_empty() { rank } else { self.terminals[rank as usize] };
        let flits = self.length(rate, clock);
        clock.made = clock.made.wrapping_add(1);
        Some((to, flits))
    }

    /// Length [flits] of the next packet of the clock.
    #[inline(always)]
    fn length(&self, rate: &Rate, clock: &Clock) -> u16 {
        match rate.packet_flits {
            Some(flits) => flits,
            None => self.drawn_length(clock),
        }
    }

    /// Length of the next packet, from a hash of (seed, terminal, number of the packet). Therefore the clock needs no random stream for
    /// lengths.
    #[inline(never)]
    fn drawn_length(&self, clock: &Clock) -> u16 {
        let terminal = self.terminals.get(clock.rank as usize).copied().unwrap_or(clock.rank);
        let address = mix(self.seed, terminal.into(), LENGTHS);
        self.lengths.of_hash(mix(address, clock.made.into(), LENGTHS)) as u16
    }

    /// The cycle after cycle `after` in which the clock creates its next packet; [`NOT_DUE`] if there is none, or if
    /// the clock must wait.
    #[inline(always)]
    pub fn after(&self, clock: &mut Clock, after: u64, waits: bool) -> u64 {
        self.after_at(&self.rates[usize::from(clock.rate)], clock, after, waits)
    }

    #[inline(always)]
    fn after_at(&self, rate: &Rate, clock: &mut Clock, after: u64, waits: bool) -> u64 {
        let Some(process) = &rate.process else { return NOT_DUE };
        let at = process.next(after, &mut clock.memory, &mut clock.gaps);
        if at < rate.plain_until { at } else { self.settle(clock, after, at, waits) }
    }

    /// Checks cycle `at`, which the injection process returned for the next packet after cycle `after`. If `at` is after the end of the
    /// phase, the process of the next phase draws a new cycle. For a process without memory this is exact. Returns [`NOT_DUE`] if the clock
    /// creates no more packets, or must wait.
    #[inline(never)]
    fn settle(&self, clock: &mut Clock, after: u64, mut at: u64, waits: bool) -> u64 {
        let rank = clock.rank as usize;
        if waits || self.batch.as_ref().is_some_and(|batch| clock.made >= batch[rank]) {
            return NOT_DUE;
        }
        let mut rate = &self.rates[usize::from(clock.rate)];
        while at >= rate.until {
            let phase = rate.phase as usize + 1;
            let Some(&start) = self.starts.get(phase) else { return NOT_DUE };
            clock.rate = self.rate_of[phase][rank];
            rate = &self.rates[usize::from(clock.rate)];
            at = rate.process.as_ref().map_or(NOT_DUE, |process| {
                clock.memory = process.start(&mut clock.gaps);
                process.next(after.max(start - 1), &mut clock.memory, &mut clock.gaps)
            });
        }
        at
    }

    /// Counts the packets that the clock would create before cycle `until`. The clock creates the first of these packets in cycle `next`.
    /// `waits`: returns whether the clock must wait after one more packet.
    pub fn backlog(
        &self,
        mut clock: Clock,
        mut next: u64,
        until: u64,
        window: (u64, u64),
        mut waits: impl FnMut() -> bool,
    ) -> Backlog {
        let mut backlog = Backlog::default();
        while next < until {
            let flits = self.length(&self.rates[usize::from(clock.rate)], &clock).into();
            (backlog.packets, backlog.flits) = (backlog.packets + 1, backlog.flits + flits);
            if (window.0..window.1).contains(&next) {
                backlog.in_window += Amount { packets: 1, flits };
            }
            clock.made = clock.made.wrapping_add(1);
            next = self.after(&mut clock, next, waits());
        }
        backlog
    }
}

/// Sources of terminals that have only clocks: they create packets independently of sent and delivered packets.
#[derive(Debug, Kept)]
pub struct ClockSources {
    #[kept(fixed)]
    clocks: Arc<Clocks>,
    #[kept(each)]
    terminals: Vec<Clock>,
}

impl ClockSources {
    pub fn new(clocks: &Arc<Clocks>, here: &[Place]) -> Self {
        Self { clocks: clocks.clone(), terminals: here.iter().map(|&place| clocks.clock(place)).collect() }
    }

    /// Loads the clock of `source` into the cache.
    pub fn bring(&self, source: usize) {
        prefetch(&self.terminals, source);
    }

    /// Creates the next packet of `source` and returns its destination and length. This method makes no virtual calls.
    #[inline(always)]
    pub fn create(&mut self, source: usize, due: &mut u64) -> Option<(u32, u16)> {
        let clock = &mut self.terminals[source];
        let rate = &self.clocks.rates[usize::from(clock.rate)];
        let packet = self.clocks.packet_at(rate, clock);
        *due = self.clocks.after_at(rate, clock, *due, false);
        packet
    }
}

/// A packet created by a clock, not caused by a delivery.
fn own((to, flits): (u32, u16), created: u64) -> NewPacket {
    NewPacket { to, flits, created, tag: 0, counts: Counts::IfCreatedInWindow }
}

impl Sources for ClockSources {
    fn start(&mut self, source: usize) -> u64 {
        self.clocks.start(&mut self.terminals[source])
    }

    #[inline(always)]
    fn next(&mut self, source: usize, due: &mut u64, _now: u64) -> Option<NewPacket> {
        let created = *due;
        self.create(source, due).map(|packet| own(packet, created))
    }

    fn backlog(&self, source: usize, due: u64, until: u64, window: (u64, u64)) -> Backlog {
        self.clocks.backlog(self.terminals[source].clone(), due, until, window, || false)
    }

    fn flits_due(&self, source: usize, due: u64, until: u64, most: u64) -> u64 {
        let (mut clock, mut next, mut flits) = (self.terminals[source].clone(), due, 0);
        while next < until && flits < most {
            flits += u64::from(self.clocks.length(&self.clocks.rates[usize::from(clock.rate)], &clock));
            clock.made = clock.made.wrapping_add(1);
            next = self.clocks.after(&mut clock, next, false);
        }
        flits
    }
}
