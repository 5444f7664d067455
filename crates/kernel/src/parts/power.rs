//! The power accounts of the channels of a block, the channels that the policy has closed, and the events for its agents.

use crate::bundles::Bundles;
use crate::timers::Timers;
use weft_api::agents::Probes;
use weft_api::base::kept::{Kept, Value};
use weft_api::state::{Account, Gate, LinkState, OutputUnit};

/// The state that the policy has set for a broken channel. The state takes effect when the link is repaired.
#[derive(Debug, Clone, Copy, Value)]
pub struct Wish {
    pub state: LinkState,
    pub closed: bool,
}

/// The data of a block that the cycle loop stores for the power policy.
#[derive(Debug, Kept)]
pub struct Power {
    /// The power account of each output port.
    #[kept(each)]
    pub(crate) accounts: Vec<Account>,
    pub bundles: Bundles,
    /// For each channel, the mask of all its VCs.
    #[kept(fixed)]
    pub(crate) all_vcs: Vec<u16>,
    /// For each closed channel, the mask of the VCs that packets still hold.
    #[kept(each)]
    pub(crate) held: Vec<u16>,
    /// For each broken channel, the state that the policy has set. Empty in a run without faults.
    pub(crate) wishes: Vec<Option<Wish>>,
    #[kept(fixed)]
    pub(crate) probes: Probes,
    pub(crate) timers: Timers,
    /// Links in the state `shadow` that packets have chosen. The agents will be notified of these links.
    pub(crate) wanted_back: Vec<u32>,
    /// True if the block has agents, which are notified when a closed channel has drained (no packet holds its VCs any more).
    #[kept(fixed)]
    pub(crate) has_agents: bool,
    /// True if the block has agents, or if links fail in this run. With agents or faults, work can be necessary between two steps.
    #[kept(fixed)]
    pub(crate) is_managed: bool,
    /// Closed channels that have drained, and of which the agents have not yet been notified.
    pub(crate) drained: Vec<u32>,
    /// Scratch memory: the drained channels of which the agents are being notified.
    #[kept(scratch)]
    pub(crate) reported: Vec<u32>,
    /// Terminals that waited for a link that the agents have opened.
    pub(crate) woken: Vec<u32>,
    /// True if the agents have changed data other than timers since the last call of `PolicySide::agents_wrote`.
    #[kept(scratch)]
    pub(crate) wrote: bool,
}

impl Power {
    /// Creates the accounts of channels that have `modes` modes. `parts_fail`: whether links or routers fail in this run.
    pub fn new(all_vcs: Vec<u16>, modes: usize, parts_fail: bool) -> Self {
        Self {
            accounts: vec![Account::new(modes); all_vcs.len()],
            bundles: Bundles::default(),
            held: vec![0; all_vcs.len()],
            wishes: Vec::new(),
            all_vcs,
            probes: Probes::default(),
            timers: Timers::new(0),
            wanted_back: Vec::new(),
            has_agents: false,
            is_managed: parts_fail,
            drained: Vec::new(),
            reported: Vec::new(),
            woken: Vec::new(),
            wrote: false,
        }
    }

    /// The first cycle, from `now` on and before `until`, in which the cycle loop must call the agents; `until` if there is no such cycle.
    pub fn next(&self, now: u64, until: u64) -> u64 {
        let is_calm = self.wanted_back.is_empty() && self.drained.is_empty();
        if is_calm { self.timers.next_look(now, until) } else { now }
    }

    /// Closes channel `o`, so that heads can take none of its VCs.
    pub fn close_channel<const V: usize>(&mut self, o: usize, out: &mut OutputUnit<V>) {
        match self.wish(o) {
            Some(wish) => wish.closed = true,
            None if out.is_closed() => return,
            None => {
                self.held[o] = self.all_vcs[o] & !out.free_vcs;
                out.free_vcs = 0;
                out.set_gate(Gate::Closed);
            }
        }
        self.note_drained(o);
    }

    /// Opens channel `o`, so that heads can take its VCs again. The channel can take a flit from cycle `now` on, not in the cycles in which
    /// it was closed.
    pub fn open_channel<const V: usize>(&mut self, o: usize, out: &mut OutputUnit<V>, now: u64) {
        if let Some(wish) = self.wish(o) {
            wish.closed = false;
            return;
        }
        if !out.is_closed() {
            return;
        }
        out.free_vcs = self.all_vcs[o] & !std::mem::take(&mut self.held[o]);
        out.set_gate(Gate::Open);
        // flits granted before the channel was closed can still wait for the link
        if (out.next_free.wrapping_sub(now as u32) as i32) < 0 {
            out.next_free = now as u32;
        }
    }

