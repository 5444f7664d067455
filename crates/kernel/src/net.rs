//! Data of the network that all blocks share: coordinates, link classes, routing, jobs. Blocks read these data but do not change them. Only
//! the engine may replace the routing, or the data that the overseer published to it, between two cycles.

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

/// The data of a job that the cycle loop needs.
#[derive(Debug)]
pub struct NetJob {
    pub workload: Arc<dyn Workload>,
    /// The message class of each part of a source of this job.
    pub classes: Vec<u8>,
    /// True if the job's sources are notified when packets are sent and delivered.
    pub hears_packets: bool,
}

/// For each terminal, the jobs to which it belongs, and its rank in each of them. A terminal may be in several jobs only if these jobs send
/// packets of different message classes.
#[derive(Debug)]
pub struct Places {
    /// For each terminal, the index of its first entry in `all`; one more entry marks the end.
    first: Vec<u32>,
    /// Pairs (job, rank), ordered by terminal.
    all: Vec<(u16, u32)>,
}

impl Places {
    /// `jobs`: for each job, the list of its terminals in the order of their ranks.
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

    /// The first job of a terminal; `None` if the terminal belongs to no job.
    pub fn job_of(&self, terminal: u32) -> Option<u16> {
        self.of(terminal).first().map(|&(job, _)| job)
    }

    /// The rank of a terminal in a job to which the terminal belongs.
    pub fn rank(&self, terminal: u32, job: usize) -> u32 {
        let place = self.of(terminal).iter().find(|&&(j, _)| usize::from(j) == job);
        place.expect("a terminal of the job").1
    }
}

/// The data of the network that every block reads.
#[derive(Debug)]
pub struct Net {
    /// For each router, its coordinates: one byte per dimension (grids), or group << 16 | index (dragonfly).
    pub coords: Vec<u64>,
    /// For each terminal: its router and its port on this router.
    pub terminal_at: Vec<(u32, u16)>,
    /// Number of bits of the VC class in a route key (output port << class_bits | class).
    pub class_bits: u32,
    pub links: ByClass<Link>,
    /// For each link class, the number of cycles until the credit of a flit has returned and can be used. A credit travels on the opposite
    /// channel of the link. If the opposite channels of a class belong to several link classes, the longest of their times.
    pub credit_returns: Vec<u64>,
    /// Rates of the links; `None` if every link carries one flit per cycle and the number of flits that wait for it has no limit.
    pub rates: Option<Rates>,
    /// True if at least one link carries more than one flit per cycle. On such a link, several flits of one packet can arrive in the same
    /// cycle.
    pub fast_links: bool,
    /// Data about all routers that models may read.
    pub common: Common,
    pub router: RouterRules,
    pub routing: Arc<dyn AnyRouting>,
    /// The part of the routing that computes hops one router ahead, in compiled form.
    pub ahead: Box<dyn Ahead>,
    /// First port of each dimension, for routings whose packets cross complete lines in dimension order (`Routing::first_ports`).
    pub first_ports: Option<[u16; 8]>,
    /// The needs that the routing has declared to the engine.
    pub needs: Needs,
    /// True if heads choose their output again in every step. Either the routing requires it, or links form trunks.
    pub chooses: bool,
    pub heads: HeadPath,
    /// The shortcuts that blocks without agents use.
    pub shortcuts: Profile,
    pub slow: SlowPaths,
    /// True if the user watches some packets (`watch.rs`).
    pub watches: bool,
    /// The subnetworks whose link states the routing reads; `None` if the routing reads no link states.
    pub subnets: Option<Subnets>,
    pub faults: FaultRules,
    pub jobs: Vec<NetJob>,
    /// For each terminal, its jobs and its rank in each of them.
    pub places: Places,
    /// The rules for queues of network interfaces; `None` if each interface sends the packets of one source, one after the other.
    pub interface: Option<InterfaceRules>,
    /// The congestion control of the run; `None` if the run has none. With congestion control, network interfaces have a queue per
    /// destination.
    pub congestion: Option<Arc<dyn Control>>,
    /// The rules for queues that are set aside for congested outputs; `None` if the run has no such queues.
    pub set_aside: Option<SetAsideRules>,
    /// The rules of the ideal map: a queue per destination in addition to the VCs. `None` if the run has no ideal map.
    pub ideal: Option<IdealRules>,
    /// True if the run sets queues aside, or has a queue for each destination in an ideal map.
    pub maps_queues: bool,
    /// For each message class, the number of classes with a higher priority.
    pub class_ranks: Vec<u64>,
    /// VC classes that are finer than those of the routing, because message classes have separate VCs, or a queueing scheme has lanes.
    pub refined: Option<Arc<Refined>>,
    /// True if packets of at least one job keep their slots in the buffer of the terminal at which they arrive (`Workload::keeps`).
    pub keeps: bool,
    /// True if at least one job is notified when its packets are sent and delivered.
    pub tells: bool,
    /// True if calling one source can make other sources of the block due, or if sources act without a delivery as cause.
    pub wakes: bool,
    /// Number of cycles after which terminals of one node in different blocks affect each other; `None` if no node has terminals in several
    /// blocks.
    pub notes_after: Option<u64>,
    /// True if the alarm of a terminal can be void when it goes off, because the source has meanwhile become due at another cycle.
    pub alarms_lapse: bool,
    /// True if all packets have one flit, and packets do not enter rings that keep a bubble.
    pub single: bool,
    pub times: Times,
    pub seed: u64,
}

