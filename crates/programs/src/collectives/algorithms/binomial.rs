//! Binomial tree.
//!
//! # Source
//! The implementation in Open MPI 1.6.5 (component `tuned` of its collectives).
//!
//! # Parameters
//! `segment`: size of a segment of broadcast and reduce \[bytes\] (default: the whole vector is one segment).
//!
//! # Guarantees
//! The numbers of ranks below are counted from the root. Broadcast: in round k each rank r below 2^k sends to r + 2^k. A reduce
//! sends in the opposite direction. Gather and scatter: each subtree contains consecutive ranks, so the blocks of each message
//! are consecutive.
//!
//! # Not modelled
//! The time that a rank needs to sum data, unless `sum_per_byte` is set. Copies of data within a rank.
//!
//! # Validation
//! For 2 to 65 ranks, `laws/data_flow.rs` checks that every rank gets the right data. It also checks the size of each
//! message.

use super::Expands;
use crate::amounts::Bytes;
use crate::collectives::call::Call;
use crate::collectives::steps::{Into, Steps};
use crate::collectives::tree::{Place, down, up, whole};
use crate::form::Operation;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A binomial tree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Binomial {
    /// Size of a segment of broadcast and reduce. Default: the whole vector is one segment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub segment: Option<Bytes>,
}

impl Expands for Binomial {
    fn operations(&self) -> &'static [Operation] {
        &[Operation::Broadcast, Operation::Reduce, Operation::Gather, Operation::Scatter]
    }

    fn expand(&self, call: &Call, steps: &mut Steps) {
        let segment = self.segment.map_or(0, |segment| segment.0);
        let place = || Place::binomial(call.from_root(), call.ranks).of_ranks(call);
        match call.operation {
            Operation::Reduce => up(&place(), whole(call), segment, 0, steps),
            Operation::Gather => blocks(call, true, steps),
            Operation::Scatter => blocks(call, false, steps),
            Operation::Broadcast => down(&place(), whole(call), segment, 0, steps),
            other => unreachable!("{other:?} is not among its operations"),
        }
    }

    fn examples() -> Vec<Self> {
        vec![Self::default(), Self { segment: Some(Bytes(3)) }]
    }
}

/// Messages of a gather (`to_root`) or a scatter. Ranks are counted from the root. The subtree of rank v has the blocks of v
/// to v + 2^k - 1; 2^k is the lowest set bit of v.
fn blocks(call: &Call, to_root: bool, steps: &mut Steps) {
    let me = call.from_root();
    let low = if me == 0 { u32::BITS } else { me.trailing_zeros() };
    let subtree = |first: u32, bit: u32| {
        let end = first.saturating_add(1 << bit).min(call.ranks);
        (first..end).map(move |number| call.block(call.rank(number).into()))
    };
    let parent = (me > 0).then(|| me & (me - 1));
    let children = (0..low.min(31)).filter(|&bit| me.checked_add(1 << bit).is_some_and(|child| child < call.ranks));
    if to_root {
        for bit in children {
            let child = me + (1 << bit);
            steps.receive(call.rank(child), 0, Into::Copy, subtree(child, bit));
        }
        steps.next();
        if let Some(parent) = parent {
            steps.send(call.rank(parent), 0, subtree(me, low));
        }
    } else {
        if let Some(parent) = parent {
            steps.receive(call.rank(parent), 0, Into::Copy, subtree(me, low));
        }
        steps.next();
        for bit in children.rev() {
            let child = me + (1 << bit);
            steps.send(call.rank(child), 0, subtree(child, bit));
        }
    }
}
