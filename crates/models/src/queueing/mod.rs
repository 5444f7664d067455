//! Queueing schemes. A scheme divides the VCs of each VC class into lanes, which act as separate queues. For each channel that a packet
//! crosses, it chooses the lane in which the packet waits at the next router. Each scheme is one file, and has one line in this file.

weft_units::registry! {
    /// Every queueing scheme. The lane of a packet depends only on its source, its destination, and the channel that it crosses.
    pub enum QueueingConfig as QueueingModel, with examples, open to AddedQueueing:
    "one_queue" => one_queue::OneQueue,
    "voqsw" => voqsw::Voqsw,
    "voqnet" => voqnet::Voqnet,
    "dbbm" => dbbm::Dbbm,
    "iodet" => iodet::Iodet,
    "flow2sl" => flow2sl::Flow2sl,
    "bbq" => bbq::Bbq,
    "h2lq" => h2lq::H2lq,
    "map" => map::Map,
    "recn" => recn::Recn,
}

mod coordinates;

use weft_api::queueing::QueueingModel;
use weft_units::Refusal;

impl Default for QueueingConfig {
    fn default() -> Self {
        Self::OneQueue(one_queue::OneQueue {})
    }
}

impl QueueingConfig {
    /// True for the default scheme, which does not divide VC classes into lanes.
    pub fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

/// Largest number of queues that a parameter can request. It is higher than the 16 VCs of a channel, because only lanes that packets can
/// reach need a VC.
const MOST: u32 = 256;

/// Refuses a number of queues that is 0 or above `MOST`.
fn check_queues(path: &str, queues: u32) -> Result<(), Refusal> {
    if (1..=MOST).contains(&queues) {
        return Ok(());
    }
    Err(Refusal::new(path, format!("{queues} queues, but a scheme can have 1 to {MOST}"), format!("write 1 to {MOST}")))
}

/// The refusal of a network without the structure that scheme `name` needs.
fn no_view(name: &str, networks: &str) -> Refusal {
    Refusal::new(
        format!("queueing.{name}"),
        format!("this scheme is for {networks}, but not for this network"),
        "choose a scheme that works on any network, such as `dbbm` or `voqsw`, or another topology",
    )
}
