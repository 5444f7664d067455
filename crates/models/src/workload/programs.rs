//! Runs a program: its ranks (processes) compute and send messages to each other, in the order that the program defines.
//!
//! # Source
//! The format of programs is GOAL: T. Hoefler, C. Siebert, A. Lumsdaine, "Group Operation Assembly Language" (ICPP 2009). The
//! processor time per message is the parameter o of the LogGP model. Collectives are expanded into messages as in `weft
//! trace`.
//! # Parameters
//! - `file`, or `program` with its parameters: the operations of the ranks.
//! - `collectives`: the algorithms that expand collectives into messages.
//! - `eager` \[bytes\]: the largest message that a rank sends without waiting for the matching receive.
//! - `overhead` \[time\]: processor time that each message costs at the sender and at the receiver. `injection_latency`
//!   \[time\]: time of a message from the processor to the network interface.
//! - `interface`: a preset for these times, and for the times of messages inside a node.
//! - `host_latency` \[time\]: time between the interfaces of a node and its processors, in each direction.
//! - `accepted` \[count\]: largest number of messages that the interfaces of a node have accepted but not yet sent.
//! - `rails` \[count\]: number of interfaces of a node. `rail_choice`: rule that chooses the interface for a message.
//! - `ranks_per_terminal` \[count\]: number of ranks of each node. `local_latency` \[time\], `local_bandwidth` \[bits/s\]: latency and
//!   bandwidth of messages between ranks of one node.
//! - `compute_scale`, `jitter`: factors that change the times of computations.
//! - `start` \[time\]: time at which the program starts.
//!
//! The workload uses two keys of the job: `terminals`, and `packet` \[flits\], the length of the longest packet.
//! # Guarantees
//! The program defines how many processors a rank has. A processor does one task at a time: a computation, the sender's work for a message,
//! or the receiver's work for a message. Weft splits a message into packets of the length `packet`, and one shorter packet at the end. A
//! message of 0 bytes is one flit. An interface sends messages one after the other. A node is one terminal, or `rails` consecutive
//! terminals of the job, one for each of its interfaces. An interface sends to the interface with the same index at the other node.
//! Therefore each interface can be in a separate network plane. The requests and answers of a message use the interface that sends its
//! first packet. A rank sends a message of at most `eager` bytes at once (an eager message). Its send operation has finished when the
//! processor has done its work for the message. A longer message is a rendezvous: the sender first sends a request of one flit, which costs
//! processor time at both ends. When the matching receive is posted, the receiver's interface answers with one flit, and the sender's
//! interface sends the data. The send operation of a rendezvous has finished when the data have left, and the receive operation when the
//! data have arrived. Requests and answers have priority over data. Receive operations match messages by the rules of the crate `programs`
//! (`rank`). The ends of computations are rounded to whole cycles, but the rounding errors of successive computations do not add up. The
//! program has ended when every rank has finished all operations.
//!
//! Packets do not carry the ranks, the tag or the size of their message. Before the first packet leaves, the sender writes these data into
//! a table that sender and receiver can read. The key of an entry is the sending node and a message number, which packets carry. Only the
//! receiver of these packets reads the entry, at the earliest after the next exchange of flits between blocks. Therefore results do not
//! depend on the number of blocks and threads. A message gets its number only when its sender's processor has done its work. Therefore
//! collectives that expand while the program runs need no other mechanism.
//! # Not modelled
//! Headers of packets, checksums and retransmissions; the choice of interfaces in GOAL files; contention between messages inside a node.
//! # Validation
//! `engine/tests/programs.rs` checks the times of a ping-pong with one and several interfaces, and of a ring all-reduce. The times must be
//! exact to the cycle, and agree with those of the LogGOPS executor. The tests use several blocks, threads and checkpoints, and also nodes
//! whose terminals are in several blocks. `programs/compute.rs` checks mean and variance of the factors of `jitter`.

mod agenda;
mod answers;
mod bursts;
mod compute;
mod counted;
mod interface;
mod local;
mod messages;
mod node;
mod notes;
mod processors;
mod rails;
mod short_receives;
mod site;
mod sources;

