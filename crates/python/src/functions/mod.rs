//! Models whose behaviour is a Python function of the user: a pattern and a routing, both with the name `python`. These models are added to
//! their families in the same way as models of crates outside Weft. Weft's Python modules call the functions and check their answers
//! (`weft/scenario/python_patterns.py`, `python_routes.py`). This module stores the resulting tables of numbers.

mod chooser;
mod function;
mod pattern;
mod routes;
mod routing;
mod watching;

pub use watching::{Watching, outcome};
