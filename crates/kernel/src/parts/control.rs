//! The control packets in flight in a block, and counts of the control packets that were sent.

use std::sync::Arc;
use weft_api::base::kept::Kept;
use weft_api::base::wheel::Wheel;
use weft_api::control::{Arrival, ControlCount};
use weft_api::policy::ControlPlan;

/// Number of cycles after which the cycle loop tries again to send a control packet that could not be sent.
pub const RETRY: u64 = 64;

/// The data of a block about control packets.
#[derive(Debug, Kept)]
pub struct Control {
    /// Counts of the control packets that were sent; `None` if the policy sends no control packets.
    #[kept(each)]
    pub counts: Option<ControlCount>,
    /// The control packets in flight, by cycle of arrival.
    pub(crate) arriving: Wheel<Arrival, 16>,
    /// For each channel, the first cycle in which it can carry another control packet.
    #[kept(each)]
    pub(crate) next: Vec<u64>,
    /// The largest number of control packets that may wait for one link.
    #[kept(fixed)]
    pub(crate) queue: u64,
    /// For every router of the network: its block, and its first port in that block.
    #[kept(fixed)]
    pub(crate) places: Arc<[(u32, u32)]>,
    #[kept(fixed)]
    pub(crate) block: u32,
    /// Scratch memory: the control packets that arrive in one cycle.
    #[kept(scratch)]
    pub(crate) due: Vec<Arrival>,
}

/// The place of a block in its network, as its control packets need it.
#[derive(Debug)]
pub struct Place {
    pub block: u32,
    /// For every router of the network: its block, and its first port in that block.
    pub places: Arc<[(u32, u32)]>,
    /// The largest number of cycles for which a control packet is in flight.
    pub horizon: u64,
}

impl Control {
    /// Creates the data for a policy that sends no control packets.
    pub fn none() -> Self {
        let place = Place { block: 0, places: Arc::new([]), horizon: 0 };
        Self { counts: None, ..Self::new(ControlPlan { kinds: &[], queue: 0, per_router: 0 }, place, 0, 0) }
    }

    pub fn new(plan: ControlPlan, place: Place, channels: usize, routers: usize) -> Self {
        let events = routers * plan.per_router;
        Self {
            counts: Some(ControlCount::new(plan.kinds)),
            arriving: Wheel::new(place.horizon, events),
            next: vec![0; channels],
            queue: plan.queue,
            places: place.places,
            block: place.block,
            due: Vec::with_capacity(events),
        }
    }

    pub fn nothing_due(&self, now: u64) -> bool {
        self.arriving.is_empty_at(now)
    }

    /// True if no control packet is in flight.
    pub fn is_empty(&self) -> bool {
        self.arriving.is_empty()
    }

    /// Sets the counts to 0, at the beginning of the measured window.
    pub fn begin(&mut self) {
        self.counts = self.counts.take().map(|counts| ControlCount::new(&counts.kinds));
    }

    pub fn count(&mut self, kind: usize) {
        if let Some(counts) = &mut self.counts {
            counts.packets[kind] += 1;
        }
    }

    /// The block that contains a router. `router`: its number in the whole network.
    pub fn block_of(&self, router: u32) -> u32 {
        self.places[router as usize].0
    }

    /// Schedules for cycle `at` the arrival of a control packet, or of a frame that arrives without a packet.
    pub fn post_in(&mut self, now: u64, at: u64, arrival: Arrival) {
        assert!(self.counts.is_some(), "agents of this policy send control packets: declare them in `Policy::control`");
        self.arriving.push(now, at, arrival);
    }
}
