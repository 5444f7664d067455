//! The actions of agents when links or routers fail, and when they work again. Agents drop agreements, notify the other members, elect
//! another hub, and request links for parked packets (packets without a path). `engine/src/network/faults.rs` has the rules of faults. The
//! loop handles the packets that a fault affects (`kernel/src/faults.rs`).

use super::activation::{CUT, FIRST};
use super::agent::Team;
use super::message::{Kind, Message};
use weft_api::agents::{Breakage, Cause, Channels, Parked};
use weft_api::state::LinkState;

impl Team {
    // ---- faults -----------------------------------------------------------------------------------------------------

    /// Called when a fault of a link, or of a router at one of its ends, begins or ends.
    #[cold]
    pub(super) fn notice(&mut self, channels: &mut dyn Channels, fault: Breakage) {
        let o = fault.channel as usize;
        let r = self.router(o);
        if fault.cause == Cause::OwnRouter {
            // requests from before the fault are void
            (self.links[o].activate, self.links[o].deactivate) = (None, None);
        }
        if !self.is_member(r, o) {
            return;
        }
        if fault.breaks {
            self.fail(channels, r, o);
            if fault.cause != Cause::Link {
                self.elect(channels, r, self.ends(o).0); // elects even if the link had already failed
            }
        } else {
            self.mend(channels, r, o, fault.cause == Cause::FarRouter);
        }
    }

    /// True if output `o` of router `r` leads to another member of one of its subnetworks.
    pub(super) fn is_member(&self, r: usize, o: usize) -> bool {
        let port = (o - self.routers[r].base) as u16;
        self.rules.nets.behind(port, |d| self.member(r, d)).is_some()
    }

    fn fail(&mut self, channels: &mut dyn Channels, r: usize, o: usize) {
        let link = &mut self.links[o];
        link.faults += 1;
        if link.faults > 1 {
            return;
        }
        let (d, own, c) = self.ends(o);
        let link = &mut self.links[o];
        link.era = link.era.wrapping_add(1);
        link.returns |= link.end.state == LinkState::On && !self.rules.config.deactivate;
        link.end.fail();
        let drains = link.end.state == LinkState::Draining;
        self.settle_request(r, o);
        let moved = self.routers[r].moved;
        self.follow(channels, r, o);
        self.routers[r].moved = moved; // a fault is not a transition that the router has chosen
        if drains {
            channels.set_timer(o, channels.now() + 1);
        }
        self.healthy.set(&self.rules.nets, r, d, (own, c), false);
        self.spread(channels, r, Kind::Fault, (d, own, c), true);
        self.elect(channels, r, d);
    }

    /// Called when a fault of the link of output `o` ends. The link goes off as soon as it has drained. Requests to activate it again if it
    /// belongs to a star, or if it was on before the fault and the run never switches links off. `again`: true if the fault was a failure
    /// of the router at the other end.
    fn mend(&mut self, channels: &mut dyn Channels, r: usize, o: usize, again: bool) {
        let (d, own, c) = self.ends(o);
        self.links[o].faults -= 1;
        if !self.links[o].is_broken() {
            self.healthy.set(&self.rules.nets, r, d, (own, c), true);
            self.spread(channels, r, Kind::Fault, (d, own, c), false);
        }
        if again && channels.dead_ends(o) == 0 {
            self.tell_what_is(channels, r, (d, own, c));
        }
        self.elect(channels, r, d);
        let wanted = self.is_root(channels, o) || self.links[o].returns;
        if wanted && self.is_off(o) && self.routers[r].activating.is_none() {
            self.ask(channels, r, o, FIRST);
        }
    }

    /// Handles message `m` to router `r`, which reports that a link of other routers has failed or works again.
    pub(super) fn hear_of_fault(&mut self, channels: &mut dyn Channels, r: usize, m: Message) {
        let (d, link) = (usize::from(m.net), (m.from, m.about));
        let known = self.stamps[r * self.rules.nets.pairs() + self.rules.nets.pair(d, m.from, m.about)];
        if !self.is_news(r, m) {
            return;
        }
        channels.warn(r);
        self.healthy.set(&self.rules.nets, r, d, link, !m.flag);
        // a link that works again counts as off, unless a message of the same cycle about its state has arrived before this one
        if m.flag || m.value != known {
            channels.views_mut().set(&self.rules.nets, r, d, link, false);
        }
        self.elect(channels, r, d);
    }

    // ---- hub --------------------------------------------------------------------------------------------------------

    /// Bit mask of the members of subnetwork `d` that have failed. Router `r` detects the failure of a member at its own link to it.
    pub(super) fn dead_members(&self, channels: &dyn Channels, r: usize, d: usize) -> u64 {
        if channels.is_dead(r) {
            return 0; // a failed router detects no failures
        }
        let dead = self.outputs(r, d).filter(|&o| channels.dead_ends(o) > 0);
        dead.fold(0, |mask, o| mask | 1 << self.ends(o).2)
    }

    /// Number of failed links between member `c` and members that work, to the knowledge of router `r`. `u32::MAX` if member `c` itself has
    /// failed.
    fn missing(&self, channels: &dyn Channels, r: usize, d: usize, c: u8) -> u32 {
        let dead = self.dead_members(channels, r, d);
        if dead >> c & 1 != 0 {
            return u32::MAX;
        }
        let whole = self.healthy.of(r).row(&self.rules.nets, d, c);
        (self.rules.nets.all(d) & !(1 << c) & !dead & !whole).count_ones()
    }

    /// True if, to the knowledge of router `r`, every link in the star of subnetwork `d` works. Only then may links outside the star go
    /// off.
    pub(super) fn has_whole_hub(&self, channels: &dyn Channels, r: usize, d: usize) -> bool {
        !self.faults || self.missing(channels, r, d, channels.views().of(r).hub(d)) == 0
    }

