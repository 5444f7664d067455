//! A test that explores every reachable state of the two ends of a unit, with every possible set of messages in flight between them. A unit
//! is a group of links that change their level together.
//!
//! Messages keep their order. Measuring windows, drains and changes of the level can end at any time. To limit the number of states, an end
//! measures no window while three of its messages are in flight.

use super::{Deed, End, Ladder, Phase, Reply, Say, Wish};
use std::collections::{HashMap, VecDeque};

/// An end of the unit, and three levels of its channels. Links up to level `open` accept packets, links up to level `busy` can have packets
/// in flight, and links up to level `lit` can receive.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Side {
    end: End,
    open: u16,
    busy: u16,
    lit: u16,
}

/// A state of the whole unit: both ends, and the messages in flight between them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    sides: [Side; 2],
    /// For each end: the messages in flight to this end, in the order in which they were sent.
    post: [VecDeque<Say>; 2],
}

impl World {
    fn new(level: u16) -> Self {
        let side = |leads| Side { end: End::new(leads, level), open: level, busy: level, lit: level };
        Self { sides: [side(true), side(false)], post: Default::default() }
    }

    /// The state of the unit after an event at end `at`.
    fn after(&self, at: usize, ladder: Ladder, event: impl FnOnce(&mut End) -> Reply) -> Self {
        let mut world = self.clone();
        let side = &mut world.sides[at];
        let level = side.end.level;
        let Reply { deed, say } = event(&mut side.end);
        match deed {
            Some(Deed::Close) => side.open = ladder.below(level),
            Some(Deed::Reopen) => (side.open, side.busy) = (level, level),
            Some(Deed::BeginLower) => side.lit = ladder.below(level),
            Some(Deed::EndRaise) => (side.open, side.busy) = (ladder.above(level), ladder.above(level)),
            Some(Deed::EndLower | Deed::BeginRaise) | None => {}
        }
        world.post[1 - at].extend(say);
        world
    }

    /// All states of the unit to which one event can lead.
    fn next(&self, ladder: Ladder) -> Vec<Self> {
        let mut all = Vec::new();
        for at in 0..2 {
            let Side { end, .. } = self.sides[at];
            if !self.post[at].is_empty() {
                let mut heard = self.clone();
                let say = heard.post[at].pop_front().expect("a message");
                all.push(heard.after(at, ladder, |end| end.heard(say, ladder)));
            }
            if self.post[1 - at].len() < 3 {
                all.extend(
                    [Wish::Stay, Wish::More, Wish::Less]
                        .map(|wish| self.after(at, ladder, |end| end.measured(wish, ladder))),
                );
            }
            match end.phase {
                Phase::Drains if !end.is_done => {
                    let mut drained = self.clone();
                    drained.sides[at].busy = drained.sides[at].open;
                    all.push(drained.after(at, ladder, End::drained));
                }
                Phase::Lowers if !end.is_done => all.push(self.after(at, ladder, |end| end.moved(ladder))),
                Phase::Raises if !end.is_done => {
                    let mut up = self.clone();
                    up.sides[at].lit = ladder.above(end.level);
                    all.push(up.after(at, ladder, |end| end.moved(ladder)));
                }
                Phase::Rests | Phase::Drains | Phase::Returns | Phase::Lowers | Phase::Raises => {}
            }
        }
        all
    }

    fn rests(&self) -> bool {
        self.post.iter().all(VecDeque::is_empty) && self.sides.iter().all(|side| side.end.phase == Phase::Rests)
    }

    /// Describes the error in this state of the unit, if there is one.
    fn fault(&self) -> Option<&'static str> {
        let into_the_dark = |(from, to): (usize, usize)| self.sides[from].busy > self.sides[to].lit;
        let [a, b] = &self.sides;
        if [(0, 1), (1, 0)].into_iter().any(into_the_dark) {
            Some("packets into the dark")
        } else if a.open == 0 || b.open == 0 {
            Some("no member is open")
        } else if self.rests() && (a.end.level != b.end.level || a.open != a.end.level || b.open != b.end.level) {
            Some("the ends disagree for good")
        } else {
            None
        }
    }
}

