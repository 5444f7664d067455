//! The decisions about switching links off that an agent makes for a router. At the end of a deactivation epoch, the agent agrees to at
//! most one of the requests to deactivate a link. If there are no such requests, the agent may send one for a link of its router
//! (`spares.rs` chooses the link). After an agreement, the link is a shadow link. A shadow link goes off later, at the end of an activation
//! epoch.

use super::agent::Team;
use super::link::Want;
use super::message::{Kind, Message};
use weft_api::agents::Channels;
use weft_api::state::LinkState;

impl Team {
    /// Begins to drain a shadow link whose time as a shadow link is over. The link goes off when it has drained. Draining is a physical
    /// transition, so it begins only if the router has begun no other transition in this epoch.
    pub(super) fn let_go(&mut self, channels: &mut dyn Channels, r: usize) {
        if self.routers[r].moved || self.routers[r].activating.is_some() {
            return;
        }
        let over = |&o: &usize| {
            let link = &self.links[o];
            link.end.state == LinkState::Shadow && link.expires <= channels.now()
        };
        if let Some(o) = self.rules.managed.iter().find_map(|&d| self.outputs(r, d).find(over)) {
            self.links[o].end.expire();
            self.follow(channels, r, o);
        }
    }

    /// Answers the requests of this epoch. Of the requested links that may go off, agrees to the best one, and refuses the other requests.
    /// Agrees even if the router's own request to deactivate a link has no answer yet. If that request is then also agreed to, the agent
    /// withdraws it. Returns true if there were any requests to answer.
    pub(super) fn judge_deactivations(&mut self, channels: &mut dyn Channels, r: usize, activates: bool) -> bool {
        let crossing = self.cross(r, Want::Deactivate);
        let outputs = self.rules.managed.iter().flat_map(|&d| self.outputs(r, d));
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

    /// Requests to deactivate the best link of router `r` that may go off, if there is one.
    pub(super) fn ask_to_deactivate(&mut self, channels: &mut dyn Channels, r: usize) {
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
}
