//! The members of every family for tests, each with the networks in which it runs. Members and networks come from the examples that models
//! declare in their own files. This file does not list models: tests include a new model as soon as it is registered.

use super::{manage_what_can_be, rounds};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;
use weft_engine::Spec;
use weft_engine::examples::{Example, small_networks};
use weft_engine::power::PolicyConfig;
use weft_engine::routing::{LinkKnowledge, RoutingConfig};
use weft_topology::{Graph, TopologyConfig};
use weft_traffic::mix;

/// A routing, and a network on which it works.
#[derive(Debug, Clone)]
pub struct Pair {
    pub topology: TopologyConfig,
    pub routing: RoutingConfig,
}

impl Pair {
    pub fn spec(&self) -> Spec {
        Spec::new(&self.topology, self.routing.clone()).expect("a spec")
    }
}

impl fmt::Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} on {}", as_written(&self.routing), as_written(&self.topology))
    }
}

/// A configuration as JSON text, with the keys of a scenario.
pub fn as_written(config: &impl serde::Serialize) -> String {
    serde_json::to_string(config).expect("a configuration")
}

/// Number of networks for the first example of a routing, and for each further example. More networks would take too long. `make test-all`
/// uses twice these numbers.
const FIRST: usize = 6;
const OTHERS: usize = 2;

/// Whether the user wants to test one of the models `names`. The environment variable WEFT_TEST_ONLY names a routing, a topology or a power
/// policy, and tests then run only pairs with this model. Without this variable, tests run all models.
pub fn is_tested(names: &[&str]) -> bool {
    let Ok(only) = std::env::var("WEFT_TEST_ONLY") else { return true };
    let all = [RoutingConfig::NAMES, TopologyConfig::NAMES, PolicyConfig::NAMES].concat();
    assert!(all.contains(&only.as_str()), "WEFT_TEST_ONLY: no routing, topology or power policy is named `{only}`");
    names.contains(&only.as_str())
}

/// Whether WEFT_TEST_ONLY is not set, so that tests run all models.
pub fn all_are_tested() -> bool {
    is_tested(&[])
}

/// The pairs of a routing and a topology that tests run.
pub static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let tested = |pair: &&Pair| is_tested(&[pair.routing.name(), pair.topology.name()]);
    ALL_PAIRS.iter().filter(tested).cloned().collect()
});

/// Pairs of every example of every registered routing with networks on which it works. Every kind of topology occurs in
/// some pair.
static ALL_PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let mut pairs = pairs_of(RoutingConfig::examples());
    // a kind of topology may be missing, because hashes select the networks
    let small = small_networks();
    for kind in TopologyConfig::NAMES {
        if !pairs.iter().any(|pair| pair.topology.name() == *kind) {
            let all = all_pairs(&small).filter(|pair| pair.topology.name() == *kind);
            pairs.extend(all.min_by_key(|pair| turn_of(&pair.to_string())));
        }
    }
    pairs
});

/// Pairs of these examples of routings with networks on which they work. A routing that names no networks runs in some of the small
/// networks. A hash of routing and network selects these networks, so other routings and examples do not change the selection.
pub fn pairs_of(examples: Vec<Example<RoutingConfig>>) -> Vec<Pair> {
    let small = small_networks();
    let mut pairs: Vec<Pair> = Vec::new();
    for example in examples {
        let routing = example.config;
        let first = pairs.last().is_none_or(|last| last.routing.name() != routing.name());
        let most = if first { FIRST } else { OTHERS } * rounds(1).min(2) as usize;
        let networks = example.networks.unwrap_or_else(|| {
            let fitting: Vec<&(TopologyConfig, Graph)> =
                small.iter().filter(|(_, graph)| routing.fits(graph)).collect();
            chosen(&routing, &fitting, most, first)
        });
        pairs.extend(networks.into_iter().map(|topology| Pair { topology, routing: routing.clone() }));
    }
    pairs
}

/// All pairs of a routing example and a small network on which it works. Tests run only some, because there are too
/// many.
fn all_pairs(small: &[(TopologyConfig, Graph)]) -> impl Iterator<Item = Pair> {
    let free = RoutingConfig::examples().into_iter().filter(|example| example.networks.is_none());
    free.flat_map(move |example| {
        let routing = example.config;
        let fitting: Vec<_> = small.iter().filter(|(_, graph)| routing.fits(graph)).collect();
        fitting.into_iter().map(move |(topology, _)| Pair { topology: topology.clone(), routing: routing.clone() })
    })
}

/// Selects at most `most` networks for the routing: first one per kind of topology, then a second one per kind, and so on. With `trunks`,
/// the selection includes a network with trunks, if a small network has trunks.
fn chosen(
    routing: &RoutingConfig,
    fitting: &[&(TopologyConfig, Graph)],
    most: usize,
    trunks: bool,
) -> Vec<TopologyConfig> {
    let routing = as_written(routing);
    let hash = |topology: &TopologyConfig| turn_of(&format!("{routing} on {}", as_written(topology)));
    let mut kinds: BTreeMap<&str, Vec<&(TopologyConfig, Graph)>> = BTreeMap::new();
    for &network in fitting {
        kinds.entry(network.0.name()).or_default().push(network);
    }
    let mut kinds: Vec<(&str, Vec<_>)> = kinds.into_iter().collect();
    kinds.sort_by_key(|(kind, _)| turn_of(&format!("{routing} on {kind}")));
    kinds.iter_mut().for_each(|(_, kind)| kind.sort_by_key(|(topology, _)| hash(topology)));
    let rounds = 0..fitting.len();
    let all = rounds.flat_map(|round| kinds.iter().filter_map(move |(_, kind)| kind.get(round)));
    let mut some: Vec<&(TopologyConfig, Graph)> = all.take(most).copied().collect();
    let wide = fitting.iter().filter(|(_, graph)| graph.has_trunks()).min_by_key(|(topology, _)| hash(topology));
    if let Some(wide) = wide.filter(|_| trunks && !some.iter().any(|(_, graph)| graph.has_trunks())) {
        // the network with trunks replaces another network of its kind
        match some.iter_mut().rfind(|other| other.0.name() == wide.0.name()) {
            Some(narrow) => *narrow = wide,
            None => some.push(wide),
        }
    }
    some.into_iter().map(|(topology, _)| topology.clone()).collect()
}

