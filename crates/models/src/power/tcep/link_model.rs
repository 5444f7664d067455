//! A test that explores every reachable state of the two ends of a link, with every possible set of messages in flight between them.
//!
//! The assumptions: messages keep their order on each of two paths, over the hub or on the side channel, and the side channel is faster.
//! Epochs are much longer than the latency of any path. Therefore a message that is sent at the end of an epoch has arrived by the end of
//! the next epoch. A message that is sent within an epoch has arrived by the end of the epoch after it. These two rules hold for the epochs
//! of the sender and for those of the receiver. An end that has refused a request can request the same link in the same cycle, on behalf of
//! a third router. A fault affects both ends at once, and makes the messages in flight void.

use super::{End, Say, Want};
use crate::power::LinkState;
use std::collections::HashMap;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Word {
    Ask(Want),
    Say(Say),
}

/// A message in flight. `due[0]`: true if the message must arrive before the present epoch of its sender ends. `due[1]`: true if it must
/// arrive before the present epoch of its receiver ends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Letter {
    word: Word,
    due: [bool; 2],
}

/// A state of the link: both ends, the requests that they have received, and the messages in flight between them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    ends: [End; 2],
    /// For each end: the received request that the end answers when its epoch ends.
    inbox: [Option<Want>; 2],
    /// For each end: the messages in flight to this end, in the order in which they were sent.
    post: [Vec<Letter>; 2],
    broken: bool,
}

impl World {
    fn new(state: LinkState) -> Self {
        Self { ends: [End::new(state); 2], inbox: [None; 2], post: Default::default(), broken: false }
    }

    fn send(&mut self, to: usize, word: Word) {
        self.post[to].push(Letter { word, due: [false; 2] });
    }

    /// Sends a message at the end of an epoch of the sender.
    fn send_now(&mut self, to: usize, word: Word) {
        self.send(to, word);
        self.post[to].last_mut().expect("just sent").due[0] = true;
    }

    fn is_quiet(&self) -> bool {
        self.post.iter().all(Vec::is_empty) && self.inbox == [None; 2]
    }

    /// All states of the link to which one event can lead.
    fn next(&self) -> Vec<Self> {
        let mut all = vec![self.fail_or_return()];
        for end in 0..2 {
            [true, false].into_iter().for_each(|side| self.arrive(end, side, &mut all));
            self.move_alone(end, &mut all);
            let late = |to: usize, who: usize| self.post[to].iter().any(|letter| letter.due[who]);
            if !late(1 - end, 0) && !late(end, 1) {
                self.end_epoch(end, &mut all);
            }
        }
        all
    }

    fn fail_or_return(&self) -> Self {
        let mut world = self.clone();
        world.broken = !self.broken;
        if world.broken {
            world.ends.iter_mut().for_each(End::fail);
            (world.inbox, world.post) = Default::default();
        }
        world
    }

    fn arrive(&self, end: usize, side: bool, all: &mut Vec<Self>) {
        let is_side = |letter: &Letter| letter.word == Word::Say(Say::Ready);
        let Some(first) = self.post[end].iter().position(|letter| side == is_side(letter)) else { return };
        if !side && self.post[end][..first].iter().any(is_side) {
            return;
        }
        let mut world = self.clone();
        let word = world.post[end].remove(first).word;
        match word {
            Word::Ask(want) => world.inbox[end] = Some(want),
            Word::Say(Say::Ack) => {
                world.inbox[end] = None;
                // `other`: the state if this end has meanwhile agreed to a request of a third router, and therefore cannot make the change
                let mut other = world.clone();
                if let Err(say) = other.ends[end].acked(false) {
                    other.send(1 - end, Word::Say(say));
                }
                all.push(other);
                if let Err(say) = world.ends[end].acked(true) {
                    world.send(1 - end, Word::Say(say));
                }
            }
            Word::Say(Say::Nack) => {
                world.inbox[end] = None;
                world.ends[end].nacked();
            }
            Word::Say(Say::Withdraw) => world.ends[end].withdrawn(),
            Word::Say(Say::Reactivate) => world.ends[end].reactivated(),
            Word::Say(Say::Ready) => {
                if let Some(say) = world.ends[end].peer_done() {
                    world.send(1 - end, Word::Say(say));
                }
            }
        }
        all.push(world);
    }

    /// Adds to `all` the states after each action that end `end` can take at any time.
    fn move_alone(&self, end: usize, all: &mut Vec<Self>) {
        let me = self.ends[end];
        let mut say = |act: fn(&mut End) -> Say| {
            let mut world = self.clone();
            let say = act(&mut world.ends[end]);
            world.send(1 - end, Word::Say(say));
            all.push(world);
        };
        if me.can_return() {
            say(End::reactivate);
        }
        if matches!(me.state, LinkState::Draining | LinkState::Waking) && !me.ready {
            say(End::done);
        }
    }

