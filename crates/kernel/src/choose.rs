//! Heads that choose their output again in each allocation step. If the routing decides in each step, heads choose their hop. On trunks,
//! heads choose the member link.
//!
//! A head that chooses in every step is marked in `InputUnit::choosing` until it gets a VC. In each step the head requests one output port
//! and VC class. Among the candidates with a free VC that has enough space, it chooses the candidate with the most credits. A hash of the
//! port and the cycle decides ties. If no candidate is available, the head requests its last resort (the escape hop, or the first
//! candidate). If the link of this hop is off, the request wakes the link. The head makes its next choice when a credit, a VC or a link
//! becomes available at its router. A head that may bypass the allocator chooses on arrival (`uncontended.rs`), and is marked only if it
//! does not bypass.
//!
//! A routing may declare that a head keeps its choice until some flit leaves by the chosen output (`HopNote::Stays`). The head is then
//! marked in `InputUnit::settled`, and does not choose again before `unsettle` is called.

use crate::block::{Fabric, Observers, Reach, Routers, queues_at};
use crate::net::{Net, Repair};
use crate::parts::profile::HeadPath;
use crate::requests::no_such_hop;
use weft_api::age::Priority;
use weft_api::base::arrays::At;
use weft_api::base::bits::Bits;
use weft_api::base::unchecked::Hot;
use weft_api::candidates::{CLOSED, rank};
use weft_api::compiled::Here;
use weft_api::routing::{Decides, Hop};
use weft_api::state::{Segment, UNDECIDED, matching};
use weft_api::view::{HopNote, View};

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Called when a packet has become the head of VC `v` of input `i`, if its route key does not determine its request, or if a stream may
    /// use its output. Returns the route key if the head has no choice to make.
    #[inline(never)]
    pub(crate) fn new_head_slow_path(
        &mut self,
        net: &Net,
        i: usize,
        v: usize,
        mut packet: u32,
        mut key: u16,
    ) -> Option<u16> {
        if net.heads == HeadPath::AmongStreams {
            // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
            let base = unsafe { self.fabric.buffers.ins.hot(i) }.base(i);
            self.interrupt(net, base + net.port(key));
            return Some(key);
        }
        if net.router.closes_vcs && !self.fabric.buffers.is_open(i, v, self.fabric.now) {
            return None;
        }
        let named = key;
        if let Some(rules) = &net.set_aside {
            key = self.key_set_aside(net, rules, (i, v), packet, key)?;
        }
        if let Some(rules) = &net.ideal {
            (packet, key) = self.fabric.with_a_place(net, rules, (i, v))?;
        }
        if net.watches {
            self.fabric.watch_front(&mut self.beside.observers, net, i, v, packet, key);
        }
        if net.router.by_age {
            self.fabric.note_age(net, (i, v), packet);
        }
        // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
        let r = unsafe { self.fabric.buffers.ins.hot(i) }.router as usize;
        if net.faults.routers_fail && self.fabric.is_doomed(&mut self.beside.policy, net, i, v, packet) {
            return None;
        }
        if let Repair::ByRouting(around) = net.faults.repair
            && !self.fabric.has_a_path(&mut self.beside.policy, net, (i, v), around, packet, named)
        {
            return None;
        }
        if key == UNDECIDED && net.needs.decides != Decides::EachStep {
            // the routing decides only once; in each step, the head then chooses only the member of the trunk
            key = self.fabric.route_here(&mut self.beside.policy, net, r, packet);
            self.fabric.buffers.front_mut(i, v).key = key;
            if net.faults.repair == Repair::ByPolicy && !self.fabric.leads_on(net, r, key) {
                self.fabric.park(&mut self.beside.policy, net, i, v, packet);
                return None;
            }
            key = self.fabric.key_on_lane(net, i, packet, key);
        }
        if !self.fabric.is_to_choose(net, i, key) {
            return Some(key);
        }
        if net.shortcuts.compares_credits_of.is_some() {
            self.fabric.let_compare(net, i, v, packet);
        } else {
            *self.fabric.buffers.ins[i].requests.at_mut(v) = UNDECIDED;
            self.fabric.let_choose(net, i, v);
        }
        None
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Called when packet `packet` has become the head of VC `v` of input `i`. Records the age of the packet: the cycle in which it was
    /// created or injected.
    fn note_age(&mut self, net: &Net, (i, v): (usize, usize), packet: u32) {
        // SAFETY: a segment stores a valid packet number (checked by `assert_numbers`).
        let packet = unsafe { self.buffers.packets.items.hot(packet as usize) };
        let age = match net.router.priority {
            Priority::RoundRobin => 0,
            Priority::Age => packet.created,
            Priority::NetworkAge => packet.injected,
            // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
            Priority::Transit => u64::from(unsafe { self.buffers.ins.hot(i) }.class == 0),
        };
        // the message class is in the bits above the age, because no run has 2^56 cycles
        let number = age | net.class_ranks[usize::from(packet.class)] << 56;
        // SAFETY: if arbiters use the age, each VC of an input has an age (checked by `assert_numbers`).
        *unsafe { self.requests.ages.hot_mut(i * V + v) } = number;
    }

    /// Lets packet `packet`, the head of VC `v` of input `i`, choose among its candidates by credits in the next step.
    #[inline(always)]
    pub(crate) fn let_compare(&mut self, net: &Net, i: usize, v: usize, packet: u32) {
        let ports = self.candidates_of(net, i, packet);
        // SAFETY: a head waits at an existing input, and the list has candidates for each VC of each input (checked by `assert_numbers`).
        unsafe {
            *self.buffers.ins.hot_mut(i).requests.at_mut(v) = UNDECIDED;
            *self.requests.candidates.hot_mut(i * V + v) = ports;
        }
        self.let_choose(net, i, v);
    }

    /// The ports that packet `packet`, a head at input `i`, may use.
    #[inline(always)]
    fn candidates_of(&self, net: &Net, i: usize, packet: u32) -> Bits<W> {
        // SAFETY: an input stores the number of its router, the router stores its number in the network, and a head belongs to an
        // existing packet (checked by `assert_numbers`).
        let (router, at, packet) = unsafe {
            let router = self.requests.routers.hot(self.buffers.ins.hot(i).router as usize);
            (router, *net.coords.hot(router.id as usize), self.buffers.packets.items.hot(packet as usize))
        };
        let ports = Bits::of(self.routing.candidates(at, packet));
        if !ports.without(&router.ports).is_empty() {
            no_such_hop();
        }
        ports
    }

    /// The port and VC class that packet `packet` requests on arrival, from the present state of the router. The packet has just become the
    /// head of VC `v` of input `i`, with this route key. Returns `None` if the head compares its candidates and no candidate is open.
    #[inline(always)]
    pub(crate) fn first_choice(
        &mut self,
        net: &Net,
        (i, v): (usize, usize),
        packet: u32,
        key: u16,
    ) -> Option<(usize, usize)> {
        if let Some(class) = net.shortcuts.compares_credits_of.map(usize::from) {
            let ports = self.candidates_of(net, i, packet);
            // SAFETY: a head waits at an existing input, and the list has candidates for each VC of each input (checked by
            // `assert_numbers`).
            let input = unsafe {
                *self.requests.candidates.hot_mut(i * V + v) = ports;
                usize::from(self.buffers.ins.hot(i).port)
            };
            return self.best_of(net, i - input, ports, class, self.tie_turn(input, v)).map(|p| (p, class));
        }
        self.hop_of(net, (i, v), packet, key).0.map(|hop| (hop.port.into(), hop.class.into()))
    }

    /// True if a head at input `i` with this route key chooses in every step. The key then names no hop, or a hop over a trunk.
    #[inline(always)]
    pub(crate) fn is_to_choose(&self, net: &Net, i: usize, key: u16) -> bool {
        let is_trunk = |o: usize| !self.wires.trunks.is_empty() && self.wires.trunks[o].width > 1;
        // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
        key == UNDECIDED || is_trunk(unsafe { self.buffers.ins.hot(i) }.base(i) + net.port(key))
    }

    /// Among `ports`, the port that ranks highest by its credits in the VCs of `class`; `None` if no port is open. `base`: index of the
    /// first port of the router.
    #[inline(always)]
    fn best_of(&self, net: &Net, base: usize, mut ports: Bits<W>, class: usize, turn: u32) -> Option<usize> {
        let (mut highest, mut port) = (CLOSED, 0);
        while let Some(p) = ports.take_first() {
            // SAFETY: candidates are ports of the router (`candidates_of`, `assert_numbers`).
            let out = unsafe { self.wires.outs.hot(base + p) };
            let rank = rank(out.open_credits(net.vcs(out.class, class)), p as u16, turn);
            if rank > highest {
                (highest, port) = (rank, p);
            }
        }
        (highest != CLOSED).then_some(port)
    }

    /// Lets the head of VC `v` of input `i` choose in the next step.
    #[inline(always)]
    pub(crate) fn let_choose(&mut self, net: &Net, i: usize, v: usize) {
        // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
        let port = unsafe { self.buffers.ins.hot_mut(i) };
        port.choosing |= 1 << v;
        let (r, number) = (port.router as usize, usize::from(port.port));
        // SAFETY: an input stores the valid number of its router (checked by `assert_numbers`).
        unsafe { self.requests.routers.hot_mut(r) }.choosing.set(number);
        self.requests.active.set(r);
        self.unsettle_head(net, i, v);
    }

    /// Lets the head of VC `v` of input `i` choose in the next step of its router, even if it has settled on an output.
    #[inline(always)]
    pub(crate) fn unsettle_head(&mut self, net: &Net, i: usize, v: usize) {
        if net.needs.sees_grants {
            // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
            let port = unsafe { self.buffers.ins.hot_mut(i) };
            port.settled &= !(1 << v);
            let (r, number) = (port.router as usize, usize::from(port.port));
            self.requests.asking[r].set(number);
        }
    }

    /// Called when a flit leaves by output `p` of router `r`. Heads that have settled on this output choose again.
    #[inline(always)]
    pub(crate) fn unsettle(&mut self, net: &Net, r: usize, p: usize) {
        // SAFETY: a flit leaves a router by one of its outputs (checked by `assert_numbers`).
        let (base, mut classes) = unsafe {
            let base = self.requests.routers.hot(r).base as usize;
            (base, self.wires.outs.hot(base + p).requested)
        };
        while classes != 0 {
            let class = classes.trailing_zeros() as usize;
            classes &= classes - 1;
            // SAFETY: an output has a record of requests for each of its VC classes (checked by `assert_numbers`).
            let mut inputs = unsafe { *self.requests.requesters.hot(net.slot(base + p, class)) };
            let asking = &mut self.requests.asking[r];
            *asking = *asking | inputs;
            while let Some(input) = inputs.take_first() {
                // SAFETY: the masks of an output contain only inputs of its router (checked by `assert_numbers`).
                let port = unsafe { self.buffers.ins.hot_mut(base + input) };
                port.settled &= !matching(&port.requests, net.key(p, class));
            }
        }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Lets every head of router `r` that chooses in every step, and has not settled on an output, request the candidate that is best at
    /// present.
    #[inline(never)]
    pub(crate) fn choose(&mut self, net: &Net, r: usize) {
        if net.needs.sees_grants {
            return self.choose_unsettled(net, r);
        }
        // SAFETY: the caller passes the number of a router of the block (checked by `assert_numbers`).
        let router = unsafe { self.routers.fabric.requests.routers.hot(r) };
        let (base, mut inputs) = (router.base as usize, router.choosing);
        while let Some(input) = inputs.take_first() {
            // SAFETY: the masks of a router contain only its ports (checked by `assert_numbers`).
            let mut vcs = unsafe { self.routers.fabric.buffers.ins.hot(base + input) }.choosing;
            while vcs != 0 {
                let v = vcs.trailing_zeros() as usize;
                vcs &= vcs - 1;
                let Routers { fabric, beside } = &mut self.routers;
                match net.shortcuts.compares_credits_of {
                    Some(class) => fabric.compare_for(&mut beside.observers, net, r, (base, input), v, class),
                    None => _ = fabric.choose_for(&mut beside.observers, net, r, base + input, v),
                }
                self.ask_for_closed(net); // a link that the agents open now is a candidate for the next head
            }
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// For the head of VC `v` of an input of router `r`, requests the candidate that ranks highest by its credits in the VCs of `class`. If
    /// no candidate is open, requests the hop that the routing returns instead. `base`: index of the first port of the router.
    #[inline(always)]
    fn compare_for(
        &mut self,
        observers: &mut Observers,
        net: &Net,
        r: usize,
        (base, input): (usize, usize),
        v: usize,
        class: u8,
    ) {
        let (i, class) = (base + input, usize::from(class));
        // SAFETY: the list has candidates for each VC of each input (checked by `assert_numbers`).
        let ports = unsafe { *self.requests.candidates.hot(i * V + v) };
        let turn = self.tie_turn(input, v);
        let Some(port) = self.best_of(net, base, ports, class, turn) else {
            self.choose_for(observers, net, r, i, v);
            return;
        };
        let hop = Hop { port: port as u16, class: class as u8 };
        debug_assert_eq!(self.named_by_routing(net, r, (i, v), turn), Some(hop), "`candidates` returns other ports");
        self.turn_to(observers, net, r, (i, v), hop, turn);
        // a VC of this port is free, and the router is active

        // SAFETY: `best_of` found this output, which has the VC class (checked by `assert_numbers`), and the masks of a router contain only
        // its ports.
        let (requesters, out, router) = unsafe {
            let requesters = self.requests.requesters.hot_mut(net.slot(base + port, class));
            (requesters, self.wires.outs.hot_mut(base + port), self.requests.routers.hot_mut(r))
        };
        requesters.set(input);
        out.requested |= 1 << class;
        router.vc_requests.set(port);
    }

    /// The hop that the routing returns in this step for the head of VC `v` of input `i`.
    fn named_by_routing(&self, net: &Net, r: usize, (i, v): (usize, usize), turn: u32) -> Option<Hop> {
        let mut packet = self.buffers.packets.items[self.buffers.front(i, v).packet as usize];
        let router = self.requests.routers[r].id;
        let here = Here { router, at: net.coords[router as usize], queues: &queues_at!(self, net, r) };
        self.routing.each_step(here, &mut packet, turn)
    }

    /// A number that decides ties between candidates, for the head of VC `v` of input `input` of a router. The number differs between the
    /// heads of the router, and from cycle to cycle.
    #[inline(always)]
    fn tie_turn(&self, input: usize, v: usize) -> u32 {
        self.now as u32 + (input + v) as u32
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    #[inline(never)]
    fn choose_unsettled(&mut self, net: &Net, r: usize) {
        let (base, mut inputs) =
            (self.routers.fabric.requests.routers[r].base as usize, self.routers.fabric.requests.asking[r]);
        while let Some(input) = inputs.take_first() {
            let port = &self.routers.fabric.buffers.ins[base + input];
            let mut vcs = port.choosing & !port.settled;
            while vcs != 0 {
                let v = vcs.trailing_zeros() as usize;
                vcs &= vcs - 1;
                if self.routers.fabric.choose_for(&mut self.routers.beside.observers, net, r, base + input, v) {
                    self.routers.fabric.buffers.ins[base + input].settled |= 1 << v;
                }
                self.ask_for_closed(net);
            }
            let port = &self.routers.fabric.buffers.ins[base + input];
            if port.choosing & !port.settled == 0 {
                self.routers.fabric.requests.asking[r].clear(input);
            }
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Lets the head of VC `v` of input `i` request its best candidate at present. Returns true if the head keeps this choice in later
    /// steps.
    #[inline(always)]
    fn choose_for(&mut self, observers: &mut Observers, net: &Net, r: usize, i: usize, v: usize) -> bool {
        // SAFETY: a head waits at an existing input and has a segment (checked by `assert_numbers`).
        let (input, &Segment { packet, key, .. }) = unsafe {
            let input = self.buffers.ins.hot(i);
            (usize::from(input.port), self.buffers.segments.items.hot(*input.head.at(v) as usize))
        };
        let (hop, note) = self.hop_of(net, (i, v), packet, key);
        let Some(hop) = hop else {
            self.ask_nothing(net, r, i, v);
            return false;
        };
        self.turn_to(observers, net, r, (i, v), hop, self.tie_turn(input, v));
        self.request_vc(net, i, hop.port as usize, hop.class as usize);
        note == HopNote::Stays
    }

    /// The best candidate at present for the packet `packet` with this route key. The packet is the head of VC `v` of input `i`. Also
    /// returns the note of the routing.
    #[inline(always)]
    fn hop_of(&mut self, net: &Net, (i, v): (usize, usize), packet: u32, key: u16) -> (Option<Hop>, HopNote) {
        // SAFETY: a head waits at an existing input (checked by `assert_numbers`).
        let port = unsafe { self.buffers.ins.hot(i) };
        let (r, turn) = (port.router as usize, self.tie_turn(port.port.into(), v));
        if key != UNDECIDED {
            let (port, class) = weft_api::state::split(key, net.class_bits);
            let hop = Hop { port: port as u16, class: class as u8 };
            if net.set_aside.is_some() {
                return (Some(self.member_set_aside(net, r, packet, hop, turn)), HopNote::Nothing);
            }
            return (Some(self.member_for(net, r, hop, turn)), HopNote::Nothing);
        }
        if net.set_aside.is_some() {
            return self.hop_set_aside(net, r, packet, turn);
        }
        let queues = queues_at!(self, net, r);
        // SAFETY: a segment stores its packet number, an input the number of its router, and a router its number in the network (checked
        // by `assert_numbers`).
        let (packet, router, at) = unsafe {
            let router = self.requests.routers.hot(r).id;
            (self.buffers.packets.items.hot_mut(packet as usize), router, *net.coords.hot(router as usize))
        };
        let hop = self.routing.each_step(Here { router, at, queues: &queues }, packet, turn);
        if hop.is_some_and(|hop| hop.class >> net.class_bits != 0) {
            no_such_hop();
        }
        (hop, queues.noted())
    }

    /// The member link that is best at present, in the trunk of `hop` at router `r`, as [`View::best_or_fallback`] selects it. (The
    /// fallback is out of line, so the compiler need not store the view of the router in memory, which saves 27 instructions per flit-hop.)
    #[inline(always)]
    fn member_for(&self, net: &Net, r: usize, hop: Hop, turn: u32) -> Hop {
        match queues_at!(self, net, r).member(hop, turn) {
            (0, _) => self.fallback_for(net, r, hop),
            (_, member) => member,
        }
    }

    #[inline(never)]
    fn fallback_for(&self, net: &Net, r: usize, hop: Hop) -> Hop {
        queues_at!(self, net, r).fallback(hop)
    }

    /// Called before the head of VC `v` of input `i` requests this hop. Cancels the request of the head for any other hop.
    #[inline(always)]
    fn turn_to(&mut self, observers: &mut Observers, net: &Net, r: usize, (i, v): (usize, usize), hop: Hop, turn: u32) {
        let key = net.key(hop.port as usize, hop.class as usize);
        // SAFETY: a head that chooses waits at an input (checked by `assert_numbers`).
        let old = std::mem::replace(unsafe { self.buffers.ins.hot_mut(i) }.requests.at_mut(v), key);
        if key != old {
            if net.watches {
                self.watch_choice(observers, net, i, v, hop, turn);
            }
            if old != UNDECIDED {
                self.withdraw(net, r, i, old);
            }
        }
    }

    /// Cancels, for this step, the request of the head of VC `v` of input `i`, which chooses in every step.
    #[cold]
    fn ask_nothing(&mut self, net: &Net, r: usize, i: usize, v: usize) {
        let old = std::mem::replace(self.buffers.ins[i].requests.at_mut(v), UNDECIDED);
        if old != UNDECIDED {
            self.withdraw(net, r, i, old);
        }
    }
}
