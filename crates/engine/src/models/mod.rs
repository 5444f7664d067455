pub mod allocation;
pub mod power;
pub mod recording;
pub mod routing;
pub mod workload;
