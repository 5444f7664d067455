//! The engine's words for what results hold, as constants of the module: Python takes its lists from here.
//!
//! Where the engine has no list of an enum's members, a function here gives the word of a member and the next member:
//! a new member does not compile until it has its place.

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::iter::successors;
use weft_engine::outcome::{Cause, Ending, Queue, Stall};
use weft_engine::power::{LinkState, PolicyConfig};
use weft_engine::watch::Reason;

/// Tables of a point that a scenario has to ask for, each by its key under `measure`.
const RECORDS: [&str; 4] = ["series", "transient", "link_states", "control_packets"];

/// Adds the constants to the module.
pub fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("LINK_STATES", PyTuple::new(py, LinkState::ALL.map(LinkState::name))?)?;
    module.add("CONTROL_PACKETS", PyTuple::new(py, PolicyConfig::control_packets())?)?;
    module.add("RECORDS", PyTuple::new(py, RECORDS)?)?;
    module.add("ENDINGS", PyTuple::new(py, words(Ending::Drained, ending))?)?;
    module.add("WAITING_REASONS", PyTuple::new(py, words(Reason::LinkAsleep, waiting_reason))?)?;
    let no_room = Cause::NoRoom { port: 0, to: NOWHERE };
    module.add("STALL_CAUSES", PyTuple::new(py, words(no_room, stall_cause))?)
}

/// The words of all members, from the first one on.
fn words<T>(first: T, word_and_next: fn(&T) -> (&'static str, Option<T>)) -> Vec<&'static str> {
    let members = successors(Some(first), |member| word_and_next(member).1);
    members.map(|member| word_and_next(&member).0).collect()
}

/// How a run ends.
fn ending(ending: &Ending) -> (&'static str, Option<Ending>) {
    match ending {
        Ending::Drained => ("drained", Some(Ending::Saturated)),
        Ending::Saturated => ("saturated", Some(Ending::Stalled(Stall { cycle: 0, packets: 0, wait_for: Vec::new() }))),
        Ending::Stalled(_) => ("stalled", Some(Ending::Interrupted)),
        Ending::Interrupted => ("interrupted", None),
    }
}

/// Why the head of a watched packet waits.
fn waiting_reason(reason: &Reason) -> (&'static str, Option<Reason>) {
    match reason {
        Reason::LinkAsleep => ("link_asleep", Some(Reason::VcHeld)),
        Reason::VcHeld => ("vc_held", Some(Reason::OutputHeld)),
        Reason::OutputHeld => ("output_held", Some(Reason::NoCredit)),
        Reason::NoCredit => ("no_credit", Some(Reason::LostVc)),
        Reason::LostVc => ("lost_vc", Some(Reason::LostSwitch)),
        Reason::LostSwitch => ("lost_switch", None),
    }
}

/// A queue for the members of `Cause`, which differ in more than a queue.
const NOWHERE: Queue = Queue { router: 0, port: 0, vc: 0 };

/// Why a packet of a stalled network can't move.
fn stall_cause(cause: &Cause) -> (&'static str, Option<Cause>) {
    match cause {
        Cause::NoRoom { .. } => ("no_room", Some(Cause::Held { by: NOWHERE })),
        Cause::Held { .. } => ("held", Some(Cause::Behind { queue: NOWHERE })),
        Cause::Behind { .. } => ("behind", Some(Cause::Closed { port: 0, to: 0 })),
        Cause::Closed { .. } => ("closed", None),
    }
}