    pub fn wish(&mut self, o: usize) -> Option<&mut Wish> {
        self.wishes.get_mut(o)?.as_mut()
    }

    /// Breaks channel `o`: until it is repaired, heads can take none of its VCs, even if the policy opens it.
    pub fn break_channel<const V: usize>(&mut self, o: usize, out: &mut OutputUnit<V>) {
        let (state, closed) = (LinkState::of(out.state), out.is_closed());
        if !closed {
            self.held[o] = self.all_vcs[o] & !out.free_vcs;
        }
        out.free_vcs = 0;
        out.set_gate(Gate::Broken);
        self.wishes.resize(self.all_vcs.len(), None);
        self.wishes[o] = Some(Wish { state, closed });
    }

    /// Repairs channel `o`. Returns the state that the policy has set for this channel.
    pub fn mend_channel<const V: usize>(&mut self, o: usize, out: &mut OutputUnit<V>, now: u64) -> LinkState {
        let wish = self.wishes[o].take().expect("a channel that is broken");
        out.set_gate(Gate::Closed);
        if !wish.closed {
            self.open_channel(o, out, now);
        }
        wish.state
    }

    /// The state of channel `o` as the policy has set it, even if the channel is broken.
    pub fn state_for_policy<const V: usize>(&self, o: usize, out: &OutputUnit<V>) -> LinkState {
        self.wishes.get(o).copied().flatten().map_or(LinkState::of(out.state), |wish| wish.state)
    }

    /// True if the policy has closed channel `o`, and no packet holds a VC of it.
    pub fn has_drained<const V: usize>(&self, o: usize, out: &OutputUnit<V>) -> bool {
        let closed = self.wishes.get(o).copied().flatten().map_or(out.is_closed(), |wish| wish.closed);
        closed && self.held[o] == 0
    }

    /// Records that a packet has left VC `vc` of channel `o`. The channel was closed while the packet held the VC.
    #[cold]
    pub fn leave_closed(&mut self, o: usize, vc: usize) {
        self.held[o] &= !(1 << vc);
        self.note_drained(o);
    }

    /// If no packet holds a VC of the closed channel `o`, records for the agents that the channel has drained.
    pub fn note_drained(&mut self, o: usize) {
        if self.held[o] == 0 && self.has_agents {
            self.drained.push(o as u32);
        }
    }

    /// Mask of the VCs of channel `o` that packets hold.
    pub fn held_vcs<const V: usize>(&self, o: usize, out: &OutputUnit<V>) -> u16 {
        if out.is_closed() { self.held[o] } else { self.all_vcs[o] & !out.free_vcs }
    }

    /// Starts the accounts of all channels, for a window that begins in cycle `now`.
    pub fn begin<const V: usize>(&mut self, outs: &[OutputUnit<V>], now: u64) {
        self.accounts.iter_mut().zip(outs).for_each(|(account, out)| account.begin(now, out.flits));
    }

    /// Updates the accounts before the 32-bit counters of the output units overflow.
    pub fn flush<const V: usize>(&mut self, outs: &[OutputUnit<V>]) {
        let both = self.accounts.iter_mut().zip(outs);
        both.for_each(|(account, out)| account.count(LinkState::of(out.state), out.flits));
    }

    /// Number of cycles in which channels have been off since their accounts began, summed over all channels.
    pub fn off_cycles<const V: usize>(&self, outs: &[OutputUnit<V>], now: u64) -> u64 {
        let both = self.accounts.iter().zip(outs);
        both.map(|(account, out)| account.off_cycles(LinkState::of(out.state), now)).sum()
    }

    /// The accounts of all channels, for a window that ends at cycle `now`.
    pub fn close<const V: usize>(&self, outs: &[OutputUnit<V>], now: u64) -> Vec<Account> {
        let mut accounts = self.accounts.clone();
        let both = accounts.iter_mut().zip(outs);
        both.for_each(|(account, out)| account.settle(LinkState::of(out.state), out.flits, now));
        accounts
    }
}
