//! `router.preset`: parameters of a switch from a published paper. Weft writes these parameters into the tree of the scenario, for the keys
//! that the scenario leaves out. The resolved scenario therefore contains all keys.

use crate::diagnostic::{Diagnostic, Span};
use crate::expand::explain;
use crate::tree::{Entry, Kind, Node};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use weft_units::Refusal;

/// A switch whose parameters a paper gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Preset {
    /// F. J. Andujar et al., "Energy efficient torus networks with on/off links", JPDC 130, 2019, Section 3.1. A clock of 625 MHz, flits of
    /// 16 bytes, 4 VCs of 256 flits, virtual cut-through and three-stage allocation. The crossbar delivers one flit per cycle and port. A
    /// hop takes about 50 ns, of which the allocator takes ceil(log2 ports) cycles (Table 2). The paper does not divide the rest of the
    /// hop's time. Weft sets this rest to 28 cycles, 1 cycle of them for the link. Packets in the paper have 8 flits: write
    /// `traffic.packet: 8flits`.
    #[serde(rename = "torus_2019")]
    Torus2019,
}

impl Preset {
    /// The keys of a scenario that the preset sets, with their values.
    fn keys(self) -> Value {
        match self {
            Self::Torus2019 => json!({
                "cycle": "1600ps",
                "flit": "16B",
                "links": {"default": {"latency": "1cycle", "vcs": 4, "buffer": "256flits"}},
                "router": {
                    "delay": "27cycles",
                    "delay_per_doubling": "1cycle",
                    "speedup": 1,
                    "flow_control": "virtual_cut_through",
                    "allocator": {"three_stage": {}},
                },
            }),
        }
    }
}

/// If the scenario names a preset, writes the values of the preset into the tree, for the keys that the scenario leaves out.
pub(crate) fn fill(tree: &mut Node) -> Result<(), Diagnostic> {
    let Some(node) = tree.child_mut("router").and_then(|router| router.child_mut("preset")) else { return Ok(()) };
    let span = node.span.clone();
    // a name that is not a preset is reported later, by the check of the scenario
    let Ok(preset) = serde_json::from_value::<Preset>(node.value()) else { return Ok(()) };
    let Value::Object(keys) = preset.keys() else { return Ok(()) };
    if tree.child_mut("link_speed").is_some() {
        let refusal = || {
            let what = "link_speed sets cycle and flit, but router.preset also sets both";
            Refusal::new(
                "link_speed",
                what,
                "leave link_speed out, or also write cycle and flit, or leave the preset out",
            )
        };
        if tree.child_mut("cycle").is_none() || tree.child_mut("flit").is_none() {
            return Err(explain(tree, &[], &refusal()));
        }
    }
    merge(tree, &keys, &span);
    Ok(())
}

/// Adds missing keys to a mapping and to the mappings in it.
fn merge(node: &mut Node, keys: &Map<String, Value>, span: &Span) {
    for (key, value) in keys {
        match (node.child_mut(key), value) {
            (Some(own), Value::Object(below)) if matches!(own.kind, Kind::Mapping(_)) && !is_model(below) => {
                merge(own, below, span);
            }
            (Some(own), _) if !own.is_nothing() => {}
            (Some(own), _) => *own = node_of(value, span),
            (None, _) => {
                let Kind::Mapping(entries) = &mut node.kind else { return };
                let value = node_of(value, span);
                entries.push(Entry { key: key.clone(), key_span: span.clone(), value });
            }
        }
    }
}

/// True if the mapping is a model: a name with parameters. The preset sets such a mapping only as a whole.
fn is_model(keys: &Map<String, Value>) -> bool {
    keys.len() == 1 && keys.values().all(|value| matches!(value, Value::Object(own) if own.is_empty()))
}

fn node_of(value: &Value, span: &Span) -> Node {
    let kind = match value {
        Value::Object(keys) => {
            let entry = |(key, value): (&String, &Value)| Entry {
                key: key.clone(),
                key_span: span.clone(),
                value: node_of(value, span),
            };
            Kind::Mapping(keys.iter().map(entry).collect())
        }
        Value::Array(items) => Kind::Sequence(items.iter().map(|item| node_of(item, span)).collect()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Kind::Scalar(value.clone()),
    };
    Node { kind, span: span.clone(), swept: None }
}
