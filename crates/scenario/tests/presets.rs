//! Tests of `router.preset`, a switch from a paper: the keys that the preset sets, and the keys that it does not change.

use serde_json::{Value, json};
use weft_scenario::{Point, expand};

/// A scenario with the networks in Table 2 of Andujar et al. (JPDC 2019).
const NETWORKS: &str = r#"
router: {preset: torus_2019}
routing: minimal_adaptive
traffic: {pattern: uniform, packet: 8flits, load: 0.1}
sweep:
  topology:
    - torus: {widths: [4, 4, 4], terminals_per_router: 1}
    - torus: {widths: [4, 4], terminals_per_router: 4, trunk_width: 4}
    - torus: {widths: [4], terminals_per_router: 16, trunk_width: 16}
    - torus: {widths: [4, 4, 4, 4], terminals_per_router: 1}
    - torus: {widths: [4, 4, 4], terminals_per_router: 4, trunk_width: 4}
"#;

fn points(text: &str, sets: &[(&str, &str)]) -> Vec<Point> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    expand("it.yaml", text, &sets).unwrap_or_else(|diagnostic| panic!("{}", diagnostic.text))
}

/// Table 2 of the paper has the ports of a switch, and the cycles of the allocator, which are ceil(log2 ports). The text says that a hop
/// takes about 50 ns. Section 1 has the number of directed links, the mean distance (including pairs of a router with itself), and the
/// bisection.
#[test]
fn the_delay_of_the_paper_follows_the_ports() {
    let table = [
        (7, 3, 384, 3.0, 64),
        (20, 5, 256, 2.0, 16),
        (48, 6, 128, 1.0, 4),
        (9, 4, 2048, 4.0, 256),
        (28, 5, 1536, 3.0, 64),
    ];
    let points = points(NETWORKS, &[]);
    assert_eq!(points.len(), table.len());
    for (point, (ports, allocator, links, distance, routers)) in points.iter().zip(table) {
        let spec = point.spec().expect("a sound scenario");
        assert_eq!((spec.graph.radix(), spec.graph.routers()), (ports, routers));
        assert!(1u32 << allocator >> 1 < ports && ports <= 1 << allocator, "ceil(log2 {ports}) is {allocator}");
        // the router takes 27 cycles plus those of the allocator, and the link takes 1 cycle
        assert_eq!((spec.router.delay, spec.links[1].latency, spec.router.speedup), (27 + allocator, 1, 1));
        let hop_ns = (spec.router.delay + spec.links[1].latency) as f64 * spec.cycle_fs as f64 / 1e6;
        assert!((49.0..55.0).contains(&hop_ns), "{hop_ns} ns");
        assert_eq!((spec.cycle_fs, spec.flit_bits, spec.links[0].vcs, spec.links[1].buffer), (1_600_000, 128, 4, 256));
        let between: usize = spec.graph.links_by_class()[1..].iter().map(|(_, links)| links).sum();
        assert_eq!(2 * between, links);
        // in a ring of 4 the mean distance is (0 + 1 + 2 + 1) / 4 = 1. Without pairs of a router with itself, it is R / (R - 1) times this
        let mean = spec.graph.mean_distance();
        let others = f64::from(routers) / f64::from(routers - 1);
        assert!((mean - distance * others).abs() < 1e-9, "{mean}, and {distance} with such pairs");
        assert_eq!(point.imply().expect("sound")["mean_distance_hops"], json!(mean));
        point.check_network().unwrap_or_else(|diagnostic| panic!("{}", diagnostic.text));
    }
}

#[test]
fn what_is_written_stands() {
    let sets = [
        ("sweep", "null"),
        ("topology", "{torus: {widths: [4, 4], terminals_per_router: 1}}"),
        ("router.delay", "5cycles"),
        ("router.allocator", "islip"),
        ("links.default.vcs", "6"),
        ("cycle", "1ns"),
    ];
    let point = &points(NETWORKS, &sets)[0];
    let spec = point.spec().expect("a sound scenario");
    // 4 + 1 ports need 3 doublings of the number of ports
    assert_eq!((spec.router.delay, spec.links[1].vcs, spec.links[1].buffer), (5 + 3, 6, 256));
    assert_eq!((spec.cycle_fs, spec.flit_bits), (1_000_000, 128));
    assert_eq!(point.resolved["router"]["allocator"], json!({"islip": {"iterations": 1}}));
    // the resolved scenario is the same point
    let again = &points(&point.resolved_yaml(), &[])[0];
    assert_eq!((&again.hash, &again.resolved), (&point.hash, &point.resolved));
}

#[test]
fn without_a_preset_nothing_is_filled_in() {
    let sets = [("sweep", "null"), ("topology", "{torus: {widths: [4], terminals_per_router: 1}}"), ("router", "null")];
    let point = &points(NETWORKS, &sets)[0];
    assert_eq!(
        (&point.resolved["router"]["preset"], &point.resolved["router"]["delay"]),
        (&Value::Null, &json!("1cycle"))
    );
}

/// With a grain, a router's delay still includes the time that depends on its number of ports.
#[test]
fn a_grain_keeps_the_delay_that_ports_add() {
    let sets = [
        ("sweep", "null"),
        ("topology", "{torus: {widths: [4, 4], terminals_per_router: 4, trunk_width: 4}}"),
        ("grain", "128B"),
    ];
    let point = &points(NETWORKS, &sets)[0];
    let spec = point.spec().expect("a sound scenario");
    // 32 cycles of the router and 1 of the link are 33 cycles of 1.6 ns, which are 4.125 grains of 12.8 ns, rounded to 4
    assert_eq!((spec.cycle_fs, spec.router.delay, spec.links[1].latency), (12_800_000, 0, 4));
}

#[test]
fn a_wrong_name_and_a_speed_beside_it_are_refused() {
    let said = |sets: &[(&str, &str)]| {
        let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
        expand("it.yaml", NETWORKS, &sets).err().map(|diagnostic| diagnostic.text)
    };
    let message = said(&[("router.preset", "torus")]).expect("refused");
    assert!(message.contains("torus_2019"), "{message}");
    let message = said(&[("link_speed", "80Gb/s")]).expect("refused");
    assert!(message.contains("leave link_speed out, or also write cycle and flit"), "{message}");
    // no error, because 16 bytes in 1.6 ns are 80 Gb/s
    assert_eq!(said(&[("link_speed", "80Gb/s"), ("cycle", "1.6ns"), ("flit", "16B")]), None);
}
