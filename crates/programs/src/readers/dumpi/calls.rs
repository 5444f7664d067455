//! The calls in DUMPI files, in the order of their numbers, with the layout of their arguments.

use std::sync::OnceLock;

/// The text has a line per call: its name without `MPI_`, and a letter per argument.
///
/// `b`, `h`, `i`, `q` are whole numbers of 8, 16, 32, 64 bits. `B`, `H`, `I` are lists of 8, 16 and 32 bits, `J` is a list of
/// lists of 32 bits. `S` is a list of statuses, `s` a string, `A` a list of strings. Fields in brackets exist only at the root. `-`
/// means no arguments, and `!` is a call with an unknown layout.
const TEXT: &str = include_str!("calls.txt");

/// The number that follows the last record.
pub const END: u16 = 293;

/// The layout of the record of an MPI call.
#[derive(Debug)]
pub struct Call {
    /// Name without `MPI_`.
    pub name: &'static str,
    pub layout: &'static [u8],
}

/// The call whose records have the number `number`.
pub fn call(number: u16) -> Option<&'static Call> {
    static CALLS: OnceLock<Vec<Call>> = OnceLock::new();
    let calls = CALLS.get_or_init(|| {
        let of = |line: &'static str| {
            let (name, layout) = line.split_once(' ').unwrap_or((line, "!"));
            Call { name, layout: layout.as_bytes() }
        };
        TEXT.lines().map(of).collect()
    });
    calls.get(usize::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_have_the_numbers_of_the_format() {
        let named = |number: u16| call(number).map(|call| call.name);
        assert_eq!([named(0), named(33), named(65)], [Some("Send"), Some("Sendrecv"), Some("Allreduce")]);
        assert_eq!([named(86), named(155), named(281)], [Some("Comm_split"), Some("Alltoallw"), Some("File_sync")]);
        assert_eq!(named(282), None);
        let known = b"bhiqBHIJSsA()-!";
        assert!((0..282).all(|number| call(number).unwrap().layout.iter().all(|letter| known.contains(letter))));
    }
}
