//! Tests on random networks, routers and traffic that all injected packets are delivered once, no run stalls, and no channel carries more
//! than one flit per cycle. The test has 64 cases, and four times as many in `make test-all`.

use crate::common::*;
use proptest::prelude::*;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::outcome::Ending;
use weft_engine::routing::RoutingConfig;
use weft_engine::spec::{Execution, FlowControl};
use weft_engine::{Simulation, Spec, imply};

/// A random network as JSON, with an index that selects one of its compatible routings.
fn networks() -> impl Strategy<Value = (String, prop::sample::Index)> {
    let grid = |name: &'static str, width: std::ops::Range<u32>| {
        (prop::collection::vec(width, 1..4), 1..4u32)
            .prop_filter("at most 30 routers", |(widths, _)| widths.iter().product::<u32>() <= 30)
            .prop_map(move |(w, t)| format!(r#"{{"{name}": {{"widths": {w:?}, "terminals_per_router": {t}}}}}"#))
    };
    let single = (2..17u32).prop_map(|t| format!(r#"{{"single_router": {{"terminals": {t}}}}}"#));
    let complete = prop_oneof![grid("hyperx", 1..6), single];
    let dragonfly =
        (1..4u32, 1..3u32, 1..3u32, any::<prop::sample::Index>(), any::<bool>()).prop_map(|(a, p, h, g, palm)| {
            let (groups, arrangement) = (2 + g.index((a * h) as usize), if palm { "palm_tree" } else { "absolute" });
            format!(
                r#"{{"dragonfly": {{"groups": {groups}, "routers_per_group": {a}, "terminals_per_router": {p},
                "global_links_per_router": {h}, "arrangement": "{arrangement}"}}}}"#
            )
        });
    let network = prop_oneof![3 => complete, 2 => grid("torus", 2..6), 1 => grid("mesh", 2..6), 2 => dragonfly];
    (network, any::<prop::sample::Index>())
}

/// Random choices: extra VCs and extra flits of buffer, packet length, worms or not, (delay, vc_realloc, speedup), allocator, latencies of
/// links and credits, links that go off, load, seed.
#[derive(Debug, Clone)]
struct Choices {
    more_vcs: u8,
    more_buffer: u32,
    flits: u32,
    worms: bool,
    router: (u64, u8, u8),
    allocator: AllocatorConfig,
    latency: (u64, u64),
    sleep: bool,
    load: f64,
    seed: u64,
}

fn choices() -> impl Strategy<Value = Choices> {
    let allocators = prop::sample::select(AllocatorConfig::examples());
    let lengths = prop_oneof![Just(1u32), 2..9u32, 20..40u32];
    let first = (0..4u8, prop_oneof![Just(0u32), 0..20u32], lengths, any::<bool>(), (1..4u64, 0..2u8, 1..4u8));
    let second = (allocators, (1..12u64, 1..12u64), any::<bool>(), 0.02..1.0f64, any::<u64>());
    (first, second).prop_map(
        |((more_vcs, more_buffer, flits, worms, router), (allocator, latency, sleep, load, seed))| Choices {
            more_vcs,
            more_buffer,
            flits,
            worms,
            router,
            allocator,
            latency,
            sleep,
            load,
            seed,
        },
    )
}

/// A spec in which each link has the VCs that the routing needs and up to 3 additional VCs, but at most 8 VCs in total. Buffers have the
/// space that packets need, and up to 19 flits more. Returns `None` if the network has a single terminal, which cannot send to others.
fn build((topology_json, which): &(String, prop::sample::Index), c: &Choices) -> Option<Spec> {
    let mut spec = Spec::new(&topology(topology_json), RoutingConfig::examples()[0].config.clone()).ok()?;
    let examples = RoutingConfig::examples().into_iter().filter(|example| example.networks.is_none());
    let fitting: Vec<_> = examples.map(|example| example.config).filter(|config| config.fits(&spec.graph)).collect();
    spec.routing = which.get(&fitting).clone();
    let flow_control = if c.worms { FlowControl::Wormhole } else { FlowControl::VirtualCutThrough };
    packets(&mut spec, c.flits, flow_control, 1);
    spec.links.iter_mut().for_each(|l| l.vcs = 8);
    let classes = imply(&spec).expect("a legal pair").vc_classes;
    for (link, needed) in spec.links.iter_mut().zip(classes) {
        link.vcs = (needed + c.more_vcs).min(8);
        link.buffer += c.more_buffer;
    }
    for link in &mut spec.links[1..] {
        (link.latency, link.credit_latency) = c.latency;
    }
    router(&mut spec, c.router);
    spec.router.routing_delay = c.seed % 3 % (c.router.0 + 1);
    spec.router.hold_switch = c.router.1 == 0 && !c.worms && c.seed.is_multiple_of(2);
    spec.router.allocator = c.allocator.clone();
    fitting_policy(&mut spec, c.sleep);
    spec.set_load(c.load);
    spec.seed = c.seed;
    Some(spec)
}

fn check_delivered_once(mut spec: Spec) {
    phases(&mut spec, 0, 1_000_000);
    let what = format!("{:?} {:?}", spec.graph.topology_name(), spec.routing);
    let mut sim = Simulation::new(&spec, Execution::new(1, 2)).expect("a network");
    sim.advance(500);
    sim.stop_sources();
    drain(&mut sim, 1_000_000, &what);
    phases(&mut spec, 0, sim.now());
    let out = sim.run(&spec, &());
    assert_eq!((out.missing_packets, out.sums.flits), (0, out.offered_flits), "{what}");
    assert_eq!((out.injected_flits, out.accepted_flits), (out.offered_flits, out.offered_flits), "{what}");
    let flits = u64::from(spec.traffic.longest());
    let crossed: u64 = (1..).zip(&out.hop_counts).map(|(routers, packets)| routers * packets * flits).sum();
    assert_eq!(out.flit_hops, crossed, "{what}");
}

fn check_never_stalls(mut spec: Spec) {
    phases(&mut spec, 100, 900);
    (spec.phases.stall_limit, spec.phases.drain_limit) = (500, 1000);
    let out = run(&spec);
    assert!(matches!(out.ending, Ending::Drained | Ending::Saturated), "{:?}", out.ending);
    assert!(out.accepted_flits <= out.window * u64::from(out.terminals));
    for c in &out.channels {
        let link = &spec.links[c.class as usize];
        // flits granted in the window: one per cycle, and at most one full buffer of flits that wait behind the switch
        assert!(c.flits.iter().sum::<u64>() <= out.window + u64::from(link.vcs) * u64::from(link.buffer), "{c:?}");
        assert_eq!(c.cycles.iter().sum::<u64>(), out.window, "{c:?}");
    }
}

fn config() -> ProptestConfig {
    let cases = rounds(64) as u32;
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn everything_injected_is_delivered_once(network in networks(), choices in choices()) {
        if let Some(spec) = build(&network, &choices) {
            check_delivered_once(spec);
        }
    }

    #[test]
    fn nothing_stalls_at_any_load(network in networks(), choices in choices()) {
        if let Some(spec) = build(&network, &choices) {
            check_never_stalls(spec);
        }
    }
}
