//! What an agent does at the end of an epoch: it judges the requests of others, sends its own, lets a shadow link go,
//! and, at the end of a deactivation epoch, runs Algorithm 1.

use super::Direction;
use super::agent::{Counts, Crowded, Request, Team};
use super::link::{Say, Want};
use super::message::{Kind, Message};
use crate::api::agents::Channels;
use crate::state::LinkState;
use std::cmp::Reverse;

/// The rank of a link of a star: above all flits that a link can carry.
pub(super) const FIRST: u32 = u32::MAX - 1;
/// The rank of a link without which packets have no path.
pub(super) const CUT: u32 = u32::MAX;
/// More than the ports of a router.
const PORTS: usize = 1 << 8;

impl Counts {
    pub(super) fn since(self, before: Self) -> Self {
        Self {
            sent: self.sent.wrapping_sub(before.sent),
            sent_around: self.sent_around.wrapping_sub(before.sent_around),
            came: self.came.wrapping_sub(before.came),
            came_around: self.came_around.wrapping_sub(before.came_around),
        }
    }

    /// Flits of the direction that counts, and those of them that went minimally. A packet of one flit on a detour is
    /// counted as it chooses the detour, a little before it leaves.
    pub(super) fn load(self, direction: Direction) -> (u32, u32) {
        let minimal = |all: u32, around: u32| all.saturating_sub(around);
        let (sent, came) = (minimal(self.sent, self.sent_around), minimal(self.came, self.came_around));
        match direction {
            Direction::Larger => (self.sent.max(self.came), sent.max(came)),
            Direction::Outgoing => (self.sent, sent),
        }
    }
}

impl Team {
    /// An activation epoch of router `r` ends.
    pub(super) fn end_epoch(&mut self, channels: &mut dyn Channels, r: usize) {
        self.routers[r].moved = false;
        self.routers[r].epochs += 1;
        let long = self.routers[r].epochs.is_multiple_of(self.rules.ratio);
        if channels.is_dead(r) {
            return self.begin_epoch(channels, r, long); // it stays in step
        }
        let activates = self.judge_activations(channels, r) || self.ask_to_activate(channels, r);
        self.let_go(channels, r);
        self.succeed(channels, r);
        if long {
            self.rotate(channels, r);
            let judged = self.judge_deactivations(channels, r, activates);
            if !activates && !judged && self.rules.config.deactivate {
                self.ask_to_deactivate(channels, r);
            }
        }
        self.begin_epoch(channels, r, long);
    }

    pub(super) fn counts(&self, channels: &dyn Channels, o: usize) -> Counts {
        let meter = self.meters.of(o);
        let (sent_around, came, came_around) = (meter.sent_around, meter.came, meter.came_around);
        Counts { sent: channels.flits(o), sent_around, came, came_around }
    }

    /// Counters begin again; the agent remembers which links were above the high-water mark.
    fn begin_epoch(&mut self, channels: &dyn Channels, r: usize, long: bool) {
        let mark = self.rules.config.high_water * self.rules.epoch as f64;
        for k in 0..self.managed.len() {
            for o in self.outputs(r, self.managed[k]) {
                let counts = self.counts(channels, o);
                let link = &mut self.links[o];
                link.was_crowded = f64::from(counts.since(link.short).sent) > mark;
                (link.short, link.virtually, link.around) = (counts, 0, 0);
                if long {
                    link.long = counts;
                }
            }
        }
        self.routers[r].crowded = None;
    }

    // ---- activation -------------------------------------------------------------------------------------------------

