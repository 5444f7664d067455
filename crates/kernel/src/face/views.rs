//! Records of a block in the form that the engine reads: slices instead of arrays whose length depends on the widths.

use crate::block::{Block, Buffers, Cut, Fabric};
use weft_api::base::wheel::Wheel;
use weft_api::state::{ChannelEnd, Flit, Gate, Packet, Pool, Segment};
use weft_topology::Trunk;

/// A router of a block: its number in the network, and its first port in the block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub id: u32,
    pub base: u32,
}

/// The packets, segments and events in flight, and the far ends of channels.
#[derive(Debug, Clone, Copy)]
pub struct Records<'a> {
    pub packets: &'a Pool<Packet>,
    pub segments: &'a Pool<Segment>,
    pub flits: &'a Wheel<Flit, 64>,
    pub credits: &'a Wheel<u32, 128>,
    /// For each output: the router at the far end, by its number in the whole network.
    pub next_router: &'a [u32],
    pub cuts: &'a [Cut],
    /// The trunk of each output; empty if no links form trunks.
    pub trunks: &'a [Trunk],
}

/// The contents of an output unit ([`OutputUnit`](weft_api::state::OutputUnit)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Output<'a> {
    pub kind: ChannelEnd,
    /// Link class.
    pub class: u8,
    /// The power state, as [`LinkState::number`].
    pub state: u8,
    pub gate: Gate,
    /// Index of the router in this block; for an injection channel, index of the terminal.
    pub router: u32,
    pub peer: u32,
    /// Low 32 bits of the number of flits sent so far.
    pub flits: u32,
    /// VC classes that some head requests.
    pub requested: u16,
    /// VCs that packets hold.
    pub held: u16,
    /// For each VC: free places in the next buffer, and the input port << 4 | input VC that holds the VC.
    pub credits: &'a [u16],
    pub holder: &'a [u16],
}

/// The contents of an input unit ([`InputUnit`](weft_api::state::InputUnit)).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input<'a> {
    pub router: u32,
    pub port: u16,
    /// Link class.
    pub class: u8,
    /// True if the sender is in another block: `upstream` is then a cut channel.
    pub remote: bool,
    pub upstream: u32,
    /// VCs whose head chooses in every step.
    pub choosing: u16,
    /// For each VC: the first segment, the route key of the head, and the output << 4 | output VC that the head packet holds.
    pub head: &'a [u32],
    pub requests: &'a [u16],
    pub output_vc: &'a [u16],
    /// For each VC: the first cycle in which a head may request an output; empty if VCs never close.
    pub opens: &'a [u64],
}

impl Output<'_> {
    /// True if no head may take a VC.
    pub fn is_closed(&self) -> bool {
        self.gate != Gate::Open
    }

    /// True if the channel leads to a router.
    pub fn is_between_routers(&self) -> bool {
        matches!(self.kind, ChannelEnd::Local | ChannelEnd::Remote)
    }
}

impl Input<'_> {
    /// First port of the router. `i`: index of this unit in its block.
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
