//! Deserialises a quantity from a string with a unit. Refuses a number without a unit, with a message that names a unit.

use serde::Deserializer;
use serde::de::{Error, Visitor};
use std::fmt;

/// Deserialises a string and parses it with `read`. `name`: the name of the quantity with its article, e.g. "a size in bytes". `example`: a
/// valid string. The remedy for a number without a unit is the same number followed by `unit`.
pub fn with_unit<'de, T, D: Deserializer<'de>>(
    deserializer: D,
    (name, unit, example): (&'static str, &'static str, &'static str),
    read: impl FnOnce(&str) -> Result<T, String>,
) -> Result<T, D::Error> {
    deserializer.deserialize_any(Text { name, unit, example, read })
}

struct Text<F> {
    name: &'static str,
    unit: &'static str,
    example: &'static str,
    read: F,
}

impl<F> Text<F> {
    fn bare(&self, number: impl fmt::Display, help: &str) -> String {
        format!("{number} is a bare number, but {} needs a unit\ngive a unit, such as \"{help}\"", self.name)
    }
}

impl<T, F: FnOnce(&str) -> Result<T, String>> Visitor<'_> for Text<F> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} such as \"{}\"", self.name, self.example)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<T, E> {
        (self.read)(text).map_err(E::custom)
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
        Err(E::custom(self.bare(number, &format!("{number}{}", self.unit))))
    }

    // The remedy shows the example of the quantity. The number with a unit could be wrong advice, because a negative number or a fraction
    // can be invalid with every unit.
    fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
        Err(E::custom(self.bare(number, self.example)))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<T, E> {
        Err(E::custom(self.bare(number, self.example)))
    }
}
