//! Links and routers that fail under any power policy: the channels are closed to heads until they return, and a head whose
//! output is broken does what its routing declares ([`AroundFaults`]). The rules are in `network/faults.rs`.
//!
//! Nothing of this is in the loop: a head that asks for a closed channel takes a rare way anyway (`wait_for_link`), which
//! notes here that the channel is broken. In the next cycle, before the allocation, all heads that ask for it turn away.

use crate::api::agents::{Breakage, Cause};
use crate::api::routing::{AroundFaults, Decides, Hop};
use crate::api::view::{Queues, View};
use crate::pipeline::block::Block;
use crate::pipeline::net::Net;
use crate::state::{ChannelEnd, Gate, LinkState, NO_REQUEST, Packet, UNDECIDED};
use std::collections::VecDeque;

/// Number of a VC of an input: (input, VC).
type Place = (usize, usize);

/// `Broken::since` of a head that has an escape.
const NEVER: u64 = u64::MAX;

/// The state of a block that has to do with broken channels.
#[derive(Debug, Default)]
pub(crate) struct Broken {
    vcs: usize,
    /// By channel: how many faults keep it broken.
    causes: Vec<u8>,
    /// Broken channels that still carry what was granted before; then they are dark.
    fading: Vec<u32>,
    /// Broken channels that heads have asked for since the last cycle.
    pub(super) asked: Vec<u32>,
    /// By input * VCs + VC: the packet at the head, as it was before its routing has chosen by the queues.
    undecided: Vec<Option<Packet>>,
    /// By input * VCs + VC: since when the head, which chooses in every step, has no escape.
    since: Vec<u64>,
    /// When heads without an escape give up: (cycle, since when, place), in the order of time.
    deadlines: VecDeque<(u64, u64, Place)>,
}

impl Broken {
    /// For a block with this many ports, of `vcs` VCs each.
    pub fn new(ports: usize, vcs: usize) -> Self {
        Self { vcs, causes: vec![0; ports], ..Self::default() }
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        let soon = self.deadlines.front().is_some_and(|&(at, ..)| at <= now);
        self.fading.is_empty() && self.asked.is_empty() && !soon
    }

    fn number(&self, (i, v): Place) -> usize {
        i * self.vcs + v
    }
}

impl<const W: usize, const V: usize> Block<W, V> {
    /// One end of a link breaks, or returns.
    pub(super) fn break_or_mend(&mut self, net: &Net, what: Breakage) {
        let o = what.channel as usize;
        let causes = &mut self.faults.broken.causes[o];
        *causes = if what.breaks { *causes + 1 } else { *causes - 1 };
        match (what.breaks, *causes) {
            (true, 1) => {
                self.power.break_channel(o, &mut self.outs[o]);
                self.faults.broken.fading.push(o as u32);
                if self.outs[o].requested != 0 {
                    self.faults.note_asked(o);
                }
            }
            (false, 0) => self.mend(net, o),
            (true, _) | (false, _) => {} // it was or stays broken for another reason
        }
        if what.cause == Cause::OwnRouter && what.breaks {
            self.active.set(self.outs[o].router as usize); // its heads ask again, and are discarded
        }
    }

    /// Channel `o` works again: it goes back to the state that the policy wants.
    fn mend(&mut self, net: &Net, o: usize) {
        self.faults.broken.fading.retain(|&fading| fading as usize != o);
        let state = self.power.mend_channel(o, &mut self.outs[o], self.now);
        if state != LinkState::of(self.outs[o].state) {
            self.set_state(net, o, state, self.now);
        }
        // heads of this router may have their escape again
        let r = self.outs[o].router as usize;
        let (base, end) = self.inputs_of(r);
        let vcs = self.faults.broken.vcs;
        if let Some(since) = self.faults.broken.since.get_mut(base * vcs..end * vcs) {
            since.fill(NEVER);
        }
        self.look_again(o);
    }

    /// The inputs of router `r`.
    pub(super) fn inputs_of(&self, r: usize) -> (usize, usize) {
        let end = self.routers.get(r + 1).map_or(self.ins.len(), |next| next.base as usize);
        (self.routers[r].base as usize, end)
    }

