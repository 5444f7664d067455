//! Random choices of the packets that terminals send, and of their queues.

use super::Drawn;
use crate::common::*;
use serde_json::{Value, json};
use std::sync::Arc;
use weft_engine::Spec;
use weft_engine::classes::{ClassVcs, InjectionRule, MessageClass, Queueing};
use weft_engine::congestion::CongestionConfig;
use weft_engine::queueing::QueueingConfig;
use weft_engine::recording::RecordingConfig;
use weft_engine::spec::{Job, LoadPhase, Rate, Stop, Watched, population};
use weft_engine::workload::WorkloadConfig;
use weft_programs::generators::GeneratorConfig;
use weft_traffic::{InjectionConfig, Lengths, Pattern, PatternConfig, Population};
use weft_units::Refusal;

/// Builds a pattern for the terminals of job number `job`.
fn build(spec: &Spec, job: usize, config: &PatternConfig) -> Result<Arc<Pattern>, Refusal> {
    let (terminals, planes) = (spec.traffic.jobs[job].terminals.len() as u32, spec.graph.planes());
    let whole = terminals == spec.graph.terminals();
    let of = if whole { population(&spec.graph, spec.seed) } else { Population::of(terminals / planes) };
    Ok(Arc::new(config.build(&of, "traffic.pattern")?.in_planes(planes)))
}

