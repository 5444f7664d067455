pub mod jobs;
pub mod subnetworks;
