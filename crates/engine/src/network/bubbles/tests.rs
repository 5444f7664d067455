//! Tests that in every cycle each ring, in each direction, has room for a packet.

use crate::network::simulation::Simulation;
use crate::network::spec::{Execution, Spec};
use std::collections::BTreeMap;
use weft_api::state::{ChannelEnd, NO_REQUEST, NONE};
use weft_topology::TopologyConfig;

/// Parameters of the buffers: number of VCs, number of packets that fit into a VC, and number of flits of a packet.
type Buffers = (u8, u32, u32);

/// A spec with a load of 1 on a torus with one terminal per router.
fn full(widths: &str, pattern: &str, dateline: &str, (vcs, packets, flits): Buffers) -> Spec {
    let topology = format!(r#"{{"torus": {{"widths": {widths}, "terminals_per_router": 1}}}}"#);
    let topology: TopologyConfig = serde_json::from_str(&topology).unwrap();
    let routing = serde_json::from_str(&format!(r#"{{"dimension_order": {{"dateline": "{dateline}"}}}}"#)).unwrap();
    let mut spec = Spec::new(&topology, routing).unwrap();
    spec.set_pattern(&serde_json::from_str(&format!(r#"{{"{pattern}": {{}}}}"#)).unwrap()).unwrap();
    spec.set_packet(flits);
    spec.set_load(1.0);
    for link in &mut spec.links {
        (link.latency, link.credit_latency, link.vcs, link.buffer) = (1, 1, vcs, packets * flits);
    }
    spec.allow_dependency_cycle = dateline == "none";
    spec
}

/// For each ring, the number of packets for which it still has room. `in_all`: the number of packets that fit into the buffers of a
/// channel. The key of a ring is its port, and the coordinates of its router that has coordinate 0 in the ring's dimension. A packet takes
/// up room from the time at which its head gets a VC until its head gets the next VC.
fn places(sim: &Simulation, in_all: i64) -> BTreeMap<(u32, u64), i64> {
    let block = &sim.blocks[0];
    let records = block.records();
    let mut heads_on_links = vec![0; block.inputs()];
    records.flits.for_each(|flit| heads_on_links[(flit.to >> 4) as usize] += i64::from(flit.packet != NONE));
    let mut places = BTreeMap::new();
    for (o, out) in block.outs().enumerate().filter(|(_, out)| out.kind == ChannelEnd::Local) {
        let router = block.router(out.router as usize);
        let port = o as u32 - router.base;
        // port 0 leads to the terminal, and each dimension has the next two ports
        let line = sim.net.coords[router.id as usize] & !(0xff << ((port - 1) / 2 * 8));
        let input = block.input(out.peer as usize);
        let mut taken = heads_on_links[out.peer as usize];
        for v in 0..8 {
            let mut segment = input.head[v];
            taken -= i64::from(segment != NONE && input.requests[v] == NO_REQUEST);
            while segment != NONE {
                taken += 1;
                segment = records.segments.items[segment as usize].next;
            }
        }
        *places.entry((port, line)).or_default() += in_all - taken;
    }
    places
}

/// The smallest room (in packets) of any ring in any of 5,000 cycles.
fn fewest(widths: &str, pattern: &str, dateline: &str, buffers: Buffers) -> i64 {
    let spec = full(widths, pattern, dateline, buffers);
    let in_all = i64::from(buffers.0) * i64::from(buffers.1);
    let mut sim = Simulation::new(&spec, Execution::new(1, 1)).unwrap();
    let mut fewest = i64::MAX;
    for cycle in 1..=5000 {
        sim.advance(cycle);
        fewest = fewest.min(places(&sim, in_all).into_values().min().unwrap());
    }
    fewest
}

/// Tests cases in which a ring would become full if packets could enter it whenever it has room for one packet.
#[test]
fn each_ring_keeps_its_bubble() {
    for (widths, pattern, buffers) in [
        ("[4]", "uniform", (1, 2, 1)),
        ("[4]", "uniform", (1, 2, 2)),
        ("[4]", "uniform", (1, 2, 5)),
        ("[8]", "tornado", (1, 3, 1)),
        ("[8]", "tornado", (2, 2, 5)),
        ("[4, 3]", "uniform", (1, 2, 1)),
        ("[4, 3]", "uniform", (1, 3, 5)),
        ("[4, 3]", "uniform", (2, 2, 1)),
    ] {
        assert!(fewest(widths, pattern, "bubble", buffers) >= 1, "{widths}, {pattern}, {buffers:?}");
        assert_eq!(fewest(widths, pattern, "none", buffers), 0, "{widths}, {pattern}, {buffers:?}");
    }
}
