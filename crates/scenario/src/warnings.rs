//! Warnings about points that can run, but whose results could mislead. `weft check` and `weft run` print the warnings, and results contain
//! them.

use crate::assemble::Clock;
use crate::config::Scenario;
use crate::fault_model::Enough;
use crate::measure::StopConfig;
use crate::warning::{Warning, long};
use crate::{catalogue, classes, events, marking, periods, replies, silent_terminals};
use weft_diagnoses::kinds::FEWEST_PACKETS;
use weft_engine::Spec;
use weft_engine::power::{LinkState, leave_links_on};
use weft_engine::spec::{Job, LoadPhase, Stop};
use weft_topology::Peer;
use weft_units::{Cycles, Refusal, Remark, Time, fj_f64, fj_text};

weft_units::codes! {
    NO_RANDOM_FAULT = "no_random_fault", Warning,
        means: "`fault_model.random` is written, but no fault occurs in the whole run.",
        computed: "The mean number of faults is parts x run / mean time to a fault. The seed of this run gave no \
                   fault.",
        helps: "Write a shorter `mtbf`, a longer window, or another seed.";
    WARMUP_OF_POLICY = "warmup_of_policy", Warning,
        means: "The fixed warm-up is too short for the power policy. The window measures a network whose links still change.",
        computed: "`measure.warmup` is not longer than the time in which the policy makes each of its decisions once. \
                   The remedy is ten times this time, because several decisions follow each other.",
        helps: "Write `measure.warmup: auto`, or a warm-up of several such times. Move phases and faults by the same \
                time.";
    NOTHING_MANAGED = "nothing_managed", Warning,
        means: "The policy has no link to switch. All links stay on, and the policy saves no energy.",
        computed: "`power.manages` names no class of links between routers that has a link.",
        helps: "Name a class that has links in `power.manages`, or choose a policy that leaves links on.";
    DEAR_MODE = "dear_mode", Warning,
        means: "A link uses more energy in an energy-saving mode than while it is on. Two prices may be exchanged.",
        computed: "Static energy per cycle in the mode, compared with that of `on`.",
        helps: "Write a price below that of `on`, unless you study the effect of such prices.";
    NO_ROUTER_SLEEPS = "no_router_sleeps", Warning,
        means: "`power.router_price.asleep` has no effect: each router has a link that never goes off.",
        computed: "A router sleeps while all its links are off. The code appears if each router has a link of a class that the \
                   policy does not switch off.",
        helps: "Leave `asleep` out, or choose a policy that switches all links of some routers off.";
    DEAR_SLEEP_OF_ROUTERS = "dear_sleep_of_routers", Warning,
        means: "A sleeping router uses more energy than an awake router.",
        computed: "`power.router_price.asleep` is above `power.router_price.static`, per cycle.",
        helps: "Write a price below `static`, unless you study the effect of such prices.";
    FEW_PACKETS = "few_packets", Warning,
        means: "The window will measure too few packets for a mean latency or a percentile.",
        computed: "Expected packets: load x terminals x window / flits of a packet. Below 30 packets the standard \
                   error of a mean is above 18 % of the scatter of the latencies (1 / sqrt(30)). The remedy aims at \
                   twice 30 packets, because the number of packets varies by chance.",
        helps: "Write a longer `measure.window` or a higher load.";
    NOTHING_SENT = "nothing_sent", Warning,
        means: "A job sends nothing in the window. There are no latencies, and the energy is that of an idle network.",
        computed: "The load of the job is 0 at all its terminals, in all phases within the window.",
        helps: "Give some terminals a load above 0, unless you want to measure an idle network.";
}

