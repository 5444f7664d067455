//! Mirror: the first terminal sends to the last one, the second to the last but one, and so on.
//!
//! # Source
//! An example.
//! # Parameters
//! `share` (default 1): share of the packets that are sent to the mirror image. The other packets are sent to the next terminal.
//! # Guarantees
//! If the number of terminals is odd, the middle terminal is its own mirror image. It sends all its packets to the next terminal.
//! # Not modelled
//! Groups and grids of terminals.
//! # Validation
//! `tests/conformance.rs`: the frequencies of the destinations agree with the distribution. There is no comparison with another simulator.

use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_traffic::pattern::{Destinations, PatternModel};
use weft_traffic::{Population, below};
use weft_units::Refusal;

/// Each terminal sends to its mirror image.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mirror {
    /// Share of the packets that are sent to the mirror image, 0 to 1 (default 1).
    #[serde(default = "all")]
    pub share: f64,
}

fn all() -> f64 {
    1.0
}

/// The pattern for a given number of terminals.
#[derive(Debug, Clone)]
pub struct Images {
    terminals: u32,
    share: f64,
}

/// Number of values of the random number that is compared with the share for each packet. This number limits the precision of the share.
const FINE: u32 = 1 << 30;

impl PatternModel for Mirror {
    type To = Images;

    fn build(&self, population: &Population, path: &str) -> Result<Images, Refusal> {
        if population.terminals < 2 {
            return Err(Refusal::new(path, "a single terminal has no mirror image", "use at least two terminals"));
        }
        if !(0.0..=1.0).contains(&self.share) {
            let what = format!("a share of {} is not possible", self.share);
            return Err(Refusal::new(format!("{path}.share"), what, "write a number from 0 to 1"));
        }
        Ok(Images { terminals: population.terminals, share: self.share })
    }

    fn examples() -> Vec<Self> {
        vec![Self { share: 1.0 }, Self { share: 0.25 }]
    }
}

impl Images {
    fn image(&self, source: u32) -> u32 {
        self.terminals - 1 - source
    }

    fn next(&self, source: u32) -> u32 {
        (source + 1) % self.terminals
    }
}

impl Destinations for Images {
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        let goes_far = f64::from(below(rng, FINE)) < self.share * f64::from(FINE);
        let image = self.image(source);
        Some(if goes_far && image != source { image } else { self.next(source) })
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        let (image, next) = (self.image(source), self.next(source));
        if image == source || image == next || self.share == 0.0 {
            return vec![(next, 1.0)];
        }
        let mut parts = vec![(image, self.share), (next, 1.0 - self.share)];
        parts.retain(|&(_, share)| share > 0.0);
        parts.sort_by_key(|&(destination, _)| destination);
        parts
    }
}
