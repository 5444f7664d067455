//! A training step of a transformer on many accelerators.
//!
//! # Source
//! The code of Megatron-LM: `schedules.py`, `mappings.py`, `token_dispatcher.py`, `distributed_data_parallel.py`,
//! `finalize_model_grads.py`. V. Korthikanti et al., "Reducing activation recomputation in large transformer models" (2022), for
//! the memory of activations.
//!
//! # Parameters
//! `ranks` \[count\], which must be the product of `degrees`; `model`, `accelerator`. `batch`: number of sequences of a step.
//! `micro_batch`: number of sequences of a micro-batch \[count\]. `sequence`: number of tokens of a sequence \[count\]. `parts`: number of
//! separate parts of the model in each stage of the pipeline; more than 1 means interleaving \[count\]. `sequence_parallel`,
//! `gathers_again`, `recompute`, `sharding`, `bucket`: number of parameters of a bucket of gradients \[count\]. `operand_bytes`: bytes per
//! stored operand; `gradient_bytes`, `parameter_bytes`: bytes per gradient and per parameter in messages \[bytes\].
//!
//! # Guarantees
//! With sequence parallelism, there is an all-gather before each block of a layer and a reduce-scatter after it, in forward and backward
//! passes. Without sequence parallelism, an all-reduce follows each block. The order of passes is 1F1B (one forward pass, then one
//! backward pass), with interleaving. A stage sends activations and does not wait for their delivery. During the backward pass of the
//! last micro-batch, the data ranks reduce the gradients, bucket by bucket. After this pass, the ranks compute the norm of the
//! gradients, run the optimizer, and gather the parameters. In layers with experts, an all-to-all precedes the experts, and another
//! follows them. Weights, gradients, optimizer and activations must fit into the memory of the accelerator.
//!
//! # Not modelled
//! Time to launch kernels. Imbalance of experts. Checkpoints. Reading of data. Tied embeddings.
//!
//! # Validation
//! `programs/tests/programs/generated.rs` checks the bytes and the computation time of a step of a model with 70
//! billion parameters on 64 accelerators.

mod arithmetic;
mod memory;
mod rank;

use self::rank::Rank;
use super::{Generates, Line, Made, not_too_many, within};
use crate::ai::degrees::Degrees;
use crate::ai::layers::Layer;
use crate::ai::model::{Accelerator, Model};
use crate::ai::pipeline::Pipeline;
use crate::form::{Calls, Program, RankProgram};
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
    /// Number of accelerators. Each accelerator is one rank.
    pub ranks: u32,
    pub degrees: Degrees,
    /// Number of sequences that all ranks together process in a step.
    pub batch: u64,
    /// Number of sequences of a micro-batch.
    #[serde(default = "one")]
    pub micro_batch: u64,
    /// Number of tokens of a sequence.
    pub sequence: u64,
    /// Number of parts of the model per stage of the pipeline.
    #[serde(default = "one_part")]
    pub parts: u32,
    /// Whether activations between blocks are divided among the tensor ranks.
    #[serde(default = "yes")]
    pub sequence_parallel: bool,
    /// Whether the backward pass gathers the inputs of both blocks again.
    #[serde(default)]
    pub gathers_again: bool,
    /// The activations that the backward pass computes again, instead of storing them.
    #[serde(default)]
    pub recompute: Recompute,
    /// The state that is divided among the data ranks.
    #[serde(default)]
    pub sharding: Sharding,
    /// Number of parameters in a bucket of gradients. Default: 40 million, or 1 million times the data ranks if that is
    /// more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bucket: Option<u64>,
    /// Size of an operand of a matrix product that is stored for the backward pass [bytes]: 2, or 1 if products use 8
    /// bits.
    #[serde(default = "two")]
    pub operand_bytes: u64,
    /// Size of a gradient in a message [bytes].
    #[serde(default = "four")]
    pub gradient_bytes: u64,
    /// Size of a parameter in a message [bytes].
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

/// The activations that the backward pass computes again, instead of storing them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Recompute {
    /// No activations are computed again. A rank stores all activations.
    None,
    /// Only the activations in the core of attention are computed again.
    #[default]
    Selective,
    /// All activations except the inputs of layers are computed again. The backward pass of a layer therefore needs one more forward pass
    /// of the layer.
    Full,
}

