//! The nodes that a running program occupies, and its mark: a number in the tags of its packets. Programs that share a
//! node have different marks.

use super::NUMBER_BITS;
use super::queue::Started;
use std::collections::BTreeSet;

/// Number of different marks. In the tag of a packet, the mark is between the message number and the purpose.
pub const MARKS: u32 = 64;

/// The nodes that a running program occupies.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Held {
    /// Indices of the nodes in the job, in the order of the program's nodes.
    pub places: Vec<u32>,
    /// Number of the program's cores at each of these nodes; 1 if a node belongs to one program.
    pub cores: Vec<u32>,
}

impl Held {
    /// Creates the list of nodes from `cores`, which has the node index of each core. Cores of one node are consecutive in `cores`.
    pub fn of(cores: &[u32]) -> Self {
        let places = cores.chunk_by(|a, b| a == b);
        let (places, cores) = places.map(|of_place| (of_place[0], of_place.len() as u32)).unzip();
        Self { places, cores }
    }

    /// Returns, for each node, its index and the number of the program's cores there.
    pub fn each(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        self.places.iter().zip(&self.cores).map(|(&place, &cores)| (place as usize, cores))
    }
}

/// Returns the smallest mark that no program of `running` on the same nodes has; `None` if all marks are in use.
pub fn mark<'a>(held: &Held, running: impl Iterator<Item = &'a Started>) -> Option<u32> {
    let places: BTreeSet<u32> = held.places.iter().copied().collect();
    let shares = |other: &&Started| other.held.places.iter().any(|place| places.contains(place));
    let taken: BTreeSet<u32> = running.filter(shares).map(|other| other.mark).collect();
    (0..MARKS).find(|mark| !taken.contains(mark))
}

/// Puts a program's mark into the tag of a packet.
pub fn marked(tag: u32, mark: u32) -> u32 {
    tag | mark << NUMBER_BITS
}

/// Returns the mark that [`marked`] has put into a tag.
pub fn mark_of(tag: u32) -> u32 {
    tag >> NUMBER_BITS & (MARKS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_leave_the_rest_of_a_tag_as_it_is() {
        for tag in [0, 5, (1 << NUMBER_BITS) - 1, 1 << 30 | 7, 2 << 30 | 9] {
            for mark in [0, 1, MARKS - 1] {
                assert_eq!(mark_of(marked(tag, mark)), mark);
                assert_eq!(marked(tag, mark) & !((MARKS - 1) << NUMBER_BITS), tag);
            }
        }
    }
}
