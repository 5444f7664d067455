//! Inference with a transformer: a prefill of prompts, and then decoding steps.
//!
//! # Source
//! Llama models in 16 bits. Each of the two blocks of a layer ends with an all-reduce of 2 h bytes per token, with the
//! hidden width h. A decoding step takes as long as reading weights and keys from memory. This agrees with NVIDIA's
//! NIM benchmarks for 70 billion parameters.
//!
//! # Parameters
//! `ranks` \[count\] = `tensor` x `pipeline` \[counts\]; `model`, `accelerator`. `prompts`: number of prompts of a batch
//! \[count\]. `prompt`: number of tokens of a prompt \[count\]. `decode`: number of decoding steps, each of which makes
//! one token per prompt \[count\]. `weight_bytes`: size of a parameter \[bytes\].
//!
//! # Guarantees
//! In a pass, each layer has 2 all-reduces of 2 h bytes per token of the pass. The computation time of a pass is the larger
//! of two times: operations / rate of the accelerator, and bytes read / memory bandwidth. Each pipeline stage sends 2 h
//! bytes per token to the next stage. After each pass except the last, the last stage sends the new token of each prompt to
//! the first stage.
//!
//! # Not modelled
//! Batches that change during a step. Several batches in a pipeline. Speculative decoding.
//!
//! # Validation
//! `programs/tests/programs/generated.rs` checks the sizes and times of a model with 70 billion parameters on 2
//! accelerators.

use super::{Generates, Line, Made, not_too_many, within};
use crate::ai::degrees::{Degrees, Group, check_product};
use crate::ai::model::{Accelerator, Model};
use crate::amounts::in_words;
use crate::form::{Calls, Op, Operation, Ops, Program, RankProgram};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_units::Refusal;

/// A prefill of prompts, and then decoding steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InferenceStep {
    pub model: Model,
    pub accelerator: Accelerator,
    /// Number of accelerators. Each accelerator is one rank.
    pub ranks: u32,
    /// Number of ranks that share each layer.
    pub tensor: u32,
    /// Number of stages of the pipeline.
    #[serde(default = "one")]
    pub pipeline: u32,
    /// Number of prompts of a batch.
    pub prompts: u64,
    /// Number of tokens of a prompt.
    pub prompt: u64,
    /// Number of decoding steps. Each decoding step makes one token for each prompt.
    pub decode: u32,
    /// Size of a parameter [bytes].
    #[serde(default = "two")]
    pub weight_bytes: u64,
}

fn one() -> u32 {
    1
}

fn two() -> u64 {
    2
}

impl InferenceStep {
    fn layers(&self) -> u32 {
        self.model.layers / self.pipeline.max(1)
    }

    /// Size of the weights of a layer that a rank reads [bytes]. A rank does not read experts without tokens.
    fn weights(&self, tokens: u64) -> f64 {
        let (fixed, feed_forward) = self.model.layer();
        let read = self.model.experts.map_or(1.0, |experts| {
            let visited = (tokens * experts.per_token).min(experts.count);
            visited as f64 / experts.count as f64
        });
        self.weight_bytes as f64 * (fixed as f64 + feed_forward as f64 * read) / f64::from(self.tensor)
    }

    /// Time of a layer \[ns\] for a pass of `tokens` tokens with a context of `context` tokens.
    fn layer_ns(&self, tokens: u64, context: u64) -> u64 {
        let flops = tokens as f64 * (self.model.attention_flops(context) + self.model.feed_forward_flops());
        let keys = (self.model.kv_bytes() / u64::from(self.model.layers)) as f64 * (self.prompts * context) as f64;
        let bytes = self.weights(tokens) + keys / f64::from(self.tensor);
        let seconds =
            (flops / f64::from(self.tensor) / self.accelerator.rate.0).max(bytes / self.accelerator.memory_bandwidth.0);
        (seconds * 1e9).round() as u64
    }

    fn check(&self, path: &str) -> Result<(), Refusal> {
        self.model.check(&format!("{path}.model"))?;
        within(path, "ranks", self.ranks.into(), 1, 1 << 16)?;
        let degrees = [("tensor", self.tensor), ("pipeline", self.pipeline)];
        check_product(&degrees, self.ranks, path, &format!("{path}.ranks"))?;
        self.model.check_tensor(self.tensor, &format!("{path}.tensor"))?;
        within(path, "prompts", self.prompts, 1, 1 << 20)?;
        within(path, "prompt", self.prompt, 1, 1 << 22)?;
        within(path, "decode", self.decode.into(), 0, 1 << 20)?;
        within(path, "weight_bytes", self.weight_bytes, 1, 16)?;
        if !self.model.layers.is_multiple_of(self.pipeline) {
            let what = format!("{} layers are not divisible by pipeline {}", self.model.layers, self.pipeline);
            return Err(Refusal::new(format!("{path}.pipeline"), what, "write a divisor of the number of layers"));
        }
        let context = self.prompt + u64::from(self.decode);
        let weights = self.weight_bytes as f64 * self.model.parameters() as f64 / f64::from(self.ranks);
        let keys = (self.model.kv_bytes() * self.prompts) as f64 * context as f64 / f64::from(self.ranks);
        let there = self.accelerator.memory.0 as f64;
        if weights + keys > there {
            let [weights, keys, needed, there] = [weights, keys, weights + keys, there].map(in_words);
            let what = format!(
                "a rank needs weights {weights} + keys and values {keys} = {needed}, but an accelerator has {there}"
            );
            return Err(Refusal::new(
                format!("{path}.accelerator.memory"),
                what,
                "use more ranks, fewer prompts or shorter prompts",
            ));
        }
        let per_rank = (u64::from(self.decode) + 1) * (4 * u64::from(self.layers()) + 4);
        not_too_many(path, per_rank * u64::from(self.pipeline))
    }

