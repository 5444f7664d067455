//! The queue of the scheduler. It decides when each program starts, and on which nodes of the job.

use super::super::programs::Programs;
use super::held::{self, Held};
use super::order::{self, Known, Order};
use super::placement::{Domains, Placement};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use weft_api::base::hash::{below, hash};
use weft_api::workload::{Progress, Workload};
use weft_units::MAX_CYCLES;

/// Purpose of the random numbers for the scheduler's choices (a part of their address).
const CHOICE: u64 = 0x5c4e_d01e;

/// A program that is submitted at a certain time.
#[derive(Debug, Clone)]
pub struct Submitted {
    pub name: Arc<str>,
    /// Number of the program in the results: the job's number in a job file, otherwise its position in the order of submission,
    /// counted from 1.
    pub number: u64,
    pub programs: Programs,
    /// Number of nodes that the program needs, or number of cores if programs share nodes.
    pub needs: usize,
    /// The cycle in which the program is submitted.
    pub submit: u64,
    /// Expected run time of the program [cycles].
    pub estimate: Option<u64>,
    /// Run time [fs] of the program alone, to which its computations are scaled; `None` if they are not scaled.
    pub length_fs: Option<u128>,
}

/// Counters of the flits that were delivered to a program. All blocks add to these counters.
#[derive(Debug, Default)]
pub struct Delivered {
    pub flits: AtomicU64,
    /// Sum of the numbers of links between routers that the delivered flits crossed.
    pub link_flits: AtomicU64,
}

impl Delivered {
    /// Adds delivered flits, and the sum of the links that they crossed. The order in which blocks call this function has no effect.
    pub fn add(&self, (flits, link_flits): (u64, u64)) {
        self.flits.fetch_add(flits, Relaxed);
        self.link_flits.fetch_add(link_flits, Relaxed);
    }
}

/// A program that has started.
#[derive(Debug)]
pub struct Started {
    /// Index of the program in the list of all programs.
    pub program: usize,
    pub at: u64,
    pub held: Held,
    /// Mark in the tags of the program's packets. Programs that share a node have different marks.
    pub mark: u32,
    pub workload: Arc<dyn Workload>,
    pub delivered: Arc<Delivered>,
    /// True if the scheduler has freed the program's nodes.
    pub has_left: bool,
}

impl Started {
    /// Returns the cycle in which the program ended; `None` if it has not ended.
    pub fn end(&self) -> Option<u64> {
        match self.workload.progress() {
            Progress::Ended(at) => Some(at),
            Progress::Open | Progress::Endless => None,
        }
    }
}

/// The rules by which the scheduler starts programs.
#[derive(Debug, Clone)]
pub struct Rules {
    /// Number of cycles between two scheduling passes.
    pub period: u64,
    /// Number of cores of each node, if the scheduler assigns cores; 1 if a node belongs to one program.
    pub cores: u32,
    pub order: Order,
    pub placement: Placement,
    pub domains: Domains,
    pub seed: u64,
}

/// The state of the scheduler: which programs wait, run, or have ended.
#[derive(Debug)]
pub struct Queue {
    /// Programs in the order of their submission.
    programs: Vec<Submitted>,
    rules: Rules,
    next_look: u64,
    /// Indices of the programs that have not started, ascending.
    waiting: Vec<usize>,
    started: Vec<Started>,
    /// Indices in `started` of the programs that occupy nodes, ascending.
    running: Vec<usize>,
    /// The latest end [cycle] among the programs whose nodes the scheduler has freed.
    last_end: u64,
    /// Number of free cores of each node.
    free: Vec<u32>,
}

impl Queue {
    /// Creates a queue. `programs`: in the order of their submission. `places`: number of nodes of the job.
    pub fn new(programs: Vec<Submitted>, places: usize, rules: Rules) -> Self {
        let waiting = (0..programs.len()).collect();
        let (started, running, free) = (Vec::new(), Vec::new(), vec![rules.cores; places]);
        let mut queue = Self { programs, rules, next_look: 0, waiting, started, running, last_end: 0, free };
        queue.next_look = queue.look_for_next(0);
        queue
    }

    pub fn started(&self) -> &[Started] {
        &self.started
    }

