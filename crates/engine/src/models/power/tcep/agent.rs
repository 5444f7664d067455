//! The agents of the routers of a block: what each knows of its links, and what it does when a message comes, a timer ends
//! or a packet wants a shadow link back. What it does at the end of an epoch is in `epoch.rs`.

use super::Rules;
use super::link::{End, Say, Want};
use super::log::Log;
use super::message::{Arrival, ControlCount, Kind, Message};
use super::repair::Repairs;
use crate::pipeline::block::Block;
use crate::network::faults::Fault;
use crate::pipeline::net::Net;
use crate::models::power::LinkState;
use crate::api::subnetworks::Detour;
use crate::api::subnetworks::Subnets;
use crate::base::wheel::Wheel;
use std::sync::Arc;

/// Between two looks whether a link is drained.
const DRAIN_LOOK: u64 = 4;

/// A request that waits for the end of the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    /// Flits that would use the link.
    pub value: u32,
    /// Of the receiver's links that to this member is meant; `None`: the one between the two.
    pub yours: Option<u8>,
}

/// Counters of a link when its epoch began, or what they have gained since.
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
    /// Faults that keep it broken, and how often it has broken: what was said before does not hold.
    pub faults: u8,
    /// It was on when it broke, where links are never switched off: it shall be again.
    pub returns: bool,
    pub era: u8,
    /// First cycle in which another packet can come by its side channel.
    pub side_free: u64,
    /// Flits that went round because the link was not active: its virtual utilisation; and all that went round.
    pub virtually: u32,
    pub around: u32,
    /// Counters at the end of the last activation epoch and of the last deactivation epoch.
    pub short: Counts,
    pub long: Counts,
    pub activate: Option<Request>,
    pub deactivate: Option<Request>,
    /// When it stops being a shadow link.
    pub expires: u64,
    /// First cycle in which it can carry another control flit.
    pub next_control: u64,
    /// When its timer ends.
    due: u64,
    /// Router of the block.
    router: u32,
}

impl LinkAgent {
    pub fn is_broken(&self) -> bool {
        self.faults > 0
    }
}

/// A packet went round over a link above the high-water mark: a reason to want another way to that member.
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
    /// A physical transition has begun in this epoch.
    pub moved: bool,
    /// Own requests without an answer: output and value; output.
    pub activating: Option<(usize, u32)>,
    pub deactivating: Option<usize>,
    /// Output of the own request for activation that was refused last, where links fail.
    pub refused: Option<usize>,
    /// Output of the link that was activated last, per subnetwork.
    pub latest: [Option<usize>; 8],
    /// The member that is to become the hub, per subnetwork.
    pub next_hub: [Option<u8>; 8],
    /// When the hub said that it is, and which member.
    pub crowned: [(u32, u8); 8],
    pub crowded: Option<Crowded>,
    /// Number in the whole network, coordinates, and first output.
    pub id: u32,
    coords: u64,
    pub base: usize,
    due: u64,
}

/// All agents of a block.
#[derive(Debug)]
pub(crate) struct Agents {
    pub(super) rules: Arc<Rules>,
    pub(super) nets: Subnets,
    /// Subnetworks whose links are managed.
    pub(super) managed: Vec<usize>,
    /// One per port of the routers.
    pub(super) links: Vec<LinkAgent>,
    pub(super) routers: Vec<RouterAgent>,
    /// Members behind outputs above the high-water mark in the last epoch, per router and subnetwork.
    pub(super) hot: Vec<u64>,
    pub(super) messages: Wheel<Arrival, 16>,
    /// Timers of links (number of the output) and routers (behind them).
    timers: Wheel<u32, 64>,
    /// Shadow links that packets want back.
    wanted: Vec<u32>,
    /// When the newest word on a link was said, per router and pair of members.
    pub(super) stamps: Vec<u32>,
    pub counts: ControlCount,
    pub repairs: Repairs,
    /// Packets that were sent and have come, where they are recorded.
    pub log: Option<Log>,
    /// Block and first port there of every router.
    pub(super) places: Arc<[(u32, u32)]>,
    pub(super) block: u32,
    /// Control packets that wait for one link at most.
    pub(super) queue: u64,
    /// Scratch.
    pub(super) due: Vec<Arrival>,
    ended: Vec<u32>,
}

