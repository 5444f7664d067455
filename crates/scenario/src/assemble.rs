//! Converts a scenario to the input of the engine: fills in defaults, converts times and prices to exact numbers, and checks keys against
//! each other.

use crate::bill_config::BillConfig;
use crate::config::{FlowControl, Router, Scenario};
use crate::diagnostic::suggestion;
use crate::fault_model::FaultModel;
use crate::groups;
use crate::links::check_delays;
use crate::prices::Per;
use crate::warning::Warning;
use crate::{events, modes, name, replies};
use std::sync::Arc;
use weft_engine::Spec;
use weft_engine::power::Modes;
use weft_engine::recording::RecordingConfig;
use weft_engine::spec::{
    self, Fault, FaultTimes, LinkClass, Phases, RouterSpec, StatePrice, StatePrices, Stop, channel_ends,
};
use weft_topology::Graph;
use weft_units::{Cycles, Duration, LinkClasses, Refusal, Time};

impl Scenario {
    /// Checks the scenario and converts it to the input of the engine.
    pub fn spec(&self) -> Result<Spec, Refusal> {
        self.clone().assemble().map(|(_, spec, _)| spec)
    }

    /// Returns the scenario with every default filled in, the input of the engine (spec), and warnings about the graph file of the network.
    pub(crate) fn assemble(mut self) -> Result<(Self, Spec, Vec<Warning>), Refusal> {
        self.check_names()?;
        let clock = Clock { cycle_fs: self.cycle_fs()? };
        if self.flit.0 == 0 {
            return Err(Refusal::new("flit", "a flit of 0 bits carries nothing", "write its size, such as 48b"));
        }
        self.check_link_speed(clock.cycle_fs)?;
        let mut graph = self.topology.build(&format!("topology.{}", self.topology.name()))?;
        let origins = self.resolve_links(&graph, &clock)?;
        let modes = self.resolve_power(&graph, &clock)?;
        let links = graph.class_names().iter().map(|class| self.link_class(class, &clock, &origins));
        let links = links.collect::<Result<Vec<_>, _>>()?;
        graph.set_latencies(links.iter().map(|link| link.latency));
        let graph = Arc::new(graph);
        let router = router_spec(&self.router, graph.radix(), &clock)?;
        let traffic = self.traffic_spec(&graph, &clock, links[0].rate)?;
        check_delays(&router, &links, graph.class_names(), &origins)?;
        let prices = self.prices(graph.class_names(), &links, &clock, &modes);
        let router_price = self.power.router_price.map(|price| price.exact(self.flit.0, clock.cycle_fs));
        self.bill.as_ref().map_or(Ok(()), BillConfig::check)?;
        let phases = self.measure.phases(&traffic, &clock)?;
        let grouping = self.power.groups.as_ref().map(|groups| groups.on(&graph)).transpose()?;
        let managed: Vec<bool> = graph.class_names().iter().map(|class| self.manages(class)).collect();
        let (faults, fault_times) = self.stated_faults(&graph, &clock)?;
        let (classes, interface) = self.message_classes(&clock, &graph)?;
        let mut spec = Spec {
            traffic,
            classes,
            interface,
            queueing: self.queueing.clone(),
            congestion: self.congestion_control.clone(),
            links,
            router,
            routing: self.routing.clone(),
            policy: self.power.policy.clone(),
            modes,
            managed,
            faults,
            fault_times,
            prices: Vec::new(),
            router_price: router_price.transpose()?,
            bundles: Vec::new(),
            phases,
            watched: spec::Watched::Nobody,
            recordings: self.measure.recordings.0.iter().map(RecordingConfig::asked).collect(),
            seed: self.seed,
            cycle_fs: clock.cycle_fs,
            flit_bits: self.flit.0,
            allow_dependency_cycle: self.allow_dependency_cycle,
            graph,
        };
        // if the policy cannot work on this network, this error is reported instead of missing prices, because no price would help
        spec.prices = prices.or_else(|missing| spec.check_policy().and(Err(missing)))?;
        check_energy(&spec)?;
        spec.bundles = groups::bundles(&spec, grouping.as_ref());
        self.split_ports(&mut spec)?;
        self.check_packet(&spec)?;
        spec.check_warmup()?;
        self.draw_faults(&mut spec, &clock)?;
        self.check_faults(&spec)?;
        spec.check_recordings()?;
        self.check_classes(&spec)?;
        events::check(&self, &spec)?;
        replies::check(&self, &spec)?;
        let remarks = spec.graph.remarks().iter().cloned().map(Warning::from);
        let warnings = remarks.chain(origins.warnings).collect();
        Ok((self, spec, warnings))
    }

