//! Models that are Python functions: a pattern and a routing, both called `python`. They are members from outside of their
//! families, added as a crate outside of Weft adds its models. Python calls the functions and checks their answers
//! (`weft/scenario/python_patterns.py`, `python_routes.py`). This module keeps tables of numbers.

mod chooser;
mod function;
mod pattern;
mod routes;
mod routing;
mod watching;

pub use watching::{Watching, outcome};
