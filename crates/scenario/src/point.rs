//! A point of a sweep. A point is one run: its resolved scenario, its hash, and its methods.

use crate::config::Scenario;
use crate::designs::Design;
use crate::diagnostic::Diagnostic;
use crate::expand::explain;
use crate::explain::two_classes;
use crate::finished::{Finished, named_load};
use crate::tree::Node;
use crate::warning::Warning;
use crate::{RESULT_MODEL_VERSION, default_prices, grain, hints, marking, modes, yaml};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::sync::Arc;
use weft_engine::Protocol;
use weft_engine::classes::MessageClass;
use weft_engine::scaling::Shares;
use weft_engine::spec::{Execution, Watched};
use weft_engine::{Outcome, Progress, Spec};
use weft_units::{InputFile, Refusal};

/// A point of a sweep: a scenario with every default filled in.
#[derive(Debug, Clone)]
pub struct Point {
    /// The paths that the sweep varies, and their values in this point, as the user wrote them.
    pub coordinates: Vec<(String, Value)>,
    pub scenario: Scenario,
    /// Only for a scenario with a `grain`: the scenario in the user's units, with every default filled in. With a grain, `scenario` is the
    /// converted scenario, which the engine runs.
    written: Option<Scenario>,
    /// The scenario in the user's units, as JSON, with every default filled in.
    pub resolved: Value,
    /// Identifies the results: 16 hexadecimal digits, computed from the version of the result model and from `resolved` without its bill.
    /// Results do not depend on the bill. The hash is the name of the result folder.
    pub hash: String,
    /// The files that the scenario names, with their contents.
    pub inputs: Vec<InputFile>,
    /// The reasons why the results could mislead, although the scenario can run. Weft saves the warnings with the results.
    pub warnings: Vec<Warning>,
    tree: Arc<Node>,
}

impl Point {
    pub(crate) fn new(
        coordinates: Vec<(String, Value)>,
        (scenario, written): (Scenario, Option<Scenario>),
        inputs: Vec<InputFile>,
        warnings: Vec<Warning>,
        tree: Arc<Node>,
    ) -> Self {
        let resolved = serde_json::to_value(written.as_ref().unwrap_or(&scenario)).unwrap_or(Value::Null);
        let hash = hash(&resolved);
        Self { coordinates, scenario, written, resolved, hash, inputs, warnings, tree }
    }

    /// The scenario in the user's units, with every default filled in.
    pub(crate) fn as_written(&self) -> &Scenario {
        self.written.as_ref().unwrap_or(&self.scenario)
    }

    /// The scenario as the input of the engine.
    pub fn spec(&self) -> Result<weft_engine::Spec, Diagnostic> {
        self.scenario.spec().map_err(|refusal| self.explain(&refusal))
    }

    /// Refuses a scenario whose routing, VCs or policy do not work on its network. The check takes less time than [`Point::imply`].
    pub fn check_network(&self) -> Result<(), Diagnostic> {
        weft_engine::check(&self.spec()?).map_err(|refusal| self.explain(&refusal))
    }

    /// The times at which routers get new routing tables after faults. `None` unless the scenario can run, its routing computes new tables
    /// after each fault, and every pair of terminals still has a path. The function checks the paths last, because this check builds the
    /// routing, which can take long, and most routings have no new tables.
    pub fn rebuilds(&self) -> Result<Option<weft_engine::Rebuilds>, Diagnostic> {
        let spec = self.spec()?;
        let rebuilds = weft_engine::rebuilds(&spec);
        if rebuilds.is_some() {
            weft_engine::check(&spec).map_err(|refusal| self.explain(&refusal))?;
        }
        Ok(rebuilds)
    }

    /// Load of the busiest terminal after the last fault, divided by the load at which the fullest channel is full. The function applies to
    /// a routing with new tables ([`Point::rebuilds`]). `None` if no terminal sends in the first phase.
    pub fn load_share_after_faults(&self) -> Result<Option<f64>, Diagnostic> {
        let spec = weft_engine::after_faults(&self.spec()?);
        let implied = weft_engine::imply(&spec).map_err(|refusal| self.explain(&refusal))?;
        Ok(implied.channel_load_bound.map(|bound| highest_load(&spec) / bound))
    }

    /// The resolved scenario as the text of a scenario file, from which `expand` makes this point again.
    pub fn resolved_yaml(&self) -> String {
        yaml::write(&self.resolved)
    }

