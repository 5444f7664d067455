pub mod demand;
pub mod imply;
pub mod paths;
