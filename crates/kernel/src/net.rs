//! Data that all blocks share: coordinates, link classes, routing, jobs. Blocks only read it. Between two cycles the
//! engine may replace the routing or its published tables.

use crate::parts::ideal::IdealRules;
use crate::parts::pace::Rates;
use crate::parts::profile::{HeadPath, Profile, Set};
use crate::parts::queues::InterfaceRules;
use crate::parts::set_aside::SetAsideRules;
use std::sync::Arc;
use weft_api::age::Priority;
use weft_api::base::arrays::At;
use weft_api::base::unchecked::Hot;
use weft_api::common::Common;
use weft_api::compiled::Ahead;
use weft_api::congestion::Control;
use weft_api::refined::Refined;
use weft_api::routing::{AnyRouting, AroundFaults, Hop, Needs, hop_in_order};
use weft_api::spec::{FlowControl, InputSpeedup};
use weft_api::state::by_class::ByClass;
use weft_api::state::link_class::Link;
use weft_api::state::{Packet, key_of};
use weft_api::subnetworks::Subnets;
use weft_api::workload::Workload;

/// A job as the loop sees it.
#[derive(Debug)]
pub struct NetJob {
    pub workload: Arc<dyn Workload>,
    /// The message class of each part of its sources.
    pub classes: Vec<u8>,
    /// Its sources are notified of packets that are sent and delivered.
    pub hears_packets: bool,
}

/// The jobs of each terminal, and its rank in each. A terminal is in several jobs only if they send packets of
/// different message classes.
#[derive(Debug)]
pub struct Places {
    /// By terminal: index of its first entry in `all`; one entry more than terminals.
    first: Vec<u32>,
    /// (job, rank), by terminal.
    all: Vec<(u16, u32)>,
}

impl Places {
    /// `jobs`: the terminals of each job, by rank.
    pub fn new<'a>(terminals: u32, jobs: impl Iterator<Item = &'a [u32]>) -> Self {
        let mut of_terminal = vec![Vec::new(); terminals as usize];
        for (job, members) in (0u16..).zip(jobs) {
            for (rank, &terminal) in (0u32..).zip(members) {
                of_terminal[terminal as usize].push((job, rank));
            }
        }
        let mut first = vec![0];
        first.extend(of_terminal.iter().scan(0, |sum, places| {
            *sum += places.len() as u32;
            Some(*sum)
        }));
        Self { first, all: of_terminal.into_iter().flatten().collect() }
    }

    /// The jobs of a terminal, and its rank in each.
    pub fn of(&self, terminal: u32) -> &[(u16, u32)] {
        let (from, to) = (self.first[terminal as usize], self.first[terminal as usize + 1]);
        &self.all[from as usize..to as usize]
    }

    /// The first job of a terminal; `None` if it is in none.
    pub fn job_of(&self, terminal: u32) -> Option<u16> {
        self.of(terminal).first().map(|&(job, _)| job)
    }

    /// Rank of a terminal in a job that it is in.
    pub fn rank(&self, terminal: u32, job: usize) -> u32 {
        let place = self.of(terminal).iter().find(|&&(j, _)| usize::from(j) == job);
        place.expect("a terminal of the job").1
    }
}

