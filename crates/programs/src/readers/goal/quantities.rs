//! Recognises quantities with a unit or a fraction, where the format allows only whole numbers. The refusal of such
//! a quantity can then propose the right whole number.

use weft_units::{Bits, Time};

/// Femtoseconds per nanosecond.
const NANOSECOND: u128 = 1_000_000;
/// The longest text that can be a quantity [bytes].
const LONGEST: usize = 40;

/// A quantity as the file writes it (`written`), and the whole number to write instead (`whole`). `whole` is `None`
/// if there is no such number.
#[derive(Debug, PartialEq, Eq)]
pub struct Quantity {
    pub written: String,
    pub whole: Option<u128>,
}

impl Quantity {
    /// A time with a unit, or with a fraction. The whole number is in nanoseconds.
    pub fn time(rest: &[u8]) -> Option<Self> {
        let nanoseconds = |text: &str| match text.parse() {
            Ok(Time::Femtoseconds(fs)) => Some(fs.div_ceil(NANOSECOND)),
            Ok(Time::Cycles(_)) | Err(_) => None,
        };
        Self::of(rest, nanoseconds, "ns")
    }

    /// A size with a unit, or with a fraction. The whole number is in bytes.
    pub fn size(rest: &[u8]) -> Option<Self> {
        let bytes = |text: &str| text.parse().ok().map(|Bits(bits)| u128::from(bits.div_ceil(8)));
        Self::of(rest, bytes, "B")
    }

    /// True if the quantity is a whole number with the unit `b`.
    pub fn is_in_b(&self) -> bool {
        self.written.ends_with('b') && !self.written.contains('.')
    }

    /// Recognises a quantity at the start of `rest`. `read` converts a number with its unit to a whole number.
    /// `unit` is the unit of a number that has no unit.
    fn of(rest: &[u8], read: impl Fn(&str) -> Option<u128>, unit: &str) -> Option<Self> {
        let part = |from: usize, is_part: fn(&u8) -> bool| {
            from + rest.iter().take(LONGEST).skip(from).take_while(|byte| is_part(byte)).count()
        };
        let number = part(0, |byte| byte.is_ascii_digit() || *byte == b'.');
        let end = part(part(number, |byte| matches!(byte, b' ' | b'\t')), u8::is_ascii_alphabetic);
        let text = |end: usize| String::from_utf8_lossy(&rest[..end]).into_owned();
        if let Some(whole) = read(&text(end)) {
            return Some(Self { written: text(end), whole: Some(whole) });
        }
        let number = text(number);
        number.contains('.').then(|| Self { whole: read(&format!("{number}{unit}")), written: number })
    }
}

#[cfg(test)]
mod tests {
    use super::Quantity;

    #[test]
    fn quantities_have_a_unit_or_a_fraction() {
        let time = |text: &str| Quantity::time(text.as_bytes()).map(|found| (found.written, found.whole));
        let is = |written: &str, whole| Some((written.to_owned(), Some(whole)));
        assert_eq!(time("5us\n"), is("5us", 5000));
        assert_eq!(time("1.5 us cpu 1"), is("1.5 us", 1500));
        assert_eq!(time("1.5\n"), is("1.5", 2), "a part of a nanosecond counts as a whole one");
        assert_eq!([time("5 cpu 1"), time("5\n"), time("5}")], [None, None, None]);
        let size = |text: &str| Quantity::size(text.as_bytes()).map(|found| (found.written, found.whole));
        assert_eq!(size("4KiB b to 1"), is("4KiB", 4096));
        assert_eq!(size("8 to 1"), None);
        assert_eq!(size("1.5KiB to 1"), is("1.5KiB", 1536));
    }
}
