//! Flows: throughput, latency and dynamic energy for classes of packets. The source and the destination of a packet determine its class.
//!
//! # Source
//! F. Zahn, P. Yebenes, J. Escudero-Sahuquillo, P. J. Garcia, H. Froening, "Effects of Congestion Management on Energy Saving Techniques in
//! Interconnection Networks", HiPINEB'19: hot flows lead to a congested destination, and cold flows do not. The job of a packet does not
//! determine whether its flow is hot or cold, because a job with uniform traffic also sends to that destination.
//!
//! # Parameters
//! `classes`: for each class its name, and two sets of terminals: senders (`from`) and receivers (`to`) \[a list, a job, or a group of a
//! pattern\]. A packet belongs to the first class that it fits, or to `rest` if it fits none.
//!
//! # Guarantees
//! Every packet belongs to one class. Therefore the sums over all classes are the totals of the run. Control packets of the power policy
//! belong to the class `control`. The numbers of packets, accepted flits, injected flits and flits on links, and energies are exact
//! integers. If the energy of a flit depends on the state of the channel, the classes share the channel's dynamic energy in proportion to
//! their flits.
//!
//! # Not modelled
//! Static energy, because no single flow causes it. Packets in source queues, because a packet has no destination before it leaves its
//! source queue. The arrival of single flits: all flits of a packet count as accepted when its last flit arrives, as in the results of a
//! job.
//!
//! # Validation
//! `scenario/tests/flows.rs` checks that the sums over all classes are the totals of the run and of its channels, for any number of blocks.
//! `tests/test_checkpoints.py` checks that the table is the same if a run continues from a checkpoint.

mod classes;

pub use classes::{FlowClass, Terminals};

use classes::{CONTROL, Classes};
use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::base::kept::Kept;
use weft_api::recording::{
    Column, Heading, Kind, NetworkSite, Packet, PartCrossed, Recorded, Recorder, RecorderSite, Recording, Table,
    TableInfo,
};
use weft_api::state::MEASURED;
use weft_units::Refusal;

/// Index of the link class that contains the links of terminals.
const TERMINAL: u8 = 0;
/// Largest number of VCs of a channel.
const VCS: usize = 16;
/// The quantiles of latencies in the table. The text of each is a part of the names of its columns.
const QUANTILES: [(&str, f64); 6] =
    [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("p99_99", 0.9999)];

/// Throughput, latency and dynamic energy for classes of packets (by source and destination), saved as flows.parquet.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flows {
    /// The classes of packets. A packet belongs to the first class that it fits.
    pub classes: Vec<FlowClass>,
}

impl Recording for Flows {
    const TABLE: TableInfo = TableInfo {
        meaning: "throughput, latency and dynamic energy of classes of packets by source and destination",
        rows: "A row per class of `measure.flows.classes`, and a row `rest` for packets of no class, over the measured window. Control \
               packets of the power policy, if there are any, are in the row `control`. Numbers of packets and latencies include the \
               packets that were created in the window and delivered. Energies include the flits that were sent in the window. In a \
               saturated run some packets are not delivered, so latencies are too low.",
        bounded: false,
        in_summary: true,
        columns: headings,
    };
    const HEARS_DELIVERIES: bool = true;
    const HEARS_PATHS: bool = true;
    type Part = FlowsOfBlock;

    fn part(&self, network: &NetworkSite, block: &RecorderSite, path: &str) -> Result<FlowsOfBlock, Refusal> {
        let classes = Classes::new(&self.classes, network, &format!("{path}.classes"))?;
        let flits = vec![0; classes.count() * block.channels.len()];
        let sums = (0..classes.count()).map(|_| Sums::new()).collect();
        let rows = block.channels.iter().map(|channel| Some((channel.row?, channel.class))).collect();
        let last = vec![0; VCS * block.channels.len()];
        Ok(FlowsOfBlock { classes, sums, flits, last, rows, state: Window::Before })
    }

    /// Memory for the counts of each class on all channels, and for the class of the last packet on each VC [bytes].
    fn bytes(&self, network: &NetworkSite) -> u64 {
        (network.channels * ((self.classes.len() + 1) * size_of::<i64>() + VCS)) as u64
    }

