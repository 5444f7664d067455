//! Defines [`Facts`]: the properties of a run that decide which shortcuts it uses.

use weft_api::routing::{Decides, Needs};

/// Properties of a run, known before it starts, that decide which shortcuts it uses.
#[derive(Debug)]
pub struct Facts<'a> {
    pub needs: &'a Needs,
    /// True if parallel links of the network form trunks.
    pub trunks: bool,
    /// True if each head needs work that other runs do not need ([`HeadPath::Slow`](super::profile::HeadPath::Slow)).
    pub slow_heads: bool,
    /// True if an output sends all flits of a packet before it begins another packet.
    pub hold_switch: bool,
    /// True if VCs are allocated in a separate stage.
    pub vc_realloc: bool,
    /// True if some links have a limited rate.
    pub paced_links: bool,
    /// True if a link can deliver several flits of a packet in one cycle.
    pub fast_links: bool,
    /// True if a VC can stay closed to its next head for some time after a packet has left it.
    pub closes_vcs: bool,
    /// True if the user watches packets.
    pub watches: bool,
    /// True if links or routers fail in the run.
    pub faults: bool,
    /// Length of the longest packet [flits].
    pub longest: u32,
    /// Number of outputs in the network.
    pub outputs: u64,
    /// True if the records of the network do not fit into the cache.
    pub is_large: bool,
    /// True if network interfaces have queues. Flits of several packets may then alternate on an injection channel.
    pub queues: bool,
    /// True if received packets may still occupy the buffers of terminals after their delivery.
    pub keeps: bool,
    /// True if packets get congestion marks when they leave an output, depending on the number of flits that wait for it.
    pub marks: bool,
    /// True if queues can be set aside for congested outputs, or an ideal map has queues in addition to the VCs.
    pub maps_queues: bool,
    /// True if VC classes are finer than those of the routing, because message classes have separate VCs or a queueing scheme has lanes.
    pub classes_apart: bool,
}

impl Facts<'_> {
    /// True if heads choose their output in every allocation step.
    pub fn chooses(&self) -> bool {
        self.needs.decides == Decides::EachStep || self.trunks
    }
}
