//! From a scenario to what the engine runs: defaults filled in, times in cycles, prices in femtojoules, cross-checks.

use crate::config::{Classes, FlowControl, Measure, Router, Scenario};
use crate::diagnostic::suggestion;
use crate::links::check_delays;
use std::sync::Arc;
use weft_engine::Spec;
use weft_engine::power::LinkState;
use weft_engine::spec::{self, Phases, RouterSpec, StatePrice, TrafficSpec};
use weft_topology::Graph;
use weft_units::{Cycles, Refusal, Time};

impl Scenario {
    /// Checks the scenario and turns it into what the engine runs.
    pub fn spec(&self) -> Result<Spec, Refusal> {
        self.clone().assemble().map(|(_, spec)| spec)
    }

    /// The scenario with every default written out, and its spec.
    pub(crate) fn assemble(mut self) -> Result<(Self, Spec), Refusal> {
        let clock = Clock { cycle_fs: self.cycle_fs()? };
        if self.flit.0 == 0 {
            return Err(Refusal::new("flit", "a flit of 0 bits carries nothing", "write its size, such as 48b"));
        }
        let graph = Arc::new(self.topology.build(&format!("topology.{}", self.topology.name()))?);
        self.resolve_links(graph.class_names())?;
        self.resolve_managed(graph.class_names())?;
        self.measure.drain_limit = Some(self.measure.drain_limit.unwrap_or_else(|| tenfold(self.measure.window)));
        let links = graph.class_names().iter().map(|class| self.link_class(class, &clock));
        let links = links.collect::<Result<Vec<_>, _>>()?;
        let router = router_spec(&self.router, &clock)?;
        self.check_packet(&links, graph.class_names())?;
        check_delays(&router, &links, graph.class_names())?;
        let prices = self.power.prices.in_femtojoules(&self.power.policy, self.flit.0, clock.cycle_fs)?;
        let phases = phases(&self.measure, &clock)?;
        check_energy(&prices, phases.window)?;
        let spec = Spec {
            traffic: self.traffic_spec(&graph)?,
            links,
            router,
            routing: self.routing.clone(),
            policy: self.power.policy.clone(),
            managed: graph.class_names().iter().map(|class| self.manages(class)).collect(),
            prices,
            phases,
            seed: self.seed,
            cycle_fs: clock.cycle_fs,
            allow_dependency_cycle: self.allow_dependency_cycle,
            graph,
        };
        Ok((self, spec))
    }

    fn cycle_fs(&self) -> Result<u128, Refusal> {
        match self.cycle {
            Time::Femtoseconds(0) => {
                Err(Refusal::new("cycle", "a cycle of no length", "write its length, such as 1ns"))
            }
            Time::Femtoseconds(fs) => Ok(fs),
            Time::Cycles(_) => Err(Refusal::new(
                "cycle",
                "the length of a cycle can't be given in cycles",
                "write a time, such as 1ns",
            )),
        }
    }

    fn resolve_managed(&mut self, classes: &[String]) -> Result<(), Refusal> {
        let names = match &self.power.manages {
            None => classes.iter().filter(|class| *class != "terminal").cloned().collect(),
            Some(Classes(names)) if names.iter().any(|name| name == "all") => classes.to_vec(),
            Some(Classes(names)) => {
                if let Some(unknown) = names.iter().find(|name| !classes.contains(name)) {
                    let valid: Vec<_> = std::iter::once("all").chain(classes.iter().map(String::as_str)).collect();
                    let what = format!("the topology `{}` has no link class `{unknown}`", self.topology.name());
                    return Err(Refusal::new("power.manages", what, suggestion(unknown, "its classes", &valid)));
                }
                classes.iter().filter(|class| names.contains(class)).cloned().collect()
            }
        };
        self.power.manages = Some(Classes(names));
        Ok(())
    }

    fn manages(&self, class: &str) -> bool {
        self.power.manages.as_ref().is_some_and(|Classes(names)| names.iter().any(|name| name == class))
    }

    fn traffic_spec(&self, graph: &Graph) -> Result<TrafficSpec, Refusal> {
        let population = spec::population(graph);
        let pattern = &self.traffic.pattern;
        let pattern = pattern.build(&population, &format!("traffic.pattern.{}", pattern.name()))?;
        check_load("traffic.load", self.traffic.load, false)?;
        let mut load = vec![self.traffic.load; graph.terminals() as usize];
        for (i, some) in self.traffic.loads.iter().enumerate() {
            check_load(&format!("traffic.loads.{i}.load"), some.load, true)?;
            let [from, to] = some.terminals;
            if from > to || to >= graph.terminals() {
                let what = format!("no range of the {} terminals: {from} to {to}", graph.terminals());
                let help = format!("write [first, last] within 0 to {}", graph.terminals() - 1);
                return Err(Refusal::new(format!("traffic.loads.{i}.terminals"), what, help));
            }
            load[from as usize..=to as usize].fill(some.load);
        }
        Ok(TrafficSpec { pattern: Arc::new(pattern), load, packet_flits: self.traffic.packet.0 })
    }
}

