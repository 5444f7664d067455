//! The laws of every pattern: valid destinations, drawn as often as `distribution` says; permutations are bijections
//! and involutions where they should be. A pattern without an instance here fails the suite.

use proptest::prelude::*;
use std::collections::BTreeSet;
use weft_traffic::pattern::{By, PatternConfig, asymmetric, bit_complement, bit_reverse, group_shift, hot_spot};
use weft_traffic::pattern::{layer_shift, matrix, mix, neighbor, random_permutation, shuffle, tornado, transpose};
use weft_traffic::pattern::{uniform, within};
use weft_traffic::{Pattern, Population, stream};
use weft_units::InputFile;
use weft_units::file::Files;

/// 4 x 4 routers with 4 terminals: 64 = 2^6 terminals, also 8^2 and 4^3; and 8 groups of 8.
fn population() -> Population {
    Population {
        terminals: 64,
        terminals_per_router: Some(4),
        widths: Some(vec![4, 4]),
        terminals_per_group: Some(8),
        seed: 1,
    }
}

/// What a pattern promises about its destinations.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Promise {
    Random,
    Bijection,
    Involution,
}

use Promise::{Bijection, Involution, Random};

/// Instances of every registered pattern for [`population`].
fn instances() -> Vec<(PatternConfig, Promise)> {
    let digits = By::Digits { radix: 8, digits: 2 };
    let spots = |sources, share| hot_spot::HotSpot { targets: vec![5, 9, 60], sources, share };
    let hot = PatternConfig::HotSpot(spots(None, 0.25));
    let shifted = |shift, local| PatternConfig::GroupShift(group_shift::GroupShift { shift, local });
    vec![
        (PatternConfig::Uniform(uniform::Uniform { include_self: false }), Random),
        (PatternConfig::Uniform(uniform::Uniform { include_self: true }), Random),
        (PatternConfig::BitComplement(bit_complement::BitComplement {}), Involution),
        (PatternConfig::BitReverse(bit_reverse::BitReverse {}), Involution),
        (PatternConfig::Shuffle(shuffle::Shuffle {}), Bijection),
        (PatternConfig::Transpose(transpose::Transpose {}), Involution),
        (PatternConfig::Tornado(tornado::Tornado { by: By::Routers {} }), Bijection),
        (PatternConfig::Tornado(tornado::Tornado { by: digits }), Bijection),
        (PatternConfig::Neighbor(neighbor::Neighbor { by: By::Routers {} }), Bijection),
        (PatternConfig::Neighbor(neighbor::Neighbor { by: digits }), Bijection),
        (PatternConfig::HotSpot(spots(None, 1.0)), Random),
        (PatternConfig::HotSpot(spots(Some(vec![0, 5, 40]), 0.25)), Random),
        (shifted(1, group_shift::Local::Random), Random),
        (shifted(3, group_shift::Local::Same), Bijection),
        // Half-way around: there and back.
        (shifted(4, group_shift::Local::Same), Involution),
        (layer(0, 1, group_shift::Local::Random), Random),
        (layer(1, 3, group_shift::Local::Same), Bijection),
        (layer(0, 2, group_shift::Local::Same), Involution),
        (PatternConfig::Tornado(tornado::Tornado { by: By::BooksimDigits { radix: 4, digits: 2 } }), Random),
        (permutation(true), Bijection),
        (permutation(false), Bijection),
        (PatternConfig::Asymmetric(asymmetric::Asymmetric {}), Random),
        (mixed(vec![(1.0, permutation(false)), (0.5, hot.clone()), (2.5, within(48, permutation(false)))]), Random),
        (mixed(vec![(3.0, mixed(vec![(1.0, hot.clone())]))]), Random),
        (within(16, PatternConfig::BitReverse(bit_reverse::BitReverse {})), Random),
        // 128 ids of 7 bits: the reverse of an odd id is 64 or more, so odd sources are silent.
        (within(128, PatternConfig::BitReverse(bit_reverse::BitReverse {})), Random),
        (within(100, hot), Random),
        (within(70, PatternConfig::Matrix(matrix::Matrix { file: csv(70) })), Random),
        (PatternConfig::Matrix(matrix::Matrix { file: csv(64) }), Random),
    ]
}

