//! The queue of the scheduler: which program starts when, and at which places of the job.

use super::super::programs::Programs;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::base::hash::{below, hash};
use weft_api::workload::{Progress, Workload};

/// Keeps the random choices of a scheduler apart from all others.
const CHOICE: u64 = 0x5c4e_d01e;

/// Which of the free nodes a program gets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The first free ones, in the order of the terminals of the job.
    #[default]
    Lowest,
    /// The smallest gap of free nodes that follow each other and suffice, else the first free ones. Programs share fewer routers,
    /// so that more links between routers may sleep.
    BestFit,
}

/// A program, and the terminals that it needs.
#[derive(Debug, Clone)]
pub struct Trace {
    pub name: Arc<str>,
    pub programs: Programs,
    pub needs: usize,
}

/// A program that has started.
#[derive(Debug)]
pub struct Started {
    /// Its number in the list of traces.
    pub trace: usize,
    pub at: u64,
    /// Its places in the job, ascending in the order of its nodes.
    pub places: Vec<u32>,
    pub workload: Arc<dyn Workload>,
    /// Whether its nodes are free again.
    pub has_left: bool,
}

/// The state of the scheduler.
#[derive(Debug)]
pub struct Queue {
    traces: Vec<Trace>,
    period: u64,
    placement: Placement,
    seed: u64,
    next_look: u64,
    /// Numbers of the traces that have not started, ascending.
    waiting: Vec<usize>,
    started: Vec<Started>,
    free: Vec<bool>,
}

impl Queue {
    pub fn new(traces: Vec<Trace>, places: usize, period: u64, (placement, seed): (Placement, u64)) -> Self {
        let waiting = (0..traces.len()).collect();
        let free = vec![true; places];
        Self { traces, period, placement, seed, next_look: 0, waiting, started: Vec::new(), free }
    }

    pub fn started(&self) -> &[Started] {
        &self.started
    }

    pub fn trace(&self, started: &Started) -> &Trace {
        &self.traces[started.trace]
    }

    /// The next cycle in which the scheduler looks at the nodes; `None` if all programs have started.
    pub fn next_look(&self) -> Option<u64> {
        (!self.waiting.is_empty()).then_some(self.next_look)
    }

    /// All looks up to cycle `now`. `launch` makes a program at its places, which starts in a cycle.
    pub fn advance(&mut self, now: u64, launch: impl Fn(&Programs, &[u32], u64) -> Arc<dyn Workload>) {
        while let Some(look) = self.next_look().filter(|&look| look <= now) {
            self.free_ended(look);
            while let Some(trace) = self.choice() {
                let places = self.places(self.traces[trace].needs);
                let workload = launch(&self.traces[trace].programs, &places, look);
                self.start(trace, look, places, workload);
            }
            self.next_look += self.period;
        }
    }

    /// Frees the nodes of programs that ended a period ago.
    fn free_ended(&mut self, look: u64) {
        for started in self.started.iter_mut().filter(|started| !started.has_left) {
            if let Progress::Ended(at) = started.workload.progress()
                && at + self.period <= look
            {
                started.has_left = true;
                started.places.iter().for_each(|&place| self.free[place as usize] = true);
            }
        }
    }

    /// One of the waiting programs whose nodes are free, each with the same chance.
    fn choice(&self) -> Option<usize> {
        let free = self.free.iter().filter(|&&free| free).count();
        let fit: Vec<usize> = self.waiting.iter().copied().filter(|&trace| self.traces[trace].needs <= free).collect();
        let drawn = hash(self.seed, self.started.len() as u32, 0, CHOICE);
        (!fit.is_empty()).then(|| fit[below(drawn, fit.len() as u32) as usize])
    }

    /// The places that a program of so many terminals gets. That many are free.
    fn places(&self, needs: usize) -> Vec<u32> {
        let first = |from: usize| (from..self.free.len()).filter(|&place| self.free[place]).take(needs);
        let from = match self.placement {
            Placement::Lowest => 0,
            Placement::BestFit => self.smallest_gap(needs).unwrap_or(0),
        };
        first(from).map(|place| place as u32).collect()
    }

    /// The begin of the smallest gap of free places that suffices; the first of equal ones.
    fn smallest_gap(&self, needs: usize) -> Option<usize> {
        let mut gaps = Vec::new();
        let mut begin = 0;
        for place in 0..=self.free.len() {
            if !self.free.get(place).copied().unwrap_or(false) {
                gaps.push((place - begin, begin));
                begin = place + 1;
            }
        }
        gaps.into_iter().filter(|&(length, _)| length >= needs).min().map(|(_, begin)| begin)
    }

    /// Notes that a program starts. A checkpoint repeats this.
    pub fn start(&mut self, trace: usize, at: u64, places: Vec<u32>, workload: Arc<dyn Workload>) {
        self.waiting.retain(|&each| each != trace);
        places.iter().for_each(|&place| self.free[place as usize] = false);
        self.started.push(Started { trace, at, places, workload, has_left: false });
    }

    pub fn progress(&self) -> Progress {
        if !self.waiting.is_empty() {
            return Progress::Open;
        }
        let mut last = 0;
        for started in &self.started {
            match started.workload.progress() {
                Progress::Ended(at) => last = last.max(at),
                Progress::Open | Progress::Endless => return Progress::Open,
            }
        }
        Progress::Ended(last)
    }