use compute::{Compute, Jitter};
use counted::Counted;
use interface::{Interface, Times};
pub(super) use messages::NUMBER_BITS;
use messages::Outbox;
use node::Node;
use processors::Rank;
use rails::{RailChoice, Rails};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use site::{Site, Spread, lock};
use sources::Nodes;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, Mutex};
use weft_api::activity::OfJob;
use weft_api::recording::Table;
use weft_api::workload::{Awaits, JobSite, JobSources, Place, Progress, Workload, WorkloadModel};
use weft_programs::amounts::Bytes;
use weft_programs::collectives::{Rules, RulesConfig};
use weft_programs::form::Program;
use weft_programs::generators::{GeneratorConfig, ProgramFile};
use weft_programs::loggops::{Parameters, Stuck};
use weft_programs::rank::Machine;
use weft_programs::readers;
use weft_units::{Bandwidth, Cycles, InputFile, MAX_CYCLES, Refusal, Remark, Time};

/// The ranks of a program compute and send messages to each other. Rank 0 runs on the first node of the job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Programs {
    /// A program in the GOAL format, text or binary. Default: none. Then `program` must define the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<InputFile>,
    /// A program that Weft generates from a few parameters. Default: none. Then `file` must contain the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub program: Option<GeneratorConfig>,
    /// Algorithms that expand collectives into messages.
    #[serde(default)]
    #[schemars(extend("x-exact" = true))]
    pub collectives: RulesConfig,
    /// Largest message that a rank sends without waiting for the matching receive [bytes]. A longer message is a
    /// rendezvous.
    #[serde(default = "eager")]
    pub eager: Bytes,
    /// A preset: the network interfaces of a known system. The preset determines those of the keys `overhead`,
    /// `injection_latency`, `local_latency`, `local_bandwidth` and `rail_choice` that the scenario does not contain.
    /// The bandwidth of an interface is that of its link, `links.terminal.bandwidth`. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interface: Option<Interface>,
    /// Processor time that each message costs at the sender, and again at the receiver [time]. Default: the value of
    /// `interface`, otherwise 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub overhead: Option<Time>,
    /// Time from the end of the sending processor's work for a message until the interface may send the message [time].
    /// Default: the value of `interface`, otherwise 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub injection_latency: Option<Time>,
    /// Time between a processor of a node and an interface, in each direction [time]. Messages, requests, and reports of finished sends
    /// take this time. It is rounded up to whole cycles. If the time is 0, all terminals of a node are in one block of the simulation.
    #[serde(default = "no_time", skip_serializing_if = "is_no_time")]
    #[schemars(extend("x-exact" = true))]
    pub host_latency: Time,
    /// Largest number of messages that the interfaces of a node have accepted but not yet sent. Further sends wait. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub accepted: Option<u32>,
    /// Number of network interfaces of a node, at least 1. A node is this number of consecutive terminals of the job. Default: the
    /// number of planes of the network, or 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub rails: Option<u32>,
    /// Rule that chooses which interface of a node sends a message. Default: the value of `interface`, otherwise
    /// `striping`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rail_choice: Option<RailChoice>,
    /// Number of ranks of each node, at least 1. A node is one terminal, or `rails` terminals.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1))]
    pub ranks_per_terminal: u32,
    /// Latency of a message between two ranks of a node [time]. Default: the value of `interface`, otherwise 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-exact" = true))]
    pub local_latency: Option<Time>,
    /// Bandwidth of a message between two ranks of a node [bits per second]. Default: the value of `interface`, otherwise no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_bandwidth: Option<Bandwidth>,
    /// Factor by which the time of each computation is multiplied, at least 0.
    #[serde(default = "unscaled", skip_serializing_if = "is_unscaled")]
    #[schemars(range(min = 0.0))]
    pub compute_scale: f64,
    /// Random differences between the times of computations. Default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Jitter>,
    /// Time from the start of the run to the start of the program [time].
    #[serde(default = "no_time", skip_serializing_if = "is_no_time")]
    pub start: Time,
}

fn eager() -> Bytes {
    Bytes(8192)
}

fn no_time() -> Time {
    Time::Femtoseconds(0)
}

fn is_no_time(time: &Time) -> bool {
    matches!(time, Time::Femtoseconds(0) | Time::Cycles(0))
}

fn unscaled() -> f64 {
    1.0
}

fn is_unscaled(scale: &f64) -> bool {
    *scale == 1.0
}

fn one() -> u32 {
    1
}

fn is_one(count: &u32) -> bool {
    *count == 1
}

