//! Changes the power states of the channels of a block, and calls the agents of the power policy. In each cycle the block notifies the
//! agents of faults, control packets, requested links, timers and drained channels, in this order.

use crate::block::{Block, Fabric, Interfaces, PolicySide, Reach, Requests, Routers, Wires};
use crate::facade::Facade;
use crate::net::Net;
use crate::pace;
use crate::parts::power::Power;
use crate::recorders::Recorders;
use crate::timers::Timers;
use weft_api::agents::{Agents, BlockSite, Channels};
use weft_api::policy::Policy;
use weft_api::state::rate::Pace;
use weft_api::state::{ChannelEnd, Gate, LinkState, OutputUnit};

impl<const W: usize, const V: usize> Block<W, V> {
    /// Creates the policy's agents for this block, and starts them.
    pub(crate) fn add_agents(&mut self, net: &Net, policy: &dyn Policy, site: &BlockSite) {
        let Reach { routers: Routers { fabric, beside }, interfaces } = &mut self.reach;
        let Some(agents) = policy.agents(site) else { return };
        beside.policy.power.probes = agents.probes();
        beside.policy.power.timers = Timers::new(site.channels.len() + site.routers.len());
        beside.policy.power.wanted_back.reserve(site.channels.len());
        beside.policy.power.drained.reserve(site.channels.len());
        beside.policy.power.reported.reserve(site.channels.len());
        beside.policy.power.woken.reserve(interfaces.terminals.len());
        fabric.requests.of_closed.reserve(site.channels.len());
        (beside.policy.power.has_agents, beside.policy.power.is_managed) = (true, true);
        beside.shortcuts.go_beside(beside.policy.power.probes);
        if beside.policy.power.probes.queued {
            fabric.count_queued(net);
        }
        beside.policy.agents = Some(agents);
        self.reach.with_agents(net, |agents, channels| agents.start(channels));
    }
}

impl<const W: usize, const V: usize> Routers<W, V> {
    /// Moves channel `o` to another power state at the policy's request. A broken channel takes the state when it is repaired. However, a
    /// channel to a terminal takes the state now even if it is broken, because a fault does not make it dark.
    pub(crate) fn change_state(&mut self, net: &Net, o: usize, to: LinkState, now: u64) {
        if let Some(wish) = self.beside.policy.power.wish(o) {
            wish.state = to;
            if !self.fabric.wires.outs[o].is(ChannelEnd::Ejection) {
                return;
            }
        }
        self.beside.policy.power.accounts[o].transitions += 1;
        self.set_state(net, o, to, now);
    }

    /// Records that channel `o` is in another state from cycle `now` on.
    pub(crate) fn set_state(&mut self, net: &Net, o: usize, to: LinkState, now: u64) {
        set_state(
            &mut self.fabric.wires,
            (&mut self.beside.policy.power, &mut self.beside.observers.recorders),
            net,
            (o, to),
            now,
        );
    }
}

impl<const W: usize, const V: usize> Fabric<W, V> {
    /// Flits per cycle that channel `o` can carry at its present rate.
    pub(crate) fn bandwidth(&self, net: &Net, o: usize) -> f64 {
        let at_full = || net.common.rates[usize::from(self.wires.outs[o].class)];
        self.wires.paces.of.get(o).map_or_else(at_full, Pace::rate).per_cycle()
    }

