//! Builds the congestion control that a spec selects. The control limits the rate to each destination, so each network interface needs a
//! queue per destination. Each network interface also gets one queue for congestion notifications. A spec without queues per destination is
//! refused.
//!
//! The file also compares the thresholds for marking packets with the memory in which packets can wait.

use crate::network::spec::Spec;
use std::sync::Arc;
use weft_api::classes::{MAX_QUEUES, Queueing};
use weft_api::congestion::{Control, LineSite};
use weft_api::state::rate::Rate;
use weft_units::Refusal;

const PATH: &str = "congestion_control";

/// The thresholds at which a control marks packets, compared with the memory in which packets can wait.
#[derive(Debug, Clone, PartialEq)]
pub struct Marking {
    /// Smallest number of flits behind a packet at which the control can mark the packet.
    pub first: u32,
    /// For each link class: the memory of an input port \[flits\], and the probability of a mark if the memory is full and all its flits
    /// wait for one output.
    pub ports: Vec<(u32, f64)>,
    /// The largest number of flits that can wait for one output in all input ports of a router, and the probability of a mark at that
    /// number.
    pub most: (u32, f64),
    /// The probability of a mark for a queue of unlimited length. No queue has a higher probability.
    pub highest: f64,
}

/// The marking thresholds of a spec; `None` if the spec has no congestion control.
pub fn marking(spec: &Spec) -> Result<Option<Marking>, Refusal> {
    let Some(control) = spec.control()? else { return Ok(None) };
    let most = spec.most_queued();
    let (mut below, mut first) = (0, most);
    while below < first {
        // binary search: the probability of a mark never falls as the queue grows
        let middle = below + (first - below) / 2;
        if control.marks(middle) > 0.0 { first = middle } else { below = middle + 1 }
    }
    let ports = (0..spec.links.len()).map(|link| spec.port_memory(link)).map(|flits| (flits, control.marks(flits)));
    let highest = control.marks(u32::MAX);
    Ok(Some(Marking { first, ports: ports.collect(), most: (most, control.marks(most)), highest }))
}

impl Spec {
    /// Memory of an input port of a link class \[flits\].
    fn port_memory(&self, link: usize) -> u32 {
        u32::from(self.links[link].vcs).saturating_mul(self.links[link].buffer)
    }

    /// The largest number of flits that can wait for one output: the memory of all input ports, for the router with the most memory. If a
    /// switch can grant more flits per cycle than the link carries, granted flits also wait for the link. Granted flits already have space
    /// in the next buffer.
    fn most_queued(&self) -> u32 {
        let of_router = |router: u32| {
            let ports = self.graph.ports(router).iter().filter(|port| port.peer != weft_topology::Peer::Unused);
            let memories = ports.map(|port| self.port_memory(usize::from(port.class)));
            let granted_early = self.router.speedup > 1 || self.links.iter().any(|link| link.rate != Rate::ONE);
            let granted = if granted_early { memories.clone().max().unwrap_or(0) } else { 0 };
            memories.fold(granted, u32::saturating_add)
        };
        (0..self.graph.routers()).map(of_router).max().unwrap_or(0)
    }

    /// The congestion control of a run; `None` if sources may send at full rate.
    pub(crate) fn control(&self) -> Result<Option<Arc<dyn Control>>, Refusal> {
        let site = LineSite {
            cycle_fs: self.cycle_fs,
            flit_bits: self.flit_bits,
            line: self.links[0].rate,
            most_queued: self.most_queued(),
        };
        let Some(control) = self.congestion.model().build(&site)? else { return Ok(None) };
        if self.interface.queueing != Queueing::PerDestination {
            let what =
                "this scheme limits the rate to each destination, but network interfaces have no queue per destination";
            return Err(Refusal::new(PATH, what, "write `interface: {queues: per_destination}`"));
        }
        if self.interface.queues >= MAX_QUEUES {
            let (queues, most) = (self.interface.queues, MAX_QUEUES - 1);
            let what = format!(
                "{queues} queues for destinations and 1 for notifications are {}; an interface has only {MAX_QUEUES}",
                queues + 1
            );
            return Err(Refusal::new("interface.destinations", what, format!("write {most} or fewer")));
        }
        if self.keeps_packets() {
            let what =
                "packets occupy a terminal's buffer until their reply has left, and notifications would wait for them";
            return Err(Refusal::new(
                PATH,
                what,
                "let terminals accept any number of requests, or remove `congestion_control`",
            ));
        }
        Ok(Some(control))
    }
}
