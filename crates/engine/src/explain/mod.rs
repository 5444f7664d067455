pub mod demand;
pub mod dependency;
pub mod imply;
pub mod paths;
