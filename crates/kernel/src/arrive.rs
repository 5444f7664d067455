//! Delivers the credits and flits that arrive in this cycle to their ports.

use crate::block::{Block, queues_at};
use crate::net::Net;
use crate::shortcuts::fresh::FreshFlit;
use crate::shortcuts::profile::{HeadPath, Kind};
use crate::shortcuts::streams;
use weft_api::agents::{Arrivals, Detour};
use weft_api::base::unchecked::Hot;
use weft_api::state::{ChannelEnd, Flit, NO_REQUEST, NONE, Segment, UNDECIDED};
use weft_api::view::Told;

impl<const W: usize, const V: usize> Block<W, V> {
    pub fn receive_credits<const SINGLE: bool>(&mut self, net: &Net) {
        if !SINGLE && self.shortcuts.streams.are_on() {
            self.count_credits::<false, false, true>(net);
            self.count_credit_runs(net);
        } else if net.router.each_credit_wakes {
            self.count_credits::<SINGLE, true, false>(net);
        } else {
            self.count_credits::<SINGLE, false, false>(net);
        }
    }

    /// `EACH`: any credit may be the one that some head waits for. `STREAMS`: credits may come in runs.
    #[inline(always)]
    fn count_credits<const SINGLE: bool, const EACH: bool, const STREAMS: bool>(&mut self, net: &Net) {
        while let Some((first, len)) = self.wires.credits.due(self.now) {
            if net.shortcuts.has(Kind::Prefetch) {
                self.bring_for_credits((first, len));
            }
            for k in 0..len {
                let word = self.wires.credits.item(first, k);
                if STREAMS && streams::is_of_run(word) {
                    self.receive_credit_run(net, word);
                    continue;
                }
                self.credit::<SINGLE, EACH>((word >> 4) as usize, word & 15, net);
            }
            self.wires.credits.release(self.now);
        }
        if let Some(history) = &mut self.wires.history {
            history.expire(self.now);
        }
    }

    /// A credit has come back: the buffer behind output `o` has room for one more flit.
    #[inline(always)]
    pub fn credit<const SINGLE: bool, const EACH: bool>(&mut self, o: usize, vc: u32, net: &Net) {
        let out = self.wires.outs.hot_mut(o);
        let credits = out.credits.hot_mut(vc as usize);
        *credits += 1;
        let (first, enough) = (*credits == 1, if SINGLE { *credits == 1 } else { *credits == net.router.room });
        // A waiting head may need just this credit. With VC allocation as a stage of its own, heads of long packets may take
        // VCs without credits, and try again whenever something moves. A head that enters a ring waits for more than `room`
        // credits.
        if first || enough || EACH {
            let bit = 1u16 << vc;
            out.vcs_with_credit |= bit;
            if !SINGLE && enough {
                out.vcs_with_room |= bit;
            }
            self.wake(o, bit);
        }
    }

    /// Heads, flits or a terminal that wait for VC `vc` of output `o` try again.
    #[inline(always)]
    fn wake(&mut self, o: usize, vc: u16) {
        let out = self.wires.outs.hot(o);
        let r = out.router as usize;
        if out.kind() == ChannelEnd::Injection {
            let terminal = self.interfaces.terminals.hot_mut(r);
            if terminal.waiting {
                terminal.waiting = false;
                self.interfaces.busy.set(r);
            }
            return;
        }
        let router = self.requests.routers.hot_mut(r);
        let port = o - router.base as usize;
        if out.vcs_with_flit & vc != 0 {
            router.switch_requests.set(port);
            self.requests.active.set(r);
        }
        if out.requested != 0 && out.free_vcs & vc != 0 {
            router.vc_requests.set(port);
            self.requests.active.set(r);
        }
        if !router.choosing.is_empty() {
            self.requests.active.set(r);
        }
    }

