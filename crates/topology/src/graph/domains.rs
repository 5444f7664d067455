//! Domains: nested sets of terminals that are near each other. The smallest set contains the terminals of one router. Schedulers use
//! domains to place programs.

use super::{Graph, Structure};
use std::collections::BTreeMap;

/// A partition of the terminals into sets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Domains {
    /// The name of the kind of sets in this partition, such as `router`.
    pub name: &'static str,
    /// For each terminal, the number of its set, counted from 0.
    pub of_terminal: Vec<u32>,
    pub count: u32,
}

impl Domains {
    /// Puts terminals with the same key into the same set. Sets are numbered in the order of their keys.
    fn of<K: Ord>(name: &'static str, keys: impl Iterator<Item = K>) -> Self {
        let keys: Vec<K> = keys.collect();
        let mut numbers: BTreeMap<&K, u32> = keys.iter().map(|key| (key, 0)).collect();
        numbers.values_mut().zip(0..).for_each(|(number, place)| *number = place);
        Self { name, count: numbers.len() as u32, of_terminal: keys.iter().map(|key| numbers[key]).collect() }
    }
}

impl Graph {
    /// The partitions of the network's terminals into domains, first the one with the smallest sets. The first partition is by router. The
    /// next partitions are by group, or by subtree of each height, or by row and then by plane of a grid. Each set is contained in one set
    /// of the next partition. The whole network is not a domain. A network of several planes has no domains above its routers.
    pub fn domains(&self) -> Vec<Domains> {
        let routers: Vec<u32> = (0..self.terminals()).map(|terminal| self.terminal_at(terminal).0).collect();
        let mut all = vec![Domains::of("router", routers.iter().copied())];
        if self.planes() == 1 {
            all.extend(above_routers(self.structure(), &routers));
        }
        let mut finest = self.terminals() + 1;
        all.retain(|domains| {
            let is_news = domains.count > 1 && domains.count < finest;
            if is_news {
                finest = domains.count;
            }
            is_news
        });
        all
    }
}

fn above_routers(structure: &Structure, routers: &[u32]) -> Vec<Domains> {
    if let Some(groups) = &structure.groups {
        return vec![Domains::of("group", routers.iter().map(|&router| groups.places[router as usize].0))];
    }
    if let Some((levels, tree)) = structure.levels.as_ref().and_then(|levels| levels.tree.as_ref().map(|t| (levels, t)))
    {
        let digits = |from: usize| {
            move |&router: &u32| tree.digits[router as usize][from..].iter().rev().copied().collect::<Vec<_>>()
        };
        let heights = 1..levels.count.saturating_sub(1) as usize;
        return heights.map(|height| Domains::of("subtree", routers.iter().map(digits(height)))).collect();
    }
    let dimensions = structure.widths().map_or(0, |widths| widths.len());
    let from = |lowest: usize| {
        let name = if lowest == 1 { "row" } else { "plane" };
        let key = |&router: &u32| {
            structure.coordinates(router).map(|all| all[lowest..].iter().rev().copied().collect::<Vec<_>>())
        };
        Domains::of(name, routers.iter().map(key))
    };
    (1..dimensions).map(from).collect()
}

#[cfg(test)]
mod tests {
    use crate::TopologyConfig;

    fn domains(topology: &str) -> Vec<(&'static str, Vec<u32>)> {
        let topology: TopologyConfig = serde_json::from_str(topology).unwrap();
        let graph = topology.build("topology").unwrap();
        graph.domains().into_iter().map(|each| (each.name, each.of_terminal)).collect()
    }

    #[test]
    fn a_grid_has_rows_and_planes() {
        let torus = domains(r#"{"torus": {"widths": [3, 2, 2], "terminals_per_router": 2}}"#);
        let by = |each: u32| (0..24).map(|terminal| terminal / each).collect::<Vec<_>>();
        assert_eq!(torus, [("router", by(2)), ("row", by(6)), ("plane", by(12))]);
    }

    #[test]
    fn a_tree_has_subtrees() {
        // 8 leaves have 2 terminals each. Each subtree of height 1 has 2 leaves, and each subtree of height 2 has 4 leaves
        let tree = domains(r#"{"k_ary_n_tree": {"k": 2, "n": 4}}"#);
        let by = |each: u32| (0..16).map(|terminal| terminal / each).collect::<Vec<_>>();
        assert_eq!(tree, [("router", by(2)), ("subtree", by(4)), ("subtree", by(8))]);
    }

    #[test]
    fn a_dragonfly_has_groups_and_a_single_router_has_nothing() {
        let dragonfly = domains(
            r#"{"dragonfly": {"terminals_per_router": 2, "routers_per_group": 4, "global_links_per_router": 2}}"#,
        );
        assert_eq!(dragonfly.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["router", "group"]);
        assert!(domains(r#"{"single_router": {"terminals": 4}}"#).is_empty());
    }

    #[test]
    fn domains_are_nested_in_every_topology() {
        for topology in TopologyConfig::examples() {
            let Ok(graph) = topology.build("topology") else { continue };
            let all = graph.domains();
            for pair in all.windows(2) {
                let mut above = std::collections::BTreeMap::new();
                for (small, large) in pair[0].of_terminal.iter().zip(&pair[1].of_terminal) {
                    assert_eq!(above.entry(small).or_insert(large), &large, "{}", topology.name());
                }
                assert!(pair[1].count < pair[0].count);
            }
        }
    }
}
