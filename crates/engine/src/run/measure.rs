//! The phases of a run: warm-up, measured window and drain, and the conditions that end them.
//!
//! All decisions depend on integers that are summed over all blocks, in cycles that do not depend on the division into blocks.

use crate::network::evener::Trial;
use crate::network::load_readings::Carried;
use crate::network::simulation::Simulation;
use crate::network::spec::{Spec, Stop};
use crate::network::transit::Transit;
use crate::run::course::{Begun, Closed, Course, Middle};
use crate::run::judge::DEVIATIONS;
use crate::run::outcome::{ACCEPTED_SHARE, Decisions, Ending, Outcome, PacketSums, PhaseOutcome, Saturation, Stall};
use crate::run::stall;
use crate::run::steady::confidence95;
use weft_api::control::ControlCount;
use weft_api::state::Account;
use weft_api::workload::{self, Amount, NOT_DUE};
use weft_kernel::block::AtTerminal;
use weft_kernel::face::AnyBlock;
use weft_kernel::net::NetJob;
use weft_kernel::tally::Tally;

/// Receives the progress of a run, can stop the run, and selects its cores.
pub trait Progress: Sync {
    /// Called from time to time with the cycle reached and the expected number of cycles. Returning `false` stops the
    /// run.
    fn tick(&self, cycle: u64, of: u64) -> bool;

    /// Returns whether to make a checkpoint before cycle `now`, from which [`crate::resume`] can continue. The method is also called when
    /// `tick` stops the run. If the method then returns true, the run stops after the checkpoint.
    fn wants_checkpoint(&self, _now: u64) -> bool {
        false
    }

    /// Receives the requested checkpoint.
    fn keep(&self, _checkpoint: Vec<u8>) {}

    /// The cores to which the threads of the run are pinned, the calling thread to the first core. If empty, threads are not pinned. A run
    /// with fewer cores than threads is refused.
    fn cores(&self) -> &[usize] {
        &[]
    }
}

/// Ignores all progress reports.
impl Progress for () {
    fn tick(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// Cycles between two checks whether the drain has ended.
const DRAIN_LOOK: u64 = 256;
/// Approximate number of cycles that a run without saturation needs after its window, until all packets of the window
/// have been delivered.
pub fn drain_cycles(spec: &Spec) -> u64 {
    let looks = (Transit::of(spec).with_queues() / DRAIN_LOOK as f64).ceil().max(1.0);
    let kept_back = spec.turnaround().unwrap_or(0);
    (looks as u64 * DRAIN_LOOK).saturating_add(kept_back).min(spec.phases.drain_limit)
}

/// Cycles between two checks whether the last batch has been delivered. The delivery of the last batch ends the window. The energy account
/// of the window ends at a multiple of this number.
const COMPLETE_LOOK: u64 = 32;

/// Number of flits that each job has offered in the window, including packets that deliveries caused.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offered {
    pub by_job: Vec<Amount>,
}

impl Offered {
    pub fn packets(&self) -> u64 {
        self.by_job.iter().map(|job| job.packets).sum()
    }

    pub fn flits(&self) -> u64 {
        self.by_job.iter().map(|job| job.flits).sum()
    }
}

/// Results of a run that are known when the window ends.
pub(crate) struct Findings {
    pub ending: Ending,
    pub saturated: Saturation,
    pub window: (u64, u64),
    /// Number of packets in source queues when the window began.
    pub waiting: u64,
    pub decisions: Decisions,
    pub offered: Offered,
    pub closed: Vec<Vec<Account>>,
    /// Number of cycles that each bundle slept.
    pub asleep: Vec<u64>,
    pub phases: Vec<PhaseOutcome>,
    pub control: Option<ControlCount>,
}

impl Simulation {
    /// Runs warm-up, window and drain, and returns the results.
    pub fn run(self, spec: &Spec, progress: &dyn Progress) -> Outcome {
        let mut course = Course::new(spec, progress);
        course.trial = Some(spec);
        self.go_on(spec, course)
    }