    /// The programs that have not started.
    pub fn waiting(&self) -> impl Iterator<Item = &Submitted> {
        self.waiting.iter().map(|&program| &self.programs[program])
    }

    pub fn program(&self, started: &Started) -> &Submitted {
        &self.programs[started.program]
    }

    /// Indices in [`started`](Self::started) of the programs that occupy nodes.
    pub fn running(&self) -> &[usize] {
        &self.running
    }

    /// Number of cores of all nodes of the job.
    pub fn cores(&self) -> usize {
        self.free.len() * self.rules.cores as usize
    }

    /// Number of cores of a node.
    pub fn cores_per_node(&self) -> u32 {
        self.rules.cores
    }

    /// Number of nodes of the job.
    pub fn places(&self) -> usize {
        self.free.len()
    }

    /// Returns the cycle of the next scheduling pass. Returns `None` if all programs have started, or if the pass would
    /// be later than the end of the longest run.
    pub fn next_look(&self) -> Option<u64> {
        (!self.waiting.is_empty()).then_some(self.next_look).filter(|&look| look <= MAX_CYCLES)
    }

    /// Returns the cycle of the first pass in cycle `from` or later at which a submitted program waits.
    fn look_for_next(&self, from: u64) -> u64 {
        let submit = self.waiting.first().map_or(0, |&program| self.programs[program].submit);
        from.max(submit.div_ceil(self.rules.period) * self.rules.period)
    }

    /// Does all scheduling passes up to cycle `now`. `launch`: creates the workload of a program that starts in a given cycle on its nodes.
    /// If other programs on these nodes use all marks, the program waits for the next pass.
    pub fn advance(&mut self, now: u64, launch: impl Fn(&Submitted, &Held, u64) -> Arc<dyn Workload>) {
        while let Some(look) = self.next_look().filter(|&look| look <= now) {
            self.free_ended(look);
            while let Some(program) = self.choice(look) {
                let needs = self.programs[program].needs;
                let Rules { placement, domains, seed, .. } = &self.rules;
                let held = Held::of(&placement.choose(&self.free, needs, domains, (*seed, self.started.len() as u32)));
                let Some(mark) = held::mark(&held, self.running.iter().map(|&nth| &self.started[nth])) else { break };
                let workload = launch(&self.programs[program], &held, look);
                self.start(program, look, (held, mark), workload);
            }
            self.next_look = self.look_for_next(look + self.rules.period);
        }
    }

    /// Frees the nodes of programs that ended at least one period before the pass in cycle `look`.
    fn free_ended(&mut self, look: u64) {
        let Self { started, running, last_end, free, rules, .. } = self;
        running.retain(|&nth| {
            let started = &mut started[nth];
            let left = started.end().filter(|&at| at + rules.period <= look);
            started.has_left = left.is_some();
            if let Some(end) = left {
                *last_end = end.max(*last_end);
                started.held.each().for_each(|(place, cores)| free[place] += cores);
            }
            !started.has_left
        });
    }

    /// Returns the program that starts next in this pass; `None` if no program can start.
    fn choice(&self, look: u64) -> Option<usize> {
        let free = self.free.iter().sum::<u32>() as usize;
        let known = |program: usize, estimate: u64| Known { program, nodes: self.programs[program].needs, estimate };
        let is_there = |&&program: &&usize| self.programs[program].submit <= look;
        let estimate = |program: usize| self.programs[program].estimate.unwrap_or(0);
        let waiting: Vec<Known> = match self.rules.order {
            // under `fcfs`, only the first waiting program can start
            Order::Fcfs => self.waiting.first().filter(is_there).map(|&first| known(first, 0)).into_iter().collect(),
            Order::Random | Order::Easy => {
                self.waiting.iter().take_while(is_there).map(|&program| known(program, estimate(program))).collect()
            }
        };
        let running = self.running.iter().map(|&nth| {
            let Started { program, at, .. } = self.started[nth];
            known(program, at.saturating_add(estimate(program)))
        });
        let draw =
            |count: usize| below(hash(self.rules.seed, self.started.len() as u32, 0, CHOICE), count as u32) as usize;
        order::next(self.rules.order, (look, free), &waiting, running, draw)
    }

