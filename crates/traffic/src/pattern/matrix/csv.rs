//! Reads a matrix from text: one line per row, with commas, semicolons or tabs between the numbers. Headings are optional.

use super::{Wrong, expect_square};
use csv::{Reader, ReaderBuilder, StringRecord, Trim};

/// Reads the matrix and calls `add` with each row. A row has `terminals` numbers.
pub(super) fn rows(text: &str, terminals: u32, add: &mut dyn FnMut(&[f64]) -> Result<(), Wrong>) -> Result<(), Wrong> {
    let size = terminals as usize;
    let mut line = StringRecord::new();
    let mut count = 0;
    let mut reader = reader(text);
    while next(&mut reader, &mut line)? {
        count += 1;
    }
    let mut reader = self::reader(text);
    let mut names = None;
    let mut more = next(&mut reader, &mut line)?;
    if more && is_heading(&line, count == size + 1) {
        names = Some(line.clone());
        count -= 1;
        more = next(&mut reader, &mut line)?;
    }
    let one_more = line.len() == size + 1;
    let named = more
        && match is_number(&line[0]) {
            true => names.is_some() && count == size && one_more,
            false => names.is_some() || one_more,
        };
    let mut row = Vec::with_capacity(size);
    for number in 0.. {
        if !more {
            break;
        }
        row.clear();
        let first = usize::from(named);
        for (place, word) in line.iter().enumerate().skip(first) {
            let value = word.parse::<f64>().map_err(|_| no_number(&line, place, terminals))?;
            // The numbers of a line that is far too long are counted, but not stored.
            if row.len() < size {
                row.push(value);
            }
        }
        expect_square(count, line.len() - first, terminals)?;
        if let Some(names) = names.as_ref().filter(|_| named) {
            check_name(&line, number, names)?;
        }
        add(&row)?;
        more = next(&mut reader, &mut line)?;
    }
    // An empty file has no line that the loop could have refused.
    expect_square(count, if count == 0 { 0 } else { row.len() }, terminals)
}

/// Creates the reader, which skips a byte-order mark and empty lines.
fn reader(text: &str) -> Reader<&[u8]> {
    let mut builder = ReaderBuilder::new();
    builder.has_headers(false).flexible(true).trim(Trim::All).delimiter(separator(text));
    builder.from_reader(text.as_bytes())
}

/// The separator between the numbers: a tab or a semicolon if the first line has one, otherwise a comma.
fn separator(text: &str) -> u8 {
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("").trim_start_matches('\u{feff}');
    [b'\t', b';'].into_iter().find(|&mark| first.contains(char::from(mark))).unwrap_or(b',')
}

/// Reads the next line; returns false at the end of the text.
fn next(reader: &mut Reader<&[u8]>, line: &mut StringRecord) -> Result<bool, Wrong> {
    reader.read_record(line).map_err(|error| (error.to_string(), "save the table as plain text".to_owned()))
}

/// True if the first line is a heading with names of columns, i.e. if it contains no number. `one_more`: the table has one line more than
/// there are terminals. With one line more, a line is also a heading if one word is not a number, or if its numbers count the columns
/// from 0 or 1.
fn is_heading(line: &StringRecord, one_more: bool) -> bool {
    let counts = |from: usize| line.iter().zip(from..).all(|(word, number)| word.parse() == Ok(number));
    let words = line.iter().filter(|word| !is_number(word)).count();
    words == line.len() || (one_more && (words > 0 || counts(0) || counts(1)))
}

fn is_number(word: &str) -> bool {
    word.parse::<f64>().is_ok()
}

/// Checks that rows and columns are in the same order: row `number` must have the name of column `number`.
fn check_name(line: &StringRecord, number: usize, names: &StringRecord) -> Result<(), Wrong> {
    // The heading can have a word above the names of the rows.
    let column = (number + names.len() + 1).checked_sub(line.len());
    match column.and_then(|column| names.get(column)) {
        Some(name) if name != &line[0] => {
            let what = format!(
                "line {} is the row of {:?}, but column {} is the column of {:?}",
                place(line),
                short(&line[0]),
                number + 1,
                short(name)
            );
            Err((what, "write rows and columns in the same order, by terminal".to_owned()))
        }
        _ => Ok(()),
    }
}

fn place(line: &StringRecord) -> u64 {
    line.position().map_or(0, csv::Position::line)
}

fn no_number(line: &StringRecord, at: usize, terminals: u32) -> Wrong {
    let what = format!("line {}, cell {} is {:?}, which is not a number", place(line), at + 1, short(&line[at]));
    let help = format!(
        "write {terminals} rows of {terminals} numbers, one per terminal, with commas, semicolons or tabs between them; Weft \
         skips a line of names above the numbers and a column of names before them"
    );
    (what, help)
}

/// The beginning of a word, short enough for an error message.
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
        assert_eq!(read("0,a\n1,0", 2).unwrap_err().0, "line 1, cell 2 is \"a\", which is not a number");
        assert_eq!(read("0,1\n,0", 2).unwrap_err().0, "line 2, cell 1 is \"\", which is not a number");
        assert_eq!(read("0,1\n1", 2).unwrap_err().0, "the matrix has 2 rows of 1 numbers, but there are 2 terminals");
        let wide = "the matrix has 1 rows of 4 numbers, but there are 2 terminals";
        assert_eq!(read("0,1,2,3", 2).unwrap_err().0, wide);
        assert!(read("", 2).is_err() && read("1,0", 2).is_err());
    }

    #[test]
    fn headings_tabs_and_a_byte_order_mark_are_no_part_of_the_numbers() {
        let expected = vec![vec![0.0, 1.5], vec![1000.0, 0.0]];
        for text in [
            "\u{feff}0,1.5\n1e3,0",
            "0\t1.5\n1e3\t0\n",
            "0;1.5\n\n1e3;0\n",
            "a,b\n0,1.5\n1e3,0",
            "0,1\n0,1.5\n1e3,0",
            "1,2\n0,1.5\n1e3,0",
            ",a,b\na,0,1.5\nb,1e3,0",
            "from\ta\tb\na\t0\t1.5\nb\t1e3\t0",
            "a,b\na,0,1.5\nb,1e3,0",
            ",0,1\n0,0,1.5\n1,1e3,0",
            "a,0,1.5\nb,1e3,0",
            "\u{feff}\"rack 1, a\",b\n\"0\",1.5\n1e3,0",
        ] {
            assert_eq!(read(text, 2).as_ref(), Ok(&expected), "{text:?}");
        }
        let (what, help) = read(",a,b\nb,0,1\na,1,0", 2).unwrap_err();
        assert_eq!(what, "line 2 is the row of \"b\", but column 1 is the column of \"a\"");
        assert_eq!(help, "write rows and columns in the same order, by terminal");
        for text in ["a,b,c\n0,1,1\n1,0,1\n1,1,0", ",a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0"] {
            let what = "the matrix has 3 rows of 3 numbers, but there are 2 terminals";
            assert_eq!(read(text, 2).unwrap_err().0, what);
        }
        let (what, help) = read("0,1\n1,x", 2).unwrap_err();
        assert_eq!(what, "line 2, cell 2 is \"x\", which is not a number");
        assert!(help.starts_with("write 2 rows of 2 numbers, one per terminal"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[0-9eE.,;+\\-naif\n\t\"\u{feff}\u{e4} ]{0,60}", terminals in 0u32..4) {
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
