//! Finds receives that are smaller than their messages. In MPI a receive that is smaller than its message is an error
//! (truncation). LogGOPSim and the rank machine match only source and tag, and ignore sizes. Weft therefore does not refuse these
//! receives, but they are probably a mistake in the program.

use super::op::{Kind, Op};
use super::program::{Program, RankProgram};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// A channel between two ranks: sender, receiver, number of the communicator, and tag.
type Channel = (u32, u32, u32, u32);

/// The messages of a program that are larger than their receives, in every possible order of matching.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ShortReceives {
    /// Smallest number of such messages over all possible orders of matching.
    pub count: u64,
    /// An example of such a message: its ranks, tag, and bytes.
    pub sender: u32,
    pub receiver: u32,
    pub tag: u32,
    pub message_bytes: u64,
    pub receive_bytes: u64,
}

impl ShortReceives {
    /// The remedy for receives that are too short.
    pub fn help(&self) -> &'static str {
        "write receives of at least the bytes of their messages: in MPI a smaller receive is an error, called truncation. Weft computes \
         all times from the bytes of the message"
    }
}

impl fmt::Display for ShortReceives {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { count, sender, receiver, tag, message_bytes, receive_bytes } = self;
        let messages = if *count == 1 { "1 message is" } else { &format!("{count} messages are") };
        write!(
            f,
            "{messages} larger than the receive, such as the {message_bytes} bytes from rank {sender} to rank {receiver} with tag {tag}, \
             whose receive has {receive_bytes} bytes"
        )
    }
}

/// The sends and receives of a channel.
#[derive(Debug, Default)]
struct Sizes {
    sends: Vec<u64>,
    receives: Vec<u64>,
}

/// A receive from any source or with any tag, as communicator, source, tag, bytes.
type Wild = (u32, Option<u32>, Option<u32>, u64);

impl Program {
    /// Returns the messages that are larger than their receives; `None` if some order of matching avoids them.
    ///
    /// The function does not check ranks that get messages without a tag, because such a message might match any
    /// receive of the rank.
    pub fn short_receives(&self) -> Option<ShortReceives> {
        let suspects = self.suspects();
        if suspects.is_empty() {
            return None;
        }
        let mut sizes: HashMap<Channel, Sizes> = HashMap::new();
        let mut wild: HashMap<u32, Vec<Wild>> = HashMap::new();
        let mut open = BTreeSet::new();
        self.each_end(|op, me, peer, context| match (op.kind(), peer, op.tag()) {
            (Kind::Send, Some(to), Some(tag)) => {
                let key = (me, to, context, tag);
                if suspects.contains(&key) {
                    sizes.entry(key).or_default().sends.push(op.size());
                }
            }
            (Kind::Send, Some(to), None) => _ = open.insert(to),
            (Kind::Receive, Some(from), Some(tag)) => {
                let key = (from, me, context, tag);
                if suspects.contains(&key) {
                    sizes.entry(key).or_default().receives.push(op.size());
                }
            }
            (Kind::Receive, _, _) => wild.entry(me).or_default().push((context, peer, op.tag(), op.size())),
            _ => (),
        });
        let found = suspects.into_iter().filter(|(_, to, ..)| !open.contains(to)).filter_map(|key| {
            let all = sizes.remove(&key)?;
            let others = wild.get(&key.1).into_iter().flatten().filter(|wild| may_take(wild, key)).map(|wild| wild.3);
            too_large(key, all, others)
        });
        found.reduce(|sum, each| ShortReceives { count: sum.count + each.count, ..sum })
    }

    /// Returns the channels whose largest message is larger than their smallest receive.
    fn suspects(&self) -> BTreeSet<Channel> {
        let mut extremes: HashMap<Channel, (u64, u64)> = HashMap::new();
        self.each_end(|op, me, peer, context| match (op.kind(), peer, op.tag()) {
            (Kind::Send, Some(to), Some(tag)) => {
                let most = &mut extremes.entry((me, to, context, tag)).or_insert((0, u64::MAX)).0;
                *most = (*most).max(op.size());
            }
            (Kind::Receive, Some(from), Some(tag)) => {
                let least = &mut extremes.entry((from, me, context, tag)).or_insert((0, u64::MAX)).1;
                *least = (*least).min(op.size());
            }
            _ => (),
        });
        extremes.into_iter().filter(|(_, (most, least))| most > least).map(|(key, _)| key).collect()
    }

    /// Calls `see` with each send and receive, its rank, the peer, and the number of the communicator.
    fn each_end(&self, mut see: impl FnMut(&Op, u32, Option<u32>, u32)) {
        for (rank, of) in (0..).zip(&self.ranks) {
            for op in of.ops.ops() {
                if matches!(op.kind(), Kind::Send | Kind::Receive) {
                    see(op, rank, op.peer().map(|peer| of.rank_of(op.comm(), peer)), context(of, op));
                }
            }
        }
    }
}

