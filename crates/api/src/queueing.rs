//! Queueing schemes: each scheme chooses the queue of an input buffer in which a packet waits.
//!
//! A scheme divides the VCs of each VC class of a channel into lanes. The scheme selects the lane of a packet when the packet requests its
//! hop. A lane belongs to one VC class, so a cycle of lanes that wait for each other would also be a cycle of VC classes. Therefore the
//! routing's proof of deadlock freedom stays valid, and allocators and credits work as before.

use crate::base::kept::Value;
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::{Refusal, Share};

/// A packet's crossing of a channel: the data from which a scheme chooses the lane. A scheme sees only the two terminals of the packet.
/// Therefore it returns the same lane whenever it is called for this packet and channel.
#[derive(Debug, Clone, Copy)]
pub struct Crossing {
    /// The source and destination terminals of the packet.
    pub src: u32,
    pub dst: u32,
    /// The sending router and its output port; `None` if the channel leads from a terminal to its router.
    pub from: Option<(u32, u16)>,
    /// The router at the end of the channel. The packet will wait in its buffer.
    pub to: u32,
    /// The output that the packet will request at router `to`, if the scheme looks ahead; otherwise 0.
    pub onward: u16,
}

/// A queueing scheme, built for one network.
pub trait Scheme: Debug + Send + Sync {
    /// Number of lanes of the scheme, at least 1. Weft gives a channel only the lanes that packets can reach on it.
    fn lanes(&self) -> u32;

    /// The lane of a packet on a channel, a number below `lanes`. (The engine does not call this method for channels to terminals, which
    /// have one lane.)
    fn lane(&self, crossing: &Crossing) -> u32;

    /// Whether the lane depends on the packet's source terminal, `Crossing::src`. If lanes do not depend on the source, the search for
    /// the lanes in use, before a run, follows the packets of all sources together.
    fn looks_at_sources(&self) -> bool {
        true
    }
}

/// Parameters of lanes that routers assign to congested outputs during a run ("set aside"). Lane 0 of each VC class is the normal queue;
/// the other lanes can be set aside, each for one congested output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetAside {
    /// Number of queues that can be set aside in each VC class of a channel.
    pub queues: u8,
    /// Threshold [flits]: an output is congested if at least this number of flits wait for it in the normal queues of
    /// its router.
    pub detect: u32,
    /// Threshold [flits] for a queue that a router's downstream neighbour has set aside. If that queue has at least this number of flits,
    /// the router gives tokens to its own upstream neighbours. They then also set a queue aside.
    pub spread: u32,
    /// Number of cycles after which an empty queue is no longer set aside.
    pub linger: u64,
}

/// Properties of the network from which a scheme computes its thresholds.
#[derive(Debug, Clone, Copy)]
pub struct BufferSite {
    /// Length of a cycle \[fs\].
    pub cycle_fs: u128,
    /// Capacity [flits] of the smallest queue among all channels that lead to routers.
    pub queue: u32,
}

impl BufferSite {
    /// Converts `share`, a share of the smallest queue, to flits, rounded up. Refuses a share of 0 or above 1. `path`: the key of the share
    /// in the scenario.
    pub fn flits(&self, share: Share, path: &str) -> Result<u32, Refusal> {
        if !share.is_part() {
            let what = format!("{share} is not a valid share of a queue of {} flits", self.queue);
            return Err(Refusal::new(path, what, "write more than 0% and at most 100%"));
        }
        Ok((share.of(self.queue as usize).ceil() as u32).max(1))
    }
}

/// The configuration of a queueing scheme.
pub trait QueueingModel {
    /// The networks that the scheme supports, in words for messages.
    fn networks(&self) -> &'static str;

    /// Whether the scheme supports the network with this graph.
    fn fits(&self, graph: &Graph) -> bool;

    /// Whether the lane of a packet depends on the output that the packet will request at the next router. Under such a scheme the routing
    /// must compute all its hops ahead.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Number of queues of an input port, as the scheme counts queues. Most schemes count them in one VC class, others in all VC classes
    /// together.
    fn queues(&self, graph: &Graph) -> u32;

    /// Number of parts into which the scheme divides the memory of an input port, if the routing has `classes` VC classes there. By default
    /// each VC class has as many parts as `queues` returns.
    fn parts(&self, graph: &Graph, classes: u32) -> u32 {
        self.queues(graph) * classes
    }

    /// Whether routers assign lanes to congested outputs during a run. Under such a scheme the network interface of each terminal needs a
    /// queue per destination.
    fn sets_aside(&self) -> bool {
        false
    }

    /// Parameters of the lanes that routers assign to congested outputs; `None`: [`Scheme::lane`] selects all lanes. Refuses thresholds
    /// that no queue can reach.
    fn set_aside(&self, _site: &BufferSite) -> Result<Option<SetAside>, Refusal> {
        Ok(None)
    }

    /// Number of destinations that have a separate queue at every input. These queues (an "ideal map") exist in addition to the VCs. The
    /// lane of a packet is then its destination modulo the number of VCs, and does not determine which packets it waits for. `None`: each
    /// queue of the scheme is a VC.
    fn ideal_queues(&self, _graph: &Graph) -> Option<u32> {
        None
    }

    /// Builds the scheme for a network whose graph it supports. Refuses parameters that do not work with this graph.
    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal>;

    /// Configurations for tests that behave differently. If the number of queues is a parameter, one example has a single queue per VC
    /// class. Tests check that this example does not change any result. Tests run all examples on small networks that the scheme supports.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// Counts of the queues that routers set aside for congested outputs in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct SetAsideCount {
    /// Number of tokens given to upstream routers and terminals in the whole run.
    pub given: u64,
    /// Number of tokens returned in the whole run.
    pub returned: u64,
    /// Number of notifications sent in the whole run: one for each given or returned token.
    pub sent: u64,
    pub arrived: u64,
    /// Number of packets in the whole run that were the first in a queue set aside, and had to wait there. They waited until older packets
    /// in other queues of the same channel had left.
    pub fenced: u64,
    /// Number of heads in the window that need a congested output and got no queue set aside, because other outputs used all these queues
    /// of the channel. The heads wait in normal queues, or in a queue set aside from which they continue into the queue of another output,
    /// farther downstream.
    pub unserved: u64,
    /// Number of queues set aside, summed over the cycles of the window.
    pub line_cycles: u64,
}

impl SetAsideCount {
    pub fn add(&mut self, other: &Self) {
        self.given += other.given;
        self.returned += other.returned;
        self.sent += other.sent;
        self.arrived += other.arrived;
        self.fenced += other.fenced;
        self.unserved += other.unserved;
        self.line_cycles += other.line_cycles;
    }
}
