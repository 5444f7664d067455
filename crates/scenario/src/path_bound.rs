//! The load at which the fullest channel of a network is full, if the paths of its packets alone determine it.
//!
//! # Source
//! The formulas are those of `queues`. Let a queue carry r flits per cycle. The queue is offered the share s of r. The variance of
//! the offered flits is v flits per cycle. The mean wait of the queue is v / (2 r (1 - s)) cycles. The queue's relaxation time,
//! after which its first state has no effect, is v / (r (1 - s)^2) cycles. A shorter run cannot distinguish the load from the
//! capacity: one standard deviation of the offered flits equals their difference.

use crate::queues::variance;
use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::outcome::{Buffers, Outcome};
use weft_units::Refusal;

/// Keys of the summary for the fullest channel:
/// - the load at which the channel is full, in units of `offered_load`;
/// - the channel's mean load as a share of its capacity, and whether this share is below 1 by more than a standard deviation;
/// - the buffers that limit the channel below its bandwidth, and the number of flits per VC that would be enough;
/// - the same for all link classes whose buffers fill a channel more than the bandwidth fills any link.
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
