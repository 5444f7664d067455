//! The scenario keys for random faults, and for the time until the network reacts to a fault.

use crate::assemble::Clock;
use crate::events;
use crate::fault_share::FaultShare;
use crate::warning::long;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_engine::Spec;
use weft_engine::spec::{Fault, FaultTimes, Part};
use weft_traffic::{GapTable, stream};
use weft_units::{Cycles, Refusal, Time};

/// Rules for random faults of links and routers, and the times until the network reacts to faults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FaultModel {
    /// Links or routers that fail at random, in addition to the faults listed in `faults`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub random: Option<RandomFaults>,
    /// A share of the links that fails, such as `{share: 1%, class: level2, seed: 7}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<FaultShare>,
    /// A share of the routers that fails, such as `{share: 5%}`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub routers: Option<FaultShare>,
    /// Time from a fault or a return until all routers have new tables [time]. The delay applies to routings with tables (table,
    /// shortest_path, ecmp). During this time the heads of packets wait at a broken link. The first tables already avoid the links and
    /// routers that are broken from the start (`at: 0cycles`).
    #[serde(default = "ten_microseconds")]
    pub rebuild_delay: Time,
    /// Time that a packet waits before it is dropped [time]. The time applies to a packet that chooses its hop in every step and has lost
    /// its escape path. If the escape path is a ring, the time applies to all packets that wait in one place while a link or router is
    /// broken.
    #[serde(default = "one_microsecond")]
    pub patience: Time,
}

impl Default for FaultModel {
    fn default() -> Self {
        Self {
            random: None,
            links: None,
            routers: None,
            rebuild_delay: ten_microseconds(),
            patience: one_microsecond(),
        }
    }
}

fn ten_microseconds() -> Time {
    Time::Femtoseconds(10_000_000_000)
}

fn one_microsecond() -> Time {
    Time::Femtoseconds(1_000_000_000)
}

/// Links or routers that fail at random, and return. The times between faults and returns have an exponential distribution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RandomFaults {
    /// The parts that can fail: links or routers.
    pub of: Parts,
    /// Mean time until a part fails [time]. The time of each part is counted from the beginning of the run (or from `from`), and later from
    /// the last return of the part.
    pub mtbf: Time,
    /// Mean time from a fault to the return of the failed part [time].
    pub mttr: Time,
    /// Time before which no part fails at random [time]. Default: the beginning of the run. The part of the window before this time shows
    /// the network without faults.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// Seed of the random faults. Default: the seed of the scenario. Each link or router has a separate random stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
}

/// The kind of parts that fail at random.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Parts {
    /// Links between routers fail. Parallel links fail together.
    Links,
    /// Routers fail, with all their links.
    Routers,
}

/// Maximum number of random faults in a run.
const MOST: f64 = 5000.0;
/// If no fault happens in a run, the remedy names an `mtbf`. With this `mtbf` the mean number of faults in the run is at least `FEWEST`.
const FEWEST: f64 = 3.0;
/// The repair time in this remedy is at most the mean time between two faults, divided by `SHARE`.
const SHARE: f64 = 20.0;
/// Purpose in the address of the random streams for faults.
const FAILURES: u64 = 0x6661_696c;

/// Settings with which at least one random fault happens in a run, for a remedy.
pub(crate) struct Enough {
    /// Mean time until a part fails.
    pub mtbf: Cycles,
    /// Mean time until a part returns, if it must be shorter than the time in the scenario.
    pub mttr: Option<Cycles>,
    /// Mean number of faults in the run with these settings.
    pub expected: f64,
}

impl FaultModel {
    pub(crate) fn times(&self, clock: &Clock) -> Result<FaultTimes, Refusal> {
        Ok(FaultTimes {
            patience: clock.limit(self.patience, "fault_model.patience")?.cycles,
            rebuild_delay: clock.cycles(self.rebuild_delay, "fault_model.rebuild_delay")?,
        })
    }
}

impl RandomFaults {
    /// Draws the random faults until the window ends. Links and routers that are named in `faults` fail only at the times given there, so
    /// they are not drawn.
    pub(crate) fn draw(&self, spec: &Spec, clock: &Clock) -> Result<Vec<Fault>, Refusal> {
        let [up, down] = self.means(clock)?;
        let parts: Vec<Part> = self.parts(spec).into_iter().filter(|&part| !is_named(&spec.faults, part)).collect();
        let end = events::window_end(spec);
        let from = self.begin(clock, end, spec)?;
        let expected = parts.len() as f64 * (end - from) as f64 / (up as f64 + down as f64);
        if expected > MOST {
            let what = format!(
                "about {expected:.0} faults are expected: {} parts fail, each once in {} + {} cycles, in a run of {}; \
                 the limit is {MOST}",
                parts.len(),
                up,
                down,
                long(end - from, spec)
            );
            let least = (parts.len() as f64 * (end - from) as f64 / MOST).ceil();
            return Err(Refusal::new("fault_model.random.mtbf", what, format!("write {least}cycles or more")));
        }
        let (failure, repair) = (GapTable::new(1.0 / up as f64), GapTable::new(1.0 / down as f64));
        let seed = self.seed.unwrap_or(spec.seed);
        let mut faults = Vec::new();
        for (number, what) in (0..).zip(parts) {
            let mut random = stream(seed, number, FAILURES);
            let mut at = from + failure.draw(&mut random);
            while at < end {
                let until = at + repair.draw(&mut random);
                faults.push(Fault { what, at, until: Some(until) });
                at = until + failure.draw(&mut random);
            }
        }
        faults.sort_by_key(|fault| fault.at);
        Ok(faults)
    }

