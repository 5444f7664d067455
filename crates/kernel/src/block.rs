//! A block: a part of the network, with the state of its routers and terminals. Blocks do not share data; they exchange mail at the end of
//! each window.

use crate::parts::control::Control;
use crate::parts::deliveries::Delivery;
use crate::parts::faults::Faults;
use crate::parts::ideal::{IdealQueues, Place};
use crate::parts::limits::Limits;
use crate::parts::pace::{Paces, Slowed};
use crate::parts::power::Power;
use crate::parts::queues::Queues;
use crate::parts::set_aside::{Note, SetAsides};
use crate::parts::switch::Switch;
use crate::parts::vc_stage::VcStage;
use crate::parts::watch::Watch;
use crate::recorders::Recorders;
use crate::shortcuts::Shortcuts;
use crate::tally::Tally;
use weft_api::agents::Agents;
use weft_api::base::arrays::At;
use weft_api::base::bits::{Active, Bits};
use weft_api::base::kept::Kept;
use weft_api::base::unchecked::Hot;
use weft_api::base::wheel::Wheel;
use weft_api::compiled::HeadRouting;
use weft_api::control::Arrival;
use weft_api::sensor::History;
use weft_api::state::{Flit, InputUnit, NO_JOB, NONE, OutputUnit, Packet, Pool, Router, Segment, Terminal};
use weft_api::subnetworks::Views;
use weft_api::workload::JobSources;
use weft_topology::Trunk;

/// The far end of a channel to another block: a port of that block.
#[derive(Debug, Clone, Copy)]
pub struct Cut {
    pub block: u32,
    /// Input port (for flits) or output port (for credits) in the other block.
    pub port: u32,
}

/// Mail from one block to another: the events that cross between the blocks in a window.
#[derive(Debug, Clone, Default, Kept)]
pub struct Mail {
    /// Flits: (arrival cycle, flit). If the flit is a head, its `packet` is an index into `packets`.
    pub(crate) flits: Vec<(u64, Flit)>,
    pub(crate) packets: Vec<Packet>,
    /// Credits: (arrival cycle, output port * 16 + VC).
    pub(crate) credits: Vec<(u64, u32)>,
    /// Changes of rates: (first cycle, rate of the flits that enter an input of the other block from then on).
    pub(crate) slowed: Vec<(u64, Slowed)>,
    /// Control packets: (arrival cycle, packet).
    pub(crate) messages: Vec<(u64, Arrival)>,
    /// Notes about queues that are set aside for congested outputs: (arrival cycle, note).
    pub(crate) notes: Vec<(u64, Note)>,
    /// Places (flit slots) that have become free in a queue of the ideal map: (arrival cycle, places).
    pub(crate) places: Vec<(u64, Place)>,
}

/// The outputs of router `$r`, in the form that a routing reads. The code is a macro, because a function would borrow all of `Fabric`.
macro_rules! queues_at {
    ($fabric:expr, $net:expr, $r:expr) => {
        weft_api::view::Queues::new(
            (&$fabric.wires.outs, &$fabric.wires.trunks),
            // SAFETY: all callers pass the number of a router of the block (checked by `assert_numbers`).
            unsafe { weft_api::base::unchecked::Hot::hot(&$fabric.requests.routers[..], $r) }.base,
            (&$fabric.views, $r),
            $fabric.wires.history.as_ref(),
            weft_api::view::Grants { full: $fabric.wires.paces.full_at($r), last: &$fabric.wires.granted },
            $fabric.now,
            &$net.common,
        )
    };
}
pub(crate) use queues_at;

#[derive(Debug, Kept)]
pub struct Block<const W: usize, const V: usize> {
    pub(crate) reach: Reach<W, V>,
    /// Scratch memory: the numbers that a router posts on the board, where other routers read them.
    #[kept(scratch)]
    pub(crate) posts: Vec<u32>,
}

/// The state that agents may read and write: the routers and the network interfaces.
#[derive(Debug, Kept)]
pub struct Reach<const W: usize, const V: usize> {
    pub(crate) routers: Routers<W, V>,
    pub(crate) interfaces: Interfaces,
}