/// A 32-bit hash of these words.
fn turn_of(words: &str) -> usize {
    words.bytes().fold(0, |sum, byte| mix(sum, u64::from(byte), 0)) as u32 as usize
}

/// The members of a list, each with a hash that selects the conditions of its test. A new member of the list does not change the hashes of
/// other members.
pub fn in_their_turns<T: fmt::Display>(members: &[T]) -> impl Iterator<Item = (usize, &T)> {
    members.iter().map(|member| (turn_of(&member.to_string()), member))
}

/// A power policy, with a compatible routing and a network whose links it can manage.
#[derive(Debug)]
pub struct PolicyExample {
    pub pair: Pair,
    pub policy: PolicyConfig,
    /// For each link class, whether the policy manages its links.
    pub managed: Vec<bool>,
}

impl fmt::Display for PolicyExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} manages {:?} under {}", as_written(&self.policy), self.managed, self.pair)
    }
}

/// The examples of registered policies that tests run.
pub static POLICIES: LazyLock<Vec<PolicyExample>> = LazyLock::new(|| {
    let tested = |e: &PolicyExample| is_tested(&[e.policy.name(), e.pair.routing.name(), e.pair.topology.name()]);
    policies_of(PolicyConfig::examples(), tested)
});

/// These examples of policies, each on one network per kind of topology that has a compatible pair of registered models. `keep`: returns
/// whether tests run an example.
pub fn policies_of(policies: Vec<PolicyConfig>, keep: impl Fn(&PolicyExample) -> bool) -> Vec<PolicyExample> {
    let mut examples = placed(policies);
    examples.retain(keep);
    with_other_classes(examples)
}

/// The same examples. In each of them the policy manages all links between routers that it can. A policy that offers information about its
/// links runs with every routing that uses this kind of information. Hashes select the pairs, as in [`pairs_of`].
fn placed(policies: Vec<PolicyConfig>) -> Vec<PolicyExample> {
    let mut examples = Vec::new();
    // build each network only once, not once per policy
    let specs: Vec<Spec> = ALL_PAIRS.iter().map(Pair::spec).collect();
    for policy in policies {
        let before = examples.len();
        let tells = policy.knowledge_of_links();
        let mut by_kind: BTreeMap<(&str, &str), Vec<PolicyExample>> = BTreeMap::new();
        for (pair, spec) in ALL_PAIRS.iter().zip(&specs) {
            if let Some(managed) = managed_by(spec.clone(), &policy) {
                let example = PolicyExample { pair: pair.clone(), policy: policy.clone(), managed };
                let hears = tells != LinkKnowledge::Nothing && pair.routing.knowledge_of_links().contains(&tells);
                let routing = if hears { pair.routing.name() } else { "" };
                by_kind.entry((pair.topology.name(), routing)).or_default().push(example);
            }
        }
        let least = |some: Vec<PolicyExample>| some.into_iter().min_by_key(|example| turn_of(&example.to_string()));
        examples.extend(by_kind.into_values().filter_map(least));
        if examples.len() == before {
            // no pair of `ALL_PAIRS` is compatible with the policy, so try all pairs
            let any = all_pairs(&small_networks()).find_map(|pair| {
                let managed = managed_by(pair.spec(), &policy)?;
                Some(PolicyExample { pair, policy: policy.clone(), managed })
            });
            examples.extend(any);
        }
    }
    examples
}

/// Changes the managed link classes: where possible, half of the examples also manage the links of terminals, and the others omit one
/// class.
fn with_other_classes(mut examples: Vec<PolicyExample>) -> Vec<PolicyExample> {
    let turns: Vec<usize> = in_their_turns(&examples).map(|(turn, _)| turn).collect();
    for (turn, example) in turns.into_iter().zip(&mut examples) {
        if turn.is_multiple_of(2) { leave_a_class_out(example) } else { manage_terminal_links(example) }
    }
    examples
}

/// The link classes that the policy can manage in this network; `None` if the policy is incompatible with the routing or the network.
fn managed_by(mut spec: Spec, policy: &PolicyConfig) -> Option<Vec<bool>> {
    // skip the dependency check, because the pair itself has already been checked
    spec.allow_dependency_cycle = true;
    spec.policy = policy.clone();
    manage_what_can_be(&mut spec).then_some(spec.managed)
}

/// Makes the policy of the example also manage the links of terminals, if it can.
fn manage_terminal_links(example: &mut PolicyExample) {
    let mut spec = example.pair.spec();
    (spec.policy, spec.managed) = (example.policy.clone(), example.managed.clone());
    spec.managed[0] = true;
    if weft_engine::check(&spec).is_ok() {
        example.managed = spec.managed;
    }
}

/// Excludes the last managed link class of the example from the policy, if the policy manages others.
fn leave_a_class_out(example: &mut PolicyExample) {
    let mut managed = example.managed.clone();
    if let Some(last) = managed.iter().rposition(|&managed| managed) {
        managed[last] = false;
        let mut spec = example.pair.spec();
        (spec.policy, spec.managed) = (example.policy.clone(), managed.clone());
        if managed.contains(&true) && weft_engine::check(&spec).is_ok() {
            example.managed = managed;
        }
    }
}
