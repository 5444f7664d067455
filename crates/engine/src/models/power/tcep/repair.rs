//! What agents do when links fail and return: they drop what was agreed, tell the others, elect another hub, and find ways
//! for the packets that waited for the link. The rules are in `faults.rs`.

use super::agent::{Agents, Site};
use super::epoch::{CUT, FIRST};
use super::message::{Kind, Message};
use crate::pipeline::block::Block;
use crate::network::faults::Part;
use crate::base::unchecked::Hot;
use crate::pipeline::net::Net;
use crate::models::power::LinkState;
use crate::state::{AROUND, ASK, Kind as Port, NO_KEY, Packet};
use crate::api::subnetworks::{Detour, Leg, Views};

/// An end of a link fails or returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    output: u32,
    breaks: bool,
    cause: Cause,
}

/// What has failed: the link, the router behind it, or the router that the output belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Cause {
    Link,
    FarRouter,
    OwnRouter,
}

/// A head that has no way: it is in VC `v` of input `i`, and wants to reach member `to` of subnetwork `d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Parked {
    i: u32,
    v: u8,
    d: u8,
    to: u8,
}

/// What the agents of a block keep where links fail.
#[derive(Debug)]
pub(crate) struct Repairs {
    /// Whether links fail anywhere.
    on: bool,
    /// Latest first.
    events: Vec<Event>,
    /// Links that have not failed, as far as each router has heard.
    pub(super) healthy: Views,
    parked: Vec<Parked>,
    /// Routers that have failed, and per output how many of its two ends have.
    pub(super) dead: Vec<bool>,
    pub(super) dead_ends: Vec<u8>,
    /// Heads that nothing can bring on: input and VC.
    pub(super) doomed: Vec<(u32, u8)>,
    /// Routers that know something new about links.
    news: Vec<u32>,
    /// Routers that have heard of a fault.
    warned: Vec<bool>,
}

impl Repairs {
    pub fn new<const W: usize, const V: usize>(block: &Block<W, V>, site: &Site) -> Self {
        let on = !site.faults.is_empty();
        let mut events = Vec::new();
        for (o, out) in block.outs.iter().enumerate().filter(|(_, out)| matches!(out.kind, Port::Local | Port::Remote))
        {
            let (from, to) = (block.routers[out.router as usize].id, block.next_router[o]);
            for fault in site.faults {
                let cause = match fault.what {
                    Part::Link([a, b]) if (from, to) == (a, b) || (from, to) == (b, a) => Cause::Link,
                    Part::Router(router) if router == to => Cause::FarRouter,
                    Part::Router(router) if router == from => Cause::OwnRouter,
                    _ => continue,
                };
                let output = o as u32;
                events.push(Event { at: fault.at, output, breaks: true, cause });
                events.extend(fault.until.map(|at| Event { at, output, breaks: false, cause }));
            }
        }
        events.sort_unstable_by(|a, b| b.cmp(a));
        let (routers, ports) = if on { (block.routers.len(), block.ins.len()) } else { (0, 0) };
        let healthy = if on { Views::new(site.nets, routers, 0) } else { Views::none() };
        Self {
            on,
            events,
            healthy,
            parked: Vec::new(),
            dead: vec![false; routers],
            dead_ends: vec![0; ports],
            doomed: Vec::new(),
            news: Vec::new(),
            warned: vec![false; routers],
        }
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        self.doomed.is_empty() && self.events.last().is_none_or(|event| event.at > now)
    }

    /// Router `r` knows something new about links.
    pub fn news(&mut self, r: usize) {
        if self.on {
            self.news.push(r as u32);
        }
    }

    /// Whether links fail anywhere in this run.
    pub fn are_due(&self) -> bool {
        self.on
    }

    /// Whether something is new that may give packets another way.
    pub fn has_news(&self) -> bool {
        !self.news.is_empty()
    }
}

impl Agents {
    // ---- faults -----------------------------------------------------------------------------------------------------

