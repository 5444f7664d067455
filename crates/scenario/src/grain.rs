//! `grain`: converts a scenario to the same scenario with coarse flits (grains), as in packet-level simulators.
//!
//! All bits of a grain move together. In the coarse scenario a flit is as large as the grain, and a cycle is as long as a link needs for a
//! grain. Bandwidths, bytes of buffers, times of events and prices of bits keep their values. All times are rounded to whole numbers of the
//! longer cycle. The conversion happens after every default has been filled in, so defaults have the same values as without a grain.
//!
//! Three properties of the network change. First, the time of a link plus the router before it is rounded to a whole number of cycles, at
//! least one. Short links become longer by this rounding. Second, a packet of one grain has no body flits, so it cannot block other
//! packets with them. Third, a buffer holds a whole number of grains.

use crate::assemble::Clock;
use crate::config::{Link, Scenario};
use crate::schema::Schema;
use crate::warning::{Warning, long};
use serde_json::{Map, Value, json};
use weft_engine::Spec;
use weft_programs::amounts::Bytes;
use weft_units::{Bits, Cycles, Flits, Refusal, Time, gcd};

const PATH: &str = "grain";
/// Keys that the conversion skips, because their values are no times in the run. The values of `cycle` and `flit` are set separately.
const APART: [&str; 4] = ["cycle", "flit", "bill", "name"];

/// The units to which a scenario with a grain is converted.
struct Coarse {
    grain: Bits,
    flit: Bits,
    fine: Clock,
    /// Number of cycles of the original scenario in a coarse cycle.
    ratio: u64,
    cycle_fs: u128,
}

impl Coarse {
    fn of(scenario: &Scenario, grain: Bits, fine: Clock) -> Result<Self, Refusal> {
        let flit = scenario.flit;
        if grain < flit || !grain.0.is_multiple_of(flit.0) {
            let what = format!("a grain of {} is not a whole number of flits of {}", size(grain.0), size(flit.0));
            let near = size((grain.0 / flit.0).max(1) * flit.0);
            return Err(Refusal::new(PATH, what, format!("write a multiple of the flit, such as {near}")));
        }
        let ratio = grain.0 / flit.0;
        let cycle_fs = fine.cycle_fs.checked_mul(ratio.into()).ok_or_else(|| {
            let what = format!("a link needs more time for {} than Weft can represent", size(grain.0));
            Refusal::new(PATH, what, "write a smaller grain")
        })?;
        Ok(Self { grain, flit, fine, ratio, cycle_fs })
    }

    fn fs(&self, time: Time) -> u128 {
        time.femtoseconds(self.fine.cycle_fs)
    }

    /// Rounds a time to the nearest whole number of cycles, at least `least`.
    fn nearest(&self, fs: u128, least: u128) -> Time {
        let cycles = fs.saturating_add(self.cycle_fs / 2) / self.cycle_fs;
        Time::Femtoseconds(cycles.max(least).saturating_mul(self.cycle_fs))
    }

    /// Converts a time to coarse cycles. A time above 0 becomes at least one cycle.
    fn time(&self, time: Time) -> Time {
        let fs = self.fs(time);
        self.nearest(fs, u128::from(fs > 0))
    }

    /// Converts the length of a packet; refuses lengths that are not a whole number of grains.
    fn length(&self, flits: Flits, path: &str) -> Result<Flits, Refusal> {
        let (bits, ratio) = (u64::from(flits.0) * self.flit.0, self.ratio);
        if u64::from(flits.0).is_multiple_of(ratio) {
            return Ok(Flits((u64::from(flits.0) / ratio) as u32));
        }
        let what =
            format!("packets of {flits} ({}) are not a whole number of grains of {}", size(bits), size(self.grain.0));
        let up = u64::from(flits.0).div_ceil(ratio) * ratio;
        let help =
            format!("write {up}flits, or a grain of {}", size(gcd(flits.0.into(), ratio.into()) as u64 * self.flit.0));
        Err(Refusal::new(path, what, help))
    }

    /// Returns the number of grains that fit into a buffer. Refuses a buffer that is smaller than a grain.
    fn buffer(&self, flits: Flits, path: &str) -> Result<Flits, Refusal> {
        let grains = u64::from(flits.0) / self.ratio;
        if grains > 0 {
            return Ok(Flits(grains as u32));
        }
        let bits = u64::from(flits.0) * self.flit.0;
        let what = format!("a buffer of {flits} ({}) has no room for a grain of {}", size(bits), size(self.grain.0));
        let help = format!("write {}flits or more, or a grain of at most {}", self.ratio, size(bits));
        Err(Refusal::new(path, what, help))
    }

