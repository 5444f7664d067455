//! Models that are Python functions: a pattern and a routing, both called `python`. Both models are members of their families from outside
//! Weft's own crates, added in the same way as models of other crates. Python calls the functions and checks their answers
//! (`weft/scenario/python_patterns.py`, `python_routes.py`). This module stores the resulting tables of numbers.

mod chooser;
mod function;
mod pattern;
mod routes;
mod routing;
mod watching;

pub use watching::{Watching, outcome};