/// The warnings of a resolved scenario.
pub(crate) fn of(scenario: &Scenario, spec: &Spec) -> Result<Vec<Warning>, Refusal> {
    let mut warnings: Vec<Warning> = unsettled(spec)?.into_iter().collect();
    warnings.extend(replies::warning(spec)?);
    warnings.extend(classes::warning(spec));
    warnings.extend(marking::warnings(spec)?);
    warnings.extend(events::warnings(scenario, spec)?);
    warnings.extend(periods::planned(spec)?);
    warnings.extend(nothing_managed(spec));
    warnings.extend(silent(scenario, spec)?);
    warnings.extend(silent_terminals::warnings(scenario, spec));
    warnings.extend(few_packets(scenario, spec)?);
    warnings.extend(dear_when_off(scenario, spec));
    warnings.extend(catalogue::other_speed(scenario, spec));
    warnings.extend(routers_that_sleep(spec));
    warnings.extend(no_random_fault(scenario, spec)?);
    let unproven = weft_engine::unproven(spec)?;
    warnings.extend(unproven.map(|remark| Remark { path: scenario.place_of_fault(remark.path), ..remark }.into()));
    warnings.extend(spec.policy.risk(spec.cycle_fs)?.map(Warning::from));
    for (j, job) in spec.traffic.jobs.iter().enumerate() {
        let path = if scenario.traffic.jobs.is_empty() { "traffic".to_owned() } else { format!("traffic.jobs.{j}") };
        let remarks = job.remarks(&path, &spec.graph, (spec.cycle_fs, spec.flit_bits))?;
        warnings.extend(remarks.into_iter().map(Warning::from));
    }
    Ok(warnings)
}

/// Warns if the scenario requests random faults, but none happens in the run. The warning proposes more faults instead of another seed,
/// because another seed helps only if some faults are expected.
fn no_random_fault(scenario: &Scenario, spec: &Spec) -> Result<Option<Warning>, Refusal> {
    let Some(random) = scenario.fault_model.as_ref().and_then(|model| model.random.as_ref()) else { return Ok(None) };
    let clock = Clock { cycle_fs: spec.cycle_fs };
    let named = &spec.faults[..scenario.faults.len()];
    let of_shares = scenario.fault_model.as_ref().map(|model| model.draw_shares(named, spec, &clock)).transpose()?;
    if spec.faults.len() > named.len() + of_shares.map_or(0, |faults| faults.len()) {
        return Ok(None);
    }
    let end = long(events::window_end(spec), spec);
    let (parts, expected) = random.expected(spec, &clock)?;
    let what = format!(
        "no random fault occurs in the {end} of the run: {parts} with a mean time to a fault of {} have {} faults on \
         average",
        random.mtbf,
        few(expected)
    );
    let help = match random.enough(spec, &clock)? {
        Some(Enough { mtbf, mttr, expected }) => {
            let mttr = mttr.map_or_else(String::new, |mttr| format!(" and `mttr: {mttr}cycles`"));
            format!("write `mtbf: {mtbf}cycles`{mttr} or less, which gives {} faults on average", few(expected))
        }
        None => format!("write a longer {}", events::window_key(spec)),
    };
    let numbers = [("run_cycles", events::window_end(spec) as f64), ("expected_faults", expected)];
    Ok(Some(Warning::new(&NO_RANDOM_FAULT, "fault_model.random.mtbf", numbers, what, help)))
}

/// Writes a mean number of events with two decimals, or with two significant digits if it is below 0.01.
fn few(mean: f64) -> String {
    if mean >= 0.01 { format!("{mean:.2}") } else { format!("{mean:.1e}") }
}

/// The path at which the user wrote a key of job number `j`: in the job if it sets the key, otherwise in `traffic`.
pub(crate) fn place(scenario: &Scenario, j: usize, key: &str) -> String {
    let own = scenario.traffic.jobs.get(j).is_some_and(|job| match key {
        "load" => job.load.is_some(),
        "batch" => job.batch.is_some(),
        "pattern" => job.pattern.is_some(),
        _ => !job.phases.is_empty(),
    });
    if own { format!("traffic.jobs.{j}.{key}") } else { format!("traffic.{key}") }
}

/// The name of a job for a message.
pub(crate) fn named(scenario: &Scenario, spec: &Spec, j: usize) -> String {
    match scenario.traffic.jobs.is_empty() {
        true => "the traffic".to_owned(),
        false => format!("job `{}`", spec.traffic.jobs[j].name),
    }
}

