//! Pattern of a Python function: a function of the user chooses the destinations, to try an idea without Rust.
//!
//! # Source
//! The user's file.
//!
//! # Parameters
//! `function`: file and name, `FILE.py:NAME`, relative to the scenario. `parameters`: arguments of the function.
//! `draws`: for a function that draws at random, number of calls for each source \[calls\], 1 to 1,000,000.
//!
//! # Guarantees
//! Weft calls the function before the run, not during the run. The results of the calls become a table. The run is therefore as fast as
//! with a `matrix`, and gives the same results at any number of threads. A function with a parameter `rng` gets a random generator of
//! NumPy. The generator is seeded with the scenario's seed and the number of the source, so the order of the calls has no effect. The hash
//! of a point also depends on the text of the file.
//!
//! # Not modelled
//! Destinations that depend on time or on earlier packets. Changes of packages that the file imports: the hash of a point does not depend
//! on their versions.
//!
//! # Validation
//! `tests/test_python_pattern.py` checks that a function gives the same results as a `matrix` with the same destinations, and that random
//! destinations have the stated probabilities. These Python tests also check that the numbers of threads and blocks have no effect, and
//! that each invalid function is refused. `traffic/tests/shares.rs` checks a source whose shares sum to less than 1. This pattern was not
//! compared with another simulator.

use super::function::{Arguments, Known, PythonFunction};
use pyo3::prelude::*;
use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_traffic::Population;
use weft_traffic::pattern::matrix::Rows;
use weft_traffic::pattern::{Destinations, PatternConfig, PatternModel};
use weft_units::{InputFile, Refusal, add_model};

add_model! { PatternConfig: "python" => PythonPattern }

/// Destinations from a Python function that Weft calls once before the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PythonPattern {
    /// File and name of the function, relative to the scenario.
    pub function: PythonFunction,
    /// Arguments of the function, by name.
    #[serde(default)]
    pub parameters: Arguments,
    /// Number of calls for each source, if the function takes `rng`.
    #[serde(default = "thousand")]
    pub draws: u32,
}

fn thousand() -> u32 {
    1000
}

/// Maximum number of calls per source.
const MOST_DRAWS: u32 = 1_000_000;

/// The cached tables of destinations, by the identity of their function.
static TABLES: Known<Arc<Rows>> = Known::new();

impl PatternModel for PythonPattern {
    type To = Table;

    fn build(&self, population: &Population, path: &str) -> Result<Table, Refusal> {
        if !(1..=MOST_DRAWS).contains(&self.draws) {
            let what = format!("{} draws per source are not possible", self.draws);
            return Err(Refusal::new(format!("{path}.draws"), what, format!("write 1 to {MOST_DRAWS}")));
        }
        let identity = format!("{} {} {population:?}", self.function.identity(&self.parameters), self.draws);
        let rows = TABLES.get(identity, || {
            let rows: Vec<Vec<(u32, f64)>> = self.function.ask(
                "weft.scenario.python_patterns",
                "destinations",
                &self.parameters,
                |facts| {
                    facts.set_item("terminals", population.terminals)?;
                    facts.set_item("terminals_per_router", population.terminals_per_router)?;
                    facts.set_item("widths", population.widths.clone())?;
                    facts.set_item("seed", population.seed)?;
                    facts.set_item("draws", self.draws)
                },
                &format!("{path}.function"),
            )?;
            Ok(Arc::new(Rows::of_shares(rows)))
        })?;
        Ok(Table(rows))
    }

    fn examples() -> Vec<Self> {
        let text: &[u8] = b"def destination(source, terminals):\n    return (source + terminals // 2) % terminals\n";
        let function = PythonFunction::new(InputFile::new("half_way.py", text), "destination");
        vec![Self { function, parameters: Arguments::new(), draws: thousand() }]
    }
}

/// The destinations of each source; the table is shared with other runs of the same function.
#[derive(Debug)]
pub struct Table(Arc<Rows>);

impl Destinations for Table {
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        self.0.draw(source, rng)
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        self.0.distribution(source)
    }

    fn relative_load(&self, source: u32) -> f64 {
        self.0.relative_load(source)
    }
}
