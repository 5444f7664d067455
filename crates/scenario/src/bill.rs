//! The energy bill of a run: energy and mean power over the window. The bill also contains the energy of the same flits in two reference
//! cases: links that never sleep, and ideal links. Ideal links draw power only while they carry a flit. A port of a router counts as on
//! while the channel that leaves the port is on.

use crate::channels::{Channel, Channels};
use crate::energy::{Energy, RouterCycles, RouterEnergy, Span, carrying, on_cycles};
use crate::groups;
use serde_json::{Map, Value, json};
use std::sync::Arc;
use weft_engine::Spec;
use weft_engine::outcome::{ChannelCount, Outcome};
use weft_engine::power::{LinkState, Modes};
use weft_engine::spec::RouterPrice;
use weft_units::{fj_f64, fj_text};

/// Energies of channels or routers: the energy that they used, and the energy that they would have used in the two reference cases.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Bill {
    pub used: Energy,
    pub always_on: Energy,
    ideal: Energy,
}

impl Bill {
    fn of<'a>(rows: impl Iterator<Item = &'a Channel> + Clone, spec: &Spec) -> Self {
        let prices = |row: &Channel| &spec.prices[usize::from(row.count.class)];
        Self {
            used: rows.clone().map(|row| row.energy).sum(),
            always_on: rows.clone().map(|row| Energy::always_on(&row.count, prices(row))).sum(),
            ideal: rows
                .map(|row| Energy::ideal(&row.count, prices(row), spec.links[usize::from(row.count.class)].rate))
                .sum(),
        }
    }

    fn and(&self, other: &Self) -> Self {
        Self {
            used: self.used + other.used,
            always_on: self.always_on + other.always_on,
            ideal: self.ideal + other.ideal,
        }
    }

    /// The three energies of the bill, each with its key in the results, without the unit at the end of the key.
    fn parts(&self, of: &str) -> [(String, Energy); 3] {
        let key = |case: &str| format!("{of}{case}");
        [(of.to_owned(), self.used), (key("_always_on"), self.always_on), (key("_ideal"), self.ideal)]
    }
}

/// The energy that all channels and routers used.
pub(crate) fn used(channels: &Channels, spec: &Spec, outcome: &Outcome) -> Energy {
    let routers = Routers::of(channels, &outcome.asleep, spec).as_ref().map(Routers::bill).unwrap_or_default();
    Bill::of(channels.rows.iter(), spec).and(&routers).used
}

/// The fields of the results that contain the energy over the window. Femtojoules are exact, so the field contains them as text (JSON
/// numbers have only 53 bits). The fields in joules are rounded.
pub(crate) fn energies(channels: &Channels, spec: &Spec, outcome: &Outcome, flit_bits: u64) -> Map<String, Value> {
    let managed = |row: &&Channel| is_managed(row, spec);
    let rows = || channels.rows.iter();
    let routers = Routers::of(channels, &outcome.asleep, spec);
    let all = Bill::of(rows(), spec).and(&routers.as_ref().map(Routers::bill).unwrap_or_default());
    let network = Bill::of(rows().filter(|row| row.count.class != 0), spec);
    let mut fields = Map::new();
    let mut put = |key: String, value: Value| fields.insert(key, value);
    for (part, yj) in [
        ("total", all.used.total_yj()),
        ("static", all.used.standing_yj),
        ("dynamic", all.used.dynamic_yj),
        ("always_on", all.always_on.total_yj()),
        ("ideal", all.ideal.total_yj()),
    ] {
        put(format!("energy_{part}_fj"), json!(fj_text(yj)));
        put(format!("energy_{part}_j"), json!(joules(yj)));
    }
    let terminal: Energy = rows().filter(|row| row.count.class == 0).map(|row| row.energy).sum();
    put("energy_terminal_j".to_owned(), json!(joules(terminal.total_yj())));
    let bits = outcome.accepted_flits as f64 * flit_bits as f64;
    let seconds = (spec.cycle_fs * u128::from(outcome.window)) as f64 / 1e15;
    let managed = Bill::of(rows().filter(managed), spec);
    for (of, bill) in [("", &all), ("_network", &network), ("_managed", &managed)] {
        for (of, energy) in bill.parts(of) {
            let yj = energy.total_yj();
            let mean = (seconds > 0.0).then(|| joules(yj) / seconds);
            put(format!("power{of}_mean_w"), json!(mean));
            if of.starts_with("_network") || of.starts_with("_managed") {
                put(format!("energy{of}_j"), json!(joules(yj)));
            }
            if !of.starts_with("_managed") {
                put(format!("energy{of}_per_bit_pj"), json!((bits > 0.0).then(|| fj_f64(yj) * 1e-3 / bits)));
            }
        }
    }
    fields.extend(routers.iter().flat_map(|routers| routers.fields(seconds)));
    fields.extend(states(channels, spec));
    fields
}

