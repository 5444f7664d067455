//! From one strict YAML file to runs and their results.
//!
//! `expand` reads a file. The text becomes a tree with places (`tree`), and overrides and sweeps act on the tree
//! (`expand`, `path`). Keys and names are checked against the JSON Schema of the types (`schema`). The typed scenario
//! (`config`) is turned into the input of the engine (`assemble`). Every error is shown at its place in the file
//! (`diagnostic`). `Point::run` gives a `Finished`: a flat summary and a table of channels, priced exactly (`energy`).

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
pub use warnings::Warning;
pub use weft_units::file::convert_with;
pub use workload::{BatchSize, JobConfig, Phase, TerminalLoad, Traffic};

/// Version of the meaning of results. It is a part of the hash, so results of another model are never taken for these.
///
/// 28: a run that `measure.stop.complete.max_window` ends before its batches or programs are complete ends as `not_complete`. It ended as
/// `saturated`. A program has `ranks` and `ended_ranks`.
///
/// 27: `dragonfly_ugal` with `queues: global` read the wrong queues where routers of a group have different numbers of ports. Trunks of escape
/// rings make such groups.
///
/// 26: under `stop: confidence` the last phase of a load ends with the window. Where the window grew, its accepted load, power, energy and offered load
/// were wrong. A drain ends in the same cycle in any number of blocks (`cycles_total`, `flit_hops`). It does not wait for packets of the warm-up whose heads
/// have left their terminals. Lives of watched packets are right with `input_speedup` on slow links, and in several blocks with queues at terminals.
/// Links of `idle_timeout` that change once enough flits wait could change late where heads request outputs some cycles
/// after they have arrived. A trace keeps the messages that came before their receives were cancelled.
///
/// 25: a node with several interfaces takes packets that are delivered in one cycle in the order of its terminals. The order followed the work of
/// the loop, so a run without shortcuts could have other numbers. Programs with rails or planes may change.
///
/// 24: under `recn` a queue set aside also tells its senders of a congested output that is farther away. Numbers of such runs change, and
/// `set_aside_unserved_heads` counts the heads of queues set aside as well. In the summary the share of a queue's terminals in use is
/// `queue_utilisation`; it was `utilisation`.
///
/// 23: with arrivals other than a file there is no bounded slowdown without `slowdown_bound` (the bound was 10 s). A program that would be submitted after
/// the end of the run is none of the queue. `easy` counts all nodes that are freed together. A computation of a queue is scaled to the length of the file up to
/// a cycle. The name of a program in `rank_states.parquet` has its number in `schedule.parquet`.
///
/// 22: a program of `scheduler` begins at the look at which it starts; next to programs that sent it could begin later. `schedule.parquet` has waits, slowdowns
/// and energies, and `utilisation.parquet` is new.
/// 21: `most_bytes` of `nekbone`, `multigrid` and `hilo` counts the bytes that ranks give in collectives.
/// 20: with several queues at a terminal, a window ends with its programs or batches. It lasted until `max_window`.
/// 19: `transfer_cycles` of a rank counts each transfer that ends while it waits. This includes the rendezvous that it
/// sends. The transfer of a rendezvous begins with the receive. The summary has the time to solution. 18: an automatic
/// warm-up and a window that ends by confidence look at each message class. So do `queue_memory_cycles`,
/// `latency_growth_share` and `queues_settled`. Until then these tests looked at the mean of all packets.
///
/// 17: a flit that a terminal sends on a link in a slower mode takes its whole time there.
/// 16: the allocator `three_stage` leaves outputs alone at which no more flits may wait for their link.
/// 15: the bound of paths counts buffers that are shorter than the round trip of a credit (it counted bandwidths alone).
/// 14: a reply that waits for its turnaround is no queue. `queueing_mean_cycles`, `queues_settled`, `saturated` and backlogs
/// leave it out. In `recovery` a bin without packets is never as before.
/// 13: the first tables of a routing know what is broken from the start (they came after `rebuild_delay`).
/// 12: energies are exact, also where a price is no whole number of femtojoules per cycle or flit (it was rounded to one), and
/// tables have them as decimals; ideal links of more than one flit per cycle draw power for parts of a cycle, too.
/// Tables, lives of packets and stalls name a router of a graph file by its id (until then by its place in the file).
/// 9: `saturated` under a policy that repeats itself is judged by whole periods, and null where there is none; a load beside
/// batches is judged with `stop: complete`, too. `queues_settled` leaves out what packets wait for links that sleep, and loads
/// that follow the network. 8: `saturated` of loads that burst is judged by what was offered (it was false unless the drain failed), and null where
/// that is not known; phases are judged by what was offered, too. 7: `dragonfly_ugal` over an intermediate group weighs the hops that a packet makes, up to 5 (it counted up to 6), so its
/// numbers change. 6 adds dropped packets and records of control packets; agents answer before they ask, and have another
/// shadow link as soon as one drains; `warmup: auto` waits for latencies over the periods of a policy. 5 adds the power
/// state, control packets and faults, and `history_window` counts what the link has taken, not what has crossed the switch:
/// numbers of runs with that sensor change. 4 adds keys to 3 (times, bits, references of energy, mean powers, states of links
/// over time) and changes no number.
pub const RESULT_MODEL_VERSION: u32 = 28;
