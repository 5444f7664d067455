//! Queueing schemes: they choose the queue of an input buffer in which a packet waits.
//!
//! A scheme divides the VCs of each VC class of a channel into lanes. It names the lane of a packet when its hop becomes a request.
//! A lane is a part of its VC class, so a circle of lanes would be one of VC classes. Therefore the proof of the routing holds, and
//! allocators and credits stay as they are.

use crate::base::kept::Value;
use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::{Refusal, Share};

/// A channel that a packet crosses, as a scheme sees it. It sees only the terminals of the packet, so it returns the
/// same lane at every place of call.
#[derive(Debug, Clone, Copy)]
pub struct Crossing {
    /// The terminals of the packet.
    pub src: u32,
    pub dst: u32,
    /// The router that sends, and its output; `None`: the channel leads from a terminal to its router.
    pub from: Option<(u32, u16)>,
    /// The router behind the channel, in whose buffer the packet will wait.
    pub to: u32,
    /// The output that the packet will request at the next router, for a scheme that looks ahead; else 0.
    pub onward: u16,
}

/// A scheme on one network.
pub trait Scheme: Debug + Send + Sync {
    /// Number of lanes, at least 1. A channel has only the lanes that packets can reach there.
    fn lanes(&self) -> u32;

    /// The lane of a packet on a channel, below `lanes`. (Not called for channels to terminals, which have one lane.)
    fn lane(&self, crossing: &Crossing) -> u32;

    /// Whether the lane depends on `Crossing::src`. If not, packets of all sources are followed together before a run.
    fn looks_at_sources(&self) -> bool {
        true
    }
}

/// Lanes that are given to congested outputs while a run lasts. Lane 0 of each VC class is the normal queue, the others are set aside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SetAside {
    /// Queues of a channel that can be set aside, in each VC class.
    pub queues: u8,
    /// Least number of flits in the normal queues of its router that makes an output congested.
    pub detect: u32,
    /// Number of flits in a queue set aside at the next router from which on a router gives tokens to its neighbours
    /// upstream.
    pub spread: u32,
    /// Cycles that an empty queue stays set aside.
    pub linger: u64,
}

/// Properties of the network that a scheme needs to set queues aside.
#[derive(Debug, Clone, Copy)]
pub struct BufferSite {
    /// Length of a cycle \[fs\].
    pub cycle_fs: u128,
    /// Flits that the smallest queue of a channel to a router holds.
    pub queue: u32,
}

impl BufferSite {
    /// A share of the smallest queue in flits, rounded up. Refuses 0 and shares above 1. `path`: where the share is
    /// written.
    pub fn flits(&self, share: Share, path: &str) -> Result<u32, Refusal> {
        if !share.is_part() {
            let what = format!("{share}: it is a share of a queue of {} flits", self.queue);
            return Err(Refusal::new(path, what, "write more than 0% and at most 100%"));
        }
        Ok((share.of(self.queue as usize).ceil() as u32).max(1))
    }
}

/// The configuration of a scheme.
pub trait QueueingModel {
    /// The networks that it supports, in words.
    fn networks(&self) -> &'static str;

    /// Whether it supports this network.
    fn fits(&self, graph: &Graph) -> bool;

    /// Whether the lane depends on the output that the packet requests at the next router. Then the routing must name
    /// all its hops ahead.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// The queues of a port, in words, as the scheme names them.
    fn queues(&self, graph: &Graph) -> u32;

    /// Number of parts into which it divides the memory of a port, if the routing has this number of VC classes there.
    /// By default the number of its queues in each class.
    fn parts(&self, graph: &Graph, classes: u32) -> u32 {
        self.queues(graph) * classes
    }

    /// Whether congested outputs get lanes while a run lasts. Then terminals need a queue per destination.
    fn sets_aside(&self) -> bool {
        false
    }

    /// Lanes that congested outputs get while a run lasts; `None`: all lanes are those that [`Scheme::lane`] names. Refuses thresholds
    /// that can't be reached.
    fn set_aside(&self, _site: &BufferSite) -> Result<Option<SetAside>, Refusal> {
        Ok(None)
    }

    /// Number of destinations that have a queue each at every input, in an ideal map in addition to the VCs. The lane
    /// is then the destination modulo a number of VCs, and has no effect on waiting. `None`: the queues are VCs.
    fn ideal_queues(&self, _graph: &Graph) -> Option<u32> {
        None
    }

    /// The scheme on a graph that fits. Refuses parameters that do not fit the graph.
    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal>;

    /// Configurations that behave differently. If the number of queues is a parameter, one of them has a single queue
    /// for each VC class: that example must not change any result. Tests run all examples on small networks that fit.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// Queues that were set aside in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct SetAsideCount {
    /// Tokens of the whole run: those given to routers and terminals upstream, and those returned.
    pub given: u64,
    pub returned: u64,
    /// Notes sent in the whole run: one for each token that is given or returned.
    pub sent: u64,
    pub arrived: u64,
    /// Packets in the whole run that waited in a queue set aside for older packets in other queues of the channel.
    pub fenced: u64,
    /// Heads of packets for a congested output that found all queues of their channel set aside for others, in the
    /// window. They are in normal queues, or in a queue set aside from which they continue into a queue for another
    /// output, farther away.
    pub unserved: u64,
    /// Queues set aside, added over the cycles of the window.
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
