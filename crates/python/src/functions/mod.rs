//! Models that are Python functions. The pattern `python` is a member from outside of its family, added as a crate outside of
//! Weft adds its models. Python calls the functions and checks what they return (`weft/scenario/python_patterns.py`); what is
//! kept here are tables of numbers.

mod function;
mod pattern;
