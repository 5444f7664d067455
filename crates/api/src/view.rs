//! The data of the cycle loop that a routing can read at its packet's present router.

use super::board::Post;
use super::common::Common;
use super::routing::Hop;
use super::sensor::{History, Sensor};
use super::subnetworks::{LinkTable, Views};
use super::walk::Cost;
use crate::base::arrays::At;
use crate::base::unchecked::Hot;
use crate::state::{Gate, LinkState, OutputUnit};
use std::cell::Cell;
use weft_topology::Trunk;

/// A routing's note about the hop that it has chosen for a head, for the cycle loop or the power policy.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum HopNote {
    #[default]
    Nothing,
    /// The hop is the first hop of a detour. The packet does not take the direct link at port number `direct`.
    BeginsDetour { direct: u16 },
    /// The hop is a later hop of a detour.
    ContinuesDetour,
    /// The packet takes a direct link that was about to be switched off; this keeps the link on.
    TakesBack,
    /// The head keeps this request until a flit leaves through the same output. The cycle loop does not call the routing for the head
    /// before that. Only a routing that decides in every step and reads grants ([`Needs::sees_grants`](super::routing::Needs::sees_grants))
    /// may note this.
    Stays,
}

/// The data that a routing may read at its packet's present router, at other routers of its group
/// ([`Needs::reads_group`](super::routing::Needs::reads_group)), and on the board.
pub trait View {
    /// Congestion of output `port` of this router [flits], measured by the routing's sensor. For a trunk, this is the mean congestion of
    /// its links.
    fn read(&self, port: u16) -> i32;
    /// Capacity [flits] of the buffers at the far end of output `port`, summed over all VCs.
    fn capacity(&self, port: u16) -> u32;
    /// Congestion of output `port` of another router of the group, like [`View::read`]. `away`: index of that router's first port in the
    /// block, minus index of this router's first port.
    fn read_of(&self, away: i32, port: u16) -> i32;
    /// The last post of every router that can be read on the board now ([`Needs::posts`](super::routing::Needs::posts)). With `back` = 1:
    /// the post before the last.
    fn post(&self, back: u64) -> Post<'_>;
    /// Among the links of the trunk of `hop`, the link with the most credits in VCs that a head may take. Returns the number of these
    /// credits, and the hop over this link. `turn` decides ties. The number is 0 if no link of the trunk has a VC that a head may take.
    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop);
    /// The hop to request if no link of the trunk has a VC that a head may take. The hop leads over a link that is waking; if none is
    /// waking, over a link that is off. The request makes the power policy wake a link that is off. Under a policy that keeps a link of
    /// each trunk open (`Offers::always_carries`), the hop leads over an open link.
    fn fallback(&self, hop: Hop) -> Hop;
    /// Power state of the channel at output `port` of this router.
    fn state(&self, port: u16) -> LinkState;
    /// Whether the power policy has the channel at output `port` on. A failed channel also counts as on if the routing has to react to
    /// faults. A head that requests the failed channel then chooses another path (`kernel/src/broken.rs`). Under policies with
    /// `Offers::always_carries`, every channel counts as on. Under these policies a link in a slower mode carries packets, and a trunk with
    /// closed links also has an open link.
    #[inline(always)]
    fn is_on(&self, port: u16) -> bool {
        self.state(port) == LinkState::On
    }
    /// Whether the channel at output `port` has failed and the routing has to react to this.
    fn is_broken(&self, port: u16) -> bool;
    /// Sum of the credits of the VCs of `hop` that a head may take now.
    fn credits(&self, hop: Hop) -> u32;
    /// Whether a head may take a VC of `hop` now, and the link can take another flit.
    fn is_open(&self, hop: Hop) -> bool;
    /// Whether a VC of `hop` has room for the head's packet, even if a packet holds the VC.
    fn has_room(&self, hop: Hop) -> bool;
    /// Whether some head was granted output `port` in this cycle ([`Needs::sees_grants`](super::routing::Needs::sees_grants)).
    fn was_granted(&self, port: u16) -> bool;
    /// Number of used credits, summed over all VCs of `hop` [flits].
    fn used(&self, hop: Hop) -> u32;
    /// For the VC of `hop` with the most free credits: its used credits as a share of its buffer, and its number of free credits.
    fn occupancy(&self, hop: Hop) -> (f64, u32);
    /// The link-state tables of this router.
    fn table(&self) -> LinkTable<'_>;
    /// Records the routing's note about the head's choice, for the cycle loop or the power policy.
    fn note(&self, _what: HopNote) {}
    /// Whether the user watches the packet, so that this view records the values that the routing compares.
    #[inline(always)]
    fn is_watched(&self) -> bool {
        false
    }
    /// The cost of a path that begins with `hop`: `queue`, the congestion of the output in `cost`, times `cost.hops`,
    /// plus `cost.bias`.
    #[inline(always)]
    fn weigh(&self, _hop: Hop, cost: Cost, queue: i32) -> i32 {
        queue * cost.hops as i32 + cost.bias
    }
    /// The result of `member` if that link has credits; otherwise the result of `fallback`.
    #[inline(always)]
    fn best_or_fallback(&self, hop: Hop, turn: u32) -> Hop {
        match self.member(hop, turn) {
            (0, _) => self.fallback(hop),
            (_, member) => member,
        }
    }
}