    /// Lets heads that wait for channel `o` request it again. Returns true if a head may have been waiting.
    pub(crate) fn look_again(&mut self, interfaces: &mut Interfaces, policy: &mut PolicySide, o: usize) -> bool {
        let wakes = (&mut self.requests, interfaces);
        look_again(&self.wires.outs[o], o, wakes, &mut policy.power.woken)
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Calls `act` with the agents and the interface through which they change channels.
    pub(crate) fn with_agents(&mut self, net: &Net, act: impl FnOnce(&mut dyn Agents, &mut dyn Channels)) {
        self.with_agents_about(net, None, act);
    }

    /// Calls `act` with the agents. The agents may act only on channel `only`, or on all channels if `only` is `None`.
    fn with_agents_about(
        &mut self,
        net: &Net,
        only: Option<usize>,
        act: impl FnOnce(&mut dyn Agents, &mut dyn Channels),
    ) {
        let Routers { fabric, beside } = &mut self.routers;
        let Some(mut agents) = beside.policy.agents.take() else { return };
        if net.chooses && !beside.shortcuts.chooses_late() {
            fabric.take_choices_back(&mut beside.shortcuts, net);
        }
        act(&mut *agents, &mut Facade { reach: self, net, only });
        self.routers.beside.policy.agents = Some(agents);
    }
}

impl PolicySide {
    /// True if the agents have changed anything other than timers since the last call.
    pub fn agents_wrote(&mut self) -> bool {
        std::mem::take(&mut self.power.wrote)
    }

    /// True if the agents certainly act in cycle `now`, which has just begun.
    pub fn agents_act(&self, now: u64) -> bool {
        let Power { is_managed, timers, wanted_back, drained, woken, .. } = &self.power;
        let calm = timers.nothing_due(now) && self.control.nothing_due(now);
        *is_managed && !(calm && wanted_back.is_empty() && drained.is_empty() && woken.is_empty())
    }

    /// The next cycle in which the agents act if no packet and no credit arrives before; `None` if they act now.
    pub fn agents_wait_until(&self) -> Option<u64> {
        let Power { timers, wanted_back, drained, woken, .. } = &self.power;
        let calm = wanted_back.is_empty() && drained.is_empty() && woken.is_empty() && self.control.is_empty();
        calm.then(|| timers.next())
    }

    /// True if the agents will do nothing from cycle `now` on until a packet moves.
    pub fn is_at_rest(&self, now: u64) -> bool {
        let Power { timers, wanted_back, drained, .. } = &self.power;
        let nothing_set = timers.none_is_set() && wanted_back.is_empty() && drained.is_empty();
        let agents_rest = self.agents.is_none() || nothing_set && self.control.is_empty();
        agents_rest && self.faults.next(now) == u64::MAX
    }
}

impl<const W: usize, const V: usize> Reach<W, V> {
    /// Calls the agents for each of their events that is due in this cycle.
    #[inline(always)]
    pub(crate) fn manage_power(&mut self, net: &Net) {
        if self.routers.beside.policy.power.is_managed {
            self.run_agents(net);
        }
    }

    #[inline(never)]
    fn run_agents(&mut self, net: &Net) {
        if net.faults.repair.any() {
            self.break_parts(net);
        }
        self.receive_control(net);
        self.report_wanted_back(net);
        self.end_timers(net);
        self.report_drained(net);
        if !self.routers.beside.policy.power.woken.is_empty() {
            self.send_from_woken(net);
        }
        if net.faults.repair.any() {
            self.reroute_heads(net);
        }
    }

    /// Notifies the agents of the links in the state `shadow` that packets have chosen, in ascending order of the links, so that the order
    /// of the packets does not matter.
    fn report_wanted_back(&mut self, net: &Net) {
        let power = &mut self.routers.beside.policy.power;
        if power.wanted_back.is_empty() {
            return;
        }
        let mut wanted = std::mem::take(&mut power.wanted_back);
        wanted.sort_unstable();
        wanted.dedup();
        self.with_agents(net, |agents, channels| agents.wanted_back(&wanted, channels));
        wanted.clear();
        self.routers.beside.policy.power.wanted_back = wanted;
    }

    fn end_timers(&mut self, net: &Net) {
        let power = &mut self.routers.beside.policy.power;
        if power.timers.nothing_due(self.routers.fabric.now) {
            return;
        }
        let ended = power.timers.end(self.routers.fabric.now);
        self.with_agents(net, |agents, channels| agents.timers(&ended, channels));
        self.routers.beside.policy.power.timers.give_back(ended);
    }