    /// If another member has fewer failed links than the present hub, makes the member with the fewest failed links the next hub. Of
    /// several such members, takes the one with the lowest number.
    pub(super) fn elect(&mut self, channels: &mut dyn Channels, r: usize, d: usize) {
        if !self.faults {
            return;
        }
        let hub = channels.views().of(r).hub(d);
        let best = (0..self.rules.nets.widths[d]).min_by_key(|&c| (self.missing(channels, r, d, c), c)).unwrap_or(hub);
        let next = (self.missing(channels, r, d, best) < self.missing(channels, r, d, hub)).then_some(best);
        self.routers[r].next_hub[d] = next;
        channels.views_mut().set_hub(r, d, hub, next.unwrap_or(hub));
        channels.note_news(r);
        if let Some(next) = next {
            self.keep_star(channels, r, d, next);
        }
    }

    /// Called at the end of an epoch, if hubs can move because of faults. Keeps the links in the star of the next hub active. When this
    /// star is complete, the next hub becomes the hub.
    pub(super) fn succeed(&mut self, channels: &mut dyn Channels, r: usize) {
        if !self.faults {
            return;
        }
        let rules = self.rules.clone();
        for &d in &rules.managed {
            if let Some(next) = self.routers[r].next_hub[d] {
                self.keep_star(channels, r, d, next);
                self.crown(channels, r, d);
            }
        }
    }

    // ---- parked packets ------------------------------------------------------------------------------------------------

    /// The members of subnetwork `d` to which packets parked at router `r` must go.
    fn parked(&self, channels: &dyn Channels, r: usize, d: usize) -> impl Iterator<Item = u8> {
        let here = move |p: &&Parked| p.router as usize == r && usize::from(p.d) == d;
        channels.parked().iter().filter(here).map(|p| p.to)
    }

    /// The next member on a path of working links from router `r` to member `to`: `to` itself, or the lowest member with working links to
    /// both.
    fn over(&self, channels: &dyn Channels, r: usize, d: usize, to: u8) -> Option<u8> {
        let (view, own) = (self.healthy.of(r), self.member(r, d));
        if view.row(&self.rules.nets, d, own) >> to & 1 != 0 {
            return Some(to);
        }
        let between = view.between(&self.rules.nets, d, own, to) & !self.dead_members(channels, r, d);
        (between != 0).then(|| between.trailing_zeros() as u8)
    }

    /// Bit mask of the members of subnetwork `d` to which router `r` needs an active link for its parked packets.
    pub(super) fn cut_off(&self, channels: &dyn Channels, r: usize, d: usize) -> u64 {
        self.parked(channels, r, d).filter_map(|to| self.over(channels, r, d, to)).fold(0, |mask, c| mask | 1 << c)
    }

    /// If parked packets must go over a member whose link to their destination is inactive, requests this member to activate the link.
    /// Returns true if the router made a request.
    pub(super) fn ask_for_a_way(&mut self, channels: &mut dyn Channels, r: usize) -> bool {
        let rules = self.rules.clone();
        for &d in &rules.managed {
            let view = channels.views().of(r);
            let misses = |&(to, x): &(u8, u8)| to != x && view.row(&self.rules.nets, d, x) >> to & 1 == 0;
            let ways = self.parked(channels, r, d).filter_map(|to| Some((to, self.over(channels, r, d, to)?)));
            let Some((about, x)) = ways.filter(misses).min() else { continue };
            let o = self.output(r, d, x);
            if self.links[o].end.state == LinkState::On {
                self.say(channels, o, Message { kind: Kind::ActivateYours, about, value: CUT, ..Message::default() });
                return true;
            }
        }
        false
    }

    /// In runs with faults: the next member for a control packet to member `to` if no path of active links leads there. It is `to` itself,
    /// or the lowest member with working links to router `r` and to `to`.
    pub(super) fn spare_way(&self, channels: &dyn Channels, r: usize, d: usize, to: u8) -> Option<u8> {
        if self.faults { self.over(channels, r, d, to) } else { None }
    }

    // ---- routers that fail ------------------------------------------------------------------------------------------

    /// True if the sender or the receiver of a control packet has failed.
    pub(super) fn is_mute(&self, channels: &dyn Channels, r: usize, message: Message) -> bool {
        let to = || self.output(r, usize::from(message.net), message.to);
        channels.is_dead(r) || channels.dead_ends(to()) > 0
    }

    /// Sends the states of the links of router `r` to member `to`, which works again and has missed earlier messages. If router `r` is the
    /// hub, also announces this.
    pub(super) fn tell_what_is(&mut self, channels: &mut dyn Channels, r: usize, (d, own, to): (usize, u8, u8)) {
        let value = channels.now() as u32;
        let link = Message { net: d as u8, from: own, to, value, ..Message::default() };
        let (whole, active) = {
            let row = |views: &weft_api::subnetworks::Views| views.of(r).row(&self.rules.nets, d, own);
            (row(&self.healthy), row(channels.views()))
        };
        for about in self.rules.nets.others(d, own).filter(|&c| c != to) {
            let flag = whole >> about & 1 == 0;
            self.send(channels, r, Message { kind: Kind::Fault, about, flag, ..link });
            if active >> about & 1 != 0 {
                self.send(channels, r, Message { kind: Kind::State, about, flag: true, ..link });
            }
        }
        let (cycle, hub) = self.routers[r].crowned[d];
        if hub == own && channels.views().of(r).hub(d) == own {
            self.send(channels, r, Message { kind: Kind::Hub, value: cycle, ..link });
        }
    }
}
