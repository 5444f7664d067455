//! What the parts of a block are made of. They own their state, and know nothing of the block.

pub mod broken;
pub mod control;
pub mod deliveries;
pub mod faults;
pub mod pace;
pub mod power;
pub mod queues;
pub mod watch;
