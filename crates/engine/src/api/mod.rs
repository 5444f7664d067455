pub mod compiled;
pub mod coordinates;
pub mod jobs;
pub mod routing;
pub mod sensor;
pub mod subnetworks;
pub mod view;
pub mod walk;
