//! The keys of `measure`: the times of the measurement, and the condition that ends a run.

use crate::assemble::Clock;
use crate::diagnostic::nearest;
use crate::recordings::{Recordings, Taking};
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::ser::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::fmt::Formatter;
use weft_engine::spec::{Job, Phases, Stop, TrafficSpec};
use weft_engine::usual_limit;
use weft_units::{Cycles, Duration, Refusal, Time};

/// The parts of a run: warm-up, measured window, drain.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(remote = "Self", deny_unknown_fields, default)]
pub struct Measure {
    /// Time before the measurement [time], or `auto`: until the latencies have settled (MSER on 12 or more means over 500 cycles each).
    /// Under a policy that switches links, the share of links that draw power must settle as well. Weft judges this share by 6 or more
    /// means, each over the time in which the policy takes all its decisions once. Default: `auto` under a policy that switches links,
    /// unless the load changes or ends at given times, or links or routers fail. Default in all other cases: 10000cycles; no warm-up with
    /// `stop: complete`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<Warmup>,
    /// Maximum length of the warm-up, if `warmup` is `auto` [time]. Default: 5 times the window, but at least 20000cycles. Under a policy
    /// that switches links, the default is also at least 30 times the time in which the policy takes all its decisions once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup_limit: Option<Time>,
    /// Length of the measured window [time]. Energy and loads are measured in the window. With `stop: complete`, leave `window` out.
    pub window: Time,
    /// Condition for the end of the window. Default: the window ends after `window`. If a job runs a program, the default is `complete`
    /// with a longest window of 100000000000cycles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop: Option<StopConfig>,
    /// Maximum length of the drain [time]. The drain is the time after the window in which the packets of the window are delivered.
    /// Default: 10 times the window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drain_limit: Option<Time>,
    /// Number of parts into which the window is divided for the confidence interval, 2 to 1000. With `stop: complete`, Weft divides
    /// `max_window` instead.
    #[schemars(range(min = 2, max = 1000))]
    pub batches: u32,
    /// The network counts as stalled if nothing moves for this time while packets wait [time].
    pub stall_limit: Time,
    /// The tables that the run records, each under the key of its name.
    #[serde(skip)]
    #[schemars(!skip, flatten)]
    pub recordings: Recordings,
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys = Self::serialize(self, serde_json::value::Serializer).map_err(S::Error::custom)?;
        if let Value::Object(keys) = &mut keys {
            keys.extend(self.recordings.keys().map_err(S::Error::custom)?);
        }
        keys.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Measure {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Keys)
    }
}

/// Reads the keys of recordings separately from the others, so that an error is shown at its key. `#[serde(flatten)]` would not keep the
/// place of the error.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Measure;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("the keys of measure")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Measure, A::Error> {
        let mut keys = Taking::new(map);
        let measure = Measure::deserialize(MapAccessDeserializer::new(&mut keys))?;
        Ok(Measure { recordings: keys.recordings(), ..measure })
    }
}

/// A length of the warm-up, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Warmup {
    Auto,
    For(Time),
}

/// Condition that ends the window earlier or later than after `window`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum StopConfig {
    /// The window grows by whole batches until the confidence interval of the mean packet latency is small enough.
    Confidence(Confidence),
    /// The window ends when all batches of packets are delivered and all programs have ended. The window is extended to the next
    /// multiple of 32 cycles.
    Complete(Complete),
}

/// The required precision of the mean packet latency.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// Half the width of the 95 % confidence interval of the mean packet latency, as a fraction of the mean; above 0, at most 1.
    #[schemars(range(max = 1.0))]
    pub half_width: f64,
    /// Maximum length of the window [time]. Default: 10 times `measure.window`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_window: Option<Time>,
}

/// End of the window with the delivery of all batches and the end of all programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Complete {
    /// Maximum length of the window [time]. A run that takes longer ends incomplete, and has no time of completion. The window ends with
    /// the last delivery. The window is extended to the next multiple of 32 cycles.
    #[serde(default = "a_million_cycles")]
    pub max_window: Time,
}

fn a_million_cycles() -> Time {
    Time::Cycles(1_000_000)
}

impl Serialize for Warmup {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.serialize_str("auto"),
            Self::For(time) => time.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Warmup {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Value::deserialize(deserializer)? {
            Value::String(word) if word == "auto" => Ok(Self::Auto),
            Value::String(word) if word.starts_with(|c: char| c.is_alphabetic()) => {
                let meant = nearest(&word, ["auto"]).map(|auto| format!("did you mean `{auto}`? ")).unwrap_or_default();
                let help = format!("{meant}write `auto`, or a time such as 10us or 10000cycles");
                Err(serde::de::Error::custom(format!("\"{word}\" is neither `auto` nor a time\n{help}")))
            }
            time => Time::deserialize(time).map(Self::For).map_err(serde::de::Error::custom),
        }
    }
}

