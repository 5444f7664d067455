//! The accounts of the channels of a block, and the calls of its agents. Once per cycle the agents are told of faults,
//! control packets, links that packets want back, timers and drained channels, in this order.

use crate::block::Block;
use crate::bundles::Bundles;
use crate::facade::Facade;
use crate::net::Net;
use crate::shortcuts::profile::Crossing;
use crate::shortcuts::streams::Streams;
use crate::timers::Timers;
use weft_api::agents::{Agents, BlockSite, Channels, Probes};
use weft_api::base::kept::{Kept, Value};
use weft_api::policy::Policy;
use weft_api::state::rate::Pace;
use weft_api::state::{Account, ChannelEnd, Gate, LinkState, OutputUnit};

/// What the policy wants of a channel that is broken: it takes effect when the link returns.
#[derive(Debug, Clone, Copy, Value)]
struct Wish {
    state: LinkState,
    closed: bool,
}

/// What the loop keeps for the policy of a block.
#[derive(Debug, Kept)]
pub struct Power {
    /// One per output port.
    #[kept(each)]
    pub accounts: Vec<Account>,
    pub bundles: Bundles,
    /// For each channel, all its VCs.
    #[kept(fixed)]
    all_vcs: Vec<u16>,
    /// For each closed channel, the VCs that packets still hold.
    #[kept(each)]
    held: Vec<u16>,
    /// For each channel that is broken: what the policy wants of it. Empty in a run without faults.
    wishes: Vec<Option<Wish>>,
    #[kept(fixed)]
    pub probes: Probes,
    pub timers: Timers,
    /// Shadow links that packets have chosen. The agents will be told of them.
    pub wanted_back: Vec<u32>,
    /// The block has agents, who are told when a channel has drained.
    #[kept(fixed)]
    has_agents: bool,
    /// It has agents, or links fail in this run: something is to be done between two steps.
    #[kept(fixed)]
    pub is_managed: bool,
    /// Closed channels that have drained since the agents were last told.
    drained: Vec<u32>,
    /// Scratch: the drained channels that the agents are told of.
    #[kept(scratch)]
    told: Vec<u32>,
    /// Terminals that waited for links which the agents have opened since.
    pub woken: Vec<u32>,
    /// The agents have changed something but timers since this was last asked for ([`Block::agents_wrote`]).
    #[kept(scratch)]
    pub(crate) wrote: bool,
}

impl Power {
    pub fn new(all_vcs: Vec<u16>) -> Self {
        Self {
            accounts: vec![Account::default(); all_vcs.len()],
            bundles: Bundles::default(),
            held: vec![0; all_vcs.len()],
            wishes: Vec::new(),
            all_vcs,
            probes: Probes::default(),
            timers: Timers::new(0),
            wanted_back: Vec::new(),
            has_agents: false,
            is_managed: false,
            drained: Vec::new(),
            told: Vec::new(),
            woken: Vec::new(),
            wrote: false,
        }
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        self.timers.nothing_due(now) && self.wanted_back.is_empty() && self.drained.is_empty()
    }

    /// No head may take a VC of channel `o` from now on.
    pub fn close_channel<const V: usize>(&mut self, o: usize, out: &mut OutputUnit<V>) {
        match self.wish(o) {
            Some(wish) => wish.closed = true,
            None if out.is_closed() => return,
            None => {
                self.held[o] = self.all_vcs[o] & !out.free_vcs;
                (out.free_vcs, out.gate) = (0, Gate::Closed);
            }
        }
        self.note_drained(o);
    }

    /// Heads may take VCs of channel `o` again. The time for which it was closed does not count as time in which it was
    /// free for a flit.
    pub fn open_channel<const V: usize>(&mut self, o: usize, out: &mut OutputUnit<V>, now: u64) {
        if let Some(wish) = self.wish(o) {
            wish.closed = false;
            return;
        }
        if !out.is_closed() {
            return;
        }
        out.free_vcs = self.all_vcs[o] & !std::mem::take(&mut self.held[o]);
        out.gate = Gate::Open;
        // flits that were granted before may still wait for the link
        if (out.next_free.wrapping_sub(now as u32) as i32) < 0 {
            out.next_free = now as u32;
        }
    }