    pub fn receive_flits<const SINGLE: bool>(&mut self, net: &Net) {
        if net.fast_links {
            self.collect_flits();
        }
        while let Some((first, len)) = self.wires.flits.due(self.now) {
            self.tell_of_arrivals((first, len));
            if net.shortcuts.has(Kind::Prefetch) {
                self.bring_for_flits(net, (first, len));
            }
            match (!SINGLE && self.shortcuts.streams.are_on(), self.shortcuts.lone_trial.heads_try) {
                (false, true) if net.chooses => self.receive_chunk::<SINGLE, true, true>(net, (first, len)),
                (false, true) => self.receive_chunk::<SINGLE, true, false>(net, (first, len)),
                (false, false) => self.receive_chunk::<SINGLE, false, false>(net, (first, len)),
                (true, true) => self.receive_among_streams::<true>(net, (first, len)),
                (true, false) => self.receive_among_streams::<false>(net, (first, len)),
            }
            self.wires.flits.release(self.now);
        }
        if !SINGLE && self.shortcuts.streams.are_on() {
            self.receive_runs(net);
        }
        if net.fast_links {
            while let Some(flit) = self.wires.paces.arriving.pop() {
                self.receive::<SINGLE, false, false>(net, flit);
            }
        }
        if net.router.closes_vcs {
            self.open_vcs::<SINGLE>(net);
        }
    }

    /// Takes the flits of this cycle out of the wheel, the last one first. Flits of one packet that arrive in the same
    /// cycle are received in the order in which they were sent.
    #[cold]
    #[inline(never)]
    fn collect_flits(&mut self) {
        while let Some((first, len)) = self.wires.flits.due(self.now) {
            self.tell_of_arrivals((first, len));
            self.wires.paces.arriving.extend(self.wires.flits.items(first, len).iter().rev());
            self.wires.flits.release(self.now);
        }
    }

    /// Tells the agents of flits that arrive, if they want to hear of them.
    #[inline(always)]
    fn tell_of_arrivals(&mut self, (first, len): (u32, usize)) {
        if self.policy.power.probes.arrivals
            && let Some(agents) = &mut self.policy.agents
        {
            let flits = self.wires.flits.items(first, len);
            agents.arrive(&Arrivals { now: self.now, flits, packets: &self.buffers.packets.items });
        }
    }

    /// Receives the `len` flits of the chunk that starts at `first`. `LONE`: heads may cross alone (`lone.rs`); `CHOOSE`: heads choose
    /// in every step, and those may, too. (A function of its own: inside the loop over all phases it would have fewer registers.)
    #[inline(never)]
    fn receive_chunk<const SINGLE: bool, const LONE: bool, const CHOOSE: bool>(
        &mut self,
        net: &Net,
        (first, len): (u32, usize),
    ) {
        for k in 0..len {
            self.receive::<SINGLE, LONE, CHOOSE>(net, self.wires.flits.item(first, k));
        }
    }

    #[inline(always)]
    fn receive<const SINGLE: bool, const LONE: bool, const CHOOSE: bool>(&mut self, net: &Net, flit: Flit) {
        if SINGLE || flit.packet != NONE {
            self.receive_head::<SINGLE, LONE, CHOOSE>(net, flit);
        } else {
            self.receive_body::<false>(net, flit.to);
        }
    }

    #[inline(always)]
    pub fn receive_head<const SINGLE: bool, const LONE: bool, const CHOOSE: bool>(&mut self, net: &Net, flit: Flit) {
        let (i, v) = ((flit.to >> 4) as usize, (flit.to & 15) as usize);
        let id = if SINGLE {
            flit.packet
        } else {
            self.buffers.segments.add(Segment {
                packet: flit.packet,
                next: NONE,
                arrived: 1,
                sent: 0,
                len: flit.len,
                key: flit.key,
            })
        };
        let before = self.buffers.ins.hot_mut(i).join(v, id);
        if SINGLE && !(LONE && before == NONE) {
            self.begin_segment(id, flit.key);
        }
        if before == NONE {
            let tries_alone = self.new_head::<SINGLE, LONE, CHOOSE>(net, i, v, flit.packet, flit.key);
            if SINGLE && LONE && !tries_alone {
                self.begin_segment(id, flit.key);
            }
        } else {
            self.buffers.segments.items.hot_mut(before as usize).next = id;
        }
    }