/// Chooses one of the patterns that are possible for the terminals of the job.
fn any_pattern(spec: &Spec, job: usize, draw: &mut Draw) -> Result<Arc<Pattern>, Refusal> {
    let mut all = PatternConfig::examples();
    all.push(serde_json::from_str(r#"{"hot_spot": {"targets": [0], "share": 0.6}}"#).expect("a pattern"));
    let turn = draw.below(all.len());
    all.rotate_left(turn);
    let fits = all.iter().find_map(|config| build(spec, job, config).ok());
    fits.ok_or_else(|| Refusal::new("pattern", "no pattern fits the job", "draw another one"))
}

fn any_job(spec: &Spec, draw: &mut Draw) -> usize {
    draw.below(spec.traffic.jobs.len())
}

pub fn pattern(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let job = any_job(spec, draw);
    let pattern = any_pattern(spec, job, draw)?;
    spec.traffic.jobs[job].phases.iter_mut().for_each(|phase| phase.pattern = pattern.clone());
    Ok(())
}

pub fn injection(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let job = any_job(spec, draw);
    spec.traffic.jobs[job].injection = draw.of(&InjectionConfig::examples());
    Ok(())
}

/// Gives packets several lengths.
pub fn lengths(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let (job, longest) = (any_job(spec, draw), spec.traffic.longest() as usize);
    let weights: Vec<(u32, f64)> = (0..3).map(|_| (1 + draw.below(longest) as u32, draw.share())).collect();
    spec.traffic.jobs[job].packets = Lengths::of(&weights);
    Ok(())
}

/// Makes the load change during the run, mostly to 0 and back.
pub fn phases(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let job = any_job(spec, draw);
    let first = spec.traffic.jobs[job].phases[0].clone();
    let mut from = 0;
    for load in [0.0, 0.05 + draw.share() / 2.0] {
        from += 1 + draw.below(900) as u64;
        let pattern = if draw.one_in(3) { any_pattern(spec, job, draw)? } else { first.pattern.clone() };
        spec.traffic.jobs[job].phases.push(LoadPhase { from, load: vec![load; first.load.len()], pattern });
    }
    spec.phases.window += from;
    Ok(())
}

/// Creates jobs on two parts of the terminals. In some networks the last nodes belong to no job.
pub fn jobs(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let (all, planes) = (spec.graph.terminals(), spec.graph.planes());
    let nodes = all / planes;
    if nodes < 4 {
        return Err(Refusal::new("traffic.jobs", "few terminals", "draw another network"));
    }
    let cut = 1 + draw.below(nodes as usize - 1) as u32;
    let end = if draw.one_in(2) { nodes } else { (cut + 2).min(nodes) };
    let whole = spec.traffic.jobs[0].clone();
    let part = |name: &str, nodes: std::ops::Range<u32>| {
        let terminals: Vec<u32> = (nodes.start * planes..nodes.end * planes).collect();
        let load = vec![whole.phases[0].load[0]; terminals.len()];
        let first = LoadPhase { load, ..whole.phases[0].clone() };
        Job { name: name.to_owned(), terminals, phases: vec![first], batch: None, ..whole.clone() }
    };
    spec.traffic.jobs = vec![part("first", 0..cut), part("second", cut..end)];
    for job in 0..2 {
        spec.traffic.jobs[job].phases[0].pattern = any_pattern(spec, job, draw)?;
    }
    Ok(())
}

/// Gives terminals a workload with more behaviour than a load.
pub fn workload(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let job = any_job(spec, draw);
    let workload = draw.of(&WorkloadConfig::examples());
    set_workload(spec, job, workload);
    Ok(())
}

fn set_workload(spec: &mut Spec, job: usize, workload: WorkloadConfig) {
    let own = workload.model().has_own_demand();
    let job = &mut spec.traffic.jobs[job];
    job.workload = workload;
    if own {
        job.batch = None;
        job.phases.truncate(1);
        job.phases[0].load.fill(0.0);
        (spec.phases.warmup, spec.phases.window, spec.phases.stop) = (0, 6_000, Stop::Complete);
    }
}

/// Adds a program of messages, with random nodes, interfaces and durations.
pub fn programs(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let job = any_job(spec, draw);
    let planes = spec.graph.planes();
    let mut keys = json!({
        "program": draw.of(&GeneratorConfig::examples()),
        "eager": draw.of(&["1B", "100B", "300B", "1MB"]),
        "overhead": draw.of(&["0ns", "10ns", "25ns"]),
        "rail_choice": draw.of(&["striping", "hash", "destination", "local_rank"]),
        "ranks_per_terminal": 1 + draw.below(3),
        "compute_scale": draw.of(&[0.0, 0.0001, 0.01]),
        "host_latency": draw.of(&["0ns", "0ns", "1ns", "3ns", "40ns"]),
    });
    let mut maybe = |draw: &mut Draw, key: &str, value: Value| {
        if draw.one_in(2) {
            keys[key] = value;
        }
    };
    let rails = planes * draw.of(&[1, 1, 2, 3]);
    maybe(draw, "rails", rails.into());
    let accepted = 1 + draw.below(3);
    maybe(draw, "accepted", accepted.into());
    maybe(draw, "local_latency", "5ns".into());
    maybe(draw, "injection_latency", "30ns".into());
    maybe(draw, "start", "100ns".into());
    maybe(draw, "jitter", json!({"exponential": {"mean": 0.3}}));
    if draw.one_in(2) {
        // a small program, so that it ends soon
        let operation = draw.of(&["barrier", "broadcast", "reduce", "all_reduce", "all_gather", "all_to_all"]);
        let (ranks, bytes) = (2 + draw.below(16), draw.of(&["1B", "200B", "700B", "3KB"]));
        let mut collective =
            json!({"operation": operation, "ranks": ranks, "repeat": 1 + draw.below(3), "gap": "33ns"});
        if operation != "barrier" {
            collective["bytes"] = bytes.into();
        }
        keys["program"] = json!({"collective": collective});
    }
    let workload = serde_json::from_value(json!({"programs": keys}))
        .map_err(|error| Refusal::new("programs", error.to_string(), "draw another one"))?;
    set_workload(spec, job, workload);
    if draw.one_in(2) {
        // puts the interfaces of a node on several sides of the network
        let terminals = &mut spec.traffic.jobs[job].terminals;
        if planes == 1 && terminals.len() > 1 {
            let half = terminals.len() / 2;
            let (first, last) = terminals.split_at(half);
            let mixed: Vec<u32> = first.iter().zip(last).flat_map(|(&a, &b)| [a, b]).collect();
            spec.traffic.jobs[job].phases[0].load.truncate(mixed.len());
            spec.traffic.jobs[job].terminals = mixed;
            let pattern = any_pattern(spec, job, draw)?;
            spec.traffic.jobs[job].phases[0].pattern = pattern;
        }
    }
    Ok(())
}

/// Makes each terminal send a fixed number of packets. The run ends with the last packet.
pub fn batches(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let each = 1 + draw.below(60) as u32;
    for job in &mut spec.traffic.jobs {
        if !job.workload.model().has_own_demand() {
            job.batch = Some((0..job.terminals.len() as u32).map(|rank| (rank * 7 + 1) % each).collect());
        }
    }
    (spec.phases.warmup, spec.phases.window, spec.phases.stop) = (0, 8_000, Stop::Complete);
    Ok(())
}

/// Creates two message classes. A second job sends packets of the second class.
pub fn classes(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let class = |name: &str, draw: &mut Draw| MessageClass {
        name: name.to_owned(),
        priority: draw.below(2) as u8,
        vcs: draw.of(&[ClassVcs::Equal, ClassVcs::Equal, ClassVcs::Shared]),
        rate: draw.one_in(4).then(|| Rate::new(1, 3, "classes.rate").expect("a rate")),
    };
    spec.classes = vec![class("low", draw), class("high", draw)];
    if spec.interface.queueing != Queueing::PerClass {
        spec.classes.iter_mut().for_each(|class| class.rate = None);
    }
    let other = Job { name: "other".to_owned(), class: 1, ..spec.traffic.jobs[0].clone() };
    spec.traffic.jobs.push(other);
    spec.links.iter_mut().for_each(|link| link.vcs = (2 * link.vcs).min(16));
    Ok(())
}

pub fn interface(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let interface = &mut spec.interface;
    interface.queueing = draw.of(&[Queueing::One, Queueing::PerClass, Queueing::PerDestination, Queueing::PerLane]);
    interface.rule = draw.of(&[InjectionRule::RoundRobin, InjectionRule::Priority, InjectionRule::Oldest]);
    interface.queues = 1 + draw.below(16) as u32;
    interface.depth = draw.of(&[1, 2, 16, u16::MAX]);
    interface.rate = draw.one_in(3).then(|| Rate::new(1, 3, "interface.rate").expect("a rate"));
    Ok(())
}

/// Chooses a queueing scheme, and gives each lane one VC.
pub fn scheme(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let fitting = |scheme: &QueueingConfig| scheme.model().fits(&spec.graph);
    let all: Vec<QueueingConfig> = QueueingConfig::examples().into_iter().filter(fitting).collect();
    let (dynamic, fixed): (Vec<_>, Vec<_>) = all.into_iter().partition(|scheme| scheme.model().sets_aside());
    // a dynamic scheme in a third of the cases, because its protocol has more states than all fixed schemes together
    let scheme = if draw.one_in(3) { draw.of(&dynamic) } else { draw.of(&fixed) };
    let model = scheme.model();
    if model.sets_aside() || model.ideal_queues(&spec.graph).is_some() {
        (spec.interface.queueing, spec.interface.queues) = (Queueing::PerDestination, 16);
        (spec.interface.depth, spec.interface.rate) = (draw.of(&[4, 64]), None);
    } else if draw.one_in(2) {
        spec.interface.queueing = Queueing::PerLane;
    }
    spec.queueing = scheme;
    spec.links.iter_mut().for_each(|link| link.vcs = 16);
    let lanes = weft_engine::lanes(spec)?;
    for (link, counts) in spec.links.iter_mut().zip(&lanes.by_class) {
        link.vcs = counts.iter().sum();
    }
    spec.links[0].vcs = spec.links[0].vcs.max(lanes.from_terminals);
    let job = any_job(spec, draw);
    let hot = if spec.queueing.model().sets_aside() && draw.one_in(2) {
        build(spec, job, &serde_json::from_str(HALF_TO_ONE).expect("a pattern"))?
    } else {
        any_pattern(spec, job, draw)?
    };
    spec.traffic.jobs[job].phases[0].pattern = hot;
    Ok(())
}

/// A pattern in which half of the packets go to one terminal.
const HALF_TO_ONE: &str = r#"{"hot_spot": {"targets": [0], "share": 0.5}}"#;

/// Chooses a congestion control, which reduces the rate of sources whose packets are marked. Doubles the buffers until queues can become
/// long enough for marks.
pub fn congestion(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    let control = draw.of(&CongestionConfig::examples());
    let hot = serde_json::from_str(HALF_TO_ONE).expect("a pattern");
    let job = any_job(spec, draw);
    let hot = build(spec, job, &hot)?;
    spec.traffic.jobs[job].phases[0].pattern = hot;
    spec.congestion = control;
    spec.interface.queueing = Queueing::PerDestination;
    (spec.interface.queues, spec.interface.depth) = (16, draw.of(&[1, 4, 16]));
    for _ in 0..8 {
        match weft_engine::check(spec) {
            Err(refusal) if refusal.path.starts_with("congestion_control") => {
                spec.links.iter_mut().for_each(|link| link.buffer *= 2);
            }
            other => return other,
        }
    }
    Ok(())
}

pub fn recordings(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    for asked in RecordingConfig::examples().iter().map(RecordingConfig::asked) {
        if draw.one_in(5) && spec.recordings.iter().all(|other| other.name != asked.name) {
            spec.recordings.push(asked);
        }
    }
    Ok(())
}

/// Makes the warm-up or the window end as soon as the run has enough data.
pub fn decided(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    if draw.one_in(2) {
        (spec.phases.auto_warmup, spec.phases.warmup) = (true, 8_000);
    } else {
        spec.phases.stop = Stop::Confidence { share: 0.02, window: spec.phases.window + 2_000 };
    }
    Ok(())
}

/// Watches some packets. A run with watched packets cannot write checkpoints.
pub fn watched(spec: &mut Spec, draw: &mut Draw) -> Drawn {
    spec.watched = Watched::First(1 + draw.below(20));
    Ok(())
}
