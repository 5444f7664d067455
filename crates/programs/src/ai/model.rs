//! A transformer model and the accelerator that computes it.

use crate::amounts::Bytes;
use crate::amounts::{ByteRate, Flops};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Largest number of parameters of all layers together. With more parameters, some sizes in bytes might not fit into 64
/// bits.
const MOST_PARAMETERS: f64 = (1u64 << 50) as f64;

/// A decoder-only transformer with SwiGLU feed-forward layers and grouped key-value heads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Model {
    pub layers: u32,
    /// Width of the hidden state.
    pub hidden: u64,
    /// Number of attention heads.
    pub heads: u64,
    /// Number of key-value heads; default: the number of attention heads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kv_heads: Option<u64>,
    /// Width of the feed-forward layer, or of each expert if there are experts.
    pub feed_forward: u64,
    pub vocabulary: u64,
    /// Experts of each layer. Default: none; each layer has one dense feed-forward layer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experts: Option<Experts>,
}

/// The experts of a mixture-of-experts model.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Experts {
    /// Number of experts of a layer.
    pub count: u64,
    /// Number of experts that process each token.
    pub per_token: u64,
}

/// Rates and memory size of an accelerator.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accelerator {
    /// Rate of matrix products that the accelerator achieves: either a measured rate, or the peak rate times the share
    /// of it that the accelerator achieves.
    pub rate: Flops,
    /// Size of the memory.
    pub memory: Bytes,
    /// Bandwidth of the memory.
    pub memory_bandwidth: ByteRate,
}

impl Model {
    fn kv_heads(&self) -> u64 {
        self.kv_heads.unwrap_or(self.heads)
    }

    /// Width of the keys of all heads together: h g / a, with the hidden width h, g key-value heads and a attention
    /// heads. The values have the same width.
    pub fn kv_width(&self) -> u64 {
        self.hidden / self.heads.max(1) * self.kv_heads()
    }

    /// Number of parameters of the attention of a layer: 2 h (h + w), with the hidden width h and the width w of the
    /// keys.
    pub fn attention(&self) -> u64 {
        2 * self.hidden * (self.hidden + self.kv_width())
    }

    /// Number of parameters of one feed-forward layer or expert: 3 h f, with the hidden width h and the feed-forward
    /// width f.
    pub fn expert(&self) -> u64 {
        3 * self.hidden * self.feed_forward
    }

    /// Number of parameters of the router that selects experts: hidden width times number of experts.
    pub fn router(&self) -> u64 {
        self.experts.map_or(0, |experts| self.hidden * experts.count)
    }

    /// Returns two numbers of parameters of a layer: of attention, two norms and router, and of the feed-forward layer
    /// or all experts.
    pub fn layer(&self) -> (u64, u64) {
        let count = self.experts.map_or(1, |experts| experts.count);
        (self.attention() + 2 * self.hidden + self.router(), count * self.expert())
    }

    /// Number of parameters of the model: layers, two separate embeddings (input and output) and the last norm.
    pub fn parameters(&self) -> u64 {
        let (fixed, experts) = self.layer();
        u64::from(self.layers) * (fixed + experts) + 2 * self.vocabulary * self.hidden + self.hidden
    }

    /// Floating-point operations per token of the attention of a layer in a forward pass, in a sequence of `sequence`
    /// tokens. There are two operations per parameter, and 2 s h for the attention core, with s tokens and the hidden
    /// width h. Without the causal mask the core would need 4 s h.
    pub fn attention_flops(&self, sequence: u64) -> f64 {
        2.0 * (self.attention() + self.router()) as f64 + 2.0 * (sequence * self.hidden) as f64
    }

    /// Floating-point operations per token of the feed-forward part of a layer in a forward pass.
    pub fn feed_forward_flops(&self) -> f64 {
        2.0 * (self.experts.map_or(1, |experts| experts.per_token) * self.expert()) as f64
    }

    /// Floating-point operations per token of the output head in a forward pass.
    pub fn head_flops(&self) -> f64 {
        2.0 * (self.vocabulary * self.hidden) as f64
    }

    /// Floating-point operations per token of the whole model in a forward pass.
    pub fn flops(&self, sequence: u64) -> f64 {
        f64::from(self.layers) * (self.attention_flops(sequence) + self.feed_forward_flops()) + self.head_flops()
    }

    /// Bytes of the keys and values of all layers for one token of context. An element of a key and of a value have 2
    /// bytes each.
    pub fn kv_bytes(&self) -> u64 {
        4 * u64::from(self.layers) * self.kv_width()
    }

