//! Records of the queues that a channel sets aside for congested outputs, and of the tokens that routers send upstream to request such
//! queues.
//!
//! In each VC class, a channel has a fixed number of queues that can be set aside. The sender of the channel assigns each of these queues
//! to a root, which is a congested output (`Lines`). The receiver of the channel sends a token to the sender. The token names the root that
//! needs a queue (`Tokens`). A receiver has sent at most as many tokens that have not returned as the channel has queues, so the sender
//! always has a queue for an arriving token. The sender returns a token when two conditions are true: the queue assigned to its root has
//! been empty for some time, and all tokens that the sender's router sent upstream because of this queue have returned.

use weft_api::base::kept::{Kept, Value};
use weft_api::base::wheel::Wheel;
use weft_api::queueing::{SetAside, SetAsideCount};
use weft_api::state::NONE;

/// Number of a router's output: router << 16 | port. All outputs of a trunk have the number of the first of them.
pub type Root = u64;

/// Value of `Line::root` and `Token::root` for a free entry.
const NOBODY: Root = Root::MAX;

/// The rules for queues that are set aside, for all channels of a run.
#[derive(Debug)]
pub struct SetAsideRules {
    pub rules: SetAside,
    /// Indexed by link class; the last item is for the channels from terminals.
    pub channels: Vec<OfChannel>,
}

/// The assignment of the VCs of a channel to lanes (groups of VCs, one for each queue).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfChannel {
    /// For each VC: its lane.
    pub lane_of: [u8; 16],
    /// For each VC: the mask of all VCs with the same VC class of the routing and the same message classes (its group).
    pub group_of: [u16; 16],
    /// For each lane: the VCs that belong to it.
    pub vcs_of: [u16; 16],
}

impl OfChannel {
    /// Assigns VCs to a lane. `group`: the VCs of all lanes with the same VC class of the routing and the same message classes.
    pub fn add(&mut self, vcs: u16, lane: u8, group: u16) {
        self.vcs_of[usize::from(lane)] |= vcs;
        for vc in (0..16).filter(|vc| vcs >> vc & 1 != 0) {
            (self.lane_of[vc], self.group_of[vc]) = (lane, group);
        }
    }
}

impl SetAsideRules {
    /// The assignment of VCs to lanes on channels between routers, for link class `class`.
    pub fn between(&self, class: u8) -> &OfChannel {
        &self.channels[usize::from(class)]
    }

    /// The assignment of VCs to lanes on channels from terminals.
    pub fn from_terminals(&self) -> &OfChannel {
        &self.channels[self.channels.len() - 1]
    }
}

/// The sender's record of a queue of a channel that can be set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Line {
    pub root: Root,
    /// Number of tokens not yet returned that the sender's router has sent upstream because of this queue.
    pub tokens: u32,
    /// Mask of the VCs on which no packet has been sent since the queue was set aside.
    pub unused: u16,
    /// The last cycle in which the queue was not empty.
    pub used: u64,
}

impl Line {
    const FREE: Self = Self { root: NOBODY, tokens: 0, unused: 0, used: 0 };

    fn is_free(&self) -> bool {
        self.root == NOBODY
    }
}

/// The sender's records of the queues that can be set aside, for all channels of a block. Each channel has the same number of such queues.
#[derive(Debug, Default, Kept)]
pub struct Lines {
    #[kept(fixed)]
    each: usize,
    #[kept(each)]
    all: Vec<Line>,
    /// For each channel: number of its queues that are set aside at present.
    #[kept(each)]
    count: Vec<u8>,
    /// Pairs (channel, queue) of the queues that are set aside, in the order of their assignment.
    pub in_use: Vec<(u32, u8)>,
}

impl Lines {
    pub fn new(each: usize, channels: usize) -> Self {
        Self { each, all: vec![Line::FREE; each * channels], count: vec![0; channels], in_use: Vec::new() }
    }

    /// The queues of channel `o` that can be set aside. The queues have the lane numbers from 1 on.
    fn of(&self, o: usize) -> &[Line] {
        &self.all[o * self.each..(o + 1) * self.each]
    }

    /// True if at least one queue of channel `o` is set aside.
    #[inline(always)]
    pub fn any(&self, o: usize) -> bool {
        self.count[o] != 0
    }

