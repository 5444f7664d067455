//! Statistics in addition to those of all packets: for each job, for each latency that a workload reports separately, and for each message
//! class.

use crate::fault_tally::FaultTally;
use crate::net::{Net, NetJob};
use crate::phase_tally::PhaseTally;
use crate::tally::Tally;
use hdrhistogram::Histogram;
use weft_api::base::kept::{Kept, Value};
use weft_api::state::sums::{Measured, PacketSums};
use weft_api::state::{MEASURED, Packet};
use weft_api::workload::Amount;

/// The statistics of one job, of one separately reported latency of its workload, or of one message class.
#[derive(Debug, Clone, Kept)]
struct Part {
    created: Amount,
    /// Number of flits injected in the window. Counted only if network interfaces have queues.
    injected_flits: u64,
    accepted_flits: u64,
    #[kept(each)]
    batches: Vec<PacketSums>,
    /// Histogram of latencies up to 2^32 cycles with 2 significant digits; `None` if no terminal of the job is in this block.
    #[kept(each)]
    latency: Option<Histogram<u64>>,
}

/// Counts of the packets of a job that were delivered or discarded in the whole run, measured or not.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Done {
    pub packets: u64,
    /// Number of discarded packets, including the packets that their deliveries would have caused.
    pub lost: u64,
    /// The cycle in which a packet of the job was last delivered or discarded.
    pub last: u64,
}

/// Counts of all packets that were delivered, measured or not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Seen {
    pub packets: u64,
    pub latency: u64,
}

impl Seen {
    pub fn add(&mut self, more: Self) {
        self.packets += more.packets;
        self.latency += more.latency;
    }
}

#[derive(Debug, Clone, Kept)]
pub struct Parts {
    /// For each job, the index of its first part in the list of parts. Empty if the run needs only the sums over the window.
    #[kept(fixed)]
    of_job: Vec<u16>,
    /// Index of the part for the first message class. The parts for the other classes follow it. Not used if packets have no message
    /// classes.
    #[kept(fixed)]
    first_class: usize,
    #[kept(each)]
    parts: Vec<Part>,
    #[kept(each)]
    done: Vec<Done>,
    /// For each job, the measured packets that were discarded.
    #[kept(each)]
    lost: Vec<Amount>,
    /// For each job, the packets that were never created because the packets that would have caused them were discarded.
    #[kept(each)]
    unborn: Vec<Amount>,
    pub seen: Seen,
    /// Counts of delivered packets, for each message class.
    #[kept(each)]
    pub seen_of_class: Vec<Seen>,
    pub by_phase: PhaseTally,
    pub faults: FaultTally,
}

impl Parts {
    /// `here`: for each job, whether it has a terminal in this block. `batches`: the largest number of batches in the window. `changes`:
    /// the cycles in which the load of at least one job changes.
    pub fn new(
        jobs: &[NetJob],
        classes: usize,
        batches: usize,
        changes: &[u64],
        faults: FaultTally,
        here: impl Fn(usize) -> bool,
    ) -> Self {
        let (mut of_job, mut parts) = (Vec::new(), Vec::new());
        let new = |here: bool| Part {
            created: Amount::default(),
            injected_flits: 0,
            accepted_flits: 0,
            batches: vec![PacketSums::default(); if here { batches } else { 0 }],
            latency: here.then(histogram),
        };
        if jobs.len() > 1 || classes > 0 || !jobs[0].workload.latencies().is_empty() {
            for (j, job) in jobs.iter().enumerate() {
                of_job.push(parts.len() as u16);
                parts.extend((0..1 + job.workload.latencies().len()).map(|_| new(here(j))));
            }
        }
        let first_class = parts.len();
        let sends = |class: usize| (0..jobs.len()).any(|j| here(j) && jobs[j].classes.contains(&(class as u8)));
        parts.extend((0..classes).map(|class| new(sends(class))));
        Self {
            of_job,
            first_class,
            parts,
            done: vec![Done::default(); jobs.len()],
            lost: vec![Amount::default(); jobs.len()],
            unborn: vec![Amount::default(); jobs.len()],
            seen: Seen::default(),
            seen_of_class: vec![Seen::default(); classes],
            by_phase: PhaseTally::new(changes),
            faults,
        }
    }

