//! Operations of a rank.

/// The stored value of "any source" and "any tag". The binary GOAL format uses the same value.
const ANY: u32 = u32::MAX;

weft_units::words! {
    /// The kinds of collectives.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
    pub enum Operation {
        /// A rank leaves only after all ranks have entered.
        Barrier = "barrier",
        /// All ranks get the data of the root.
        Broadcast = "broadcast",
        /// The root gets the sum of the data of all ranks.
        Reduce = "reduce",
        /// All ranks get the sum of the data of all ranks.
        AllReduce = "all_reduce",
        /// The root gets one block from each rank.
        Gather = "gather",
        /// Each rank gets one block of the root's data.
        Scatter = "scatter",
        /// All ranks get the blocks of all ranks.
        AllGather = "all_gather",
        /// Each rank gets one block of the sum of the data of all ranks.
        ReduceScatter = "reduce_scatter",
        /// Each rank gets one block from each rank.
        AllToAll = "all_to_all",
    }
}

/// The kinds of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// Occupies a processor for a time.
    Compute,
    Send,
    Receive,
    /// Takes part in a collective. The collective is expanded into messages when the rank starts it.
    Collective(Operation),
}

/// The event of an operation for which another operation waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum When {
    /// The operation has finished.
    Finish,
    /// The operation has started.
    Start,
}

/// An operation of a rank, in 24 bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Op {
    size: u64,
    peer: u32,
    tag: u32,
    comm: u16,
    sizes: u16,
    kind: Kind,
    cpu: u8,
    nic: u8,
}

impl Op {
    const fn new(kind: Kind, size: u64, peer: u32, tag: u32) -> Self {
        Self { size, peer, tag, comm: 0, sizes: 0, kind, cpu: 0, nic: 0 }
    }

    /// Makes a computation that occupies the processor for `ns` \[ns\].
    pub const fn compute(ns: u64) -> Self {
        Self::new(Kind::Compute, ns, 0, 0)
    }

    /// Makes a send of `bytes` \[bytes\] to rank `to` of the communicator. If `tag` is `None`, the message matches receives of
    /// every tag.
    pub fn send(to: u32, bytes: u64, tag: Option<u32>) -> Self {
        Self::new(Kind::Send, bytes, to, tag.unwrap_or(ANY))
    }

    /// Makes a receive of up to `bytes` \[bytes\]. The receive matches only messages from rank `from` of the communicator with
    /// tag `tag`. `None` matches any rank or any tag.
    pub fn receive(from: Option<u32>, bytes: u64, tag: Option<u32>) -> Self {
        Self::new(Kind::Receive, bytes, from.unwrap_or(ANY), tag.unwrap_or(ANY))
    }

    /// Makes an operation in which the rank takes part in collective number `instance` of the communicator. For
    /// broadcast, reduce, all-reduce and reduce-scatter, `bytes` \[bytes\] is the size of the whole vector. For the
    /// other collectives, `bytes` is the size of one block.
    pub fn collective(operation: Operation, root: u32, bytes: u64, instance: u32) -> Self {
        Self::new(Kind::Collective(operation), bytes, root, instance)
    }

    /// Returns this operation in communicator `comm` of its rank; 0 means all ranks of the program.
    #[must_use]
    pub fn within(self, comm: u16) -> Self {
        Self { comm, ..self }
    }

    /// Returns this operation on processor `cpu` and network interface `nic` of its rank.
    #[must_use]
    pub fn on(self, cpu: u8, nic: u8) -> Self {
        Self { cpu, nic, ..self }
    }

    /// Returns this collective with blocks of different sizes. The sizes are list number `sizes` of the operations
    /// ([`super::Ops::sizes`]); 0 means no list.
    #[must_use]
    pub fn sized_by(self, sizes: u16) -> Self {
        Self { sizes, ..self }
    }

    /// Returns this operation with another peer.
    #[must_use]
    pub(crate) fn to_peer(self, peer: u32) -> Self {
        Self { peer, ..self }
    }

    /// Returns this operation with another tag.
    #[must_use]
    pub(crate) fn tagged(self, tag: u32) -> Self {
        Self { tag, ..self }
    }

    pub const fn kind(&self) -> Kind {
        self.kind
    }

    /// Size of a message or collective in bytes, or time of a computation \[ns\].
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// The other rank of a message, as a number in the communicator; `None` for a receive from any source.
    pub fn peer(&self) -> Option<u32> {
        (self.peer != ANY).then_some(self.peer)
    }

    /// The root of a collective, as a number in the communicator.
    pub const fn root(&self) -> u32 {
        self.peer
    }

    /// The tag of a message; `None` matches any tag.
    pub fn tag(&self) -> Option<u32> {
        (self.tag != ANY).then_some(self.tag)
    }

    /// The number of a collective in its communicator.
    pub const fn instance(&self) -> u32 {
        self.tag
    }

    /// Number that the operation's communicator has at the operation's rank; 0 means all ranks.
    pub const fn comm(&self) -> u16 {
        self.comm
    }

    /// Number of the list of block sizes; 0 means no list.
    pub const fn sizes(&self) -> u16 {
        self.sizes
    }

    pub const fn cpu(&self) -> u8 {
        self.cpu
    }

    pub const fn nic(&self) -> u8 {
        self.nic
    }

    /// Peer and tag of a message or receive, in the form in which they are stored for matching. A value with all bits set is a
    /// wildcard.
    pub(crate) const fn raw(&self) -> (u32, u32) {
        (self.peer, self.tag)
    }

    /// Makes an operation with peer and tag as the binary GOAL format stores them.
    pub(crate) const fn from_raw(kind: Kind, size: u64, peer: u32, tag: u32) -> Self {
        Self::new(kind, size, peer, tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_takes_24_bytes() {
        assert_eq!(size_of::<Op>(), 24);
    }

    #[test]
    fn wildcards_have_no_peer_and_no_tag() {
        let any = Op::receive(None, 8, None);
        assert_eq!((any.peer(), any.tag()), (None, None));
        let named = Op::receive(Some(3), 8, Some(0));
        assert_eq!((named.peer(), named.tag()), (Some(3), Some(0)));
    }
}