    /// Notifies the agents of the channels that have drained, in ascending order. Omits channels that an agent has opened again since they
    /// drained.
    fn report_drained(&mut self, net: &Net) {
        let Routers { fabric, beside } = &mut self.routers;
        let power = &mut beside.policy.power;
        if power.drained.is_empty() {
            return;
        }
        let mut reported = std::mem::take(&mut power.reported);
        std::mem::swap(&mut reported, &mut power.drained);
        reported.sort_unstable();
        reported.dedup();
        reported.retain(|&o| power.has_drained(o as usize, &fabric.wires.outs[o as usize]));
        self.with_agents(net, |agents, channels| agents.drained(&reported, channels));
        reported.clear();
        self.routers.beside.policy.power.reported = reported;
    }

    /// Notifies the agents of the closed outputs that heads have requested since the last call. If an agent opens an output for the first
    /// of these heads, the function ignores the other requests for the output.
    #[inline(always)]
    pub(crate) fn ask_for_closed(&mut self, net: &Net) {
        if !self.routers.fabric.requests.of_closed.is_empty() {
            self.ask_for_each_closed(net);
        }
    }

    #[cold]
    fn ask_for_each_closed(&mut self, net: &Net) {
        let mut asked = std::mem::take(&mut self.routers.fabric.requests.of_closed);
        for o in asked.drain(..).map(|o| o as usize) {
            if self.routers.fabric.wires.outs[o].is_closed() {
                self.wait_for_link(net, o);
            }
        }
        self.routers.fabric.requests.of_closed = asked;
    }

    /// Notifies the agents that a head requests the closed channel `o`. For a broken channel, only records the request.
    #[cold]
    pub(crate) fn wait_for_link(&mut self, net: &Net, o: usize) {
        if self.routers.fabric.wires.outs[o].gate() == Gate::Broken {
            self.routers.beside.policy.faults.note_asked(o);
            return;
        }
        self.with_agents_about(net, Some(o), |agents, channels| agents.wanted(o, channels));
    }
}

/// Changes the state of channel `o` from cycle `now` on. The caller counts the change as a transition if the policy has caused it.
fn set_state<const W: usize, const V: usize>(
    wires: &mut Wires<W, V>,
    (power, recorders): (&mut Power, &mut Recorders),
    net: &Net,
    (o, to): (usize, LinkState),
    now: u64,
) {
    if net.links.of(wires.outs[o].class).paced {
        pace::change(wires, net, o, net.common.modes.rate(to), now);
    }
    let (out, account) = (&mut wires.outs[o], &mut power.accounts[o]);
    let from = LinkState::of(out.state);
    account.settle(from, out.flits, now);
    out.state = to.number();
    power.bundles.changed(o, from, to, now);
    recorders.changed(o, from, to, now);
}

/// Lets heads that wait for channel `o` (record `out`) request it again. On an injection channel, the terminal is the waiting sender: it
/// tries again and is added to `woken`. Returns true if a head or terminal was waiting.
fn look_again<const W: usize, const V: usize>(
    out: &OutputUnit<V>,
    o: usize,
    (requests, interfaces): (&mut Requests<W>, &mut Interfaces),
    woken: &mut Vec<u32>,
) -> bool {
    if out.is(ChannelEnd::Injection) {
        let waited = interfaces.unblock(out.router as usize);
        if waited {
            woken.push(out.router);
        }
        return waited;
    }
    let router = &mut requests.routers[out.router as usize];
    let may_be_granted = out.requested != 0 && out.free_vcs & out.vcs_with_credit != 0;
    if may_be_granted {
        router.vc_requests.set(o - router.base as usize);
    }
    let has_work = may_be_granted || !router.choosing.is_empty();
    if has_work {
        requests.active.set(out.router as usize);
    }
    has_work
}