/// The fabric, together with the power policy, the counts and the shortcuts. An arriving flit changes only these parts.
#[derive(Debug, Kept)]
pub struct Routers<const W: usize, const V: usize> {
    pub(crate) fabric: Fabric<W, V>,
    pub(crate) beside: Beside,
}

/// The routers of a block, the channels between them, the flits and credits in flight, and the memory of the switch allocator.
#[derive(Debug, Kept)]
pub struct Fabric<const W: usize, const V: usize> {
    pub(crate) now: u64,
    /// The routing, in the form compiled for the number of VCs of this block.
    #[kept(fixed)]
    pub(crate) routing: Box<dyn HeadRouting<V>>,
    pub(crate) wires: Wires<W, V>,
    pub(crate) buffers: Buffers<V>,
    pub(crate) requests: Requests<W>,
    pub(crate) switch: Switch<W>,
    pub(crate) vc_stage: VcStage<W>,
    /// For each router, the states of the links of its subnetworks, as far as the router knows them.
    pub(crate) views: Views,
    /// Queues that are set aside for congested outputs; empty if the run has none.
    pub(crate) set_asides: SetAsides,
    /// Queues per destination, in addition to the VCs; empty if the run has none.
    pub(crate) ideal: IdealQueues,
}

/// The power policy, the counts and the shortcuts of a block.
#[derive(Debug, Kept)]
pub struct Beside {
    pub(crate) policy: PolicySide,
    pub(crate) observers: Observers,
    pub(crate) shortcuts: Shortcuts,
}

/// The channels of a block: their output units, the flits and credits in flight, and the far ends of the channels.
#[derive(Debug, Kept)]
pub struct Wires<const W: usize, const V: usize> {
    #[kept(each)]
    pub(crate) outs: Vec<OutputUnit<V>>,
    /// For each output of a router, the trunk to which it belongs; empty if no links form trunks.
    #[kept(fixed)]
    pub(crate) trunks: Vec<Trunk>,
    pub(crate) flits: Wheel<Flit, 64>,
    pub(crate) credits: Wheel<u32, 128>,
    pub(crate) paces: Paces<W>,
    /// For each output, the router at the far end of the link, as a number in the whole network.
    #[kept(fixed)]
    pub(crate) next_router: Vec<u32>,
    #[kept(fixed)]
    pub(crate) cuts: Vec<Cut>,
    /// Mail that this block collects in a window, for each destination block.
    #[kept(each)]
    pub(crate) outbox: Vec<Mail>,
    #[kept(each)]
    pub(crate) history: Option<History>,
    /// For each output: the low 32 bits of the last cycle in which a head was granted this output. Empty unless the routing needs these
    /// cycles.
    #[kept(each)]
    pub(crate) granted: Vec<u32>,
    /// For each output of a router: the low 32 bits of the number of arrived flits that leave the router by this output. Empty unless
    /// agents or congestion control need these counts (`queued.rs`).
    #[kept(each)]
    pub(crate) came_for: Vec<u32>,
}

impl<const W: usize, const V: usize> Wires<W, V> {
    /// The mail to the block at the far end of channel `cut`, and the port of the channel in that block. `cut` counts only the channels
    /// that lead to other blocks.
    #[inline(always)]
    pub(crate) fn mail_to(&mut self, cut: u32) -> (&mut Mail, u32) {
        let Cut { block, port } = self.cuts[cut as usize];
        (&mut self.outbox[block as usize], port)
    }
}

/// The buffers at the far ends of channels (queues of segments in input units), and the packets.
#[derive(Debug, Kept)]
pub struct Buffers<const V: usize> {
    #[kept(each)]
    pub(crate) ins: Vec<InputUnit<V>>,
    pub(crate) segments: Pool<Segment>,
    pub(crate) packets: Pool<Packet>,
    /// The first cycle in which the head may request an output, by input * V + VC. See `closed_vcs.rs`.
    #[kept(each)]
    pub(crate) opens: Vec<u64>,
    /// The heads that wait for their cycle in `opens`, as input * 16 + VC.
    pub(crate) turning: Wheel<u32, 128>,
}

