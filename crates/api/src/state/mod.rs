//! The state of the network as the cycle loop stores it: one record for each port, terminal and router. Packets and segments
//! (packets in a VC queue) are stored in pools.
//!
//! All indices are local to a block. Port `p` of a router has the index `base(router) + p`; the [`OutputUnit`]s of injection channels have
//! the indices after those of routers. The record of an output port takes one cache line, that of an input port two (V = 8). The cycle loop
//! uses the second line only if queues form or packets have several flits.

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
/// Route key of a VC whose head requests no output: the VC has no head, or its head already holds an output VC.
pub const NO_REQUEST: u16 = u16::MAX;
/// Route key of a packet whose route depends on the queues of its present router, and of a head that has not chosen a
/// hop yet.
pub const UNDECIDED: u16 = u16::MAX - 1;

/// Route key of VC class `class` at output port `port`: both numbers packed into one.
#[inline(always)]
pub fn key_of(port: usize, class: usize, class_bits: u32) -> u16 {
    (port << class_bits | class) as u16
}

/// Output port and VC class that a route key names.
#[inline(always)]
pub fn split(key: u16, class_bits: u32) -> (usize, usize) {
    ((key >> class_bits) as usize, (key & ((1 << class_bits) - 1)) as usize)
}

/// Port and VC that `number` combines (port * 16 + VC), as in [`Flit::to`].
#[inline(always)]
pub fn port_and_vc<const V: usize>(number: u32) -> (usize, usize) {
    const { assert!(V.is_power_of_two() && V <= 16) };
    debug_assert!((number & 15) < V as u32, "VC {} of {V}", number & 15);
    ((number >> 4) as usize, number as usize & (V - 1))
}

/// The kind of object at the far end of an output channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum ChannelEnd {
    /// An input port of the same block.
    Local,
    /// An input port of another block: `peer` is an index into the block's list of cut channels (channels to other blocks).
    Remote,
    /// A terminal: `peer` is its global number.
    Ejection,
    /// An input port of this block, reached from a terminal. The field `router` of the output unit is then the terminal.
    Injection,
    /// No link is connected to the port.
    Unused,
}

/// An output unit: the sender's side of a channel. An output unit stores the credits, the packet that holds each VC, and the VC classes
/// that heads request.
#[derive(Debug, Clone, PartialEq, Eq, Kept)]
#[repr(C, align(64))]
pub struct OutputUnit<const V: usize> {
    /// For each VC, the free flit slots in the buffer at the far end.
    pub credits: [u16; V],
    /// For each VC, the packet that holds it: input port << 4 | input VC.
    pub holder: [u16; V],
    /// Mask of the VCs that no packet holds, so that a head may take them; 0 while the channel is closed.
    pub free_vcs: u16,
    /// Mask of the VCs whose holding packet has a flit that waits in this router.
    pub vcs_with_flit: u16,
    /// Mask of the VCs with at least one credit.
    pub vcs_with_credit: u16,
    /// Mask of the VCs with enough credits for a head (`RouterRules::room`); not updated if all packets have one flit.
    pub vcs_with_room: u16,
    /// Mask of the VC classes that at least one head requests.
    pub requested: u16,
    /// Link class.
    #[kept(fixed)]
    pub class: u8,
    /// Power state of the channel, as [`LinkState::number`].
    pub state: u8,
    /// First cycle (low 32 bits) in which the link can take another flit from this output.
    pub next_free: u32,
    /// Number of flits that the channel has sent so far, low 32 bits.
    pub flits: u32,
    #[kept(fixed)]
    pub peer: u32,
    /// The sending router of this block; for an injection channel, the sending terminal of this block.
    #[kept(fixed)]
    pub router: u32,
    pub rr_in: u16,
    pub rr_vc: u8,
    /// The kind of the object at the far end in the low bits, and the [`Gate`] in the higher bits: see [`OutputUnit::kind`] and
    /// [`OutputUnit::gate`].
    pub end: u8,
}

/// Whether heads may take VCs of a channel, and the reason if not. Packets that already held a VC when the channel was closed continue
/// (`Power::held`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
#[repr(u8)]
pub enum Gate {
    Open,
    /// The power policy has closed the channel, so heads may not take its VCs.
    Closed,
    /// The link of the channel has failed, so heads may not take its VCs. In this state, `open` and `close` of the policy have no effect on
    /// the channel, but are stored (`Power::wishes`).
    Broken,
}