    fn wish(&mut self, o: usize) -> Option<&mut Wish> {
        self.wishes.get_mut(o)?.as_mut()
    }

    /// Channel `o` breaks: no head may take a VC of it, whatever the policy does, until it is mended.
    pub fn break_channel<const V: usize>(&mut self, o: usize, out: &mut OutputUnit<V>) {
        let (state, closed) = (LinkState::of(out.state), out.is_closed());
        if !closed {
            self.held[o] = self.all_vcs[o] & !out.free_vcs;
        }
        (out.free_vcs, out.gate) = (0, Gate::Broken);
        self.wishes.resize(self.all_vcs.len(), None);
        self.wishes[o] = Some(Wish { state, closed });
    }

    /// Channel `o` works again. Returns the state that the policy wants it to be in.
    pub fn mend_channel<const V: usize>(&mut self, o: usize, out: &mut OutputUnit<V>, now: u64) -> LinkState {
        let wish = self.wishes[o].take().expect("a channel that is broken");
        out.gate = Gate::Closed;
        if !wish.closed {
            self.open_channel(o, out, now);
        }
        wish.state
    }

    /// The state of channel `o` as the policy sees it.
    pub fn state_for_policy<const V: usize>(&self, o: usize, out: &OutputUnit<V>) -> LinkState {
        self.wishes.get(o).copied().flatten().map_or(LinkState::of(out.state), |wish| wish.state)
    }

    /// Whether the policy has closed channel `o`, and no packet holds a VC of it.
    fn has_drained<const V: usize>(&self, o: usize, out: &OutputUnit<V>) -> bool {
        let closed = self.wishes.get(o).copied().flatten().map_or(out.is_closed(), |wish| wish.closed);
        closed && self.held[o] == 0
    }

    /// A packet has left VC `vc` of channel `o`, which was closed meanwhile.
    #[cold]
    pub fn leave_closed(&mut self, o: usize, vc: usize) {
        self.held[o] &= !(1 << vc);
        self.note_drained(o);
    }

    /// If no packet holds a VC of the closed channel `o`, the agents will be told that it has drained.
    fn note_drained(&mut self, o: usize) {
        if self.held[o] == 0 && self.has_agents {
            self.drained.push(o as u32);
        }
    }

    /// VCs of channel `o` that are held by packets.
    pub fn held_vcs<const V: usize>(&self, o: usize, out: &OutputUnit<V>) -> u16 {
        if out.is_closed() { self.held[o] } else { self.all_vcs[o] & !out.free_vcs }
    }

    /// Starts the accounts of all channels for the window that begins at `now`.
    pub fn begin<const V: usize>(&mut self, outs: &[OutputUnit<V>], now: u64) {
        let begun = outs.iter().map(|out| Account::begin(now, out.flits));
        self.accounts.iter_mut().zip(begun).for_each(|(account, begun)| *account = begun);
    }

    /// Brings the accounts up to date, before the 32-bit counters of the ports overflow.
    pub fn flush<const V: usize>(&mut self, outs: &[OutputUnit<V>]) {
        let both = self.accounts.iter_mut().zip(outs);
        both.for_each(|(account, out)| account.count(LinkState::of(out.state), out.flits));
    }

    /// Cycles that channels have been off since their accounts began, added over all channels.
    pub fn off_cycles<const V: usize>(&self, outs: &[OutputUnit<V>], now: u64) -> u64 {
        let both = self.accounts.iter().zip(outs);
        both.map(|(account, out)| account.off_cycles(LinkState::of(out.state), now)).sum()
    }