impl Programs {
    /// Reads or generates the program, and returns it with the rules that expand its collectives. Refuses invalid keys.
    /// `path`: the dotted path of this workload in the scenario.
    pub(super) fn make(&self, path: &str) -> Result<(Program, Rules), Refusal> {
        let within = |refusal: Refusal| Refusal { path: format!("{path}.{}", refusal.path), ..refusal };
        let both = |what: &str| {
            let help = "write either `file: program.goal`, or `program:` with the parameters of a generator";
            Err(Refusal::new(path, what, help))
        };
        match (&self.file, &self.program) {
            (None, None) => both("this workload has no program"),
            (Some(_), Some(_)) => both("`file` and `program` both define the program"),
            (None, Some(program)) => {
                let file = ProgramFile { program: program.clone(), collectives: self.collectives.clone() };
                let (made, rules) = file.make().map_err(within)?;
                Ok((made.program, rules))
            }
            (Some(file), None) => {
                let rules = self.collectives.build("collectives").map_err(within)?;
                let at_file = |refusal: Refusal| {
                    // the refusal of a reader already names the file and the line in its path; the refusal of a check only names the rank
                    let is_named = refusal.path.starts_with(file.name());
                    let place = if is_named { String::new() } else { format!("{}: ", file.name()) };
                    let what = format!("{place}{}: {}", refusal.path, refusal.what);
                    Refusal::new(format!("{path}.file"), what, refusal.help)
                };
                let program = readers::of(file.bytes()).read(file.name(), file.bytes()).map_err(at_file)?;
                program.check().map_err(at_file)?;
                rules.check(&program).map_err(at_file)?;
                if program.ops() == 0 {
                    let what = format!("{}: the program has no operations, {} ranks", file.name(), program.len());
                    let help = "name a file with operations; `weft trace info FILE` counts the operations of a file";
                    return Err(Refusal::new(format!("{path}.file"), what, help));
                }
                Ok((program, rules))
            }
        }
    }

    /// True if the scenario sets a start time above 0 for the program.
    pub(super) fn has_start(&self) -> bool {
        !is_no_time(&self.start)
    }

    /// Returns a copy of this workload whose program starts in cycle `cycle`.
    pub(super) fn starting_at(&self, cycle: u64) -> Self {
        Self { start: Time::Cycles(cycle), ..self.clone() }
    }

    /// Returns a copy of this workload whose program has `ranks` ranks. Refuses a program whose number of ranks no key
    /// sets. `path`: the dotted path of this workload.
    pub(super) fn of_ranks(&self, ranks: u32, path: &str) -> Result<Self, Refusal> {
        let no_key = |what: String| {
            let help = "name the program of a generator that has the key `ranks`";
            Refusal::new(path, what, help)
        };
        let Some(generator) = &self.program else {
            return Err(no_key(format!("a program in a file has a fixed number of ranks, but {ranks} are needed")));
        };
        let name = generator.name();
        let mut config = serde_json::to_value(generator).unwrap_or_default();
        match config.get_mut(name).and_then(|keys| keys.get_mut("ranks")) {
            Some(key) => *key = ranks.into(),
            None => return Err(no_key(format!("generator `{name}` has no key `ranks`, but {ranks} ranks are needed"))),
        }
        let program = serde_json::from_value(config).map_err(|error| no_key(error.to_string()))?;
        Ok(Self { program: Some(program), ..self.clone() })
    }

    /// Returns a copy of this workload whose computations take `scale` times as long.
    pub(super) fn scaled_by(&self, scale: f64) -> Self {
        Self { compute_scale: scale, ..self.clone() }
    }

    /// Returns a copy of this workload with `ranks` ranks at each node.
    pub(super) fn at_nodes_of(&self, ranks: u32) -> Self {
        Self { ranks_per_terminal: ranks, ..self.clone() }
    }

    /// Number of ranks of each node.
    pub(super) fn ranks_per_node(&self) -> u32 {
        self.ranks_per_terminal.max(1)
    }