/// An input unit: the receiver's side of a channel. An input unit stores a queue for each VC (a list of segments), and the request of the
/// head of each queue.
#[derive(Debug, Clone, PartialEq, Eq, Kept)]
#[repr(C, align(64))]
pub struct InputUnit<const V: usize> {
    /// For each VC, the route key of its head: output << class_bits | class.
    pub requests: [u16; V],
    pub head: [u32; V],
    /// Index of the sending `OutputUnit` in this block; for a sender in another block, index of the cut channel with
    /// the mark `REMOTE`.
    #[kept(fixed)]
    upstream: u32,
    #[kept(fixed)]
    pub router: u32,
    /// Mask of the VCs whose queue has more than one segment.
    pub queued: u16,
    #[kept(fixed)]
    pub port: u16,
    pub rr_out: u16,
    /// Link class of the reverse channel, on which credits of this input return.
    #[kept(fixed)]
    pub class: u8,
    pub rr_vc: u8,
    /// For each VC in `queued`, its last segment. A one-flit packet that meets no queue needs neither this field nor those after it. With
    /// up to 8 VCs, these fields are in the second cache line.
    tail: [u32; V],
    /// For each VC, the output VC that its head packet holds: output << 4 | output VC.
    pub output_vc: [u16; V],
    /// Mask of the VCs whose head chooses its output again in every allocation step (`kernel/src/choose.rs`).
    pub choosing: u16,
    /// Mask of the VCs in `choosing` whose head keeps its choice until a flit leaves through the chosen output.
    pub settled: u16,
}

/// Number of low bits of `OutputUnit::end` that store the kind of the far end.
const KIND_BITS: u32 = 3;
/// Bit of `InputUnit::upstream` that is set if the sender is in another block.
const REMOTE: u32 = 1 << 31;

impl<const V: usize> OutputUnit<V> {
    /// The output unit of a channel whose far end is in this block. All VCs in mask `vcs` are free and have `credits`
    /// credits each.
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

    /// Whether the far end of the channel is of kind `kind`.
    #[inline(always)]
    pub fn is(&self, kind: ChannelEnd) -> bool {
        self.end & ((1 << KIND_BITS) - 1) == kind as u8
    }

    /// The kind of the far end of the channel.
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

    /// Sets the far end of the channel: its kind, and `peer`.
    pub fn lead(&mut self, kind: ChannelEnd, peer: u32) {
        (self.end, self.peer) = (self.end >> KIND_BITS << KIND_BITS | kind as u8, peer);
    }

    /// Whether heads may take a VC of the channel, and the reason if not.
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

    /// Whether the channel is closed, so that heads may not take its VCs.
    #[inline(always)]
    pub fn is_closed(&self) -> bool {
        self.end >> KIND_BITS != 0
    }

    /// Assigns VC `vc` to the packet at the head of VC `v` of input `i`.
    #[inline(always)]
    pub fn hold(&mut self, vc: u8, i: usize, v: u8) {
        self.free_vcs &= !(1 << vc);
        self.vcs_with_flit |= 1 << vc;
        *self.holder.at_mut(vc as usize) = (i << 4) as u16 | u16::from(v);
    }

    /// Mask of the VCs that a head may take now: no packet holds them, and they have enough credits for a head. A head that enters a ring
    /// can need more credits (`Link::open_to`).
    #[inline(always)]
    pub fn available_vcs(&self) -> u16 {
        self.free_vcs & self.vcs_with_room
    }

    /// Sum of the credits of all VCs in mask `vcs` that a head may take now.
    #[inline(always)]
    pub fn open_credits(&self, vcs: u16) -> u32 {
        let (mut open, mut credits) = (self.available_vcs() & vcs & const { u16::MAX >> (16 - V) }, 0);
        while open != 0 {
            // SAFETY: the mask above removes all VCs from `V` on.
            credits += u32::from(*unsafe { self.credits.hot(open.trailing_zeros() as usize) });
            open &= open - 1;
        }
        credits
    }

    /// Mask of the VCs with at least `credits` credits.
    #[cold]
    #[inline(never)]
    pub fn vcs_with(&self, credits: u16) -> u16 {
        (0..).zip(&self.credits).fold(0, |vcs, (vc, &free)| vcs | u16::from(free >= credits) << vc)
    }

    /// Sends a flit that can be on the link from cycle `earliest` on, after the flits that already wait for the link. Returns the cycle in
    /// which the flit is on the link.
    #[inline(always)]
    pub fn depart(&mut self, earliest: u64) -> u64 {
        let depart = self.departure(earliest);
        self.next_free = depart as u32 + 1;
        depart
    }

