pub mod allocation;
pub mod power;
pub mod routing;
pub mod workload;
