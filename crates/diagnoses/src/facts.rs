//! The facts that diagnoses use: numbers from the summary of a point, or of one phase of its load.

use crate::backlog::Backlog;
use crate::flaws::OF_GRAIN;
use crate::format::Span;
use crate::phases;
use serde_json::Value;

/// A record with named values, from which facts are read: a JSON object in this crate, a mapping in the Python module.
pub trait Source: Sized {
    /// Whether the record has the key, even without a value.
    fn has(&self, key: &str) -> bool;
    fn number(&self, key: &str) -> Option<f64>;
    fn flag(&self, key: &str) -> Option<bool>;
    fn text(&self, key: &str) -> Option<String>;
    /// The records of the list under `key`; empty if the list is missing.
    fn list(&self, key: &str) -> Vec<Self>;
    fn record(&self, key: &str) -> Option<Self>;
}

impl Source for &Value {
    fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.get(key)?.as_f64()
    }

    fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_str().map(str::to_owned)
    }

    fn list(&self, key: &str) -> Vec<Self> {
        self.get(key).and_then(Value::as_array).map(|items| items.iter().collect()).unwrap_or_default()
    }

    fn record(&self, key: &str) -> Option<Self> {
        self.get(key).filter(|value| value.is_object())
    }
}

/// A warning that the engine stored in the results. In results of earlier versions a warning has no code and no numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineWarning {
    pub code: Option<String>,
    pub path: String,
    pub what: String,
    pub help: String,
    pub longer_limit_cycles: Option<f64>,
    /// Length of a cycle of the results \[fs\], if the scenario has a `grain` (a coarse flit). Only the warning about
    /// the `grain` contains this length.
    pub cycle_fs: Option<f64>,
    /// Number of flits of the scenario that one flit of the results represents. Only the warning about the `grain` contains this number.
    pub grain_flits: Option<f64>,
}

/// The facts about one job of a point (a run).
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    pub name: String,
    pub packets: Option<f64>,
    pub completion_cycles: Option<f64>,
    pub offered_load: Option<f64>,
    pub accepted_load: Option<f64>,
    /// Number of packets that were created in the window and not delivered at its end.
    pub missing_packets: Option<f64>,
    /// For a batch, its number of packets; `None` for a job that sends a load.
    pub batch_packets: Option<f64>,
    pub batch_delivered_packets: Option<f64>,
    /// For a program, its number of ranks; `None` for other jobs.
    pub ranks: Option<f64>,
    pub ended_ranks: Option<f64>,
    /// For a queue of programs, its number of programs; `None` for other jobs.
    pub queue_programs: Option<f64>,
    pub queue_ended_programs: Option<f64>,
}

/// A group of buffers that are too short for the round trip of a credit.
#[derive(Debug, Clone, PartialEq)]
pub struct ShortBuffer {
    /// Key of these buffers in the scenario, such as `links.dim0.buffer`.
    pub path: String,
    pub needed_flits: f64,
}

/// A phase's position among the phases of its point.
#[derive(Debug, Clone, PartialEq)]
pub struct Place {
    pub phase: f64,
    pub start_cycle: Option<f64>,
    pub from_cycle: Option<f64>,
    pub to_cycle: Option<f64>,
    pub packet_latency_p50_cycles: Option<f64>,
    /// The engine's verdict on this phase alone; `None` if there is none.
    pub own_saturated: Option<bool>,
}

/// How earlier phases affect a phase.
#[derive(Debug, Clone, PartialEq)]
pub struct Late {
    pub after_saturated: bool,
    pub backlog: Option<Backlog>,
}

/// A period in which certain faults are active, with the number of packets that these faults dropped.
#[derive(Debug, Clone, PartialEq)]
pub struct Episode {
    pub dropped_packets: f64,
    pub from_cycle: f64,
    pub to_cycle: Option<f64>,
}

