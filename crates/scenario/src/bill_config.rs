//! The keys of `bill`, with which Weft converts mean power to kilowatt-hours and money per year. The keys of `bill` do not change results,
//! so the hash does not contain them. `python/weft/results/yearly_bill.py` applies the keys to measured points.

use crate::diagnostic::{Diagnostic, Source};
use crate::expand::{explain, typed};
use crate::path;
use crate::schema::Schema;
use crate::tree::{self, Entry, Kind, Node};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use weft_units::Refusal;

/// Maximum difference between 1 and the sum of a profile's shares. The tolerance exists because users write thirds with a few digits, such
/// as 0.333.
const SHARES_TOLERANCE: f64 = 1e-3;

/// The cost of the measured power in a year of 8760 hours.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BillConfig {
    /// Power usage effectiveness: power that the site draws, for cooling and conversion as well, divided by the power of the
    /// network; at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1.0))]
    pub pue: f64,
    /// Price of a kilowatt-hour: an amount and the code of its currency ("0.25EUR").
    pub price_per_kwh: Money,
    /// Length of the profile, which is the time axis of its plot.
    #[serde(default)]
    pub period: Period,
    /// Loads or phases of a day or a week in their order, each with its share of the time.
    pub profile: Vec<ProfileShare>,
    /// Coordinates of the points to which savings are relative, such as `power.policy=always_on,routing=minimal`. At least one point must
    /// have these coordinates. Default: links that are always on. If the sweep has points under `always_on`, they are the baseline. Without
    /// such points, Weft computes the baseline for the same flits as in the run itself, with links that are always on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
}

/// Length of a load profile.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// 24 hours.
    #[default]
    Day,
    /// 168 hours.
    Week,
}

/// A part of a load profile, with its load: a number, or a phase of the scenario.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProfileShare {
    /// Name of this part of the profile in tables, such as `night`. Default: the load or phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Share of the day or week, above 0. The shares of a profile add up to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub share: f64,
    /// Load in the unit of `traffic.load` [flits/cycle per terminal], above 0 to 1. The sweep must measure this load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub load: Option<f64>,
    /// Number of a phase, instead of a load: 1 until the first of `traffic.phases` begins, then 2, 3, ...
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<u32>,
}

/// An amount of money in a currency: "0.25EUR".
#[derive(Debug, Clone, PartialEq)]
pub struct Money {
    pub amount: f64,
    /// Code of the currency: three capital letters.
    pub currency: String,
}

impl BillConfig {
    /// Refuses a bill that cannot be computed.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if !(self.pue >= 1.0 && self.pue.is_finite()) {
            let what = format!("a PUE of {} is below 1: a site draws at least the power of its network", self.pue);
            return Err(Refusal::new("bill.pue", what, "write 1 or more, such as 1.3"));
        }
        for (number, part) in self.profile.iter().enumerate() {
            part.check(&format!("bill.profile.{number}"))?;
        }
        if self.profile.is_empty() {
            let help = "write, for example, `profile: [{share: 0.5, load: 0.05}, {share: 0.5, load: 0.2}]`";
            return Err(Refusal::new("bill.profile", "the profile has no parts, so it has no power", help));
        }
        if self.profile.iter().any(|part| part.load.is_some()) && self.profile.iter().any(|part| part.phase.is_some()) {
            let what = "some parts name a load and others a phase, but no point has both";
            return Err(Refusal::new("bill.profile", what, "write `load` in all parts, or `phase` in all parts"));
        }
        let sum: f64 = self.profile.iter().map(|part| part.share).sum();
        if (sum - 1.0).abs() > SHARES_TOLERANCE {
            let shares: Vec<_> = self.profile.iter().map(|part| part.share.to_string()).collect();
            let sum = (sum * 1e6).round() / 1e6;
            let what = format!("the shares of the profile add up to {} = {sum}, not to 1", shares.join(" + "));
            let last = self.profile.last().map_or(0.0, |part| part.share) + 1.0 - sum;
            let last = (last * 1e6).round() / 1e6;
            let help = match last > 0.0 {
                true => format!("write {last} as the last share, so that the sum is 1"),
                false => "write smaller shares".to_owned(),
            };
            return Err(Refusal::new("bill.profile", what, help));
        }
        Ok(())
    }
}

