//! Rules that choose the free nodes for a program.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use weft_api::base::hash::hash;
use weft_api::workload::JobSite;
use weft_units::Refusal;

/// Purpose of the random numbers for placements (a part of their address).
const PLACES: u64 = 0x5c4e_d91a;

/// Rule that chooses the free nodes for a program.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Placement {
    /// The first free nodes, in the order of the terminals of the job.
    #[default]
    Lowest,
    /// The smallest gap (consecutive free nodes) that is large enough, or the first free nodes if no gap is. With this rule, programs share
    /// fewer routers than with `lowest`, and more links between routers can sleep.
    BestFit,
    /// Random free nodes, assigned to the program's ranks in random order.
    Random,
    /// The smallest domain of the network with enough free nodes. Domains are routers and, above them, groups, subtrees, rows or planes.
    /// Among domains of equal size, the placement uses the one with the fewest free nodes. If no domain is large enough, the placement uses
    /// as few of the next smaller domains as possible. Inside of a domain, the same rule applies to its smaller domains.
    Compact,
    /// The free nodes of one group after the other, in a random order of the groups. In networks without groups, subtrees or rows replace
    /// the groups.
    ByGroup,
}

/// The domains to which the terminals of a job belong, the smallest kind first. Each list contains the number of the
/// domain of each node of the job.
#[derive(Debug, Clone, Default)]
pub struct Domains(Vec<Vec<u32>>);

impl Placement {
    /// Returns the domains that this placement needs. Refuses a network that has no such domains.
    pub fn domains(self, site: &JobSite) -> Result<Domains, Refusal> {
        if matches!(self, Self::Lowest | Self::BestFit | Self::Random) {
            return Ok(Domains::default());
        }
        let all = site.near.domains();
        if self == Self::ByGroup && all.len() < 2 {
            let what = "this network has no groups, subtrees or rows of routers".to_owned();
            let help = "write `placement: compact`, which needs no groups, or `random`";
            return Err(site.refusal("workload.scheduler.placement", what, help));
        }
        let of = |domains: &weft_topology::Domains| {
            site.terminals
                .iter()
                .map(|&terminal| domains.of_terminal.get(terminal as usize).copied().unwrap_or(0))
                .collect()
        };
        Ok(Domains(all.iter().map(of).collect()))
    }

    /// Chooses nodes for the program that is the `start`-th to start. Returns one node index for each of its `needs`
    /// cores, in the order of the program's nodes. `free`: the number of free cores of each node. If programs do not
    /// share nodes, this is 1 for a free node. The caller ensures that at least `needs` cores are free.
    pub fn choose(self, free: &[u32], needs: usize, domains: &Domains, (seed, start): (u64, u32)) -> Vec<u32> {
        let all = || (0u32..).zip(free).flat_map(|(place, &cores)| std::iter::repeat_n(place, cores as usize));
        let drawn = |number: u32| hash(seed, start, number, PLACES);
        match self {
            Self::Lowest => all().take(needs).collect(),
            Self::BestFit => {
                let from = smallest_gap(free, needs).unwrap_or(0);
                all().filter(|&place| place as usize >= from).take(needs).collect()
            }
            Self::Random => {
                let mut drawn: Vec<_> = all().map(|place| (drawn(place), place)).collect();
                drawn.sort_unstable();
                drawn.into_iter().take(needs).map(|(_, place)| place).collect()
            }
            Self::Compact => {
                let mut places = compact(&domains.0, all().collect(), needs);
                places.sort_unstable();
                places
            }
            Self::ByGroup => {
                let group = |place: u32| domains.0.get(1).map_or(0, |groups| groups[place as usize]);
                let mut places: Vec<_> = all().map(|place| (drawn(group(place)), group(place), place)).collect();
                places.sort_unstable();
                places.into_iter().take(needs).map(|(.., place)| place).collect()
            }
        }
    }
}

