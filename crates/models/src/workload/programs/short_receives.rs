//! The warning about a program file in which messages are larger than the receives that they match. Each process examines a file only once,
//! because every point of a sweep needs the result.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use weft_programs::form::{Program, ShortReceives};
use weft_units::{InputFile, Refusal, Remark};

weft_units::codes! {
    SHORT_RECEIVES = "short_receives", Warning,
        means: "Some receives of a program are smaller than their messages. In MPI this is an error (truncation). Weft matches \
                only source and tag, as LogGOPSim does, and uses the size of the message.",
        computed: "For each sender, receiver, communicator and tag: the smallest possible number of messages that are larger than their \
                   receives, over all orders of matching. A receive from any source or with any tag counts for every combination that it \
                   can match.",
        helps: "Give each receive at least as many bytes as its message.";
}

static KNOWN: Mutex<BTreeMap<String, Option<ShortReceives>>> = Mutex::new(BTreeMap::new());

/// Returns the warning about a file, if it has receives that are too small for their messages. `read`: reads the
/// program. `path`: the dotted path of the workload.
pub(super) fn remark(
    file: &InputFile,
    path: &str,
    read: impl FnOnce() -> Result<Program, Refusal>,
) -> Result<Option<Remark>, Refusal> {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = known().get(file.digest()).copied();
    let found = match before {
        Some(found) => found,
        None => {
            let found = read()?.short_receives();
            known().insert(file.digest().to_owned(), found);
            found
        }
    };
    Ok(found.map(|short| {
        let numbers = [
            ("messages", short.count as f64),
            ("sender", short.sender.into()),
            ("receiver", short.receiver.into()),
            ("tag", short.tag.into()),
            ("message_bytes", short.message_bytes as f64),
            ("receive_bytes", short.receive_bytes as f64),
        ];
        Remark::new(&SHORT_RECEIVES, format!("{path}.file"), numbers, short.to_string(), short.help())
    }))
}