    /// Returns the LogGOPS parameters of an ideal network with the interfaces of this program. The links of the ideal network carry one
    /// flit per cycle. The first argument is the length of a cycle [fs] and the size of a flit [bits].
    pub(super) fn on_an_ideal_network(
        &self,
        (cycle_fs, flit_bits): (u128, u64),
        latency: Time,
        path: &str,
    ) -> Result<Parameters, Refusal> {
        let Times { overhead, injection_latency, .. } = self.interfaces();
        let fs = |time: Time| time.femtoseconds(cycle_fs);
        let per_byte = cycle_fs * 8 / u128::from(flit_bits.max(1));
        let times = [
            ("latency", fs(latency) + fs(injection_latency)),
            ("overhead", fs(overhead)),
            ("gap", 0),
            ("gap_per_byte", per_byte),
            ("overhead_per_byte", 0),
        ];
        let times = times.map(|(name, fs)| (name, Time::Femtoseconds(fs)));
        Parameters::new(times, self.eager.0)
            .map_err(|refusal| Refusal { path: format!("{path}.{}", refusal.path), ..refusal })
    }

    /// Returns the warnings about the program, for nodes with at most `each` of its ranks. `path`: the dotted path of this workload.
    pub(super) fn remarks_at(&self, path: &str, each: u32) -> Result<Vec<Remark>, Refusal> {
        let short = match &self.file {
            Some(file) => short_receives::remark(file, path, || Ok(self.make(path)?.0))?,
            None => None,
        };
        Ok(short.into_iter().chain(local::remark(self, path, each)?).collect())
    }

    /// Returns the cached properties of the program, such as its number of ranks. Refuses invalid keys. `path`: the dotted path of this
    /// workload.
    fn counted(&self, path: &str) -> Result<Counted, Refusal> {
        let digest = self.file.as_ref().map(InputFile::digest);
        let key = serde_json::to_string(&(digest, &self.program, &self.collectives)).ok();
        counted::of(key, || Ok(self.make(path)?.0))
    }

    /// Largest number of ranks of the program at a node that has at most `each` of them. `path` is the dotted path of this workload.
    pub(super) fn ranks_together(&self, path: &str, each: u32) -> Result<u32, Refusal> {
        Ok(self.counted(path)?.ranks.min(each))
    }

    /// Number of terminals that the ranks of the program need. Refuses invalid keys; `path` is the dotted path of this workload.
    pub(super) fn terminals_needed(&self, path: &str) -> Result<u32, Refusal> {
        Ok(self.counted(path)?.ranks.div_ceil(self.ranks_per_node()))
    }

    /// Number of interfaces of each node. `planes` is the number of planes of the network.
    pub(super) fn rails(&self, planes: u32) -> u32 {
        self.rails.unwrap_or(planes).max(1)
    }

    /// Returns the times and the rule of the interfaces: the values of keys in the scenario, and otherwise those of the preset.
    fn interfaces(&self) -> Times {
        let preset = self.interface.map(Interface::times).unwrap_or_default();
        Times {
            overhead: self.overhead.unwrap_or(preset.overhead),
            injection_latency: self.injection_latency.unwrap_or(preset.injection_latency),
            local_latency: self.local_latency.unwrap_or(preset.local_latency),
            local_bandwidth: self.local_bandwidth.or(preset.local_bandwidth),
            rail_choice: self.rail_choice.unwrap_or(preset.rail_choice),
        }
    }

    /// Bandwidth between ranks of a node [bits per second]; 0 means no limit.
    fn local_bits_per_second(&self, (cycle_fs, flit_bits): (u128, u64)) -> u128 {
        match self.interfaces().local_bandwidth {
            None => 0,
            Some(Bandwidth::BitsPerSecond(bits)) => bits,
            Some(Bandwidth::Flits { flits, cycles }) => {
                let per_cycle = flits.saturating_mul(flit_bits.into()).saturating_mul(1_000_000_000_000_000);
                per_cycle / (cycles.max(1) * cycle_fs)
            }
        }
    }

    /// Latency [cycles] of a completion event ("note") from an interface to the processors.
    fn host_cycles(&self, cycle_fs: u128) -> Cycles {
        let cycles = self.host_latency.femtoseconds(cycle_fs).div_ceil(cycle_fs.max(1));
        cycles.try_into().unwrap_or(Cycles::MAX)
    }

