//! Builds a block from its description. All units, pools and calendar wheels are in their initial state. All memory that the cycle loop
//! needs is allocated here, or by the caller that describes the block.

use super::views::Place;
use super::widths::{AnyAllocator, Width};
use super::{AnyBlock, OfWidths};
use crate::block::{
    Beside, Block, Buffers, Cut, Fabric, Interfaces, Mail, Observers, PolicySide, Reach, Requests, Routers, Wires,
};
use crate::net::Net;
use crate::parts::ideal::IdealQueues;
use crate::parts::pace::{Paces, Rates};
use crate::parts::set_aside::SetAsides;
use crate::parts::switch::Switch;
use crate::parts::vc_stage::VcStage;
use crate::shortcuts::Shortcuts;
use crate::switch_allocation::SwitchAllocator;
use std::sync::Arc;
use weft_api::base::bits::{Active, Bits};
use weft_api::base::wheel::Wheel;
use weft_api::board::Board;
use weft_api::compiled::{ForPorts, Widths};
use weft_api::in_classes::in_classes;
use weft_api::sensor::{History, Sensor};
use weft_api::state::{ChannelEnd, InputUnit, NO_JOB, NONE, OutputUnit, Pool, Router};
use weft_api::subnetworks::Views;
use weft_topology::Trunk;

/// The description from which a block is built. The terminals of the block are those at its ports, in the order of the ports.
#[derive(Debug)]
pub struct Plan {
    pub routers: Vec<Place>,
    pub ports: Vec<Port>,
    /// For each output of a router, the trunk to which it belongs; empty if no links form trunks.
    pub trunks: Vec<Trunk>,
    /// Mail for each destination block, with reserved memory.
    pub outbox: Vec<Mail>,
    pub interfaces: Interfaces,
    pub policy: PolicySide,
    pub observers: Observers,
    pub room: Room,
}

/// Description of a port of a router.
#[derive(Debug, Clone, Copy)]
pub struct Port {
    /// Index of the router in the block.
    pub router: u32,
    pub port: u16,
    /// Link class of the outgoing channel.
    pub class: u8,
    /// Link class of the incoming channel.
    pub back: u8,
    pub far: Far,
}

/// The far end of the channel of a port. Routers and terminals have their numbers in the whole network.
#[derive(Debug, Clone, Copy)]
pub enum Far {
    Nowhere,
    Terminal(u32),
    /// The far end belongs to this block.
    Here {
        port: u32,
        router: u32,
    },
    /// The far end belongs to another block.
    Away {
        cut: Cut,
        router: u32,
    },
}

/// Limits for which memory is reserved: the largest numbers of items in flight in a block, and the largest number of cycles by which an
/// event is scheduled ahead.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    pub packets: usize,
    pub flits: usize,
    pub credits: usize,
    pub horizon: u64,
}

/// Builds a block in its initial state, of the type compiled for the widths of the allocator. The caller adds the agents of the policy
/// later.
pub fn block(net: &Net, plan: Plan, allocator: &AnyAllocator) -> Box<dyn AnyBlock> {
    match allocator {
        AnyAllocator::Narrow(allocator) => Box::new(of_widths(net, plan, allocator)),
        AnyAllocator::Wide(allocator) => Box::new(of_widths(net, plan, allocator)),
        AnyAllocator::Widest(allocator) => Box::new(of_widths(net, plan, allocator)),
    }
}

impl AnyAllocator {
    /// The width of the blocks with which this allocator works.
    pub fn width(&self) -> Width {
        match self {
            Self::Narrow(_) => Width::Narrow,
            Self::Wide(_) => Width::Wide,
            Self::Widest(_) => Width::Widest,
        }
    }
}

