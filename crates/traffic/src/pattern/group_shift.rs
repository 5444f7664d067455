//! Group shift (ADV+N): group i sends to group i + N, so that few global links carry all traffic.
//!
//! # Source
//! M. Garcia et al., "On-the-Fly Adaptive Routing in High-Radix Hierarchical Networks" (OFAR), ICPP'12, where N = 1 and N = h (global links
//! per router) are the adverse cases; BookSim `bad_dragon` is N = 1.
//!
//! # Parameters
//! `shift` N \[groups\], `local`: the choice of the terminal in the destination group.
//!
//! # Guarantees
//! Group i sends to group i + N modulo the number of groups, never to itself. With `random`, all terminals of the destination group are
//! equally likely. With `same`, the destination has the same index in its group as the source, so the pattern is a permutation.
//!
//! # Not modelled
//! Shifts that differ between groups. A mixture with uniform traffic (`mix` provides it).
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that `same` is a
//! bijection. `engine/tests/theory.rs` and `engine/tests/bounds.rs` check that the single global link between two groups limits the
//! throughput of a group. The rows `bad_dragon` of `tests/data/golden/booksim.csv` and `group shift` of `tests/data/golden/caminos.csv`
//! compare the pattern with other simulators.

use super::{Destinations, PatternModel};
use crate::{Population, below};
use rand_pcg::Pcg32;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Every group i sends to group i + N.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GroupShift {
    /// N of ADV+N: group i sends to group i + N, modulo the number of groups.
    pub shift: u32,
    /// Selects the terminal in the destination group.
    #[serde(default)]
    pub local: Local,
}

/// Selects the terminal in the destination group, layer or router.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Local {
    /// A random terminal, drawn again for every packet.
    #[default]
    Random,
    /// The terminal that has the same index in its group, layer or router as the source.
    Same,
}

impl PatternModel for GroupShift {
    type To = Runs;

    fn build(&self, population: &Population, path: &str) -> Result<Runs, Refusal> {
        let Some(per_group) = population.terminals_per_group else {
            return Err(Refusal::new(
                path,
                "these terminals form no groups",
                "use a topology with groups of equal size, and do not use this pattern inside `within`",
            ));
        };
        let groups = population.terminals / per_group;
        let shift = self.shift % groups;
        if shift == 0 {
            let what = format!("{} mod {groups} groups = 0: every group would send to itself", self.shift);
            return Err(Refusal::new(format!("{path}.shift"), what, shifts(groups)));
        }
        let far = |source: u32| (source / per_group + shift) % groups * per_group;
        Ok(Runs::to_far(population.terminals, per_group, self.local, far))
    }

    fn examples() -> Vec<Self> {
        // Of 8 groups, the shift 4 is half-way around, so two groups send to each other.
        [(1, Local::Random), (3, Local::Same), (4, Local::Same)].map(|(shift, local)| Self { shift, local }).into()
    }
}

/// The remedy in the refusal of a shift that leads a group, layer or router back to itself. `parts`: the number of groups, layers or
/// routers.
pub(super) fn shifts(parts: u32) -> String {
    match parts {
        1 => "use a topology with at least 2 of them: this topology has 1".into(),
        2 => "write 1".into(),
        _ => format!("write 1 to {}", parts - 1),
    }
}

/// For each source, a range of consecutive terminals from which the destination is chosen.
#[derive(Debug, Clone)]
pub struct Runs {
    /// For each source, the first terminal of the range.
    first: Vec<u32>,
    /// Number of terminals in each range.
    choices: u32,
}

impl Runs {
    /// Builds the ranges: each source sends to all `size` terminals from `far(source)` on, or to the one with the same index as the source.
    pub(super) fn to_far(terminals: u32, size: u32, local: Local, far: impl Fn(u32) -> u32) -> Self {
        let (place, choices): (fn(u32, u32) -> u32, _) = match local {
            Local::Random => (|_, _| 0, size),
            Local::Same => (|source, size| source % size, 1),
        };
        Self { first: (0..terminals).map(|source| far(source) + place(source, size)).collect(), choices }
    }
}

impl Destinations for Runs {
    fn draw(&self, source: u32, rng: &mut Pcg32) -> Option<u32> {
        let first = self.first[source as usize];
        Some(if self.choices == 1 { first } else { first + below(rng, self.choices) })
    }

    fn distribution(&self, source: u32) -> Vec<(u32, f64)> {
        let first = self.first[source as usize];
        (first..first + self.choices).map(|terminal| (terminal, 1.0 / f64::from(self.choices))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(shift: u32, local: Local, terminals_per_group: Option<u32>) -> Result<Runs, Refusal> {
        let population = Population { terminals_per_group, ..Population::of(20) };
        GroupShift { shift, local }.build(&population, "p")
    }

    #[test]
    fn the_last_group_wraps() {
        // 5 groups of 4: source 17 has index 1 in group 4. Group 4 + 2 mod 5 is group 1, with terminals 4 to 7.
        assert_eq!(build(2, Local::Same, Some(4)).unwrap().distribution(17), [(5, 1.0)]);
        let random = build(2, Local::Random, Some(4)).unwrap().distribution(17);
        assert_eq!(random, [(4, 0.25), (5, 0.25), (6, 0.25), (7, 0.25)]);
    }

    #[test]
    fn refuses_no_groups_and_shifts_onto_itself() {
        assert_eq!(build(1, Local::Random, None).unwrap_err().path, "p");
        let refusal = build(10, Local::Random, Some(4)).unwrap_err();
        assert_eq!(refusal.what, "10 mod 5 groups = 0: every group would send to itself");
    }
}