/// The state that is divided among the data ranks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Sharding {
    /// No state is divided. The data ranks sum gradients with an all-reduce.
    None,
    /// The state of the optimizer is divided (ZeRO-1).
    #[default]
    Optimizer,
    /// The state of the optimizer and the gradients are divided. The gradients are reduced in every micro-batch
    /// (ZeRO-2).
    Gradients,
    /// All state is divided, including the parameters, which are gathered layer by layer (ZeRO-3, FSDP).
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

    /// Returns two numbers of parameters of a layer at a rank: those outside experts, which all data ranks have, and those of the rank's
    /// experts.
    fn held_per_layer(&self) -> (u64, u64) {
        let (fixed, feed_forward) = self.model.layer();
        let t = u64::from(self.degrees.tensor);
        match self.model.experts {
            None => ((fixed + feed_forward) / t, 0),
            Some(_) => (fixed / t, feed_forward / u64::from(self.degrees.expert)),
        }
    }

    /// Returns two numbers of parameters of all layers of a rank: those outside experts, and those of the rank's experts.
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

    fn check(&self, path: &str) -> Result<(), Refusal> {
        self.model.check(&format!("{path}.model"))?;
        within(path, "ranks", self.ranks.into(), 1, 1 << 20)?;
        self.degrees.check(self.ranks, &format!("{path}.degrees"))?;
        self.model.check_tensor(self.degrees.tensor, &format!("{path}.degrees.tensor"))?;
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
        // a rank has at most 30 operations for each pass through a layer, and at most 4 for each pass between stages
        let layers = u64::from(self.model.layers / self.degrees.pipeline);
        let per_rank =
            2 * self.micro_batches() * (layers * 30 * u64::from(self.degrees.context) + 4 * u64::from(self.parts));
        not_too_many(path, per_rank.saturating_mul((self.degrees.pipeline * self.degrees.context).into()))
    }

    fn check_division(&self, path: &str) -> Result<(), Refusal> {
        let Degrees { tensor, context, data, pipeline, expert } = self.degrees;
        let per_step = self.micro_batch * u64::from(data);
        let refuse = |key: &str, what: String, help: &str| Err(Refusal::new(format!("{path}.{key}"), what, help));
        if !self.batch.is_multiple_of(per_step) {
            let what = format!(
                "{} sequences are not a multiple of {per_step} (micro_batch {} x data {data})",
                self.batch, self.micro_batch
            );
            let more = self.batch.next_multiple_of(per_step);
            return refuse("batch", what, &format!("write a multiple of {per_step}, such as {more}"));
        }
        if !self.model.layers.is_multiple_of(pipeline * self.parts) {
            let what =
                format!("{} layers are not divisible by pipeline {pipeline} x parts {}", self.model.layers, self.parts);
            return refuse("parts", what, "write a pipeline and parts whose product divides the number of layers");
        }
        if self.parts > 1 && (pipeline == 1 || !self.micro_batches().is_multiple_of(u64::from(pipeline))) {
            let what = format!(
                "with several parts, the {} micro-batches must be a multiple of pipeline {pipeline}, and pipeline above 1",
                self.micro_batches()
            );
            return refuse(
                "parts",
                what,
                "write parts: 1, or a batch whose number of micro-batches is a multiple of pipeline",
            );
        }
        let divided = u64::from(tensor) * u64::from(context);
        if !self.model.kv_width().is_multiple_of(u64::from(tensor)) || !self.sequence.is_multiple_of(divided) {
            let what = format!(
                "tensor {tensor} must divide {} (the width of the keys), and tensor x context must divide the {} tokens",
                self.model.kv_width(),
                self.sequence
            );
            return refuse("degrees", what, "write smaller degrees");
        }
        if let Some(experts) = self.model.experts {
            if experts.count % u64::from(expert) != 0 {
                let what = format!("expert {expert} does not divide the {} experts", experts.count);
                return refuse("degrees.expert", what, "write a divisor of the number of experts");
            }
            if tensor > 1 && !self.sequence_parallel {
                return refuse(
                    "sequence_parallel",
                    "a model with experts and tensor above 1 needs divided activations".into(),
                    "write sequence_parallel: true",
                );
            }
        } else if expert > 1 {
            return refuse(
                "degrees.expert",
                format!("expert is {expert}, but the model has no experts"),
                "write 1, or add experts to the model",
            );
        }
        Ok(())
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
            // ranks that differ only in their tensor and data coordinates share their operations, in different
            // communicators
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
