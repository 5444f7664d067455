//! What agents do when links fail and return: they drop what was agreed, tell the others, elect another hub, and find ways
//! for the packets that waited for the link. The rules are in `faults.rs`.

use super::agent::{Agents, Site};
use super::epoch::{CUT, FIRST};
use super::message::{Kind, Message};
use crate::block::Block;
use crate::hot::Hot;
use crate::net::Net;
use crate::power::LinkState;
use crate::routing::AnyRouting;
use crate::state::{ASK, NO_KEY};
use crate::subnets::Views;

/// An end of a link fails or returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    at: u64,
    output: u32,
    breaks: bool,
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
    healthy: Views,
    parked: Vec<Parked>,
    /// Some router knows something new about links.
    news: bool,
}

impl Repairs {
    pub fn new<const W: usize, const V: usize>(block: &Block<W, V>, net: &Net, site: &Site) -> Self {
        let on = !site.faults.is_empty();
        let mut events = Vec::new();
        for fault in site.faults {
            let [a, b] = fault.link;
            for (from, to) in [(a, b), (b, a)] {
                let (number, base) = site.places[from as usize];
                if number != site.block {
                    continue;
                }
                let (at, far) = (net.coords[from as usize], net.coords[to as usize]);
                let ends = |d: usize| (site.nets.member(at, d), site.nets.member(far, d));
                let crosses = |&d: &usize| ends(d).0 != ends(d).1;
                let port = (0..site.nets.count).find(crosses).map(|d| site.nets.port_to(d, ends(d).0, ends(d).1));
                let output = base + u32::from(port.expect("faults are of links in subnetworks"));
                events.push(Event { at: fault.at, output, breaks: true });
                events.extend(fault.until.map(|at| Event { at, output, breaks: false }));
            }
        }
        events.sort_unstable_by(|a, b| b.cmp(a));
        let healthy = if on { Views::new(site.nets, block.routers.len(), 0) } else { Views::none() };
        Self { on, events, healthy, parked: Vec::new(), news: false }
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        self.events.last().is_none_or(|event| event.at > now)
    }

    /// A router knows something new about links.
    pub fn news(&mut self) {
        self.news = true;
    }

    /// Whether something is new that may give packets without a way one.
    pub fn waits_for_news(&mut self) -> bool {
        std::mem::take(&mut self.news) && !self.parked.is_empty()
    }
}

impl Agents {
    // ---- faults -----------------------------------------------------------------------------------------------------

    /// Links that fail or return in this cycle.
    #[cold]
    pub(super) fn break_links<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net) {
        while let Some(event) = self.repairs.events.pop_if(|event| event.at <= block.now) {
            let o = event.output as usize;
            if event.breaks {
                self.fail(block, net, o);
            } else {
                self.mend(block, net, o);
            }
        }
    }

    fn fail<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, o: usize) {
        let (r, (d, own, c)) = (self.router(o), self.ends(o));
        let link = &mut self.links[o];
        (link.broken, link.era) = (true, link.era.wrapping_add(1));
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
        self.turn_away(block, net, r, o);
    }

    /// The link is whole again, and off as soon as it is drained.
    fn mend<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, o: usize) {
        let (r, (d, own, c)) = (self.router(o), self.ends(o));
        self.links[o].broken = false;
        self.repairs.healthy.set(&self.nets, r, d, (own, c), true);
        self.spread(block, net, r, Kind::Fault, (d, own, c), false);
        self.elect(block, net, r, d);
        if self.is_root(block, o) && self.is_off(o) && self.routers[r].activating.is_none() {
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
        if !self.is_news(r, m) {
            return;
        }
        let (d, link) = (usize::from(m.net), (m.from, m.about));
        self.repairs.healthy.set(&self.nets, r, d, link, !m.flag);
        // one that returns is off as before
        block.views.set(&self.nets, r, d, link, false);
        self.elect(block, net, r, d);
    }

    // ---- hub --------------------------------------------------------------------------------------------------------

    /// Links of member `c` that are broken as far as router `r` knows.
    fn missing(&self, r: usize, d: usize, c: u8) -> u32 {
        u32::from(self.nets.widths[d]) - 1 - self.repairs.healthy.of(r).row(&self.nets, d, c).count_ones()
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
        self.repairs.news();
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

    /// Heads of router `r` that wait for output `o` look for another way.
    fn turn_away<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, r: usize, o: usize) {
        let base = block.routers[r].base as usize;
        let end = block.routers.get(r + 1).map_or(block.ins.len(), |next| next.base as usize);
        for i in base..end {
            for v in 0..V {
                let key = block.ins[i].keys[v];
                if key != NO_KEY && key != ASK && base + net.port(key) == o {
                    block.ins[i].keys[v] = ASK;
                    block.withdraw(net, r, i, key);
                    self.find_way(block, net, i, v);
                }
            }
        }
    }

    /// Heads that had no way look again.
    #[cold]
    pub(super) fn look_again<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net) {
        for Parked { i, v, .. } in std::mem::take(&mut self.repairs.parked) {
            self.find_way(block, net, i as usize, usize::from(v));
        }
    }

    /// The head of VC `v` of input `i`, which asks for nothing, looks for a way.
    fn find_way<const W: usize, const V: usize>(&mut self, block: &mut Block<W, V>, net: &Net, i: usize, v: usize) {
        let (r, head) = (block.ins[i].router as usize, block.ins[i].head[v] as usize);
        let id = block.segments.items[head].packet;
        let packet = &mut block.packets.items[id as usize];
        let AnyRouting::Pal(pal) = &net.routing else { unreachable!("faults need pal") };
        if let Ok(leg) = pal.leg(net.coords[block.routers[r].id as usize], packet, net.seed) {
            let port = block.ins[i].port;
            let came = self.nets.behind(port, |d| self.member(r, d));
            if came.is_none_or(|(d, _)| d != leg.d) {
                packet.dim = 0; // at the first router of a leg all ways are open
            }
        }
        let key = block.route_here(net, r, id);
        if !block.leads_on(net, r, key) {
            return self.park(block, net, i, v, id);
        }
        block.segments.items[head].key = key;
        block.ins[i].keys[v] = key;
        let (p, class) = crate::arrive::split(key, net.class_bits);
        if net.single {
            block.ask::<true>(net, i, p, class);
        } else {
            block.ask::<false>(net, i, p, class);
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
        let at = net.coords[block.routers[block.ins[i].router as usize].id as usize];
        let AnyRouting::Pal(pal) = &net.routing else { unreachable!("faults need pal") };
        let leg = pal.leg(at, &block.packets.items[packet as usize], net.seed);
        let Ok(leg) = leg else { unreachable!("only links of subnetworks fail") };
        self.repairs.parked.push(Parked { i: i as u32, v: v as u8, d: leg.d as u8, to: leg.to });
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
        let between = view.between(&self.nets, d, own, to);
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

    /// The output whose side channel takes a packet that no wire leads on for: that of the whole link to its target.
    pub(super) fn side_channel(&self, r: usize, message: Message) -> Option<usize> {
        let o = self.output(r, usize::from(message.net), message.to);
        (self.repairs.on && !self.links[o].broken).then_some(o)
    }
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
