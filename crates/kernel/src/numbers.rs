//! Checks the indices by which the records of a block refer to each other. The hottest code of the cycle loop uses these indices without a
//! bounds check.
//!
//! Each index is either set when the network is assembled, or copied from another record of the same block. No list ever becomes shorter.
//! Therefore one check at the beginning is enough. [`Block::assert_numbers`] checks a new block, and [`Block::numbers_are_right`] checks a
//! block that was read from a checkpoint. The `SAFETY` comments of this crate refer to `assert_numbers`.
//!
//! In a checkpoint, two properties are not checked: the route keys of packets behind the heads of queues, and whether records agree with
//! each other. Therefore only the build that wrote a checkpoint may read it, and nobody may change the file.

use crate::block::{Block, Reach, Routers};
use crate::net::Net;
use crate::parts::pace::{Event, Paces};
use crate::parts::streams;
use weft_api::base::bits::Bits;
use weft_api::state::{ChannelEnd, InputUnit, NO_JOB, NO_REQUEST, NONE, OutputUnit, Terminal, UNDECIDED};
use weft_api::workload::NOT_DUE;

/// The result of a check; the error describes the invalid index.
type Checked = Result<(), &'static str>;

fn ensure(holds: bool, what: &'static str) -> Checked {
    if holds { Ok(()) } else { Err(what) }
}

/// True if `place` (port << 4 | VC) contains a port below `ports` and a VC below `V`.
fn names_vc<const V: usize>(place: u16, ports: usize) -> bool {
    usize::from(place >> 4) < ports && usize::from(place & 15) < V
}

