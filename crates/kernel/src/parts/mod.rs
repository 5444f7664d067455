//! The parts of which a block consists. Each part contains its own data, and its code does not depend on the block.

pub mod broken;
pub mod bypass;
pub mod control;
pub mod deliveries;
pub mod faults;
pub mod ideal;
pub mod limits;
pub mod pace;
pub mod power;
pub mod profile;
pub mod queues;
pub mod set_aside;
pub mod streams;
pub mod switch;
pub mod vc_stage;
pub mod watch;
