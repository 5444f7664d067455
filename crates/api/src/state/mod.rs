//! The state of the network: one record for each port, terminal and router; packets and segments are in pools.
//!
//! Indices are local to a block: port `base(router) + p`; an injection channel has its own [`OutputUnit`] after those of
//! the routers. One cache line per output port and two per input port (V = 8), of which the second is touched where
//! queues form or packets have several flits.

pub mod by_class;
mod link;
pub mod link_class;
pub mod modes;
mod pool;
pub mod rate;
pub mod sums;
pub use link::{Account, LinkState, PerMode};
pub use modes::{Mode, Modes};
pub use pool::Pool;

use crate::base::arrays::At;
use crate::base::bits::Bits;
use crate::base::kept::{Kept, Value};
use crate::base::unchecked::Hot;

pub const NONE: u32 = u32::MAX;
/// Key of a VC whose head requests no output: there is no head, or the head holds an output VC already.
pub const NO_REQUEST: u16 = u16::MAX;
/// Key of a packet whose route depends on the queues of the router where it is, and of a head that has not chosen yet.
pub const UNDECIDED: u16 = u16::MAX - 1;

/// Route key: a VC class of output port `port`, packed into one number.
#[inline(always)]
pub fn key_of(port: usize, class: usize, class_bits: u32) -> u16 {
    (port << class_bits | class) as u16
}

/// Output port and VC class of a route key.
#[inline(always)]
pub fn split(key: u16, class_bits: u32) -> (usize, usize) {
    ((key >> class_bits) as usize, (key & ((1 << class_bits) - 1)) as usize)
}

/// Port and VC of a number that combines both (port * 16 + VC), such as [`Flit::to`].
#[inline(always)]
pub fn port_and_vc<const V: usize>(number: u32) -> (usize, usize) {
    const { assert!(V.is_power_of_two() && V <= 16) };
    debug_assert!((number & 15) < V as u32, "VC {} of {V}", number & 15);
    ((number >> 4) as usize, number as usize & (V - 1))
}

/// The far end of an output channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ChannelEnd {
    /// An input port of this block.
    Local,
    /// An input port of another block: `peer` is an index into the block's cut channels.
    Remote,
    /// A terminal: `peer` is its global number.
    Ejection,
    /// From a terminal into an input port of this block: `router` is the terminal.
    Injection,
    /// No link.
    Unused,
}

/// Output unit, the sender's side of a channel: credits, which packet holds each VC, and which VC classes are asked
/// for.
#[derive(Debug, Clone, PartialEq, Eq, Kept)]
#[repr(C, align(64))]
pub struct OutputUnit<const V: usize> {
    /// Free places for flits in the next buffer, per VC.
    pub credits: [u16; V],
    /// Input port << 4 | input VC of the packet that holds the VC.
    pub holder: [u16; V],
    /// VCs that a head may take, as no packet holds them; 0 while the channel is closed.
    pub free_vcs: u16,
    /// VCs whose holder has a flit waiting in this router.
    pub vcs_with_flit: u16,
    /// VCs with at least one credit.
    pub vcs_with_credit: u16,
    /// VCs with as many credits as a head needs (`RouterRules::room`); not kept up to date if all packets have one flit.
    pub vcs_with_room: u16,
    /// VC classes that some head requests.
    pub requested: u16,
    /// Link class.
    #[kept(fixed)]
    pub class: u8,
    /// [`LinkState::number`].
    pub state: u8,
    /// First cycle (low 32 bits) in which the link is free for another flit.
    pub next_free: u32,
    /// Flits sent so far, the low 32 bits.
    pub flits: u32,
    #[kept(fixed)]
    pub peer: u32,
    /// Router (of this block) or, for an injection channel, terminal (of this block).
    #[kept(fixed)]
    pub router: u32,
    pub rr_in: u16,
    pub rr_vc: u8,
    /// Kind of channel, and above these bits its gate: see [`OutputUnit::kind`] and [`OutputUnit::gate`].
    pub end: u8,
}

/// Whether heads may take VCs of a channel. Packets that held one when it was closed may finish (`Power::held`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
#[repr(u8)]
pub enum Gate {
    Open,
    /// The power policy lets no head take one.
    Closed,
    /// The link has failed. Its state is then independent of the policy (`Power::wishes`).
    Broken,
}

