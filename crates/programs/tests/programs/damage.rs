//! Tests with truncated, changed and random files: readers return an error that names the place, and never panic, hang
//! or use much memory.

use crate::support::{DEFAULTS, data, read, run};
use proptest::prelude::*;
use weft_programs::readers::{self, Format, goal::Goal, goal_binary};

/// Factor by which tests multiply their number of random inputs. `make test-all` sets it through WEFT_TEST_ROUNDS.
pub fn rounds() -> u32 {
    std::env::var("WEFT_TEST_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

fn refused(bytes: &[u8]) -> Option<String> {
    readers::of(bytes).read("file", bytes).err().map(|refusal| refusal.to_string())
}

#[test]
fn every_beginning_of_a_file_is_read_or_refused_with_a_place() {
    for name in ["binomial_bcast_np16_1024B.goal", "binomial_bcast_np16_1024B.bin"] {
        let whole = data(name);
        for length in 0..whole.len() - 2 {
            let message = refused(&whole[..length]);
            assert!(message.is_some_and(|message| message.starts_with("file")), "{name}: {length} bytes");
        }
    }
}

#[test]
fn a_wrong_line_is_reported_with_its_number_and_what_was_expected() {
    let wrong = [
        ("rank 0 {\n}\n", "file:1: a rank comes before num_ranks"),
        ("num_ranks 2\nrank 0 {\n}\n", "file:4: the file ends after 1 of 2 ranks"),
        ("num_ranks 1\nrank 1 {\n}\n", "file:2: rank 1 does not exist: with num_ranks 1 the ranks are 0 to 0"),
        ("num_ranks 1\nrank 0 {\nsend 8b to 1\n}\n", "file:3: rank 1 does not exist: with num_ranks 1"),
        ("num_ranks 1\nrank 0 {\nsend 8 to 0\n}\n", "file:3: expected `b`, found `to`"),
        ("num_ranks 1\nrank 0 {\nl1: calc 1\nl1: calc 2\n}\n", "file:4: two operations have the label l1"),
        ("num_ranks 1\nrank 0 {\nl1: calc 1\nl1 requires l2\n}\n", "file:4: label l2 is not defined above this line"),
        ("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n", "file:7: operation"),
        (
            "num_ranks 1\nrank 0 {\ncalc 99999999999999999999\n}\n",
            "file:3: 99999999999999999999 is too large for a time [ns]",
        ),
        ("num_ranks 1\nrank 0 {\nsend 1b to 0 tag 4294967295\n}\n", "file:3: tag 4294967295 is reserved"),
        ("num_ranks 1\nrank 0 {\nsend 1b to 0 tag 8589934591\n}\n", "file:3: tag 8589934591 is reserved"),
        (
            "num_ranks 1\nrank 0 {\nsend 1b to 0 tag 4294967299\nsend 1b to 0 tag 8589934595\n}\n",
            "file:4: tags 8589934595 and 4294967299 have the same lower 32 bits",
        ),
        (
            "num_ranks 1\nrank 0 {\nsend 1b to 0 tag 3\nsend 1b to 0 tag 4294967299\ncalc 3\n}\n",
            "file: tags 4294967299 and 3 have the same lower 32 bits",
        ),
        ("num_ranks 1\nrank 0 {\ncalc 1 cpu 256\n}\n", "file:3: 256 is too large for a processor (0 to 255)"),
        ("num_ranks 1\nrank 0 {\ncalc 1", "file:3: the file ends inside the block of a rank"),
        ("num_ranks 1\n/* no end", "file:2: the comment that begins in this line has no end"),
        ("num_ranks 0\n", "file:1: a program needs at least 1 rank"),
        ("", "file:1: the file has no num_ranks"),
        ("PK\x03\x04\x14\x00\x00\x00", "file: the file is neither text nor one of the binary formats"),
    ];
    for (text, expected) in wrong {
        let found = refused(text.as_bytes()).unwrap_or_default();
        assert!(found.starts_with(expected), "{text:?}: {found}");
    }
}

/// A file whose only operation is `operation`.
fn with(operation: &str) -> String {
    format!("num_ranks 1\nrank 0 {{\n{operation}\n}}\n")
}

#[test]
fn a_number_with_a_unit_is_refused_with_the_number_to_write() {
    let wrong = [
        ("calc 5us", "calc 5000", "found `5us`"),
        ("calc 5 us", "calc 5000", "found `5 us`"),
        ("calc 1.5us cpu 1", "calc 1500 cpu 1", "found `1.5us`"),
        ("calc 2.5", "calc 3", "found `2.5`"),
        ("send 4KiB b to 0", "send 4096b to 0", "found `4KiB`"),
        ("send 4KiB to 0", "send 4096b to 0", "found `4KiB`"),
        ("recv 1.5MB from 0", "recv 1500000b from 0", "found `1.5MB`"),
        ("send 8 to 0", "send 8b to 0", "found `to`"),
        ("send 8b to 0 tag 1.5", "send 8b to 0 tag 1", "expected a tag, found `1.5`"),
    ];
    for (operation, right, what) in wrong {
        let found = refused(with(operation).as_bytes()).unwrap_or_default();
        assert!(found.starts_with("file:3: ") && found.contains(what), "{operation}: {found}");
        // the remedy has the number that the user should write, or says "a whole number"
        let number = right.split_whitespace().nth(1).unwrap_or_default();
        assert!(found.contains(&format!("{number}`")) || found.contains("a whole number"), "{operation}: {found}");
        assert_eq!(refused(with(right).as_bytes()), None, "{right}");
    }
    for right in ["calc 5 cpu 1", "calc 5// five", "send 8bto 0", "send 8 b to 0", "calc 5cpu 1"] {
        assert_eq!(refused(with(right).as_bytes()), None, "{right}");
    }
}

#[test]
fn comments_blanks_and_windows_line_ends_are_read() {
    let plain = read(b"num_ranks 1\nrank 0 {\na: calc 5\nb: send 1b to 0 tag 2 cpu 1 nic 3\nb irequires a\n}\n");
    let odd = b"// head\r\nnum_ranks\t1 /* one\nof them */\r\n\nrank 0 {\r\na : calc 5 // five\nb:\tsend 1 b to 0 tag 2 cpu 1 nic 3\r\n\
                /* */ b irequires a }";
    assert_eq!(read(odd), plain);
}

#[test]
fn numbers_of_a_small_file_claim_no_memory() {
    assert!(refused(b"num_ranks 4294967295\nrank 0 {\n}\n").is_some());
    let mut binary = data("binary_tree_32.bin");
    for (at, bytes) in [(8, u32::MAX.to_le_bytes()), (526, u32::MAX.to_le_bytes()), (530, u32::MAX.to_le_bytes())] {
        let before: [u8; 4] = binary[at..at + 4].try_into().unwrap();
        binary[at..at + 4].copy_from_slice(&bytes);
        assert!(refused(&binary).is_some(), "byte {at}");
        assert!(goal_binary::open("file", binary.as_slice()).is_err(), "byte {at}");
        binary[at..at + 4].copy_from_slice(&before);
    }
}

#[test]
fn what_loggopsim_has_overwritten_is_named() {
    let mut binary = data("binary_tree_32.bin");
    binary[..8].copy_from_slice(&2342u64.to_le_bytes());
    assert!(refused(&binary).unwrap().contains("LogGOPSim has overwritten this file"));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000 * rounds(), failure_persistence: None, ..ProptestConfig::default() })]

    /// After some bytes of a file have changed, the reader refuses the file, or the program finishes, gets stuck, or
    /// runs too long.
    #[test]
    fn a_changed_file_never_panics(
        name in prop::sample::select(vec!["binomial_bcast_np16_1024B.goal", "binomial_bcast_np16_1024B.bin", "llamp_non_blocking.goal"]),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in any::<prop::sample::Index>(),
        is_cut in any::<bool>(),
    ) {
        let mut bytes = data(name);
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if is_cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let _ = goal_binary::open("file", bytes.as_slice());
        if let Ok(program) = readers::of(&bytes).read("file", &bytes) {
            let _ = run(&program, DEFAULTS);
            let again = Goal.write(&program).unwrap();
            prop_assert_eq!(read(&again), program);
        }
    }

    /// Words of the text language in any order never cause a panic.
    #[test]
    fn words_in_any_order_never_panic(words in prop::collection::vec(prop::sample::select(vec![
        "num_ranks", "rank", "{", "}", "send", "recv", "calc", "requires", "irequires", "to", "from", "tag", "cpu", "nic", "l1", "l2", ":",
        "1", "0", "2", "b", "-1", "\n", "//", "/*", "*/", "4294967295", "8b to 0",
    ]), 0..60)) {
        let text = format!("num_ranks 2\nrank 0 {{\n{}", words.join(" "));
        if let Ok(program) = readers::of(text.as_bytes()).read("file", text.as_bytes()) {
            let _ = run(&program, DEFAULTS);
        }
    }

    /// Random bytes after the header of a binary file never cause a panic.
    #[test]
    fn any_bytes_never_panic(tail in prop::collection::vec(any::<u8>(), 0..400), ranks in 0u32..3) {
        let mut bytes = 4223u64.to_le_bytes().to_vec();
        bytes.extend(ranks.to_le_bytes());
        bytes.extend(tail);
        let _ = readers::of(&bytes).read("file", &bytes);
        let _ = goal_binary::open("file", bytes.as_slice());
    }
}