fn layer(dimension: u32, shift: u32, local: group_shift::Local) -> PatternConfig {
    PatternConfig::LayerShift(layer_shift::LayerShift { dimension, shift, local })
}

fn permutation(fixed_points: bool) -> PatternConfig {
    PatternConfig::RandomPermutation(random_permutation::RandomPermutation { fixed_points, draw: 0 })
}

fn mixed(parts: Vec<(f64, PatternConfig)>) -> PatternConfig {
    PatternConfig::Mix(mix::Mix(parts.into_iter().map(|(weight, pattern)| mix::Part { weight, pattern }).collect()))
}

fn within(terminals: u32, pattern: PatternConfig) -> PatternConfig {
    PatternConfig::Within(within::Within { terminals, pattern: Box::new(pattern) })
}

/// Every fifth source is silent, the others have loads of their own.
fn csv(terminals: u32) -> InputFile {
    InputFile::new(&format!("{terminals}.csv"), csv_text(terminals))
}

fn csv_text(terminals: u32) -> Vec<u8> {
    let value = |s: u32, d: u32| if s.is_multiple_of(5) { 0 } else { (7 * s + 3 * d) % 11 };
    let line = |s| (0..terminals).map(|d| value(s, d).to_string()).collect::<Vec<_>>().join(",");
    (0..terminals).map(line).collect::<Vec<_>>().join("\n").into_bytes()
}

fn build(config: &PatternConfig) -> Pattern {
    config.build(&population(), "traffic.pattern").unwrap_or_else(|refusal| panic!("{config:?}: {refusal}"))
}

#[test]
fn every_registered_pattern_has_an_instance() {
    let present: BTreeSet<_> = instances().iter().map(|(config, _)| config.name()).collect();
    assert_eq!(present, PatternConfig::NAMES.iter().copied().collect());
}

#[test]
fn distributions_are_distributions() {
    for (config, _) in instances() {
        let pattern = build(&config);
        assert_eq!(pattern.name(), config.name());
        for source in 0..64 {
            let distribution = pattern.distribution(source);
            let destinations: BTreeSet<_> = distribution.iter().map(|&(destination, _)| destination).collect();
            assert_eq!(destinations.len(), distribution.len(), "{config:?}: each destination once");
            assert!(destinations.iter().all(|&destination| destination < 64), "{config:?}");
            assert!(distribution.iter().all(|&(_, probability)| probability > 0.0), "{config:?}");
            let total: f64 = distribution.iter().map(|&(_, probability)| probability).sum();
            let load = pattern.relative_load(source);
            assert!((0.0..=1.0).contains(&load), "{config:?}: {load}");
            let expected = if load > 0.0 { 1.0 } else { 0.0 };
            assert!((total - expected).abs() < 1e-12, "{config:?}: {total}");
        }
    }
}

#[test]
fn destinations_are_drawn_as_the_distribution_says() {
    const DRAWS: u32 = 20_000;
    for (number, (config, _)) in instances().into_iter().enumerate() {
        let pattern = build(&config);
        for source in [0, 5, 33, 63] {
            let mut rng = stream(7, number as u64, source.into());
            let mut counts = [0u32; 64];
            for _ in 0..DRAWS {
                let destination = pattern.destination(source, &mut rng);
                assert_eq!(destination.is_some(), pattern.relative_load(source) > 0.0, "{config:?}");
                destination.into_iter().for_each(|destination| counts[destination as usize] += 1);
            }
            let mut expected = [0.0; 64];
            for (destination, probability) in pattern.distribution(source) {
                expected[destination as usize] = probability;
            }
            for (&count, &probability) in counts.iter().zip(&expected) {
                // Binomial: deviation sqrt(n p (1 - p)); 6 of them, over the 8,000 cells of this test.
                let n = f64::from(DRAWS);
                let bound = 6.0 * (n * probability * (1.0 - probability)).sqrt();
                assert!((f64::from(count) - n * probability).abs() <= bound, "{config:?} from {source}: {counts:?}");
            }
        }
    }
}

