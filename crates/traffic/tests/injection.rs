//! Tests the laws of injection processes. A process creates packets at the requested rate and with the same probability at all times. The
//! bursts of a process have the requested length. The rate is checked for every example of every registered process.

use weft_traffic::injection::{InjectionConfig, Process, bernoulli, on_off};
use weft_traffic::laws::{check_process, creations};
use weft_traffic::{GapTable, stream};
use weft_units::{MAX_CYCLES, Time};

/// 1 ns.
const CYCLE_FS: u128 = 1_000_000;

fn on_off(mean_on: Time, peak: f64) -> InjectionConfig {
    InjectionConfig::OnOff(on_off::OnOff { mean_on, peak })
}

fn build(config: &InjectionConfig, load: f64, packet_flits: u32) -> Process {
    config
        .build(load, f64::from(packet_flits), CYCLE_FS, "traffic.injection")
        .unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// A case of the tests: process, load, flits per packet. For processes with bursts also the mean length of a burst in cycles, and the load
/// in a burst.
type Instance = (InjectionConfig, f64, u32, Option<(f64, f64)>);

fn instances() -> Vec<Instance> {
    let ns = |ns| Time::Femtoseconds(ns * CYCLE_FS);
    vec![
        (InjectionConfig::Bernoulli(bernoulli::Bernoulli {}), 0.3, 1, None),
        (InjectionConfig::Bernoulli(bernoulli::Bernoulli {}), 0.02, 4, None),
        (on_off(Time::Cycles(10), 1.0), 0.25, 1, Some((10.0, 1.0))),
        (on_off(ns(50), 0.8), 0.1, 4, Some((50.0, 0.8))),
        (on_off(Time::Cycles(100), 0.5), 0.49, 8, Some((100.0, 0.5))),
        (on_off(Time::Cycles(40), 1.0), 1e-6, 8, Some((40.0, 1.0))),
        // The load equals the peak, so the burst never ends.
        (on_off(Time::Cycles(10), 0.5), 0.5, 1, None),
    ]
}

#[test]
fn every_registered_process_has_examples_with_the_load_asked_for() {
    for name in InjectionConfig::NAMES {
        assert!(InjectionConfig::examples().iter().any(|config| config.name() == *name), "{name} has no examples");
    }
    for config in InjectionConfig::examples() {
        check_process(&build(&config, 0.25, 1), &config);
    }
}

#[test]
fn the_rate_is_the_load() {
    for (number, (config, load, flits, bursts)) in instances().into_iter().enumerate() {
        let process = build(&config, load, flits);
        let rate = load / f64::from(flits);
        // about 100,000 packets
        let end = (1e5 / rate) as u64;
        let found = creations(&process, end, &mut stream(1, number as u64, 0)).len() as f64;
        // Variance per cycle. For Bernoulli trials it is rate (1 - rate). For bursts it is p f (1 - p), plus p^2 times the variance of the
        // time in bursts. In this formula f is the share of the time in bursts, and p is the probability of a packet in a cycle of a burst.
        // Bursts and silences have the mean lengths on and off. They are an alternating renewal process with the variance (var_on off^2 +
        // var_off on^2) / (on + off)^3. For geometric lengths, var is mean (mean - 1).
        let variance = bursts.map_or(rate * (1.0 - rate), |(on, peak)| {
            let (p, f, off) = (peak / f64::from(flits), load / peak, on * (peak / load - 1.0));
            let alternating = (on * (on - 1.0) * off * off + off * (off - 1.0) * on * on) / (on + off).powi(3);
            p * f * (1.0 - p) + p * p * alternating
        });
        // The variance from the dispersion that the process declares. For processes without bursts it is only an upper bound.
        let said = process.dispersion() * rate;
        if bursts.is_some() {
            assert!((said / variance - 1.0).abs() < 1e-9, "{config:?} {load}: {said}, not {variance}");
        } else {
            assert!(said >= variance, "{config:?} {load}: {said} below {variance}");
        }
        let (mean, deviation) = (rate * end as f64, (variance * end as f64).sqrt());
        assert!((found - mean).abs() < 5.0 * deviation + 1.0, "{config:?} {load}: {found}, not {mean} +- {deviation}");
    }
}

#[test]
fn sources_start_in_the_middle_of_things() {
    const SOURCES: u32 = 100_000;
    for (config, load, flits, _) in instances().into_iter().filter(|&(_, load, ..)| load > 0.01) {
        let process = build(&config, load, flits);
        let mut counts = [0u32; 3];
        for source in 0..SOURCES {
            for at in creations(&process, 31, &mut stream(2, source.into(), 0)) {
                match at {
                    0 => counts[0] += 1,
                    7 => counts[1] += 1,
                    30 => counts[2] += 1,
                    _ => {}
                }
            }
        }
        // A source creates a packet in every cycle with the same probability, so the counts are binomial. The limit is 5 standard
        // deviations.
        let (n, p) = (f64::from(SOURCES), load / f64::from(flits));
        let bound = 5.0 * (n * p * (1.0 - p)).sqrt();
        assert!(
            counts.iter().all(|&count| (f64::from(count) - n * p).abs() < bound),
            "{config:?}: {counts:?}, {}",
            n * p
        );
    }
}

#[test]
fn bursts_and_silences_are_geometric() {
    // Every cycle of a burst creates a packet, so an uninterrupted sequence of packets is a burst. The mean silence is 10 * (1 / 0.25 - 1)
    // = 30 cycles.
    let process = build(&on_off(Time::Cycles(10), 1.0), 0.25, 1);
    let times = creations(&process, 4_000_000, &mut stream(3, 0, 0));
    let (mut bursts, mut silences, mut length) = (Vec::new(), Vec::new(), 1u64);
    for pair in times.windows(2) {
        match pair[1] - pair[0] {
            1 => length += 1,
            gap => {
                bursts.push(length as f64);
                silences.push((gap - 1) as f64);
                length = 1;
            }
        }
    }
    for (lengths, mean) in [(bursts, 10.0), (silences, 30.0)] {
        let n = lengths.len() as f64;
        assert!(n > 90_000.0, "4,000,000 cycles hold 100,000 of 10 + 30: {n}");
        let found = lengths.iter().sum::<f64>() / n;
        let variance = lengths.iter().map(|length| (length - found).powi(2)).sum::<f64>() / n;
        // A geometric distribution has the variance mean (mean - 1) and a kurtosis of about 9, as in the tests of gaps.
        let expected: f64 = mean * (mean - 1.0);
        assert!((found - mean).abs() < 5.0 * (expected / n).sqrt(), "{found}, not {mean}");
        assert!((variance - expected).abs() < 5.0 * expected * (8.1 / n).sqrt(), "{variance}, not {expected}");
    }
}

#[test]
fn bernoulli_is_the_gap_table() {
    let process = build(&InjectionConfig::default(), 0.3, 4);
    let (gaps, mut rng) = (GapTable::new(0.3 / 4.0), stream(4, 0, 0));
    let mut at = gaps.draw(&mut rng) - 1;
    for found in creations(&process, 10_000, &mut stream(4, 0, 0)) {
        assert_eq!(found, at);
        at += gaps.draw(&mut rng);
    }
}

#[test]
fn scenarios_write_processes_like_this() {
    let read = |text: &str| serde_json::from_str::<InjectionConfig>(text).unwrap();
    assert_eq!(read(r#"{"bernoulli": {}}"#), InjectionConfig::default());
    assert_eq!(read(r#"{"on_off": {"mean_on": "10cycles"}}"#), on_off(Time::Cycles(10), 1.0));
    for (config, ..) in instances() {
        assert_eq!(read(&serde_json::to_string(&config).unwrap()), config);
    }
}

#[test]
fn refuses_what_has_no_such_average() {
    let refused = |mean_on, peak, load, flits: u32| {
        on_off(mean_on, peak)
            .build(load, f64::from(flits), CYCLE_FS, "traffic.injection.on_off")
            .unwrap_err()
            .to_string()
    };
    let ten = Time::Cycles(10);
    insta::assert_snapshot!(refused(ten, 0.5, 0.6, 1), @"traffic.injection.on_off.peak: the average load of 0.6 flits per cycle is above the load in bursts, 0.5 (write at least 0.6, or a lower load)");
    insta::assert_snapshot!(refused(ten, 0.0, 0.6, 1), @"traffic.injection.on_off.peak: a peak load of 0 flits per cycle is not possible (write a number above 0 and at most 1)");
    insta::assert_snapshot!(refused(ten, 0.5, 0.1, 8), @"traffic.injection.on_off.mean_on: 10 cycles at 0.5 flits per cycle send 5 of the 8 flits of a packet (write at least 16 cycles, the length of a burst of one packet)");
    insta::assert_snapshot!(refused(ten, 1.0, 0.95, 1), @"traffic.injection.on_off.mean_on: bursts of 10 cycles need silences of 10 * (1 - 0.95) / 0.95 = 0.5263 cycles (silences must be 1 cycle or longer: write at least 19 cycles, or a load of at most 0.9090909090909091, or a load of 1)");
    insta::assert_snapshot!(
        refused(Time::Femtoseconds(1), 1.0, 0.5, 1),
        @"traffic.injection.on_off.mean_on: 1fs is about 0.0000 cycles of 1ns, not a whole number (write 1ns (1cycle))"
    );
    insta::assert_snapshot!(refused(ten, 1.0, 0.0, 1), @"traffic.injection.on_off: a load of 0 flits per cycle in packets of 1 flits is not possible (write a load above 0 and at most 1, and packets of 1 flit or more)");
}

#[test]
fn what_a_refusal_suggests_is_taken() {
    for peak in [1.0, 0.5, 1.0 / 49.0] {
        for (load, flits) in [(0.9, 1), (0.95, 7), (0.99, 49)].map(|(part, flits)| (part * peak, flits)) {
            let mut mean_on = 1;
            // The first refusal can be about a burst that is too short for a packet, and the second about a silence that is too short.
            for _ in 0..2 {
                let built = on_off(Time::Cycles(mean_on), peak).build(load, f64::from(flits), CYCLE_FS, "p");
                if let Err(refusal) = built {
                    let (_, after) = refusal.help.split_once("at least ").unwrap();
                    mean_on = after.split_once(" cycle").unwrap().0.parse().unwrap();
                }
            }
            build(&on_off(Time::Cycles(mean_on), peak), load, flits);
        }
    }
}

/// A burst of 8 flits at 10^-15 flits per cycle takes 8 * 10^15 cycles, which exceeds the maximum of 2^48 = 2.8 * 10^14. At a peak of 8 /
/// 2^48 the 8 flits take 2^48 cycles.
#[test]
fn a_burst_that_would_be_too_long_needs_a_higher_peak() {
    let help = |mean_on, peak| on_off(Time::Cycles(mean_on), peak).build(1e-16, 8.0, CYCLE_FS, "p").unwrap_err().help;
    let higher = 8.0 / 2f64.powi(48);
    assert_eq!(help(10, 1e-15), format!("write a peak of at least {higher}, to send a packet in 2^48 cycles"));
    assert_eq!(help(10, higher), "write at least 281474976710656 cycles, the length of a burst of one packet");
    build(&on_off(Time::Cycles(MAX_CYCLES), higher), 1e-16, 8);
}

#[test]
fn the_smallest_loads_are_built() {
    for (config, load) in [
        (InjectionConfig::default(), 5e-324),
        (on_off(Time::Cycles(MAX_CYCLES), 1.0), 5e-324),
        (on_off(Time::Cycles(9), 1.0), 1e-300),
    ] {
        let process = build(&config, load, 9);
        assert!(creations(&process, 1_000_000, &mut stream(5, 0, 0)).is_empty());
    }
}

#[test]
fn bursts_vary_more_than_single_packets() {
    assert_eq!(build(&InjectionConfig::default(), 0.1, 4).dispersion(), 1.0);
    // Bursts of 50 cycles take a share of 0.125 of the time. Packets of 4 flits at 0.8 flits per cycle give p = 0.2 packets per cycle. A
    // mean silence of 350 cycles gives a memory of 50 * 350 / (50 + 350) = 43.75 cycles.
    let said = build(&on_off(Time::Cycles(50), 0.8), 0.1, 4).dispersion();
    let expected = 1.0 - 0.2 * 0.125 + 2.0 * 0.2 * 0.875 * (43.75 - 1.0);
    assert!((said / expected - 1.0).abs() < 1e-9, "{said}, not {expected}");
}
