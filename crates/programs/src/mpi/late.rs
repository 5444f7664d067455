//! Cancelled receives of a rank, if the trace does not record whether they got a message. These receives can match messages that no other
//! receive matches.

use crate::form::{Comm, Op};
use std::collections::HashMap;

/// The key of a receive: the communicator's number, the sender as a rank of the program, and the tag. `None` means any.
type Wanted = (u32, Option<u32>, Option<u32>);

/// Receives with the same key, in the order in which they completed. A binary tree over the receives stores the largest size in each
/// subtree. A search or a removal therefore only visits the nodes on one path from the root to a leaf.
#[derive(Debug, Default)]
struct Group {
    /// The position of each receive among all receives of the rank.
    places: Vec<usize>,
    /// The tree, stored as an array. The leaves have the sizes of the receives plus 1; 0 means that there is no receive. The leaves begin
    /// at the index `places.len()`, rounded up to a power of two. Before the leaves are the inner nodes, each with the maximum of its two
    /// children. The root is at index 1.
    sizes: Vec<u64>,
}

impl Group {
    fn new(receives: Vec<(usize, u64)>) -> Self {
        let leaves = receives.len().next_power_of_two();
        let mut sizes = vec![0; 2 * leaves];
        for (leaf, &(_, size)) in receives.iter().enumerate() {
            sizes[leaves + leaf] = size.saturating_add(1);
        }
        for node in (1..leaves).rev() {
            sizes[node] = sizes[2 * node].max(sizes[2 * node + 1]);
        }
        Self { places: receives.into_iter().map(|(place, _)| place).collect(), sizes }
    }

    fn leaves(&self) -> usize {
        self.sizes.len() / 2
    }

    /// Returns the leaf of the last receive that is large enough for a message of `bytes` bytes.
    fn last(&self, bytes: u64) -> Option<usize> {
        let mut node = 1;
        if *self.sizes.get(node)? <= bytes {
            return None;
        }
        while node < self.leaves() {
            node = 2 * node + usize::from(self.sizes[2 * node + 1] > bytes);
        }
        Some(node - self.leaves())
    }

    fn remove(&mut self, leaf: usize) {
        let mut node = self.leaves() + leaf;
        self.sizes[node] = 0;
        while node > 1 {
            node /= 2;
            self.sizes[node] = self.sizes[2 * node].max(self.sizes[2 * node + 1]);
        }
    }
}

/// The cancelled receives of one rank, by key.
#[derive(Debug)]
pub struct Late {
    receives: Vec<(u32, Op)>,
    groups: HashMap<Wanted, Group>,
}

impl Late {
    /// `receives` has the receives in the order in which they completed, each with its position among the calls of the rank. `comms`
    /// has the communicators of the rank.
    pub fn new(receives: Vec<(u32, Op)>, comms: &[Comm]) -> Self {
        let mut wanted: HashMap<Wanted, Vec<(usize, u64)>> = HashMap::new();
        for (place, (_, op)) in receives.iter().enumerate() {
            let comm = usize::from(op.comm()).checked_sub(1).map(|place| &comms[place]);
            let number = comm.map_or(0, |comm| comm.number);
            let member = |peer: u32| comm.map_or(Some(peer), |comm| comm.members.get(peer as usize).copied());
            let source = op.peer().map(member);
            if source != Some(None) {
                wanted.entry((number, source.flatten(), op.tag())).or_default().push((place, op.size()));
            }
        }
        let groups = wanted.into_iter().map(|(wanted, receives)| (wanted, Group::new(receives))).collect();
        Self { receives, groups }
    }

    /// Removes and returns the receive that matches a message from rank `from` in communicator `number`. If several receives match,
    /// returns the last of them. This choice is safe: however the recorded run matched them, the messages that earlier receives need were
    /// sent before.
    pub fn take(&mut self, from: u32, (number, tag, bytes): (u32, u32, u64)) -> Option<(u32, Op)> {
        let any = [Some(from), None].into_iter().flat_map(|from| [Some(tag), None].map(|tag| (number, from, tag)));
        let fit = any.filter_map(|wanted| {
            let group = self.groups.get(&wanted)?;
            let leaf = group.last(bytes)?;
            Some((group.places[leaf], leaf, wanted))
        });
        let (place, leaf, wanted) = fit.max()?;
        self.groups.get_mut(&wanted)?.remove(leaf);
        Some(self.receives[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64Mcg;
    use rand_pcg::rand_core::{Rng, SeedableRng};

    /// Random receives and messages with few sources, tags and sizes. The result is compared with a search through all
    /// receives.
    #[test]
    fn the_last_receive_that_fits_takes_a_message() {
        for seed in 0..50 {
            let mut random = Pcg64Mcg::seed_from_u64(seed);
            let mut below = |most: u64| (random.next_u64() % most) as u32;
            let comms = [Comm { number: 7, members: vec![3, 1, 2].into(), me: 0 }];
            let mut receive = |index: u32| {
                let comm = below(2) as u16;
                let [peer, tag] = [below(4), below(4)].map(|number| (number < 3).then_some(number));
                (index, Op::receive(peer, below(5).into(), tag).within(comm))
            };
            let mut receives: Vec<(u32, Op)> = (0..40).map(&mut receive).collect();
            let mut late = Late::new(receives.clone(), &comms);
            for _ in 0..60 {
                let (from, number, tag, bytes) = (1 + below(2), 7 * below(2), below(3), below(5).into());
                let fits = |(_, op): &(u32, Op)| {
                    let peer =
                        if number == 0 { from } else { [3, 1, 2].iter().position(|&m| m == from).unwrap() as u32 };
                    (op.comm() == 0) == (number == 0)
                        && op.peer().is_none_or(|wanted| wanted == peer)
                        && op.tag().is_none_or(|wanted| wanted == tag)
                        && bytes <= op.size()
                };
                let expected = receives.iter().rposition(fits).map(|place| receives.remove(place));
                assert_eq!(late.take(from, (number, tag, bytes)), expected, "seed {seed}");
            }
        }
    }

    /// 10^5 messages look for their receives among 10^5 receives. A linear search would check 10^10 receives, which takes minutes.
    #[test]
    fn a_hundred_thousand_messages_find_their_receives_among_as_many() {
        let count = 100_000;
        let receives = (0..count).map(|index| (index, Op::receive(None, u64::from(index), None))).collect();
        let mut late = Late::new(receives, &[]);
        for bytes in (0..count).rev() {
            assert_eq!(late.take(1, (0, 2, bytes.into())).map(|(index, _)| index), Some(bytes));
        }
        assert_eq!(late.take(1, (0, 2, 0)), None);
    }
}