    /// The first cycle in which parts can fail at random. `end`: the cycle in which the window ends.
    fn begin(&self, clock: &Clock, end: Cycles, spec: &Spec) -> Result<Cycles, Refusal> {
        let path = "fault_model.random.from";
        let Some(from) = self.from else { return Ok(0) };
        let from = clock.cycles(from, path)?;
        if from < end {
            return Ok(from);
        }
        let what = format!(
            "random faults begin at {}, but the window ends at {} at the latest",
            long(from, spec),
            long(end, spec)
        );
        let help = format!("write less than {end}cycles, or a longer {}", events::window_key(spec));
        Err(Refusal::new(path, what, help))
    }

    /// Number and kind of the parts that can fail at random, as text, and the mean number of faults in the run.
    pub(crate) fn expected(&self, spec: &Spec, clock: &Clock) -> Result<(String, f64), Refusal> {
        let [up, down] = self.means(clock)?;
        let (count, cycles) = self.exposed(spec, clock)?;
        let name = match (self.of, count) {
            (Parts::Links, 1) => "link",
            (Parts::Links, _) => "links",
            (Parts::Routers, 1) => "router",
            (Parts::Routers, _) => "routers",
        };
        Ok((format!("{count} {name}"), count as f64 * cycles as f64 / (up as f64 + down as f64)))
    }

    /// An `mtbf` with which at least one part fails in the run, with a shorter `mttr` if necessary, and the resulting mean number of
    /// faults. `None` if the run is too short for any fault.
    pub(crate) fn enough(&self, spec: &Spec, clock: &Clock) -> Result<Option<Enough>, Refusal> {
        let [_, down] = self.means(clock)?;
        let (count, cycles) = self.exposed(spec, clock)?;
        let mut expected = FEWEST;
        loop {
            let each = count as f64 * cycles as f64 / expected;
            // the repair time must be much shorter than the time between two faults, because a broken part cannot fail again
            let shorter = down as f64 > each / SHARE;
            let mttr = if shorter { (each / SHARE).floor() } else { down as f64 } as Cycles;
            let mtbf = (each - mttr as f64).floor() as Cycles;
            if expected > MOST || mttr == 0 || mtbf <= mttr {
                return Ok(None);
            }
            let tried = Self { mtbf: Time::Cycles(mtbf), mttr: Time::Cycles(mttr), ..self.clone() };
            if !tried.draw(spec, clock)?.is_empty() {
                return Ok(Some(Enough { mtbf, mttr: shorter.then_some(mttr), expected }));
            }
            expected *= 2.0;
        }
    }

    /// Number of parts that can fail at random, and number of cycles of the run in which they can fail.
    fn exposed(&self, spec: &Spec, clock: &Clock) -> Result<(usize, Cycles), Refusal> {
        let end = events::window_end(spec);
        let count = self.parts(spec).into_iter().filter(|&part| !is_named(&spec.faults, part)).count();
        Ok((count, end - self.begin(clock, end, spec)?))
    }

    /// Mean times until a fault and until a return [cycles].
    fn means(&self, clock: &Clock) -> Result<[u64; 2], Refusal> {
        let cycles = |time: Time, key: &str| {
            let path = format!("fault_model.random.{key}");
            match clock.limit(time, &path)?.cycles {
                0 => Err(Refusal::new(path, "0 cycles", "write 1cycle or more")),
                cycles => Ok(cycles),
            }
        };
        let (up, down) = (cycles(self.mtbf, "mtbf")?, cycles(self.mttr, "mttr")?);
        if up > down {
            return Ok([up, down]);
        }
        let share = 100.0 * down as f64 / (up as f64 + down as f64);
        let what = format!(
            "mtbf is {up} cycles, not more than mttr of {down} cycles: each part would be broken for {down} / ({up} + \
             {down}) = {share:.0} % of the time"
        );
        Err(Refusal::new("fault_model.random.mtbf", what, format!("write more than {down}cycles, or a shorter mttr")))
    }

    /// All parts that can fail at random, each listed once.
    fn parts(&self, spec: &Spec) -> Vec<Part> {
        match self.of {
            Parts::Routers => (0..spec.graph.routers()).map(Part::Router).collect(),
            Parts::Links => {
                let ends = |link: weft_topology::Link| link.ends.map(|(router, _)| router);
                let mut links: Vec<[u32; 2]> = spec.graph.links().map(ends).collect();
                links.sort_unstable();
                links.dedup();
                links.into_iter().map(Part::Link).collect()
            }
        }
    }
}

/// True if one of the faults concerns this part, a link of this router, or a router at an end of this link.
pub(crate) fn is_named(faults: &[Fault], part: Part) -> bool {
    let of_router = |part: Part| matches!(part, Part::Router(_));
    faults.iter().any(|fault| match of_router(fault.what) || of_router(part) {
        true => fault.what.routers().iter().any(|router| part.routers().contains(router)),
        false => fault.what.overlaps(part),
    })
}
