//! Formats numbers for the sentences of diagnoses.

use std::fmt;
use weft_units::Time;

/// A length of time that is written in the unit of the scenario. If a scenario has a `grain`, the cycles of its results are longer than the
/// scenario's own cycles. With a `grain` the length of time is therefore written in seconds, otherwise in cycles.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub cycles: f64,
    /// With a `grain`: length of a cycle of the results \[fs\].
    pub grain_cycle_fs: Option<f64>,
}

impl Span {
    /// The length of time as text for a sentence.
    pub fn words(self) -> String {
        if self.grain_cycle_fs.is_some() { self.to_string() } else { format!("{} cycles", self.cycles) }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.grain_cycle_fs {
            Some(fs) => Time::Femtoseconds(self.cycles.ceil() as u128 * fs as u128).fmt(f),
            None => write!(f, "{}cycles", self.cycles),
        }
    }
}

/// A number as text with at most `digits` significant digits and no trailing zeros, like `%g` in C.
pub fn general(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return if value.is_nan() { "nan".to_owned() } else { format!("{value}") };
    }
    let digits = digits.max(1);
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let power: i32 = exponent.parse().unwrap_or(0);
    if power < -4 || power >= digits as i32 {
        let sign = if power < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), power.abs());
    }
    let decimals = (digits as i32 - 1 - power).max(0) as usize;
    trimmed(&format!("{value:.decimals$}")).to_owned()
}

fn trimmed(number: &str) -> &str {
    if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number }
}

/// Rounds a number of cycles up to two significant digits.
pub fn rounded_up(cycles: f64) -> f64 {
    let whole = cycles.ceil();
    let digits = format!("{whole}").len() as i32;
    let unit = 10f64.powi((digits - 2).max(0));
    (cycles / unit).ceil() * unit
}

/// A count with its noun, for example "3 points".
pub fn counted(count: f64, noun: &str) -> String {
    if count == 1.0 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_c_writes_them() {
        let of = |value| general(value, 3);
        assert_eq!([0.475, 0.1, 5.0, 1234.0].map(of), ["0.475", "0.1", "5", "1.23e+03"]);
        assert_eq!([0.00012345, 0.000012345, 0.0, 999.9].map(of), ["0.000123", "1.23e-05", "0", "1e+03"]);
        assert_eq!(general(30_000.0, 6), "30000");
        assert_eq!(general(f64::INFINITY, 4), "inf");
    }

    #[test]
    fn cycles_of_a_grain_are_a_time() {
        let of = |grain_cycle_fs| Span { cycles: 4000.0, grain_cycle_fs };
        assert_eq!((of(None).to_string(), of(None).words()), ("4000cycles".to_owned(), "4000 cycles".to_owned()));
        assert_eq!((of(Some(8e6)).to_string(), of(Some(8e6)).words()), ("32us".to_owned(), "32us".to_owned()));
    }

    #[test]
    fn cycles_are_rounded_up_to_two_digits() {
        assert_eq!([7.0, 7.2, 99.0, 101.0, 12_345.0].map(rounded_up), [7.0, 8.0, 99.0, 110.0, 13_000.0]);
    }
}