    /// Agrees to the request whose link would carry most, and refuses the others. Returns whether it agreed to one.
    fn judge_activations(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
    ) -> bool {
        let crossing = self.cross(r, Want::Activate);
        let own = self.routers[r].activating;
        let outputs = self.managed.iter().flat_map(|&d| self.outputs(r, d));
        let asked: Vec<usize> = outputs.filter(|&o| self.links[o].activate.is_some()).collect();
        let epoch = self.routers[r].epochs as u32;
        // if the same link always came first, routers that wait for each other's links would refuse each other for ever
        let place = |value: u32, id: u32| match value {
            CUT => channels.draw(id, epoch, 0x7d),
            _ => u64::from(id),
        };
        let rank = |o: usize, value: u32| (value, Reverse(place(value, self.far_router(r, o))));
        let best = (asked.iter().copied())
            .filter(|&o| self.can_activate(r, o))
            .map(|o| (rank(o, self.links[o].activate.map_or(0, |ask| ask.value)), o))
            .max()
            .filter(|&(best, _)| own.is_none_or(|(_, value)| best > (value, Reverse(place(value, self.routers[r].id)))))
            .map(|(_, o)| o);
        let chosen = crossing.or(best);
        // requests are sent after the answers, because an answer settles what the other end has asked for before
        let mut wish = None;
        for o in asked {
            let Some(ask) = self.links[o].activate.take() else { continue };
            let agree = chosen == Some(o);
            match ask.yours {
                None => {
                    let say = self.links[o].end.judge(Want::Activate, agree);
                    self.follow(channels, r, o);
                    self.answer(channels, o, say, false);
                }
                Some(about) => {
                    self.answer(channels, o, if agree { Say::Ack } else { Say::Nack }, true);
                    if agree {
                        wish = Some((self.output(r, self.ends(o).0, about), ask.value));
                    }
                }
            }
        }
        if let Some((o, value)) = wish {
            self.ask(channels, r, o, value);
        }
        chosen.is_some()
    }

    /// Both ends of a link have asked for the same: they agree, and only one end answers. Returns the output if this
    /// end answers.
    fn cross(&mut self, r: usize, want: Want) -> Option<usize> {
        let asked = match want {
            Want::Activate => self.routers[r].activating.map(|(o, _)| o),
            Want::Deactivate => self.routers[r].deactivating,
        };
        let crosses = |&o: &usize| match want {
            Want::Activate => self.links[o].activate.is_some_and(|ask| ask.yours.is_none()),
            Want::Deactivate => self.links[o].deactivate.is_some(),
        };
        let o = asked.filter(crosses)?;
        let (_, own, c) = self.ends(o);
        let (link, agent) = (&mut self.links[o], &mut self.routers[r]);
        let void = link.end.crossed(want, own < c);
        match want {
            Want::Activate if void => link.activate = None,
            Want::Deactivate if void => link.deactivate = None,
            Want::Activate => agent.activating = None,
            Want::Deactivate => agent.deactivating = None,
        }
        (!void).then_some(o)
    }

    /// Number of the router behind output `o`.
    fn far_router(&self, r: usize, o: usize) -> u32 {
        let (d, own, c) = self.ends(o);
        self.nets.router(self.routers[r].id, d, own, c)
    }

    /// Whether the request at output `o` is about a link that is off and for which this router can answer.
    fn can_activate(&self, r: usize, o: usize) -> bool {
        match self.links[o].activate {
            None => false,
            Some(Request { yours: None, .. }) => self.links[o].end.fits(Want::Activate) && !self.links[o].is_broken(),
            Some(Request { yours: Some(about), .. }) => {
                let (d, own, _) = self.ends(o);
                let free = self.routers[r].activating.is_none() && about != own;
                free && self.is_off(self.output(r, d, about))
            }
        }
    }

    pub(super) fn is_off(&self, o: usize) -> bool {
        let link = &self.links[o];
        link.end.state == LinkState::Off && link.end.asked.is_none() && !link.is_broken()
    }

    /// Asks the router behind output `o` to activate the link.
    pub(super) fn ask(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        o: usize,
        value: u32,
    ) {
        self.links[o].end.asked = Some(Want::Activate);
        self.routers[r].activating = Some((o, value));
        self.say(channels, o, Message { kind: Kind::Activate, value, ..Message::default() });
    }

    /// Asks for a link that this router needs. Returns whether it has asked.
    fn ask_to_activate(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
    ) -> bool {
        if self.routers[r].activating.is_some() {
            return false;
        }
        if let Some((value, Reverse(_), o)) = self.most_needed(channels, r) {
            self.ask(channels, r, o, value);
            return true;
        }
        self.ask_for_a_way(channels, r) || self.ask_for_another_way(channels, r)
    }