/// What agents of a block are made from.
pub(crate) struct Site<'a> {
    pub rules: Arc<Rules>,
    pub nets: &'a Subnets,
    pub managed: Vec<usize>,
    pub places: Arc<[(u32, u32)]>,
    pub block: u32,
    pub faults: &'a [Fault],
    /// Cycles that a message is on its way at most.
    pub horizon: u64,
    /// Control packets that wait for one link at most.
    pub queue: u64,
    /// Most packets to record.
    pub record: Option<usize>,
}

impl Agents {
    pub fn new<const W: usize, const V: usize>(block: &Block<W, V>, net: &Net, site: Site) -> Self {
        let (ports, routers) = (block.ins.len(), block.routers.len());
        let link = |o: usize| LinkAgent {
            end: End::new(LinkState::of(block.outs[o].state)),
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
            next_control: 0,
            due: 0,
            router: block.outs[o].router,
        };
        let router = |r: &crate::state::Router<W>| RouterAgent {
            id: r.id,
            coords: net.coords[r.id as usize],
            base: r.base as usize,
            ..RouterAgent::default()
        };
        let widest = site.nets.widths.iter().map(|&width| usize::from(width)).max().unwrap_or(1);
        let mut agents = Self {
            links: (0..ports).map(link).collect(),
            routers: block.routers.iter().map(router).collect(),
            hot: vec![0; routers * site.nets.count],
            queue: site.queue,
            ended: Vec::with_capacity(ports + routers),
            messages: Wheel::new(site.horizon, 4 * routers * widest),
            timers: Wheel::new(1024, 2 * (ports + routers)),
            wanted: Vec::with_capacity(ports),
            stamps: vec![0; routers * site.nets.pairs()],
            counts: ControlCount::default(),
            repairs: Repairs::new(block, &site),
            log: site.record.map(Log::new),
            due: Vec::with_capacity(4 * routers * widest),
            managed: site.managed,
            nets: site.nets.clone(),
            rules: site.rules,
            places: site.places,
            block: site.block,
        };
        for r in 0..routers {
            let first = match agents.rules.config.phase {
                super::Phase::Together => agents.rules.epoch,
                super::Phase::Random => {
                    1 + crate::base::hash::hash(net.seed, block.routers[r].id, 0, 0x7c) % agents.rules.epoch
                }
            };
            agents.set_timer(ports + r, 0, first);
        }
        agents
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        let idle = self.messages.is_empty_at(now) && self.timers.is_empty_at(now) && self.wanted.is_empty();
        idle && self.repairs.nothing_due(now)
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

    // ---- timers -----------------------------------------------------------------------------------------------------

    pub(super) fn set_timer(&mut self, who: usize, now: u64, at: u64) {
        match who.checked_sub(self.links.len()) {
            None => self.links[who].due = at,
            Some(r) => self.routers[r].due = at,
        }
        let at = at.clamp(now + 1, now + self.timers.horizon() - 1);
        self.timers.push(now, at, who as u32);
    }

    /// Everything that is due in this cycle.
    fn act<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net) {
        let now = block.now;
        if !self.repairs.nothing_due(now) {
            self.break_links(block, net);
        }
        self.receive(block, net);
        self.take_back(block, net);
        self.end_timers(block, net);
        if self.repairs.has_news() {
            self.look_again(block, net);
        }
    }

