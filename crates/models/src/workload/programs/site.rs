//! The state that all nodes of a program share: parameters in cycles and flits, the messages in flight, and the statistics of all
//! ranks.

use super::answers::Shared;
use super::compute::Compute;
use super::messages::Outbox;
use super::rails::Rails;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};
use weft_api::activity::Wanted;

/// The number of ranks on each node. The ranks of a node have consecutive numbers.
#[derive(Debug)]
pub enum Spread {
    /// Each node has this number of ranks; the last node can have fewer.
    Even(u32),
    /// `first`: the first rank of each node and, as the last entry, the number of all ranks. `nodes`: the node of each
    /// rank.
    Uneven { first: Vec<u32>, nodes: Vec<u32> },
}

impl Spread {
    /// Creates the spread for nodes whose numbers of ranks are `ranks`.
    pub fn of(ranks: &[u32]) -> Self {
        let first = std::iter::once(0).chain(ranks.iter().scan(0, |sum, &ranks| {
            *sum += ranks;
            Some(*sum)
        }));
        let nodes = (0..).zip(ranks).flat_map(|(node, &ranks)| std::iter::repeat_n(node, ranks as usize));
        Self::Uneven { first: first.collect(), nodes: nodes.collect() }
    }

    /// Returns the node of a rank.
    fn node(&self, rank: u32) -> u32 {
        match self {
            Self::Even(each) => rank / each,
            Self::Uneven { nodes, .. } => nodes[rank as usize],
        }
    }

    /// Returns the first rank of a node. If `node` is the number of nodes, returns the number of ranks.
    pub fn first(&self, node: u32) -> u32 {
        match self {
            Self::Even(each) => node * each,
            Self::Uneven { first, .. } => first[node as usize],
        }
    }
}

/// The state that all nodes of a program share.
#[derive(Debug)]
pub struct Site {
    /// The terminals of the nodes, node by node. Each node has one terminal for each of its interfaces.
    pub terminals: Vec<u32>,
    /// For each terminal: its index in `terminals`, or `u32::MAX` if the program does not use it.
    pub places: Vec<u32>,
    pub rails: Rails,
    pub compute: Compute,
    pub spread: Spread,
    pub ranks: u32,
    /// The cycle in which the program starts.
    pub start: u64,
    pub cycle_fs: u128,
    pub flit_bits: u64,
    /// The longest packet \[flits\].
    pub packet_flits: u64,
    /// The largest message that a rank sends without waiting for the matching receive \[bytes\].
    pub eager: u64,
    /// Processor time that each message costs at the sender and at the receiver \[fs\].
    pub overhead_fs: u128,
    /// Time of a message from the processor to the interface \[fs\].
    pub injection_fs: u128,
    /// Latency [cycles] of a completion event ("note") from an interface to the processors.
    pub host_cycles: u64,
    /// Largest number of messages that the interfaces of a node have accepted but not yet sent. Further sends wait.
    pub accepted: u32,
    /// Latency of a message between ranks of one node \[fs\].
    pub local_fs: u128,
    /// Bandwidth of messages between ranks of one node; 0: no limit.
    pub local_bits_per_second: u128,
    /// For each node: the messages in flight that it has sent. To prevent deadlocks of threads, a thread that has locked a node may lock an
    /// outbox, but not the other way round.
    pub outboxes: Vec<Mutex<Outbox>>,
    pub shared: Mutex<Shared>,
    /// The activities that the recordings of this run need.
    pub wanted: Wanted,
    /// Number of ranks that have not ended.
    pub open: AtomicU64,
    /// The latest cycle in which a rank ended.
    pub last: AtomicU64,
    /// True if all ranks have ended, and no message in flight can make a rank active again.
    pub is_over: AtomicBool,
}

/// Locks a mutex. If another thread has panicked while it had this lock, locks the mutex all the same, because the run
/// ends anyway.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Site {
    /// True if all ranks have ended and all messages have been received. A message that is still in flight could make its
    /// receiver active again.
    pub fn is_over(&self) -> bool {
        let are_received = || self.outboxes.iter().all(|outbox| lock(outbox).is_empty());
        let is_over = self.is_over.load(Relaxed) || self.open.load(Relaxed) == 0 && are_received();
        self.is_over.store(is_over, Relaxed);
        is_over
    }

    pub fn nodes(&self) -> usize {
        self.outboxes.len()
    }

    /// Returns the terminal of interface `rail` of a node.
    pub fn terminal(&self, node: u32, rail: usize) -> u32 {
        self.terminals[node as usize * self.rails.count as usize + rail]
    }

    /// Returns the node to which a terminal belongs.
    pub fn node_of(&self, terminal: u32) -> u32 {
        self.places[terminal as usize] / self.rails.count
    }

    /// Returns the index of a terminal's interface in its node.
    pub fn rail_of(&self, terminal: u32) -> u32 {
        self.places[terminal as usize] % self.rails.count
    }

    pub fn node(&self, rank: u32) -> u32 {
        self.spread.node(rank)
    }

    /// Returns the index of a rank in its node.
    pub fn place(&self, rank: u32) -> usize {
        (rank - self.spread.first(self.node(rank))) as usize
    }

    /// Number of flits of a message of this size; at least one.
    pub fn flits(&self, bytes: u64) -> u64 {
        let flits = (u128::from(bytes) * 8).div_ceil(self.flit_bits.into());
        u64::try_from(flits).unwrap_or(u64::MAX).max(1)
    }

    /// Number of packets for `flits` flits, if all packets except the last have the greatest length.
    pub fn packets(&self, flits: u64) -> u64 {
        flits.div_ceil(self.packet_flits)
    }

    /// Time of a message between two ranks of a node \[fs\].
    pub fn local_time(&self, bytes: u64) -> u128 {
        let bits = u128::from(bytes) * 8 * 1_000_000_000_000_000;
        self.local_fs + bits.checked_div(self.local_bits_per_second).unwrap_or(0)
    }

    /// Returns the first cycle that begins at or after this time.
    pub fn cycle(&self, fs: u128) -> u64 {
        match (u64::try_from(fs), u64::try_from(self.cycle_fs)) {
            (Ok(fs), Ok(cycle_fs)) => fs.div_ceil(cycle_fs), // the same formula as below, with a division that the machine supports
            (_, _) => u64::try_from(fs.div_ceil(self.cycle_fs)).unwrap_or(u64::MAX),
        }
    }

    pub fn fs(&self, cycle: u64) -> u128 {
        u128::from(cycle) * self.cycle_fs
    }
}
