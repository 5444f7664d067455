//! Selects the queue of a packet from the congested outputs (roots) on its path.
//!
//! Of a path, only the hops that the routing has already chosen are known, and the last hop, which leads to the terminal of the packet.
//! Therefore a queue that is set aside for an output to a terminal is useful with every routing. A trunk counts as one congested output.
//! However, each output of a trunk has queues of its own, which a head compares when it chooses among the outputs.

use crate::block::{Fabric, queues_at};
use crate::net::Net;
use crate::parts::set_aside::{Root, SetAsideRules, Token};
use weft_api::compiled::Here;
use weft_api::refined::Refined;
use weft_api::routing::{Decides, Hop};
use weft_api::state::{ChannelEnd, NONE, Packet, UNDECIDED, key_of, split};
use weft_api::view::{HopNote, Queues, View};
use weft_topology::Trunk;

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// The trunk to which output `o` of a router belongs, and the first output of that router.
    fn trunk_of(&self, o: usize) -> (Trunk, usize) {
        let base = self.requests.routers[self.wires.outs[o].router as usize].base as usize;
        (Trunk::at(&self.wires.trunks, o, (o - base) as u16), base)
    }

    /// The first output of the trunk that contains output `o`. The number of this first output identifies the trunk.
    pub(crate) fn first_of_trunk(&self, o: usize) -> usize {
        let (trunk, base) = self.trunk_of(o);
        base + usize::from(trunk.first)
    }

    /// Selects the queue of a packet at the far end of channel `o`: the queue for the last congested output on the packet's path, or 0.
    /// `class`: the VC class of the packet on the channel, with any lane.
    pub(crate) fn lane_ahead(&self, net: &Net, (o, class): (usize, usize), packet: &Packet) -> u8 {
        if !self.set_asides.lines.any(o) {
            return 0;
        }
        let (Some(refined), out) = (&net.refined, &self.wires.outs[o]) else { return 0 };
        let mut lane = self.set_asides.lines.lane(o, terminal_root(net, packet));
        if lane != 0 || net.needs.decides == Decides::EachStep {
            return lane;
        }
        let mut packet = *packet;
        let mut at = if out.is(ChannelEnd::Injection) {
            self.requests.routers[self.buffers.ins[out.peer as usize].router as usize].id
        } else {
            let router = &self.requests.routers[out.router as usize];
            let hop = Hop { port: (o - router.base as usize) as u16, class: class as u8 };
            net.routing.taken(net.coords[router.id as usize], &mut packet, refined.routed(router.id, hop));
            self.wires.next_router[o]
        };
        while let Some(hop) = net.routing.take_next(net.coords[at as usize], &mut packet, net.seed) {
            let found = self.set_asides.lines.lane(o, first_root(refined, at, hop.port));
            if found != 0 {
                lane = found;
            }
            let Some(next) = refined.next(at, hop.port) else { break };
            at = next;
        }
        lane
    }

    /// True if any member of the trunk of output `o` has set a queue aside for packet `id`.
    pub(crate) fn has_a_queue_ahead(&self, net: &Net, (o, class): (usize, usize), id: u32) -> bool {
        let ((trunk, base), packet) = (self.trunk_of(o), &self.buffers.packets.items[id as usize]);
        let mut members = trunk.members().map(|p| base + usize::from(p));
        members.any(|member| self.lane_ahead(net, (member, class), packet) != 0)
    }

    /// The token to send upstream because of packet `id`, a head at input `i` with route key `key`. `None` if the packet's output is not
    /// congested, and its queue at the next router is not filled. `is_normal`: true if the packet arrived in a normal queue.
    pub(crate) fn congested(
        &self,
        net: &Net,
        rules: &SetAsideRules,
        (i, is_normal): (usize, bool),
        id: u32,
        key: u16,
    ) -> Option<Token> {
        let (base, packet) = (self.buffers.ins[i].base(i), &self.buffers.packets.items[id as usize]);
        if key == UNDECIDED {
            return self.filled_for_terminal(net, rules, i, terminal_root(net, packet));
        }
        let (p, class) = split(key, net.class_bits);
        let ((trunk, _), mut has_a_queue) = (self.trunk_of(base + p), false);
        for o in trunk.members().map(|p| base + usize::from(p)) {
            let lane = self.lane_ahead(net, (o, class), packet);
            has_a_queue |= lane != 0;
            // this queue can be set aside for an output of a later router
            if lane != 0 && self.is_filled(net, rules, (o, self.vc_of(net, o, class + usize::from(lane)))) {
                return Some(Token { root: self.set_asides.lines.root(o, lane), because_of: o as u32 });
            }
        }
        if has_a_queue || !is_normal {
            return None;
        }
        let first = base + usize::from(trunk.first);
        // routers upstream know the output of a packet only if its head does not choose it in every step
        let is_known = net.needs.decides != Decides::EachStep || self.wires.outs[first].is(ChannelEnd::Ejection);
        let full = self.set_asides.waiting[first] >= rules.rules.detect * u32::from(trunk.width);
        let root = root_of(self.requests.routers[self.wires.outs[first].router as usize].id, trunk.first.into());
        (is_known && full).then_some(Token { root, because_of: NONE })
    }

    /// The token for the sender of input `i`, if an output of the router has set a queue aside for `root` (an output to a terminal) and
    /// that queue is filled.
    fn filled_for_terminal(&self, net: &Net, rules: &SetAsideRules, i: usize, root: Root) -> Option<Token> {
        let (base, end) = self.inputs_of(self.buffers.ins[i].router as usize);
        (base..end).find_map(|o| {
            let lines = &self.set_asides.lines;
            let lane = if lines.any(o) { lines.lane(o, root) } else { 0 };
            if lane == 0 {
                return None;
            }
            let vcs = rules.between(self.wires.outs[o].class).vcs_of[usize::from(lane)];
            let filled = (0..V).any(|vc| vcs >> vc & 1 != 0 && self.is_filled(net, rules, (o, vc)));
            filled.then_some(Token { root, because_of: o as u32 })
        })
    }

    /// The VC of a VC class of output `o`. Each class has exactly one VC.
    pub(crate) fn vc_of(&self, net: &Net, o: usize, class: usize) -> usize {
        net.vcs(self.wires.outs[o].class, class).trailing_zeros() as usize
    }

    /// True if the queue at the next router on VC `vc` of output `o` has reached the threshold for tokens.
    fn is_filled(&self, net: &Net, rules: &SetAsideRules, (o, vc): (usize, usize)) -> bool {
        let out = &self.wires.outs[o];
        // a routing may return a hop that does not exist; such a hop has no VC
        let stored = out.credits.get(vc).map(|credits| net.links.of(out.class).buffer - credits);
        stored.is_some_and(|flits| u32::from(flits) >= rules.rules.spread)
    }

    /// The route key of packet `id`, a head at input `i`. The key names the VC class of the packet's queue at the next router. `key`: the
    /// route key if the packet stayed in normal queues.
    pub(crate) fn key_on_lane(&self, net: &Net, i: usize, id: u32, key: u16) -> u16 {
        if key == UNDECIDED || net.set_aside.is_none() {
            return key;
        }
        let (p, class) = split(key, net.class_bits);
        let o = self.buffers.ins[i].base(i) + p;
        let lane = self.lane_ahead(net, (o, class), &self.buffers.packets.items[id as usize]);
        key_of(p, class + usize::from(lane), net.class_bits)
    }

    /// Selects those of the given outputs of router `r` that have set a queue aside for packet `id`. Returns each with its queue. `class`:
    /// a VC class that the packet may use. The list is scratch memory; the caller returns it with [`Self::give_back`].
    fn queues_ahead(
        &mut self,
        net: &Net,
        r: usize,
        ports: impl Iterator<Item = u16>,
        id: u32,
        class: u8,
    ) -> Vec<(u16, u8)> {
        let mut found = std::mem::take(&mut self.set_asides.ahead);
        let (base, packet) = (self.requests.routers[r].base as usize, &self.buffers.packets.items[id as usize]);
        let lane = |p: u16| (p, self.lane_ahead(net, (base + usize::from(p), class.into()), packet));
        found.extend(ports.map(lane).filter(|&(_, lane)| lane != 0));
        found
    }

    fn give_back(&mut self, mut lanes: Vec<(u16, u8)>) {
        lanes.clear();
        self.set_asides.ahead = lanes;
    }

    /// Chooses the best member of the trunk of `hop` at router `r` for packet `id`. The returned hop leads into the queue of the packet at
    /// the next router.
    #[cold]
    #[inline(never)]
    pub(crate) fn member_set_aside(&mut self, net: &Net, r: usize, id: u32, hop: Hop, turn: u32) -> Hop {
        let base = self.requests.routers[r].base as usize;
        let (trunk, _) = self.trunk_of(base + usize::from(hop.port));
        let lanes = self.queues_ahead(net, r, trunk.members(), id, hop.class);
        let queues = queues_at!(self, net, r);
        let view = Sorted { queues: &queues, lanes: &lanes };
        let member = view.on_lane(view.best_or_fallback(hop, turn));
        self.give_back(lanes);
        member
    }

    /// Requests from the routing the hop of packet `id`, a head at router `r`, in this step. Returns the hop and the routing's note. The
    /// returned hop leads into the queue of the packet at the next router.
    #[cold]
    #[inline(never)]
    pub(crate) fn hop_set_aside(&mut self, net: &Net, r: usize, id: u32, turn: u32) -> (Option<Hop>, HopNote) {
        let (base, end) = self.inputs_of(r);
        let lanes = self.queues_ahead(net, r, 0..(end - base) as u16, id, 0);
        let queues = queues_at!(self, net, r);
        let view = Sorted { queues: &queues, lanes: &lanes };
        let (router, mut packet) = (self.requests.routers[r].id, self.buffers.packets.items[id as usize]);
        let here = Here { router, at: net.coords[router as usize], queues: &view as &dyn View };
        let hop = self.routing.each_step_watched(here, &mut packet, turn).map(|hop| view.on_lane(hop));
        let note = queues.noted();
        self.buffers.packets.items[id as usize] = packet;
        self.give_back(lanes);
        (hop, note)
    }
}

