//! Runs in networks whose buffers do not cover the round trip of a credit, at the load that such buffers can carry.

use serde_json::{Value, json};
use weft_engine::spec::Execution;
use weft_scenario::expand;

fn run(text: &str) -> Value {
    let point = expand("a.yaml", text, &[]).unwrap_or_else(|error| panic!("{error}\n{text}")).remove(0);
    point.run(Execution::new(1, 1), &()).unwrap_or_else(|error| panic!("{error}")).summary
}

fn number(summary: &Value, key: &str) -> f64 {
    summary[key].as_f64().unwrap_or_else(|| panic!("{key}: {}", summary[key]))
}

/// A run with two routers and a link of 1000 cycles between them. The round trip of a credit is 1 cycle in the router, 1000 cycles on the
/// link, and 1001 cycles back.
fn wide_area(buffer: u32) -> Value {
    run(&format!(
        "topology: {{mesh: {{widths: [2], terminals_per_router: 1}}}}\n\
         links: {{default: {{latency: 1cycle, vcs: 1, buffer: 4000flits}}, dim0: {{latency: 1000cycles, buffer: {buffer}flits}}}}\n\
         routing: dimension_order\ntraffic: {{pattern: neighbor, packet: 10flits, load: 0.9}}\n\
         measure: {{warmup: 20000cycles, window: 50000cycles}}\n"
    ))
}

#[test]
fn one_vc_carries_its_buffer_in_a_round_trip() {
    for buffer in [500, 1000, 1800] {
        let summary = wide_area(buffer);
        let bound = f64::from(buffer) / 2002.0;
        assert!((number(&summary, "path_bound_load") - bound).abs() < 1e-9, "{buffer}");
        assert!((number(&summary, "path_bound_share") - 0.9 / bound).abs() < 1e-9, "{buffer}");
        assert_eq!(summary["below_path_bound"], false, "{buffer}: no longer run would settle");
        assert_eq!(summary["path_bound_buffer"], "links.dim0.buffer");
        assert_eq!(summary["path_bound_buffer_needed_flits"], json!(2002));
        // the accepted load can differ, because packets from the warm-up that waited behind a full buffer are accepted in the window
        assert!((number(&summary, "accepted_load") - bound).abs() < 0.01, "{buffer}: {}", summary["accepted_load"]);
    }
    // with the buffer that the first runs propose, the bandwidth of the link is the bound, and the network carries the load
    let enough = wide_area(2002);
    assert_eq!((number(&enough, "path_bound_load"), &enough["saturated"]), (1.0, &json!(false)));
    assert!(enough["path_bound_buffer"].is_null() && enough["path_bound_buffer_needed_flits"].is_null());
}

#[test]
fn each_vc_class_has_its_own_buffers() {
    // Three routers in a row, with a VC class per hop. Weft finds that the fullest VC class is class 0 of the first hop, for all packets
    // from the first router. A credit takes 1 + 20 + 21 = 42 cycles, and the only VC of the class has space for 20 flits. A channel with
    // two VCs carries twice this load.
    let at = |load: f64| {
        run(&format!(
            "topology: {{mesh: {{widths: [3], terminals_per_router: 1}}}}\n\
             links: {{default: {{latency: 20cycles, vcs: 2, buffer: 20flits}}, terminal: {{buffer: 400flits}}}}\n\
             routing: shortest_path\ntraffic: {{pattern: uniform, packet: 1flit, load: {load}}}\n\
             measure: {{warmup: 5000cycles, window: 20000cycles}}\n"
        ))
    };
    let (below, above) = (at(0.4), at(0.6));
    for summary in [&below, &above] {
        assert!((number(summary, "path_bound_load") - 20.0 / 42.0).abs() < 1e-9, "{}", summary["path_bound_load"]);
        assert_eq!(summary["path_bound_buffer_needed_flits"], json!(42));
    }
    assert_eq!((&below["saturated"], &below["below_path_bound"]), (&json!(false), &json!(true)));
    assert_eq!((&above["saturated"], &above["below_path_bound"]), (&json!(true), &json!(false)));
}