fn of_widths<const W: usize, const V: usize>(
    net: &Net,
    plan: Plan,
    allocator: &Arc<dyn SwitchAllocator<W, V>>,
) -> OfWidths<W, V>
where
    Widths: ForPorts<V>,
{
    let Units { ins, outs, next_router, cuts } = units(net, &plan.ports);
    let back: Vec<u8> = plan.ports.iter().map(|port| port.back).collect();
    let Plan { routers, trunks, outbox, interfaces, policy, observers, room, .. } = plan;
    let ends = routers.iter().skip(1).map(|router| router.base).chain([ins.len() as u32]);
    let router = |(&Place { id, base }, end): (&Place, u32)| {
        let mut ports = Bits::default();
        (0..(end - base) as usize).for_each(|p| ports.set(p));
        Router { id, base, ports, ..Router::default() }
    };
    let routers: Vec<Router<W>> = routers.iter().zip(ends).map(router).collect();
    let (inputs, outputs) = (ins.len(), outs.len());
    let radix = radix(&routers, inputs);
    let set_asides = match &net.set_aside {
        None => SetAsides::none(),
        Some(rules) => SetAsides::new(rules.rules.queues.into(), (inputs, outputs), room.horizon, back.clone()),
    };
    let ideal = match &net.ideal {
        None => IdealQueues::none(),
        Some(rules) => IdealQueues::new(rules, (inputs, outputs), V, room.horizon),
    };
    let mut block = Block {
        reach: Reach {
            routers: Routers {
                fabric: Fabric {
                    now: 0,
                    routing: in_classes(&net.routing, net.refined.as_ref()),
                    wires: Wires {
                        trunks,
                        flits: Wheel::new(room.horizon, room.flits),
                        credits: Wheel::new(room.horizon, room.credits),
                        paces: paces(net, &outs, back, routers.len(), room.horizon),
                        next_router,
                        outbox,
                        cuts,
                        history: history(net, outputs, room.horizon),
                        granted: vec![u32::MAX; if net.needs.sees_grants { outputs } else { 0 }],
                        came_for: Vec::new(),
                        outs,
                    },
                    buffers: buffers(net, ins, &room),
                    switch: Switch::new(radix),
                    vc_stage: VcStage::new(inputs, radix, if net.router.vc_realloc { V } else { 0 }),
                    requests: requests::<W, V>(net, routers, inputs),
                    views: Views::none(),
                    set_asides,
                    ideal,
                },
                beside: Beside { policy, observers, shortcuts: Shortcuts::new(net.shortcuts, inputs, outputs) },
            },
            interfaces,
        },
        posts: vec![0; net.common.board.as_ref().map_or(0, Board::numbers)],
    };
    await_sources(net, &mut block.reach.interfaces);
    if net.congestion.is_some() {
        block.reach.routers.fabric.count_queued(net);
    }
    block.assert_numbers(net);
    OfWidths { block, allocator: allocator.clone(), then: None }
}

/// Lets the terminals check their queues in the first cycle. Terminals without queues sleep until their sources are due.
fn await_sources(net: &Net, interfaces: &mut Interfaces) {
    for t in 0..interfaces.terminals.len() {
        if net.interface.is_some() {
            interfaces.busy.set(t);
        } else if interfaces.terminals[t].job != NO_JOB {
            interfaces.sleep(net, t, (0, 0));
        }
    }
}

/// Creates the history of flits per output in earlier cycles; `None` if the routing does not read it.
fn history(net: &Net, outputs: usize, horizon: u64) -> Option<History> {
    let is_read = net.needs.sensor == Some(Sensor::HistoryWindow);
    is_read.then(|| History::new(outputs, net.links.iter().map(|l| l.latency), horizon))
}

struct Units<const V: usize> {
    ins: Vec<InputUnit<V>>,
    outs: Vec<OutputUnit<V>>,
    next_router: Vec<u32>,
    cuts: Vec<Cut>,
}