fn root_of(router: u32, port: usize) -> Root {
    u64::from(router) << 16 | port as u64
}

/// The root for an output of a router: the first output of its trunk.
fn first_root(refined: &Refined, router: u32, port: u16) -> Root {
    let base = refined.base[router as usize];
    let place = refined.outputs[base as usize + usize::from(port)].place;
    root_of(router, (place - base) as usize)
}

/// The root for the output that leads to the terminal of a packet.
fn terminal_root(net: &Net, packet: &Packet) -> Root {
    let (router, port) = net.terminal_at[packet.dst as usize];
    root_of(router, port.into())
}

/// The state of a router as a routing sees it, for a packet that may use queues that are set aside. The hops that the routing returns lead
/// into normal queues.
struct Sorted<'a, const V: usize> {
    queues: &'a Queues<'a, V>,
    /// Pairs (port, queue) of the ports that have set a queue aside for the packet.
    lanes: &'a [(u16, u8)],
}

impl<const V: usize> Sorted<'_, V> {
    fn on_lane(&self, hop: Hop) -> Hop {
        let lane = self.lanes.iter().find(|&&(port, _)| port == hop.port).map_or(0, |&(_, lane)| lane);
        Hop { class: hop.class + lane, ..hop }
    }
}

impl<const V: usize> View for Sorted<'_, V> {
    weft_api::answers_as!(queues);

    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop) {
        let members = || self.queues.members(hop.port);
        let first = turn as usize % members().count();
        let in_turn = members().skip(first).chain(members().take(first));
        in_turn.fold((0, hop), |best, port| {
            let member = Hop { port, ..hop };
            let credits = self.credits(member);
            if credits > best.0 { (credits, member) } else { best }
        })
    }

    fn fallback(&self, hop: Hop) -> Hop {
        self.queues.fallback(hop)
    }

    fn credits(&self, hop: Hop) -> u32 {
        self.queues.credits(self.on_lane(hop))
    }

    fn is_open(&self, hop: Hop) -> bool {
        self.queues.is_open(self.on_lane(hop))
    }

    fn has_room(&self, hop: Hop) -> bool {
        self.queues.has_room(self.on_lane(hop))
    }

    fn used(&self, hop: Hop) -> u32 {
        self.queues.used(self.on_lane(hop))
    }

    fn occupancy(&self, hop: Hop) -> (f64, u32) {
        self.queues.occupancy(self.on_lane(hop))
    }

    fn note(&self, what: HopNote) {
        self.queues.note(what);
    }
}