/// The facts about a point, or about one phase of its load. The facts have the same names as in a summary.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    pub ending: String,
    pub saturated: Option<bool>,
    pub packets: Option<f64>,
    pub dropped_packets: Option<f64>,
    /// Whether the point runs a program. A program is measured as a whole.
    pub is_program: bool,
    pub below_path_bound: Option<bool>,
    pub path_bound_share: Option<f64>,
    pub path_bound_load: Option<f64>,
    /// Buffers that are too short for the load of the point. The buffers of the channel with the highest load are first
    /// in the list.
    pub path_bound_buffers: Vec<ShortBuffer>,
    pub power_settled: Option<bool>,
    pub warmup_settled: Option<bool>,
    /// Whether the window reached the confidence that the scenario requests; `None` if the scenario requests no confidence.
    pub confidence_reached: Option<bool>,
    pub queues_settled: Option<bool>,
    pub whole_periods: Option<bool>,
    pub load: Option<f64>,
    pub offered_load: Option<f64>,
    pub accepted_load: Option<f64>,
    pub packet_latency_mean_cycles: Option<f64>,
    pub latency_growth_share: Option<f64>,
    pub queueing_mean_cycles: Option<f64>,
    pub queue_memory_cycles: Option<f64>,
    pub warmup_cycles: Option<f64>,
    pub warmup_limit_cycles: Option<f64>,
    pub window_cycles: Option<f64>,
    pub backlog_before_packets: Option<f64>,
    pub backlog_packets: Option<f64>,
    pub terminals: Option<f64>,
    pub packet_flits: Option<f64>,
    /// For a run of batches: the cycle in which the last batch was complete.
    pub completion_cycles: Option<f64>,
    /// Whether the point is a closed loop: sources send less if the network delivers more slowly.
    pub is_closed_loop: bool,
    /// Whether links or routers fail during the run.
    pub has_fault_parts: bool,
    pub warnings: Vec<EngineWarning>,
    pub jobs: Vec<Job>,
    pub fault_episodes: Vec<Episode>,
    pub fault_episodes_count: f64,
    /// For a phase, its position among the phases of its point; `None` for a point.
    pub place: Option<Place>,
    /// For a phase, the effect of earlier phases on it; `None` for a point.
    pub late: Option<Late>,
    /// For a point, the phases of its load, each judged separately; empty if the load does not change.
    pub phases: Vec<Facts>,
}

impl Facts {
    /// Reads the facts of a point's summary, or of a phase as `in_phases` of the Python package returns it.
    pub fn of<S: Source>(summary: &S) -> Self {
        let mut facts = Self::alone(summary);
        let phases: Vec<Self> = summary.list("phases").iter().map(Self::alone).collect();
        facts.phases = phases::judged(&facts, phases);
        facts
    }

    /// Reads the facts of a record, without the facts of its phases.
    fn alone<S: Source>(summary: &S) -> Self {
        Self {
            ending: summary.text("ending").unwrap_or_default(),
            saturated: summary.flag("saturated"),
            packets: summary.number("packets"),
            dropped_packets: summary.number("dropped_packets"),
            is_program: summary.number("solution_seconds").is_some(),
            below_path_bound: summary.flag("below_path_bound"),
            path_bound_share: summary.number("path_bound_share"),
            path_bound_load: summary.number("path_bound_load"),
            path_bound_buffers: ShortBuffer::all(summary),
            power_settled: summary.flag("power_settled"),
            warmup_settled: summary.flag("warmup_settled"),
            confidence_reached: summary.flag("confidence_reached"),
            queues_settled: summary.flag("queues_settled"),
            whole_periods: summary.flag("whole_periods"),
            load: summary.number("load"),
            offered_load: summary.number("offered_load"),
            accepted_load: summary.number("accepted_load"),
            packet_latency_mean_cycles: summary.number("packet_latency_mean_cycles"),
            latency_growth_share: summary.number("latency_growth_share"),
            queueing_mean_cycles: summary.number("queueing_mean_cycles"),
            queue_memory_cycles: summary.number("queue_memory_cycles"),
            warmup_cycles: summary.number("warmup_cycles"),
            warmup_limit_cycles: summary.number("warmup_limit_cycles"),
            window_cycles: summary.number("window_cycles"),
            backlog_before_packets: summary.number("backlog_before_packets"),
            backlog_packets: summary.number("backlog_packets"),
            terminals: summary.number("terminals"),
            packet_flits: summary.number("packet_flits"),
            completion_cycles: summary.number("completion_cycles"),
            is_closed_loop: summary.flag("closed_loop") == Some(true),
            has_fault_parts: !summary.list("fault_parts").is_empty(),
            warnings: summary.list("warnings").iter().map(EngineWarning::of).collect(),
            jobs: summary.list("jobs").iter().map(Job::of).collect(),
            fault_episodes: summary.list("fault_episodes").iter().map(Episode::of).collect(),
            fault_episodes_count: summary.number("fault_episodes_count").unwrap_or(0.0),
            place: Place::of(summary),
            late: summary.has("backlog").then(|| Late {
                after_saturated: summary.flag("after_saturated") == Some(true),
                backlog: summary.record("backlog").map(|known| Backlog::read(&known)),
            }),
            phases: Vec::new(),
        }
    }

