//! Finds the ranks of each communicator. A trace has, for each rank, the calls with which the rank created communicators.
//! The members of a communicator follow only from these calls of all ranks together.

mod listed;
mod unnamed;

pub use unnamed::Unnamed;

use crate::form::Comm;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use weft_units::Refusal;

/// A group of ranks that a rank has made from its communicators.
#[derive(Debug, Clone)]
pub enum Group {
    /// All ranks of the communicator that has this number at the rank.
    Of(u16),
    Empty,
    Including(Rc<Group>, Vec<i64>),
    Excluding(Rc<Group>, Vec<i64>),
    Union(Rc<Group>, Rc<Group>),
    Intersection(Rc<Group>, Rc<Group>),
    Difference(Rc<Group>, Rc<Group>),
}

/// The way in which a communicator was created.
#[derive(Debug, Clone)]
pub enum How {
    Duplicate,
    /// `MPI_Comm_split`: ranks with the same colour form a communicator, in the order of their keys. A rank without a
    /// colour is not in any new communicator.
    Split {
        colour: Option<i64>,
        key: i64,
    },
    /// The ranks of a group.
    Group(Rc<Group>),
    /// The first ranks of the parent, arranged on a grid.
    Grid(Vec<u32>),
    /// The ranks of a grid with equal coordinates in all dimensions except the marked ones.
    Rows(Vec<bool>),
    /// The ranks that the trace lists, in the order of the list.
    Listed(Rc<[u32]>),
}

/// The call with which a rank creates a communicator.
#[derive(Debug, Clone)]
pub struct Creation {
    /// The name of the call, for messages of refusals.
    pub call: &'static str,
    /// The number of the parent communicator at the rank: 0 means all ranks.
    pub parent: u16,
    pub how: How,
    /// The number of the new communicator at the rank, if the rank is in it.
    pub new: Option<u16>,
}

/// A communicator of the program, with all its ranks.
struct Whole {
    members: Arc<[u32]>,
    /// The number that the communicator has at each of its ranks, if it has one there.
    numbers: Vec<Option<u16>>,
    grid: Vec<u32>,
}

/// A list of ranks. If the ranks are on a grid, the second list has the sides of this grid.
type Ranks = (Vec<u32>, Vec<u32>);

/// The state of the search for communicators, with the communicators found so far.
struct Search<'a> {
    created: &'a [Vec<Creation>],
    /// For each rank and each of its communicators: the indices of the creations with this communicator as parent, and
    /// how many of these were already done.
    from: Vec<HashMap<u16, (Vec<usize>, usize)>>,
    wholes: Vec<Whole>,
    /// For each rank, a map from the number of a communicator at this rank to its index in `wholes`.
    known: Vec<HashMap<u16, usize>>,
}

/// Returns the communicators of each rank, in the order of their numbers at the rank. `created` lists the creations of
/// each rank. `own` is the number of the communicator that contains only the rank itself, if there is one.
pub fn resolve(
    created: &[Vec<Creation>],
    unnamed: &[Vec<Unnamed>],
    own: &[Option<u16>],
    counts: &[u16],
) -> Result<Vec<Vec<Comm>>, Refusal> {
    let ranks = created.len();
    let mut from: Vec<HashMap<u16, (Vec<usize>, usize)>> = vec![HashMap::new(); ranks];
    for (rank, creations) in created.iter().enumerate() {
        let is_listed = |creation: &Creation| matches!(creation.how, How::Listed(_));
        for (place, creation) in creations.iter().enumerate().filter(|(_, creation)| !is_listed(creation)) {
            from[rank].entry(creation.parent).or_default().0.push(place);
        }
    }
    let all: Vec<u32> = (0..ranks as u32).collect();
    let mut search = Search { created, from, wholes: Vec::new(), known: vec![HashMap::from([(0, 0)]); ranks] };
    search.wholes.push(Whole { members: all.into(), numbers: vec![Some(0); ranks], grid: Vec::new() });
    for (rank, number) in own.iter().enumerate() {
        if let Some(number) = *number {
            search.add((vec![rank as u32], Vec::new()), |_| Some(number));
        }
    }
    for (members, numbers) in listed::communicators(created)? {
        search.add((members, Vec::new()), |rank| numbers.get(&rank).copied());
    }
    let mut has_progress = true;
    while has_progress {
        has_progress = false;
        let mut place = 0;
        while place < search.wholes.len() {
            while search.step(place)? {
                has_progress = true;
            }
            place += 1;
        }
    }
    unnamed::name(&mut search, unnamed)?;
    search.finish(counts)
}

