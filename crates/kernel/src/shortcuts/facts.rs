//! Properties of a run that decide which shortcuts it uses.

use weft_api::routing::{Decides, Needs};

/// Properties of a run, known before it starts, that decide which shortcuts it uses.
#[derive(Debug)]
pub struct Facts<'a> {
    pub needs: &'a Needs,
    /// True if parallel links of the network form trunks.
    pub trunks: bool,
    /// Each head needs work that other runs do not need ([`HeadPath::Slow`](super::profile::HeadPath::Slow)).
    pub slow_heads: bool,
    /// `hold_switch`: an output finishes a packet before it begins another packet. `vc_realloc`: VCs are allocated in a separate stage.
    pub hold_switch: bool,
    pub vc_realloc: bool,
    /// `paced_links`: some links have a limited rate. `fast_links`: flits of one packet may arrive in the same cycle.
    pub paced_links: bool,
    pub fast_links: bool,
    /// VCs may be closed to the next head for a while.
    pub closes_vcs: bool,
    /// Packets are watched, or links and routers fail.
    pub watches: bool,
    pub faults: bool,
    /// Length of the longest packet [flits].
    pub longest: u32,
    /// Number of outputs in the network.
    pub outputs: u64,
    /// The network is larger than the cache.
    pub is_large: bool,
    /// Network interfaces have queues, so that flits of several packets may mix on an injection channel.
    pub queues: bool,
    /// Packets may keep their places in the buffers of terminals.
    pub keeps: bool,
    /// Packets are marked when they leave an output, depending on the number of flits that wait for it.
    pub marks: bool,
    /// Queues are set aside for congested outputs, or an ideal map has queues in addition to the VCs.
    pub maps_queues: bool,
    /// VC classes are finer than those of the routing: message classes have separate VCs, or a queueing scheme has lanes.
    pub classes_apart: bool,
}

impl Facts<'_> {
    /// Heads choose their output in every allocation step.
    pub fn chooses(&self) -> bool {
        self.needs.decides == Decides::EachStep || self.trunks
    }
}
