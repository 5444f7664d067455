//! Exact decimal numbers with a unit: the parsing and formatting that all quantities share.

/// A kind of quantity, e.g. a time: its name, its units and an example.
pub(crate) struct Kind {
    /// Name of the quantity with its article: "a time".
    pub name: &'static str,
    /// Each unit, with its size in multiples of the smallest unit. The largest unit comes first, and spellings of the same unit are next to
    /// each other.
    pub units: &'static [(&'static str, u128)],
    /// Name of the smallest unit, for the message that refuses a value that is not a multiple of this unit.
    pub smallest: &'static str,
    pub example: &'static str,
}

impl Kind {
    fn unit_list(&self) -> String {
        let names: Vec<_> = self.units.iter().map(|(name, _)| *name).collect();
        format!("units: {}; for example \"{}\"", names.join(", "), self.example)
    }

    /// The message that refuses a number without a unit.
    pub fn bare(&self, read: impl std::fmt::Display) -> String {
        format!("{read} is a bare number, but {} needs a unit\n{}", self.name, self.unit_list())
    }

    /// Reads `text` ("2.5ns", one space allowed before the unit) as a whole number of the smallest unit. Also returns the unit in the text.
    /// The error is the problem, a line break, then the remedy.
    pub fn read(&self, text: &str) -> Result<(u128, &'static str), String> {
        let (value, unit, whole) = self.read_up(text)?;
        if !whole {
            let help = format!("write a multiple of {}; for example \"{}\"", self.smallest, self.example);
            return Err(format!("\"{text}\" is finer than the smallest unit, {}\n{help}", self.smallest));
        }
        Ok((value, unit))
    }

    /// Reads `text` as [`Kind::read`] does, but rounds up to a whole number of the smallest unit. Also returns true if rounding was not
    /// needed.
    pub fn read_up(&self, text: &str) -> Result<(u128, &'static str, bool), String> {
        let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, rest) = text.split_at(split);
        let unit = rest.strip_prefix(' ').unwrap_or(rest);
        if number.is_empty() {
            return Err(self.malformed(text));
        }
        if unit.is_empty() {
            return Err(self.bare(format_args!("\"{text}\"")));
        }
        let Some(&(unit, scale)) = self.units.iter().find(|(name, _)| *name == unit) else {
            return Err(format!("\"{unit}\" in \"{text}\" is not a unit of {}\n{}", self.name, self.unit_list()));
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        if whole.is_empty() || (number.contains('.') && fraction.is_empty()) || fraction.contains('.') {
            return Err(self.malformed(text));
        }
        let too_large = || format!("\"{text}\" is too large\n{}", self.unit_list());
        let whole = whole.parse::<u128>().ok().and_then(|n| n.checked_mul(scale)).ok_or_else(too_large)?;
        let (part, exact) = fraction_of(fraction.trim_end_matches('0'), scale);
        Ok((whole.checked_add(part).ok_or_else(too_large)?, unit, exact))
    }

    fn malformed(&self, text: &str) -> String {
        format!("\"{text}\" is not {}, which is a plain decimal number and a unit\n{}", self.name, self.unit_list())
    }

    /// Writes `value`, a multiple of the smallest unit, as the shortest exact string in the largest unit that does not exceed the value.
    pub fn write(&self, value: u128) -> String {
        let fits = |&&(_, scale): &&(&str, u128)| value >= scale;
        let (unit, scale) = self.units.iter().find(fits).or(self.units.last()).copied().unwrap_or(("", 1));
        let (whole, mut rest) = (value / scale, value % scale);
        let mut text = whole.to_string();
        if rest > 0 {
            text.push('.');
        }
        while rest > 0 {
            rest *= 10;
            text.push(char::from(b'0' + (rest / scale) as u8));
            rest %= scale;
        }
        text + unit
    }
}

/// The decimal fraction 0.`digits` times `scale`, rounded up, and true if the product is a whole number. Digits that do not fit into the
/// arithmetic only cause rounding up.
fn fraction_of(digits: &str, scale: u128) -> (u128, bool) {
    let mut exact = true;
    for length in (0..=digits.len()).rev() {
        let parts = u32::try_from(length).ok().and_then(|length| 10u128.checked_pow(length));
        let digits = if length == 0 { Some(0) } else { digits[..length].parse::<u128>().ok() };
        if let (Some(parts), Some(scaled)) = (parts, digits.and_then(|digits| digits.checked_mul(scale))) {
            let whole = exact && scaled.is_multiple_of(parts);
            return (scaled / parts + u128::from(!whole), whole);
        }
        exact = false;
    }
    (1, false)
}

/// Implements serde and JSON Schema for a quantity that has `FromStr` (with a string as the error), `Display` and a `KIND`.
macro_rules! as_text {
    ($ty:ident, $kind:expr, $pattern:literal, $description:literal, [$($example:literal),+]) => {
        impl serde::Serialize for $ty {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $ty {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $ty;
                    fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                        write!(f, "{} such as \"{}\"", $kind.name, $kind.example)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$ty, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_u64<E: serde::de::Error>(self, read: u64) -> Result<$ty, E> {
                        Err(E::custom($kind.bare(read)))
                    }
                    fn visit_i64<E: serde::de::Error>(self, read: i64) -> Result<$ty, E> {
                        Err(E::custom($kind.bare(read)))
                    }
                    fn visit_f64<E: serde::de::Error>(self, read: f64) -> Result<$ty, E> {
                        Err(E::custom($kind.bare(read)))
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }

        impl schemars::JsonSchema for $ty {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($ty).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({
                    "type": "string",
                    "description": $description,
                    "pattern": $pattern,
                    "examples": [$($example),+]
                })
            }
        }
    };
}
pub(crate) use as_text;
