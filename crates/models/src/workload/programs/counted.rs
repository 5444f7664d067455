//! A cache of the ranks of generated programs, by their parameters. A program follows from its parameters alone, so each program is
//! generated once per process. A sweep over sets of the scheduler checks every program of the set at each of its points, and
//! generating a program may take a second.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use weft_programs::collectives::RulesConfig;
use weft_programs::generators::GeneratorConfig;
use weft_units::Refusal;

static RANKS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// The ranks of a program with these parameters. `make` generates the program, if no program with these parameters has been generated.
pub(super) fn ranks(
    program: &GeneratorConfig,
    collectives: &RulesConfig,
    make: impl FnOnce() -> Result<u32, Refusal>,
) -> Result<u32, Refusal> {
    let Ok(key) = serde_json::to_string(&(program, collectives)) else { return make() };
    let known = || RANKS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&ranks) = known().get(&key) {
        return Ok(ranks);
    }
    let ranks = make()?;
    known().insert(key, ranks);
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_made_once_and_one_that_is_refused_each_time() {
        let program = |ranks: u32| -> GeneratorConfig {
            serde_json::from_value(serde_json::json!({"compute": {"ranks": ranks, "time": "77ns"}}))
                .expect("parameters")
        };
        let (rules, refusal) = (RulesConfig::default(), || Err(Refusal::new("p", "what", "help")));
        assert!(ranks(&program(3), &rules, refusal).is_err());
        assert_eq!(ranks(&program(3), &rules, || Ok(3)), Ok(3));
        assert_eq!(ranks(&program(3), &rules, || unreachable!("it is known")), Ok(3));
        assert!(ranks(&program(4), &rules, refusal).is_err());
    }
}