#[test]
fn permutations_are_what_they_promise() {
    for (config, promise) in instances() {
        let pattern = build(&config);
        let images: Vec<_> = (0..64).map(|source| pattern.distribution(source)).collect();
        let Some(images) =
            images.iter().map(|image| (image.len() == 1).then(|| image[0].0)).collect::<Option<Vec<_>>>()
        else {
            assert_eq!(promise, Random, "{config:?}");
            continue;
        };
        if promise == Random {
            continue;
        }
        assert_eq!(images.iter().collect::<BTreeSet<_>>().len(), 64, "{config:?} is a bijection");
        let returns = (0..64).all(|source| images[images[source as usize] as usize] == source);
        assert_eq!(returns, promise == Involution, "{config:?}");
    }
}

#[test]
fn streams_decide_everything() {
    for (config, _) in instances() {
        let (pattern, again) = (build(&config), build(&config));
        let (mut one, mut other) = (stream(1, 2, 3), stream(1, 2, 3));
        for source in 0..64 {
            assert_eq!(pattern.destination(source, &mut one), again.destination(source, &mut other), "{config:?}");
        }
    }
}

#[test]
fn scenarios_write_patterns_like_this() {
    let read = |text: &str| serde_json::from_str::<PatternConfig>(text);
    assert_eq!(read(r#"{"tornado": {}}"#).unwrap(), PatternConfig::Tornado(tornado::Tornado { by: By::Routers {} }));
    let digits = read(r#"{"neighbor": {"by": {"digits": {"radix": 8, "digits": 3}}}}"#).unwrap();
    assert_eq!(digits, PatternConfig::Neighbor(neighbor::Neighbor { by: By::Digits { radix: 8, digits: 3 } }));
    let shift = group_shift::GroupShift { shift: 2, local: group_shift::Local::Same };
    assert_eq!(read(r#"{"group_shift": {"shift": 2, "local": "same"}}"#).unwrap(), PatternConfig::GroupShift(shift));
    assert!(read(r#"{"uniform": {"self": true}}"#).unwrap_err().to_string().contains("include_self"));
    let files = [64, 70].map(|terminals| (format!("{terminals}.csv"), csv_text(terminals)));
    Files::new("", files).during(|| {
        for (config, _) in instances() {
            assert_eq!(read(&serde_json::to_string(&config).unwrap()).unwrap(), config);
        }
    });
    let mixed = read(r#"{"mix": [{"weight": 1, "pattern": {"uniform": {}}}]}"#).unwrap();
    assert_eq!(mixed.name(), "mix");
    assert!(read(r#"{"mix": [{"weight": 1, "patern": {"uniform": {}}}]}"#).unwrap_err().to_string().contains("patern"));
}

proptest! {
    /// Any population either refuses a pattern with a reason, or every destination exists.
    #[test]
    fn no_population_panics(
        routers in prop::collection::vec(1u32..5, 0..3),
        each in 1u32..5,
        groups in 1u32..4,
        seed: u64,
    ) {
        let terminals = routers.iter().product::<u32>() * each * groups;
        let grid = (!routers.is_empty() && groups == 1).then_some(routers);
        let population = Population {
            terminals,
            terminals_per_router: Some(each),
            terminals_per_group: grid.is_none().then_some(terminals / groups),
            widths: grid,
            seed,
        };
        let mut rng = stream(seed, 0, 0);
        for (config, _) in instances() {
            match config.build(&population, "pattern") {
                Err(refusal) => {
                    prop_assert!(refusal.path.starts_with("pattern"));
                    prop_assert!(!refusal.what.is_empty() && !refusal.help.is_empty());
                }
                Ok(pattern) => for source in 0..terminals {
                    let destination = pattern.destination(source, &mut rng);
                    prop_assert_eq!(destination.is_some(), pattern.relative_load(source) > 0.0);
                    prop_assert!(destination.is_none_or(|to| to < terminals), "{config:?}");
                }
            }
        }
    }
}