/// Implements the methods of a [`View`] that have no hop as argument. Each method calls the same method of the view in the field `$view`.
#[macro_export]
macro_rules! answers_as {
    ($view:ident) => {
        fn read(&self, port: u16) -> i32 {
            self.$view.read(port)
        }

        fn capacity(&self, port: u16) -> u32 {
            self.$view.capacity(port)
        }

        fn read_of(&self, away: i32, port: u16) -> i32 {
            self.$view.read_of(away, port)
        }

        fn post(&self, back: u64) -> $crate::board::Post<'_> {
            self.$view.post(back)
        }

        fn state(&self, port: u16) -> $crate::state::LinkState {
            self.$view.state(port)
        }

        fn is_on(&self, port: u16) -> bool {
            self.$view.is_on(port)
        }

        fn is_broken(&self, port: u16) -> bool {
            self.$view.is_broken(port)
        }

        fn was_granted(&self, port: u16) -> bool {
            self.$view.was_granted(port)
        }

        fn table(&self) -> $crate::subnetworks::LinkTable<'_> {
            self.$view.table()
        }
    };
}

/// Information about the outputs of a router: which are full, and which were granted.
#[derive(Debug, Clone, Copy)]
pub struct Grants<'a> {
    /// Mask of the router's ports to whose links no more flits may be added. The mask is empty if the network has no paced channel (a
    /// channel with a rate or a limit).
    pub full: &'a [u64],
    /// For each output of the block, the last cycle (low 32 bits) in which a head was granted the output. The list is empty if the routing
    /// does not read grants.
    pub last: &'a [u32],
}

/// The outputs of one block, as a routing at one router sees them.
#[derive(Debug)]
pub struct Queues<'a, const V: usize> {
    outs: &'a [OutputUnit<V>],
    /// The trunk of each output; empty if the network has no trunks.
    trunks: &'a [Trunk],
    /// Index in `outs` of the router's first output.
    base: usize,
    common: &'a Common,
    /// For each output, the flits that wait for the link or were sent on it during the last credit round trip. `None`
    /// if the sensor does not need this number.
    history: Option<&'a History>,
    now: u64,
    grants: Grants<'a>,
    views: (&'a Views, usize),
    noted: Cell<HopNote>,
}

impl<'a, const V: usize> Queues<'a, V> {
    /// `trunks`: the trunk of each of `outs`. `base`: index in `outs` of the router's first output. `views`: the link-state tables of the
    /// block, and the index of the router in them.
    #[inline(always)]
    pub fn new(
        (outs, trunks): (&'a [OutputUnit<V>], &'a [Trunk]),
        base: u32,
        views: (&'a Views, usize),
        history: Option<&'a History>,
        grants: Grants<'a>,
        now: u64,
        common: &'a Common,
    ) -> Self {
        Self {
            outs,
            trunks,
            base: base as usize,
            common,
            history,
            now,
            grants,
            views,
            noted: Cell::new(HopNote::Nothing),
        }
    }

    /// The note that the routing left when it chose the hop of the head.
    #[inline(always)]
    pub fn noted(&self) -> HopNote {
        self.noted.get()
    }

    /// The ports of all links in the trunk of port `port`.
    pub fn members(&self, port: u16) -> impl Iterator<Item = u16> + Clone + use<V> {
        Trunk::at(self.trunks, self.base + usize::from(port), port).members()
    }
}

impl<const V: usize> View for Queues<'_, V> {
    #[inline(always)]
    fn read(&self, port: u16) -> i32 {
        self.read_trunk(self.base, port)
    }