    /// Refuses a number of interfaces that is not a multiple of the number of planes of the network. Packets never
    /// change their plane.
    fn check_planes(&self, of: &JobSite) -> Result<(), Refusal> {
        let (rails, planes) = (self.rails(of.planes), of.planes);
        if rails.is_multiple_of(planes) {
            return Ok(());
        }
        let what = format!("{rails} rails, but the network has {planes} planes: a node needs a terminal in each plane");
        let help = format!("write `rails: {planes}`, or leave `rails` out");
        Err(of.refusal("workload.programs.rails", what, &help))
    }

    /// Number of nodes that `ranks` ranks need. Refuses a job that has fewer nodes.
    fn nodes(&self, of: &JobSite, ranks: u32) -> Result<usize, Refusal> {
        let (rails, terminals) = (self.rails(of.planes), of.terminals.len() as u32);
        let nodes = ranks.div_ceil(self.ranks_per_terminal);
        if u64::from(nodes) * u64::from(rails) > u64::from(terminals) {
            let each = if rails > 1 { format!("{rails} terminals each") } else { "one terminal each".to_owned() };
            let what = format!(
                "{ranks} ranks, {} per node, need {nodes} nodes with {each}, but job `{}` has {terminals} terminals",
                self.ranks_per_terminal, of.job
            );
            let enough = u64::from(nodes) * u64::from(rails);
            let help = match ranks.checked_div((terminals / rails).min(ranks)) {
                None => format!("give the job {enough} terminals, or write a smaller number for `rails`"),
                Some(_) => {
                    let each = ranks.div_ceil(terminals / rails);
                    let free = if local::is_free(self) { local::FREE } else { "" };
                    format!("write `ranks_per_terminal: {each}`, or give the job {enough} terminals{free}")
                }
            };
            return Err(of.refusal("workload.programs.ranks_per_terminal", what, &help));
        }
        Ok(nodes as usize)
    }

    /// Returns the start cycle of the program, and the times `overhead`, `local_latency`, `injection_latency` and `host_latency`
    /// [fs]. Refuses a start that is not a whole number of cycles; `path` is the dotted path of this workload.
    fn times(&self, cycle_fs: u128, path: &str) -> Result<(u64, [u128; 4]), Refusal> {
        let start = self.start.cycles(cycle_fs, &format!("{path}.start"))?;
        let Times { overhead, local_latency, injection_latency, .. } = self.interfaces();
        let times = [
            ("overhead", overhead),
            ("local_latency", local_latency),
            ("injection_latency", injection_latency),
            ("host_latency", self.host_latency),
        ];
        let times = times.map(|(key, time)| (key, time.femtoseconds(cycle_fs)));
        if let Some((key, _)) = times.iter().find(|(_, time)| *time / cycle_fs.max(1) > MAX_CYCLES.into()) {
            let what = "the time per message is longer than 2^48 cycles".to_owned();
            return Err(Refusal::new(format!("{path}.{key}"), what, "write a time such as 1us"));
        }
        Ok((start, times.map(|(_, time)| time)))
    }

    /// Returns the state that all nodes share, for a program of `ranks` ranks. `held`: as in [`Programs::build_on`].
    fn site(&self, of: &JobSite, ranks: u32, held: &[u32]) -> Result<Site, Refusal> {
        let (nodes, spread) = match held {
            [] => (self.nodes(of, ranks)?, Spread::Even(self.ranks_per_terminal)),
            held => (held.len(), Spread::of(held)),
        };
        let (start, [overhead_fs, local_fs, injection_fs, _]) =
            self.times(of.cycle_fs, &format!("{}.workload.programs", of.path))?;
        let Times { rail_choice, .. } = self.interfaces();
        let rails = Rails { count: self.rails(of.planes), choice: rail_choice, seed: of.seed };
        let terminals = of.terminals[..nodes * rails.count as usize].to_vec();
        let mut places = vec![u32::MAX; terminals.iter().max().map_or(0, |&most| most as usize + 1)];
        terminals.iter().zip(0..).for_each(|(&terminal, place)| places[terminal as usize] = place);
        Ok(Site {
            outboxes: (0..nodes).map(|_| Mutex::new(Outbox::new())).collect(),
            terminals,
            places,
            rails,
            compute: Compute::new(self.compute_scale, self.jitter, of.seed),
            spread,
            ranks,
            start,
            cycle_fs: of.cycle_fs,
            flit_bits: of.flit_bits,
            packet_flits: of.packets.longest().into(),
            eager: self.eager.0,
            overhead_fs,
            injection_fs,
            host_cycles: self.host_cycles(of.cycle_fs),
            accepted: self.accepted.unwrap_or(u32::MAX),
            local_fs,
            local_bits_per_second: self.local_bits_per_second((of.cycle_fs, of.flit_bits)),
            shared: Mutex::new(answers::Shared::new(of.wanted)),
            wanted: of.wanted,
            open: AtomicU64::new(ranks.into()),
            last: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        })
    }

