//! Tests that every kind of quantity parses the text that it writes exactly, and refuses invalid text with a message.

use proptest::prelude::*;
use weft_units::{Bits, EnergyPerBit, Flits, LinkClasses, Power, Standing, Time};

fn read<T: serde::de::DeserializeOwned>(json: &str) -> Result<T, String> {
    let value: serde_json::Value = serde_json::from_str(json).expect("the tests write JSON");
    serde_json::from_value(value).map_err(|e| e.to_string())
}

fn round_trip<T>(value: T) -> T
where
    T: serde::Serialize + serde::de::DeserializeOwned,
{
    serde_json::from_value(serde_json::to_value(value).expect("a quantity is text")).expect("reads what it writes")
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(fs in 0..=10u128.pow(30), n: u64, m: u32) {
        for time in [Time::Femtoseconds(fs), Time::Cycles(n)] {
            prop_assert_eq!(round_trip(time), time);
        }
        prop_assert_eq!(round_trip(Flits(m)), Flits(m));
        prop_assert_eq!(round_trip(Bits(n)), Bits(n));
        prop_assert_eq!(round_trip(EnergyPerBit(n)), EnergyPerBit(n));
        prop_assert_eq!(round_trip(Power(n)), Power(n));
        for standing in [Standing::Power(Power(n)), Standing::PerBit(EnergyPerBit(n))] {
            prop_assert_eq!(round_trip(standing), standing);
        }
    }

    #[test]
    fn any_text_is_read_or_refused(text in ".{0,40}") {
        let _ = (text.parse::<Time>(), text.parse::<Flits>(), text.parse::<Bits>());
        let _ = (text.parse::<EnergyPerBit>(), text.parse::<Power>());
    }

    #[test]
    fn cycles_divide_or_name_both_neighbours(fs in 0..=10u128.pow(15), cycle in 1..=10u128.pow(9)) {
        match Time::Femtoseconds(fs).cycles(cycle, "x") {
            Ok(n) => prop_assert_eq!(u128::from(n) * cycle, fs),
            Err(refusal) => {
                let above = format!("({})", Time::Cycles((fs / cycle) as u64 + 1));
                prop_assert!(refusal.help.contains(&above));
            }
        }
    }
}

#[test]
fn units_are_exact() {
    assert_eq!("1.6ns".parse(), Ok(Time::Femtoseconds(1_600_000)));
    assert_eq!("2.50 us".parse(), Ok(Time::Femtoseconds(2_500_000_000)));
    assert_eq!("1cycle".parse(), Ok(Time::Cycles(1)));
    assert_eq!("6B".parse(), Ok(Bits(48)));
    assert_eq!("0.5B".parse(), Ok(Bits(4)));
    assert_eq!("23.44pJ/bit".parse(), Ok(EnergyPerBit(23_440_000)));
    assert_eq!("0.342W".parse(), Ok(Power(342_000_000)));
    assert_eq!(Time::Femtoseconds(10_300_000).to_string(), "10.3ns");
    assert_eq!(Time::Femtoseconds(0).to_string(), "0fs");
    assert_eq!(EnergyPerBit(1).to_string(), "0.001fJ/bit");
}

#[test]
fn long_times_and_large_powers_are_read_and_written_in_seconds_and_watts() {
    for (json, seconds, written) in
        [("\"1.5min\"", 90, "90s"), ("\"4h\"", 14_400, "14400s"), ("\"365d\"", 31_536_000, "31536000s")]
    {
        let time = read::<Time>(json).expect("a time");
        assert_eq!(time, Time::Femtoseconds(seconds * 1_000_000_000_000_000));
        assert_eq!(time.to_string(), written);
    }
    assert_eq!(read::<Power>("\"120kW\"").expect("a power").to_string(), "120000W");
    assert_eq!(read::<Standing>("\"0.5MW\"").expect("a power").to_string(), "500000W");
}

#[test]
fn bare_numbers_and_foreign_units_are_refused_with_the_units_there_are() {
    let units = "units: d, h, min, s, ms, us, ns, ps, fs, cycles, cycle; for example \"10us\"";
    let cases = [
        ("10", "10 is a bare number, but a time needs a unit"),
        ("\"10\"", "\"10\" is a bare number, but a time needs a unit"),
        ("\"10GHz\"", "\"GHz\" in \"10GHz\" is not a unit of a time"),
        ("\"-1ns\"", "\"-1ns\" is not a time, which is a plain decimal number and a unit"),
        ("\"1..5ns\"", "\"1..5ns\" is not a time, which is a plain decimal number and a unit"),
        ("\"\"", "\"\" is not a time, which is a plain decimal number and a unit"),
    ];
    for (json, what) in cases {
        assert_eq!(read::<Time>(json).expect_err("refused"), format!("{what}\n{units}"));
    }
    assert!(read::<Time>("true").expect_err("refused").contains("a time such as \"10us\""));
    assert!(read::<Flits>("\"1.5flits\"").expect_err("refused").contains("finer than the smallest unit, 1flit"));
    assert!(read::<Flits>("\"5000000000flits\"").expect_err("refused").contains("too large"));
    let nines = "9".repeat(60);
    assert!(read::<Time>(&format!("\"{nines}s\"")).expect_err("refused").contains("too large"));
    assert!(read::<Time>("\"0.1fs\"").expect_err("refused").contains("finer than the smallest unit"));
}