/// A remedy proposes a warm-up that is longer by `cycles`, which moves the window. Returns the end of this remedy: phases and faults must
/// be moved by the same time, so that they stay at their place in the window. `None` if the scenario has no phases and no faults. A part that
/// is broken from the start to the end of the run is no such fault.
pub(crate) fn later(spec: &Spec, cycles: Cycles) -> Option<String> {
    let fails = spec.faults.iter().any(|fault| !fault.is_always());
    let timed = [("phase", !spec.traffic.changes().is_empty()), ("fault", fails)];
    let timed: Vec<&str> = timed.iter().filter(|(_, is_there)| *is_there).map(|(name, _)| *name).collect();
    (!timed.is_empty()).then(|| {
        let each = timed.join(" and each ");
        format!("and begin and end each {each} {cycles} cycles later, so that the window contains the same part")
    })
}

/// Warns about a fixed warm-up that is too short for a policy that switches links to settle.
fn unsettled(spec: &Spec) -> Result<Option<Warning>, Refusal> {
    let phases = &spec.phases;
    if phases.auto_warmup || phases.stop == Stop::Complete || !spec.managed.contains(&true) {
        return Ok(None);
    }
    let settles = spec.policy.settling_period(&spec.graph, &spec.modes, spec.cycle_fs)?;
    let repeats = spec.schedule()?.period;
    Ok(settles.filter(|&period| period > 0 && phases.warmup <= period).map(|period| {
        let what = format!(
            "a warm-up of {} is not longer than {}, the time in which {} makes each of its decisions once: the links \
             that are on may not have settled, and energy and latency are those of a network that still changes",
            long(phases.warmup, spec),
            long(period, spec),
            spec.policy.name()
        );
        // under a policy with a period, the warm-up grows by whole periods, so that the window begins at the same place in a period as
        // before
        let several = match repeats {
            Some(period) => phases.warmup.saturating_add(period.saturating_mul(2)),
            None => period.saturating_mul(10),
        };
        let help = match later(spec, several - phases.warmup) {
            Some(moved) => {
                format!("write several times that length, such as `measure.warmup: {several}cycles`, {moved}")
            }
            None => format!("write `measure.warmup: auto`, or several times that length, such as {several}cycles"),
        };
        let numbers = [
            ("warmup_cycles", phases.warmup as f64),
            ("decision_cycles", period as f64),
            ("enough_cycles", several as f64),
        ];
        Warning::new(&WARMUP_OF_POLICY, "measure.warmup", numbers, what, help)
    }))
}

/// Warns about a policy that can switch links but manages no link.
fn nothing_managed(spec: &Spec) -> Option<Warning> {
    let mut classes = spec.graph.links_by_class().into_iter().zip(&spec.managed).skip(1);
    if !spec.switches_links() || classes.any(|((_, links), &managed)| managed && links > 0) {
        return None;
    }
    let able: Vec<String> =
        spec.graph.links_by_class().into_iter().skip(1).filter(|(_, links)| *links > 0).map(|(name, _)| name).collect();
    let what = format!("{} has no link to switch: all links stay on, and no energy is saved", spec.policy.name());
    let help = match able.is_empty() {
        true => format!("choose a topology with links between routers, or {}", leave_links_on()),
        false => format!("write `power.manages: [{}]`, or {}", able.join(", "), leave_links_on()),
    };
    Some(Warning::new(&NOTHING_MANAGED, "power.manages", [], what, help))
}

/// True if the policy puts links in the state `off`.
fn goes_off(spec: &Spec) -> bool {
    spec.states().is_ok_and(|states| states.contains(&LinkState::Off))
}