impl JsonSchema for Warmup {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Warmup".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^(auto|[0-9]+(\.[0-9]+)? ?(s|ms|us|ns|ps|fs|cycles?))$",
            "examples": ["auto", "10us", "10000cycles"]
        })
    }
}

impl Default for Measure {
    fn default() -> Self {
        Self {
            warmup: None,
            warmup_limit: None,
            window: Time::Cycles(20_000),
            stop: None,
            drain_limit: None,
            batches: 10,
            stall_limit: Time::Cycles(10_000),
            recordings: Recordings::default(),
        }
    }
}

/// The default of `max_window` [cycles], if a job runs until its workload has ended. With cycles of 1 ns this is 100 s.
const LONGEST_PROGRAM: Cycles = 100_000_000_000;
const MAX_BATCHES: u32 = 1000;
/// Maximum number of batches of a window that grows. The number is limited, because each batch needs memory for the sums of each job.
const MAX_GROWN: u64 = 100_000;
/// The default length of a fixed warm-up [cycles].
const USUAL_WARMUP: Cycles = 10_000;

/// The default of `measure.drain_limit`, in lengths of the window.
pub(crate) const DRAIN_WINDOWS: u32 = 10;

impl Measure {
    /// Fills in the defaults that depend on other keys, and on the decision period of a policy that switches links. `steady`: true if an
    /// automatic warm-up is possible. `own_demand`: true if a job runs until its workload has ended.
    pub(crate) fn resolve(&mut self, clock: &Clock, period: Option<Cycles>, (steady, own_demand): (bool, bool)) {
        if own_demand {
            self.stop.get_or_insert(StopConfig::Complete(Complete { max_window: Time::Cycles(LONGEST_PROGRAM) }));
        }
        let usual = match (&self.stop, period) {
            (Some(StopConfig::Complete(_)), _) => Warmup::For(Time::Cycles(0)),
            (_, Some(_)) if steady => Warmup::Auto,
            _ => Warmup::For(Time::Cycles(USUAL_WARMUP)),
        };
        let warmup = *self.warmup.get_or_insert(usual);
        if warmup == Warmup::Auto {
            let long = times(self.window, 5);
            // the function `phases` refuses a window that is not a whole number of cycles
            let least = usual_limit(period);
            let is_short = clock.cycles(long, "measure.window").is_ok_and(|cycles| cycles < least);
            self.warmup_limit.get_or_insert(if is_short { Time::Cycles(least) } else { long });
        }
        if let Some(StopConfig::Confidence(confidence)) = &mut self.stop {
            confidence.max_window.get_or_insert(times(self.window, 10));
        }
        self.drain_limit.get_or_insert(times(self.window, DRAIN_WINDOWS));
    }

    /// The phases of a run in cycles, after `resolve` has filled in the defaults.
    pub(crate) fn phases(&self, traffic: &TrafficSpec, clock: &Clock) -> Result<Phases, Refusal> {
        let window = clock.duration(self.window, "measure.window")?;
        if !(2..=MAX_BATCHES).contains(&self.batches) {
            let what = format!("a window can't be divided into {} batches for a confidence interval", self.batches);
            return Err(Refusal::new("measure.batches", what, format!("write 2 to {MAX_BATCHES}")));
        }
        if window.cycles < u64::from(self.batches) {
            let what = format!(
                "a window of {window} is too short for its {} batches: each batch needs at least 1 cycle",
                self.batches
            );
            let least = window.like(self.batches.into());
            return Err(Refusal::new("measure.window", what, format!("write {} or more", least.short())));
        }
        let stall_limit = clock.limit(self.stall_limit, "measure.stall_limit")?.cycles;
        if stall_limit == 0 {
            let what = "with a limit of 0 cycles, every network counts as stalled";
            let help = "write a time longer than any delay in the network, such as 10000cycles";
            return Err(Refusal::new("measure.stall_limit", what, help));
        }
        let (auto_warmup, warmup) = self.warmup(clock)?;
        let (stop, window) = self.stop(traffic, window, clock)?;
        if stop == Stop::Complete && (auto_warmup || warmup > 0) {
            let what = "packets sent in the warm-up would not be measured, but the window ends with the last packet of \
                        a batch";
            return Err(Refusal::new("measure.warmup", what, "write 0cycles, or leave the warm-up out"));
        }
        let changes = traffic.jobs.iter().flat_map(|job| job.phases.iter().skip(1));
        if let Some(first) = changes.map(|phase| phase.from).min().filter(|_| auto_warmup) {
            let what = "the warm-up can't be automatic: a load that changes never settles, and its phases start at \
                        fixed times";
            let time = first.min(USUAL_WARMUP);
            let help = format!("write a time without `warmup_limit`, such as {time}cycles, or leave the phases out");
            return Err(Refusal::new("measure.warmup", what, help));
        }
        Ok(Phases {
            warmup,
            auto_warmup,
            window,
            stop,
            drain_limit: clock.limit(self.drain_limit.unwrap_or(self.window), "measure.drain_limit")?.cycles,
            batches: self.batches,
            stall_limit,
        })
    }