    /// Refuses a tensor degree that does not divide the number of attention heads. `path` is the dotted path of the key.
    pub fn check_tensor(&self, tensor: u32, path: &str) -> Result<(), Refusal> {
        if self.heads.is_multiple_of(tensor.into()) {
            return Ok(());
        }
        let most = (1..=tensor).rev().find(|&fewer| self.heads.is_multiple_of(fewer.into())).unwrap_or(1);
        let what = format!(
            "{} attention heads are not divisible by tensor {tensor}: each rank computes whole heads",
            self.heads
        );
        Err(Refusal::new(path, what, format!("write a divisor of the number of heads, such as {most}")))
    }

    /// Refuses a model with invalid parameters, or a model for which sizes in bytes might not fit into 64 bits. The
    /// refusal names `path`.
    pub fn check(&self, path: &str) -> Result<(), Refusal> {
        let numbers = [
            ("layers", u64::from(self.layers)),
            ("hidden", self.hidden),
            ("heads", self.heads),
            ("kv_heads", self.kv_heads()),
            ("feed_forward", self.feed_forward),
            ("vocabulary", self.vocabulary),
            ("experts.count", self.experts.map_or(1, |experts| experts.count)),
            ("experts.per_token", self.experts.map_or(1, |experts| experts.per_token)),
        ];
        for (name, number) in numbers {
            if number == 0 || number > 1 << 20 {
                let what = format!("{number} is not from 1 to 2^20");
                return Err(Refusal::new(
                    format!("{path}.{name}"),
                    what,
                    "write the number of the model, from 1 to 1048576",
                ));
            }
        }
        let (fixed, experts) = self.layer();
        let parameters = f64::from(self.layers) * (fixed as f64 + experts as f64);
        if parameters > MOST_PARAMETERS {
            let what = format!("the layers have {parameters:.2e} parameters, more than 2^50");
            return Err(Refusal::new(path, what, "write smaller numbers"));
        }
        if !self.hidden.is_multiple_of(self.heads) || !self.heads.is_multiple_of(self.kv_heads()) {
            let (heads, kv_heads) = (self.heads, self.kv_heads());
            let what = format!(
                "{} / {heads} and {heads} / {kv_heads} (hidden / heads, heads / kv_heads) are not both whole numbers",
                self.hidden
            );
            return Err(Refusal::new(
                format!("{path}.heads"),
                what,
                "write a value of heads that divides hidden, and one of kv_heads that divides heads",
            ));
        }
        match self.experts {
            Some(Experts { count, per_token }) if per_token > count => {
                let what = format!("each token uses {per_token} experts, but there are only {count}");
                Err(Refusal::new(format!("{path}.experts.per_token"), what, format!("write at most {count}")))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn dense_70b() -> Model {
        Model {
            layers: 80,
            hidden: 8192,
            heads: 64,
            kv_heads: Some(8),
            feed_forward: 28_672,
            vocabulary: 128_256,
            experts: None,
        }
    }

    pub fn mixture_8x7b() -> Model {
        let experts = Some(Experts { count: 8, per_token: 2 });
        Model {
            layers: 32,
            hidden: 4096,
            heads: 32,
            kv_heads: Some(8),
            feed_forward: 14_336,
            vocabulary: 32_000,
            experts,
        }
    }

    fn near(value: f64, expected: f64) -> bool {
        (value / expected - 1.0).abs() < 5e-4
    }

    #[test]
    fn parameters_and_operations_are_those_of_published_models() {
        let (dense, mixture) = (dense_70b(), mixture_8x7b());
        assert!(near(dense.attention() as f64, 151.0e6) && near(dense.expert() as f64, 704.6e6));
        assert!(near(mixture.attention() as f64, 41.94e6) && near(mixture.expert() as f64, 176.2e6));
        assert!(near(dense.parameters() as f64, 70.55e9) && near(mixture.parameters() as f64, 46.70e9));
        // 10^9 operations per token: first a forward pass at 4,096 tokens, then training (three times the forward pass)
        // at 4,096 and 8,192
        assert!(near(dense.flops(4096), 144.4e9) && near(mixture.flops(4096), 26.57e9));
        assert!(near(3.0 * dense.flops(4096), 433.1e9) && near(3.0 * dense.flops(8192), 449.2e9));
        assert_eq!(dense.kv_bytes(), 327_680);
    }
}
