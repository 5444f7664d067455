//! Judges each phase of a load that changes.

use crate::backlog;
use crate::facts::{Facts, Late};

/// The phases of a point, with the facts that they share with the point or get from earlier phases.
///
/// A phase can have no flaw although another phase of the point is saturated. The phase after a saturated phase has a flaw, because it also
/// delivers the rest of the saturated load. A phase that falls behind at first but carries its load later has not settled. If bursts leave
/// the verdict on the whole run unknown, the verdict is also unknown for each phase that was not judged.
pub(crate) fn judged(point: &Facts, phases: Vec<Facts>) -> Vec<Facts> {
    let is_dropping = point.is_dropping();
    // if faults drop packets, missing packets are lost and cause no backlog
    let waiting = if is_dropping { vec![None; phases.len()] } else { backlog::of_phases(&phases) };
    let mut after_saturated = false;
    let one = |(phase, backlog): (Facts, _)| {
        let own = phase.saturated;
        let late = Late { after_saturated, backlog };
        after_saturated = own == Some(true);
        Facts {
            ending: point.ending.clone(),
            warnings: point.warnings.clone(),
            warmup_settled: point.warmup_settled,
            warmup_cycles: point.warmup_cycles,
            power_settled: point.power_settled,
            packet_flits: point.packet_flits,
            fault_episodes: point.fault_episodes.clone(),
            saturated: in_phase(point.saturated, own),
            dropped_packets: Some(dropped_in(point, &phase)),
            late: Some(late),
            ..phase
        }
    };
    phases.into_iter().zip(waiting).map(one).collect()
}

/// Number of packets that were dropped by faults active in the phase. The number includes packets that these faults
/// dropped before the phase began.
fn dropped_in(point: &Facts, phase: &Facts) -> f64 {
    let place = phase.place.as_ref();
    let (Some(all), Some(begin)) =
        (point.dropped_packets.filter(|&all| all > 0.0), place.and_then(|place| place.from_cycle))
    else {
        return 0.0;
    };
    let known = &point.fault_episodes;
    let is_partial = (known.len() as f64) < point.fault_episodes_count;
    if is_partial || known.iter().all(|each| each.dropped_packets == 0.0) {
        return all;
    }
    let end = place.and_then(|place| place.to_cycle).unwrap_or(f64::INFINITY);
    let lasts = |from: f64, to: Option<f64>| from < end && to.is_none_or(|to| to > begin);
    known.iter().filter(|each| lasts(each.from_cycle, each.to_cycle)).map(|each| each.dropped_packets).sum()
}

/// Whether the phase is saturated; `None` if this is unknown.
///
/// A phase without a verdict (it has only batches) is not saturated, unless the verdict on the whole point is unknown.
fn in_phase(point: Option<bool>, phase: Option<bool>) -> Option<bool> {
    match (point, phase) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (None, None) => None,
        (Some(false), _) | (None, Some(false)) => Some(false),
    }
}
