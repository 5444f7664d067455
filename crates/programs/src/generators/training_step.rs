//! A training step of a transformer on many accelerators.
//!
//! # Source
//! Megatron-LM: `schedules.py`, `mappings.py`, `token_dispatcher.py`, `distributed_data_parallel.py`, `finalize_model_grads.py`.
//! V. Korthikanti et al., "Reducing activation recomputation in large transformer models" (2022) for the memory.
//!
//! # Parameters
//! `ranks` \[count\], and `degrees` whose product it is; `model`, `accelerator`. `batch`: sequences of a step; `micro_batch`:
//! sequences of a micro-batch \[count\]; `sequence`: tokens of a sequence \[count\]. `parts`: parts of the model per stage of
//! the pipeline (interleaving) \[count\]. `sequence_parallel`, `gathers_again`, `recompute`, `sharding`, `bucket`: parameters
//! of a bucket of gradients \[count\]. `operand_bytes`: of what matrix products keep, `gradient_bytes`, `parameter_bytes`: bytes per element of their messages \[bytes\].
//!
//! # Guarantees
//! Per layer and micro-batch: with sequence parallelism an all-gather before and a reduce-scatter after each block, forward
//! and backward; else an all-reduce after each block. The order of passes is one forward, one backward, interleaved. A stage
//! sends activations without waiting. Buckets of gradients are reduced while the last micro-batch goes backward. Then come
//! the norm of the gradients, the optimizer, and the gathering of parameters. Experts get an all-to-all before and one after.
//! The memory of weights, gradients, optimizer and activations must fit into that of the accelerator.
//!
//! # Not modelled
//! Time to launch kernels, imbalance of experts, checkpoints, reading of data. Tied embeddings.
//!
//! # Validation
//! `programs/tests/programs.rs`: bytes and computation of a step of a 70-billion model on 64 accelerators.

use super::{Generates, Line, Made, not_too_many, within};
use crate::ai::degrees::{Degrees, Group};
use crate::ai::layers::Layer;
use crate::ai::model::{Accelerator, Model};
use crate::ai::pipeline::{Pass, Pipeline};
use crate::form::{Calls, Op, Operation, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::sync::Arc;
use weft_units::Refusal;

/// A training step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TrainingStep {
    pub model: Model,
    pub accelerator: Accelerator,
    /// Accelerators.
    pub ranks: u32,
    pub degrees: Degrees,
    /// Sequences of a step, all ranks together.
    pub batch: u64,
    /// Sequences of a micro-batch.
    #[serde(default = "one")]
    pub micro_batch: u64,
    /// Tokens of a sequence.
    pub sequence: u64,
    /// Parts of the model per stage of the pipeline.
    #[serde(default = "one_part")]
    pub parts: u32,
    /// Activations between blocks are divided among the tensor ranks.
    #[serde(default = "yes")]
    pub sequence_parallel: bool,
    /// The backward pass gathers the inputs of both blocks again.
    #[serde(default)]
    pub gathers_again: bool,
    /// Activations that are computed again in the backward pass.
    #[serde(default)]
    pub recompute: Recompute,
    /// What is divided among the data ranks.
    #[serde(default)]
    pub sharding: Sharding,
    /// Parameters of a bucket of gradients; default: 40 million, or 1 million times the data ranks if that is more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<u64>,
    /// Bytes of an operand of a matrix product that is kept for the backward pass: 2, or 1 where products are in 8 bits.
    #[serde(default = "two")]
    pub operand_bytes: u64,
    /// Bytes of a gradient in a message.
    #[serde(default = "four")]
    pub gradient_bytes: u64,
    /// Bytes of a parameter in a message.
    #[serde(default = "two")]
    pub parameter_bytes: u64,
}

fn one() -> u64 {
    1
}

fn one_part() -> u32 {
    1
}

fn yes() -> bool {
    true
}

fn four() -> u64 {
    4
}

fn two() -> u64 {
    2
}

/// Activations that are computed again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recompute {
    /// None: all are kept.
    None,
    /// Those of the core of attention.
    #[default]
    Selective,
    /// All but the inputs of layers: one more forward pass.
    Full,
}

