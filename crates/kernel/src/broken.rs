//! Handles links and routers that fail, under any power policy. The channels of a failed part are closed to heads until the part is
//! repaired. A head whose output is broken follows the rule that its routing declares ([`AroundFaults`]). `engine/src/network/faults.rs`
//! describes the rules.
//!
//! The cycle loop has no separate code for failed links. Any head that requests a closed channel already takes a rare branch
//! (`wait_for_link`). If the channel is broken, this branch records the request in [`Broken`](crate::parts::broken::Broken). In the next
//! cycle, before the allocation, all heads that request the channel search for another path.

use crate::block::{Beside, Fabric, PolicySide, Reach, Routers, queues_at};
use crate::net::Net;
use crate::parts::broken::{NEVER, Place};
use weft_api::agents::{Breakage, Cause};
use weft_api::routing::{AroundFaults, Decides, Hop};
use weft_api::state::split;
use weft_api::state::{ChannelEnd, Gate, LinkState, NO_REQUEST, Packet, Segment, UNDECIDED};
use weft_api::view::View;
use weft_topology::Trunk;

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Breaks or repairs one end of a link, as `what` states.
    pub(super) fn break_or_mend(&mut self, net: &Net, what: Breakage) {
        let Routers { fabric, beside: Beside { policy, .. } } = &mut self.routers;
        let o = what.channel as usize;
        let causes = &mut policy.faults.broken.causes[o];
        *causes = if what.breaks { *causes + 1 } else { *causes - 1 };
        policy.faults.broken.look_again = true;
        match (what.breaks, *causes) {
            (true, 1) => {
                policy.power.break_channel(o, &mut fabric.wires.outs[o]);
                policy.faults.broken.fading.push(o as u32);
                if fabric.wires.outs[o].requested != 0 {
                    policy.faults.note_asked(o);
                }
            }
            (false, 0) => self.mend(net, o),
            (true, _) | (false, _) => {} // another fault has already broken the channel, or still keeps it broken
        }
        self.with_agents(net, |agents, channels| agents.fault(what, channels));
        if what.cause == Cause::OwnRouter && what.breaks {
            self.routers.fabric.requests.active.set(self.routers.fabric.wires.outs[o].router as usize); // its heads retry, and are discarded
        }
    }

    /// Repairs channel `o`, which then takes the state that the policy has set.
    fn mend(&mut self, net: &Net, o: usize) {
        let Routers { fabric, beside: Beside { policy, .. } } = &mut self.routers;
        policy.faults.broken.fading.retain(|&fading| fading as usize != o);
        let state = policy.power.mend_channel(o, &mut fabric.wires.outs[o], fabric.now);
        if state != LinkState::of(self.routers.fabric.wires.outs[o].state) {
            self.routers.set_state(net, o, state, self.routers.fabric.now);
        }
        if self.routers.fabric.wires.outs[o].is_closed() && self.routers.fabric.wires.outs[o].requested != 0 {
            // the policy has switched the channel off; it is notified only now of a request that a head made during the fault
            self.with_agents(net, |agents, channels| agents.wanted(o, channels));
        }
        let Routers { fabric, beside: Beside { policy, .. } } = &mut self.routers;
        if !net.faults.cut_rings.is_empty() {
            fabric.look_again(&mut self.interfaces, policy, o);
            return; // this block does not know whether the rest of the ring works
        }
        // heads of this router can perhaps use their escape again
        let r = fabric.wires.outs[o].router as usize;
        let (base, end) = fabric.inputs_of(r);
        let vcs = policy.faults.broken.vcs;
        if let Some(since) = policy.faults.broken.since.get_mut(base * vcs..end * vcs) {
            since.fill(NEVER);
        }
        fabric.look_again(&mut self.interfaces, policy, o);
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// The inputs of router `r`, as first index and end.
    pub(super) fn inputs_of(&self, r: usize) -> (usize, usize) {
        let end = self.requests.routers.get(r + 1).map_or(self.buffers.ins.len(), |next| next.base as usize);
        (self.requests.routers[r].base as usize, end)
    }

    /// True if the packet with this route key, which has become the head at `place`, has a path. Otherwise schedules the packet to be
    /// discarded.
    #[cold]
    pub(super) fn has_a_path(
        &mut self,
        policy: &mut PolicySide,
        net: &Net,
        place: Place,
        around: AroundFaults,
        packet: u32,
        key: u16,
    ) -> bool {
        match around {
            AroundFaults::Drops => {}
            AroundFaults::Rebuilds if self.is_hop(net, self.buffers.ins[place.0].router as usize, key) => {}
            AroundFaults::Rebuilds => {
                self.buffers.ins[place.0].requests[place.1] = UNDECIDED;
                policy.faults.doomed.push((place.0 as u32, place.1 as u8));
                return false;
            }
            AroundFaults::ChoosesAgain => {
                let (broken, places) = (&mut policy.faults.broken, self.buffers.ins.len() * V);
                broken.undecided.resize(places, None);
                broken.since.resize(places, NEVER);
                let number = broken.number(place);
                broken.undecided[number] = (key == UNDECIDED).then_some(self.buffers.packets.items[packet as usize]);
                broken.since[number] = NEVER;
                if !net.faults.cut_rings.is_empty() {
                    broken.since[number] = self.now;
                    broken.deadlines.push_back((self.now + net.faults.patience.max(1), self.now, place));
                }
            }
        }
        true
    }

    /// True if a route key at router `r` names a hop. The key names no hop if the tables contain no path, or if the path has more hops than
    /// there are VC classes.
    fn is_hop(&self, net: &Net, r: usize, key: u16) -> bool {
        if key == UNDECIDED {
            return false;
        }
        let (port, class) = split(key, net.class_bits);
        let router = &self.requests.routers[r];
        let link = self.wires.outs[router.base as usize + port].class;
        let hop = net.as_routed(router.id, Hop { port: port as u16, class: class as u8 });
        hop.class < net.needs.classes[usize::from(link)]
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Gives heads that request broken channels another hop, and discards the packets of heads that have waited too long. Broken
    /// channels that have sent their last flits become dark.
    pub(super) fn turn_heads(&mut self, net: &Net, around: AroundFaults) {
        let mut asked = std::mem::take(&mut self.routers.beside.policy.faults.broken.asked);
        asked.sort_unstable();
        asked.dedup();
        for o in asked.drain(..).map(|o| o as usize) {
            let r = self.routers.fabric.wires.outs[o].router as usize;
            for place in self.routers.fabric.heads_that_ask(net, r, o) {
                self.turn(net, around, r, place);
            }
        }
        self.routers.beside.policy.faults.broken.asked = asked;
        if std::mem::take(&mut self.routers.beside.policy.faults.broken.look_again) {
            for place in std::mem::take(&mut self.routers.beside.policy.faults.broken.parked) {
                self.turn(net, around, self.routers.fabric.buffers.ins[place.0].router as usize, place);
            }
        }
        let Routers { fabric, beside: Beside { policy, .. } } = &mut self.routers;
        while let Some(&(at, since, place)) = policy.faults.broken.deadlines.front()
            && at <= fabric.now
        {
            policy.faults.broken.deadlines.pop_front();
            let (i, v) = place;
            let waits = fabric.buffers.ins[i].choosing >> v & 1 != 0;
            if !waits || policy.faults.broken.since[policy.faults.broken.number(place)] != since {
                continue;
            }
            if net.faults.cut_rings.is_empty() || fabric.ring_is_cut(net) {
                fabric.give_up(policy, net, place);
            } else {
                policy.faults.broken.deadlines.push_back((fabric.now + net.faults.patience.max(1), since, place));
            }
        }
        self.routers.fade(net);
        if !self.routers.beside.policy.faults.doomed.is_empty() {
            self.discard(net);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// True if any link or router is broken at present, so that packets in an escape ring might be blocked. The broken link need not belong
    /// to the ring: a packet that waits for a broken link elsewhere can block a packet of the ring.
    fn ring_is_cut(&self, net: &Net) -> bool {
        let before = net.faults.cut_rings.partition_point(|&(from, _)| from <= self.now);
        before > 0 && self.now < net.faults.cut_rings[before - 1].1
    }

    /// The heads of router `r` that request output `o`, if this output is broken.
    fn heads_that_ask(&self, net: &Net, r: usize, o: usize) -> Vec<Place> {
        if self.wires.outs[o].gate() != Gate::Broken {
            return Vec::new(); // the link was repaired in this cycle
        }
        let (base, end) = self.inputs_of(r);
        let asks = |key: u16| key != NO_REQUEST && key != UNDECIDED && base + net.port(key) == o;
        let places = (base..end).flat_map(|i| (0..V).map(move |v| (i, v)));
        places.filter(|&(i, v)| asks(self.buffers.ins[i].requests[v])).collect()
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Handles the head at `place` of router `r`, if the head requests a broken output.
    fn turn(&mut self, net: &Net, around: AroundFaults, r: usize, place: Place) {
        let Routers { fabric, beside } = &mut self.routers;
        match around {
            _ if beside.policy.faults.is_dead(r) => fabric.give_up(&mut beside.policy, net, place),
            _ if fabric.has_another_member(net, r, place) => self.name_again(net, r, place),
            AroundFaults::Drops => fabric.give_up(&mut beside.policy, net, place),
            AroundFaults::ChoosesAgain => self.choose_again(net, r, place),
            AroundFaults::Rebuilds => self.name_again(net, r, place),
        }
    }

    /// Computes the hop of the head at `place` again, from the present tables. If the link of this hop is also broken, the head waits for
    /// new tables or for the repair of the link.
    fn name_again(&mut self, net: &Net, r: usize, place: Place) {
        let Routers { fabric, beside } = &mut self.routers;
        let (i, v) = place;
        let Segment { packet, mut key, .. } = *fabric.buffers.front(i, v);
        if !fabric.is_whole(r, net.port(key) as u16) {
            let packet = &mut fabric.buffers.packets.items[packet as usize];
            net.routing.forget_hop(packet);
            key = net.route_ahead(fabric.requests.routers[r].id as usize, packet);
            if !fabric.is_hop(net, r, key) {
                return fabric.give_up(&mut beside.policy, net, place);
            }
        }
        fabric.stop_asking(net, place);
        if fabric.is_whole(r, net.port(key) as u16) {
            self.ask_for(net, place, key);
        } else {
            fabric.buffers.front_mut(i, v).key = key;
            beside.policy.faults.broken.parked.push(place);
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Discards the packet at the head of `place`.
    fn give_up(&mut self, policy: &mut PolicySide, net: &Net, (i, v): Place) {
        self.stop_asking(net, (i, v));
        policy.faults.doomed.push((i as u32, v as u8));
    }

    /// Ends the request of the head at `place`, and unmarks the head so that it does not choose an output in the next step.
    fn stop_asking(&mut self, net: &Net, (i, v): Place) {
        self.ask_for_nothing(net, (i, v));
        let port = &mut self.buffers.ins[i];
        self.requests.routers[port.router as usize].stop_choosing(port, v);
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Requests the hop of this route key for the head at `place`. The head has no request yet. If the hop uses a trunk, the head chooses a
    /// member link in the next step.
    fn ask_for(&mut self, net: &Net, (i, v): Place, key: u16) {
        let fabric = &mut self.routers.fabric;
        let p = net.port(key);
        fabric.buffers.front_mut(i, v).key = key;
        let port = &mut fabric.buffers.ins[i];
        if Trunk::at(&fabric.wires.trunks, port.base(i) + p, p as u16).width > 1 {
            return fabric.let_choose(net, i, v);
        }
        let key = fabric.key_on_lane(net, i, fabric.buffers.front(i, v).packet, key);
        let (_, class) = split(key, net.class_bits);
        fabric.buffers.ins[i].requests[v] = key;
        fabric.request_vc(net, i, p, class);
        self.ask_for_closed(net);
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Cancels the request of the head at `place`, if it has one.
    fn ask_for_nothing(&mut self, net: &Net, (i, v): Place) {
        let key = std::mem::replace(&mut self.buffers.ins[i].requests[v], UNDECIDED);
        if key != UNDECIDED {
            self.withdraw(net, self.buffers.ins[i].router as usize, i, key);
        }
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Gives the head at `place` another hop, if there is a hop with a working link.
    fn choose_again(&mut self, net: &Net, r: usize, place: Place) {
        let Routers { fabric, beside } = &mut self.routers;
        let (i, v) = place;
        let Segment { packet, key, .. } = *fabric.buffers.front(i, v);
        let packet = packet as usize;
        let chooses = fabric.buffers.ins[i].choosing >> v & 1 != 0;
        if chooses && fabric.goes_on_choosing(&mut beside.policy, net, r, place, packet, key) {
            fabric.ask_for_nothing(net, place);
            fabric.requests.active.set(r); // its next random choice can be another hop, even without an event at this router
            return fabric.unsettle_head(net, i, v);
        }
        let before = match net.needs.decides {
            Decides::Ahead => {
                let mut undecided = fabric.buffers.packets.items[packet];
                net.routing.forget_hop(&mut undecided);
                Some(undecided)
            }
            Decides::AtHead => beside.policy.faults.broken.undecided[beside.policy.faults.broken.number(place)],
            Decides::EachStep => None,
        };
        let Some((hop, after)) = before.and_then(|packet| fabric.best_whole(net, r, &packet)) else {
            return fabric.give_up(&mut beside.policy, net, place);
        };
        fabric.stop_asking(net, place);
        let routed = std::mem::replace(&mut fabric.buffers.packets.items[packet], after);
        if beside.policy.power.probes.routed
            && let Some(agents) = &mut beside.policy.agents
        {
            agents.rerouted(&routed, &after);
        }
        let hop = net.as_taken(fabric.requests.routers[r].id, &after, hop);
        self.ask_for(net, place, net.key(hop.port.into(), hop.class.into()));
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// For a head at `place` that chooses in every step: true if it still has a candidate with a working link. If the escape of the head is
    /// broken, packets could wait for each other in a cycle, so the head then waits only for a limited time.
    fn goes_on_choosing(
        &mut self,
        policy: &mut PolicySide,
        net: &Net,
        r: usize,
        place: Place,
        packet: usize,
        key: u16,
    ) -> bool {
        if key != UNDECIDED {
            return self.is_whole(r, net.port(key) as u16); // the key names a trunk
        }
        let (at, packet) = (net.coords[self.requests.routers[r].id as usize], &self.buffers.packets.items[packet]);
        if !net.routing.steps(at, packet, net.seed).iter().any(|step| self.is_whole(r, step.hop.port)) {
            return false;
        }
        let cut_off = net.routing.escape(at, packet.dest).is_some_and(|hop| !self.is_whole(r, hop.port));
        let (broken, now) = (&mut policy.faults.broken, self.now);
        let number = broken.number(place);
        if broken.since[number] == NEVER && cut_off {
            broken.since[number] = now;
            broken.deadlines.push_back((now + net.faults.patience, now, place));
        }
        true
    }

    /// For the packet at router `r`: the hop with the lowest cost among those with a working link, and the packet's data after this hop.
    fn best_whole(&self, net: &Net, r: usize, packet: &Packet) -> Option<(Hop, Packet)> {
        let at = net.coords[self.requests.routers[r].id as usize];
        let here = queues_at!(self, net, r);
        let steps = net.routing.steps_around(at, packet, net.seed).into_iter();
        let cost = |hop: Hop, hops: u32, bias: i32| here.read(hop.port) * hops as i32 + bias;
        let weighed = steps.filter(|step| self.is_whole(r, step.hop.port)).map(|step| {
            let cost = step.cost.filter(|_| net.needs.sensor.is_some()).map(|c| cost(step.hop, c.hops, c.bias));
            (cost.unwrap_or(0), step)
        });
        // among equal costs, `min_by_key` takes the first step; minimal hops come first in the list
        weighed.min_by_key(|&(cost, _)| cost).map(|(_, step)| (step.hop, step.after))
    }

    /// True if the head at `place` requests an output of a trunk that still has a working link.
    fn has_another_member(&self, net: &Net, r: usize, (i, v): Place) -> bool {
        let key = self.buffers.front(i, v).key;
        key != UNDECIDED && self.is_whole(r, net.port(key) as u16)
    }

    /// True if the link of output `port` of router `r` works; for a trunk, true if the link of at least one member works.
    fn is_whole(&self, r: usize, port: u16) -> bool {
        let base = self.requests.routers[r].base as usize;
        let trunk = Trunk::at(&self.wires.trunks, base + usize::from(port), port);
        trunk.members().any(|port| self.wires.outs[base + usize::from(port)].gate() != Gate::Broken)
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Makes broken channels dark when no packet holds them any more and their last flits have left. The channels from a dead router to its
    /// terminals are closed to heads, but take the state that the policy has set, because the terminals still work.
    fn fade(&mut self, net: &Net) {
        let mut fading = std::mem::take(&mut self.beside.policy.faults.broken.fading);
        fading.retain(|&o| {
            let out = &self.fabric.wires.outs[o as usize];
            let has_left = (self.fabric.now as u32).wrapping_sub(out.next_free) as i32 >= 0;
            let done = has_left && self.beside.policy.power.held_vcs(o as usize, out) == 0;
            let goes_dark = !out.is(ChannelEnd::Ejection) && LinkState::of(out.state) != LinkState::Off;
            if done && goes_dark {
                self.set_state(net, o as usize, LinkState::Off, self.fabric.now);
            }
            !done
        });
        self.beside.policy.faults.broken.fading = fading;
    }
}
