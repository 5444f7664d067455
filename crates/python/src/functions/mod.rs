//! Models whose behaviour is a Python function of the user: a pattern and a routing, both with the name `python`. The two `python` models
//! are added to their families in the same way as models of crates outside Weft. Weft's Python modules call the functions and check their
//! answers (`weft/scenario/python_patterns.py`, `python_routes.py`). This Rust module stores the tables that result from the calls.

mod chooser;
mod function;
mod pattern;
mod routes;
mod routing;
mod watching;

pub use watching::{Watching, outcome};
