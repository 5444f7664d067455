//! The conformance suite of switch allocators: no packet is lost at any load and packet length, and the number of
//! blocks does not change results.

use super::routing::check_drains;
use super::{HYPERX, UGAL_P, check_blocks, packets, phases, spec};
use weft_engine::Spec;
use weft_engine::allocation::AllocatorConfig;
use weft_engine::spec::FlowControl::{VirtualCutThrough, Wormhole};

const DOR: &str = r#"{"dimension_order": {}}"#;
const TORUS: &str = r#"{"torus": {"widths": [4, 3], "terminals_per_router": 2}}"#;

/// Networks with all kinds of requests: a single router, heads with a known output, heads that choose in every step, detours, and rings
/// with a bubble.
const NETWORKS: [(&str, &str); 5] = [
    (r#"{"single_router": {"terminals": 8}}"#, DOR),
    (HYPERX, UGAL_P),
    (TORUS, r#"{"minimal_adaptive": {}}"#),
    (
        r#"{"dragonfly": {"routers_per_group": 4, "terminals_per_router": 2, "global_links_per_router": 2}}"#,
        r#"{"dragonfly_valiant": {}}"#,
    ),
    (TORUS, r#"{"dimension_order": {"dateline": "bubble"}}"#),
];

/// Runs the conformance suite on one switch allocator.
///
/// # Panics
/// Panics if the allocator does not conform; the message names the fault.
pub fn check(allocator: &AllocatorConfig) {
    for (topology, routing) in NETWORKS {
        for (flits, flow_control, buffer) in [(1, VirtualCutThrough, 4), (5, VirtualCutThrough, 8), (5, Wormhole, 2)] {
            let mut spec = spec(topology, routing);
            packets(&mut spec, flits, flow_control, buffer);
            spec.router.allocator = allocator.clone();
            let what = format!("{allocator:?}, {routing} on {topology}, {flits} flits, {flow_control:?}");
            check_delivers(&mut spec, &what);
            phases(&mut spec, 100, 300);
            check_blocks(&spec, &what);
        }
    }
}

/// Runs the spec with a load below saturation and with full load. After the call the spec has full load.
fn check_delivers(spec: &mut Spec, what: &str) {
    for load in [0.1, 1.0] {
        spec.set_load(load);
        check_drains(spec, 500, what);
    }
}
