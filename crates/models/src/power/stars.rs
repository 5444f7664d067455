//! The star around the hub of every subnetwork. The hub is one router of the subnetwork, and the star is the links that join the hub to all
//! other routers. Three policies keep the star on: `fewest_links`, `static` without a list of links, and `tcep` while the hub does not
//! move.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use weft_api::state::LinkState;
use weft_api::subnetworks::Subnets;

/// Links that are on in cycle 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Initial {
    /// The star around the hub of every subnetwork.
    #[default]
    Root,
    AllOn,
}

impl Initial {
    /// Returns the state in cycle 0 of the link between routers `a` and `b`, if the member with index `hub` is the hub of every subnetwork.
    pub(super) fn state(self, nets: &Subnets, coords: &[u64], hub: u8, (a, b): (u32, u32)) -> LinkState {
        if self == Self::AllOn || is_root(nets, coords, hub, (a, b)) { LinkState::On } else { LinkState::Off }
    }
}

/// True if the link between routers `a` and `b` is in the star of its subnetwork, or belongs to no subnetwork.
pub(super) fn is_root(nets: &Subnets, coords: &[u64], hub: u8, (a, b): (u32, u32)) -> bool {
    nets.link(coords, a, b).is_none_or(|(_, own, c)| own == hub || c == hub)
}