    /// Links and routers that fail or return in this cycle.
    #[cold]
    pub(super) fn break_links<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net) {
        while let Some(event) = self.repairs.events.pop_if(|event| event.at <= block.now) {
            let o = event.output as usize;
            let r = self.router(o);
            self.repairs.warned[r] = true;
            if event.cause != Cause::Link {
                let ends = &mut self.repairs.dead_ends[o];
                *ends = if event.breaks { *ends + 1 } else { *ends - 1 };
            }
            if event.cause == Cause::OwnRouter {
                self.repairs.dead[r] = event.breaks;
                // nothing that it was asked for before holds
                (self.links[o].activate, self.links[o].deactivate) = (None, None);
            }
            let member = self.is_member(r, o);
            if event.breaks {
                if member {
                    self.fail(block, net, r, o);
                    if event.cause != Cause::Link {
                        self.elect(block, net, r, self.ends(o).0); // also where the link was broken before
                    }
                }
                self.turn_away(block, net, r, |agents, block, i, v| {
                    let out = block.ins[i].base as usize + net.port(block.ins[i].keys[v]);
                    agents.repairs.dead[r] || out == o
                });
            } else if member {
                self.mend(block, net, r, o, event.cause == Cause::FarRouter);
            }
        }
    }

    /// Whether output `o` of router `r` leads to another member of a subnetwork.
    fn is_member(&self, r: usize, o: usize) -> bool {
        let port = (o - self.routers[r].base) as u8;
        self.nets.behind(port, |d| self.member(r, d)).is_some()
    }

    fn fail<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, r: usize, o: usize) {
        let link = &mut self.links[o];
        link.faults += 1;
        if link.faults > 1 {
            return;
        }
        let (d, own, c) = self.ends(o);
        let link = &mut self.links[o];
        link.era = link.era.wrapping_add(1);
        link.returns |= link.end.state == LinkState::On && !self.rules.config.deactivate;
        link.end.fail();
        let drains = link.end.state == LinkState::Draining;
        self.settle_request(r, o);
        let moved = self.routers[r].moved;
        self.follow(block, net, r, o);
        self.routers[r].moved = moved; // no transition that was chosen
        if drains {
            self.set_timer(o, block.now, block.now + 1);
        }
        self.repairs.healthy.set(&self.nets, r, d, (own, c), false);
        self.spread(block, net, r, Kind::Fault, (d, own, c), true);
        self.elect(block, net, r, d);
    }

    /// The link is whole again, and off as soon as it is drained. `again`: so is the router behind it.
    fn mend<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        o: usize,
        again: bool,
    ) {
        let (d, own, c) = self.ends(o);
        self.links[o].faults -= 1;
        if !self.links[o].is_broken() {
            self.repairs.healthy.set(&self.nets, r, d, (own, c), true);
            self.spread(block, net, r, Kind::Fault, (d, own, c), false);
        }
        if again && self.repairs.dead_ends[o] == 0 {
            self.tell_what_is(block, net, r, (d, own, c));
        }
        self.elect(block, net, r, d);
        let wanted = self.is_root(block, o) || self.links[o].returns;
        if wanted && self.is_off(o) && self.routers[r].activating.is_none() {
            self.ask(block, net, r, o, FIRST);
        }
    }

    /// Router `r` hears that a link has failed, or returned.
    pub(super) fn hear_of_fault<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        m: Message,
    ) {
        let (d, link) = (usize::from(m.net), (m.from, m.about));
        let known = self.stamps[r * self.nets.pairs() + self.nets.pair(d, m.from, m.about)];
        if !self.is_news(r, m) {
            return;
        }
        self.repairs.warned[r] = true;
        self.repairs.healthy.set(&self.nets, r, d, link, !m.flag);
        // one that returns is off as before, unless what was said behind it in that cycle has come first
        if m.flag || m.value != known {
            block.views.set(&self.nets, r, d, link, false);
        }
        self.elect(block, net, r, d);
    }

    // ---- hub --------------------------------------------------------------------------------------------------------

    /// Members of subnetwork `d` whose routers have failed: each other member sees that at its own link.
    pub(super) fn dead_members(&self, r: usize, d: usize) -> u64 {
        if self.repairs.dead[r] {
            return 0; // it sees nothing
        }
        let dead = self.outputs(r, d).filter(|&o| self.repairs.dead_ends[o] > 0);
        dead.fold(0, |mask, o| mask | 1 << self.ends(o).2)
    }

    /// Links of member `c` to routers that have not failed that are broken as far as router `r` knows.
    fn missing(&self, r: usize, d: usize, c: u8) -> u32 {
        let dead = self.dead_members(r, d);
        if dead >> c & 1 != 0 {
            return u32::MAX;
        }
        let whole = self.repairs.healthy.of(r).row(&self.nets, d, c);
        (self.nets.all(d) & !(1 << c) & !dead & !whole).count_ones()
    }

    /// Whether nothing keeps the star of subnetwork `d` from being whole, so that links outside it may go off.
    pub(super) fn has_whole_hub<const W: usize, const V: usize>(
        &self,
        block: &Block<W, V>,
        r: usize,
        d: usize,
    ) -> bool {
        !self.repairs.on || self.missing(r, d, block.views.of(r).hub(d)) == 0
    }

    /// The next hub, where the present one has more broken links: the lowest member of those with the fewest.
    pub(super) fn elect<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        d: usize,
    ) {
        if !self.repairs.on {
            return;
        }
        let hub = block.views.of(r).hub(d);
        let best = (0..self.nets.widths[d]).min_by_key(|&c| (self.missing(r, d, c), c)).unwrap_or(hub);
        let next = (self.missing(r, d, best) < self.missing(r, d, hub)).then_some(best);
        self.routers[r].next_hub[d] = next;
        block.views.set_hub(r, d, hub, next.unwrap_or(hub));
        self.repairs.news(r);
        if let Some(next) = next {
            self.keep_star(block, net, r, d, next);
        }
    }

    /// At the end of an epoch: the star of a next hub grows, and when it is whole, so is the hub.
    pub(super) fn succeed<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, r: usize) {
        if !self.repairs.on {
            return;
        }
        for k in 0..self.managed.len() {
            let d = self.managed[k];
            if let Some(next) = self.routers[r].next_hub[d] {
                self.keep_star(block, net, r, d, next);
                self.crown(block, net, r, d);
            }
        }
    }

    // ---- packets without a way --------------------------------------------------------------------------------------

    /// Heads of router `r` that ask for an output, and of which `turns` is true, look for another way.
    fn turn_away<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
        turns: impl Fn(&Self, &Block<W, V>, usize, usize) -> bool,
    ) {
        let base = block.routers[r].base as usize;
        let end = block.routers.get(r + 1).map_or(block.ins.len(), |next| next.base as usize);
        for i in base..end {
            for v in 0..V {
                let key = block.ins[i].keys[v];
                if key != NO_KEY && key != ASK && turns(self, block, i, v) {
                    block.ins[i].keys[v] = ASK;
                    block.withdraw(net, r, i, key);
                    self.forget(block, net, i, v);
                    self.find_way(block, net, i, v);
                }
            }
        }
    }

    /// Where something is new heads without a way look again, and so do those that go on from one intermediate to another:
    /// where faults have met them they may wait for each other.
    #[cold]
    pub(super) fn look_again<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net) {
        let mut routers = std::mem::take(&mut self.repairs.news);
        routers.sort_unstable();
        routers.dedup();
        let hears = |p: &mut Parked| routers.binary_search(&block.ins[p.i as usize].router).is_ok();
        let parked: Vec<Parked> = self.repairs.parked.extract_if(.., hears).collect();
        for Parked { i, v, .. } in parked {
            self.find_way(block, net, i as usize, usize::from(v));
        }
        for r in routers.drain(..).map(|r| r as usize) {
            if self.repairs.warned[r] {
                self.turn_away(block, net, r, |agents, block, i, v| agents.goes_on(block, net, r, i, v));
            }
        }
    }

    /// Whether a head has come from a member of a subnetwork, and shall go to another one that is not the last.
    fn goes_on<const W: usize, const V: usize>(
        &self,
        block: &Block<W, V>,
        net: &Net,
        r: usize,
        i: usize,
        v: usize,
    ) -> bool {
        let port = &block.ins[i];
        let (p, class) = crate::pipeline::arrive::split(port.keys[v], net.class_bits);
        let subnet = |port: u8| self.nets.behind(port, |d| self.member(r, d)).map(|(d, _)| d);
        // of the two classes of a leg the second one goes to its end
        class.is_multiple_of(2) && subnet(p as u8).is_some() && subnet(port.port) == subnet(p as u8)
    }

    /// The head of VC `v` of input `i`, which asks for nothing, looks for a way.
    fn find_way<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, i: usize, v: usize) {
        let (r, head) = (block.ins[i].router as usize, block.ins[i].head[v] as usize);
        let id = block.segments.items[head].packet;
        if self.is_lost(net, r, &block.packets.items[id as usize]) {
            self.repairs.doomed.push((i as u32, v as u8));
            return;
        }
        let packet = &mut block.packets.items[id as usize];
        let was_around = packet.flags & AROUND != 0;
        let leg = leg_of(net, net.coords[block.routers[r].id as usize], packet);
        let came = self.nets.behind(block.ins[i].port, |d| self.member(r, d));
        let begins = came.is_none_or(|(d, _)| d != leg.d);
        if begins {
            packet.dim = 0; // at the first router of a leg all ways are open
        }
        let key = block.route_here(net, r, id);
        block.segments.items[head].key = key;
        if !block.leads_on(net, r, key) {
            return self.park(block, net, i, v, id);
        }
        if begins {
            self.hear_of_way(block, net, (r, id), leg, (key, was_around));
        }
        block.ins[i].keys[v] = key;
        let (p, class) = crate::pipeline::arrive::split(key, net.class_bits);
        if net.single {
            block.ask::<true>(net, i, p, class);
        } else {
            block.ask::<false>(net, i, p, class);
        }
    }

    /// A head that begins its leg has found a way at last. `was_around`: it was counted as one that goes round before.
    fn hear_of_way<const W: usize, const V: usize>(
        &mut self,
        block: &Block<W, V>,
        net: &Net,
        (r, packet): (usize, u32),
        leg: Leg,
        (key, was_around): (u16, bool),
    ) {
        let packet = &block.packets.items[packet as usize];
        let direct = self.output(r, leg.d, leg.to);
        let state = block.outs[direct].state;
        if packet.flags & AROUND == 0 {
            if LinkState::of(state) == LinkState::Shadow {
                self.want_back(direct);
            }
        } else if !was_around {
            let detour = Detour { leg, begins: true, port: net.port(key) as u8, direct: (direct - self.routers[r].base) as u8 };
            self.goes_around(block.now, r, detour, packet.len, (direct, state));
        }
    }

    fn park<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        i: usize,
        v: usize,
        packet: u32,
    ) {
        block.ins[i].keys[v] = ASK;
        self.forget(block, net, i, v);
        let at = net.coords[block.routers[block.ins[i].router as usize].id as usize];
        let leg = leg_of(net, at, &block.packets.items[packet as usize]);
        self.repairs.parked.push(Parked { i: i as u32, v: v as u8, d: leg.d as u8, to: leg.to });
    }

    /// The head of VC `v` of input `i` does not take the output that it chose, where it was counted if it goes round.
    fn forget<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, i: usize, v: usize) {
        let segment = &block.segments.items[block.ins[i].head[v] as usize];
        let around = block.packets.items[segment.packet as usize].flags & AROUND != 0;
        let o = block.ins[i].base as usize + net.port(segment.key);
        if let Some(meters) = &mut block.meters
            && net.single
            && around
            && self.is_member(self.router(o), o)
        {
            let left = meters.not_around(o);
            let link = &mut self.links[o];
            for begun in [&mut link.short.sent_around, &mut link.long.sent_around] {
                // it was counted before this epoch
                if *begun == left.wrapping_add(1) {
                    *begun = left;
                }
            }
        }
    }

    fn parked<const W: usize, const V: usize>(
        &self,
        block: &Block<W, V>,
        r: usize,
        d: usize,
    ) -> impl Iterator<Item = u8> {
        let here = move |p: &&Parked| usize::from(p.d) == d && block.ins[p.i as usize].router as usize == r;
        self.repairs.parked.iter().filter(here).map(|p| p.to)
    }

    /// The member over which packets of router `r` without a way can reach `to`: itself, or the lowest one with whole links.
    fn over(&self, r: usize, d: usize, to: u8) -> Option<u8> {
        let (view, own) = (self.repairs.healthy.of(r), self.member(r, d));
        if view.row(&self.nets, d, own) >> to & 1 != 0 {
            return Some(to);
        }
        let between = view.between(&self.nets, d, own, to) & !self.dead_members(r, d);
        (between != 0).then(|| between.trailing_zeros() as u8)
    }

    /// Members that packets of router `r` without a way need a link to.
    pub(super) fn cut_off<const W: usize, const V: usize>(&self, block: &Block<W, V>, r: usize, d: usize) -> u64 {
        self.parked(block, r, d).filter_map(|to| self.over(r, d, to)).fold(0, |mask, c| mask | 1 << c)
    }

    /// Where the way of a packet would go over another member whose link on to the target is off: that member shall have it.
    pub(super) fn ask_for_a_way<const W: usize, const V: usize>(
        &mut self,
        block: &mut Block<W, V>,
        net: &Net,
        r: usize,
    ) -> bool {
        for k in 0..self.managed.len() {
            let d = self.managed[k];
            let view = block.views.of(r);
            let misses = |&(to, x): &(u8, u8)| to != x && view.row(&self.nets, d, x) >> to & 1 == 0;
            let ways = self.parked(block, r, d).filter_map(|to| Some((to, self.over(r, d, to)?)));
            let Some((about, x)) = ways.filter(misses).min() else { continue };
            let o = self.output(r, d, x);
            if self.links[o].end.state == LinkState::On {
                self.say(block, net, o, Message { kind: Kind::ActivateYours, about, value: CUT, ..Message::default() });
                return true;
            }
        }
        false
    }

    /// The next member for a control packet to `to` that no two active links lead to: `to` itself, or the lowest member with whole
    /// links to both.
    pub(super) fn spare_way(&self, r: usize, d: usize, to: u8) -> Option<u8> {
        if self.repairs.on { self.over(r, d, to) } else { None }
    }
}

/// The leg of a packet that waits for a link of a subnetwork.
fn leg_of(net: &Net, at: u64, packet: &Packet) -> Leg {
    let Ok(leg) = net.routing.aim(at, packet, net.seed) else { unreachable!("only links of subnetworks are gone round") };
    leg
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// Whether the output of a route key carries packets, or will.
    pub(crate) fn leads_on(&self, net: &Net, r: usize, key: u16) -> bool {
        let out = self.outs.hot(self.routers.hot(r).base as usize + net.port(key));
        matches!(LinkState::of(out.state), LinkState::On | LinkState::Shadow)
    }

    /// The head of VC `v` of input `i` has no way: it waits until its router hears something new.
    #[cold]
    pub(crate) fn park(&mut self, net: &Net, i: usize, v: usize, packet: u32) {
        let mut agents = self.agents.take().expect("links fail under agents");
        agents.park(self, net, i, v, packet);
        self.agents = Some(agents);
    }
}