    fn table(&self, parts: Vec<FlowsOfBlock>, run: &Recorded) -> Table {
        let Some(first) = parts.first() else { return Table::whole::<&str>([]) };
        let (mut names, mut sources) = (first.classes.names.clone(), first.classes.sources(run.network));
        names.push(CONTROL.to_owned());
        sources.push(0);
        let mut flows: Vec<Sums> = names.iter().map(|_| Sums::new()).collect();
        let mut used = vec![Used::default(); names.len()];
        for part in &parts {
            flows.iter_mut().zip(&part.sums).for_each(|(sum, own)| sum.add(own));
            part.share(run, &mut used);
        }
        if used.last().is_some_and(|control| control.flits == 0) {
            names.pop();
            sources.pop();
            flows.pop();
            used.pop();
        }
        columns(&names, &sources, &flows, &used, run)
    }

    fn examples() -> Vec<Self> {
        let class = |name: &str, from: Option<Vec<u32>>, to: Option<Vec<u32>>| FlowClass {
            name: name.to_owned(),
            from: from.map(Terminals::List),
            to: to.map(Terminals::List),
        };
        let hot = class("hot", None, Some(vec![0]));
        vec![
            Self { classes: vec![hot.clone(), class("cold", None, None)] },
            Self { classes: vec![hot, class("from_next", Some(vec![1]), None)] },
        ]
    }
}

fn headings() -> Vec<Heading> {
    let latency = |what: &str, meaning: &str| {
        Heading::new(format!("packet_latency_{what}_cycles"), Kind::MaybeCount, "cycles", meaning)
    };
    let load = "flits/terminal/cycle";
    let mut all = vec![
        Heading::new("flow", Kind::Text, "", "name of the class"),
        Heading::new("sources", Kind::Count, "terminals", "terminals that may send packets of the class"),
        Heading::new("packets", Kind::Count, "packets", "packets created in the window and delivered"),
        Heading::new("injected_flits", Kind::Count, "flits", "flits that left their sources in the window"),
        Heading::new("accepted_flits", Kind::Count, "flits", "flits of packets whose last flit arrived in the window"),
        Heading::new("accepted_load", Kind::Float, load, "accepted flits per cycle and terminal of all jobs"),
        Heading::new("source_accepted_load", Kind::Float, load, "accepted flits per cycle and terminal of `sources`"),
        Heading::new("hops_mean", Kind::Float, "hops", "mean number of hops per packet; NaN without packets"),
        Heading::new("packet_latency_mean_cycles", Kind::Float, "cycles", "mean latency; NaN without packets"),
        latency("min", "shortest latency"),
    ];
    all.extend(
        QUANTILES.map(|(what, share)| latency(what, &format!("{} % of the latencies are at most this", share * 100.0))),
    );
    all.extend([
        latency("max", "longest latency"),
        Heading::new("network_latency_mean_cycles", Kind::Float, "cycles", "mean latency without source queues"),
        Heading::new("link_flits", Kind::Count, "flits", "flits sent on channels between routers, counted per channel"),
        Heading::new("energy_links_dynamic_fj", Kind::Energy, "fJ", "dynamic energy of its flits on all channels"),
        Heading::new("energy_routers_dynamic_fj", Kind::Energy, "fJ", "dynamic energy of its flits in all routers"),
        Heading::new("energy_dynamic_fj", Kind::Energy, "fJ", "sum of both dynamic energies"),
    ]);
    all
}

