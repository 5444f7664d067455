//! Places the ranks of a program on nodes, and makes several copies of a program.

use crate::form::{Draft, Kind, Op, Program, RankProgram, When};
use rand_pcg::Pcg32;
use rand_pcg::rand_core::{Rng, SeedableRng};
use std::collections::HashMap;
use weft_units::Refusal;

/// Largest number of ranks and operations of all copies together. An operation takes 60 bytes, so this number takes 6
/// GB of memory.
const MOST: u64 = 100_000_000;

/// Rule that gives each rank its node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Placement {
    /// `per_node` consecutive ranks are on each node.
    Linear { per_node: u32 },
    /// Like `Linear`, but with the ranks in a random order instead of the order of their numbers.
    Random { per_node: u32, seed: u64 },
    /// A list with the node of each rank.
    Given(Vec<u32>),
}

impl Placement {
    /// Returns the node of each of `ranks` ranks, and the number of nodes. `nodes` is the requested number of nodes;
    /// `None` means the smallest number that is large enough.
    fn nodes(&self, ranks: u32, nodes: Option<u32>) -> Result<(Vec<u32>, u32), Refusal> {
        let path = "the placement";
        let places = match self {
            Self::Linear { per_node: 0 } | Self::Random { per_node: 0, .. } => {
                return Err(Refusal::new(path, "with 0 ranks per node no rank has a node", "write 1 or more"));
            }
            Self::Linear { per_node } => (0..ranks).map(|rank| rank / per_node).collect(),
            Self::Random { per_node, seed } => {
                let mut order: Vec<u32> = (0..ranks).collect();
                let mut random = Pcg32::seed_from_u64(*seed);
                for last in (1..order.len()).rev() {
                    order.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
                }
                let mut places = vec![0; ranks as usize];
                (0..).zip(order).for_each(|(place, rank): (u32, u32)| places[rank as usize] = place / per_node);
                places
            }
            Self::Given(places) if places.len() == ranks as usize => places.clone(),
            Self::Given(places) => {
                let what = format!("the list has {} nodes, but the program has {ranks} ranks", places.len());
                return Err(Refusal::new(path, what, "write one node for each rank, in the order of the ranks"));
            }
        };
        let needed = places.iter().max().map_or(0, |&last| u64::from(last) + 1);
        let count = nodes.map_or(needed, u64::from);
        if count < needed {
            let what = format!("{ranks} ranks need {needed} nodes in this placement, but there are {count}");
            return Err(Refusal::new(path, what, "raise the number of nodes, or the ranks per node"));
        }
        let count = u32::try_from(count)
            .map_err(|_| Refusal::new(path, format!("node {} is too large", needed - 1), "write nodes below 2^32 - 1"));
        Ok((places, count?))
    }
}

/// Returns a program whose ranks are the nodes: node k has the operations of all its ranks, each rank on a separate
/// processor. A message inside a node becomes a message of the node to itself. The program must not contain
/// collectives.
pub fn place(program: &Program, placement: &Placement, nodes: Option<u32>) -> Result<Program, Refusal> {
    let (places, count) = placement.nodes(program.len(), nodes)?;
    // a number of nodes far above the number of ranks is refused, because idle nodes would waste memory
    if u64::from(count) > 64 * u64::from(program.len()) + 65_536 {
        let what = format!("{count} nodes are too many for {} ranks: most nodes would be idle", program.len());
        let help = match nodes {
            Some(_) => "request fewer nodes",
            None => "number the nodes without large gaps",
        };
        return Err(Refusal::new("the placement", what, help));
    }
    let mut on_node: Vec<Vec<u32>> = vec![Vec::new(); count as usize];
    (0..).zip(&places).for_each(|(rank, &node)| on_node[node as usize].push(rank));
    let is_shared = on_node.iter().any(|ranks| ranks.len() > 1);
    let cpus = program.resources().0;
    if let Some((node, ranks)) = on_node.iter().enumerate().find(|(_, ranks)| ranks.len() * cpus > 256) {
        let what =
            format!("node {node} has {} ranks of {cpus} processors each, but a node has at most 256", ranks.len());
        return Err(Refusal::new("the placement", what, "put fewer ranks on a node"));
    }
    let mut tags: HashMap<(u32, u32, u32), u32> = HashMap::new();
    let mut ranks = Vec::with_capacity(on_node.len());
    for members in &on_node {
        let mut draft = Draft::default();
        for (place, &rank) in members.iter().enumerate() {
            let (ops, base) = (&program.ranks[rank as usize].ops, draft.len());
            for op in ops.ops() {
                let moved = moved(op, rank, &places, is_shared, &mut tags)?;
                draft.add(moved.on((place * cpus) as u8 + op.cpu(), op.nic()));
            }
            for op in 0..ops.len() as u32 {
                for when in [When::Finish, When::Start] {
                    ops.successors(op, when).iter().for_each(|&later| draft.depend(base + later, base + op, when));
                }
            }
        }
        ranks.push(RankProgram::new(draft.unchecked()));
    }
    Ok(Program { ranks })
}

/// Returns an operation of `rank` for the placed program, in which peers are nodes. If nodes have several ranks, the
/// new tag of a message identifies the sending rank, the receiving rank and the old tag.
fn moved(
    op: &Op,
    rank: u32,
    places: &[u32],
    is_shared: bool,
    tags: &mut HashMap<(u32, u32, u32), u32>,
) -> Result<Op, Refusal> {
    let is_send = match op.kind() {
        Kind::Compute => return Ok(*op),
        Kind::Send => true,
        Kind::Receive => false,
        Kind::Collective(_) => unreachable!("collectives have become messages"),
    };
    let (Some(peer), Some(tag)) = (op.peer(), op.tag()) else {
        if is_shared {
            let what = format!(
                "rank {rank} receives from any source or with any tag, but a node of several ranks needs both to find the rank"
            );
            return Err(Refusal::new("the program", what, "put only one rank on each node"));
        }
        return Ok(op.peer().map_or(*op, |peer| op.to_peer(places[peer as usize])));
    };
    let op = op.to_peer(places[peer as usize]);
    if !is_shared {
        return Ok(op);
    }
    let (from, to) = if is_send { (rank, peer) } else { (peer, rank) };
    let next = tags.len() as u32;
    Ok(op.tagged(*tags.entry((from, to, tag)).or_insert(next)))
}

