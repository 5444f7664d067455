//! The control packets of TCEP. They are single flits that overtake all data flits that wait for the same link. They go directly to the
//! receiver or over the hub. If both paths are cut, they go over any member that has links to the sender and the receiver.

use super::Tables;
use super::agent::Team;
use weft_api::agents::Channels;
use weft_api::control::{Arrival, Body, ControlKind, ControlPacket, Frame, Wire};

/// The meaning of a control packet. Eight kinds fit into the three bits that the paper uses. The other kinds of packets (`Hub`, `Fault`)
/// are sent only if hubs move or links fail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    /// Request to activate the link between the sender and the receiver.
    #[default]
    Activate,
    /// Request to activate the link between the receiver and member `about`.
    ActivateYours,
    /// Request to deactivate the link between the sender and the receiver.
    Deactivate,
    Ack,
    Nack,
    /// The sender can no longer make the change that it requested and to which the receiver has agreed.
    Withdraw,
    /// The sender has made the shadow link between the sender and the receiver active again.
    Reactivate,
    /// The sender's link to member `about` is now active, or is no longer active.
    State,
    /// The sender is now the hub.
    Hub,
    /// The sender's link to member `about` has failed, or works again.
    Fault,
    /// The sender's end of the link is drained (before off) or awake (before on). This message is sent on the side channel, not in a
    /// packet.
    Ready,
}

impl Kind {
    const ALL: [Self; 11] = {
        use Kind::{Ack, Activate, ActivateYours, Deactivate, Fault, Hub, Nack, Reactivate, Ready, State, Withdraw};
        [Activate, ActivateYours, Deactivate, Ack, Nack, Withdraw, Reactivate, State, Hub, Fault, Ready]
    };
    /// Names of the control packets in results.
    pub const NAMES: [&'static str; 10] =
        ["activate", "activate_yours", "deactivate", "ack", "nack", "withdraw", "reactivate", "state", "hub", "fault"];

    /// True for messages that the two ends of a link exchange about this link.
    pub(super) fn is_handshake(self) -> bool {
        use Kind::{Ack, Activate, Deactivate, Nack, Reactivate, Withdraw};
        matches!(self, Activate | Deactivate | Ack | Nack | Withdraw | Reactivate)
    }
}

/// The content of a control packet in subnetwork `net`, from member `from` to member `to`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Message {
    pub kind: Kind,
    pub net: u8,
    pub from: u8,
    pub to: u8,
    /// The member whose link the message is about. In messages between the ends of a link: number of failures of the link so far.
    pub about: u8,
    /// `State`: true if the link is active. `Fault`: true if the link has failed. `Ack`, `Nack`: true if they answer a request
    /// `ActivateYours`.
    pub flag: bool,
    /// `Activate`, `ActivateYours`: virtual utilisation \[flits\], or a larger constant (`activation::FIRST`, `CUT`). `Deactivate`: flits
    /// on minimal paths over the link \[flits\]. `State`, `Hub`, `Fault`: the cycle of sending, so that the receiver can ignore older
    /// messages.
    pub value: u32,
}

impl Message {
    /// Encodes the fields of the message as one number. Numbers compare like messages, because the fields keep their order.
    fn body(self) -> Body {
        let small = [self.kind as u8, self.net, self.from, self.to, self.about, u8::from(self.flag)];
        small.into_iter().fold(0, |body, byte| body << 8 | Body::from(byte)) << 32 | Body::from(self.value)
    }

    fn of(body: Body) -> Self {
        let byte = |place: u32| (body >> (32 + 8 * place)) as u8;
        let [flag, about, to, from, net, kind] = [0, 1, 2, 3, 4, 5].map(byte);
        Self { kind: Kind::ALL[usize::from(kind)], net, from, to, about, flag: flag != 0, value: body as u32 }
    }
}

impl Team {
    /// Sends a control packet from router `r`. Does nothing if the sender or the receiver has failed.
    pub(super) fn send(&mut self, channels: &mut dyn Channels, r: usize, message: Message) {
        if self.is_mute(channels, r, message) {
            return;
        }
        let cycle = channels.now();
        let number = channels.count_packet(message.kind as usize, &|| self.describe(cycle, r, message));
        self.forward(channels, r, message, Frame { body: message.body(), hops: 0, number });
    }

    /// The control packet in the form in which recordings store it.
    fn describe(&self, cycle: u64, r: usize, m: Message) -> ControlPacket {
        let (d, from) = (usize::from(m.net), self.routers[r].id);
        let router = |c: u8| self.rules.nets.router(from, d, m.from, c);
        let about = matches!(m.kind, Kind::ActivateYours | Kind::State | Kind::Fault).then(|| router(m.about));
        let is_request = matches!(m.kind, Kind::Activate | Kind::ActivateYours | Kind::Deactivate);
        ControlPacket {
            cycle,
            from,
            to: router(m.to),
            kind: ControlKind::of(&Kind::NAMES, m.kind as usize),
            about,
            value: is_request.then_some(m.value),
            flag: m.flag,
            class: self.rules.nets.classes[d],
            arrival: None,
        }
    }

