//! The phases of a run: warm-up, measured window and drain, and the conditions that end them.
//!
//! All decisions depend only on integers that are summed over all blocks, and are made in cycles that do not depend on the division into
//! blocks.

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

/// The interface of a run to its caller: it receives the progress, can stop the run, and selects the cores of the threads.
pub trait Progress: Sync {
    /// The run calls this method from time to time, with the present cycle and the expected number of cycles. If the method returns
    /// `false`, the run stops.
    fn tick(&self, cycle: u64, of: u64) -> bool;

    /// Returns whether the run must write a checkpoint before cycle `now`, from which [`crate::resume`] can continue. The run also calls
    /// this method after `tick` has stopped the run. If the method then returns true, the run writes a checkpoint before it ends.
    fn wants_checkpoint(&self, _now: u64) -> bool {
        false
    }

    /// Receives a checkpoint that [`Progress::wants_checkpoint`] has requested.
    fn keep(&self, _checkpoint: Vec<u8>) {}

    /// The cores to which the run pins its threads. The calling thread gets the first core. If the list is empty, the run does not pin its
    /// threads. A run with fewer cores than threads is refused.
    fn cores(&self) -> &[usize] {
        &[]
    }
}

/// Ignores all progress reports of a run, and never stops it.
impl Progress for () {
    fn tick(&self, _: u64, _: u64) -> bool {
        true
    }
}

/// Number of cycles between two checks for the end of the drain.
const DRAIN_LOOK: u64 = 256;
/// Approximate number of cycles from the end of the window until all packets of the window are delivered, for a run that is not saturated.
pub fn drain_cycles(spec: &Spec) -> u64 {
    let looks = (Transit::of(spec).with_queues() / DRAIN_LOOK as f64).ceil().max(1.0);
    let kept_back = spec.turnaround().unwrap_or(0);
    (looks as u64 * DRAIN_LOOK).saturating_add(kept_back).min(spec.phases.drain_limit)
}

/// Number of cycles between two checks for the delivery of the last batch. The delivery of the last batch ends the window, so the length of
/// such a window is a multiple of this number.
const COMPLETE_LOOK: u64 = 32;

/// Packets and flits that each job has offered in the window, including packets that a delivery caused.
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

/// The parts of the outcome that do not come directly from the counters of the blocks.
pub(crate) struct Findings {
    pub ending: Ending,
    pub saturated: Saturation,
    pub window: (u64, u64),
    /// Number of packets in source queues when the window began.
    pub waiting: u64,
    pub decisions: Decisions,
    pub offered: Offered,
    pub closed: Vec<Vec<Account>>,
    /// Number of cycles for which each bundle was asleep.
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

    /// Runs the phases that `course` has not finished, and returns the results of the run.
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

    /// Computes the results of a run that has ended.
    fn sum_up(self, spec: &Spec, begun: Begun, closed: Closed, mut decisions: Decisions, ending: Ending) -> Outcome {
        let (judged, waiting) = (closed.judged, begun.waiting);
        // The flits are counted after the drain, and not at the end of the window. During the drain, a source that waits for a delivery can
        // still create a packet that belongs to the window.
        let offered = self.offered();
        let ending = self.explain(ending);
        let drained = ending == Ending::Drained;
        let phases = closed.last.map_or_else(Vec::new, |last| self.phases(spec, &last, drained, waiting));
        let in_doubt = |phase: &PhaseOutcome| phase.saturated.filter(|saturation| saturation.known().is_none());
        let saturated = match &ending {
            Ending::Drained | Ending::NotComplete => phases.iter().find_map(in_doubt).unwrap_or(judged),
            Ending::Saturated => judged.undrained(spec, self.has_transitions()),
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

    /// Starts the energy accounts of all channels.
    fn open_accounts(&mut self) {
        self.readings.begin(self.now);
        self.open_bundles();
        self.blocks.iter_mut().for_each(|block| block.begin_window(self.now));
    }

    /// Control packets since the accounts were started; `None` if the agents send no control packets.
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
                // the run must know the end of the window before flits depart that could arrive after this end
                let end = begun(course).end;
                let decide = end.saturating_sub(self.net.times.lookahead).max(self.now);
                if let Some(ending) = self.advance_marking(decide, course.look, course) {
                    return Some(ending);
                }
                let tally = self.tally();
                // slow packets of later batches can still be in flight, so these batches do not count as complete
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

    /// Number of cycles by which the run extends a window that lacks confidence. The extension is a multiple of the batch length, and at
    /// least the lookahead for the end of the window.
    fn growth(&self) -> u64 {
        (self.net.times.lookahead / self.net.times.batch + 1) * self.net.times.batch
    }

    /// Advances until the batches of all jobs are delivered, or the window has its maximum length.
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
            // no packet is delivered while only body flits flow steadily, or while nothing is in flight
            let until = self.steady_until().max(self.empty_until());
            let calm = if self.is_complete(u64::MAX) { 0 } else { until.saturating_sub(self.now) };
            let look = (calm / COMPLETE_LOOK).max(1) * COMPLETE_LOOK;
            // a run that continues from a checkpoint at a mark must make these checks in the same cycles as an uninterrupted run
            let next = (self.now - (self.now - start) % COMPLETE_LOOK).saturating_add(look).min(limit);
            if let Some(ending) = self.advance_marking(next, look, course) {
                return Some(ending);
            }
        }
        None
    }