/// What is divided among the data ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharding {
    /// Nothing: gradients are summed by all-reduce.
    None,
    /// The optimizer (ZeRO-1).
    #[default]
    Optimizer,
    /// The optimizer and gradients, which are reduced in every micro-batch (ZeRO-2).
    Gradients,
    /// All, parameters included, which are gathered layer by layer (ZeRO-3, FSDP).
    Parameters,
}

impl TrainingStep {
    fn micro_batches(&self) -> u64 {
        self.batch / (self.micro_batch * u64::from(self.degrees.data)).max(1)
    }

    fn pipeline(&self) -> Pipeline {
        let Degrees { pipeline: stages, .. } = self.degrees;
        Pipeline { stages, parts: self.parts, micro_batches: self.micro_batches() as u32 }
    }

    fn layers_per_part(&self) -> u32 {
        self.model.layers / (self.degrees.pipeline * self.parts)
    }

    fn layer(&self) -> Layer<'_> {
        Layer {
            model: &self.model,
            accelerator: &self.accelerator,
            degrees: self.degrees,
            sequence: self.sequence,
            micro_batch: self.micro_batch,
            is_sequence_parallel: self.sequence_parallel && self.degrees.tensor > 1,
            gathers_again: self.gathers_again,
        }
    }

    /// Parameters of a layer at a rank: those that all data ranks share, and those of its experts.
    fn held_per_layer(&self) -> (u64, u64) {
        let (fixed, feed_forward) = self.model.layer();
        let t = u64::from(self.degrees.tensor);
        match self.model.experts {
            None => ((fixed + feed_forward) / t, 0),
            Some(_) => (fixed / t, feed_forward / u64::from(self.degrees.expert)),
        }
    }

    /// Parameters of the layers that a rank holds: shared and expert ones.
    fn held(&self) -> (u64, u64) {
        let layers = u64::from(self.model.layers / self.degrees.pipeline);
        let (shared, experts) = self.held_per_layer();
        (layers * shared, layers * experts)
    }

    fn data_ranks(&self) -> u64 {
        u64::from(self.degrees.data) * u64::from(self.degrees.context)
    }

    fn bucket(&self) -> u64 {
        self.bucket.unwrap_or((1_000_000 * self.data_ranks()).max(40_000_000))
    }

    /// Bytes of the activations of a layer and a micro-batch.
    fn activation_bytes(&self) -> f64 {
        let (s, b, h) = (self.sequence as f64, self.micro_batch as f64, self.model.hidden as f64);
        let (t, a) = (f64::from(self.degrees.tensor), self.model.heads as f64);
        let sbh = s * b * h / f64::from(self.degrees.context);
        let divided = self.layer().is_sequence_parallel;
        // 10 and 24 bytes per element of 16 bits. Of these, 4 and 10 are operands of matrix products, of 2 bytes each.
        let saved = 2.0 - self.operand_bytes as f64;
        let (whole, shared, core) = (10.0 - 2.0 * saved, 24.0 - 5.0 * saved, 5.0 * a * s / h);
        match self.recompute {
            Recompute::Full => 2.0 * sbh,
            Recompute::Selective if divided => sbh * (whole + shared) / t,
            Recompute::Selective => sbh * (whole + shared / t),
            Recompute::None if divided => sbh * (whole + shared + core) / t,
            Recompute::None => sbh * (whole + (shared + core) / t),
        }
    }

    /// Bytes that the first stage of the pipeline needs: weights, gradients, optimizer, activations.
    fn memory(&self) -> [f64; 4] {
        let (shared, experts) = self.held();
        let ends = self.model.vocabulary * self.model.hidden / u64::from(self.degrees.tensor);
        let held = (shared + experts + ends) as f64;
        let d = self.data_ranks() as f64;
        let share = |is_divided: bool| if is_divided { held / d } else { held };
        let in_flight = self.pipeline();
        // layers whose activations are kept at once: those of all passes that have not gone backward
        let passes = f64::from((in_flight.warm_up(0) + 1).min(in_flight.micro_batches * in_flight.parts));
        [
            2.0 * share(self.sharding == Sharding::Parameters),
            4.0 * share(matches!(self.sharding, Sharding::Parameters | Sharding::Gradients)),
            12.0 * share(self.sharding != Sharding::None),
            passes * f64::from(self.layers_per_part()) * self.activation_bytes(),
        ]
    }

    fn check(&self, path: &str) -> Result<(), Refusal> {
        self.model.check(&format!("{path}.model"))?;
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        self.degrees.check(self.ranks, &format!("{path}.degrees"))?;
        within(path, "sequence", self.sequence, 1, 1 << 24)?;
        within(path, "micro_batch", self.micro_batch, 1, 1 << 16)?;
        within(path, "batch", self.batch, 1, 1 << 24)?;
        within(path, "parts", self.parts.into(), 1, 1 << 10)?;
        within(path, "bucket", self.bucket(), 1, 1 << 50)?;
        within(path, "operand_bytes", self.operand_bytes, 1, 2)?;
        within(path, "gradient_bytes", self.gradient_bytes, 1, 16)?;
        within(path, "parameter_bytes", self.parameter_bytes, 1, 16)?;
        self.check_division(path)?;
        self.check_memory(path)?;
        // a layer has 30 operations at most in a pass, and each border 4
        let layers = u64::from(self.model.layers / self.degrees.pipeline);
        let per_rank =
            2 * self.micro_batches() * (layers * 30 * u64::from(self.degrees.context) + 4 * u64::from(self.parts));
        not_too_many(path, per_rank.saturating_mul((self.degrees.pipeline * self.degrees.context).into()))
    }

    fn check_division(&self, path: &str) -> Result<(), Refusal> {
        let Degrees { tensor, context, data, pipeline, expert } = self.degrees;
        let per_step = self.micro_batch * u64::from(data);
        let refuse = |key: &str, what: String, help: &str| Err(Refusal::new(format!("{path}.{key}"), what, help));
        if self.batch % per_step != 0 {
            let what = format!(
                "{} sequences are no whole number of {per_step} (micro_batch {} x data {data})",
                self.batch, self.micro_batch
            );
            return refuse("batch", what, "write a multiple");
        }
        if self.model.layers % (pipeline * self.parts) != 0 {
            let what =
                format!("{} layers are not divided by pipeline {pipeline} x parts {}", self.model.layers, self.parts);
            return refuse("parts", what, "write degrees that divide the layers");
        }
        if self.parts > 1 && (pipeline == 1 || self.micro_batches() % u64::from(pipeline) != 0) {
            let what =
                format!("{} micro-batches are no whole number of pipeline {pipeline} above 1", self.micro_batches());
            return refuse("parts", what, "write parts: 1, or a batch whose micro-batches the pipeline divides");
        }
        let divided = u64::from(tensor) * u64::from(context);
        if self.model.kv_width() % u64::from(tensor) != 0 || self.sequence % divided != 0 {
            let what = format!(
                "tensor {tensor} must divide keys of width {}, and tensor x context the {} tokens",
                self.model.kv_width(),
                self.sequence
            );
            return refuse("degrees", what, "write smaller degrees");
        }
        if let Some(experts) = self.model.experts {
            if experts.count % u64::from(expert) != 0 {
                let what = format!("expert {expert} does not divide the {} experts", experts.count);
                return refuse("degrees.expert", what, "write a divisor");
            }
            if tensor > 1 && !self.sequence_parallel {
                return refuse(
                    "sequence_parallel",
                    "experts with tensor ranks need divided activations".into(),
                    "write sequence_parallel: true",
                );
            }
        } else if expert > 1 {
            return refuse(
                "degrees.expert",
                format!("expert is {expert}, and the model has no experts"),
                "write 1, or give the model experts",
            );
        }
        Ok(())
    }

    fn check_memory(&self, path: &str) -> Result<(), Refusal> {
        let parts = self.memory();
        let (needed, there) = (parts.iter().sum::<f64>(), self.accelerator.memory.0 as f64);
        if needed <= there {
            return Ok(());
        }
        let [weights, gradients, optimizer, activations] = parts.map(|bytes| bytes / 1e9);
        let what = format!(
            "weights {weights:.1} GB + gradients {gradients:.1} GB + optimizer {optimizer:.1} GB + activations {activations:.1} GB = \
             {:.1} GB, and an accelerator has {:.1} GB",
            needed / 1e9,
            there / 1e9
        );
        let help = "raise degrees.tensor or degrees.pipeline, divide more (sharding), or write recompute: full";
        Err(Refusal::new(format!("{path}.accelerator.memory"), what, help))
    }
}

