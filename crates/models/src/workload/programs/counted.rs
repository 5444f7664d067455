//! A cache of properties of programs, such as the number of ranks. The key of an entry is the parameters or the file of a program, which
//! alone determine the program. Therefore each process generates or reads a program only once. Without the cache, every point of a sweep
//! would generate all programs of a set (`scheduler.rs`) for its checks, and one program can take a second.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use weft_programs::form::{Kind, Op, Program, RankProgram};
use weft_units::Refusal;

/// The properties of a program that the cache stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Counted {
    pub ranks: u32,
    /// True if a rank sends messages, or takes part in a collective.
    pub has_messages: bool,
    /// True if a rank sends messages to itself.
    pub sends_to_itself: bool,
}

impl Counted {
    fn of(program: &Program) -> Self {
        let is_message = |kind| matches!(kind, Kind::Send | Kind::Collective(_));
        let has_messages = program.ranks.iter().flat_map(|rank| rank.ops.ops()).any(|op| is_message(op.kind()));
        let sends_to = |number: u32, rank: &RankProgram| {
            let is_own = |op: &Op| op.peer().is_some_and(|peer| rank.rank_of(op.comm(), peer) == number);
            rank.ops.ops().iter().any(|op| op.kind() == Kind::Send && is_own(op))
        };
        let sends_to_itself = (0..).zip(&program.ranks).any(|(number, rank)| sends_to(number, rank));
        Self { ranks: program.len(), has_messages, sends_to_itself }
    }
}

static KNOWN: Mutex<BTreeMap<String, Counted>> = Mutex::new(BTreeMap::new());

/// Returns the properties of the program with this key. If the cache does not have them, calls `make` to generate or read the program. A
/// program without a key is not cached.
pub(super) fn of(key: Option<String>, make: impl FnOnce() -> Result<Program, Refusal>) -> Result<Counted, Refusal> {
    let Some(key) = key else { return Ok(Counted::of(&make()?)) };
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&counted) = known().get(&key) {
        return Ok(counted);
    }
    let counted = Counted::of(&make()?);
    known().insert(key, counted);
    Ok(counted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_made_once_and_one_that_is_refused_each_time() {
        let count = |key: &str, make: &dyn Fn() -> Result<Program, Refusal>| of(Some(format!("test {key}")), make);
        let refused = || Err(Refusal::new("p", "what", "help"));
        let program = || Ok(Program::default());
        let none = Counted { ranks: 0, has_messages: false, sends_to_itself: false };
        assert!(count("3", &refused).is_err());
        assert_eq!(count("3", &program), Ok(none));
        assert_eq!(count("3", &|| unreachable!("it is known")), Ok(none));
        assert!(count("4", &refused).is_err());
        // programs without a key have no common entry
        assert_eq!(of(None, program), Ok(none));
        assert!(of(None, refused).is_err());
    }
}