    #[inline(always)]
    fn capacity(&self, port: u16) -> u32 {
        let out = self.out(port);
        self.common.links.of(out.class).capacity
    }

    #[inline(always)]
    fn member(&self, hop: Hop, turn: u32) -> (u32, Hop) {
        if self.trunks.is_empty() {
            return (self.open_credits(hop.port, hop.class), hop);
        }
        let trunk = &self.trunks[self.base + hop.port as usize];
        let width = u32::from(trunk.width);
        let outs = &self.outs[self.base..=self.base + usize::from(trunk.highest())];
        let (mut best, mut number) = ((0, hop), (turn % width) as u16);
        // all links of a trunk belong to the same link class
        let vcs = self.vcs(hop.port, hop.class);
        for _ in 0..width {
            let port = trunk.member(number);
            number = if number + 1 == trunk.width { 0 } else { number + 1 };
            // SAFETY: `outs` includes the highest port number of the trunk.
            let credits = self.credits_of(unsafe { outs.hot(usize::from(port)) }, vcs);
            if credits > best.0 {
                best = (credits, Hop { port, ..hop });
            }
        }
        best
    }

    #[inline(always)]
    fn state(&self, port: u16) -> LinkState {
        LinkState::of(self.out(port).state)
    }

    #[inline(always)]
    fn is_on(&self, port: u16) -> bool {
        let out = self.out(port);
        out.state == LinkState::On.number() || out.gate() == Gate::Broken || self.common.always_carries
    }

    #[inline(always)]
    fn is_broken(&self, port: u16) -> bool {
        self.out(port).gate() == Gate::Broken
    }

    #[inline(always)]
    fn credits(&self, hop: Hop) -> u32 {
        self.open_credits(hop.port, hop.class)
    }

    #[inline(always)]
    fn is_open(&self, hop: Hop) -> bool {
        let full =
            self.grants.full.get(usize::from(hop.port / 64)).is_some_and(|bits| bits >> (hop.port % 64) & 1 != 0);
        let out = self.out(hop.port);
        let link = self.common.links.of(out.class);
        let open = out.available_vcs();
        let held = self.common.hold_switch && out.free_vcs != link.all;
        !full && !held && link.open_to(out, open, hop.class as usize) != 0
    }

    #[inline(always)]
    fn has_room(&self, hop: Hop) -> bool {
        let out = self.out(hop.port);
        out.vcs_with_room & self.common.vcs(out.class, hop.class.into()) != 0
    }

    #[inline(always)]
    fn was_granted(&self, port: u16) -> bool {
        self.grants.last[self.base + port as usize] == self.now as u32
    }

    #[inline(always)]
    fn used(&self, hop: Hop) -> u32 {
        let out = self.out(hop.port);
        let link = self.common.links.of(out.class);
        let (mut vcs, mut used) = (*link.vcs_of.at(hop.class as usize), 0);
        while vcs != 0 {
            used += u32::from(link.buffer - out.credits.at(vcs.trailing_zeros() as usize));
            vcs &= vcs - 1;
        }
        used
    }

    #[inline(always)]
    fn occupancy(&self, hop: Hop) -> (f64, u32) {
        let out = self.out(hop.port);
        let link = self.common.links.of(out.class);
        let (mut vcs, mut most) = (*link.vcs_of.at(hop.class as usize), 0);
        while vcs != 0 {
            most = most.max(*out.credits.at(vcs.trailing_zeros() as usize));
            vcs &= vcs - 1;
        }
        (f64::from(link.buffer - most) / f64::from(link.buffer), u32::from(most))
    }