    /// Builds the workload: the program on the terminals of `site`. `held`: the number of ranks of each node; empty if `ranks_per_terminal`
    /// determines this number.
    pub(super) fn build_on(&self, site: &JobSite, held: &[u32]) -> Result<Arc<dyn Workload>, Refusal> {
        let (program, rules) = self.make(&format!("{}.workload.programs", site.path))?;
        let (ranks, rules, (processors, _)) = (program.len(), Arc::new(rules), program.resources());
        let site = self.site(site, ranks, held)?;
        let rank = |rank: u32| {
            let of = &program.ranks[rank as usize];
            let mut machine = Machine::new(of.cursor(), rank, ranks, of.comms.clone(), Arc::clone(&rules));
            machine.note_collectives();
            Rank::new(machine, rank, processors, site.start)
        };
        let node = |node: u32| {
            let own = site.spread.first(node)..site.spread.first(node + 1).min(ranks);
            Mutex::new(Node::new(&site, node, own.map(rank).collect()))
        };
        let nodes = (0..site.nodes() as u32).map(node).collect();
        Ok(Arc::new(Runtime { all: Arc::new(All { site, nodes }) }))
    }
}

impl WorkloadModel for Programs {
    fn awaits(&self) -> Option<Awaits> {
        Some(Awaits { what: "messages", remedy: "use a pattern and a load instead of the program" })
    }

    fn has_own_demand(&self) -> bool {
        true
    }

    /// Lists the shortest and the greatest length of packets, because the last packet of a message can be shorter than the others.
    fn lengths(&self, packet_flits: u32) -> Vec<u32> {
        if packet_flits == 1 { vec![1] } else { vec![packet_flits, 1] }
    }

    fn check(&self, site: &JobSite) -> Result<(), Refusal> {
        let counts =
            [("accepted", self.accepted), ("ranks_per_terminal", Some(self.ranks_per_terminal)), ("rails", self.rails)];
        for (key, count) in counts {
            if count == Some(0) {
                let what = "with 0 of them the program can't run".into();
                return Err(site.refusal(&format!("workload.programs.{key}"), what, "write 1 or more"));
            }
        }
        if site.packets.shares().len() > 1 {
            let what = "a message becomes packets of one length, of which only the last may be shorter".into();
            return Err(site.refusal("packet", what, "write one length, such as 16flits"));
        }
        let path = format!("{}.workload.programs", site.path);
        if self.local_bandwidth.is_some() && self.local_bits_per_second((site.cycle_fs, site.flit_bits)) == 0 {
            let what = "with this bandwidth, messages between ranks of a node would never arrive".into();
            return Err(site.refusal(
                "workload.programs.local_bandwidth",
                what,
                "write a bandwidth such as 900Gb/s, or leave the key out for no limit",
            ));
        }
        compute::check(self.compute_scale, self.jitter.as_ref(), &path)?;
        let (program, _) = self.make(&path)?;
        self.check_planes(site)?;
        self.nodes(site, program.len())?;
        Ok(())
    }

    fn remarks(&self, site: &JobSite) -> Result<Vec<Remark>, Refusal> {
        self.remarks_at(&format!("{}.workload.programs", site.path), self.ranks_per_node())
    }

    fn wakes_others(&self) -> bool {
        true
    }

    fn interface_times(&self, (cycle_fs, flit_bits): (u128, u64)) -> Value {
        let seconds = |time: Time| time.femtoseconds(cycle_fs) as f64 * 1e-15;
        let Times { overhead, injection_latency, local_latency, .. } = self.interfaces();
        json!({
            "overhead_seconds": seconds(overhead),
            "injection_latency_seconds": seconds(injection_latency),
            "eager_bytes": self.eager.0,
            "local_latency_seconds": seconds(local_latency),
            "local_bits_per_second": self.local_bits_per_second((cycle_fs, flit_bits)) as f64,
        })
    }