    /// The congested output for which queue `lane` of channel `o` is set aside.
    pub fn root(&self, o: usize, lane: u8) -> Root {
        self.of(o)[usize::from(lane) - 1].root
    }

    /// The record of queue `lane` of channel `o`.
    pub fn at(&mut self, o: usize, lane: u8) -> &mut Line {
        &mut self.all[o * self.each + usize::from(lane) - 1]
    }

    /// Number (from 1) of the queue of channel `o` that is set aside for `root`; 0 if `root` has no queue.
    pub fn lane(&self, o: usize, root: Root) -> u8 {
        self.of(o).iter().position(|line| line.root == root).map_or(0, |k| k as u8 + 1)
    }

    /// Called when a token for `root` reaches the sender of channel `o`, in cycle `now`. Assigns a free queue to `root`.
    ///
    /// # Panics
    /// If all queues are set aside. The receiver has then sent more tokens than there are queues.
    pub fn assign(&mut self, o: usize, root: Root, now: u64) {
        let free = self.of(o).iter().position(Line::is_free).expect("a queue for each token");
        self.all[o * self.each + free] = Line { root, tokens: 0, unused: u16::MAX, used: now };
        self.count[o] += 1;
        self.in_use.push((o as u32, free as u8 + 1));
    }

    /// Frees queue `lane` of channel `o`. Returns the root of the queue, whose token the sender must return.
    pub fn release(&mut self, o: usize, lane: u8) -> Root {
        self.count[o] -= 1;
        self.in_use.retain(|&line| line != (o as u32, lane));
        std::mem::replace(self.at(o, lane), Line::FREE).root
    }
}

/// The receiver's record of a token that it sent to the sender of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Token {
    pub root: Root,
    /// The output of the receiver's router whose full queue caused the token; `NONE` if the root is itself an output of that router.
    pub because_of: u32,
}

/// The tokens that the receivers of a block have sent and that have not returned. Each input has the same number of entries, one per queue.
#[derive(Debug, Default, Kept)]
pub struct Tokens {
    #[kept(fixed)]
    each: usize,
    #[kept(each)]
    all: Vec<Token>,
}

/// Whether a token for a root was sent to the sender of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    Now,
    Before,
    /// No token is sent, because no queue is free.
    Never,
}

impl Tokens {
    const FREE: Token = Token { root: NOBODY, because_of: NONE };

    pub fn new(each: usize, inputs: usize) -> Self {
        Self { each, all: vec![Self::FREE; each * inputs] }
    }

    fn of(&mut self, i: usize) -> &mut [Token] {
        &mut self.all[i * self.each..(i + 1) * self.each]
    }

    /// Sends a token to the sender of input `i`. Sends none if the sender already has a token for this root, or has no free queue.
    pub fn give(&mut self, i: usize, token: Token) -> Given {
        let of = self.of(i);
        if of.iter().any(|given| given.root == token.root) {
            return Given::Before;
        }
        let Some(free) = of.iter_mut().find(|given| given.root == NOBODY) else { return Given::Never };
        *free = token;
        Given::Now
    }

    /// Removes the token for `root` at input `i`. Returns the output whose queue caused the token, or `NONE`.
    ///
    /// # Panics
    /// If input `i` has no token for `root`.
    pub fn take_back(&mut self, i: usize, root: Root) -> u32 {
        let given = self.of(i).iter_mut().find(|given| given.root == root).expect("a token that was given");
        std::mem::replace(given, Self::FREE).because_of
    }

    /// Number of tokens of the block that have not returned.
    pub fn out(&self) -> u64 {
        self.all.iter().filter(|token| token.root != NOBODY).count() as u64
    }
}

/// A message between the two ends of a channel: a token that is sent or returned.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Note {
    /// For a token that is sent upstream: the output that receives the token. For a token that returns: the input that receives it.
    pub port: u32,
    pub root: Root,
    pub returns: bool,
}

/// A packet in a queue that is set aside, while it waits for older packets in other queues of its channel (a fenced packet).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Fence {
    pub input: u32,
    pub vc: u8,
    /// For each VC: number of packets that arrived before this packet and are still there.
    pub before: [u16; 16],
}