/// The rules for all routers: pipeline, switch and flow control.
#[derive(Debug)]
pub struct RouterRules {
    /// Number of cycles from the grant of a flit to the start of its link traversal.
    pub after_grant: u64,
    pub ejection_delay: u64,
    /// Number of whole cycles for which a VC stays closed to the next head after a packet has left it.
    pub routing_delay: u64,
    /// Number of flits that can leave an input port at the same time.
    pub input_speedup: InputSpeedup,
    /// True if VCs can be closed to the next head for some cycles, because of `routing_delay` or `input_speedup`.
    pub closes_vcs: bool,
    /// True if a flit may cross the switch only one step after its packet got the VC.
    pub vc_realloc: bool,
    pub speedup: u8,
    /// True if an output sends all flits of a packet before it starts another packet.
    pub hold_switch: bool,
    /// True if arbiters prefer the oldest packet.
    pub by_age: bool,
    pub priority: Priority,
    pub flow_control: FlowControl,
    /// Number of free slots [flits] that an output VC must have before a head may take the VC. With virtual cut-through, this is the length
    /// of the longest packet of the run, even for heads of shorter packets. A head that enters a ring needs more free slots
    /// (`Link::room_to_enter`).
    pub room: u16,
    /// True if a VC class of the routing is for entering rings that keep a bubble.
    pub rings: bool,
    /// True if heads must try again after every returning credit, not only after the first and the `room`-th credit of a VC.
    pub each_credit_wakes: bool,
}

/// Flags that enable slow paths of the cycle loop. Most runs do not need these paths.
#[derive(Debug)]
pub struct SlowPaths {
    /// Injection channels have a limited rate, or can go off.
    pub injection: bool,
    /// New packets must be counted by job, watched or recorded.
    pub creation: bool,
    /// A recording counts the channels that packets cross.
    pub paths: bool,
    /// A recording counts the channels that packets cross, or the routing stores the hops of packets.
    pub hops: bool,
    /// The routing reads which outputs were granted, or queues are set aside, so moves through the switch must be recorded.
    pub moves: bool,
    /// At least one of four features is on: the switch prefers the oldest packet, packets are watched, departing packets close their VC, or
    /// outputs can be full.
    pub crossing: bool,
    /// Deliveries must be counted by job (`job_tally.rs`) or recorded.
    pub delivery: bool,
    /// Deliveries are reported only to recordings and to the sums over the window, not to a workload.
    pub only_recorded: bool,
}