    /// Fills in the defaults of `power`, and the defaults of `measure` that depend on the time in which the policy settles. Returns the
    /// link modes of the run.
    fn resolve_power(&mut self, graph: &Graph, clock: &Clock) -> Result<Modes, Refusal> {
        self.resolve_managed(graph.class_names())?;
        self.power.resolve_catalogue(graph.radix())?;
        let modes = modes::table(self.power.modes.as_deref())?;
        self.power.check_modes(&modes)?;
        let settles = self.power.policy.settling_period(graph, &modes, clock.cycle_fs)?;
        let switches = self.power.manages.as_ref().is_some_and(|LinkClasses(names)| !names.is_empty());
        self.measure.resolve(clock, settles.filter(|_| switches), (self.is_steady(), self.has_own_demand()));
        Ok(modes)
    }

    /// The faults that the scenario lists with their times, and the reaction times that apply to all faults.
    fn stated_faults(&self, graph: &Graph, clock: &Clock) -> Result<(Vec<Fault>, FaultTimes), Refusal> {
        let faults = self.faults.iter().enumerate();
        let faults = faults.map(|(k, fault)| fault.spec(k, clock, graph)).collect::<Result<Vec<_>, _>>()?;
        let times = match &self.fault_model {
            // without faults the default times are not converted: for some lengths of a cycle they are not a whole number of cycles, and
            // would be refused
            None if faults.is_empty() => FaultTimes::default(),
            model => model.clone().unwrap_or_default().times(clock)?,
        };
        Ok((faults, times))
    }

    /// Adds the faults that the fault model draws at random: first the share of the network that fails, then the faults at random times.
    fn draw_faults(&self, spec: &mut Spec, clock: &Clock) -> Result<(), Refusal> {
        if let Some(model) = &self.fault_model {
            let drawn = model.draw_shares(&spec.faults, spec, clock)?;
            spec.faults.extend(drawn);
        }
        if let Some(random) = self.fault_model.as_ref().and_then(|model| model.random.as_ref()) {
            let drawn = random.draw(spec, clock)?;
            spec.faults.extend(drawn);
        }
        Ok(())
    }

    fn check_names(&self) -> Result<(), Refusal> {
        self.name.as_deref().map_or(Ok(()), |name| name::check("name", name))?;
        let mut jobs = self.traffic.jobs.iter().enumerate();
        jobs.try_for_each(|(j, job)| name::check_line(&format!("traffic.jobs.{j}.name"), &job.name))
    }

    /// True if a warm-up can end by itself. A warm-up cannot wait for phases, faults, batches or programs, which change the load or the
    /// network at certain times.
    fn is_steady(&self) -> bool {
        let jobs = &self.traffic.jobs;
        let changes = jobs.iter().any(|job| !job.phases.is_empty()) || !self.traffic.phases.is_empty();
        let is_batch = self.traffic.batch.is_some() || (!jobs.is_empty() && jobs.iter().all(|job| job.batch.is_some()));
        let random = self.fault_model.as_ref().is_some_and(|model| model.random.is_some());
        !self.fails_at_set_times() && !random && !changes && !is_batch && !self.has_own_demand()
    }

    /// True if the scenario lists faults, or if a share of the network fails.
    pub(crate) fn fails_at_set_times(&self) -> bool {
        !self.faults.is_empty() || self.fault_model.as_ref().is_some_and(FaultModel::has_shares)
    }