    /// Whether all batches are certain to be delivered before cycle `now`.
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

    /// The workloads that can't end, although no packet is stuck. None of their packets is in flight, and none of their sources will create
    /// another packet. Other jobs can still be active.
    fn halted(&self) -> Option<Stall> {
        let rests = |block: &dyn AnyBlock| block.is_quiet() && block.next_created() == NOT_DUE;
        let all_rest = !self.has_packets() && self.blocks.iter().all(|block| rests(&**block));
        let open = self.net.jobs.iter().filter(|job| job.workload.progress() == workload::Progress::Open);
        let halted = open.filter(|job| all_rest || job.workload.is_at_rest());
        let halted: Vec<String> = halted.filter_map(|job| job.workload.stuck()).collect();
        (!halted.is_empty()).then(|| Stall { cycle: self.now, packets: 0, wait_for: Vec::new(), halted })
    }

    /// Advances to cycle `until`, and checks the run every `look` cycles. In large networks the progress is reported more often than every
    /// `look` cycles. Returns the ending if the run ends before `until`.
    ///
    /// The function writes a checkpoint before an advance, never after one. When a run continues from the checkpoint, the function that
    /// called this one (a phase of the run) starts again from its beginning. It finds its state in `course`, so it computes the same
    /// `until` as before.
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

    /// Advances to cycle `until`, and reports the progress to the caller of the run from time to time. Returns whether the run must stop at
    /// once, without a checkpoint.
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

    /// Advances to cycle `until`. In the cycles in which samples and readings are due, recordings take their samples, and the run takes its
    /// readings.
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

    /// Whether all packets of the window are delivered or discarded, and the sources will create no further packets of the window.
    fn is_drained(&self) -> bool {
        let end = self.blocks[0].observers().tally.window.1;
        let packets =
            |(j, job): (usize, &NetJob)| job.workload.in_all(self.created(j)).packets - self.unborn(j).packets;
        let offered: u64 = self.net.jobs.iter().enumerate().map(packets).sum();
        self.delivered() + self.lost() == offered && self.blocks.iter().all(|block| block.sources_finished(end))
    }

    /// The verdict on saturation of the whole window, from the flits offered and accepted since its middle. If the load changes during the
    /// run, each phase is judged separately. For batches, the only test is the drain.
    fn saturation(&self, spec: &Spec, middle: &Middle) -> Saturation {
        if !self.net.times.changes.is_empty() {
            return Saturation::No;
        }
        if let Some(marks) = &middle.marks {
            return self.judge_marks(spec, marks);
        }
        if self.net.jobs.iter().all(|job| job.workload.is_steady()) {
            let verdict = if self.falls_behind(middle) { Saturation::Yes } else { Saturation::No };
            return verdict
                .of_span(spec, middle.cycle, self.now.saturating_sub(middle.cycle), || self.has_transitions());
        }
        let end = (self.now + self.net.times.landing).min(self.blocks[0].observers().tally.window.1);
        let cycles = end.saturating_sub(middle.cycle + self.net.times.landing);
        let verdict = self.judge(spec, 0, cycles, (middle.carried, self.carried())).unwrap_or(Saturation::No);
        verdict.of_span(spec, middle.cycle, cycles, || self.has_transitions())
    }