impl ProfileShare {
    fn check(&self, path: &str) -> Result<(), Refusal> {
        if !(self.share > 0.0 && self.share <= 1.0) {
            let what = format!("a share of {} is not a valid share of the time", self.share);
            return Err(Refusal::new(format!("{path}.share"), what, "write a number above 0, up to 1"));
        }
        match (self.load, self.phase) {
            (Some(load), None) if load > 0.0 && load <= 1.0 => Ok(()),
            (Some(load), None) => {
                let what = format!("a load must be above 0 and at most 1, not {load}");
                let help = "for idle time write a small load such as 0.001, and include this load in the sweep of \
                            `traffic.load`";
                Err(Refusal::new(format!("{path}.load"), what, help))
            }
            (None, Some(0)) => {
                let what = "phases are counted from 1: phase 1 is the time before the first of `traffic.phases` begins";
                Err(Refusal::new(format!("{path}.phase"), what, "write 1 or more"))
            }
            (None, Some(_)) => Ok(()),
            (load, _) => {
                let what = if load.is_some() { "both a load and a phase" } else { "neither a load nor a phase" };
                Err(Refusal::new(path, format!("the part has {what}"), "write `load: 0.1` or `phase: 1`"))
            }
        }
    }
}

/// Reads a file that contains the keys of `bill`, or a section `bill`. Returns the keys with every default filled in. `example` is a
/// section `bill` in one line. The error message shows it if the file has no such section.
pub fn read_bill(file_name: &str, text: &str, example: &str) -> Result<serde_json::Value, Diagnostic> {
    #[derive(Deserialize)]
    struct File {
        bill: BillConfig,
    }
    let source = Arc::new(Source { name: file_name.to_owned(), text: text.to_owned(), is_file: true });
    let document = tree::parse(&source, 0..text.len())?;
    let span = document.span.clone();
    refuse_without_bill(&document, file_name, example)?;
    let entry = match document.kind {
        Kind::Mapping(mut entries) if entries.iter().any(|entry| entry.key == "bill") => {
            entries.retain(|entry| entry.key == "bill");
            entries.remove(0)
        }
        kind => {
            let value = Node { kind, span: span.clone(), swept: None };
            Entry { key: "bill".to_owned(), key_span: span.clone(), value }
        }
    };
    let mut root = Node { kind: Kind::Mapping(vec![entry]), span, swept: None };
    if let (Kind::Mapping(entries), Some(schema)) = (&mut root.kind, Schema::root().child("bill")) {
        for Entry { key, key_span, value } in entries {
            path::check(value, key_span, &schema, key)?;
        }
    }
    let File { bill } = typed(&root)?;
    bill.check().map_err(|refusal| explain(&root, &[], &refusal))?;
    Ok(serde_json::to_value(bill).unwrap_or_default())
}

/// Refuses a file with keys of a scenario but without `bill`, and an empty file.
fn refuse_without_bill(document: &Node, file_name: &str, example: &str) -> Result<(), Diagnostic> {
    let entries: &[Entry] = match &document.kind {
        Kind::Mapping(entries) => entries,
        Kind::Scalar(serde_json::Value::Null) => &[],
        Kind::Scalar(_) | Kind::Sequence(_) => return Ok(()),
    };
    let root = Schema::root();
    let is_of_bill = |key: &str| root.child("bill").is_some_and(|bill| bill.child(key).is_some());
    if entries.iter().any(|entry| entry.key == "bill" || is_of_bill(&entry.key)) {
        return Ok(());
    }
    if entries.iter().all(|entry| root.child(&entry.key).is_none()) && !entries.is_empty() {
        return Ok(()); // the parser reports this misspelt key later
    }
    let what = format!("{file_name} has neither a section `bill:` nor the keys of a bill");
    let help = format!("write the line `{example}` into this file, at the left margin");
    Err(Diagnostic::nowhere("bill", &what, &help))
}

impl FromStr for Money {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is not a price\nwrite an amount and a currency code, such as 0.25EUR");
        let at = text.find(|letter: char| letter.is_ascii_alphabetic()).ok_or_else(wrong)?;
        let (amount, currency) = (text[..at].trim_end(), &text[at..]);
        let digits = amount.chars().all(|digit| digit.is_ascii_digit() || digit == '.');
        let code = currency.len() == 3 && currency.chars().all(|letter| letter.is_ascii_uppercase());
        match amount.parse() {
            Ok(value) if digits && code => Ok(Self { amount: value, currency: currency.to_owned() }),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}{}", self.amount, self.currency)
    }
}

impl Serialize for Money {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Money {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = match serde_json::Value::deserialize(deserializer)? {
            serde_json::Value::String(text) => text.parse(),
            other => {
                Err(format!("{other} has no currency\nwrite the currency code after the amount, such as {other}EUR"))
            }
        };
        read.map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Money {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Money".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "description": "An amount of a currency.",
            "pattern": r"^[0-9]+(\.[0-9]+)? ?[A-Z]{3}$",
            "examples": ["0.25EUR", "0.12USD"]
        })
    }
}

fn one() -> f64 {
    1.0
}