impl Search<'_> {
    /// Stores a communicator. `number` returns its number at each of its ranks.
    fn add(&mut self, (members, grid): Ranks, number: impl Fn(u32) -> Option<u16>) {
        let place = self.wholes.len();
        let numbers: Vec<Option<u16>> = members.iter().map(|&rank| number(rank)).collect();
        for (&rank, number) in members.iter().zip(&numbers) {
            if let Some(number) = *number {
                self.known[rank as usize].insert(number, place);
            }
        }
        self.wholes.push(Whole { members: members.into(), numbers, grid });
    }

    /// Returns the index of a rank's next creation that has communicator `number` of this rank as parent.
    fn next(&self, number: u16, rank: u32) -> Option<usize> {
        let (list, done) = self.from[rank as usize].get(&number)?;
        list.get(*done).copied()
    }

    /// Adds the communicators of the next creation whose parent is communicator `place` of the program. Returns `false`
    /// if there is no further creation, or if the creation depends on communicators that are not known yet.
    fn step(&mut self, place: usize) -> Result<bool, Refusal> {
        let whole = &self.wholes[place];
        let mut calls: Vec<(u32, usize)> = Vec::with_capacity(whole.members.len());
        let mut missing = None;
        for (&rank, number) in whole.members.iter().zip(&whole.numbers) {
            match number.and_then(|number| self.next(number, rank)) {
                Some(next) => calls.push((rank, next)),
                None => missing = Some(rank),
            }
        }
        let Some(&(first, creation)) = calls.first() else { return Ok(false) };
        let call = self.created[first as usize][creation].call;
        if let Some(missing) = missing {
            let what = format!("rank {first} calls MPI_{call}, but rank {missing} of the same communicator does not");
            return Err(Refusal::new("the trace", what, "record all ranks from their start to their end"));
        }
        if let Some((rank, other)) = calls.iter().find(|(rank, at)| self.created[*rank as usize][*at].call != call) {
            let other = self.created[*rank as usize][*other].call;
            let what = format!("rank {first} calls MPI_{call}, but at this point rank {rank} calls MPI_{other}");
            return Err(Refusal::new("the trace", what, "record all ranks of one run, from their start to their end"));
        }
        let Some(parts) = self.parts(place, &calls)? else { return Ok(false) };
        let created = self.created;
        let news: HashMap<u32, Option<u16>> =
            calls.iter().map(|&(rank, at)| (rank, created[rank as usize][at].new)).collect();
        for &(rank, at) in &calls {
            if let Some((_, done)) = self.from[rank as usize].get_mut(&created[rank as usize][at].parent) {
                *done += 1;
            }
        }
        for part in parts {
            self.add(part, |rank| news.get(&rank).copied().flatten());
        }
        Ok(true)
    }

    /// Returns the communicators that a call creates; `None` if a group refers to a communicator that is not known yet.
    fn parts(&self, place: usize, calls: &[(u32, usize)]) -> Result<Option<Vec<Ranks>>, Refusal> {
        let whole = &self.wholes[place];
        let how = |&(rank, at): &(u32, usize)| (rank, &self.created[rank as usize][at].how);
        let (first, kind) = how(&calls[0]);
        Ok(Some(match kind {
            How::Duplicate => vec![(whole.members.to_vec(), whole.grid.clone())],
            How::Split { .. } => split(calls.iter().map(how)),
            How::Group(_) => {
                // a rank that is not in the new communicator can pass a different group to the call
                let mut parts: Vec<Vec<u32>> = Vec::new();
                for (rank, how) in calls.iter().map(how) {
                    let How::Group(group) = how else { continue };
                    let Some(members) = self.eval(group, rank) else { return Ok(None) };
                    if members.contains(&rank) && !parts.contains(&members) {
                        parts.push(members);
                    }
                }
                parts.into_iter().map(|members| (members, Vec::new())).collect()
            }
            How::Grid(grid) => {
                let size = grid.iter().try_fold(1usize, |size, &width| size.checked_mul(width as usize));
                let members = size.and_then(|size| whole.members.get(..size)).ok_or_else(|| {
                    let what =
                        format!("rank {first} creates a grid of size {grid:?} from only {} ranks", whole.members.len());
                    Refusal::new("the trace", what, "the file is damaged: copy or record it again")
                })?;
                vec![(members.to_vec(), grid.clone())]
            }
            How::Rows(kept) if kept.len() == whole.grid.len() && !kept.is_empty() => rows(whole, kept),
            How::Rows(kept) => {
                let what = format!(
                    "rank {first} creates sub-grids of a grid of {} dimensions, but the recorded grid has {}",
                    kept.len(),
                    whole.grid.len()
                );
                return Err(Refusal::new(
                    "the trace",
                    what,
                    "record the program from its start, with the call that creates the grid",
                ));
            }
            // the trace lists the members, so no search is needed
            How::Listed(members) => vec![(members.to_vec(), Vec::new())],
        }))
    }

    /// Returns the members of a group as ranks of the program.
    fn eval(&self, group: &Group, rank: u32) -> Option<Vec<u32>> {
        let both = |a: &Group, b: &Group| Some((self.eval(a, rank)?, self.eval(b, rank)?));
        Some(match group {
            Group::Of(number) => self.wholes[*self.known[rank as usize].get(number)?].members.to_vec(),
            Group::Empty => Vec::new(),
            Group::Including(of, places) => {
                let of = self.eval(of, rank)?;
                places.iter().filter_map(|&place| of.get(usize::try_from(place).ok()?).copied()).collect()
            }
            Group::Excluding(of, places) => {
                let of = self.eval(of, rank)?;
                (0..).zip(of).filter(|(place, _)| !places.contains(place)).map(|(_, rank)| rank).collect()
            }
            Group::Union(a, b) => {
                let (mut a, b) = both(a, b)?;
                let more: Vec<u32> = b.into_iter().filter(|rank| !a.contains(rank)).collect();
                a.extend(more);
                a
            }
            Group::Intersection(a, b) => {
                let (a, b) = both(a, b)?;
                a.into_iter().filter(|rank| b.contains(rank)).collect()
            }
            Group::Difference(a, b) => {
                let (a, b) = both(a, b)?;
                a.into_iter().filter(|rank| !b.contains(rank)).collect()
            }
        })
    }

    /// Returns the communicators of each rank, in the order of their numbers at the rank.
    fn finish(self, counts: &[u16]) -> Result<Vec<Vec<Comm>>, Refusal> {
        let of = |(rank, known): (usize, &HashMap<u16, usize>)| {
            (1..=counts[rank])
                .map(|number| {
                    let place = *known.get(&number).ok_or_else(|| unexplained(rank, number, &self.created[rank]))?;
                    let members = Arc::clone(&self.wholes[place].members);
                    let me = members.iter().position(|&member| member as usize == rank).unwrap_or(0) as u32;
                    Ok(Comm { number: place as u32, members, me })
                })
                .collect::<Result<Vec<Comm>, Refusal>>()
        };
        self.known.iter().enumerate().map(of).collect()
    }
}

