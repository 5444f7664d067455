//! Sets up the power policy in each block: its agents, their control packets, and the faults that the block detects.

use super::builder::Builder;
use crate::network::failures::{Fault, OwnEnd};
use std::sync::Arc;
use weft_api::agents::{BlockSite, ChannelSite, RouterSite};
use weft_api::state::{ChannelEnd, LinkState};
use weft_api::subnetworks::Views;
use weft_kernel::face::AnyBlock;
use weft_kernel::face::build::{Far, Port as Planned};
use weft_kernel::face::views::{Output, Place as RouterPlace};
use weft_kernel::net::Repair;
use weft_kernel::parts::control::{Control, Place};
use weft_kernel::parts::faults::Faults;
use weft_topology::{Peer, Port, Trunk};

impl Builder<'_> {
    /// The failures and repairs of links and routers that the channels of this block detect.
    pub(super) fn faults(&self, routers: &[RouterPlace], ports: &[Planned]) -> Faults {
        if !self.net.faults.repair.any() {
            return Faults::default();
        }
        let events = (0..).zip(ports).flat_map(|(channel, port)| {
            let from = routers[port.router as usize].id;
            let number = (channel - self.division.base(from)) as u16;
            // the router at the far end; a terminal's link fails with its router, except under a policy that replaces
            // failed links
            let to = match port.far {
                Far::Here { router, .. } | Far::Away { router, .. } => Some(router),
                Far::Terminal(_) => (self.net.faults.repair != Repair::ByPolicy).then_some(from),
                Far::Nowhere => None,
            };
            // if a fault names only the link class of the opposite channel, it breaks this channel too
            let named = move |f: &&Fault, to| f.names(from, to, port.back) && !f.names(from, to, port.class);
            let trunk = self.spec.graph.trunk(from, number);
            let member = trunk.members().position(|member| member == number).unwrap_or(0) as u16;
            let events = move |to| {
                self.spec.faults.iter().flat_map(move |f| {
                    let class = if named(&f, to) { port.back } else { port.class };
                    f.events(channel, OwnEnd { from, to, class, member })
                })
            };
            to.into_iter().flat_map(events)
        });
        Faults::new(events.collect(), ports.len(), routers.len(), self.allocator.width().vcs())
    }

    /// The data about the block that control packets need. `queue`: maximum number of control packets that wait for one link.
    fn place(&self, queue: u64) -> Place {
        let longest = self.net.links.iter().map(|l| 2 * l.latency + l.credit_latency + u64::from(l.capacity)).max();
        Place {
            block: self.b as u32,
            places: Arc::clone(self.division.places()),
            horizon: self.net.router.after_grant + 80 + queue + longest.unwrap_or(0),
        }
    }

    /// Sets up the policy in a block: link states of cycle 0, control packets and agents.
    pub(super) fn add_policy(&self, block: &mut dyn AnyBlock) {
        self.switch_off(block);
        let router = |r: RouterPlace| RouterSite { id: r.id, coords: self.net.coords[r.id as usize], base: r.base };
        let graph = &self.spec.graph;
        let trunks = |id: u32| (0..).zip(graph.ports(id)).map(move |(number, port)| (port, graph.trunk(id, number)));
        let ports = block.places().flat_map(|r| trunks(r.id));
        let channel = |(out, (port, trunk)): (Output<'_>, (&Port, Trunk))| ChannelSite {
            router: out.router,
            state: LinkState::of(out.state),
            peer: port.peer,
            class: out.class,
            trunk,
            managed: self.manages(&out),
            buffer: self.net.links[usize::from(out.class)].capacity,
        };
        // agents have entries for injection channels only if the policy manages these channels; otherwise the entries would only take
        // memory
        let injection = |out: Output<'_>| {
            let id = block.interfaces().terminals[out.router as usize].id;
            let router = self.division.number(self.spec.graph.terminal_at(id).0);
            let port = Port { peer: Peer::Terminal(id), class: out.class };
            channel((Output { router, ..out }, (&port, Trunk::at(&[], 0, 0))))
        };
        let injections = block.outs().skip(block.inputs()).filter(|out| self.manages(out)).map(injection);
        let site = BlockSite {
            routers: block.places().map(router).collect(),
            channels: block.outs().zip(ports).map(channel).chain(injections).collect(),
            single: self.net.single,
            faults: self.net.faults.repair == Repair::ByPolicy,
        };
        if let Some(plan) = self.policy.control() {
            block.policy_mut().control =
                Control::new(plan, self.place(plan.queue), site.channels.len(), site.routers.len());
        }
        block.observers_mut().recorders = self.recorders(block);
        let bundles = self.members.as_ref().map(|members| members.of_block(block)).unwrap_or_default();
        block.policy_mut().power.bundles = bundles;
        block.add_agents(self.net, self.policy, &site);
    }

    pub(in crate::network) fn manages(&self, out: &Output<'_>) -> bool {
        self.spec.managed[usize::from(out.class)] && out.kind != ChannelEnd::Unused
    }

    /// Sets the states of links that are not on in cycle 0, and records these states in the link-state tables of the routers.
    fn switch_off(&self, block: &mut dyn AnyBlock) {
        for o in 0..block.inputs() {
            let out = block.output(o);
            if !out.is_between_routers() || !self.manages(&out) {
                continue;
            }
            let from = block.router(out.router as usize).id;
            let state = self.policy.first_state(from, block.records().next_router[o]);
            if state != LinkState::On {
                block.begin_in(o, state);
            }
        }
        let Some(nets) = &self.net.subnets else { return };
        let routers = block.routers();
        *block.views_mut() = Views::new(nets, routers, self.policy.hub());
        for r in 0..routers {
            let router = block.router(r).id;
            let at = self.net.coords[router as usize];
            for d in (0..nets.count).filter(|&d| self.spec.managed[usize::from(nets.classes[d])]) {
                let own = nets.member(at, d);
                for a in 0..nets.widths[d] {
                    for b in nets.others(d, a).filter(|&b| b > a) {
                        let [from, to] = [a, b].map(|c| nets.router(router, d, own, c));
                        let state = self.policy.first_state(from, to);
                        block.views_mut().set(nets, r, d, (a, b), state == LinkState::On);
                    }
                }
            }
        }
    }
}