/// Returns the first node of the smallest gap of free nodes that is large enough. Of gaps of equal size, takes the first.
fn smallest_gap(free: &[u32], needs: usize) -> Option<usize> {
    let mut gaps = Vec::new();
    let mut begin = 0;
    for gap in free.split(|&cores| cores == 0) {
        gaps.push((gap.iter().sum::<u32>() as usize, begin));
        begin += gap.len() + 1;
    }
    gaps.into_iter().filter(|&(cores, _)| cores >= needs).min().map(|(_, begin)| begin)
}

/// Returns the free nodes of each domain.
fn parts(level: &[u32], free: &[u32]) -> BTreeMap<u32, Vec<u32>> {
    let mut parts = BTreeMap::<u32, Vec<u32>>::new();
    free.iter().for_each(|&place| parts.entry(level[place as usize]).or_default().push(place));
    parts
}

/// Chooses `needs` of the free nodes, in as few domains as possible.
fn compact(levels: &[Vec<u32>], free: Vec<u32>, needs: usize) -> Vec<u32> {
    for (height, level) in levels.iter().enumerate() {
        let suffice = parts(level, &free).into_values().filter(|places| places.len() >= needs);
        if let Some(best) = suffice.min_by_key(Vec::len) {
            return within(&levels[..height], best, needs);
        }
    }
    within(levels, free, needs)
}

