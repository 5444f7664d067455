//! Records of a block in the form that the engine reads: with slices, in place of the arrays whose lengths depend on the widths.

use crate::block::{Block, Buffers, Cut, Fabric};
use weft_api::base::wheel::Wheel;
use weft_api::state::{ChannelEnd, Flit, Gate, Packet, Pool, Segment};
use weft_topology::Trunk;

/// A router of a block: its number in the network, and the index of its first port in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub id: u32,
    pub base: u32,
}

/// The packets, segments and events in flight in a block, and the far ends of its channels.
#[derive(Debug, Clone, Copy)]
pub struct Records<'a> {
    pub packets: &'a Pool<Packet>,
    pub segments: &'a Pool<Segment>,
    pub flits: &'a Wheel<Flit, 64>,
    pub credits: &'a Wheel<u32, 128>,
    /// For each output, the router at the far end of the link, as a number in the whole network.
    pub next_router: &'a [u32],
    pub cuts: &'a [Cut],
    /// For each output, the trunk to which it belongs; empty if no links form trunks.
    pub trunks: &'a [Trunk],
}

/// An output unit in the form that the engine reads ([`OutputUnit`](weft_api::state::OutputUnit)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output<'a> {
    pub kind: ChannelEnd,
    /// Link class.
    pub class: u8,
    /// The power state of the channel, as [`LinkState::number`].
    pub state: u8,
    pub gate: Gate,
    /// Index of the router in this block. For an injection channel, index of the terminal.
    pub router: u32,
    pub peer: u32,
    /// Low 32 bits of the number of flits sent so far.
    pub flits: u32,
    /// Mask of the VC classes that at least one head requests.
    pub requested: u16,
    /// Mask of the VCs that packets hold.
    pub held: u16,
    /// For each VC: number of free slots in the next buffer.
    pub credits: &'a [u16],
    /// For each VC: the packet that holds the VC, as input port << 4 | input VC.
    pub holder: &'a [u16],
}

/// An input unit in the form that the engine reads ([`InputUnit`](weft_api::state::InputUnit)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input<'a> {
    pub router: u32,
    pub port: u16,
    /// Link class.
    pub class: u8,
    /// True if the sender is in another block.
    pub remote: bool,
    /// The sender: the index of an output of this block, or the index of a channel between blocks if `remote` is true.
    pub upstream: u32,
    /// Mask of the VCs whose head chooses in every step.
    pub choosing: u16,
    /// For each VC: the first segment of its queue.
    pub head: &'a [u32],
    /// For each VC: the route key of the head.
    pub requests: &'a [u16],
    /// For each VC: the output VC that the head packet holds, as output << 4 | VC.
    pub output_vc: &'a [u16],
    /// For each VC: the first cycle in which its head may request an output; empty if VCs never close in this run.
    pub opens: &'a [u64],
}

impl Output<'_> {
    /// True if heads may take no VC of the channel at present.
    pub fn is_closed(&self) -> bool {
        self.gate != Gate::Open
    }

    /// True if the channel leads to a router.
    pub fn is_between_routers(&self) -> bool {
        matches!(self.kind, ChannelEnd::Local | ChannelEnd::Remote)
    }
}

impl Input<'_> {
    /// Index of the first port of the router. `i`: index of this input unit in its block.
    pub fn base(&self, i: usize) -> usize {
        i - usize::from(self.port)
    }
}

impl<'a> Records<'a> {
    pub(super) fn of<const W: usize, const V: usize>(block: &'a Block<W, V>) -> Self {
        let Fabric { buffers, wires, .. } = &block.reach.routers.fabric;
        Self {
            packets: &buffers.packets,
            segments: &buffers.segments,
            flits: &wires.flits,
            credits: &wires.credits,
            next_router: &wires.next_router,
            cuts: &wires.cuts,
            trunks: &wires.trunks,
        }
    }
}

impl<'a> Output<'a> {
    pub(super) fn of<const W: usize, const V: usize>(block: &'a Block<W, V>, o: usize) -> Self {
        let out = &block.reach.routers.fabric.wires.outs[o];
        Self {
            kind: out.kind(),
            class: out.class,
            state: out.state,
            gate: out.gate(),
            router: out.router,
            peer: out.peer,
            flits: out.flits,
            requested: out.requested,
            held: block.reach.routers.beside.policy.power.held_vcs(o, out),
            credits: &out.credits,
            holder: &out.holder,
        }
    }
}

impl<'a> Input<'a> {
    pub(super) fn of<const V: usize>(buffers: &'a Buffers<V>, i: usize) -> Self {
        let unit = &buffers.ins[i];
        Self {
            router: unit.router,
            port: unit.port,
            class: unit.class,
            remote: unit.is_remote(),
            upstream: unit.upstream(),
            choosing: unit.choosing,
            head: &unit.head,
            requests: &unit.requests,
            output_vc: &unit.output_vc,
            opens: buffers.opens.get(i * V..(i + 1) * V).unwrap_or_default(),
        }
    }
}
