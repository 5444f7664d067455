//! Converts a strict YAML file to runs, and runs to results.
//!
//! `expand` reads a file. The text becomes a tree, in which each value has its place in the text (`tree`). Overrides and sweeps change the
//! tree (`expand`, `path`). Weft checks keys and names against the JSON Schema of the types (`schema`). The tree becomes a typed scenario
//! (`config`), which is converted to the input of the engine (`assemble`). Every error is shown at its place in the file (`diagnostic`).
//! `Point::run` returns a `Finished`: a flat summary and a table of channels, with exact energies (`energy`).

#![cfg_attr(doc, doc = include_str!("../README.md"))]
#![allow(rustdoc::broken_intra_doc_links, reason = "units stand in brackets, and the schema shows the same text")]
#![allow(clippy::result_large_err, reason = "an error ends the work: its size costs nothing")]

mod assemble;
mod bill;
mod bill_config;
mod by_phase;
mod catalogue;
mod channels;
mod classes;
mod config;
mod default_prices;
mod designs;
mod diagnostic;
mod doubts;
mod energy;
mod events;
mod expand;
mod explain;
mod fault_model;
mod fault_share;
mod faults;
mod figures;
mod finished;
mod grain;
mod groups;
mod hints;
mod link_speed;
mod links;
mod marking;
mod measure;
mod modes;
mod name;
mod network;
mod packet;
mod path;
mod path_bound;
mod periods;
mod placement;
mod point;
mod port_memory;
mod presets;
mod prices;
mod programs;
mod queues;
mod recordings;
mod recovery;
mod replies;
mod routers;
mod save;
mod scalar;
mod schema;
mod shares;
mod silent_terminals;
mod statistics;
mod table;
mod tree;
mod unused_links;
mod warning;
mod warnings;
mod workload;
mod yaml;

pub use bill_config::{BillConfig, ProfileShare, read_bill};
pub use catalogue::{Catalogue, catalogue, catalogue_power};
pub use channels::{Channel, Channels};
pub use classes::{ClassConfig, ClassVcsConfig, InterfaceConfig};
pub use config::{FlowControl, Link, PowerConfig, Router, Scenario};
pub use designs::{Design, read_designs};
pub use diagnostic::Diagnostic;
pub use energy::Energy;
pub use expand::{expand, expand_with, read};
pub use fault_model::{FaultModel, Parts, RandomFaults};
pub use fault_share::FaultShare;
pub use faults::FaultConfig;
pub use finished::Finished;
pub use groups::{By, Groups};
pub use measure::{Complete, Confidence, Measure, StopConfig, Warmup};
pub use modes::ModeConfig;
pub use packet::{PacketConfig, Several, Size};
pub use placement::{Count, Placement, Rest};
pub use point::Point;
pub use presets::Preset;
pub use prices::{Price, Prices, RouterPrice};
pub use programs::make_program;
pub use recordings::{Recordings, recordings};
pub use routers::RouterSet;
pub use schema::{examples, models, schema};
pub use warning::Warning;
pub use weft_units::file::convert_with;
pub use workload::{BatchSize, JobConfig, Phase, TerminalLoad, Traffic};

