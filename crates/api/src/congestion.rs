//! Congestion control: routers mark packets at full outputs, receivers notify the sources, and the sources then send more slowly.
//!
//! The cycle loop counts the flits that wait for an output, and transports marks and notifications. The cycle loop also stores the state of
//! each flow whose rate is limited. A flow consists of all packets from one terminal to another.

use crate::base::kept::Value;
use crate::state::rate::Rate;
use std::fmt::Debug;
use std::sync::Arc;
use weft_units::{Bits, Refusal};

/// State of the rate limit of a flow, in the source terminal of the flow. Each control (a congestion control algorithm)
/// uses only the fields that it needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Value)]
pub struct FlowMemory {
    /// Present rate of the flow \[flits per cycle\].
    pub rate: f64,
    /// Rate toward which the rate of the flow rises \[flits per cycle\].
    pub target: f64,
    /// Estimated share of marked packets in the flow.
    pub share: f64,
    /// The next cycles in which the two timers of the flow expire.
    pub decays_at: u64,
    pub rises_at: u64,
    /// Number of times that the timer and the byte counter of the flow have expired since the last notification.
    pub by_time: u32,
    pub by_size: u32,
    /// Flits of the flow sent since its byte counter last expired.
    pub sent: u64,
    /// Index of the flow's present delay in the control's table of delays.
    pub index: u32,
}

/// A congestion control algorithm, built for one network.
pub trait Control: Debug + Send + Sync {
    /// Probability that a packet is marked when it leaves an output while `queued` flits wait for that output. The probability must not
    /// fall when `queued` grows.
    fn marks(&self, queued: u32) -> f64;

    /// Shortest time [cycles] between two notifications of a receiver about the same flow; 0: one notification for each marked packet.
    fn interval(&self) -> u64;

    /// The initial state of a flow that begins in cycle `now`. A new flow has no rate limit.
    fn begin(&self, now: u64) -> FlowMemory;

    /// Changes the rate of the flow when a notification reaches its source in cycle `now`.
    fn notified(&self, flow: &mut FlowMemory, now: u64);

    /// Called when the source begins to send a packet of the flow, in cycle `now`. Returns the cycles until the next packet may begin;
    /// `None` if the flow has no limit from now on.
    fn sends(&self, flow: &mut FlowMemory, now: u64, flits: u16) -> Option<f64>;

    /// Present rate limit of the flow in cycle `now` \[flits per cycle\].
    fn rate(&self, flow: &FlowMemory, now: u64) -> f64;
}

/// Properties of the network from which a congestion control is built.
#[derive(Debug, Clone, Copy)]
pub struct LineSite {
    /// Length of a cycle \[fs\].
    pub cycle_fs: u128,
    /// Size of a flit \[bits\].
    pub flit_bits: u64,
    /// Rate of the link between a terminal and its router.
    pub line: Rate,
    /// The most flits that can wait for one output. This is the size of all input buffers of the router that has the most buffer memory.
    pub most_queued: u32,
}

impl LineSite {
    /// Refuses a marking threshold that no queue of an output can reach. `path`: the key with the threshold.
    pub fn check_reached(&self, queue: Bits, path: &str) -> Result<(), Refusal> {
        let most = u64::from(self.most_queued) * self.flit_bits;
        if queue.0 < most {
            return Ok(());
        }
        let sizes = [queue.0, most, self.flit_bits].map(size);
        let what = format!(
            "a queue never reaches {}: at most {} can wait for an output, in all input ports of a router ({} flits of \
             {}), so no packet is ever marked",
            sizes[0], sizes[1], self.most_queued, sizes[2]
        );
        Err(Refusal::new(path, what, format!("write less than {}, or give ports more memory", sizes[1])))
    }
}

/// Writes a size in the form that scenarios use.
fn size(bits: u64) -> String {
    if bits.is_multiple_of(8) { format!("{}B", bits / 8) } else { format!("{bits}b") }
}

/// The configuration of a congestion control.
pub trait CongestionModel {
    /// Builds the control; `None`: sources send as fast as they can, without a control. Refuses parameters that do not work in this
    /// network.
    fn build(&self, site: &LineSite) -> Result<Option<Arc<dyn Control>>, Refusal>;

    /// Configurations for tests that behave differently, for cycles of 1 ns and flits of 128 bits.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// Counts of marks and notifications in the window. Some fields count in the whole run and say so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct MarkCount {
    /// Number of packets that left an output. For each of them, the cycle loop adds the flits that then waited for the same
    /// output to the next field.
    pub looked: u64,
    pub waited: u64,
    /// Number of packets that routers marked.
    pub marked: u64,
    /// Number of notifications that terminals sent.
    pub notices: u64,
    /// Number of router outputs that these notifications left.
    pub notice_hops: u64,
    /// Number of notifications sent in the whole run. Notifications that were sent, but neither received nor discarded, are still in
    /// flight.
    pub sent: u64,
    /// Number of notifications received in the whole run.
    pub received: u64,
    /// Number of notifications that failed routers discarded in the whole run.
    pub lost: u64,
    /// Number of marked packets that failed routers discarded in the whole run. Receivers send no notification for packets that were
    /// discarded.
    pub lost_marks: u64,
}

impl MarkCount {
    pub fn add(&mut self, other: &Self) {
        self.looked += other.looked;
        self.waited += other.waited;
        self.marked += other.marked;
        self.notices += other.notices;
        self.notice_hops += other.notice_hops;
        self.sent += other.sent;
        self.received += other.received;
        self.lost += other.lost;
        self.lost_marks += other.lost_marks;
    }
}
