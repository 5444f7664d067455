//! Planes: several copies of a network that share no channel. Each node has a terminal in each copy.
//!
//! # Source
//! Multi-rail networks of clusters, such as those of S. Coll et al., "Using multirail networks in high-performance clusters"
//! (Concurrency and Computation 15, 2003). BookSim2 has them as `subnets`.
//!
//! # Parameters
//! `count` \[planes\], 1 to 256; `of`: the topology of a plane, with its parameters.
//!
//! # Guarantees
//! Node n has the terminals n * count to n * count + count - 1: terminal n of each plane. Router r of plane p has number r * count + p. All
//! planes have the same ports, link classes and latencies as the topology `of`. No path leads from one plane to another, so packets can
//! only reach terminals in the plane in which they were sent. A pattern selects nodes. Each terminal then sends to those terminals of the
//! selected nodes that are in its plane. The keys that give the terminals of a job contain nodes instead. The diameter and the mean
//! distance are those of one plane. The bisection is the sum over all planes.
//!
//! # Not modelled
//! Planes of different topologies. Weft refuses routings that post or read numbers of other routers, and routings that compute new paths
//! when links fail.
//!
//! # Validation
//! `topology/tests/conformance.rs` checks wiring, counts and distances. `engine/tests/planes.rs` checks that each plane alone behaves
//! like a separate network.

use super::{TopologyConfig, TopologyModel};
use crate::Graph;
use crate::graph::{check_positive, check_size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Several copies of a network that share no channel; every node has a terminal in each copy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Planes {
    /// Number of copies, 1 to 256.
    #[schemars(range(min = 1, max = 256))]
    pub count: u32,
    /// The topology of each copy.
    pub of: Box<TopologyConfig>,
}

/// Maximum number of planes. A node has an interface in each plane.
const MOST: u32 = 256;

impl TopologyModel for Planes {
    fn build(&self, path: &str) -> Result<Graph, Refusal> {
        check_positive(&[("count", self.count)], path)?;
        if self.count > MOST {
            let what = format!("{} planes would give each node too many interfaces", self.count);
            return Err(Refusal::new(format!("{path}.count"), what, format!("write 1 to {MOST}")));
        }
        if matches!(*self.of, TopologyConfig::Planes(_)) {
            let what = "a plane cannot consist of planes";
            return Err(Refusal::new(format!("{path}.of"), what, "multiply the two counts, and write one `planes`"));
        }
        let plane = self.of.build(&format!("{path}.of.{}", self.of.name()))?;
        let routers = u64::from(plane.routers()) * u64::from(self.count);
        let sum = format!("{} planes", self.count);
        check_size(routers, plane.radix().into(), &sum, &format!("{path}.count"))?;
        Ok(plane.in_planes("planes", self.count))
    }

    fn copied(&self) -> Option<&TopologyConfig> {
        Some(&self.of)
    }

    fn examples() -> Vec<Self> {
        let of = |text: &str| serde_json::from_str(text).expect("planes");
        vec![
            of(r#"{"count": 2, "of": {"torus": {"widths": [4, 3], "terminals_per_router": 2}}}"#),
            of(r#"{"count": 3, "of": {"k_ary_n_tree": {"k": 2, "n": 2}}}"#),
            of(r#"{"count": 1, "of": {"hyperx": {"widths": [4], "terminals_per_router": 2}}}"#),
        ]
    }
}
