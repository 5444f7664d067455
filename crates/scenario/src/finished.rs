//! The results of one run: a flat summary with units in its keys, and the table of channels.

use crate::RESULT_MODEL_VERSION;
use crate::bill::{energies, link_classes, router_sleep};
use crate::by_phase::phases;
use crate::channels::{Channel, Channels};
use crate::config::Scenario;
use crate::default_prices::OtherRate;
use crate::doubts;
use crate::energy::Energy;
use crate::grain;
use crate::path_bound::path_bound;
use crate::periods;
use crate::point::Point;
use crate::queues::queues;
use crate::recovery;
use crate::routers;
use crate::shares;
use crate::statistics::{jain, latency, pairs, per_packet};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use weft_engine::Spec;
use weft_engine::outcome::{
    Cause, ChannelCount, ClassOutcome, Ending, JobOutcome, Outcome, Progress, Queue, SetAside, Stall, Waiting,
};
use weft_engine::recording::{Column, RecordingConfig, Table};
use weft_engine::spec::Job;
use weft_topology::Graph;
use weft_units::{InputFile, Refusal, fj_text};

/// The results of a run of one point.
#[derive(Debug, Clone)]
pub struct Finished {
    /// Results by name: a flat object with units in the names of the keys. A number that does not exist in this run is null.
    pub summary: Value,
    pub channels: Channels,
    /// The tables of the recordings, and the table of the groups, each with its name.
    pub recorded: Vec<(&'static str, Table)>,
    /// The journeys of the watched packets, which are not saved.
    pub journeys: Value,
    /// A text that lists the packets or jobs that wait, if the network stalled.
    pub stalled: Option<String>,
    pub(crate) scenario_yaml: String,
    /// The input files that the scenario names, which are saved next to the scenario.
    pub(crate) inputs: Vec<InputFile>,
}

impl Finished {
    /// Applies prices to the outcome of a run, and computes the summary.
    pub fn new(point: &Point, spec: &Spec, outcome: &Outcome) -> Result<Self, Refusal> {
        let classes: Vec<Arc<str>> = spec.graph.class_names().iter().map(|name| name.as_str().into()).collect();
        let row = |count: &ChannelCount| {
            let link_class = classes.get(usize::from(count.class)).cloned().unwrap_or_else(|| "?".into());
            Ok(Channel {
                energy: Energy::of(count, &spec.prices[usize::from(count.class)], &spec.modes)?,
                link_class,
                bandwidth: spec.links[usize::from(count.class)].rate.per_cycle(),
                count: count.clone(),
            })
        };
        let rows = outcome.channels.iter().map(row).collect::<Result<Vec<_>, Refusal>>()?;
        let channels = Channels { rows, graph: spec.graph.clone(), modes: spec.modes.clone(), window: outcome.window };
        let mut summary = identity(point, spec, outcome);
        let doubts = grain::reworded(point.as_written(), doubts::of(spec, outcome)?);
        let warnings: Vec<_> = point.warnings.iter().cloned().chain(doubts).collect();
        summary.insert("warnings".to_owned(), json!(warnings));
        summary.extend(loads(spec, outcome));
        summary.extend(times(point, spec, outcome));
        summary.extend(packets(outcome));
        summary.extend(queues(spec, outcome, point.scenario.fails_at_set_times())?);
        summary.extend(path_bound(spec, outcome)?);
        summary.insert("whole_periods".to_owned(), json!(periods::whole(outcome.window, spec)?));
        summary.extend(control(outcome));
        summary.extend(congestion(outcome));
        summary.extend(set_aside(outcome));
        let ideal = spec.queueing.model().ideal_queues(&spec.graph);
        summary.extend(ideal.map(|queues| ("ideal_queues".to_owned(), json!(queues))));
        summary.extend(completeness(outcome));
        summary.extend(short_tables(outcome));
        summary.extend(fairness(spec, outcome));
        let named = |(name, table): &(&'static str, Table)| (*name, routers::named(table.clone(), &spec.graph));
        let mut recorded: Vec<_> = outcome.recorded.iter().map(named).collect();
        let shares = shares::add(&mut recorded, &channels, spec, outcome);
        let jobs = outcome.jobs.iter().zip(shares).map(|(job, shares)| job_summary(job, outcome, shares));
        summary.insert("jobs".to_owned(), jobs.collect());
        let by_class = outcome.classes.iter().enumerate().map(|(k, class)| class_summary(k, class, spec, outcome));
        summary.insert("message_classes".to_owned(), by_class.collect());
        summary.insert("phases".to_owned(), phases(spec, outcome, point.scenario.flit.0)?);
        summary.extend(recovery::of(spec, outcome));
        summary.extend(energies(&channels, spec, outcome, point.scenario.flit.0));
        summary.extend(solution(spec, outcome, summary.get("energy_total_j")));
        summary.extend(router_sleep(outcome, spec));
        summary.insert("link_classes".to_owned(), link_classes(&channels, &classes));
        summary.insert("hop_histogram".to_owned(), json!(outcome.hop_counts));
        summary.insert("latency_histogram".to_owned(), json!(pairs(&outcome.latency)));
        let stall = match &outcome.ending {
            Ending::Stalled(stall) => Some(stall),
            Ending::Drained | Ending::Saturated | Ending::NotComplete | Ending::Interrupted => None,
        };
        summary.extend(stall.into_iter().flat_map(|stall| of_stall(stall, &spec.graph)));
        if let Some(groups) = &point.scenario.power.groups {
            recorded.push(("groups", groups.on(&spec.graph)?.table(&channels, &outcome.asleep, spec)));
        }
        let (scenario_yaml, inputs) = (point.kept_yaml(), point.inputs.clone());
        Ok(Self {
            summary: Value::Object(summary),
            channels,
            recorded,
            journeys: routers::rename(json!(outcome.journeys), &spec.graph),
            stalled: stall.map(|stall| stalled(stall, &spec.graph)),
            scenario_yaml,
            inputs,
        })
    }
}

/// The packets or jobs that wait in a stalled network, as fields of the summary.
fn of_stall(stall: &Stall, graph: &Graph) -> [(String, Value); 3] {
    let wait_for = stall.wait_for.iter().map(|each| waiting(each, graph)).collect();
    [("stall_packets", json!(stall.packets)), ("stall_wait_for", wait_for), ("stall_halted", json!(stall.halted))]
        .map(|(key, value)| (key.to_owned(), value))
}

/// The packets or jobs that wait in a stalled network, as text.
fn stalled(stall: &Stall, graph: &Graph) -> String {
    let mut lines = Vec::new();
    if !stall.wait_for.is_empty() {
        lines.push(format!("stalled at cycle {}: {} packets can never move again", stall.cycle, stall.packets));
        lines.extend(stall.wait_for.iter().map(|each| each.in_words(graph)));
    }
    lines.extend(stall.halted.iter().map(|halted| format!("stalled at cycle {}: {halted}", stall.cycle)));
    lines.join("\n")
}

fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The load in `traffic`. If the scenario has none, the mean load over the terminals of all jobs at the start of the run. If some jobs have
/// no batch, jobs with batches are left out, because they send as fast as they can until their batch is sent.
pub(crate) fn named_load(scenario: &Scenario, spec: &Spec) -> Option<f64> {
    scenario.traffic.load.or_else(|| {
        let jobs = &spec.traffic.jobs;
        let lasting = jobs.iter().any(|job| job.batch.is_none());
        let counted = jobs.iter().filter(|job| !lasting || job.batch.is_none());
        let counted = counted.filter(|job| !job.workload.model().has_own_demand());
        // jobs of different message classes can use the same terminal, so their loads are added per terminal
        let mut loads = BTreeMap::new();
        for (terminal, load) in counted.flat_map(|job| job.terminals.iter().zip(&job.phases[0].load)) {
            *loads.entry(terminal).or_insert(0.0) += load;
        }
        (!loads.is_empty()).then(|| loads.values().sum::<f64>() / loads.len() as f64)
    })
}

/// True if every job sends a batch as fast as its terminals can. A run of such jobs has no load, because its result is a time.
fn at_full_speed(scenario: &Scenario, spec: &Spec) -> bool {
    let full = |job: &Job| job.batch.is_some() && job.phases[0].load.iter().all(|load| *load >= 1.0);
    scenario.traffic.load.is_none() && spec.traffic.jobs.iter().all(full)
}

/// A number as JSON, written without a decimal point if it is whole.
fn number(value: f64) -> Value {
    if value.fract() == 0.0 { json!(value as u64) } else { json!(value) }
}

fn identity(point: &Point, spec: &Spec, outcome: &Outcome) -> Map<String, Value> {
    object(json!({
        "hash": point.hash,
        "name": point.scenario.name,
        "coordinates": Map::from_iter(point.coordinates.iter().cloned()),
        "topology": point.scenario.topology.name(),
        "routing": point.scenario.routing.name(),
        "pattern": point.scenario.traffic.pattern.as_ref().map(weft_traffic::PatternConfig::name),
        "policy": point.scenario.power.policy.name(),
        "prices_from": point.scenario.power.prices_from(OtherRate::of(&point.scenario, spec).as_ref()),
        "links_stay_on": point.scenario.power.policy.stays_on(),
        "load": named_load(&point.scenario, spec).filter(|_| !at_full_speed(&point.scenario, spec)),
        "packet_flits": number(point.scenario.traffic.packet.mean()),
        "seed": point.scenario.seed,
        "weft_version": env!("CARGO_PKG_VERSION"),
        "result_model": RESULT_MODEL_VERSION,
        "ending": outcome.ending.name(),
        "saturated": outcome.saturated.known(),
        "closed_loop": spec.traffic.jobs.iter().all(|job| job.workload.model().follows_network()),
    }))
}

/// The loads of the run, in flits per terminal of a job and cycle of the window.
fn loads(spec: &Spec, outcome: &Outcome) -> Map<String, Value> {
    let slots = outcome.window as f64 * f64::from(spec.traffic.members());
    let load = |flits: u64| (slots > 0.0).then(|| flits as f64 / slots);
    object(json!({
        "offered_load": load(outcome.offered_flits),
        "injected_load": load(outcome.injected_flits),
        "accepted_load": load(outcome.accepted_flits),
        "terminals": outcome.terminals,
        "window_cycles": outcome.window,
        "warmup_cycles": outcome.warmup,
        "warmup_limit_cycles": spec.phases.auto_warmup.then_some(spec.phases.warmup),
        "warmup_settled": outcome.decisions.settled,
        "power_settled": outcome.decisions.power_settled,
        "confidence_reached": outcome.decisions.confident,
        "completion_cycles": completion(outcome),
        "cycles_total": outcome.cycles,
        "flit_hops": outcome.flit_hops,
    }))
}

/// Fields with times in seconds and sizes in bits, with which a reader of the results converts cycles to seconds and flits to bits.
fn times(point: &Point, spec: &Spec, outcome: &Outcome) -> Map<String, Value> {
    let seconds = |cycles: u64| (spec.cycle_fs * u128::from(cycles)) as f64 / 1e15;
    let bits = u128::from(outcome.accepted_flits) * u128::from(point.scenario.flit.0);
    object(json!({
        "cycle_seconds": seconds(1),
        "flit_bits": point.scenario.flit.0,
        "window_seconds": seconds(outcome.window),
        // a number too large for the integers of JSON readers is rounded
        "accepted_bits": u64::try_from(bits).map_or_else(|_| json!(bits as f64), |bits| json!(bits)),
    }))
}

/// The time until all jobs have ended (time to solution), and the product of energy and this time. The fields are null if a job has not
/// ended, or never ends by itself.
fn solution(spec: &Spec, outcome: &Outcome, energy_j: Option<&Value>) -> Map<String, Value> {
    let end = |job: &JobOutcome| match job.progress {
        Progress::Ended(cycle) => Some(cycle),
        Progress::Open | Progress::Endless => None,
    };
    let ends: Option<Vec<u64>> = outcome.jobs.iter().map(end).collect();
    let last = ends.and_then(|ends| ends.into_iter().max());
    let seconds = last.map(|cycle| (spec.cycle_fs * u128::from(cycle)) as f64 / 1e15);
    let delay = seconds.zip(energy_j.and_then(Value::as_f64)).map(|(seconds, joules)| seconds * joules);
    object(json!({ "solution_seconds": seconds, "energy_delay_js": delay }))
}

/// Fields with the control packets of the power policy; null if the policy sends no control packets.
fn control(outcome: &Outcome) -> Map<String, Value> {
    let count = outcome.control.as_ref();
    let packets = count.map(|count| count.packets.iter().sum::<u64>());
    let of_data = outcome.sums.packets + outcome.missing_packets + outcome.dropped_packets;
    let share = |packets: u64| per_packet(packets, packets + of_data);
    object(json!({
        "control_packets": packets,
        "control_share": packets.map(share),
        "control_flit_hops": count.map(|count| count.flit_hops),
    }))
}

/// Fields with the counts of marks, notifications and limited flows; empty without congestion control.
fn congestion(outcome: &Outcome) -> Map<String, Value> {
    let Some(congestion) = &outcome.congestion else { return Map::new() };
    let flows = congestion.limited.len();
    let rate = congestion.limited.iter().map(|flow| flow.rate).sum::<f64>() / flows as f64;
    object(json!({
        "marked_packets": congestion.counts.marked,
        "notifications": congestion.counts.notices,
        "lost_notifications": congestion.counts.lost,
        "lost_marked_packets": congestion.counts.lost_marks,
        "notification_flit_hops": congestion.counts.notice_hops,
        "mean_queue_at_outputs_flits": congestion.counts.waited as f64 / congestion.counts.looked.max(1) as f64,
        "limited_flows": flows,
        "limited_rate": (flows > 0).then_some(rate),
    }))
}

/// Fields with the counts of queues set aside for congested outputs; empty if the queueing scheme sets no queues aside.
fn set_aside(outcome: &Outcome) -> Map<String, Value> {
    let Some(SetAside { counts, lines, .. }) = &outcome.set_aside else { return Map::new() };
    object(json!({
        "set_aside_tokens": counts.given,
        "set_aside_tokens_returned": counts.returned,
        "set_aside_queues_mean": counts.line_cycles as f64 / outcome.window.max(1) as f64,
        "set_aside_queues_at_end": lines,
        "set_aside_unserved_heads": counts.unserved,
        "set_aside_fenced_packets": counts.fenced,
    }))
}

/// For each table with a maximum number of rows: true if it contains all rows up to the end of the run. Null if the scenario did not
/// request the table.
fn completeness(outcome: &Outcome) -> Map<String, Value> {
    let bounded = RecordingConfig::tables().filter(|(_, info)| info.bounded);
    let complete =
        |name: &str| outcome.recorded.iter().find(|(own, _)| *own == name).and_then(|(_, table)| table.complete);
    bounded.map(|(name, _)| (format!("{name}_complete"), json!(complete(name)))).collect()
}

/// The rows of the short tables that the summary contains. Null if the scenario did not request the table.
fn short_tables(outcome: &Outcome) -> Map<String, Value> {
    let short = RecordingConfig::tables().filter(|(_, info)| info.in_summary);
    let rows = |name: &str| {
        let (_, table) = outcome.recorded.iter().find(|(own, _)| *own == name)?;
        let count = table.columns.first().map_or(0, |(_, column)| column.rows());
        let row =
            |k| Value::Object(table.columns.iter().map(|(name, column)| (name.clone(), cell(column, k))).collect());
        Some((0..count).map(row).collect::<Vec<_>>())
    };
    short.map(|(name, _)| (name.to_owned(), json!(rows(name)))).collect()
}

/// The JSON value of a cell of a table. Exact energies are text, as elsewhere in the summary. A cell without a number is null.
fn cell(column: &Column, row: usize) -> Value {
    match column {
        Column::MaybeNumbers(cells) | Column::Routers(cells) => json!(cells[row]),
        Column::MaybeCounts(cells) => json!(cells[row]),
        Column::Counts(cells) => json!(cells[row]),
        Column::Floats(cells) => json!(cells[row]),
        Column::Energies(cells) => json!(fj_text(cells[row])),
        Column::Texts(cells) => json!(*cells[row]),
        Column::MaybeTexts(cells) => json!(cells[row].as_deref()),
    }
}

fn packets(outcome: &Outcome) -> Map<String, Value> {
    let sums = &outcome.sums;
    let mut fields = object(json!({
        "packets": sums.packets,
        "missing_packets": outcome.missing_packets,
        "dropped_packets": outcome.dropped_packets,
        "delivered_share": per_packet(sums.packets, sums.packets + outcome.missing_packets + outcome.dropped_packets),
        "backlog_packets": outcome.backlog_packets,
        "backlog_before_packets": outcome.waiting_packets,
        "hops_mean": per_packet(sums.hops, sums.packets),
        "minimal_share": per_packet(sums.minimal, sums.packets),
    }));
    fields.extend(latency("packet_latency", sums, &outcome.batches, |s| s.latency, &outcome.latency));
    let of_network = &outcome.network_latency;
    fields.extend(latency("network_latency", sums, &outcome.batches, |s| s.network_latency, of_network));
    fields
}

/// Cycle in which the last batch or program ended. Null if a batch or program did not end, or if the run had no batch or program.
fn completion(outcome: &Outcome) -> Option<u64> {
    let ending = |job: &&JobOutcome| job.batch.is_some() || job.progress.ends();
    let last: Option<Vec<_>> = outcome.jobs.iter().filter(ending).map(completed).collect();
    last?.into_iter().max()
}

/// Cycle in which a batch or program of a job ended; `None` for other jobs.
fn completed(job: &JobOutcome) -> Option<u64> {
    match job.progress {
        Progress::Ended(cycle) => Some(cycle),
        Progress::Open => None,
        Progress::Endless => job.batch.and_then(|batch| batch.completed),
    }
}

/// Fairness of injection during the window: Jain's index, and the smallest and the largest load of a terminal. Only terminals that can send
/// are counted: those with a load, and those of a program. If a program has ended, its terminals that sent nothing are not counted. If a
/// program has not ended, all terminals of its job are counted, because messages may still wait at each of them.
fn fairness(spec: &Spec, outcome: &Outcome) -> Map<String, Value> {
    let terminals = spec.graph.terminals() as usize;
    let (mut may_wait, mut ended) = (vec![false; terminals], vec![false; terminals]);
    for (job, outcome) in spec.traffic.jobs.iter().zip(&outcome.jobs) {
        // the window of a program begins with the program
        let has_ended = job.workload.model().has_own_demand() && matches!(outcome.progress, Progress::Ended(_));
        let can_send = if has_ended { &mut ended } else { &mut may_wait };
        job.terminals.iter().enumerate().for_each(|(rank, &t)| can_send[t as usize] |= job.sends(rank));
    }
    let sent = |channel: &ChannelCount| channel.flits.iter().any(|&flits| flits > 0);
    let can_send = |channel: &&ChannelCount| {
        let terminal = channel.from_port as usize;
        may_wait[terminal] || ended[terminal] && sent(channel)
    };
    let sources = outcome.channels.iter().filter(|channel| channel.from.is_none()).filter(can_send);
    let flits: Vec<u64> = sources.map(|c| c.flits.iter().sum()).collect();
    let load = |flits: Option<&u64>| flits.filter(|_| outcome.window > 0).map(|f| *f as f64 / outcome.window as f64);
    object(json!({
        "source_fairness_jain": jain(&flits),
        "source_load_min": load(flits.iter().min()),
        "source_load_max": load(flits.iter().max()),
    }))
}

/// The results of a job, with loads in flits per terminal of the job and cycle of the window.
fn job_summary(job: &JobOutcome, outcome: &Outcome, shares: Map<String, Value>) -> Value {
    let slots = outcome.window as f64 * f64::from(job.terminals);
    let load = |flits: u64| (slots > 0.0).then(|| flits as f64 / slots);
    let sums = &job.packets.sums;
    let mut fields = object(json!({
        "job": job.name,
        "terminals": job.terminals,
        "offered_load": load(job.offered_flits),
        "injected_load": load(job.injected_flits),
        "accepted_load": load(job.accepted_flits),
        "packets": sums.packets,
        "missing_packets": job.missing_packets,
        "dropped_packets": job.dropped_packets,
        "hops_mean": per_packet(sums.hops, sums.packets),
        "network_latency_mean_cycles": per_packet(sums.network_latency, sums.packets),
        "batch_packets": job.batch.map(|batch| batch.packets),
        "batch_delivered_packets": job.batch.map(|batch| batch.delivered),
        "batch_dropped_packets": job.batch.map(|batch| batch.dropped),
        "completion_cycles": completed(job),
    }));
    fields.extend(job.figures.iter().map(|&(name, value)| (name.to_owned(), json!(value))));
    fields.extend(shares);
    let own = &job.packets;
    fields.extend(latency("packet_latency", &own.sums, &own.batches, |s| s.latency, &own.latency));
    // if the point has only one job, its histogram is the histogram of the point
    if outcome.jobs.len() > 1 {
        fields.insert("latency_histogram".to_owned(), json!(pairs(&job.packets.latency)));
    }
    for (name, of) in &job.latencies {
        fields.extend(latency(name, &of.sums, &of.batches, |s| s.latency, &of.latency));
    }
    Value::Object(fields)
}

/// The results of a message class, replies included, with loads in flits per terminal of its jobs and cycle of the window.
fn class_summary(number: usize, class: &ClassOutcome, spec: &Spec, outcome: &Outcome) -> Value {
    let sends = |job: &&Job| spec.classes_of(job).iter().any(|&class| usize::from(class) == number);
    let jobs: Vec<_> = spec.traffic.jobs.iter().filter(sends).map(|job| &job.name).collect();
    let slots = outcome.window as f64 * f64::from(spec.traffic.members());
    let load = |flits: u64| (slots > 0.0).then(|| flits as f64 / slots);
    let own = &class.packets;
    let mut fields = object(json!({
        "message_class": class.name,
        "jobs": jobs,
        "injected_load": load(class.injected_flits),
        "accepted_load": load(class.accepted_flits),
        "packets": own.sums.packets,
        "hops_mean": per_packet(own.sums.hops, own.sums.packets),
        "network_latency_mean_cycles": per_packet(own.sums.network_latency, own.sums.packets),
    }));
    fields.extend(latency("packet_latency", &own.sums, &own.batches, |s| s.latency, &own.latency));
    fields.insert("latency_histogram".to_owned(), json!(pairs(&own.latency)));
    Value::Object(fields)
}

/// The JSON of a packet in a stalled network, and of the resource that the packet waits for.
fn waiting(waiting: &Waiting, graph: &Graph) -> Value {
    let queue = |q: &Queue| json!({ "router": routers::value(graph, q.router), "port": q.port, "vc": q.vc });
    let output = match waiting.cause {
        Cause::NoRoom { port, .. } | Cause::Closed { port, .. } => Some(port),
        Cause::Held { .. } | Cause::Behind { .. } | Cause::Unanswered { .. } => None,
    };
    json!({
        "packet": waiting.packet.map(|p| json!({ "seq": p.seq, "src": p.src, "dst": p.dst })),
        "at": queue(&waiting.at),
        "reason": waiting.cause.name(),
        "output": output,
        "waits_for": waiting.cause.queue().as_ref().map(queue),
    })
}