    /// The resolved scenario as in [`Point::resolved_yaml`], for the folder of the results. The text does not contain the bill, because the
    /// bill can change while the results stay the same.
    pub(crate) fn kept_yaml(&self) -> String {
        yaml::write(&without_bill(&self.resolved))
    }

    /// The bounds and latencies that Weft can compute from the scenario before it runs. Refuses a scenario that cannot run. Numbers that
    /// depend on paths are null if no terminal sends in the first phase. `sampled` is null if Weft followed the paths of all pairs of
    /// terminals. If Weft followed only a sample, `sampled` contains the number of followed paths and the possible error of the numbers.
    pub fn imply(&self) -> Result<Value, Diagnostic> {
        let spec = self.spec()?;
        let implied = weft_engine::imply(&spec).map_err(|refusal| self.explain(&refusal))?;
        let mut hints = hints::of(&spec, &implied);
        hints.extend(default_prices::hint(&self.scenario, &spec));
        let hints = grain::reworded(self.as_written(), hints);
        let links = spec.graph.links_by_class();
        let classes = spec.graph.class_names().iter().zip(implied.vc_classes);
        let named = &spec.faults[..self.scenario.faults.len()];
        let shares = self.scenario.fault_model.as_ref().map(|model| model.listed_shares(named, &spec)).transpose();
        let shares = shares.map_err(|refusal| self.explain(&refusal))?.unwrap_or_default();
        Ok(json!({
            "hash": self.hash,
            "cycle_seconds": spec.cycle_fs as f64 / 1e15,
            "flit_bits": self.scenario.flit.0,
            "terminals": spec.graph.terminals(),
            "routers": spec.graph.routers(),
            "radix_ports": spec.graph.radix(),
            "links": Map::from_iter(links.into_iter().map(|(class, count)| (class, json!(count)))),
            "links_of_two_classes": two_classes(&spec.graph),
            "diameter_hops": spec.graph.diameter(),
            "mean_distance_hops": spec.graph.mean_distance(),
            "mean_hops": implied.mean_hops,
            "zero_load_latency_cycles": implied.zero_load_latency,
            "channel_load_bound": implied.channel_load_bound,
            "channel_load_bound_of": implied.bound_of.name(),
            "accepted_load_bound": implied.accepted_load_bound,
            "has_replies": implied.has_replies,
            "runs_programs": spec.traffic.jobs.iter().any(|job| job.workload.model().has_own_demand()),
            "interface_times": interface_times(&spec),
            "highest_load": highest_load(&spec),
            "reads_queues": implied.reads_queues,
            "sampled": implied.sampled.map(|sampled| json!({
                "paths": sampled.paths,
                "mean_hops_standard_error": sampled.mean_hops_error,
                "zero_load_latency_standard_error_cycles": sampled.zero_load_latency_error,
                "channel_load_bound_interval": [sampled.channel_load_bound.0, sampled.channel_load_bound.1],
            })),
            "message_classes": message_classes(&spec, &implied.vcs_of_messages),
            "protocols": protocols(&spec),
            "queueing": self.scenario.lane_facts(&spec).map_err(|refusal| self.explain(&refusal))?,
            "congestion_control": marking::facts(&spec).map_err(|refusal| self.explain(&refusal))?,
            "vc_classes": Map::from_iter(classes.map(|(class, count)| (class.clone(), json!(count)))),
            "bandwidth": Map::from_iter(spec.graph.class_names().iter().cloned().zip(bandwidths(&spec))),
            "vc_limit": Map::from_iter(spec.graph.class_names().iter().cloned().zip(vc_limits(&spec))),
            "fault_shares": shares,
            "modes": modes::facts(&self.scenario.power, &spec).map_err(|refusal| self.explain(&refusal))?,
            "hints": hints,
        }))
    }

    /// Estimated memory of a run [bytes]: the maximum, with all buffers full, and the usual amount, at the load of the scenario while
    /// queues are short.
    pub fn memory(&self, how: Execution) -> Result<Value, Diagnostic> {
        let memory = weft_engine::memory(&self.spec()?, how);
        Ok(json!({ "most_bytes": memory.most(), "at_load_bytes": memory.at_load() }))
    }

