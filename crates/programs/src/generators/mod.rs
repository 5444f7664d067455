//! Generators: they make programs from a few parameters. Each generator is one file and one line of the registry. Applications are
//! synthetic: each generated program has the structure of the real program with the same name. The header of each generator's file
//! names the source of the message sizes.

mod grid;
mod neighbours;

use crate::amounts::Bytes;
use crate::collectives::{Rules, RulesConfig};
use crate::form::Program;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weft_units::Refusal;

/// Largest number of operations of a generated program. An operation takes 60 bytes, so this number takes 6 GB of
/// memory.
const MOST: u64 = 100_000_000;

/// A number that a generator has computed, with the text of its derivation (`how`).
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    pub name: String,
    pub value: f64,
    /// Unit of the number, without a prefix; empty for a count or a ratio.
    pub unit: &'static str,
    pub how: String,
}

impl Line {
    pub fn new(name: impl Into<String>, value: f64, unit: &'static str, how: impl Into<String>) -> Self {
        Self { name: name.into(), value, unit, how: how.into() }
    }

    fn json(&self) -> Value {
        let is_whole = self.value.fract() == 0.0 && self.value.abs() < 9e15;
        let value = if is_whole { json!(self.value as i64) } else { json!(self.value) };
        json!({"name": self.name, "value": value, "unit": self.unit, "how": self.how})
    }
}

/// A generated program, and the numbers that its generator computed.
#[derive(Debug, Clone)]
pub struct Made {
    pub program: Program,
    pub arithmetic: Vec<Line>,
}

impl Made {
    /// Returns the numbers as a JSON list of `name`, `value`, `unit`, `how`.
    pub fn arithmetic_json(&self) -> Value {
        self.arithmetic.iter().map(Line::json).collect()
    }
}

/// The configuration of a generator.
pub trait Generates {
    /// Generates the program. Refuses invalid parameters; `path` is the dotted path of the generator.
    fn make(&self, path: &str) -> Result<Made, Refusal>;

    /// True if the ranks of the program send messages to each other.
    fn sends(&self) -> bool {
        true
    }

    /// Configurations for tests, with at most 64 ranks.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

weft_units::registry! {
    /// Every generator of programs.
    pub enum GeneratorConfig as Generates, with examples, open to AddedGenerator:
    "training_step" => training_step::TrainingStep,
    "inference_step" => inference_step::InferenceStep,
    "collective" => collective::Collective,
    "compute" => compute::Compute,
    "namd" => namd::Namd,
    "gromacs" => gromacs::Gromacs,
    "linpack" => linpack::Linpack,
    "random_access" => random_access::RandomAccess,
    "graph500" => graph500::Graph500,
    "big_fft" => big_fft::BigFft,
    "nekbone" => nekbone::Nekbone,
    "multigrid" => multigrid::Multigrid,
    "fill_boundary" => fill_boundary::FillBoundary,
    "hilo" => hilo::Hilo,
}

/// A file with the parameters of a generated program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramFile {
    /// The generator with its parameters.
    pub program: GeneratorConfig,
    /// The rules that expand collectives into messages.
    #[serde(default)]
    pub collectives: RulesConfig,
}

impl ProgramFile {
    /// Generates the program. Returns the program with the numbers that the generator computed, and the rules of its collectives.
    pub fn make(&self) -> Result<(Made, Rules), Refusal> {
        let rules = self.collectives.build("collectives")?;
        let made = self.program.model().make(&format!("program.{}", self.program.name()))?;
        let of_program = |Refusal { path, what, help }| Refusal::new("program", format!("{path}: {what}"), help);
        made.program.check().map_err(of_program)?;
        rules.check(&made.program).map_err(of_program)?;
        Ok((made, rules))
    }
}

/// Refuses a number outside of a range. The refusal names `path`.
fn within(path: &str, name: &str, number: u64, least: u64, most: u64) -> Result<(), Refusal> {
    if (least..=most).contains(&number) {
        return Ok(());
    }
    let what = format!("{number} is not from {least} to {most}");
    Err(Refusal::new(format!("{path}.{name}"), what, format!("write a number from {least} to {most}")))
}

/// Returns the largest number of iterations, at most `wanted`, that together send at most `most` bytes. An iteration sends
/// `per_iteration` bytes, as [`crate::info::given`] counts them. Refuses a limit that is too small for one iteration. The refusal
/// names `path`.
fn iterations_within(path: &str, wanted: u32, most: Option<Bytes>, per_iteration: u64) -> Result<u32, Refusal> {
    let fits = match most {
        Some(most) if per_iteration > 0 => most.0 / per_iteration,
        Some(_) | None => u64::from(wanted),
    };
    if fits == 0 {
        let what =
            format!("one iteration sends {per_iteration} bytes, more than the limit of {}", most.unwrap_or_default());
        let help = format!("write {per_iteration}B or more, or make the program smaller");
        return Err(Refusal::new(format!("{path}.most_bytes"), what, help));
    }
    Ok(u32::try_from(fits).map_or(wanted, |fits| fits.min(wanted)))
}

/// Refuses a program with more operations than [`MOST`]. The refusal names `path`.
fn not_too_many(path: &str, operations: u64) -> Result<(), Refusal> {
    if operations <= MOST {
        return Ok(());
    }
    let what = format!("the program would have {operations} operations, but the maximum is {MOST}");
    Err(Refusal::new(path, what, "use fewer steps, micro-batches or ranks"))
}
