//! RECN: while an output is congested, routers keep a separate queue ("set aside") for packets that will cross this output.
//!
//! # Source
//! J. Duato et al., "A New Scalable and Cost-Effective Congestion Management Strategy for Lossless Multistage Interconnection Networks"
//! (RECN), HPCA 2005. US patent 8509077 describes routers with memory at their inputs only. We have not read these texts: the protocol
//! follows their abstracts and claims.
//! # Parameters
//! `queues`: number of queues of a port that can be set aside for congested outputs, in each VC class of the routing \[count\]. `detect`:
//! an output is congested if the flits that wait for it in normal queues reach this share of a queue's capacity \[percent\]. `spread`: when
//! a queue that is set aside is filled to this share of its capacity \[percent\], the router notifies its neighbours upstream. They then
//! also set queues aside. `linger`: time for which an empty queue stays set aside \[time\].
//! # Guarantees
//! The packets of a flow stay in order if their path is fixed, as long as no link or router fails. A router requests a queue at an upstream
//! neighbour by sending a token. Each queue that is set aside has exactly one token, and the token is returned in the end. A router knows
//! only its own queues and the tokens of its neighbours. With `queues: 0`, results are the same as without the scheme.
//! # Not modelled
//! Memory that all queues of a port share. In this model, each queue has a fixed part of the memory, and credits replace Xon and Xoff. The
//! bandwidth of tokens: they travel on a side channel like credits, even over links that have failed. Congestion of outputs that heads
//! choose late, by the lengths of queues: no router upstream can know whether a packet will cross such an output. Outputs to terminals can
//! count as congested. Moving packets between queues: a packet that has entered a normal queue stays there. The packet leaves the queue
//! only as fast as its congested output accepts packets.
//! # Validation
//! A test in `kernel/src/parts/set_aside.rs` explores all states of two routers. `engine/tests/recn.rs` checks that in the end all tokens
//! have been returned and all queues are free. `tests/test_recn.py` checks that flows that avoid a hot spot behave as with a queue per
//! destination. `conformance/src/queueing.rs` checks that packets of a flow stay in order, and that the network does not stall. It also
//! checks that blocks and checkpoints do not change results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use weft_api::queueing::{BufferSite, Crossing, QueueingModel, Scheme, SetAside};
use weft_topology::Graph;
use weft_units::{Refusal, Share, Time};

/// Largest number of queues of a port that can be set aside. A channel has 16 VCs, and one of them is the normal queue.
const MOST: u32 = 15;

/// RECN: while an output is congested, routers keep a separate queue ("set aside") for packets that will cross this output.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Recn {
    /// Number of queues of a port that can be set aside for congested outputs, in each VC class of the routing.
    pub queues: u32,
    /// An output is congested if the flits that wait for it in the normal queues of its router reach this share of a queue's capacity.
    pub detect: Share,
    /// When a queue that is set aside is filled to this share of its capacity, the neighbours upstream also set queues aside.
    pub spread: Share,
    /// Time for which an empty queue stays set aside.
    pub linger: Time,
}

impl Default for Recn {
    fn default() -> Self {
        let share = |text: &str| text.parse().expect("a share");
        Self { queues: 3, detect: share("100%"), spread: share("1%"), linger: "5us".parse().expect("a time") }
    }
}

impl QueueingModel for Recn {
    fn networks(&self) -> &'static str {
        "any network"
    }

    fn fits(&self, _graph: &Graph) -> bool {
        true
    }

    fn queues(&self, _graph: &Graph) -> u32 {
        self.queues.saturating_add(1)
    }

    fn build(&self, _graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal> {
        if self.queues > MOST {
            let what = format!("{} queues, but besides the normal queue a port has at most {MOST}", self.queues);
            return Err(Refusal::new("queueing.recn.queues", what, format!("write 0 to {MOST}")));
        }
        Ok(Arc::new(ByCongestion { lanes: self.queues + 1 }))
    }

    fn sets_aside(&self) -> bool {
        self.queues > 0
    }

    fn set_aside(&self, site: &BufferSite) -> Result<Option<SetAside>, Refusal> {
        let set_aside = SetAside {
            queues: self.queues as u8,
            detect: site.flits(self.detect, "queueing.recn.detect")?,
            spread: site.flits(self.spread, "queueing.recn.spread")?,
            linger: self.linger.cycles_above_zero(site.cycle_fs, "queueing.recn.linger")?,
        };
        Ok(self.sets_aside().then_some(set_aside))
    }

    fn examples() -> Vec<Self> {
        let early = |text: &str| text.parse().expect("a share");
        let eager =
            Self { queues: 1, detect: early("10%"), spread: early("10%"), linger: "5ns".parse().expect("a time") };
        vec![Self::default(), eager, Self { queues: 0, ..Self::default() }]
    }
}

/// The scheme chooses the normal queue for every packet. During the run, the routers themselves set queues aside.
#[derive(Debug)]
struct ByCongestion {
    lanes: u32,
}

impl Scheme for ByCongestion {
    fn lanes(&self) -> u32 {
        self.lanes
    }

    fn lane(&self, _crossing: &Crossing) -> u32 {
        0
    }

    fn looks_at_sources(&self) -> bool {
        false
    }
}