    /// The inactive link that would carry most, in those subnetworks in which some link is above the high-water mark
    /// and most of its flits are on detours. Links that waiting packets need come first, then links of stars. Among
    /// equal links, the one after the link that was refused last: the other end of that link may itself wait for long.
    fn most_needed(
        &self,
        channels: &dyn Channels,
        r: usize,
    ) -> Option<(u32, Reverse<usize>, usize)> {
        let turn = |o: usize, c: u8| match self.routers[r].refused {
            Some(last) => (o + PORTS - 1 - last) % PORTS,
            None => usize::from(c),
        };
        let mut best = None;
        for &d in &self.managed {
            let own = self.member(r, d);
            let becomes_hub = self.routers[r].next_hub[d] == Some(own);
            let hub = channels.views().of(r).hub(d);
            let cut = self.cut_off(channels, r, d);
            let crowded = self.outputs(r, d).any(|o| self.goes_round(channels, o));
            let off = self.outputs(r, d).filter(|&o| self.is_off(o));
            for o in off {
                let c = self.ends(o).2;
                let of_star = becomes_hub || own == hub || c == hub || self.links[o].returns;
                let value = match (cut >> c & 1 != 0, of_star) {
                    (true, _) => CUT,
                    (_, true) => FIRST,
                    _ if crowded => self.links[o].virtually,
                    _ => 0,
                };
                best = best.max((value > 0).then_some((value, Reverse(turn(o, c)), o)));
            }
        }
        best
    }

    /// Whether a direction of an active link is above the high-water mark, and more than half of its flits are on
    /// detours.
    fn goes_round(&self, channels: &dyn Channels, o: usize) -> bool {
        let mark = self.rules.config.high_water * self.rules.epoch as f64;
        let gained = self.counts(channels, o).since(self.links[o].short);
        let crowded = |all: u32, around: u32| f64::from(all) > mark && around > all / 2;
        self.links[o].end.state == LinkState::On
            && (crowded(gained.sent, gained.sent_around) || crowded(gained.came, gained.came_around))
    }

    /// A packet takes a detour over a link above the high-water mark, because it can't or won't take the direct link.
    pub(super) fn note_crowd(&mut self, now: u64, direct: usize) {
        let (d, _, to) = self.ends(direct);
        let crowded = Crowded { at: now, net: d as u8, to };
        let r = self.router(direct);
        let agent = &mut self.routers[r];
        // the first, whatever the order inside its cycle
        agent.crowded = Some(agent.crowded.map_or(crowded, |known| known.min(crowded)));
    }

    /// Packets took a detour to a member over a link above the high-water mark: this asks for a path over the lowest
    /// member that has none to it yet.
    fn ask_for_another_way(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
    ) -> bool {
        let Some(crowded) = self.routers[r].crowded else { return false };
        let (d, to) = (usize::from(crowded.net), crowded.to);
        let own = self.member(r, d);
        let ways = channels.views().of(r).between(&self.nets, d, own, to);
        let Some(x) = self.by_rank(channels, r, d).find(|&x| x != to && ways >> x & 1 == 0) else { return false };
        let o = self.output(r, d, x);
        let value = self.links[self.output(r, d, to)].around;
        if self.is_off(o) {
            self.ask(channels, r, o, value);
            return true;
        }
        if self.links[o].end.state == LinkState::On {
            self.say(channels, o, Message { kind: Kind::ActivateYours, about: to, value, ..Message::default() });
            return true;
        }
        false
    }

    /// The other members, from the hub upward.
    pub(super) fn by_rank(
        &self,
        channels: &dyn Channels,
        r: usize,
        d: usize,
    ) -> impl Iterator<Item = u8> + use<> {
        let (own, hub, width) = (self.member(r, d), channels.views().of(r).hub(d), self.nets.widths[d]);
        (0..width).map(move |k| ((u16::from(hub) + u16::from(k)) % u16::from(width)) as u8).filter(move |&c| c != own)
    }

    // ---- deactivation -----------------------------------------------------------------------------------------------

    /// The shadow link whose time is over drains and goes off. That is a physical transition, so it happens only if
    /// there was none in this epoch.
    fn let_go(&mut self, channels: &mut dyn Channels, r: usize) {
        if self.routers[r].moved || self.routers[r].activating.is_some() {
            return;
        }
        let ends = |d: usize| self.outputs(r, d);
        let over = |&o: &usize| {
            let link = &self.links[o];
            link.end.state == LinkState::Shadow && link.expires <= channels.now()
        };
        if let Some(o) = self.managed.iter().find_map(|&d| ends(d).find(over)) {
            self.links[o].end.expire();
            self.follow(channels, r, o);
        }
    }