/// The energy of all routers: the energy that they used, and their energy in the two reference cases.
struct Routers {
    used: RouterEnergy,
    always_on: RouterEnergy,
    ideal: RouterEnergy,
}

impl Routers {
    /// `asleep`: number of cycles in which each bundle of channels was asleep. `None` if routers have no price.
    fn of(channels: &Channels, asleep: &[u64], spec: &Spec) -> Option<Self> {
        let price = spec.router_price.as_ref()?;
        let leaving = || channels.rows.iter().map(|row| &row.count).filter(|count| count.from.is_some());
        let rate = |count: &ChannelCount| spec.links[usize::from(count.class)].rate;
        let all = u128::from(spec.graph.routers()) * u128::from(channels.window);
        let cycles = |asleep| RouterCycles { all, asleep };
        let used = cycles(groups::routers_asleep(asleep, spec)).cost_yj(price);
        let awake = cycles(0).cost_yj(price);
        let ideal = ideal_static_yj(channels, spec, price).unwrap_or(awake);
        let whole = |port: &ChannelCount| port.cycles.iter().sum::<u64>().into();
        Some(Self {
            used: RouterEnergy::of(leaving(), used, price, on_cycles),
            always_on: RouterEnergy::of(leaving(), awake, price, whole),
            ideal: RouterEnergy::of(leaving(), ideal, price, |port| carrying(port, rate(port))),
        })
    }

    fn bill(&self) -> Bill {
        Bill { used: self.used.into(), always_on: self.always_on.into(), ideal: self.ideal.into() }
    }

    /// The fields of the results with the energy of routers, divided into static, port and dynamic energy, and with their mean power.
    fn fields(&self, seconds: f64) -> Map<String, Value> {
        let RouterEnergy { static_yj, ports_yj, dynamic_yj } = self.used;
        let total = Energy::from(self.used).total_yj();
        let mut fields = Map::new();
        for (part, yj) in [("", total), ("_static", static_yj), ("_ports", ports_yj), ("_dynamic", dynamic_yj)] {
            fields.insert(format!("energy_routers{part}_fj"), json!(fj_text(yj)));
            fields.insert(format!("energy_routers{part}_j"), json!(joules(yj)));
        }
        for (case, energy) in [("", self.used), ("_always_on", self.always_on), ("_ideal", self.ideal)] {
            let mean = (seconds > 0.0).then(|| joules(Energy::from(energy).total_yj()) / seconds);
            fields.insert(format!("power_routers{case}_mean_w"), json!(mean));
        }
        fields
    }
}

/// Static energy of routers [yJ] if each router sleeps as long as possible: at most while its busiest channel carries nothing. `None` if
/// routers have no price for sleep, or if sleep saves nothing.
fn ideal_static_yj(channels: &Channels, spec: &Spec, price: &RouterPrice) -> Option<u128> {
    let asleep = price.asleep_yj_per_cycle.filter(|asleep| *asleep < price.static_yj_per_cycle)?;
    let mut busiest = vec![Span::NONE; spec.graph.routers() as usize];
    for Channel { count, .. } in &channels.rows {
        let carrying = carrying(count, spec.links[usize::from(count.class)].rate);
        for router in [count.from, count.to].into_iter().flatten() {
            let busiest = &mut busiest[router as usize];
            *busiest = carrying.max(*busiest);
        }
    }
    let awake = busiest.into_iter().map(|busy| busy.cost(price.static_yj_per_cycle - asleep, 1)).sum::<u128>();
    Some(awake + u128::from(spec.graph.routers()) * u128::from(channels.window) * asleep)
}