    pub(crate) fn cycle_fs(&self) -> Result<u128, Refusal> {
        match self.cycle {
            Time::Femtoseconds(0) => {
                Err(Refusal::new("cycle", "the cycle has length 0", "write its length, such as 1ns"))
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
            // the policy manages links to terminals only if the scenario names the class, because not all policies can switch these links
            Some(names) if names.has_all() => {
                let named = |class: &String| class != "terminal" || names.0.contains(class);
                classes.iter().filter(|class| named(class)).cloned().collect()
            }
            Some(LinkClasses(names)) => {
                if let Some(unknown) = names.iter().find(|name| !classes.contains(name)) {
                    let valid: Vec<_> = std::iter::once("all").chain(classes.iter().map(String::as_str)).collect();
                    let what = format!("the topology `{}` has no link class `{unknown}`", self.topology.name());
                    return Err(Refusal::new("power.manages", what, suggestion(unknown, "its link classes", &valid)));
                }
                classes.iter().filter(|class| names.contains(class)).cloned().collect()
            }
        };
        self.power.manages = Some(LinkClasses(names));
        Ok(())
    }

    /// The prices of a channel in each link class.
    fn prices(
        &self,
        classes: &[String],
        links: &[LinkClass],
        clock: &Clock,
        modes: &Modes,
    ) -> Result<Vec<StatePrices>, Refusal> {
        let power = &self.power;
        power.check_states(modes)?;
        if let Some(unknown) = power.class_prices.keys().find(|name| !classes.contains(name)) {
            let valid: Vec<_> = classes.iter().map(String::as_str).collect();
            let what = format!("the topology `{}` has no link class `{unknown}`", self.topology.name());
            let help = suggestion(unknown, "its link classes", &valid);
            return Err(Refusal::new(format!("power.class_prices.{unknown}"), what, help));
        }
        let of_class = |(class, link): (&String, &LinkClass)| {
            let per = Per { flit_bits: self.flit.0, cycle_fs: clock.cycle_fs, rate: link.rate };
            match power.class_prices.get(class) {
                None => power.prices.exact(&power.policy, modes, &per),
                Some(own) => own.of_class(class, self.manages(class).then_some(&power.policy), modes, &per),
            }
        };
        classes.iter().zip(links).map(of_class).collect()
    }

    fn manages(&self, class: &str) -> bool {
        self.power.manages.as_ref().is_some_and(|LinkClasses(names)| names.iter().any(|name| name == class))
    }
}

/// Converts times to cycles of this length.
pub(crate) struct Clock {
    pub cycle_fs: u128,
}

impl Clock {
    pub fn cycles(&self, time: Time, path: &str) -> Result<Cycles, Refusal> {
        self.duration(time, path).map(|duration| duration.cycles)
    }

    /// Converts a time to cycles like [`Clock::cycles`], but returns a type that refusals can print.
    pub fn duration(&self, time: Time, path: &str) -> Result<Duration, Refusal> {
        time.duration(self.cycle_fs, path)
    }