    /// The state as numbers, for a checkpoint: the next look, then for each program that has started its trace, its start, whether it has
    /// left, and its places.
    pub fn state(&self) -> Vec<u64> {
        let mut state = vec![self.next_look];
        for started in &self.started {
            state.extend([started.trace as u64, started.at, started.has_left.into(), started.places.len() as u64]);
            state.extend(started.places.iter().map(|&place| u64::from(place)));
        }
        state
    }

    /// Takes a state over; `None` if it is none of this queue. A state that was taken over already changes nothing.
    pub fn restore(
        &mut self,
        state: &[u64],
        launch: impl Fn(&Programs, &[u32], u64) -> Arc<dyn Workload>,
    ) -> Option<()> {
        let (&next_look, mut rest) = state.split_first()?;
        let mut nth = 0;
        while let [trace, at, has_left, count, after @ ..] = rest {
            let (places, left) = after.split_at_checked(usize::try_from(*count).ok()?)?;
            let trace = usize::try_from(*trace).ok().filter(|&trace| trace < self.traces.len())?;
            let places: Vec<u32> = places.iter().map(|&place| place as u32).collect();
            places.iter().all(|&place| (place as usize) < self.free.len()).then_some(())?;
            if nth == self.started.len() {
                let workload = launch(&self.traces[trace].programs, &places, *at);
                self.start(trace, *at, places, workload);
                if *has_left != 0 {
                    let started = self.started.last_mut()?;
                    started.has_left = true;
                    started.places.iter().for_each(|&place| self.free[place as usize] = true);
                }
            }
            (nth, rest) = (nth + 1, left);
        }
        self.next_look = next_look;
        rest.is_empty().then_some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::sync::Mutex;
    use weft_api::workload::{JobSources, Place};

    /// A program that ends when the test says so.
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

    fn traces(needs: &[usize]) -> Vec<Trace> {
        let text = r#"{"program": {"collective": {"operation": "barrier", "ranks": 2, "bytes": "0B"}}}"#;
        let programs: Programs = serde_json::from_str(text).unwrap();
        needs.iter().map(|&needs| Trace { name: "t".into(), programs: programs.clone(), needs }).collect()
    }

    /// Runs a set: the program that started as number k lasts `lasts(k)` cycles. Returns the traces in the order in which they started.
    fn play(queue: &mut Queue, lasts: impl Fn(usize) -> u64) -> Vec<usize> {
        let ends: Mutex<Vec<Arc<Mutex<Option<u64>>>>> = Mutex::default();
        let launch = |_: &Programs, _: &[u32], _: u64| -> Arc<dyn Workload> {
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
            // no place belongs to two programs
            let held: Vec<u32> =
                queue.started().iter().filter(|each| !each.has_left).flat_map(|each| each.places.clone()).collect();
            assert_eq!(held.iter().collect::<BTreeSet<_>>().len(), held.len());
        }
        assert!(matches!(queue.progress(), Progress::Ended(_)));
        queue.started().iter().map(|started| started.trace).collect()
    }

    #[test]
    fn every_trace_starts_once_and_gets_the_lowest_free_places() {
        let needs = [4, 2, 2, 8, 1, 4, 2];
        for seed in 0..50 {
            let mut queue = Queue::new(traces(&needs), 8, 10, (Placement::Lowest, seed));
            let mut order = play(&mut queue, |k| 20 + 7 * k as u64);
            // at the first look the first program gets the first places, the second one those behind
            let [first, second, ..] = queue.started() else { panic!("several programs") };
            assert_eq!(first.places, (0..first.places.len() as u32).collect::<Vec<_>>());
            if second.at == 0 {
                assert_eq!(second.places[0], first.places.len() as u32);
            }
            order.sort_unstable();
            assert_eq!(order, (0..needs.len()).collect::<Vec<_>>());
        }
    }

    #[test]
    fn choices_among_those_that_fit_are_uniform() {
        // 4 programs of 3, 3, 3 and 9 places on 5 places of which the last never fits: each of three comes first
        // with the chance 1/3. Chi-squared with 2 degrees of freedom exceeds 13.8 with the chance 0.001
        let mut first = [0u32; 3];
        const SEEDS: u64 = 3000;
        for seed in 0..SEEDS {
            let mut queue = Queue::new(traces(&[3, 3, 3, 5]), 4, 10, (Placement::Lowest, seed));
            queue.advance(0, |_, _, _| Arc::new(Played(Arc::default())));
            assert_eq!(queue.started().len(), 1);
            first[queue.started()[0].trace] += 1;
        }
        let expected = SEEDS as f64 / 3.0;
        let chi_squared: f64 = first.iter().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        assert!(chi_squared < 13.8, "{first:?}");
    }

    #[test]
    fn nodes_are_free_a_period_after_the_end() {
        // ends in cycle 25: the looks at 30 is less than a period later, that at 40 is not
        let mut queue = Queue::new(traces(&[2, 2]), 2, 10, (Placement::Lowest, 1));
        play(&mut queue, |k| if k == 0 { 25 } else { 5 });
        assert_eq!(queue.started()[1].at, 40);
    }

    #[test]
    fn the_best_fit_is_the_smallest_gap() {
        let mut queue = Queue::new(traces(&[1]), 10, 10, (Placement::BestFit, 1));
        for taken in [2, 6] {
            queue.free[taken] = false;
        }
        // gaps: 0 and 1, 3 to 5, 7 to 9
        assert_eq!(queue.places(2), [0, 1]);
        assert_eq!(queue.places(3), [3, 4, 5]);
        assert_eq!(queue.places(4), [0, 1, 3, 4]);
        queue.placement = Placement::Lowest;
        assert_eq!(queue.places(3), [0, 1, 3]);
    }
}