    /// Runs the first `cycles` cycles, and measures how evenly the flit-hops are divided among this number of threads. `imbalance` is the
    /// number of flit-hops by which the busiest thread exceeds the mean over the threads, divided by this mean. `imbalance` is `null` if no
    /// flit moved.
    pub fn work(&self, threads: usize, cycles: u64) -> Result<Value, Diagnostic> {
        let counted = Shares::counted(&self.spec()?, threads, cycles);
        let shares = counted.map_err(|refusal| self.explain(&refusal))?;
        Ok(json!({
            "threads": shares.threads, "blocks": shares.blocks, "cycles": cycles, "flit_hops": shares.flit_hops,
            "most_flit_hops": shares.most, "imbalance": shares.imbalance(), "units": shares.units,
            "imbalance_of_whole_units": shares.imbalance_of_whole_units(),
        }))
    }

    /// Approximate length of the drain [cycles]: the time after the window until all packets of the window have been delivered.
    pub fn drain_cycles(&self) -> Result<u64, Diagnostic> {
        Ok(weft_engine::drain_cycles(&self.spec()?))
    }

    /// The load by which the profile of a bill (`bill.profile`) names this point. `None` for jobs that send batches, because only a run can
    /// determine their load.
    pub fn load(&self) -> Result<Option<f64>, Diagnostic> {
        match self.scenario.traffic.load {
            Some(load) => Ok(Some(load)), // returns early, because this case does not need the spec
            None => Ok(named_load(&self.scenario, &self.spec()?)),
        }
    }

    /// The highest load at which the point's terminals can send [flits/terminal/cycle].
    pub fn most_load(&self) -> Result<f64, Diagnostic> {
        Ok(self.spec()?.links[0].rate.per_cycle().min(1.0))
    }

    /// Number of phases of the load; 1 if the load never changes.
    pub fn phases(&self) -> Result<usize, Diagnostic> {
        Ok(1 + self.spec()?.traffic.changes().len())
    }

    /// Converts a refusal by code that compares points of a sweep to an error. The error shows the place where the path was written.
    pub fn refusal(&self, path: &str, what: &str, help: &str) -> Diagnostic {
        explain(&self.tree, &[], &Refusal::new(path, what, help))
    }

    /// Properties of the network: degrees, distances, bisection, links.
    pub fn explain_topology(&self) -> Result<Value, Diagnostic> {
        Ok(crate::explain::topology(self.scenario.topology.name(), &self.spec()?))
    }

    /// The network as a design with this name, for analyses that need no run.
    pub fn design(&self, name: &str) -> Result<Design, Diagnostic> {
        Ok(Design::of(name.to_owned(), &self.scenario.topology, self.spec()?.graph))
    }

    /// The network as data for a drawing.
    pub fn network(&self) -> Result<Value, Diagnostic> {
        Ok(crate::network::network(self.scenario.topology.name(), &self.spec()?))
    }

    /// Flits per cycle that the terminals of one router (row) send to the terminals of another router (column). If the traffic has phases,
    /// the first phase of each job counts.
    pub fn traffic_matrix(&self) -> Result<Vec<Vec<f64>>, Diagnostic> {
        weft_engine::demand(&self.spec()?).map_err(|refusal| self.explain(&refusal))
    }

    /// The paths of packets between two terminals. Refuses a routing that cannot run, and terminals that do not exist.
    pub fn explain_routing(&self, from: u32, to: u32) -> Result<Value, Diagnostic> {
        let spec = self.spec()?;
        let explained = weft_engine::explain(&spec, from, to).map_err(|refusal| match refusal.path.as_str() {
            "from" | "to" => Diagnostic::nowhere("", &refusal.what, &refusal.help),
            _ => self.explain(&refusal),
        })?;
        Ok(crate::explain::routing(&spec, &explained))
    }

    /// Runs the scenario.
    pub fn run(&self, how: Execution, progress: &dyn Progress) -> Result<Finished, Diagnostic> {
        self.run_watching(how, Watched::Nobody, progress)
    }

    /// Runs the scenario, and also records the journeys of some packets. The recording does not change the other results.
    pub fn run_watching(
        &self,
        how: Execution,
        watched: Watched,
        progress: &dyn Progress,
    ) -> Result<Finished, Diagnostic> {
        let spec = weft_engine::Spec { watched, ..self.spec()? };
        self.finished(&spec, weft_engine::run(&spec, how, progress))
    }