/// True if `vc` is a VC, or `u8::MAX` (the value while a head has no VC).
fn is_vc_or_none<const V: usize>(vc: u8) -> bool {
    vc == u8::MAX || usize::from(vc) < V
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Panics if an index refers to a record that does not exist.
    pub(crate) fn assert_numbers(&self, net: &Net) {
        if let Err(what) = self.check_numbers(net) {
            panic!("{what}");
        }
    }

    /// True if every index refers to an existing record.
    pub(crate) fn numbers_are_right(&self, net: &Net) -> bool {
        self.check_numbers(net).is_ok()
    }

    fn check_numbers(&self, net: &Net) -> Checked {
        let Reach { routers: Routers { fabric, .. }, interfaces } = &self.reach;
        self.check_lengths(net)?;
        fabric.wires.outs.iter().enumerate().try_for_each(|(o, out)| self.check_output(net, o, out))?;
        fabric.buffers.ins.iter().enumerate().try_for_each(|(i, input)| self.check_input(net, i, input))?;
        (0..self.reach.routers.fabric.requests.routers.len()).try_for_each(|r| self.check_router(net, r))?;
        interfaces.terminals.iter().enumerate().try_for_each(|(t, terminal)| self.check_terminal(net, t, terminal))?;
        self.check_segments(net)?;
        self.check_under_way()
    }

    /// Checks that each list is long enough for all indices that refer to it.
    fn check_lengths(&self, net: &Net) -> Checked {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &self.reach;
        let (inputs, routers) = (fabric.buffers.ins.len(), fabric.requests.routers.len());
        let terminals = interfaces.terminals.len();
        ensure(fabric.wires.outs.len() == inputs + terminals, "an output for each port and each terminal")?;
        let at_router = |&(router, _): &(u32, u16)| (router as usize) < net.coords.len();
        ensure(net.terminal_at.iter().all(at_router), "each terminal is at a router")?;
        let leads_on = fabric.wires.next_router.iter().all(|&router| (router as usize) < net.coords.len());
        ensure(fabric.wires.next_router.len() == inputs && leads_on, "each output leads to a router")?;
        ensure(fabric.requests.requesters.len() == inputs << net.class_bits, "requests for each class of an output")?;
        ensure(fabric.requests.active.0.len() == routers.div_ceil(64), "a bit for each router")?;
        ensure(interfaces.busy.0.len() == terminals.div_ceil(64), "a bit for each terminal")?;
        let last_of = |words: &[u64], count: usize| {
            count.is_multiple_of(64) || words.is_empty() || words[count / 64] >> (count % 64) == 0
        };
        ensure(last_of(&fabric.requests.active.0, routers), "no bit without a router")?;
        ensure(last_of(&interfaces.busy.0, terminals), "no bit without a terminal")?;
        let Paces { of, full, came, from, .. } = &fabric.wires.paces;
        let paced = |length: usize, expected: usize| length == if net.rates.is_some() { expected } else { 0 };
        let of_inputs = [came.len(), from.len()].iter().all(|&length| net.rates.is_none() || length >= inputs);
        let has_paces = paced(of.len(), fabric.wires.outs.len()) && paced(full.len(), routers) && of_inputs;
        ensure(has_paces, "a pace for each channel, where some are paced")?;
        let compared = net.shortcuts.compares_credits_of;
        ensure(
            compared.is_none_or(|class| class >> net.class_bits == 0),
            "heads compare credits of a class that there is",
        )?;
        let candidates = if compared.is_some() { inputs * V } else { 0 };
        let ages = if net.router.by_age || net.router.rings { inputs * V } else { 0 };
        ensure(fabric.requests.ages.len() >= ages, "an age for each VC of an input")?;
        ensure(fabric.requests.candidates.len() == candidates, "candidates for each VC of an input")?;
        ensure(beside.shortcuts.streams().numbers_are_right::<V>(inputs, fabric.wires.outs.len()), "streams of ports")
    }

    /// Checks output unit `o`: its router or terminal, and its far end.
    fn check_output(&self, net: &Net, o: usize, out: &OutputUnit<V>) -> Checked {
        let Reach { routers: Routers { fabric, .. }, interfaces } = &self.reach;
        let (inputs, peer, owner) = (fabric.buffers.ins.len(), out.peer as usize, out.router as usize);
        ensure(usize::from(out.class) < net.links.len(), "an output has a link class")?;
        let vcs = u32::from(out.free_vcs | out.vcs_with_flit | out.vcs_with_credit | out.vcs_with_room);
        ensure(vcs >> V == 0, "the masks of an output name its VCs")?;
        ensure(u32::from(out.requested) >> (1 << net.class_bits) == 0, "heads ask for classes that there are")?;
        ensure(out.is(ChannelEnd::Injection) == (o >= inputs), "injection channels come last")?;
        ensure(out.is(ChannelEnd::Injection) || self.ports_of(owner).contains(&o), "an output belongs to its router")?;
        match out.kind() {
            ChannelEnd::Local => ensure(peer < inputs, "a channel leads to an input"),
            ChannelEnd::Remote => ensure(peer < fabric.wires.cuts.len(), "a cut channel is known"),
            ChannelEnd::Injection => {
                ensure(peer < inputs && owner < interfaces.terminals.len(), "an injection channel has both ends")
            }
            ChannelEnd::Ejection | ChannelEnd::Unused => Ok(()),
        }
    }

    /// Checks input unit `i`: its router, its sender, and the outputs that its heads request or hold.
    fn check_input(&self, net: &Net, i: usize, input: &InputUnit<V>) -> Checked {
        let fabric = &self.reach.routers.fabric;
        let (ports, upstream) = (self.ports_of(input.router as usize), input.upstream() as usize);
        ensure(ports.contains(&i) && ports.start == input.base(i), "an input belongs to its router")?;
        ensure(usize::from(input.class) < net.links.len(), "an input has a link class")?;
        let senders = if input.is_remote() { fabric.wires.cuts.len() } else { fabric.wires.outs.len() };
        ensure(fabric.wires.outs[i].is(ChannelEnd::Unused) || upstream < senders, "an input has a sender")?;
        for v in 0..V {
            let key = input.requests[v];
            ensure(key == NO_REQUEST || key == UNDECIDED || net.port(key) < ports.len(), "a head asks for an output")?;
            ensure(names_vc::<V>(input.output_vc[v], ports.len()), "a packet holds a VC of an output")?;
        }
        Ok(())
    }

    /// The ports of router `r`; empty if the router does not exist.
    fn ports_of(&self, r: usize) -> std::ops::Range<usize> {
        let base =
            |router: usize| self.reach.routers.fabric.requests.routers.get(router).map(|router| router.base as usize);
        let end = self.reach.routers.fabric.buffers.ins.len();
        base(r).map_or(end..end, |start| start..base(r + 1).unwrap_or(end))
    }

    /// Checks the masks of router `r`, and the masks of its outputs.
    fn check_router(&self, net: &Net, r: usize) -> Checked {
        let fabric = &self.reach.routers.fabric;
        let (router, ports) = (&fabric.requests.routers[r], self.ports_of(r));
        ensure(
            ports.len() <= 64 * W && ports.end <= fabric.buffers.ins.len(),
            "a router has ports that masks can name",
        )?;
        let names_ports =
            |mut mask: Bits<W>| std::iter::from_fn(move || mask.take_first()).all(|port| port < ports.len());
        ensure(names_ports(router.vc_requests | router.switch_requests), "requests for outputs")?;
        ensure(names_ports(router.choosing), "heads that choose are at inputs")?;
        let slots = ports.start << net.class_bits..ports.end << net.class_bits;
        ensure(fabric.requests.requesters[slots].iter().all(|&mask| names_ports(mask)), "inputs ask for outputs")?;
        let candidates = fabric.requests.candidates.get(ports.start * V..ports.end * V).unwrap_or(&[]);
        ensure(candidates.iter().all(|&mask| names_ports(mask)), "candidates are outputs")?;
        let outs = &fabric.wires.outs[ports.clone()];
        let held = outs.iter().flat_map(|out| &out.holder);
        ensure({ held }.all(|&holder| names_vc::<V>(holder, ports.len())), "VCs of inputs hold VCs")?;
        let sent_from =
            |holder: u16| fabric.buffers.ins[ports.start + usize::from(holder >> 4)].head[usize::from(holder & 15)];
        let senders =
            outs.iter().flat_map(|out| (0..V).filter(|vc| out.vcs_with_flit >> vc & 1 != 0).map(|vc| out.holder[vc]));
        ensure({ senders }.all(|holder| sent_from(holder) != NONE), "a flit that waits is in a queue")
    }

    fn check_terminal(&self, net: &Net, t: usize, terminal: &Terminal) -> Checked {
        let fabric = &self.reach.routers.fabric;
        ensure((terminal.out as usize) < fabric.wires.outs.len(), "a terminal has an injection channel")?;
        let place = net.terminal_at.get(terminal.id as usize);
        ensure(place.is_some_and(|&(router, _)| (router as usize) < net.coords.len()), "a terminal is at a router")?;
        let sources = self.reach.interfaces.sources.len();
        ensure(terminal.job == NO_JOB || usize::from(terminal.job) < sources, "a terminal is in a job")?;
        let is_quiet = terminal.due == NOT_DUE && !terminal.blocked && !self.reach.interfaces.busy.contains(t);
        // terminals with queues store the data of their sources in `Queues::streams`
        let has_source = terminal.job != NO_JOB || net.interface.is_some();
        ensure(has_source || is_quiet, "a terminal without a job sends nothing")?;
        ensure(is_vc_or_none::<V>(terminal.vc), "a terminal sends on a VC")?;
        let packets = fabric.buffers.packets.items.len();
        ensure(terminal.packet == NONE || (terminal.packet as usize) < packets, "a terminal injects a packet")
    }

    /// Checks that queues are valid lists of segments, and that segments contain valid packet numbers.
    fn check_segments(&self, net: &Net) -> Checked {
        let fabric = &self.reach.routers.fabric;
        let (segments, packets) = (&fabric.buffers.segments.items, fabric.buffers.packets.items.len());
        ensure(!net.single || segments.len() >= packets, "a segment for each packet of one flit")?;
        let is_one = |id: u32| id == NONE || (id as usize) < segments.len();
        let queues =
            fabric.buffers.ins.iter().all(|input| (0..V).all(|v| is_one(input.head[v]) && is_one(input.last(v))));
        ensure(queues && segments.iter().all(|segment| is_one(segment.next)), "queues lead to segments")?;
        ensure(fabric.ideal.coming.iter().all(|&id| is_one(id)), "packets that come have segments")?;
        let has_packet = |id: u32| id == NONE || (id as usize) < packets;
        ensure(segments.iter().all(|segment| has_packet(segment.packet)), "segments name packets")
    }

    /// Checks the indices in flits, credits and alarms that are in flight.
    fn check_under_way(&self) -> Checked {
        let Reach { routers: Routers { fabric, .. }, interfaces } = &self.reach;
        let (inputs, packets) = (fabric.buffers.ins.len(), fabric.buffers.packets.items.len());
        let comes = |to: u32| ((to >> 4) as usize) < inputs && (to & 15) < V as u32;
        let has_packet = |id: u32| id == NONE || (id as usize) < packets;
        ensure(fabric.wires.flits.all(|flit| comes(flit.to) && has_packet(flit.packet)), "flits go to inputs")?;
        let goes_home = |&word: &u32| streams::output(word) < fabric.wires.outs.len() && (word & 15) < V as u32;
        ensure(fabric.wires.credits.all(goes_home), "credits go to outputs")?;
        let opens = |event: &Event| match event {
            Event::Opens(output) => fabric.wires.paces.of.is_empty() || (*output as usize) < fabric.wires.outs.len(),
            Event::Comes(slowed) => (slowed.input as usize) < inputs,
        };
        ensure(fabric.wires.paces.events.all(opens), "channels with a pace open")?;
        let has_source = |terminal: &Terminal| terminal.job != NO_JOB || interfaces.queues.each > 0;
        let wakes = |&t: &u32| interfaces.terminals.get(t as usize).is_some_and(has_source);
        ensure(interfaces.alarms.all(wakes), "alarms wake terminals with a source")?;
        ensure(interfaces.queues.of.iter().all(|queue| is_vc_or_none::<V>(queue.vc)), "a queue sends on a VC")?;
        let queues = &interfaces.queues;
        ensure(queues.numbers_are_right(interfaces.terminals.len()), "queues and streams of each terminal")?;
        let is_alone = |t: u32| queues.each == 0 || queues.filled[t as usize].is_power_of_two();
        let sources = &self.reach.routers.beside.shortcuts.streams().sources;
        let have_one_queue = sources.iter().all(|&o| is_alone(fabric.wires.outs[o as usize].router));
        ensure(have_one_queue, "a terminal with a stream has one queue with packets")?;
        let are_free = fabric.buffers.segments.frees_slots() && fabric.buffers.packets.frees_slots();
        ensure(are_free && queues.ready.frees_slots() && queues.kept.frees_slots(), "free slots are slots")
    }
}