/// Returns all reachable states of the unit and, for each of them, the indices of the states from which one event leads to it.
fn explore(ladder: Ladder) -> (Vec<World>, Vec<Vec<usize>>) {
    let (mut numbers, mut worlds, mut before) = (HashMap::new(), Vec::new(), Vec::new());
    let mut open = vec![(World::new(ladder.top), None)];
    while let Some((world, from)) = open.pop() {
        let number = *numbers.entry(world).or_insert_with_key(|world: &World| {
            assert_eq!(world.fault(), None, "{world:?}");
            open.extend(world.next(ladder).into_iter().map(|next| (next, Some(worlds.len()))));
            worlds.push(world.clone());
            before.push(Vec::new());
            worlds.len() - 1
        });
        before[number].extend(from);
        assert!(worlds.len() < 1_000_000, "the protocol is not finite");
    }
    (worlds, before)
}

#[test]
fn no_order_of_messages_makes_the_ends_disagree_or_send_into_the_dark() {
    for (top, step) in [(2, 1), (3, 1), (4, 2), (3, 8)] {
        let ladder = Ladder { top, step };
        let (worlds, before) = explore(ladder);
        assert!(worlds.len() > 200, "only {} worlds", worlds.len());
        // for each level of the ladder, a state must exist in which the unit rests at this level, and it must be reachable from every state
        let levels: Vec<u16> = std::iter::successors(Some(top), |&n| (n > 1).then(|| ladder.below(n))).collect();
        for level in levels {
            let rest = worlds.iter().position(|world| world.rests() && world.sides[0].end.level == level);
            let (mut reach, mut open) = (vec![false; worlds.len()], vec![rest.expect("a level of the ladder")]);
            while let Some(k) = open.pop() {
                if !std::mem::replace(&mut reach[k], true) {
                    open.extend(&before[k]);
                }
            }
            let stuck = reach.iter().position(|reached| !reached);
            assert_eq!(stuck.map(|k| &worlds[k]), None, "can't come to rest at level {level}");
        }
    }
}

#[test]
fn a_wish_for_more_cancels_a_drain() {
    let ladder = Ladder { top: 4, step: 1 };
    let drains = || {
        let (mut leader, mut other) = (End::new(true, 4), End::new(false, 4));
        let wish = other.measured(Wish::Less, ladder).say.expect("it tells its wish");
        assert_eq!(leader.heard(wish, ladder), Reply::default());
        assert_eq!(leader.measured(Wish::Less, ladder), Reply::both(Deed::Close, Say::Drain));
        assert_eq!(other.heard(Say::Drain, ladder), Reply::deed(Deed::Close));
        (leader, other)
    };
    // first case: the leader requests more links for its own direction
    let (mut leader, mut other) = drains();
    assert_eq!(leader.measured(Wish::More, ladder), Reply::both(Deed::Reopen, Say::Return));
    assert_eq!(other.heard(Say::Return, ladder), Reply::both(Deed::Reopen, Say::Returned));
    // second case: the other end has already drained, and then requests more links
    let (mut leader, mut other) = drains();
    assert_eq!(other.drained(), Reply::say(Say::Drained));
    assert_eq!(other.measured(Wish::More, ladder), Reply::say(Say::Wish(Wish::More)));
    assert_eq!(leader.heard(Say::Drained, ladder), Reply::default());
    assert_eq!(leader.heard(Say::Wish(Wish::More), ladder), Reply::both(Deed::Reopen, Say::Return));
    // third case: both ends have drained before the request for more links, so the request comes too late
    let (mut leader, mut other) = drains();
    assert_eq!(leader.drained(), Reply::default());
    let said = other.drained().say.expect("it says so");
    assert_eq!(leader.heard(said, ladder), Reply::both(Deed::BeginLower, Say::Lower));
    assert_eq!(leader.measured(Wish::More, ladder), Reply::default());
}

#[test]
fn one_direction_alone_wakes_and_does_not_put_to_sleep() {
    let ladder = Ladder { top: 4, step: 2 };
    let mut leader = End::new(true, 2);
    assert_eq!(leader.measured(Wish::Less, ladder), Reply::default(), "the other end has not agreed");
    assert_eq!(leader.heard(Say::Wish(Wish::More), ladder), Reply::both(Deed::BeginRaise, Say::Raise));
    assert_eq!(leader.heard(Say::Raised, ladder), Reply::default());
    assert_eq!(leader.moved(ladder), Reply::both(Deed::EndRaise, Say::Raised));
    assert_eq!((leader.phase, leader.level), (Phase::Rests, 4));
    let mut other = End::new(false, 4);
    assert_eq!(other.measured(Wish::More, ladder), Reply::default(), "all members are on");
}