    /// A packet has become the head at `place`. `open`: its routing has not named its hop ahead.
    #[cold]
    pub(super) fn note_new_head(&mut self, place: Place, around: AroundFaults, open: bool, packet: u32) {
        match around {
            AroundFaults::Drops => {}
            AroundFaults::ChoosesAgain => {
                let (broken, places) = (&mut self.faults.broken, self.ins.len() * V);
                broken.undecided.resize(places, None);
                broken.since.resize(places, NEVER);
                let number = broken.number(place);
                broken.undecided[number] = open.then_some(self.packets.items[packet as usize]);
                broken.since[number] = NEVER;
            }
        }
    }

    /// Heads that ask for broken channels turn away, those that have waited too long for another one give up, and channels
    /// that have carried what they had to are dark. Then packets are discarded.
    pub(super) fn turn_heads(&mut self, net: &Net, around: AroundFaults) {
        let mut asked = std::mem::take(&mut self.faults.broken.asked);
        asked.sort_unstable();
        asked.dedup();
        for o in asked.drain(..).map(|o| o as usize) {
            let r = self.outs[o].router as usize;
            for place in self.heads_that_ask(net, r, o) {
                self.turn(net, around, r, place);
            }
        }
        self.faults.broken.asked = asked;
        while let Some((_, since, place)) = self.faults.broken.deadlines.pop_front_if(|&mut (at, ..)| at <= self.now) {
            let (i, v) = place;
            let waits = self.ins[i].choosing >> v & 1 != 0;
            if waits && self.faults.broken.since[self.faults.broken.number(place)] == since {
                self.give_up(net, place);
            }
        }
        self.fade(net);
        if !self.faults.doomed.is_empty() {
            self.discard(net);
        }
    }

    /// The heads of router `r` that ask for output `o`, if that is broken.
    fn heads_that_ask(&self, net: &Net, r: usize, o: usize) -> Vec<Place> {
        if self.outs[o].gate != Gate::Broken {
            return Vec::new(); // it has returned in this cycle
        }
        let (base, end) = self.inputs_of(r);
        let asks = |key: u16| key != NO_REQUEST && key != UNDECIDED && base + net.port(key) == o;
        let places = (base..end).flat_map(|i| (0..V).map(move |v| (i, v)));
        places.filter(|&(i, v)| asks(self.ins[i].requests[v])).collect()
    }

    /// The head at `place` of router `r` asks for a broken output.
    fn turn(&mut self, net: &Net, around: AroundFaults, r: usize, place: Place) {
        match around {
            _ if self.faults.is_dead(r) => self.give_up(net, place),
            AroundFaults::Drops => self.give_up(net, place),
            AroundFaults::ChoosesAgain => self.choose_again(net, r, place),
        }
    }

    /// The packet at the head of `place` is discarded.
    fn give_up(&mut self, net: &Net, (i, v): Place) {
        self.ask_for_nothing(net, (i, v));
        let port = &mut self.ins[i];
        port.choosing &= !(1 << v);
        if port.choosing == 0 {
            let number = usize::from(port.port);
            self.routers[port.router as usize].choosing.clear(number);
        }
        self.faults.doomed.push((i as u32, v as u8));
    }

    /// The head at `place` takes its request back, if it has one.
    fn ask_for_nothing(&mut self, net: &Net, (i, v): Place) {
        let key = std::mem::replace(&mut self.ins[i].requests[v], UNDECIDED);
        if key != UNDECIDED {
            self.withdraw(net, self.ins[i].router as usize, i, key);
        }
    }