    /// One-flit packet `id` has come to a queue: its segment begins. Nobody reads the segment of one that crosses alone.
    #[inline(always)]
    pub fn begin_segment(&mut self, id: u32, key: u16) {
        let segment = self.buffers.segments.items.hot_mut(id as usize);
        (segment.next, segment.key) = (NONE, key);
    }

    /// `STREAMS`: a stream may leave by the output that the packet of the flit holds.
    #[inline(always)]
    pub fn receive_body<const STREAMS: bool>(&mut self, net: &Net, to: u32) {
        let (i, v) = ((to >> 4) as usize, (to & 15) as usize);
        let port = self.buffers.ins.hot(i);
        let tail = port.last(v);
        let segment = self.buffers.segments.items.hot_mut(tail as usize);
        let was_dry = segment.arrived == segment.sent;
        segment.arrived += 1;
        if was_dry && *port.head.hot(v) == tail && *port.requests.hot(v) == NO_REQUEST {
            let held = *port.output_vc.hot(v);
            let (p, vc) = ((held >> 4) as usize, held & 15);
            let (o, r) = (port.base(i) + p, port.router as usize);
            if STREAMS {
                self.interrupt(net, o);
            }
            let out = self.wires.outs.hot_mut(o);
            out.vcs_with_flit |= 1 << vc;
            if out.vcs_with_credit >> vc & 1 == 0 {
                // it waits for a credit
            } else if self.shortcuts.profile.has(Kind::Lone) {
                self.shortcuts.fresh_flits.push(FreshFlit {
                    at: to,
                    out: o as u32,
                    segment: tail,
                    key: NO_REQUEST,
                    chooses: false,
                });
            } else {
                self.requests.routers.hot_mut(r).switch_requests.set(p);
                self.requests.active.set(r);
            }
        }
    }

    /// A packet has become the head of VC `v` of input `i`: it starts to ask for an output VC. `LONE`: it has come in this cycle,
    /// and may cross alone; `CHOOSE`: even if it has to choose first. Returns whether it is among the fresh flits, which try that.
    #[inline(always)]
    pub fn new_head<const SINGLE: bool, const LONE: bool, const CHOOSE: bool>(
        &mut self,
        net: &Net,
        i: usize,
        v: usize,
        packet: u32,
        mut key: u16,
    ) -> bool {
        match net.heads {
            HeadPath::Key if key == UNDECIDED => {
                key = self.route_here(net, self.buffers.ins.hot(i).router as usize, packet);
            }
            HeadPath::Candidates if key == UNDECIDED => {
                if !(LONE && CHOOSE) {
                    self.let_compare(net, i, v, packet);
                    return false;
                }
                return self.let_choose_alone::<SINGLE>(net, (i, v), packet, key);
            }
            HeadPath::AmongStreams if !SINGLE => self.interrupt(net, self.buffers.ins.hot(i).base(i) + net.port(key)),
            HeadPath::Asked if self.is_to_choose(net, i, key) => {
                if !(LONE && CHOOSE) {
                    *self.buffers.ins.hot_mut(i).requests.hot_mut(v) = UNDECIDED;
                    self.let_choose(net, i, v);
                    return false;
                }
                return self.let_choose_alone::<SINGLE>(net, (i, v), packet, key);
            }
            HeadPath::Key | HeadPath::Candidates | HeadPath::Asked | HeadPath::AmongStreams => {}
            HeadPath::Slow => match self.new_head_slow_path(net, i, v, packet, key) {
                Some(known) => key = known,
                None => return false,
            },
        }
        if !LONE {
            *self.buffers.ins.hot_mut(i).requests.hot_mut(v) = key;
        }
        let (p, class) =
            if net.class_bits == 0 { (usize::from(key), 0) } else { weft_api::state::split(key, net.class_bits) };
        let is_open = self.note_request::<SINGLE>(net, i, p, class);
        if LONE && is_open {
            let port = self.buffers.ins.hot(i);
            let (out, segment) = ((port.base(i) + p) as u32, *port.head.hot(v));
            self.shortcuts.fresh_flits.push(FreshFlit { at: (i << 4 | v) as u32, out, segment, key, chooses: false });
            return true;
        }
        if LONE {
            *self.buffers.ins.hot_mut(i).requests.hot_mut(v) = key;
        } else if is_open {
            self.ask_for_vc(i, p);
        }
        false
    }