    /// The cycle in which a flit that can be on the link from cycle `earliest` on would be on it.
    #[inline(always)]
    pub fn departure(&self, earliest: u64) -> u64 {
        let wait = (self.next_free.wrapping_sub(earliest as u32) as i32).max(0);
        earliest + wait as u64
    }

    /// Sends a flit into VC `vc` of the buffer at the far end, and uses one credit for it. `need`: number of credits that a head needs.
    #[inline(always)]
    pub fn spend<const SINGLE: bool>(&mut self, vc: usize, need: u16) {
        self.flits += 1;
        self.use_credit::<SINGLE>(vc, need);
    }

    /// Uses one credit of VC `vc`. `need`: number of credits that a head needs. `SINGLE`: this number is one, because all packets have one
    /// flit.
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

    /// Adds a returned credit of VC `vc`, for which no head waits. `need`: number of credits that a head needs.
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
    /// The empty input unit of port number `port` of a router.
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

    /// Sets the sender of the channel to output `upstream` of this block.
    pub fn come_from(&mut self, upstream: u32) {
        self.upstream = upstream;
    }

    /// Sets the sender of the channel to an output in another block; `cut` is the number of the cut channel.
    pub fn come_from_afar(&mut self, cut: u32) {
        self.upstream = cut | REMOTE;
    }

    /// Whether the sender of the channel is in another block.
    #[inline(always)]
    pub fn is_remote(&self) -> bool {
        self.upstream & REMOTE != 0
    }

    /// Index of the sending `OutputUnit` of this block; index of the cut channel if the sender is in another block.
    #[inline(always)]
    pub fn upstream(&self) -> u32 {
        self.upstream & !REMOTE
    }

    /// Index in the block of the first port of the router. `i`: index of this input unit in the block.
    #[inline(always)]
    pub fn base(&self, i: usize) -> usize {
        i - usize::from(self.port)
    }

    /// The last segment in the queue of VC `v`; `NONE` if the queue is empty.
    #[inline(always)]
    pub fn last(&self, v: usize) -> u32 {
        if self.queued >> v & 1 != 0 { *self.tail.at(v) } else { *self.head.at(v) }
    }

    /// Appends segment `id` to the queue of VC `v`. Returns the segment that was the last before; `NONE` if the queue was empty.
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

    /// Makes segment `next` the head of VC `v`; `NONE` makes the queue empty.
    #[inline(always)]
    pub fn follow(&mut self, v: usize, next: u32) {
        *self.head.at_mut(v) = next;
        if self.queued >> v & 1 != 0 && *self.tail.at(v) == next {
            self.queued &= !(1 << v);
        }
    }

    /// Moves segment `id` of VC `v` to the head of the queue. The segment follows segment `before`. Returns the previous head; the caller
    /// must then link the segments.
    pub fn bring_forward(&mut self, v: usize, before: u32, id: u32) -> u32 {
        if self.last(v) == id {
            *self.tail.at_mut(v) = before;
        }
        std::mem::replace(self.head.at_mut(v), id)
    }

    /// Records that the packet at the head of VC `v` has taken VC `vc` of output `p`.
    #[inline(always)]
    pub fn hold(&mut self, v: u8, p: usize, vc: u8) {
        *self.output_vc.at_mut(v as usize) = (p << 4) as u16 | u16::from(vc);
    }
}

/// A segment: the flits of one packet in a VC queue. The segment stores flits only as counts (`arrived`, `sent`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
#[repr(C)]
pub struct Segment {
    pub packet: u32,
    pub next: u32,
    pub arrived: u16,
    pub sent: u16,
    pub len: u16,
    /// Route key of the packet at its present router.
    pub key: u16,
}

impl Segment {
    /// The segment of a one-flit packet; its index in the pool of segments is that of packet `packet` in the pool of packets. If later
    /// packets get this index, they use the segment again: only `next` and `key` change.
    pub fn of_single(packet: u32) -> Self {
        Self { packet, next: NONE, arrived: 1, sent: 0, len: 1, key: NO_REQUEST }
    }
}