/// Warns if a managed link costs more in a mode for saving energy than in the state `on`. The user has probably exchanged two prices.
fn dear_when_off(scenario: &Scenario, spec: &Spec) -> Vec<Warning> {
    // all static prices of a link class have the same denominator, so their numerators can be compared
    let fixed = |class: usize, state: LinkState| spec.prices[class].of(state).map(|price| price.static_parts_per_cycle);
    let saves = |state: &LinkState| matches!(state, LinkState::Off | LinkState::Named(_));
    let states: Vec<LinkState> = spec.states().unwrap_or_default().into_iter().filter(saves).collect();
    let mut warnings: Vec<Warning> = Vec::new();
    for (class, name) in spec.graph.class_names().iter().enumerate().filter(|(class, _)| spec.managed[*class]) {
        for &state in &states {
            let (Some(on), Some(cost)) = (fixed(class, LinkState::On), fixed(class, state)) else { continue };
            let mode = spec.modes.name(state);
            let path = match scenario.power.class_prices.contains_key(name) {
                true => format!("power.class_prices.{name}.{mode}.static"),
                false => format!("power.prices.{mode}.static"),
            };
            if cost > on && warnings.iter().all(|warning| warning.path != path) {
                warnings.push(dear_mode(path, mode, (cost, on), spec.prices[class].parts));
            }
        }
    }
    warnings
}

/// The warning about one such mode. `prices`: static energy per cycle in the mode and in the state `on` [yJ / `parts`].
fn dear_mode(path: String, mode: &str, prices: (u128, u128), parts: u32) -> Warning {
    let [cost, on] = [prices.0, prices.1].map(|price| price / u128::from(parts));
    let what = format!(
        "a link in the mode {mode} uses {} fJ per cycle, more than a link that is on, {} fJ: sleep costs energy",
        fj_text(cost),
        fj_text(on)
    );
    let numbers = [("mode_fj_per_cycle", fj_f64(cost)), ("on_fj_per_cycle", fj_f64(on))];
    Warning::new(
        &DEAR_MODE,
        path,
        numbers,
        what,
        "write a price below that of `on`, unless you study the effect of such prices",
    )
}

/// Warns about a price of sleeping routers that saves nothing: it is higher than the price of awake routers, or no router ever sleeps.
fn routers_that_sleep(spec: &Spec) -> Option<Warning> {
    let price = spec.router_price?;
    let (awake, asleep) = (price.static_yj_per_cycle, price.asleep_yj_per_cycle?);
    let path = "power.router_price.asleep";
    let some_go_off = goes_off(spec);
    let goes_off = |class: u8| spec.managed[usize::from(class)] && some_go_off;
    let linked = |router| spec.graph.ports(router).iter().filter(|port| port.peer != Peer::Unused);
    let stays_on = |router: u32| linked(router).find(|port| !goes_off(port.class));
    let on: Option<Vec<u8>> = (0..spec.graph.routers()).map(|router| stays_on(router).map(|port| port.class)).collect();
    if let Some(classes) = on {
        let names = spec.graph.class_names().iter().enumerate();
        let named = names.filter(|(class, _)| classes.contains(&(*class as u8))).map(|(_, name)| format!("`{name}`"));
        let what = format!(
            "no router ever sleeps: each router has a link that stays on, of the class {} under the policy `{}`",
            named.collect::<Vec<_>>().join(" or "),
            spec.policy.name()
        );
        let help = "leave `asleep` out, or choose a policy that switches all links of some routers off; if links to \
                    terminals stay on, only routers without terminals can sleep, such as those above the leaves of a \
                    tree";
        return Some(Warning::new(&NO_ROUTER_SLEEPS, path, [], what, help));
    }
    (asleep > awake).then(|| {
        let numbers = [("asleep_fj_per_cycle", fj_f64(asleep)), ("awake_fj_per_cycle", fj_f64(awake))];
        let (asleep, awake) = (fj_text(asleep), fj_text(awake));
        let what = format!(
            "a sleeping router uses {asleep} fJ per cycle, more than an awake router, {awake} fJ: sleep costs energy"
        );
        let help = "write a price below `static`, unless you study the effect of such prices";
        Warning::new(&DEAR_SLEEP_OF_ROUTERS, path, numbers, what, help)
    })
}

