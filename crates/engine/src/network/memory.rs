//! Estimates the memory that a run needs, from counts of routers, ports, VCs, terminals and flits in flight.
//!
//! Data of fixed size are counted by the sizes of their records. The number of flits in flight follows from Little's law: load times the
//! time that a packet spends in the network ([`Transit`]). Its upper bound is the capacity of the pools (the reserved memory for flits and
//! packets), or of all buffers. The estimate excludes traffic matrices, and recordings whose rows are events.

use crate::network::assemble::{notes_after, partition, usual_blocks};
use crate::network::lanes::MOST_IDEAL_LANES;
use crate::network::policy;
use crate::network::recordings;
use crate::network::spec::{Execution, LinkClass, Spec};
use crate::network::transit::{self, Transit};
use weft_api::classes::Queueing;
use weft_api::recording::NetworkSite;
use weft_api::spec::Stop;
use weft_api::state::{Account, Flit, Packet, PerMode, Segment, Terminal};
use weft_kernel::block::Cut;
use weft_kernel::parts::queues::Ready;
use weft_kernel::shortcuts::streams;
use weft_topology::Port;

/// Bytes of the histograms and scratch memory of a block, and of the mail from one block to another. Each memory page counts as a whole,
/// even if it contains little data.
const BLOCK: u64 = 1 << 20;
const MAIL: u64 = 3 << 12;
/// Bytes for the wheels and queues of control packets, if the policy sends such packets.
const CONTROL: u64 = 7 << 20;
/// Bytes per channel at the end of the window: a copy of its account, and its row of the outcome.
const RESULTS: u64 = 290;
/// Bytes per channel while its row is priced and written. When the rows are written, the memory of the network is already free. The table
/// is written in groups of rows, so only a limited number of rows is in memory.
const WRITTEN: u64 = 360;
const COLUMNS: u64 = 230;
const ROWS: u64 = 1 << 20;

/// Estimated memory of a run [bytes].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Memory {
    /// Memory of the graph and the tables of the routing.
    pub tables: u64,
    /// Memory of the check of channel dependencies. The check ends before the network is built.
    pub check: u64,
    /// Memory of routers, ports and terminals, and of the separate data of each block.
    pub network: u64,
    /// Memory of the packets and flits in flight at the load of the spec.
    pub in_flight: u64,
    /// Memory of the packets and flits in flight if all buffers are full.
    pub in_flight_most: u64,
    /// Memory of recordings, and of the counts at the end of the window.
    pub results: u64,
    /// Memory of recordings, and of the table of channels while it is written. When the table is written, the memory of the network is
    /// already free.
    pub written: u64,
}

impl Memory {
    /// Peak memory while queues are short.
    pub fn at_load(&self) -> u64 {
        self.tables + self.check.max(self.network + self.in_flight + self.results).max(self.written)
    }

    /// Peak memory when all buffers are full, as in a saturated network.
    pub fn most(&self) -> u64 {
        self.tables + self.check.max(self.network + self.in_flight_most + self.results).max(self.written)
    }
}

/// Estimates the memory of a run without building the network.
pub fn memory(spec: &Spec, how: Execution) -> Memory {
    let sizes = spec.width().sizes();
    let graph = &*spec.graph;
    let (routers, terminals) = (u64::from(graph.routers()), u64::from(graph.terminals()));
    let ports = u64::from(graph.port_base(graph.routers()));
    let channels = ports + terminals;
    // the number of VC classes of a routing is at most the number of VCs of its links
    let classes = u64::from(spec.links.iter().map(|link| link.vcs).max().unwrap_or(1)).next_power_of_two();
    let words = (u64::from(graph.radix()) * classes).div_ceil(64);
    let of_port = sizes.input as u64 + sizes.mask as u64 * classes + size::<u32>();
    let of_streams = streams::bytes_per_channel(spec.traffic.longest());
    let account = 2 * PerMode::heap_bytes(spec.modes.count()) as u64;
    let of_channel = sizes.output as u64 + size::<Account>() + account + 2 * size::<u16>() + of_streams;
    let sources: u64 =
        spec.traffic.jobs.iter().map(|job| (job.terminals.len() * (64 + 8 * job.phases.len())) as u64).sum();
    let blocks = Blocks::of(spec, how);
    let has_control = policy::build(spec).is_ok_and(|policy| policy.control().is_some());
    let control = if has_control { CONTROL + blocks.count * routers * 8 } else { 0 };
    let (in_flight, in_flight_most) = in_flight(spec, &blocks);
    let site: NetworkSite = recordings::site(spec);
    let recorded = spec.recordings.iter().map(|asked| asked.model.bytes(&site)).sum::<u64>();
    Memory {
        tables: ports * size::<Port>() + routers * 24 + terminals * 8 + spec.routing.table_bytes(graph),
        check: ports * classes * words * 8,
        network: ports * of_port
            + channels * of_channel
            + routers * (sizes.router as u64 + 16)
            + terminals * (size::<Terminal>() + 16)
            + sources
            + blocks.count * BLOCK
            + ((blocks.count * blocks.count - 1) as f64 * MAIL as f64 * blocks.copies) as u64
            + control
            + channels * classes * of_lane(spec) * size::<u16>(),
        in_flight,
        in_flight_most,
        results: channels * RESULTS + of_bundles(spec) + recorded,
        written: channels * WRITTEN + channels.min(ROWS) * COLUMNS + recorded,
    }
}

