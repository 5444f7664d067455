//! Compares two lengths: the queue length at which congestion control marks packets, and the memory in which packets can wait. `weft check`
//! prints both, and warns if packets are marked only in very long queues, or never.

use crate::warning::Warning;
use serde_json::{Map, Value, json};
use weft_engine::{Marking, Spec};
use weft_units::Refusal;

/// The queue length above which packets are marked, and the memory of ports. Null without congestion control.
pub(crate) fn facts(spec: &Spec) -> Result<Value, Refusal> {
    let Some(Marking { first, ports, most, highest }) = weft_engine::marking(spec)? else { return Ok(Value::Null) };
    let packet = spec.traffic.longest();
    let queue = |flits: u32, chance: f64| {
        json!({
            "flits": flits,
            "bytes": bytes(spec, flits),
            "packets": f64::from(flits) / f64::from(packet),
            "mark_chance": chance,
        })
    };
    let names = spec.graph.class_names().iter().cloned();
    Ok(json!({
        "control": spec.congestion.name(),
        "packet_flits": packet,
        "first_mark": { "flits": first, "bytes": bytes(spec, first), "packets": f64::from(first) / f64::from(packet) },
        "port_memory": Map::from_iter(names.zip(ports.into_iter().map(|(flits, chance)| queue(flits, chance)))),
        "most_queued": queue(most.0, most.1),
        "highest_mark_chance": highest,
    }))
}

weft_units::codes! {
    MARKS_ABOVE_A_PORT = "marks_above_a_port", Warning,
        means: "An input port is full, and stops the upstream router, before congestion control marks any packet.",
        computed: "The shortest queue for an output in which packets are marked, compared with the memory of the largest port.",
        helps: "Let marking begin at a shorter queue, or give ports more memory.";
    MARKS_STAY_RARE = "marks_stay_rare", Warning,
        means: "No queue can become long enough to reach the highest marking probability in the scenario.",
        computed: "The marking probability at the longest possible queue for one output, compared with the highest \
                   probability.",
        helps: "Let the marking probability rise faster, or give ports more memory.";
}

/// Warns if congestion control marks packets only in queues that are longer than the memory of a port. Also warns if it marks few packets
/// in the longest possible queue.
pub(crate) fn warnings(spec: &Spec) -> Result<Vec<Warning>, Refusal> {
    let Some(Marking { first, ports, most, highest }) = weft_engine::marking(spec)? else { return Ok(Vec::new()) };
    let path = format!("congestion_control.{}", spec.congestion.name());
    let port = ports.iter().map(|&(flits, _)| flits).max().unwrap_or(0);
    let size = |flits: u32| format!("{flits} flits ({} B)", bytes(spec, flits));
    let mut warnings = Vec::new();
    if first > port {
        let what = format!(
            "marking begins when {} wait for one output, but the largest input port holds {}: a port is full, and \
             stops the upstream router, before any packet is marked",
            size(first),
            size(port)
        );
        let numbers = [("first_mark_flits", f64::from(first)), ("port_memory_flits", f64::from(port))];
        let help = format!("let marking begin at a shorter queue, or give ports more memory than {}", size(first));
        warnings.push(Warning::new(&MARKS_ABOVE_A_PORT, &path, numbers, what, help));
    }
    if most.1 < highest {
        let what = format!(
            "at most {} can wait for one output; at this length {} of the packets are marked, and queues never become \
             long enough to mark {}",
            size(most.0),
            percent(most.1),
            percent(highest)
        );
        let numbers =
            [("most_queued_flits", f64::from(most.0)), ("mark_chance", most.1), ("highest_mark_chance", highest)];
        let help = "let the marking probability rise faster, or give ports more memory";
        warnings.push(Warning::new(&MARKS_STAY_RARE, path, numbers, what, help));
    }
    Ok(warnings)
}

/// Converts flits to bytes, rounded up.
fn bytes(spec: &Spec, flits: u32) -> u64 {
    (u64::from(flits) * spec.flit_bits).div_ceil(8)
}

fn percent(share: f64) -> String {
    format!("{:.3} %", 100.0 * share)
}
