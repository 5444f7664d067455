//! A pattern that is in no registry of Weft, as in an outside crate: pairs of terminals send to each other.

use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_traffic::Population;
use weft_traffic::pattern::{Destinations, PatternModel};
use weft_units::Refusal;

/// Terminals in pairs: the even one sends to the one after it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// Whether the odd terminal of a pair also sends to the even one.
    #[serde(default)]
    pub both: bool,
}

impl PatternModel for Answer {
    type To = Answer;

    fn build(&self, population: &Population, path: &str) -> Result<Answer, Refusal> {
        match population.terminals % 2 {
            0 => Ok(self.clone()),
            _ => Err(Refusal::new(path, format!("{} terminals", population.terminals), "take an even number")),
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self { both: true }, Self { both: false }]
    }
}

impl Answer {
    fn sends(&self, source: u32) -> bool {
        self.both || source.is_multiple_of(2)
    }
}

impl Destinations for Answer {
    fn draw(&self, source: u32, _: &mut Pcg32) -> Option<u32> {
        self.sends(source).then_some(source ^ 1)
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        if self.sends(source) { vec![(source ^ 1, 1.0)] } else { Vec::new() }
    }

    fn relative_load(&self, source: u32) -> f64 {
        f64::from(u8::from(self.sends(source)))
    }
}