impl<const V: usize> Buffers<V> {
    /// The first segment in the queue of VC `v` of input `i`. The queue must not be empty.
    pub(crate) fn front(&self, i: usize, v: usize) -> &Segment {
        &self.segments.items[*self.ins[i].head.at(v) as usize]
    }

    pub(crate) fn front_mut(&mut self, i: usize, v: usize) -> &mut Segment {
        &mut self.segments.items[*self.ins[i].head.at(v) as usize]
    }

    /// The segments in the queue of VC `v` of input `i`, from its first segment on. Do not call this method while the first packet may
    /// bypass the allocator, because its segment may not be initialised yet (`Fabric::begin_segment`).
    pub(crate) fn queue(&self, i: usize, v: usize) -> impl Iterator<Item = &Segment> {
        let segment = |id: u32| (id != NONE).then(|| &self.segments.items[id as usize]);
        std::iter::successors(segment(*self.ins[i].head.at(v)), move |before| segment(before.next))
    }
}

/// The requests of the heads and flits of each router.
#[derive(Debug, Kept)]
pub struct Requests<const W: usize> {
    #[kept(each)]
    pub(crate) routers: Vec<Router<W>>,
    /// For each pair (output, VC class): the inputs whose heads request it.
    #[kept(each)]
    pub(crate) requesters: Vec<Bits<W>>,
    /// Routers with requests for the allocator, and terminals with flits to send.
    pub(crate) active: Active,
    /// For each router: the inputs with a head that chooses in every step and has not yet settled on an output. The list can contain inputs
    /// that no longer have such a head. Empty unless the routing reads which outputs were granted.
    #[kept(each)]
    pub(crate) asking: Vec<Bits<W>>,
    /// Indexed by input * V + VC: the ports that the head may use, if it chooses among them by credits (`Profile::compares_credits_of`).
    #[kept(each)]
    pub(crate) candidates: Vec<Bits<W>>,
    /// Indexed by input * V + VC: the cycle in which the head packet was created or injected. Only arbiters that prefer the oldest packet
    /// use it.
    #[kept(each)]
    pub(crate) ages: Vec<u64>,
    /// Scratch memory: closed outputs that heads have requested. `ask_for_closed` notifies the agents of these outputs between the steps of
    /// a phase.
    #[kept(scratch)]
    pub(crate) of_closed: Vec<u32>,
    /// Scratch memory: routers whose heads have all chosen before the first allocation step of this cycle.
    #[kept(scratch)]
    pub(crate) have_chosen: Active,
}

/// The network interfaces of the terminals in a block.
#[derive(Debug, Kept)]
pub struct Interfaces {
    #[kept(each)]
    pub terminals: Vec<Terminal>,
    pub busy: Active,
    pub alarms: Wheel<u32, 128>,
    /// The sources of the terminals in this block, for each job.
    #[kept(each)]
    pub sources: Vec<JobSources>,
    /// Indexed by job and source: the terminal to which the source belongs. Empty unless calling one source can make other sources due.
    #[kept(fixed)]
    pub terminal_of: Vec<Vec<u32>>,
    /// The next cycle in which a source acts without being called because of a delivery.
    pub next_act: u64,
    /// Packets whose last channel was granted but that are not yet delivered, for workloads that are notified of deliveries.
    pub deliveries: Wheel<Delivery, 32>,
    /// Scratch memory: the deliveries of this cycle, to sort them by terminal.
    #[kept(scratch)]
    pub in_order: Vec<Delivery>,
    /// The injection queues of the terminals; empty if terminals have no queues.
    pub queues: Queues,
    /// The flows whose rate congestion control limits.
    pub limits: Limits,
}

