//! The members of every family, each with networks to run it in. Members and networks come from the examples that models declare. This file
//! does not list models: a new model is included as soon as it is registered.

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

/// A routing, and a network that it supports.
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

/// A configuration as a scenario writes it.
pub fn as_written(config: &impl serde::Serialize) -> String {
    serde_json::to_string(config).expect("a configuration")
}

/// Number of networks for the first example of a routing, and for each other example; more would take too long. `make test-all` uses twice
/// as many.
const FIRST: usize = 6;
const OTHERS: usize = 2;

/// Whether one of these models is to be tested. WEFT_TEST_ONLY names a routing, a topology or a power policy; only pairs with this model
/// are then tested. Without this variable, all models are tested.
pub fn is_tested(names: &[&str]) -> bool {
    let Ok(only) = std::env::var("WEFT_TEST_ONLY") else { return true };
    let all = [RoutingConfig::NAMES, TopologyConfig::NAMES, PolicyConfig::NAMES].concat();
    assert!(all.contains(&only.as_str()), "WEFT_TEST_ONLY: no routing, topology or power policy is named `{only}`");
    names.contains(&only.as_str())
}

/// Whether all models are tested.
pub fn all_are_tested() -> bool {
    is_tested(&[])
}

/// The pairs of a routing and a topology that the tests use.
pub static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let tested = |pair: &&Pair| is_tested(&[pair.routing.name(), pair.topology.name()]);
    ALL_PAIRS.iter().filter(tested).cloned().collect()
});

/// Every example of every registered routing, in networks that it supports; every kind of topology occurs.
static ALL_PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let mut pairs = pairs_of(RoutingConfig::examples());
    // a kind of topology that the hashes have not selected
    let small = small_networks();
    for kind in TopologyConfig::NAMES {
        if !pairs.iter().any(|pair| pair.topology.name() == *kind) {
            let all = all_pairs(&small).filter(|pair| pair.topology.name() == *kind);
            pairs.extend(all.min_by_key(|pair| turn_of(&pair.to_string())));
        }
    }
    pairs
});

/// Pairs of these examples of routings with networks that they support. A model that supports every network runs in some of the small ones.
/// The networks are chosen by a hash of routing and network, so that no other routing or example changes the choice.
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

/// All pairs of a routing example and a small network that it supports; there are too many to run all.
fn all_pairs(small: &[(TopologyConfig, Graph)]) -> impl Iterator<Item = Pair> {
    let free = RoutingConfig::examples().into_iter().filter(|example| example.networks.is_none());
    free.flat_map(move |example| {
        let routing = example.config;
        let fitting: Vec<_> = small.iter().filter(|(_, graph)| routing.fits(graph)).collect();
        fitting.into_iter().map(move |(topology, _)| Pair { topology: topology.clone(), routing: routing.clone() })
    })
}

/// Some networks for the routing: one for each kind of topology, then another for each kind. With `trunks`, at least one network has
/// trunks, if any small network has.
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
        // replaces another network of its kind
        match some.iter_mut().rfind(|other| other.0.name() == wide.0.name()) {
            Some(narrow) => *narrow = wide,
            None => some.push(wide),
        }
    }
    some.into_iter().map(|(topology, _)| topology.clone()).collect()
}

/// A 32-bit number that depends only on these words.
fn turn_of(words: &str) -> usize {
    words.bytes().fold(0, |sum, byte| mix(sum, u64::from(byte), 0)) as u32 as usize
}

/// The members of a list, each with a number that selects the conditions of its test. A new member does not change the numbers of other
/// members.
pub fn in_their_turns<T: fmt::Display>(members: &[T]) -> impl Iterator<Item = (usize, &T)> {
    members.iter().map(|member| (turn_of(&member.to_string()), member))
}

/// A power policy, with a routing that is compatible with it and a network with links that it can manage.
#[derive(Debug)]
pub struct PolicyExample {
    pub pair: Pair,
    pub policy: PolicyConfig,
    /// For each link class, whether the policy manages it.
    pub managed: Vec<bool>,
}

impl fmt::Display for PolicyExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} manages {:?} under {}", as_written(&self.policy), self.managed, self.pair)
    }
}

/// The examples of registered policies that are tested.
pub static POLICIES: LazyLock<Vec<PolicyExample>> = LazyLock::new(|| {
    let tested = |e: &PolicyExample| is_tested(&[e.policy.name(), e.pair.routing.name(), e.pair.topology.name()]);
    policies_of(PolicyConfig::examples(), tested)
});

/// These examples of policies, each on one network of each kind of topology, if a pair of registered models is compatible with it. `keep`:
/// selects the examples that run.
pub fn policies_of(policies: Vec<PolicyConfig>, keep: impl Fn(&PolicyExample) -> bool) -> Vec<PolicyExample> {
    let mut examples = placed(policies);
    examples.retain(keep);
    with_other_classes(examples)
}

/// The same examples; each policy manages all links between routers. A policy that offers information about its links runs with each
/// routing that uses this kind of information. The choices are hashes, as for the pairs.
fn placed(policies: Vec<PolicyConfig>) -> Vec<PolicyExample> {
    let mut examples = Vec::new();
    // each network is built only once, not once per policy
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
            // no pair of `PAIRS` is compatible with the policy
            let any = all_pairs(&small_networks()).find_map(|pair| {
                let managed = managed_by(pair.spec(), &policy)?;
                Some(PolicyExample { pair, policy: policy.clone(), managed })
            });
            examples.extend(any);
        }
    }
    examples
}

/// If possible, half of the examples also manage the links of terminals, and the other half do not manage one of the classes.
fn with_other_classes(mut examples: Vec<PolicyExample>) -> Vec<PolicyExample> {
    let turns: Vec<usize> = in_their_turns(&examples).map(|(turn, _)| turn).collect();
    for (turn, example) in turns.into_iter().zip(&mut examples) {
        if turn.is_multiple_of(2) { leave_a_class_out(example) } else { manage_terminal_links(example) }
    }
    examples
}

/// The link classes that the policy manages in this network; `None` if it is incompatible with the routing or the network.
fn managed_by(mut spec: Spec, policy: &PolicyConfig) -> Option<Vec<bool>> {
    // the pair itself has already been checked
    spec.allow_dependency_cycle = true;
    spec.policy = policy.clone();
    manage_what_can_be(&mut spec).then_some(spec.managed)
}

/// Makes the policy also manage the links of terminals, if it can.
fn manage_terminal_links(example: &mut PolicyExample) {
    let mut spec = example.pair.spec();
    (spec.policy, spec.managed) = (example.policy.clone(), example.managed.clone());
    spec.managed[0] = true;
    if weft_engine::check(&spec).is_ok() {
        example.managed = spec.managed;
    }
}

/// Excludes the last link class from the policy, if it manages others.
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
