//! Data that all blocks share: coordinates, link classes, routing, jobs. Blocks only read these data. Between two cycles the
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

/// The data of a job that the loop uses.
#[derive(Debug)]
pub struct NetJob {
    pub workload: Arc<dyn Workload>,
    /// The message class of each part of the job's sources.
    pub classes: Vec<u8>,
    /// True if its sources are notified of packets that are sent and delivered.
    pub hears_packets: bool,
}

/// The jobs of each terminal, and the rank of the terminal in each job. A terminal may be in several jobs only if these jobs send packets
/// of different message classes.
#[derive(Debug)]
pub struct Places {
    /// For each terminal: index of its first entry in `all`; then one more entry for the end.
    first: Vec<u32>,
    /// (job, rank) pairs, ordered by terminal.
    all: Vec<(u16, u32)>,
}

impl Places {
    /// `jobs`: for each job, its terminals in the order of their ranks.
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

    /// The jobs of a terminal, and the rank of the terminal in each job.
    pub fn of(&self, terminal: u32) -> &[(u16, u32)] {
        let (from, to) = (self.first[terminal as usize], self.first[terminal as usize + 1]);
        &self.all[from as usize..to as usize]
    }

    /// The first job of a terminal; `None` if the terminal has no job.
    pub fn job_of(&self, terminal: u32) -> Option<u16> {
        self.of(terminal).first().map(|&(job, _)| job)
    }

    /// Rank of a terminal in a job to which it belongs.
    pub fn rank(&self, terminal: u32, job: usize) -> u32 {
        let place = self.of(terminal).iter().find(|&&(j, _)| usize::from(j) == job);
        place.expect("a terminal of the job").1
    }
}

/// The data of the network that every block reads.
#[derive(Debug)]
pub struct Net {
    /// For each router: coordinates, one byte per dimension (grids) or group << 16 | index (dragonfly).
    pub coords: Vec<u64>,
    /// For each terminal: its router and its port on this router.
    pub terminal_at: Vec<(u32, u16)>,
    /// Number of bits of the VC class in a route key (output port << class_bits | class).
    pub class_bits: u32,
    pub links: ByClass<Link>,
    /// For each link class: cycles until the returning credit of a flit can be used. The credit travels on the opposite channel
    /// of the link. If the opposite channels have several classes, this is the longest time.
    pub credit_returns: Vec<u64>,
    /// Rates of the links; `None` if every link carries one flit per cycle and any number of flits may wait for it.
    pub rates: Option<Rates>,
    /// True if some links carry more than one flit per cycle. Several flits of one packet may then arrive in the same cycle.
    pub fast_links: bool,
    /// Data of all routers that models may read.
    pub common: Common,
    pub router: RouterRules,
    pub routing: Arc<dyn AnyRouting>,
    /// The compiled part of the routing that computes hops one router ahead.
    pub ahead: Box<dyn Ahead>,
    /// First port of each dimension, if packets cross complete lines in dimension order (`Routing::first_ports`).
    pub first_ports: Option<[u16; 8]>,
    /// The needs that the routing declares to the engine.
    pub needs: Needs,
    /// True if heads choose their output again in every step, because the routing requires it or because links form trunks.
    pub chooses: bool,
    pub heads: HeadPath,
    /// The shortcuts for blocks without agents.
    pub shortcuts: Profile,
    pub slow: SlowPaths,
    /// True if some packets are watched (`watch.rs`).
    pub watches: bool,
    /// Subnetworks whose link states the routing reads; `None` if it reads none.
    pub subnets: Option<Subnets>,
    pub faults: FaultRules,
    pub jobs: Vec<NetJob>,
    /// For each terminal, its jobs and its ranks in them.
    pub places: Places,
    /// The rules for queues of network interfaces; `None` if each interface sends the packets of one source, one after the other.
    pub interface: Option<InterfaceRules>,
    /// The congestion control, if the run has one. Network interfaces then have a queue per destination.
    pub congestion: Option<Arc<dyn Control>>,
    /// The rules for queues that are set aside for congested outputs.
    pub set_aside: Option<SetAsideRules>,
    /// The rules of the ideal map, which has a queue per destination in addition to the VCs.
    pub ideal: Option<IdealRules>,
    /// True if queues are set aside, or if destinations have separate queues.
    pub maps_queues: bool,
    /// For each message class: number of classes with higher priority.
    pub class_ranks: Vec<u64>,
    /// VC classes that are finer than those of the routing: message classes have separate VCs, or a queueing scheme has lanes.
    pub refined: Option<Arc<Refined>>,
    /// True if packets of some job keep their place in the buffer of the terminal where they arrive (`Workload::keeps`).
    pub keeps: bool,
    /// True if some job is notified of packets that are sent and delivered.
    pub tells: bool,
    /// True if a call of a source may make other sources of the block due, or if sources act by themselves.
    pub wakes: bool,
    /// Number of cycles after which terminals of a node affect each other, if some node has terminals in several blocks.
    pub notes_after: Option<u64>,
    /// True if an alarm of a terminal may be void when it goes off, because the source has since become due at another cycle.
    pub alarms_lapse: bool,
    /// True if all packets have one flit, and no packet enters a ring that keeps a bubble.
    pub single: bool,
    pub times: Times,
    pub seed: u64,
}