/// Chooses `needs` of the free nodes of one domain, if no part of the domain is large enough alone.
fn within(levels: &[Vec<u32>], free: Vec<u32>, needs: usize) -> Vec<u32> {
    let Some((top, below)) = levels.split_last() else { return free.into_iter().take(needs).collect() };
    let mut parts: Vec<Vec<u32>> = parts(top, &free).into_values().collect();
    parts.sort_by_key(|places| Reverse(places.len()));
    let mut places = Vec::with_capacity(needs);
    // takes whole parts, the largest first, so that the program has few parts; its last part is the smallest one that is large enough
    while let Some(largest) = parts.first() {
        let left = needs - places.len();
        if largest.len() >= left {
            let last = parts.iter().rposition(|part| part.len() >= left).unwrap_or(0);
            places.extend(compact(below, parts.swap_remove(last), left));
            break;
        }
        places.extend(parts.remove(0));
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The network has 2 groups of 3 routers with 4 nodes each.
    fn domains() -> Domains {
        Domains([4, 12].map(|size| (0..24).map(|place| place / size).collect()).to_vec())
    }

    fn free(taken: &[u32]) -> Vec<u32> {
        (0..24).map(|place| u32::from(!taken.contains(&place))).collect()
    }

    fn choose(placement: Placement, taken: &[u32], needs: usize, start: u32) -> Vec<u32> {
        placement.choose(&free(taken), needs, &domains(), (7, start))
    }

    #[test]
    fn the_best_fit_is_the_smallest_gap() {
        // the free nodes are in three gaps: nodes 0 and 1, 3 to 5, 7 to 9
        let taken: Vec<u32> = [2, 6].into_iter().chain(10..24).collect();
        assert_eq!(choose(Placement::BestFit, &taken, 2, 0), [0, 1]);
        assert_eq!(choose(Placement::BestFit, &taken, 3, 0), [3, 4, 5]);
        assert_eq!(choose(Placement::BestFit, &taken, 4, 0), [0, 1, 3, 4]);
        assert_eq!(choose(Placement::Lowest, &taken, 3, 0), [0, 1, 3]);
    }

    #[test]
    fn compact_takes_the_smallest_domain_that_suffices() {
        // router 1 has 2 free nodes, router 2 has 3, and the other routers have 4
        let taken = [4, 5, 8];
        assert_eq!(choose(Placement::Compact, &taken, 2, 0), [6, 7]);
        assert_eq!(choose(Placement::Compact, &taken, 3, 0), [9, 10, 11]);
        assert_eq!(choose(Placement::Compact, &taken, 4, 0), [0, 1, 2, 3]);
        // No router has 5 free nodes. Group 0 has 9, and group 1 has 12. The program therefore gets all nodes of router 0 in
        // the smaller group, and one of the remaining nodes of router 1
        assert_eq!(choose(Placement::Compact, &taken, 5, 0), [0, 1, 2, 3, 6]);
        // Only group 1 has 10 free nodes. No group has 14. A program of 14 nodes therefore gets all nodes of the larger group, and
        // 2 nodes of the smallest router of the other group
        assert_eq!(choose(Placement::Compact, &taken, 10, 0), (12..22).collect::<Vec<_>>());
        assert_eq!(choose(Placement::Compact, &taken, 14, 0), [6, 7].into_iter().chain(12..24).collect::<Vec<_>>());
    }

    #[test]
    fn by_group_fills_a_group_before_the_next() {
        let mut first = [0u32; 2];
        for start in 0..200 {
            let places = choose(Placement::ByGroup, &[3], 13, start);
            let group = (places[0] / 12) as usize;
            let of_group = places.iter().filter(|&&place| (place / 12) as usize == group).count();
            assert_eq!(of_group, [11, 12][group]);
            first[group] += 1;
        }
        // in 200 draws, the count of an outcome of probability 1/2 has mean 100 and standard deviation 7
        assert!(first[0].abs_diff(100) < 28, "{first:?}");
    }

    #[test]
    fn random_places_are_all_alike() {
        let mut counts = [0u32; 24];
        for start in 0..4_800 {
            let places = choose(Placement::Random, &[5], 4, start);
            assert_eq!(places.len(), 4);
            places.iter().for_each(|&place| counts[place as usize] += 1);
        }
        assert_eq!(counts[5], 0);
        // in 4,800 draws of 4 out of 23 nodes, the count of each node has mean 835 and standard deviation 26
        assert!(counts.iter().enumerate().all(|(place, &count)| place == 5 || count.abs_diff(835) < 110), "{counts:?}");
    }

    #[test]
    fn every_placement_gives_free_places_once() {
        for placement in
            [Placement::Lowest, Placement::BestFit, Placement::Random, Placement::Compact, Placement::ByGroup]
        {
            for needs in 1..=20 {
                let taken = [0, 7, 8, 23];
                let mut places = choose(placement, &taken, needs, needs as u32);
                places.sort_unstable();
                places.dedup();
                assert!(
                    places.len() == needs && places.iter().all(|place| !taken.contains(place)),
                    "{placement:?} {needs}"
                );
            }
        }
    }

    /// Tests 24 nodes with 4 cores each, of which some are in use.
    #[test]
    fn cores_of_a_node_stay_together() {
        let free: Vec<u32> = [3, 4, 0, 1, 4].into_iter().chain([4; 19]).collect();
        let of = |placement: Placement, needs| placement.choose(&free, needs, &domains(), (7, 1));
        assert_eq!(of(Placement::Lowest, 9), [0, 0, 0, 1, 1, 1, 1, 3, 4]);
        // nodes 0 and 1 form a gap with 7 free cores
        assert_eq!(of(Placement::BestFit, 6), [0, 0, 0, 1, 1, 1]);
        assert_eq!(of(Placement::BestFit, 8), [3, 4, 4, 4, 4, 5, 5, 5]);
        // router 0 has 8 free cores, and the other routers have 16
        assert_eq!(of(Placement::Compact, 8), [0, 0, 0, 1, 1, 1, 1, 3]);
        for placement in
            [Placement::Lowest, Placement::BestFit, Placement::Random, Placement::Compact, Placement::ByGroup]
        {
            for needs in 1..=80 {
                let cores = of(placement, needs);
                let nodes: Vec<&[u32]> = cores.chunk_by(|a, b| a == b).collect();
                assert_eq!(cores.len(), needs);
                assert!(
                    nodes.iter().all(|node| node.len() <= free[node[0] as usize] as usize),
                    "{placement:?} {needs}"
                );
                let mut places: Vec<u32> = nodes.iter().map(|node| node[0]).collect();
                places.sort_unstable();
                assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "{placement:?} {needs}: {places:?}");
            }
        }
    }
}