/// Returns the number that an operation's communicator has in the program.
fn context(of: &RankProgram, op: &Op) -> u32 {
    usize::from(op.comm()).checked_sub(1).map_or(0, |place| of.comms[place].number)
}

fn may_take(&(context, source, tag, _): &Wild, (from, _, of, with): Channel) -> bool {
    context == of && source.is_none_or(|source| source == from) && tag.is_none_or(|tag| tag == with)
}

/// Returns the messages of a channel that are larger than their receives. `others` are receives from any source or with
/// any tag that can match these messages instead.
fn too_large(
    (sender, receiver, _, tag): Channel,
    Sizes { mut sends, mut receives }: Sizes,
    others: impl Iterator<Item = u64>,
) -> Option<ShortReceives> {
    // if there are more messages than receives, some messages get no receive. These can be the largest messages
    let pairs = sends.len().min(receives.len());
    receives.extend(others);
    sends.sort_unstable();
    receives.sort_unstable();
    // each receive, beginning with the smallest, takes the smallest remaining message if it is large enough. No other order gives
    // more messages a receive that is large enough
    let fits = receives
        .iter()
        .fold(0, |done, receive| done + usize::from(sends.get(done).is_some_and(|message| message <= receive)));
    let count = pairs.checked_sub(fits).filter(|&count| count > 0)? as u64;
    // the largest messages get the largest receives, down to the first pair in which the message is larger
    let mut both = sends[..pairs].iter().rev().zip(receives.iter().rev());
    let (&message_bytes, &receive_bytes) = both.find(|(message, receive)| message > receive)?;
    Some(ShortReceives { count, sender, receiver, tag, message_bytes, receive_bytes })
}

#[cfg(test)]
mod tests {
    use super::super::Calls;
    use super::*;

    /// All messages of this test go from rank 0 to rank 1.
    fn found(sends: &[(u64, Option<u32>)], receives: &[(Option<u32>, u64, Option<u32>)]) -> Option<ShortReceives> {
        let [mut sender, mut receiver] = [Calls::default(), Calls::default()];
        sends.iter().for_each(|&(bytes, tag)| _ = sender.blocking(Op::send(1, bytes, tag)));
        receives.iter().for_each(|&(from, bytes, tag)| _ = receiver.blocking(Op::receive(from, bytes, tag)));
        Program { ranks: [sender, receiver].map(|calls| RankProgram::new(calls.finish())).into() }.short_receives()
    }

    fn of_tag_5(sends: &[u64], receives: &[u64]) -> Option<(u64, u64, u64)> {
        let sends: Vec<_> = sends.iter().map(|&bytes| (bytes, Some(5))).collect();
        let receives: Vec<_> = receives.iter().map(|&bytes| (Some(0), bytes, Some(5))).collect();
        found(&sends, &receives).map(|short| (short.count, short.message_bytes, short.receive_bytes))
    }

    #[test]
    fn messages_are_counted_that_fit_in_no_order() {
        assert_eq!(of_tag_5(&[8, 100], &[100, 8]), None, "another order fits");
        assert_eq!(of_tag_5(&[8], &[100]), None, "a larger receive is fine");
        assert_eq!(of_tag_5(&[100], &[8]), Some((1, 100, 8)));
        assert_eq!(of_tag_5(&[100, 100, 100], &[8, 100, 8]), Some((2, 100, 8)));
        assert_eq!(of_tag_5(&[100, 50], &[8, 60]), Some((1, 100, 60)), "one of them");
        assert_eq!(of_tag_5(&[8, 100], &[4, 200]), Some((1, 8, 4)), "the other one fits");
        assert_eq!(of_tag_5(&[100, 8], &[8]), None, "the large one may be the one without a receive");
        assert_eq!(of_tag_5(&[8], &[4, 8]), None);
        assert_eq!(of_tag_5(&[], &[4]), None);
    }

    #[test]
    fn a_wildcard_may_take_a_message_that_fits_nowhere_else() {
        let (send, short) = ((100, Some(5)), (Some(0), 8, Some(5)));
        assert_eq!(found(&[send], &[short, (None, 100, None)]), None);
        assert_eq!(found(&[send], &[short, (Some(0), 100, None)]), None);
        assert!(found(&[send], &[short, (None, 100, Some(6))]).is_some(), "another tag");
        assert!(found(&[send], &[short, (None, 99, None)]).is_some(), "too small as well");
        assert_eq!(found(&[send, (8, None)], &[short, (Some(0), 8, Some(5))]), None, "which receive it takes is open");
    }

    #[test]
    fn the_sentence_names_ranks_tag_and_sizes() {
        let short = found(&[(100, Some(5)); 2], &[(Some(0), 8, Some(5)); 2]).expect("two messages");
        let expected = "2 messages are larger than the receive, such as the 100 bytes from rank 0 to rank 1 with tag 5, whose receive \
                        has 8 bytes";
        assert_eq!(short.to_string(), expected);
    }
}
