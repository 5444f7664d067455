//! Tests networks whose features are chosen at random. The parameters of each model come from one of the examples of its family. A feature
//! that is incompatible with the features chosen so far is left out. All results must equal those of the plain loop in one block: with all
//! shortcuts, any blocks and threads, and after a checkpoint. If results differ, the test reports the smallest set of features that causes
//! the difference.
//!
//! The test has 14 rounds, and 4,000 in `make test-all`. WEFT_TEST_ROUND=N runs only round N, and WEFT_TEST_ROUND=N..M runs a range of
//! rounds.

mod network;
mod traffic;

use crate::common::*;
use std::collections::BTreeMap;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LazyLock, Mutex};
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::{Execution, FlowControl};
use weft_engine::{Progress, Simulation, Spec};
use weft_kernel::shortcuts::profile::{Kind, Set};
use weft_topology::{Graph, TopologyConfig};
use weft_units::Refusal;

/// The result of adding a feature, or the reason why the feature is not possible.
type Drawn = Result<(), Refusal>;

/// A feature: its name, `n` if one in `n` networks has it, and the function that adds it to a spec.
type Feature = (&'static str, usize, fn(&mut Spec, &mut Draw) -> Drawn);

const FEATURES: &[Feature] = &[
    ("links", 2, network::links),
    ("rates", 6, network::rates),
    ("router", 2, network::router),
    ("turn_round", 10, network::turn_round),
    ("hold_switch", 8, network::hold_switch),
    ("outputs", 8, network::outputs),
    ("input_speedup", 8, network::input_speedup),
    ("priority", 10, network::priority),
    ("allocator", 3, network::allocator),
    ("policy", 2, network::policy),
    ("faults", 4, network::faults),
    ("bundles", 8, network::bundles),
    ("pattern", 2, traffic::pattern),
    ("injection", 4, traffic::injection),
    ("lengths", 6, traffic::lengths),
    ("phases", 5, traffic::phases),
    ("jobs", 5, traffic::jobs),
    ("workload", 5, traffic::workload),
    ("programs", 5, traffic::programs),
    ("batches", 8, traffic::batches),
    ("classes", 6, traffic::classes),
    ("interface", 6, traffic::interface),
    ("scheme", 6, traffic::scheme),
    ("congestion", 8, traffic::congestion),
    ("recordings", 3, traffic::recordings),
    ("decided", 8, traffic::decided),
    ("watched", 8, traffic::watched),
];

/// Small networks for the test, including some with several planes.
static NETWORKS: LazyLock<Vec<(TopologyConfig, Graph)>> = LazyLock::new(|| {
    let built = TopologyConfig::examples().into_iter().map(|topology| {
        let graph = topology.build("topology").expect("an example");
        (topology, graph)
    });
    let is_small = |graph: &Graph| graph.routers() <= 50 && (4..=80).contains(&graph.terminals());
    built.filter(|(_, graph)| is_small(graph)).collect()
});

/// Chooses a routing, and a network that the routing supports. Each compatible kind of topology is equally likely.
fn pair(draw: &mut Draw) -> Result<Pair, Refusal> {
    let example = draw.of(&RoutingConfig::examples());
    let routing = example.config;
    if let Some(networks) = example.networks {
        return Ok(Pair { topology: draw.of(&networks), routing });
    }
    let mut kinds: BTreeMap<&str, Vec<&TopologyConfig>> = BTreeMap::new();
    for (topology, _) in NETWORKS.iter().filter(|(_, graph)| routing.fits(graph)) {
        kinds.entry(topology.name()).or_default().push(topology);
    }
    let kinds: Vec<_> = kinds.into_values().collect();
    if kinds.is_empty() {
        return Err(Refusal::new("topology", "no small network fits", "draw another routing"));
    }
    let kind = draw.of(&kinds);
    Ok(Pair { topology: draw.of(&kind).clone(), routing })
}

/// The random network of a round.
struct Drawing {
    spec: Spec,
    /// Names of the features that the network has.
    has: Vec<&'static str>,
    /// Features that were chosen but left out, because they are incompatible with the rest.
    refused: Vec<(&'static str, Refusal)>,
    what: String,
}

/// The network of a round with the features `among`, without those that are incompatible.
fn drawing(round: u64, among: &[&'static str]) -> Result<Drawing, Refusal> {
    let mut draw = Draw::new(35, round, 0);
    let pair = pair(&mut draw)?;
    let mut spec = Spec::new(&pair.topology, pair.routing.clone())?;
    spec.seed = round;
    let flits = draw.of(&[1, 1, 2, 5, 8, 12, 20, 40]);
    let flow = draw.of(&[FlowControl::VirtualCutThrough, FlowControl::VirtualCutThrough, FlowControl::Wormhole]);
    packets(&mut spec, flits, flow, draw.of(&[1, 4, 16, 60]));
    spec.set_load(draw.of(&[0.01, 0.05, 0.1, 0.3, 0.6, 1.0]));
    crate::common::phases(&mut spec, draw.below(400) as u64, 500 + draw.below(1000) as u64);
    spec.phases.drain_limit = 4_000;
    weft_engine::check(&spec)?;
    let mut order: Vec<usize> = (0..FEATURES.len()).collect();
    (1..order.len()).for_each(|k| order.swap(k, draw.below(k + 1)));
    // A network with fewer features uses more shortcuts. Therefore some rounds choose features with a lower probability.
    let rarer = draw.of(&[1, 2, 4]);
    let (mut has, mut refused) = (Vec::new(), Vec::new());
    for k in order {
        let (name, one_in, change) = FEATURES[k];
        let mut draw = Draw::new(35, round, 1 + k as u64);
        if !draw.one_in(one_in * rarer) || !among.contains(&name) {
            continue;
        }
        let before = spec.clone();
        match change(&mut spec, &mut draw).and_then(|()| weft_engine::check(&spec)) {
            Ok(()) => has.push(name),
            Err(refusal) => {
                refused.push((name, refusal));
                spec = before;
            }
        }
    }
    let what = format!("{pair}, {flits} flits, {}, {:?}", as_written(&spec.policy), spec.faults);
    Ok(Drawing { spec, has, refused, what })
}

/// Keeps the first checkpoint that the run can write at or after a given cycle.
#[derive(Debug)]
struct KeepsOne {
    from: u64,
    kept: Mutex<Option<Vec<u8>>>,
}

impl Progress for KeepsOne {
    fn tick(&self, _: u64, _: u64) -> bool {
        true
    }

    fn wants_checkpoint(&self, now: u64) -> bool {
        now >= self.from && self.kept.lock().expect("no panic while it keeps").is_none()
    }

    fn keep(&self, checkpoint: Vec<u8>) {
        *self.kept.lock().expect("no panic while it keeps") = Some(checkpoint);
    }
}

/// Three settings of shortcuts: whether uncontended flits, streams and steady flows use them.
type Row = [bool; 3];

/// Number of different rows (settings of shortcuts) in runs that may use all shortcuts.
const ROWS: usize = 6;

/// A finished run: its outcome as text, the state of its first block, and a checkpoint.
struct Ran {
    text: String,
    cycles: u64,
    row: Row,
    checkpoint: Option<Vec<u8>>,
}

fn ran(spec: &Spec, how: Execution, from: u64) -> Ran {
    let simulation = Simulation::new(spec, how).expect("a spec that was checked");
    let profile = simulation.profiles()[0];
    let row = [Kind::Uncontended, Kind::Streams, Kind::Steady].map(|kind| profile.has(kind));
    let keeper = KeepsOne { from, kept: Mutex::default() };
    let out = simulation.run(spec, &keeper);
    let checkpoint = keeper.kept.into_inner().expect("no panic while it kept");
    Ran { text: text_of(&out), cycles: out.cycles, row, checkpoint }
}

fn resumed(spec: &Spec, how: Execution, checkpoint: &[u8]) -> String {
    let mut out = weft_engine::resume(spec, how, &(), checkpoint).expect("a checkpoint of this run");
    out.fullest = None;
    text_of(&out)
}

/// For each row, the number of checkpoints that the test has continued.
type Rows = BTreeMap<Row, u64>;

/// The first difference between results and those of the plain loop in one block; `None` if all are equal.
fn difference(spec: &Spec, round: u64, rows: &mut Rows) -> Option<String> {
    let mut draw = Draw::new(36, round, 0);
    let plain = ran(spec, ONE.plain(), u64::MAX);
    let from = 1 + draw.below(plain.cycles as usize) as u64;
    let differs = |text: &str, what: String| {
        (plain.text != text).then(|| {
            let same = plain.text.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
            let part = |all: &str| all[same.saturating_sub(80)..all.len().min(same + 120)].to_owned();
            format!("{what}: {}\nand not {}", part(text), part(&plain.text))
        })
    };
    let mask = draw.below(1 << Kind::ALL.len());
    let some = Set::of(|kind| mask >> kind as usize & 1 != 0);
    let (threads, blocks) = (1 + usize::from(draw.one_in(8)), draw.of(&[2, 3, 4, 7]));
    let hows = [
        Execution::new(1, 1),
        Execution::new(threads, blocks),
        Execution { shortcuts: some, ..Execution::new(1, draw.of(&[1, 3])) },
        Execution::new(1, 3).plain(),
    ];
    // `make test` makes only half of the comparisons
    let takes_all = rounds(1) > 1 || chosen_rounds().is_some();
    for (k, how) in hows.into_iter().enumerate().filter(|(k, _)| takes_all || k / 2 == round as usize % 2) {
        let run = ran(spec, how, from);
        if let Some(difference) = differs(&run.text, format!("{how:?}")) {
            return Some(difference);
        }
        let Some(checkpoint) = run.checkpoint else { continue };
        let takes_two = Draw::new(36, round, 1 + k as u64).one_in(8);
        let threads = Execution { threads: 1 + usize::from(takes_two), ..how };
        if let Some(difference) =
            differs(&resumed(spec, threads, &checkpoint), format!("{how:?}, from a checkpoint at {from}"))
        {
            return Some(difference);
        }
        if how.shortcuts == Set::ALL {
            *rows.entry(run.row).or_default() += 1;
        }
    }
    None
}

/// The result of `work`. If `work` panics, the message of the panic.
fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        format!("a panic: {}", text.unwrap_or("without words"))
    })
}

