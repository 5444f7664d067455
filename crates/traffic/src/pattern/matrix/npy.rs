//! Reads a matrix from a file of `numpy.save`: its header is the text of a Python dictionary, and the numbers follow.
//!
//! The format is defined by NumPy's NEP 1; versions 1 to 3 are read. The numbers are integers, floats of 4 or 8 bytes, or booleans.

use super::{Wrong, expect_square};

const MAGIC: &[u8] = b"\x93NUMPY";

/// The type of the numbers in the file: code (float, integer, boolean), size in bytes, and byte order.
#[derive(Clone, Copy)]
struct Kind {
    code: char,
    size: usize,
    is_big_endian: bool,
}

/// Reads the matrix and calls `add` with each row. A row has `terminals` numbers.
pub(super) fn rows(
    bytes: &[u8],
    terminals: u32,
    add: &mut dyn FnMut(&[f64]) -> Result<(), Wrong>,
) -> Result<(), Wrong> {
    let (header, data) = split(bytes).ok_or_else(|| broken("its header is incomplete"))?;
    let kind = kind(header)?;
    let is_fortran = match field(header, "'fortran_order':") {
        Some(value) if value.starts_with("False") => false,
        Some(value) if value.starts_with("True") => true,
        _ => return Err(broken("its header has no fortran_order")),
    };
    let (rows, columns) = shape(header)?;
    expect_square(rows, columns, terminals)?;
    let expected = (rows as u128) * (columns as u128) * (kind.size as u128);
    if data.len() as u128 != expected {
        let numbers = format!("{rows} * {columns} * {} = {expected}", kind.size);
        return Err(broken(&format!("its numbers have {} bytes, not {numbers}", data.len())));
    }
    let mut row = vec![0.0; columns];
    for r in 0..rows {
        for (c, value) in row.iter_mut().enumerate() {
            let place = if is_fortran { c * rows + r } else { r * columns + c };
            *value = kind.number(&data[place * kind.size..][..kind.size]);
        }
        add(&row)?;
    }
    Ok(())
}

fn broken(what: &str) -> Wrong {
    (format!("this is not a file of numpy.save: {what}"), "save a 2-D array of numbers with numpy.save".into())
}

/// Splits the file into the header, as text, and the bytes after the header.
fn split(bytes: &[u8]) -> Option<(&str, &[u8])> {
    let rest = bytes.strip_prefix(MAGIC)?;
    let (version, rest) = rest.split_at_checked(2)?;
    let (length, rest) = match version[0] {
        1 => rest.split_at_checked(2)?,
        2 | 3 => rest.split_at_checked(4)?,
        _ => return None,
    };
    let length = length.iter().rev().fold(0, |length, &byte| length << 8 | usize::from(byte));
    let (header, data) = rest.split_at_checked(length)?;
    Some((std::str::from_utf8(header).ok()?, data))
}

/// The text that follows `key` in the header.
fn field<'h>(header: &'h str, key: &str) -> Option<&'h str> {
    header.split_once(key).map(|(_, value)| value.trim_start())
}

fn kind(header: &str) -> Result<Kind, Wrong> {
    let written = field(header, "'descr':").ok_or_else(|| broken("its header has no descr"))?;
    let name = written.strip_prefix('\'').and_then(|name| name.split_once('\'')).map_or("", |(name, _)| name);
    let mut letters = name.chars();
    let (order, code) = (letters.next(), letters.next());
    let size = letters.as_str().parse().ok();
    match (order, code, size) {
        (Some('<' | '>' | '|'), Some(code), Some(size))
            if matches!((code, size), ('f', 4 | 8) | ('i' | 'u', 1 | 2 | 4 | 8) | ('b', 1)) =>
        {
            Ok(Kind { code, size, is_big_endian: order == Some('>') })
        }
        _ => {
            let what = match name {
                "" => "its elements are not plain numbers".to_owned(),
                name => format!("its elements are of type {name:?}"),
            };
            Err((what, "save the array as floats of 4 or 8 bytes: numpy.save(file, matrix.astype(float))".into()))
        }
    }
}

fn shape(header: &str) -> Result<(usize, usize), Wrong> {
    let inside = field(header, "'shape':").and_then(|value| value.strip_prefix('(')?.split_once(')'));
    let (inside, _) = inside.ok_or_else(|| broken("its header has no shape"))?;
    let widths = inside.split(',').map(str::trim).filter(|width| !width.is_empty());
    let widths: Option<Vec<usize>> = widths.map(|width| width.parse().ok()).collect();
    match widths.as_deref() {
        Some(&[rows, columns]) => Ok((rows, columns)),
        _ => Err((format!("the array has the shape ({inside})"), "save a 2-D array: rows are sources".into())),
    }
}

