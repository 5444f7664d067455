//! Tests of diagnoses about several points: each code, with numbers on both sides of its threshold.

use serde_json::{Value, json};
use weft_diagnoses::Facts;
use weft_diagnoses::several::collapse::{self, Links, Names};
use weft_diagnoses::several::curve::{self, Curve};
use weft_diagnoses::several::pairs::{self, Side};
use weft_diagnoses::several::saving::Power;
use weft_diagnoses::several::windows;

/// The facts of a settled point with these changes.
fn point(changes: Value) -> Facts {
    let mut summary = json!({
        "ending": "drained", "saturated": false, "packets": 999, "offered_load": 0.5, "accepted_load": 0.5, "load": 0.5,
        "warmup_cycles": 1000, "window_cycles": 2000,
    });
    let Value::Object(changes) = changes else { panic!("an object: {changes}") };
    summary.as_object_mut().expect("an object").extend(changes);
    Facts::of(&&summary)
}

fn saturated(accepted: f64) -> Facts {
    point(json!({"saturated": true, "ending": "saturated", "accepted_load": accepted}))
}

const LINKS: Links = Links { on: 0.2, off: 0.3, dark: 0.8, busiest: 0.1 };

#[test]
fn dark_links_hold_a_point_back_if_no_channel_is_busy_and_the_load_is_carried_without_them() {
    let (slow, sound) = (saturated(0.1), point(json!({})));
    assert!(collapse::is_held_back(&slow, LINKS, None));
    assert!(collapse::is_held_back(&slow, LINKS, Some(&sound)));
    assert!(!collapse::is_held_back(&slow, LINKS, Some(&saturated(0.2))), "the load is too much anyway");
    assert!(!collapse::is_held_back(&sound, LINKS, None));
    assert!(!collapse::is_held_back(&slow, Links { busiest: 0.5, ..LINKS }, None), "limited by bandwidth");
    assert!(!collapse::is_held_back(&slow, Links { dark: 0.19, ..LINKS }, None));
    assert!(collapse::is_held_back(&slow, Links { dark: 0.01, ..LINKS }, Some(&sound)));
}

#[test]
fn less_than_half_of_the_load_is_a_collapse() {
    let names = Names { place: "load 0.5", policy: "sleepy", carried_under: Some("always_on"), goes_off_idle: true };
    let of = |accepted| collapse::diagnosis(&saturated(accepted), LINKS, names);
    assert_eq!([of(0.24), of(0.26)].map(|each| each.code.name), ["collapsed", "dark_links_limit_load"]);
    let found = of(0.1);
    assert!(found.what.starts_with("Collapse at load 0.5: 0.1 of 0.5 flits/terminal/cycle are accepted although"));
    assert!(found.what.ends_with("Under always_on, which switches no link, the network carries the same load"));
    assert_eq!((&found.numbers["links_on_share"], &found.numbers["links_switching_share"]), (&json!(0.2), &json!(0.5)));
}

#[test]
fn a_saturated_load_below_a_carried_one_is_a_contradiction() {
    let (over, sound) = (saturated(0.3), point(json!({})));
    let found =
        curve::not_monotonic(&[(0.2, &sound), (0.4, &over), (0.6, &sound), (0.5, &over)], "x = 1").expect("found");
    assert_eq!(found.points, [1, 2]);
    assert!(found.diagnosis.what.starts_with("not monotonic (x = 1): load 0.4 is saturated (0.3 of 0.5"));
    assert_eq!(found.diagnosis.remedy.settings["measure.warmup"], "12000cycles", "4 x (1000 + 2000)");
    assert_eq!(curve::not_monotonic(&[(0.2, &sound), (0.4, &over)], ""), None);
    assert_eq!(curve::not_monotonic(&[(0.2, &over)], ""), None);
}

#[test]
fn half_of_the_seeds_decide() {
    let (over, sound, open) = (saturated(0.3), point(json!({})), point(json!({"saturated": null})));
    assert_eq!(curve::is_too_much(&[&over, &sound]), Some(true));
    assert_eq!(curve::is_too_much(&[&over, &open, &sound]), None);
    assert_eq!(curve::is_too_much(&[&open, &sound, &sound]), Some(false));
}

#[test]
fn a_curve_says_where_it_saturates() {
    let (carried, over, open) = (Some(false), Some(true), None);
    let of = |loads: &[(f64, Option<bool>)], dropped: &[(f64, f64)], is_closed_loop, is_warned| {
        Curve { loads, dropped, is_closed_loop, is_warned }.saturation().what
    };
    let told = |loads: &[(f64, Option<bool>)]| of(loads, &[], false, false);
    assert_eq!(told(&[(0.1, carried), (0.2, over)]), "between 0.1 and 0.2");
    assert_eq!(told(&[(0.2, over)]), "at 0.2 or below");
    assert_eq!(told(&[(0.2, over), (0.3, carried)]), "at 0.2, though not at 0.3");
    assert_eq!(told(&[(0.1, carried), (0.2, open)]), "not up to 0.1, not judged from 0.2 on");
    assert_eq!(of(&[(0.1, carried)], &[], true, false), "never: in a closed loop the load follows the network");
    let warned = "not at 0.1, 0.2; the network may not carry other loads (see the warning)";
    assert_eq!(of(&[(0.1, carried), (0.2, carried)], &[], false, true), warned);
    let lossy = "not up to 0.1; 5 % of the packets are dropped at 0.2";
    assert_eq!(of(&[(0.1, carried), (0.2, carried)], &[(0.2, 0.05)], false, false), lossy);
}