/// The first difference in a round with the features `among`, and the features that its network has. A panic also counts as a difference.
fn difference_with(round: u64, among: &[&'static str]) -> Option<(Vec<&'static str>, String)> {
    let drawing = match caught(|| drawing(round, among)) {
        Ok(drawing) => drawing.ok()?,
        Err(panic) => return Some((among.to_vec(), panic)),
    };
    let found = caught(|| difference(&drawing.spec, round, &mut Rows::new()));
    found.unwrap_or_else(Some).map(|found| (drawing.has, found))
}

/// Removes from `has` all features that the difference does not need. Returns a description of the difference and of the remaining
/// features.
fn fewest(round: u64, mut has: Vec<&'static str>, mut found: String) -> String {
    for name in has.clone() {
        let fewer: Vec<_> = has.iter().copied().filter(|&other| other != name).collect();
        if let Some(still) = difference_with(round, &fewer) {
            (has, found) = still;
        }
    }
    let what = caught(|| drawing(round, &has).map_or_else(|refusal| refusal.to_string(), |drawing| drawing.what));
    format!("round {round} with {has:?}: {}\n{found}", what.unwrap_or_default())
}

/// For each feature, the number of networks that had it, the number of refusals, and the reason of the last refusal.
#[derive(Debug, Default)]
struct Tried {
    has: u64,
    refused: u64,
    why: String,
}

/// The rounds that the variable WEFT_TEST_ROUND selects: a number, or a range such as `100..200`.
fn chosen_rounds() -> Option<Range<u64>> {
    let text = std::env::var("WEFT_TEST_ROUND").ok()?;
    let number = |text: &str| text.parse::<u64>().expect("WEFT_TEST_ROUND is a number or a range");
    Some(match text.split_once("..") {
        Some((from, to)) => number(from)..number(to),
        None => number(&text)..number(&text) + 1,
    })
}

#[test]
fn shortcuts_blocks_and_checkpoints_change_nothing_in_networks_at_random() {
    let all = chosen_rounds().unwrap_or(if rounds(1) > 1 { 0..1_000 * rounds(1) } else { 0..14 });
    let among: Vec<&str> = FEATURES.iter().map(|&(name, ..)| name).collect();
    let (mut rows, mut tried, mut found) = (Rows::new(), BTreeMap::<&str, Tried>::new(), Vec::new());
    let mut compared = 0;
    for round in all.clone() {
        let Drawing { spec, has, refused, .. } = match caught(|| drawing(round, &among)) {
            Ok(Ok(drawing)) => drawing,
            Ok(Err(_)) => continue,
            Err(panic) => {
                found.push(fewest(round, among.clone(), panic));
                println!("{}", found[found.len() - 1]);
                continue;
            }
        };
        compared += 1;
        has.iter().for_each(|name| tried.entry(name).or_default().has += 1);
        for (name, refusal) in refused {
            let tried = tried.entry(name).or_default();
            (tried.refused, tried.why) = (tried.refused + 1, refusal.to_string());
        }
        if let Some(difference) = caught(|| difference(&spec, round, &mut rows)).unwrap_or_else(Some) {
            found.push(fewest(round, has, difference));
            println!("{}", found[found.len() - 1]);
        }
    }
    println!("{tried:#?}\nrows whose checkpoints went on, and how often: {rows:?}");
    assert!(found.is_empty(), "{} of the rounds {all:?} differ, the first: {}", found.len(), found[0]);
    if chosen_rounds().is_some() {
        return;
    }
    assert!(
        2 * compared > all.end && !rows.is_empty(),
        "{compared} of the rounds {all:?} had a network, rows {rows:?}"
    );
    if all.end >= 1_000 {
        assert!(among.iter().all(|name| tried.get(name).is_some_and(|tried| tried.has > 10)), "{tried:#?}");
        assert_eq!(rows.len(), ROWS, "a checkpoint of each row of the table in `shortcuts/profile.rs`: {rows:?}");
    }
}
