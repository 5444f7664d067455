//! Tests of runs that stop and continue from a checkpoint.

use super::{ONE, assert_same, in_turn, mark_checked, run_as};
use std::sync::Mutex;
use weft_engine::spec::Execution;
use weft_engine::{Outcome, Progress, Spec};

/// Stores checkpoints at the first, second, fourth, eighth ... opportunity (powers of two), and keeps the last two.
#[derive(Debug, Default)]
pub struct Keeper {
    state: Mutex<(usize, Vec<Vec<u8>>)>,
}

impl Progress for Keeper {
    fn tick(&self, _: u64, _: u64) -> bool {
        true
    }

    fn wants_checkpoint(&self, _: u64) -> bool {
        let asked = &mut self.state.lock().expect("no panic while it counts").0;
        *asked += 1;
        asked.is_power_of_two()
    }

    fn keep(&self, checkpoint: Vec<u8>) {
        let kept = &mut self.state.lock().expect("no panic while it keeps").1;
        kept.push(checkpoint);
        if kept.len() > 2 {
            kept.remove(0);
        }
    }
}

/// Runs the spec. Returns the result and two checkpoints: one from the second half of the run, and one from the half before it.
#[track_caller]
pub fn run_keeping(spec: &Spec, how: Execution) -> (Outcome, Vec<Vec<u8>>) {
    let keeper = Keeper::default();
    let out = weft_engine::run(spec, how, &keeper).expect("a run");
    (out, keeper.state.into_inner().expect("no panic while it kept").1)
}

/// Checks that a run that continues from one of these checkpoints gives the result `plain` to the last bit: numbers, recordings and
/// decisions. The length of `what`, the name of the case, selects the checkpoint. `make test-all` checks every checkpoint.
#[track_caller]
pub fn assert_resumes(spec: &Spec, plain: &Outcome, checkpoints: &[Vec<u8>], what: &str) {
    assert!(!checkpoints.is_empty(), "{what}: the run wrote no checkpoint");
    for &k in in_turn(what.len(), &(0..checkpoints.len()).collect::<Vec<_>>()) {
        let how = Execution::new(1 + k % 2, 1);
        let out =
            weft_engine::resume(spec, how, &(), &checkpoints[k]).unwrap_or_else(|refusal| panic!("{what}: {refusal}"));
        assert_same(plain, &out, &format!("{what}, checkpoint {k}"));
        assert!(
            text_of(&out) == text_of(plain),
            "{what}: the numbers after checkpoint {k} are the same, but other parts of the outcome differ"
        );
    }
}

/// Checks that one block without shortcuts and three blocks with shortcuts give the same result. A run that stops and continues from a
/// checkpoint must also give the same result. Returns the outcome.
pub fn check_blocks(spec: &Spec, what: &str) -> Outcome {
    let one = run_as(spec, ONE.plain());
    let mut checked = spec.clone();
    mark_checked(&mut checked);
    let (three, checkpoints) = run_keeping(&checked, Execution::new(1, 3));
    assert_same(&one, &three, what);
    assert_resumes(&checked, &three, &checkpoints, what);
    three
}

/// The whole content of a result as a text, to compare two results. A histogram stores its exact lowest and highest values in addition to
/// its counts. The text contains only the buckets of these two values, because the exact values also depend on the blocks.
pub fn text_of(out: &Outcome) -> String {
    let all = format!("{out:?}");
    let extremes = ["max_value: ", "min_non_zero_value: "];
    extremes.iter().fold(all, |all, extreme| {
        let rests = all.split(extreme).map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        rests.collect::<Vec<_>>().join(extreme)
    })
}
