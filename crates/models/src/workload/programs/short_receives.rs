//! The warning about a file with messages that are larger than their receives. Each file is examined once per process, because a
//! sweep needs the result at each of its points.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use weft_programs::form::{Program, ShortReceives};
use weft_units::{InputFile, Refusal, Remark};

weft_units::codes! {
    SHORT_RECEIVES = "short_receives", Warning,
        means: "A program of messages has receives that are smaller than their messages. In MPI this is an error (truncation). Weft matches \
                source and tag only, as LogGOPSim does, and counts the bytes of the message.",
        computed: "For each sender, receiver, communicator and tag: messages that fit into no receive, in whatever order they match. Receives \
                   from any source or with any tag count for all channels that they may take.",
        helps: "Write receives of as many bytes as their messages, or more.";
}

static KNOWN: Mutex<BTreeMap<String, Option<ShortReceives>>> = Mutex::new(BTreeMap::new());

/// The warning about a file, which `read` reads. `path`: the dotted path of the workload.
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
