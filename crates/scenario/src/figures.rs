//! Computes the figures of the hardware catalogue, which are medians over its rows. Each row is a number in `assets/catalogue.json` with
//! its source and the figures for which it is used.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

const ROWS: &str = include_str!("../assets/catalogue.json");

/// A number in the catalogue, with its source.
#[derive(Debug, Deserialize)]
struct Row {
    row: u32,
    kind: String,
    speed_gbps: u32,
    ports: Option<f64>,
    power_w_typical: Option<f64>,
    power_w_max: Option<f64>,
    power_w_idle: Option<f64>,
    price: Option<f64>,
    currency: Option<String>,
    price_per_m: Option<f64>,
    pj_per_bit: Option<f64>,
    idle_share: Option<f64>,
    #[serde(default, rename = "for")]
    cables: Vec<String>,
    used_for: Vec<String>,
}

/// A figure of the catalogue: a median over rows, with the smallest and the largest value.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Figure {
    /// Name of the figure, such as `box per port`.
    pub figure: String,
    /// Speed of the ports to which the figure applies; `None` for a figure that applies to every speed.
    pub speed_gbps: Option<u32>,
    unit: &'static str,
    pub median: f64,
    least: f64,
    most: f64,
    rows: Vec<u32>,
}

impl Row {
    /// The values that the row adds to figures: name of the figure, unit and value. The value of a power is the typical power. If the
    /// source gives no typical power, it is the idle power of a box, and the highest power of a module.
    fn figures(&self) -> Vec<(String, &'static str, f64)> {
        let ports = self.ports.unwrap_or(1.0);
        let draws = self.power_w_typical.or(self.power_w_max);
        let mut found = Vec::new();
        for used in &self.used_for {
            let kind = self.kind.trim_start_matches("optic_");
            let of = |name: &str, unit, value: Option<f64>| value.map(|value| (name.to_owned(), unit, value));
            match used.as_str() {
                "box" => {
                    let box_w = self.power_w_typical.or(self.power_w_idle);
                    found.extend(of("box per port", "W", box_w.map(|watts| watts / ports)));
                }
                "idle_share" => found.extend(of("idle share", "", self.idle_share)),
                "bit" => found.extend(of("energy per bit", "pJ/bit", self.pj_per_bit)),
                "port" => found.extend(of("port", "W", self.power_w_typical)),
                "module" => found.extend(of(&format!("{kind} end"), "W", draws)),
                "price" if self.currency.as_deref() == Some("USD") => {
                    let each = self.price.map(|price| price / ports);
                    match kind {
                        "switch" => found.extend(of("switch per port", "USD", each)),
                        "fibre" => {
                            for cable in &self.cables {
                                found.extend(of(&format!("{cable} fibre"), "USD", each));
                                found.extend(of(&format!("{cable} fibre per metre"), "USD/m", self.price_per_m));
                            }
                        }
                        _ => found.extend(of(&format!("{kind} price"), "USD", each)),
                    }
                }
                _ => {} // prices in other currencies than dollars are not used
            }
        }
        found
    }
}

/// The rows of the catalogue's file, unchanged.
pub(crate) fn raw() -> Value {
    serde_json::from_str(ROWS).unwrap_or_default()
}

/// Values from which a median is computed, each with the number of its row.
type Values = Vec<(f64, u32)>;

/// All figures of the catalogue, one for each name and speed.
pub(crate) fn figures() -> Vec<Figure> {
    let rows: Vec<Row> = serde_json::from_str(ROWS).unwrap_or_default();
    let mut all: BTreeMap<(Option<u32>, String), (&'static str, Values)> = BTreeMap::new();
    for row in &rows {
        for (name, unit, value) in row.figures() {
            // idle shares and energies per bit were measured at only one speed, so these two figures apply to all speeds
            let speed = Some(row.speed_gbps).filter(|_| !["idle share", "energy per bit"].contains(&name.as_str()));
            all.entry((speed, name)).or_insert((unit, Vec::new())).1.push((value, row.row));
        }
    }
    let figure = |((speed_gbps, figure), (unit, mut found)): (_, (_, Values))| {
        found.sort_by(|a, b| a.0.total_cmp(&b.0));
        let middle = found.len() / 2;
        let median = match found.len() % 2 {
            0 => (found[middle - 1].0 + found[middle].0) / 2.0,
            _ => found[middle].0,
        };
        let (least, most) = (found[0].0, found[found.len() - 1].0);
        Figure { figure, speed_gbps, unit, median, least, most, rows: found.iter().map(|(_, row)| *row).collect() }
    };
    all.into_iter().map(figure).collect()
}