/// Warns about a window in which too few packets are created for reliable means.
fn few_packets(scenario: &Scenario, spec: &Spec) -> Result<Option<Warning>, Refusal> {
    let phases = &spec.phases;
    let length = events::window_end(spec).saturating_sub(phases.warmup);
    if phases.stop == Stop::Complete || spec.traffic.jobs.iter().any(|job| job.batch.is_some()) {
        return Ok(None);
    }
    let start = spec.earliest_window()?;
    let packets: f64 = spec.traffic.jobs.iter().map(|job| created(job, start, start.saturating_add(length))).sum();
    Ok((packets > 0.0 && packets < FEWEST_PACKETS).then(|| {
        let what = format!(
            "about {packets:.3} packets are created in a window of {}: too few for a mean latency or a percentile",
            long(length, spec)
        );
        let enough = (length as f64 * FEWEST_PACKETS / packets).ceil() * 2.0;
        let numbers = [("packets", packets), ("window_cycles", length as f64), ("enough_cycles", enough)];
        let help = match can_last(scenario, enough) {
            true => format!("write {enough}cycles or more, or a higher load"),
            false => format!(
                "write loads that are at least {} times as high: a window with enough packets, {enough} cycles, is \
                 longer than this scenario can measure",
                (2.0 * FEWEST_PACKETS / packets).ceil()
            ),
        };
        Warning::new(&FEW_PACKETS, events::window_key(spec), numbers, what, help)
    }))
}

/// True if a window of this length does not exceed the limits of the simulator. Times, tables and sums of energy have such limits.
fn can_last(scenario: &Scenario, cycles: f64) -> bool {
    let time = Time::Cycles(cycles as Cycles);
    let mut longer = scenario.clone();
    match &mut longer.measure.stop {
        Some(StopConfig::Confidence(confidence)) => confidence.max_window = Some(time),
        Some(StopConfig::Complete(_)) | None => longer.measure.window = time,
    }
    longer.assemble().is_ok()
}

/// Mean number of packets that a job creates between two cycles.
fn created(job: &Job, start: Cycles, end: Cycles) -> f64 {
    let ends = job.phases.iter().skip(1).map(|phase| phase.from).chain([Cycles::MAX]);
    let of_phase = |(phase, until): (&LoadPhase, Cycles)| {
        let cycles = until.min(end).saturating_sub(phase.from.max(start));
        cycles as f64 * phase.load.iter().sum::<f64>() / job.packets.mean()
    };
    job.phases.iter().zip(ends).map(of_phase).sum()
}

/// Warns about jobs that offer no load in the window.
fn silent(scenario: &Scenario, spec: &Spec) -> Result<Vec<Warning>, Refusal> {
    let (start, end) = (spec.earliest_window()?, events::window_end(spec));
    let jobs = spec.traffic.jobs.iter().enumerate().filter(|(_, job)| !job.workload.model().has_own_demand());
    let jobs = jobs.filter_map(|(j, job)| {
        let ends = job.phases.iter().skip(1).map(|phase| phase.from).chain([Cycles::MAX]);
        let heard = job.phases.iter().zip(ends).filter(|(phase, until)| phase.from < end && *until > start);
        let mut heard = heard.map(|(phase, _)| phase);
        if heard.any(|phase| phase.load.iter().any(|&load| load > 0.0)) {
            return None;
        }
        let key = match (scenario.traffic.loads.is_empty(), job.phases.len() > 1) {
            (false, _) => "traffic.loads".into(),
            (true, true) => place(scenario, j, "phases"),
            (true, false) => place(scenario, j, "load"),
        };
        let what = format!(
            "{} has a load of 0 at all {} terminals during the whole window: nothing is sent, so there are no \
             latencies, and the energy is that of an idle network",
            named(scenario, spec, j),
            job.terminals.len()
        );
        let help = "give some terminals a load above 0, unless you want to measure an idle network";
        Some(Warning::new(&NOTHING_SENT, key, [("terminals", job.terminals.len() as f64)], what, help))
    });
    Ok(jobs.collect())
}