/// Flags of a packet, one bit each. `MEASURED`: the packet counts in the measurement.
pub const MEASURED: u8 = 1;
pub const DETOUR: u8 = 2;
/// The user watches the packet (`weft run --watch`).
pub const WATCHED: u8 = 4;
/// The packet is on a detour within its present subnetwork.
pub const AROUND: u8 = 8;
/// A router has marked the packet, because many flits waited for the output through which it left (`congestion.rs`).
pub const MARKED: u8 = 16;
/// The packet is a notification of congestion control: it informs its destination of marks on packets sent by that
/// terminal.
pub const NOTICE: u8 = 32;
/// The packet is the first on its VC since this queue was set aside for a congested output. The packet must wait there until older packets
/// in other queues of the channel have left.
pub const FENCED: u8 = 64;
/// The packet waits in a normal queue (not set aside), and the number of flits that wait for its output includes the packet.
pub const COUNTED: u8 = 128;

/// A packet. The record takes one cache line. The packet's source and the routing write its fields.
#[derive(Debug, Clone, Copy, Default, Value)]
#[repr(C, align(64))]
pub struct Packet {
    pub created: u64,
    pub injected: u64,
    /// Coordinates of the router to which the packet goes in its present phase.
    pub target: u64,
    /// Coordinates of the packet's destination router.
    pub dest: u64,
    pub src: u32,
    pub dst: u32,
    /// Number of this packet among the packets of its source: (src, seq) identifies a packet. Packets that deliveries caused are numbered
    /// downward from the largest number.
    pub seq: u32,
    pub len: u16,
    pub dst_port: u16,
    pub phase: u8,
    /// On grids, the dimension in which the packet moves now, plus 1; 0 before the first dimension.
    pub dim: u8,
    /// Position of the packet's VC class within the phase, such as the side of a ring's dateline, or the number of global links crossed.
    pub lane: u8,
    pub flags: u8,
    /// Number of the packet's message class.
    pub class: u8,
    /// Number of the packet's job.
    pub job: u16,
    /// Number of links between routers that the packet has crossed so far, for statistics. Only the cycle loop counts crossed links. Checks
    /// and explanations do not count, so a routing must not depend on this number (`tests/layers.rs`). This field has 32 bits because a
    /// routing may guarantee a limit of millions of hops.
    pub links_crossed: u32,
    /// A number that the workload has given to the packet and gets back at its delivery.
    pub tag: u32,
}

/// The data that a routing has written into a packet. If two packets at the same router have the same destination and the same data, they
/// take the same hops from there.
pub type RouteState = (u64, u8, u8, u8, u8);

impl Packet {
    /// All fields of the packet that a routing may have written.
    pub fn route_state(&self) -> RouteState {
        (self.target, self.phase, self.dim, self.lane, self.flags & (DETOUR | AROUND))
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Kept)]
pub struct Router<const W: usize> {
    /// Requests for VC allocation: mask of the outputs for which at least one head may get a VC.
    pub vc_requests: Bits<W>,
    /// Requests for switch allocation: mask of the outputs for which at least one flit may cross the switch.
    pub switch_requests: Bits<W>,
    /// Mask of the inputs with a head that chooses its output again in every allocation step.
    pub choosing: Bits<W>,
    #[kept(fixed)]
    pub base: u32,
    #[kept(fixed)]
    pub id: u32,
    /// Mask of the ports of the router.
    #[kept(fixed)]
    pub ports: Bits<W>,
}

impl<const W: usize> Router<W> {
    /// Records that the head of VC `v` of `input`, an input of this router, no longer chooses its output in every step.
    #[inline(always)]
    pub fn stop_choosing<const V: usize>(&mut self, input: &mut InputUnit<V>, v: usize) {
        input.choosing &= !(1 << v);
        if input.choosing == 0 {
            self.choosing.clear(input.port.into());
        }
    }
}

/// A move: a flit crosses the switch from VC `v` of input `i` to VC `vc` of output `p`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Move {
    pub i: u16,
    pub p: u16,
    pub v: u8,
    pub vc: u8,
}

/// Value of `Terminal::job` for a terminal that belongs to no job.
pub const NO_JOB: u16 = u16::MAX;

