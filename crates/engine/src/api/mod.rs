pub mod agents;
pub mod control;
pub mod jobs;
pub mod policy;
pub mod subnetworks;
