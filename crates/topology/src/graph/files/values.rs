//! Parses numbers and quantities as graph files and inventories write them.

use weft_units::{Bandwidth, Time, light_time};

/// Number of significant digits that are used, because further digits are rounding errors of the program that wrote the file.
const DIGITS: usize = 12;

/// The kind of unit in which a latency is given: a time, or the length of a cable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Time,
    Length,
}

/// Reason why a value cannot be parsed, with the part of the value that is wrong.
#[derive(Debug, PartialEq, Eq)]
pub enum Unread {
    /// The value has no unit, or the unit of another quantity.
    Unit(String),
    /// The unit is valid, but the number is too large or too small.
    Number(String),
}

impl Unread {
    /// The reason as the end of a sentence about the value, for a message.
    pub fn what(&self) -> &str {
        match self {
            Self::Unit(what) | Self::Number(what) => what,
        }
    }
}

/// A number in plain decimal notation: "1e+09" becomes "1000000000". `None` if the text is not a number of 0 or more.
pub fn plain(text: &str) -> Option<String> {
    let text = text.trim();
    let value: f64 = text.parse().ok().filter(|value: &f64| value.is_finite() && *value >= 0.0)?;
    // refuses words such as "infinity", and numbers such as "1e300", which are too large for any quantity of a network
    if value > 1e30 || !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-')) {
        return None;
    }
    let digits = format!("{:.*e}", DIGITS - 1, value.abs());
    let (mantissa, exponent) = digits.split_once('e')?;
    let (digits, exponent) = (mantissa.replace('.', ""), exponent.parse::<i32>().ok()?);
    let digits = digits.trim_end_matches('0');
    let point = exponent + 1;
    Some(match usize::try_from(point) {
        Ok(point) if point >= digits.len() => format!("{digits:0<width$}", width = point.max(1)),
        Ok(0) => format!("0.{digits}"),
        Ok(point) => format!("{}.{}", &digits[..point], &digits[point..]),
        // a number below 10^-40 is 0 in every unit
        Err(_) if point < -40 => "0".to_owned(),
        Err(_) => format!("0.{:0>width$}", digits, width = digits.len() + point.unsigned_abs() as usize),
    })
}

/// Parses an integer. Some programs write an integer as 8.0.
pub fn whole(text: &str) -> Option<u32> {
    plain(text)?.parse().ok()
}

/// Parses a bandwidth: a number in `unit`, or a string that contains a unit, such as "100Gb/s", "100 Gbps" or "100G".
pub fn bandwidth(text: &str, unit: Option<&str>) -> Result<Bandwidth, Unread> {
    let text = text.trim();
    if let Some(number) = plain(text) {
        let unit = unit.ok_or_else(|| without_unit(text))?;
        return in_unit(&number, unit, |text| text.parse());
    }
    let with_unit = text.parse::<Bandwidth>().ok().or_else(|| speed(text));
    with_unit.ok_or_else(|| Unread::Unit(format!("is {:?}, which is not a bandwidth", short(text))))
}

/// Parses the speed of a port as inventories write it.
fn speed(text: &str) -> Option<Bandwidth> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, rest) = text.split_at(end);
    let mut rest = rest.trim_start().chars();
    let prefix = match rest.next()? {
        'T' => "T",
        'G' | 'g' => "G",
        'M' => "M",
        'k' | 'K' => "k",
        _ => return None,
    };
    // "GE" means an Ethernet port; "GB/s" is not in the list, because it counts bytes
    let is_known = matches!(rest.as_str(), "" | "E" | "bE" | "bps" | "bit" | "bit/s" | "bits/s" | "b/s");
    is_known.then(|| format!("{number}{prefix}b/s").parse().ok()).flatten()
}

/// Parses a latency: a number in `unit`, or a string that contains a unit, such as "2us" or "3m".
pub fn latency(text: &str, unit: Option<&str>) -> Result<(Time, Unit), Unread> {
    let text = text.trim();
    let read = |text: &str| match text.parse() {
        Ok(time) => Ok((time, Unit::Time)),
        Err(why) => light_time(text).map(|time| (time, Unit::Length)).map_err(|_| why),
    };
    match (plain(text), unit) {
        (Some(number), Some(unit)) => in_unit(&number, unit, read),
        (Some(_), None) => Err(without_unit(text)),
        (None, _) => {
            read(text).map_err(|_| Unread::Unit(format!("is {:?}, which is neither a time nor a length", short(text))))
        }
    }
}

fn without_unit(number: &str) -> Unread {
    Unread::Unit(format!("is {number:?}, which is a number without a unit"))
}