/// Pipeline, switch and flow control of all routers.
#[derive(Debug)]
pub struct RouterRules {
    /// Number of cycles from the grant of a flit to the start of its link traversal.
    pub after_grant: u64,
    pub ejection_delay: u64,
    /// Number of whole cycles for which a VC that a packet has left is closed to the next head.
    pub routing_delay: u64,
    /// Number of flits that may leave an input port at the same time.
    pub input_speedup: InputSpeedup,
    /// True if VCs may be closed to the next head for a while, because of `routing_delay` or `input_speedup`.
    pub closes_vcs: bool,
    /// True if a flit may cross the switch only in the step after its packet got the VC.
    pub vc_realloc: bool,
    pub speedup: u8,
    /// True if an output finishes a packet before it starts another packet.
    pub hold_switch: bool,
    /// True if arbiters let the oldest packet win.
    pub by_age: bool,
    pub priority: Priority,
    pub flow_control: FlowControl,
    /// Free places [flits] that an output VC must have before a head may take the VC. Under virtual cut-through this is the length of the
    /// longest packet of the run, even for heads of shorter packets. A head that enters a ring needs more places (`Link::room_to_enter`).
    pub room: u16,
    /// True if some VC class enters rings that keep a bubble.
    pub rings: bool,
    /// True if some head may wait for any returning credit, independent of the number of credits.
    pub each_credit_wakes: bool,
}

/// Flags for slow paths of the loop, which most runs do not need.
#[derive(Debug)]
pub struct SlowPaths {
    /// Injection channels have a limited rate, or may sleep.
    pub injection: bool,
    /// New packets are counted by job, watched or recorded.
    pub creation: bool,
    /// Some recording counts the channels that packets cross.
    pub paths: bool,
    /// Some recording counts the channels that packets cross, or the routing stores the hops of packets.
    pub hops: bool,
    /// Moves through the switch are recorded for the routing, which reads grants, or for queues that are set aside, and not only for the
    /// agents.
    pub moves: bool,
    /// The oldest packet wins the switch; or packets are watched; or a departing packet closes its VC for a while; or outputs may be
    /// full.
    pub crossing: bool,
    /// Deliveries are counted by job (`job_tally.rs`), or recorded.
    pub delivery: bool,
    /// Deliveries are reported only to recordings and to the sums of the window, not to a workload.
    pub only_recorded: bool,
}

