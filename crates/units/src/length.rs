//! The length of a cable, stored as the time that a signal needs for this length.

use crate::Time;
use crate::decimal::Kind;

/// Light needs about 5 ns per metre of fibre. At a speed of 299,792,458 m/s divided by a group index of 1.4682 (Corning SMF-28 at 1550 nm),
/// it needs 4.90 ns. The table contains the time for each unit of length \[fs\].
const LENGTH: Kind = Kind {
    name: "a length",
    units: &[
        ("mi", 8_046_720_000),
        ("km", 5_000_000_000),
        ("m", 5_000_000),
        ("ft", 1_524_000),
        ("cm", 50_000),
        ("mm", 5_000),
    ],
    smallest: "1mm",
    example: "3m",
};

/// The time that light needs for a length such as "3m" or "55.2km" at 5 ns per metre, rounded up to a femtosecond. The error is "the
/// problem", a line break, "the remedy".
pub fn light_time(text: &str) -> Result<Time, String> {
    LENGTH.read_up(text).map(|(femtoseconds, _, _)| Time::Femtoseconds(femtoseconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metre_takes_five_nanoseconds() {
        let time = |text: &str| light_time(text).map(|time| time.to_string());
        assert_eq!(time("3m"), Ok("15ns".to_owned()));
        // 55,200 m x 5 ns/m = 276 us
        assert_eq!(time("55.2km"), Ok("276us".to_owned()));
        // a mile is 1,609.344 m, a foot 0.3048 m
        assert_eq!((time("1mi"), time("10 ft")), (Ok("8.04672us".to_owned()), Ok("15.24ns".to_owned())));
        // light needs 0.0005 fs for a tenth of a nanometre, which rounds up to 1 fs
        assert_eq!(time("0.0000001mm"), Ok("1fs".to_owned()));
        let digits = "9".repeat(60);
        assert_eq!(time(&format!("0.{digits}m")), Ok("5ns".to_owned()));
        assert!(time("3").is_err() && time("3parsec").is_err() && time("-3m").is_err());
    }
}