    /// A node has one terminal for each of its interfaces.
    fn terminals_together(&self, planes: u32) -> u32 {
        self.rails(planes)
    }

    fn notes_after(&self, cycle_fs: u128) -> Option<Cycles> {
        Some(self.host_cycles(cycle_fs)).filter(|&cycles| cycles > 0)
    }

    fn turnaround(&self, cycle_fs: u128, path: &str) -> Result<Cycles, Refusal> {
        self.times(cycle_fs, path)?;
        Ok(0)
    }

    fn build(&self, site: &JobSite) -> Result<Arc<dyn Workload>, Refusal> {
        self.build_on(site, &[])
    }

    fn examples() -> Vec<Self> {
        let of = |text: &str| serde_json::from_str(text).expect("a workload");
        vec![
            of(
                r#"{"program": {"collective": {"operation": "all_reduce", "ranks": 6, "bytes": "20KB", "repeat": 2, "gap": "50ns"}}}"#,
            ),
            of(
                r#"{"program": {"collective": {"operation": "all_to_all", "ranks": 9, "bytes": "300B"}}, "eager": "100B",
                "overhead": "20ns", "accepted": 2, "ranks_per_terminal": 2, "local_latency": "5ns", "start": "100ns"}"#,
            ),
            of(
                r#"{"program": {"collective": {"operation": "all_reduce", "ranks": 6, "bytes": "5KB", "gap": "70ns"}}, "eager": "100B",
                "rails": 2, "ranks_per_terminal": 2, "injection_latency": "30ns", "compute_scale": 0.5, "jitter": {"exponential": {"mean": 0.1}}}"#,
            ),
            of(
                r#"{"program": {"collective": {"operation": "all_to_all", "ranks": 6, "bytes": "400B", "repeat": 2}}, "eager": "100B",
                "rails": 2, "ranks_per_terminal": 2, "host_latency": "15ns", "overhead": "10ns", "accepted": 3}"#,
            ),
        ]
    }
}

/// The nodes of a program, and the state that all nodes share. A thread that works on a block locks the nodes of this block while it uses
/// them. Threads of other blocks use only the divided nodes among them (`node.rs`).
#[derive(Debug)]
struct All {
    site: Site,
    nodes: Vec<Mutex<Node>>,
}

#[derive(Debug)]
struct Runtime {
    all: Arc<All>,
}

impl Workload for Runtime {
    fn sources(&self, here: &[Place]) -> JobSources {
        JobSources::Asked(Box::new(Nodes::new(Arc::clone(&self.all), here)))
    }

    fn progress(&self) -> Progress {
        let site = &self.all.site;
        if site.is_over() { Progress::Ended(site.last.load(Relaxed)) } else { Progress::Open }
    }

    fn is_at_rest(&self) -> bool {
        let mut under_way = [0; 2];
        let mut rests = |node: &Mutex<Node>| {
            let node = lock(node);
            under_way.iter_mut().zip(node.packets()).for_each(|(sum, packets)| *sum += packets);
            node.is_at_rest()
        };
        self.all.nodes.iter().all(&mut rests) && under_way[0] == under_way[1]
    }

    fn stuck(&self) -> Option<String> {
        let nodes: Vec<_> = self.all.nodes.iter().map(lock).collect();
        let machines = nodes.iter().flat_map(|node| &node.ranks).map(|rank| &rank.operations.0);
        let bytes = |handle: messages::Handle| {
            let outbox = lock(&self.all.site.outboxes[handle.node as usize]);
            outbox.get(handle.number).map_or(0, |message| message.bytes)
        };
        Stuck::of(machines, bytes).map(|stuck| format!("{stuck}\n{}", stuck.help()))
    }

    fn tables(&self, _end: u64) -> Vec<(&'static str, Table)> {
        answers::tables(&self.all.site, &self.all.nodes)
    }

    fn activities(&self, job: &str, end: u64) -> Vec<OfJob> {
        vec![(job.into(), answers::activity(&self.all.site, &self.all.nodes, end))]
    }

    fn figures(&self, _end: u64) -> Vec<(&'static str, Option<f64>)> {
        let finish = match self.progress() {
            Progress::Ended(last) => Some(last),
            Progress::Open | Progress::Endless => None,
        };
        answers::figures(&self.all.site, &self.all.nodes, finish)
    }
}
