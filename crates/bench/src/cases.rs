//! The networks that the benchmark runs.

use weft_engine::Spec;
use weft_units::Refusal;

/// One network at one load.
#[derive(Debug, Clone)]
pub struct Case {
    pub name: String,
    topology: &'static str,
    routing: &'static str,
    pub load: f64,
    packet: u32,
    /// Cycles to fill the network before the clock starts, and cycles timed.
    pub warmup: u64,
    pub cycles: u64,
}

const BUTTERFLY: &str = r#"{"hyperx": {"widths": [8, 8], "terminals_per_router": 8}}"#;
const LARGE: &str = r#"{"hyperx": {"widths": [22, 22], "terminals_per_router": 22}}"#;
const TORUS: &str = r#"{"torus": {"widths": [8, 8, 8], "terminals_per_router": 1}}"#;
const DF_1K: &str = r#"{"dragonfly": {"routers_per_group": 8, "terminals_per_router": 4, "global_links_per_router": 4, "arrangement": "absolute"}}"#;
const DF_16K: &str = r#"{"dragonfly": {"routers_per_group": 16, "terminals_per_router": 8, "global_links_per_router": 8, "arrangement": "absolute"}}"#;
const DF_92K: &str = r#"{"dragonfly": {"groups": 181, "routers_per_group": 32, "terminals_per_router": 16, "global_links_per_router": 16}}"#;
const DOR: &str = r#"{"dimension_order": {}}"#;
const UGAL_P: &str = r#"{"ugal_p": {}}"#;
const DF_MIN: &str = r#"{"dragonfly_minimal": {}}"#;

/// All cases, smallest first.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, topology, routing, load, packet, warmup, cycles| {
        cases.push(Case { name, topology, routing, load, packet, warmup, cycles });
    };
    for (label, routing) in [("minimal", DOR), ("ugal_p", UGAL_P)] {
        for packet in [1, 8, 64] {
            for (load, cycles) in [(0.05, 60_000), (0.30, 12_000), (0.60, 6_000)] {
                add(format!("butterfly-512/{label}/{packet}f/{load:.2}"), BUTTERFLY, routing, load, packet, 2_000, cycles);
            }
        }
    }
    for (load, cycles) in [(0.05, 2_500), (0.30, 500)] {
        add(format!("butterfly-10648/minimal/1f/{load:.2}"), LARGE, DOR, load, 1, 200, cycles);
    }
    add("torus-512/dimension_order/1f/0.20".into(), TORUS, DOR, 0.2, 1, 1_000, 8_000);
    add("dragonfly-1056/minimal/1f/0.30".into(), DF_1K, DF_MIN, 0.3, 1, 1_000, 5_000);
    add("dragonfly-16512/minimal/1f/0.30".into(), DF_16K, DF_MIN, 0.3, 1, 400, 400);
    add("dragonfly-92672/minimal/1f/0.20".into(), DF_92K, DF_MIN, 0.2, 1, 300, 300);
    cases
}

impl Case {
    pub fn spec(&self) -> Result<Spec, Refusal> {
        let parse = |e: serde_json::Error| Refusal::new(&self.name, e.to_string(), "mend the case");
        let topology = serde_json::from_str(self.topology).map_err(parse)?;
        let mut spec = Spec::new(&topology, serde_json::from_str(self.routing).map_err(parse)?)?;
        spec.traffic.packet_flits = self.packet;
        spec.set_load(self.load);
        if self.topology.contains("dragonfly") {
            for (class, latency) in [(1, 10), (2, 100)] {
                spec.links[class].latency = latency;
                spec.links[class].credit_latency = latency;
            }
            for link in &mut spec.links {
                (link.vcs, link.buffer) = (3, 256);
            }
        } else if self.topology == TORUS {
            for link in &mut spec.links {
                (link.vcs, link.buffer, link.latency, link.credit_latency) = (4, 16, 2, 2);
            }
        }
        if self.packet > 32 {
            // virtual cut-through needs room for the packet
            spec.links.iter_mut().for_each(|l| l.buffer = 2 * self.packet);
        }
        spec.phases.warmup = self.warmup;
        spec.phases.window = self.cycles;
        Ok(spec)
    }
}
