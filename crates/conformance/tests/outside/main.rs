//! Tests of the suites with models that are in no registry of Weft, as in a crate outside this repository. Correct models must pass the
//! suites of their families. For each faulty model, the suite must name the fault.

mod announcement;
mod answer;
// the example model in the template for outside crates
#[path = "../../../../template/src/bow_tie.rs"]
mod bow_tie;
mod from_yaml;
mod half_awake;
mod highest_first;
mod in_rounds;

use announcement::{Announcement, DownTheLine};
use answer::Answer;
use bow_tie::BowTie;
use half_awake::HalfAwake;
use highest_first::HighestFirst;
use in_rounds::InRounds;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::examples::Example;
use weft_api::policy::{Offers, Policy, PolicyModel, Site};
use weft_api::routing::{Hop, Needs, Routing, RoutingModel};
use weft_api::state::Packet;
use weft_api::walk::Step;
use weft_engine::power::{LinkState, Modes};
use weft_programs::collectives::{Call, Expands, Into, Steps};
use weft_programs::form::{Calls, Op, Operation, Program, RankProgram};
use weft_programs::generators::{Generates, Line, Made};
use weft_topology::{CompleteGroups, Graph, GraphBuilder, Groups, Peer, Port, Structure, TopologyModel};
use weft_traffic::pattern::{AddedPattern, PatternConfig};
use weft_units::outside::{in_order, is_taken};
use weft_units::{Cycles, Refusal};

#[test]
fn a_routing_from_outside_conforms() {
    weft_conformance::routing::<HighestFirst>("highest_first");
}

#[test]
fn a_policy_from_outside_conforms() {
    weft_conformance::policy::<HalfAwake>("half_awake", HalfAwake::OFFERS);
}

#[test]
fn an_allocator_from_outside_conforms() {
    weft_conformance::allocator::<InRounds>("in_rounds");
}

#[test]
fn a_topology_from_outside_conforms() {
    weft_conformance::topology::<BowTie>("bow_tie");
}

#[test]
fn a_pattern_from_outside_conforms() {
    weft_conformance::pattern::<Answer>("answer");
}

/// For this test, a registered model under another name counts as an outside model.
#[test]
fn a_workload_and_a_recording_from_outside_conform() {
    weft_conformance::workload::<weft_engine::workload::open_loop::OpenLoop>("talk");
    weft_conformance::recording::<weft_engine::recording::transient::Transient>("over_time");
}

#[test]
fn a_queueing_scheme_from_outside_conforms() {
    weft_conformance::queueing::<weft_engine::queueing::one_queue::OneQueue>("undivided");
}

#[test]
fn a_congestion_control_from_outside_conforms() {
    weft_conformance::congestion::<weft_engine::congestion::infiniband::Infiniband>("delays");
}

#[test]
fn an_injection_from_outside_conforms() {
    weft_conformance::injection::<weft_traffic::injection::on_off::OnOff>("bursts");
}

#[test]
fn a_generator_and_an_algorithm_of_a_collective_from_outside_conform() {
    weft_conformance::generator::<Announcement>("announcement");
    weft_conformance::algorithm::<DownTheLine>("down_the_line");
}

/// For this test, a registered table under another name counts as an outside table.
#[test]
fn a_table_from_outside_conforms() {
    weft_conformance::table::<weft_programs::collectives::tables::openmpi::OpenMpi>("as_openmpi");
}

/// Runs a suite that must fail, and returns the message of its panic.
fn words(suite: impl FnOnce() + std::panic::UnwindSafe) -> String {
    let panic = std::panic::catch_unwind(suite).expect_err("the suite finds nothing");
    let text = panic.downcast_ref::<&str>().map(|&text| text.to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).expect("words")
}

