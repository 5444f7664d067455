//! The network interfaces of a node, and the choice of the interface that sends a message.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::base::hash::{below, hash};

/// Purpose of the random numbers that choose interfaces (a part of their address).
const RAIL: u64 = 0x7261_696c;

/// Rule that chooses which interface of a node sends a message. The packets of the message go to the interface with the same index at the
/// other node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RailChoice {
    /// The packets of a message use all interfaces in turn. The first packet uses the interface after the one that sent the first packet of
    /// the previous message.
    #[default]
    Striping,
    /// A hash of the sending rank and of the message's number chooses the interface.
    Hash,
    /// The number of the receiving node, modulo the number of interfaces, chooses the interface.
    Destination,
    /// The index of the sending rank in its node, modulo the number of interfaces, chooses the interface.
    LocalRank,
}

/// The interfaces of each node.
#[derive(Debug, Clone, Copy)]
pub struct Rails {
    pub count: u32,
    pub choice: RailChoice,
    pub seed: u64,
}

/// The properties of a message by which its interface is chosen.
#[derive(Debug, Clone, Copy)]
pub struct Choice {
    /// The index of the sending rank in its node.
    pub local_rank: u32,
    /// The number of the sending rank.
    pub from: u32,
    /// Number of the receiving node.
    pub node: u32,
    /// The message's number at the sending node.
    pub number: u32,
}

impl Rails {
    /// Returns the interface that sends the first packet of a message.
    pub fn first(&self, of: Choice) -> u32 {
        match self.choice {
            RailChoice::Striping => of.number % self.count,
            RailChoice::Hash => below(hash(self.seed, of.from, of.number, RAIL), self.count),
            RailChoice::Destination => of.node % self.count,
            RailChoice::LocalRank => of.local_rank % self.count,
        }
    }

    /// True if all packets of a message use one interface.
    pub fn are_single(&self) -> bool {
        match self.choice {
            RailChoice::Striping => self.count == 1,
            RailChoice::Hash | RailChoice::Destination | RailChoice::LocalRank => true,
        }
    }

    /// Returns the interfaces that send a message of `flits` flits in packets of at most `packet` flits, beginning with
    /// interface `first`. Each interface is returned with the number of flits that it sends.
    pub fn shares(&self, first: u32, flits: u64, packet: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let packets = flits.div_ceil(packet);
        let ways = match self.choice {
            RailChoice::Striping => packets.min(self.count.into()),
            RailChoice::Hash | RailChoice::Destination | RailChoice::LocalRank => 1,
        };
        let count = u64::from(self.count);
        (0..ways).map(move |k| {
            let own = (packets - k).div_ceil(ways);
            let lacks = if (packets - 1) % ways == k { packets * packet - flits } else { 0 };
            (((u64::from(first) + k) % count) as usize, own * packet - lacks)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rails(count: u32, choice: RailChoice) -> Rails {
        Rails { count, choice, seed: 7 }
    }

    #[test]
    fn stripes_are_whole_packets_in_turn() {
        let shares = |first, flits| rails(3, RailChoice::Striping).shares(first, flits, 16).collect::<Vec<_>>();
        // The packets have 16, 16, 16, 16 and 5 flits. Interface 0 sends the first and the fourth packet, interface 1 the second and the
        // fifth, interface 2 the third
        assert_eq!(shares(0, 69), [(0, 32), (1, 21), (2, 16)]);
        assert_eq!(shares(2, 69), [(2, 32), (0, 21), (1, 16)]);
        assert_eq!(shares(1, 20), [(1, 16), (2, 4)]);
        assert_eq!(shares(2, 1), [(2, 1)]);
        for flits in 1..200 {
            assert_eq!(shares(0, flits).iter().map(|&(_, flits)| flits).sum::<u64>(), flits);
        }
        assert_eq!(rails(3, RailChoice::Hash).shares(2, 69, 16).collect::<Vec<_>>(), [(2, 69)]);
    }

    #[test]
    fn each_choice_goes_by_what_it_says() {
        let choose =
            |choice, local_rank, node, number| rails(4, choice).first(Choice { local_rank, from: 9, node, number });
        assert_eq!([0, 1, 5].map(|number| choose(RailChoice::Striping, 0, 0, number)), [0, 1, 1]);
        assert_eq!([0, 3, 6].map(|rank| choose(RailChoice::LocalRank, rank, 0, 0)), [0, 3, 2]);
        assert_eq!([0, 7, 8].map(|node| choose(RailChoice::Destination, 0, node, 0)), [0, 3, 0]);
        let mut counts = [0u32; 4];
        (0..4000).for_each(|number| counts[choose(RailChoice::Hash, 0, 0, number) as usize] += 1);
        // the counts have a binomial distribution with mean 1000 and a standard deviation below sqrt(1000); the test allows 5 standard
        // deviations
        assert!(counts.iter().all(|&count| count.abs_diff(1000) < 160), "{counts:?}");
    }
}