    /// Agrees to one request for a link that may go, and refuses the others, whatever it has asked for itself: if that
    /// is agreed to as well, it withdraws. Returns whether there were any requests.
    fn judge_deactivations(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        activates: bool,
    ) -> bool {
        let crossing = self.cross(r, Want::Deactivate);
        let outputs = self.managed.iter().flat_map(|&d| self.outputs(r, d));
        let asked: Vec<usize> = outputs.filter(|&o| self.links[o].deactivate.is_some()).collect();
        if asked.is_empty() {
            return false;
        }
        let may = !activates && !self.has_shadow(r);
        let best = || {
            let candidates = self.candidates(channels, r);
            candidates.into_iter().find(|o| asked.contains(o))
        };
        let chosen = crossing.or_else(best).filter(|_| may);
        for o in asked {
            self.links[o].deactivate = None;
            let say = self.links[o].end.judge(Want::Deactivate, chosen == Some(o));
            self.follow(channels, r, o);
            self.answer(channels, o, say, false);
        }
        true
    }

    /// Asks for the best link that may go.
    fn ask_to_deactivate(&mut self, channels: &mut dyn Channels, r: usize) {
        if self.routers[r].deactivating.is_some() || self.has_shadow(r) {
            return;
        }
        if let Some(&o) = self.candidates(channels, r).first() {
            let value = self.long_load(channels, o).1;
            self.links[o].end.asked = Some(Want::Deactivate);
            self.routers[r].deactivating = Some(o);
            self.say(channels, o, Message { kind: Kind::Deactivate, value, ..Message::default() });
        }
    }

    // ---- hub --------------------------------------------------------------------------------------------------------

    /// The next member prepares to become the hub: its star is activated, and stays on from now on. When the star is
    /// complete, the member announces itself.
    fn rotate(&mut self, channels: &mut dyn Channels, r: usize) {
        let every = u64::from(self.rules.config.rotate_hub);
        for k in 0..self.managed.len() {
            let d = self.managed[k];
            let hub = channels.views().of(r).hub(d);
            if every > 0 && (self.routers[r].epochs / self.rules.ratio).is_multiple_of(every) {
                let next = (hub + 1) % self.nets.widths[d];
                self.routers[r].next_hub[d] = Some(next);
                self.keep_star(channels, r, d, next);
            }
            self.crown(channels, r, d);
        }
    }

    /// A link to the next hub that is a shadow link or drains becomes active again.
    pub(super) fn keep_star(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        d: usize,
        next: u8,
    ) {
        for o in self.outputs(r, d) {
            let (_, own, c) = self.ends(o);
            if (own == next || c == next) && self.links[o].end.can_return() {
                let say = self.links[o].end.reactivate();
                self.follow(channels, r, o);
                self.answer(channels, o, say, false);
            }
        }
    }

    /// Once all links of the next hub are active (but for failed ones), it tells the others that it is the hub.
    pub(super) fn crown(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        d: usize,
    ) {
        let own = self.member(r, d);
        let up = |o: usize| self.links[o].end.state == LinkState::On || self.links[o].is_broken();
        if self.routers[r].next_hub[d] != Some(own) || !self.outputs(r, d).all(up) {
            return;
        }
        let value = channels.now() as u32;
        self.send_to_all(channels, r,
            Message { kind: Kind::Hub, net: d as u8, from: own, value, ..Message::default() },
        );
        self.hub_is(channels, r, d, (value, own));
    }

    /// A member has announced that it is the hub.
    pub(super) fn hear_of_hub(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        m: Message,
    ) {
        let d = usize::from(m.net);
        if (m.value, m.from) >= self.routers[r].crowned[d] {
            self.hub_is(channels, r, d, (m.value, m.from));
            self.elect(channels, r, d);
        }
    }

    fn hub_is(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        d: usize,
        crowned: (u32, u8),
    ) {
        channels.views_mut().set_hub(r, d, crowned.1, crowned.1);
        self.routers[r].crowned[d] = crowned;
        self.routers[r].next_hub[d] = None;
        channels.note_news(r);
    }
}
