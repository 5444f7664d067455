//! Tests that every example of every registered pattern obeys the laws of patterns (`src/laws.rs`). Patterns that claim to be permutations
//! must be bijections, and some of them must be involutions.

use proptest::prelude::*;
use std::collections::BTreeSet;
use weft_traffic::laws::{check_pattern as check, population};
use weft_traffic::pattern::{AnyPattern, By, PatternConfig, bit_complement, bit_reverse, group_shift, layer_shift};
use weft_traffic::pattern::{neighbor, random_permutation, router_shift, shuffle, tornado, transpose};
use weft_traffic::{Pattern, Population, stream};
use weft_units::file::Files;

/// A property that a pattern guarantees for its table of destinations.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Promise {
    Bijection,
    Involution,
}

use Promise::{Bijection, Involution};

/// A second registry, with a pattern that the code above does not name. The suite must test it without changes.
mod newcomers {
    use weft_traffic::pattern::AnyPattern;

    weft_units::registry! {
        /// A pattern in a separate file.
        pub enum Newcomers as AnyPattern, with examples:
        "answer" => answer::Answer,
    }
}

/// Patterns on [`population`] in which each source has exactly one destination, with the property that a test checks.
fn permutations() -> Vec<(PatternConfig, Promise)> {
    let digits = By::Digits { radix: 8, digits: 2 };
    let shifted = |shift| PatternConfig::GroupShift(group_shift::GroupShift { shift, local: group_shift::Local::Same });
    let drawn = |fixed_points| random_permutation::RandomPermutation { fixed_points, draw: 0 };
    vec![
        (PatternConfig::BitComplement(bit_complement::BitComplement {}), Involution),
        (PatternConfig::BitReverse(bit_reverse::BitReverse {}), Involution),
        (PatternConfig::Shuffle(shuffle::Shuffle {}), Bijection),
        (PatternConfig::Transpose(transpose::Transpose {}), Involution),
        (PatternConfig::Tornado(tornado::Tornado { by: By::Routers {} }), Bijection),
        (PatternConfig::Tornado(tornado::Tornado { by: digits }), Bijection),
        (PatternConfig::Neighbor(neighbor::Neighbor { by: By::Routers {} }), Bijection),
        (PatternConfig::Neighbor(neighbor::Neighbor { by: digits }), Bijection),
        (shifted(3), Bijection),
        // Shift 4 of 8 groups is half-way around, so the pattern applied twice leads back.
        (shifted(4), Involution),
        (layer(1, 3), Bijection),
        (layer(0, 2), Involution),
        (routers(1), Involution),
        (PatternConfig::RandomPermutation(drawn(true)), Bijection),
        (PatternConfig::RandomPermutation(drawn(false)), Bijection),
    ]
}

fn layer(dimension: u32, shift: u32) -> PatternConfig {
    PatternConfig::LayerShift(layer_shift::LayerShift { dimension, shift, local: group_shift::Local::Same })
}

/// Router shift by `shift`. [`population`] has two routers in each group, so a shift by one router, applied twice, leads back.
fn routers(shift: u32) -> PatternConfig {
    PatternConfig::RouterShift(router_shift::RouterShift { shift, local: group_shift::Local::Same })
}

fn build(config: &PatternConfig) -> Pattern {
    config.build(&population(), "traffic.pattern").unwrap_or_else(|refusal| panic!("{config:?}: {refusal}"))
}

#[test]
fn every_registered_pattern_has_examples_that_keep_the_laws() {
    for name in PatternConfig::NAMES {
        assert!(PatternConfig::examples().iter().any(|config| config.name() == *name), "{name} has no examples");
    }
    for config in PatternConfig::examples() {
        let pattern = build(&config);
        assert_eq!(pattern.name(), config.name());
        check(&pattern, &config);
    }
}

#[test]
fn a_newcomer_is_held_to_the_laws_by_its_registration_alone() {
    for newcomer in newcomers::Newcomers::examples() {
        let destinations = newcomer.model().destinations(&population(), "p").unwrap();
        check(&Pattern::new(newcomer.name(), destinations), &newcomer);
    }
}

#[test]
#[should_panic(expected = "Answer { truthful: false }")]
fn a_newcomer_that_says_a_wrong_load_is_found_out() {
    let newcomer = newcomers::answer::Answer { truthful: false };
    check(&Pattern::new("answer", newcomer.destinations(&population(), "p").unwrap()), &newcomer);
}

#[test]
fn permutations_are_what_they_promise() {
    for (config, promise) in permutations() {
        let pattern = build(&config);
        let image = |source| match pattern.distribution(source)[..] {
            [(image, _)] => image,
            _ => panic!("{config:?} has more than one destination"),
        };
        let images: Vec<u32> = (0..64).map(image).collect();
        assert_eq!(images.iter().collect::<BTreeSet<_>>().len(), 64, "{config:?} is a bijection");
        let returns = (0..64).all(|source| images[images[source as usize] as usize] == source);
        assert_eq!(returns, promise == Involution, "{config:?}");
    }
}

#[test]
fn streams_decide_everything() {
    for config in PatternConfig::examples() {
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
    for config in PatternConfig::examples() {
        let text = serde_json::to_string(&config).unwrap();
        let files = match &config {
            PatternConfig::Matrix(matrix) => vec![(matrix.file.name().to_owned(), matrix.file.bytes().to_vec())],
            _ => Vec::new(),
        };
        match Files::new("", files).during(|| read(&text)).0 {
            Ok(again) => assert_eq!(again, config),
            Err(error) => assert!(text.contains(r#"within":"#) && text.contains(".csv"), "{text}: {error}"),
        }
    }
    let mixed = read(r#"{"mix": [{"weight": 1, "pattern": {"uniform": {}}}]}"#).unwrap();
    assert_eq!(mixed.name(), "mix");
    assert!(read(r#"{"mix": [{"weight": 1, "patern": {"uniform": {}}}]}"#).unwrap_err().to_string().contains("patern"));
}

proptest! {
    /// On every population, a pattern is either refused with a reason, or all its destinations exist.
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
        for config in PatternConfig::examples() {
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
