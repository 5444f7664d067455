//! Tests that skipping idle time does not change results (`network/idle.rs`), and that long idle times are mostly skipped.

use super::Simulation;
use super::trials::{self, DRAGONFLY, HYPERX, TORUS, TREE, outcome_of, plain_outcome};
use crate::network::assemble;
use crate::network::spec::{Execution, Spec};
use std::sync::Arc;
use weft_api::base::hash::hash;
use weft_api::classes::Queueing;
use weft_api::workload::LoadPhase;
use weft_models::power::PolicyConfig;
use weft_traffic::{PatternConfig, Population};

/// Sets the loads of all terminals: each pair is a first cycle and the load from that cycle on.
pub(super) fn set_loads(spec: &mut Spec, loads: &[(u64, f64)]) {
    let job = &mut spec.traffic.jobs[0];
    let first = job.phases[0].clone();
    let phase = |&(from, load): &(u64, f64)| LoadPhase { from, load: vec![load; first.load.len()], ..first.clone() };
    job.phases = loads.iter().map(phase).collect();
}

/// Routings that post on a board, or store a history of the flits on their links.
const READERS: [(&str, &str); 3] = [
    (DRAGONFLY, r#"{"dragonfly_pb": {}}"#),
    (HYPERX, r#"{"ugal": {"sensor": "history_window"}}"#),
    (TORUS, r#"{"lbr": {}}"#),
];

const ROUTINGS: [(&str, &str); 4] = [
    (TORUS, r#"{"dimension_order": {}}"#),
    (HYPERX, r#"{"minimal_adaptive": {}}"#),
    (DRAGONFLY, r#"{"dragonfly_minimal": {}}"#),
    (TREE, r#"{"up_down": {}}"#),
];

/// Runs every policy with every compatible routing, on traffic of bursts with pauses between them.
#[test]
fn skipped_idle_time_changes_nothing_under_any_policy() {
    let mut ran = std::collections::BTreeMap::new();
    for policy in PolicyConfig::examples() {
        for (case, (topology, routing)) in (0..).zip(ROUTINGS.into_iter().chain(READERS)) {
            let draw = |what: u32, below: u64| hash(case, what, 0, 31) % below;
            let flits = [1, 3, 20][draw(1, 3) as usize];
            let mut spec = trials::spec(topology, routing, flits, 0.2, (700, 9_000));
            (spec.policy, spec.phases.drain_limit) = (policy.clone(), 40_000);
            spec.links[0].latency = 1 + draw(2, 9);
            set_loads(&mut spec, &[(0, 0.2), (300, 0.0), (3_100, 0.1), (3_250, 0.0), (8_000 + draw(3, 900), 0.01)]);
            if draw(4, 3) == 0 {
                trials::answer(&mut spec, flits);
            }
            if assemble::net(&spec).is_err() || spec.check_policy().is_err() {
                continue;
            }
            let what = format!("{policy:?}, {topology}, {routing}");
            for blocks in trials::some_of(&[1, 3], &what) {
                let what = format!("{what}, {blocks} blocks");
                trials::assert_same(&outcome_of(&spec, blocks, |_| ()), &plain_outcome(&spec, blocks), &what);
            }
            *ran.entry(policy.name()).or_insert(0) += 1;
        }
    }
    assert!(ran.len() + 3 >= PolicyConfig::NAMES.len(), "few policies ran: {ran:?}");
}

/// All terminals send in the first 100 and in the last 100 of `cycles` cycles.
fn two_bursts((topology, routing, policy): (&str, &str, &str), cycles: u64) -> Spec {
    let mut spec = trials::spec(topology, routing, 1, 0.2, (0, cycles));
    spec.policy = serde_json::from_str(policy).expect("a policy");
    set_loads(&mut spec, &[(0, 0.2), (100, 0.0), (cycles - 100, 0.2)]);
    spec
}

/// The first burst goes to a hot spot, so queues are set aside. The queues become free some time after the burst.
fn two_bursts_on_a_hot_spot(cycles: u64) -> Spec {
    let mut spec = two_bursts((TORUS, ROUTINGS[0].1, r#"{"always_on": {}}"#), cycles);
    let hot: PatternConfig =
        serde_json::from_str(r#"{"hot_spot": {"targets": [0], "share": 0.7}}"#).expect("a pattern");
    let hot = Arc::new(hot.build(&Population::of(spec.graph.terminals()), "pattern").expect("it fits"));
    spec.traffic.jobs[0].phases.iter_mut().for_each(|phase| phase.pattern = hot.clone());
    spec.queueing = serde_json::from_str(r#"{"recn": {"queues": 2, "linger": "100ns"}}"#).expect("a scheme");
    (spec.interface.queueing, spec.interface.queues) = (Queueing::PerDestination, 16);
    (spec.interface.depth, spec.phases.drain_limit) = (64, 40_000);
    // three queues in each of two VC classes of router links, and three in the class of terminal links
    spec.links.iter_mut().for_each(|link| (link.vcs, link.buffer) = (6, 8));
    spec.links[0].vcs = 3;
    spec
}

/// Idle time is skipped while no queue is set aside, and the results equal those of the plain loop.
#[test]
fn idle_time_is_skipped_where_queues_are_set_aside() {
    for blocks in [1, 3] {
        let what = format!("{blocks} blocks");
        let spec = two_bursts_on_a_hot_spot(20_000);
        let skipping = outcome_of(&spec, blocks, |_| ());
        trials::assert_same(&skipping, &plain_outcome(&spec, blocks), &what);
        let spec = two_bursts_on_a_hot_spot(1_000_000);
        let mut simulation = Simulation::new(&spec, Execution::new(1, blocks)).expect("a simulation");
        simulation.advance(1_000_000);
        // cycles that are not skipped: the burst, its delivery to one terminal, the time for which queues stay set aside, and a series of
        // up to 1,024 cycles after each of these
        let stepped = 1_000_000 - simulation.idle.skipped;
        assert!(stepped < 8_000, "{what}: {stepped} cycles were not skipped");
        let given = simulation.blocks.iter().map(|block| block.set_asides().counts.given).sum::<u64>();
        assert!(given > 0, "{what}: no queue was set aside");
    }
}

/// Policies that stop changing links some time after the first burst. The second part of each entry is an upper bound of the cycles that
/// cannot be skipped.
const RESTING: [((&str, &str, &str), u64); 7] = [
    // a series of 1,024 cycles after each burst, and the cycles before and after timers
    ((HYPERX, ROUTINGS[1].1, r#"{"always_on": {}}"#), 5_000),
    ((HYPERX, ROUTINGS[1].1, r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns"}}"#), 5_000),
    // two steps down in rate, each with an epoch and a transition, and then an epoch without a flit
    ((HYPERX, ROUTINGS[1].1, r#"{"rate_ladder": {"epoch": "500ns", "transition": "25ns"}}"#), 5_000),
    (
        (HYPERX, ROUTINGS[1].1, r#"{"rate_ladder": {"epoch": "500ns", "transition": "25ns", "changes": "carry"}}"#),
        5_000,
    ),
    // a router switches off one link per deactivation epoch: at most 5 links, and up to half of the requests are refused at first
    (
        (HYPERX, PAL, r#"{"tcep": {"activation_epoch": "250ns", "deactivation_epoch": "1000ns", "wake": "120ns"}}"#),
        20_000,
    ),
    // the policy waits for a window in which the buffers were empty
    ((HYPERX, SLAC.0, SLAC.1), 5_000),
    ((TREE, r#"{"up_down": {}}"#, ELASTIC), 10_000),
];
const PAL: &str = r#"{"pal": {}}"#;
const SLAC: (&str, &str) = (r#"{"slac": {}}"#, r#"{"slac": {"wake_per_link": "2ns", "averaging": "30ns"}}"#);
const ELASTIC: &str = r#"{"elastic_tree": {"epoch": "300ns", "wake": "50ns"}}"#;

/// Checks that during a long idle time only the cycles around events, and the epochs in which a policy still changes a link, are simulated.
#[test]
fn long_idle_times_are_skipped() {
    const CYCLES: u64 = 1_000_000_000;
    for (models, most) in RESTING {
        for blocks in [1, 3] {
            let spec = two_bursts(models, CYCLES);
            let mut simulation = Simulation::new(&spec, Execution::new(1, blocks)).expect("a simulation");
            // the short run fails early if the long run would take too long
            for cycles in [CYCLES / 1000, CYCLES] {
                simulation.advance(cycles);
                let stepped = cycles - simulation.idle.skipped;
                assert!(stepped < most, "{models:?}, {blocks} blocks: {stepped} of {cycles} cycles were not skipped");
            }
            assert!(simulation.flit_hops() > 0);
        }
    }
}

/// While the agents and the overseer make no changes, the ends of their epochs have no effect. All results with skipped epochs therefore
/// equal those of the plain loop.
#[test]
fn skipped_epochs_change_nothing() {
    for (models, most) in RESTING {
        // the second burst begins at a different time within an epoch
        let spec = two_bursts(models, 3 * most + 617);
        for blocks in trials::some_of(&[1, 3], models.2) {
            let what = format!("{models:?}, {blocks} blocks");
            trials::assert_same(&outcome_of(&spec, blocks, |_| ()), &plain_outcome(&spec, blocks), &what);
            let mut simulation = Simulation::new(&spec, Execution::new(1, blocks)).expect("a simulation");
            simulation.advance(spec.phases.window);
            assert!(simulation.idle.skipped > most, "{what}: {} cycles were skipped", simulation.idle.skipped);
        }
    }
}
