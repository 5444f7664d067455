//! The members of every family in networks to run them in, from the examples that the models give of themselves. Nothing
//! is listed here: a new model is in all of this by its registration.

use super::{manage_what_can_be, rounds};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::LazyLock;
use weft_engine::Spec;
use weft_engine::examples::small_networks;
use weft_engine::power::PolicyConfig;
use weft_engine::routing::{LinkKnowledge, RoutingConfig};
use weft_topology::TopologyConfig;

/// A routing in a network that it routes.
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

/// Networks for the first example of a routing, and for each other one: more would not be run in time. `make test-all` has
/// time for twice as many.
const FIRST: usize = 6;
const OTHERS: usize = 2;

/// Every example of every routing in the networks that it is for. If it is for all that fit, in some small ones.
pub static PAIRS: LazyLock<Vec<Pair>> = LazyLock::new(|| {
    let small = small_networks();
    let mut pairs: Vec<Pair> = Vec::new();
    for (turn, example) in RoutingConfig::examples().into_iter().enumerate() {
        let routing = example.config;
        let fitting = || small.iter().filter(|(_, graph)| routing.fits(graph)).map(|(topology, _)| topology).collect();
        let first = pairs.last().is_none_or(|last| last.routing.name() != routing.name());
        let most = if first { FIRST } else { OTHERS } * rounds(1).min(2) as usize;
        let networks = example.networks.unwrap_or_else(|| {
            let mut networks = spread(fitting(), most, turn);
            // one of those of a first example has trunks
            let wide: Vec<_> = small.iter().filter(|(_, graph)| graph.has_trunks() && routing.fits(graph)).collect();
            if first && !wide.is_empty() && !wide.iter().any(|(wide, _)| networks.contains(wide)) {
                let wide = wide[turn % wide.len()].0.clone();
                // in the place of another one of its kind
                match networks.iter_mut().rfind(|other| other.name() == wide.name()) {
                    Some(narrow) => *narrow = wide,
                    None => networks.push(wide),
                }
            }
            networks
        });
        pairs.extend(networks.into_iter().map(|topology| Pair { topology, routing: routing.clone() }));
    }
    pairs
});

/// Some of these networks: one of each kind of topology, then another of each. Each `turn` begins with another one.
fn spread(networks: Vec<&TopologyConfig>, most: usize, turn: usize) -> Vec<TopologyConfig> {
    let mut kinds: Vec<Vec<&TopologyConfig>> =
        networks.chunk_by(|a, b| a.name() == b.name()).map(<[_]>::to_vec).collect();
    if kinds.is_empty() {
        return Vec::new();
    }
    let first = turn % kinds.len();
    kinds.rotate_left(first);
    for kind in &mut kinds {
        let first = turn % kind.len();
        kind.rotate_left(first);
    }
    let rounds = 0..networks.len();
    let all = rounds.flat_map(|round| kinds.iter().filter_map(move |kind| kind.get(round)));
    all.take(most).map(|&topology| topology.clone()).collect()
}

/// A power policy beside a routing that goes with it, in a network that has links for it to manage.
#[derive(Debug)]
pub struct PolicyExample {
    pub pair: Pair,
    pub policy: PolicyConfig,
    /// Per link class: whether the policy manages it.
    pub managed: Vec<bool>,
}

impl fmt::Display for PolicyExample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} manages {:?} under {}", as_written(&self.policy), self.managed, self.pair)
    }
}

/// Every example of every policy, on one network of each kind of topology on which some routing goes with it; and where the
/// policy tells routings of its links, with each routing that goes by this.
pub static POLICIES: LazyLock<Vec<PolicyExample>> = LazyLock::new(|| {
    let mut examples = Vec::new();
    // each network is built once, not once per policy
    let specs: Vec<Spec> = PAIRS.iter().map(Pair::spec).collect();
    for policy in PolicyConfig::examples() {
        let tells = policy.knowledge_of_links();
        let mut by_kind: BTreeMap<(&str, &str), Vec<PolicyExample>> = BTreeMap::new();
        for (pair, spec) in PAIRS.iter().zip(&specs) {
            if let Some(managed) = managed_by(spec.clone(), &policy) {
                let example = PolicyExample { pair: pair.clone(), policy: policy.clone(), managed };
                let hears = tells != LinkKnowledge::Nothing && pair.routing.knowledge_of_links().contains(&tells);
                let routing = if hears { pair.routing.name() } else { "" };
                by_kind.entry((pair.topology.name(), routing)).or_default().push(example);
            }
        }
        for mut some in by_kind.into_values() {
            let turn = examples.len();
            examples.push(some.swap_remove(turn % some.len()));
        }
    }
    for (turn, example) in examples.iter_mut().enumerate() {
        if turn % 2 == 0 { leave_a_class_out(example) } else { manage_terminal_links(example) }
    }
    examples
});

/// The link classes that the policy manages there; `None` if it does not go with the routing or the network.
fn managed_by(mut spec: Spec, policy: &PolicyConfig) -> Option<Vec<bool>> {
    // the pair itself was checked before
    spec.allow_dependency_cycle = true;
    spec.policy = policy.clone();
    manage_what_can_be(&mut spec).then_some(spec.managed)
}

/// The policy manages the links of terminals, too, if it can.
fn manage_terminal_links(example: &mut PolicyExample) {
    let mut spec = example.pair.spec();
    (spec.policy, spec.managed) = (example.policy.clone(), example.managed.clone());
    spec.managed[0] = true;
    if weft_engine::check(&spec).is_ok() {
        example.managed = spec.managed;
    }
}

/// The last class of links stays on, if the policy manages others, too.
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
