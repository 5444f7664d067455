//! A program in memory: the operations of all ranks.

use super::cursor::InMemory;
use super::ops::Ops;
use std::sync::Arc;

/// A communicator as one of its ranks sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Comm {
    /// Number of the communicator in the program. All its ranks use the same number. The number is above 0.
    pub number: u32,
    /// The members as ranks of the program, in the order of their numbers in the communicator.
    pub members: Arc<[u32]>,
    /// The index of this rank among the members.
    pub me: u32,
}

/// The operations of one rank, and the communicators to which it belongs. Communicator 0 of a rank contains all ranks
/// of the program; communicator k is `comms[k - 1]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RankProgram {
    pub ops: Arc<Ops>,
    pub comms: Vec<Comm>,
}

impl RankProgram {
    /// Makes a rank with these operations that belongs only to the communicator of all ranks.
    pub fn new(ops: Ops) -> Self {
        Self { ops: Arc::new(ops), comms: Vec::new() }
    }

    pub fn cursor(&self) -> InMemory {
        InMemory(Arc::clone(&self.ops))
    }

    /// Converts rank `peer` of communicator `comm` to a rank of the program. Both must exist.
    pub fn rank_of(&self, comm: u16, peer: u32) -> u32 {
        match usize::from(comm).checked_sub(1) {
            None => peer,
            Some(place) => self.comms[place].members[peer as usize],
        }
    }

    /// Number of ranks of communicator `comm`, and the number that `rank` has in the communicator. The program has
    /// `ranks` ranks.
    pub fn place_in(&self, comm: u16, rank: u32, ranks: u32) -> (u32, u32) {
        usize::from(comm).checked_sub(1).map_or((ranks, rank), |place| {
            let comm = &self.comms[place];
            (comm.members.len() as u32, comm.me)
        })
    }

    /// Number of ranks of communicator `comm`. The program has `ranks` ranks.
    pub fn size_of(&self, comm: u16, ranks: u32) -> u32 {
        usize::from(comm).checked_sub(1).map_or(ranks, |place| self.comms[place].members.len() as u32)
    }
}

/// A program: the operations of each rank.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Program {
    pub ranks: Vec<RankProgram>,
}

impl Program {
    pub fn len(&self) -> u32 {
        self.ranks.len() as u32
    }

    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// Number of operations of all ranks. A collective counts as one operation per rank.
    pub fn ops(&self) -> u64 {
        self.ranks.iter().map(|rank| rank.ops.len() as u64).sum()
    }

    /// True if some operation is a collective.
    pub fn has_collectives(&self) -> bool {
        self.ranks.iter().any(|rank| rank.ops.has_collectives())
    }

    /// Number of processors of a rank, and number of its network interfaces: one more than the highest numbers in use.
    pub fn resources(&self) -> (usize, usize) {
        let mut most = (1, 1);
        for (cpu, nic) in self.ranks.iter().map(|rank| rank.ops.highest_resources()) {
            most = (most.0.max(usize::from(cpu) + 1), most.1.max(usize::from(nic) + 1));
        }
        most
    }
}
