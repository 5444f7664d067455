//! The fixed decisions of Open MPI: which algorithm a collective uses by default.
//!
//! # Source
//! Open MPI 1.6.5, `coll_tuned_decision_fixed.c`. Scatter uses `binomial` below 300 bytes on more than 10 ranks. These two numbers
//! come from the function `scatter_intra_dec_fixed` in this file.
//!
//! # Parameters
//! `element`: size of an element of a vector \[bytes\] (default: 8). The rule of all-reduce counts elements instead of bytes.
//!
//! # Guarantees
//! The table gives the algorithm and the segment size of each collective, for any size and number of ranks. The table
//! assumes that sums are commutative.
//!
//! # Not modelled
//! Sums that are not commutative. Tables of later versions of Open MPI. Tables that a user sets.
//!
//! # Validation
//! The tests of this file check each row of the table just below and just above the sizes and numbers of ranks at which
//! it ends. `laws/data_flow.rs` checks every algorithm that the table chooses.

use super::Chooses;
use crate::amounts::Bytes;
use crate::collectives::algorithms::AlgorithmConfig::{self, *};
use crate::collectives::algorithms::{
    binary, binomial, bruck, chain, in_two, linear, linear_sync, neighbor_exchange, pairwise, recursive_doubling,
    recursive_halving, ring, split_binary,
};
use crate::collectives::call::Call;
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The table by which Open MPI 1.6.5 chooses algorithms.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OpenMpi {
    /// Size of an element.
    #[serde(default = "double")]
    pub element: Bytes,
}

fn double() -> Bytes {
    Bytes(8)
}

impl Default for OpenMpi {
    fn default() -> Self {
        Self { element: double() }
    }
}

const KB: u64 = 1024;
const MB: u64 = 1024 * KB;

fn chain(segment: u64) -> AlgorithmConfig {
    Chain(chain::Chain { segment: Some(Bytes(segment)) })
}

fn binomial(segment: Option<u64>) -> AlgorithmConfig {
    Binomial(binomial::Binomial { segment: segment.map(Bytes) })
}

fn split_binary(segment: u64) -> AlgorithmConfig {
    SplitBinary(split_binary::SplitBinary { segment: Bytes(segment) })
}

/// Returns the algorithm for a broadcast of `m` bytes to `p` ranks.
fn broadcast(m: u64, p: u32) -> AlgorithmConfig {
    let (bytes, ranks) = (m as f64, f64::from(p));
    match m {
        ..2048 => binomial(None),
        2048..370_728 => split_binary(KB),
        _ if ranks < 1.6134e-6 * bytes + 2.1102 => chain(128 * KB),
        _ if p < 13 => split_binary(8 * KB),
        _ if ranks < 2.3679e-6 * bytes + 1.1787 => chain(64 * KB),
        _ if ranks < 3.2118e-6 * bytes + 8.7936 => chain(16 * KB),
        _ => chain(8 * KB),
    }
}

/// Returns the algorithm for a commutative reduce of `m` bytes among `p` ranks.
fn reduce(m: u64, p: u32) -> AlgorithmConfig {
    let (kilobytes, ranks) = (m as f64 / 1024.0, f64::from(p));
    match m {
        ..512 if p < 8 => Linear(linear::Linear {}),
        ..20_480 if p < 8 => binomial(None),
        ..2048 => binomial(None),
        _ if ranks > 0.6016 * kilobytes + 1.3496 => binomial(Some(KB)),
        _ if ranks > 0.0410 * kilobytes + 9.7128 => chain(KB),
        _ if ranks > 0.0422 * kilobytes + 1.1614 => Binary(binary::Binary { segment: Some(Bytes(32 * KB)) }),
        _ if ranks > 0.0033 * kilobytes + 1.6761 => chain(32 * KB),
        _ => chain(64 * KB),
    }
}

impl OpenMpi {
    fn all_reduce(&self, m: u64, p: u32) -> AlgorithmConfig {
        if m < 10_000 {
            return RecursiveDoubling(recursive_doubling::RecursiveDoubling {});
        }
        if m / self.element.0.max(1) > p.into() {
            let segment = (m > u64::from(p) * MB).then_some(Bytes(MB));
            return Ring(ring::Ring { segment });
        }
        let second = Box::new(broadcast(m, p));
        InTwo(in_two::InTwo { first: Box::new(reduce(m, p)), second })
    }
}

fn all_to_all(call: &Call) -> AlgorithmConfig {
    match call.bytes {
        _ if call.sizes.is_some() || call.ranks == 2 => Pairwise(pairwise::Pairwise {}),
        ..200 if call.ranks > 12 => Bruck(bruck::Bruck {}),
        ..3000 => Linear(linear::Linear {}),
        _ => Pairwise(pairwise::Pairwise {}),
    }
}

