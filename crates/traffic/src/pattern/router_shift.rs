//! Router shift (ADVL+N): router i of a group sends to router i + N of this group, and a single local link carries all this traffic.
//!
//! # Source
//! M. Garcia et al., "Efficient Routing Mechanisms for Dragonfly Networks", ICPP'13: adversarial-local traffic, ADVL+N; FOGSim's
//! local adversarial traffic.
//!
//! # Parameters
//! `shift` N \[routers\], `local`: the choice of the terminal at the destination router.
//!
//! # Guarantees
//! Router i of a group sends to router i + N of the same group, modulo the number of routers of the group, never to itself. With `random`,
//! all terminals of the destination router are equally likely. With `same`, the destination has the same index on its router as the source,
//! so the pattern is a permutation.
//!
//! # Not modelled
//! Shifts that differ between groups. A mixture with uniform or group-shift traffic (`mix` provides it).
//!
//! # Validation
//! `traffic/tests/conformance.rs` checks that destinations are valid and drawn with the stated probabilities, and that `same` is a
//! bijection. `engine/tests/bounds.rs` checks that one local link limits minimal routing to 1 / (terminals of a router). The rows `LADV+1`
//! of `tests/data/golden/fogsim.csv` compare the pattern with FOGSim.

use super::PatternModel;
use super::group_shift::{Local, Runs, shifts};
use crate::Population;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Every router i of a group sends to router i + N of this group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouterShift {
    /// N of ADVL+N: router i of a group sends to router i + N of the same group, modulo the number of routers in a group.
    pub shift: u32,
    /// Selects the terminal at the destination router.
    #[serde(default)]
    pub local: Local,
}

impl PatternModel for RouterShift {
    type To = Runs;

    fn build(&self, population: &Population, path: &str) -> Result<Runs, Refusal> {
        let (Some(per_group), Some(each)) = (population.terminals_per_group, population.terminals_per_router) else {
            return Err(Refusal::new(
                path,
                "the routers of these terminals form no groups, or have different numbers of terminals",
                "use a topology with groups of equal routers, and do not use this pattern inside `within`",
            ));
        };
        let routers = per_group / each;
        let shift = self.shift % routers;
        if shift == 0 {
            let what = format!("{} mod {routers} routers = 0: every router would send to itself", self.shift);
            return Err(Refusal::new(format!("{path}.shift"), what, shifts(routers)));
        }
        let far = |source: u32| {
            let (group, router) = (source / per_group, source % per_group / each);
            group * per_group + (router + shift) % routers * each
        };
        Ok(Runs::to_far(population.terminals, each, self.local, far))
    }

    fn examples() -> Vec<Self> {
        [(1, Local::Random), (1, Local::Same)].map(|(shift, local)| Self { shift, local }).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::Destinations;

    /// Population of the tests: 3 groups of 4 routers with 2 terminals each.
    fn build(shift: u32, local: Local) -> Result<Runs, Refusal> {
        let population =
            Population { terminals_per_router: Some(2), terminals_per_group: Some(8), ..Population::of(24) };
        RouterShift { shift, local }.build(&population, "p")
    }

    #[test]
    fn it_stays_in_its_group_where_the_last_router_wraps() {
        // Source 15 has index 1 on router 3 of group 1. Router 3 + 2 mod 4 is router 1 of this group, with terminals 10 and 11.
        assert_eq!(build(2, Local::Same).unwrap().distribution(15), [(11, 1.0)]);
        assert_eq!(build(2, Local::Random).unwrap().distribution(15), [(10, 0.5), (11, 0.5)]);
        assert_eq!(build(1, Local::Same).unwrap().distribution(15), [(9, 1.0)]);
    }

    #[test]
    fn refuses_no_groups_unequal_routers_and_shifts_onto_itself() {
        let config = RouterShift { shift: 1, local: Local::Random };
        assert_eq!(config.build(&Population::of(24), "p").unwrap_err().path, "p");
        let unequal = Population { terminals_per_group: Some(8), ..Population::of(24) };
        assert_eq!(config.build(&unequal, "p").unwrap_err().path, "p");
        let refusal = build(8, Local::Random).unwrap_err();
        assert_eq!(
            refusal.to_string(),
            "p.shift: 8 mod 4 routers = 0: every router would send to itself (write 1 to 3)"
        );
    }
}