/// Creates the units of all ports, followed by the units of the injection channels.
fn units<const V: usize>(net: &Net, ports: &[Port]) -> Units<V> {
    let terminals = ports.iter().filter(|port| matches!(port.far, Far::Terminal(_))).count();
    let mut outs: Vec<OutputUnit<V>> = Vec::with_capacity(ports.len() + terminals);
    let mut ins: Vec<InputUnit<V>> = Vec::with_capacity(ports.len());
    let (mut next_router, mut cuts, mut nics) = (Vec::with_capacity(ports.len()), Vec::new(), Vec::new());
    for &Port { router, port, class, far, .. } in ports {
        let mut input = InputUnit::new(router, port, class);
        let mut output = output(net, router, class);
        let mut next = 0;
        match far {
            Far::Nowhere => {
                output.lead(ChannelEnd::Unused, NONE);
                output.free_vcs = 0;
            }
            Far::Terminal(t) => {
                output.lead(ChannelEnd::Ejection, t);
                // only the VCs that packets may use have credits, so heads never find another VC
                output.vcs_with_credit = net.links[usize::from(class)].vcs_of.iter().fold(0, |all, vcs| all | vcs);
                output.vcs_with_room = output.vcs_with_credit;
                input.come_from((ports.len() + nics.len()) as u32);
                nics.push(ins.len() as u32);
            }
            Far::Here { port, router } => {
                output.lead(ChannelEnd::Local, port);
                input.come_from(port);
                next = router;
            }
            Far::Away { cut, router } => {
                output.lead(ChannelEnd::Remote, cuts.len() as u32);
                input.come_from_afar(cuts.len() as u32);
                cuts.push(cut);
                next = router;
            }
        }
        ins.push(input);
        outs.push(output);
        next_router.push(next);
    }
    let injection = |(local, peer)| {
        let mut output = output(net, local, 0);
        output.lead(ChannelEnd::Injection, peer);
        output
    };
    outs.extend((0..).zip(nics).map(injection));
    Units { ins, outs, next_router, cuts }
}

fn output<const V: usize>(net: &Net, router: u32, class: u8) -> OutputUnit<V> {
    let link = &net.links[usize::from(class)];
    OutputUnit::new(router, class, link.all, link.buffer)
}

/// Creates the rate data (pace) of each output; empty if every link has the default rate.
fn paces<const W: usize, const V: usize>(
    net: &Net,
    outs: &[OutputUnit<V>],
    back: Vec<u8>,
    routers: usize,
    horizon: u64,
) -> Paces<W> {
    let of = |rates: &Rates| outs.iter().map(|out| rates.pace(out.class)).collect();
    // the flits that can arrive in one cycle over all channels, if they are received in order
    let most = |&class: &u8| net.rates.as_ref().map_or(1, |rates| rates.of.of(class).most_flits_in(1) as usize);
    let arriving = if net.fast_links || net.maps_queues { back.iter().map(most).sum() } else { 0 };
    Paces::new(net.rates.as_ref().map(of).unwrap_or_default(), back, (routers, arriving), horizon)
}

fn buffers<const V: usize>(net: &Net, ins: Vec<InputUnit<V>>, room: &Room) -> Buffers<V> {
    let closed = net.router.routing_delay.max(if net.router.closes_vcs { room.horizon } else { 0 });
    let vcs = if net.router.closes_vcs { ins.len() * V } else { 0 };
    Buffers {
        ins,
        segments: Pool::with_capacity(room.packets),
        packets: Pool::with_capacity(room.packets),
        opens: vec![0; vcs],
        turning: Wheel::new(closed + 2, vcs),
    }
}

fn requests<const W: usize, const V: usize>(net: &Net, routers: Vec<Router<W>>, inputs: usize) -> Requests<W> {
    let of_vcs = |needed: bool| if needed { inputs * V } else { 0 };
    Requests {
        requesters: vec![Bits::default(); inputs << net.class_bits],
        active: Active::new(routers.len()),
        asking: vec![Bits::default(); if net.needs.sees_grants { routers.len() } else { 0 }],
        candidates: vec![Bits::default(); of_vcs(net.shortcuts.compares_credits_of.is_some())],
        ages: vec![0; of_vcs(net.router.by_age || net.router.rings)],
        of_closed: Vec::new(),
        have_chosen: Active::new(if net.chooses { routers.len() } else { 0 }),
        routers,
    }
}

/// The largest number of ports of a router.
fn radix<const W: usize>(routers: &[Router<W>], inputs: usize) -> usize {
    let bases = routers.iter().map(|r| r.base).chain([inputs as u32]).collect::<Vec<_>>();
    bases.windows(2).map(|w| w[1] - w[0]).max().unwrap_or(1) as usize
}
