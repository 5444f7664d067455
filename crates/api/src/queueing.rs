//! Queueing schemes: which of the queues of an input buffer a packet waits in.
//!
//! A scheme divides the VCs of each VC class of a channel into lanes. It names the lane of a packet when its hop becomes a request.
//! A lane is a part of its VC class, so a circle of lanes would be one of VC classes. Therefore the proof of the routing holds, and
//! allocators and credits stay as they are.

use std::fmt::Debug;
use std::sync::Arc;
use weft_topology::Graph;
use weft_units::Refusal;

/// A channel that a packet crosses, as a scheme sees it. It sees nothing of the packet but its terminals, so that the
/// same lane comes out wherever it is asked.
#[derive(Debug, Clone, Copy)]
pub struct Crossing {
    /// The terminals of the packet.
    pub src: u32,
    pub dst: u32,
    /// The router that sends, and its output; `None`: the channel leads from a terminal to its router.
    pub from: Option<(u32, u16)>,
    /// The router behind the channel, in whose buffer the packet will wait.
    pub to: u32,
    /// The output that the packet will ask for there, for a scheme that looks ahead; else 0.
    pub onward: u16,
}

/// A scheme on one network.
pub trait Scheme: Debug + Send + Sync {
    /// How many lanes it names, at least 1. A channel has only those that packets can reach there.
    fn lanes(&self) -> u32;

    /// The lane of a packet on a channel, below `lanes`. (Channels to terminals have one lane, and are not asked for.)
    fn lane(&self, crossing: &Crossing) -> u32;

    /// Whether the lane depends on `Crossing::src`. If not, packets of all sources are followed together before a run.
    fn looks_at_sources(&self) -> bool {
        true
    }
}

/// The configuration of a scheme.
pub trait QueueingModel {
    /// The networks that it is for, in words.
    fn networks(&self) -> &'static str;

    /// Whether it is for this network.
    fn fits(&self, graph: &Graph) -> bool;

    /// Whether the lane depends on the output that the packet asks for at the next router. Then the routing must name all its
    /// hops ahead.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// The queues of a port in the words of the scheme.
    fn queues(&self, graph: &Graph) -> u32;

    /// The parts into which it divides the memory of a port, if the routing has so many VC classes there: by default its queues in
    /// each.
    fn parts(&self, graph: &Graph, classes: u32) -> u32 {
        self.queues(graph) * classes
    }

    /// The scheme on a graph that fits. Refuses parameters that do not go with the graph.
    fn build(&self, graph: &Graph) -> Result<Arc<dyn Scheme>, Refusal>;

    /// Configurations that differ in what matters. If the number of queues is a parameter, one of them has a single queue for each
    /// VC class: it has to change nothing. Tests run all of them on small networks that fit.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}
