//! The agents of the routers of a block: what each knows of its links, and what it does when a message comes, or when a
//! link has drained or is awake. What it does at the end of an epoch is in `epoch.rs`; `duties.rs` hands on what the
//! engine tells.

use super::Rules;
use super::link::{End, Say, Want};
use super::message::{Kind, Message};
use super::meters::Meters;
use crate::api::agents::{BlockSite, ChannelSite, Channels, RouterSite};
use crate::api::subnetworks::{Subnets, Views};
use crate::state::LinkState;
use std::sync::Arc;

/// Cycles between two tests whether a link is drained.
const DRAIN_LOOK: u64 = 4;

/// A request that waits for the end of the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Flits that would take the link.
    pub value: u32,
    /// The request is about the receiver's link to this member; `None` if it is about the link between sender and
    /// receiver.
    pub yours: Option<u8>,
}

/// Counters of a link at the beginning of an epoch, or what they have gained since.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Counts {
    pub sent: u32,
    pub sent_around: u32,
    pub came: u32,
    pub came_around: u32,
}

/// An agent's end of a link.
#[derive(Debug, Clone)]
pub(super) struct LinkAgent {
    pub end: End,
    /// Number of faults that keep it broken, and how often it has broken. Messages from before a fault are void.
    pub faults: u8,
    /// It was on when it broke, and links are never switched off: it is to be on again.
    pub returns: bool,
    pub era: u8,
    /// First cycle in which its side channel can deliver another packet.
    pub side_free: u64,
    /// Flits that took a detour because the link was not active (its virtual utilisation), and all flits that took a
    /// detour.
    pub virtually: u32,
    pub around: u32,
    /// Counters at the end of the last activation epoch and of the last deactivation epoch.
    pub short: Counts,
    pub long: Counts,
    pub activate: Option<Request>,
    pub deactivate: Option<Request>,
    /// When it stops being a shadow link.
    pub expires: u64,
    /// Router of the block.
    router: u32,
}

impl LinkAgent {
    pub fn is_broken(&self) -> bool {
        self.faults > 0
    }
}

/// A packet took a detour over a link above the high-water mark: a reason to ask for another path to that member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Crowded {
    pub at: u64,
    pub net: u8,
    pub to: u8,
}

/// The agent of a router.
#[derive(Debug, Clone, Default)]
pub(super) struct RouterAgent {
    /// Activation epochs that have ended.
    pub epochs: u64,
    /// A physical transition (waking, going off) has begun in this epoch.
    pub moved: bool,
    /// Own requests that have no answer yet: to activate (output and value), and to deactivate (output).
    pub activating: Option<(usize, u32)>,
    pub deactivating: Option<usize>,
    /// Output of the own request to activate that was refused last, if links fail in this run.
    pub refused: Option<usize>,
    /// Output of the link that was activated last, per subnetwork.
    pub latest: [Option<usize>; 8],
    /// The member that is to become the hub, per subnetwork.
    pub next_hub: [Option<u8>; 8],
    /// When the present hub announced itself, and which member it is.
    pub crowned: [(u32, u8); 8],
    pub crowded: Option<Crowded>,
    /// Number in the whole network, coordinates, and first output.
    pub id: u32,
    coords: u64,
    pub base: usize,
}

/// All agents of a block.
#[derive(Debug)]
pub(super) struct Team {
    pub rules: Arc<Rules>,
    pub nets: Subnets,
    /// Subnetworks whose links are managed.
    pub managed: Vec<usize>,
    /// One per port of the routers.
    pub links: Vec<LinkAgent>,
    pub routers: Vec<RouterAgent>,
    pub meters: Meters,
    /// Members behind outputs above the high-water mark in the last epoch, per router and subnetwork.
    pub hot: Vec<u64>,
    /// For each router and pair of members, when the newest message about their link was sent.
    pub stamps: Vec<u32>,
    /// Links or routers fail in this run.
    pub faults: bool,
    /// Links that have not failed, as far as each router has heard; empty if none fail in this run.
    pub healthy: Views,
    /// All packets have one flit.
    pub single: bool,
}

