//! Applies a new state of a link's end (`link.rs`) to the channel on which this end sends. Opens or closes the channel, sets a timer, and
//! notifies the other members.

use super::agent::Team;
use super::message::{Kind, Message};
use super::{OFF, Phase};
use weft_api::agents::Channels;
use weft_api::state::LinkState;

/// Cycles between two tests whether a draining link has drained.
const DRAIN_LOOK: u64 = 4;

impl Team {
    /// Called when the timer of output `o` has ended. If the link is waking, it is now awake. If the link is draining, tests whether it has
    /// drained.
    pub(super) fn look(&mut self, channels: &mut dyn Channels, o: usize) {
        let end = &mut self.links[o].end;
        match end.state {
            LinkState::Waking | LinkState::Draining if end.ready => return,
            LinkState::Draining => {
                let unused = channels.free_for(o) >= 0 && OFF.is_unused(channels, o);
                // the end of a failed link does not wait for credits, because the credits of delivered flits possibly return only when the
                // link is on again
                if !(unused && (end.is_alone() || channels.credits_are_home(o))) {
                    return channels.set_timer(o, channels.now() + DRAIN_LOOK);
                }
            }
            LinkState::Waking => {}
            // the change was withdrawn or undone in the meantime
            LinkState::On | LinkState::Shadow | LinkState::Off | LinkState::Named(_) => return,
        }
        end.done();
        self.say_ready(channels, o);
        self.follow(channels, self.router(o), o);
    }

    /// Sets the power state of the channel of output `o` to the state of this end of its link.
    pub(super) fn follow(&mut self, channels: &mut dyn Channels, r: usize, o: usize) {
        let (now, state, before) = (channels.now(), self.links[o].end.state, channels.state(o));
        if state == before {
            return;
        }
        channels.enter(o, state);
        match state {
            LinkState::On if before == LinkState::Waking => OFF.open(channels, o),
            LinkState::On => {}
            LinkState::Shadow => self.links[o].expires = self.epoch_of(now) + self.rules.shadow,
            LinkState::Draining => {
                self.routers[r].moved = true;
                channels.set_timer(o, now + 1);
            }
            LinkState::Named(_) => unreachable!("links have no other rates"),
            LinkState::Off => OFF.close(channels, o),
            LinkState::Waking => {
                self.routers[r].moved = true;
                channels.set_timer(o, now + self.rules.wake);
            }
        }
        let (d, own, c) = self.ends(o);
        if state == LinkState::On && before == LinkState::Waking {
            self.links[o].returns = false;
            self.routers[r].latest[d] = Some(o);
        }
        // from now on, packets may use the link, or must not use it any more
        if (state == LinkState::On) != (before == LinkState::On) {
            let active = state == LinkState::On;
            channels.views_mut().set(&self.rules.nets, r, d, (own, c), active);
            channels.note_news(r);
            // only the end with the lower member number notifies the other members; if the link has failed, both ends have already notified
            // them
            if own < c && !self.links[o].is_broken() {
                self.spread(channels, r, Kind::State, (d, own, c), active);
            }
        }
    }

    /// The cycle from which the time of a shadow link counts: the beginning of the epoch, so that both ends count from the same cycle. If
    /// routers have separate epochs (`Phase::Random`), it is the present cycle.
    fn epoch_of(&self, now: u64) -> u64 {
        match self.rules.config.phase {
            Phase::Together => now / self.rules.epoch * self.rules.epoch,
            Phase::Random => now,
        }
    }

    /// Notifies all other members of subnetwork `d` about the link from member `own` to member `about`. `flag`: if `kind` is `State`, true
    /// if the link is active; if `kind` is `Fault`, true if it has failed.
    pub(super) fn spread(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        kind: Kind,
        (d, own, about): (usize, u8, u8),
        flag: bool,
    ) {
        let value = channels.now() as u32;
        self.send_to_all(
            channels,
            r,
            Message { kind, net: d as u8, from: own, about, flag, value, ..Message::default() },
        );
    }
}
