//! Energies are exact for prices of any size: no price is rounded to whole femtojoules, and the parts add up to the totals.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;
use serde_json::Value;
use weft_engine::power::{LinkState, PerMode};
use weft_engine::recording::Column;
use weft_engine::spec::Execution;
use weft_scenario::{Finished, expand};

const YJ_PER_FJ: u128 = 1_000_000_000;

fn run(text: &str, sets: &[(&str, &str)]) -> Finished {
    let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    let point = expand("energy.yaml", text, &sets).unwrap_or_else(|error| panic!("{error}")).remove(0);
    point.run(Execution::new(1, 0), &()).unwrap_or_else(|error| panic!("{error}"))
}

/// An exact energy in a summary [yJ].
fn yj(summary: &Value, key: &str) -> u128 {
    let text = summary[key].as_str().unwrap_or_else(|| panic!("no {key}"));
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let number = |digits: &str| digits.parse::<u128>().unwrap_or_else(|_| panic!("{key}: {text}"));
    number(whole) * YJ_PER_FJ + number(&format!("{decimals:0<9}"))
}

/// Two routers with a terminal each, joined by a link of 1 Gflit/s: 6 channels.
const PAIR: &str = "
cycle: 1ns
flit: 100b
topology: {mesh: {widths: [2], terminals_per_router: 1}}
links: {default: {latency: 2cycles, vcs: 1, buffer: 32flits}}
routing: dimension_order
traffic: {pattern: neighbor, packet: 1flit, load: 0.25}
power:
  policy: always_on
  prices: {\"on\": {static: 1mW, per_bit: 3pJ/bit}}
measure: {warmup: 100cycles, window: 10000cycles}
";

#[test]
fn a_price_below_a_femtojoule_per_cycle_is_billed_as_it_is() {
    // 6 channels for 10 us; earlier versions rounded prices, so they billed 0.4 uW as 0, 0.5 as 1 and 1.5 as 2
    for (power, fj) in [("1mW", "60000000"), ("0.5uW", "30000"), ("0.4uW", "24000"), ("1.5uW", "90000"), ("1nW", "60")]
    {
        let s = run(PAIR, &[("power.prices.on.static", power)]).summary;
        assert_eq!(s["energy_static_fj"], fj, "{power}");
    }
    // 6 channels * 0.5 uW * 100 us
    let sets = [("power.prices.on.static", "0.5uW"), ("measure.window", "100000cycles")];
    let s = run(PAIR, &sets).summary;
    assert_eq!(s["energy_static_fj"], "300000");
    assert!((s["energy_static_j"].as_f64().expect("a number") / 3e-10 - 1.0).abs() < 1e-15);
}

#[test]
fn a_price_below_a_femtojoule_per_flit_is_billed_as_it_is() {
    let finished = run(PAIR, &[("power.prices.on.per_bit", "0.001fJ/bit")]);
    let flits: u64 = finished.channels.rows.iter().flat_map(|row| &row.count.flits).sum();
    // a flit costs 100 b * 0.001 fJ/b = 0.1 fJ
    assert_eq!(yj(&finished.summary, "energy_dynamic_fj"), u128::from(flits) * 100_000_000);
    assert!(flits > 0);
}

#[test]
fn a_chip_at_two_gigahertz_pays_for_its_links_and_flits() {
    let text = "
cycle: 0.5ns
flit: 32b
topology: {mesh: {widths: [4, 4], terminals_per_router: 1}}
links: {default: {latency: 1cycle, vcs: 2, buffer: 8flits}}
routing: dimension_order
traffic: {pattern: uniform, packet: 4flits, load: 0.1}
power:
  policy: always_on
  prices: {\"on\": {static: 0.9uW, per_bit: 0.04fJ/bit}}
measure: {warmup: 1000cycles, window: 20000cycles}
";
    let finished = run(text, &[]);
    let s = &finished.summary;
    // 48 + 32 channels * 0.9 uW * 10 us; earlier versions billed 0.45 fJ per cycle as 0
    assert_eq!(s["energy_static_fj"], "720000");
    // a flit costs 32 b * 0.04 fJ/b = 1.28 fJ, which earlier versions billed as 1
    let flits: u64 = finished.channels.rows.iter().flat_map(|row| &row.count.flits).sum();
    assert_eq!(flits, 147_792);
    assert_eq!(s["energy_dynamic_fj"], "189173.76");
    assert_eq!(s["energy_total_fj"], "909173.76");
    let mut bytes = Vec::new();
    finished.channels.write(&mut bytes).expect("written");
    let file = std::env::temp_dir().join(format!("weft-energy-{}.parquet", std::process::id()));
    std::fs::write(&file, bytes).expect("a temporary file");
    let reader = SerializedFileReader::new(std::fs::File::open(&file).expect("opened")).expect("Parquet");
    let mut sum = 0;
    for row in reader.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        let mut cells = row.get_column_iter();
        let (_, cell) = cells.find(|(name, _)| *name == "energy_fj").expect("the column");
        let Field::Decimal(cell) = cell else { panic!("{cell:?} is no decimal number") };
        assert_eq!((cell.precision(), cell.scale()), (38, 9));
        sum += cell.data().iter().fold(0u128, |number, byte| number << 8 | u128::from(*byte));
    }
    std::fs::remove_file(&file).expect("removed");
    assert_eq!(sum, yj(s, "energy_total_fj"), "the table adds up to the summary");
}

#[test]
fn an_ideal_link_of_many_flits_per_cycle_draws_power_for_parts_of_a_cycle() {
    // at 2 flits per cycle, a flit takes half a cycle of 1 ns, in which 2 uW use 1 fJ
    let prices = "{\"on\": {static: 2uW, per_bit: 0fJ/bit}}";
    let free = "{terminal: {\"on\": {static: 0W, per_bit: 0fJ/bit}}}";
    let mut odd = 0;
    for seed in ["1", "2", "3", "4", "5"] {
        let rate = ("links.dim0.bandwidth", "2flits/cycle");
        let finished = run(PAIR, &[rate, ("power.prices", prices), ("power.class_prices", free), ("seed", seed)]);
        let trunk = finished.channels.rows.iter().filter(|row| &*row.link_class == "dim0");
        let sent: Vec<u64> = trunk.map(|row| row.count.flits.iter().sum()).collect();
        odd += sent.iter().filter(|flits| *flits % 2 == 1).count();
        assert_eq!(finished.summary["energy_ideal_fj"], sent.iter().sum::<u64>().to_string());
    }
    assert!(odd > 0, "whole cycles would do");
}

#[test]
fn energies_beyond_what_a_table_holds_are_refused_and_the_remedy_works() {
    // 6 channels of 10^10 W use 6 * 10^14 J in 10^4 s, which is more than the limit
    let sets = [("cycle", "1s"), ("power.prices.on.static", "10000000000W")];
    let text = |window: &str| PAIR.replace("10000cycles", window);
    let refused = |window: &str| {
        let sets: Vec<_> = sets.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
        expand("energy.yaml", &text(window), &sets).map(|_| ()).map_err(|error| error.to_string())
    };
    let message = refused("10000cycles").expect_err("too much");
    for part in ["measure.window", "10^14 J or more in a window of 10000 cycles", "write a shorter window"] {
        assert!(message.contains(part), "{message}");
    }
    refused("1000cycles").expect("6 * 10^10 W * 10^3 s < 10^14 J");
}

/// Numbers from which a random scenario is made: prices in their smallest units, and the factors that convert them to energies.
#[derive(Debug, Clone)]
struct Numbers {
    on_nw: u64,
    off_nw: u64,
    /// Static price per bit that a channel could carry [aJ]. If this price is set, it replaces the static power of the channel.
    on_aj: Option<u64>,
    per_bit_aj: u64,
    cycle_fs: u64,
    flit_bits: u64,
    /// Bandwidth of a channel: a number of flits in a number of cycles.
    rate: (u32, u32),
    router_nw: u64,
    asleep_nw: u64,
    port_nw: u64,
    crossing_aj: u64,
}

fn attojoules(aj: u64) -> String {
    format!("{}.{:03}fJ/bit", aj / 1000, aj % 1000)
}

impl Numbers {
    fn any() -> impl Strategy<Value = Self> {
        let powers = (0..5_000_000u64, 0..1000u64, 0..9_000u64, 0..900u64, 0..70u64);
        let bits = (proptest::option::of(0..40_000u64), 0..5000u64, 0..5000u64);
        let rates = prop::sample::select(vec![(1, 1), (2, 3), (5, 7), (1, 6), (2, 1), (4, 3)]);
        (powers, bits, 1..3_000_000u64, 1..200u64, rates).prop_map(
            |((on_nw, off_nw, router_nw, asleep_nw, port_nw), (on_aj, per_bit_aj, crossing_aj), fs, bits, rate)| Self {
                on_nw,
                off_nw,
                on_aj,
                per_bit_aj,
                cycle_fs: fs,
                flit_bits: bits,
                rate,
                router_nw,
                asleep_nw,
                port_nw,
                crossing_aj,
            },
        )
    }

    /// A copy in which all prices are a thousand times higher.
    fn dearer(&self) -> Self {
        let times = |price: u64| price * 1000;
        Self {
            on_nw: times(self.on_nw),
            off_nw: times(self.off_nw),
            on_aj: self.on_aj.map(times),
            per_bit_aj: times(self.per_bit_aj),
            router_nw: times(self.router_nw),
            asleep_nw: times(self.asleep_nw),
            port_nw: times(self.port_nw),
            crossing_aj: times(self.crossing_aj),
            ..self.clone()
        }
    }

    fn run(&self) -> Finished {
        let on = self.on_aj.map_or_else(|| format!("{}nW", self.on_nw), attojoules);
        let bit = attojoules(self.per_bit_aj);
        let state = |standing: &str| format!("{{static: {standing}, per_bit: {bit}}}");
        let text = format!(
            "cycle: {}fs\nflit: {}b\n\
             topology: {{mesh: {{widths: [3], terminals_per_router: 1}}}}\n\
             links: {{default: {{latency: 2cycles, vcs: 1, buffer: 8flits}}, \
             dim0: {{bandwidth: {}/{}flits/cycle}}}}\n\
             routing: dimension_order\ntraffic: {{pattern: uniform, packet: 2flits, load: 0.05}}\n\
             power:\n  policy: {{idle_timeout: {{idle: 10cycles, transition: 5cycles}}}}\n  groups: {{by: router}}\n  \
             prices: {{\"on\": {}, draining: {}, waking: {}, \"off\": {}}}\n  \
             router_price: {{static: {}nW, asleep: {}nW, per_port: {}nW, per_bit: {}}}\n\
             measure: {{warmup: 50cycles, window: 301cycles}}\n",
            self.cycle_fs,
            self.flit_bits,
            self.rate.0,
            self.rate.1,
            state(&on),
            state(&on),
            state(&on),
            state(&format!("{}nW", self.off_nw)),
            self.router_nw,
            self.asleep_nw,
            self.port_nw,
            attojoules(self.crossing_aj)
        );
        run(&text, &[])
    }

    /// Exact static energy of a channel [yJ], as numerator and denominator.
    fn standing(&self, cycles: &PerMode, rate: (u32, u32)) -> (u128, u128) {
        let off = u128::from(cycles[LinkState::Off]);
        let on = cycles.iter().map(|&cycles| u128::from(cycles)).sum::<u128>() - off;
        let (nw, fs) = (u128::from(self.off_nw), u128::from(self.cycle_fs));
        let of_off = off * nw * fs; // nW * fs = yJ
        match self.on_aj {
            None => (on * u128::from(self.on_nw) * fs + of_off, 1),
            Some(aj) => {
                let (flits, period) = (u128::from(rate.0), u128::from(rate.1));
                let bits = on * u128::from(self.flit_bits) * flits;
                (bits * u128::from(aj) * 1_000_000 + of_off * period, period) // aJ = 10^6 yJ
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn energies_are_those_of_exact_fractions_and_sums_close(numbers in Numbers::any()) {
        let finished = numbers.run();
        let s = &finished.summary;
        for row in &finished.channels.rows {
            let rate = if &*row.link_class == "dim0" { numbers.rate } else { (1, 1) };
            let (exact, of) = numbers.standing(&row.count.cycles, rate);
            // the energy is rounded once, but not if it is a whole number of yoctojoules
            prop_assert!((row.energy.standing_yj * of).abs_diff(exact) * 2 <= of);
            if exact % of == 0 {
                prop_assert_eq!(row.energy.standing_yj, exact / of);
            }
            let bits = u128::from(row.count.flits.iter().sum::<u64>()) * u128::from(numbers.flit_bits);
            prop_assert_eq!(row.energy.dynamic_yj, bits * u128::from(numbers.per_bit_aj) * 1_000_000);
        }
        let channels: u128 = finished.channels.rows.iter().map(|row| row.energy.total_yj()).sum();
        let parts = ["static", "ports", "dynamic"].map(|part| yj(s, &format!("energy_routers_{part}_fj")));
        prop_assert_eq!(yj(s, "energy_routers_fj"), parts.iter().sum::<u128>());
        prop_assert_eq!(yj(s, "energy_total_fj"), channels + yj(s, "energy_routers_fj"));
        prop_assert_eq!(yj(s, "energy_total_fj"), yj(s, "energy_static_fj") + yj(s, "energy_dynamic_fj"));
        let (_, groups) = finished.recorded.iter().find(|(name, _)| *name == "groups").expect("groups");
        for (column, key) in [("energy_fj", "energy_total_fj"), ("energy_static_fj", "energy_static_fj")] {
            let Some(Column::Energies(cells)) = groups.column(column) else { panic!("no energies in {column}") };
            prop_assert_eq!(cells.iter().sum::<u128>(), yj(s, key));
        }
        let awake = u128::from(numbers.port_nw) * u128::from(numbers.cycle_fs);
        prop_assert!(numbers.port_nw == 0 || parts[1] % awake == 0);
    }

    #[test]
    fn prices_a_thousand_times_as_high_give_a_thousand_times_the_energy(numbers in Numbers::any()) {
        let (cheap, dear) = (numbers.run(), numbers.dearer().run());
        for (cheap, dear) in cheap.channels.rows.iter().zip(&dear.channels.rows) {
            prop_assert_eq!(&cheap.count, &dear.count);
            prop_assert_eq!(cheap.energy.dynamic_yj * 1000, dear.energy.dynamic_yj);
            // the rounding error is up to half a yoctojoule in each of the two energies. Here the error of the lower energy is
            // multiplied by a thousand
            prop_assert!((cheap.energy.standing_yj * 1000).abs_diff(dear.energy.standing_yj) <= 501);
            if numbers.on_aj.is_none() {
                prop_assert_eq!(cheap.energy.standing_yj * 1000, dear.energy.standing_yj);
            }
        }
        let routers = "energy_routers_fj";
        prop_assert_eq!(yj(&cheap.summary, routers) * 1000, yj(&dear.summary, routers));
    }
}
