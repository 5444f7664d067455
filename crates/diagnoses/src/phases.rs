//! The phases of a load that changes, each judged separately.

use crate::backlog;
use crate::facts::{Facts, Late};

/// The phases of a point, with the facts that come from the point and from earlier phases.
///
/// A phase may be sound while another phase of the point is saturated. The phase right after a saturated phase is not sound, because it
/// delivers the rest of the saturated load. A phase that falls behind at first and later carries its load has not settled. If bursts
/// leave the verdict on the whole run unknown, the verdict on phases that were not judged is unknown as well.
pub(crate) fn judged(point: &Facts, phases: Vec<Facts>) -> Vec<Facts> {
    let is_dropping = point.is_dropping();
    // if packets are dropped, missing packets are lost and do not wait anywhere
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
            saturated: in_phase(point.saturated, own),
            dropped_packets: Some(dropped_in(point, &phase)),
            late: Some(late),
            ..phase
        }
    };
    phases.into_iter().zip(waiting).map(one).collect()
}

/// Packets dropped by faults that are active in a phase, including packets dropped before the phase began.
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

/// True if a phase is saturated; `None` if that is not known.
///
/// A phase without any verdict has nothing to judge (only batches), unless the verdict on the whole point is unknown.
fn in_phase(point: Option<bool>, phase: Option<bool>) -> Option<bool> {
    match (point, phase) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (None, None) => None,
        (Some(false), _) | (None, Some(false)) => Some(false),
    }
}