/// Input unit, the receiver's side of a channel: a queue per VC (a list of segments), and the request of the head of
/// each queue.
#[derive(Debug, Clone, PartialEq, Eq, Kept)]
#[repr(C, align(64))]
pub struct InputUnit<const V: usize> {
    /// Route key of the head of each VC: output << class_bits | class.
    pub requests: [u16; V],
    pub head: [u32; V],
    /// Sending `OutputUnit` of this block, or index of a cut channel with a mark (`REMOTE`).
    #[kept(fixed)]
    upstream: u32,
    #[kept(fixed)]
    pub router: u32,
    /// VCs with more than one segment.
    pub queued: u16,
    #[kept(fixed)]
    pub port: u16,
    pub rr_out: u16,
    /// Link class of the channel on which its credits return: the way back of the one that comes in.
    #[kept(fixed)]
    pub class: u8,
    pub rr_vc: u8,
    /// The last segment of each VC that is `queued`. From here on, what a one-flit packet that meets no queue does not need: with up
    /// to 8 VCs it is in a cache line of its own.
    tail: [u32; V],
    /// Output << 4 | output VC that the head packet holds.
    pub output_vc: [u16; V],
    /// VCs whose head chooses its output again in every allocation step (`kernel/src/choose.rs`).
    pub choosing: u16,
    /// VCs of these whose head keeps its choice until a flit leaves by the same output.
    pub settled: u16,
}

/// Bits of `OutputUnit::end` that tell the kind of channel.
const KIND_BITS: u32 = 3;
/// Bit of `InputUnit::upstream` that marks a sender in another block.
const REMOTE: u32 = 1 << 31;

impl<const V: usize> OutputUnit<V> {
    /// The sender's side of a channel to a port of this block. All its VCs of `vcs` are free, with `credits` each.
    pub fn new(router: u32, class: u8, vcs: u16, credits: u16) -> Self {
        Self {
            credits: std::array::from_fn(|vc| if vcs >> vc & 1 != 0 { credits } else { 0 }),
            holder: [0; V],
            free_vcs: vcs,
            vcs_with_flit: 0,
            vcs_with_credit: vcs,
            vcs_with_room: vcs,
            requested: 0,
            class,
            state: LinkState::On.number(),
            next_free: 0,
            flits: 0,
            peer: NONE,
            router,
            rr_in: 0,
            rr_vc: 0,
            end: ChannelEnd::Local as u8,
        }
    }

    /// Whether the channel leads to this.
    #[inline(always)]
    pub fn is(&self, kind: ChannelEnd) -> bool {
        self.end & ((1 << KIND_BITS) - 1) == kind as u8
    }

    /// The far end of the channel.
    #[inline(always)]
    pub fn kind(&self) -> ChannelEnd {
        match self.end & ((1 << KIND_BITS) - 1) {
            0 => ChannelEnd::Local,
            1 => ChannelEnd::Remote,
            2 => ChannelEnd::Ejection,
            3 => ChannelEnd::Injection,
            _ => ChannelEnd::Unused,
        }
    }

    /// The channel leads to `peer`.
    pub fn lead(&mut self, kind: ChannelEnd, peer: u32) {
        (self.end, self.peer) = (self.end >> KIND_BITS << KIND_BITS | kind as u8, peer);
    }

    /// Whether heads may take a VC.
    #[inline(always)]
    pub fn gate(&self) -> Gate {
        match self.end >> KIND_BITS {
            0 => Gate::Open,
            1 => Gate::Closed,
            _ => Gate::Broken,
        }
    }

    pub fn set_gate(&mut self, gate: Gate) {
        self.end = self.kind() as u8 | (gate as u8) << KIND_BITS;
    }