    /// Runs all phases that are not finished yet, and returns the results.
    pub(crate) fn go_on(mut self, spec: &Spec, mut course: Course) -> Outcome {
        let mut ending = None;
        if course.begun.is_none() {
            ending = self.warm_up(spec, &mut course);
            course.trial = None;
            if let Some(division) = course.division {
                return self.divided_anew(spec, division).go_on(spec, Course::new(spec, course.progress));
            }
            course.begun = Some(self.open_window(spec));
        }
        if course.closed.is_none() {
            ending = ending.or_else(|| self.window(spec, &mut course));
            course.closed = Some(self.close_window(spec, &course));
        }
        let judged = course.closed.as_ref().map_or(Saturation::No, |closed| closed.judged);
        let ending = ending.unwrap_or_else(|| match judged {
            Saturation::Yes => Ending::Saturated,
            Saturation::No | Saturation::Unknown(_) => self.drain(spec, &mut course),
        });
        let Course { begun: Some(begun), closed: Some(closed), decisions, .. } = course else {
            unreachable!("the window has begun and ended");
        };
        self.sum_up(spec, begun, closed, decisions, ending)
    }

    /// The results of a run that has ended.
    fn sum_up(self, spec: &Spec, begun: Begun, closed: Closed, mut decisions: Decisions, ending: Ending) -> Outcome {
        let (judged, waiting) = (closed.judged, begun.waiting);
        // Counted now and not at the end of the drain, because a source that waits for a delivery may later create a packet that belongs to
        // the window.
        let offered = self.offered();
        let ending = self.explain(ending);
        let drained = ending == Ending::Drained;
        let phases = closed.last.map_or_else(Vec::new, |last| self.phases(spec, &last, drained, waiting));
        let in_doubt = |phase: &PhaseOutcome| phase.saturated.filter(|saturation| saturation.known().is_none());
        let saturated = match &ending {
            Ending::Drained | Ending::NotComplete => phases.iter().find_map(in_doubt).unwrap_or(judged),
            Ending::Saturated => Saturation::Yes,
            Ending::Stalled(_) | Ending::Interrupted => Saturation::No,
        };
        if let Stop::Confidence { share, .. } = spec.phases.stop {
            decisions.confident = Some(drained && is_confident(&self.tally(), spec.classes.len(), usize::MAX, share));
        }
        let Closed { window, accounts, asleep, control, .. } = closed;
        let found = Findings {
            ending,
            saturated,
            window,
            waiting,
            decisions,
            offered,
            closed: accounts,
            asleep,
            phases,
            control,
        };
        self.outcome(spec, found)
    }

    /// Starts the window.
    fn open_window(&mut self, spec: &Spec) -> Begun {
        self.open_accounts();
        let (start, waiting, marks) = (self.now, self.backlog(self.now).0, self.marks(spec));
        let middle = Middle { cycle: start, accepted: 0, carried: Carried::default(), marks };
        Begun { start, waiting, end: start + spec.phases.window, is_half_over: false, is_decided: false, middle }
    }

    /// Ends the window before the current cycle.
    fn close_window(&mut self, spec: &Spec, course: &Course) -> Closed {
        let begun = course.begun.as_ref().expect("a window that has begun");
        let (start, end) = (begun.start, self.now);
        let accounts = self.blocks.iter().map(|b| b.accounts(end)).collect();
        let asleep = self.close_bundles();
        let control = self.control();
        self.blocks.iter_mut().for_each(|block| block.end_window(end));
        let last = (!self.readings.spans.is_empty()).then(|| self.reading());
        self.set_window(start, end);
        let judged = self.saturation(spec, &begun.middle);
        Closed { window: (start, end), accounts, asleep, control, last, judged }
    }

    pub(crate) fn set_window(&mut self, start: u64, end: u64) {
        self.steady.forget();
        self.blocks.iter_mut().for_each(|b| b.observers_mut().tally.window = (start, end));
    }

