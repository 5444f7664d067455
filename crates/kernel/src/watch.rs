//! Records the events of the packets that the user watches. Each block records the events inside it.
//!
//! A run without watched packets takes almost no additional time. The cycle loop makes the calls on one branch per cycle, and on branches
//! that it already has for rare cases (`SlowPaths::creation`, `HeadPath::Slow`, `SlowPaths::crossing`). `journey.rs` joins the records of
//! all blocks.

use crate::block::{Fabric, Interfaces, Observers, PolicySide, queues_at};
use crate::net::Net;
use crate::parts::queues::{Queue, Queues, Ready};
use crate::parts::watch::{Birth, Decision, Live, Reason, Stay, Watch};
use crate::spy::{Spy, Weighed};
use weft_api::compiled::Here;
use weft_api::routing::{Decides, Hop};
use weft_api::spec::FlowControl;
use weft_api::state::split;
use weft_api::state::{ChannelEnd, Gate, NO_REQUEST, NONE, Packet, UNDECIDED, WATCHED};
use weft_api::view::View;

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Records that packet `id` has become the first of the source queue of terminal `t`.
    pub(crate) fn watch_creation(&mut self, observers: &mut Observers, net: &Net, t: usize, id: u32, measured: bool) {
        let packet = &mut self.buffers.packets.items[id as usize];
        if !observers.watch.wants(packet, measured, self.now) {
            return;
        }
        packet.flags |= WATCHED;
        let packet = *packet;
        let ahead = decided_ahead(net, net.terminal_at[packet.src as usize].0, &packet, self.now);
        let (first, injected, tail_injected, entry) = (self.now, None, None, None);
        observers.watch.pending.push(observers.watch.births.len());
        let (left, vc, terminal) = (None, 0, t);
        let birth = Birth { packet, first, injected, left, vc, tail_injected, ahead, terminal, id, entry };
        observers.watch.births.push(birth);
    }

    /// Records the injection of packet `id`, which terminal `t` sends now. `left`: the cycle in which its whole head is on the link.
    pub(crate) fn watch_injection(&mut self, observers: &mut Observers, t: usize, id: u32, left: u64) {
        let Watch { pending, births, .. } = &mut observers.watch;
        // after injection, another packet may have the index `id`
        let is_it = |birth: &Birth| (birth.terminal, birth.id, birth.injected) == (t, id, None);
        if let Some(&n) = pending.iter().find(|&&n| is_it(&births[n])) {
            births[n].left = Some(left);
        }
    }

    /// Records that packet `id`, with route key `key`, has become the first of VC `v` of input `i`.
    pub(crate) fn watch_front(&mut self, observers: &mut Observers, net: &Net, i: usize, v: usize, id: u32, key: u16) {
        let packet = self.buffers.packets.items[id as usize];
        if packet.flags & WATCHED == 0 {
            return;
        }
        let port = &self.buffers.ins[i];
        let asks = key == UNDECIDED && net.needs.decides == Decides::AtHead;
        let decision = asks.then(|| self.decide(net, port.router as usize, &packet));
        let live = observers.watch.live.iter().find(|live| (live.i, live.v, live.sends) == (i, v, false));
        if let Some(&Live { stay, .. }) = live {
            // the head has a record for this stay and requests an output again
            decision.into_iter().for_each(|decision| observers.watch.stays[stay].decide(decision));
            return;
        }
        let decisions = decision.into_iter().collect();
        observers.watch.live.push(Live { i, v, stay: observers.watch.stays.len(), sends: false });
        observers.watch.stays.push(Stay {
            name: (packet.src, packet.seq),
            hop: packet.links_crossed,
            router: self.requests.routers[port.router as usize].id,
            front: self.now,
            decisions,
            dropped: 0,
            waits: Vec::new(),
            waiting: false,
            vc_taken: None,
            output: None,
            head: None,
            head_if_free: 0,
            tail: None,
            ahead: None,
        });
    }

    /// Records the decision that `route_here` will make next from the same queues.
    fn decide(&self, net: &Net, r: usize, packet: &Packet) -> Decision {
        let (router, mut after) = (&self.requests.routers[r], *packet);
        let queues = queues_at!(self, net, r);
        let spy = Spy::new(&queues);
        let here = Here { router: router.id, at: net.coords[router.id as usize], queues: &spy as &dyn View };
        let chosen = self.routing.at_head_watched(here, &mut after, net.seed);
        let compared = candidates(spy.notes.into_inner());
        let (rule, candidates) = if compared.is_empty() {
            // the routing compared nothing: it chooses no intermediate, or its random intermediate needs no detour
            (net.routing.rule_without_queues(), vec![(chosen, None)])
        } else {
            (net.routing.rule(), compared)
        };
        Decision { cycle: self.now, rule, candidates, chosen, via: net.routing.intermediate(&after) }
    }

    /// Records that the head of VC `v` of input `i` has made a new choice. The head chooses in every step. `turn`: the number by which the
    /// routing decides ties.
    pub(crate) fn watch_choice(
        &mut self,
        observers: &mut Observers,
        net: &Net,
        i: usize,
        v: usize,
        chosen: Hop,
        turn: u32,
    ) {
        let Some(live) = observers.watch.live.iter().find(|live| (live.i, live.v, live.sends) == (i, v, false)) else {
            return;
        };
        let (port, stay) = (&self.buffers.ins[i], live.stay);
        let segment = self.buffers.front(i, v);
        let router = &self.requests.routers[port.router as usize];
        let queues = queues_at!(self, net, port.router as usize);
        let spy = Spy::new(&queues);
        let rule = if segment.key == UNDECIDED {
            let mut packet = self.buffers.packets.items[segment.packet as usize];
            let at = net.coords[router.id as usize];
            self.routing.each_step_watched(Here { router: router.id, at, queues: &spy }, &mut packet, turn);
            net.routing.rule()
        } else {
            let (port, class) = split(segment.key, net.class_bits);
            spy.best_or_fallback(Hop { port: port as u16, class: class as u8 }, turn);
            "in every step the member of the trunk with the most credits among the members with room"
        };
        let candidates = candidates(spy.notes.into_inner());
        let decision = Decision { cycle: self.now, rule, candidates, chosen, via: None };
        observers.watch.stays[stay].decide(decision);
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Called in each cycle before allocation. Records which watched packets have left their source, and the reasons why the heads of
    /// others wait.
    pub(crate) fn watch_cycle(&self, interfaces: &Interfaces, policy: &PolicySide, net: &Net, watch: &mut Watch) {
        let Watch { pending, births, .. } = watch;
        pending.retain(|&n| !self.has_left(interfaces, &mut births[n]));
        self.watch_heads(policy, net, watch);
    }

    /// Called after the last cycle. Ends all waits that have not ended, including those at routers for which cycles were skipped.
    pub(crate) fn watch_end(&self, policy: &PolicySide, net: &Net, watch: &mut Watch) {
        self.watch_heads(policy, net, watch);
        watch.live.iter().for_each(|live| watch.stays[live.stay].stops_waiting(self.now));
    }

    fn watch_heads(&self, policy: &PolicySide, net: &Net, watch: &mut Watch) {
        for live in watch.live.iter().filter(|live| !live.sends) {
            let (port, stay) = (&self.buffers.ins[live.i], &mut watch.stays[live.stay]);
            if port.requests[live.v] == NO_REQUEST && stay.vc_taken.is_none() {
                stay.takes_vc(watch.looked, u32::from(port.output_vc[live.v] >> 4), self.now);
            }
            if let Some((reason, port)) = self.reason(policy, net, live.i, live.v) {
                stay.waits_for(reason, port, self.now);
            }
        }
        watch.looked = self.now;
    }

    /// Records the injection of a watched packet's head and tail. Returns true when the tail has left.
    fn has_left(&self, interfaces: &Interfaces, birth: &mut Birth) -> bool {
        let terminal = &interfaces.terminals[birth.terminal];
        let queued = interfaces.queues.each > 0;
        let (waits, sends) = if queued {
            waits_or_sends(&interfaces.queues, birth)
        } else {
            let sends = terminal.packet == birth.id && terminal.packet != NONE;
            (sends && terminal.vc == u8::MAX, sends)
        };
        if waits {
            return false;
        }
        if birth.injected.is_none() {
            (birth.injected, birth.vc) = (Some(self.now), terminal.vc);
        }
        if !sends {
            birth.tail_injected = Some(self.now);
        }
        !sends
    }

    /// The reason why the head of VC `v` of input `i` cannot cross the switch, or why the allocator may prefer another head. `None` if the
    /// head does not request an output yet.
    fn reason(&self, policy: &PolicySide, net: &Net, i: usize, v: usize) -> Option<(Reason, u32)> {
        let (port, key) = (&self.buffers.ins[i], self.buffers.ins[i].requests[v]);
        let base = port.base(i);
        if key == UNDECIDED {
            let waits = policy.faults.broken.waits(i, v);
            let named = self.buffers.front(i, v).key;
            return waits.then(|| (Reason::LinkBroken, net.port(named) as u32));
        }
        if key == NO_REQUEST {
            let (p, vc) = (usize::from(port.output_vc[v] >> 4), port.output_vc[v] & 15);
            let dry = self.wires.outs[base + p].vcs_with_credit >> vc & 1 == 0;
            let reason = if dry {
                Reason::NoCredit
            } else if self.is_full(net, i, p) {
                Reason::LinkFull
            } else {
                Reason::LostSwitch
            };
            return Some((reason, p as u32));
        }
        let (p, class) = split(key, net.class_bits);
        let out = &self.wires.outs[base + p];
        let vcs = net.vcs(out.class, class);
        let room = out.available_vcs();
        let early = net.router.vc_realloc && net.router.flow_control == FlowControl::Wormhole;
        let reason = if out.gate() == Gate::Broken {
            Reason::LinkBroken
        } else if out.is_closed() {
            Reason::LinkAsleep
        } else if out.free_vcs & vcs == 0 {
            Reason::VcHeld
        } else if !net.single && net.router.hold_switch && out.free_vcs != net.links[out.class as usize].all {
            Reason::OutputHeld
        } else if !early && net.links[out.class as usize].open_to(out, room, class) == 0 {
            Reason::NoCredit
        } else if net.router.vc_realloc {
            Reason::LostVc
        } else if self.is_full(net, i, p) {
            Reason::LinkFull
        } else {
            Reason::LostSwitch
        };
        Some((reason, p as u32))
    }

    /// True if output `p` of the router of input `i` is full: the number of flits that wait for its link has reached the limit.
    fn is_full(&self, net: &Net, i: usize, p: usize) -> bool {
        net.rates.is_some() && self.wires.paces.full[self.buffers.ins[i].router as usize].contains(p)
    }

    /// Records that the first packet of VC `v` of input `i` is discarded, if it is watched.
    #[cold]
    pub(crate) fn watch_loss(&mut self, observers: &mut Observers, i: usize, v: usize) {
        let now = self.now;
        if let Some(n) = observers.watch.live.iter().position(|live| (live.i, live.v) == (i, v)) {
            let live = observers.watch.live.swap_remove(n);
            observers.watch.stays[live.stay].stops_waiting(now);
        }
    }

    /// Called before router `r` makes its first `count` moves.
    pub(crate) fn watch_moves(&mut self, observers: &mut Observers, net: &Net, r: usize, count: usize) {
        let mut watch = std::mem::take(&mut observers.watch);
        let base = self.requests.routers[r].base as usize;
        for m in self.switch.moves(count) {
            let (i, v, o) = (base + usize::from(m.i), usize::from(m.v), base + usize::from(m.p));
            let Some(n) = watch.live.iter().position(|live| (live.i, live.v) == (i, v)) else { continue };
            let segment = self.buffers.front(i, v);
            let (live, out) = (&mut watch.live[n], &self.wires.outs[o]);
            let stay = &mut watch.stays[live.stay];
            let (if_free, depart) = self.departure(net, i, o, self.now + net.router.after_grant);
            if !live.sends {
                live.sends = true;
                stay.stops_waiting(self.now);
                stay.vc_taken.get_or_insert(self.now);
                (stay.output, stay.head) = (Some((m.p, m.vc)), Some((self.now, depart)));
                stay.head_if_free = if_free;
                if !out.is(ChannelEnd::Ejection) {
                    let packet = &self.buffers.packets.items[segment.packet as usize];
                    let there = Packet { links_crossed: packet.links_crossed + 1, ..*packet };
                    stay.ahead = decided_ahead(net, self.wires.next_router[o], &there, self.now);
                }
            }
            if net.single || segment.sent + 1 == segment.len {
                stay.tail = Some((self.now, depart));
                watch.live.swap_remove(n);
            }
        }
        observers.watch = watch;
    }
}

