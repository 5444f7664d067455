//! Control packets in flight in a block, and the number of control packets sent.

use std::sync::Arc;
use weft_api::base::kept::Kept;
use weft_api::base::wheel::Wheel;
use weft_api::control::{Arrival, ControlCount};
use weft_api::policy::ControlPlan;

/// Number of cycles after which a packet that could not be sent is tried again.
pub const RETRY: u64 = 64;

/// Control packets of a block.
#[derive(Debug, Kept)]
pub struct Control {
    /// The arrivals in flight; `None` if the policy sends no packets.
    #[kept(each)]
    pub counts: Option<ControlCount>,
    pub(crate) arriving: Wheel<Arrival, 16>,
    /// First cycle in which each channel can carry another control packet.
    #[kept(each)]
    pub(crate) next: Vec<u64>,
    /// Largest number of packets that may wait for one link.
    #[kept(fixed)]
    pub(crate) queue: u64,
    /// For every router of the network: its block, and its first port in that block.
    #[kept(fixed)]
    pub(crate) places: Arc<[(u32, u32)]>,
    #[kept(fixed)]
    pub(crate) block: u32,
    /// Scratch: arrivals of one cycle.
    #[kept(scratch)]
    pub(crate) due: Vec<Arrival>,
}

/// The position of a block in its network.
#[derive(Debug)]
pub struct Place {
    pub block: u32,
    /// For every router of the network: its block, and its first port in that block.
    pub places: Arc<[(u32, u32)]>,
    /// Largest number of cycles that a packet is in flight.
    pub horizon: u64,
}

impl Control {
    /// The data for a policy that sends no control packets.
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

    /// True if no packet is in flight.
    pub fn is_empty(&self) -> bool {
        self.arriving.is_empty()
    }

    /// Sets the counts to 0 for the measured window.
    pub fn begin(&mut self) {
        self.counts = self.counts.take().map(|counts| ControlCount::new(&counts.kinds));
    }

    pub fn count(&mut self, kind: usize) {
        if let Some(counts) = &mut self.counts {
            counts.packets[kind] += 1;
        }
    }

    /// The block of a router, which is given by its number in the whole network.
    pub fn block_of(&self, router: u32) -> u32 {
        self.places[router as usize].0
    }

    /// Schedules the arrival of a packet, or of news without a packet, for cycle `at`.
    pub fn post_in(&mut self, now: u64, at: u64, arrival: Arrival) {
        assert!(self.counts.is_some(), "agents of this policy send control packets: declare them in `Policy::control`");
        self.arriving.push(now, at, arrival);
    }
}