    /// Converts a time to cycles like [`Clock::duration`], for times that are limits or means. A time that is not a whole number of cycles
    /// is rounded up.
    pub fn limit(&self, time: Time, path: &str) -> Result<Duration, Refusal> {
        self.duration(time.rounded_up(self.cycle_fs), path)
    }
}

fn router_spec(router: &Router, ports: u32, clock: &Clock) -> Result<RouterSpec, Refusal> {
    let small = |value: u32, from: u8, to: u8, key: &str| match u8::try_from(value) {
        Ok(value) if (from..=to).contains(&value) => Ok(value),
        _ => Err(Refusal::new(
            format!("router.{key}"),
            format!("{value} is outside the range {from} to {to}"),
            format!("write {from} to {to}"),
        )),
    };
    if router.allocator.iterations() == 0 {
        return Err(Refusal::new(
            "router.allocator",
            "with 0 iterations the allocator grants nothing",
            "write `iterations: 1` or more",
        ));
    }
    let per_doubling = clock.cycles(router.delay_per_doubling, "router.delay_per_doubling")?;
    // computes ceil(log2 ports)
    let doublings = Cycles::from(u32::BITS - ports.saturating_sub(1).leading_zeros());
    Ok(RouterSpec {
        delay: clock.cycles(router.delay, "router.delay")?.saturating_add(doublings.saturating_mul(per_doubling)),
        routing_delay: clock.cycles(router.routing_delay, "router.routing_delay")?,
        vc_realloc: small(router.vc_realloc, 0, 1, "vc_realloc")?,
        speedup: small(router.speedup, 1, 16, "speedup")?,
        credit_delay: clock.cycles(router.credit_delay, "router.credit_delay")?,
        ejection_delay: clock.cycles(router.ejection_delay, "router.ejection_delay")?,
        ejection_vcs: router.ejection_vcs.map(|vcs| small(vcs, 1, 16, "ejection_vcs")).transpose()?,
        output_buffer: router.output_buffer.map(|flits| flits.0),
        input_speedup: router.input_speedup,
        flow_control: match router.flow_control {
            FlowControl::VirtualCutThrough => spec::FlowControl::VirtualCutThrough,
            FlowControl::Wormhole => spec::FlowControl::Wormhole,
        },
        allocator: router.allocator.clone(),
        priority: router.priority,
        hold_switch: router.hold_switch,
    })
}

fn longest_window(phases: &Phases) -> Cycles {
    match phases.stop {
        Stop::Confidence { window, .. } => window,
        Stop::Window | Stop::Complete => phases.window,
    }
}

/// Largest energy that fits into a table of results [yJ]: a number of 38 digits, which is 10^14 J.
const MOST_YJ: u128 = 10u128.pow(38);

/// Largest energy that the whole network can use per cycle [yJ]; `None` if it does not fit into 128 bits.
fn most_per_cycle(spec: &Spec) -> Option<u128> {
    let of_routers = spec.router_price.unwrap_or_default();
    let standing = of_routers.static_yj_per_cycle.max(of_routers.asleep_yj_per_cycle.unwrap_or(0));
    let routers = standing.checked_mul(spec.graph.routers().into())?;
    // channels of a class have the same largest energy if they all start at routers, or all at terminals. So it is enough to count channels
    // of these two kinds
    let mut channels = vec![[0u128; 2]; spec.links.len()];
    for ends in channel_ends(&spec.graph) {
        channels[usize::from(ends.class)][usize::from(ends.from.is_some())] += 1;
    }
    let mut used =
        channels.iter().enumerate().filter(|(_, [of_nodes, leaving_routers])| of_nodes + leaving_routers > 0);
    used.try_fold(routers, |sum, (class, [of_nodes, leaving_routers])| {
        let flits = spec.links[class].rate.per_cycle().ceil() as u128;
        let port = of_routers.port_yj_per_cycle.checked_add(of_routers.flit_yj.checked_mul(flits)?)?;
        let of_links = most_of_link(&spec.prices[class], flits)?.checked_mul(of_nodes + leaving_routers)?;
        sum.checked_add(of_links)?.checked_add(port.checked_mul(*leaving_routers)?)
    })
}

/// Largest energy that a channel with these prices can use per cycle [yJ], if it carries `flits` flits per cycle.
fn most_of_link(prices: &StatePrices, flits: u128) -> Option<u128> {
    let of = |price: &StatePrice| {
        let standing = price.static_parts_per_cycle.div_ceil(u128::from(prices.parts));
        standing.checked_add(price.flit_yj.checked_mul(flits)?)
    };
    prices.by_state.iter().flatten().try_fold(0, |most, price| Some(of(price)?.max(most)))
}

/// Refuses a scenario whose energy could become too large for the tables of results.
fn check_energy(spec: &Spec) -> Result<(), Refusal> {
    let window = longest_window(&spec.phases);
    let most = most_per_cycle(spec).and_then(|most| most.checked_mul(window.into()));
    if most.is_some_and(|most| most < MOST_YJ) {
        return Ok(());
    }
    let what = format!("at these prices the network can use 10^14 J or more in a window of {window} cycles");
    Err(Refusal::new("measure.window", what, "write a shorter window or lower prices"))
}