/// Returns a program that consists of `copies` copies of a program. The ranks of copy k follow those of copy k - 1.
pub fn tile(program: &Program, copies: u32) -> Result<Program, Refusal> {
    let ranks = program.len();
    if copies == 0 || ranks.checked_mul(copies).is_none_or(|all| all == u32::MAX) {
        let what = format!("{copies} copies of {ranks} ranks do not make a program of 1 to 2^32 - 2 ranks");
        return Err(Refusal::new("the tiling", what, "write 1 or more copies, and fewer for a larger program"));
    }
    let parts = program.ops() + u64::from(ranks);
    if parts * u64::from(copies) > MOST {
        let what = format!("{copies} copies of {ranks} ranks have {} ranks and operations", parts * u64::from(copies));
        let help = format!("write {} copies or fewer: the maximum is {MOST} ranks and operations", MOST / parts);
        return Err(Refusal::new("the tiling", what, help));
    }
    let copy = |copy: u32| {
        program.ranks.iter().map(move |of| {
            let mut draft = Draft::default();
            for op in of.ops.ops() {
                let moved = match op.kind() {
                    Kind::Send | Kind::Receive => op.peer().map_or(*op, |peer| op.to_peer(peer + copy * ranks)),
                    Kind::Compute | Kind::Collective(_) => *op,
                };
                draft.add(moved);
            }
            for op in 0..of.ops.len() as u32 {
                for when in [When::Finish, When::Start] {
                    of.ops.successors(op, when).iter().for_each(|&later| draft.depend(later, op, when));
                }
            }
            RankProgram::new(draft.unchecked())
        })
    };
    Ok(Program { ranks: (0..copies).flat_map(copy).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::form::Calls;

    /// Makes a program in which each of 4 ranks sends to the next one on a ring.
    fn ring() -> Program {
        let of = |rank: u32| {
            let mut calls = Calls::default();
            calls.exchange(Op::send((rank + 1) % 4, 8, Some(3)), Op::receive(Some((rank + 3) % 4), 8, Some(3)));
            RankProgram::new(calls.finish())
        };
        Program { ranks: (0..4).map(of).collect() }
    }

    fn sends(program: &Program) -> Vec<(usize, u32, u8)> {
        let of = |(rank, of): (usize, &RankProgram)| {
            let sends = of.ops.ops().iter().filter(|op| op.kind() == Kind::Send).copied().collect::<Vec<_>>();
            sends.into_iter().map(move |op| (rank, op.peer().unwrap(), op.cpu())).collect::<Vec<_>>()
        };
        program.ranks.iter().enumerate().flat_map(of).collect()
    }

    #[test]
    fn two_ranks_per_node_are_two_processors_whose_messages_have_tags_of_their_own() {
        let placed = place(&ring(), &Placement::Linear { per_node: 2 }, Some(3)).unwrap();
        assert_eq!(sends(&placed), [(0, 0, 0), (0, 1, 1), (1, 1, 0), (1, 0, 1)]);
        assert_eq!(placed.len(), 3, "node 2 is idle");
        let tags = |rank: usize| placed.ranks[rank].ops.ops().iter().map(|op| op.tag().unwrap()).collect::<Vec<_>>();
        let mut all = [tags(0), tags(1)].concat();
        all.sort_unstable();
        assert_eq!(all, [0, 0, 1, 1, 2, 2, 3, 3], "one for each pair of sender and receiver");
        let reversed = place(&ring(), &Placement::Given(vec![3, 2, 1, 0]), None).unwrap();
        assert_eq!(sends(&reversed), [(0, 3, 0), (1, 0, 0), (2, 1, 0), (3, 2, 0)]);
    }

    #[test]
    fn a_random_placement_is_a_permutation_and_the_same_for_the_same_seed() {
        let nodes = |seed| Placement::Random { per_node: 1, seed }.nodes(64, None).unwrap().0;
        let mut sorted = nodes(1);
        sorted.sort_unstable();
        assert_eq!(sorted, (0..64).collect::<Vec<u32>>());
        assert_eq!(nodes(1), nodes(1));
        assert_ne!(nodes(1), nodes(2));
    }

    #[test]
    fn what_does_not_fit_is_refused_with_the_arithmetic() {
        let refused = |placement, nodes| place(&ring(), &placement, nodes).unwrap_err().what;
        assert_eq!(
            refused(Placement::Linear { per_node: 2 }, Some(1)),
            "4 ranks need 2 nodes in this placement, but there are 1"
        );
        assert_eq!(refused(Placement::Given(vec![0]), None), "the list has 1 nodes, but the program has 4 ranks");
        assert!(refused(Placement::Given(vec![u32::MAX, 0, 1, 2]), None).contains("too large"));
    }

    #[test]
    fn copies_stand_side_by_side() {
        let two = tile(&ring(), 2).unwrap();
        assert_eq!(sends(&two)[4..], [(4, 5, 0), (5, 6, 0), (6, 7, 0), (7, 4, 0)]);
        assert!(tile(&ring(), 0).is_err() && tile(&ring(), u32::MAX).is_err());
    }
}