fn all_gather(call: &Call) -> AlgorithmConfig {
    let total = call.sizes.map_or(call.bytes.saturating_mul(call.ranks.into()), |sizes| sizes.iter().sum());
    match total {
        _ if call.ranks == 2 => Pairwise(pairwise::Pairwise {}),
        ..50_000 if call.sizes.is_none() && call.ranks.is_power_of_two() => {
            RecursiveDoubling(recursive_doubling::RecursiveDoubling {})
        }
        ..50_000 => Bruck(bruck::Bruck {}),
        _ if call.ranks.is_multiple_of(2) => NeighborExchange(neighbor_exchange::NeighborExchange {}),
        _ => Ring(ring::Ring::default()),
    }
}

fn reduce_scatter(call: &Call) -> AlgorithmConfig {
    let (m, p) = (call.vector(), call.ranks);
    if call.sizes.is_some_and(|sizes| sizes.contains(&0)) {
        return InTwo(in_two::InTwo { first: Box::new(reduce(m, p)), second: Box::new(Linear(linear::Linear {})) });
    }
    let is_small = m <= 12 * KB || m <= 256 * KB && p.is_power_of_two();
    if is_small || f64::from(p) >= 0.0012 * m as f64 + 8.0 {
        return RecursiveHalving(recursive_halving::RecursiveHalving {});
    }
    Ring(ring::Ring::default())
}

/// Returns the algorithm for a gather. A gather with blocks of different sizes uses the linear algorithm, like `MPI_Gatherv`.
fn gather(call: &Call) -> AlgorithmConfig {
    let sync = |first| LinearSync(linear_sync::LinearSync { first: Bytes(first) });
    match call.bytes {
        _ if call.sizes.is_some() => Linear(linear::Linear {}),
        92_161.. => sync(32 * KB),
        6_001.. => sync(KB),
        b if call.ranks > 60 || call.ranks > 10 && b < 1024 => binomial(None),
        _ => Linear(linear::Linear {}),
    }
}

