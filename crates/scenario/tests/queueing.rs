//! Tests of queueing schemes in a scenario. Each mistake causes one error at its place, and the remedy in the error works. The tests also
//! check how the memory of a port is divided.

use weft_engine::classes::Queueing;
use weft_scenario::{Diagnostic, Point, expand};

const MESH: &str = "\
topology: {mesh: {widths: [3, 3], terminals_per_router: 1}}
links: {default: {vcs: 8, buffer: 16flits}}
routing: dimension_order
queueing: {dbbm: {queues: 4}}
traffic: {pattern: uniform, load: 0.1, packet: 4flits}
measure: {warmup: 200cycles, window: 1000cycles}
";

/// A scenario in which each port has memory for 320 flits. A router of this torus has 4 links and a terminal, so with `voqsw` a port has 5
/// queues.
const PORTS: &str = "\
topology: {torus: {widths: [3, 3], terminals_per_router: 1}}
links: {default: {vcs: 16, port_buffer: 320flits}}
routing: dimension_order
queueing: voqsw
traffic: {pattern: uniform, load: 0.1, packet: 4flits}
measure: {warmup: 200cycles, window: 1000cycles}
";

fn checked(text: &str, sets: &[(&str, &str)]) -> Result<Point, Box<Diagnostic>> {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    let point = expand("queueing.yaml", text, &sets)?.remove(0);
    point.check_network()?;
    Ok(point)
}

/// A test case: settings that are refused, the key and the words of the refusal, and settings that follow the remedy.
type Refused<'a> = (&'a str, &'a [(&'a str, &'a str)], &'a str, &'a str, &'a [(&'a str, &'a str)]);

const REFUSED: &[Refused<'_>] = &[
    (
        MESH,
        &[("links.default.vcs", "2")],
        "links.terminal.vcs",
        "packets use 4 lanes of dbbm on links from terminals, but there are 2 VCs",
        &[("links.default.vcs", "4")],
    ),
    (MESH, &[("queueing", "flow2sl")], "queueing.flow2sl", "this scheme is for fat trees", &[("queueing", "voqsw")]),
    (
        MESH,
        &[("queueing", "h2lq")],
        "queueing.h2lq",
        "this scheme is for networks with groups",
        &[("queueing", "dbbm")],
    ),
    (
        MESH,
        &[("queueing", "{dbbm: {queues: 0}}")],
        "queueing.dbbm.queues",
        "0 queues",
        &[("queueing", "{dbbm: {queues: 1}}")],
    ),
    (
        MESH,
        &[("queueing", "{map: {lanes: [[0, 1, 2]]}}")],
        "queueing.map.lanes",
        "row 0 has 3 numbers, but there are 9 terminals",
        &[("queueing", "{map: {lanes: [[0, 1, 2, 0, 1, 2, 0, 1, 2]]}}")],
    ),
    (
        MESH,
        &[("queueing", "one_queue"), ("interface.queues", "per_lane")],
        "interface.queues",
        "there is no queueing scheme",
        &[("queueing", "dbbm")],
    ),
    (
        MESH,
        &[("links.default.port_buffer", "4KiB")],
        "port_buffer",
        "`buffer` is the size of the buffer of each VC",
        &[("links.default.buffer", "null")],
    ),
    (
        MESH,
        &[("links.default.split", "reachable")],
        "split",
        "there is no `port_buffer` to divide",
        &[("links.default.split", "null")],
    ),
    (
        PORTS,
        // a port has 5 queues. A link from a terminal has 4 lanes of 4 VCs each. So 60 flits are divided into 5 x 4 = 20 parts of 3 flits
        &[("links.default.port_buffer", "60flits")],
        "links.terminal.port_buffer",
        "60flits of port memory are 60 flits, in 5 parts of 4 VCs of 3 flits each: 3 < 4",
        &[("links.terminal.port_buffer", "80flits"), ("links.default.port_buffer", "320flits")],
    ),
];

#[test]
fn each_mistake_is_refused_at_its_place_and_its_remedy_works() {
    for (text, wrong, path, words, remedy) in REFUSED {
        let refusal = checked(text, wrong).expect_err(words).text;
        assert!(refusal.contains(&format!("{path}: ")) && refusal.contains(words), "{wrong:?}: {refusal}");
        let mended: Vec<_> = wrong.iter().chain(*remedy).copied().collect();
        if let Err(still) = checked(text, &mended) {
            panic!("{words}: with {remedy:?}: {}", still.text);
        }
    }
}

#[test]
fn a_port_is_divided_by_the_queues_of_the_scheme_or_by_the_lanes() {
    // Dimension order on a 3x3 torus with one terminal per router has 2 VC classes. After a link of dimension 0, a packet goes up or down
    // in dimension 1, or to the terminal. In rings of 3 routers there is no second hop. So a link of dimension 0 has 3 lanes, and a link of
    // dimension 1 has 1 lane.
    let buffers = |sets: &[(&str, &str)]| {
        let spec = checked(PORTS, sets).unwrap().spec().unwrap();
        spec.links.iter().map(|link| link.buffer).collect::<Vec<_>>()
    };
    // With `split: nominal`, 5 queues in 2 VC classes are 10 parts. Each lane of dimension 0 has at most ceil(16 / lanes) VCs.
    let facts = checked(PORTS, &[]).unwrap().imply().unwrap()["queueing"].clone();
    let lanes = |class: &str| {
        facts["links"][class]["lanes"].as_array().unwrap().iter().map(|lanes| lanes.as_u64().unwrap()).sum::<u64>()
    };
    let part = |parts: u64, lanes: u64| (320 / (parts * 16u64.div_ceil(lanes))) as u32;
    let from_terminals = facts["links"]["terminal"]["lanes_from_terminals"].as_u64().unwrap();
    assert_eq!(from_terminals, 4, "four links");
    let nominal = [part(5, from_terminals), part(10, lanes("dim0")), part(10, lanes("dim1"))];
    assert_eq!(buffers(&[]), nominal);
    let reachable =
        [part(from_terminals, from_terminals), part(lanes("dim0"), lanes("dim0")), part(lanes("dim1"), lanes("dim1"))];
    assert_eq!(buffers(&[("links.default.split", "reachable")]), reachable);
    assert!(lanes("dim1") < lanes("dim0"));
    // memory in bytes: flits of 48 bits have 6 bytes
    assert_eq!(buffers(&[("links.default.port_buffer", "1920B")]), nominal);
    // with a grain of 4 flits, the same memory holds a quarter of the number of (coarse) flits
    let coarse: Vec<u32> = nominal.iter().map(|flits| flits / 4).collect();
    assert_eq!(buffers(&[("grain", "192b")]), coarse);
    assert_eq!(buffers(&[("grain", "192b"), ("links.default.port_buffer", "1920B")]), coarse);
    // the resolved scenario is the same point
    let point = checked(PORTS, &[]).unwrap();
    let again = expand("again.yaml", &point.resolved_yaml(), &[]).unwrap().remove(0);
    assert_eq!(again.hash, point.hash);
}

#[test]
fn a_terminal_has_a_queue_per_lane_unless_the_scenario_says_otherwise() {
    let interface = |sets: &[(&str, &str)]| checked(MESH, sets).unwrap().spec().unwrap().interface;
    assert_eq!((interface(&[]).queueing, interface(&[]).depth), (Queueing::PerLane, u16::MAX));
    assert_eq!(interface(&[("interface.queues", "one")]).queueing, Queueing::One);
    assert_eq!(interface(&[("interface.depth", "4")]).depth, 4);
    assert_eq!(interface(&[("queueing", "one_queue")]).queueing, Queueing::One);
}