/// The data of the power policy (accounts of channels, agents, and their control packets), and the data about failed parts.
#[derive(Debug, Kept)]
pub struct PolicySide {
    /// Accounts of the channels, and the requests of the policy's agents.
    pub power: Power,
    #[kept(each)]
    pub agents: Option<Box<dyn Agents>>,
    pub control: Control,
    pub faults: Faults,
}

/// Counts and recordings: the parts of a block that read its state and do not change it.
#[derive(Debug, Kept)]
pub struct Observers {
    pub tally: Tally,
    pub recorders: Recorders,
    #[kept(fixed)]
    pub watch: Watch,
}

/// A source of a job at one terminal, or one part of this source.
#[derive(Debug, Clone, Copy)]
pub struct AtTerminal {
    pub job: u16,
    /// Index of the source within its job in this block.
    pub source: u32,
    /// The next cycle in which the cycle loop calls the source for a packet.
    pub due: u64,
}

impl Interfaces {
    /// The injection channel of terminal `t`, as an index of an output.
    #[inline(always)]
    pub(crate) fn channel_of(&self, t: usize) -> usize {
        // SAFETY: the cycle loop calls this method only with valid terminal numbers (checked by `assert_numbers`).
        unsafe { self.terminals.hot(t) }.out as usize
    }

    /// All sources of all terminals in the block.
    pub fn each_source(&self) -> impl Iterator<Item = AtTerminal> + '_ {
        let has_queues = self.queues.each > 0;
        let streams = self.queues.streams.iter();
        let queued = streams.map(|stream| AtTerminal { job: stream.job, source: stream.source, due: stream.due });
        let terminals = self.terminals.iter().filter(move |terminal| !has_queues && terminal.job != NO_JOB);
        let single = terminals.map(|t| AtTerminal { job: t.job, source: t.source, due: t.due });
        queued.chain(single)
    }

    /// Number of packets that terminals have taken from their sources but whose head has not left the terminal.
    pub fn packets_that_wait(&self) -> u64 {
        let in_hand = self.terminals.iter().filter(|terminal| terminal.packet != NONE && terminal.vc == u8::MAX);
        let queued = if self.queues.each > 0 { 0..self.terminals.len() } else { 0..0 };
        in_hand.count() as u64 + queued.map(|t| self.queues.waiting(t)).sum::<u64>()
    }
}

/// Numbers of items for which mail reserves memory, for each kind of item.
#[derive(Debug, Clone, Copy)]
pub struct MailRoom {
    pub flits: usize,
    pub packets: usize,
    pub credits: usize,
    pub slowed: usize,
    pub messages: usize,
    pub notes: usize,
    pub places: usize,
}

impl Mail {
    /// Creates empty mail with reserved memory.
    pub fn with_capacity(room: MailRoom) -> Self {
        Self {
            flits: Vec::with_capacity(room.flits),
            packets: Vec::with_capacity(room.packets),
            credits: Vec::with_capacity(room.credits),
            slowed: Vec::with_capacity(room.slowed),
            messages: Vec::with_capacity(room.messages),
            notes: Vec::with_capacity(room.notes),
            places: Vec::with_capacity(room.places),
        }
    }

    /// Creates empty mail that reserves the same memory as `mail`.
    pub fn with_capacity_of(mail: &Self) -> Self {
        Self::with_capacity(MailRoom {
            flits: mail.flits.capacity(),
            packets: mail.packets.capacity(),
            credits: mail.credits.capacity(),
            slowed: mail.slowed.capacity(),
            messages: mail.messages.capacity(),
            notes: mail.notes.capacity(),
            places: mail.places.capacity(),
        })
    }

    /// Size of the contents of the mail \[bytes\].
    pub fn bytes(&self) -> u64 {
        let Self { flits, packets, credits, slowed, messages, notes, places } = self;
        let of_data = size_of_val(&flits[..]) + size_of_val(&packets[..]) + size_of_val(&credits[..]);
        let of_rates = size_of_val(&slowed[..]) + size_of_val(&messages[..]);
        (of_data + of_rates + size_of_val(&notes[..]) + size_of_val(&places[..])) as u64
    }
}