/// The network interface of a terminal: the packet that it injects, and the cycle in which it needs the next packet.
#[derive(Debug, Clone, PartialEq, Eq, Kept)]
#[repr(C, align(64))]
pub struct Terminal {
    /// The cycle in which the terminal requests the next packet from its source.
    pub due: u64,
    /// The cycle in which an idle terminal wakes next, to request a packet if one is due. If the wheel has alarms of the terminal for other
    /// cycles, these alarms are out of date.
    pub alarm: u64,
    /// The packet that the terminal injects now; `NONE` if it injects none.
    pub packet: u32,
    /// Number of flits of this packet that are not injected yet.
    pub left: u16,
    /// The job of the terminal; [`NO_JOB`] if it belongs to none.
    #[kept(fixed)]
    pub job: u16,
    /// Index of the terminal's source among the sources of the job in this block.
    #[kept(fixed)]
    pub source: u32,
    #[kept(fixed)]
    pub id: u32,
    /// Index of the terminal's injection channel among the output units.
    #[kept(fixed)]
    pub out: u32,
    /// Number of packets that the terminal's source created without a request by a delivery.
    pub made: u32,
    /// Number of packets of the terminal that deliveries caused.
    pub brought_about: u32,
    /// The VC of the injection channel that the injected packet uses; `u8::MAX` before its head has left.
    pub vc: u8,
    /// Whether the terminal has a flit to send but must wait for a credit, a VC or its link. While this is true, the cycle loop skips the
    /// terminal.
    pub blocked: bool,
}

/// A flit on a link, as an event in the wheel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Flit {
    /// Where the flit arrives: input port * 16 + VC.
    pub to: u32,
    /// For a head flit, its packet; for a body flit, `NONE`.
    pub packet: u32,
    /// For a head flit, its route key; for a body flit, [`BODY`], [`RUN_BEGINS`] or [`RUN_ENDS`].
    pub key: u16,
    /// For a head flit, the number of flits of its packet.
    pub len: u16,
}

/// `Flit::key` of a body flit outside a run. (A run is a sequence of body flits stored as one event, see
/// `kernel/src/shortcuts/streams.rs`.)
pub const BODY: u16 = UNDECIDED;
/// `Flit::key` of the first flit of a run of body flits.
pub const RUN_BEGINS: u16 = 1;
/// `Flit::key` of the event in the cycle after the last flit of a run of body flits. The event at the end of a run
/// represents no flit.
pub const RUN_ENDS: u16 = 2;

impl Flit {
    /// A body flit that has an event for itself.
    #[inline(always)]
    pub fn of_body(to: u32) -> Self {
        Self::of_run(to, BODY)
    }

    /// The first flit of a run of body flits, or the event after the run's last flit, depending on `key`.
    #[inline(always)]
    pub fn of_run(to: u32, key: u16) -> Self {
        Self { to, packet: NONE, key, len: 0 }
    }
}

const _: () = assert!(size_of::<OutputUnit<8>>() == 64);
const _: () = assert!(size_of::<InputUnit<8>>() == 128);
const _: () = assert!(size_of::<Packet>() == 64);
const _: () = assert!(size_of::<Terminal>() == 64);

/// Mask of the VCs whose queues are not empty. `heads`: the first segment of each VC.
#[inline(always)]
pub fn occupied<const V: usize>(heads: &[u32; V]) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if V == 8 {
        use std::arch::x86_64::{
            _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_packs_epi32, _mm_set1_epi32,
        };
        // SAFETY: every x86-64 processor has SSE2, and `heads` consists of 32 readable bytes.
        return unsafe {
            let first = heads.as_ptr();
            let none = |half: *const u32| _mm_cmpeq_epi32(_mm_loadu_si128(half.cast()), _mm_set1_epi32(NONE as i32));
            let empty = _mm_packs_epi32(none(first), none(first.add(4)));
            !(_mm_movemask_epi8(_mm_packs_epi16(empty, empty)) as u16) & 0xff
        };
    }
    heads.iter().enumerate().fold(0, |mask, (v, &head)| mask | u16::from(head != NONE) << v)
}

/// Mask of the VCs whose head has route key `key`.
#[inline(always)]
pub fn matching<const V: usize>(requests: &[u16; V], key: u16) -> u16 {
    #[cfg(target_arch = "x86_64")]
    if V == 8 {
        use std::arch::x86_64::{_mm_cmpeq_epi16, _mm_loadu_si128, _mm_movemask_epi8, _mm_packs_epi16, _mm_set1_epi16};
        // SAFETY: every x86-64 processor has SSE2, and `requests` consists of 16 readable bytes.
        return unsafe {
            let equal = _mm_cmpeq_epi16(_mm_loadu_si128(requests.as_ptr().cast()), _mm_set1_epi16(key as i16));
            _mm_movemask_epi8(_mm_packs_epi16(equal, equal)) as u16 & 0xff
        };
    }
    requests.iter().enumerate().fold(0, |mask, (v, &k)| mask | u16::from(k == key) << v)
}