    /// Records that a program has started. Called again for each running program when a checkpoint is restored.
    fn start(&mut self, program: usize, at: u64, (held, mark): (Held, u32), workload: Arc<dyn Workload>) {
        self.waiting.retain(|&each| each != program);
        held.each().for_each(|(place, cores)| self.free[place] -= cores);
        self.running.push(self.started.len());
        self.started.push(Started { program, at, held, mark, workload, delivered: Arc::default(), has_left: false });
    }

    pub fn progress(&self) -> Progress {
        if !self.waiting.is_empty() {
            return Progress::Open;
        }
        let mut ends = self.running.iter().map(|&nth| self.started[nth].end());
        let last = ends.try_fold(self.last_end, |last, end| Some(last.max(end?)));
        last.map_or(Progress::Open, Progress::Ended)
    }

    /// Returns the state as numbers, for a checkpoint. The first two numbers are the cycle of the next pass, and the latest end among the
    /// programs whose nodes are free again. For each started program, these numbers follow: its index, its start, 1 if its nodes are free
    /// again, its mark. Its nodes follow, each with a number of cores.
    pub fn state(&self) -> Vec<u64> {
        let mut state = vec![self.next_look, self.last_end];
        for Started { program, at, held, mark, has_left, .. } in &self.started {
            state.extend([*program as u64, *at, (*has_left).into(), (*mark).into(), held.places.len() as u64]);
            state.extend(held.each().flat_map(|(place, cores)| [place as u64, cores.into()]));
        }
        state
    }

    /// Restores a state. Returns `None` if the state does not belong to this queue. Changes nothing if the queue
    /// already has this state.
    pub fn restore(
        &mut self,
        state: &[u64],
        launch: impl Fn(&Submitted, &Held, u64) -> Arc<dyn Workload>,
    ) -> Option<()> {
        let (&[next_look, last_end], mut rest) = state.split_first_chunk()?;
        let mut nth = 0;
        while let [program, at, has_left, mark, count, after @ ..] = rest {
            let (places, left) = after.split_at_checked(usize::try_from(*count).ok()?.checked_mul(2)?)?;
            let program = usize::try_from(*program).ok().filter(|&program| program < self.programs.len())?;
            let held = Held {
                places: places.iter().step_by(2).map(|&place| place as u32).collect(),
                cores: places.iter().skip(1).step_by(2).map(|&cores| cores as u32).collect(),
            };
            held.places.iter().all(|&place| (place as usize) < self.free.len()).then_some(())?;
            if nth == self.started.len() {
                let is_free = held.each().all(|(place, cores)| cores <= self.free[place]);
                (is_free || *has_left != 0).then_some(())?;
                let workload = launch(&self.programs[program], &held, *at);
                self.start_again(program, *at, (held, *mark as u32), (workload, *has_left != 0));
            }
            (nth, rest) = (nth + 1, left);
        }
        (self.next_look, self.last_end) = (next_look, last_end);
        rest.is_empty().then_some(())
    }

