//! The schedule of a pipeline stage: forward and backward passes alternate (1F1B), and stages can be interleaved.
//!
//! Source: D. Narayanan et al., "Efficient large-scale language model training on GPU clusters using Megatron-LM" (SC 2021),
//! and `schedules.py` of Megatron-LM.

/// A pass of a micro-batch through a part of the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    pub is_forward: bool,
    pub micro_batch: u32,
    /// Index of the part of the model within this stage.
    pub part: u32,
}

/// A pipeline of `stages` stages of `parts` parts each, through which `micro_batches` pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pipeline {
    pub stages: u32,
    pub parts: u32,
    pub micro_batches: u32,
}

impl Pipeline {
    /// Number of forward passes of a stage before its first backward pass.
    pub fn warm_up(&self, stage: u32) -> u32 {
        let behind = self.stages - 1 - stage;
        let passes = if self.parts == 1 { behind } else { 2 * behind + (self.parts - 1) * self.stages };
        passes.min(self.micro_batches * self.parts)
    }

    /// Returns the k-th forward pass or the k-th backward pass of a stage. It is the same pass for every stage.
    fn pass(&self, k: u32, is_forward: bool) -> Pass {
        let round = self.stages * self.parts;
        let (part, micro_batch) = match self.parts {
            1 => (0, k),
            parts => {
                let part = k % round / self.stages;
                (if is_forward { part } else { parts - 1 - part }, k / round * self.stages + k % self.stages)
            }
        };
        Pass { is_forward, micro_batch, part }
    }

    /// Returns all passes of a stage in their order: first only forward passes, then alternating passes, then only backward
    /// passes.
    pub fn passes(&self, stage: u32) -> Vec<Pass> {
        let (all, warm_up) = (self.micro_batches * self.parts, self.warm_up(stage));
        let mut passes: Vec<Pass> = (0..warm_up).map(|k| self.pass(k, true)).collect();
        for k in warm_up..all {
            passes.push(self.pass(k, true));
            passes.push(self.pass(k - warm_up, false));
        }
        passes.extend((all - warm_up..all).map(|k| self.pass(k, false)));
        passes
    }

    /// Idle time of a stage divided by its ideal time: (p - 1) / (v m), with p stages, v parts per stage and m
    /// micro-batches.
    pub fn bubble(&self) -> f64 {
        f64::from(self.stages - 1) / (f64::from(self.parts) * f64::from(self.micro_batches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_and_the_last_stage_of_a_plain_pipeline() {
        let pipeline = Pipeline { stages: 4, parts: 1, micro_batches: 5 };
        let words = |stage: u32| {
            let word = |pass: &Pass| format!("{}{}", if pass.is_forward { "F" } else { "B" }, pass.micro_batch);
            pipeline.passes(stage).iter().map(word).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(words(3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
        assert_eq!(words(0), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
    }

    #[test]
    fn every_part_of_every_micro_batch_passes_once_each_way_and_forward_first() {
        for (stages, parts, micro_batches) in [(1, 1, 3), (2, 2, 4), (4, 3, 8), (8, 5, 64)] {
            let pipeline = Pipeline { stages, parts, micro_batches };
            for stage in 0..stages {
                let passes = pipeline.passes(stage);
                assert_eq!(passes.len() as u32, 2 * parts * micro_batches);
                for (place, pass) in passes.iter().enumerate() {
                    let forward = Pass { is_forward: true, ..*pass };
                    assert_eq!(passes.iter().filter(|other| *other == pass).count(), 1, "{pass:?}");
                    assert!(passes[..=place].contains(&forward), "{pass:?}");
                }
            }
        }
    }

    #[test]
    fn the_bubble_of_the_example_is_7_of_320() {
        assert!((Pipeline { stages: 8, parts: 5, micro_batches: 64 }.bubble() - 7.0 / 320.0).abs() < 1e-12);
    }
}