/// The links and routers that fail, and the model that finds detours around them.
#[derive(Debug)]
pub struct FaultRules {
    pub repair: Repair,
    /// The routings that the run uses one after the other, each from the time of a failure or repair on, in ascending order of time.
    pub tables: Vec<Tables>,
    /// Number of cycles for which a head without an escape waits (`broken.rs`).
    pub patience: u64,
    /// Spans in which at least one part is broken, in ascending order of time. Empty unless the routing escapes to a ring, which counts as
    /// broken in these spans.
    pub cut_rings: Vec<(u64, u64)>,
    /// True if routers fail under a policy that replaces links. The cycle loop may then have to discard packets (`faults.rs`).
    pub routers_fail: bool,
}

/// Times that the measurement of a run uses [cycles].
#[derive(Debug)]
pub struct Times {
    /// Time from the grant of a flit at its last router to its delivery, over a free link.
    pub landing: u64,
    /// The longest possible time between the grant and the delivery.
    pub lookahead: u64,
    /// Length of an observation of the power state; `None` if the policy switches no channels.
    pub power_period: Option<u64>,
    /// The longest time for which the workload of any job delays a reply at a terminal.
    pub turnaround: u64,
    /// Period of a policy that repeats its actions independently of the traffic; `None` for other policies.
    pub policy_repeats: Option<u64>,
    /// The cycles after cycle 0 in which the load or the pattern of a job changes, in ascending order.
    pub changes: Vec<u64>,
    /// Length of the batches into which the window is divided [cycles].
    pub batch: u64,
}

/// A routing for the network without the parts that are broken after a failure or repair, and the first cycle in which the run uses this
/// routing (`engine/src/network/rebuild.rs`).
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
    /// The power policy finds detours, because it switches on other links (`faults.rs`).
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
    /// Restricts the blocks that are created from now on to the shortcuts `among`.
    pub fn keep_shortcuts(&mut self, among: Set) {
        self.shortcuts = self.shortcuts.among(among);
        self.heads = self.shortcuts.heads(self.heads == HeadPath::Slow, self.chooses);
    }

    /// The route key for a VC class of output port `p`.
    #[inline(always)]
    pub fn key(&self, p: usize, class: usize) -> u16 {
        key_of(p, class, self.class_bits)
    }

    /// The output port that a route key contains.
    #[inline(always)]
    pub fn port(&self, key: u16) -> usize {
        usize::from(key) >> self.class_bits
    }

    /// Index in `Requests::requesters` of the requests for a VC class of output `o`.
    #[inline(always)]
    pub fn slot(&self, o: usize, class: usize) -> usize {
        o << self.class_bits | class
    }

    /// Mask of the VCs that belong to a VC class of the routing, on links of one link class.
    #[inline(always)]
    pub fn vcs(&self, link: u8, class: usize) -> u16 {
        *self.links.of(link).vcs_of.at(class)
    }

    /// Mask of the VCs that packets of a message class may use, for a VC class of the routing on links of class `link`.
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

    /// Converts the hop of a head at `router` from the finer VC classes (`refined`) to the VC classes of the routing.
    pub fn as_routed(&self, router: u32, hop: Hop) -> Hop {
        self.refined.as_ref().map_or(hop, |refined| refined.routed(router, hop))
    }

    /// Converts a hop that the routing returns for `packet` at `router` to the finer VC class for the message class and lane of the packet.
    pub fn as_taken(&self, router: u32, packet: &Packet, hop: Hop) -> Hop {
        self.refined.as_ref().map_or(hop, |refined| refined.taken(router, packet, hop, self.seed))
    }

    /// The route key of a packet at the next router on its path.
    #[inline(always)]
    pub(crate) fn route_ahead(&self, router: usize, packet: &mut Packet) -> u16 {
        // SAFETY: terminals and channels store valid router numbers (checked by `Block::assert_numbers`).
        let at = unsafe { *self.coords.hot(router) };
        match &self.first_ports {
            // the most frequent kind of routing needs no virtual call
            Some(ports) => hop_in_order(ports, at, packet)
                .map_or_else(|| self.key(usize::from(packet.dst_port), 0), |port| self.key(usize::from(port), 0)),
            None => self.ahead.key_ahead(router as u32, at, packet, self.seed, self.class_bits),
        }
    }
}