/// Returns the refusal of a communicator whose members do not follow from the calls.
fn unexplained(rank: usize, number: u16, created: &[Creation]) -> Refusal {
    let call = created.iter().find(|creation| creation.new == Some(number)).map(|creation| creation.call);
    let what = match call {
        Some(call) => format!("the members of communicator {number} of rank {rank} do not follow from its MPI_{call}"),
        None => format!("communicator {number} of rank {rank} is used, but no recorded call creates it"),
    };
    Refusal::new("the trace", what, "record the program from its start, with the calls that create communicators")
}

/// Returns the communicators of a split, one for each colour. Their ranks are ordered by key, and for equal keys by
/// their order in the parent.
fn split<'a>(calls: impl Iterator<Item = (u32, &'a How)>) -> Vec<Ranks> {
    let mut parts: Vec<(i64, Vec<(i64, u32)>)> = Vec::new();
    for (rank, how) in calls {
        let How::Split { colour: Some(colour), key } = how else { continue };
        match parts.iter_mut().find(|(known, _)| known == colour) {
            Some((_, ranks)) => ranks.push((*key, rank)),
            None => parts.push((*colour, vec![(*key, rank)])),
        }
    }
    let sorted = |(_, mut ranks): (i64, Vec<(i64, u32)>)| {
        ranks.sort_by_key(|&(key, _)| key);
        (ranks.into_iter().map(|(_, rank)| rank).collect(), Vec::new())
    };
    parts.into_iter().map(sorted).collect()
}

