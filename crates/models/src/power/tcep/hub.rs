//! Moves the hub of a subnetwork: from member to member in turn (`rotate_hub`), or away from a member with failed links (`repair.rs` elects
//! the next hub). The next hub takes over when the links of its star are active.

use super::agent::Team;
use super::message::{Kind, Message};
use weft_api::agents::Channels;
use weft_api::state::LinkState;

impl Team {
    /// When a move is due, makes the member after the present hub the next hub. From now on, the links of its star stay on, or are
    /// requested. When this star is complete, the next hub announces that it is the hub.
    pub(super) fn rotate(&mut self, channels: &mut dyn Channels, r: usize) {
        let rules = self.rules.clone();
        let every = u64::from(rules.config.rotate_hub);
        for &d in &rules.managed {
            let hub = channels.views().of(r).hub(d);
            if every > 0 && (self.epochs(channels, r) / rules.ratio).is_multiple_of(every) {
                let next = (hub + 1) % rules.nets.widths[d];
                self.routers[r].next_hub[d] = Some(next);
                self.keep_star(channels, r, d, next);
            }
            self.crown(channels, r, d);
        }
    }

    /// Makes each link of router `r` in the star of member `next` active again if it is a shadow link or draining.
    pub(super) fn keep_star(&mut self, channels: &mut dyn Channels, r: usize, d: usize, next: u8) {
        for o in self.outputs(r, d) {
            let (_, own, c) = self.ends(o);
            if (own == next || c == next) && self.links[o].end.can_return() {
                let say = self.links[o].end.reactivate();
                self.follow(channels, r, o);
                self.answer(channels, o, say, false);
            }
        }
    }

    /// If router `r` is the next hub and its star is complete, notifies the other members that it is the hub. The star is complete if all
    /// links of the router to other members are active or have failed.
    pub(super) fn crown(&mut self, channels: &mut dyn Channels, r: usize, d: usize) {
        let own = self.member(r, d);
        let up = |o: usize| self.links[o].end.state == LinkState::On || self.links[o].is_broken();
        if self.routers[r].next_hub[d] != Some(own) || !self.outputs(r, d).all(up) {
            return;
        }
        let value = channels.now() as u32;
        self.send_to_all(
            channels,
            r,
            Message { kind: Kind::Hub, net: d as u8, from: own, value, ..Message::default() },
        );
        self.hub_is(channels, r, d, (value, own));
    }

    /// Handles message `m`, in which a member announces that it is the hub.
    pub(super) fn hear_of_hub(&mut self, channels: &mut dyn Channels, r: usize, m: Message) {
        let d = usize::from(m.net);
        if (m.value, m.from) >= self.routers[r].crowned[d] {
            self.hub_is(channels, r, d, (m.value, m.from));
            self.elect(channels, r, d);
        }
    }

    /// Records that member `crowned.1` is the hub of subnetwork `d`. The member announced itself in cycle `crowned.0`.
    fn hub_is(&mut self, channels: &mut dyn Channels, r: usize, d: usize, crowned: (u32, u8)) {
        channels.views_mut().set_hub(r, d, crowned.1, crowned.1);
        self.routers[r].crowned[d] = crowned;
        self.routers[r].next_hub[d] = None;
        channels.note_news(r);
    }
}