    /// A head of input `i` asks for a VC of this class at output `p`.
    #[inline(always)]
    pub fn request_vc<const SINGLE: bool>(&mut self, net: &Net, i: usize, p: usize, class: usize) {
        if self.note_request::<SINGLE>(net, i, p, class) {
            self.ask_for_vc(i, p);
        }
    }

    /// Notes that a head of input `i` wants a VC of this class at output `p`. Returns whether one is open.
    #[inline(always)]
    pub fn note_request<const SINGLE: bool>(&mut self, net: &Net, i: usize, p: usize, class: usize) -> bool {
        let port = self.buffers.ins.hot(i);
        let o = port.base(i) + p;
        self.requests.requesters.hot_mut(net.slot(o, class)).set(port.port as usize);
        self.wires.outs.hot_mut(o).requested |= 1 << class;
        // whether there is also room to enter a ring is checked in the next step
        let is_open = self.has_open_vc::<SINGLE>(net, o, class);
        if !is_open && self.wires.outs.hot(o).is_closed() {
            self.wait_for_link(net, o);
        }
        is_open
    }

    /// Whether a VC of this class at output `o` is free, and has the credits that a head needs.
    #[inline(always)]
    pub(crate) fn has_open_vc<const SINGLE: bool>(&self, net: &Net, o: usize, class: usize) -> bool {
        let out = self.wires.outs.hot(o);
        let open = out.available_vcs::<SINGLE>();
        open != 0 && (net.class_bits == 0 || open & net.vcs(out.class, class) != 0)
    }

    /// A head of input `i`, for which a VC of output `p` is open, asks the allocator.
    #[inline(always)]
    pub fn ask_for_vc(&mut self, i: usize, p: usize) {
        let r = self.buffers.ins.hot(i).router as usize;
        self.requests.routers.hot_mut(r).vc_requests.set(p);
        self.requests.active.set(r);
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Computes the route key of a packet at router `r`, where it is the head of its VC, by the queues there.
    #[inline(never)]
    pub fn route_here(&mut self, net: &Net, r: usize, id: u32) -> u16 {
        let router = self.requests.routers.hot(r);
        let (base, at) = (router.base, *net.coords.hot(router.id as usize));
        let packet = self.buffers.packets.items.hot_mut(id as usize);
        let here = queues_at!(self, net, r);
        let key = self.routing.key_at_head(at, &here, packet, net.seed, net.class_bits);
        let told = here.what_was_told();
        if let Some(agents) = &mut self.policy.agents {
            if self.policy.power.probes.routed {
                agents.routed(packet);
            }
            self.tell_of_hop(base as usize, net.port(key), (id, None), told);
        }
        key
    }

    /// The agents hear what the routing tells of a hop: over `port` of the router whose ports begin at `base`, by a packet, and
    /// on which VC if it leaves now.
    #[inline(always)]
    pub fn tell_of_hop(&mut self, base: usize, port: usize, (packet, leaves_on): (u32, Option<u8>), told: Told) {
        let Some(agents) = &mut self.policy.agents else { return };
        let over = base + port;
        let detour = |direct| Detour { now: self.now, over, direct, packet, leaves_on };
        match told {
            Told::Nothing | Told::Stays => {}
            Told::BeginsDetour { direct } => agents.goes_around(detour(Some(base + usize::from(direct)))),
            Told::ContinuesDetour => agents.goes_around(detour(None)),
            Told::TakesBack => self.policy.power.wanted_back.push(over as u32),
        }
    }
}
