//! Results of each phase of a load that changes: its loads, latency and power.

use crate::energy::{Energy, RouterCycles, RouterEnergy, on_cycles};
use crate::groups::routers_asleep;
use crate::periods;
use crate::queues;
use crate::statistics::{latency, per_packet};
use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_engine::outcome::{Outcome, PhaseOutcome, Saturation};
use weft_engine::power::LinkState;
use weft_units::{Refusal, fj_f64};

/// The results of each phase of the load, as one object per phase. A phase that the window does not reach has no measured values. The list
/// is empty if the load never changes.
pub(crate) fn phases(spec: &Spec, outcome: &Outcome, flit_bits: u64) -> Result<Value, Refusal> {
    let changes = spec.traffic.changes();
    if changes.is_empty() {
        return Ok(json!([]));
    }
    let starts = std::iter::once(0).chain(changes);
    let terminals = u64::from(spec.traffic.members());
    let all = starts.enumerate().map(|(number, start)| {
        let mut fields = Map::from_iter([
            ("phase".to_owned(), json!(number + 1)),
            ("start_cycle".to_owned(), json!(start)),
            ("packets".to_owned(), json!(0)),
        ]);
        if let Some(phase) = outcome.phases.iter().find(|phase| phase.start == start) {
            fields.extend(measured(phase, terminals));
            fields.extend(power(phase, spec, flit_bits)?);
            fields.extend(queues::of_phase(spec, outcome, phase)?);
            fields.insert("whole_periods".to_owned(), json!(periods::whole(phase.to - phase.from, spec)?));
        }
        Ok(Value::Object(fields))
    });
    all.collect()
}

/// Loads in the phase, in flits per terminal of a job and cycle, and latencies of the packets created in the phase.
fn measured(phase: &PhaseOutcome, terminals: u64) -> Map<String, Value> {
    let slots = terminals as f64 * (phase.to - phase.from) as f64;
    let load = |flits: u64| (slots > 0.0).then(|| flits as f64 / slots);
    let sums = &phase.packets.sums;
    let mut fields = Map::from_iter([
        ("from_cycle".to_owned(), json!(phase.from)),
        ("to_cycle".to_owned(), json!(phase.to)),
        ("load".to_owned(), json!(phase.load)),
        ("offered_load".to_owned(), json!(phase.offered_flits.and_then(load))),
        ("accepted_load".to_owned(), json!(load(phase.accepted_flits))),
        ("saturated".to_owned(), json!(phase.saturated.and_then(Saturation::known))),
        ("packets".to_owned(), json!(sums.packets)),
        ("backlog_before_packets".to_owned(), json!(phase.waiting_packets)),
        ("hops_mean".to_owned(), json!(per_packet(sums.hops, sums.packets))),
    ]);
    fields.extend(latency("packet_latency", sums, &phase.packets.batches, |s| s.latency, &phase.packets.latency));
    fields
}

/// Mean power of all channels and routers in the phase: the measured power, and the power with links that are always on. The object also
/// contains the shares of link states in the phase.
fn power(phase: &PhaseOutcome, spec: &Spec, flit_bits: u64) -> Result<Map<String, Value>, Refusal> {
    let (mut used, mut always_on, mut off, mut cycles) = (0, 0, 0, 0);
    for class in &phase.classes {
        let prices = &spec.prices[usize::from(class.class)];
        used += Energy::of(class, prices, &spec.modes)?.total_yj();
        always_on += Energy::always_on(class, prices).total_yj();
        if spec.managed.get(usize::from(class.class)).copied().unwrap_or(false) {
            off += class.cycles[LinkState::Off];
            cycles += class.cycles.iter().sum::<u64>();
        }
    }
    if let Some(price) = &spec.router_price {
        let leaving = || phase.classes.iter().filter(|class| class.from.is_some());
        let all = u128::from(spec.graph.routers()) * u128::from(phase.to - phase.from);
        let (asleep, awake) =
            (RouterCycles { all, asleep: routers_asleep(&phase.asleep, spec) }, RouterCycles { all, asleep: 0 });
        used += Energy::from(RouterEnergy::of(leaving(), asleep.cost_yj(price), price, on_cycles)).total_yj();
        let on =
            RouterEnergy::of(leaving(), awake.cost_yj(price), price, |port| port.cycles.iter().sum::<u64>().into());
        always_on += Energy::from(on).total_yj();
    }
    let seconds = (spec.cycle_fs * u128::from(phase.to - phase.from)) as f64 / 1e15;
    let watts = |yj: u128| (seconds > 0.0).then(|| fj_f64(yj) * 1e-15 / seconds);
    let bits = phase.accepted_flits as f64 * flit_bits as f64;
    Ok(Map::from_iter([
        ("energy_per_bit_pj".to_owned(), json!((bits > 0.0).then(|| fj_f64(used) * 1e-3 / bits))),
        ("power_mean_w".to_owned(), json!(watts(used))),
        ("power_always_on_mean_w".to_owned(), json!(watts(always_on))),
        ("links_off_share".to_owned(), json!((cycles > 0).then(|| off as f64 / cycles as f64))),
    ]))
}
