//! A call of a collective, as one rank of a communicator makes it.

use crate::form::Operation;

/// A part of the data of a collective: `bytes` bytes of block `block`, from byte `start`. The number of a block is the
/// rank that sends or receives the block. In an all-to-all the number of a block is the sender times the number of
/// ranks, plus the receiver. Operations on whole vectors have only one block, number 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    pub block: u64,
    pub start: u64,
    pub bytes: u64,
}

/// The call of a collective by one rank. The numbers of ranks are those in the communicator.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    pub operation: Operation,
    pub ranks: u32,
    pub me: u32,
    pub root: u32,
    /// Size of the whole vector, or of one block \[bytes\]; see [`crate::form::Op::collective`].
    pub bytes: u64,
    /// Sizes of the blocks if they differ \[bytes\]: one per rank; for all-to-all, one per sender and receiver.
    pub sizes: Option<&'a [u64]>,
    /// True if the blocks are shares of one vector, as in the scatter of a reduce-scatter.
    pub of_vector: bool,
}

/// Divides `bytes` bytes into `parts` parts. Returns the first byte and the size of part number `part`. If the parts
/// cannot be equal, the first parts have one byte more.
pub fn part(bytes: u64, parts: u64, part: u64) -> (u64, u64) {
    let (size, more) = (bytes / parts, bytes % parts);
    (part * size + part.min(more), size + u64::from(part < more))
}

impl Call<'_> {
    /// The size of block `block` \[bytes\].
    pub fn size_of(&self, block: u64) -> u64 {
        self.sizes.map_or(self.bytes, |sizes| sizes[block as usize])
    }

    /// Returns the piece that is the whole block with number `block`.
    pub fn block(&self, block: u64) -> Piece {
        if self.of_vector {
            return self.share(block as u32);
        }
        Piece { block, start: 0, bytes: self.size_of(block) }
    }

    /// Returns the part of the vector that belongs to `rank`, if a reduce-scatter, all-reduce or broadcast divides the
    /// vector among all ranks.
    pub fn share(&self, rank: u32) -> Piece {
        let (start, bytes) = match self.sizes {
            None => part(self.bytes, self.ranks.into(), rank.into()),
            Some(sizes) => (sizes[..rank as usize].iter().sum(), sizes[rank as usize]),
        };
        Piece { block: 0, start, bytes }
    }

    /// Size of the whole vector \[bytes\].
    pub fn vector(&self) -> u64 {
        let is_whole = self.of_vector || self.operation == Operation::ReduceScatter;
        self.sizes.filter(|_| is_whole).map_or(self.bytes, |sizes| sizes.iter().sum())
    }

    /// Number of bytes of this rank's data that other ranks need for the result of the collective.
    pub fn given(&self) -> u64 {
        let (is_root, others) = (self.me == self.root, (0..self.ranks).filter(|&rank| rank != self.me));
        let to = |rank: u32| u64::from(self.me) * u64::from(self.ranks) + u64::from(rank);
        match self.operation {
            _ if self.ranks < 2 => 0,
            Operation::Barrier => 0,
            Operation::Broadcast => {
                if is_root {
                    self.vector()
                } else {
                    0
                }
            }
            Operation::Reduce => {
                if is_root {
                    0
                } else {
                    self.vector()
                }
            }
            Operation::AllReduce => self.vector(),
            Operation::ReduceScatter => self.vector() - self.share(self.me).bytes,
            Operation::Gather => {
                if is_root {
                    0
                } else {
                    self.size_of(self.me.into())
                }
            }
            Operation::AllGather => self.size_of(self.me.into()),
            Operation::Scatter if is_root => others.map(|rank| self.size_of(rank.into())).sum(),
            Operation::Scatter => 0,
            Operation::AllToAll => others.map(|rank| self.size_of(to(rank))).sum(),
        }
    }

    /// Divides the vector into segments of `size` bytes, and returns segment number `segment`. A segment beyond the
    /// end of the vector is empty.
    pub fn segment(&self, segment: u64, size: u64) -> Piece {
        let start = segment.saturating_mul(size).min(self.vector());
        Piece { block: 0, start, bytes: size.min(self.vector() - start) }
    }

    /// Returns the number of this rank, counted from the root.
    pub fn from_root(&self) -> u32 {
        (self.me + self.ranks - self.root) % self.ranks
    }

    /// Returns the rank whose number, counted from the root, is `from_root`.
    pub fn rank(&self, from_root: u32) -> u32 {
        (from_root + self.root) % self.ranks
    }

    /// Returns the rank that is `by` positions ahead on the ring of all ranks.
    pub fn ahead(&self, by: u32) -> u32 {
        ((u64::from(self.me) + u64::from(by)) % u64::from(self.ranks)) as u32
    }

    /// Returns the rank that is `by` positions behind on the ring of all ranks; `by` is at most the number of ranks.
    pub fn behind(&self, by: u32) -> u32 {
        self.ahead(self.ranks - by)
    }
}
