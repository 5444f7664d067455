//! The actions of an agent when a control packet arrives. If the packet is a request, the agent stores it, and answers it at the end of the
//! epoch. All other packets take effect at once.

use super::agent::{Request, Team};
use super::link::{Say, Want};
use super::message::{Kind, Message};
use weft_api::agents::Channels;

impl Team {
    /// Handles control packet `m`, whose receiver is router `r`.
    pub(super) fn take(&mut self, channels: &mut dyn Channels, r: usize, m: Message) {
        let d = usize::from(m.net);
        let o = self.output(r, d, m.from);
        if m.kind.is_handshake() && m.about != self.links[o].era {
            return; // the message is from before a fault
        }
        match m.kind {
            Kind::Activate | Kind::ActivateYours => {
                let yours = (m.kind == Kind::ActivateYours).then_some(m.about);
                if let Some(older) = self.links[o].activate.replace(Request { value: m.value, yours }) {
                    self.answer(channels, o, Say::Nack, older.yours.is_some());
                }
            }
            Kind::Deactivate => self.links[o].deactivate = Some(Request { value: m.value, yours: None }),
            Kind::Ack if !m.flag => self.acked(channels, r, o),
            Kind::Nack if !m.flag => {
                if self.links[o].end.asked == Some(Want::Activate) && self.faults {
                    self.routers[r].refused = Some(o);
                }
                self.settle_request(r, o);
                self.links[o].end.nacked();
            }
            Kind::Withdraw => {
                self.links[o].end.withdrawn();
                self.follow(channels, r, o);
            }
            Kind::Ack | Kind::Nack => {}
            Kind::Reactivate => {
                self.links[o].end.reactivated();
                self.follow(channels, r, o);
            }
            Kind::State => self.hear(channels, r, m),
            Kind::Hub => self.hear_of_hub(channels, r, m),
            Kind::Fault => self.hear_of_fault(channels, r, m),
            Kind::Ready => unreachable!("not a packet"),
        }
    }

    /// Called when the other end of the link of output `o` has answered this router's request. The answer also makes earlier requests from
    /// the answering router void (see `link.rs`).
    pub(super) fn settle_request(&mut self, r: usize, o: usize) {
        let link = &mut self.links[o];
        (link.activate, link.deactivate) = (link.activate.filter(|ask| ask.yours.is_some()), None);
        let agent = &mut self.routers[r];
        agent.activating = agent.activating.filter(|&(asked, _)| asked != o);
        agent.deactivating = agent.deactivating.filter(|&asked| asked != o);
    }

    /// Called when the other end has agreed to this router's request about the link of output `o`. The agent carries out the change, or
    /// withdraws if the change is no longer possible.
    fn acked(&mut self, channels: &mut dyn Channels, r: usize, o: usize) {
        let can = match self.links[o].end.asked {
            Some(Want::Activate) => !self.routers[r].moved,
            Some(Want::Deactivate) => !self.has_shadow(r) && !self.is_root(channels, o),
            None => true,
        };
        self.settle_request(r, o);
        match self.links[o].end.acked(can) {
            Ok(_) => self.follow(channels, r, o),
            Err(say) => self.answer(channels, o, say, false),
        }
    }

    /// Sends an answer or a report (`say`) to the other end of the link of output `o`. `flag`: true if the answer is to a request of kind
    /// `ActivateYours`.
    pub(super) fn answer(&mut self, channels: &mut dyn Channels, o: usize, say: Say, flag: bool) {
        let kind = match say {
            Say::Ack => Kind::Ack,
            Say::Nack => Kind::Nack,
            Say::Withdraw => Kind::Withdraw,
            Say::Reactivate => Kind::Reactivate,
            Say::Ready => return self.say_ready(channels, o),
        };
        self.say(channels, o, Message { kind, flag, ..Message::default() });
    }

    /// Completes `message` with sender, receiver and subnetwork, and sends it as a control packet to the member to which output `o` leads.
    pub(super) fn say(&mut self, channels: &mut dyn Channels, o: usize, message: Message) {
        let (d, own, c) = self.ends(o);
        let r = self.router(o);
        let about = if message.kind.is_handshake() { self.links[o].era } else { message.about };
        self.send(channels, r, Message { net: d as u8, from: own, to: c, about, ..message });
    }

    /// Stores at router `r` the state of a link of other routers, as message `m` reports it: active or not active.
    fn hear(&mut self, channels: &mut dyn Channels, r: usize, m: Message) {
        if self.is_news(r, m) {
            channels.views_mut().set(&self.rules.nets, r, usize::from(m.net), (m.from, m.about), m.flag);
            channels.note_news(r);
        }
    }

    /// True if message `m` to router `r` is about a link of other routers, and is the newest message about that link.
    pub(super) fn is_news(&mut self, r: usize, m: Message) -> bool {
        let (d, nets) = (usize::from(m.net), &self.rules.nets);
        let own = self.member(r, d);
        let stamp = &mut self.stamps[r * nets.pairs() + nets.pair(d, m.from, m.about)];
        let news = m.about != own && m.value.wrapping_sub(*stamp) as i32 >= 0;
        if news {
            *stamp = m.value;
        }
        news
    }
}
