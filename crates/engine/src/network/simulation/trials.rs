//! Networks and runs for tests that compare two ways of advancing the same simulation.

use crate::network::jobs::Job;
use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Rate, Spec};
use weft_api::base::hash::hash;
use weft_api::classes::{ClassVcs, InjectionRule, MessageClass, Queueing};
use weft_kernel::face::AnyBlock;
use weft_kernel::shortcuts::profile::{Kind, Profile, Set};

pub(super) const TORUS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 2}}"#;
pub(super) const HYPERX: &str = r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 3}}"#;
pub(super) const DRAGONFLY: &str =
    r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#;
pub(super) const TREE: &str = r#"{"k_ary_n_tree": {"k": 3, "n": 3}}"#;

/// Topologies and routings in which flits can bypass the allocator and move in streams.
pub(super) const NETWORKS: [(&str, &str); 6] = [
    (TORUS, r#"{"dimension_order": {}}"#),
    (HYPERX, r#"{"dimension_order": {}}"#),
    (DRAGONFLY, r#"{"dragonfly_minimal": {}}"#),
    (TREE, r#"{"up_down": {}}"#),
    (HYPERX, r#"{"valiant": {}}"#),
    (TORUS, r#"{"ecmp": {}}"#),
];

const TRUNKS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 2, "trunk_width": 2}}"#;

/// Topologies and routings in which heads choose their hop in every step. Uncontended flits bypass the allocator in these networks too.
pub(super) const CHOOSING: [(&str, &str); 6] = [
    (TORUS, r#"{"minimal_adaptive": {}}"#),
    (TORUS, r#"{"minimal_adaptive": {"leave_escape": false}}"#),
    (HYPERX, r#"{"minimal_adaptive": {}}"#),
    (TRUNKS, r#"{"dimension_order": {}}"#),
    (TRUNKS, r#"{"valiant": {}}"#),
    (TRUNKS, r#"{"minimal_adaptive": {"leave_escape": false}}"#),
];

/// A spec with packets of `flits` flits and buffers for two packets. `cycles`: lengths of warm-up and window.
pub(super) fn spec(topology: &str, routing: &str, flits: u32, load: f64, cycles: (u64, u64)) -> Spec {
    let topology = serde_json::from_str(topology).expect("a topology");
    let mut spec = Spec::new(&topology, serde_json::from_str(routing).expect("a routing")).expect("a spec");
    spec.set_packet(flits);
    spec.set_load(load);
    spec.links.iter_mut().for_each(|link| (link.vcs, link.buffer) = (link.vcs.max(4), 2 * flits));
    (spec.phases.warmup, spec.phases.window) = cycles;
    spec
}

/// Makes terminals reply to each packet with a packet of `flits` flits. Each terminal waits for at most two replies.
pub(super) fn answer(spec: &mut Spec, flits: u32) {
    let workload = format!(r#"{{"request_reply": {{"packet": "{flits}flits", "outstanding": 2}}}}"#);
    spec.traffic.jobs[0].workload = serde_json::from_str(&workload).expect("a workload");
}

/// Number of variants of the queues in network interfaces (see [`queue`]).
pub(super) const QUEUED: u64 = 7;

/// Number of variants that permit streams. In the last variant one message class has a higher priority.
pub(super) const WITH_STREAMS: u64 = 6;

/// Selects variant `way` of the queues in network interfaces: per lane of a queueing scheme, per destination, or for two message classes.
/// The depth and the injection rule also differ.
pub(super) fn queue(spec: &mut Spec, way: u64) {
    let (queueing, rule) = [
        (Queueing::PerLane, InjectionRule::RoundRobin),
        (Queueing::PerDestination, InjectionRule::Oldest),
        (Queueing::PerDestination, InjectionRule::RoundRobin),
        (Queueing::PerLane, InjectionRule::Oldest),
        (Queueing::One, InjectionRule::RoundRobin),
        (Queueing::PerClass, InjectionRule::RoundRobin),
        (Queueing::PerClass, InjectionRule::Priority),
    ][way as usize];
    let interface = &mut spec.interface;
    (interface.queueing, interface.rule, interface.queues) = (queueing, rule, 3);
    interface.depth = if way == 0 { u16::MAX } else { 2 };
    interface.rate = (way == 2).then(|| Rate::new(1, 3, "interface.rate").expect("a rate"));
    match queueing {
        Queueing::PerLane => {
            spec.queueing = serde_json::from_str(r#"{"dbbm": {"queues": 2}}"#).expect("a queueing scheme");
        }
        Queueing::One | Queueing::PerClass => add_class(spec, u8::from(rule == InjectionRule::Priority)),
        Queueing::PerDestination => return,
    }
    spec.links.iter_mut().for_each(|link| link.vcs = 8);
}

/// Adds a second job with its own message class. The second job sends in the same way as the first job.
fn add_class(spec: &mut Spec, priority: u8) {
    let class =
        |name: &str, priority| MessageClass { name: name.to_owned(), priority, vcs: ClassVcs::Equal, rate: None };
    spec.classes = vec![class("low", 0), class("high", priority)];
    let high = Job { name: "high".to_owned(), class: 1, ..spec.traffic.jobs[0].clone() };
    spec.traffic.jobs.push(high);
}

/// The factor by which the tests run more cases than in `make test`.
pub(super) fn rounds() -> u64 {
    std::env::var("WEFT_TEST_ROUNDS").map_or(1, |text| text.parse().expect("WEFT_TEST_ROUNDS is a number"))
}

/// Selects one element of `all` by a hash of `what`, so that the cases of a test use different elements. `what`: the description of the
/// case. In `make test-all` each case uses all elements.
pub(super) fn some_of<T: Copy>(all: &[T], what: &str) -> Vec<T> {
    match rounds() {
        1 => vec![all[hash(what.bytes().map(u64::from).sum(), 0, 0, 41) as usize % all.len()]],
        _ => all.to_vec(),
    }
}

/// The outcome of a run in `blocks` blocks, as a string. The function `change` is applied to the simulation before the run.
pub(super) fn outcome_of(spec: &Spec, blocks: usize, change: impl FnOnce(&mut Simulation)) -> String {
    outcome_among(spec, blocks, Set::ALL, change)
}

/// The outcome of a run in which only the shortcuts `among` are permitted.
pub(super) fn outcome_among(spec: &Spec, blocks: usize, among: Set, change: impl FnOnce(&mut Simulation)) -> String {
    let mut simulation = with(spec, blocks, among);
    change(&mut simulation);
    format!("{:?}", simulation.run(spec, &()))
}

/// A simulation in which only the shortcuts `among` are permitted. If prefetching is among them, the simulation prefetches records even in
/// a small network.
pub(super) fn with(spec: &Spec, blocks: usize, among: Set) -> Simulation {
    let how = Execution { shortcuts: among, ..Execution::new(1, blocks) };
    let mut simulation = Simulation::new(spec, how).expect("a simulation");
    if among.has(Kind::Prefetch) {
        simulation.net.shortcuts = simulation.net.shortcuts.prefetching();
    }
    simulation
}

/// The outcome of a run without shortcuts in `blocks` blocks, as a string.
pub(super) fn plain_outcome(spec: &Spec, blocks: usize) -> String {
    outcome_among(spec, blocks, Set::NONE, |simulation| {
        let is_plain = |block: &dyn AnyBlock| {
            block.shortcuts().profile() == Profile::PLAIN && !block.shortcuts().streams().are_on()
        };
        assert!(simulation.blocks.iter().all(|block| is_plain(&**block)) && simulation.net.shortcuts == Profile::PLAIN);
    })
}

/// Fails if results with the shortcuts `among` differ from those of the plain loop. The message names the shortcuts that cause the
/// difference.
pub(super) fn assert_plain(spec: &Spec, blocks: usize, among: Set, what: &str) {
    let outcome_with = |among: Set| match among {
        Set::NONE => plain_outcome(spec, blocks),
        _ => outcome_among(spec, blocks, among, |_| ()),
    };
    let (with, without) = (outcome_with(among), outcome_with(Set::NONE));
    if with != without {
        let names = named(&culprits(among, &without, outcome_with));
        assert_same(&with, &without, &format!("{what}, {blocks} blocks: {names}"));
    }
}

/// The shortcuts that cause a difference. A shortcut causes a difference if the results without only this shortcut equal `plain`, the
/// results of the plain loop.
fn culprits(among: Set, plain: &str, outcome_with: impl Fn(Set) -> String) -> Vec<Kind> {
    let is_one = |kind: &Kind| among.has(*kind) && outcome_with(among.without(*kind)) == plain;
    Kind::ALL.iter().copied().filter(is_one).collect()
}

fn named(culprits: &[Kind]) -> String {
    match culprits {
        [] => "no shortcut alone makes the difference".to_owned(),
        some => {
            let name = |kind: &Kind| format!("`{}` (it skips {})", kind.name(), kind.skips());
            format!("no difference without {}", some.iter().map(name).collect::<Vec<_>>().join(", or without "))
        }
    }
}

/// Fails if the two outcomes differ. Shows only the first difference, because the outcomes are long.
pub(super) fn assert_same(one: &str, other: &str, what: &str) {
    if one == other {
        return;
    }
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let part = |all: &str| all[same.saturating_sub(100)..all.len().min(same + 100)].to_owned();
    panic!("{what}: {} and not {}", part(one), part(other));
}

/// Tests that `culprits` names a shortcut that changes results. If this shortcut works only with a second one, `culprits` names both,
/// because the results are also correct without the second one.
#[test]
fn a_shortcut_that_changes_results_is_named() {
    for &wrong in Kind::ALL {
        let outcome_with = |among: Set| if among.has(wrong) { "wrong" } else { "plain" }.to_owned();
        let expected: Vec<Kind> =
            Kind::ALL.iter().copied().filter(|&kind| kind == wrong || wrong.needs() == Some(kind)).collect();
        assert_eq!(culprits(Set::ALL, "plain", outcome_with), expected);
        assert!(named(&expected).contains(wrong.skips()));
    }
    assert_eq!(culprits(Set::ALL, "plain", |_| "wrong".to_owned()), []);
}
