//! Computes the memory that a training step needs on an accelerator.

use super::{Recompute, Sharding, TrainingStep};
use crate::amounts::in_words;
use weft_units::Refusal;

impl TrainingStep {
    /// Size of the activations of a layer and a micro-batch [bytes].
    fn activation_bytes(&self) -> f64 {
        let (s, b, h) = (self.sequence as f64, self.micro_batch as f64, self.model.hidden as f64);
        let (t, a) = (f64::from(self.degrees.tensor), self.model.heads as f64);
        let sbh = s * b * h / f64::from(self.degrees.context);
        let divided = self.layer().is_sequence_parallel;
        // Activations have 34 bytes for each of the s b h elements of the hidden state. Only sequence parallelism divides
        // 10 of them among the tensor ranks, and 24 are always divided. Of the 10 bytes, 4 are operands of matrix
        // products in 16 bits; of the 24 bytes, 10 are. `operand_bytes` below 2 saves a part of these operands.
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

    /// Memory that an accelerator of the first pipeline stage needs [bytes], for weights, gradients, optimizer and
    /// activations.
    pub(super) fn memory(&self) -> [f64; 4] {
        let (shared, experts) = self.held();
        let ends = self.model.vocabulary * self.model.hidden / u64::from(self.degrees.tensor);
        let held = (shared + experts + ends) as f64;
        let d = self.data_ranks() as f64;
        let share = |is_divided: bool| if is_divided { held / d } else { held };
        let in_flight = self.pipeline();
        // a forward pass needs memory for its activations until the backward pass of the same micro-batch and part has
        // run
        let passes = f64::from((in_flight.warm_up(0) + 1).min(in_flight.micro_batches * in_flight.parts));
        [
            2.0 * share(self.sharding == Sharding::Parameters),
            4.0 * share(matches!(self.sharding, Sharding::Parameters | Sharding::Gradients)),
            12.0 * share(self.sharding != Sharding::None),
            passes * f64::from(self.layers_per_part()) * self.activation_bytes(),
        ]
    }

    /// Refuses a step that needs more memory than an accelerator has.
    pub(super) fn check_memory(&self, path: &str) -> Result<(), Refusal> {
        let parts = self.memory();
        let (needed, there) = (parts.iter().sum::<f64>(), self.accelerator.memory.0 as f64);
        if needed <= there {
            return Ok(());
        }
        let [weights, gradients, optimizer, activations] = parts.map(in_words);
        let (needed, there) = (in_words(needed), in_words(there));
        let what = format!(
            "the step needs weights {weights} + gradients {gradients} + optimizer {optimizer} + activations {activations} = {needed}, \
             but an accelerator has {there}"
        );
        let help = "increase degrees.tensor or degrees.pipeline, choose a stronger sharding, or write recompute: full";
        Err(Refusal::new(format!("{path}.accelerator.memory"), what, help))
    }
}