/// Version of the result model. The version increases when the meaning or the numbers of results change. The hash of a point contains the
/// version, so results of another version are never reused.
///
/// Version 31: a run that ends with its programs or batches has no recovery time. In earlier versions such a run had one if its longest
/// window was short.
///
/// Version 30: `saturated` is null if the window or the drain is shorter than the time that packets need in a network without queues.
/// `source_fairness_jain`, `source_load_min` and `source_load_max` leave out terminals from which a program that has ended sent nothing.
///
/// Version 29: the recovery after a failure counts packets that were lost in the same time bin as the failure. Under the collective table
/// `nccl` the segments of a tree or a chain have the chunk sizes of NCCL's protocols. In earlier versions each segment had 1 MiB.
///
/// Version 28: a run that `measure.stop.complete.max_window` ends before its batches or programs are complete ends as
/// `not_complete`. In earlier versions such a run ended as `saturated`. Results have `ranks` and `ended_ranks` for programs.
///
/// Version 27: in earlier versions, `dragonfly_ugal` with `queues: global` read the wrong queues if the routers of a group have different
/// numbers of ports. Trunks of escape rings cause such differences.
///
/// Version 26: under `stop: confidence` the last phase of a load ends with the window. In earlier versions, if the window grew, the
/// accepted load, power, energy and offered load of this phase were wrong. A drain ends in the same cycle with any number of blocks
/// (`cycles_total`, `flit_hops`). A drain does not wait for packets of the warm-up whose heads have left their terminals. The journeys of
/// watched packets are right with `input_speedup` on slow links, and in several blocks with queues at terminals. Under `idle_timeout`,
/// links can change state when enough flits wait. In earlier versions such links could change too late, if heads request outputs some
/// cycles after their arrival. A trace keeps messages that arrived before the program cancelled their receives.
///
/// Version 25: if several packets are delivered in one cycle, a node with several interfaces processes them in the order of its terminals.
/// In earlier versions the order depended on the cycle loop, so a run without shortcuts could have other numbers. Results of programs with
/// rails or planes can change.
///
/// Version 24: under `recn` a queue can be set aside for a congested output at another router. The queue now also notifies its
/// senders. Numbers of such runs change, and `set_aside_unserved_heads` counts the heads of queues set aside as well. In the summary
/// the share of a queue's terminals in use is `queue_utilisation`; it was `utilisation`.
///
/// Version 23: with arrivals other than a file there is no bounded slowdown without `slowdown_bound` (in earlier versions the bound was 10
/// s). A program that would be submitted after the end of the run does not count in the queue. `easy` counts all nodes that become free in
/// the same cycle. A computation of a queued program is scaled to the length in the file, to within a cycle. The name of a program in
/// `rank_states.parquet` contains its number in `schedule.parquet`.
///
/// Version 22: a program of `scheduler` begins at the scheduling pass at which it starts. In earlier versions it could begin later, if
/// other programs sent. `schedule.parquet` has waits, slowdowns and energies, and `utilisation.parquet` is new. Version 21: `most_bytes` of
/// `nekbone`, `multigrid` and `hilo` counts the bytes that ranks send in collectives. Version 20: with several queues at a terminal, a
/// window ends with its programs or batches. In earlier versions the window lasted until `max_window`. Version 19: `transfer_cycles` of a
/// rank counts each transfer that ends while it waits. The count includes the rendezvous messages that the rank sends. The transfer of a
/// rendezvous message begins with the receive. The summary contains the time to solution. Version 18: an automatic warm-up, and a window
/// that ends by confidence, test each message class. The keys `queue_memory_cycles`, `latency_growth_share` and `queues_settled` also cover
/// each message class. In earlier versions, these tests used the mean over all packets.
///
/// Version 17: a flit that a terminal sends on a link in a slower mode occupies the link for its whole time. Version 16: the allocator
/// `three_stage` skips outputs at which no more flits can wait for their link. Version 15: the bound of paths also counts buffers that are
/// shorter than the round trip of a credit (in earlier versions only bandwidths). Version 14: a reply that waits for its turnaround does
/// not count as queued. `queueing_mean_cycles`, `queues_settled`, `saturated` and backlogs exclude these replies. In `recovery`, a bin
/// without packets never counts as recovered. Version 13: the first tables of a routing avoid parts that are broken from the start (in
/// earlier versions such tables came after `rebuild_delay`). Version 12: energies are exact, even if a price is not a whole number of
/// femtojoules per cycle or flit. In earlier versions the price was rounded. Tables contain energies as decimals. Ideal links that carry
/// more than one flit per cycle can draw power for a part of a cycle. Tables, journeys of packets and stalls name a router of a graph file
/// by its id (in earlier versions by its position in the file). Version 9: under a policy with a period, `saturated` is judged over whole
/// periods, and is null if the window has no whole period. If some jobs have batches, the load of the other jobs is also judged with `stop:
/// complete`. `queues_settled` ignores the time that packets wait for sleeping links, and ignores loads that adapt to the network. Version
/// 8: for loads with bursts, `saturated` is judged by the offered flits, and is null if they do not decide it. In earlier versions it was
/// false unless the drain failed. Phases are judged in the same way. Version 7: `dragonfly_ugal` over an intermediate group counts the hops
/// that a packet makes, up to 5. In earlier versions it counted up to 6, so its numbers change. Version 6 adds dropped packets and records
/// of control packets. Agents of policies answer before they send requests, and have another shadow link as soon as one shadow link drains.
/// `warmup: auto` tests whether latencies have settled over the periods of a policy. Version 5 adds the power state, control packets and
/// faults. `history_window` counts the flits that have left on the link, instead of the flits that have crossed the switch. Numbers of runs
/// with that sensor change. Version 4 adds keys to version 3 (times, bits, references of energy, mean powers, states of links over time)
/// and does not change numbers.
pub const RESULT_MODEL_VERSION: u32 = 31;
