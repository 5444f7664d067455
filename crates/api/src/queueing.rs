//! Queueing schemes: they choose the queue of an input buffer in which a packet waits.
//!
//! A scheme divides the VCs of each VC class of a channel into lanes. A scheme selects the lane of a packet when the packet requests its
//! hop. A lane is a part of its VC class, so a cycle of lanes that wait for each other would also be a cycle of VC classes. Therefore the
//! routing's proof of deadlock freedom holds, and allocators and credits need no change.

use crate::base::kept::Value;
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::{Refusal, Share};

/// The crossing of a channel by a packet, as a scheme sees it. The scheme sees only the terminals of the packet, so it returns the same
/// lane wherever it is called.
#[derive(Debug, Clone, Copy)]
pub struct Crossing {
    /// The source and destination terminals of the packet.
    pub src: u32,
    pub dst: u32,
    /// The router that sends, and its output port; `None`: the channel leads from a terminal to its router.
    pub from: Option<(u32, u16)>,
    /// The router behind the channel, in whose buffer the packet will wait.
    pub to: u32,
    /// The output that the packet will request at the next router, for a scheme that looks ahead; otherwise 0.
    pub onward: u16,
}

/// A scheme, built for one network.
pub trait Scheme: Debug + Send + Sync {
    /// Number of lanes, at least 1. A channel has only those lanes that packets can reach on it.
    fn lanes(&self) -> u32;

    /// The lane of a packet on a channel, below `lanes`. (The method is not called for channels to terminals, which have one lane.)
    fn lane(&self, crossing: &Crossing) -> u32;

    /// Whether the lane depends on the source terminal, `Crossing::src`. If not, the check before a run follows the packets of all sources
    /// together.
    fn looks_at_sources(&self) -> bool {
        true
    }
}

/// Lanes that are assigned to congested outputs during a run. Lane 0 of each VC class is the normal queue; the other lanes are the queues
/// that can be set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetAside {
    /// Number of queues in each VC class of a channel that can be set aside.
    pub queues: u8,
    /// Threshold [flits]: an output is congested from this number of flits for it in the normal queues of its router.
    pub detect: u32,
    /// Threshold [flits]: when a queue that the next router has set aside holds this many flits, the router gives tokens to its upstream
    /// neighbours.
    pub spread: u32,
    /// Cycles for which an empty queue stays set aside.
    pub linger: u64,
}

/// Properties of the network that a scheme needs to choose its thresholds.
#[derive(Debug, Clone, Copy)]
pub struct BufferSite {
    /// Length of a cycle \[fs\].
    pub cycle_fs: u128,
    /// Capacity [flits] of the smallest queue of a channel that leads to a router.
    pub queue: u32,
}

impl BufferSite {
    /// Converts a share of the smallest queue to flits, rounded up. Refuses 0 and shares above 1. `path`: the place in the scenario at
    /// which the share is written.
    pub fn flits(&self, share: Share, path: &str) -> Result<u32, Refusal> {
        if !share.is_part() {
            let what = format!("{share} is not a valid share of a queue of {} flits", self.queue);
            return Err(Refusal::new(path, what, "write more than 0% and at most 100%"));
        }
        Ok((share.of(self.queue as usize).ceil() as u32).max(1))
    }
}

/// The configuration of a scheme.
pub trait QueueingModel {
    /// Describes the networks that the scheme supports, in words.
    fn networks(&self) -> &'static str;

    /// Whether the scheme supports this network.
    fn fits(&self, graph: &Graph) -> bool;

    /// Whether the lane depends on the output that the packet will request at the next router. If the lane depends on it, the routing must
    /// be able to compute all its hops ahead.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Number of queues of a port, in the scheme's own terms.
    fn queues(&self, graph: &Graph) -> u32;

    /// Number of parts into which the scheme divides the memory of a port, if the routing has this number of VC classes at the port. By
    /// default this number is the number of queues for each class.
    fn parts(&self, graph: &Graph, classes: u32) -> u32 {
        self.queues(graph) * classes
    }

    /// Whether the scheme assigns lanes to congested outputs during a run. If so, terminals need a queue per destination.
    fn sets_aside(&self) -> bool {
        false
    }

    /// The lanes that are assigned to congested outputs during a run; `None`: [`Scheme::lane`] selects all lanes. Refuses thresholds that
    /// can't be reached.
    fn set_aside(&self, _site: &BufferSite) -> Result<Option<SetAside>, Refusal> {
        Ok(None)
    }

    /// Number of destinations that each have their own queue at every input, stored in an ideal map in addition to the VCs. The lane is
    /// then the destination modulo a number of VCs, and has no effect on the waiting of packets. `None`: the queues are the VCs themselves.
    fn ideal_queues(&self, _graph: &Graph) -> Option<u32> {
        None
    }

    /// Builds the scheme for a graph that it supports. Refuses parameters that are incompatible with the graph.
    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal>;

    /// Configurations that behave differently. If the number of queues is a parameter, one configuration has a single queue for each VC
    /// class: that configuration must not change any result. Tests run all examples on small networks that the scheme supports.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// Counts of the queues that were set aside in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct SetAsideCount {
    /// Numbers of tokens in the whole run: those given to routers and terminals upstream, and those returned.
    pub given: u64,
    pub returned: u64,
    /// Notifications sent in the whole run: one for each token that is given or returned.
    pub sent: u64,
    pub arrived: u64,
    /// Packets in the whole run that waited in a queue set aside until older packets in other queues of the channel had left.
    pub fenced: u64,
    /// Heads of packets for a congested output that found all queues of their channel assigned to other outputs, in the window. These heads
    /// wait in normal queues, or in a queue set aside from which they continue into the queue of another output, farther away.
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