    /// Records that a program of a checkpoint has started and, if its nodes are free again, that it has ended.
    fn start_again(
        &mut self,
        program: usize,
        at: u64,
        held: (Held, u32),
        (workload, has_left): (Arc<dyn Workload>, bool),
    ) {
        if !has_left {
            return self.start(program, at, held, workload);
        }
        self.waiting.retain(|&each| each != program);
        let (held, mark) = held;
        self.started.push(Started { program, at, held, mark, workload, delivered: Arc::default(), has_left });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use weft_api::workload::{JobSources, Place};

    /// A workload whose end the test sets.
    #[derive(Debug)]
    struct Played(Arc<Mutex<Option<u64>>>);

    impl Workload for Played {
        fn sources(&self, _: &[Place]) -> JobSources {
            unreachable!("no block asks a program that is only played")
        }

        fn progress(&self) -> Progress {
            self.0.lock().unwrap().map_or(Progress::Open, Progress::Ended)
        }
    }

    fn rules(order: Order, seed: u64) -> Rules {
        Rules { period: 10, cores: 1, order, placement: Placement::Lowest, domains: Domains::default(), seed }
    }

    /// Creates programs from pairs of their number of nodes and their cycle of submission.
    fn programs(needs: &[(usize, u64)]) -> Vec<Submitted> {
        let text = r#"{"program": {"collective": {"operation": "barrier", "ranks": 2, "bytes": "0B"}}}"#;
        let programs: Programs = serde_json::from_str(text).unwrap();
        let of = |&(needs, submit): &(usize, u64)| Submitted {
            name: "t".into(),
            number: 0,
            programs: programs.clone(),
            needs,
            submit,
            estimate: Some(30),
            length_fs: None,
        };
        needs.iter().map(of).collect()
    }

    fn at_once(needs: &[usize]) -> Vec<Submitted> {
        programs(&needs.iter().map(|&needs| (needs, 0)).collect::<Vec<_>>())
    }

    /// Runs a queue in which the k-th program to start (from 0) lasts `lasts(k)` cycles. Returns the programs in the order in which they
    /// started.
    fn play(queue: &mut Queue, lasts: impl Fn(usize) -> u64) -> Vec<usize> {
        let ends: Mutex<Vec<Arc<Mutex<Option<u64>>>>> = Mutex::default();
        let launch = |_: &Submitted, _: &Held, _: u64| -> Arc<dyn Workload> {
            let end = Arc::new(Mutex::new(None));
            ends.lock().unwrap().push(Arc::clone(&end));
            Arc::new(Played(end))
        };
        for now in 0..10_000 {
            queue.advance(now, launch);
            for (k, started) in queue.started().iter().enumerate() {
                let end = started.at + lasts(k);
                if end == now {
                    *ends.lock().unwrap()[k].lock().unwrap() = Some(end);
                }
            }
            // a core belongs to one program at a time
            let mut held = vec![0; queue.places()];
            let running = || queue.started().iter().filter(|each| !each.has_left);
            running().flat_map(|each| each.held.each()).for_each(|(place, cores)| held[place] += cores);
            assert!(held.iter().all(|&cores| cores <= queue.cores_per_node()), "{held:?}");
            // programs that share a node have different marks
            for place in 0..held.len() as u32 {
                let here = || running().filter(|each| each.held.places.contains(&place));
                assert_eq!(here().map(|each| each.mark).collect::<BTreeSet<_>>().len(), here().count());
            }
            assert_eq!(queue.running().len(), queue.started().iter().filter(|each| !each.has_left).count());
        }
        assert!(matches!(queue.progress(), Progress::Ended(_)));
        queue.started().iter().map(|started| started.program).collect()
    }

    #[test]
    fn every_program_starts_once_and_gets_the_lowest_free_places() {
        let needs = [4, 2, 2, 8, 1, 4, 2];
        for seed in 0..50 {
            let mut queue = Queue::new(at_once(&needs), 8, rules(Order::Random, seed));
            let mut order = play(&mut queue, |k| 20 + 7 * k as u64);
            // in the first pass, the first program gets the first nodes, and the second program gets the next nodes
            let [first, second, ..] = queue.started() else { panic!("several programs") };
            let places = &first.held.places;
            assert_eq!(*places, (0..places.len() as u32).collect::<Vec<_>>());
            if second.at == 0 {
                assert_eq!(second.held.places[0], places.len() as u32);
            }
            order.sort_unstable();
            assert_eq!(order, (0..needs.len()).collect::<Vec<_>>());
        }
    }

    /// Tests nodes with 4 cores. `play` checks that no core has two ranks, and that programs on one node have different
    /// marks.
    #[test]
    fn programs_share_places_by_their_cores() {
        let needs = [5, 3, 1, 2, 7, 12, 1, 6, 4];
        for seed in 0..50 {
            let of_cores = Rules { cores: 4, ..rules(Order::Random, seed) };
            let mut queue = Queue::new(at_once(&needs), 3, of_cores);
            let mut order = play(&mut queue, |k| 20 + 7 * k as u64);
            let [first, second, ..] = queue.started() else { panic!("several programs") };
            let cores = |started: &Started| started.held.cores.iter().sum::<u32>() as usize;
            assert_eq!(cores(first), queue.program(first).needs);
            // the second program begins at the node on which the first program ends
            if second.at == 0 {
                assert_eq!(second.held.places[0] as usize, cores(first) / 4);
            }
            order.sort_unstable();
            assert_eq!(order, (0..needs.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_program_waits_where_all_marks_are_taken() {
        let marks = held::MARKS as usize;
        let of_cores = Rules { cores: 100, ..rules(Order::Fcfs, 1) };
        let mut queue = Queue::new(at_once(&vec![1; marks + 3]), 1, of_cores);
        play(&mut queue, |_| 25);
        let starts: Vec<u64> = queue.started().iter().map(|started| started.at).collect();
        assert!(starts[..marks].iter().all(|&at| at == 0), "{starts:?}");
        assert_eq!(starts[marks..], [40, 40, 40]);
    }

    #[test]
    fn choices_among_those_that_fit_are_uniform() {
        // Of 4 programs that need 3, 3, 3 and 5 of 4 nodes, the last one never fits. Each of the others starts first
        // with probability 1/3. With 2 degrees of freedom, chi-squared exceeds 13.8 with probability 0.001
        let mut first = [0u32; 3];
        const SEEDS: u64 = 3000;
        for seed in 0..SEEDS {
            let mut queue = Queue::new(at_once(&[3, 3, 3, 5]), 4, rules(Order::Random, seed));
            queue.advance(0, |_, _, _| Arc::new(Played(Arc::default())));
            assert_eq!(queue.started().len(), 1);
            first[queue.started()[0].program] += 1;
        }
        let expected = SEEDS as f64 / 3.0;
        let chi_squared: f64 = first.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi_squared < 13.8, "{first:?}");
    }

    #[test]
    fn nodes_are_free_a_period_after_the_end() {
        // The program ends in cycle 25. The pass in cycle 30 is less than a period later, so the pass in cycle 40 frees its nodes
        let mut queue = Queue::new(at_once(&[2, 2]), 2, rules(Order::Random, 1));
        play(&mut queue, |k| if k == 0 { 25 } else { 5 });
        assert_eq!(queue.started()[1].at, 40);
    }

    #[test]
    fn no_program_starts_before_its_submission_and_looks_skip_idle_times() {
        let submits = [(2, 3), (2, 3), (1, 11), (2, 500), (2, 5_000)];
        for order in [Order::Random, Order::Fcfs, Order::Easy] {
            let mut queue = Queue::new(programs(&submits), 2, rules(order, 1));
            assert_eq!(queue.next_look(), Some(10));
            play(&mut queue, |_| 25);
            for started in queue.started() {
                assert!(started.at >= queue.program(started).submit, "{order:?}");
            }
            let starts: Vec<u64> = queue.started().iter().map(|started| started.at).collect();
            // each program ends 25 cycles after its start, and the scheduler frees its nodes 40 cycles after the start
            assert_eq!(starts, [10, 50, 90, 500, 5_000], "{order:?}");
        }
    }

    #[test]
    fn first_come_is_first_served_and_easy_fills_the_gap() {
        // Of 4 nodes, program 0 occupies 3 for 100 cycles. Program 1 needs 4. Program 2 needs 1 for 30 cycles, and
        // would end before program 1 can start
        let jobs = programs(&[(3, 0), (4, 1), (1, 2)]);
        let estimated = |order| {
            let mut jobs = jobs.clone();
            jobs[0].estimate = Some(100);
            let mut queue = Queue::new(jobs, 4, rules(order, 1));
            play(&mut queue, |k| if k == 0 { 100 } else { 30 })
        };
        assert_eq!(estimated(Order::Fcfs), [0, 1, 2]);
        assert_eq!(estimated(Order::Easy), [0, 2, 1]);
    }

    #[test]
    fn a_state_that_is_taken_over_continues_alike() {
        let launch = |_: &Submitted, _: &Held, at: u64| -> Arc<dyn Workload> {
            Arc::new(Played(Arc::new(Mutex::new(Some(at + 25)))))
        };
        let new = || Queue::new(programs(&[(3, 0), (2, 4), (1, 90), (4, 95), (2, 95)]), 4, rules(Order::Fcfs, 3));
        let (mut whole, mut first, mut second) = (new(), new(), new());
        whole.advance(1_000, launch);
        first.advance(60, launch);
        second.restore(&first.state(), launch).unwrap();
        second.restore(&first.state(), launch).unwrap();
        assert_eq!((second.state(), second.running()), (first.state(), first.running()));
        second.advance(1_000, launch);
        assert_eq!((second.state(), second.progress()), (whole.state(), whole.progress()));
    }
}