    fn end_epoch(&self, end: usize, all: &mut Vec<Self>) {
        let mut world = self.clone();
        world.post[1 - end].iter_mut().for_each(|letter| letter.due[0] = true);
        world.post[end].iter_mut().for_each(|letter| letter.due[1] = true);
        if let Some(want) = world.inbox[end].take() {
            if world.ends[end].crossed(want, end == 0) {
                all.push(world);
                return;
            }
            for agree in [true, false] {
                let mut judged = world.clone();
                let say = judged.ends[end].judge(want, agree);
                judged.send_now(1 - end, Word::Say(say));
                if say == Say::Nack {
                    judged.ask(end, all); // the end requests the same link for a third router, in the same cycle
                }
                all.push(judged);
            }
            return;
        }
        world.ask(end, all);
        let me = world.ends[end];
        if me.state == LinkState::Shadow {
            let mut expired = world.clone();
            expired.ends[end].expire();
            all.push(expired);
        }
        all.push(world); // the epoch ends without an action
    }

    /// Adds to `all` the states after each request that end `end` can send when its epoch ends.
    fn ask(&self, end: usize, all: &mut Vec<Self>) {
        let me = self.ends[end];
        if me.asked.is_some() || self.broken {
            return;
        }
        for want in [Want::Activate, Want::Deactivate].into_iter().filter(|&want| me.fits(want)) {
            let mut asking = self.clone();
            asking.ends[end].asked = Some(want);
            asking.send_now(1 - end, Word::Ask(want));
            all.push(asking);
        }
    }

    /// Describes the error in this state of the link, if there is one.
    fn fault(&self) -> Option<&'static str> {
        // an end of a failed link (`alone`) still sends its last flits, also to a dark end
        let blind = |(from, to): (usize, usize)| {
            self.ends[from].may_send() && !self.ends[from].alone && !self.ends[to].is_lit()
        };
        let blind = [(0, 1), (1, 0)].into_iter().any(blind);
        let stays = |end: &End| matches!(end.state, LinkState::On | LinkState::Off | LinkState::Shadow);
        let rests = self.is_quiet() && self.ends.iter().all(stays);
        if blind {
            Some("flits into a dark end")
        } else if rests && self.ends[0].state != self.ends[1].state {
            Some("the ends disagree for good")
        } else if rests && self.ends.iter().any(|end| end.asked.is_some()) {
            Some("a request without an answer")
        } else {
            None
        }
    }
}

/// All reachable states of the link (`worlds`, with their indices in `numbers`). `came_from`: for each state, the index of the state from
/// which it was first reached. `steps`: all steps from one state to another, as pairs of indices.
#[derive(Default)]
struct Atlas {
    numbers: HashMap<World, usize>,
    worlds: Vec<World>,
    came_from: Vec<usize>,
    steps: Vec<(usize, usize)>,
}

impl Atlas {
    fn number(&mut self, world: World, from: usize) -> usize {
        let (next, worlds, came_from) = (self.worlds.len(), &mut self.worlds, &mut self.came_from);
        *self.numbers.entry(world).or_insert_with_key(|world| {
            worlds.push(world.clone());
            came_from.push(from);
            next
        })
    }

    fn explore() -> Self {
        let mut atlas = Self::default();
        for (k, state) in [LinkState::On, LinkState::Off].into_iter().enumerate() {
            atlas.number(World::new(state), k);
        }
        let mut k = 0;
        while k < atlas.worlds.len() {
            if let Some(fault) = atlas.worlds[k].fault() {
                panic!("{fault}:\n{}", atlas.way_to(k).join("\n"));
            }
            for next in atlas.worlds[k].next() {
                let next = atlas.number(next, k);
                atlas.steps.push((k, next));
            }
            k += 1;
            assert!(k < 1_000_000, "the protocol is not finite:\n{}", atlas.way_to(k).join("\n"));
        }
        atlas
    }

    fn way_to(&self, mut k: usize) -> Vec<String> {
        let mut way = vec![format!("{:?}", self.worlds[k])];
        while self.came_from[k] != k {
            k = self.came_from[k];
            way.push(format!("{:?}", self.worlds[k]));
        }
        way.reverse();
        way
    }

    /// Index of a state from which no steps lead to the state with index `rest`, if there is one.
    fn stuck(&self, rest: usize) -> Option<usize> {
        let mut before = vec![Vec::new(); self.worlds.len()];
        self.steps.iter().for_each(|&(from, to)| before[to].push(from));
        let (mut reach, mut open) = (vec![false; self.worlds.len()], vec![rest]);
        while let Some(k) = open.pop() {
            if !std::mem::replace(&mut reach[k], true) {
                open.extend(&before[k]);
            }
        }
        reach.iter().position(|reached| !reached)
    }
}

#[test]
fn no_order_of_messages_makes_the_ends_disagree_or_send_into_the_dark() {
    let atlas = Atlas::explore();
    assert!(atlas.worlds.len() > 500, "only {} worlds", atlas.worlds.len());
    // from every state, steps lead to the two states in which the link is at rest, on and off (indices 0 and 1)
    for (k, state) in [LinkState::On, LinkState::Off].into_iter().enumerate() {
        if let Some(stuck) = atlas.stuck(k) {
            panic!("can't come to rest in {state:?}:\n{}", atlas.way_to(stuck).join("\n"));
        }
    }
}
