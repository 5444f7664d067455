//! Computes numbers of a training step, such as bytes and times, each with the text of its derivation.

use super::{Line, Recompute, TrainingStep};
use crate::ai::degrees::Degrees;

impl TrainingStep {
    /// Returns the derivation of the numbers of the step, line by line.
    pub(super) fn arithmetic(&self) -> Vec<Line> {
        let mut lines = self.computed();
        lines.extend(self.sent_with_activations());
        lines.extend(self.held_and_summed());
        lines.extend(self.sent_to_experts());
        lines
    }

    /// Number of layers of a stage of the pipeline.
    fn layers_of_stage(&self) -> f64 {
        f64::from(self.model.layers / self.degrees.pipeline)
    }

    /// Returns the lines of the derivation about parameters and computation.
    fn computed(&self) -> Vec<Line> {
        let (model, m) = (&self.model, self.micro_batches());
        let passes = if self.recompute == Recompute::Full { 4.0 } else { 3.0 };
        let tokens = (self.batch * self.sequence) as f64;
        let per_token = passes * model.flops(self.sequence);
        let compute = tokens * per_token / f64::from(self.ranks) / self.accelerator.rate.0;
        let data = self.degrees.data;
        vec![
            Line::new("parameters", model.parameters() as f64, "", "layers, two embeddings, norms"),
            Line::new(
                "operations per token",
                per_token,
                "FLOP",
                format!("{passes} x (2 x matrix parameters + 2 x sequence x hidden per layer)"),
            ),
            Line::new(
                "micro-batches",
                m as f64,
                "",
                format!("batch {} / (micro-batch {} x data {data})", self.batch, self.micro_batch),
            ),
            Line::new("computation", compute, "s", "tokens x operations per token / ranks / rate"),
            Line::new(
                "bubble",
                self.pipeline().bubble(),
                "",
                "(pipeline - 1) / (parts x micro-batches) of the computation",
            ),
        ]
    }

    /// Returns the lines about activations, and about the messages of tensor and pipeline parallelism that carry
    /// activations.
    fn sent_with_activations(&self) -> Vec<Line> {
        let (layer, m) = (self.layer(), self.micro_batches());
        let Degrees { tensor, context, pipeline, .. } = self.degrees;
        let t = f64::from(tensor);
        let activations = layer.activations() as f64;
        let (per_layer, how) = match (layer.is_sequence_parallel, self.gathers_again) {
            (true, false) => (8.0, "8 gathers and scatters"),
            (true, true) => (10.0, "10 gathers and scatters"),
            (false, _) => (4.0, "4 all-reduces"),
        };
        let per_layer = if self.model.experts.is_none() { per_layer } else { per_layer / 2.0 };
        let collectives = if tensor > 1 { per_layer * self.layers_of_stage() * m as f64 } else { 0.0 };
        let each = if layer.is_sequence_parallel { 1.0 } else { 2.0 } * activations * (t - 1.0) / t;
        let border = layer.border() as f64;
        vec![
            Line::new(
                "activations M",
                activations,
                "B",
                format!("2 B x sequence x micro-batch x hidden / context, context = {context}"),
            ),
            Line::new(
                "tensor collectives",
                collectives,
                "",
                format!("{how} per dense layer and micro-batch, of a middle stage"),
            ),
            Line::new(
                "tensor bytes",
                collectives * each,
                "B",
                "sent per rank: M x (tensor - 1) / tensor per collective, twice that per all-reduce",
            ),
            Line::new(
                "pipeline bytes",
                2.0 * m as f64 * f64::from(self.parts) * border * f64::from(u8::from(pipeline > 1)),
                "B",
                "sent per rank of a middle stage: micro-batches x parts messages each way",
            ),
        ]
    }

    /// Returns the lines about the parameters of one rank, the messages that keep copies of parameters equal, and the
    /// memory of a rank.
    fn held_and_summed(&self) -> Vec<Line> {
        let d = self.data_ranks() as f64;
        let (shared, experts) = self.held();
        let in_ring = shared as f64 * (d - 1.0) / d;
        let memory: f64 = self.memory().iter().sum();
        vec![
            Line::new("parameters held", (shared + experts) as f64, "", "of the layers of a stage, at one rank"),
            Line::new(
                "gradient bytes",
                self.gradient_bytes as f64 * in_ring,
                "B",
                "sent per rank by a ring: (d - 1) / d of the bytes, d = data x context",
            ),
            Line::new(
                "parameter bytes",
                self.parameter_bytes as f64 * in_ring,
                "B",
                "sent per rank by a ring: (d - 1) / d of the bytes, d = data x context",
            ),
            Line::new(
                "buckets",
                (shared as f64 / self.bucket() as f64).ceil(),
                "",
                format!("of {} parameters", self.bucket()),
            ),
            Line::new("memory", memory, "B", "weights, gradients, optimizer, activations of the first stage"),
        ]
    }

    /// Returns the lines about the messages to experts and back, if the model has experts.
    fn sent_to_experts(&self) -> Option<Line> {
        self.model.experts.as_ref()?;
        let (e, m) = (f64::from(self.degrees.expert), self.micro_batches());
        let sent = 4.0 * self.layers_of_stage() * m as f64 * self.layer().dispatched() as f64 * (e - 1.0) / e;
        Some(Line::new("expert bytes", sent, "B", "sent per rank: 4 all-to-alls per layer of 2 T k h (e - 1) / e"))
    }
}
