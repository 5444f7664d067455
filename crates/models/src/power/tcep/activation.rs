//! The decisions about activations that an agent makes for a router at the end of an activation epoch. The agent agrees to at most one of
//! the requests to activate a link. If it agrees to none, it can request a link that its router needs.

use super::agent::{Crowded, Request, Team};
use super::link::{Say, Want};
use super::message::{Kind, Message};
use std::cmp::Reverse;
use weft_api::agents::Channels;
use weft_api::state::LinkState;

/// The value of a request for a link of a star. It is larger than the values of other requests, which are numbers of flits in an epoch.
pub(super) const FIRST: u32 = u32::MAX - 1;
/// The value of a request for a link without which some packets have no path.
pub(super) const CUT: u32 = u32::MAX;
/// More than the number of ports of any router. Distances between outputs of a router are counted modulo this number.
const PORTS: usize = 1 << 8;

impl Team {
    /// Answers the requests of this epoch to router `r`. Agrees at most to the request with the highest value (virtual utilisation), and
    /// refuses the others. Returns true if the router agreed to a request.
    pub(super) fn judge_activations(&mut self, channels: &mut dyn Channels, r: usize) -> bool {
        let crossing = self.cross(r, Want::Activate);
        let own = self.routers[r].activating;
        let outputs = self.rules.managed.iter().flat_map(|&d| self.outputs(r, d));
        let asked: Vec<usize> = outputs.filter(|&o| self.links[o].activate.is_some()).collect();
        let epoch = self.epochs(channels, r) as u32;
        // Requests of value `CUT` are in random order. In a fixed order, routers that wait for each other's links could refuse each other
        // for ever
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
        // the router sends its own request after its answers, because an answer voids all earlier requests of its sender
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

    /// True if router `r` can carry out the request that arrived for output `o`. The request is either to activate the link of output `o`,
    /// or to request another link of the router, which leads to the member `about`.
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

    /// Sends a request to activate the link of output `o` to the router at its far end.
    pub(super) fn ask(&mut self, channels: &mut dyn Channels, r: usize, o: usize, value: u32) {
        self.links[o].end.asked = Some(Want::Activate);
        self.routers[r].activating = Some((o, value));
        self.say(channels, o, Message { kind: Kind::Activate, value, ..Message::default() });
    }

    /// Requests a link that router `r` needs, or a path to a member, if it needs one. Returns true if the router made a request.
    pub(super) fn ask_to_activate(&mut self, channels: &mut dyn Channels, r: usize) -> bool {
        if self.routers[r].activating.is_some() {
            return false;
        }
        if let Some((value, Reverse(_), o)) = self.most_needed(channels, r) {
            self.ask(channels, r, o, value);
            return true;
        }
        self.ask_for_a_way(channels, r) || self.ask_for_another_way(channels, r)
    }

    /// The link that router `r` should request, as (value of the request, tie-breaker among equal values, output). Links without which
    /// waiting packets have no path come first, and links of stars second. Third is, in a subnetwork in which detours fill a link, the link
    /// with the highest virtual utilisation. Of links with equal values, takes the next one after the link whose request was refused last.
    /// The other end of that link possibly cannot agree for a long time.
    pub(super) fn most_needed(&self, channels: &dyn Channels, r: usize) -> Option<(u32, Reverse<usize>, usize)> {
        let turn = |o: usize, c: u8| match self.routers[r].refused {
            Some(last) => (o + PORTS - 1 - last) % PORTS,
            None => usize::from(c),
        };
        let mut best = None;
        for &d in &self.rules.managed {
            let own = self.member(r, d);
            let becomes_hub = self.routers[r].next_hub[d] == Some(own);
            let hub = channels.views().of(r).hub(d);
            let cut = self.cut_off(channels, r, d);
            let crowded = self.outputs(r, d).any(|o| self.is_crowded_by_detours(channels, o));
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

    /// True if the link of output `o` is active and filled by detours. Then one direction is above the high-water mark, and more than half
    /// of its flits are on detours.
    fn is_crowded_by_detours(&self, channels: &dyn Channels, o: usize) -> bool {
        let mark = self.mark(channels, o);
        let gained = self.counts(channels, o).since(self.links[o].short);
        let crowded = |all: u32, around: u32| f64::from(all) > mark && around > all / 2;
        self.links[o].end.state == LinkState::On
            && (crowded(gained.sent, gained.sent_around) || crowded(gained.came, gained.came_around))
    }

    /// Records that a packet took a detour over a link above the high-water mark, instead of the direct link of output `direct`.
    pub(super) fn note_crowd(&mut self, now: u64, direct: usize) {
        let (d, _, to) = self.ends(direct);
        let crowded = Crowded { at: now, net: d as u8, to };
        let r = self.router(direct);
        let agent = &mut self.routers[r];
        // The first record of the epoch counts. Of several in one cycle it is the one with the lowest subnetwork and destination, so that
        // the order of events has no effect
        agent.crowded = Some(agent.crowded.map_or(crowded, |known| known.min(crowded)));
    }

    /// Requests one more path to a member to which packets took detours over a link above the high-water mark. The path leads over the
    /// first member by rank that is not yet on an active path to the destination. Returns true if the router made a request.
    fn ask_for_another_way(&mut self, channels: &mut dyn Channels, r: usize) -> bool {
        let Some(crowded) = self.routers[r].crowded else { return false };
        let (d, to) = (usize::from(crowded.net), crowded.to);
        let own = self.member(r, d);
        let ways = channels.views().of(r).between(&self.rules.nets, d, own, to);
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
}