    /// Converts every time and every number of flits below a path of the scenario.
    fn convert(&self, value: &mut Value, schema: Schema, path: &str) -> Result<(), Refusal> {
        let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
        match value {
            Value::Object(_) | Value::Array(_) if schema.is_exact() => {}
            Value::String(text) if schema.is_exact() => {
                if let Ok(time) = text.parse() {
                    *text = Time::Femtoseconds(self.fs(time)).to_string();
                }
            }
            Value::Object(entries) => {
                let known = entries.iter_mut().filter(|(key, _)| !(path.is_empty() && APART.contains(&key.as_str())));
                for (key, value) in known {
                    if let Some(child) = schema.child(key) {
                        self.convert(value, child, &below(key))?;
                    }
                }
            }
            Value::Array(items) => {
                for (k, item) in items.iter_mut().enumerate() {
                    if let Some(child) = schema.child("") {
                        self.convert(item, child, &below(&k.to_string()))?;
                    }
                }
            }
            Value::String(text) if schema.is_time() => {
                if let Ok(time) = text.parse() {
                    *text = self.time(time).to_string();
                }
            }
            Value::String(text) if schema.is_flits() => {
                if let Ok(flits) = text.parse() {
                    let converted = match path.split('.').next() {
                        Some("traffic") => self.length(flits, path)?,
                        Some("links" | "router") => self.buffer(flits, path)?,
                        // thresholds in flits are rounded to the nearest grain
                        _ => Flits(((u64::from(flits.0) + self.ratio / 2) / self.ratio) as u32),
                    };
                    *text = converted.to_string();
                }
            }
            Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
        Ok(())
    }

    /// Converts the times of links and routers. The time of a link and the time of the router before it are added, and the sum is
    /// rounded. The two delays of a credit are added and rounded in the same way. All flits of a grain arrive with its first flit. A
    /// grain is delivered in the cycle in which its last flit would be delivered. `delay`: the delay of routers.
    fn of_hops(&self, fine: &Scenario, delay: Time, coarse: &mut Map<String, Value>) {
        let delay = self.fs(delay);
        for (class, link) in &fine.links {
            let Link { latency, credit_latency, .. } = link;
            let (Some(latency), Some(credit)) = (*latency, *credit_latency) else { continue };
            // a path crosses two terminal links, but only one more router than links between routers, so each terminal link gets half of a
            // router's delay
            let before = if class == "terminal" { delay / 2 } else { delay };
            let latency = self.nearest(self.fs(latency) + before, 1);
            let credit = self.nearest(self.fs(credit) + self.fs(fine.router.credit_delay), 1);
            coarse["links"][class]["latency"] = json!(latency);
            coarse["links"][class]["credit_latency"] = json!(credit);
        }
        let (nothing, router) = (Time::Cycles(0), &mut coarse["router"]);
        for key in ["delay", "delay_per_doubling", "credit_delay"] {
            router[key] = json!(nothing);
        }
        let landing = self.nearest(self.fs(fine.router.ejection_delay) + (self.cycle_fs - self.fine.cycle_fs), 0);
        router["ejection_delay"] = json!(landing);
        router["routing_delay"] = json!(self.nearest(self.fs(fine.router.routing_delay), 0));
    }
}

/// A number of bits as text, written in bytes if it is a whole number of bytes.
fn size(bits: u64) -> String {
    if bits.is_multiple_of(8) { Bytes(bits / 8).to_string() } else { Bits(bits).to_string() }
}

impl Scenario {
    /// The scenario with the grain as its flit; call this after every default was filled in. `None` if the scenario has no grain. `delay`:
    /// delay of the scenario's routers \[cycles\].
    pub(crate) fn coarse(&self, delay: Cycles) -> Result<Option<Self>, Refusal> {
        let Some(grain) = self.grain else { return Ok(None) };
        let by = Coarse::of(self, grain, Clock { cycle_fs: self.cycle_fs()? })?;
        let unreadable = |problem: serde_json::Error| Refusal::new(PATH, problem.to_string(), "leave `grain` out");
        let mut value = serde_json::to_value(self).map_err(unreadable)?;
        by.convert(&mut value, Schema::root(), "")?;
        let Value::Object(entries) = &mut value else { return Ok(None) };
        by.of_hops(self, Time::Cycles(delay), entries);
        entries.remove(PATH);
        entries.insert("flit".to_owned(), json!(grain));
        entries.insert("cycle".to_owned(), json!(Time::Femtoseconds(by.cycle_fs)));
        serde_json::from_value(value).map(Some).map_err(unreadable)
    }
}

/// Adapts a remedy of the coarse scenario to the units of the user. The user writes flits and cycles of the original scenario, so the
/// remedy states how many of them are a grain.
fn in_grains(fine: &Scenario, help: &str) -> String {
    let Some(grain) = fine.grain else { return help.to_owned() };
    let each = grain.0 / fine.flit.0.max(1);
    format!(
        "{help}. These flits and cycles refer to the grain of {}: in the scenario, write {each} times as many",
        size(grain.0)
    )
}

/// Adapts a refusal of the coarse scenario to the units of the user.
pub(crate) fn explained(fine: &Scenario, Refusal { path, what, help }: Refusal) -> Refusal {
    Refusal { help: in_grains(fine, &help), path, what }
}

weft_units::codes! {
    COARSE_GRAIN = "coarse_grain", Warning,
        means: "The scenario runs with flits as large as `grain`. The run is faster but less exact.",
        computed: "A cycle is the time that a link needs for a grain. Latencies and other times, such as \
                   those of policies and faults, are rounded to the nearest number of such cycles.",
        helps: "Compare with a run without `grain`, on a smaller network if this run takes too long.";
}

/// Adapts warnings about the coarse scenario to the units of the user. Remedies without a number of flits or cycles do not change.
pub(crate) fn reworded(fine: &Scenario, warnings: Vec<Warning>) -> Vec<Warning> {
    let of_grains = |warning: Warning| {
        let help = if counts(&warning.help) { in_grains(fine, &warning.help) } else { warning.help };
        Warning { help, ..warning }
    };
    warnings.into_iter().map(of_grains).collect()
}

/// True if a remedy contains a number of flits or cycles, such as `400cycles`.
fn counts(help: &str) -> bool {
    let follows_number = |(at, _): (usize, &str)| help[..at].trim_end().ends_with(|c: char| c.is_ascii_digit());
    ["cycle", "flit"].iter().any(|unit| help.match_indices(unit).any(follows_number))
}

/// The warning that lists the effects of the grain on a scenario. `delay`: delay of the scenario's routers \[cycles\]. `coarse`: the
/// scenario with coarse flits, which the engine runs.
pub(crate) fn warning(fine: &Scenario, delay: Cycles, coarse: &Spec) -> Option<Warning> {
    // shows the delay as the user wrote it, unless the number of ports increases it
    let delay = if fine.router.delay_per_doubling == Time::Cycles(0) { fine.router.delay } else { Time::Cycles(delay) };
    let grain = fine.grain?;
    let classes = coarse.graph.class_names().iter().zip(&coarse.links);
    let of_class = |(class, link): (&String, &weft_engine::spec::LinkClass)| {
        let was = fine.links.get(class)?.latency?;
        Some(format!("`{class}` links and the router before them {was} + {delay} -> {}", long(link.latency, coarse)))
    };
    let changes: Vec<String> = classes.filter_map(of_class).collect();
    let what = format!(
        "a flit is a grain of {}, and a cycle is {}, the time that a link needs for a grain. Latencies: {}. Buffers \
         hold whole grains, and a packet of one grain does not block others behind its head",
        size(grain.0),
        Time::Femtoseconds(coarse.cycle_fs),
        changes.join(", ")
    );
    let help = "compare with a run without `grain` (`weft compare`), on a smaller network if necessary";
    let numbers = [
        ("grain_bits", grain.0 as f64),
        ("grain_flits", (grain.0 / fine.flit.0.max(1)) as f64),
        ("cycle_fs", coarse.cycle_fs as f64),
    ];
    Some(Warning::new(&COARSE_GRAIN, PATH, numbers, what, help))
}

#[cfg(test)]
mod tests {
    use super::counts;

    #[test]
    fn only_numbers_of_flits_and_cycles_are_counted_in_grains() {
        for help in ["write less than 400cycles", "write a `buffer` of 8 flits or more"] {
            assert!(counts(help), "{help}");
        }
        for help in [
            "write batches that are at least 5 times as large",
            "write `sensor: history_window`, which does not count the flits",
        ] {
            assert!(!counts(help), "{help}");
        }
    }
}
