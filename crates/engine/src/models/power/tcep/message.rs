//! Control packets: single flits that go directly, over the hub, or where both ways are cut over any member that has links to
//! both ends, ahead of all data flits that wait for the same link.

use super::Tables;
use super::agent::Agents;
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::Kind as Port;

/// What a control packet says. Eight kinds fit into the paper's three bits; the others only go out where hubs move
/// or links fail.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// Activate the link between us.
    #[default]
    Activate,
    /// Activate your link to member `about`.
    ActivateYours,
    /// Deactivate the link between us.
    Deactivate,
    Ack,
    Nack,
    /// I can't do any more what you have agreed to.
    Withdraw,
    /// The shadow link between us is active again.
    Reactivate,
    /// My link to member `about` is active, or not.
    State,
    /// I am the hub.
    Hub,
    /// My link to member `about` has failed, or returned.
    Fault,
    /// My end of the link between us is drained, or awake: said on the side channel, not in a packet.
    Ready,
}

impl Kind {
    /// Kinds of packets.
    pub const COUNT: usize = 10;
    /// Their names in results.
    pub const NAMES: [&str; Self::COUNT] =
        ["activate", "activate_yours", "deactivate", "ack", "nack", "withdraw", "reactivate", "state", "hub", "fault"];

    /// Whether the ends of a link say it to each other about that link.
    pub(super) fn is_handshake(self) -> bool {
        use Kind::{Ack, Activate, Deactivate, Nack, Reactivate, Withdraw};
        matches!(self, Activate | Deactivate | Ack | Nack | Withdraw | Reactivate)
    }
}

/// A control packet of subnetwork `net`, from a member to a member.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Message {
    pub kind: Kind,
    pub net: u8,
    pub from: u8,
    pub to: u8,
    /// A member; of what the ends of a link say to each other: how often it has failed before.
    pub about: u8,
    /// `State`: active. `Fault`: broken. `Ack`, `Nack`: the request was `ActivateYours`.
    pub flag: bool,
    /// `Activate`, `ActivateYours`: virtual utilisation \[flits\], or a rank above all of it (`epoch::FIRST`, `CUT`).
    /// `Deactivate`: minimal traffic \[flits\]. `State`, `Hub`, `Fault`: the cycle, for order.
    pub value: u32,
    /// Links that it has crossed.
    pub hops: u8,
    /// Its place in the log of its sender's block, where it is recorded.
    pub note: Option<u32>,
}

/// Control packets over the window.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ControlCount {
    /// Packets sent, by [`Kind`].
    pub packets: [u64; Kind::COUNT],
    /// Links that they crossed: as many flits of the channels' counts.
    pub flit_hops: u64,
}

/// A control packet that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct ControlPacket {
    pub cycle: u64,
    /// Routers.
    pub from: u32,
    pub to: u32,
    pub kind: Kind,
    /// The router at the far end of the link that it is about; `None`: the link between the two.
    pub about: Option<u32>,
    /// By what requests are compared, as in [`Message`]; `None`: it asks for nothing.
    pub value: Option<u32>,
    /// `State`: active. `Fault`: broken. `Ack`, `Nack`: of an `ActivateYours`.
    pub flag: bool,
    /// Of the links of its subnetwork.
    pub class: u8,
    /// When it came, and links that it crossed; `None`: it was under way when the run ended, or its receiver had failed.
    pub arrival: Option<(u64, u8)>,
}

impl ControlCount {
    pub(crate) fn add(&mut self, other: &Self) {
        self.packets.iter_mut().zip(other.packets).for_each(|(sum, n)| *sum += n);
        self.flit_hops += other.flit_hops;
    }
}

/// A message that has come to input `port` of its block; or to its router, where there was no wire.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Arrival {
    pub port: u32,
    pub wireless: bool,
    pub message: Message,
}

/// Between two tries to send a control packet that no link leads on.
const RETRY: u64 = 64;