/// The links and routers that fail, and the model that finds detours around them.
#[derive(Debug)]
pub struct FaultRules {
    pub repair: Repair,
    /// The routings that are used one after the other while links and routers fail and are repaired, the earliest first.
    pub tables: Vec<Tables>,
    /// Number of cycles that a head without an escape waits (`broken.rs`).
    pub patience: u64,
    /// Spans in which some part is broken, the earliest first. The spans are stored if heads escape to a ring. During these spans the
    /// ring counts as broken.
    pub cut_rings: Vec<(u64, u64)>,
    /// True if routers fail under a policy that replaces links, so that packets may be discarded (`faults.rs`).
    pub routers_fail: bool,
}

/// Times that the measurement of a run needs [cycles].
#[derive(Debug)]
pub struct Times {
    /// Time from the grant of a flit at its last router to its delivery over a free link.
    pub landing: u64,
    /// Longest time between the grant and the delivery.
    pub lookahead: u64,
    /// Time for observing the power state, if a policy switches channels.
    pub power_period: Option<u64>,
    /// Longest time for which the workload of a job delays a reply.
    pub turnaround: u64,
    /// Period of a policy that repeats its actions independently of the traffic; `None` for other policies.
    pub policy_repeats: Option<u64>,
    /// The cycles after 0 in which the load or the pattern of some job changes, in order.
    pub changes: Vec<u64>,
    /// Length of a batch of the window [cycles].
    pub batch: u64,
}

/// A routing with the paths of the network without its failed parts, and the first cycle in which this routing is used
/// (`network/rebuild.rs`).
#[derive(Debug)]
pub struct Tables {
    pub at: u64,
    pub routing: Arc<dyn AnyRouting>,
}

/// The part of the simulator that finds detours around failed links and routers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repair {
    /// Nothing fails in this run.
    Unneeded,
    /// The power policy finds detours: it switches on other links (`faults.rs`).
    ByPolicy,
    /// The routing finds detours, under any policy (`broken.rs`).
    ByRouting(AroundFaults),
}

impl Repair {
    pub fn any(self) -> bool {
        self != Self::Unneeded
    }
}

impl Net {
    /// Restricts all blocks that are created later to these shortcuts.
    pub fn keep_shortcuts(&mut self, among: Set) {
        self.shortcuts = self.shortcuts.among(among);
        self.heads = self.shortcuts.heads(self.heads == HeadPath::Slow, self.chooses);
    }

    /// Route key for a VC class of output port `p`.
    #[inline(always)]
    pub fn key(&self, p: usize, class: usize) -> u16 {
        key_of(p, class, self.class_bits)
    }

    /// Output port of a route key.
    #[inline(always)]
    pub fn port(&self, key: u16) -> usize {
        usize::from(key) >> self.class_bits
    }

    /// Index of the requests for a VC class of output `o` in `Requests::requesters`.
    #[inline(always)]
    pub fn slot(&self, o: usize, class: usize) -> usize {
        o << self.class_bits | class
    }

    /// The VCs of a VC class of the routing on a link class.
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

    /// The hop of a head at `router` as its routing returns it, in the VC classes of the routing.
    pub fn as_routed(&self, router: u32, hop: Hop) -> Hop {
        self.refined.as_ref().map_or(hop, |refined| refined.routed(router, hop))
    }

    /// The hop that the routing returns for `packet` at `router`, with the VC class for its message class and its lane.
    pub fn as_taken(&self, router: u32, packet: &Packet, hop: Hop) -> Hop {
        self.refined.as_ref().map_or(hop, |refined| refined.taken(router, packet, hop, self.seed))
    }

    /// Route key of a packet at the router that it reaches next.
    #[inline(always)]
    pub(crate) fn route_ahead(&self, router: usize, packet: &mut Packet) -> u16 {
        // SAFETY: terminals and channels store valid router numbers (checked by `Block::assert_numbers`).
        let at = unsafe { *self.coords.hot(router) };
        match &self.first_ports {
            // the most frequent kind of routing, without a virtual call
            Some(ports) => hop_in_order(ports, at, packet)
                .map_or_else(|| self.key(usize::from(packet.dst_port), 0), |port| self.key(usize::from(port), 0)),
            None => self.ahead.key_ahead(router as u32, at, packet, self.seed, self.class_bits),
        }
    }
}