    #[inline(always)]
    fn table(&self) -> LinkTable<'_> {
        self.views.0.of(self.views.1)
    }

    #[inline(always)]
    fn note(&self, what: HopNote) {
        self.noted.set(what);
    }

    #[inline(always)]
    fn read_of(&self, away: i32, port: u16) -> i32 {
        self.read_trunk(self.base.wrapping_add_signed(away as isize), port)
    }

    #[inline(always)]
    fn post(&self, back: u64) -> Post<'_> {
        let board = self.common.board.as_ref().expect("a routing that reads the board declares its posts in `needs`");
        board.known(self.now, back)
    }

    fn fallback(&self, hop: Hop) -> Hop {
        if self.common.always_carries {
            let port = self.members(hop.port).find(|&port| !self.out(port).is_closed());
            return Hop { port: port.unwrap_or(hop.port), ..hop };
        }
        let with = |state: LinkState| {
            let is = |&port: &u16| self.out(port).state == state.number() && self.out(port).gate() != Gate::Broken;
            self.members(hop.port).find(is)
        };
        Hop { port: with(LinkState::Waking).or_else(|| with(LinkState::Off)).unwrap_or(hop.port), ..hop }
    }
}

impl<const V: usize> Queues<'_, V> {
    /// The record of output `port` of this router.
    #[inline(always)]
    fn out(&self, port: u16) -> &OutputUnit<V> {
        &self.outs[self.base + usize::from(port)]
    }

    /// Sum of the credits of the VCs of VC class `class` that a head may take at output `port`. A head that enters a ring with a bubble
    /// needs more credits in one of these VCs than other heads. Therefore it possibly waits although the sum is not 0.
    #[inline(always)]
    pub fn open_credits(&self, port: u16, class: u8) -> u32 {
        let out = self.out(port);
        self.credits_of(out, self.common.vcs(out.class, class.into()))
    }

    /// Mask of the VCs of VC class `class` at output `port`.
    #[inline(always)]
    fn vcs(&self, port: u16, class: u8) -> u16 {
        self.common.vcs(self.out(port).class, class.into())
    }

    /// Sum of the credits of the VCs in mask `vcs` that a head may take at output `out`.
    #[inline(always)]
    fn credits_of(&self, out: &OutputUnit<V>, vcs: u16) -> u32 {
        out.open_credits(vcs)
    }

    /// Congestion of output `port` of the router whose first output has index `base`. A packet may take any link of the output's trunk, so
    /// the result is the mean over the links.
    #[inline(always)]
    fn read_trunk(&self, base: usize, port: u16) -> i32 {
        if self.trunks.is_empty() {
            return self.read_output(base + port as usize);
        }
        let trunk = &self.trunks[base + port as usize];
        let members = trunk.members().map(|port| base + port as usize);
        if self.common.always_carries {
            return self.read_open(members);
        }
        members.map(|o| self.read_output(o)).sum::<i32>() / i32::from(trunk.width)
    }

    /// Mean congestion of the open outputs in `outs`: closed outputs have no queue, and no packet may take them.
    fn read_open(&self, outs: impl Iterator<Item = usize>) -> i32 {
        let open = outs.filter(|&o| !self.outs[o].is_closed());
        let (sum, count) = open.fold((0, 0), |(sum, count), o| (sum + self.read_output(o), count + 1));
        if count == 0 { 0 } else { sum / count }
    }

    #[inline(always)]
    fn read_output(&self, o: usize) -> i32 {
        let out = &self.outs[o];
        let sensor = self.common.sensor.expect("a routing that reads queues declares its sensor in `needs`");
        // number of flits that wait for the link of the output in cycle `from` or later
        let waiting = |from: u32| {
            let cycles = (out.next_free.wrapping_sub(from) as i32).max(0);
            self.common.rates.of(out.class).flits_in(cycles)
        };
        if sensor == Sensor::OutputQueue {
            return waiting(self.now as u32);
        }
        let left: u32 = out.credits.iter().map(|&c| u32::from(c)).sum();
        let used = (self.common.links.of(out.class).capacity - left) as i32;
        let Some(sent) = self.history else { return used };
        // a flit waits if it cannot be on the link in the first cycle after it has crossed the router
        let waiting = waiting((self.now as u32).wrapping_add(self.common.after_grant + 1));
        (used - (sent.sent()[o] as i32 - waiting).max(0)).max(0)
    }
}