impl Team {
    pub fn new(rules: Arc<Rules>, site: &BlockSite) -> Self {
        let (ports, routers, nets) = (site.channels.len(), site.routers.len(), rules.nets.clone());
        let link = |channel: &ChannelSite| LinkAgent {
            end: End::new(channel.state),
            faults: 0,
            returns: false,
            era: 0,
            side_free: 0,
            virtually: 0,
            around: 0,
            short: Counts::default(),
            long: Counts::default(),
            activate: None,
            deactivate: None,
            expires: 0,
            router: channel.router,
        };
        let router = |r: &RouterSite| RouterAgent {
            id: r.id,
            coords: r.coords,
            base: r.base as usize,
            ..RouterAgent::default()
        };
        Self {
            links: site.channels.iter().map(link).collect(),
            routers: site.routers.iter().map(router).collect(),
            meters: Meters::new(ports),
            hot: vec![0; routers * nets.count],
            stamps: vec![0; routers * nets.pairs()],
            faults: site.faults,
            healthy: if site.faults { Views::new(&nets, routers, 0) } else { Views::none() },
            managed: rules.managed.clone(),
            single: site.single,
            nets,
            rules,
        }
    }

    /// Coordinate of router `r` of the block in subnetwork `d`.
    pub(super) fn member(&self, r: usize, d: usize) -> u8 {
        self.nets.member(self.routers[r].coords, d)
    }

    /// Output of router `r` to member `c`.
    pub(super) fn output(&self, r: usize, d: usize, c: u8) -> usize {
        self.routers[r].base + usize::from(self.nets.port_to(d, self.member(r, d), c))
    }

    /// The router that output `o` belongs to.
    pub(super) fn router(&self, o: usize) -> usize {
        self.links[o].router as usize
    }

    /// Subnetwork of output `o`, this router's member number and that behind the output.
    pub(super) fn ends(&self, o: usize) -> (usize, u8, u8) {
        let r = self.router(o);
        let port = (o - self.routers[r].base) as u8;
        let (d, c) = self.nets.behind(port, |d| self.member(r, d)).expect("a port to a member");
        (d, self.member(r, d), c)
    }

    /// A link that wakes or drains may have finished.
    pub(super) fn look(&mut self, channels: &mut dyn Channels, o: usize) {
        let end = &mut self.links[o].end;
        match end.state {
            LinkState::Waking if !end.ready => {}
            LinkState::Draining if !end.ready => {
                let unused = channels.free_for(o) >= 0 && !channels.is_wanted(o) && !channels.is_held(o);
                // what a broken link has brought may wait behind it for this very link; its credits come when it goes on
                if !(unused && (end.is_alone() || channels.credits_are_home(o))) {
                    return channels.set_timer(o, channels.now() + DRAIN_LOOK);
                }
            }
            _ => return, // withdrawn meanwhile
        }
        end.done();
        self.say_ready(channels, o);
        self.follow(channels, self.router(o), o);
    }

    // ---- messages ---------------------------------------------------------------------------------------------------

