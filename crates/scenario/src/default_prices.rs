//! Compares the rates of links with the rate for which the default prices of links were published.

use crate::config::Scenario;
use crate::prices::Prices;
use crate::warning::Warning;
use weft_engine::Spec;

weft_units::codes! {
    DEFAULT_PRICES_OF_OTHER_RATE = "default_prices_of_other_rate", Hint,
        means: "Links have the default prices, but their rate is far from that of the links for which these prices were published. \
                Energy, power and cost may be far from those of real links.",
        computed: "Bits of a flit x flits per second of a link class, compared with 48 Gb/s, the rate of the links in the paper. The code \
                   appears above a factor of 2, in either direction.",
        helps: "Write `power.catalogue` for prices of real hardware, or your own `power.prices`. Savings in percent depend less on the \
                prices than energies do.";
}

/// Rate of the links for which the default prices were published: a flit of 48 bits per ns [Gb/s].
const SOURCE_GBPS: f64 = 48.0;
/// The default prices are accepted for a link if the ratio between the rate of the link and `SOURCE_GBPS` is at most this number.
const FAR: f64 = 2.0;

/// A link class that has the default prices, although its rate is far from the rate for which these prices were published.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OtherRate {
    class: String,
    gbps: f64,
}

impl OtherRate {
    /// The link class with default prices whose rate differs most from `SOURCE_GBPS`. `None` if the scenario has prices of its own, or if
    /// no rate is far from `SOURCE_GBPS`.
    pub(crate) fn of(scenario: &Scenario, spec: &Spec) -> Option<Self> {
        let power = &scenario.power;
        if power.catalogue.is_some() || power.prices != Prices::default() {
            return None;
        }
        let bits_per_ns = scenario.flit.0 as f64 * 1e6 / spec.cycle_fs as f64;
        let rates = spec.graph.links_by_class().into_iter().zip(&spec.links);
        let default = rates.filter(|((class, links), _)| *links > 0 && !power.class_prices.contains_key(class));
        let all = default.map(|((class, _), link)| Self { class, gbps: link.rate.per_cycle() * bits_per_ns });
        all.filter(|other| other.ratio() > FAR).max_by(|a, b| a.ratio().total_cmp(&b.ratio()))
    }

    /// Ratio of the larger to the smaller of the two rates.
    fn ratio(&self) -> f64 {
        (self.gbps / SOURCE_GBPS).max(SOURCE_GBPS / self.gbps)
    }

    /// The rate to two decimals [Gb/s].
    fn rounded(&self) -> f64 {
        (self.gbps * 100.0).round() / 100.0
    }

    /// The addition to the name of the source of the prices.
    pub(crate) fn remark(&self) -> String {
        format!(
            " (prices for links of {SOURCE_GBPS} Gb/s, but links carry {} Gb/s: set `power.prices` or `power.catalogue`)",
            self.rounded()
        )
    }
}

/// Hints that links have the default prices, although these prices were published for another rate.
pub(crate) fn hint(scenario: &Scenario, spec: &Spec) -> Option<Warning> {
    let other = OtherRate::of(scenario, spec)?;
    let what = format!(
        "`{}` links carry {} Gb/s, but have the default prices, which are those of links of {SOURCE_GBPS} Gb/s",
        other.class,
        other.rounded()
    );
    let help = "write `power.catalogue` for prices of real hardware, or your own `power.prices`";
    let numbers = [("link_gbps", other.gbps), ("source_gbps", SOURCE_GBPS)];
    Some(Warning::new(&DEFAULT_PRICES_OF_OTHER_RATE, "power.prices", numbers, what, help))
}
