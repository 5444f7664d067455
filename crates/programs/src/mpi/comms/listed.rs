//! Communicators whose members are listed in the trace at each of their ranks.

use super::{Creation, How};
use std::collections::HashMap;
use std::rc::Rc;
use weft_units::Refusal;

/// A communicator: its ranks in their order, and its number at each of these ranks.
type Listed = (Vec<u32>, HashMap<u32, u16>);

/// Returns the communicators of all lists, in the order of the lists at the ranks. If MPI creates several communicators
/// with the same members, all these ranks create them in the same order. Therefore the n-th list with the same members
/// is the same communicator at each rank.
pub fn communicators(created: &[Vec<Creation>]) -> Result<Vec<Listed>, Refusal> {
    let mut found: Vec<Listed> = Vec::new();
    let mut places: HashMap<(Rc<[u32]>, u32), usize> = HashMap::new();
    for (rank, creations) in (0..).zip(created) {
        let mut seen: HashMap<Rc<[u32]>, u32> = HashMap::new();
        for creation in creations {
            let (How::Listed(members), Some(number)) = (&creation.how, creation.new) else { continue };
            check(rank, members, created.len())?;
            let times = seen.entry(Rc::clone(members)).or_insert(0);
            let place = *places.entry((Rc::clone(members), *times)).or_insert_with(|| {
                found.push((members.to_vec(), HashMap::with_capacity(members.len())));
                found.len() - 1
            });
            *times += 1;
            found[place].1.insert(rank, number);
        }
    }
    for (members, numbers) in &found {
        if let Some(missing) = members.iter().find(|rank| !numbers.contains_key(rank)) {
            let first = numbers.keys().min().copied().unwrap_or(0);
            let what =
                format!("rank {first} creates a communicator with rank {missing}, but that rank does not create it");
            return Err(Refusal::new("the trace", what, "record all ranks of one run, from their start to their end"));
        }
    }
    Ok(found)
}

/// Refuses lists with unknown ranks or with a rank twice, and lists without the rank at which they are stored.
fn check(rank: u32, members: &[u32], ranks: usize) -> Result<(), Refusal> {
    let mut sorted = members.to_vec();
    sorted.sort_unstable();
    let is_odd = sorted.windows(2).any(|pair| pair[0] == pair[1]) || sorted.last() >= Some(&(ranks as u32));
    if is_odd || sorted.binary_search(&rank).is_err() {
        let what = format!("a communicator of rank {rank} has an invalid list of ranks: {}", named(members));
        return Err(Refusal::new("the trace", what, "the file is damaged: copy or record it again"));
    }
    Ok(())
}

/// Returns the first ranks of a list as text.
fn named(members: &[u32]) -> String {
    const NAMED: usize = 8;
    let first: Vec<String> = members.iter().take(NAMED).map(u32::to_string).collect();
    let more = if members.len() > NAMED { ", ..." } else { "" };
    format!("{}{more}", first.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(members: &[u32], new: u16) -> Creation {
        Creation { call: "Comm_create", parent: 0, how: How::Listed(members.into()), new: Some(new) }
    }

    #[test]
    fn equal_lists_are_distinguished_by_their_order_at_each_rank() {
        let created = [
            vec![made(&[0, 1], 1), made(&[0, 2], 2), made(&[0, 1], 3)],
            vec![made(&[0, 1], 1), made(&[0, 1], 2)],
            vec![made(&[0, 2], 1)],
        ];
        let found = communicators(&created).unwrap();
        let of = |place: usize, rank: u32| found[place].1[&rank];
        assert_eq!(found.iter().map(|listed| listed.0.clone()).collect::<Vec<_>>(), [[0, 1], [0, 2], [0, 1]]);
        assert_eq!([of(0, 0), of(0, 1), of(1, 2), of(2, 0), of(2, 1)], [1, 1, 1, 3, 2]);
    }

    #[test]
    fn lists_that_do_not_fit_together_are_refused_with_the_rank() {
        let message_of = |created: &[Vec<Creation>]| communicators(created).unwrap_err().what;
        assert_eq!(
            message_of(&[vec![made(&[0, 1], 1)], Vec::new()]),
            "rank 0 creates a communicator with rank 1, but that rank does not create it"
        );
        for members in [&[0, 2][..], &[0, 0], &[1], &[]] {
            let found = message_of(&[vec![made(members, 1)], Vec::new()]);
            assert!(found.starts_with("a communicator of rank 0 has an invalid list of ranks: "), "{found}");
        }
    }
}