/// The network as every block reads it.
#[derive(Debug)]
pub struct Net {
    /// Per router: coordinates, one byte per dimension (grids) or group << 16 | index (dragonfly).
    pub coords: Vec<u64>,
    /// (router, port) of every terminal.
    pub terminal_at: Vec<(u32, u16)>,
    /// Number of bits of the VC class in a route key (output port << class_bits | class).
    pub class_bits: u32,
    pub links: ByClass<Link>,
    /// By link class: cycles until a returning credit of a flit can be used. The credit travels on the opposite channel
    /// of the link. If the opposite channels are of several classes, this is the longest time.
    pub credit_returns: Vec<u64>,
    /// Rates of the links; `None` if all carry one flit per cycle and any number of flits may wait for them.
    pub rates: Option<Rates>,
    /// Some links carry more than one flit per cycle, so that flits of one packet may arrive in the same cycle.
    pub fast_links: bool,
    /// Data of all routers that models may read.
    pub common: Common,
    pub router: RouterRules,
    pub routing: Arc<dyn AnyRouting>,
    /// The part of the routing that names hops one router ahead, compiled.
    pub ahead: Box<dyn Ahead>,
    /// First port of each dimension, where packets cross complete lines in order (`Routing::first_ports`).
    pub first_ports: Option<[u16; 8]>,
    /// The needs that the routing declares to the engine.
    pub needs: Needs,
    /// Heads choose their output again in every step: the routing does, or links are trunks.
    pub chooses: bool,
    pub heads: HeadPath,
    /// The shortcuts of blocks without agents.
    pub shortcuts: Profile,
    pub slow: SlowPaths,
    /// Some packets are watched (`watch.rs`).
    pub watches: bool,
    /// Subnetworks whose link states the routing reads, if it reads any.
    pub subnets: Option<Subnets>,
    pub faults: FaultRules,
    pub jobs: Vec<NetJob>,
    /// Which jobs each terminal is in.
    pub places: Places,
    /// The queues of network interfaces; `None` if each sends the packets of one source, one after the other.
    pub interface: Option<InterfaceRules>,
    /// Congestion control, if there is one. Then network interfaces have a queue per destination.
    pub congestion: Option<Arc<dyn Control>>,
    /// Queues are set aside for congested outputs.
    pub set_aside: Option<SetAsideRules>,
    /// Destinations have queues of their own in an ideal map, in addition to the VCs.
    pub ideal: Option<IdealRules>,
    /// Queues are set aside, or destinations have queues of their own.
    pub maps_queues: bool,
    /// By message class: number of higher priorities.
    pub class_ranks: Vec<u64>,
    /// VC classes are finer than those of the routing: message classes have VCs of their own, or a queueing scheme has lanes.
    pub refined: Option<Arc<Refined>>,
    /// Packets of some job keep their place in the buffer of the terminal where they arrive (`Workload::keeps`).
    pub keeps: bool,
    /// Some job is notified of packets that are sent and delivered.
    pub tells: bool,
    /// Calls of a source may make other sources of the block due, or sources act by themselves.
    pub wakes: bool,
    /// Cycles after which terminals of a node act on each other, if some node has terminals in several blocks.
    pub notes_after: Option<u64>,
    /// An alarm of a terminal may be void when it goes off, because its source is due at another cycle by then.
    pub alarms_lapse: bool,
    /// All packets have one flit, and none enters a ring that keeps a bubble.
    pub single: bool,
    pub times: Times,
    pub seed: u64,
}

/// Pipeline, switch and flow control of all routers.
#[derive(Debug)]
pub struct RouterRules {
    /// Cycles from the grant to the start of the link.
    pub after_grant: u64,
    pub ejection_delay: u64,
    /// Whole cycles for which a VC that a packet has left is closed to the next head.
    pub routing_delay: u64,
    /// How many flits leave an input port at the same time.
    pub input_speedup: InputSpeedup,
    /// VCs may be closed to the next head for a while, because of `routing_delay` or `input_speedup`.
    pub closes_vcs: bool,
    /// A VC taken in one step may cross the switch only in the next.
    pub vc_realloc: bool,
    pub speedup: u8,
    /// An output finishes a packet before it begins another.
    pub hold_switch: bool,
    /// Arbiters let the oldest packet win.
    pub by_age: bool,
    pub priority: Priority,
    pub flow_control: FlowControl,
    /// Free places [flits] that an output VC must have before a head may take it. Under virtual cut-through this is the
    /// length of the longest packet of the run, also for heads of shorter packets. A head that enters a ring needs more
    /// (`Link::room_to_enter`).
    pub room: u16,
    /// Some VC class enters rings that keep a bubble.
    pub rings: bool,
    /// Any credit may be the one that some head waits for, whatever their number.
    pub each_credit_wakes: bool,
}

/// Slow paths of the loop, which most runs do not need.
#[derive(Debug)]
pub struct SlowPaths {
    /// Injection channels are paced, or may sleep.
    pub injection: bool,
    /// New packets are counted by their job, watched or recorded.
    pub creation: bool,
    /// Some recording counts the channels that packets cross.
    pub paths: bool,
    /// Some recording counts these channels, or the routing stores the hops of packets.
    pub hops: bool,
    /// Moves through the switch are noted for more than the agents: for grants that the routing reads, or for queues
    /// that are set aside.
    pub moves: bool,
    /// The oldest packet wins the switch; or its winners are watched, or close their VC for a while; or outputs may be
    /// full.
    pub crossing: bool,
    /// Deliveries are also counted by job (`job_tally.rs`), or recorded.
    pub delivery: bool,
    /// Deliveries are reported only to recordings and to the sums of the window.
    pub only_recorded: bool,
}