    /// The engine's warnings about the scenario keys in `paths`.
    pub fn warnings_of<'a>(&'a self, paths: &'a [&str]) -> impl Iterator<Item = &'a EngineWarning> {
        self.warnings.iter().filter(|warning| paths.contains(&warning.path.as_str()))
    }

    /// A number of cycles of the results, with the data to write it in the unit of the scenario.
    pub(crate) fn span(&self, cycles: f64) -> Span {
        Span { cycles, grain_cycle_fs: self.grain().and_then(|warning| warning.cycle_fs) }
    }

    /// Converts flits of the results into flits of the scenario (with a `grain`, a flit of the results is several of
    /// them).
    pub(crate) fn written_flits(&self, flits: f64) -> f64 {
        flits * self.grain_flits()
    }

    /// Number of flits of the scenario that one flit of the results represents; 1 without a `grain`.
    pub(crate) fn grain_flits(&self) -> f64 {
        self.grain().and_then(|warning| warning.grain_flits).unwrap_or(1.0)
    }

    /// The engine's warning that the scenario has a `grain`; `None` without it.
    fn grain(&self) -> Option<&EngineWarning> {
        self.warnings.iter().find(|warning| warning.code.as_deref() == Some(OF_GRAIN))
    }

    pub fn is_phase(&self) -> bool {
        self.place.is_some()
    }
}

impl EngineWarning {
    fn of<S: Source>(warning: &S) -> Self {
        let text = |key| warning.text(key).unwrap_or_default();
        let number = |key| warning.record("numbers").and_then(|numbers| numbers.number(key));
        Self {
            code: warning.text("code"),
            path: text("path"),
            what: text("what"),
            help: text("help"),
            longer_limit_cycles: number("longer_limit_cycles"),
            cycle_fs: number("cycle_fs"),
            grain_flits: number("grain_flits"),
        }
    }
}

impl ShortBuffer {
    /// Reads all buffers that are too short. Summaries of earlier versions list only the buffers of the channel with the highest load.
    fn all<S: Source>(summary: &S) -> Vec<Self> {
        let named = |path: Option<String>, needed: Option<f64>| Some(Self { path: path?, needed_flits: needed? });
        if summary.has("path_bound_buffers") {
            let listed = summary.list("path_bound_buffers");
            return listed.iter().filter_map(|each| named(each.text("path"), each.number("needed_flits"))).collect();
        }
        let fullest = named(summary.text("path_bound_buffer"), summary.number("path_bound_buffer_needed_flits"));
        fullest.into_iter().collect()
    }
}

impl Job {
    fn of<S: Source>(job: &S) -> Self {
        Self {
            name: job.text("job").unwrap_or_default(),
            packets: job.number("packets"),
            completion_cycles: job.number("completion_cycles"),
            offered_load: job.number("offered_load"),
            accepted_load: job.number("accepted_load"),
            missing_packets: job.number("missing_packets"),
            batch_packets: job.number("batch_packets"),
            batch_delivered_packets: job.number("batch_delivered_packets"),
            ranks: job.number("ranks"),
            ended_ranks: job.number("ended_ranks"),
            queue_programs: job.number("queue_programs"),
            queue_ended_programs: job.number("queue_ended_programs"),
        }
    }
}

impl Place {
    fn of<S: Source>(phase: &S) -> Option<Self> {
        Some(Self {
            phase: phase.number("phase")?,
            start_cycle: phase.number("start_cycle"),
            from_cycle: phase.number("from_cycle"),
            to_cycle: phase.number("to_cycle"),
            packet_latency_p50_cycles: phase.number("packet_latency_p50_cycles"),
            own_saturated: phase.flag("saturated"),
        })
    }

    /// Number of cycles of the phase up to its end or the end of the window.
    pub fn lasted(&self) -> f64 {
        self.to_cycle.unwrap_or(0.0) - self.start_cycle.unwrap_or(0.0)
    }
}

impl Episode {
    fn of<S: Source>(episode: &S) -> Self {
        Self {
            dropped_packets: episode.number("dropped_packets").unwrap_or(0.0),
            from_cycle: episode.number("from_cycle").unwrap_or(0.0),
            to_cycle: episode.number("to_cycle"),
        }
    }
}