    /// A packet has come to its router.
    pub(super) fn take(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        m: Message,
    ) {
        let d = usize::from(m.net);
        let o = self.output(r, d, m.from);
        if m.kind.is_handshake() && m.about != self.links[o].era {
            return; // from before a fault
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

    /// The request over output `o` is answered. That also settles what the answerer had asked for before.
    pub(super) fn settle_request(&mut self, r: usize, o: usize) {
        let link = &mut self.links[o];
        (link.activate, link.deactivate) = (link.activate.filter(|ask| ask.yours.is_some()), None);
        let agent = &mut self.routers[r];
        agent.activating = agent.activating.filter(|&(asked, _)| asked != o);
        agent.deactivating = agent.deactivating.filter(|&asked| asked != o);
    }

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

    /// Sends a message to the far end of the link of output `o`.
    pub(super) fn answer(
        &mut self,
        channels: &mut dyn Channels,
        o: usize,
        say: Say,
        flag: bool,
    ) {
        let kind = match say {
            Say::Ack => Kind::Ack,
            Say::Nack => Kind::Nack,
            Say::Withdraw => Kind::Withdraw,
            Say::Reactivate => Kind::Reactivate,
            Say::Ready => return self.say_ready(channels, o),
        };
        self.say(channels, o, Message { kind, flag, ..Message::default() });
    }

    /// Sends a packet to the member behind output `o`.
    pub(super) fn say(
        &mut self,
        channels: &mut dyn Channels,
        o: usize,
        message: Message,
    ) {
        let (d, own, c) = self.ends(o);
        let r = self.router(o);
        let about = if message.kind.is_handshake() { self.links[o].era } else { message.about };
        self.send(channels, r, Message { net: d as u8, from: own, to: c, about, ..message });
    }

    /// Router `r` hears about a link.
    fn hear(&mut self, channels: &mut dyn Channels, r: usize, m: Message) {
        if self.is_news(r, m) {
            channels.views_mut().set(&self.nets, r, usize::from(m.net), (m.from, m.about), m.flag);
            channels.note_news(r);
        }
    }

    /// Whether the link that router `r` hears about is not its own, and the message is the newest about it.
    pub(super) fn is_news(&mut self, r: usize, m: Message) -> bool {
        let d = usize::from(m.net);
        let stamp = &mut self.stamps[r * self.nets.pairs() + self.nets.pair(d, m.from, m.about)];
        let news = m.about != self.nets.member(self.routers[r].coords, d) && m.value.wrapping_sub(*stamp) as i32 >= 0;
        if news {
            *stamp = m.value;
        }
        news
    }

    // ---- states -----------------------------------------------------------------------------------------------------

    /// The channel of output `o` follows the state of its end of the link.
    pub(super) fn follow(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        o: usize,
    ) {
        let (now, state, before) = (channels.now(), self.links[o].end.state, channels.state(o));
        if state == before {
            return;
        }
        channels.enter(o, state);
        match state {
            LinkState::On if before == LinkState::Waking => channels.open(o),
            LinkState::On => {}
            LinkState::Shadow => self.links[o].expires = self.epoch_of(now) + self.rules.shadow,
            LinkState::Draining => {
                self.routers[r].moved = true;
                channels.set_timer(o, now + 1);
            }
            LinkState::Off => channels.close(o),
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
        // from now on packets may use it, or may not
        if (state == LinkState::On) != (before == LinkState::On) {
            let active = state == LinkState::On;
            channels.views_mut().set(&self.nets, r, d, (own, c), active);
            channels.note_news(r);
            // both ends tell of a fault
            if own < c && !self.links[o].is_broken() {
                self.spread(channels, r, Kind::State, (d, own, c), active);
            }
        }
    }

    /// When the time of a shadow link begins: with the epoch, so that both ends let it go together; or at once, if each
    /// router has epochs of its own.
    fn epoch_of(&self, now: u64) -> u64 {
        match self.rules.config.phase {
            super::Phase::Together => now / self.rules.epoch * self.rules.epoch,
            super::Phase::Random => now,
        }
    }

    /// Tells all other members whether the link to member `about` is active (`State`) or broken (`Fault`).
    pub(super) fn spread(
        &mut self,
        channels: &mut dyn Channels,
        r: usize,
        kind: Kind,
        (d, own, about): (usize, u8, u8),
        flag: bool,
    ) {
        let value = channels.now() as u32;
        self.send_to_all(channels, r,
            Message { kind, net: d as u8, from: own, about, flag, value, ..Message::default() },
        );
    }

    /// Outputs of router `r` to members of managed subnetworks.
    pub(super) fn outputs(&self, r: usize, d: usize) -> std::ops::Range<usize> {
        let first = self.output(r, d, u8::from(self.member(r, d) == 0));
        first..first + usize::from(self.nets.widths[d]) - 1
    }

    /// Whether a link of router `r` is a shadow link.
    pub(super) fn has_shadow(&self, r: usize) -> bool {
        let is_shadow = |o: usize| self.links[o].end.state == LinkState::Shadow;
        self.managed.iter().any(|&d| self.outputs(r, d).any(is_shadow))
    }

    /// Whether the link of output `o` belongs to the star of its subnetwork, or to the next one.
    pub(super) fn is_root(&self, channels: &dyn Channels, o: usize) -> bool {
        let (d, own, c) = self.ends(o);
        let r = self.router(o);
        let hub = channels.views().of(r).hub(d);
        let next = self.routers[r].next_hub[d].unwrap_or(hub);
        [hub, next].iter().any(|&hub| hub == own || hub == c)
    }
}
