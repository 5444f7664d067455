//! The calls in DUMPI files, in the order of their numbers, with the layouts of their arguments.

use std::sync::OnceLock;

/// The list of calls as text. A line has the name of a call without `MPI_`, and a letter for each argument.
///
/// The letters `b`, `h`, `i`, `q` mean whole numbers of 8, 16, 32, 64 bits. The letters `B`, `H`, `I` mean lists of numbers
/// of 8, 16 and 32 bits. The letter `J` means a list of lists of numbers of 32 bits. The letter `S` means a list of
/// statuses, `s` a string, and `A` a list of strings. Fields in brackets exist only in the record of the root. The sign `-`
/// means that the call has no arguments, and `!` that its layout is unknown.
const TEXT: &str = include_str!("calls.txt");

/// The number that follows the last record of a file, where other records have the number of their call.
pub const END: u16 = 293;

/// The layout of the records of an MPI call.
#[derive(Debug)]
pub struct Call {
    /// Name without `MPI_`.
    pub name: &'static str,
    pub layout: &'static [u8],
}

/// Returns the call whose records have this number.
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