    /// Continues a run of this point from a checkpoint that was passed to [`Progress::keep`]. The result is the same as without the
    /// interruption. Refuses bytes that are not a checkpoint, at the path `checkpoint`. The bytes are freed as soon as they have
    /// been read.
    pub fn resume(
        &self,
        how: Execution,
        progress: &dyn Progress,
        checkpoint: impl AsRef<[u8]>,
    ) -> Result<Finished, Diagnostic> {
        let spec = self.spec()?;
        self.finished(&spec, weft_engine::resume(&spec, how, progress, checkpoint))
    }

    fn finished(&self, spec: &Spec, outcome: Result<Outcome, Refusal>) -> Result<Finished, Diagnostic> {
        let outcome = outcome.map_err(|refusal| match refusal.path.as_str() {
            "watch" | "cores" => Diagnostic::nowhere("", &refusal.what, &refusal.help),
            "checkpoint" => Diagnostic::nowhere(&refusal.path, &refusal.what, &refusal.help),
            _ => self.explain(&refusal),
        })?;
        Finished::new(self, spec, &outcome).map_err(|refusal| self.explain(&refusal))
    }

    fn explain(&self, refusal: &Refusal) -> Diagnostic {
        let refusal = self.scenario.with_fitting_speed(&self.tree, refusal);
        explain(&self.tree, &self.coordinates, &refusal)
    }
}

fn hash(resolved: &Value) -> String {
    // The keys are sorted, so that the hash does not depend on the order of the fields in Weft's types.
    let mut hashed = json!({ "result_model": RESULT_MODEL_VERSION, "scenario": without_bill(resolved) });
    hashed.sort_all_objects();
    let digest = Sha256::digest(hashed.to_string());
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Removes the bill from a resolved scenario, because results do not depend on it.
fn without_bill(resolved: &Value) -> Value {
    let mut kept = resolved.clone();
    if let Value::Object(keys) = &mut kept {
        keys.remove("bill");
    }
    kept
}

/// Flits per cycle that a channel of each link class can carry.
fn bandwidths(spec: &weft_engine::Spec) -> impl Iterator<Item = Value> + '_ {
    spec.links.iter().map(|link| json!(link.rate.per_cycle()))
}

/// Maximum number of flits per cycle that one VC of each link class can carry, at most the bandwidth of the channel. The maximum is the
/// buffer of the VC divided by the round trip time of a credit. In each round trip, a flit crosses the link and the next router before its
/// buffer slot is free again.
fn vc_limits(spec: &weft_engine::Spec) -> impl Iterator<Item = Value> + '_ {
    let limit = |(link, cycles): (&weft_engine::spec::LinkClass, u64)| {
        json!((f64::from(link.buffer) / cycles as f64).min(link.rate.per_cycle()))
    };
    spec.links.iter().zip(hints::round_trips(spec)).map(limit)
}

/// The message classes, each with the number of VCs that it can use on each link class.
fn message_classes(spec: &Spec, vcs: &[Vec<u8>]) -> Vec<Value> {
    let of = |(class, vcs): (&MessageClass, &Vec<u8>)| {
        let vcs = spec.graph.class_names().iter().zip(vcs).map(|(link, vcs)| (link.clone(), json!(vcs)));
        json!({ "class": class.name, "priority": class.priority, "vcs": Map::from_iter(vcs) })
    };
    spec.classes.iter().zip(vcs).map(of).collect()
}

/// For each job with replies: true if requests and replies can wait for each other in a cycle.
fn protocols(spec: &Spec) -> Vec<Value> {
    let of = |protocol: Protocol| {
        json!({
            "job": spec.traffic.jobs[protocol.job].name,
            "requests": protocol.classes.as_ref().map(|(requests, _)| requests),
            "replies": protocol.classes.as_ref().map(|(_, replies)| replies),
            "deadlock_free": protocol.deadlock_free,
            "why": protocol.why,
        })
    };
    spec.protocols().into_iter().map(of).collect()
}

/// For each job, the times that network interfaces add to its messages; null if its workload has no such times.
fn interface_times(spec: &Spec) -> Vec<Value> {
    let units = (spec.cycle_fs, spec.flit_bits);
    spec.traffic.jobs.iter().map(|job| job.workload.model().interface_times(units)).collect()
}

/// The load of the terminal that sends most at the start of the run [flits/terminal/cycle]. The channel-load bound is a limit for this
/// load.
fn highest_load(spec: &Spec) -> f64 {
    spec.traffic.loads(spec.graph.terminals()).into_iter().fold(0.0, f64::max)
}
