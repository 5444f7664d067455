//! A matrix as text: a line per row, numbers between commas.

use super::{Wrong, expect_square};

/// Gives every row of `terminals` numbers to `add`.
pub(super) fn rows(text: &str, terminals: u32, add: &mut dyn FnMut(&[f64]) -> Result<(), Wrong>) -> Result<(), Wrong> {
    let text = text.trim_end();
    let count = text.lines().count();
    let mut row = Vec::with_capacity(terminals as usize);
    for (number, line) in (1..).zip(text.lines()) {
        row.clear();
        let mut columns = 0;
        for (place, word) in (1..).zip(line.split(',')) {
            let value = word.trim().parse::<f64>().map_err(|_| {
                let what = format!("line {number}, number {place} is {:?}, no number", short(word.trim()));
                (what, "write numbers between commas, and no heading".to_owned())
            })?;
            columns = place;
            // a line that is far too long is counted, not kept
            if place <= terminals as usize {
                row.push(value);
            }
        }
        expect_square(count, columns, terminals)?;
        add(&row)?;
    }
    // an empty file has no line that could be refused
    expect_square(count, if count == 0 { 0 } else { row.len() }, terminals)
}

/// The beginning of a word, for a message.
fn short(word: &str) -> &str {
    word.char_indices().nth(20).map_or(word, |(end, _)| &word[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str, terminals: u32) -> Result<Vec<Vec<f64>>, Wrong> {
        let mut found = Vec::new();
        rows(text, terminals, &mut |row| {
            found.push(row.to_vec());
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn reads_lines_of_numbers() {
        let expected = vec![vec![0.0, 1.5], vec![1000.0, 0.0]];
        assert_eq!(read("0, 1.5\r\n1e3 ,0\n\n", 2), Ok(expected));
        assert_eq!(read("0,a\n1,0", 2).unwrap_err().0, "line 1, number 2 is \"a\", no number");
        assert_eq!(read("0,1\n,0", 2).unwrap_err().0, "line 2, number 1 is \"\", no number");
        assert_eq!(read("0,1\n1", 2).unwrap_err().0, "2 rows of 1 numbers, and there are 2 terminals");
        assert_eq!(read("0,1,2,3", 2).unwrap_err().0, "1 rows of 4 numbers, and there are 2 terminals");
        assert!(read("", 2).is_err() && read("1,0", 2).is_err() && read("\u{feff}0,0\n0,0", 2).is_err());
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9eE.,+\\-naif\n\u{e4} ]{0,60}", terminals in 0u32..4) {
            if let Ok(found) = read(&text, terminals) {
                prop_assert!(found.len() == terminals as usize);
                prop_assert!(found.iter().all(|row| row.len() == terminals as usize));
            }
        }

        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(prop::num::f64::POSITIVE, 9)) {
            let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
            let text = values.chunks(3).map(line).collect::<Vec<_>>().join("\n");
            prop_assert_eq!(read(&text, 3).unwrap().concat(), values);
        }
    }
}