/// The field with the share of time in which routers were asleep, if the run counted this time.
pub(crate) fn router_sleep(outcome: &Outcome, spec: &Spec) -> Option<(String, Value)> {
    let routers = groups::of_routers(&outcome.asleep, spec).len() as f64;
    let cycles = routers * outcome.window as f64;
    let share = (cycles > 0.0).then(|| groups::routers_asleep(&outcome.asleep, spec) as f64 / cycles);
    (routers > 0.0).then(|| ("routers_asleep_share".to_owned(), json!(share)))
}

fn joules(yj: u128) -> f64 {
    fj_f64(yj) * 1e-15
}

fn is_managed(row: &Channel, spec: &Spec) -> bool {
    spec.managed.get(usize::from(row.count.class)).copied().unwrap_or(false)
}

/// The modes of links, in the order of the columns, if the scenario defines modes.
fn link_modes(modes: &Modes) -> Value {
    let row = |state| {
        let mode = modes.mode(state);
        json!({ "name": &*mode.name, "rate": mode.rate.per_cycle(), "carries": mode.carries })
    };
    modes.all().map(row).collect()
}

/// The share of time that managed channels spend in each state, the share in which they draw power, and the number of their state changes.
fn states(channels: &Channels, spec: &Spec) -> Map<String, Value> {
    let mut fields = Map::new();
    let cycles = |state: LinkState| -> u64 {
        let managed = channels.rows.iter().filter(|row| is_managed(row, spec));
        managed.map(|row| row.count.cycles[state]).sum()
    };
    let all: u64 = spec.modes.all().map(cycles).sum();
    for state in spec.modes.all() {
        let share = (all > 0).then(|| cycles(state) as f64 / all as f64);
        fields.insert(format!("links_{}_share", spec.modes.name(state)), json!(share));
    }
    if spec.modes != Modes::default() {
        fields.insert("link_modes".to_owned(), link_modes(&spec.modes));
    }
    let drawing = (all > 0).then(|| (all - cycles(LinkState::Off)) as f64 / all as f64);
    fields.insert("links_on_mean".to_owned(), json!(drawing));
    let transitions: u64 = channels.rows.iter().map(|row| row.count.transitions).sum();
    fields.insert("link_transitions".to_owned(), json!(transitions));
    fields
}

/// Utilisation and energy of the channels of each link class.
pub(crate) fn link_classes(channels: &Channels, classes: &[Arc<str>]) -> Value {
    let entry = |(class, name): (usize, &Arc<str>)| {
        let rows: Vec<_> = channels.rows.iter().filter(|row| usize::from(row.count.class) == class).collect();
        let flits = |row: &&Channel| row.count.flits.iter().sum::<u64>();
        let bandwidth = rows.first().map_or(1.0, |row| row.bandwidth);
        let share = |flits: u64, rows: usize| {
            let slots = channels.window as f64 * rows as f64 * bandwidth;
            (slots > 0.0).then(|| flits as f64 / slots)
        };
        json!({
            "link_class": &**name,
            "channels": rows.len(),
            "bandwidth": bandwidth,
            "utilisation_mean": share(rows.iter().map(flits).sum(), rows.len()),
            "utilisation_max": rows.iter().map(flits).max().and_then(|most| share(most, 1)),
            "energy_j": joules(rows.iter().map(|row| row.energy).sum::<Energy>().total_yj()),
        })
    };
    Value::Array(classes.iter().enumerate().map(entry).collect())
}