    /// Starts the accounts of energy.
    fn open_accounts(&mut self) {
        self.readings.begin(self.now);
        self.open_bundles();
        self.blocks.iter_mut().for_each(|block| block.begin_window(self.now));
    }

    /// Control packets since the accounts were started; `None` if the agents send none.
    fn control(&self) -> Option<ControlCount> {
        let mut counts = self.blocks.iter().filter_map(|block| block.policy().control.counts.as_ref());
        let first = counts.next()?.clone();
        Some(counts.fold(first, |mut sum, count| {
            sum.add(count);
            sum
        }))
    }

    /// Advances to the end of the window.
    fn window(&mut self, spec: &Spec, course: &mut Course) -> Option<Ending> {
        if spec.phases.stop == Stop::Complete {
            return self.complete(spec, course);
        }
        let start = begun(course).start;
        if !begun(course).is_half_over {
            let ending = self.advance_marking(start + spec.phases.window / 2, course.look, course);
            let middle = &mut begun(course).middle;
            (middle.cycle, middle.accepted, middle.carried) = (self.now, self.done_with(), self.carried());
            if ending.is_some() {
                return ending;
            }
            begun(course).is_half_over = true;
        }
        if let Stop::Confidence { share, window } = spec.phases.stop {
            while !begun(course).is_decided {
                // flits that may be delivered after the end of the window must not leave before this end is known
                let end = begun(course).end;
                let decide = end.saturating_sub(self.net.times.lookahead).max(self.now);
                if let Some(ending) = self.advance_marking(decide, course.look, course) {
                    return Some(ending);
                }
                let tally = self.tally();
                // slow packets of later batches may still be in flight, so these batches do not count yet
                let delivered = (self.now - start).saturating_sub(tally.longest_latency()) / self.net.times.batch;
                let confident = is_confident(&tally, spec.classes.len(), delivered as usize, share);
                let longer = end + self.growth();
                let mut saturated = || self.saturation(spec, &begun(course).middle) == Saturation::Yes;
                if confident || longer > start + window || saturated() {
                    begun(course).is_decided = true;
                } else {
                    begun(course).end = longer;
                    self.set_window(start, longer);
                    course.expected = longer;
                }
            }
        }
        self.advance_marking(begun(course).end, course.look, course)
    }

    /// Number of cycles by which a window is extended: whole batches, and at least the number of cycles by which the end must be known in
    /// advance.
    fn growth(&self) -> u64 {
        (self.net.times.lookahead / self.net.times.batch + 1) * self.net.times.batch
    }

    /// Advances until the batches of all jobs are delivered, or the window has reached its maximum length.
    fn complete(&mut self, spec: &Spec, course: &mut Course) -> Option<Ending> {
        let start = begun(course).start;
        let limit = start + spec.phases.window;
        while !self.is_complete(self.now) {
            if self.now >= limit {
                return Some(Ending::NotComplete);
            }
            if let Some(stall) = self.halted() {
                return Some(Ending::Stalled(stall));
            }
            // nothing is delivered while body flits flow steadily, or while nothing is in flight
            let until = self.steady_until().max(self.empty_until());
            let calm = if self.is_complete(u64::MAX) { 0 } else { until.saturating_sub(self.now) };
            let look = (calm / COMPLETE_LOOK).max(1) * COMPLETE_LOOK;
            // a run that continues from a checkpoint at a mark makes its checks in the same cycles as an uninterrupted run
            let next = (self.now - (self.now - start) % COMPLETE_LOOK).saturating_add(look).min(limit);
            if let Some(ending) = self.advance_marking(next, look, course) {
                return Some(ending);
            }
        }
        None
    }

    /// Whether all batches are known to be completely delivered before cycle `now`.
    fn is_complete(&self, now: u64) -> bool {
        let tallies = || self.blocks.iter().map(|b| &b.observers().tally.parts);
        self.net.jobs.iter().enumerate().all(|(j, job)| {
            let packets: u64 = tallies().map(|parts| parts.done(j).packets + parts.done(j).lost).sum();
            let last = tallies().map(|parts| parts.done(j).last).max().unwrap_or(0);
            let is_over = match job.workload.progress() {
                workload::Progress::Endless => true,
                workload::Progress::Open => false,
                workload::Progress::Ended(cycle) => cycle < now,
            };
            is_over && job.workload.total().is_none_or(|total| packets == total && last < now)
        })
    }