    /// Refuses a window whose length would have no effect, because the run ends when all batches and programs have ended. Call this for the
    /// scenario in the user's units. In the coarse scenario the default length is another number of cycles, and would look like a length
    /// from the user.
    pub(crate) fn check_length(&self, traffic: &TrafficSpec) -> Result<(), Refusal> {
        let ends = |job: &Job| job.batch.is_some() || job.workload.model().has_own_demand();
        let is_complete = matches!(self.stop, Some(StopConfig::Complete(_)));
        if self.window == Self::default().window || !is_complete || !traffic.jobs.iter().all(ends) {
            return Ok(());
        }
        let what = "the window ends when all jobs have ended: `window` would have no effect";
        let help = "leave `window` out; to limit the length of the window, write `measure.stop: {complete: {max_window: 1ms}}`; if another \
                    point of a sweep needs the window, write the sweep as `zip`, and zip it with `measure: [{}, {window: 30us}]`, an entry \
                    for each point";
        Err(Refusal::new("measure.window", what, help))
    }

    fn warmup(&self, clock: &Clock) -> Result<(bool, Cycles), Refusal> {
        match (self.warmup, self.warmup_limit) {
            (Some(Warmup::Auto), Some(limit)) => Ok((true, clock.limit(limit, "measure.warmup_limit")?.cycles)),
            (_, Some(_)) => {
                let what = "the limit has no effect, because the warm-up has a fixed length";
                Err(Refusal::new("measure.warmup_limit", what, "write `warmup: auto`, or leave the limit out"))
            }
            (Some(Warmup::For(time)), None) => Ok((false, clock.cycles(time, "measure.warmup")?)),
            (_, None) => Ok((false, 0)),
        }
    }

    fn stop(&self, traffic: &TrafficSpec, window: Duration, clock: &Clock) -> Result<(Stop, Cycles), Refusal> {
        let own_demand = |job: &Job| job.workload.model().has_own_demand();
        match self.stop {
            Some(StopConfig::Confidence(_)) if traffic.jobs.iter().any(own_demand) => {
                let what = "the run ends when the program of a job ends, not when a mean is known precisely enough";
                Err(Refusal::new("measure.stop", what, "leave `stop` out, or write `stop: {complete: {}}`"))
            }
            None => Ok((Stop::Window, window.cycles)),
            Some(StopConfig::Confidence(Confidence { half_width, max_window })) => {
                let path = "measure.stop.confidence";
                if !(half_width > 0.0 && half_width <= 1.0) {
                    let what = format!("{half_width} of the mean is not a valid half width of an interval");
                    return Err(Refusal::new(
                        format!("{path}.half_width"),
                        what,
                        "write a fraction above 0, such as 0.02",
                    ));
                }
                let most = clock.limit(max_window.unwrap_or(self.window), &format!("{path}.max_window"))?;
                let batch = window.cycles.div_ceil(u64::from(self.batches));
                if most.cycles < window.cycles || most.cycles.div_ceil(batch) > MAX_GROWN {
                    let each = window.like(batch);
                    let what = format!(
                        "a limit of {most} does not fit a window that starts with {window}, in batches of {each}"
                    );
                    let help = format!("write {window} to {}", window.like(batch.saturating_mul(MAX_GROWN)));
                    return Err(Refusal::new(format!("{path}.max_window"), what, help));
                }
                Ok((Stop::Confidence { share: half_width, window: most.cycles }, window.cycles))
            }
            Some(StopConfig::Complete(Complete { max_window })) => {
                if traffic.jobs.iter().all(|job| job.batch.is_none() && !own_demand(job)) {
                    let what = "no job has a batch, so no job is ever complete";
                    return Err(Refusal::new("measure.stop.complete", what, "add traffic.batch, or leave `stop` out"));
                }
                let path = "measure.stop.complete.max_window";
                let most = clock.limit(max_window, path)?;
                if most.cycles < u64::from(self.batches) {
                    let what =
                        format!("{most} is too short for {} batches: each batch needs at least 1 cycle", self.batches);
                    let least = most.like(self.batches.into());
                    return Err(Refusal::new(path, what, format!("write {} or more", least.short())));
                }
                Ok((Stop::Complete, most.cycles))
            }
        }
    }
}

fn times(time: Time, n: u32) -> Time {
    match time {
        Time::Cycles(cycles) => Time::Cycles(cycles.saturating_mul(n.into())),
        Time::Femtoseconds(fs) => Time::Femtoseconds(fs.saturating_mul(n.into())),
    }
}