#[test]
fn points_are_compared_at_equal_work_and_under_the_same_faults() {
    let codes = |own: &Facts, reference: &Facts, is_measured| {
        let side = |runs| Side { point: [own, reference][runs], runs: &[], is_measured };
        let (own_runs, reference_runs) = ([own], [reference]);
        let sides = [Side { runs: &own_runs, ..side(0) }, Side { runs: &reference_runs, ..side(1) }];
        pairs::obstacles(sides[0], sides[1]).iter().map(|each| each.code.name).collect::<Vec<_>>()
    };
    let sound = point(json!({}));
    // the limit is 3 % plus random variation, which is 3 sqrt(2 / 999) = 13.4 %
    let near = point(json!({"accepted_load": 0.42}));
    let other = point(json!({"accepted_load": 0.41}));
    let failing = point(json!({"dropped_packets": 1, "warmup_cycles": 1001}));
    assert_eq!(codes(&sound, &near, true), [""; 0]);
    assert_eq!(codes(&sound, &other, true), ["unequal_work"]);
    assert_eq!(codes(&failing, &sound, true), ["other_faults"]);
    assert_eq!(codes(&sound, &saturated(0.3), true), ["saturated"]);
    assert_eq!(codes(&sound, &sound, false), ["no_packet"]);
    let unequal =
        |is_accepted| pairs::unequal(&[&sound, &saturated(0.3)], &[Some(0.5), Some(0.3)], &[Some(9e9)], is_accepted);
    assert_eq!(unequal(true), None, "accepted loads are compared beyond saturation");
    assert_eq!(unequal(false).map(|each| each.code.name), Some("saturated"));
}

#[test]
fn a_difference_that_chance_explains_is_no_saving() {
    // 40 of 100 W grow with the flits. The energy of a packet has a standard deviation of half its mean. Three standard
    // deviations for 2 x 10,000 packets are 3 * 0.5 * 40 W * sqrt(2 / 10,000) = 0.85 W.
    let reference = Power { mean_w: 100.0, static_w: 60.0, accepted: 0.5, packets: 10_000.0 };
    assert!((reference.chance_w(reference) - 0.848_528).abs() < 1e-6);
    assert_eq!(Power { mean_w: 99.2, ..reference }.saved_w(reference), 0.0);
    assert!((Power { mean_w: 99.0, ..reference }.saved_w(reference) - 1.0).abs() < 1e-9);
    // with 1 % less work the reference needs 0.4 W less
    let fewer = Power { mean_w: 99.6, accepted: 0.495, packets: 1e9, ..reference };
    assert!((reference.at_w(fewer.accepted) - fewer.mean_w).abs() < 1e-9);
}

#[test]
fn windows_in_other_cycles_are_named_if_other_loads_were_offered() {
    let base = point(json!({}));
    let later = point(json!({"warmup_cycles": 3000, "offered_load": 0.51}));
    let found = windows::other_windows(&[[vec![&base], vec![&later]]]).expect("found");
    assert_eq!(found.code.name, "other_windows");
    assert!(found.what.contains("this pair begin or end in different cycles (warm-up 1000 and 3000 cycles)"));
    assert!(found.remedy.text.contains("such as `3000cycles`"));
    let same_load = point(json!({"warmup_cycles": 3000}));
    let batch = point(json!({"warmup_cycles": 3000, "offered_load": 0.51, "completion_cycles": 5000}));
    for other in [&base, &same_load, &batch] {
        assert_eq!(windows::other_windows(&[[vec![&base], vec![other]]]), None);
    }
}

#[test]
fn pairs_that_cannot_be_compared_have_a_diagnosis_unless_a_point_has_it() {
    let run = point(json!({"warmup_cycles": 7000, "dropped_packets": 1}));
    let of = |code| pairs::not_compared(code, 2, 3, &[&run]);
    let found = of("unequal_work").expect("of pairs");
    assert_eq!(found.what, "not compared, 2 of 3 pairs of points: of unequal work (accepted loads differ)");
    assert_eq!((&found.numbers["pairs"], &found.numbers["of_pairs"]), (&json!(2), &json!(3)));
    assert!(of("unequal_programs").is_some_and(|each| each.remedy.text == "compare points that run the same programs"));
    let faults = of("other_faults").expect("of pairs").remedy.text;
    let start = "write a fixed `measure.warmup` for all points, such as `7000cycles`, and faults";
    assert!(faults.starts_with(start), "{faults}");
    assert_eq!(of("saturated"), None);
    // programs are measured from cycle 0, so no warm-up makes their windows equal
    let program = point(json!({"solution_seconds": 1.0, "dropped_packets": 1}));
    let faults = pairs::not_compared("other_faults", 1, 1, &[&run, &program]).expect("of pairs").remedy.text;
    assert!(faults.starts_with("compare these points without `faults` and `fault_model`"), "{faults}");
}