    /// The accounts of the window that ends at `now`.
    pub fn close<const V: usize>(&self, outs: &[OutputUnit<V>], now: u64) -> Vec<Account> {
        let mut accounts = self.accounts.clone();
        let both = accounts.iter_mut().zip(outs);
        both.for_each(|(account, out)| account.settle(LinkState::of(out.state), out.flits, now));
        accounts
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Creates the agents of the policy for this block, and starts them.
    pub fn add_agents(&mut self, net: &Net, policy: &dyn Policy, site: &BlockSite) {
        let Some(agents) = policy.agents(site) else { return };
        self.policy.power.probes = agents.probes();
        self.policy.power.timers = Timers::new(site.channels.len() + site.routers.len());
        self.policy.power.wanted_back.reserve(site.channels.len());
        self.policy.power.drained.reserve(site.channels.len());
        self.policy.power.told.reserve(site.channels.len());
        self.policy.power.woken.reserve(self.interfaces.terminals.len());
        (self.policy.power.has_agents, self.policy.power.is_managed) = (true, true);
        self.shortcuts.profile = self.shortcuts.profile.beside(self.policy.power.probes);
        if self.shortcuts.profile.crossing != Crossing::Streams {
            self.shortcuts.streams = Streams::default();
        }
        self.policy.agents = Some(agents);
        self.with_agents(net, |agents, channels| agents.start(channels));
    }

    /// The policy moves channel `o` to another state. If the channel is broken, it takes that state when it is mended; one to
    /// a terminal, which is dark only if the policy wants that, takes it now.
    pub fn change_state(&mut self, net: &Net, o: usize, to: LinkState, now: u64) {
        if let Some(wish) = self.policy.power.wish(o) {
            wish.state = to;
            if self.wires.outs[o].kind != ChannelEnd::Ejection {
                return;
            }
        }
        self.policy.power.accounts[o].transitions += 1;
        self.set_state(net, o, to, now);
    }

    /// Channel `o` is in another state from now on. Only what the policy does counts as a transition.
    pub fn set_state(&mut self, net: &Net, o: usize, to: LinkState, now: u64) {
        if net.links[usize::from(self.wires.outs[o].class)].paced {
            self.change_pace(net, o, to.slowdown());
        }
        let (out, account) = (&mut self.wires.outs[o], &mut self.policy.power.accounts[o]);
        let from = LinkState::of(out.state);
        account.settle(from, out.flits, now);
        out.state = to as u8;
        self.policy.power.bundles.changed(o, from, to, now);
        self.observers.recorders.changed(o, from, to, now);
    }

    /// Flits per cycle that channel `o` can carry at its present rate.
    pub fn bandwidth(&self, net: &Net, o: usize) -> f64 {
        let at_full = || net.common.rates[usize::from(self.wires.outs[o].class)];
        self.wires.paces.of.get(o).map_or_else(at_full, Pace::rate).per_cycle()
    }

    /// Heads that wait for channel `o` look at it again.
    pub fn look_again(&mut self, o: usize) {
        let out = &self.wires.outs[o];
        if out.kind == ChannelEnd::Injection {
            if std::mem::take(&mut self.interfaces.terminals[out.router as usize].waiting) {
                self.interfaces.busy.set(out.router as usize);
                self.policy.power.woken.push(out.router);
            }
            return;
        }
        let router = &mut self.requests.routers[out.router as usize];
        if out.requested != 0 && out.free_vcs & out.vcs_with_credit != 0 {
            router.vc_requests.set(o - router.base as usize);
            self.requests.active.set(out.router as usize);
        }
        if !router.choosing.is_empty() {
            self.requests.active.set(out.router as usize);
        }
    }

    /// Lets the agents act on the channels.
    pub fn with_agents(&mut self, net: &Net, act: impl FnOnce(&mut dyn Agents, &mut dyn Channels)) {
        self.with_agents_about(net, None, act);
    }

    /// Lets the agents act on channel `only`, if it is one, or on all.
    fn with_agents_about(
        &mut self,
        net: &Net,
        only: Option<usize>,
        act: impl FnOnce(&mut dyn Agents, &mut dyn Channels),
    ) {
        let Some(mut agents) = self.policy.agents.take() else { return };
        act(&mut *agents, &mut Facade { block: self, net, only });
        self.policy.agents = Some(agents);
    }

    /// Whether the agents have changed something but timers since this was last asked for.
    pub fn agents_wrote(&mut self) -> bool {
        std::mem::take(&mut self.policy.power.wrote)
    }

    /// The next cycle in which the agents do something if no packet and no credit comes; `None`: they have something to do now.
    pub fn agents_wait_until(&self) -> Option<u64> {
        let Power { timers, wanted_back, drained, woken, .. } = &self.policy.power;
        let calm = wanted_back.is_empty() && drained.is_empty() && woken.is_empty() && self.policy.control.is_empty();
        calm.then(|| timers.next())
    }

    /// Whether the agents of this block will do nothing until a packet moves.
    pub fn is_policy_at_rest(&self) -> bool {
        let Power { timers, wanted_back, drained, .. } = &self.policy.power;
        let nothing_set = timers.none_is_set() && wanted_back.is_empty() && drained.is_empty();
        let agents_rest = self.policy.agents.is_none() || nothing_set && self.policy.control.is_empty();
        agents_rest && self.policy.faults.nothing_due(u64::MAX)
    }

    /// Calls the agents for everything that is due in this cycle.
    #[inline(always)]
    pub fn manage_power(&mut self, net: &Net) {
        if self.policy.power.is_managed {
            self.run_agents(net);
        }
    }

    #[inline(never)]
    fn run_agents(&mut self, net: &Net) {
        if net.faults.any() {
            self.break_parts(net);
        }
        self.receive_control(net);
        self.report_wanted_back(net);
        self.end_timers(net);
        self.report_drained(net);
        if !self.policy.power.woken.is_empty() {
            self.send_from_woken(net);
        }
        if net.faults.any() {
            self.reroute_heads(net);
        }
    }

    /// Tells the agents which links packets want back, in ascending order, so that the order of the packets does not
    /// matter.
    fn report_wanted_back(&mut self, net: &Net) {
        if self.policy.power.wanted_back.is_empty() {
            return;
        }
        let mut wanted = std::mem::take(&mut self.policy.power.wanted_back);
        wanted.sort_unstable();
        wanted.dedup();
        self.with_agents(net, |agents, channels| agents.wanted_back(&wanted, channels));
        wanted.clear();
        self.policy.power.wanted_back = wanted;
    }

    fn end_timers(&mut self, net: &Net) {
        if self.policy.power.timers.nothing_due(self.now) {
            return;
        }
        let ended = self.policy.power.timers.end(self.now);
        self.with_agents(net, |agents, channels| agents.timers(&ended, channels));
        self.policy.power.timers.give_back(ended);
    }

    /// Tells the agents which channels have drained, in ascending order. Leaves out channels that were opened again
    /// meanwhile.
    fn report_drained(&mut self, net: &Net) {
        if self.policy.power.drained.is_empty() {
            return;
        }
        let mut told = std::mem::take(&mut self.policy.power.told);
        std::mem::swap(&mut told, &mut self.policy.power.drained);
        told.sort_unstable();
        told.dedup();
        told.retain(|&o| self.policy.power.has_drained(o as usize, &self.wires.outs[o as usize]));
        self.with_agents(net, |agents, channels| agents.drained(&told, channels));
        told.clear();
        self.policy.power.told = told;
    }

    /// A head asks for channel `o`, which is closed.
    #[cold]
    pub fn wait_for_link(&mut self, net: &Net, o: usize) {
        if self.wires.outs[o].gate == Gate::Broken {
            self.policy.faults.note_asked(o);
            return;
        }
        self.with_agents_about(net, Some(o), |agents, channels| agents.wanted(o, channels));
    }
}
