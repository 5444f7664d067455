//! A cache of the numbers of ranks of generated programs, by the parameters of the program. The parameters alone determine a
//! program, so each process generates a program only once. A sweep over sets of the scheduler checks every program of a set at
//! each of its points, and one program can take a second to generate.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use weft_programs::collectives::RulesConfig;
use weft_programs::generators::GeneratorConfig;
use weft_units::Refusal;

static RANKS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

/// Returns the number of ranks of the program with these parameters. The function calls `make` to generate the program if the
/// cache does not have it.
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
