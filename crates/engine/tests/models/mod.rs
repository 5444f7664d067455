//! Tests of single models in runs.

mod dragonfly_ofar;
mod dragonfly_par;
mod dragonfly_valiant;
mod hyperx_ofar;
mod neighbour_sleep;
mod timetable;
mod trunk;
mod up_down;
mod width;