    /// The workloads that can't end: none of their packets is in flight, and none of their sources will create one. Other jobs may still
    /// send.
    fn halted(&self) -> Option<Stall> {
        let rests = |block: &dyn AnyBlock| block.is_quiet() && block.next_created() == NOT_DUE;
        let all_rest = !self.has_packets() && self.blocks.iter().all(|block| rests(&**block));
        let open = self.net.jobs.iter().filter(|job| job.workload.progress() == workload::Progress::Open);
        let halted = open.filter(|job| all_rest || job.workload.is_at_rest());
        let halted: Vec<String> = halted.filter_map(|job| job.workload.stuck()).collect();
        (!halted.is_empty()).then(|| Stall { cycle: self.now, packets: 0, wait_for: Vec::new(), halted })
    }

    /// Advances to cycle `until` and checks the run every `look` cycles; in large networks the progress is reported more often. Returns
    /// `Some` if the run ends earlier.
    ///
    /// A checkpoint is made before an advance, never after one. When the run continues from the checkpoint, the caller of this function is
    /// called again. The caller finds its state in `course`, so it computes the same `until`.
    pub(crate) fn advance_watched(&mut self, until: u64, look: u64, course: &mut Course) -> Option<Ending> {
        while self.now < until {
            if self.can_be_kept() && (course.stops || course.progress.wants_checkpoint(self.now)) {
                course.progress.keep(self.checkpoint(course));
            }
            if course.stops {
                return Some(Ending::Interrupted);
            }
            if self.advance_telling(self.look_end(look, until), course) {
                return Some(Ending::Interrupted);
            }
            if let Some(spec) = course.trial {
                match self.trial(spec) {
                    Trial::TooEarly => {}
                    Trial::Even => course.trial = None,
                    Trial::Uneven(division) => {
                        course.division = Some(division);
                        return Some(Ending::Interrupted);
                    }
                }
            }
            if course.nothing_moved(self.now, self.flit_hops())
                && self.has_packets()
                && let Some(stall) = stall::find(self)
            {
                return Some(Ending::Stalled(stall));
            }
        }
        None
    }

    /// Advances to cycle `until`, and reports the progress from time to time. Returns whether the run has to stop at once, without a
    /// checkpoint.
    fn advance_telling(&mut self, until: u64, course: &mut Course) -> bool {
        while self.now < until {
            self.advance_recording(self.look_end(course.look, until));
            if !course.stops && !course.progress.tick(self.now.min(course.expected), course.expected) {
                course.stops = self.can_be_kept() && course.progress.wants_checkpoint(self.now);
                if !course.stops {
                    return true;
                }
            }
        }
        false
    }

    /// Advances to cycle `until`. Recordings take their samples when they are due.
    pub fn advance_recording(&mut self, until: u64) {
        while self.now < until {
            let (sample, reading) = (self.blocks[0].observers().recorders.next_sample(), self.readings.next());
            self.advance(until.min(sample).min(reading));
            self.settle_bundles();
            if self.now == reading {
                self.read();
            }
            if self.now == sample {
                self.blocks.iter_mut().for_each(|block| block.sample(sample));
            }
        }
    }

    fn drain(&mut self, spec: &Spec, course: &mut Course) -> Ending {
        let end = course.closed.as_ref().map_or(self.now, |closed| closed.window.1);
        let limit = end + spec.phases.drain_limit;
        loop {
            if self.is_drained() {
                return Ending::Drained;
            }
            if self.now >= limit {
                return Ending::Saturated;
            }
            if let Some(ending) = self.advance_watched(self.look_end(DRAIN_LOOK, limit), DRAIN_LOOK, course) {
                return ending;
            }
        }
    }