    /// Timers that end in this cycle: those of links, then those of routers, whatever their order in the wheel.
    fn end_timers<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net) {
        let (now, mut ended) = (block.now, std::mem::take(&mut self.ended));
        while let Some((chunk, len)) = self.timers.due(now) {
            ended.extend((0..len).map(|k| self.timers.item(chunk, k)));
            self.timers.release(now);
        }
        ended.sort_unstable();
        for who in ended.drain(..).map(|who| who as usize) {
            let router = who.checked_sub(self.links.len());
            let due = router.map_or_else(|| self.links[who].due, |r| self.routers[r].due);
            match router {
                _ if due > now => self.set_timer(who, now, due),
                None => self.look(block, net, who),
                Some(r) => {
                    self.end_epoch(block, net, r);
                    self.set_timer(who, now, now + self.rules.epoch);
                }
            }
        }
        self.ended = ended;
    }

    /// A link that wakes, or drains, may have come to its end.
    fn look<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, o: usize) {
        let end = &mut self.links[o].end;
        match end.state {
            LinkState::Waking if !end.ready => {}
            LinkState::Draining if !end.ready => {
                let out = &block.outs[o];
                let link = &net.links[usize::from(out.class)];
                // what a broken link has brought may wait behind it for this very link; its credits come when it goes on
                let home = |vc: usize| end.is_alone() || link.all >> vc & 1 == 0 || out.credits[vc] == link.buffer;
                let left = (block.now as u32).wrapping_sub(out.next_free) as i32 >= 0;
                if !(left && out.wanting == 0 && out.free == link.all && (0..V).all(home)) {
                    return self.set_timer(o, block.now, block.now + DRAIN_LOOK);
                }
            }
            _ => return, // withdrawn meanwhile
        }
        end.done();
        self.say_ready(block, net, o);
        self.follow(block, net, self.router(o), o);
    }

    // ---- messages ---------------------------------------------------------------------------------------------------

    /// A packet has come to its router.
    pub(super) fn take<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
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
                    self.answer(block, net, o, Say::Nack, older.yours.is_some());
                }
            }
            Kind::Deactivate => self.links[o].deactivate = Some(Request { value: m.value, yours: None }),
            Kind::Ack if !m.flag => self.acked(block, net, r, o),
            Kind::Nack if !m.flag => {
                if self.links[o].end.asked == Some(Want::Activate) && self.repairs.are_due() {
                    self.routers[r].refused = Some(o);
                }
                self.settle_request(r, o);
                self.links[o].end.nacked();
            }
            Kind::Withdraw => {
                self.links[o].end.withdrawn();
                self.follow(block, net, r, o);
            }
            Kind::Ack | Kind::Nack => {}
            Kind::Reactivate => {
                self.links[o].end.reactivated();
                self.follow(block, net, r, o);
            }
            Kind::State => self.hear(block, r, m),
            Kind::Hub => self.hear_of_hub(block, net, r, m),
            Kind::Fault => self.hear_of_fault(block, net, r, m),
            Kind::Ready => unreachable!("not a packet"),
        }
    }

    /// The request over output `o` has its answer, and what the answerer had asked for before is settled, too.
    pub(super) fn settle_request(&mut self, r: usize, o: usize) {
        let link = &mut self.links[o];
        (link.activate, link.deactivate) = (link.activate.filter(|ask| ask.yours.is_some()), None);
        let agent = &mut self.routers[r];
        agent.activating = agent.activating.filter(|&(asked, _)| asked != o);
        agent.deactivating = agent.deactivating.filter(|&asked| asked != o);
    }

    fn acked<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, r: usize, o: usize) {
        let can = match self.links[o].end.asked {
            Some(Want::Activate) => !self.routers[r].moved,
            Some(Want::Deactivate) => !self.has_shadow(r) && !self.is_root(block, o),
            None => true,
        };
        self.settle_request(r, o);
        match self.links[o].end.acked(can) {
            Ok(_) => self.follow(block, net, r, o),
            Err(say) => self.answer(block, net, o, say, false),
        }
    }

    /// Says something to the far end of the link of output `o`.
    pub(super) fn answer<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        o: usize,
        say: Say,
        flag: bool,
    ) {
        let kind = match say {
            Say::Ack => Kind::Ack,
            Say::Nack => Kind::Nack,
            Say::Withdraw => Kind::Withdraw,
            Say::Reactivate => Kind::Reactivate,
            Say::Ready => return self.say_ready(block, net, o),
        };
        self.say(block, net, o, Message { kind, flag, ..Message::default() });
    }

    /// Sends a packet to the member behind output `o`.
    pub(super) fn say<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        o: usize,
        message: Message,
    ) {
        let (d, own, c) = self.ends(o);
        let r = self.router(o);
        let about = if message.kind.is_handshake() { self.links[o].era } else { message.about };
        self.send(block, net, r, Message { net: d as u8, from: own, to: c, about, ..message });
    }

    /// Router `r` hears of a link.
    fn hear<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, r: usize, m: Message) {
        if self.is_news(r, m) {
            block.views.set(&self.nets, r, usize::from(m.net), (m.from, m.about), m.flag);
            self.repairs.news(r);
        }
    }

    /// Whether the link that router `r` hears of is not its own, and nothing newer was heard of it.
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
    pub(super) fn follow<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        o: usize,
    ) {
        let (now, state) = (block.now, self.links[o].end.state);
        let before = LinkState::of(block.outs[o].state);
        if state == before {
            return;
        }
        let out = &mut block.outs[o];
        block.power.change(o, out, state, now);
        match state {
            LinkState::On if before == LinkState::Waking => {
                out.free = block.power.all_vcs[o];
                out.next_free = now as u32;
            }
            LinkState::On => {}
            LinkState::Shadow => self.links[o].expires = self.epoch_of(now) + self.rules.shadow,
            LinkState::Draining => {
                self.routers[r].moved = true;
                self.set_timer(o, now, now + 1);
            }
            LinkState::Off => out.free = 0,
            LinkState::Waking => {
                self.routers[r].moved = true;
                self.set_timer(o, now, now + self.rules.wake);
            }
        }
        let (d, own, c) = self.ends(o);
        if state == LinkState::On && before == LinkState::Waking {
            self.links[o].returns = false;
            self.routers[r].latest[d] = Some(o);
        }
        // packets may use it from now on, or no longer
        if (state == LinkState::On) != (before == LinkState::On) {
            let active = state == LinkState::On;
            block.views.set(&self.nets, r, d, (own, c), active);
            self.repairs.news(r);
            // of a fault both ends tell
            if own < c && !self.links[o].is_broken() {
                self.spread(block, net, r, Kind::State, (d, own, c), active);
            }
        }
    }

    /// Where a shadow link's time begins: with the epoch, so that both ends let it go together, or at once where each router
    /// has its own.
    fn epoch_of(&self, now: u64) -> u64 {
        match self.rules.config.phase {
            super::Phase::Together => now / self.rules.epoch * self.rules.epoch,
            super::Phase::Random => now,
        }
    }

    /// Tells all other members that the link to member `about` is active (`State`) or broken (`Fault`), or not.
    pub(super) fn spread<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        kind: Kind,
        (d, own, about): (usize, u8, u8),
        flag: bool,
    ) {
        let value = block.now as u32;
        self.send_to_all(
            block,
            net,
            r,
            Message { kind, net: d as u8, from: own, about, flag, value, ..Message::default() },
        );
    }

    /// Packets have wanted shadow links back.
    fn take_back<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net) {
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.sort_unstable();
        wanted.dedup();
        for o in wanted.drain(..).map(|o| o as usize) {
            if self.links[o].end.state == LinkState::Shadow {
                let say = self.links[o].end.reactivate();
                self.follow(block, net, self.router(o), o);
                self.answer(block, net, o, say, false);
            }
        }
        self.wanted = wanted;
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
    pub(super) fn is_root<const W: usize, const V: usize>(&self, block: &Block<W, V>, o: usize) -> bool {
        let (d, own, c) = self.ends(o);
        let r = self.router(o);
        let hub = block.views.of(r).hub(d);
        let next = self.routers[r].next_hub[d].unwrap_or(hub);
        [hub, next].iter().any(|&hub| hub == own || hub == c)
    }

    // ---- packets ----------------------------------------------------------------------------------------------------

    /// A packet wants shadow link `direct` back.
    #[cold]
    pub fn want_back(&mut self, direct: usize) {
        self.wanted.push(direct as u32);
    }

    /// A packet begins its leg by a detour. `direct`: output of the direct link, and its state.
    #[inline(never)]
    pub fn goes_around(
        &mut self,
        now: u64,
        r: usize,
        Detour { leg, port, .. }: Detour,
        flits: u16,
        (direct, state): (usize, u8),
    ) {
        let link = &mut self.links[direct];
        link.around = link.around.saturating_add(u32::from(flits));
        if state != LinkState::On as u8 {
            link.virtually = link.virtually.saturating_add(u32::from(flits));
        }
        let over = self.nets.over(leg.d, leg.own, port);
        if self.hot[r * self.nets.count + leg.d] >> over & 1 != 0 {
            let crowded = Crowded { at: now, net: leg.d as u8, to: leg.to };
            let agent = &mut self.routers[r];
            // the first, whatever the order inside its cycle
            agent.crowded = Some(agent.crowded.map_or(crowded, |known| known.min(crowded)));
        }
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Messages, timers and wishes of the agents.
    #[inline(never)]
    pub(crate) fn run_agents(&mut self, net: &Net) {
        let Some(mut agents) = self.agents.take() else { return };
        agents.act(self, net);
        let doomed = !agents.repairs.doomed.is_empty();
        self.agents = Some(agents);
        if doomed {
            self.discard(net);
        }
    }
}
