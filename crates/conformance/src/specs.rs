//! Helpers for tests: they change a spec and run it.

use weft_engine::power::PolicyConfig;
use weft_engine::spec::{Execution, FlowControl};
use weft_engine::{Outcome, Spec};
use weft_units::Refusal;

/// Number of rounds (or cycles) of a long test: `few` in `make test`, and four times as many in `make test-all`, which sets
/// WEFT_TEST_ROUNDS=4. Every round makes the same assertions, whatever the number of rounds is.
pub fn rounds(few: u64) -> u64 {
    let times = std::env::var("WEFT_TEST_ROUNDS").map_or(1, |text| text.parse().expect("WEFT_TEST_ROUNDS is a number"));
    few * times
}

/// Selects an element of `all` by the number `turn`, so that a test spreads the elements over its cases. In `make test-all` each case uses
/// more elements.
pub fn in_turn<T>(turn: usize, all: &[T]) -> impl Iterator<Item = &T> {
    all.iter().cycle().skip(turn % all.len().max(1)).take((rounds(1) as usize).min(all.len()))
}

/// Makes runs of the spec skip the check for cycles of dependencies, which takes longer than many of the runs. Only for a spec whose
/// routing and network another call has checked.
pub fn mark_checked(spec: &mut Spec) {
    spec.allow_dependency_cycle = true;
}

/// A policy for tests; a cycle is 1 ns in these tests.
pub const IDLE_TIMEOUT: &str = r#"{"idle_timeout": {"idle": "40ns", "transition": "25ns"}}"#;

pub const ONE: Execution = Execution::new(1, 1);

/// Sets a power policy that is compatible with the spec's routing and has links to switch. The function tries `IDLE_TIMEOUT` first, then
/// the examples of all policies. If no policy is compatible, or `switched` is false, all links stay on.
pub fn fitting_policy(spec: &mut Spec, switched: bool) {
    let all = spec.managed.clone();
    let timeout = serde_json::from_str(IDLE_TIMEOUT).expect("a policy");
    let candidates = std::iter::once(timeout).chain(PolicyConfig::examples());
    let modes = spec.modes.clone();
    let switches = |candidate: &PolicyConfig| candidate.states(&modes).is_ok_and(|states| states.len() > 1);
    for candidate in candidates.filter(|candidate| switched && switches(candidate)) {
        spec.policy = candidate;
        if manage_what_can_be(spec) {
            return;
        }
    }
    (spec.policy, spec.managed) = (PolicyConfig::default(), all);
}

/// Makes the policy manage all classes of links between routers. If Weft refuses this, the policy manages all classes except one, or only
/// one class. Returns whether Weft accepts one of these choices.
pub fn manage_what_can_be(spec: &mut Spec) -> bool {
    let all: Vec<bool> = (0..spec.managed.len()).map(|class| class > 0).collect();
    // class 0, the terminal links, stays unmanaged in all choices
    let without = (0..all.len()).map(|left_out| {
        let mut managed = all.clone();
        managed[left_out] = false;
        managed
    });
    let alone = (1..all.len()).map(|class| (0..all.len()).map(|other| other == class).collect());
    without.chain(alone).any(|managed| {
        spec.managed = managed;
        (spec.managed.contains(&true) || all.len() == 1) && weft_engine::check(spec).is_ok()
    })
}

/// Sets the packet length to `flits` flits, with this flow control. With virtual cut-through, each buffer gets room for at least one packet
/// (two if rings keep a bubble). Otherwise each buffer has `buffer` flits.
pub fn packets(spec: &mut Spec, flits: u32, flow_control: FlowControl, buffer: u32) {
    spec.set_packet(flits);
    spec.router.flow_control = flow_control;
    let least = if flow_control == FlowControl::VirtualCutThrough { flits } else { 1 };
    spec.links.iter_mut().for_each(|link| link.buffer = buffer.max(least));
    // Weft refuses wormhole packets if they cannot always reach their escape path, so cut-through replaces wormhole
    let refused = |refusal: Refusal| refusal.path == "router.flow_control";
    if flow_control == FlowControl::Wormhole && weft_engine::check(spec).is_err_and(refused) {
        packets(spec, flits, FlowControl::VirtualCutThrough, buffer);
    }
    // rings that keep a bubble need room for two packets in each buffer
    let two = |refusal: Refusal| refusal.path.ends_with(".buffer");
    if flow_control == FlowControl::VirtualCutThrough && weft_engine::check(spec).is_err_and(two) {
        spec.links.iter_mut().for_each(|link| link.buffer = buffer.max(2 * flits));
    }
}

/// Sets (delay, vc_realloc, speedup) of the routers.
pub fn router(spec: &mut Spec, (delay, vc_realloc, speedup): (u64, u8, u8)) {
    (spec.router.delay, spec.router.vc_realloc, spec.router.speedup) = (delay, vc_realloc, speedup);
}

pub fn phases(spec: &mut Spec, warmup: u64, window: u64) {
    (spec.phases.warmup, spec.phases.window) = (warmup, window);
}

pub fn run(spec: &Spec) -> Outcome {
    run_as(spec, ONE)
}

pub fn run_as(spec: &Spec, how: Execution) -> Outcome {
    weft_engine::run(spec, how, &()).expect("a run")
}
