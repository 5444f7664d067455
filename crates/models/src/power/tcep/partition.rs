//! Algorithm 1 of TCEP divides the links of a router into inner links, which must stay on, and outer links. TCEP switches off only outer
//! links, except if the parameter `spares` is `even`.
//!
//! # Source
//! Kim et al., "TCEP", ISCA 2018, Section IV-A, Algorithm 1. As printed in the paper, the algorithm has three faults. First, the budget of
//! the inner links begins with the flits that link 0 carries, instead of the free capacity of link 0. Second, the capacity of a link counts
//! as 1, instead of the high-water mark. Third, the search tests whether it can end only after link 1 has become inner. Therefore a router
//! with two links never switches off the second link, although the paper reports that state. `corrected` repairs the three faults.
//! `printed` keeps them, and fills only two gaps that every implementation must fill. The search for the best link begins with infinite
//! cost. If the loop finds no boundary, there are no outer links.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Form of Algorithm 1 of the paper.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// The budget of the inner links is their free capacity below the high-water mark. Link 0 can be the only inner link.
    #[default]
    Corrected,
    /// The algorithm as printed in the paper, with its faults.
    Printed,
}

impl Algorithm {
    /// Number of inner links among the active links of a router. `utilisation`: the utilisation of each active link as a share of its
    /// bandwidth, in the order of rank, with the link to the hub first.
    pub(crate) fn boundary(self, utilisation: &[f64], high_water: f64) -> usize {
        let Some((&first, others)) = utilisation.split_first() else { return 0 };
        let mut outer: f64 = others.iter().sum();
        match self {
            Self::Corrected => {
                let left = |u: f64| (high_water - u).max(0.0);
                let mut inner = left(first);
                let mut boundary = 1;
                while inner < outer && boundary < utilisation.len() {
                    inner += left(utilisation[boundary]);
                    outer -= utilisation[boundary];
                    boundary += 1;
                }
                boundary
            }
            Self::Printed => {
                let mut inner = first;
                for (l, &u) in others.iter().enumerate() {
                    inner += 1.0 - u;
                    outer -= u;
                    if inner >= outer {
                        return l + 2;
                    }
                }
                utilisation.len()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Algorithm;

    /// The paper's Fig. 6: five links, of which three are inner. The inner links have a free capacity (budget) of 1.9, and the outer links
    /// carry 1.2.
    #[test]
    fn the_example_of_figure_6_has_three_inner_links() {
        let links = [0.2, 0.4, 0.5, 0.7, 0.5];
        let budget: f64 = links[..3].iter().map(|u| 1.0 - u).sum();
        assert!((budget - 1.9).abs() < 1e-12 && (links[3] + links[4] - 1.2f64).abs() < 1e-12);
        assert_eq!(Algorithm::Corrected.boundary(&links, 1.0), 3);
        // for these links, the algorithm as printed computes a budget of 0.2 + 0.6 + 0.5 = 1.3
        assert_eq!(Algorithm::Printed.boundary(&links, 1.0), 3);
    }

    #[test]
    fn a_router_with_two_idle_links_can_drop_the_second_only_when_corrected() {
        assert_eq!(Algorithm::Corrected.boundary(&[0.0, 0.0], 0.75), 1);
        assert_eq!(Algorithm::Printed.boundary(&[0.0, 0.0], 0.75), 2);
    }

    #[test]
    fn links_above_the_high_water_mark_add_nothing_to_the_budget() {
        // The first link, at 0.8, is above the mark and adds 0 to the budget. The second link adds 0.75 - 0.6 = 0.15, and the third 0.75 -
        // 0.5 = 0.25. Only the budget of all three links, 0.4, is enough for the utilisation 0.4 of the last link
        assert_eq!(Algorithm::Corrected.boundary(&[0.8, 0.6, 0.5, 0.4], 0.75), 3);
        assert_eq!(Algorithm::Corrected.boundary(&[0.8, 0.8, 0.8], 0.75), 3);
        assert_eq!(Algorithm::Corrected.boundary(&[], 0.75), 0);
    }
}