#[test]
fn what_may_be_a_power_or_an_energy_names_the_units_of_both() {
    let units = "units: MW, kW, W, mW, uW, nW, nJ/bit, pJ/bit, fJ/bit; for example \"0.342W\" or \"23.44pJ/bit\"";
    for (json, what) in [
        ("3", "3 is a bare number, but a power or an energy per bit needs a unit"),
        ("\"3J\"", "\"J\" in \"3J\" is not a unit of a power or an energy per bit"),
        ("\"3GW\"", "\"GW\" in \"3GW\" is not a unit of a power or an energy per bit"),
    ] {
        assert_eq!(read::<Standing>(json).expect_err("refused"), format!("{what}\n{units}"));
    }
    assert_eq!("25mW".parse(), Ok(Standing::Power(Power(25_000_000))));
    assert_eq!("1nJ/bit".parse(), Ok(Standing::PerBit(EnergyPerBit(1_000_000_000))));
}

#[test]
fn a_time_between_two_cycles_names_its_neighbours() {
    let refusal = Time::Femtoseconds(10_300_000).cycles(1_600_000, "links.default.latency").expect_err("refused");
    assert_eq!(refusal.what, "10.3ns is 6.4375 cycles of 1.6ns, not a whole number");
    assert_eq!(refusal.help, "write 9.6ns (6cycles) or 11.2ns (7cycles)");
    let refusal = Time::Femtoseconds(1).cycles(3, "x").expect_err("refused");
    assert_eq!(refusal.what, "1fs is about 0.3333 cycles of 3fs, not a whole number");
    assert_eq!(refusal.help, "write 3fs (1cycle)");
}

#[test]
fn a_time_has_at_most_two_to_the_48_cycles() {
    let most = 1u64 << 48;
    assert_eq!((most, Time::Cycles(most).cycles(10, "x")), (weft_units::MAX_CYCLES, Ok(most)));
    let long = u128::from(most) * 10;
    assert_eq!(Time::Femtoseconds(long).cycles(10, "x"), Ok(most));
    // The maximum, 2^48 cycles of 10 fs, is 2814749767106560 fs.
    for (time, cycles) in [(Time::Cycles(most + 1), most + 1), (Time::Femtoseconds(long + 10), most + 1)] {
        let refusal = time.cycles(10, "x").expect_err("refused");
        assert_eq!(refusal.what, format!("{time} is {cycles} cycles, more than 2^48"));
        assert_eq!(refusal.help, "write at most 281474976710656cycles, which are 2.81474976710656s");
    }
    // Two whole numbers of cycles are nearest to this time. Only the smaller number is within the limit, so the remedy names only that one.
    let refusal = Time::Femtoseconds(long + 1).cycles(10, "x").expect_err("refused");
    assert_eq!(refusal.help, "write 2.81474976710656s (281474976710656cycles)");
}

#[test]
fn a_duration_is_shown_as_it_was_written_with_its_cycles() {
    let show = |text: &str| {
        let time: Time = text.parse().expect("a time");
        time.duration(600_000, "x").expect("whole cycles")
    };
    assert_eq!((show("96ns").cycles, show("96ns").to_string()), (160, "96ns (160 cycles of 600ps)".to_owned()));
    assert_eq!(show("160cycles").to_string(), "160 cycles");
    assert_eq!(show("1cycle").to_string(), "1 cycle");
    // `like` shows another duration in the unit of this one.
    assert_eq!(show("96ns").like(1).to_string(), "600ps (1 cycle of 600ps)");
    assert_eq!(show("160cycles").like(31).to_string(), "31 cycles");
    assert_eq!(show("96ns").like(u64::MAX).cycles, u64::MAX);
    let refusal = show("0ns").above_zero("x.y").expect_err("no time");
    assert_eq!(
        (refusal.path.as_str(), refusal.what.as_str()),
        ("x.y", "expected a time above 0, found 0fs (0 cycles of 600ps)")
    );
    assert_eq!(show("6ns").above_zero("x.y").map(|it| it.cycles), Ok(10));
}

#[test]
fn a_limit_is_rounded_up_to_cycles_above_zero() {
    let cycles = |text: &str| {
        let time: Time = text.parse().expect("a time");
        time.cycles_above_zero(600_000, "x.y")
    };
    // The limit of 5.5 ns is rounded up to 6 ns, i.e. 10 cycles of 0.6 ns.
    assert_eq!((cycles("5.5ns"), cycles("6ns"), cycles("7cycles")), (Ok(10), Ok(10), Ok(7)));
    assert_eq!(cycles("0ns").expect_err("no time").path, "x.y");
}

#[test]
fn a_link_class_may_stand_without_a_list() {
    let names = |json: &str| read::<LinkClasses>(json).map(|LinkClasses(names)| names);
    assert_eq!(names(r#""dim0""#), Ok(vec!["dim0".to_owned()]));
    assert_eq!(names(r#"["dim0", "all"]"#), Ok(vec!["dim0".to_owned(), "all".to_owned()]));
    assert!(read::<LinkClasses>(r#"["dim0", "all"]"#).is_ok_and(|classes| classes.has_all()));
    assert!(names("7").expect_err("refused").contains("the name of a link class, or a list of such names"));
    assert!(names("[7]").is_err());
}