impl Kind {
    /// Converts the bytes of one number to `f64`.
    fn number(self, bytes: &[u8]) -> f64 {
        let add = |value: u64, &byte: &u8| value << 8 | u64::from(byte);
        let bits = if self.is_big_endian { bytes.iter().fold(0, add) } else { bytes.iter().rev().fold(0, add) };
        let unused = 64 - 8 * self.size as u32;
        match (self.code, self.size) {
            ('f', 4) => f32::from_bits(bits as u32).into(),
            ('f', _) => f64::from_bits(bits),
            ('i', _) => ((bits << unused) as i64 >> unused) as f64,
            _ => bits as f64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Creates the bytes of a file in the format of `numpy.save`, version 1.
    fn file(descr: &str, is_fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let mut header = format!("{{'descr': '{descr}', 'fortran_order': {is_fortran}, 'shape': {shape}, }}");
        while !(MAGIC.len() + 4 + header.len() + 1).is_multiple_of(64) {
            header.push(' ');
        }
        header.push('\n');
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    fn read(bytes: &[u8], terminals: u32) -> Result<Vec<f64>, Wrong> {
        let mut found = Vec::new();
        rows(bytes, terminals, &mut |row| {
            found.extend_from_slice(row);
            Ok(())
        })?;
        Ok(found)
    }

    fn read_2x2(descr: &str, data: &[u8]) -> Vec<f64> {
        read(&file(descr, "False", "(2, 2)", data), 2).unwrap()
    }

    #[test]
    fn reads_every_kind_of_number() {
        let values = [1i8, -2, 3, 100];
        let expected = values.map(f64::from).to_vec();
        assert_eq!(read_2x2("<f8", &values.map(|v| f64::from(v).to_le_bytes()).concat()), expected);
        assert_eq!(read_2x2(">f8", &values.map(|v| f64::from(v).to_be_bytes()).concat()), expected);
        assert_eq!(read_2x2("<f4", &values.map(|v| f32::from(v).to_le_bytes()).concat()), expected);
        assert_eq!(read_2x2("<i8", &values.map(|v| i64::from(v).to_le_bytes()).concat()), expected);
        assert_eq!(read_2x2(">i2", &values.map(|v| i16::from(v).to_be_bytes()).concat()), expected);
        assert_eq!(read_2x2("|i1", &values.map(|v| v as u8)), expected);
        assert_eq!(read_2x2("|u1", &values.map(|v| v as u8)), [1.0, 254.0, 3.0, 100.0]);
        assert_eq!(read_2x2("<u4", &[255u32, 256, u32::MAX, 0].map(u32::to_le_bytes).concat())[2], 4294967295.0);
        assert_eq!(read_2x2("|b1", &[0, 1, 1, 0]), [0.0, 1.0, 1.0, 0.0]);
    }

    #[test]
    fn the_order_may_be_that_of_fortran() {
        // In column-major order the numbers are (0, 0), (1, 0), (0, 1), (1, 1).
        assert_eq!(read(&file("|u1", "True", "(2, 2)", &[1, 2, 3, 4]), 2).unwrap(), [1.0, 3.0, 2.0, 4.0]);
    }

    #[test]
    fn refuses_other_files() {
        let what = |bytes: &[u8]| read(bytes, 2).unwrap_err().0;
        insta::assert_snapshot!(what(b"1,2"), @"this is not a file of numpy.save: its header is incomplete");
        insta::assert_snapshot!(what(&file("<c16", "False", "(2, 2)", &[0; 64])), @r#"its elements are of type "<c16""#);
        insta::assert_snapshot!(what(&file("|u1", "False", "(4,)", &[0; 4])), @"the array has the shape (4,)");
        insta::assert_snapshot!(what(&file("|u1", "False", "(2, 3)", &[0; 6])), @"the matrix has 2 rows of 3 numbers, but there are 2 terminals");
        insta::assert_snapshot!(what(&file("<f8", "False", "(2, 2)", &[0; 31])), @"this is not a file of numpy.save: its numbers have 31 bytes, not 2 * 2 * 8 = 32");
        insta::assert_snapshot!(what(&file("<f8", "Maybe", "(2, 2)", &[0; 32])), @"this is not a file of numpy.save: its header has no fortran_order");
    }

    proptest! {
        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..100), terminals in 0u32..3) {
            let _ = read(&bytes, terminals);
            let _ = read(&[MAGIC, &bytes].concat(), terminals);
        }

        #[test]
        fn any_header_is_read_or_refused(
            descr in "[<>|]?[fiubc]?[0-9]{0,2}",
            shape in "\\(?[0-9]{0,20}(, ?[0-9]{0,2}){0,2}\\)?",
            data in prop::collection::vec(any::<u8>(), 0..40),
        ) {
            if let Ok(found) = read(&file(&descr, "False", &shape, &data), 2) {
                prop_assert_eq!(found.len(), 4);
            }
        }

        #[test]
        fn a_damaged_file_is_read_or_refused(at in 0usize..160, byte: u8) {
            let mut bytes = file("<f8", "False", "(2, 2)", &[0; 32]);
            let at = at % bytes.len();
            bytes[at] = byte;
            let _ = read(&bytes, 2);
        }

        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(prop::num::f64::POSITIVE, 4)) {
            let data: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            prop_assert_eq!(read(&file("<f8", "False", "(2, 2)", &data), 2).unwrap(), values);
        }
    }
}