    /// The head at `place` takes another hop, if the link of one is whole.
    fn choose_again(&mut self, net: &Net, r: usize, place: Place) {
        let (i, v) = place;
        let head = self.ins[i].head[v] as usize;
        let (packet, key) = (self.segments.items[head].packet as usize, self.segments.items[head].key);
        let chooses = self.ins[i].choosing >> v & 1 != 0;
        if chooses && self.goes_on_choosing(net, r, place, packet, key) {
            self.ask_for_nothing(net, place);
            return;
        }
        let before = self.faults.broken.undecided[self.faults.broken.number(place)];
        let once = net.needs.decides == Decides::AtHead;
        let Some((hop, after)) = before.filter(|_| once).and_then(|packet| self.best_whole(net, r, &packet)) else {
            return self.give_up(net, place);
        };
        self.ask_for_nothing(net, place);
        self.packets.items[packet] = after;
        let key = net.key(hop.port.into(), hop.class.into());
        self.segments.items[head].key = key;
        if chooses {
            self.active.set(r); // it takes a member of the trunk in the next step
            return;
        }
        self.ins[i].requests[v] = key;
        if net.single {
            self.request_vc::<true>(net, i, hop.port.into(), hop.class.into());
        } else {
            self.request_vc::<false>(net, i, hop.port.into(), hop.class.into());
        }
    }

    /// Whether the head at `place`, which chooses in every step, has another candidate with a whole link. If its escape is
    /// broken, packets could wait for each other in a circle: then it waits for a limited time only.
    fn goes_on_choosing(&mut self, net: &Net, r: usize, place: Place, packet: usize, key: u16) -> bool {
        if key != UNDECIDED {
            return self.is_whole(net, r, net.port(key) as u8); // a trunk
        }
        let (at, packet) = (net.coords[self.routers[r].id as usize], &self.packets.items[packet]);
        if !net.routing.steps(at, packet, net.seed).iter().any(|step| self.is_whole(net, r, step.hop.port)) {
            return false;
        }
        let cut_off = net.routing.escape(at, packet.dest).is_some_and(|hop| !self.is_whole(net, r, hop.port));
        let (broken, now) = (&mut self.faults.broken, self.now);
        let number = broken.number(place);
        if broken.since[number] == NEVER && cut_off {
            broken.since[number] = now;
            broken.deadlines.push_back((now + net.patience, now, place));
        }
        true
    }

    /// Of the hops that the packet may take at router `r`, the one of least cost whose link is whole, and what the packet
    /// remembers then.
    fn best_whole(&self, net: &Net, r: usize, packet: &Packet) -> Option<(Hop, Packet)> {
        let at = net.coords[self.routers[r].id as usize];
        let (base, views) = (self.routers[r].base, (&self.views, r));
        let here = Queues::new(&self.outs, base, views, self.history.as_ref(), self.now, &net.common);
        let steps = net.routing.steps(at, packet, net.seed).into_iter();
        let cost = |hop: Hop, hops: u32, bias: i32| here.read(hop.port) * hops as i32 + bias;
        let weighed = steps.filter(|step| self.is_whole(net, r, step.hop.port)).map(|step| {
            let cost = step.cost.filter(|_| net.needs.sensor.is_some()).map(|c| cost(step.hop, c.hops, c.bias));
            (cost.unwrap_or(0), step)
        });
        // of equal ones the first: minimal ones come first
        weighed.min_by_key(|&(cost, _)| cost).map(|(_, step)| (step.hop, step.after))
    }

    /// Whether the link behind output `port` of router `r` is whole; of a trunk, that of some member.
    fn is_whole(&self, net: &Net, r: usize, port: u8) -> bool {
        let base = self.routers[r].base as usize;
        net.trunk.members(port).any(|port| self.outs[base + usize::from(port)].gate != Gate::Broken)
    }

    /// Broken channels that no packet holds any more, and whose last flits have left, are dark. (Those to terminals, which
    /// break with their router, stay as they are: terminal links always stay on.)
    fn fade(&mut self, net: &Net) {
        let mut fading = std::mem::take(&mut self.faults.broken.fading);
        fading.retain(|&o| {
            let out = &self.outs[o as usize];
            let has_left = (self.now as u32).wrapping_sub(out.next_free) as i32 >= 0;
            let done = has_left && self.power.held_vcs(o as usize, out) == 0;
            let goes_dark = out.kind != ChannelEnd::Ejection && LinkState::of(out.state) != LinkState::Off;
            if done && goes_dark {
                self.set_state(net, o as usize, LinkState::Off, self.now);
            }
            !done
        });
        self.faults.broken.fading = fading;
    }
}
