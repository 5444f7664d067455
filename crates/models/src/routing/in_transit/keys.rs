//! The keys of a scenario that the in-transit adaptive routings share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Rule that keeps packets at their source while their router is congested.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Injection {
    /// No rule: packets are never kept.
    Free {},
    /// A packet leaves its source only if the buffer after the first hop has room for this number of packets in addition.
    Bubble { packets: u32 },
    /// A packet leaves its source only if the occupancy of some escape VC of the router is at most this value, 0 to 1 [share of a buffer].
    EscapeOccupancy { most: f64 },
}

impl Default for Injection {
    fn default() -> Self {
        Self::Free {}
    }
}

/// Condition under which a head looks for a detour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    /// The head's minimal output was granted to another input in an earlier step of this cycle (FOGSim's first version). With
    /// `router.speedup: 1` a cycle has one step, so no packet takes a detour, except around a link that is broken or off.
    #[default]
    Granted,
    /// The minimal output was granted to another input in an earlier step of this cycle, or no VC of it has room for the packet.
    /// The paper states this condition in brackets: the output is "already assigned to another input or Q_min = 100 %".
    GrantedOrFull,
    /// The head cannot take its minimal output now. Another packet crosses to the output or is on the link, or there is no room
    /// (the paper's "not available").
    Unavailable,
}

/// Definition of occupancy, with which the minimal output and detours are compared.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Occupancy {
    /// Used credits of the VC with the most credits, as a share of its buffer (the paper). Flits on the link and returning credits
    /// also count, so a long link looks full even if no flit waits for it.
    #[default]
    Credits,
    /// Flits that wait, as a share of the buffers of all VCs of the link. The value is the used credits minus the flits that the
    /// link has taken during the last credit round trip (ours).
    Waiting,
}

/// Largest occupancy of the first output of a detour.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MostOccupancy {
    /// A share of the occupancy of the minimal output.
    Relative(f64),
    /// A share of the buffer.
    Fixed(f64),
}

impl Default for MostOccupancy {
    fn default() -> Self {
        Self::Relative(0.9)
    }
}

/// The escape ring.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingConfig {
    /// Kind of ring. Default: physical if the topology has such rings, otherwise embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RingKind>,
    /// Number of embedded rings without a common link; at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 32))]
    pub rings: u32,
    /// Number of directions of each ring, 1 or 2. With two, packets take the shorter way round.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 2))]
    pub directions: u32,
    /// Number of VCs of an embedded ring on its links; at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 8))]
    pub vcs: u32,
    /// Number of times that a packet may leave the ring before its destination router, 0 to 254.
    #[serde(default = "four")]
    #[schemars(range(max = 254))]
    pub exits: u32,
    /// Whether packets may enter the ring at their source router. With `false`, a packet is discarded if its only hop at the source
    /// router is broken.
    #[serde(default)]
    pub from_sources: bool,
}

/// Kinds of escape rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RingKind {
    /// On separate wires and ports (`escape_rings` of the topology).
    Physical,
    /// On separate VCs of links that the network has anyway.
    Embedded,
}

impl Default for RingConfig {
    fn default() -> Self {
        Self { kind: None, rings: 1, directions: 2, vcs: 1, exits: 4, from_sources: false }
    }
}

fn one() -> u32 {
    1
}

fn two() -> u32 {
    2
}

fn four() -> u32 {
    4
}

/// The values of these keys.
#[derive(Debug, Clone)]
pub struct Keys {
    pub trigger: Trigger,
    /// Th_min \[share of a buffer\].
    pub least_occupancy: f64,
    /// Th_non-min, the largest occupancy of the first output of a detour.
    pub most_occupancy: MostOccupancy,
    pub occupancy: Occupancy,
    pub ring: RingConfig,
    pub injection: Injection,
}

impl Keys {
    /// Refuses thresholds and counts out of range. `routing`: the name of the routing in scenarios, under which these keys are.
    pub fn check(&self, routing: &str) -> Result<(), Refusal> {
        let at = |key: &str| format!("routing.{routing}.{key}");
        let share = |value: f64, key: &str| match (0.0..=1.0).contains(&value) {
            true => Ok(()),
            false => Err(Refusal::new(at(key), format!("{value} is not a share between 0 and 1"), "write 0 to 1")),
        };
        share(self.least_occupancy, "least_occupancy")?;
        match self.most_occupancy {
            MostOccupancy::Relative(value) => share(value, "most_occupancy.relative")?,
            MostOccupancy::Fixed(value) => share(value, "most_occupancy.fixed")?,
        }
        if let Injection::EscapeOccupancy { most } = self.injection {
            share(most, "injection.escape_occupancy.most")?;
        }
        let ring = &self.ring;
        for (key, value, from, to) in [
            ("ring.rings", ring.rings, 1, 32),
            ("ring.directions", ring.directions, 1, 2),
            ("ring.vcs", ring.vcs, 1, 8),
            ("ring.exits", ring.exits, 0, 254),
        ] {
            if !(from..=to).contains(&value) {
                let what = format!("{value} is not within {from} to {to}");
                return Err(Refusal::new(at(key), what, format!("write {from} to {to}")));
            }
        }
        Ok(())
    }
}