/// The data of a block about queues that are set aside; empty if no queue can be set aside.
#[derive(Debug, Kept)]
pub struct SetAsides {
    pub lines: Lines,
    pub tokens: Tokens,
    /// For each output: number of flits of the packets that request the output, are in a normal queue, and have not sent their head.
    /// Packets for which a queue is set aside do not count, because they wait for the root of this queue. All flits for a trunk count at
    /// the first of its outputs.
    #[kept(each)]
    pub waiting: Vec<u32>,
    /// For each packet of the block: the output in `waiting` at which the packet is counted, if any.
    pub counted: Vec<u32>,
    /// Scratch: pairs (output, queue) of the outputs that have set a queue aside for one packet.
    #[kept(scratch)]
    pub ahead: Vec<(u16, u8)>,
    /// Scratch: queues that become free in this cycle.
    #[kept(scratch)]
    pub free: Vec<(usize, u8)>,
    /// Scratch: the notes that arrive in this cycle.
    #[kept(scratch)]
    pub due: Vec<Note>,
    /// Indexed by input * 16 + VC: number of packets in the VC whose head has arrived and whose tail has not left.
    #[kept(each)]
    pub held: Vec<u16>,
    /// For each input: mask of the VCs whose head is fenced (waits for older packets in other queues).
    #[kept(each)]
    pub fenced: Vec<u16>,
    pub fences: Vec<Fence>,
    /// Heads (input, VC) that are no longer fenced and may request an output from the next cycle on.
    pub opened: Vec<(u32, u8)>,
    pub notes: Wheel<Note, 16>,
    pub counts: SetAsideCount,
    /// For each input: the link class of the incoming channel.
    #[kept(fixed)]
    pub back: Vec<u8>,
}

impl SetAsides {
    pub fn none() -> Self {
        Self::new(0, (0, 0), 0, Vec::new())
    }

    /// `each`: number of queues of a channel that can be set aside. `horizon`: largest number of cycles for which a note is in flight.
    pub fn new(each: usize, (inputs, channels): (usize, usize), horizon: u64, back: Vec<u8>) -> Self {
        Self {
            lines: Lines::new(each, channels),
            tokens: Tokens::new(each, inputs),
            waiting: vec![0; inputs],
            counted: Vec::new(),
            ahead: Vec::new(),
            due: Vec::new(),
            free: Vec::new(),
            held: vec![0; inputs * 16],
            fenced: vec![0; inputs],
            fences: Vec::with_capacity(inputs),
            opened: Vec::new(),
            notes: Wheel::new(horizon, inputs),
            counts: SetAsideCount::default(),
            back,
        }
    }

    /// True if no queue is set aside, and no fenced head will request its output in the next cycle. In this state only notes cause
    /// work.
    #[inline(always)]
    pub fn are_quiet(&self) -> bool {
        self.lines.in_use.is_empty() && self.opened.is_empty()
    }

    /// True if no packet is in the network.
    pub fn are_empty(&self) -> bool {
        let nothing = self.waiting.iter().all(|&flits| flits == 0) && self.held.iter().all(|&packets| packets == 0);
        nothing && self.fences.is_empty() && self.opened.is_empty()
    }

    /// Counts packet `id` at output `o`.
    pub fn count_at(&mut self, id: u32, o: usize) {
        let id = id as usize;
        if id >= self.counted.len() {
            self.counted.resize(id + 1, NONE);
        }
        self.counted[id] = o as u32;
    }

    /// Called when the first packet since its queue was set aside has arrived in VC `v` of input `i`. If the other VCs of `group` contain
    /// packets, the new packet must wait for these. Returns true if it must.
    pub fn fence(&mut self, (i, v): (usize, usize), group: u16) -> bool {
        let mut before = [0; 16];
        let others = (0..16).filter(|&other| other != v && group >> other & 1 != 0);
        others.for_each(|other| before[other] = self.held[i * 16 + other]);
        let waits = before.iter().any(|&count| count > 0);
        if waits {
            self.fenced[i] |= 1 << v;
            self.fences.push(Fence { input: i as u32, vc: v as u8, before });
        }
        waits
    }

