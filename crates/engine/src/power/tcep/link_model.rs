//! Every state that two ends of a link can reach, with everything that can be under way between them.
//!
//! Messages keep their order on each way (over the hub, on the side channel), and the two ways are independent. A message
//! may take any time up to the second end of an epoch of its receiver: epochs are far longer than the way over the hub.

use super::{End, Say, Want};
use crate::power::LinkState;
use std::collections::{HashMap, HashSet, VecDeque};

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Word {
    Ask(Want),
    Say(Say),
}

/// Whether it was under way at the last end of an epoch of its receiver.
type Post = Vec<(Word, bool)>;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    ends: [End; 2],
    /// Requests that wait for the end of the epoch of each end.
    inbox: [Option<Want>; 2],
    /// To each end: over the hub, and on the side channel.
    post: [[Post; 2]; 2],
}

impl World {
    fn new(state: LinkState) -> Self {
        Self { ends: [End::new(state); 2], inbox: [None; 2], post: Default::default() }
    }

    fn send(&mut self, to: usize, word: Word) {
        let way = usize::from(word == Word::Say(Say::Ready));
        self.post[to][way].push((word, false));
    }

    fn is_quiet(&self) -> bool {
        self.post.iter().flatten().all(Vec::is_empty) && self.inbox == [None; 2]
    }

    /// Every next world.
    fn next(&self) -> Vec<Self> {
        let mut all = Vec::new();
        for end in 0..2 {
            (0..2).for_each(|way| self.arrive(end, way, &mut all));
            self.move_alone(end, &mut all);
            // an epoch ends here, once what was under way at the last end has come
            if self.post[end].iter().flatten().all(|&(_, old)| !old) {
                self.end_epoch(end, &mut all);
            }
        }
        all
    }

    fn arrive(&self, end: usize, way: usize, all: &mut Vec<Self>) {
        if self.post[end][way].is_empty() {
            return;
        }
        let mut world = self.clone();
        let (word, _) = world.post[end][way].remove(0);
        match word {
            Word::Ask(want) => world.inbox[end] = Some(want),
            Word::Say(Say::Ack) => {
                // this end may meanwhile have agreed with a third router
                let mut other = world.clone();
                if let Err(say) = other.ends[end].acked(false) {
                    other.send(1 - end, Word::Say(say));
                }
                all.push(other);
                if let Err(say) = world.ends[end].acked(true) {
                    world.send(1 - end, Word::Say(say));
                }
            }
            Word::Say(Say::Nack) => world.ends[end].nacked(),
            Word::Say(Say::Reactivate) => world.ends[end].reactivated(),
            Word::Say(Say::Ready) => world.ends[end].peer_done(),
        }
        all.push(world);
    }

    /// What an end may do at any time.
    fn move_alone(&self, end: usize, all: &mut Vec<Self>) {
        let mut world = self.clone();
        let me = &mut world.ends[end];
        let say = match me.state {
            LinkState::Shadow => me.reactivate(),
            LinkState::Draining | LinkState::Waking if !me.ready => me.done(),
            _ => return,
        };
        world.send(1 - end, Word::Say(say));
        all.push(world);
    }

    fn end_epoch(&self, end: usize, all: &mut Vec<Self>) {
        let mut world = self.clone();
        world.post[end].iter_mut().flatten().for_each(|(_, old)| *old = true);
        if let Some(want) = world.inbox[end].take() {
            let crossing = world.ends[end].asked == Some(want);
            for agree in [true, false] {
                if crossing && !agree {
                    continue;
                }
                let mut judged = world.clone();
                let say = judged.ends[end].judge(want, agree);
                judged.send(1 - end, Word::Say(say));
                all.push(judged);
            }
            return;
        }
        let me = world.ends[end];
        if me.asked.is_none() {
            for want in [Want::Activate, Want::Deactivate].into_iter().filter(|&want| me.fits(want)) {
                let mut asking = world.clone();
                asking.ends[end].asked = Some(want);
                asking.send(1 - end, Word::Ask(want));
                all.push(asking);
            }
        }
        if me.state == LinkState::Shadow {
            let mut expired = world.clone();
            expired.ends[end].expire();
            all.push(expired);
        }
        all.push(world); // nothing to do
    }

    fn check(&self) {
        for (from, to) in [(0, 1), (1, 0)] {
            assert!(!self.ends[from].may_send() || self.ends[to].is_lit(), "flits into a dark end: {self:?}");
        }
        let stays = |end: &End| matches!(end.state, LinkState::On | LinkState::Off | LinkState::Shadow);
        if self.is_quiet() && self.ends.iter().all(stays) {
            assert_eq!(self.ends[0].state, self.ends[1].state, "the ends disagree for good: {self:?}");
            assert_eq!(self.ends.map(|end| end.asked), [None; 2], "a request without an answer: {self:?}");
        }
    }
}

#[test]
fn no_order_of_messages_makes_the_ends_disagree_or_send_into_the_dark() {
    let mut seen: HashMap<World, Vec<World>> = HashMap::new();
    let mut open: VecDeque<World> = [LinkState::On, LinkState::Off].map(World::new).into();
    while let Some(world) = open.pop_front() {
        if seen.contains_key(&world) {
            continue;
        }
        world.check();
        let next = world.next();
        open.extend(next.iter().filter(|world| !seen.contains_key(world)).cloned());
        seen.insert(world, next);
        assert!(seen.len() < 1_000_000, "the protocol is not finite");
    }
    assert!(seen.len() > 1000, "only {} worlds", seen.len());
    every_world_can_come_to_rest(&seen);
}

/// From every world both a link that is on and one that is off can be reached: nothing is stuck.
fn every_world_can_come_to_rest(seen: &HashMap<World, Vec<World>>) {
    let mut before: HashMap<&World, Vec<&World>> = HashMap::new();
    for (world, next) in seen {
        next.iter().for_each(|after| before.entry(after).or_default().push(world));
    }
    for rest in [LinkState::On, LinkState::Off].map(World::new) {
        let (mut can, mut open) = (HashSet::from([&rest]), vec![&rest]);
        while let Some(world) = open.pop() {
            for &earlier in before.get(world).into_iter().flatten() {
                if can.insert(earlier) {
                    open.push(earlier);
                }
            }
        }
        assert_eq!(can.len(), seen.len(), "worlds that can't come to rest in {:?}", rest.ends[0].state);
    }
}