fn columns(names: &[String], sources: &[u64], flows: &[Sums], used: &[Used], run: &Recorded) -> Table {
    let count = |of: fn(&Sums) -> u64| Column::Counts(flows.iter().map(of).collect());
    let mean =
        |of: fn(&Sums) -> u64| Column::Floats(flows.iter().map(|sums| of(sums) as f64 / sums.packets as f64).collect());
    let latency = |of: &dyn Fn(&Histogram<u64>) -> u64| {
        let some = |sums: &Sums| (!sums.latencies.is_empty()).then(|| of(&sums.latencies));
        Column::MaybeCounts(flows.iter().map(some).collect())
    };
    let load = |per: &dyn Fn(usize) -> u64| {
        let of = |k: usize| flows[k].accepted_flits as f64 / (per(k).max(1) as f64 * run.window.max(1) as f64);
        Column::Floats((0..flows.len()).map(of).collect())
    };
    let all = run.network.in_jobs.len() as u64;
    let flits = |of: fn(&Used) -> i64| Column::Counts(used.iter().map(|used| of(used) as u64).collect());
    let energy = |of: fn(&Used) -> u128| Column::Energies(used.iter().map(of).collect());
    let mut columns = vec![
        ("flow".to_owned(), Column::Texts(names.iter().map(|name| name.as_str().into()).collect())),
        ("sources".to_owned(), Column::Counts(sources.to_vec())),
        ("packets".to_owned(), count(|sums| sums.packets)),
        ("injected_flits".to_owned(), flits(|used| used.injected)),
        ("accepted_flits".to_owned(), count(|sums| sums.accepted_flits)),
        ("accepted_load".to_owned(), load(&|_| all)),
        ("source_accepted_load".to_owned(), load(&|k| sources[k])),
        ("hops_mean".to_owned(), mean(|sums| sums.hops)),
        ("packet_latency_mean_cycles".to_owned(), mean(|sums| sums.latency)),
        ("packet_latency_min_cycles".to_owned(), latency(&Histogram::min)),
    ];
    columns.extend(QUANTILES.map(|(what, share)| {
        (format!("packet_latency_{what}_cycles"), latency(&|latencies| latencies.value_at_quantile(share)))
    }));
    columns.extend([
        ("packet_latency_max_cycles".to_owned(), latency(&Histogram::max)),
        ("network_latency_mean_cycles".to_owned(), mean(|sums| sums.network_latency)),
        ("link_flits".to_owned(), flits(|used| used.between_routers)),
        ("energy_links_dynamic_fj".to_owned(), energy(|used| used.link_yj)),
        ("energy_routers_dynamic_fj".to_owned(), energy(|used| used.router_yj)),
        ("energy_dynamic_fj".to_owned(), energy(|used| used.link_yj + used.router_yj)),
    ]);
    Table::whole(columns)
}

/// The counts of a class in a block.
#[derive(Debug, Kept)]
struct Sums {
    /// Number of delivered packets that were created in the window. The next three fields are sums over these packets: hops, latencies
    /// [cycles], network latencies [cycles].
    packets: u64,
    hops: u64,
    latency: u64,
    network_latency: u64,
    latencies: Histogram<u64>,
    accepted_flits: u64,
}

impl Sums {
    fn new() -> Self {
        // the same range and precision as in the histogram of all packets: up to 2^32 cycles with 3 significant digits
        let latencies = Histogram::new_with_bounds(1, 1 << 32, 3).expect("constant bounds are valid");
        Self { packets: 0, hops: 0, latency: 0, network_latency: 0, latencies, accepted_flits: 0 }
    }

    fn add(&mut self, other: &Self) {
        self.packets += other.packets;
        self.hops += other.hops;
        self.latency += other.latency;
        self.network_latency += other.network_latency;
        self.latencies.add(&other.latencies).expect("same bounds");
        self.accepted_flits += other.accepted_flits;
    }
}

/// The flits of a class on the channels in the window, and their energy.
#[derive(Debug, Clone, Copy, Default)]
struct Used {
    /// Flits on all channels.
    flits: i64,
    /// Flits on injection channels.
    injected: i64,
    /// Flits on channels between routers.
    between_routers: i64,
    link_yj: u128,
    router_yj: u128,
}

/// The parts of a run: before, in and after the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, weft_api::base::kept::Value)]
enum Window {
    Before,
    Inside,
    Over,
}