    /// Whether no head may take a VC.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.end >> KIND_BITS != 0
    }

    /// VC `vc` is taken by the packet at the head of VC `v` of input `i`.
    #[inline(always)]
    pub fn hold(&mut self, vc: u8, i: usize, v: u8) {
        self.free_vcs &= !(1 << vc);
        self.vcs_with_flit |= 1 << vc;
        *self.holder.at_mut(vc as usize) = (i << 4) as u16 | u16::from(v);
    }

    /// VCs that a head may take now: no packet holds them, and they have enough credits. A head that enters a ring may
    /// need more credits (`Link::open_to`).
    #[inline(always)]
    pub fn available_vcs(&self) -> u16 {
        self.free_vcs & self.vcs_with_room
    }

    /// Credits of those of `vcs` that a head may take now.
    #[inline(always)]
    pub fn open_credits(&self, vcs: u16) -> u32 {
        let (mut open, mut credits) = (self.available_vcs() & vcs & const { u16::MAX >> (16 - V) }, 0);
        while open != 0 {
            // SAFETY: `open` names no VC from `V` on.
            credits += u32::from(*unsafe { self.credits.hot(open.trailing_zeros() as usize) });
            open &= open - 1;
        }
        credits
    }

    /// VCs with at least so many credits.
    #[cold]
    #[inline(never)]
    pub fn vcs_with(&self, credits: u16) -> u16 {
        (0..).zip(&self.credits).fold(0, |vcs, (vc, &free)| vcs | u16::from(free >= credits) << vc)
    }

    /// A flit that could be on the link in cycle `earliest` leaves after those that already wait for it. Returns the cycle.
    #[inline(always)]
    pub fn depart(&mut self, earliest: u64) -> u64 {
        let depart = self.departure(earliest);
        self.next_free = depart as u32 + 1;
        depart
    }

    /// When such a flit would leave.
    #[inline(always)]
    pub fn departure(&self, earliest: u64) -> u64 {
        let wait = (self.next_free.wrapping_sub(earliest as u32) as i32).max(0);
        earliest + wait as u64
    }

    /// A flit is sent into VC `vc` of the buffer at the far end, and uses one credit. `need`: credits that a head
    /// needs.
    #[inline(always)]
    pub fn spend<const SINGLE: bool>(&mut self, vc: usize, need: u16) {
        self.flits += 1;
        self.use_credit::<SINGLE>(vc, need);
    }

    /// Uses one credit of VC `vc`. `need`: credits that a head needs; `SINGLE`: that is one, as all packets have one flit.
    #[inline(always)]
    pub fn use_credit<const SINGLE: bool>(&mut self, vc: usize, need: u16) {
        let credits = self.credits.at_mut(vc);
        *credits -= 1;
        let left = *credits;
        if left == 0 {
            self.vcs_with_credit &= !(1 << vc);
        }
        if if SINGLE { left == 0 } else { left + 1 == need } {
            self.vcs_with_room &= !(1 << vc);
        }
    }

    /// A credit of VC `vc`, for which no head waits, has returned. `need`: credits that a head needs.
    pub fn regain_credit(&mut self, vc: usize, need: u16) {
        let credits = self.credits.at_mut(vc);
        *credits += 1;
        let left = *credits;
        self.vcs_with_credit |= 1 << vc;
        if left == need {
            self.vcs_with_room |= 1 << vc;
        }
    }
}

impl<const V: usize> InputUnit<V> {
    /// An empty input unit: `port` of a router.
    pub fn new(router: u32, port: u16, class: u8) -> Self {
        Self {
            requests: [NO_REQUEST; V],
            head: [NONE; V],
            upstream: NONE,
            router,
            queued: 0,
            port,
            class,
            rr_out: 0,
            rr_vc: 0,
            tail: [NONE; V],
            output_vc: [0; V],
            choosing: 0,
            settled: 0,
        }
    }

    /// The channel comes from output `upstream` of this block.
    pub fn come_from(&mut self, upstream: u32) {
        self.upstream = upstream;
    }

    /// The channel comes from another block: it is cut channel `cut`.
    pub fn come_from_afar(&mut self, cut: u32) {
        self.upstream = cut | REMOTE;
    }

    /// Whether the sender is in another block.
    #[inline(always)]
    pub fn is_remote(&self) -> bool {
        self.upstream & REMOTE != 0
    }

    /// Sending `OutputUnit` of this block, or index of a cut channel if the sender is remote.
    #[inline(always)]
    pub fn upstream(&self) -> u32 {
        self.upstream & !REMOTE
    }

    /// First port of the router. `i`: number of this unit in its block.
    #[inline(always)]
    pub fn base(&self, i: usize) -> usize {
        i - usize::from(self.port)
    }

    /// The last segment of VC `v`, or `NONE`.
    #[inline(always)]
    pub fn last(&self, v: usize) -> u32 {
        if self.queued >> v & 1 != 0 { *self.tail.at(v) } else { *self.head.at(v) }
    }

    /// Segment `id` joins the queue of VC `v`. Returns the one before it, or `NONE` if it is the head.
    #[inline(always)]
    pub fn join(&mut self, v: usize, id: u32) -> u32 {
        let last = self.last(v);
        if last == NONE {
            *self.head.at_mut(v) = id;
        } else {
            *self.tail.at_mut(v) = id;
            self.queued |= 1 << v;
        }
        last
    }

    /// Segment `next` (or `NONE`) is now the head of VC `v`.
    #[inline(always)]
    pub fn follow(&mut self, v: usize, next: u32) {
        *self.head.at_mut(v) = next;
        if self.queued >> v & 1 != 0 && *self.tail.at(v) == next {
            self.queued &= !(1 << v);
        }
    }