/// Returns two flags: whether a watched packet waits in the queues of its terminal, and whether its tail has not left. When the packet's
/// head has left for another block, another packet may get its index. Therefore the function then reads the packet's entry in the queue
/// instead.
fn waits_or_sends(queues: &Queues, birth: &mut Birth) -> (bool, bool) {
    let (t, id, ready) = (birth.terminal, birth.id, &queues.ready.items);
    let own = &queues.of[t * queues.each..(t + 1) * queues.each];
    if birth.injected.is_none() {
        let pending = queues.streams[queues.streams_of(t)].iter().any(|stream| stream.pending == id);
        let waiting = own.iter().find_map(|queue| {
            let mut at = if queue.is_amid() { ready[queue.first as usize].next } else { queue.first };
            while at != NONE && ready[at as usize].packet != id {
                at = ready[at as usize].next;
            }
            (at != NONE).then_some(at)
        });
        birth.entry = waiting.or(birth.entry);
        if pending || waiting.is_some() {
            return (true, true);
        }
        // the packet can enter its queue and begin to leave in the same cycle
        let begins = |first: &Ready, left: u16| first.packet == id && left + 1 == first.flits;
        let begun = |queue: &&Queue| queue.is_amid() && begins(&ready[queue.first as usize], queue.left);
        birth.entry = birth.entry.or_else(|| own.iter().find(begun).map(|queue| queue.first));
    }
    (false, own.iter().any(|queue| queue.is_amid() && Some(queue.first) == birth.entry))
}

/// The routing's decision about the hop at `router`, which the packet reaches next; `None` if the decision depends on queues.
fn decided_ahead(net: &Net, router: u32, packet: &Packet, now: u64) -> Option<Decision> {
    let (at, mut after) = (net.coords[router as usize], *packet);
    let chosen = net.routing.next(at, &mut after, net.seed)?;
    let steps = net.routing.steps(at, packet, net.seed);
    let rule = if router == net.terminal_at[packet.dst as usize].0 {
        "the destination terminal is at this router"
    } else if steps.len() > 1 {
        "random choice, all equally likely"
    } else {
        "the routing returns only one hop"
    };
    let candidates = steps.iter().map(|step| (step.hop, None)).collect();
    Some(Decision { cycle: now, rule, candidates, chosen, via: net.routing.intermediate(&after) })
}

fn candidates(notes: Vec<Weighed>) -> Vec<(Hop, Option<Weighed>)> {
    let hop = |note: &Weighed| match *note {
        Weighed::Cost { hop, .. } | Weighed::Credits { hop, .. } => hop,
    };
    notes.into_iter().map(|note| (hop(&note), Some(note))).collect()
}
