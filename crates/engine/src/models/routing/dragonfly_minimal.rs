//! Dragonfly minimal: local, global, local; VC class = global links crossed.
//!
//! # Source
//! Kim et al., ISCA 2008. Hierarchical: never two global links, unlike graph-shortest paths.
//! # Parameters
//! None.
//! # Guarantees
//! At most 3 hops; 2 local and 1 global VC classes.
//! # Not modelled
//! Nothing.
//! # Validation
//! On every legal topology: `engine/tests/theory.rs` (latency without contention to the cycle),
//! `engine/tests/conservation.rs` (nothing lost), `engine/tests/stall.rs` (no stall in the smallest buffers).
//! `engine/tests/bounds.rs`: a group is held to its one global link. Peers: the rows `min` of
//! `tests/data/golden/booksim.csv` (all within their bands) and of `tests/data/golden/caminos.csv`, where uniform
//! traffic is faster here from load 0.5 on: see `ARCHITECTURE.md`.

use super::{Classes, Hop, groups::Groups};
use crate::state::Packet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::Graph;
use weft_units::Refusal;

/// Dragonfly minimal: local, global, local; VC class = global links crossed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyMinimal {}

#[derive(Debug, Clone)]
pub struct Runtime {
    pub(super) groups: Groups,
}

impl DragonflyMinimal {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        Ok((Runtime { groups: Groups::of(graph, "dragonfly_minimal")? }, vec![1, 2, 1]))
    }
}

impl Runtime {
    #[inline(always)]
    pub(super) fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        if at == packet.dest {
            return Some(Hop { port: packet.dst_port, class: 0 });
        }
        Some(self.groups.classed_hop(at, packet.dest, 0, packet, seed))
    }
}