    /// Whether all packets of the window are delivered or discarded, and all sources have created their packets of the window.
    fn is_drained(&self) -> bool {
        let end = self.blocks[0].observers().tally.window.1;
        let packets =
            |(j, job): (usize, &NetJob)| job.workload.in_all(self.created(j)).packets - self.unborn(j).packets;
        let offered: u64 = self.net.jobs.iter().enumerate().map(packets).sum();
        self.delivered() + self.lost() == offered && self.blocks.iter().all(|block| block.sources_finished(end))
    }

    /// Whether the network carries the load offered since the middle of the window. If the load changes, each phase is judged separately.
    /// Batches are judged only by the drain.
    fn saturation(&self, spec: &Spec, middle: &Middle) -> Saturation {
        if !self.net.times.changes.is_empty() {
            return Saturation::No;
        }
        if let Some(marks) = &middle.marks {
            return self.judge_marks(spec, marks);
        }
        if self.net.jobs.iter().all(|job| job.workload.is_steady()) {
            return if self.falls_behind(middle) { Saturation::Yes } else { Saturation::No };
        }
        let end = (self.now + self.net.times.landing).min(self.blocks[0].observers().tally.window.1);
        let cycles = end.saturating_sub(middle.cycle + self.net.times.landing);
        self.judge(spec, 0, cycles, (middle.carried, self.carried())).unwrap_or(Saturation::No)
    }

    /// Whether less of a steady load was accepted since the middle of the window than random variation explains. The load offered in a
    /// part of the window is computed from the whole window.
    fn falls_behind(&self, middle: &Middle) -> bool {
        let (start, end) = self.blocks[0].observers().tally.window;
        let offered = self.offered_before(self.now);
        let (packets, flits) = (offered.packets() as f64, offered.flits() as f64);
        let accepted = (self.done_with() - middle.accepted) as f64;
        let now = self.now.min(end);
        // a flit counts as accepted when it leaves for its terminal, if it will arrive within the window
        let span = (now + self.net.times.landing).min(end).saturating_sub(middle.cycle + self.net.times.landing);
        let flits = flits / packets.max(1.0);
        let packets = packets * span as f64 / (now - start).max(1) as f64;
        // a margin of three standard deviations of a Bernoulli count, so that short windows do not count as saturated by chance
        accepted < ACCEPTED_SHARE * packets * flits - DEVIATIONS * flits * packets.sqrt()
    }

    /// Number of accepted flits, including discarded ones: discards are no sign that the network could not carry the load.
    pub fn accepted(&self) -> u64 {
        self.blocks.iter().map(|b| b.observers().tally.accepted_flits + b.observers().tally.lost_flits).sum()
    }

    /// Number of flits that need no more work from the network. These flits are the accepted and discarded flits, and two kinds of offered
    /// flits: replies that discarded requests will not get, and replies that the workload still delays.
    pub(crate) fn done_with(&self) -> u64 {
        let unborn: u64 = (0..self.net.jobs.len()).map(|j| self.unborn(j).flits).sum();
        self.accepted() + unborn + self.kept_back(|_| true)
    }

    /// Number of flits in replies of these jobs that are still delayed.
    pub(crate) fn kept_back(&self, counts: impl Fn(usize) -> bool) -> u64 {
        if self.net.times.turnaround == 0 {
            return 0;
        }
        let of_block = |block: &dyn AnyBlock| -> u64 {
            let interfaces = block.interfaces();
            let sources = interfaces.each_source().filter(|source| counts(usize::from(source.job)));
            let flits = |source: AtTerminal| {
                interfaces.sources[usize::from(source.job)].all().kept_back(source.source as usize, self.now)
            };
            sources.map(flits).sum()
        };
        self.blocks.iter().map(|block| of_block(&**block)).sum()
    }

    fn delivered(&self) -> u64 {
        self.blocks.iter().map(|b| b.observers().tally.delivered).sum()
    }

    fn lost(&self) -> u64 {
        self.blocks.iter().map(|b| b.observers().tally.lost).sum()
    }