    /// Segment `id` of VC `v`, which follows `before`, becomes its head. Returns the head before; the caller links the segments.
    pub fn bring_forward(&mut self, v: usize, before: u32, id: u32) -> u32 {
        if self.last(v) == id {
            *self.tail.at_mut(v) = before;
        }
        std::mem::replace(self.head.at_mut(v), id)
    }

    /// The head of VC `v` has taken VC `vc` of output `p`.
    #[inline(always)]
    pub fn hold(&mut self, v: u8, p: usize, vc: u8) {
        *self.output_vc.at_mut(v as usize) = (p << 4) as u16 | u16::from(vc);
    }
}

/// A packet, or the part of it that has arrived, in one VC queue. Its body flits exist only as counters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
#[repr(C)]
pub struct Segment {
    pub packet: u32,
    pub next: u32,
    pub arrived: u16,
    pub sent: u16,
    pub len: u16,
    /// Route key at this router.
    pub key: u16,
}

impl Segment {
    /// The segment of one-flit packet `packet`, which has the same number. Later packets with that number also use it: only `next` and
    /// `key` change.
    pub fn of_single(packet: u32) -> Self {
        Self { packet, next: NONE, arrived: 1, sent: 0, len: 1, key: NO_REQUEST }
    }
}

/// Flags of a packet.
pub const MEASURED: u8 = 1;
pub const DETOUR: u8 = 2;
/// The packet is watched (`weft run --watch`).
pub const WATCHED: u8 = 4;
/// The packet is on a detour in the subnetwork that it crosses.
pub const AROUND: u8 = 8;
/// The packet has left an output for which many flits waited (`congestion.rs`).
pub const MARKED: u8 = 16;
/// The packet notifies its destination of marks on packets that it has sent.
pub const NOTICE: u8 = 32;
/// The packet is the first of its VC class in a queue that is set aside. It waits there for older packets in other queues of the channel.
pub const FENCED: u8 = 64;
/// The packet waits in a normal queue, and is counted at its output.
pub const COUNTED: u8 = 128;

/// A packet: one cache line, written by its source and by the routing.
#[derive(Debug, Clone, Copy, Default, Value)]
#[repr(C, align(64))]
pub struct Packet {
    pub created: u64,
    pub injected: u64,
    /// Coordinates that the current phase heads for.
    pub target: u64,
    /// Coordinates of the destination router.
    pub dest: u64,
    pub src: u32,
    pub dst: u32,
    /// Number of this packet at its source: (src, seq) names a packet. Packets that deliveries caused are numbered
    /// downward from the largest number.
    pub seq: u32,
    pub len: u16,
    pub dst_port: u16,
    pub phase: u8,
    /// Dimension that the packet crosses, plus 1 (grids); 0 before the first one.
    pub dim: u8,
    /// VC class inside the phase (dateline side, globals crossed).
    pub lane: u8,
    pub flags: u8,
    /// Its message class.
    pub class: u8,
    /// Its job.
    pub job: u16,
    /// Links between routers that it has crossed, for statistics. Only the loop counts them; checks and explanations
    /// do not, so a routing must not go by them (`tests/layers.rs`). 32 bits: a routing may promise no less than millions.
    pub links_crossed: u32,
    /// Note of the workload about the packet.
    pub tag: u32,
}

/// State that a routing has written into a packet. Two packets to one destination with the same state at a router have the
/// same hops ahead of them.
pub type RouteState = (u64, u8, u8, u8, u8);

impl Packet {
    /// Everything that a routing may have written into the packet.
    pub fn route_state(&self) -> RouteState {
        (self.target, self.phase, self.dim, self.lane, self.flags & (DETOUR | AROUND))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Kept)]
pub struct Router<const W: usize> {
    /// Requests for VC allocation: outputs for which some head may get a VC.
    pub vc_requests: Bits<W>,
    /// Requests for switch allocation: outputs with a flit that may cross the switch.
    pub switch_requests: Bits<W>,
    /// Inputs with a head that chooses its output again in every allocation step.
    pub choosing: Bits<W>,
    #[kept(fixed)]
    pub base: u32,
    #[kept(fixed)]
    pub id: u32,
    /// Its ports.
    #[kept(fixed)]
    pub ports: Bits<W>,
}

impl<const W: usize> Router<W> {
    /// The head of VC `v` of `input`, an input of this router, no longer chooses in every step.
    #[inline(always)]
    pub fn stop_choosing<const V: usize>(&mut self, input: &mut InputUnit<V>, v: usize) {
        input.choosing &= !(1 << v);
        if input.choosing == 0 {
            self.choosing.clear(input.port.into());
        }
    }
}

