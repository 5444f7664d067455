//! Queues that are set aside for congested outputs: the queues of each output, and the tokens that routers send upstream.
//!
//! A channel has a number of queues that can be set aside in each VC class. The sender of the channel assigns these queues to roots,
//! which are congested outputs (`Lines`). The receiver sends a token that names a root to the sender (`Tokens`). The number of tokens is
//! limited to the number of queues, so the sender has a queue for each token. The sender returns a token under two conditions. The queue
//! of the token has been empty for a while, and the tokens that the sender's own router sent upstream because of this queue have all
//! returned.

use weft_api::base::kept::{Kept, Value};
use weft_api::base::wheel::Wheel;
use weft_api::queueing::{SetAside, SetAsideCount};
use weft_api::state::NONE;

/// An output of a router: router << 16 | port. A trunk is identified by its first member.
pub type Root = u64;

/// Value of a free queue: it is assigned to no root.
const NOBODY: Root = Root::MAX;

/// The rules for all channels of a run.
#[derive(Debug)]
pub struct SetAsideRules {
    pub rules: SetAside,
    /// For each link class; the last item is for the channels from terminals.
    pub channels: Vec<OfChannel>,
}

/// The assignment of the VCs of a channel to lanes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct OfChannel {
    /// For each VC: its lane, and all VCs of the same VC class of the routing and the same message classes.
    pub lane_of: [u8; 16],
    pub group_of: [u16; 16],
    /// For each lane: its VCs.
    pub vcs_of: [u16; 16],
}

impl OfChannel {
    /// Adds the VCs of a lane. `group`: the VCs of all lanes of the same VC class of the routing and the same message classes.
    pub fn add(&mut self, vcs: u16, lane: u8, group: u16) {
        self.vcs_of[usize::from(lane)] |= vcs;
        for vc in (0..16).filter(|vc| vcs >> vc & 1 != 0) {
            (self.lane_of[vc], self.group_of[vc]) = (lane, group);
        }
    }
}

impl SetAsideRules {
    /// The VCs of channels of a link class between routers.
    pub fn between(&self, class: u8) -> &OfChannel {
        &self.channels[usize::from(class)]
    }

    /// The VCs of channels from terminals.
    pub fn from_terminals(&self) -> &OfChannel {
        &self.channels[self.channels.len() - 1]
    }
}

/// A queue of a channel that can be set aside, from the view of its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Line {
    pub root: Root,
    /// Number of tokens sent upstream because of this queue that have not returned.
    pub tokens: u32,
    /// VCs on which no packet of this queue has been sent yet.
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

/// The queues of the channels of a block that can be set aside. Each channel has the same number of such queues.
#[derive(Debug, Default, Kept)]
pub struct Lines {
    #[kept(fixed)]
    each: usize,
    #[kept(each)]
    all: Vec<Line>,
    /// For each channel: number of queues that are set aside at present.
    #[kept(each)]
    count: Vec<u8>,
    /// Pairs (channel, queue) that are set aside, in the order in which they were set aside.
    pub in_use: Vec<(u32, u8)>,
}

impl Lines {
    pub fn new(each: usize, channels: usize) -> Self {
        Self { each, all: vec![Line::FREE; each * channels], count: vec![0; channels], in_use: Vec::new() }
    }

    /// The queues of channel `o`. The first has number 1.
    fn of(&self, o: usize) -> &[Line] {
        &self.all[o * self.each..(o + 1) * self.each]
    }

    /// True if channel `o` has a queue that is set aside.
    #[inline(always)]
    pub fn any(&self, o: usize) -> bool {
        self.count[o] != 0
    }

    /// The congested output for which queue `lane` of channel `o` is set aside.
    pub fn root(&self, o: usize, lane: u8) -> Root {
        self.of(o)[usize::from(lane) - 1].root
    }

    /// Queue `lane` of channel `o`.
    pub fn at(&mut self, o: usize, lane: u8) -> &mut Line {
        &mut self.all[o * self.each + usize::from(lane) - 1]
    }

    /// The queue of channel `o` that is set aside for `root` (1 or higher); 0 if `root` has no queue.
    pub fn lane(&self, o: usize, root: Root) -> u8 {
        self.of(o).iter().position(|line| line.root == root).map_or(0, |k| k as u8 + 1)
    }

    /// Called when a token for `root` reaches the sender of channel `o` in cycle `now`. Assigns a queue to `root`.
    ///
    /// # Panics
    /// If all queues are set aside: the receiver then sent more tokens than there are queues.
    pub fn assign(&mut self, o: usize, root: Root, now: u64) {
        let free = self.of(o).iter().position(Line::is_free).expect("a queue for each token");
        self.all[o * self.each + free] = Line { root, tokens: 0, unused: u16::MAX, used: now };
        self.count[o] += 1;
        self.in_use.push((o as u32, free as u8 + 1));
    }

    /// Frees queue `lane` of channel `o`. Returns the root for which the token must be returned.
    pub fn release(&mut self, o: usize, lane: u8) -> Root {
        self.count[o] -= 1;
        self.in_use.retain(|&line| line != (o as u32, lane));
        std::mem::replace(self.at(o, lane), Line::FREE).root
    }
}