    /// Packets of job `j` that were never created because measured packets were discarded.
    pub(crate) fn unborn(&self, j: usize) -> Amount {
        self.blocks.iter().map(|b| b.observers().tally.parts.unborn(j)).sum()
    }

    /// Packets that the terminals of job `j` have created in the window without a delivery as cause.
    fn created(&self, j: usize) -> Amount {
        self.blocks.iter().map(|b| b.observers().tally.parts.created_by(j).unwrap_or(b.observers().tally.created)).sum()
    }

    /// Flits that the jobs have offered in the window so far.
    fn offered(&self) -> Offered {
        let born = |(j, all): (usize, Amount)| {
            let unborn = self.unborn(j);
            Amount { packets: all.packets - unborn.packets, flits: all.flits - unborn.flits }
        };
        Offered { by_job: self.offered_before(self.now).by_job.into_iter().enumerate().map(born).collect() }
    }

    /// Flits that the jobs offer in the window before cycle `until`, both now and later.
    pub(crate) fn offered_before(&self, until: u64) -> Offered {
        let backlog = self.backlog(until.min(self.blocks[0].observers().tally.window.1)).1;
        let in_all = |(j, waiting): (usize, Amount)| {
            let mut own = self.created(j);
            own += waiting;
            self.net.jobs[j].workload.in_all(own)
        };
        Offered { by_job: backlog.into_iter().enumerate().map(in_all).collect() }
    }

    /// Returns the following two numbers. The first is the number of packets that were created before `until` but are not injected. The
    /// second is, for each job, the packets of the window that sources created without a delivery but have not handed over yet, because
    /// sources may be behind the simulated time.
    pub(crate) fn backlog(&self, until: u64) -> (u64, Vec<Amount>) {
        let (mut all, mut in_window) = (0, vec![Amount::default(); self.net.jobs.len()]);
        for block in &self.blocks {
            let interfaces = block.interfaces();
            for AtTerminal { job, source, due } in interfaces.each_source() {
                let (j, window) = (usize::from(job), block.observers().tally.window);
                let waiting = interfaces.sources[j].all().backlog(source as usize, due, until, window);
                all += waiting.packets;
                in_window[j] += waiting.in_window;
            }
            all += interfaces.packets_that_wait();
        }
        (all, in_window)
    }

    /// If a run did not drain, searches for packets that can never move.
    fn explain(&self, ending: Ending) -> Ending {
        match ending {
            Ending::Saturated | Ending::NotComplete => stall::find(self).map_or(ending, Ending::Stalled),
            Ending::Drained | Ending::Stalled(_) | Ending::Interrupted => ending,
        }
    }
}

/// Whether the mean latencies of all packets, and of each message class with packets, have the required confidence. The decision uses only
/// the first `count` batches.
fn is_confident(tally: &Tally, classes: usize, count: usize, share: f64) -> bool {
    let first = |batches: &[PacketSums]| is_mean_known(&batches[..count.min(batches.len())], share);
    let of_class = |class: usize| {
        let (_, _, packets) = tally.parts.of_class(class);
        first(&packets.batches) || tally.parts.created_of_class(class) == 0 && packets.sums.packets == 0
    };
    first(&tally.batches) && (0..classes).all(of_class)
}

/// Whether half the width of the 95 % confidence interval of the mean latency is at most `share` of the mean.
fn is_mean_known(batches: &[PacketSums], share: f64) -> bool {
    let mut sums = PacketSums::default();
    batches.iter().for_each(|b| sums.add(b));
    let full = batches.iter().filter(|b| b.packets > 0);
    let means: Vec<f64> = full.map(|b| b.latency as f64 / b.packets as f64).collect();
    let mean = sums.latency as f64 / (sums.packets as f64).max(1.0);
    confidence95(&means).is_some_and(|half| half <= share * mean)
}

/// The state of the course that exists from the beginning of the window.
fn begun<'a>(course: &'a mut Course) -> &'a mut Begun {
    course.begun.as_mut().expect("a window that has begun")
}
