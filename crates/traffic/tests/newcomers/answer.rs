//! A test pattern that is not in Weft's registry: even terminals send to the next terminal, odd terminals are silent.

use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_traffic::Population;
use weft_traffic::pattern::{Destinations, PatternModel};
use weft_units::Refusal;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// True if the pattern declares that odd terminals are silent. Tests set false to check that the laws find a wrong declaration.
    pub truthful: bool,
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
        vec![Self { truthful: true }]
    }
}

impl Destinations for Answer {
    fn draw(&self, source: u32, _: &mut Pcg32) -> Option<u32> {
        source.is_multiple_of(2).then_some(source + 1)
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        if source.is_multiple_of(2) { vec![(source + 1, 1.0)] } else { Vec::new() }
    }

    fn relative_load(&self, source: u32) -> f64 {
        if self.truthful && source % 2 == 1 { 0.0 } else { 1.0 }
    }
}