/// A flit that crosses the switch from VC `v` of input `i` to VC `vc` of output `p`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Move {
    pub i: u16,
    pub p: u16,
    pub v: u8,
    pub vc: u8,
}

/// `Terminal::job` of a terminal that is in no job.
pub const NO_JOB: u16 = u16::MAX;

/// The network interface of a terminal.
#[derive(Debug, Clone, PartialEq, Eq, Kept)]
#[repr(C, align(64))]
pub struct Terminal {
    /// When its source is to be asked for the next packet.
    pub due: u64,
    /// When the terminal wakes for that, if it sleeps. Other alarms of it in the wheel are out of date.
    pub alarm: u64,
    /// The packet that it injects, or `NONE`.
    pub packet: u32,
    /// Flits of that packet that have not been injected.
    pub left: u16,
    /// Its job, or [`NO_JOB`].
    #[kept(fixed)]
    pub job: u16,
    /// Number of its source among those of the job in this block.
    #[kept(fixed)]
    pub source: u32,
    #[kept(fixed)]
    pub id: u32,
    /// Its injection channel.
    #[kept(fixed)]
    pub out: u32,
    /// `made`: packets that it created of its own. `brought_about`: packets that deliveries caused it to create.
    pub made: u32,
    pub brought_about: u32,
    /// VC of the packet that it injects, `u8::MAX` before the head has left.
    pub vc: u8,
    /// It has a flit to send, and waits for a credit, a VC or its link. Then it is not looked at.
    pub blocked: bool,
}

/// A flit on a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Flit {
    /// Input port * 16 + VC.
    pub to: u32,
    /// The packet, for a head flit; `NONE` for a body flit.
    pub packet: u32,
    /// Route key of a head flit; for a body flit [`BODY`], [`RUN_BEGINS`] or [`RUN_ENDS`].
    pub key: u16,
    /// Flits of the packet, for a head flit.
    pub len: u16,
}

/// `Flit::key` of a body flit that is no part of a run (`kernel/src/shortcuts/streams.rs`).
pub const BODY: u16 = UNDECIDED;
/// `Flit::key` of the first flit of a run.
pub const RUN_BEGINS: u16 = 1;
/// `Flit::key` of the event in the cycle after the last flit of a run. The event is no flit.
pub const RUN_ENDS: u16 = 2;

impl Flit {
    /// A body flit that has an event of its own.
    #[inline(always)]
    pub fn of_body(to: u32) -> Self {
        Self::of_run(to, BODY)
    }

    /// A body flit, or what follows the last one of a run, as `key` says.
    #[inline(always)]
    pub fn of_run(to: u32, key: u16) -> Self {
        Self { to, packet: NONE, key, len: 0 }
    }
}

const _: () = assert!(size_of::<OutputUnit<8>>() == 64);
const _: () = assert!(size_of::<InputUnit<8>>() == 128);
const _: () = assert!(size_of::<Packet>() == 64);
const _: () = assert!(size_of::<Terminal>() == 64);

/// The VCs whose queues are not empty, by their heads.
#[inline(always)]
pub fn occupied<const V: usize>(heads: &[u32; V]) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if V == 8 {
        use std::arch::x86_64::{
            _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
        };
        // SAFETY: SSE2 is part of every x86-64, and `heads` is 32 readable bytes.
        return unsafe {
            let first = heads.as_ptr();
            let none = |half: *const u32| _mm_cmpeq_epi32(_mm_loadu_si128(half.cast()), _mm_set1_epi32(NONE as i32));
            let empty = _mm_packs_epi32(none(first), none(first.add(4)));
            !(_mm_movemask_epi8(_mm_packs_epi16(empty, empty)) as u16) & 0xff
        };
    }
    heads.iter().enumerate().fold(0, |mask, (v, &head)| mask | u16::from(head != NONE) << v)
}

/// The VCs whose head has this key.
#[inline(always)]
pub fn matching<const V: usize>(requests: &[u16; V], key: u16) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if V == 8 {
        use std::arch::x86_64::{_mm_cmpeq_epi16, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_set1_epi16};
        // SAFETY: SSE2 is part of every x86-64, and `requests` is 16 readable bytes.
        return unsafe {
            let equal = _mm_cmpeq_epi16(_mm_loadu_si128(requests.as_ptr().cast()), _mm_set1_epi16(key as i16));
            _mm_movemask_epi8(_mm_packs_epi16(equal, equal)) as u16 & 0xff
        };
    }
    requests.iter().enumerate().fold(0, |mask, (v, &k)| mask | u16::from(k == key) << v)
}
