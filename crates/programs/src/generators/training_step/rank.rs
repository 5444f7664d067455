//! The calls that a rank makes in a training step.

use super::{Recompute, Sharding, TrainingStep};
use crate::ai::degrees::Group;
use crate::ai::layers::Layer;
use crate::ai::pipeline::Pass;
use crate::form::{Calls, Op, Operation, Ops, Request};

/// Collects the calls of one rank.
pub struct Rank<'a> {
    pub step: &'a TrainingStep,
    pub layer: Layer<'a>,
    pub stage: u32,
    /// The rank's coordinate in the context group.
    pub me: u32,
    pub calls: Calls,
    /// Numbers of gradients that are computed but not yet in a bucket: of parameters outside experts, and of experts.
    pub ready: [u64; 2],
    pub reductions: Vec<Request>,
}

impl Rank<'_> {
    /// Returns the next part of the model (`by` is 1) or the previous one (`by` is -1): its pipeline stage, and its
    /// index in the stage. Returns `None` if the model has no such part.
    fn neighbour(&self, part: u32, by: i64) -> Option<(u32, u32)> {
        let stages = self.step.degrees.pipeline;
        let number = i64::from(part * stages + self.stage) + by;
        let number = u32::try_from(number).ok().filter(|&number| number < stages * self.step.parts)?;
        Some((number % stages, number / stages))
    }

    /// Returns the tag of the activations (forward) or gradients (backward) that enter a part.
    fn tag(&self, pass: Pass, part: u32) -> u32 {
        (pass.micro_batch * self.step.parts + part) * 2 + u32::from(!pass.is_forward)
    }

    /// Adds the calls of a pass: receive activations or gradients, compute the layers, send the results to the stage
    /// that computes next.
    pub fn pass(&mut self, pass: Pass) {
        let comm = Group::Pipeline.number();
        let bytes = self.layer.border();
        let (back, ahead) = if pass.is_forward { (-1, 1) } else { (1, -1) };
        let own_tag = self.tag(pass, pass.part);
        if let Some((from, _)) = self.neighbour(pass.part, back).filter(|&(from, _)| from != self.stage) {
            self.calls.blocking(Op::receive(Some(from), bytes, Some(own_tag)).within(comm));
        }
        self.ends(pass, true);
        for _ in 0..self.step.layers_per_part() {
            self.one_layer(pass);
        }
        self.ends(pass, false);
        if let Some((to, part)) = self.neighbour(pass.part, ahead).filter(|&(to, _)| to != self.stage) {
            let tag = self.tag(pass, part);
            self.calls.start(Op::send(to, bytes, Some(tag)).within(comm));
        }
    }

    /// Adds the computation of the embedding (in the first part of the model) and of the head (in the last part).
    fn ends(&mut self, pass: Pass, is_before: bool) {
        let layer = &self.layer;
        let is_first = self.neighbour(pass.part, -1).is_none();
        let is_last = self.neighbour(pass.part, 1).is_none();
        let sum = |bytes: u64, calls: &mut Calls| {
            if layer.degrees.tensor > 1 {
                let op = Op::collective(Operation::AllReduce, 0, bytes, 0);
                calls.collective(op.within(Group::Tensor.number()));
            }
        };
        if is_first && pass.is_forward && is_before {
            sum(layer.activations(), &mut self.calls);
        }
        if is_last && pass.is_forward && !is_before {
            self.calls.blocking(Op::compute(layer.time(self.step.model.head_flops())));
            let bytes = 4 * self.step.sequence * self.step.micro_batch / u64::from(layer.degrees.context);
            (0..3).for_each(|_| sum(bytes, &mut self.calls));
        }
        if is_last && !pass.is_forward && is_before {
            self.calls.blocking(Op::compute(2 * layer.time(self.step.model.head_flops())));
            sum(layer.activations(), &mut self.calls);
        }
    }

    fn one_layer(&mut self, pass: Pass) {
        let step = self.step;
        let (shared, experts) = step.held_per_layer();
        let is_gathered = step.sharding == Sharding::Parameters;
        let is_last = u64::from(pass.micro_batch) + 1 == step.micro_batches();
        if is_gathered {
            self.gather_parameters([shared, experts]);
        }
        if pass.is_forward {
            return self.layer.forward(self.me, &mut self.calls);
        }
        if step.recompute == Recompute::Full {
            self.layer.forward(self.me, &mut self.calls);
        }
        self.layer.backward(self.me, &mut self.calls);
        match step.sharding {
            Sharding::None | Sharding::Optimizer if !is_last => {}
            Sharding::None | Sharding::Optimizer | Sharding::Gradients => {
                self.ready[0] += shared;
                self.ready[1] += experts;
                self.reduce(step.bucket());
                if !is_last {
                    self.reduce(1);
                }
            }
            Sharding::Parameters => {
                self.ready = [shared, experts];
                self.reduce(1);
            }
        }
    }

    /// Returns two groups of ranks with their sizes. The first group reduces the gradients of parameters outside
    /// experts, and gathers these parameters. The second group does the same for the parameters of experts.
    fn data_groups(&self) -> [(Group, u64); 2] {
        let stage = self.step.data_ranks() * u64::from(self.step.degrees.tensor);
        [(Group::Data, self.step.data_ranks()), (Group::ExpertData, stage / u64::from(self.step.degrees.expert))]
    }

    fn gather_parameters(&mut self, held: [u64; 2]) {
        for ((group, size), held) in self.data_groups().into_iter().zip(held) {
            if size > 1 && held > 0 {
                let block = (held * self.step.parameter_bytes).div_ceil(size);
                self.calls.collective(Op::collective(Operation::AllGather, 0, block, 0).within(group.number()));
            }
        }
    }

    /// Starts to reduce buckets of gradients, as long as at least `least` gradients are ready.
    fn reduce(&mut self, least: u64) {
        let is_whole = self.step.sharding == Sharding::None;
        let operation = if is_whole { Operation::AllReduce } else { Operation::ReduceScatter };
        let bucket = match self.step.sharding {
            Sharding::Parameters => u64::MAX,
            Sharding::None | Sharding::Optimizer | Sharding::Gradients => self.step.bucket(),
        };
        for (place, (group, size)) in self.data_groups().into_iter().enumerate() {
            while self.ready[place] >= least && self.ready[place] > 0 {
                let part = self.ready[place].min(bucket);
                self.ready[place] -= part;
                if size > 1 {
                    let op = Op::collective(operation, 0, part * self.step.gradient_bytes, 0);
                    self.reductions.push(self.calls.start_collective(op.within(group.number())));
                }
            }
        }
    }

    /// Adds the calls after the last pass: the last buckets of gradients, their norm, the optimizer, and the gathering
    /// of parameters.
    pub fn finish(mut self) -> Ops {
        self.reduce(1);
        let reductions = std::mem::take(&mut self.reductions);
        self.calls.wait_all(reductions);
        let step = self.step;
        let (shared, experts) = step.held();
        let [(data, d), _] = self.data_groups();
        if self.stage + 1 == step.degrees.pipeline && d > 1 {
            self.calls.collective(Op::collective(Operation::AllReduce, 0, 4, 0).within(data.number()));
        }
        if step.ranks > 1 {
            self.calls.collective(Op::collective(Operation::AllReduce, 0, 4, 0));
        }
        // the optimizer reads and writes 16 bytes of state per parameter
        let divided = if step.sharding == Sharding::None { 1 } else { d };
        let bytes = 2.0 * 16.0 * ((shared + experts) / divided) as f64;
        self.calls.blocking(Op::compute((bytes / step.accelerator.memory_bandwidth.0 * 1e9).round() as u64));
        if matches!(step.sharding, Sharding::Optimizer | Sharding::Gradients) {
            let mut left = [shared, experts];
            while left != [0, 0] {
                let part = left.map(|left| left.min(step.bucket()));
                self.gather_parameters(part);
                left = [left[0] - part[0], left[1] - part[1]];
            }
        }
        self.calls.finish()
    }
}
