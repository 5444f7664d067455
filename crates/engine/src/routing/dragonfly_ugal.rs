//! Dragonfly UGAL-L: at the source router, minimal or over a random intermediate, by the queues of the two first hops.
//!
//! # Source
//! Kim et al., ISCA 2008; rule minimal if q_min H_min <= q_nm H_nm + T, with the hops of the two paths.
//! # Parameters
//! intermediate, as Valiant; threshold T [flits]; sensor: what q is.
//! # Guarantees
//! VC classes as Valiant's (a minimal packet uses l0 g0 l1), acyclic; traffic inside a group is never misrouted.
//! # Not modelled
//! BookSim2's fixed bias of 30 flits and its single VC class on the way to the intermediate, which can deadlock.

use super::{Classes, Hop, Sensor, dragonfly_valiant, groups, sensor::Congestion};
use crate::state::{DETOUR, Packet};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_topology::Graph;
use weft_units::{Flits, Refusal};

/// Dragonfly UGAL-L: at the source router, minimal or over a random intermediate, by the queues of the two first hops.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DragonflyUgal {
    /// Where the first phase of a detour ends.
    #[serde(default)]
    pub intermediate: dragonfly_valiant::Intermediate,
    /// Bias toward the minimal path.
    #[serde(default = "super::default_threshold")]
    pub threshold: Flits,
    /// What is read as the congestion of an output.
    #[serde(default)]
    pub sensor: Sensor,
}

#[derive(Debug, Clone)]
pub struct Runtime {
    pub(crate) valiant: dragonfly_valiant::Runtime,
    threshold: i32,
    pub(super) sensor: Sensor,
}

impl DragonflyUgal {
    pub(super) fn build(&self, graph: &Graph) -> Result<(Runtime, Classes), Refusal> {
        let (valiant, classes) = dragonfly_valiant::Runtime::of(graph, self.intermediate, "dragonfly_ugal")?;
        Ok((
            Runtime { valiant, threshold: super::threshold(self.threshold, "dragonfly_ugal")?, sensor: self.sensor },
            classes,
        ))
    }
}

impl Runtime {
    #[inline(never)]
    pub(super) fn next(&self, at: u64, packet: &mut Packet, seed: u64) -> Option<Hop> {
        let undecided = packet.phase == 0 && packet.flags & DETOUR == 0;
        if undecided && groups::group(at) != groups::group(packet.dest) {
            return None;
        }
        if undecided {
            self.valiant.minimal(packet);
        }
        self.valiant.next(at, packet, seed)
    }

    pub(super) fn head(&self, at: u64, queues: &impl Congestion, packet: &mut Packet, seed: u64) -> Hop {
        let before = *packet;
        self.valiant.minimal(packet);
        let minimal = self.valiant.next(at, packet, seed).unwrap_or(Hop { port: packet.dst_port, class: 0 });
        let Some(mid) = self.valiant.draw_intermediate(groups::group(at), packet, seed) else { return minimal };
        let mut detour = before;
        self.valiant.detour(&mut detour, mid);
        if let Some(n) = self.valiant.next(at, &mut detour, seed) {
            let groups = &self.valiant.groups;
            let near = groups.distance(at, packet.dest, packet, seed) as i32;
            let far = (groups.distance(at, mid, packet, seed) + groups.distance(mid, packet.dest, packet, seed)) as i32;
            let (q_m, q_n) = (queues.read(self.sensor, minimal.port), queues.read(self.sensor, n.port));
            if q_m * near > q_n * far + self.threshold {
                *packet = detour;
                return n;
            }
        }
        minimal
    }
}