/// Returns the sub-grids of a grid. The ranks of a sub-grid have equal coordinates in all dimensions that are not marked
/// in `kept`. The last dimension varies fastest.
fn rows(whole: &Whole, kept: &[bool]) -> Vec<Ranks> {
    let grid: Vec<u32> = whole.grid.iter().zip(kept).filter(|&(_, &kept)| kept).map(|(&width, _)| width).collect();
    let mut parts: Vec<(Vec<u32>, Vec<u32>)> = Vec::new();
    for (place, &rank) in whole.members.iter().enumerate() {
        let (mut rest, mut fixed) = (place as u32, Vec::new());
        for (&width, &kept) in whole.grid.iter().zip(kept).rev() {
            if !kept {
                fixed.push(rest % width);
            }
            rest /= width;
        }
        match parts.iter_mut().find(|(known, _)| *known == fixed) {
            Some((_, members)) => members.push(rank),
            None => parts.push((fixed, vec![rank])),
        }
    }
    parts.into_iter().map(|(_, members)| (members, grid.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(call: &'static str, parent: u16, how: How, new: u16) -> Creation {
        Creation { call, parent, how, new: Some(new) }
    }

    fn members(created: &[Vec<Creation>], counts: u16) -> Vec<Vec<Vec<u32>>> {
        let comms = resolve(
            created,
            &vec![Vec::new(); created.len()],
            &vec![None; created.len()],
            &vec![counts; created.len()],
        )
        .unwrap();
        comms.iter().map(|of| of.iter().map(|comm| comm.members.to_vec()).collect()).collect()
    }

    #[test]
    fn a_split_orders_its_ranks_by_key_and_then_by_their_order() {
        let split = |colour, key| vec![made("Comm_split", 0, How::Split { colour: Some(colour), key }, 1)];
        let found = members(&[split(7, 0), split(3, 5), split(7, 0), split(3, 1)], 1);
        assert_eq!(found, [[[0, 2]], [[3, 1]], [[0, 2]], [[3, 1]]]);
    }

    #[test]
    fn rows_and_columns_of_a_grid_are_its_lines() {
        let of = |_| {
            let kept = |kept: [bool; 2]| How::Rows(kept.into());
            vec![
                made("Cart_create", 0, How::Grid(vec![2, 3]), 1),
                made("Cart_sub", 1, kept([false, true]), 2),
                made("Cart_sub", 1, kept([true, false]), 3),
            ]
        };
        let found = members(&(0..6).map(of).collect::<Vec<_>>(), 3);
        assert_eq!(found[4], [vec![0, 1, 2, 3, 4, 5], vec![3, 4, 5], vec![1, 4]]);
    }

    #[test]
    fn a_group_has_ranks_of_the_communicators_it_comes_from() {
        let all = Rc::new(Group::Of(0));
        let odd = Rc::new(Group::Including(Rc::clone(&all), vec![3, 1]));
        let even = Rc::new(Group::Difference(all, Rc::clone(&odd)));
        let of = |rank: u32| {
            vec![made("Comm_create", 0, How::Group(Rc::clone(if rank % 2 == 1 { &odd } else { &even })), 1)]
        };
        let found = members(&(0..4).map(of).collect::<Vec<_>>(), 1);
        assert_eq!(found, [[[0, 2]], [[3, 1]], [[0, 2]], [[3, 1]]]);
    }

    #[test]
    fn a_rank_that_leaves_a_creation_out_is_named() {
        let created = [vec![made("Comm_dup", 0, How::Duplicate, 1)], Vec::new()];
        let refused = resolve(&created, &[Vec::new(), Vec::new()], &[None, None], &[1, 0]).unwrap_err();
        assert_eq!(refused.what, "rank 0 calls MPI_Comm_dup, but rank 1 of the same communicator does not");
        let refused = resolve(&[Vec::new()], &[Vec::new()], &[None], &[1]).unwrap_err();
        assert_eq!(refused.what, "communicator 1 of rank 0 is used, but no recorded call creates it");
    }
}