const SMALL_HYPERX: &[&str] = &[r#"{"hyperx": {"widths": [4, 3], "terminals_per_router": 2}}"#];

/// A faulty routing: like `HighestFirst`, but half of all packets turn in the other direction on the same VC class, so
/// packets can deadlock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct TurnsBothWays {}

impl RoutingModel for TurnsBothWays {
    type Routing = highest_first::Runtime;
    const ROUTES: &'static str = "hyperx";

    fn fits(graph: &Graph) -> bool {
        HighestFirst::fits(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Self::Routing, Refusal> {
        HighestFirst { always: false }.build(graph)
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").only_on(SMALL_HYPERX)]
    }
}

#[test]
fn a_routing_whose_channels_depend_on_each_other_in_a_cycle_is_found_out() {
    let said = words(|| weft_conformance::routing::<TurnsBothWays>("turns_both_ways"));
    assert!(said.contains("turns_both_ways") && said.contains("channel dependencies have a cycle"), "{said}");
}

/// A faulty routing: like `HighestFirst`, but packets that have crossed a link take a port that no router has. The checks before a run do
/// not count crossed links, so only a run can find this fault.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct LeadsAstray {}

#[derive(Debug)]
struct Astray(highest_first::Runtime);

impl RoutingModel for LeadsAstray {
    type Routing = Astray;
    const ROUTES: &'static str = "hyperx";

    fn fits(graph: &Graph) -> bool {
        HighestFirst::fits(graph)
    }

    fn build(&self, graph: &Graph) -> Result<Astray, Refusal> {
        HighestFirst { always: true }.build(graph).map(Astray)
    }

    fn examples() -> Vec<Example<Self>> {
        vec![Example::of("{}").only_on(SMALL_HYPERX)]
    }
}

impl Routing for Astray {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let too_far = if packet.links_crossed > 0 { 5_000 } else { 0 };
        self.0.next(at, packet, seed).map(|hop| Hop { port: hop.port + too_far, ..hop })
    }

    fn steps(&self, at: u64, packet: &Packet, seed: u64) -> Vec<Step> {
        self.0.steps(at, packet, seed)
    }
}

#[test]
fn a_routing_that_names_a_port_which_is_not_there_is_stopped() {
    let said = words(|| weft_conformance::routing::<LeadsAstray>("leads_astray"));
    assert!(said.contains("the routing returned a port that the router does not have"), "{said}");
}

/// A faulty program: with 5 ranks or more, rank 0 sends more than rank 1 expects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Mistaken {
    ranks: u32,
}

impl Generates for Mistaken {
    fn make(&self, _: &str) -> Result<Made, Refusal> {
        let alone = |op: Op| {
            let mut calls = Calls::default();
            calls.blocking(op);
            RankProgram::new(calls.finish())
        };
        let mut ranks = vec![RankProgram::new(Calls::default().finish()); self.ranks as usize];
        ranks[0] = alone(Op::send(1, if self.ranks < 5 { 8 } else { 16 }, Some(0)));
        ranks[1] = alone(Op::receive(Some(0), 8, Some(0)));
        Ok(Made {
            program: Program { ranks },
            arithmetic: vec![Line::new("ranks", self.ranks.into(), "", "as written")],
        })
    }

    fn examples() -> Vec<Self> {
        vec![Self { ranks: 2 }]
    }
}

#[test]
fn a_generator_whose_receive_expects_other_bytes_is_found_out_at_another_number_of_ranks() {
    let said = words(|| weft_conformance::generator::<Mistaken>("mistaken"));
    assert!(said.contains("mistaken of 5 ranks: bytes from 0 to 1") && said.contains("16"), "{said}");
}

/// A faulty algorithm: with 6 ranks or more, the last rank receives nothing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct ForgetsTheLast {}

impl Expands for ForgetsTheLast {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let all = || std::iter::once(call.segment(0, call.vector()));
        let reached = if call.ranks < 6 { call.ranks } else { call.ranks - 1 };
        match call.from_root() {
            0 => (1..reached).for_each(|other| steps.send(call.rank(other), 0, all())),
            own if own < reached => steps.receive(call.rank(0), 0, Into::Copy, all()),
            _ => {}
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

#[test]
fn an_algorithm_that_leaves_a_rank_without_its_data_is_found_out() {
    let said = words(|| weft_conformance::algorithm::<ForgetsTheLast>("forgets_the_last"));
    assert!(said.contains(r#"{"forgets_the_last":{}} broadcast 6 ranks: wrong data in byte 0 at rank 1"#), "{said}");
}

/// A faulty policy: its links are off in cycle 0, although it declares that they are always on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Secret {}

impl PolicyModel for Secret {
    fn states(&self, _: &Modes) -> Result<Vec<LinkState>, Refusal> {
        Ok(vec![LinkState::On])
    }

    fn settling_period(&self, _: &Graph, _: &Modes, _: u128) -> Result<Option<Cycles>, Refusal> {
        Ok(None)
    }

    fn build(&self, _: &Site) -> Result<Arc<dyn Policy>, Refusal> {
        Ok(Arc::new(self.clone()))
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

impl Policy for Secret {
    fn first_state(&self, _: u32, _: u32) -> LinkState {
        LinkState::Off
    }
}

#[test]
fn a_policy_in_a_state_that_it_does_not_declare_is_found_out() {
    let said = words(|| weft_conformance::policy::<Secret>("secret", Offers::ALWAYS_ON));
    assert!(said.contains("secret") && said.contains("a channel is off for"), "{said}");
    assert!(said.contains("`states` of the policy does not declare"), "{said}");
}

/// A faulty topology: its routers are not connected in the way that its groups declare.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Pretends {}

impl TopologyModel for Pretends {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        let mut builder = GraphBuilder::new("pretends", ["side"]);
        let side = |router, port| Port { peer: Peer::Router { router, port }, class: 1 };
        for router in 0..3 {
            let terminal = Port { peer: Peer::Terminal(router), class: 0 };
            builder.router([terminal, side((router + 1) % 3, 2), side((router + 2) % 3, 1)]);
        }
        let complete = Some(CompleteGroups { first_port: 1, class: 1 });
        builder.build(Structure::of_groups(Groups { complete, ..Groups::in_a_row(1, 3) }), path)
    }

    fn examples() -> Vec<Self> {
        vec![Self {}]
    }
}

#[test]
fn a_topology_that_promises_a_wrong_view_is_found_out() {
    let said = words(|| weft_conformance::topology::<Pretends>("pretends"));
    assert!(said.contains("port 1 of router 0 of pretends"), "{said}");
}

#[test]
fn two_models_of_one_name_are_found_out() {
    static ONE: AddedPattern = AddedPattern::new::<Answer>("answers", ());
    static OTHER: AddedPattern = AddedPattern::new::<Answer>("answers", ());
    let said = words(|| _ = in_order::<PatternConfig, _>([&ONE, &OTHER].into_iter()));
    assert_eq!(said, "answers is added twice: choose another name for one of them");
    // `add_model!` uses `is_taken` to refuse, at compile time, a name that a registered model has
    assert!(is_taken("uniform", PatternConfig::NAMES) && !is_taken("answer", PatternConfig::NAMES));
}
