//! The scenario keys that all in-transit adaptive routings share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_units::Refusal;

/// Injection control: the rule that keeps packets at their source while there is too little free space.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Injection {
    /// No injection control: packets leave their source as soon as the next buffer has room.
    Free {},
    /// A packet leaves its source only if the buffer after the first hop has room for the packet and for this number of
    /// further packets.
    Bubble { packets: u32 },
    /// A packet leaves its source only if at least one escape VC of the router has at most this occupancy, 0 to 1 [share of a buffer].
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
    /// The head's minimal output was granted to another input in an earlier allocation step of this cycle (FOGSim's first version). With
    /// `router.speedup: 1` a cycle has only one step, so packets take detours only around links that are broken or off.
    #[default]
    Granted,
    /// The minimal output was granted to another input in an earlier allocation step of this cycle, or none of its VCs has room for the
    /// packet. The paper states this condition in brackets: a packet is misrouted if the output is "already assigned to another input or
    /// Q_min = 100 %".
    GrantedOrFull,
    /// The head cannot take its minimal output now (the paper's "not available"). Another packet uses the output or the link, or the next
    /// buffer has no room.
    Unavailable,
}

/// Definition of the occupancy of an output. The routing compares the occupancies of the minimal output and of detours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Occupancy {
    /// Used credits of the VC that has the most credits left, as a share of the VC's buffer. This is the paper's definition. Flits on the
    /// link and returning credits also count, so the output of a long link looks full even if no flit waits for it.
    #[default]
    Credits,
    /// Flits that wait for the output, as a share of the buffers of all VCs of the link. The number of these flits is the number of used
    /// credits, minus the flits that the link has accepted during the last credit round trip. This is our definition.
    Waiting,
}

/// A head takes a detour only if the occupancy of the detour's first output is at most this limit.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MostOccupancy {
    /// The limit is this share of the occupancy of the minimal output.
    Relative(f64),
    /// The limit is this share of the buffer, whatever the occupancy of the minimal output is.
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
    /// Kind of ring. Default: physical if the topology has physical rings, otherwise embedded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RingKind>,
    /// Number of embedded rings, which have no link in common; at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 32))]
    pub rings: u32,
    /// Number of directions in which packets can travel around each ring, 1 or 2. With two directions, a packet takes the direction with
    /// the shorter path.
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 2))]
    pub directions: u32,
    /// Number of VCs of an embedded ring on each of its links; at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 8))]
    pub vcs: u32,
    /// Number of times that a packet can leave a ring before it reaches its destination router, 0 to 254.
    #[serde(default = "four")]
    #[schemars(range(max = 254))]
    pub exits: u32,
    /// Whether packets can enter the ring at their source router. With `false`, a packet is discarded if its only possible hop at the
    /// source router leads over a broken link.
    #[serde(default)]
    pub from_sources: bool,
}

/// Kinds of escape rings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RingKind {
    /// The ring has separate wires and ports (`escape_rings` of the topology).
    Physical,
    /// The ring has separate VCs on the existing links of the network.
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

/// The values of the scenario keys of an in-transit adaptive routing.
#[derive(Debug, Clone)]
pub struct Keys {
    pub trigger: Trigger,
    /// The threshold Th_min of the paper: the lowest occupancy of the minimal output at which heads take detours
    /// \[share of a buffer\].
    pub least_occupancy: f64,
    /// The threshold Th_non-min of the paper: the highest permitted occupancy of the first output of a detour.
    pub most_occupancy: MostOccupancy,
    pub occupancy: Occupancy,
    pub ring: RingConfig,
    pub injection: Injection,
}

impl Keys {
    /// Refuses thresholds and counts that are out of range. `routing`: the name of the routing to which the keys belong.
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
