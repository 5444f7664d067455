//! Runs that are interrupted and continue from a checkpoint.

use super::{ONE, assert_same, in_turn, run_as};
use std::sync::Mutex;
use weft_engine::spec::Execution;
use weft_engine::{Outcome, Progress, Spec};

/// Makes checkpoints at the first, second, fourth, eighth and further opportunities (powers of two), and keeps the last two.
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

/// The result of a run, and two of its checkpoints: one from the second half of the run, and one from the half before that.
#[track_caller]
pub fn run_keeping(spec: &Spec, how: Execution) -> (Outcome, Vec<Vec<u8>>) {
    let keeper = Keeper::default();
    let out = weft_engine::run(spec, how, &keeper).expect("a run");
    (out, keeper.state.into_inner().expect("no panic while it kept").1)
}

/// Checks that a run that continues from one of these checkpoints gives this result to the last bit: the numbers, the recordings and the
/// decisions. `what` selects the checkpoint. `make test-all` checks all checkpoints.
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

/// Checks that the result is the same in one block without shortcuts and in three blocks with shortcuts. The result must also be the same
/// if the run is interrupted and continues from a checkpoint.
pub fn check_blocks(spec: &Spec, what: &str) {
    let (three, checkpoints) = run_keeping(spec, Execution::new(1, 3));
    assert_same(&run_as(spec, ONE.plain()), &three, what);
    assert_resumes(spec, &three, &checkpoints, what);
}

/// The whole content of a result as a string. A histogram stores its lowest and highest values next to its counts. The string contains only
/// their buckets, because the exact values also depend on the blocks.
pub fn text_of(out: &Outcome) -> String {
    let all = format!("{out:?}");
    let extremes = ["max_value: ", "min_non_zero_value: "];
    extremes.iter().fold(all, |all, extreme| {
        let rests = all.split(extreme).map(|part| part.trim_start_matches(|c: char| c.is_ascii_digit()));
        rests.collect::<Vec<_>>().join(extreme)
    })
}
