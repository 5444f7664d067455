//! The record of a delivery that is reported to a workload.

use weft_api::base::kept::Value;

/// A packet in flight to a terminal of this block.
#[derive(Debug, Clone, Copy, Default, Value)]
pub struct Delivery {
    pub packet: u32,
    pub terminal: u32,
}