    /// Sends a control packet over its next hop from router `r`.
    fn forward(&mut self, channels: &mut dyn Channels, r: usize, message: Message, frame: Frame) {
        if channels.is_dead(r) {
            return self.tell(channels, r, message, frame); // the packet was in flight when the router failed
        }
        if self.is_mute(channels, r, message) {
            return;
        }
        let Some(o) = self.way(channels, r, message) else {
            // at present, no active link of the router leads towards the receiver
            if let Some(o) = self.side_channel(channels, r, message) {
                let at = channels.now() + channels.credit_latency(o);
                // the side channel delivers one packet per cycle, so that packets keep their order
                let at = at.max(self.links[o].side_free);
                self.links[o].side_free = at + 1;
                return channels.signal(o, at, Wire::None, frame);
            }
            return channels.try_later(r, frame);
        };
        if channels.send(o, frame) {
            self.meters.sent_one_around(o);
        } else {
            channels.try_later(r, frame);
        }
    }

    /// The output of router `r` on the path to the receiver of the control packet. The path is the direct link if it is active. Otherwise
    /// it leads over the hub, or else over any member with active links to both ends. In runs with faults, the last choice is a member
    /// whose own link to the receiver is inactive but has not failed.
    fn way(&self, channels: &dyn Channels, r: usize, message: Message) -> Option<usize> {
        let d = usize::from(message.net);
        let own = self.member(r, d);
        let view = channels.views().of(r);
        let active = view.row(&self.rules.nets, d, own);
        let hub = view.hub(d);
        let between = view.between(&self.rules.nets, d, own, message.to);
        let next = if active >> message.to & 1 != 0 {
            message.to
        } else if between >> hub & 1 != 0 {
            hub
        } else if between != 0 {
            between.trailing_zeros() as u8
        } else {
            self.spare_way(channels, r, d, message.to).filter(|&next| active >> next & 1 != 0)?
        };
        Some(self.output(r, d, next))
    }

    /// The output whose side channel carries the control packet if no active link of router `r` leads towards its receiver.
    fn side_channel(&self, channels: &dyn Channels, r: usize, message: Message) -> Option<usize> {
        let d = usize::from(message.net);
        self.spare_way(channels, r, d, message.to).map(|next| self.output(r, d, next))
    }

    /// Reports on the side channel of the link of output `o` that this end is drained or awake.
    pub(super) fn say_ready(&mut self, channels: &mut dyn Channels, o: usize) {
        let at = channels.now() + channels.credit_latency(o);
        let message = Message { kind: Kind::Ready, about: self.links[o].era, ..Message::default() };
        channels.signal(o, at, Wire::SideChannel, Frame { body: message.body(), ..Frame::default() });
    }

    /// Sends a message of router `r` to all other members of its subnetwork.
    pub(super) fn send_to_all(&mut self, channels: &mut dyn Channels, r: usize, message: Message) {
        for to in self.rules.nets.others(usize::from(message.net), message.from) {
            let message = Message { to, ..message };
            match self.rules.config.tables {
                Tables::Broadcast => self.send(channels, r, message),
                Tables::Delayed if self.is_mute(channels, r, message) => {}
                Tables::Delayed => {
                    self.tell(channels, r, message, Frame { body: message.body(), ..Frame::default() });
                }
            }
        }
    }

    /// Delivers the message to its receiver without a packet, after two link latencies.
    fn tell(&mut self, channels: &mut dyn Channels, r: usize, message: Message, frame: Frame) {
        let d = usize::from(message.net);
        let router = self.rules.nets.router(self.routers[r].id, d, self.member(r, d), message.to);
        channels.tell(router, self.rules.nets.classes[d], frame);
    }

    /// Handles a control packet, or a message on a side channel, that has arrived.
    pub(super) fn hear_from(&mut self, channels: &mut dyn Channels, Arrival { port, wire, frame }: Arrival) {
        let (o, message) = (port as usize, Message::of(frame.body));
        let r = self.router(o);
        if message.kind == Kind::Ready {
            if message.about != self.links[o].era {
                return; // the message is from before a fault
            }
            if self.links[o].end.peer_done().is_some() {
                self.say_ready(channels, o);
            }
            return self.follow(channels, r, o);
        }
        if wire == Wire::Link {
            self.meters.came_single(std::iter::once((o, true)));
        }
        let d = usize::from(message.net);
        if message.to != self.member(r, d) {
            self.forward(channels, r, message, frame);
        } else if !channels.is_dead(r) {
            let sender = self.rules.nets.router(self.routers[r].id, d, message.to, message.from);
            channels.note_arrival(sender, &frame);
            self.take(channels, r, message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Message};

    #[test]
    fn what_is_written_is_read() {
        for kind in Kind::ALL {
            let message = Message { kind, net: 1, from: 63, to: 0, about: 255, flag: true, value: u32::MAX };
            assert_eq!(Message::of(message.body()), message);
            let other = Message { value: 0, to: 1, ..message };
            assert_eq!(message.cmp(&other), message.body().cmp(&other.body()));
        }
    }
}