/// The calls of one rank while they are made.
struct Rank<'a> {
    step: &'a TrainingStep,
    layer: Layer<'a>,
    stage: u32,
    /// Place in the context.
    me: u32,
    calls: Calls,
    /// Gradients of shared and of expert parameters that no bucket holds yet.
    ready: [u64; 2],
    reductions: Vec<crate::form::Request>,
}

impl Rank<'_> {
    /// The neighbour in the pipeline of a part, and the part there; `None` at the ends of the model.
    fn neighbour(&self, part: u32, by: i64) -> Option<(u32, u32)> {
        let stages = self.step.degrees.pipeline;
        let number = i64::from(part * stages + self.stage) + by;
        let number = u32::try_from(number).ok().filter(|&number| number < stages * self.step.parts)?;
        Some((number % stages, number / stages))
    }

    /// Tag of activations (forward) or gradients that enter a part.
    fn tag(&self, pass: Pass, part: u32) -> u32 {
        (pass.micro_batch * self.step.parts + part) * 2 + u32::from(!pass.is_forward)
    }

    fn pass(&mut self, pass: Pass) {
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

    /// Embedding and head, which the first and the last part of the model have.
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

    /// The groups among which shared and expert parameters are divided, and their sizes.
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

    /// Starts to reduce buckets of gradients of which `least` parameters at least are ready.
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

    /// After the last pass: what is left of the gradients, their norm, the optimizer, and the gathering of parameters.
    fn finish(mut self) -> crate::form::Ops {
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

impl Generates for TrainingStep {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        self.check(path)?;
        let pipeline = self.pipeline();
        let mut made: HashMap<(u32, u32), Arc<crate::form::Ops>> = HashMap::new();
        let comms = self.degrees.comms();
        let ranks = comms.into_iter().enumerate().map(|(rank, comms)| {
            let place = self.degrees.place(rank as u32);
            // ranks that differ in tensor and data place only do the same among communicators of their own
            let ops = made.entry((place.pipeline, place.context)).or_insert_with(|| {
                let (stage, me) = (place.pipeline, place.context);
                let layer = self.layer();
                let (calls, reductions) = (Calls::default(), Vec::new());
                let mut rank = Rank { step: self, layer, stage, me, calls, ready: [0, 0], reductions };
                pipeline.passes(stage).into_iter().for_each(|pass| rank.pass(pass));
                Arc::new(rank.finish())
            });
            RankProgram { ops: Arc::clone(ops), comms }
        });
        let program = Program { ranks: ranks.collect() };
        Ok(Made { arithmetic: self.arithmetic(), program })
    }

    fn examples() -> Vec<Self> {
        let (rate, memory_bandwidth) = (crate::amounts::Flops(4e14), crate::amounts::ByteRate(3.2e12));
        let accelerator = Accelerator { rate, memory: crate::amounts::Bytes(80_000_000_000), memory_bandwidth };
        let (hidden, feed_forward, vocabulary) = (512, 1024, 4096);
        let model = Model { layers: 8, hidden, heads: 8, kv_heads: Some(4), feed_forward, vocabulary, experts: None };
        let experts = Some(crate::ai::Experts { count: 4, per_token: 2 });
        let degrees = Degrees { tensor: 2, context: 1, data: 2, pipeline: 2, expert: 1 };
        let dense = Self {
            model: model.clone(),
            accelerator,
            ranks: 8,
            degrees,
            batch: 8,
            micro_batch: 1,
            sequence: 256,
            parts: 2,
            sequence_parallel: true,
            gathers_again: true,
            recompute: Recompute::Selective,
            sharding: Sharding::Optimizer,
            bucket: Some(1_000_000),
            operand_bytes: 2,
            gradient_bytes: 4,
            parameter_bytes: 2,
        };
        let shardings = [Sharding::None, Sharding::Gradients, Sharding::Parameters];
        let others = shardings.map(|sharding| Self {
            sharding,
            parts: 1,
            sequence_parallel: false,
            recompute: Recompute::Full,
            ..dense.clone()
        });
        let mixture = Self {
            model: Model { experts, ..model },
            degrees: Degrees { context: 2, expert: 4, ..degrees },
            ranks: 16,
            recompute: Recompute::None,
            ..dense.clone()
        };
        [vec![dense, mixture], others.into()].concat()
    }
}

impl TrainingStep {
    /// How the numbers of the step come about.
    fn arithmetic(&self) -> Vec<Line> {
        let (model, layer, m) = (&self.model, self.layer(), self.micro_batches());
        let Degrees { tensor, context, data, pipeline, .. } = self.degrees;
        let (t, d) = (f64::from(tensor), self.data_ranks() as f64);
        let layers = f64::from(model.layers / pipeline);
        let passes = if self.recompute == Recompute::Full { 4.0 } else { 3.0 };
        let tokens = (self.batch * self.sequence) as f64;
        let per_token = passes * model.flops(self.sequence);
        let compute = tokens * per_token / f64::from(self.ranks) / self.accelerator.rate.0;
        let activations = layer.activations() as f64;
        let (per_layer, how) = match (layer.is_sequence_parallel, self.gathers_again) {
            (true, false) => (8.0, "8 gathers and scatters"),
            (true, true) => (10.0, "10 gathers and scatters"),
            (false, _) => (4.0, "4 all-reduces"),
        };
        let is_dense = model.experts.is_none();
        let per_layer = if is_dense { per_layer } else { per_layer / 2.0 };
        let collectives = if tensor > 1 { per_layer * layers * m as f64 } else { 0.0 };
        let each = if layer.is_sequence_parallel { 1.0 } else { 2.0 } * activations * (t - 1.0) / t;
        let border = layer.border() as f64;
        let (shared, experts) = self.held();
        let in_ring = shared as f64 * (d - 1.0) / d;
        let bubble = self.pipeline().bubble();
        let memory: f64 = self.memory().iter().sum();
        let mut lines = vec![
            Line::new("parameters", model.parameters() as f64, "", "layers, two embeddings, norms"),
            Line::new(
                "operations per token",
                per_token,
                "FLOP",
                format!("{passes} x (2 x matrix parameters + 2 s h per layer)"),
            ),
            Line::new(
                "micro-batches",
                m as f64,
                "",
                format!("batch {} / (micro-batch {} x data {data})", self.batch, self.micro_batch),
            ),
            Line::new("computation", compute, "s", "tokens x operations per token / ranks / rate"),
            Line::new("bubble", bubble, "", "(p - 1) / (v m) of the computation"),
            Line::new("activations M", activations, "B", format!("2 s b h / c, c = {context}")),
            Line::new(
                "tensor collectives",
                collectives,
                "",
                format!("{how} per dense layer and micro-batch, of a middle stage"),
            ),
            Line::new("tensor bytes", collectives * each, "B", "sent per rank: M (t - 1) / t each, all-reduces twice"),
            Line::new(
                "pipeline bytes",
                2.0 * m as f64 * f64::from(self.parts) * border * f64::from(u8::from(pipeline > 1)),
                "B",
                "sent per rank of a middle stage: m v each way",
            ),
            Line::new("parameters held", (shared + experts) as f64, "", "of the layers of a stage, at one rank"),
            Line::new(
                "gradient bytes",
                self.gradient_bytes as f64 * in_ring,
                "B",
                "sent per rank by a ring: (d - 1) / d of each element",
            ),
            Line::new(
                "parameter bytes",
                self.parameter_bytes as f64 * in_ring,
                "B",
                "sent per rank by a ring: (d - 1) / d of each element",
            ),
            Line::new(
                "buckets",
                (shared as f64 / self.bucket() as f64).ceil(),
                "",
                format!("of {} parameters", self.bucket()),
            ),
            Line::new("memory", memory, "B", "weights, gradients, optimizer, activations of the first stage"),
        ];
        if !is_dense {
            let e = f64::from(self.degrees.expert);
            let sent = 4.0 * layers * m as f64 * layer.dispatched() as f64 * (e - 1.0) / e;
            lines.push(Line::new(
                "expert bytes",
                sent,
                "B",
                "sent per rank: 4 all-to-alls per layer of 2 T k h (e - 1) / e",
            ));
        }
        lines
    }
}
