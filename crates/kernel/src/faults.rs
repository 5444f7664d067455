//! Handles links and routers that fail and are repaired. Under a policy that replaces links, this file notifies the agents, and decides
//! what happens to heads whose output has failed. A head without any path waits (it is parked) until its router receives news about links.
//! If every path leads through a failed router, the cycle loop discards the packet (`discards.rs`). `engine/src/network/faults.rs`
//! describes the rules.

use crate::block::{Fabric, PolicySide, Reach, Routers};
use crate::net::{Net, Repair};
use crate::parts::faults::Event;
use weft_api::agents::{Detour, Parked};
use weft_api::state::split;
use weft_api::state::{AROUND, LinkState, NO_REQUEST, Packet, UNDECIDED};
use weft_api::subnetworks::{Leg, Subnets};

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Handles the links and routers that fail or are repaired in the present cycle.
    pub(crate) fn break_parts(&mut self, net: &Net) {
        let now = self.routers.fabric.now;
        while let Some(Event { what, .. }) = self.routers.beside.policy.faults.events.pop_if(|event| event.at <= now) {
            let Routers { fabric, beside } = &mut self.routers;
            let o = what.channel as usize;
            let r = fabric.wires.outs[o].router as usize;
            beside.policy.faults.note(r, what);
            if net.faults.repair != Repair::ByPolicy {
                self.break_or_mend(net, what);
                continue;
            }
            self.with_agents(net, |agents, channels| agents.fault(what, channels));
            if what.breaks {
                self.reroute_some(net, r, |routers, i, v| {
                    routers.beside.policy.faults.dead[r]
                        || routers.fabric.buffers.ins[i].base(i) + net.port(routers.fabric.buffers.ins[i].requests[v])
                            == o
                });
            }
        }
    }

    /// At routers that have received news about links, parked heads search for a path again. Heads on the way from one intermediate to
    /// another also search again, because after faults such heads can wait for each other. At the end, the function discards the packets
    /// that are scheduled to be discarded.
    pub(crate) fn reroute_heads(&mut self, net: &Net) {
        if let Repair::ByRouting(around) = net.faults.repair {
            self.turn_heads(net, around);
        } else if !self.routers.beside.policy.faults.news.is_empty() {
            self.reroute_after_news(net);
        }
        if !self.routers.beside.policy.faults.doomed.is_empty() {
            self.discard(net);
        }
    }

    #[cold]
    fn reroute_after_news(&mut self, net: &Net) {
        let mut routers = std::mem::take(&mut self.routers.beside.policy.faults.news);
        routers.sort_unstable();
        routers.dedup();
        let hears = |p: &mut Parked| routers.binary_search(&p.router).is_ok();
        let parked: Vec<Parked> = self.routers.beside.policy.faults.parked.extract_if(.., hears).collect();
        for Parked { i, v, .. } in parked {
            self.route_again(net, i as usize, usize::from(v));
        }
        for r in routers.drain(..).map(|r| r as usize) {
            if self.routers.beside.policy.faults.warned[r] {
                self.reroute_some(net, r, |routers, i, v| routers.fabric.goes_on(net, r, i, v));
            }
        }
    }

    /// Lets those heads of router `r` search for another path that request an output and for which `turns` returns true.
    fn reroute_some(&mut self, net: &Net, r: usize, turns: impl Fn(&Routers<W, V>, usize, usize) -> bool) {
        let base = self.routers.fabric.requests.routers[r].base as usize;
        let end = self
            .routers
            .fabric
            .requests
            .routers
            .get(r + 1)
            .map_or(self.routers.fabric.buffers.ins.len(), |next| next.base as usize);
        for i in base..end {
            for v in 0..V {
                let key = self.routers.fabric.buffers.ins[i].requests[v];
                if key != NO_REQUEST && key != UNDECIDED && turns(&self.routers, i, v) {
                    self.routers.fabric.buffers.ins[i].requests[v] = UNDECIDED;
                    self.routers.fabric.withdraw(net, r, i, key);
                    self.routers.fabric.forget(&mut self.routers.beside.policy, net, i, v);
                    self.route_again(net, i, v);
                }
            }
        }
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// True if a head came over a link of a subnetwork and requests another link of this subnetwork, but not for the last hop of its leg.
    fn goes_on(&self, net: &Net, r: usize, i: usize, v: usize) -> bool {
        let (port, nets) = (&self.buffers.ins[i], subnets(net));
        let at = net.coords[self.requests.routers[r].id as usize];
        let (p, class) = split(port.requests[v], net.class_bits);
        let subnet = |port: u16| nets.behind(port, |d| nets.member(at, d)).map(|(d, _)| d);
        // each leg has two VC classes, of which the second is for the hop to the end of the leg
        class.is_multiple_of(2) && subnet(p as u16).is_some() && subnet(port.port) == subnet(p as u16)
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Searches for a path for the head of VC `v` of input `i`. The head requests no output at present.
    fn route_again(&mut self, net: &Net, i: usize, v: usize) {
        let Routers { fabric, beside } = &mut self.routers;
        let (r, id) = (fabric.buffers.ins[i].router as usize, fabric.buffers.front(i, v).packet);
        if fabric.is_lost(&beside.policy, net, r, id) {
            beside.policy.faults.doomed.push((i as u32, v as u8));
            return;
        }
        let at = net.coords[fabric.requests.routers[r].id as usize];
        let packet = &mut fabric.buffers.packets.items[id as usize];
        let was_around = packet.flags & AROUND != 0;
        let (leg, nets) = (crossing(net, at, packet), subnets(net));
        let begins = nets.behind(fabric.buffers.ins[i].port, |d| nets.member(at, d)).is_none_or(|(d, _)| d != leg.d);
        if begins {
            packet.dim = 0; // at the first router of a leg every candidate is allowed
        }
        // without agents, because the search must not notify them: they are notified below if the head has found a path
        let agents = beside.policy.agents.take();
        let key = fabric.route_here(&mut beside.policy, net, r, id);
        beside.policy.agents = agents;
        fabric.buffers.front_mut(i, v).key = key;
        if !fabric.leads_on(net, r, key) {
            fabric.park_without_request(&mut beside.policy, net, i, v, id);
            return;
        }
        fabric.tell_agents_of_route(&mut beside.policy, net, r, id, leg, (key, begins, begins && !was_around));
        let key = fabric.key_on_lane(net, i, id, key);
        fabric.buffers.ins[i].requests[v] = key;
        let (p, class) = split(key, net.class_bits);
        fabric.request_vc(net, i, p, class);
        self.ask_for_closed(net);
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Notifies the agents of the path that a head has found at this router, and records if the head takes a link in the state `shadow`.
    /// `begins`: whether the head is at the first router of its leg. `is_new`: whether the detour of this head has not yet been counted at
    /// this router. The detour of a packet with several flits is counted when the packet leaves.
    fn tell_agents_of_route(
        &mut self,
        policy: &mut PolicySide,
        net: &Net,
        r: usize,
        id: u32,
        leg: Leg,
        (key, begins, is_new): (u16, bool, bool),
    ) {
        let (packet, base) = (&self.buffers.packets.items[id as usize], self.requests.routers[r].base as usize);
        let direct = base + usize::from(subnets(net).port_to(leg.d, leg.own, leg.to));
        let state = LinkState::of(self.wires.outs[direct].state);
        if packet.flags & AROUND != 0 {
            if let Some(agents) = &mut policy.agents {
                let counts = if net.single { is_new } else { begins };
                agents.goes_around(Detour {
                    now: self.now,
                    over: base + net.port(key),
                    direct: counts.then_some(direct),
                    packet: id,
                    leaves_on: None,
                });
            }
        } else if begins && state == LinkState::Shadow {
            policy.power.wanted_back.push(direct as u32);
        }
    }

    /// Parks the head of VC `v` of input `i`, because it has no path, until its router receives news about links.
    #[cold]
    pub(crate) fn park(&mut self, policy: &mut PolicySide, net: &Net, i: usize, v: usize, packet: u32) {
        self.forget(policy, net, i, v);
        self.park_without_request(policy, net, i, v, packet);
    }

    /// Does the work of `park` for a head that does not request an output.
    fn park_without_request(&mut self, policy: &mut PolicySide, net: &Net, i: usize, v: usize, packet: u32) {
        self.buffers.ins[i].requests[v] = UNDECIDED;
        let router = self.buffers.ins[i].router;
        let at = net.coords[self.requests.routers[router as usize].id as usize];
        let leg = crossing(net, at, &self.buffers.packets.items[packet as usize]);
        policy.faults.parked.push(Parked { router, i: i as u32, v: v as u8, d: leg.d as u8, to: leg.to });
    }

    /// Cancels the output that the head of VC `v` of input `i` has chosen. If this output was for a detour, the agents subtract the detour
    /// from their counts.
    fn forget(&mut self, policy: &mut PolicySide, net: &Net, i: usize, v: usize) {
        let segment = self.buffers.front(i, v);
        let around = self.buffers.packets.items[segment.packet as usize].flags & AROUND != 0;
        let o = self.buffers.ins[i].base(i) + net.port(segment.key);
        if let Some(agents) = &mut policy.agents
            && net.single
            && around
        {
            agents.not_around(o);
        }
    }

    /// True if the output of a route key can carry packets, or will wake when a packet requests it.
    pub(crate) fn leads_on(&self, net: &Net, r: usize, key: u16) -> bool {
        let out = &self.wires.outs[self.requests.routers[r].base as usize + net.port(key)];
        matches!(LinkState::of(out.state), LinkState::On | LinkState::Shadow)
    }
}

/// The subnetworks of the network. They exist, because a policy replaces failed links only under routings that use subnetworks.
pub(super) fn subnets(net: &Net) -> &Subnets {
    net.subnets.as_ref().expect("a network with faults has subnetworks")
}

/// The present leg of a packet that waits for a link of a subnetwork.
fn crossing(net: &Net, at: u64, packet: &Packet) -> Leg {
    net.routing.aim(at, packet, net.seed).unwrap_or_else(|_| unreachable!("only links of subnetworks are gone round"))
}