/// Links and routers that fail, and the model that finds detours around them.
#[derive(Debug)]
pub struct FaultRules {
    pub repair: Repair,
    /// Routings that follow each other while links and routers fail and return, the earliest first.
    pub tables: Vec<Tables>,
    /// Cycles that a head without an escape waits (`broken.rs`).
    pub patience: u64,
    /// Spans in which some part is broken, the earliest first. They are kept if heads escape to a ring, which counts as cut in
    /// these spans.
    pub cut_rings: Vec<(u64, u64)>,
    /// Routers fail under a policy that replaces links, and heads may be discarded (`faults.rs`).
    pub routers_fail: bool,
}

/// Times by which a run is measured [cycles].
#[derive(Debug)]
pub struct Times {
    /// From the grant of a flit at its last router to its delivery over a free link.
    pub landing: u64,
    /// Most cycles between the grant and the delivery.
    pub lookahead: u64,
    /// Observation of the power state, where a policy switches channels.
    pub power_period: Option<u64>,
    /// Longest time for which the workload of a job delays a reply.
    pub turnaround: u64,
    /// Period of a policy that repeats its actions independently of the traffic; `None` for other policies.
    pub policy_repeats: Option<u64>,
    /// The cycles after 0 in which the load or the pattern of some job changes, in order.
    pub changes: Vec<u64>,
    /// Length of a batch of the window.
    pub batch: u64,
}

/// A routing with the paths of the network without its failed parts, and the first cycle in which it is used
/// (`network/rebuild.rs`).
#[derive(Debug)]
pub struct Tables {
    pub at: u64,
    pub routing: Arc<dyn AnyRouting>,
}

/// The model that finds detours around failed links and routers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Nothing fails in this run.
    Unneeded,
    /// The power policy, by switching other links on (`faults.rs`).
    ByPolicy,
    /// The routing, under any policy (`broken.rs`).
    ByRouting(AroundFaults),
}

impl Repair {
    pub fn any(self) -> bool {
        self != Self::Unneeded
    }
}

impl Net {
    /// Restricts the blocks that are made from now on to these shortcuts.
    pub fn keep_shortcuts(&mut self, among: Set) {
        self.shortcuts = self.shortcuts.among(among);
        self.heads = self.shortcuts.heads(self.heads == HeadPath::Slow, self.chooses);
    }

    /// Route key of a class of output port `p`.
    #[inline(always)]
    pub fn key(&self, p: usize, class: usize) -> u16 {
        key_of(p, class, self.class_bits)
    }

    /// Output port of a route key.
    #[inline(always)]
    pub fn port(&self, key: u16) -> usize {
        usize::from(key) >> self.class_bits
    }

    /// Place of the requests for a class of output `o` in `Requests::requesters`.
    #[inline(always)]
    pub fn slot(&self, o: usize, class: usize) -> usize {
        o << self.class_bits | class
    }

    /// VCs of a routing class on a link class.
    #[inline(always)]
    pub fn vcs(&self, link: u8, class: usize) -> u16 {
        *self.links.of(link).vcs_of.at(class)
    }

    /// The VCs of a VC class of the routing on links of class `link`, for packets of a message class.
    pub fn vcs_for(&self, message_class: usize, link: usize, class: u8) -> u16 {
        let vcs_of = &self.links[link].vcs_of;
        match &self.refined {
            None => vcs_of[usize::from(class)],
            Some(refined) => {
                let fine = refined.links[link].fine(refined.set_of[message_class], class);
                fine.fold(0, |all, class| all | vcs_of[class])
            }
        }
    }

    /// The hop of a head at `router` as its routing names it, on the VC classes of the routing.
    pub fn as_routed(&self, router: u32, hop: Hop) -> Hop {
        self.refined.as_ref().map_or(hop, |refined| refined.routed(router, hop))
    }

    /// The hop that the routing names for `packet` at `router`, on the VC class of its message class and its lane.
    pub fn as_taken(&self, router: u32, packet: &Packet, hop: Hop) -> Hop {
        self.refined.as_ref().map_or(hop, |refined| refined.taken(router, packet, hop, self.seed))
    }

    /// Route key of a packet at the router it will reach next.
    #[inline(always)]
    pub(crate) fn route_ahead(&self, router: usize, packet: &mut Packet) -> u16 {
        // SAFETY: terminals and channels name routers of the network (`Block::assert_numbers`).
        let at = unsafe { *self.coords.hot(router) };
        match &self.first_ports {
            // the most common kind of routing, without a virtual call
            Some(ports) => hop_in_order(ports, at, packet)
                .map_or_else(|| self.key(usize::from(packet.dst_port), 0), |port| self.key(usize::from(port), 0)),
            None => self.ahead.key_ahead(router as u32, at, packet, self.seed, self.class_bits),
        }
    }
}