    /// Counts a measured packet of this job and message class that no delivery has caused.
    pub fn created(&mut self, job: u16, class: u8, flits: u16) {
        let amount = Amount { packets: 1, flits: flits.into() };
        if let Some(&p) = self.of_job.get(job as usize) {
            self.parts[p as usize].created += amount;
        }
        if let Some(part) = self.parts.get_mut(self.first_class + usize::from(class)) {
            part.created += amount;
        }
    }

    /// True if the run counts anything by job or by message class.
    #[inline(always)]
    pub fn are_counted(&self) -> bool {
        !self.parts.is_empty()
    }

    /// Counts a flit of this job and message class, which a terminal with queues has injected in the window.
    pub fn inject(&mut self, job: u16, class: u8) {
        if let Some(&p) = self.of_job.get(job as usize) {
            self.parts[p as usize].injected_flits += 1;
        }
        if let Some(part) = self.parts.get_mut(self.first_class + usize::from(class)) {
            part.injected_flits += 1;
        }
    }

    /// Number of flits of a job that were injected in the window. Valid if network interfaces have queues.
    pub fn injected_by(&self, job: usize) -> u64 {
        self.of_job.get(job).map_or(0, |&p| self.parts[p as usize].injected_flits)
    }

    /// For message class `class`: its injected and accepted flits, and the statistics of its packets.
    pub fn of_class(&self, class: usize) -> (u64, u64, Measured) {
        let part = &self.parts[self.first_class + class];
        (part.injected_flits, part.accepted_flits, part.measured())
    }

    /// Number of measured packets of message class `class` that were not caused by a delivery.
    pub fn created_of_class(&self, class: usize) -> u64 {
        self.parts[self.first_class + class].created.packets
    }

    /// Counts a packet of job `job` that is discarded in cycle `now`. `unborn`: the packets that the delivery of this packet would have
    /// caused.
    pub fn lose(&mut self, job: usize, packet: &Packet, unborn: Amount, now: u64) {
        let done = &mut self.done[job];
        (done.lost, done.last) = (done.lost + 1 + unborn.packets, done.last.max(now));
        if packet.flags & MEASURED != 0 {
            self.lost[job] += Amount { packets: 1, flits: packet.len.into() };
            self.unborn[job] += unborn;
        }
    }

    pub fn lost(&self, job: usize) -> Amount {
        self.lost[job]
    }

    pub fn unborn(&self, job: usize) -> Amount {
        self.unborn[job]
    }

    pub fn done(&self, job: usize) -> Done {
        self.done[job]
    }

    /// The measured packets of the job's terminals that no delivery caused; `None` if the job has no separate statistics.
    pub fn created_by(&self, job: usize) -> Option<Amount> {
        self.of_job.get(job).map(|&p| self.parts[p as usize].created)
    }

    /// Number of accepted flits of the job; `None` if the job has no separate statistics.
    pub fn accepted_by(&self, job: usize) -> Option<u64> {
        self.of_job.get(job).map(|&p| self.parts[p as usize].accepted_flits)
    }

    /// For a job: its accepted flits, the statistics of its packets, and the statistics of each latency that its workload reports
    /// separately. Returns `None` if the job has no separate statistics.
    pub fn of(&self, job: usize) -> Option<(u64, Vec<Measured>)> {
        let first = *self.of_job.get(job)? as usize;
        let end = self.of_job.get(job + 1).map_or(self.first_class, |&p| p as usize);
        let parts = &self.parts[first..end];
        Some((parts[0].accepted_flits, parts.iter().map(Part::measured).collect()))
    }