/// Number of destinations with separate queues on a VC, in an ideal map with the largest number of lanes; 0 without such a map.
fn of_lane(spec: &Spec) -> u64 {
    let destinations = spec.queueing.model().ideal_queues(&spec.graph);
    destinations.map_or(0, |all| u64::from(all.div_ceil(MOST_IDEAL_LANES)))
}

/// Memory of bundles: their records and accounts, their parts in each block, and the lists of their channels (one list in the spec, two in
/// the blocks).
fn of_bundles(spec: &Spec) -> u64 {
    let of_bundle = |rows: &Vec<u32>| 12 * rows.len() as u64 + 128;
    spec.bundles.iter().map(of_bundle).sum()
}

fn size<T>() -> u64 {
    size_of::<T>() as u64
}

/// The division of the network into blocks.
struct Blocks {
    count: u64,
    /// Number of channels between blocks.
    cuts: u64,
    /// The shortest latency of the channels between blocks [cycles].
    window: u64,
    /// Number of copies in which mail between blocks is stored. Mail to a block on another thread needs three copies: one that is being
    /// written, one for windows with an even number, and one for windows with an odd number.
    copies: f64,
}

impl Blocks {
    fn of(spec: &Spec, how: Execution) -> Self {
        let graph = &*spec.graph;
        let wanted = if how.blocks == 0 { usual_blocks(graph, how.threads) } else { how.blocks };
        let division = partition(spec, wanted, false);
        let block = |router: u32| division.block(router);
        let (mut cuts, mut window) = (0, u64::MAX);
        for link in graph.links().filter(|link| block(link.ends[0].0) != block(link.ends[1].0)) {
            cuts += 2;
            for class in [link.class, link.back] {
                let LinkClass { latency, credit_latency, .. } = spec.links[usize::from(class)];
                window = window.min(latency + spec.router.delay).min(credit_latency.max(1));
            }
        }
        let count = division.blocks() as u64;
        let threads = (how.threads as u64).clamp(1, count) as f64;
        let copies = 1.0 + 2.0 * (1.0 - 1.0 / threads);
        let window = window.min(notes_after(spec, &division).unwrap_or(u64::MAX));
        Self { count, cuts, window: if cuts > 0 { window } else { 0 }, copies }
    }
}

/// Bytes of packets and flits in flight: at the load of the spec, and with all buffers full.
fn in_flight(spec: &Spec, blocks: &Blocks) -> (u64, u64) {
    let graph = &*spec.graph;
    let terminals = f64::from(graph.terminals());
    let (rate, shortest, transit) = (transit::offered_flits(spec), transit::shortest(spec), Transit::of(spec));
    let flits = rate * transit.with_queues();
    let queues = of_lane(spec).max(1) as f64;
    let capacity = |class: u8| {
        let link = &spec.links[usize::from(class)];
        f64::from(link.vcs) * f64::from(link.buffer) * queues
    };
    let ports = (0..graph.routers()).flat_map(|router| graph.ports(router));
    let buffers: f64 = ports.clone().map(|port| capacity(port.class)).sum();
    let delay = spec.router.delay as f64;
    // the pools are at most this large (`assemble/builder.rs`)
    let pool = blocks.count as f64 * f64::from(1 << 20) + 64.0 * terminals;
    let wires: f64 =
        ports.map(|port| (spec.links[usize::from(port.class)].latency as f64 + delay).min(capacity(port.class))).sum();
    // the lists of free slots stay short, because a freed slot is soon used again
    let of_packet = (size::<Packet>() + size::<Segment>()) as f64;
    let of_wire = (size::<Flit>() + size::<u32>()) as f64;
    let of_mail = blocks.copies * (8.0 + size::<Flit>() as f64 + 16.0 + size::<Packet>() as f64 / shortest);
    let between = blocks.cuts as f64 / 2.0 / graph.links().count().max(1) as f64;
    let mail = (rate * transit.hops * between * blocks.window as f64).min((blocks.cuts * blocks.window) as f64);
    let most_mail = (blocks.cuts * blocks.window) as f64;
    let packets = (flits / shortest).min(pool).min(buffers / shortest + wires);
    let most_packets = (buffers / shortest + wires).min(pool).max(packets);
    let now = packets * of_packet + flits.min(wires) * of_wire + mail * of_mail;
    let most = most_packets * of_packet + wires.max(flits.min(wires)) * of_wire + most_mail * of_mail;
    let cuts = blocks.cuts * size::<Cut>();
    (now as u64 + cuts, most.max(now) as u64 + cuts + in_interfaces(spec))
}

/// Upper bound of the bytes of packets in deep queues of network interfaces: all packets of the run. An interface without deep queues
/// leaves packets in their sources, where they take no memory.
fn in_interfaces(spec: &Spec) -> u64 {
    let (interface, phases) = (&spec.interface, &spec.phases);
    let queues = match interface.queueing {
        Queueing::One | Queueing::PerClass => return 0,
        Queueing::PerDestination => interface.queues.into(),
        Queueing::PerLane => u64::from(spec.links[0].vcs),
    };
    let longest = match phases.stop {
        Stop::Confidence { window, .. } => window,
        Stop::Window | Stop::Complete => phases.window,
    };
    let cycles = (phases.warmup + longest + phases.drain_limit) as f64;
    let created = transit::offered_flits(spec) / transit::shortest(spec) * cycles;
    let room = u64::from(spec.graph.terminals()) * queues * u64::from(interface.depth);
    (created as u64).min(room) * (size::<Packet>() + size::<Ready>())
}
