//! Receives the flits that arrive at the input ports of the block in this cycle.

use crate::block::{Fabric, PolicySide, Routers, queues_at};
use crate::net::Net;
use crate::parts::bypass::BypassFlit;
use crate::parts::profile::{Arrival, HeadPath, Kind};
use weft_api::agents::{Arrivals, Detour};
use weft_api::base::arrays::At;
use weft_api::base::unchecked::Hot;
use weft_api::compiled::Here;
use weft_api::state::{Flit, NO_REQUEST, NONE, Segment, UNDECIDED, port_and_vc};
use weft_api::view::HopNote;

impl<const W: usize, const V: usize> Routers<W, V> {
    pub(crate) fn receive_flits<const SINGLE: bool>(&mut self, net: &Net) {
        if net.chooses {
            self.beside.shortcuts.choose_late_if(self.beside.policy.agents_act(self.fabric.now));
        }
        if net.fast_links || net.maps_queues {
            self.receive_in_order(net);
        }
        while let Some((first, len)) = self.fabric.wires.flits.due(self.fabric.now) {
            self.fabric.tell_of_arrivals(&mut self.beside.policy, (first, len));
            if net.shortcuts.has(Kind::Prefetch) {
                self.fabric.bring_for_flits(&self.beside.shortcuts, net, (first, len));
            }
            if self.fabric.counts_queued() {
                self.fabric.count_arrivals(net, (first, len));
            }
            match self.beside.shortcuts.arrival(net.chooses) {
                Arrival::Waits => self.receive_chunk::<SINGLE, false, false>(net, (first, len)),
                Arrival::MayBypass => self.receive_chunk::<SINGLE, true, false>(net, (first, len)),
                Arrival::MayChooseAndBypass => self.receive_chunk::<SINGLE, true, true>(net, (first, len)),
                Arrival::AmongStreams => self.receive_among_streams(net, (first, len)),
            }
            self.fabric.wires.flits.release(self.fabric.now);
        }
        if !SINGLE && self.beside.shortcuts.has_streams() {
            self.receive_runs(net);
        }
        if net.router.closes_vcs {
            self.open_vcs(net);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Moves the flits that arrive in this cycle from the calendar wheel to a list, in reverse order. If several flits of one packet arrive
    /// in a cycle, they are then received in the order in which they were sent.
    #[cold]
    #[inline(never)]
    fn collect_flits(&mut self, policy: &mut PolicySide) {
        while let Some((first, len)) = self.wires.flits.due(self.now) {
            self.tell_of_arrivals(policy, (first, len));
            self.wires.paces.arriving.extend(self.wires.flits.items(first, len).iter().rev());
            self.wires.flits.release(self.now);
        }
    }

    /// Notifies the agents of the flits in a chunk that has arrived, if the policy requests such events.
    #[inline(always)]
    fn tell_of_arrivals(&mut self, policy: &mut PolicySide, (first, len): (u32, usize)) {
        if policy.power.probes.arrivals
            && let Some(agents) = &mut policy.agents
        {
            let flits = self.wires.flits.items(first, len);
            agents.arrive(&Arrivals { now: self.now, flits, packets: &self.buffers.packets.items });
        }
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Receives the `len` flits of the chunk whose first flit is at index `first`. `BYPASS`: whether heads may bypass the allocator.
    /// `CHOOSE`: whether heads that must first choose an output may also bypass it. This is a separate function, because the compiler then
    /// has more registers for its loop than inside the function that runs all phases.
    #[inline(never)]
    fn receive_chunk<const SINGLE: bool, const BYPASS: bool, const CHOOSE: bool>(
        &mut self,
        net: &Net,
        (first, len): (u32, usize),
    ) {
        for k in 0..len {
            // SAFETY: the chunk has `len` items, and is released only later.
            let flit = unsafe { self.fabric.wires.flits.hot_item(first, k) };
            self.receive::<SINGLE, BYPASS, CHOOSE>(net, flit);
        }
    }

    /// Receives the flits of this cycle in two kinds of networks: those in which several flits of a packet can arrive in one cycle, and
    /// those in which an input has more queues than VCs. In the second kind, this function counts all flits before a head reads the counts.
    /// Therefore the order of the flits does not change results.
    #[inline(never)]
    fn receive_in_order(&mut self, net: &Net) {
        self.fabric.collect_flits(&mut self.beside.policy);
        if let Some(rules) = &net.set_aside {
            for k in 0..self.fabric.wires.paces.arriving.len() {
                let flit = self.fabric.wires.paces.arriving[k];
                self.fabric.note_arrival(net, rules, flit);
            }
        }
        while let Some(flit) = self.fabric.wires.paces.arriving.pop() {
            if net.ideal.is_some() && flit.packet == NONE {
                let coming = self.fabric.ideal.coming[flit.to as usize];
                self.receive_body_of::<false>(net, flit.to, coming);
                continue;
            }
            if !net.maps_queues {
                self.fabric.count_arrival(net, flit);
            }
            if net.single {
                self.receive::<true, false, false>(net, flit);
            } else {
                self.receive::<false, false, false>(net, flit);
            }
            if net.ideal.is_some() {
                self.fabric.note_coming(flit.to);
            }
        }
    }

    #[inline(always)]
    fn receive<const SINGLE: bool, const BYPASS: bool, const CHOOSE: bool>(&mut self, net: &Net, flit: Flit) {
        if SINGLE || flit.packet != NONE {
            self.receive_head::<SINGLE, BYPASS, CHOOSE>(net, flit);
        } else {
            self.receive_body::<false>(net, flit.to);
        }
    }

    #[inline(always)]
    pub(crate) fn receive_head<const SINGLE: bool, const BYPASS: bool, const CHOOSE: bool>(
        &mut self,
        net: &Net,
        flit: Flit,
    ) {
        let (i, v) = port_and_vc::<V>(flit.to);
        let id = if SINGLE {
            flit.packet
        } else {
            self.fabric.buffers.segments.add(Segment {
                packet: flit.packet,
                next: NONE,
                arrived: 1,
                sent: 0,
                len: flit.len,
                key: flit.key,
            })
        };
        // SAFETY: a flit stores a valid input number (checked by `assert_numbers`).
        let before = unsafe { self.fabric.buffers.ins.hot_mut(i) }.join(v, id);
        if SINGLE && !(BYPASS && before == NONE) {
            self.fabric.begin_segment(id, flit.key);
        }
        if before == NONE {
            let may_bypass = self.new_head::<BYPASS, CHOOSE>(net, i, v, flit.packet, flit.key);
            if SINGLE && BYPASS && !may_bypass {
                self.fabric.begin_segment(id, flit.key);
            }
        } else {
            // SAFETY: a queue stores valid segment numbers (checked by `assert_numbers`).
            unsafe { self.fabric.buffers.segments.items.hot_mut(before as usize) }.next = id;
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Initialises the segment of the one-flit packet `id`, after the packet has joined a queue of an input. The segment is never read if
    /// the packet bypasses the allocator.
    #[inline(always)]
    pub(crate) fn begin_segment(&mut self, id: u32, key: u16) {
        // SAFETY: a one-flit packet has a segment with the same number (checked by `assert_numbers`).
        let segment = unsafe { self.buffers.segments.items.hot_mut(id as usize) };
        (segment.next, segment.key) = (NONE, key);
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Receives a body flit or a tail flit at its input. `STREAMS`: whether a stream may use the output that the packet of this flit holds.
    #[inline(always)]
    pub(crate) fn receive_body<const STREAMS: bool>(&mut self, net: &Net, to: u32) {
        let (i, v) = port_and_vc::<V>(to);
        // SAFETY: a flit stores a valid input number (checked by `assert_numbers`).
        let tail = unsafe { self.fabric.buffers.ins.hot(i) }.last(v);
        self.receive_body_of::<STREAMS>(net, to, tail);
    }

    /// Does the work of `receive_body` for a flit of the packet with segment `tail`.
    #[inline(always)]
    fn receive_body_of<const STREAMS: bool>(&mut self, net: &Net, to: u32, tail: u32) {
        let (i, v) = port_and_vc::<V>(to);
        // SAFETY: a flit stores a valid input number, and the queue that it joins contains a segment of its packet (checked by
        // `assert_numbers`).
        let port = unsafe { self.fabric.buffers.ins.hot(i) };
        // SAFETY: as above, the queue contains a segment of the flit's packet (checked by `assert_numbers`).
        let segment = unsafe { self.fabric.buffers.segments.items.hot_mut(tail as usize) };
        let was_dry = segment.arrived == segment.sent;
        segment.arrived += 1;
        if was_dry && *port.head.at(v) == tail && *port.requests.at(v) == NO_REQUEST {
            let (p, vc) = port_and_vc::<V>((*port.output_vc.at(v)).into());
            let (o, r) = (port.base(i) + p, port.router as usize);
            if STREAMS {
                self.interrupt(net, o);
            }
            // SAFETY: the packet of the flit holds a VC of an output (checked by `assert_numbers`).
            let out = unsafe { self.fabric.wires.outs.hot_mut(o) };
            out.vcs_with_flit |= 1 << vc;
            if out.vcs_with_credit >> vc & 1 == 0 {
                // the flit waits for a credit, so it does not bypass the allocator
            } else if self.beside.shortcuts.has(Kind::Uncontended) {
                self.beside.shortcuts.may_bypass(BypassFlit {
                    at: to,
                    out: o as u32,
                    segment: tail,
                    key: NO_REQUEST,
                    chooses: false,
                });
            } else {
                self.fabric.requests.ask_for_switch(r, p);
            }
        }
    }

    /// Requests an output for the head of VC `v` of input `i`. Called in the first cycle in which a head that had to wait may make its
    /// request.
    pub(crate) fn head_asks(&mut self, net: &Net, i: usize, v: usize) {
        let Segment { packet, key, .. } = *self.fabric.buffers.front(i, v);
        self.new_head::<false, false>(net, i, v, packet, key);
    }

    /// Called when a packet has become the head of VC `v` of input `i`: starts its request for an output VC. `BYPASS`: whether the packet
    /// has arrived in this cycle and may bypass the allocator. `CHOOSE`: whether it may do so even if it must first choose its output.
    /// Returns true if the packet can bypass the allocator.
    #[inline(always)]
    pub(crate) fn new_head<const BYPASS: bool, const CHOOSE: bool>(
        &mut self,
        net: &Net,
        i: usize,
        v: usize,
        packet: u32,
        mut key: u16,
    ) -> bool {
        match net.heads {
            HeadPath::Key if key == UNDECIDED => {
                // SAFETY: a packet becomes the head of a queue at an existing input (checked by `assert_numbers`).
                let r = unsafe { self.fabric.buffers.ins.hot(i) }.router;
                key = self.fabric.route_here(&mut self.beside.policy, net, r as usize, packet);
            }
            HeadPath::Candidates if key == UNDECIDED => {
                if !(BYPASS && CHOOSE) {
                    self.fabric.let_compare(net, i, v, packet);
                    return false;
                }
                return self.let_choose_alone(net, (i, v), packet, key);
            }
            HeadPath::Asked if self.fabric.is_to_choose(net, i, key) => {
                if !(BYPASS && CHOOSE) {
                    // SAFETY: a packet becomes the head of a queue at an existing input (checked by `assert_numbers`).
                    *unsafe { self.fabric.buffers.ins.hot_mut(i) }.requests.at_mut(v) = UNDECIDED;
                    self.fabric.let_choose(net, i, v);
                    return false;
                }
                return self.let_choose_alone(net, (i, v), packet, key);
            }
            HeadPath::Key | HeadPath::Candidates | HeadPath::Asked => {}
            HeadPath::AmongStreams | HeadPath::Slow => match self.new_head_slow_path(net, i, v, packet, key) {
                Some(known) => key = known,
                None => return false,
            },
        }
        let (p, class) =
            if net.class_bits == 0 { (usize::from(key), 0) } else { weft_api::state::split(key, net.class_bits) };
        // SAFETY: a packet becomes the head of a queue at an existing input (checked by `assert_numbers`).
        let port = unsafe { self.fabric.buffers.ins.hot_mut(i) };
        let (o, asks, r) = (port.base(i) + p, (port.router, port.port), port.router as usize);
        if !BYPASS {
            *port.requests.at_mut(v) = key;
        }
        let is_open = self.fabric.note_request(net, (o, class), asks);
        if BYPASS && is_open {
            // SAFETY: a packet becomes the head of a queue at an existing input (checked by `assert_numbers`).
            let segment = *unsafe { self.fabric.buffers.ins.hot(i) }.head.at(v);
            let (at, out) = ((i << 4 | v) as u32, o as u32);
            self.beside.shortcuts.may_bypass(BypassFlit { at, out, segment, key, chooses: false });
            return true;
        }
        if BYPASS {
            // SAFETY: a packet becomes the head of a queue at an existing input (checked by `assert_numbers`).
            *unsafe { self.fabric.buffers.ins.hot_mut(i) }.requests.at_mut(v) = key;
        } else if is_open {
            self.fabric.requests.ask_for_vc(r, p);
        }
        false
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Computes the route key of a packet that is the head of its VC at router `r`. To compute the hop, the routing may read the queues of
    /// the router.
    #[inline(never)]
    pub(crate) fn route_here(&mut self, policy: &mut PolicySide, net: &Net, r: usize, id: u32) -> u16 {
        // SAFETY: the indices are stored in records: an input stores its router, the router its number in the network, and a segment its
        // packet (checked by `assert_numbers`).
        let (base, router, at, packet) = unsafe {
            let router = self.requests.routers.hot(r);
            let packet = self.buffers.packets.items.hot_mut(id as usize);
            (router.base, router.id, *net.coords.hot(router.id as usize), packet)
        };
        let here = queues_at!(self, net, r);
        let key = self.routing.key_at_head(Here { router, at, queues: &here }, packet, net.seed, net.class_bits);
        let note = here.noted();
        if let Some(agents) = &mut policy.agents {
            if policy.power.probes.routed {
                agents.routed(packet);
            }
            policy.tell_of_hop(self.now, (base as usize, net.port(key)), (id, None), note);
        }
        key
    }
}

impl PolicySide {
    /// Passes the routing's note about a hop to the agents, with the packet and, if the packet leaves now, its VC. The hop uses output
    /// `port` of the router whose ports begin at index `base`.
    #[inline(always)]
    pub fn tell_of_hop(
        &mut self,
        now: u64,
        (base, port): (usize, usize),
        (packet, leaves_on): (u32, Option<u8>),
        note: HopNote,
    ) {
        let Some(agents) = &mut self.agents else { return };
        let over = base + port;
        let detour = |direct| Detour { now, over, direct, packet, leaves_on };
        match note {
            HopNote::Nothing | HopNote::Stays => {}
            HopNote::BeginsDetour { direct } => agents.goes_around(detour(Some(base + usize::from(direct)))),
            HopNote::ContinuesDetour => agents.goes_around(detour(None)),
            HopNote::TakesBack => self.power.wanted_back.push(over as u32),
        }
    }
}
