//! What every block reads and nobody writes: coordinates, link classes, routing, sources' clocks.

use crate::api::subnetworks::Subnets;
use crate::base::unchecked::Hot;
use crate::models::allocation::AllocatorConfig;
use crate::models::routing::{AnyRouting, Hop};
use crate::network::spec::FlowControl;
use crate::pipeline::age::Priority;
use crate::pipeline::clock::{Clock, NetJob};
use crate::state::{ASK, Packet};

/// A link class, in the form the loop needs.
#[derive(Debug, Clone)]
#[repr(align(64))]
pub struct Link {
    pub latency: u64,
    /// From the grant downstream until the credit can be used upstream.
    pub credit_latency: u64,
    pub buffer: u16,
    /// All VCs of a channel of this class.
    pub all: u16,
    /// VCs of each routing class.
    pub vcs_of: [u16; 16],
    /// Credits of a whole channel.
    pub capacity: u32,
}

impl Link {
    /// Whether none of the credits of a channel is in use.
    pub(crate) fn are_home(&self, credits: &[u16]) -> bool {
        (0..).zip(credits).all(|(vc, &free)| self.all >> vc & 1 == 0 || free == self.buffer)
    }
}

/// Parallel links: the network ports of a router come in runs of `width` that lead to the same neighbour.
#[derive(Debug, Clone, Copy)]
pub struct Trunk {
    /// First network port.
    pub first: u8,
    pub width: u8,
}

impl Trunk {
    /// The ports of the trunk that `port` is a member of; a routing on any graph names whichever it finds.
    #[inline(always)]
    pub fn members(self, port: u8) -> std::ops::Range<u8> {
        if port < self.first {
            return port..port + 1;
        }
        let first = port - (port - self.first) % self.width;
        first..first + self.width
    }
}

#[derive(Debug)]
pub struct Net {
    /// Per router: coordinates, one byte per dimension (grids) or group << 16 | index (dragonfly).
    pub coords: Vec<u64>,
    /// (router, port) of every terminal.
    pub terminal_at: Vec<(u32, u8)>,
    /// Bits of the VC class in a route key (output port << class_bits | class).
    pub class_bits: u32,
    pub links: Vec<Link>,
    pub routing: AnyRouting,
    /// Heads choose their output again in every step: the routing does, or links are trunks.
    pub chooses: bool,
    /// Arbiters let the oldest packet win.
    pub by_age: bool,
    pub priority: Priority,
    /// By nothing but the time of their creation.
    pub only_in_time: bool,
    /// Packets are watched (`watch.rs`).
    pub watches: bool,
    /// New packets are counted by their job, or watched.
    pub creates_apart: bool,
    /// The oldest wins the switch, or its winners are watched, or they close their VC for a while.
    pub crosses_apart: bool,
    /// Heads need more than their key: a choice in every step, their age, someone watches them, they wait first, or links or
    /// routers fail.
    pub heads_apart: bool,
    /// Subnetworks whose links the routing looks at, if it does.
    pub(crate) subnets: Option<Subnets>,
    /// It is counted how long all links of each router are off.
    pub counts_sleep: bool,
    /// Links or routers fail, and heads may find no way (`faults.rs`).
    pub faults: bool,
    /// Routers fail, and heads may be discarded (`faults.rs`).
    pub routers_fail: bool,
    pub trunk: Trunk,
    /// Packets get an intermediate at their source.
    pub detours: bool,
    pub jobs: Vec<NetJob>,
    pub clocks: Vec<Clock>,
    /// Rank and job of every terminal; empty if one job has all terminals in order.
    pub ranks: Vec<u32>,
    pub job_of: Vec<u16>,
    /// Some job has replies.
    pub replies: bool,
    /// Deliveries are counted apart (`parts.rs`).
    pub apart: bool,
    /// All packets have one flit.
    pub single: bool,
    /// Cycles from the grant to the start of the link.
    pub after_grant: u64,
    pub ejection_delay: u64,
    /// Whole cycles for which a VC that a packet has left is closed to the next head.
    pub routing_delay: u64,
    /// 1 if a VC taken in one step may cross the switch only in the next.
    pub vc_realloc: bool,
    pub speedup: u8,
    /// An output finishes a packet before it begins another.
    pub hold_switch: bool,
    pub allocator: AllocatorConfig,
    pub flow_control: FlowControl,
    /// Free flits that an output VC must have before a head may take it: under virtual cut-through those of the longest
    /// packet of the run, whatever the length of the head's own.
    pub room: u16,
    /// Cycles from the grant of a flit at its last router to its delivery, if the link is free.
    pub landing: u64,
    /// No delivery is known more cycles ahead.
    pub lookahead: u64,
    /// Cycles of an observation of the power state, where a policy switches channels.
    pub power_period: Option<u64>,
    /// Length of a batch of the window.
    pub batch: u64,
    pub seed: u64,
}

impl Net {
    /// Route key of a packet at the router it will reach next.
    #[inline(always)]
    pub(crate) fn route_ahead(&self, router: usize, packet: &mut Packet) -> u16 {
        let at = *self.coords.hot(router);
        match &self.routing {
            // the case to beat: the others stay out of its way
            AnyRouting::Dimension(routing) if routing.jumps() => self.key_or_ask(routing.next(at, packet, self.seed)),
            _ => self.route_apart(at, packet),
        }
    }

    /// Two calls, because the table of all routings saves more registers than the next case needs.
    #[inline(never)]
    fn route_apart(&self, at: u64, packet: &mut Packet) -> u16 {
        match &self.routing {
            AnyRouting::UgalP(routing) => self.key_or_ask(routing.next(at, packet, self.seed)),
            AnyRouting::Pal(routing) if routing.crosses_grids() => self.key_or_ask(routing.next_on_grid(at, packet)),
            _ => self.route_by_table(at, packet),
        }
    }

    #[inline(never)]
    fn route_by_table(&self, at: u64, packet: &mut Packet) -> u16 {
        self.key_or_ask(self.routing.next(at, packet, self.seed))
    }

    #[inline(always)]
    fn key_or_ask(&self, hop: Option<Hop>) -> u16 {
        hop.map_or(ASK, |hop| self.key(hop.port as usize, hop.class as usize))
    }

    /// VC class that VC `v` of an input of link class `link` belongs to; `None` on a terminal link.
    #[inline(always)]
    pub(crate) fn arrived(&self, link: u8, v: usize) -> Option<u8> {
        let classes = &self.links.hot(link as usize).vcs_of;
        (link != 0).then(|| classes.iter().position(|vcs| vcs >> v & 1 != 0).unwrap_or(0) as u8)
    }
}