impl Agents {
    /// A router sends a packet of its own. One that has failed says nothing, and nothing is said to one.
    pub(super) fn send<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        message: Message,
    ) {
        if self.is_mute(r, message) {
            return;
        }
        self.counts.packets[message.kind as usize] += 1;
        let note = self.note(block.now, r, message);
        self.forward(block, net, r, Message { note, ..message });
    }

    fn note(&mut self, cycle: u64, r: usize, m: Message) -> Option<u32> {
        let log = self.log.as_mut()?;
        let (d, from) = (usize::from(m.net), self.routers[r].id);
        let router = |c: u8| self.nets.router(from, d, m.from, c);
        let about = matches!(m.kind, Kind::ActivateYours | Kind::State | Kind::Fault).then(|| router(m.about));
        let is_request = matches!(m.kind, Kind::Activate | Kind::ActivateYours | Kind::Deactivate);
        let (to, class) = (router(m.to), self.nets.classes[d]);
        let value = is_request.then_some(m.value);
        log.leaves(ControlPacket { cycle, from, to, kind: m.kind, about, value, flag: m.flag, class, arrival: None })
    }

    /// A packet has come to router `r`, to which it was sent.
    fn note_arrival(&mut self, now: u64, r: usize, m: Message) {
        if let (Some(log), Some(place)) = (&mut self.log, m.note) {
            let sender = self.nets.router(self.routers[r].id, usize::from(m.net), m.to, m.from);
            log.comes(self.places[sender as usize].0, place, now, m.hops);
        }
    }

    /// The packet leaves router `r` for the next one.
    fn forward<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        message: Message,
    ) {
        if self.repairs.is_dead(r) {
            return self.tell(block, net, r, message); // it was under way when the router failed
        }
        if self.is_mute(r, message) {
            return;
        }
        let Some(o) = self.way(block, r, message) else {
            // cut off for the moment: no wire leads on
            if let Some(o) = self.side_channel(r, message) {
                let at = block.now + net.links[usize::from(block.outs[o].class)].credit_latency;
                // one a cycle, so that they keep their order
                let at = at.max(self.links[o].side_free);
                self.links[o].side_free = at + 1;
                return self.post(block, o, at, true, message);
            }
            let port = block.routers[r].base;
            let arrival = Arrival { port, wireless: true, message };
            return self.messages.push(block.now, block.now + RETRY, arrival);
        };
        let (out, link) = (&mut block.outs[o], &mut self.links[o]);
        let depart = (block.now + net.after_grant).max(link.next_control);
        if depart > block.now + net.after_grant + self.queue {
            let arrival = Arrival { port: block.routers[r].base, wireless: true, message };
            return self.messages.push(block.now, block.now + RETRY, arrival);
        }
        link.next_control = depart + 1;
        // it goes ahead of the flits that wait for the link; the next one that is granted goes a cycle later
        out.next_free = depart as u32 + (out.next_free.wrapping_sub(depart as u32) as i32).max(0) as u32 + 1;
        out.flits += 1;
        if let Some(meters) = &mut block.meters {
            meters.sent_one_around(o);
        }
        self.counts.flit_hops += 1;
        let at = depart + net.links[usize::from(out.class)].latency;
        self.post(block, o, at, false, Message { hops: message.hops.saturating_add(1), ..message });
    }

    /// The output toward the packet's member: over an active link, else over the hub, else over whoever has links to both, be
    /// the second one only whole.
    fn way<const W: usize, const V: usize>(&self, block: &Block<W, V>, r: usize, message: Message) -> Option<usize> {
        let d = usize::from(message.net);
        let own = self.member(r, d);
        let view = block.views.of(r);
        let active = view.row(&self.nets, d, own);
        let hub = view.hub(d);
        let between = view.between(&self.nets, d, own, message.to);
        let next = if active >> message.to & 1 != 0 {
            message.to
        } else if between >> hub & 1 != 0 {
            hub
        } else if between != 0 {
            between.trailing_zeros() as u8
        } else {
            self.spare_way(r, d, message.to).filter(|&next| active >> next & 1 != 0)?
        };
        Some(self.output(r, d, next))
    }

    /// The output whose side channel takes a packet that no wire leads on for.
    fn side_channel(&self, r: usize, message: Message) -> Option<usize> {
        let d = usize::from(message.net);
        self.spare_way(r, d, message.to).map(|next| self.output(r, d, next))
    }

    /// An end says on the side channel of the link that it is drained or awake.
    pub(super) fn say_ready<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, o: usize) {
        let at = block.now + net.links[usize::from(block.outs[o].class)].credit_latency;
        let message = Message { kind: Kind::Ready, about: self.links[o].era, ..Message::default() };
        self.post(block, o, at, false, message);
    }

    /// The message comes to the far end of output `o` at cycle `at`.
    fn post<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        o: usize,
        at: u64,
        wireless: bool,
        message: Message,
    ) {
        let out = &block.outs[o];
        if out.kind == Port::Remote {
            let cut = block.cuts[out.peer as usize];
            let arrival = Arrival { port: cut.port, wireless, message };
            block.outbox[cut.block as usize].messages.push((at, arrival));
        } else {
            self.messages.push(block.now, at, Arrival { port: out.peer, wireless, message });
        }
    }

    /// Sends a packet of router `r` to all other members of its subnetwork.
    pub(super) fn send_to_all<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        message: Message,
    ) {
        for to in self.nets.others(usize::from(message.net), message.from) {
            match self.rules.config.tables {
                Tables::Broadcast => self.send(block, net, r, Message { to, ..message }),
                Tables::Delayed if self.is_mute(r, Message { to, ..message }) => {}
                Tables::Delayed => self.tell(block, net, r, Message { to, ..message }),
            }
        }
    }

    /// The message comes to another router without a packet, two link latencies later.
    pub(super) fn tell<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        message: Message,
    ) {
        let d = usize::from(message.net);
        let router = self.nets.router(block.routers[r].id, d, self.member(r, d), message.to);
        let (number, port) = self.places[router as usize];
        let latency = net.links[usize::from(self.nets.classes[d])].latency;
        let at = block.now + (2 * latency).max(latency + net.after_grant);
        let arrival = Arrival { port, wireless: true, message };
        if number == self.block {
            self.messages.push(block.now, at, arrival);
        } else {
            block.outbox[number as usize].messages.push((at, arrival));
        }
    }

    /// A message comes from another block.
    pub fn post_in(&mut self, now: u64, at: u64, arrival: Arrival) {
        self.messages.push(now, at, arrival);
    }

    /// What has come in this cycle, in an order that does not depend on the blocks.
    pub(super) fn receive<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net) {
        let mut due = std::mem::take(&mut self.due);
        while let Some((chunk, len)) = self.messages.due(block.now) {
            due.extend((0..len).map(|k| self.messages.item(chunk, k)));
            self.messages.release(block.now);
        }
        due.sort_unstable();
        for &Arrival { port, wireless, message } in &due {
            let o = port as usize;
            let r = block.ins[o].router as usize;
            if message.kind == Kind::Ready {
                if message.about != self.links[o].era {
                    continue; // from before a fault
                }
                if self.links[o].end.peer_done().is_some() {
                    self.say_ready(block, net, o);
                }
                self.follow(block, net, r, o);
                continue;
            }
            if !wireless && let Some(meters) = &mut block.meters {
                meters.came_one(o, true);
            }
            let own = self.member(r, usize::from(message.net));
            if message.to == own && self.repairs.is_dead(r) {
                continue; // nobody is there
            }
            if message.to == own {
                self.note_arrival(block.now, r, message);
                self.take(block, net, r, message);
            } else {
                self.forward(block, net, r, message);
            }
        }
        due.clear();
        self.due = due;
    }
}