    /// Called when the tail of a packet has left VC `v` of input `i`.
    pub fn leave(&mut self, i: usize, v: usize) {
        self.held[i * 16 + v] -= 1;
        if self.fenced[i] == 0 {
            return;
        }
        let (opened, fenced) = (&mut self.opened, &mut self.fenced);
        self.fences.retain_mut(|fence| {
            if fence.input as usize == i && fence.before[v] > 0 {
                fence.before[v] -= 1;
                if fence.before.iter().all(|&count| count == 0) {
                    fenced[i] &= !(1 << fence.vc);
                    opened.push((fence.input, fence.vc));
                    return false;
                }
            }
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::{BTreeSet, VecDeque};

    const ROOTS: [Root; 3] = [1, 2, 3];
    const QUEUES: usize = 2;

    /// Test model of two routers and a terminal. The second router sends tokens to the first router, and the first router sends tokens to
    /// the terminal.
    #[derive(Clone)]
    struct Pair {
        /// Queues of the channels. Channel 0 leads from the first router to the second. Channel 1 leads from the terminal to the first
        /// router.
        lines: Lines,
        /// Tokens sent by the second router (input 0) and by the first router (input 1).
        tokens: Tokens,
        /// For each channel and queue: true if the queue contains packets.
        filled: [[bool; QUEUES]; 2],
        /// Notes in flight upstream on each channel, in order.
        up: [VecDeque<Root>; 2],
        /// Notes in flight downstream on each channel, in order.
        down: [VecDeque<Root>; 2],
    }

    impl Clone for Lines {
        fn clone(&self) -> Self {
            Self { each: self.each, all: self.all.clone(), count: self.count.clone(), in_use: self.in_use.clone() }
        }
    }

    impl Clone for Tokens {
        fn clone(&self) -> Self {
            Self { each: self.each, all: self.all.clone() }
        }
    }

    impl Pair {
        fn new() -> Self {
            Self {
                lines: Lines::new(QUEUES, 2),
                tokens: Tokens::new(QUEUES, 2),
                filled: [[false; QUEUES]; 2],
                up: Default::default(),
                down: Default::default(),
            }
        }

        fn key(&self) -> String {
            let lines: Vec<_> = self.lines.all.iter().map(|line| (line.root, line.tokens)).collect();
            let tokens: Vec<_> = self.tokens.all.iter().map(|token| (token.root, token.because_of)).collect();
            format!("{lines:?}{tokens:?}{:?}{:?}{:?}", self.filled, self.up, self.down)
        }

        fn give(mut self, i: usize, token: Token) -> Option<Self> {
            if self.tokens.give(i, token) != Given::Now {
                return None;
            }
            if token.because_of != NONE {
                let lane = self.lines.lane(0, token.root);
                self.lines.at(0, lane).tokens += 1;
            }
            self.up[i].push_back(token.root);
            Some(self)
        }

        /// All states that can directly follow this state.
        fn next(&self) -> Vec<Self> {
            let mut all = Vec::new();
            let mut add = |then: &dyn Fn(&mut Self) -> bool| {
                let mut next = self.clone();
                if then(&mut next) {
                    all.push(next);
                }
            };
            for channel in 0..2 {
                // a token arrives at its sender, or returns to its receiver
                add(&|next| next.up[channel].pop_front().map(|root| next.lines.assign(channel, root, 0)).is_some());
                add(&|next| {
                    let Some(root) = next.down[channel].pop_front() else { return false };
                    if next.tokens.take_back(channel, root) != NONE {
                        let lane = next.lines.lane(0, root);
                        next.lines.at(0, lane).tokens -= 1;
                    }
                    true
                });
                for lane in 1..=QUEUES as u8 {
                    let k = usize::from(lane) - 1;
                    // a packet arrives in a queue that is set aside, or the last packet leaves a queue
                    add(&|next| {
                        let is_free = next.lines.at(channel, lane).is_free();
                        !is_free && !std::mem::replace(&mut next.filled[channel][k], true)
                    });
                    add(&|next| std::mem::replace(&mut next.filled[channel][k], false));
                    // an empty queue whose tokens have returned becomes free
                    add(&|next| {
                        let line = *next.lines.at(channel, lane);
                        if line.is_free() || line.tokens > 0 || next.filled[channel][k] {
                            return false;
                        }
                        let root = next.lines.release(channel, lane);
                        next.down[channel].push_back(root);
                        true
                    });
                }
            }
            // an output of the second router becomes congested, or a queue of the first channel becomes filled
            all.extend(ROOTS.iter().filter_map(|&root| self.clone().give(0, Token { root, because_of: NONE })));
            for k in (0..QUEUES).filter(|&k| self.filled[0][k]) {
                let root = self.lines.of(0)[k].root;
                all.extend(self.clone().give(1, Token { root, because_of: 0 }));
            }
            all
        }

        /// Checks three rules. Each token is in flight, or has a queue that is assigned to its root. A queue with packets is set aside. No
        /// root has two queues on a channel.
        fn check(&self) {
            for channel in 0..2 {
                let given = self.tokens.all[channel * QUEUES..(channel + 1) * QUEUES].iter().map(|token| token.root);
                let mut given: Vec<Root> = given.filter(|&root| root != NOBODY).collect();
                let lines = self.lines.of(channel).iter().map(|line| line.root).filter(|&root| root != NOBODY);
                let mut held: Vec<Root> =
                    lines.chain(self.up[channel].iter().copied()).chain(self.down[channel].iter().copied()).collect();
                given.sort_unstable();
                held.sort_unstable();
                assert_eq!(given, held);
                assert!(held.windows(2).all(|two| two[0] != two[1]));
                assert!((0..QUEUES).all(|k| !self.filled[channel][k] || !self.lines.of(channel)[k].is_free()));
                assert_eq!(
                    usize::from(self.lines.count[channel]),
                    self.lines.of(channel).iter().filter(|l| !l.is_free()).count()
                );
            }
            // tokens that the first router sent because of a queue are counted in that queue
            let counted: u32 = self.lines.of(0).iter().map(|line| line.tokens).sum();
            assert_eq!(
                u64::from(counted),
                self.tokens.all[QUEUES..].iter().filter(|token| token.root != NOBODY).count() as u64
            );
        }

        /// True if no queue is set aside, no queue contains packets, and no note is in flight.
        fn is_idle(&self) -> bool {
            self.tokens.out() == 0 && self.filled.iter().flatten().all(|&filled| !filled)
        }
    }

    /// Visits all states of two routers and a terminal with 2 queues on each channel and 3 congested outputs. Notes on different channels
    /// may arrive in any order. From each state, all tokens return if no further output becomes congested.
    #[test]
    fn two_routers_never_lose_a_queue_or_a_token() {
        let (mut seen, mut open) = (BTreeSet::new(), vec![Pair::new()]);
        seen.insert(open[0].key());
        let mut states = 0;
        while let Some(state) = open.pop() {
            state.check();
            states += 1;
            // the last packets leave, notes arrive and empty queues become free in any order: the final state is always idle
            let mut settling = state.clone();
            while !settling.is_idle() {
                let before = settling.clone();
                settling.filled = [[false; QUEUES]; 2];
                for channel in 0..2 {
                    while let Some(root) = settling.up[channel].pop_front() {
                        settling.lines.assign(channel, root, 0);
                    }
                    for lane in 1..=QUEUES as u8 {
                        let line = *settling.lines.at(channel, lane);
                        if !line.is_free() && line.tokens == 0 {
                            let root = settling.lines.release(channel, lane);
                            settling.down[channel].push_back(root);
                        }
                    }
                    while let Some(root) = settling.down[channel].pop_front() {
                        if settling.tokens.take_back(channel, root) != NONE {
                            let lane = settling.lines.lane(0, root);
                            settling.lines.at(0, lane).tokens -= 1;
                        }
                    }
                }
                assert_ne!(before.key(), settling.key(), "a queue that never becomes free");
            }
            open.extend(state.next().into_iter().filter(|next| seen.insert(next.key())));
        }
        assert!(states > 1000, "{states} states");
    }

    #[test]
    fn a_fence_opens_when_all_older_packets_have_left_in_any_order() {
        let mut asides = SetAsides::new(2, (1, 1), 8, vec![1]);
        asides.held[..3].copy_from_slice(&[2, 1, 0]);
        assert!(asides.fence((0, 2), 0b111));
        asides.held[2] += 1;
        asides.held[0] += 1; // a younger packet arrives
        for (v, opens) in [(0, false), (1, false), (0, true)] {
            asides.leave(0, v);
            assert_eq!(asides.opened == [(0, 2)], opens);
        }
        assert_eq!((asides.fenced[0], asides.held[0]), (0, 1));
        // a packet does not wait for packets of other VC classes
        assert!(!asides.fence((0, 2), 0b110));
    }
}
