pub mod demand;
pub mod imply;
pub mod paths;
pub mod serial;