    fn pass(&self, stage: u32, tokens: u64, context: u64, step: u32, calls: &mut Calls) {
        let comm = Group::Pipeline.number();
        let bytes = 2 * self.model.hidden * tokens;
        if stage > 0 {
            calls.blocking(Op::receive(Some(stage - 1), bytes, Some(2 * step)).within(comm));
        } else if step > 0 && self.pipeline > 1 {
            calls.blocking(Op::receive(Some(self.pipeline - 1), 4 * self.prompts, Some(2 * step - 1)).within(comm));
        }
        let ns = self.layer_ns(tokens, context);
        for _ in 0..self.layers() {
            for part in [ns / 2, ns - ns / 2] {
                calls.blocking(Op::compute(part));
                if self.tensor > 1 {
                    calls.collective(Op::collective(Operation::AllReduce, 0, bytes, 0).within(Group::Tensor.number()));
                }
            }
        }
        if stage + 1 < self.pipeline {
            calls.blocking(Op::send(stage + 1, bytes, Some(2 * step)).within(comm));
        } else if step < self.decode && self.pipeline > 1 {
            calls.blocking(Op::send(0, 4 * self.prompts, Some(2 * step + 1)).within(comm));
        }
    }

    fn stage(&self, stage: u32) -> Ops {
        let mut calls = Calls::default();
        self.pass(stage, self.prompts * self.prompt, self.prompt, 0, &mut calls);
        for step in 1..=self.decode {
            self.pass(stage, self.prompts, self.prompt + u64::from(step), step, &mut calls);
        }
        calls.finish()
    }

    fn arithmetic(&self) -> Vec<Line> {
        let model = &self.model;
        let prefill = self.prompts * self.prompt;
        let [first, decode] = [(prefill, self.prompt), (self.prompts, self.prompt + 1)]
            .map(|(tokens, context)| f64::from(model.layers) * self.layer_ns(tokens, context) as f64 * 1e-9);
        let weights = f64::from(model.layers) * self.weights(self.prompts);
        vec![
            Line::new("parameters", model.parameters() as f64, "", "layers, two embeddings, norms"),
            Line::new("all-reduces of a pass", 2.0 * f64::from(model.layers), "", "2 per layer"),
            Line::new(
                "bytes of an all-reduce, prefill",
                (2 * model.hidden * prefill) as f64,
                "B",
                "2 B x hidden x tokens of all prompts",
            ),
            Line::new(
                "bytes of an all-reduce, decoding",
                (2 * model.hidden * self.prompts) as f64,
                "B",
                "2 B x hidden x prompts",
            ),
            Line::new("prefill", first, "s", "computation: the larger of operations / rate and bytes / bandwidth"),
            Line::new("decoding step", decode, "s", "computation of the first step, by the same rule"),
            Line::new("weights read", weights, "B", "per pass, by one tensor rank for all layers"),
            Line::new("keys and values", model.kv_bytes() as f64, "B", "per token of context, in all ranks together"),
        ]
    }
}

impl Generates for InferenceStep {
    fn make(&self, path: &str) -> Result<Made, Refusal> {
        self.check(path)?;
        let degrees = Degrees { tensor: self.tensor, context: 1, data: 1, pipeline: self.pipeline, expert: 1 };
        let stages: Vec<Arc<Ops>> = (0..self.pipeline).map(|stage| Arc::new(self.stage(stage))).collect();
        let rank = |(rank, comms)| {
            let place = degrees.place(rank as u32);
            RankProgram { ops: Arc::clone(&stages[place.pipeline as usize]), comms }
        };
        let program = Program { ranks: degrees.comms().into_iter().enumerate().map(rank).collect() };
        Ok(Made { program, arithmetic: self.arithmetic() })
    }

    fn examples() -> Vec<Self> {
        let (rate, memory_bandwidth) = (crate::amounts::Flops(4e14), crate::amounts::ByteRate(3.2e12));
        let accelerator = Accelerator { rate, memory: crate::amounts::Bytes(80_000_000_000), memory_bandwidth };
        let (hidden, feed_forward, vocabulary) = (512, 1024, 4096);
        let model = Model { layers: 8, hidden, heads: 8, kv_heads: Some(4), feed_forward, vocabulary, experts: None };
        let one = Self {
            model,
            accelerator,
            ranks: 4,
            tensor: 4,
            pipeline: 1,
            prompts: 2,
            prompt: 100,
            decode: 3,
            weight_bytes: 2,
        };
        vec![one.clone(), Self { ranks: 8, pipeline: 2, ..one }]
    }
}