    pub fn merge(&mut self, other: &Parts) {
        self.parts.iter_mut().zip(&other.parts).for_each(|(a, b)| a.merge(b));
        for (a, b) in self.done.iter_mut().zip(&other.done) {
            *a = Done { packets: a.packets + b.packets, lost: a.lost + b.lost, last: a.last.max(b.last) };
        }
        self.unborn.iter_mut().zip(&other.unborn).for_each(|(a, b)| *a += *b);
        self.lost.iter_mut().zip(&other.lost).for_each(|(a, b)| *a += *b);
        self.seen.add(other.seen);
        self.seen_of_class.iter_mut().zip(&other.seen_of_class).for_each(|(a, b)| a.add(*b));
        self.by_phase.merge(&other.by_phase);
        self.faults.merge(&other.faults);
    }
}

impl Part {
    fn count(&mut self, batch: usize, packet: &Packet, latency: u64, network: u64) {
        if let Some(sums) = self.batches.get_mut(batch) {
            sums.count(packet, latency, network);
        }
        if let Some(histogram) = &mut self.latency {
            histogram.saturating_record(latency);
        }
    }

    fn measured(&self) -> Measured {
        let mut sums = PacketSums::default();
        self.batches.iter().for_each(|b| sums.add(b));
        let latency = self.latency.clone().unwrap_or_else(histogram);
        Measured { sums, batches: self.batches.clone(), latency }
    }

    fn merge(&mut self, other: &Part) {
        self.created += other.created;
        self.injected_flits += other.injected_flits;
        self.accepted_flits += other.accepted_flits;
        if self.batches.is_empty() {
            self.batches.clone_from(&other.batches);
        } else {
            self.batches.iter_mut().zip(&other.batches).for_each(|(a, b)| a.add(b));
        }
        match (&mut self.latency, &other.latency) {
            (Some(mine), Some(theirs)) => mine.add(theirs).expect("same bounds"),
            (mine @ None, theirs) => mine.clone_from(theirs),
            (Some(_), None) => {}
        }
    }
}

pub fn histogram() -> Histogram<u64> {
    Histogram::new_with_bounds(1, 1 << 32, 2).expect("constant bounds are valid")
}

impl Tally {
    /// Counts a packet of job `job` that is delivered in cycle `at`.
    pub fn deliver_to_job(&mut self, net: &Net, job: usize, packet: &Packet, at: u64) {
        let (latency, network) = (at - packet.created, at - packet.injected);
        let inside = self.inside(at);
        let batch = if packet.flags & MEASURED == 0 { 0 } else { self.batch(net, packet.created) };
        let parts = &mut self.parts;
        let done = &mut parts.done[job];
        *done = Done { packets: done.packets + 1, last: done.last.max(at), ..*done };
        let seen = Seen { packets: 1, latency };
        parts.seen.add(seen);
        if let Some(of_class) = parts.seen_of_class.get_mut(usize::from(packet.class)) {
            of_class.add(seen);
        }
        if inside {
            parts.faults.deliver(packet, at);
        }
        if packet.flags & MEASURED != 0 {
            parts.by_phase.count(packet, latency, network);
        }
        let Some(&first) = parts.of_job.get(job) else { return };
        let first = first as usize;
        let class = parts.first_class + usize::from(packet.class);
        let accepted = if inside { u64::from(packet.len) } else { 0 };
        parts.parts[first].accepted_flits += accepted;
        if let Some(part) = parts.parts.get_mut(class) {
            part.accepted_flits += accepted;
        }
        if packet.flags & MEASURED == 0 {
            return;
        }
        parts.parts[first].count(batch, packet, latency, network);
        if let Some(part) = parts.parts.get_mut(class) {
            part.count(batch, packet, latency, network);
        }
        net.jobs[job].workload.latencies_of(packet, latency, &mut |which, latency| {
            parts.parts[first + 1 + which].count(batch, packet, latency, network);
        });
        if net.times.turnaround > 0 {
            let kept_back = net.jobs[job].workload.kept_back(packet);
            parts.by_phase.keep_back(packet, kept_back);
            parts.parts[first].batches[batch].kept_back += kept_back;
            self.batches[batch].kept_back += kept_back;
        }
    }
}
