//! Computes the load at which the fullest channel of a network is full, for networks in which packet paths alone determine this load.
//!
//! # Source
//! The formulas are the same as in `queues`. Let a queue serve r flits per cycle. The offered load of the queue is s r, which is a share s
//! of this rate. The variance of the offered flits is v flits per cycle. The mean wait of the queue is v / (2 r (1 - s)) cycles. The
//! relaxation time of the queue is v / (r (1 - s)^2) cycles; after this time its initial state has no effect. A shorter run cannot
//! distinguish the offered load from the capacity. In a shorter run, the capacity exceeds the offered flits by less than one standard
//! deviation of these flits.

use crate::queues::variance;
use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::outcome::{Buffers, Outcome};
use weft_units::Refusal;

/// The keys of the summary that describe the fullest channel:
/// - the load at which the channel is full, in the unit of `offered_load`;
/// - the channel's mean load as a share of its capacity, and whether this share is below 1 by more than a standard deviation;
/// - the key of the buffers that reduce the channel's throughput below its bandwidth, and the number of flits per VC that would be enough;
/// - a list with this key and number for every link class whose buffers limit its channels more than the bandwidth limits any link.
pub(crate) fn path_bound(spec: &Spec, outcome: &Outcome) -> Result<Map<String, Value>, Refusal> {
    let loads = spec.traffic.jobs.iter().flat_map(|job| &job.phases[0].load);
    let (sum, count) = (loads.sum::<f64>(), f64::from(spec.traffic.members()));
    let lasted = outcome.warmup.saturating_add(outcome.window).max(1) as f64;
    let deviation = match &outcome.fullest {
        Some(fullest) => Some((variance(spec)? / (fullest.rate * lasted)).sqrt()),
        None => None,
    };
    let share = outcome.fullest.as_ref().map(|fullest| fullest.share);
    let short = outcome.fullest.as_ref().map_or(&[][..], |fullest| &fullest.buffers);
    let path = |buffers: &Buffers| format!("links.{}.buffer", spec.graph.class_names()[buffers.class]);
    let record = |buffers: &Buffers| json!({"path": path(buffers), "needed_flits": buffers.needed});
    let below = share.zip(deviation).map(|(share, deviation)| share < 1.0 - deviation);
    Ok(Map::from_iter([
        ("path_bound_load".to_owned(), json!(share.map(|share| sum / count / share))),
        ("path_bound_share".to_owned(), json!(share)),
        ("below_path_bound".to_owned(), json!(below)),
        ("path_bound_buffer".to_owned(), json!(short.first().map(path))),
        ("path_bound_buffer_needed_flits".to_owned(), json!(short.first().map(|buffers| buffers.needed))),
        ("path_bound_buffers".to_owned(), short.iter().map(record).collect()),
    ]))
}