/// The counts of flows in a block.
#[derive(Debug, Kept)]
pub struct FlowsOfBlock {
    #[kept(fixed)]
    classes: Classes,
    #[kept(each)]
    sums: Vec<Sums>,
    /// For each channel and each class: flits that the channel sent in the window. The entries of a channel are next to each other. A
    /// packet counts as a whole when it begins to cross a channel. When the window begins and ends, the counts are corrected for packets
    /// that have crossed only in part.
    #[kept(each)]
    flits: Vec<i64>,
    /// For each channel and VC: the class of the last packet that began to cross.
    #[kept(each)]
    last: Vec<u8>,
    /// For each channel: its row in channels.parquet and its link class.
    #[kept(fixed)]
    rows: Vec<Option<(u32, u8)>>,
    state: Window,
}

impl Recorder for FlowsOfBlock {
    fn delivered(&mut self, packet: &Packet, at: u64, inside: bool) {
        let sums = &mut self.sums[self.classes.of(packet.src, packet.dst)];
        if inside {
            sums.accepted_flits += u64::from(packet.len);
        }
        if packet.flags & MEASURED != 0 {
            let latency = at - packet.created;
            sums.packets += 1;
            sums.hops += u64::from(packet.links_crossed);
            sums.latency += latency;
            sums.network_latency += at - packet.injected;
            sums.latencies.saturating_record(latency);
        }
    }

    fn crosses(&mut self, channel: usize, vc: u8, packet: &Packet) {
        let class = self.classes.of(packet.src, packet.dst);
        self.last[channel * VCS + usize::from(vc)] = class as u8;
        if self.state == Window::Inside {
            self.flits[channel * self.classes.count() + class] += i64::from(packet.len);
        }
    }

    fn part_crossed(&mut self, packets: &[PartCrossed]) {
        // Packets count as a whole when they begin to cross. Therefore the flits that still have to cross are added when the window begins,
        // and subtracted when it ends.
        let sign = if self.state == Window::Before { 1 } else { -1 };
        for part in packets {
            let last = self.last[part.channel * VCS + usize::from(part.vc)];
            let class = part.packet.map_or(last.into(), |packet| self.classes.of(packet.src, packet.dst));
            self.flits[part.channel * self.classes.count() + class] += sign * part.missing;
        }
        self.state = if self.state == Window::Before { Window::Inside } else { Window::Over };
    }
}

impl FlowsOfBlock {
    /// Adds the flits and the energy that each class used on the channels of the block.
    fn share(&self, run: &Recorded, used: &mut [Used]) {
        let injection = (run.network.channels - run.network.terminals as usize) as u32;
        for (&row, flits) in self.rows.iter().zip(self.flits.chunks(self.classes.count())) {
            let Some((row, class)) = row else { continue };
            let of_channel = run.channels.of(row as usize);
            let (all, data) = (of_channel.flits as i64, flits.iter().sum::<i64>());
            debug_assert!(data <= all, "channel {row} sent {all} flits, and {data} of packets");
            let mut before = 0;
            for (used, own) in used.iter_mut().zip(flits.iter().copied().chain([all - data])) {
                let part = |energy: u128| part(energy, before + own, all) - part(energy, before, all);
                used.link_yj += part(of_channel.link_yj);
                used.router_yj += part(of_channel.router_yj);
                used.flits += own;
                used.injected += if row >= injection { own } else { 0 };
                used.between_routers += if class == TERMINAL { 0 } else { own };
                before += own;
            }
        }
    }
}

/// Computes `energy * flits / all`, rounded down, without intermediate results that exceed 128 bits.
fn part(energy: u128, flits: i64, all: i64) -> u128 {
    let (flits, all) = (flits as u128, (all as u128).max(1));
    energy / all * flits + energy % all * flits / all
}

#[cfg(test)]
mod tests {
    use super::part;

    #[test]
    fn energies_are_shared_without_a_rest() {
        // 10 yJ are divided among 3 classes with one flit each: between these sums, the classes get 3, 3 and 4 yJ
        let ends = [0, 1, 2, 3].map(|flits| part(10, flits, 3));
        assert_eq!(ends, [0, 3, 6, 10]);
        // the result is exact even if the price per flit needs more than 64 bits
        let price = 1u128 << 80;
        assert_eq!(part(price * 1_000_000_007, 7, 1_000_000_007), price * 7);
        assert_eq!(part(0, 0, 0), 0);
    }
}