/// A token that the receiver of a channel has sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Value)]
pub struct Token {
    pub root: Root,
    /// The output of the receiver's router with the queue that caused the token; `NONE` if the root is an output of that router.
    pub because_of: u32,
}

/// The tokens that the receivers of a block have sent. Each input has the same number of entries.
#[derive(Debug, Default, Kept)]
pub struct Tokens {
    #[kept(fixed)]
    each: usize,
    #[kept(each)]
    all: Vec<Token>,
}

/// The result of a request to send a token for a root to the sender of a channel.
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

    /// Sends a token for a root to the sender of input `i`, unless the sender already has one or has no free queue.
    pub fn give(&mut self, i: usize, token: Token) -> Given {
        let of = self.of(i);
        if of.iter().any(|given| given.root == token.root) {
            return Given::Before;
        }
        let Some(free) = of.iter_mut().find(|given| given.root == NOBODY) else { return Given::Never };
        *free = token;
        Given::Now
    }

    /// Removes the token for `root` at input `i`. Returns the output with the queue that caused the token, or `NONE`.
    ///
    /// # Panics
    /// If no token for `root` was sent.
    pub fn take_back(&mut self, i: usize, root: Root) -> u32 {
        let given = self.of(i).iter_mut().find(|given| given.root == root).expect("a token that was given");
        std::mem::replace(given, Self::FREE).because_of
    }

    /// Number of tokens that have not returned.
    pub fn out(&self) -> u64 {
        self.all.iter().filter(|token| token.root != NOBODY).count() as u64
    }
}

/// A message between the two ends of a channel.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Value)]
pub struct Note {
    /// For a token that is sent: the output that receives it. For a token that returns: the input to which it returns.
    pub port: u32,
    pub root: Root,
    pub returns: bool,
}

/// A packet in a queue that is set aside, which waits for older packets in other queues of its channel (a fenced packet).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct Fence {
    pub input: u32,
    pub vc: u8,
    /// For each VC: number of packets that arrived before this packet and have not left.
    pub before: [u16; 16],
}

/// The data of a block for queues that are set aside; empty without such queues.
#[derive(Debug, Kept)]
pub struct SetAsides {
    pub lines: Lines,
    pub tokens: Tokens,
    /// For each output: number of flits of packets in normal queues of its router that request the output and whose head has not left.
    /// Packets for which a queue is set aside are not counted, because they wait for another output. All members of a trunk are counted
    /// together, at the first member.
    #[kept(each)]
    pub waiting: Vec<u32>,
    /// For each packet of the block: the output at which the packet is counted, if any.
    pub counted: Vec<u32>,
    /// Scratch: outputs for which a queue is set aside for a packet, and that queue.
    #[kept(scratch)]
    pub ahead: Vec<(u16, u8)>,
    /// Scratch: queues that become free in this cycle.
    #[kept(scratch)]
    pub free: Vec<(usize, u8)>,
    /// Scratch: the notes of this cycle.
    #[kept(scratch)]
    pub due: Vec<Note>,
    /// Indexed by input * 16 + VC: number of packets whose head has arrived and whose tail has not left.
    #[kept(each)]
    pub held: Vec<u16>,
    /// For each input: VCs whose head is fenced (waits for older packets in other queues).
    #[kept(each)]
    pub fenced: Vec<u16>,
    pub fences: Vec<Fence>,
    /// Heads (input, VC) that may request an output from the next cycle on.
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

    /// Called when the first packet of its VC class has arrived in a queue that is set aside, VC `v` of input `i`. The packet must wait
    /// for the packets in other VCs of its `group`.
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

    /// Model of two routers and a terminal: the second router sends tokens to the first router, and the first router sends tokens to the
    /// terminal.
    #[derive(Clone)]
    struct Pair {
        /// Queues of the channels: channel 0 leads from the first router to the second, channel 1 from the terminal to the first router.
        lines: Lines,
        /// Tokens sent by the second router (input 0) and by the first router (input 1).
        tokens: Tokens,
        /// For each channel and queue, true if the queue contains packets.
        filled: [[bool; QUEUES]; 2],
        /// Notes in flight: for each channel the notes upstream and the notes downstream, in order.
        up: [VecDeque<Root>; 2],
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

        /// All states that can follow this state.
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

        /// Each token is assigned to a queue of its root or is in flight. A queue that contains a packet is set aside. No root
        /// has two queues.
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

    /// Visits all states of two routers and a terminal with 2 queues on each channel and 3 congested outputs. Notes of different channels
    /// may arrive in any order. From each state all tokens can return without a further congested output.
    #[test]
    fn two_routers_never_lose_a_queue_or_a_token() {
        let (mut seen, mut open) = (BTreeSet::new(), vec![Pair::new()]);
        seen.insert(open[0].key());
        let mut states = 0;
        while let Some(state) = open.pop() {
            state.check();
            states += 1;
            // when the last packets leave, notes arrive, and empty queues become free, in any order, the final state is idle
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