    /// Whether the network accepted too little of a steady load since the middle of the window, beyond random variation. The offered load
    /// of this half is computed as a share of that of the whole window.
    fn falls_behind(&self, middle: &Middle) -> bool {
        let (start, end) = self.blocks[0].observers().tally.window;
        let offered = self.offered_before(self.now);
        let (packets, flits) = (offered.packets() as f64, offered.flits() as f64);
        let accepted = (self.done_with() - middle.accepted) as f64;
        let now = self.now.min(end);
        // a flit counts as accepted when it departs for its terminal, if it will arrive within the window
        let span = (now + self.net.times.landing).min(end).saturating_sub(middle.cycle + self.net.times.landing);
        let flits = flits / packets.max(1.0);
        let packets = packets * span as f64 / (now - start).max(1) as f64;
        // the margin is three standard deviations of a Bernoulli count; without the margin, short windows might count as saturated by
        // chance
        accepted < ACCEPTED_SHARE * packets * flits - DEVIATIONS * flits * packets.sqrt()
    }

    /// Number of accepted flits, including discarded flits, because a discarded flit does not show that the network could not carry the
    /// load.
    pub fn accepted(&self) -> u64 {
        self.blocks.iter().map(|b| b.observers().tally.accepted_flits + b.observers().tally.lost_flits).sum()
    }

    /// Number of offered flits that the network does not have to deliver any more. These are accepted and discarded flits, replies to
    /// discarded requests (which are never created), and replies that the workload still delays.
    pub(crate) fn done_with(&self) -> u64 {
        let unborn: u64 = (0..self.net.jobs.len()).map(|j| self.unborn(j).flits).sum();
        self.accepted() + unborn + self.kept_back(|_| true)
    }

    /// Number of flits in replies that the workloads of these jobs still delay.
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

    /// Packets of job `j` that were never created, because the measured packets that would have caused them were discarded.
    pub(crate) fn unborn(&self, j: usize) -> Amount {
        self.blocks.iter().map(|b| b.observers().tally.parts.unborn(j)).sum()
    }

    /// Packets that the terminals of job `j` have created in the window, without those that a delivery caused (such as replies).
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

    /// Flits that the jobs offer in the window before cycle `until`, which may be later than now.
    pub(crate) fn offered_before(&self, until: u64) -> Offered {
        let backlog = self.backlog(until.min(self.blocks[0].observers().tally.window.1)).1;
        let in_all = |(j, waiting): (usize, Amount)| {
            let mut own = self.created(j);
            own += waiting;
            self.net.jobs[j].workload.in_all(own)
        };
        Offered { by_job: backlog.into_iter().enumerate().map(in_all).collect() }
    }

    /// Returns two counts. The first is the number of packets that are created before `until` but not yet injected. The second counts, for
    /// each job, packets that its sources create in the window but have not yet passed to the network interface, without packets that a
    /// delivery causes. Such packets exist because a source can be behind the simulated time.
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

    /// If not all packets were delivered, searches for packets that can never move. If there are any, the ending is a stall.
    fn explain(&self, ending: Ending) -> Ending {
        match ending {
            Ending::Saturated | Ending::NotComplete => stall::find(self).map_or(ending, Ending::Stalled),
            Ending::Drained | Ending::Stalled(_) | Ending::Interrupted => ending,
        }
    }
}

/// Whether the mean latencies of all packets, and of each message class with packets, have the required confidence. The decision uses only
/// the first `count` batches of the window.
fn is_confident(tally: &Tally, classes: usize, count: usize, share: f64) -> bool {
    let first = |batches: &[PacketSums]| is_mean_known(&batches[..count.min(batches.len())], share);
    let of_class = |class: usize| {
        let (_, _, packets) = tally.parts.of_class(class);
        first(&packets.batches) || tally.parts.created_of_class(class) == 0 && packets.sums.packets == 0
    };
    first(&tally.batches) && (0..classes).all(of_class)
}

/// Whether the 95 % confidence interval of the mean latency extends at most `share` of the mean to each side.
fn is_mean_known(batches: &[PacketSums], share: f64) -> bool {
    let mut sums = PacketSums::default();
    batches.iter().for_each(|b| sums.add(b));
    let full = batches.iter().filter(|b| b.packets > 0);
    let means: Vec<f64> = full.map(|b| b.latency as f64 / b.packets as f64).collect();
    let mean = sums.latency as f64 / (sums.packets as f64).max(1.0);
    confidence95(&means).is_some_and(|half| half <= share * mean)
}

/// The part of the run's state that exists after the window has begun.
fn begun<'a>(course: &'a mut Course) -> &'a mut Begun {
    course.begun.as_mut().expect("a window that has begun")
}