const MAX_BATCHES: u32 = 1000;

/// Turns times into cycles.
pub(crate) struct Clock {
    cycle_fs: u128,
}

/// Cycles of any one delay or phase at most: sums of a few stay within 64 bits, and no run is that long.
const MAX_CYCLES: Cycles = 1 << 48;

impl Clock {
    pub fn cycles(&self, time: Time, path: &str) -> Result<Cycles, Refusal> {
        let cycles = time.cycles(self.cycle_fs, path)?;
        if cycles > MAX_CYCLES {
            let what = format!("{time} is {cycles} cycles, more than 2^48");
            return Err(Refusal::new(path, what, "write a shorter time"));
        }
        Ok(cycles)
    }
}

fn tenfold(time: Time) -> Time {
    match time {
        Time::Cycles(n) => Time::Cycles(n.saturating_mul(10)),
        Time::Femtoseconds(fs) => Time::Femtoseconds(fs.saturating_mul(10)),
    }
}

fn check_load(path: &str, load: f64, may_be_zero: bool) -> Result<(), Refusal> {
    if load > 1.0 {
        let what = format!("a load of {load} is {load} flits per cycle and terminal, and a terminal injects at most 1");
        let percent =
            if (2.0..=100.0).contains(&load) { format!("; {load} % is {}", load / 100.0) } else { String::new() };
        return Err(Refusal::new(path, what, format!("write a fraction of the injection bandwidth, up to 1{percent}")));
    }
    match load > 0.0 || (may_be_zero && load == 0.0) {
        true => Ok(()),
        false => {
            Err(Refusal::new(path, format!("a load of {load} is not above 0"), "write a fraction above 0, up to 1"))
        }
    }
}

fn router_spec(router: &Router, clock: &Clock) -> Result<RouterSpec, Refusal> {
    let small = |value: u32, from: u8, to: u8, key: &str| match u8::try_from(value) {
        Ok(value) if (from..=to).contains(&value) => Ok(value),
        _ => Err(Refusal::new(
            format!("router.{key}"),
            format!("{value} is not {from} to {to}"),
            format!("write {from} to {to}"),
        )),
    };
    if router.allocator.iterations() == 0 {
        return Err(Refusal::new("router.allocator", "0 iterations match nothing", "write `iterations: 1` or more"));
    }
    Ok(RouterSpec {
        delay: clock.cycles(router.delay, "router.delay")?,
        vc_realloc: small(router.vc_realloc, 0, 1, "vc_realloc")?,
        speedup: small(router.speedup, 1, 16, "speedup")?,
        credit_delay: clock.cycles(router.credit_delay, "router.credit_delay")?,
        ejection_delay: clock.cycles(router.ejection_delay, "router.ejection_delay")?,
        ejection_vcs: router.ejection_vcs.map(|vcs| small(vcs, 1, 16, "ejection_vcs")).transpose()?,
        flow_control: match router.flow_control {
            FlowControl::VirtualCutThrough => spec::FlowControl::VirtualCutThrough,
            FlowControl::Wormhole => spec::FlowControl::Wormhole,
        },
        allocator: router.allocator.clone(),
        priority: router.priority,
        hold_switch: router.hold_switch,
    })
}

fn phases(measure: &Measure, clock: &Clock) -> Result<Phases, Refusal> {
    let window = clock.cycles(measure.window, "measure.window")?;
    if !(2..=MAX_BATCHES).contains(&measure.batches) || u64::from(measure.batches) > window {
        let what = format!("a window of {window} cycles can't be cut into {} batches for an interval", measure.batches);
        return Err(Refusal::new("measure.batches", what, "write 2 to 1000, and at most one per cycle"));
    }
    let drain_limit = measure.drain_limit.unwrap_or_else(|| tenfold(measure.window));
    let stall_limit = clock.cycles(measure.stall_limit, "measure.stall_limit")?;
    if stall_limit == 0 {
        let what = "a network that may not rest for one cycle always stalls";
        return Err(Refusal::new(
            "measure.stall_limit",
            what,
            "write a time longer than any delay, such as 10000cycles",
        ));
    }
    Ok(Phases {
        warmup: clock.cycles(measure.warmup, "measure.warmup")?,
        window,
        drain_limit: clock.cycles(drain_limit, "measure.drain_limit")?,
        batches: measure.batches,
        stall_limit,
    })
}

/// The energy of a channel is a 64-bit integer in the table of results.
fn check_energy(prices: &[Option<StatePrice>; LinkState::COUNT], window: Cycles) -> Result<(), Refusal> {
    let per_cycle = |price: &StatePrice| u128::from(price.static_fj_per_cycle) + u128::from(price.flit_fj);
    let most = prices.iter().flatten().map(per_cycle).max().unwrap_or(0);
    if most.checked_mul(u128::from(window)).is_some_and(|energy| energy <= i64::MAX as u128) {
        return Ok(());
    }
    let what = format!("a window of {window} cycles at up to {most} fJ per cycle is more than 2^63 fJ per channel");
    Err(Refusal::new("measure.window", what, "write a shorter window or lower prices"))
}
