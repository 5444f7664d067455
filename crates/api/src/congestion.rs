//! Congestion control: routers mark packets at full outputs, receivers notify the sources, and the sources then send more slowly.
//!
//! The loop counts the flits that wait for an output, and carries marks and notifications. The loop stores the state of each flow whose rate
//! is limited. A flow consists of all packets from one terminal to another.

use crate::base::kept::Value;
use crate::state::rate::Rate;
use std::fmt::Debug;
use std::sync::Arc;
use weft_units::{Bits, Refusal};

/// State of the rate limit of a flow. Each control uses only the fields that it needs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Value)]
pub struct FlowMemory {
    /// Present rate, and the rate toward which it rises \[flits per cycle\].
    pub rate: f64,
    pub target: f64,
    /// Estimated share of marked packets.
    pub share: f64,
    /// The next cycles in which the timers expire.
    pub decays_at: u64,
    pub rises_at: u64,
    /// Number of times that the timer and the byte counter have expired since the last notification.
    pub by_time: u32,
    pub by_size: u32,
    /// Flits sent since the byte counter last expired.
    pub sent: u64,
    /// Index into a table of delays.
    pub index: u32,
}

/// A congestion control, built for one network.
pub trait Control: Debug + Send + Sync {
    /// Probability that a packet is marked when it leaves an output while `queued` flits wait for that output. The probability never falls
    /// as `queued` grows.
    fn marks(&self, queued: u32) -> f64;

    /// Shortest time [cycles] between two notifications from a receiver to the source of the same flow; 0: one for each marked packet.
    fn interval(&self) -> u64;

    /// The initial state of a flow in cycle `now`. The flow has no limit yet.
    fn begin(&self, now: u64) -> FlowMemory;

    /// Called when the source of the flow is notified in cycle `now`.
    fn notified(&self, flow: &mut FlowMemory, now: u64);

    /// Called when the source begins to send a packet of the flow. Returns the cycles until the next packet may begin; `None` if the flow
    /// has no limit from now on.
    fn sends(&self, flow: &mut FlowMemory, now: u64, flits: u16) -> Option<f64>;

    /// The rate of the flow in cycle `now` \[flits per cycle\].
    fn rate(&self, flow: &FlowMemory, now: u64) -> f64;
}

/// Properties of the network from which a control is built.
#[derive(Debug, Clone, Copy)]
pub struct LineSite {
    /// Length of a cycle \[fs\].
    pub cycle_fs: u128,
    /// Size of a flit \[bits\].
    pub flit_bits: u64,
    /// Rate of the link of a terminal.
    pub line: Rate,
    /// The most flits that can wait for one output: the buffers of all input ports of the router that has the most buffer memory.
    pub most_queued: u32,
}

impl LineSite {
    /// Refuses a marking threshold, written at `path`, that is longer than any queue of an output can become.
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

/// A size in the form that scenarios use.
fn size(bits: u64) -> String {
    if bits.is_multiple_of(8) { format!("{}B", bits / 8) } else { format!("{bits}b") }
}

/// The configuration of a control.
pub trait CongestionModel {
    /// `None`: sources send as fast as they can, without a control. Refuses parameters that are incompatible with the network.
    fn build(&self, site: &LineSite) -> Result<Option<Arc<dyn Control>>, Refusal>;

    /// Configurations that behave differently, for cycles of 1 ns and flits of 128 bits.
    fn examples() -> Vec<Self>
    where
        Self: Sized;
}

/// Marks and notifications of the window, or of the whole run if a field says so.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Value)]
pub struct MarkCount {
    /// Number of checks, one each time a packet left an output, and the sum of the flits that waited for that output.
    pub looked: u64,
    pub waited: u64,
    /// Number of packets that were marked.
    pub marked: u64,
    /// Number of notifications sent, and number of router outputs that notifications left.
    pub notices: u64,
    pub notice_hops: u64,
    /// Notifications sent, received, and discarded by failed routers, in the whole run. The other notifications are still in flight.
    pub sent: u64,
    pub received: u64,
    pub lost: u64,
    /// Number of marked packets that failed routers discarded in the whole run. No notification is sent for these marks.
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