impl Chooses for OpenMpi {
    fn choose(&self, call: &Call) -> AlgorithmConfig {
        let (m, p) = (call.bytes, call.ranks);
        match call.operation {
            Operation::Barrier if p == 2 => Pairwise(pairwise::Pairwise {}),
            Operation::Barrier if p.is_power_of_two() => RecursiveDoubling(recursive_doubling::RecursiveDoubling {}),
            Operation::Barrier => Bruck(bruck::Bruck {}),
            Operation::Broadcast => broadcast(m, p),
            Operation::Reduce => reduce(m, p),
            Operation::AllReduce => self.all_reduce(m, p),
            Operation::Gather => gather(call),
            Operation::Scatter if call.sizes.is_none() && p > 10 && m < 300 => binomial(None),
            Operation::Scatter => Linear(linear::Linear {}),
            Operation::AllGather => all_gather(call),
            Operation::ReduceScatter => reduce_scatter(call),
            Operation::AllToAll => all_to_all(call),
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self::default()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(operation: Operation, ranks: u32, bytes: u64, sizes: Option<&[u64]>) -> String {
        let call = Call { operation, ranks, me: 0, root: 0, bytes, sizes, of_vector: false };
        serde_json::to_string(&OpenMpi::default().choose(&call)).unwrap()
    }

    /// Checks each row of Open MPI's table just below and just above the sizes and numbers of ranks at which the row begins and
    /// ends. A line of `rows` has operation, ranks, bytes, algorithm.
    #[test]
    fn each_row_of_the_table_holds_on_both_sides_of_its_limits() {
        use Operation::*;
        let rows: &[(Operation, u32, u64, &str)] = &[
            (Broadcast, 64, 2047, r#"{"binomial":{}}"#),
            (Broadcast, 64, 2048, r#"{"split_binary":{"segment":"1KiB"}}"#),
            (Broadcast, 64, 370_727, r#"{"split_binary":{"segment":"1KiB"}}"#),
            // the row of the table ends at 1.6134e-6 * 370,728 + 2.1102 = 2.708 ranks: 2 ranks are in the row, and 3 ranks are not
            (Broadcast, 2, 370_728, r#"{"chain":{"segment":"128KiB"}}"#),
            (Broadcast, 3, 370_728, r#"{"split_binary":{"segment":"8KiB"}}"#),
            (Broadcast, 12, 370_728, r#"{"split_binary":{"segment":"8KiB"}}"#),
            // the row of the table ends at 3.2118e-6 * 370,728 + 8.7936 = 9.984 ranks: 13 ranks are not in the row
            (Broadcast, 13, 370_728, r#"{"chain":{"segment":"8KiB"}}"#),
            // at 10 MB the rows of the table end at 18.24, 24.86 and 40.91 ranks
            (Broadcast, 18, 10_000_000, r#"{"chain":{"segment":"128KiB"}}"#),
            (Broadcast, 24, 10_000_000, r#"{"chain":{"segment":"64KiB"}}"#),
            (Broadcast, 40, 10_000_000, r#"{"chain":{"segment":"16KiB"}}"#),
            (Broadcast, 41, 10_000_000, r#"{"chain":{"segment":"8KiB"}}"#),
            (Reduce, 7, 511, r#"{"linear":{}}"#),
            (Reduce, 7, 512, r#"{"binomial":{}}"#),
            (Reduce, 8, 511, r#"{"binomial":{}}"#),
            (Reduce, 7, 20_479, r#"{"binomial":{}}"#),
            // at 20 KiB the rows of the table begin above 13.38, 10.53, 2.005 and 1.742 ranks
            (Reduce, 14, 20_480, r#"{"binomial":{"segment":"1KiB"}}"#),
            (Reduce, 11, 20_480, r#"{"chain":{"segment":"1KiB"}}"#),
            (Reduce, 10, 20_480, r#"{"binary":{"segment":"32KiB"}}"#),
            (Reduce, 2, 20_480, r#"{"chain":{"segment":"32KiB"}}"#),
            // at 1 MiB two rows of the table begin above 0.0033 * 1024 + 1.6761 = 5.055 and 0.0422 * 1024 + 1.1614 = 44.37 ranks
            (Reduce, 6, 1 << 20, r#"{"chain":{"segment":"32KiB"}}"#),
            (Reduce, 5, 1 << 20, r#"{"chain":{"segment":"64KiB"}}"#),
            (AllReduce, 8, 9_999, r#"{"recursive_doubling":{}}"#),
            (AllReduce, 8, 10_000, r#"{"ring":{}}"#),
            (AllReduce, 8, 8 << 20, r#"{"ring":{}}"#),
            (AllReduce, 8, (8 << 20) + 1, r#"{"ring":{"segment":"1MiB"}}"#),
            (AllToAll, 2, 100, r#"{"pairwise":{}}"#),
            (AllToAll, 13, 199, r#"{"bruck":{}}"#),
            (AllToAll, 13, 200, r#"{"linear":{}}"#),
            (AllToAll, 12, 199, r#"{"linear":{}}"#),
            (AllToAll, 13, 3000, r#"{"pairwise":{}}"#),
            (AllGather, 2, 100, r#"{"pairwise":{}}"#),
            (AllGather, 16, 3124, r#"{"recursive_doubling":{}}"#),
            (AllGather, 16, 3125, r#"{"neighbor_exchange":{}}"#),
            (AllGather, 12, 4166, r#"{"bruck":{}}"#),
            (AllGather, 15, 3334, r#"{"ring":{}}"#),
            (Barrier, 2, 0, r#"{"pairwise":{}}"#),
            (Barrier, 64, 0, r#"{"recursive_doubling":{}}"#),
            (Barrier, 65, 0, r#"{"bruck":{}}"#),
            (ReduceScatter, 12, 12 << 10, r#"{"recursive_halving":{}}"#),
            // the row of the table begins at 0.0012 * 12,289 + 8 = 22.7 ranks
            (ReduceScatter, 22, (12 << 10) + 1, r#"{"ring":{}}"#),
            (ReduceScatter, 23, (12 << 10) + 1, r#"{"recursive_halving":{}}"#),
            (ReduceScatter, 16, 256 << 10, r#"{"recursive_halving":{}}"#),
            (ReduceScatter, 16, (256 << 10) + 1, r#"{"ring":{}}"#),
            (Gather, 8, 92_161, r#"{"linear_sync":{"first":"32KiB"}}"#),
            (Gather, 8, 92_160, r#"{"linear_sync":{"first":"1KiB"}}"#),
            (Gather, 61, 6_000, r#"{"binomial":{}}"#),
            (Gather, 60, 6_000, r#"{"linear":{}}"#),
            (Gather, 11, 1_023, r#"{"binomial":{}}"#),
            (Gather, 10, 1_023, r#"{"linear":{}}"#),
            (Scatter, 11, 299, r#"{"binomial":{}}"#),
            (Scatter, 11, 300, r#"{"linear":{}}"#),
        ];
        for &(operation, ranks, bytes, algorithm) in rows {
            assert_eq!(chosen(operation, ranks, bytes, None), algorithm, "{} {ranks} {bytes}", operation.name());
        }
        assert_eq!(chosen(AllGather, 4, 0, Some(&[1, 2, 3, 4])), r#"{"bruck":{}}"#, "all-gather of different blocks");
        assert_eq!(chosen(AllToAll, 3, 0, Some(&[1; 9])), r#"{"pairwise":{}}"#);
        assert!(chosen(ReduceScatter, 3, 3, Some(&[3, 0, 3])).starts_with(r#"{"in_two":"#), "a block of 0 bytes");
        // 20,000 bytes are 2,500 elements of 8 bytes: the ring is chosen only for fewer than 2,500 ranks
        assert!(chosen(AllReduce, 2500, 20_000, None).starts_with(r#"{"in_two":"#));
    }
}