fn in_unit<T>(number: &str, unit: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Unread> {
    read(&format!("{number}{unit}")).map_err(|why| {
        let what = format!("is {number:?}: {}", why.split('\n').next().unwrap_or_default());
        match read(&format!("1{unit}")) {
            Ok(_) => Unread::Number(what),
            Err(_) => Unread::Unit(what),
        }
    })
}

/// At most the first 40 characters of a string, for a message.
pub fn short(text: &str) -> &str {
    text.char_indices().nth(40).map_or(text, |(end, _)| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn numbers_of_programs_are_plain_decimals() {
        let written =
            ["10", "10.0", "1e+09", "1E7", "2.5e9", "0.30000000000000004", "1e-3", "0", "0.0", "-0", "+5", ".5"];
        let plain_ones =
            ["10", "10", "1000000000", "10000000", "2500000000", "0.3", "0.001", "0", "0", "0", "5", "0.5"];
        assert_eq!(written.map(|text| plain(text).unwrap()), plain_ones);
        for text in ["", "x", "-1", "nan", "inf", "infinity", "1e400", "1e31", "0x10", "1,5"] {
            assert_eq!(plain(text), None, "{text}");
        }
        assert_eq!((whole("8.0"), whole("8.5"), whole("5e9")), (Some(8), None, None));
    }

    #[test]
    fn bandwidths_have_their_unit_in_the_file_or_in_the_scenario() {
        let read = |text: &str, unit| bandwidth(text, unit).map(|read| read.to_string());
        for text in
            ["100Gb/s", "100 Gb/s", "100G", "100Gbps", "100 Gbit/s", "100GE", "0.1T", "100000M", "100000 Mbits/s"]
        {
            assert_eq!(read(text, None), Ok("100Gb/s".to_owned()), "{text}");
        }
        assert_eq!(read("10000000000.0", Some("b/s")), Ok("10Gb/s".to_owned()));
        assert_eq!(read("1e3", Some("Mb/s")), Ok("1Gb/s".to_owned()));
        assert_eq!(read("0.5", Some("flits/cycle")), Ok("0.5flits/cycle".to_owned()));
        let of_unit = |what: &str| Err(Unread::Unit(what.to_owned()));
        assert_eq!(read("100", None), of_unit("is \"100\", which is a number without a unit"));
        assert_eq!(read("100GB/s", None), of_unit("is \"100GB/s\", which is not a bandwidth"));
        assert_eq!(read("5", Some("km")), of_unit("is \"5\": \"km\" in \"5km\" is not a unit of a bandwidth"));
        // 10^-10 Gb/s is a tenth of a bit per second
        let fine = "is \"0.0000000001\": \"0.0000000001Gb/s\" is finer than the smallest unit, 1b/s or \
                    0.000000001flits/cycle";
        assert_eq!(read("1e-10", Some("Gb/s")), Err(Unread::Number(fine.to_owned())));
    }

    #[test]
    fn a_latency_is_a_time_or_a_length() {
        let read = |text: &str, unit| latency(text, unit).map(|(time, unit)| (time.to_string(), unit));
        assert_eq!(read("55.2", Some("km")), Ok(("276us".to_owned(), Unit::Length)));
        assert_eq!(read("1.5", Some("ms")), Ok(("1.5ms".to_owned(), Unit::Time)));
        assert_eq!(read("3 m", None), Ok(("15ns".to_owned(), Unit::Length)));
        assert_eq!(read("12", Some("cycles")), Ok(("12cycles".to_owned(), Unit::Time)));
        let long = "is \"long\", which is neither a time nor a length";
        assert_eq!(read("long", None), Err(Unread::Unit(long.to_owned())));
        let foreign = read("5", Some("Gb/s")).unwrap_err();
        assert!(matches!(&foreign, Unread::Unit(what) if what.contains("\"Gb/s\" in \"5Gb/s\" is not a unit")));
        assert!(matches!(read("0.1", Some("fs")), Err(Unread::Number(_))), "finer than a femtosecond");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "\\PC{0,20}", number in "[0-9.eE+-]{0,12}", unit in "[a-zA-Z/]{0,6}") {
            for text in [&text, &number, &format!("{number}{unit}")] {
                let _ = (plain(text), whole(text), bandwidth(text, Some(&unit)), latency(text, Some(&unit)));
                let _ = (bandwidth(text, None), latency(text, None));
            }
        }

        #[test]
        fn a_plain_number_is_the_number(value in prop::num::f64::POSITIVE) {
            if let Some(text) = plain(&value.to_string()) {
                let read: f64 = text.parse().unwrap();
                prop_assert!((read - value).abs() <= value * 1e-11 || value < 1e-28, "{} {}", value, text);
            }
        }
    }
}
