//! Communicators for which the trace does not name the call that created them. The members of such a communicator
//! are those of the only recorded creation that matches.

use super::Search;
use std::collections::BTreeMap;
use weft_units::Refusal;

/// A communicator for which the trace has only the number of its ranks, and the number of this rank in it.
#[derive(Debug, Clone)]
pub struct Unnamed {
    /// Number of the communicator at the rank.
    pub number: u16,
    pub place: u32,
    pub size: u32,
    /// Number of communicators that the rank had created before it used this communicator for the first time.
    pub created: usize,
    /// Number of calls on the communicator, by the name of the call.
    pub calls: BTreeMap<String, u64>,
}

/// Finds the members of the unnamed communicators of all ranks. Refuses a communicator if no creation or more
/// than one creation matches.
pub(super) fn name(search: &mut Search<'_>, unnamed: &[Vec<Unnamed>]) -> Result<(), Refusal> {
    for (rank, unnamed) in unnamed.iter().enumerate() {
        for each in unnamed {
            let fits = |whole: &usize| {
                let members = &search.wholes[*whole].members;
                members.len() == each.size as usize && members.get(each.place as usize) == Some(&(rank as u32))
            };
            let before = search.created[rank].iter().take(each.created).filter_map(|creation| creation.new);
            let known = before.filter_map(|number| Some((number, *search.known[rank].get(&number)?)));
            let found: Vec<(u16, usize)> = known.filter(|(_, whole)| fits(whole)).collect();
            let [(created, whole)] = found[..] else { return Err(refused(rank, each, found.len())) };
            search.known[rank].insert(each.number, whole);
            // calls use the number `each.number` for the found communicator. No call uses the number `created`,
            // so it gets a communicator with only this rank
            search.add((vec![rank as u32], Vec::new()), |_| Some(created));
        }
    }
    Ok(())
}

fn refused(rank: usize, unnamed: &Unnamed, fitting: usize) -> Refusal {
    let calls: Vec<String> = unnamed.calls.iter().map(|(name, count)| format!("{count} MPI_{name}")).collect();
    let what = format!(
        "{fitting} communicators of rank {rank} have {} ranks and this rank at place {}, so Weft can't find the members for {}",
        unnamed.size,
        unnamed.place,
        calls.join(", ")
    );
    Refusal::new(
        "the trace",
        what,
        "record the program with the library of `capture`, or with DUMPI: both record the communicators",
    )
}
